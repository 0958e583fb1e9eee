//! The stage on a narrow screen: one partition at a time with its replicas stacked, clients below.
//! It deliberately draws no messages: at this width they would cross words.
use super::context::{Ask, use_ui};
use super::stage::ClientCards;
use super::stage::replica::{Replica, Size};
use super::words::{Label, ids, partition};
use highwater_studio::view::model::NodeRef;
use highwater_studio::view::model::*;
use std::rc::Rc;
use yew::prelude::*;

#[derive(PartialEq, Properties)]
pub struct PhoneProps {
    pub scene: Rc<Scene>,
    /// Which partition, counted over all topics.
    pub column: usize,
    #[prop_or_default]
    pub selected: Option<Subject>,
}

#[component]
pub fn PhoneStage(props: &PhoneProps) -> Html {
    let ui = use_ui();
    let w = ui.words();
    let scene = &props.scene;
    let all: Vec<(&TopicView, &PartitionView)> =
        scene.topics.iter().flat_map(|t| t.partitions.iter().map(move |p| (t, p))).collect();
    let ignore = use_callback((), |_: (usize, usize), ()| ());
    let n = all.len();
    let at = props.column.min(n.saturating_sub(1));
    let chosen = all.get(at).map(|(t, p)| {
        let place = PartitionRef { topic: t.name.clone(), partition: p.partition };
        let health = match p.isr_health {
            IsrHealth::Full => "",
            IsrHealth::Reduced => "warn",
            IsrHealth::BelowMin | IsrHealth::Offline => "danger",
        };
        html! {
            <>
                <div class="phone-head">
                    <h2><button type="button" class="plain" onclick={ui.on(Ask::Select(Subject::Partition(place.clone())))}>{ partition(&place) }</button></h2>
                    <span class="mono muted">{ format!("epoch {}", p.leader_epoch) }</span>
                    <span class="grow" />
                    <span class="muted strong">{ w.one_of(at + 1, n) }</span>
                    <button type="button" class="btn square" aria-label={w.label(Label::Previous)} onclick={ui.on(Ask::PhoneColumn((at + n - 1) % n))}>{ "‹" }</button>
                    <button type="button" class="btn square" aria-label={w.label(Label::Next)} onclick={ui.on(Ask::PhoneColumn((at + 1) % n))}>{ "›" }</button>
                </div>
                <div class="phone-head mono">
                    <span class={classes!("isr", health)}>{ format!("ISR {}", ids(&p.isr)) }</span>
                    <span class="grow" />
                    <span class="hw">{ format!("HW {}", p.high_watermark) }</span>
                </div>
                <ul class="phone-brokers">
                    { for scene.brokers.iter().map(|b| {
                        let replica = b.replicas.iter().find(|r| r.partition == place);
                        let subject = Subject::Broker(b.id);
                        html! {
                            <li key={b.id}>
                                <div class="phone-broker">
                                    <button type="button" class="plain" onclick={ui.on(Ask::Select(subject))}>{ super::stage::broker_name(&ui, b) }</button>
                                    <span class={classes!("mono", "state", super::stage::state_class(b))}>{ super::stage::standing(&ui, b) }</span>
                                    <super::stage::NodeMenu node={NodeRef::Broker(b.id)} menu={b.menu.clone()} />
                                </div>
                                if let Some(r) = replica {
                                    <Replica
                                        replica={r.clone()} broker={b.id} first_shown={p.first_shown} size={Size::Wide} row={0} column={b.id as usize}
                                        focused={true} selected={false} on_focus={ignore.clone()} role="button"
                                    />
                                } else {
                                    <span class="muted no-replica-words">{ w.label(Label::NothingHere) }</span>
                                }
                            </li>
                        }
                    }) }
                </ul>
            </>
        }
    });
    html! {
        <section id="stage" class="phone-stage" aria-label={w.label(Label::Stage)}>
            { chosen }
            <ClientCards scene={scene.clone()} selected={props.selected.clone()} />
        </section>
    }
}
