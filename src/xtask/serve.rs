//! `cargo xtask serve`: builds the page, serves it, rebuilds it when a file changes and reloads it.
//!
//! It deliberately listens on the machine's own address alone, and looks at file times instead of
//! asking the operating system, which works everywhere and costs a few milliseconds a look.

use crate::house::{House, read_toml};
use crate::http;
use crate::options::Options;
use crate::page::{self, Profile};
use crate::site::Site;
use crate::tools;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// The port that is tried first when none is asked for.
const DEFAULT_PORT: u16 = 8080;
/// How many ports after it are tried.
const FURTHER_PORTS: u16 = 20;
/// How often file times are looked at.
const LOOK: Duration = Duration::from_millis(300);

/// Builds, serves and, unless told otherwise, watches; returns only on failure.
///
/// # Errors
/// A first build that fails while not watching, a port that is taken, or no wasm target.
pub fn run(house: &House, options: &Options) -> Result<(), String> {
    let profile = Profile::of(options);
    let dist = options.path(house, "dist", "dist");
    let listener = listen(options.value("port"))?;
    let address = listener.local_addr().map_err(|error| format!("the port cannot be read: {error}"))?;
    let watching = !options.has("no-watch") && !options.has("no-build");
    let site = Arc::new(Site::new(dist, watching));

    let watched = watched(house)?;
    // What is there before the first build counts as known, so that an edit during it is not missed.
    let known = fingerprint(&watched);
    if options.has("no-build") {
        if !site.dist.join("index.html").is_file() {
            return Err(format!("there is no page in {}; build it first", site.dist.display()));
        }
    } else {
        tools::wasm_target(house)?;
        rebuild(house, profile, &site).or_else(|error| if watching { Ok(()) } else { Err(error) })?;
    }
    println!("Highwater is at http://{address}/ (embedded form: http://{address}/embed/1/)");
    println!("{}", if watching { "Rebuilds when a file changes; Ctrl-C ends it." } else { "Ctrl-C ends it." });

    if watching {
        let (house, site) = (house.clone(), Arc::clone(&site));
        thread::spawn(move || watch(&house, profile, &site, &watched, known));
    }
    http::take(
        listener.incoming(),
        |stream| {
            let site = Arc::clone(&site);
            thread::Builder::new().spawn(move || site.answer(&stream)).map(drop)
        },
        |error| eprintln!("A connection cannot be taken now ({error}); trying again until one can."),
        thread::sleep,
    );
    Ok(())
}

fn listen(asked: Option<&str>) -> Result<TcpListener, String> {
    if let Some(text) = asked {
        let port: u16 = text.parse().map_err(|_| format!("`--port {text}`: a number from 0 to 65535 was expected"))?;
        return TcpListener::bind(("127.0.0.1", port))
            .map_err(|error| format!("port {port} cannot be used: {error}. Choose another with --port N."));
    }
    for port in DEFAULT_PORT..=DEFAULT_PORT + FURTHER_PORTS {
        match TcpListener::bind(("127.0.0.1", port)) {
            Ok(listener) => return Ok(listener),
            Err(error) => println!("Port {port} cannot be used ({error}); trying the next."),
        }
    }
    Err(format!("no free port from {DEFAULT_PORT} to {}; choose one with --port N", DEFAULT_PORT + FURTHER_PORTS))
}

fn rebuild(house: &House, profile: Profile, site: &Site) -> Result<(), String> {
    let start = Instant::now();
    let result = page::build(house, profile, &site.dist);
    match &result {
        Ok(()) => println!("Built in {:.1} s.", start.elapsed().as_secs_f64()),
        Err(error) => eprintln!("{error}\nThe page was not rebuilt."),
    }
    site.tell(result.as_ref().err().cloned());
    result
}

fn watch(house: &House, profile: Profile, site: &Site, watched: &[PathBuf], mut known: u64) {
    loop {
        thread::sleep(LOOK);
        let now = fingerprint(watched);
        if now != known {
            known = now;
            // A failure has been printed and told to the pages; the next change tries again.
            drop(rebuild(house, profile, site));
        }
    }
}

/// Everything that can end in the page: the one list that trunk watches too.
fn watched(house: &House) -> Result<Vec<PathBuf>, String> {
    let paths = paths(&read_toml(&house.root.join("Trunk.toml"))?);
    if paths.is_empty() {
        return Err("Trunk.toml: `watch` of `[watch]` names no path".to_owned());
    }
    Ok(paths.iter().map(|path| house.root.join(path)).collect())
}

fn paths(trunk: &toml::Table) -> Vec<String> {
    let list = trunk.get("watch").and_then(|table| table.get("watch")).and_then(toml::Value::as_array);
    list.into_iter().flatten().filter_map(|path| path.as_str().map(str::to_owned)).collect()
}

/// A number that changes when a watched file appears, goes, or is written.
fn fingerprint(watched: &[PathBuf]) -> u64 {
    let mut sum = 0_u64;
    for path in watched {
        add(path, &mut sum);
    }
    sum
}

fn add(path: &Path, sum: &mut u64) {
    if let Ok(entries) = fs::read_dir(path) {
        // The order in which a folder is listed does not matter: the sum is the same in any order.
        entries.flatten().for_each(|entry| add(&entry.path(), sum));
    } else if let Ok(data) = fs::metadata(path) {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        (path, data.len(), data.modified().ok()).hash(&mut hasher);
        *sum = sum.wrapping_add(hasher.finish());
    }
}

#[cfg(test)]
mod tests {
    use super::{House, read_toml, watched};

    #[test]
    fn every_path_that_is_watched_is_in_a_fresh_clone() {
        let house = House::find().unwrap();
        // Trunk ends at once when a path of either list is missing, and a fresh clone has only what is kept.
        let trunk = read_toml(&house.root.join("Trunk.toml")).unwrap();
        assert!(trunk["watch"].get("ignore").is_none(), "what is watched is named, so nothing must be left out");
        let ignored = std::fs::read_to_string(house.root.join(".gitignore")).unwrap();
        for path in watched(&house).unwrap() {
            let name = path.strip_prefix(&house.root).unwrap().to_str().unwrap();
            assert!(path.exists(), "{name} is missing");
            assert!(!ignored.lines().any(|line| line == format!("/{name}")), "{name} is not kept");
        }
    }

    #[test]
    fn what_the_page_is_made_of_is_watched() {
        let house = House::find().unwrap();
        let watched = watched(&house).unwrap();
        // Every folder beside those of the natively built tools, and every manifest.
        for entry in std::fs::read_dir(house.root.join("src")).unwrap() {
            let path = entry.unwrap().path();
            let beside = path.ends_with("cli") || path.ends_with("xtask") || path.ends_with("README.md");
            assert_ne!(watched.contains(&path), beside, "{}", path.display());
        }
        for name in ["Cargo.toml", "Cargo.lock", "index.html", "www", "tests/scenarios"] {
            assert!(watched.contains(&house.root.join(name)), "{name}");
        }
    }
}
