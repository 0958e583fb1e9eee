//! Components rendered to HTML natively. Nothing here needs a browser or clicks.
