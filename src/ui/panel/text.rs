//! The whole state as headings and tables: the same as the stage, for those who read instead of look.
//! It deliberately draws nothing.
use crate::ui::context::{Ask, Ui, use_ui};
use crate::ui::words::{Label, ids, moment, partition, rate};
use highwater_studio::view::model::NodeRef;
use highwater_studio::view::model::*;
use std::rc::Rc;
use yew::prelude::*;

#[derive(PartialEq, Properties)]
pub struct TextProps {
    pub text: Rc<TextView>,
}

#[component]
pub fn TextPanel(props: &TextProps) -> Html {
    let ui = use_ui();
    let w = ui.words();
    let (scene, promises) = (&props.text.scene, &props.text.promises);
    html! {
        <div class="text-view">
            <h2>{ w.label(Label::Summary) }</h2>
            <p>{ w.summary(scene, promises) }</p>
            <ul>
                { for promises.verdicts.iter().map(|v| html! {
                    <li>
                        <b>{ w.verdict(&v.verdict) }</b>
                        { " " }
                        { v.cause.as_ref().map(|c| w.cause(c)).unwrap_or_default() }
                    </li>
                }) }
            </ul>
            <h2>{ w.label(Label::Cluster) }</h2>
            { controllers(&ui, scene) }
            { brokers(&ui, scene) }
            { faults(&ui, scene) }
            { for scene.topics.iter().map(|t| topic(&ui, scene, t)) }
            <h2>{ w.label(Label::Clients) }</h2>
            { producers(&ui, scene) }
            { for scene.groups.iter().map(|g| group(&ui, g)) }
            { flights(&ui) }
            <h2>{ w.label(Label::TextRecent) }</h2>
            <ol>
                { for props.text.recent.iter().map(|l| html! {
                    <li><span class="mono">{ moment(l.at_us) }</span>{ " " }{ w.fact(&l.fact) }</li>
                }) }
            </ol>
        </div>
    }
}

/// What is on its way while time stands still, each a way to look at it.
fn flights(ui: &Ui) -> Html {
    let d = ui.desk.read();
    let all = d.motion().flights;
    if all.is_empty() || d.playback().playing {
        return Html::default();
    }
    html! {
        <>
            <h2>{ ui.label(Label::Messages) }</h2>
            <ul>
                { for all.iter().map(|f| html! {
                    <li>
                        <button type="button" class="linky" onclick={ui.on(Ask::Select(Subject::Message(f.id)))}>
                            { ui.words().flight(f) }
                        </button>
                    </li>
                }) }
            </ul>
        </>
    }
}

const OF_CONTROLLERS: [Label; 5] =
    [Label::Controllers, Label::TextState, Label::TextEpoch, Label::TextLogEnd, Label::TextHighWatermark];
const OF_PARTITIONS: [Label; 6] = [
    Label::TextPartition,
    Label::TextLeader,
    Label::TextEpoch,
    Label::TextIsr,
    Label::TextHighWatermark,
    Label::TextReplicas,
];
const OF_MEMBERS: [Label; 6] = [
    Label::TextMember,
    Label::TextNow,
    Label::TextPartition,
    Label::TextPosition,
    Label::TextCommitted,
    Label::TextLag,
];

fn heads(ui: &Ui, all: &[Label]) -> Html {
    html! { <thead><tr>{ for all.iter().map(|l| html! { <th scope="col">{ ui.label(*l) }</th> }) }</tr></thead> }
}

fn listed(all: impl Iterator<Item = String>, between: &str) -> String {
    all.collect::<Vec<_>>().join(between)
}

fn none(ui: &Ui, s: String) -> String {
    if s.is_empty() { ui.label(Label::TextNone).to_owned() } else { s }
}

fn controllers(ui: &Ui, scene: &Scene) -> Html {
    let w = ui.words();
    html! {
        <>
            <h3>{ w.label(Label::Controllers) }</h3>
            <div class="table-scroll" tabindex="0" role="group" aria-label={w.label(Label::Controllers)}><table>
                { heads(ui, &OF_CONTROLLERS) }
                <tbody>{ for scene.controllers.iter().map(|c| html! {
                    <tr>
                        <th scope="row">{ w.node(&NodeRef::Controller(c.id)) }</th>
                        <td>{ w.controller_state(c) }</td>
                        <td>{ c.quorum_epoch }</td>
                        <td>{ c.log_end_offset }</td>
                        <td>{ c.high_watermark }</td>
                    </tr>
                }) }</tbody>
            </table></div>
        </>
    }
}

