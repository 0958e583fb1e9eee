//! What only a browser can answer, in one page: `cargo xtask test --only wasm`.
//!
//! All tests share one document, in no promised order, so each removes what it added. Nothing here
//! looks at the built page; that is `tests/e2e`.
#![cfg(target_arch = "wasm32")]

mod mount;

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);
