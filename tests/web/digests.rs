//! The digest of each scenario of the picker after half a minute: one file says it for the native build and for wasm,
//! so
//! that both give the same. It judges no content of a run.
use highwater_studio::desk::command::Command;
use highwater_studio::desk::{Desk, Studio};
use highwater_studio::view::model::ScenarioId;

const EXPECTED: &str = include_str!("digests.txt");

fn found() -> String {
    let line = |id: ScenarioId| {
        let mut studio = Studio::scenario(id);
        studio.handle(Command::SeekTo { at_us: 30_000_000 });
        let seen = studio.seen();
        format!("{id:?} {} steps {:016x}\n", seen.reel().n_ops(), seen.playhead.digest())
    };
    ScenarioId::ALL.iter().copied().map(line).collect()
}

#[cfg(target_arch = "wasm32")]
#[wasm_bindgen_test::wasm_bindgen_test]
fn a_run_has_the_same_digest_in_wasm() {
    assert_eq!(found(), EXPECTED);
}

/// `UPDATE=1` writes the file anew.
#[cfg(not(target_arch = "wasm32"))]
#[test]
fn a_run_has_the_same_digest_natively() {
    let found = found();
    if std::env::var_os("UPDATE").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/web/digests.txt");
        std::fs::write(path, &found).unwrap_or_else(|error| panic!("{path}: {error}"));
        return;
    }
    assert_eq!(found, EXPECTED);
}
