//! Where the page is mounted, and that it then runs. What it shows is looked at elsewhere.

use highwater_page::web;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use wasm_bindgen_test::wasm_bindgen_test;

fn document() -> web_sys::Document {
    web_sys::window().and_then(|window| window.document()).expect("a document")
}

fn app() -> web_sys::Element {
    let app = document().create_element("div").expect("an element");
    app.set_id("app");
    document().body().expect("a body").append_child(&app).expect("a place for it");
    app
}

/// Until the browser has drawn once more.
async fn frame() {
    let wait = js_sys::Promise::new(&mut |done, _failed| {
        let next = Closure::once_into_js(move || done.call0(&wasm_bindgen::JsValue::NULL));
        let asked = web_sys::window().expect("a window").request_animation_frame(next.unchecked_ref());
        asked.expect("a frame");
    });
    wasm_bindgen_futures::JsFuture::from(wait).await.expect("a frame");
}

/// What the slider says, once there is one.
fn now(app: &web_sys::Element) -> Option<String> {
    app.query_selector("[role=slider]").ok().flatten()?.get_attribute("aria-valuenow")
}

fn press_play(app: &web_sys::Element) {
    let button = app.query_selector("button.play").ok().flatten().expect("the play button");
    button.unchecked_into::<web_sys::HtmlElement>().click();
}

#[wasm_bindgen_test]
fn the_mount_point_is_the_element_app() {
    let app = app();
    assert!(web::mount_point().is_same_node(Some(&app)));
    app.remove();
}

#[wasm_bindgen_test]
async fn the_page_is_mounted_and_plays() {
    let app = app();
    highwater_page::run();
    // As many frames as a slow machine may take; what is waited for ends the loop.
    for _ in 0..600 {
        if now(&app).is_some() {
            break;
        }
        frame().await;
    }
    let before = now(&app);
    assert_eq!(before.as_deref(), Some("11000"), "it stands shortly before the script begins");
    press_play(&app);
    for _ in 0..600 {
        if now(&app) != before {
            break;
        }
        frame().await;
    }
    assert_ne!(now(&app), before, "time goes on");
    press_play(&app);
    frame().await;
    app.remove();
}
