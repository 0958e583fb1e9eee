//! A topic with many partitions on one broker: one square a partition. Shows roles only; the inspector has the rest.
use super::replica::role_class;
use super::{Focus, cell_focus, tab};
use crate::ui::context::{Ask, use_ui};
use crate::ui::geometry::{HEAT, heat_per_line};
use crate::web;
use highwater_studio::view::model::*;
use std::rc::Rc;
use yew::prelude::*;

#[derive(PartialEq, Properties)]
pub struct HeatProps {
    pub scene: Rc<Scene>,
    pub topic: String,
    pub broker: usize,
    pub row: usize,
    pub column: usize,
    pub focused: bool,
    pub topic_first: bool,
    pub on_focus: Focus,
}

#[component]
pub fn Heat(props: &HeatProps) -> Html {
    let ui = use_ui();
    let w = ui.words();
    let broker = &props.scene.brokers[props.broker];
    let mine: Vec<&ReplicaView> = broker.replicas.iter().filter(|r| r.partition.topic == props.topic).collect();
    let total = props.scene.topics.iter().find(|t| t.name == props.topic).map_or(0, |t| t.partitions.len());
    let per_line = heat_per_line(total);
    let count = |role: ReplicaRole| mine.iter().filter(|r| r.role == role).count();
    let roles = [
        ReplicaRole::Leader,
        ReplicaRole::InSync,
        ReplicaRole::OutOfSync,
        ReplicaRole::Offline,
        ReplicaRole::StaleLeader,
    ];
    let name = roles
        .into_iter()
        .filter(|r| count(*r) > 0)
        .map(|r| format!("{} {}", count(r), w.role(r)))
        .collect::<Vec<_>>()
        .join(", ");
    let lines = u32::try_from(total).unwrap_or(0).div_ceil(per_line);
    // One listener for all squares: the place says which was meant.
    let click = {
        let (ask, topic) = (ui.ask.clone(), props.topic.clone());
        let held: Vec<u32> = mine.iter().map(|r| r.partition.partition).collect();
        let broker = broker.id;
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
            aria-label={format!("{}: {name}", props.topic)}
            onfocus={cell_focus(&props.on_focus, (props.row, props.column))}
        >
            <svg
                data-track="1" width={(per_line * HEAT).to_string()} height={(lines * HEAT).to_string()} onclick={click}
                aria-hidden="true"
            >
                { for mine.iter().map(|r| {
                    let (x, y) = (r.partition.partition % per_line * HEAT, r.partition.partition / per_line * HEAT);
                    html! {
                        <rect
                            class={classes!("sq", role_class(r.role))} x={format!("{x}.5")} y={format!("{y}.5")}
                            width="12" height="13" rx="2"
                        />
                    }
                }) }
            </svg>
        </div>
    }
}
