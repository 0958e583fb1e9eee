//! Producers and groups: in one line what each is doing now and, when it is stuck, Kafka's error by name.
use crate::ui::context::{Ask, Ui, use_ui};
use crate::ui::words::{Label, rate};
use highwater_studio::view::model::*;
use std::rc::Rc;
use yew::prelude::*;

#[derive(PartialEq, Properties)]
pub struct ClientsProps {
    pub scene: Rc<Scene>,
    #[prop_or_default]
    pub selected: Option<Subject>,
}

#[component]
pub fn ClientCards(props: &ClientsProps) -> Html {
    let ui = use_ui();
    let chosen = |s: &Subject| props.selected.as_ref() == Some(s);
    html! {
        <section class="clients" aria-labelledby="clients-title">
            <h3 id="clients-title" class="cap">{ ui.label(Label::Clients) }</h3>
            <ul>
                { for props.scene.producers.iter().map(|p| {
                    producer(&ui, p, chosen(&Subject::Producer(p.name.clone())))
                }) }
                { for props.scene.groups.iter().map(|g| group(&ui, g, chosen(&Subject::Group(g.name.clone())))) }
            </ul>
        </section>
    }
}

fn why(ui: &Ui, subject: Subject) -> Html {
    let name = ui.words().why_about(&subject);
    html! {
        <button type="button" class="btn small why" aria-label={name} onclick={ui.on(Ask::Why(subject))}>
            { ui.label(Label::Why) }
        </button>
    }
}

fn producer(ui: &Ui, p: &ProducerView, chosen: bool) -> Html {
    let w = ui.words();
    let subject = Subject::Producer(p.name.clone());
    let stuck = match p.now {
        ProducerNow::Retrying { .. } | ProducerNow::NoLeader { .. } | ProducerNow::Failing { .. } => true,
        ProducerNow::NotStarted
        | ProducerNow::Closed
        | ProducerNow::Idle
        | ProducerNow::Sending
        | ProducerNow::AwaitingAcks { .. }
        | ProducerNow::Paused => false,
    };
    html! {
        <li
            key={format!("p-{}", p.name)}
            class={classes!(
                "client", stuck.then_some("stuck"), chosen.then_some("chosen"), (p.lost > 0).then_some("loses")
            )}
        >
            <span class="client-line">
                <button
                    type="button" class="plain one-line" title={w.subject(&subject)}
                    onclick={ui.on(Ask::Select(subject.clone()))}
                >
                    <b>{ w.subject(&subject) }</b>
                </button>
                <span class="mono muted">{ format!("acks={} · {}", p.acks, rate(p.rate_milli)) }</span>
            </span>
            <span class="client-line">
                <span
                    class="client-now"
                    title={(p.lost > 0)
                        .then(|| w.sentences(&[w.producer_counts(p), w.lost_of_them(p.lost, &p.lost_at)]))}
                >
                    if stuck { <b class="danger">{ w.producer_now(&p.now) }</b> }
                    else {
                        <b>{ w.producer_counts(p) }</b>
                        if p.lost > 0 { { " · " }<b class="danger">{ w.lost_of_them(p.lost, &p.lost_at) }</b> }
                        else { <span class="muted">{ " · " }{ w.producer_now(&p.now) }</span> }
                    }
                </span>
                if stuck { { why(ui, subject) } }
            </span>
        </li>
    }
}

pub fn group_stuck(g: &GroupView) -> bool {
    match g.now {
        GroupNow::Stopped { .. } | GroupNow::ReadsWithoutCoordinator { .. } | GroupNow::NotPolling => true,
        GroupNow::NoMembers | GroupNow::Reading | GroupNow::Rebalancing | GroupNow::CaughtUp | GroupNow::Starting => {
            false
        }
    }
}

/// The state and the generation that the coordinator keeps: without one there is neither.
fn state(ui: &Ui, g: &GroupView) -> String {
    let state = ui.words().group_state(g.state);
    match g.state {
        GroupState::Unknown => state.to_owned(),
        GroupState::Empty
        | GroupState::PreparingRebalance
        | GroupState::CompletingRebalance
        | GroupState::Stable
        | GroupState::Dead => format!("{state} · {}", g.generation),
    }
}

fn group(ui: &Ui, g: &GroupView, chosen: bool) -> Html {
    let w = ui.words();
    let subject = Subject::Group(g.name.clone());
    let stuck = group_stuck(g);
    html! {
        <li
            key={format!("g-{}", g.name)}
            class={classes!("client", stuck.then_some("stuck"), chosen.then_some("chosen"))}
        >
            <span class="client-line">
                <button
                    type="button" class="plain one-line" title={w.subject(&subject)}
                    onclick={ui.on(Ask::Select(subject.clone()))}
                >
                    <b>{ w.subject(&subject) }</b>
                </button>
                <span class="muted clip" title={w.coordinator(g)}>{ w.coordinator(g) }</span>
            </span>
            <span class="client-line">
                <b class={classes!("client-now", stuck.then_some("danger"))}>{ w.group_now(g) }</b>
                if stuck { { why(ui, subject) } }
                else { <span class="muted mono">{ state(ui, g) }</span> }
            </span>
        </li>
    }
}
