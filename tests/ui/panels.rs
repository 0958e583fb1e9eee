//! The panels as HTML: promises, inspector, log, text, causes, settings, sharing.
use crate::fixture::{self, Fixture};
use crate::html::{check_headings, check_house_rules, render, tags};
use highwater_page::ui::caption::Caption;
use highwater_page::ui::dialogs::KeysDialog;
use highwater_page::ui::panel::{Content, Panel, PanelBody};
use highwater_page::ui::settings::SettingsPanel;
use highwater_page::ui::share::{ShareDialog, frame, link};
use highwater_page::ui::storyboard::StoryCard;
use highwater_page::ui::words::Lang;
use highwater_studio::desk::Desk;
use highwater_studio::view::model::*;
use std::rc::Rc;
use yew::{Html, html};

fn body(lang: Lang, content: Content) -> String {
    render(lang, html! { <PanelBody {content} /> })
}

#[test]
fn the_text_form_is_punctuated_as_its_language_is() {
    let html = body(Lang::Zh, Content::Text(Rc::new(Fixture::new().text())));
    for tag in ["td", "p", "li"] {
        for text in tags(&html, tag).map(|t| t.text(tag)) {
            assert!(!text.contains(": ") && !text.contains("; "), "{text}");
        }
    }
}

#[test]
fn the_verdict_that_hurts_most_comes_first_with_its_cause_and_its_cure() {
    let html = body(Lang::En, Content::Promises(Fixture::new().promises()));
    let first = html.find("Every consumer is stopped").expect("the first verdict");
    let second = html.find("3 acknowledged records lost").expect("the second verdict");
    assert!(first < second);
    let buttons: Vec<String> = tags(&html, "button").map(|b| b.text("button")).collect();
    assert_eq!(buttons, ["Why?", "Try offsets RF 3", "Why?", "Try acks=all"]);
}

#[test]
fn the_ledger_has_a_square_for_each_record_and_says_how_many_came_before() {
    let html = body(Lang::En, Content::Promises(Fixture::new().promises()));
    let ledger = html.split("class=\"ledger\"").nth(1).and_then(|l| l.split("</svg>").next()).expect("a ledger");
    assert_eq!(ledger.matches("<rect").count(), 120);
    assert_eq!(ledger.matches("class=\"c-cross\"").count(), 3);
    assert_eq!(ledger.matches("class=\"l-tick\"").count(), 4);
    assert!(html.contains("121 records before these"));
}

#[test]
fn when_nothing_was_broken_the_panel_says_so() {
    let kept = Promises {
        verdicts: vec![VerdictCard { verdict: Verdict::EveryPromiseKept, cause: None, has_why: false, cure: None }],
        ..Promises::default()
    };
    let html = body(Lang::En, Content::Promises(Rc::new(kept)));
    assert!(html.contains("Every promise kept so far"));
    assert_eq!(tags(&html, "button").count(), 0, "no button that does nothing");
}

#[test]
fn the_tabs_are_tabs() {
    let content = Content::Promises(Fixture::new().promises());
    let html = render(Lang::En, html! { <Panel {content} /> });
    let names: Vec<String> =
        tags(&html, "button").filter(|b| b.attribute("role") == Some("tab")).map(|b| b.text("button")).collect();
    assert_eq!(names, ["Promises", "Inspect", "Log", "Text"]);
    assert_eq!(html.matches("aria-selected=\"true\"").count(), 1);
    assert!(html.contains("role=\"tabpanel\""));
}

#[test]
fn the_inspector_shows_kafkas_field_names_and_offers_questions() {
    let about = Subject::Partition(fixture::orders(0));
    let found = Fixture::new().inspect(&about).map(Rc::new);
    let html = body(Lang::En, Content::Inspect { about: Some(about), found });
    for words in ["logEndOffset", "highWatermark", "Why: leader of orders-0", "Elect the preferred leader"] {
        assert!(html.contains(words), "{words}");
    }
    let empty = body(Lang::En, Content::Inspect { about: None, found: None });
    assert!(empty.contains("Choose a replica"));
    let gone = body(Lang::En, Content::Inspect { about: Some(Subject::Broker(9)), found: None });
    assert!(gone.contains("does not exist at this moment"));
}

