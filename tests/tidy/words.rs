//! Words that must, or must not, stand in a file. It deliberately judges no style that `rustfmt` or
//! clippy already judge.

use crate::check;
use crate::rust::{code_only, tokens};
use crate::tree::{File, files, text};

/// Complains about each line of `code` that holds one of the words as a whole.
fn forbid(file: &File, code: &str, words: &[&str], why: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in code.lines().enumerate() {
        for word in words {
            if whole(line, word) {
                found.push(format!("{}:{}: `{word}`: {why}", file.path, number + 1));
            }
        }
    }
    found
}

/// Whether the word stands in the line without being part of a longer one.
fn whole(line: &str, word: &str) -> bool {
    let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word).any(|(at, _)| {
        let before = part(line[..at].chars().next_back()) && part(word.chars().next());
        let after = part(line[at + word.len()..].chars().next()) && part(word.chars().next_back());
        !before && !after
    })
}

fn rust_files() -> Vec<File> {
    let mut all = files("src", ".rs");
    all.extend(files("tests", ".rs"));
    all
}

/// Everything that people write, except lock files.
fn written() -> Vec<File> {
    let mut all = Vec::new();
    for folder in ["src", "www", "tests", ".ci", ".cargo"] {
        all.extend(files(folder, ""));
    }
    for file in ["index.html", "README.md", "Cargo.toml", "Trunk.toml", "package.json"] {
        all.extend(files(file, ""));
    }
    // What a real Kafka wrote is data, and says what that machine was like.
    all.retain(|file| !file.path.starts_with("tests/kafka/") || file.path.ends_with(".rs"));
    all
}

fn unopened(file: &File) -> Vec<String> {
    if file.text.starts_with("//!") {
        Vec::new()
    } else {
        vec![format!("{}: begins without `//!`: say what it does, and one thing it does not", file.path)]
    }
}

#[test]
fn every_rust_file_says_what_it_is() {
    check(&rust_files().iter().flat_map(unopened).collect::<Vec<_>>());
    assert_eq!(unopened(&file("a.rs", "use std::fs;")).len(), 1);
    assert!(unopened(&file("a.rs", "//! Reads.\n")).is_empty());
}

/// As `rustfmt` has it, which leaves comments, literals and the insides of macros alone. A scenario or a recording in
/// JSON may be one line.
fn too_wide(file: &File) -> Vec<String> {
    const WIDEST: usize = 120;
    let is_json = |line: &str| ["{\"", "{ \"", "\":"].iter().any(|sign| line.contains(sign));
    let wide = file.text.lines().enumerate().filter(|(_, line)| line.chars().count() > WIDEST && !is_json(line));
    wide.map(|(number, _)| format!("{}:{}: wider than {WIDEST}", file.path, number + 1)).collect()
}

#[test]
fn no_line_is_wider_than_120() {
    check(&rust_files().iter().flat_map(too_wide).collect::<Vec<_>>());
    let (wide, name) = ("领".repeat(121), "a.rs");
    assert_eq!(too_wide(&file(name, &format!("// {wide}\nlet a = \"{wide}\";"))).len(), 2);
    assert!(too_wide(&file(name, &wide[..360])).is_empty());
    assert!(too_wide(&file(name, &format!("r#\"{{\"scenario\":1,\"title\":\"{wide}\"}}\"#"))).is_empty());
}

fn targets(file: &File) -> Vec<String> {
    forbid(
        file,
        &code_only(&file.text),
        &["target_arch", "target_family"],
        "below the page all machines run the same code",
    )
}

#[test]
fn below_the_page_nothing_asks_for_the_machine() {
    let below = ["src/engine", "src/studio", "src/cli"].into_iter().flat_map(|folder| files(folder, ".rs"));
    check(&below.flat_map(|file| targets(&file)).collect::<Vec<_>>());
    assert_eq!(targets(&file("a.rs", "#[cfg(target_arch = \"wasm32\")]\nfn f() {}")).len(), 1);
    assert!(targets(&file("a.rs", "// target_arch")).is_empty());
}

fn raw_html(file: &File) -> Vec<String> {
    let words = [
        "style=",
        "inner_html",
        "set_inner_html",
        "outer_html",
        "set_outer_html",
        "insert_adjacent_html",
        "from_html_unchecked",
    ];
    forbid(file, &code_only(&file.text), &words, "the content security policy forbids inline style and raw HTML")
}

#[test]
fn components_set_no_style_and_no_raw_html() {
    let page = ["src/ui", "src/web", "src/lib.rs", "src/main.rs"].into_iter().flat_map(|folder| files(folder, ".rs"));
    check(&page.flat_map(|file| raw_html(&file)).collect::<Vec<_>>());
    for bad in [
        "html! { <p style={x}/> }",
        "html! { <p style=\"x\"/> }",
        "e.set_inner_html(t)",
        "Html::from_html_unchecked(t)",
    ] {
        assert_eq!(raw_html(&file("a.rs", bad)).len(), 1, "{bad}");
    }
    assert!(raw_html(&file("a.rs", "html! { <p class={style}/> } // style=\nlet style = 1;")).is_empty());
}

fn browser(file: &File) -> Vec<String> {
    let words = ["web_sys", "js_sys", "gloo_timers", "gloo", "serde_wasm_bindgen", "wasm_bindgen_futures"];
    forbid(file, &code_only(&file.text), &words, "only src/web names the browser")
}

