//! Page components rendered to HTML. Opens no browser.