#[test]
fn the_log_is_sentences_with_the_newest_first() {
    let filter = LogFilter::default();
    let page = Rc::new(Fixture::new().log_tail(&filter, 200));
    let html = body(Lang::En, Content::Log { filter, page });
    let killed = html.find("broker 1 is killed").expect("the kill");
    let fenced = html.find("broker 1 is fenced: no heartbeat for 8.6 s").expect("the fencing");
    assert!(fenced < killed);
    assert!(html.contains("12.000 s"));
    assert!(html.contains("ISR of orders-0 shrinks to 2, 3: without 1, by the controller"));
}

#[test]
fn a_message_that_is_still_on_its_way_can_be_chosen_from_the_log() {
    for lang in Lang::ALL {
        let filter = LogFilter::default();
        let page = Rc::new(Fixture::new().log_tail(&filter, 200));
        let html = body(lang, Content::Log { filter, page });
        let class = Some("log-message");
        let offered: Vec<_> = tags(&html, "button").filter(|b| b.attribute("class") == class).collect();
        assert_eq!(offered.len(), 1, "of one line only is a message still known");
        assert!(offered[0].text("button").contains("FetchResponse · broker 2 → broker 1"));
    }
}

#[test]
fn the_filter_of_the_log_says_what_is_on() {
    let filter = LogFilter { kinds: vec![LogKind::Group], ..LogFilter::default() };
    let page = Rc::new(Fixture::new().log_tail(&filter, 200));
    let html = body(Lang::En, Content::Log { filter, page });
    let pressed: Vec<String> = tags(&html, "button")
        .filter(|b| b.attribute("aria-pressed") == Some("true"))
        .map(|b| b.text("button"))
        .collect();
    assert_eq!(pressed, ["groups"]);
    assert!(!html.contains("is killed"));
}

#[test]
fn the_text_view_holds_the_state_as_headings_and_tables() {
    for lang in Lang::ALL {
        let html = body(lang, Content::Text(Rc::new(Fixture::new().text())));
        let with_title = format!("<h1>x</h1>{html}");
        check_headings(&with_title);
        check_house_rules(&html);
        // Controllers, brokers, one topic, one group.
        assert_eq!(tags(&html, "table").count(), 4);
        assert!(tags(&html, "th").all(|t| t.attribute("scope").is_some()));
        assert!(html.contains("COORDINATOR_NOT_AVAILABLE"));
    }
    let html = body(Lang::En, Content::Text(Rc::new(Fixture::new().text())));
    assert!(html.contains("At 21.402 s: 2 of 3 brokers run. Every consumer is stopped."));
}

#[test]
fn causes_are_numbered_sentences_that_lead_to_their_moments() {
    let chain = Fixture::new().why(&Subject::Verdict(0)).map(Rc::new);
    let content = Content::Promises(Fixture::new().promises());
    let html = render(Lang::En, html! { <Panel {content} why={chain} why_open=true /> });
    let card = html.split("id=\"why\"").nth(1).and_then(|c| c.split("</section>").next()).expect("the card");
    assert_eq!(card.matches("<li>").count(), 3);
    assert!(card.contains("__consumer_offsets-9 has one replica, on broker 1"));
    // A fact that holds from the start has no moment to jump to.
    assert_eq!(card.matches("Go to this moment: ").count(), 2);
}

#[test]
fn the_answer_to_why_has_a_tab_of_its_own_and_covers_no_other() {
    let chain = Fixture::new().why(&Subject::Verdict(0)).map(Rc::new);
    let content = Content::Promises(Fixture::new().promises());
    let html = render(Lang::En, html! { <Panel content={content.clone()} why={chain.clone()} /> });
    assert!(tags(&html, "button").any(|b| b.attribute("id") == Some("tab-why")));
    assert!(!html.contains("id=\"why\"") && html.contains("class=\"ledger\""), "another tab shows its own content");
    let html = render(Lang::En, html! { <Panel {content} why={chain} why_open=true /> });
    assert!(html.contains("id=\"why\"") && !html.contains("class=\"ledger\""), "the answer stands alone");
    assert_eq!(html.matches("aria-selected=\"true\"").count(), 1);
}

