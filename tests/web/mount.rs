//! Where the page is mounted. It mounts nothing itself.

use highwater_page::web;
use wasm_bindgen_test::wasm_bindgen_test;

#[wasm_bindgen_test]
fn the_mount_point_is_the_element_app() {
    let document = web_sys::window().and_then(|window| window.document()).expect("a document");
    let app = document.create_element("div").expect("an element");
    app.set_id("app");
    document.body().expect("a body").append_child(&app).expect("a place for it");
    assert!(web::mount_point().is_same_node(Some(&app)));
    app.remove();
}
