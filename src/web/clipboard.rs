//! Getting text out of the page: clipboard and files. Reads neither.
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use yew::Callback;

/// Copies; `done` hears whether the browser allowed it.
pub fn copy_text(text: &str, done: Callback<bool>) {
    let Some(w) = web_sys::window() else {
        done.emit(false);
        return;
    };
    let clipboard = w.navigator().clipboard();
    // Outside a secure context there is no clipboard at all.
    if clipboard.is_undefined() {
        done.emit(false);
        return;
    }
    let failed = done.clone();
    let ok = Closure::once_into_js(move |_: wasm_bindgen::JsValue| done.emit(true));
    let err = Closure::once_into_js(move |_: wasm_bindgen::JsValue| failed.emit(false));
    let promise: js_sys::Promise = clipboard.write_text(text).unchecked_into();
    let then = js_sys::Reflect::get(&promise, &"then".into()).ok().and_then(|f| f.dyn_into::<js_sys::Function>().ok());
    if let Some(then) = then {
        let _ = then.call2(&promise, &ok, &err);
    }
}

/// Offers a text file for saving.
pub fn download_text(name: &str, text: &str) -> bool {
    fn offer(name: &str, text: &str) -> Option<()> {
        let parts = js_sys::Array::of1(&text.into());
        let blob = web_sys::Blob::new_with_str_sequence(&parts).ok()?;
        let url = web_sys::Url::create_object_url_with_blob(&blob).ok()?;
        let a = super::document::document()?.create_element("a").ok()?.dyn_into::<web_sys::HtmlAnchorElement>().ok()?;
        a.set_href(&url);
        a.set_download(name);
        a.click();
        web_sys::Url::revoke_object_url(&url).ok()
    }
    offer(name, text).is_some()
}
