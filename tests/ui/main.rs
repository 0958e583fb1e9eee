//! Page components rendered to HTML natively. Nothing here needs a browser or clicks.
mod dense;
mod fixture;
mod html;
mod page;
mod panels;
mod stage;
mod words;
