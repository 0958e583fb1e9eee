//! More than fits: cells become bars, bars become squares, nothing is left out.
use crate::fixture;
use crate::html::{check_house_rules, render, tags};
use highwater_page::ui::stage::Stage;
use highwater_page::ui::words::Lang;
use highwater_studio::view::model::*;
use std::rc::Rc;
use yew::html;

/// The fixture's cluster with another number of partitions and of brokers.
fn scene(partitions: u32, brokers: u32) -> Scene {
    let mut scene = fixture::scene();
    let (column, row) = (scene.topics[0].partitions[0].clone(), scene.brokers[1].clone());
    scene.topics[0].partitions =
        (0..partitions).map(|partition| PartitionView { partition, ..column.clone() }).collect();
    scene.brokers = (1..=brokers)
        .map(|id| BrokerView {
            id,
            replicas: (0..partitions)
                .filter(|p| (p + id) % brokers < 3)
                .map(|p| ReplicaView { partition: fixture::orders(p), ..row.replicas[0].clone() })
                .collect(),
            ..row.clone()
        })
        .collect();
    scene
}

fn stage(scene: Scene) -> String {
    render(Lang::En, html! { <Stage scene={Rc::new(scene)} playing=true /> })
}

#[test]
fn nine_partitions_are_drawn_as_bars() {
    let html = stage(scene(9, 3));
    assert_eq!(html.matches("class=\"replica d-bars").count(), 27);
    assert!(!html.contains("class=\"replica d-cells"));
}

#[test]
fn twenty_five_partitions_are_one_square_each() {
    let html = stage(scene(25, 3));
    assert!(!html.contains("class=\"replica"));
    let heat = html
        .split("class=\"heat")
        .skip(1)
        .map(|h| h.split("</svg>").next().unwrap_or("").matches("h12v13h-12z").count())
        .collect::<Vec<_>>();
    assert_eq!(heat, [25, 25, 25]);
}

#[test]
fn twelve_brokers_and_six_hundred_partitions_are_all_there_in_few_nodes() {
    let html = stage(scene(600, 12));
    check_house_rules(&html);
    let squares: usize = html
        .split("class=\"heat")
        .skip(1)
        .map(|h| h.split("</svg>").next().unwrap_or("").matches("h12v13h-12z").count())
        .sum();
    assert_eq!(squares, 600 * 3);
    let nodes = html.matches('<').count() - html.matches("</").count();
    assert!(nodes < 3_000, "{nodes} nodes");
    assert!(tags(&html, "div").any(|t| t.attribute("aria-label").is_some_and(|l| l.starts_with("orders: 150 leader"))));
}

#[test]
fn the_cluster_of_the_story_is_drawn_in_modest_number_of_nodes() {
    let html = stage(fixture::scene());
    let nodes = html.matches('<').count() - html.matches("</").count();
    assert!(nodes < 1_200, "{nodes} nodes");
}

#[test]
fn an_internal_topic_that_was_opened_stands_beside_the_others() {
    let mut s = fixture::scene();
    s.internal[0].opened = true;
    let column = s.topics[0].partitions[0].clone();
    s.topics.push(TopicView {
        name: "__consumer_offsets".into(),
        internal: true,
        replication_factor: 1,
        min_insync_replicas: 1,
        partitions: (0..50).map(|partition| PartitionView { partition, ..column.clone() }).collect(),
    });
    let html = stage(s);
    assert!(html.contains("50 × 1"));
    assert!(tags(&html, "button").any(|b| b.text("button") == "Hide columns"));
    assert_eq!(html.matches("class=\"replica d-cells").count(), 18, "the other topic keeps its cells");
}
