//! What the benchmarks reach through `?bench`: the loader puts these exports on the window, and only then.
//! They deliberately measure with the browser's own clock and change nothing of the page, except that one lets it play.
use super::frames::now_ms;
use highwater_studio::desk::bench;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::wasm_bindgen;

/// Milliseconds of each of `samples` seeks in a run of ten simulated minutes; none if the run cannot be opened.
#[wasm_bindgen]
pub fn bench_seek(samples: u32) -> Vec<f64> {
    bench::seeks(samples, now_ms).unwrap_or_default()
}

/// Events of the same cluster a second.
#[wasm_bindgen]
pub fn bench_events(events: u32) -> f64 {
    let from = now_ms();
    let done = bench::events(events);
    f64::from(done) * 1_000.0 / (now_ms() - from).max(0.001)
}

/// Presses play.
#[wasm_bindgen]
pub fn bench_play() {
    let button = super::document::document().and_then(|d| d.query_selector("button.play").ok().flatten());
    if let Some(button) = button.and_then(|b| b.dyn_into::<web_sys::HtmlElement>().ok()) {
        button.click();
    }
}
