//! `highwater conform`: the table, the differences, the refusals of bad files. Does not judge the engine; `tests/kafka`
//! does.

use serde_json::Value;

use crate::run::{file, highwater, recording, text};

const RECORDING: &str = "refused.json";

#[test]
fn a_recording_without_a_difference_exits_with_0() {
    let path = recording(RECORDING);
    let said = highwater(&["conform", "--seeds", "1", &path.display().to_string()]);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    let head = said.out.lines().next().unwrap_or_default();
    assert!(head.contains("equal") && head.contains("different") && head.contains("not modelled"), "{head}");
}

#[test]
fn a_difference_exits_with_1_and_is_told_with_its_entry() {
    let altered = text(&recording(RECORDING)).replace("TopicExistsException", "NotControllerException");
    let path = file("difference.json", &altered);
    let said = highwater(&["conform", "--seeds", "1", &path.display().to_string()]);
    assert_eq!(said.code, Some(1), "{}{}", said.out, said.err);
    for part in ["script[2] different", "\"NotControllerException\"", "\"TopicExistsException\""] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
}

#[test]
fn the_report_as_json_has_files_entries_and_counts() {
    let altered = text(&recording(RECORDING)).replace("TopicExistsException", "NotControllerException");
    let path = file("json.json", &altered).display().to_string();
    let said = highwater(&["conform", "--json", "--seeds", "2", &path]);
    let report: Value = serde_json::from_str(&said.out).expect("it prints JSON");
    assert_eq!(report["different"], 1);
    assert_eq!(report["files"][0]["file"], path);
    assert_eq!(report["files"][0]["seeds"], serde_json::json!([1, 2]));
    let entries = report["files"][0]["entries"].as_array().expect("a list of entries");
    let wrong = entries.iter().find(|e| e["outcome"] == "different").expect("the difference");
    assert_eq!(wrong["entry"], 2);
    assert_eq!(wrong["differences"][0]["part"], "answer");
    assert_eq!(wrong["differences"][0]["seedsThatDiffer"], 2);
    assert_eq!(report["equal"], entries.iter().filter(|e| e["outcome"] == "equal").count());
}

#[test]
fn bad_files_exit_with_2_and_say_where_and_what_was_expected() {
    let whole = text(&recording(RECORDING));
    let table = [
        ("cut.json", whole[..whole.len() / 2].to_string(), vec!["cut.json: line ", "cut short"]),
        (
            "verb.json",
            whole.replacen("delete-topic", "explode", 1),
            vec!["script[7].do.explode", "unknown verb \"explode\"", "one of kill, stop"],
        ),
        ("key.json", whole.replacen("\"runs\"", "\"turns\"", 1), vec!["unknown key \"turns\"", "id, title"]),
        ("text.json", "not a recording".to_string(), vec!["line 1, column", "a recording in JSON"]),
        ("setup.json", whole.replacen("\"brokers\": 3", "\"brokers\": 3000", 1), vec!["setup.brokers", "from 1 to"]),
    ];
    for (name, content, parts) in table {
        let path = file(name, &content);
        let said = highwater(&["conform", &path.display().to_string()]);
        assert_eq!(said.code, Some(2), "{name}: {}", said.out);
        for part in parts {
            assert!(said.err.contains(part), "{name}: {part}: {}", said.err);
        }
        assert_eq!(said.out, "", "{name}");
    }
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let said = highwater(&["conform", "nowhere.json"]);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("nowhere.json"), "{}", said.err);
}
