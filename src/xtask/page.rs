//! Builds the page into a folder, from `index.html` and the `data-trunk` links in it.
//!
//! It deliberately has no list of files of its own: what trunk would build is what is built here.

use crate::house::{House, execute};
use crate::options::Options;
use crate::tools;
use std::fs;
use std::path::{Path, PathBuf};

/// Which of cargo's profiles the page is built with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Quick to rebuild.
    Dev,
    /// Small, and what is published.
    Release,
}

impl Profile {
    /// The profile that the options ask for.
    pub fn of(options: &Options) -> Self {
        if options.has("release") { Self::Release } else { Self::Dev }
    }

    fn folder(self) -> &'static str {
        match self {
            Self::Dev => "debug",
            Self::Release => "release",
        }
    }
}

/// What `index.html` says that the page is made of.
#[derive(Debug, Default, PartialEq, Eq)]
struct Parts {
    /// The binary that becomes the WebAssembly file.
    bin: Option<String>,
    /// Files copied to the top of the page: style sheets and others.
    files: Vec<String>,
    /// Folders copied whole.
    folders: Vec<String>,
    /// The page itself, with trunk's links resolved.
    html: String,
}

/// Builds the page into `dist`, which is replaced only when everything went well.
///
/// # Errors
/// A failing compiler, a link in `index.html` that is not understood, or a file that cannot be copied.
pub fn build(house: &House, profile: Profile, dist: &Path) -> Result<(), String> {
    let source = read(&house.root.join("index.html"))?;
    let parts = parts(&source)?;
    let bin = parts.bin.as_deref().ok_or("index.html has no `<link data-trunk rel=\"rust\" data-bin=…>`")?;

    let mut cargo = house.cargo();
    cargo.args(["build", "--locked", "--target", "wasm32-unknown-unknown", "--bin", bin]);
    if profile == Profile::Release {
        cargo.arg("--release");
    }
    execute(&mut cargo)?;

    let staging = beside(dist, ".new");
    remove(&staging)?;
    fs::create_dir_all(&staging).map_err(|error| format!("cannot make {}: {error}", staging.display()))?;

    let wasm = house.target.join("wasm32-unknown-unknown").join(profile.folder()).join(format!("{bin}.wasm"));
    bindings(&wasm, &staging, bin, profile)?;
    if profile == Profile::Release {
        optimise(house, &staging.join(format!("{bin}_bg.wasm")))?;
    }
    for file in &parts.files {
        let from = house.root.join(file);
        let name = from.file_name().ok_or_else(|| format!("`{file}` is no file"))?;
        copy(&from, &staging.join(name))?;
    }
    for folder in &parts.folders {
        let from = house.root.join(folder);
        let name = from.file_name().ok_or_else(|| format!("`{folder}` is no folder"))?;
        copy_folder(&from, &staging.join(name))?;
    }
    fs::write(staging.join("index.html"), &parts.html).map_err(|error| format!("cannot write the page: {error}"))?;

    // Two renames, so that a page served from `dist` is never half old and half new for long.
    let old = beside(dist, ".old");
    remove(&old)?;
    if dist.exists() {
        fs::rename(dist, &old).map_err(|error| format!("cannot move {} away: {error}", dist.display()))?;
    }
    fs::rename(&staging, dist).map_err(|error| format!("cannot move the new page to {}: {error}", dist.display()))?;
    remove(&old)
}

fn bindings(wasm: &Path, into: &Path, name: &str, profile: Profile) -> Result<(), String> {
    let mut arguments: Vec<std::ffi::OsString> = vec!["wasm-bindgen".into(), "--target".into(), "web".into()];
    arguments.extend(["--no-typescript".into(), "--out-name".into(), name.into(), "--out-dir".into(), into.into()]);
    if profile == Profile::Dev {
        // Names in stack traces are worth their bytes while developing.
        arguments.push("--keep-debug".into());
    }
    arguments.push(wasm.into());
    wasm_bindgen_cli::wasm_bindgen::run_cli_with_args(arguments).map_err(|error| format!("wasm-bindgen: {error:?}"))
}

