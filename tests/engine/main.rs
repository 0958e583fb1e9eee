//! Contracts and invariants of the engine.
