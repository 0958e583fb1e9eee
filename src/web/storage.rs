//! Small settings that survive a reload. In a sandbox storage throws: then there is none, and nothing is said about it.
use web_sys::Storage;

fn storage() -> Option<Storage> {
    web_sys::window()?.local_storage().ok()?
}

/// The value saved under a key, if the browser lets us.
pub fn load(key: &str) -> Option<String> {
    storage()?.get_item(&format!("highwater.{key}")).ok()?
}

/// Saves, and says whether it could.
pub fn save(key: &str, value: &str) -> bool {
    storage().is_some_and(|s| s.set_item(&format!("highwater.{key}"), value).is_ok())
}