/// Runs npm's wasm-opt where it is installed, and keeps its output only if that is smaller.
///
/// No feature flag is given: the file says by itself which features it uses, and asking for all of them
/// makes wasm-opt write a format that no browser reads. Whatever is kept is checked with Node.
fn optimise(house: &House, wasm: &Path) -> Result<(), String> {
    let tool = house.root.join("node_modules/binaryen/bin/wasm-opt");
    let Ok(node) = tools::node() else {
        println!("   wasm-opt left out: it needs Node, which is not here");
        return Ok(());
    };
    if !tool.is_file() {
        println!("   wasm-opt left out: run `npm ci` to have it (it saves a few per cent)");
        return Ok(());
    }
    let smaller = beside(wasm, ".opt");
    execute(house.command(&node).arg(&tool).arg(wasm).args(["-Oz", "--converge"]).arg("-o").arg(&smaller))?;
    let (before, after) = (size(wasm)?, size(&smaller)?);
    if after < before {
        fs::rename(&smaller, wasm).map_err(|error| format!("cannot keep the optimised file: {error}"))?;
    } else {
        remove(&smaller)?;
    }
    println!("   wasm-opt: {before} bytes before, {after} after");
    const CHECK: &str = "const f=require('fs').readFileSync(process.argv[1]);process.exit(WebAssembly.validate(f)?0:1)";
    execute(house.command(&node).args(["-e", CHECK]).arg(wasm))
        .map_err(|_| "the release file is not valid WebAssembly; see wasm-opt's version in package.json".to_owned())
}

/// Reads the links of `index.html` and resolves them, as trunk does.
fn parts(source: &str) -> Result<Parts, String> {
    let mut parts = Parts::default();
    let mut rest = source;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        parts.html.push_str(before);
        let end =
            if tag.starts_with("<!--") { tag.find("-->").map(|end| end + 3) } else { tag.find('>').map(|end| end + 1) };
        let end = end.ok_or_else(|| format!("index.html: `{}` is never closed", first_line(tag)))?;
        let (tag, after) = tag.split_at(end);
        let attributes = attributes(tag);
        if tag.starts_with("<link") && attributes.iter().any(|(name, _)| name == "data-trunk") {
            resolve(tag, &attributes, &mut parts)?;
        } else {
            parts.html.push_str(tag);
        }
        rest = after;
    }
    parts.html.push_str(rest);
    Ok(parts)
}

fn resolve(tag: &str, attributes: &[(String, String)], parts: &mut Parts) -> Result<(), String> {
    let get = |name: &str| {
        let found = attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        found.ok_or_else(|| format!("index.html: `{tag}` has no {name}"))
    };
    match get("rel")?.as_str() {
        "rust" => parts.bin = Some(get("data-bin")?),
        "css" => {
            let href = get("href")?;
            let name = href.rsplit('/').next().unwrap_or(&href);
            parts.html.push_str(&format!("<link rel=\"stylesheet\" href=\"./{name}\">"));
            parts.files.push(href);
        }
        "copy-file" => parts.files.push(get("href")?),
        "copy-dir" => parts.folders.push(get("href")?),
        other => {
            return Err(format!("index.html: `rel=\"{other}\"` of `{tag}` is not built by xtask"));
        }
    }
    Ok(())
}

/// The attributes of one tag, in order; those without a value have an empty one.
fn attributes(tag: &str) -> Vec<(String, String)> {
    let inner = tag.trim_start_matches('<').trim_end_matches('>').trim_end_matches('/');
    let mut rest = inner.split_once(char::is_whitespace).map_or("", |(_, rest)| rest).trim_start();
    let mut found = Vec::new();
    while !rest.is_empty() {
        let end = rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len());
        let name = rest[..end].to_owned();
        rest = &rest[end..];
        let mut value = String::new();
        if let Some(after) = rest.strip_prefix('=') {
            let quote = after.chars().next().filter(|c| *c == '"' || *c == '\'');
            let (start, stop) = match quote {
                Some(quote) => (1, after[1..].find(quote).map_or(after.len(), |stop| stop + 1)),
                None => (0, after.find(char::is_whitespace).unwrap_or(after.len())),
            };
            value = after[start..stop].to_owned();
            rest = after[stop..].trim_start_matches(['"', '\'']);
        }
        found.push((name, value));
        rest = rest.trim_start();
    }
    found
}

