//! The whole page: wide, phone, embed, with a bad link; in both languages.
use crate::fixture::Fixture;
use crate::html::{block, check_headings, check_house_rules, desk, tags};
use highwater_page::ui::app::{App, AppProps};
use highwater_page::ui::context::{DeskRef, Theme};
use highwater_page::ui::options::{Controls, ViewOptions};
use highwater_page::ui::words::Lang;
use highwater_studio::desk::Desk;
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
        options: ViewOptions::default(),
        window: (1_440, 900),
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
        "所有消费者都停止消费",
        "丢失 3 条已确认的记录",
        "停止消费：COORDINATOR_NOT_AVAILABLE",
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
fn how_many_marks_stand_on_a_place_is_written_over_all_marks_and_said_in_their_name() {
    let html = page(props(Lang::En));
    let last_mark = html.rfind("class=\"lane-mark\"").expect("a mark");
    let counts: Vec<usize> = html.match_indices("class=\"mark-count\"").map(|(at, _)| at).collect();
    assert_eq!(counts.len(), 1, "one mark has no number");
    assert!(counts[0] > last_mark, "a neighbour would stand on it");
    assert!(html.contains("(× 12)"));
}

#[test]
fn there_is_one_polite_live_region_for_what_happens() {
    let html = page(props(Lang::En));
    assert_eq!(html.matches("aria-live=\"polite\"").count(), 1);
}

fn embed(options: ViewOptions) -> String {
    page(AppProps { embed: true, options, window: (760, 640), ..props(Lang::En) })
}

#[test]
fn an_embed_is_title_verdict_stage_and_transport_and_a_way_out() {
    let html = page(AppProps { embed: true, ..props(Lang::Zh) });
    assert!(html.contains("role=\"grid\""));
    let out = tags(&html, "a").next().expect("a link");
    assert_eq!(
        out.attribute("href"),
        Some("https://example.org/hw/#k1abc.0123456&amp;at=21402000us+3&amp;d=9f3a61c0&amp;lang=zh")
    );
    assert_eq!(out.attribute("target"), Some("_blank"));
    assert_eq!(out.attribute("rel"), Some("noopener noreferrer nofollow"));
    for gone in ["class=\"top\"", "class=\"left", "role=\"tablist\"", "id=\"share\""] {
        assert!(!html.contains(gone), "{gone}");
    }
    let html = embed(ViewOptions::default());
    let title = tags(&html, "h1").next().expect("a title").text("h1");
    assert_eq!(title, "As it happened (client 2.3)");
    let strip = html.split("class=\"verdict-strip bad\"").nth(1).expect("a verdict");
    assert!(strip.contains("Every consumer is stopped") && strip.contains("Why?"));
    assert!(html.contains("class=\"client stuck\""), "clients are there");
}

#[test]
fn an_embed_honours_what_its_address_asks_for() {
    let plain = embed(ViewOptions::default());
    let offers = |html: &str, name: &str| {
        tags(html, "button").any(|b| b.attribute("aria-label").is_some_and(|l| l.contains(name)))
    };
    assert!(offers(&plain, "Play") && !offers(&plain, "Actions for broker"), "it plays, and is not acted on");
    assert!(offers(&embed(ViewOptions::read("controls=full")), "Actions for broker 2"));
    let none = embed(ViewOptions::read("controls=none"));
    assert!(!offers(&none, "Play") && !offers(&none, "Step"));
    assert_eq!(tags(&embed(ViewOptions::read("links=off")), "a").count(), 0, "nothing leads out");
    let log = embed(ViewOptions::read("mode=log"));
    assert!(log.contains("class=\"log\"") && !log.contains("role=\"grid\""));
    let text = embed(ViewOptions::read("parts=text"));
    assert!(text.contains("class=\"text-view\"") && !text.contains("strip-scrub") && !offers(&text, "Play"));
    assert!(embed(ViewOptions::read("label=Our%20cluster")).contains("aria-label=\"Our cluster\""));
    assert_eq!(ViewOptions::read("controls=none").controls, Controls::None);
}

#[test]
fn what_an_address_asks_for_in_vain_is_said_in_a_word() {
    let options = ViewOptions::read("k1abc&mode=lesson&size=fit&lang=en");
    for (lang, words) in [(Lang::En, "Not done here"), (Lang::Zh, "不支持的选项")] {
        for embed in [false, true] {
            let html = page(AppProps { embed, options: options.clone(), ..props(lang) });
            let note = html.split("class=\"note-bar\"").nth(1).expect("a note");
            assert!(note.contains(words) && note.contains("mode=lesson") && note.contains("size=fit"), "{note}");
        }
    }
}

#[test]
fn what_was_chosen_in_an_embed_is_one_line() {
    let html = embed(ViewOptions::read("focus=broker/1"));
    let line = html.split("class=\"chosen-line\"").nth(1).expect("a line");
    assert!(line.contains("broker 1: down since"), "{line}");
}

#[test]
fn a_shared_scenario_is_marked_and_its_title_cannot_turn_the_text_around() {
    let title = Some("approved \u{202e}yb\u{202c}".to_owned());
    for (narrow, embed) in [(false, false), (true, false), (false, true)] {
        let fixture = Fixture::with(|s| s.origin = Origin::Link { title: title.clone() });
        let desk = DeskRef::new(Box::new(fixture) as Box<dyn Desk>);
        let html = page(AppProps { desk, narrow, embed, ..props(Lang::En) });
        assert!(html.contains("A shared scenario, not from the gallery"));
        assert!(
            tags(&html, if embed { "main" } else { "div" })
                .any(|t| t.attribute("class").is_some_and(|c| c.contains("shared")))
        );
        assert!(html.contains("approved ⟨U+202E⟩yb⟨U+202C⟩"));
        assert!(!html.contains(['\u{202e}', '\u{202c}']));
        check_headings(&html);
    }
    assert!(!page(props(Lang::En)).contains("not from the gallery"));
}

#[test]
fn play_is_among_the_first_stops_of_tab() {
    for (narrow, embed) in [(false, false), (true, false), (false, true), (true, true)] {
        let html = page(AppProps { narrow, embed, ..props(Lang::En) });
        // What stands before it in the document: links and buttons that are not switched off.
        let before = html.split("aria-label=\"Play\"").next().unwrap_or_default();
        let stops = tags(before, "a").count() + tags(before, "select").count() + tags(before, "button").count();
        assert!(stops <= 5, "{stops} stops before play");
    }
}

#[test]
fn a_phone_has_controllers_offsets_topic_scenario_language_and_the_sentence_of_the_story() {
    let html = page(AppProps { narrow: true, ..props(Lang::En) });
    assert_eq!(html.matches("class=\"phone-controller").count(), 3 + 1);
    assert!(html.contains("all 50 on broker 1 only"));
    assert!(html.contains("Kill broker 1: the data fails over, every consumer stops."));
    for select in ["Scenario", "Language"] {
        assert!(tags(&html, "select").any(|s| s.attribute("aria-label") == Some(select)), "{select}");
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
