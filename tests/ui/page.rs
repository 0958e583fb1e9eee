//! The whole page: wide, phone, embed, with a bad link; in both languages.
use crate::html::{block, check_headings, check_house_rules, desk, tags};
use highwater_page::ui::app::{App, AppProps};
use highwater_page::ui::context::Theme;
use highwater_page::ui::words::Lang;
use highwater_studio::view::model::*;
use yew::LocalServerRenderer;

fn props(lang: Lang) -> AppProps {
    AppProps {
        desk: desk(),
        lang,
        theme: Theme::Auto,
        embed: false,
        error: None,
        narrow: false,
        reduced_motion: false,
        single_keys: true,
        folded: false,
        base: "https://example.org/hw/".into(),
    }
}

fn page(p: AppProps) -> String {
    block(LocalServerRenderer::<App>::with_props(p).hydratable(false).render())
}

#[test]
fn the_story_is_told_in_english() {
    let html = page(props(Lang::En));
    for words in [
        "Every consumer is stopped",
        "Group billing has no coordinator: __consumer_offsets-9 had one replica, on broker 1.",
        "Try offsets RF 3",
        "3 acknowledged records lost",
        "stopped: COORDINATOR_NOT_AVAILABLE",
        "all 50 partitions are here and nowhere else: replication factor 1",
        "241 acknowledged",
        "no: acks=1",
        "Skip the wait",
    ] {
        assert!(html.contains(words), "{words}");
    }
}

#[test]
fn the_story_is_told_in_chinese_with_kafkas_words_untranslated() {
    let html = page(props(Lang::Zh));
    for words in [
        "所有消费者都停摆了",
        "丢失 3 条已确认的记录",
        "停摆：COORDINATOR_NOT_AVAILABLE",
        "跳过等待",
        "min.insync.replicas",
        "acks",
    ] {
        assert!(html.contains(words), "{words}");
    }
    for words in ["Every consumer", "Skip the wait", "Why?", "acknowledged", "leader<", "in sync"] {
        assert!(!html.contains(words), "left in English: {words}");
    }
}

#[test]
fn every_layout_keeps_the_house_rules_and_its_headings_in_order() {
    for lang in Lang::ALL {
        for (narrow, embed) in [(false, false), (true, false), (false, true), (true, true)] {
            let html = page(AppProps { narrow, embed, ..props(lang) });
            check_house_rules(&html);
            check_headings(&html);
            assert_eq!(html.matches("<h1").count(), 1);
            assert_eq!(tags(&html, "main").count(), 1);
        }
    }
}

#[test]
fn the_scrubber_says_where_it_stands() {
    let html = page(props(Lang::En));
    let slider = tags(&html, "div").find(|t| t.attribute("role") == Some("slider")).expect("a slider");
    assert_eq!(slider.attribute("aria-valuetext"), Some("21.402 s of 24.000 s"));
    assert_eq!(slider.attribute("aria-valuenow"), Some("21402"));
    assert_eq!(slider.attribute("tabindex"), Some("0"));
}

#[test]
fn there_is_one_polite_live_region_for_what_happens() {
    let html = page(props(Lang::En));
    assert_eq!(html.matches("aria-live=\"polite\"").count(), 1);
}

#[test]
fn an_embed_is_stage_and_transport_and_a_way_out() {
    let html = page(AppProps { embed: true, ..props(Lang::Zh) });
    assert!(html.contains("role=\"grid\""));
    let out = tags(&html, "a").next().expect("a link");
    assert_eq!(
        out.attribute("href"),
        Some("https://example.org/hw/#k1abc.0123456&amp;at=21402000us+3&amp;d=9f3a61c0&amp;lang=zh")
    );
    assert_eq!(out.attribute("target"), Some("_blank"));
    for gone in ["<header", "class=\"left", "role=\"tablist\"", "id=\"share\""] {
        assert!(!html.contains(gone), "{gone}");
    }
}

#[test]
fn a_phone_shows_one_partition_and_the_first_verdict() {
    let html = page(AppProps { narrow: true, ..props(Lang::En) });
    assert!(html.contains("1 of 6"));
    assert!(html.contains("and 1 more"));
    assert_eq!(html.matches("orders-0 on broker").count(), 3);
    assert!(!html.contains("orders-1 on broker"));
    assert!(!html.contains("role=\"grid\""));
}

#[test]
fn a_bad_link_is_named_and_the_run_stays() {
    let error = OpenError {
        what: OpenProblem::Impossible,
        place: Some("topics/orders/replication".into()),
        found: Some("5".into()),
        expected: Some("at most 3".into()),
        nearest: None,
        limit: None,
    };
    let html = page(AppProps { error: Some(error), ..props(Lang::En) });
    let card = tags(&html, "section").find(|t| t.attribute("class") == Some("error-card")).expect("a card");
    assert_eq!(card.attribute("role"), Some("alert"));
    for words in ["Such a cluster cannot be.", "topics/orders/replication", "at most 3", "was not touched"] {
        assert!(card.text("section").contains(words), "{words}");
    }
    assert!(html.contains("orders-0 on broker 2: leader"));
    assert!(!card.text("section").contains("Nearest"), "nothing is said where nothing is known");
}
