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

/// Mebibytes of the page's memory once a run of one simulated hour is kept in it; none if the run cannot be opened.
#[wasm_bindgen]
pub fn bench_hour() -> Option<f64> {
    let kept = bench::hour().ok()?;
    let memory = wasm_bindgen::memory().unchecked_into::<js_sys::WebAssembly::Memory>().buffer();
    drop(kept);
    Some(f64::from(memory.unchecked_into::<js_sys::ArrayBuffer>().byte_length()) / f64::from(1 << 20))
}

/// Milliseconds of the first frame after the way to a moment of a run, in seconds, and of an average one over so many
/// frames in which everything that the page shows is made; none if the run cannot be opened.
#[wasm_bindgen]
pub fn bench_frame(at: u32, frames: u32) -> Vec<f64> {
    let found = bench::frames(&[u64::from(at)], frames, now_ms).unwrap_or_default();
    found.first().map(|frame| vec![frame.first, frame.length]).unwrap_or_default()
}

/// Presses play.
#[wasm_bindgen]
pub fn bench_play() {
    let button = super::document::document().and_then(|d| d.query_selector("button.play").ok().flatten());
    if let Some(button) = button.and_then(|b| b.dyn_into::<web_sys::HtmlElement>().ok()) {
        button.click();
    }
}
