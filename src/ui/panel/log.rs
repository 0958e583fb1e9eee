//! What happened, in sentences; each line is a moment one can jump to. Sorts and filters nothing: the desk does.
use crate::ui::context::{Ask, use_ui};
use crate::ui::words::{Label, moment};
use crate::web;
use highwater_studio::desk::command::Command;
use highwater_studio::view::model::*;
use std::rc::Rc;
use yew::prelude::*;

#[derive(PartialEq, Properties)]
pub struct LogProps {
    pub filter: LogFilter,
    pub page: Rc<LogPage>,
}

#[component]
pub fn LogView(props: &LogProps) -> Html {
    let ui = use_ui();
    let w = ui.words();
    let f = &props.filter;
    let toggled = |k: LogKind| {
        let mut next = f.clone();
        if let Some(i) = next.kinds.iter().position(|x| *x == k) {
            next.kinds.remove(i);
        } else {
            next.kinds.push(k);
        }
        next
    };
    let save = {
        let (desk, filter, lang) = (ui.desk.clone(), f.clone(), ui.lang);
        Callback::from(move |_: MouseEvent| {
            let page = desk.read().log(&filter, 0..usize::MAX);
            let text: String =
                page.lines.iter().map(|l| format!("{}\t{}\n", moment(l.at_us), lang.words().fact(&l.fact))).collect();
            web::download_text("highwater-log.txt", &text);
        })
    };
    let notable = LogFilter { notable_only: !f.notable_only, ..f.clone() };
    html! {
        <>
            <h2 class="hidden">{ w.label(Label::Log) }</h2>
            <div class="filter" role="group" aria-label={w.label(Label::Log)}>
                <button
                    type="button" class={classes!("chip", f.notable_only.then_some("on"))}
                    aria-pressed={f.notable_only.to_string()} onclick={ui.on(Ask::Filter(notable))}
                >{ w.label(Label::OnlyNotable) }</button>
                { for LogKind::ALL.into_iter().map(|k| {
                    let on = f.kinds.contains(&k);
                    html! {
                        <button
                            type="button" class={classes!("chip", on.then_some("on"))} aria-pressed={on.to_string()}
                            onclick={ui.on(Ask::Filter(toggled(k)))}
                        >{ w.log_kind(k) }</button>
                    }
                }) }
            </div>
            if props.page.lines.is_empty() {
                <p class="muted">{ w.label(Label::LogEmpty) }</p>
            } else {
                <p class="muted log-count">
                    <span>{ w.log_count(props.page.lines.len(), props.page.total) }</span>
                    <button type="button" class="btn small" onclick={save}>{ w.label(Label::SaveLog) }</button>
                </p>
                // The newest first: it is what one came for.
                <ol class="log" reversed=true>
                    { for props.page.lines.iter().enumerate().rev().map(|(place, l)| {
                        let class = classes!("log-line", kind_class(l.kind), l.notable.then_some("notable"));
                        html! {
                            <li key={(props.page.first + place).to_string()} {class}>
                                <button
                                    type="button" title={w.label(Label::JumpHere)}
                                    onclick={ui.on_do(Command::SeekToTrace(l.trace))}
                                >
                                    <span class="mono log-time">{ moment(l.at_us) }</span>{ " " }
                                    <span>{ w.fact(&l.fact) }</span>
                                </button>
                                if let Some(m) = props.page.message_of(l) {
                                    <button
                                        type="button" class="log-message"
                                        onclick={ui.on(Ask::Select(Subject::Message(m.id)))}
                                    >{ format!("{} · {} → {}", m.name, w.node(&m.from), w.node(&m.to)) }</button>
                                }
                            </li>
                        }
                    }) }
                </ol>
            }
        </>
    }
}

fn kind_class(k: LogKind) -> &'static str {
    match k {
        LogKind::Fault => "k-fault",
        LogKind::Controller => "k-control",
        LogKind::Replication => "k-fetch",
        LogKind::Producer => "k-produce",
        LogKind::Group => "k-group",
        LogKind::Setting => "k-setting",
    }
}
