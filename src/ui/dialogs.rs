//! The list of keys and the card that says why a link could not be opened. Neither touches the run.
use super::context::{Ask, use_ui};
use super::words::Label;
use crate::web;
use highwater_studio::view::model::OpenError;
use yew::prelude::*;

#[derive(PartialEq, Properties)]
pub struct KeysProps {
    pub single_keys: bool,
}

#[component]
pub fn KeysDialog(props: &KeysProps) -> Html {
    let ui = use_ui();
    let w = ui.words();
    use_effect_with((), |()| web::show_modal("keys"));
    let rows = [
        (&["Space"][..], Label::KeyPlay),
        (&["←", "→"], Label::KeyStep),
        (&["Shift ←", "Shift →"], Label::KeyNotable),
        (&[",", "."], Label::KeyEvent),
        (&["Home", "End"], Label::KeyEnds),
        (&["[", "]"], Label::KeyPace),
        (&["←", "→", "↑", "↓"], Label::KeyStage),
        (&["G"], Label::KeyToStage),
        (&["M"], Label::KeyMenu),
        (&["N", "Shift N"], Label::KeyMessages),
        (&["1", "2", "3", "4"], Label::KeyAnswer),
        (&["Ctrl Z"], Label::KeyUndo),
        (&["Esc"], Label::KeyStop),
        (&["?"], Label::KeyHelp),
    ];
    let send = ui.ask.clone();
    html! {
        <dialog id="keys" class="box" aria-labelledby="keys-title" onclose={move |_| send.emit(Ask::CloseDialog)}>
            <div class="box-top">
                <h2 id="keys-title">{ w.label(Label::KeysTitle) }</h2>
                <button
                    type="button" class="btn square" aria-label={w.label(Label::Close)}
                    onclick={ui.on(Ask::CloseDialog)}
                >{ "✕" }</button>
            </div>
            <table class="keys">
                <tbody>
                    { for rows.iter().map(|(keys, l)| html! {
                        <tr>
                            <th scope="row">{ for keys.iter().map(|k| html! { <><kbd>{ *k }</kbd>{ " " }</> }) }</th>
                            <td>{ w.label(*l) }</td>
                        </tr>
                    }) }
                </tbody>
            </table>
            <button
                type="button" class={classes!("btn", "switch-row")} role="switch"
                aria-checked={props.single_keys.to_string()}
                onclick={ui.on(Ask::SingleKeys(!props.single_keys))}
            >
                { w.titled(
                    w.label(Label::SingleKeys), w.label(if props.single_keys { Label::On } else { Label::Off })
                ) }
            </button>
        </dialog>
    }
}

#[derive(PartialEq, Properties)]
pub struct ErrorProps {
    pub error: OpenError,
}

#[component]
pub fn ErrorCard(props: &ErrorProps) -> Html {
    let ui = use_ui();
    let w = ui.words();
    let e = &props.error;
    let limit = e.limit.map(|l| l.to_string());
    let rows = [
        (Label::Place, &e.place),
        (Label::Found, &e.found),
        (Label::Expected, &e.expected),
        (Label::Nearest, &e.nearest),
        (Label::Limit, &limit),
    ];
    html! {
        <section class="error-card" role="alert">
            <h2>{ w.label(Label::LinkFailed) }</h2>
            <p>{ w.problem(e.what) }</p>
            <dl>
                { for rows.iter().filter_map(|(l, v)| v.as_ref().map(|v| html! {
                    <><dt>{ w.label(*l) }</dt><dd class="mono">{ v }</dd></>
                })) }
            </dl>
            <p class="muted">{ w.label(Label::LinkFailedKept) }</p>
            <button type="button" class="btn" onclick={ui.on(Ask::CloseError)}>{ w.label(Label::Close) }</button>
        </section>
    }
}
