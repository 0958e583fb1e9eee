//! What only a browser can answer, in one page: `cargo xtask test --only wasm`; and, natively, what must be the same in
//! both.
//!
//! All tests share one document, in no promised order, so each removes what it added. Nothing here
//! looks at the built page; that is `tests/e2e`.

mod digests;
#[cfg(target_arch = "wasm32")]
mod mount;

#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);