/// A tag without its brackets, its attributes in order and its white space as one space.
pub fn sorted_tag(tag: &str) -> String {
    let name = tag.split_whitespace().next().unwrap_or_default();
    let mut attributes = attributes(tag);
    // Trunk leaves its own instructions in the page, where no browser reads them.
    attributes.retain(|(name, _)| !name.starts_with("data-trunk") && name != "data-integrity");
    attributes.sort();
    let shown = attributes.iter().map(|(name, value)| {
        let words: Vec<&str> = value.split_whitespace().collect();
        format!(" {name}=\"{}\"", words.join(" "))
    });
    std::iter::once(name.trim_end_matches('/').to_owned()).chain(shown).collect()
}

/// The content security policy that the page declares; the server sends the same one as a header.
pub fn policy(html: &str) -> Option<String> {
    let at = html.find("http-equiv=\"Content-Security-Policy\"")?;
    let start = html[..at].rfind('<')?;
    let end = start + html[start..].find('>')? + 1;
    let (_, value) = attributes(&html[start..end]).into_iter().find(|(name, _)| name == "content")?;
    // In the page each directive has its line; a header has one line.
    Some(value.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or(text)
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn size(path: &Path) -> Result<u64, String> {
    fs::metadata(path).map(|data| data.len()).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn remove(path: &Path) -> Result<(), String> {
    let result = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match result {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("cannot remove {}: {error}", path.display()))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    fs::copy(from, to).map(|_| ()).map_err(|error| format!("cannot copy {}: {error}", from.display()))
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), String> {
    fs::create_dir_all(to).map_err(|error| format!("cannot make {}: {error}", to.display()))?;
    let entries = fs::read_dir(from).map_err(|error| format!("cannot read {}: {error}", from.display()))?;
    for entry in entries {
        let entry = entry.map_err(|error| format!("cannot read {}: {error}", from.display()))?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() { copy_folder(&from, &to)? } else { copy(&from, &to)? }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{attributes, parts, policy};

    #[test]
    fn links_for_trunk_are_resolved_and_the_rest_is_kept() {
        let source = concat!(
            "<head><!-- <link data-trunk rel=\"css\" href=\"no.css\"> -->",
            "<link data-trunk rel=\"rust\" data-bin=\"page\">",
            "<link data-trunk rel=\"css\" href=\"www/a.css\">",
            "<link data-trunk rel=\"copy-dir\" href=\"www/icons\">",
            "<link rel=\"icon\" href=\"icons/i.svg\"></head>",
        );
        let found = parts(source).unwrap();
        assert_eq!(found.bin.as_deref(), Some("page"));
        assert_eq!(found.files, ["www/a.css"]);
        assert_eq!(found.folders, ["www/icons"]);
        assert_eq!(
            found.html,
            concat!(
                "<head><!-- <link data-trunk rel=\"css\" href=\"no.css\"> -->",
                "<link rel=\"stylesheet\" href=\"./a.css\"><link rel=\"icon\" href=\"icons/i.svg\"></head>",
            )
        );
    }

    #[test]
    fn a_link_that_is_not_understood_is_an_error() {
        assert!(parts("<link data-trunk rel=\"sass\" href=\"a.scss\">").unwrap_err().contains("sass"));
        assert!(parts("<link data-trunk href=\"a.css\">").unwrap_err().contains("rel"));
    }

    #[test]
    fn attributes_are_read_with_and_without_quotes() {
        let expected = [("a", "1 2"), ("b", ""), ("c", "3"), ("d", "it's")];
        let expected: Vec<(String, String)> =
            expected.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        assert_eq!(attributes("<link a=\"1 2\" b c=3 d=\"it's\">"), expected);
    }

    #[test]
    fn the_policy_is_the_one_in_the_page() {
        let html =
            "<meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\" content=\"a 'none';\n  b 'self'\">";
        assert_eq!(policy(html).as_deref(), Some("a 'none'; b 'self'"));
        assert_eq!(policy("<p>"), None);
    }
}
