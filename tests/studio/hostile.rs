//! Hostile files and links of the kinds that were tried: damaged, mutated, with script in every text. Natively, seeded
//! and bounded; what a browser makes of them is tested there.

use std::collections::BTreeSet;

use highwater_engine::base::{Rng, StreamId};
use highwater_studio::link::{Codec, Link};
use highwater_studio::scenario::{ScenarioId, Words, decode, encode, lower, notes};
use serde_json::{Value, json};

const SCRIPT: [&str; 8] = [
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "javascript:alert(1)",
    "data:text/html,<svg onload=alert(1)>",
    "'\"><svg/onload=alert(1)>",
    "{{constructor.constructor('alert(1)')()}}",
    "\u{202e}gnihton\u{2066}",
    "a\u{0}b\u{1b}[31m",
];

fn random(rng: &mut Rng, below: usize) -> usize {
    rng.below(below.max(1) as u32) as usize
}

#[test]
fn a_damaged_link_never_opens_as_another_scenario() {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
    let mut rng = Rng::stream(11, StreamId::World);
    let mut refused = 0;
    for id in ScenarioId::ALL {
        let scenario = id.scenario().expect("the gallery opens");
        for codec in [Codec::K0, Codec::K1] {
            let good = Link { codec, ..Link::new(scenario.clone()) }.fragment();
            for _ in 0..400 {
                let mut bytes = good.clone().into_bytes();
                for _ in 0..=random(&mut rng, 3) {
                    let at = random(&mut rng, bytes.len());
                    let letter = LETTERS[random(&mut rng, LETTERS.len())];
                    match random(&mut rng, 5) {
                        0 => bytes[at] = letter,
                        1 => bytes.insert(at, letter),
                        2 => drop(bytes.remove(at)),
                        3 => {
                            let other = (at + 1) % bytes.len();
                            bytes.swap(at, other);
                        }
                        _cut => bytes.truncate(at.max(1)),
                    }
                }
                let text = String::from_utf8(bytes).expect("letters");
                match Link::read(&text) {
                    Ok(link) => assert_eq!(link.scenario, scenario, "{text}"),
                    Err(error) => {
                        refused += 1;
                        assert!(!error.to_string().is_empty());
                    }
                }
            }
        }
    }
    assert!(refused > 2_000, "{refused}");
}

/// All values of a tree, each by its path.
fn paths(value: &Value, path: &mut Vec<String>, all: &mut Vec<Vec<String>>) {
    all.push(path.clone());
    let mut below = |key: String, value: &Value| {
        path.push(key);
        paths(value, path, all);
        path.pop();
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| below(key.clone(), value)),
        Value::Array(items) => items.iter().enumerate().for_each(|(i, value)| below(i.to_string(), value)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn at<'a>(root: &'a mut Value, path: &[String]) -> &'a mut Value {
    path.iter().fold(root, |value, key| match value {
        Value::Object(map) => map.get_mut(key).expect("a path of this tree"),
        Value::Array(items) => &mut items[key.parse::<usize>().expect("an index")],
        _leaf => unreachable!("a path of this tree"),
    })
}

/// What is accepted is whole: it is written, read and lowered like any other.
fn holds(text: &str) -> bool {
    match decode(text) {
        Ok(scenario) => {
            assert_eq!(decode(&encode(&scenario)), Ok(scenario.clone()), "{text}");
            assert!(lower(&scenario).plan.windows(2).all(|pair| pair[0].at.at <= pair[1].at.at), "{text}");
            assert!(notes(&scenario).iter().all(|note| !note.to_string().is_empty()), "{text}");
            true
        }
        Err(error) => {
            assert!(error.line > 0 && error.column > 0 && !error.to_string().is_empty(), "{text}");
            false
        }
    }
}