fn brokers(ui: &Ui, scene: &Scene) -> Html {
    let w = ui.words();
    html! {
        <>
            <h3>{ w.label(Label::Brokers) }</h3>
            <div class="table-scroll" tabindex="0" role="group" aria-label={w.label(Label::Brokers)}><table>
                { heads(ui, &[Label::Brokers, Label::TextState, Label::TextRack, Label::InternalTopics]) }
                <tbody>{ for scene.brokers.iter().map(|b| html! {
                    <tr>
                        <th scope="row">{ w.node(&NodeRef::Broker(b.id)) }</th>
                        <td>{ crate::ui::stage::standing(ui, b) }</td>
                        <td>{ b.rack.clone().unwrap_or_else(|| w.label(Label::TextNone).to_owned()) }</td>
                        <td>{
                            none(ui, w.clauses(&b.internal.iter().map(|s| internal(ui, s)).collect::<Vec<_>>()))
                        }</td>
                    </tr>
                }) }</tbody>
            </table></div>
        </>
    }
}

fn internal(ui: &Ui, s: &InternalStrip) -> String {
    ui.words().titled(&s.topic, &ui.words().strip(s))
}

/// Links that do not work as they should.
fn faults(ui: &Ui, scene: &Scene) -> Html {
    let w = ui.words();
    let all = crate::ui::stage::faults(scene);
    if all.is_empty() {
        return Html::default();
    }
    html! { <ul>{ for all.iter().map(|f| html! { <li>{ w.fact(f) }</li> }) }</ul> }
}

fn topic(ui: &Ui, scene: &Scene, t: &TopicView) -> Html {
    let w = ui.words();
    html! {
        <>
            <h3>{ format!("{} {}", w.label(Label::Topic), t.name) }</h3>
            <p>
                { w.enumerated(&[
                    format!(
                        "{} {}", w.setting(&SettingKey::ReplicationFactor { topic: t.name.clone() }),
                        t.replication_factor
                    ),
                    format!("min.insync.replicas {}", t.min_insync_replicas),
                ]) }
            </p>
            <div class="table-scroll" tabindex="0" role="group" aria-label={t.name.clone()}><table>
                { heads(ui, &OF_PARTITIONS) }
                <tbody>{ for t.partitions.iter().map(|p| {
                    let place = PartitionRef { topic: t.name.clone(), partition: p.partition };
                    let replicas = scene.brokers.iter().filter_map(|b| {
                        let r = b.replicas.iter().find(|r| r.partition == place)?;
                        Some(html! { <li>{ w.replica(r, b.id) }</li> })
                    });
                    html! {
                        <tr>
                            <th scope="row">
                                <button
                                    type="button" class="linky"
                                    onclick={ui.on(Ask::Select(Subject::Partition(place.clone())))}
                                >{ partition(&place) }</button>
                            </th>
                            <td>{ p.leader.map_or_else(|| w.label(Label::TextNone).to_owned(), |l| l.to_string()) }</td>
                            <td>{ p.leader_epoch }</td>
                            <td>
                                { none(ui, ids(&p.isr)) }
                                if let Some(may) = crate::ui::stage::may_lead(w, p) { { "; " }{ may } }
                            </td>
                            <td>{ p.high_watermark }</td>
                            <td><ul>{ for replicas }</ul></td>
                        </tr>
                    }
                }) }</tbody>
            </table></div>
        </>
    }
}

fn producers(ui: &Ui, scene: &Scene) -> Html {
    let w = ui.words();
    html! {
        <ul>{ for scene.producers.iter().map(|p| html! {
            <li>
                { w.titled(&w.subject(&Subject::Producer(p.name.clone())), &w.clauses(&[
                    w.enumerated(&[format!("acks={}", p.acks), rate(p.rate_milli)]),
                    w.producer_now(&p.now),
                    w.producer_counts(p),
                ])) }
            </li>
        }) }</ul>
    }
}

fn group(ui: &Ui, g: &GroupView) -> Html {
    let w = ui.words();
    html! {
        <>
            <h3>{ w.subject(&Subject::Group(g.name.clone())) }</h3>
            <p>{ w.group_now(g) }{ " " }{ w.coordinator(g) }</p>
            <div class="table-scroll" tabindex="0" role="group" aria-label={g.name.clone()}><table>
                { heads(ui, &OF_MEMBERS) }
                <tbody>{ for g.members.iter().map(|m| {
                    let column =
                        |f: &dyn Fn(&AssignedPartition) -> String| none(ui, listed(m.assigned.iter().map(f), ", "));
                    let number = |n: Option<u64>| n.map_or_else(|| "–".to_owned(), |n| n.to_string());
                    html! {
                        <tr>
                            <th scope="row">{ &m.name }</th><td>{ w.member_now(&m.now) }</td>
                            <td>{ column(&|a| partition(&a.partition)) }</td>
                            <td>{ column(&|a| number(a.position)) }</td>
                            <td>{ column(&|a| number(a.committed)) }</td><td>{ column(&|a| a.lag.to_string()) }</td>
                        </tr>
                    }
                }) }</tbody>
            </table></div>
        </>
    }
}
