//! Arguments: help, unknown commands and bad values. Plays nothing.

use crate::run::highwater;

#[test]
fn help_names_the_commands_and_exits_well() {
    for args in [
        &[][..],
        &["--help"],
        &["help"],
        &["--version"],
        &["conform", "--help"],
        &["swarm", "--help"],
        &["trace", "--help"],
        &["bench", "--help"],
        &["link", "--help"],
        &["open", "--help"],
    ] {
        let said = highwater(args);
        assert_eq!(said.code, Some(0), "{args:?}");
        assert!(said.out.starts_with("highwater"), "{args:?}: {}", said.out);
        assert_eq!(said.err, "");
    }
}

#[test]
fn bad_arguments_exit_with_2_and_say_what_was_expected() {
    let table = [
        (&["explode"][..], "unknown command \"explode\"; expected one of conform"),
        (&["conform"], "at least one recording"),
        (&["conform", "x.json", "--seeds", "0"], "--seeds: found \"0\", expected a whole number of at least 1"),
        (&["conform", "x.json", "--seeds", "many"], "--seeds: found \"many\""),
        (&["conform", "x.json", "--nope"], "--nope"),
        (&["swarm", "--runs"], "--runs"),
        (&["swarm", "stray"], "stray"),
        (&["trace"], "a scenario file or a link"),
        (&["trace", "x.json", "--until", "soon"], "--until: found \"soon\", expected a duration"),
        (&["link"], "expected a scenario file"),
        (&["link", "a.json", "b.json"], "a scenario file alone"),
        (&["open"], "expected a link"),
    ];
    for (args, expected) in table {
        let said = highwater(args);
        assert_eq!(said.code, Some(2), "{args:?}");
        assert!(said.err.contains(expected), "{args:?}: {}", said.err);
        assert_eq!(said.out, "", "{args:?}");
    }
}
