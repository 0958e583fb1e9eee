//! Links: round trip, the frozen corpus, every kind of damage told apart, random characters. Opens no run.

use highwater_engine::base::Rng;
use highwater_engine::base::{Dur, StreamId};
use highwater_studio::link::{Codec, Link, LinkProblem, MAX_FRAGMENT};
use highwater_studio::scenario::{Moment, Scenario, decode, encode};

use crate::text;

fn gallery() -> Vec<Scenario> {
    let names = text::names("scenarios", ".json");
    names
        .iter()
        .map(|name| decode(&text::read(&format!("scenarios/{name}"))).unwrap_or_else(|error| panic!("{name}: {error}")))
        .collect()
}

fn link(codec: Codec) -> Link {
    let at = Some(Moment { at: Dur(14_802_317), done: Some(3) });
    let options = vec![("lang".to_string(), "zh".to_string()), ("play".to_string(), "0".to_string())];
    Link { scenario: gallery().remove(0), codec, at, digest: Some(0x9f3a_61c0), options }
}

#[test]
fn what_is_written_is_read_again() {
    for scenario in gallery() {
        for codec in [Codec::K0, Codec::K1] {
            let link = Link { codec, ..Link::new(scenario.clone()) };
            assert_eq!(Link::read(&link.fragment()), Ok(link));
        }
    }
    for codec in [Codec::K0, Codec::K1] {
        let link = link(codec);
        let fragment = link.fragment();
        assert!(fragment.ends_with("&at=14802317us+3&d=9f3a61c0&lang=zh&play=0"), "{fragment}");
        assert_eq!(Link::read(&format!("#{fragment}")), Ok(link));
    }
}

#[test]
fn a_plain_scenario_fits_into_250_characters_and_a_bilingual_one_below_the_first_limit() {
    let plain = decode(r#"{"scenario":1,"topics":{"orders":{"partitions":3,"replication":3}},"script":[{"at":"2s","do":[{"kill":1}]}]}"#).expect("a scenario");
    let length = Link::new(plain).fragment().len();
    assert!(length < 250, "{length}");
    for scenario in gallery() {
        let length = Link::new(scenario).fragment().len();
        assert!(length < highwater_studio::link::LONG, "{length}");
    }
}

/// Old links open for ever: a file holds a fragment, and what was in it, the canonical form, when it was made.
#[test]
fn the_frozen_corpus_opens() {
    let names = text::names("links", ".txt");
    assert!(names.len() >= 4, "{names:?}");
    for name in names {
        let file = text::read(&format!("links/{name}"));
        let mut lines = file.lines();
        let (fragment, canonical) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        let link = Link::read(fragment).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(encode(&link.scenario), canonical, "{name}");
    }
}

#[test]
fn each_kind_of_damage_is_told_apart() {
    let whole = Link { options: Vec::new(), ..link(Codec::K1) }.fragment();
    let body = whole.split('&').next().unwrap_or_default().to_string();
    let problem = |fragment: &str| Link::read(fragment).map_err(|e| e.problem);
    // Cut anywhere before the end of the check.
    for end in 2..body.len() {
        let cut = Link::read(&body[..end]).map_err(|e| e.problem);
        assert_eq!(cut, Err(LinkProblem::CutShort), "cut to {end} characters");
    }
    assert_eq!(problem(""), Err(LinkProblem::CutShort));
    // Any other character anywhere.
    for index in 2..body.len() {
        let mut bytes = body.clone().into_bytes();
        if bytes[index] == b'.' {
            continue;
        }
        bytes[index] = if bytes[index] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(bytes).unwrap_or_default();
        assert_eq!(problem(&changed), Err(LinkProblem::Changed), "changed at {index}");
    }
    assert_eq!(problem(&body.replace("k1", "k2")), Err(LinkProblem::NewerVersion));
    assert_eq!(problem("hello"), Err(LinkProblem::UnknownCodec));
    assert_eq!(problem(&"k".repeat(MAX_FRAGMENT + 1)), Err(LinkProblem::TooLarge));
    assert_eq!(problem(&format!("{body}&at=soon")), Err(LinkProblem::BadMoment));
    assert_eq!(problem(&format!("{body}&at=25h")), Err(LinkProblem::BadMoment));
    assert_eq!(problem(&format!("{body}&d=9f3a")), Err(LinkProblem::BadDigest));
    assert_eq!(problem(&format!("{body}&lnag=zh")), Err(LinkProblem::BadOption));
    assert_eq!(problem(&format!("{body}&lang=zh&lang=en")), Err(LinkProblem::RepeatedOption));
    let nearest = Link::read(&format!("{body}&lnag=zh")).map_err(|e| e.nearest);
    assert_eq!(nearest, Err(Some("lang".into())));
}

#[test]
fn a_damaged_link_says_what_it_was() {
    let body = Link { codec: Codec::K1, ..Link::new(gallery().remove(0)) }.fragment();
    let error = Link::read(&body[..body.len() * 2 / 3]).map(|_| ()).expect_err("it is cut");
    assert_eq!(error.readable.id.as_deref(), Some("as-it-happened"));
    assert!(error.readable.title.is_some(), "{error:?}");
    assert!(error.to_string().starts_with("the link was cut short"), "{error}");
}

#[test]
fn a_bomb_is_refused_after_a_mebibyte() {
    use data_encoding::{BASE64URL_NOPAD, Specification};
    // 40 MiB of one character fit into a link of legal length.
    let packed = miniz_oxide::deflate::compress_to_vec(&vec![b' '; 40 << 20], 10);
    let characters = format!("k1{}", BASE64URL_NOPAD.encode(&packed));
    assert!(characters.len() < MAX_FRAGMENT);
    let mut specification = Specification::new();
    specification.symbols.push_str("0123456789ABCDEFGHJKMNPQRSTVWXYZ");
    let check =
        specification.encoding().expect("an alphabet").encode(&crc32fast::hash(characters.as_bytes()).to_be_bytes());
    assert_eq!(Link::read(&format!("{characters}.{check}")).map_err(|e| e.problem), Err(LinkProblem::TooLarge));
}

#[test]
fn random_characters_never_make_the_reader_fail_badly() {
    const LETTERS: &[u8] = b"k01k1k.&=ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_at#%+";
    let good = Link::new(gallery().remove(0)).fragment();
    let mut rng = Rng::stream(3, StreamId::World);
    for round in 0..20_000 {
        let length = rng.below(200) as usize;
        let mut text: String =
            (0..length).map(|_| char::from(LETTERS[rng.below(LETTERS.len() as u32) as usize])).collect();
        if round % 2 == 0 {
            // Half of the rounds splice noise into a good link.
            let at = rng.below(good.len() as u32) as usize;
            text = format!("{}{text}{}", &good[..at], &good[at..]);
        }
        if let Err(error) = Link::read(&text) {
            assert!(!error.to_string().is_empty());
        }
    }
}
