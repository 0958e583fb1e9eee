//! `link`, `open` and `trace`: from a file to a link and back, and the run that both mean. What a scenario means is
//! tested elsewhere.

use std::path::{Path, PathBuf};

use crate::run::{file, highwater, text};

fn scenario() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scenarios/as-it-happened.json")
}

#[test]
fn a_scenario_survives_the_way_into_a_link_and_back() {
    let link = highwater(&["link", &scenario().display().to_string()]);
    assert_eq!(link.code, Some(0), "{}", link.err);
    assert!(link.out.starts_with("#k1"), "{}", link.out);
    assert!(link.err.contains(&format!("{} characters", link.out.trim().len() - 1)), "{}", link.err);
    let opened = highwater(&["open", &format!("https://host.example/{}", link.out.trim())]);
    assert_eq!(opened.code, Some(0), "{}", opened.err);
    // What is printed is a scenario again, and makes the same link.
    let again = highwater(&["link", &file("opened.json", &opened.out).display().to_string()]);
    assert_eq!(again.out, link.out);
}

#[test]
fn a_file_and_its_link_tell_the_same_run() {
    let path = scenario().display().to_string();
    let link = highwater(&["link", &path]).out;
    let by_file = highwater(&["trace", &path, "--until", "15s"]);
    let by_link = highwater(&["trace", link.trim(), "--until", "15s"]);
    assert_eq!(by_file.code, Some(0), "{}", by_file.err);
    assert!(by_file.out.contains("topic-created orders"), "{}", by_file.out);
    assert!(
        by_file.out.lines().last().is_some_and(|line| line.starts_with("digest after 15000 ms: ")),
        "{}",
        by_file.out
    );
    assert_eq!(by_file.out, by_link.out);
}

#[test]
fn a_bad_link_says_what_happened_to_it() {
    let link = highwater(&["link", &scenario().display().to_string()]).out;
    let link = link.trim();
    let changed = format!("{}x{}", &link[..40], &link[41..]);
    for (bad, expected) in [
        (&link[..link.len() / 2], "cut short"),
        (&changed, "changed"),
        ("#k9abc.0000000", "newer"),
        ("#hello", "no link of Highwater"),
    ] {
        for command in ["open", "trace"] {
            let said = highwater(&[command, bad]);
            assert_eq!(said.code, Some(2), "{bad}");
            assert!(said.err.contains(expected), "{expected}: {}", said.err);
            assert_eq!(said.out, "");
        }
    }
}

#[test]
fn a_bad_scenario_is_told_with_line_and_column() {
    let path = file("bad-scenario.json", &text(&scenario()).replacen("\"id\"", "\"idd\"", 1));
    for command in ["link", "trace"] {
        let said = highwater(&[command, &path.display().to_string()]);
        assert_eq!(said.code, Some(2));
        assert!(said.err.contains("bad-scenario.json:") && said.err.contains("idd"), "{}", said.err);
    }
}