#[test]
fn a_mutated_scenario_is_refused_with_its_place_or_holds_together() {
    let mut rng = Rng::stream(12, StreamId::World);
    let (mut accepted, mut refused) = (0, 0);
    for id in ScenarioId::ALL {
        let good: Value = serde_json::from_str(id.text()).expect("JSON");
        let mut all = Vec::new();
        paths(&good, &mut Vec::new(), &mut all);
        for _ in 0..500 {
            let mut changed = good.clone();
            let path = &all[1 + random(&mut rng, all.len() - 1)];
            let other = &all[random(&mut rng, all.len())];
            let value = match random(&mut rng, 9) {
                0 => Value::Null,
                1 => json!(i64::MAX),
                2 => json!(-1),
                3 => json!(random(&mut rng, 40)),
                4 => json!(""),
                5 => json!([]),
                6 => json!({ "__proto__": {}, "constructor": 1 }),
                7 => json!(["25h", "1us", "10000/s", "all", "4.1", "orders/7"][random(&mut rng, 6)]),
                _from_elsewhere => at(&mut good.clone(), other).clone(),
            };
            if let (Some(last), 0) = (path.last(), random(&mut rng, 3))
                && let Value::Object(map) = at(&mut changed, &path[..path.len() - 1])
            {
                map.remove(last);
            } else {
                *at(&mut changed, path) = value;
            }
            if holds(&changed.to_string()) { accepted += 1 } else { refused += 1 }
        }
    }
    assert!(accepted > 100 && refused > 500, "{accepted} accepted, {refused} refused");
}

#[test]
fn script_in_any_text_is_refused_or_stays_the_text_that_it_is() {
    let mut kept = BTreeSet::new();
    for id in ScenarioId::ALL {
        let good: Value = serde_json::from_str(id.text()).expect("JSON");
        let mut all = Vec::new();
        paths(&good, &mut Vec::new(), &mut all);
        for hostile in SCRIPT {
            for path in &all {
                let mut changed = good.clone();
                if let value @ Value::String(_) = at(&mut changed, path) {
                    *value = json!(hostile);
                    if holds(&changed.to_string()) {
                        kept.insert(path.join("/"));
                    }
                }
                // The same as a key.
                if let (Some((last, parent)), mut changed) = (path.split_last(), good.clone())
                    && let Value::Object(map) = at(&mut changed, parent)
                    && let Some(value) = map.remove(last)
                {
                    map.insert(hostile.into(), value);
                    holds(&changed.to_string());
                }
            }
        }
    }
    // Only names and prose are free texts.
    let free = |path: &String| {
        ["id", "title", "about", "note"].iter().any(|key| path.starts_with(key))
            || ["rack", "checkpoint", "ask/id"].iter().any(|key| path.ends_with(key))
            || (path.starts_with("script/") && ["/say/", "/text/"].iter().any(|key| path.contains(key)))
    };
    assert!(kept.iter().all(free), "{kept:?}");
    assert!(kept.contains("title/en"), "{kept:?}");
}

#[test]
fn a_title_that_turns_its_direction_is_never_shown_raw() {
    let text = "{\"scenario\":1,\"title\":{\"en\":\"safe \u{202e}tsol\",\"ar\":\"\u{2067}x\u{2069}\"}}";
    let scenario = decode(text).expect("a title is free text");
    let title = scenario.title.as_ref().expect("a title");
    assert_eq!((title.of("en").as_str(), title.of("ar").as_str()), ("safe [U+202E]tsol", "[U+2067]x[U+2069]"));
    assert!(matches!(title, Words::Languages(texts) if texts[0].1.contains('\u{202e}')), "the file keeps it");
    assert_eq!(encode(&scenario), text);
}

#[test]
fn a_gallery_title_on_another_scenario_is_not_the_gallerys() {
    let story = ScenarioId::STORY.scenario().expect("the gallery opens");
    assert_eq!(ScenarioId::of(&story), Some(ScenarioId::STORY));
    let mut forged = story.clone();
    forged.seed += 1;
    assert_eq!(ScenarioId::of(&forged), None);
    let mut renamed = story;
    renamed.title = Some(Words::Plain("Kafka loses everything".into()));
    assert_eq!(ScenarioId::of(&renamed), None);
}