#[test]
fn a_folded_panel_leaves_the_mark_of_the_worst_verdict() {
    let content = Content::Promises(Fixture::new().promises());
    let worst = Some(Verdict::EveryConsumerStopped);
    let html = render(Lang::En, html! { <Panel {content} folded=true {worst} /> });
    check_house_rules(&html);
    let mark = tags(&html, "button").find(|b| b.attribute("class") == Some("rail-mark bad")).expect("a mark");
    assert_eq!((mark.text("button").as_str(), mark.attribute("title")), ("✕", Some("Every consumer is stopped")));
    assert!(!html.contains("role=\"tablist\""));
}

#[test]
fn settings_have_kafkas_names_the_value_and_the_default() {
    let settings = Fixture::new().settings();
    let html = render(Lang::En, html! { <SettingsPanel {settings} folded=false /> });
    check_house_rules(&html);
    for words in [
        "min.insync.replicas",
        "unclean.leader.election.enable",
        "enable.idempotence",
        "offsets.topic.replication.factor",
        "in force: 1, default: all",
        "in force: 3 (the default)",
        "default 4.1",
    ] {
        assert!(html.contains(words), "{words}");
    }
    let switches: Vec<_> = tags(&html, "button").filter(|b| b.attribute("role") == Some("switch")).collect();
    assert_eq!(switches.len(), 2);
    assert!(switches.iter().all(|s| s.attribute("aria-checked") == Some("false")));
    // Set-up settings are marked in words too, not only by a sign.
    assert!(html.contains("partitions (begins a new run)"));
    assert!(!html.contains("acks (begins a new run)"));
}

#[test]
fn the_link_and_the_frame_carry_language_and_moment() {
    let share = Fixture::new().share();
    assert_eq!(
        link("https://example.org/hw/", &share.fragment, "zh"),
        "https://example.org/hw/#k1abc.0123456&at=21402000us+3&d=9f3a61c0&lang=zh"
    );
    let markup = frame("https://example.org/hw/", &share, "en", "A \"title\"");
    assert!(markup.contains("src=\"https://example.org/hw/embed/1/#k1abc.0123456&amp;at="));
    assert!(markup.contains("sandbox=\"allow-scripts allow-popups allow-popups-to-escape-sandbox\""));
    assert!(markup.contains("title=\"A &quot;title&quot;\""));
    assert!(!markup.contains("allow-same-origin") && !markup.contains("style"));
}

#[test]
fn the_share_box_measures_the_link() {
    let share = Fixture::new().share();
    let inner: Html =
        html! { <ShareDialog {share} at_us={fixture::AT} check={DigestCheck::Same} base="https://example.org/hw/" /> };
    let html = render(Lang::En, inner);
    check_house_rules(&html);
    assert!(html.contains("of 65536 characters"));
    assert!(html.contains("21.402 s"));
    assert_eq!(tags(&html, "button").filter(|b| b.text("button") == "Copy").count(), 2);
}

#[test]
fn the_list_of_keys_lets_single_keys_be_turned_off() {
    let html = render(Lang::En, html! { <KeysDialog single_keys=true /> });
    check_house_rules(&html);
    let switch = tags(&html, "button").find(|b| b.attribute("role") == Some("switch")).expect("a switch");
    assert_eq!(switch.attribute("aria-checked"), Some("true"));
}

#[test]
fn a_message_says_where_it_is_what_it_carries_and_what_can_be_done_to_it() {
    let about = Subject::Message(MessageRef(1));
    for (lang, words) in [
        (Lang::En, ["Deliver now", "Hold", "not yet: it arrives in 0.3 ms", "was 3", "What caused it", "Why?"]),
        (Lang::Zh, ["立即送达", "扣住", "尚未发生：0.3 ms后到达", "原为 3", "起因", "为什么？"]),
    ] {
        let found = Fixture::new().inspect(&about).map(Rc::new);
        let html = body(lang, Content::Inspect { about: Some(about.clone()), found });
        check_house_rules(&html);
        for word in words.into_iter().chain(["FetchResponse", "v18", "0 NONE", "ProduceRequest"]) {
            assert!(html.contains(word), "{word} in {html}");
        }
        assert!(!html.contains("log_start_offset"), "only all fields shows it");
    }
}

