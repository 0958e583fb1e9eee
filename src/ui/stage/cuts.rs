//! Links that are cut, drawn where their messages would go, with the gap in the middle. It deliberately draws no link
//! that works: they would be as many as there are pairs of nodes.
use crate::ui::context::use_ui;
use crate::ui::geometry::{Geometry, along};
use highwater_studio::view::model::NodeRef;
use highwater_studio::view::model::*;
use std::rc::Rc;
use yew::prelude::*;

/// More than these would only cross each other; all are in the list.
const MOST: usize = 24;
/// Sentences below the stage; the text view has all.
const LISTED: usize = 6;

#[derive(PartialEq, Properties)]
pub struct CutsProps {
    pub scene: Rc<Scene>,
    pub geometry: Rc<Geometry>,
}

/// Cuts as sentences: those that one node has in common are one.
pub fn said(cuts: &[CutView]) -> Vec<Fact> {
    let mut all = Vec::new();
    let mut left: Vec<&CutView> = cuts.iter().collect();
    while let Some(first) = left.first() {
        let one_way = first.one_way;
        // Of a cut in one direction only the sender can be named first.
        let shared = |n: &NodeRef| {
            left.iter().filter(|c| c.one_way == one_way && (c.a == *n || (!one_way && c.b == *n))).count()
        };
        let from_b = !one_way && shared(&first.b) > shared(&first.a);
        let node = if from_b { first.b.clone() } else { first.a.clone() };
        let (mine, others): (Vec<&CutView>, Vec<&CutView>) =
            left.iter().partition(|c| c.one_way == one_way && (c.a == node || (!one_way && c.b == node)));
        let ends = mine.iter().map(|c| if c.a == node { c.b.clone() } else { c.a.clone() }).collect();
        all.push(Fact::Cut { a: vec![node], b: ends, one_way });
        left = others;
    }
    all
}

/// Links that do not work as they should, as sentences.
pub fn faults(scene: &Scene) -> Vec<Fact> {
    let slow = scene.links.iter().map(|l| Fact::LinkChanged {
        a: l.a.clone(),
        b: l.b.clone(),
        latency_us: l.latency_us,
        loss_permille: l.loss_permille,
    });
    said(&scene.cuts).into_iter().chain(slow).collect()
}

#[component]
pub fn Cuts(props: &CutsProps) -> Html {
    let ui = use_ui();
    let cuts = &props.scene.cuts;
    let faults = faults(&props.scene);
    if faults.is_empty() {
        return Html::default();
    }
    let more = faults.len().saturating_sub(LISTED);
    let g = &props.geometry;
    html! {
        <>
            <svg class="cuts" width={g.width.to_string()} height={g.height.to_string()} aria-hidden="true">
                { for cuts.iter().take(MOST).filter_map(|c| cut(&ui, g, c)) }
            </svg>
            <ul class="cut-list">
                { for faults.iter().take(LISTED).map(|f| html! { <li>{ ui.words().fact(f) }</li> }) }
                if more > 0 { <li>{ ui.words().and_more(more) }</li> }
            </ul>
        </>
    }
}

fn cut(ui: &crate::ui::context::Ui, g: &Geometry, c: &CutView) -> Option<Html> {
    let way = g.link(&c.a, &c.b)?;
    let d = way
        .iter()
        .enumerate()
        .map(|(i, p)| format!("{}{} {}", if i == 0 { "M" } else { " L" }, p.x, p.y))
        .collect::<String>();
    let (x, y) = along(&way, 500_000);
    Some(html! {
        <g class="cut">
            <title>{ for said(std::slice::from_ref(c)).iter().map(|f| ui.words().fact(f)) }</title>
            <path class="cut-way" {d} />
            <g transform={format!("translate({},{})", x / 10, y / 10)}>
                <circle class="cut-ground" r="8" />
                <path class="m-gap" d="M-4 -4 L4 4 M4 -4 L-4 4" />
                if c.one_way { <path class="m-gap" d="M-8 8 H8 M5 5 L8 8 L5 11" /> }
            </g>
        </g>
    })
}
