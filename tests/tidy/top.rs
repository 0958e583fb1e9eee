//! What may stand at the top of the tree, and that the page and its embedded form are made of the same
//! parts. It deliberately does not open the parts.

use crate::check;
use crate::tree::{text, top};

/// The fixed top level; dot files, lock files and what version control ignores stand beside it.
const TOP: [&str; 9] =
    ["Cargo.toml", "src", "www", "tests", "index.html", "Trunk.toml", "README.md", "package.json", "LICENSE"];
const LOCKS: [&str; 2] = ["Cargo.lock", "package-lock.json"];

fn strangers(names: &[String], ignored: &str) -> Vec<String> {
    let ignored: Vec<&str> = ignored.lines().filter_map(|line| line.trim().strip_prefix('/')).collect();
    let known = |name: &str| {
        name.starts_with('.')
            || TOP.contains(&name)
            || LOCKS.contains(&name)
            || ignored.contains(&name.trim_end_matches('/'))
    };
    names.iter().filter(|name| !known(name)).cloned().collect()
}

#[test]
fn the_top_level_is_fixed() {
    check(&strangers(&top(), &text(".gitignore")));
    let names = ["src", "docs", ".ci", "dist"].map(str::to_owned);
    assert_eq!(strangers(&names, "/dist\n"), ["docs"]);
}

#[test]
fn the_top_level_is_complete() {
    let names = top();
    let missing: Vec<&str> = TOP.into_iter().filter(|known| !names.iter().any(|name| name == known)).collect();
    assert!(missing.is_empty(), "missing at the top: {missing:?}");
}

/// The policy and the names of style sheets in a page, sorted.
fn parts(html: &str) -> Vec<String> {
    let mut found: Vec<String> = html
        .split('<')
        .filter(|tag| tag.contains("rel=\"css\"") || tag.contains("rel=\"stylesheet\""))
        .filter_map(|tag| Some(tag.split_once("href=\"")?.1.split_once('"')?.0.rsplit('/').next()?.to_owned()))
        .collect();
    found.sort();
    found
        .extend(html.split('<').filter(|tag| tag.contains("Content-Security-Policy")).map(|tag| tag.trim().to_owned()));
    found
}

#[test]
fn the_page_and_its_embedded_form_have_the_same_policy_and_styles() {
    let (page, embedded) = (parts(&text("index.html")), parts(&text("www/embed/1/index.html")));
    assert!(page.len() > 1, "index.html has a policy and a style sheet");
    assert_eq!(page, embedded, "left: index.html, right: www/embed/1/index.html");
    assert_ne!(parts("<link rel=\"css\" href=\"www/a.css\">"), parts("<link rel=\"stylesheet\" href=\"../../b.css\">"));
}

fn inline(html: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    for tag in html.split('<') {
        let head = tag.split('>').next().unwrap_or_default();
        if head.starts_with("script") && !head.contains(" src=") {
            found.push("a script without a file");
        }
        if head.starts_with("style") || head.contains(" style=") {
            found.push("a style in the page");
        }
        if head.split_whitespace().any(|attribute| attribute.starts_with("on") && attribute.contains('=')) {
            found.push("a handler in the page");
        }
        if (head.contains("src=\"http") || head.contains("href=\"http")) && !head.starts_with("a ") {
            found.push("a file of another site");
        }
        if head.contains("src=\"/") || head.contains("href=\"/") {
            found.push("an address that is not relative");
        }
    }
    found
}

#[test]
fn pages_hold_nothing_inline_and_only_relative_addresses() {
    for page in ["index.html", "www/embed/1/index.html"] {
        assert!(inline(&text(page)).is_empty(), "{page}: {:?}", inline(&text(page)));
    }
    assert_eq!(
        inline("<script>1</script><p style=\"x\"><b onclick=\"y\"><img src=\"https://a/b\"><img src=\"/c\">").len(),
        5
    );
}