#[test]
fn the_chosen_message_is_said_in_one_line_with_the_way_to_its_neighbours() {
    let selected = Some(Subject::Message(MessageRef(1)));
    for (lang, words) in [
        (
            Lang::En,
            [
                "21.402000 s",
                "broker 2 answers broker 1: FetchResponse v18",
                "orders-1 offset 4 · the high watermark of orders-1 is still 4",
                "still to go 0.3 ms",
                "1 of 2 in flight",
                "Next message in flight",
            ],
        ),
        (
            Lang::Zh,
            [
                "21.402000 s",
                "broker 2 应答 broker 1：FetchResponse v18",
                "orders-1 位移 4 · orders-1 的高水位仍是 4",
                "还需 0.3 ms",
                "传输中 1/2",
                "下一条传输中的消息",
            ],
        ),
    ] {
        let html = render(lang, html! { <Caption selected={selected.clone()} /> });
        check_house_rules(&html);
        for word in words {
            assert!(html.contains(word), "{word} in {html}");
        }
    }
    let other = render(Lang::En, html! { <Caption selected={Some(Subject::Broker(1))} /> });
    assert!(!other.contains("in flight"), "what is chosen is no message: {other}");
}

#[test]
fn messages_in_flight_can_be_chosen_from_the_text_too() {
    let html = body(Lang::En, Content::Text(Rc::new(Fixture::new().text())));
    let list = html.split("<h2>Messages in flight</h2>").nth(1).and_then(|l| l.split("</ul>").next()).expect("a list");
    let all: Vec<String> = tags(list, "button").map(|b| b.text("button")).collect();
    assert_eq!(all.len(), 5);
    assert_eq!(all[0], "Produce request from checkout to broker 2, orders-1");
}

fn board(answered: Answered) -> Storyboard {
    let both = |en: &str, zh: &str| Prose::Languages(vec![("en".into(), en.into()), ("zh".into(), zh.into())]);
    let choices = vec![(both("nobody", "都不会"), None), (both("both", "两者"), Some(both("because", "因为")))];
    Storyboard {
        said: Some(both("All is well.", "一切正常。")),
        asked: Some(QuestionView { id: "q".into(), text: both("Who stops?", "谁会停？"), choices, answered }),
    }
}

fn story(lang: Lang, answered: Answered, guess: Option<usize>) -> String {
    let guess = guess.map(|choice| ("q".to_string(), choice));
    render(lang, html! { <StoryCard board={board(answered)} {guess} /> })
}

#[test]
fn a_question_is_asked_in_both_languages_and_judged_by_what_the_run_showed() {
    let open = story(Lang::En, Answered::Open, None);
    let buttons: Vec<String> = tags(&open, "button").map(|b| b.text("button")).collect();
    assert_eq!(buttons, ["1nobody", "2both"]);
    assert!(open.contains("All is well.") && open.contains("Who stops?"), "{open}");
    assert!(story(Lang::Zh, Answered::Open, None).contains("谁会停？"));
    let waits = story(Lang::En, Answered::NotYet, Some(1));
    assert!(waits.contains("both") && tags(&waits, "button").count() == 0, "{waits}");
    let shown = |right| Answered::Shown { right, stopped: vec!["billing".into()], going_on: vec!["checkout".into()] };
    for (right, expected) in [(Some(1), "right."), (Some(0), "not so."), (None, "not so.")] {
        let html = story(Lang::En, shown(right), Some(1));
        assert!(html.contains(expected) && html.contains("Stuck: billing. At work: checkout."), "{html}");
        assert!(html.contains("because"), "{html}");
    }
    // Who answered nothing is told nothing of right and wrong.
    let html = story(Lang::En, shown(Some(1)), None);
    assert!(html.contains("All is well.") && !html.contains("Who stops?"), "{html}");
    check_house_rules(&open);
}