#[test]
fn only_the_web_room_names_the_browser() {
    let outside =
        files("src", ".rs").into_iter().filter(|file| !file.path.starts_with("src/web/") && file.path != "src/web.rs");
    check(&outside.flat_map(|file| browser(&file)).collect::<Vec<_>>());
    assert_eq!(browser(&file("src/ui/a.rs", "use web_sys::Event;")).len(), 1);
    assert!(browser(&file("src/ui/a.rs", "use crate::web::Event; // web_sys")).is_empty());
}

fn unfinished(file: &File) -> Vec<String> {
    // Written in pieces, so that this file does not complain about itself.
    let words = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("XX", "X"),
        concat!("unimpl", "emented!"),
        concat!("to", "do!"),
        concat!("#[ig", "nore"),
    ];
    forbid(file, &file.text, &words, "finish it, or leave it out and say so in a README")
}

#[test]
fn nothing_is_left_unfinished() {
    check(&written().iter().flat_map(unfinished).collect::<Vec<_>>());
    assert_eq!(unfinished(&file("a.rs", concat!("// TO", "DO: later"))).len(), 1);
    assert_eq!(unfinished(&file("a.rs", concat!("#[ig", "nore]"))).len(), 1);
    assert!(unfinished(&file("a.rs", "a mastodon's toe")).is_empty());
}

fn machine(file: &File) -> Vec<String> {
    let roots = [
        concat!("/wo", "rk/"),
        concat!("/tm", "p/"),
        concat!("/ho", "me/"),
        concat!("/ro", "ot/"),
        concat!("/Us", "ers/"),
    ];
    let mut found = Vec::new();
    for (number, line) in file.text.lines().enumerate() {
        for root in roots {
            // Part of a longer path or of an address is somebody else's folder of that name.
            let own = line
                .match_indices(root)
                .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || "_-.}~)".contains(c)));
            if own {
                found.push(format!("{}:{}: `{root}`: a path of one machine", file.path, number + 1));
            }
        }
    }
    found
}

#[test]
fn no_path_of_one_machine_is_written_down() {
    check(&written().iter().flat_map(machine).collect::<Vec<_>>());
    assert_eq!(machine(&file("a.md", concat!("see /ho", "me/ann/x"))).len(), 1);
    assert!(machine(&file("a.md", concat!("see https://example.org/ho", "me/x"))).is_empty());
}

#[test]
fn the_npm_lock_names_no_server() {
    assert!(!text("package-lock.json").contains("\"resolved\""), "package-lock.json: see .npmrc");
}

/// The dependencies that the engine may have, all of them small and `no_std`.
const ENGINE_DEPENDENCIES: [(&str, &str); 2] = [
    ("rand_pcg", "a seeded generator whose values are the same in every version and on every machine"),
    ("rand_core", "the trait through which it is drawn from"),
];

fn dependencies(manifest: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut inside = false;
    for line in manifest.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_matches(['[', ']']);
            inside = section.ends_with("dependencies");
            // A dependency may also be a table of its own: `[dependencies.name]`.
            if let Some((_, name)) = section.split_once("dependencies.") {
                found.push(name.to_owned());
            }
        } else if inside
            && !line.starts_with('#')
            && let Some((name, _)) = line.split_once(['=', '.'])
        {
            found.push(name.trim().to_owned());
        }
    }
    found
}

fn stowaways(manifest: &str) -> Vec<String> {
    let allowed = |name: &String| ENGINE_DEPENDENCIES.iter().any(|(known, _)| known == name);
    dependencies(manifest).into_iter().filter(|name| !allowed(name)).collect()
}

#[test]
fn the_engine_depends_on_nothing_but_the_list() {
    check(&stowaways(&text("src/engine/Cargo.toml")));
    let bad = "[dependencies]\nrand_pcg = \"0\"\n# serde = \"1\"\nweb-sys.workspace = true\n\
               [dev-dependencies]\nproptest = \"1\"\n[dependencies.log]\n";
    assert_eq!(stowaways(bad), ["web-sys", "proptest", "log"]);
}

fn walls(manifest: &str) -> Vec<String> {
    let web = ["web-sys", "js-sys", "wasm-bindgen", "wasm-bindgen-futures", "serde-wasm-bindgen", "yew"];
    let browser = |name: &String| web.contains(&name.as_str()) || name.starts_with("gloo");
    dependencies(manifest).into_iter().filter(browser).collect()
}

#[test]
fn only_the_page_depends_on_web_crates() {
    for manifest in ["src/engine/Cargo.toml", "src/studio/Cargo.toml", "src/cli/Cargo.toml"] {
        assert!(walls(&text(manifest)).is_empty(), "{manifest}: web crates belong to the page");
    }
    assert_eq!(walls("[dependencies]\nserde = \"1\"\ngloo-timers = \"0.3\"\n"), ["gloo-timers"]);
}

#[test]
fn the_engine_keeps_its_three_attributes() {
    let code = tokens(&text("src/engine/lib.rs")).concat();
    for attribute in ["#![no_std]", "#![forbid(unsafe_code)]", "#![deny(clippy::float_arithmetic"] {
        assert!(code.contains(attribute), "src/engine/lib.rs lacks {attribute}");
    }
}

fn file(path: &str, text: &str) -> File {
    File { path: path.to_owned(), text: text.to_owned() }
}
