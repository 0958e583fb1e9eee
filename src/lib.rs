//! The page: declares `ui` (components) and `web` (the browser). Holds no logic of its own.

pub mod web;

use yew::{Html, function_component, html};

/// The frame of the page, before there is a cluster in it.
#[function_component]
pub fn Root() -> Html {
    html! { <main class="boot"><h1>{ "Highwater" }</h1></main> }
}

/// Mounts the page into the element `app`.
pub fn run() {
    yew::Renderer::<Root>::with_root(web::mount_point()).render();
}
