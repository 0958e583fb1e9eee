//! Files that must be refused, each with its message: place, what was found, what was expected, the nearest name.

use highwater_studio::scenario::{MAX_DEPTH, MAX_VALUES, Problem, decode};

use crate::text;

#[test]
fn bad_files_are_refused_with_their_golden_messages() {
    let written = text::read("studio/bad-scenarios.txt");
    let mut actual = String::new();
    let mut n = 0;
    for block in written.split("\n\n").filter(|block| !block.trim().is_empty()) {
        let source = block.lines().filter(|line| !line.starts_with("=> ")).collect::<Vec<_>>().join("\n");
        let error = match decode(&source) {
            Ok(_) => panic!("accepted:\n{source}"),
            Err(error) => error,
        };
        if n > 0 {
            actual.push('\n');
        }
        actual.push_str(&format!("{}\n=> {error}\n", source.trim_end()));
        n += 1;
    }
    assert!(n >= 40, "only {n} files");
    text::check("studio/bad-scenarios.txt", &actual);
}

#[test]
fn bombs_are_refused_before_they_unfold() {
    let deep = format!("{{\"scenario\":1,\"x-n\":{}{}}}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
    assert_eq!(decode(&deep).map_err(|e| e.problem), Err(Problem::TooLarge));
    let many = format!("{{\"scenario\":1,\"x-n\":[{}0]}}", "0,".repeat(MAX_VALUES));
    assert_eq!(decode(&many).map_err(|e| e.problem), Err(Problem::TooLarge));
    let long = format!("{{\"scenario\":1,\"id\":\"{}\"}}", "a".repeat(1 << 20));
    assert_eq!(decode(&long).map_err(|e| e.problem), Err(Problem::TooLarge));
    let never_closed = "[".repeat(1 << 19);
    assert_eq!(decode(&never_closed).map_err(|e| e.problem), Err(Problem::TooLarge));
}

#[test]
fn no_change_of_one_character_makes_the_reader_fail_badly() {
    let good = text::read("scenarios/the-cure.json").trim_end().to_string();
    let characters: Vec<char> = good.chars().collect();
    for index in 0..characters.len() {
        for with in ['"', '{', '}', ',', '9', '\u{0}', '\u{1f4a3}'] {
            let mut changed = characters.clone();
            changed[index] = with;
            let changed: String = changed.into_iter().collect();
            if let Err(error) = decode(&changed) {
                assert!(error.line >= 1 && error.column >= 1 && !error.to_string().is_empty());
            }
        }
        let cut: String = characters[..index].iter().collect();
        assert!(decode(&cut).is_err(), "cut at {index}");
    }
}
