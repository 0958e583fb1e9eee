//! Licences, sources and bans of everything that is depended on, as `.cargo/deny.toml` states them.
//!
//! It deliberately needs nothing installed: building cargo-deny takes longer than all other steps together. Where it
//! is installed it runs as well, with the same file, and looks for advisories if their database can be had.

use crate::house::{House, captured, execute, read_toml};
use crate::tools;
use spdx::{Expression, ParseMode};
use toml::Table;

/// Where the rules are.
const RULES: &str = ".cargo/deny.toml";

/// Checks the workspace.
///
/// # Errors
/// With every package that breaks a rule.
pub fn run(house: &House) -> Result<(), String> {
    let rules = Rules::read(&read_toml(&house.root.join(RULES))?)?;
    let mut broken = rules.locked(&read_toml(&house.root.join("Cargo.lock"))?);
    broken.extend(rules.licensed(&packages(house)?));
    if !broken.is_empty() {
        return Err(format!("{RULES} is not kept:\n{}", broken.join("\n")));
    }
    if tools::on_path("cargo-deny").is_none() {
        println!("   licences, sources and bans hold; no cargo-deny here, so advisories are not looked for");
        return Ok(());
    }
    execute(deny(house).args(["check", "licenses", "bans", "sources"]))?;
    match captured(deny(house).args(["fetch", "db"])) {
        Ok(_) => execute(deny(house).args(["check", "--disable-fetch", "advisories"])),
        Err(error) => {
            println!("   the database of advisories cannot be had here: {error}");
            Ok(())
        }
    }
}

fn deny(house: &House) -> std::process::Command {
    let mut command = house.cargo();
    command.args(["deny", "--locked", "--workspace", "--config", RULES]);
    command
}

/// What cargo says of every package that is built here: for this machine and for the browser.
fn packages(house: &House) -> Result<serde_json::Value, String> {
    let said = captured(house.command("rustc").arg("-vV"))?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("`rustc -vV` names no host")?;
    let mut cargo = house.cargo();
    cargo.args(["metadata", "--format-version", "1", "--locked", "--filter-platform", host]);
    let text = captured(cargo.args(["--filter-platform", "wasm32-unknown-unknown"]))?;
    serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))
}

/// The part of the rules that is read here; cargo-deny reads the rest.
#[derive(Debug)]
struct Rules {
    licences: Vec<String>,
    bans: Vec<String>,
    registries: Vec<String>,
}

impl Rules {
    fn read(file: &Table) -> Result<Self, String> {
        let list = |table: &str, key: &str| {
            let found = file.get(table).and_then(|table| table.get(key)).and_then(toml::Value::as_array);
            found.ok_or_else(|| format!("{RULES}: [{table}] has no list `{key}`"))
        };
        let words = |list: &[toml::Value]| list.iter().filter_map(|word| Some(word.as_str()?.to_owned())).collect();
        let bans = list("bans", "deny")?;
        Ok(Self {
            licences: words(list("licenses", "allow")?),
            bans: bans.iter().filter_map(|ban| Some(ban.get("crate")?.as_str()?.to_owned())).collect(),
            registries: words(list("sources", "allow-registry")?),
        })
    }

    /// What the lock file names and the rules keep out. A package without a source is one of the workspace.
    fn locked(&self, lock: &Table) -> Vec<String> {
        let mut broken = Vec::new();
        for package in lock.get("package").and_then(toml::Value::as_array).into_iter().flatten() {
            let of = |key: &str| package.get(key).and_then(toml::Value::as_str);
            let name = of("name").unwrap_or_default();
            if self.bans.iter().any(|ban| ban == name) {
                broken.push(format!("{name} is banned"));
            }
            let known = |source: &str| self.registries.iter().any(|url| source == format!("registry+{url}"));
            if let Some(source) = of("source").filter(|source| !known(source)) {
                broken.push(format!("{name} comes from {source}"));
            }
        }
        broken
    }

    /// The packages whose licence is missing, not understood, or not of the list.
    fn licensed(&self, metadata: &serde_json::Value) -> Vec<String> {
        let packages = metadata.get("packages").and_then(serde_json::Value::as_array);
        let Some(packages) = packages.filter(|list| !list.is_empty()) else {
            return vec!["cargo metadata names no package".to_owned()];
        };
        let of = |package: &serde_json::Value, key: &str| package.get(key)?.as_str().map(str::to_owned);
        let judged = packages.iter().filter_map(|package| {
            let name = of(package, "name").unwrap_or_default();
            let Some(licence) = of(package, "license") else {
                return Some(format!("{name} states no licence"));
            };
            (!self.allow(&licence)).then(|| format!("{name} is under {licence}"))
        });
        judged.collect()
    }

    /// Whether one way of reading the expression asks for licences of the list alone.
    fn allow(&self, expression: &str) -> bool {
        // Older packages write a slash where `OR` is meant.
        let read = Expression::parse_mode(expression, ParseMode::LAX);
        read.is_ok_and(|read| read.evaluate(|asked| self.licences.iter().any(|known| *known == asked.to_string())))
    }
}

#[cfg(test)]
mod tests {
    use super::{RULES, Rules};
    use crate::house::{House, read_toml};

    fn rules() -> Rules {
        Rules::read(&read_toml(&House::find().unwrap().root.join(RULES)).unwrap()).unwrap()
    }

    #[test]
    fn a_licence_of_the_list_is_enough_where_there_is_a_choice_and_only_there() {
        let rules = rules();
        for good in ["MIT", "MIT/Apache-2.0", "GPL-3.0-only OR MIT", "(MIT OR Apache-2.0) AND Unicode-3.0"] {
            assert!(rules.allow(good), "{good}");
        }
        for bad in ["GPL-3.0-only", "MIT AND GPL-3.0-only", "MIT WITH LLVM-exception", "Our own", ""] {
            assert!(!rules.allow(bad), "{bad}");
        }
    }

    #[test]
    fn a_package_without_a_licence_is_named() {
        let metadata = serde_json::json!({ "packages": [
            { "name": "a", "license": "MIT" }, { "name": "b", "license": null }, { "name": "c", "license": "SSPL-1.0" },
        ] });
        assert_eq!(rules().licensed(&metadata), ["b states no licence", "c is under SSPL-1.0"]);
        assert_eq!(rules().licensed(&serde_json::json!({})).len(), 1);
    }

    #[test]
    fn what_is_banned_or_comes_from_elsewhere_is_named() {
        let lock = "
            [[package]]\nname = \"ours\"\n
            [[package]]\nname = \"openssl-sys\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\n
            [[package]]\nname = \"a\"\nsource = \"git+https://example.org/a#1\"\n";
        let broken = rules().locked(&lock.parse().unwrap());
        assert_eq!(broken, ["openssl-sys is banned", "a comes from git+https://example.org/a#1"]);
    }

    #[test]
    fn rules_without_a_list_are_no_rules() {
        assert!(Rules::read(&"[licenses]\nallow = []".parse().unwrap()).unwrap_err().contains("[bans]"));
    }
}
