//! The stage as HTML: a grid whose cells say what they show.
use crate::fixture;
use crate::html::{render, tags};
use highwater_page::ui::stage::Stage;
use highwater_page::ui::words::Lang;
use highwater_studio::view::model::NodeRef;
use highwater_studio::view::model::*;
use std::rc::Rc;
use yew::html;

fn stage(scene: Scene, selected: Option<Subject>, playing: bool) -> String {
    render(Lang::En, html! { <Stage scene={Rc::new(scene)} {selected} {playing} /> })
}

#[test]
fn a_replica_says_role_offsets_and_what_is_lost() {
    let html = stage(fixture::scene(), None, false);
    for name in [
        "orders-0 on broker 1: offline, log end 48, high watermark 45, 3 acknowledged and lost",
        "orders-0 on broker 2: leader, log end 47, high watermark 46, 1 acknowledged and not yet safe",
        "orders-0 on broker 3: in sync, log end 46, high watermark 45",
    ] {
        assert!(
            tags(&html, "span").any(|t| t.attribute("class") == Some("hidden") && t.text("span") == name),
            "{name}"
        );
    }
}

#[test]
fn a_column_says_leader_epoch_isr_and_high_watermark() {
    let html = stage(fixture::scene(), None, false);
    let head = tags(&html, "div")
        .find(|t| t.attribute("role") == Some("columnheader") && t.attribute("id") == Some("cell-0-1"))
        .expect("a head");
    assert_eq!(
        head.attribute("aria-label"),
        Some("orders-0: leader 2, leader epoch 1, ISR 2, 3 (reduced), high watermark 46")
    );
}

#[test]
fn the_grid_has_a_row_for_each_broker_and_one_place_for_the_focus() {
    let html = stage(fixture::scene(), None, false);
    let cells: Vec<_> = tags(&html, "div").filter(|t| t.attribute("data-cell").is_some()).collect();
    let count = |role: &str| cells.iter().filter(|t| t.attribute("role") == Some(role)).count();
    assert_eq!((count("columnheader"), count("rowheader"), count("gridcell")), (7, 3, 6 * 3 + 3));
    assert_eq!(cells.iter().filter(|t| t.attribute("tabindex") == Some("0")).count(), 1);
    let grid = tags(&html, "div").find(|t| t.attribute("role") == Some("grid")).expect("a grid");
    assert_eq!((grid.attribute("aria-rowcount"), grid.attribute("aria-colcount")), (Some("7"), Some("7")));
}

#[test]
fn each_mark_has_a_shape_of_its_own() {
    let html = stage(fixture::scene(), None, false);
    // Crosses for three lost records, ticks for three at risk, both once more in the legend.
    assert_eq!(html.matches("class=\"c-cross\"").count(), 3 + 1);
    assert_eq!(html.matches("class=\"c-tick\"").count(), 4 + 1);
    // One crown for each leader, one for the active controller, one in the legend.
    assert_eq!(html.matches("class=\"m-crown\"").count(), 6 + 1 + 1);
    assert_eq!(html.matches("sq-lost").count(), 50);
    assert_eq!(html.matches("outlined").count(), 1);
}

#[test]
fn what_can_be_done_to_a_broker_is_offered_and_nothing_else() {
    let html = stage(fixture::scene(), None, false);
    let labels: Vec<_> = tags(&html, "button").filter_map(|t| t.attribute("aria-label").map(str::to_owned)).collect();
    assert!(labels.iter().any(|l| l == "Start: broker 1"), "{labels:?}");
    assert!(labels.iter().any(|l| l == "Break: Actions for broker 2"), "{labels:?}");
    assert!(!labels.iter().any(|l| l == "Break: Actions for broker 1"), "a broker that is down can only be started");
}

#[test]
fn messages_can_be_reached_by_keyboard_only_while_time_stands_still() {
    let still = stage(fixture::scene(), None, false);
    let flyers = |html: &str| {
        tags(html, "g")
            .filter(|t| t.attribute("role") == Some("button"))
            .map(|t| t.attribute("aria-label").unwrap_or("").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(flyers(&still).len(), 5);
    assert_eq!(flyers(&still)[0], "Produce request from checkout to broker 2, orders-1");
    let playing = stage(fixture::scene(), None, true);
    assert!(flyers(&playing).is_empty());
    let layer = tags(&playing, "svg").find(|t| t.attribute("class") == Some("motion")).expect("the layer");
    assert_eq!(layer.attribute("aria-hidden"), Some("true"));
}

#[test]
fn the_four_kinds_of_message_have_four_shapes() {
    let html = stage(fixture::scene(), None, false);
    let layer = html.split("class=\"motion\"").nth(1).expect("the layer");
    for (shape, class) in [("circle", "f-produce"), ("path", "f-fetch"), ("rect", "f-control"), ("path", "f-group")] {
        assert!(tags(layer, shape).any(|t| t.attribute("class") == Some(class)), "{shape} {class}");
    }
}

#[test]
fn a_selection_lights_its_column() {
    let chosen = Subject::Replica { partition: fixture::orders(2), broker: 3 };
    let html = stage(fixture::scene(), Some(chosen), false);
    let band = tags(&html, "rect").find(|t| t.attribute("class") == Some("band")).expect("a band");
    assert_eq!(band.attribute("x"), Some("371"));
    assert_eq!(html.matches("aria-selected=\"true\"").count(), 1);
}

#[test]
fn a_fenced_broker_and_one_that_is_paused_look_different_from_one_that_runs() {
    let mut scene = fixture::scene();
    scene.brokers[1].standing = BrokerStanding::Fenced { since_us: 1 };
    scene.brokers[2].process = ProcessState::Paused { since_us: 1_500_000 };
    let html = stage(scene, None, false);
    for class in ["broker s-down", "broker s-fenced", "broker s-paused"] {
        assert_eq!(html.matches(class).count(), 1, "{class}");
    }
    assert!(html.contains("fenced"));
    assert!(html.contains("paused since 1.500\u{a0}s"));
}

#[test]
fn a_dead_brokers_button_starts_it_and_the_rest_is_in_a_menu_beside_it() {
    let mut scene = fixture::scene();
    scene.brokers[0].menu = vec![NodeAction::Start, NodeAction::CutFromAll];
    let html = stage(scene, None, false);
    let start = tags(&html, "button").find(|b| b.attribute("aria-label") == Some("Start: broker 1")).expect("a button");
    assert_eq!(start.text("button"), "Start");
    assert!(tags(&html, "button").any(|b| b.attribute("aria-label") == Some("Actions for broker 1")));
}

#[test]
fn links_that_are_cut_are_drawn_and_named_together() {
    let mut scene = fixture::scene();
    let cut = |a, b| CutView { a, b, one_way: false, since_us: 1 };
    scene.cuts = vec![
        cut(NodeRef::Controller(1), NodeRef::Broker(2)),
        cut(NodeRef::Broker(1), NodeRef::Broker(2)),
        cut(NodeRef::Broker(2), NodeRef::Broker(3)),
    ];
    let html = stage(scene, None, false);
    assert_eq!(html.matches("class=\"cut-way\"").count(), 3);
    let list = html.split("class=\"cut-list\"").nth(1).and_then(|l| l.split("</ul>").next()).expect("a list");
    assert_eq!(list.matches("<li>").count(), 1);
    assert!(list.contains("cut between broker 2 and controller 1, broker 1, broker 3"), "{list}");
}
