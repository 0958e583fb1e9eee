//! A topic with many partitions on one broker: one square a partition. Shows roles only; the inspector has the rest.
use super::replica::role_class;
use super::{Focus, cell_focus, tab};
use crate::ui::context::{Ask, use_ui};
use crate::ui::geometry::{HEAT, heat_per_line};
use crate::web;
use highwater_studio::view::model::*;
use yew::prelude::*;

/// It holds what is drawn and nothing else: of a run that goes on, most squares stay as they are.
#[derive(PartialEq, Properties)]
pub struct HeatProps {
    pub topic: String,
    /// Partitions of the topic.
    pub total: usize,
    pub broker: u32,
    /// Those that this broker has.
    pub mine: Vec<(u32, ReplicaRole)>,
    pub row: usize,
    pub column: usize,
    pub focused: bool,
    pub topic_first: bool,
    pub on_focus: Focus,
}

const ROLES: [ReplicaRole; 5] =
    [ReplicaRole::Leader, ReplicaRole::InSync, ReplicaRole::OutOfSync, ReplicaRole::Offline, ReplicaRole::StaleLeader];

#[component]
pub fn Heat(props: &HeatProps) -> Html {
    let ui = use_ui();
    let w = ui.words();
    let total = props.total;
    let of = |role: ReplicaRole| props.mine.iter().filter(move |(_, r)| *r == role).map(|(partition, _)| *partition);
    let per_line = heat_per_line(total);
    let name = ROLES
        .into_iter()
        .map(|role| (role, of(role).count()))
        .filter(|(_, count)| *count > 0)
        .map(|(role, count)| format!("{count} {}", w.role(role)))
        .collect::<Vec<_>>();
    let name = w.enumerated(&name);
    // One shape a role, however many squares it has: a thousand partitions on each of 24 brokers would be 24,000
    // shapes.
    let squares = |role: ReplicaRole| {
        let mut d = String::new();
        for partition in of(role) {
            let (x, y) = (partition % per_line * HEAT, partition / per_line * HEAT);
            d.push_str(&format!("M{x}.5 {y}.5h12v13h-12z"));
        }
        (!d.is_empty()).then(|| html! { <path class={classes!("sq", role_class(role))} {d} /> })
    };
    let lines = u32::try_from(total).unwrap_or(0).div_ceil(per_line);
    // One listener for all squares: the place says which was meant.
    let click = {
        let (ask, topic) = (ui.ask.clone(), props.topic.clone());
        let held: Vec<u32> = props.mine.iter().map(|(partition, _)| *partition).collect();
        let broker = props.broker;
        Callback::from(move |e: MouseEvent| {
            let Some((x, y)) = web::place_in_target(&e) else { return };
            let partition = y / HEAT * per_line + x / HEAT;
            if held.contains(&partition) {
                ask.emit(Ask::Select(Subject::Replica {
                    partition: PartitionRef { topic: topic.clone(), partition },
                    broker,
                }));
            }
        })
    };
    html! {
        <div
            role="gridcell" id={format!("cell-{}-{}", props.row, props.column)} data-cell="1"
            tabindex={tab(props.focused)}
            class={classes!("heat", props.topic_first.then_some("topic-first"))}
            aria-label={w.titled(&props.topic, &name)}
            onfocus={cell_focus(&props.on_focus, (props.row, props.column))}
        >
            <svg
                data-track="1" width={(per_line * HEAT).to_string()} height={(lines * HEAT).to_string()} onclick={click}
                aria-hidden="true"
            >
                { for ROLES.into_iter().filter_map(squares) }
            </svg>
        </div>
    }
}
