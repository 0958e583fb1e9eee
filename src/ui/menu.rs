//! A button with a menu: arrow keys walk it, Escape closes it. Knows nothing of what its entries do.
use super::context::{Ask, use_ui};
use crate::web;
use yew::prelude::*;

#[derive(Clone, PartialEq)]
pub struct Entry {
    pub label: AttrValue,
    pub ask: Ask,
    /// What it does and to whom, for those who do not see where it stands.
    pub name: AttrValue,
}

#[derive(PartialEq, Properties)]
pub struct MenuProps {
    /// Unique in the document; entries are numbered behind it.
    pub id: AttrValue,
    /// What stands on the button.
    pub label: AttrValue,
    /// What the menu is for, for those who do not see where it stands.
    pub name: AttrValue,
    /// Stands as a button of its own before the menu.
    #[prop_or_default]
    pub first: Option<Entry>,
    pub entries: Vec<Entry>,
    /// What stands on the button instead of the word.
    #[prop_or_default]
    pub face: Option<Html>,
    /// It opens above its button.
    #[prop_or_default]
    pub up: bool,
    /// The button shows a sign, not a word.
    #[prop_or_default]
    pub bare: bool,
    #[prop_or("btn small")]
    pub class: &'static str,
}

#[component]
pub fn Menu(props: &MenuProps) -> Html {
    let ui = use_ui();
    let open = use_state(|| false);
    let n = props.entries.len();

    {
        let id = props.id.clone();
        use_effect_with(*open, move |open| {
            if *open {
                web::focus_by_id(&format!("{id}-0"));
            }
        });
    }

    let toggle = {
        let open = open.clone();
        Callback::from(move |e: MouseEvent| {
            e.stop_propagation();
            open.set(!*open);
        })
    };
    let on_key = {
        let (open, id) = (open.clone(), props.id.clone());
        Callback::from(move |e: KeyboardEvent| {
            if !*open {
                return;
            }
            let here = web::focused_number(&id);
            let go = |to: usize| web::focus_by_id(&format!("{id}-{to}"));
            match e.key().as_str() {
                "Escape" => {
                    open.set(false);
                    web::focus_by_id(&id);
                }
                "ArrowDown" => go(here.map_or(0, |h| (h + 1) % n)),
                "ArrowUp" => go(here.map_or(n - 1, |h| (h + n - 1) % n)),
                "Home" => go(0),
                "End" => go(n - 1),
                // Everything else keeps its meaning, Tab included, which leaves the menu and so closes it.
                _ => return,
            }
            e.prevent_default();
            e.stop_propagation();
        })
    };
    let on_leave = {
        let (open, id) = (open.clone(), props.id.clone());
        Callback::from(move |e: FocusEvent| {
            if !web::closest_matches(e.related_target(), &format!("[data-menu='{id}']")) {
                open.set(false);
            }
        })
    };
    let choose = {
        let (send, open, id) = (ui.ask.clone(), open.clone(), props.id.clone());
        move |ask: Ask| {
            let (send, open, id) = (send.clone(), open.clone(), id.clone());
            Callback::from(move |e: MouseEvent| {
                e.stop_propagation();
                // The focus must not vanish with the entry that has it, nor stay on a button that space would press
                // again: after a choice space plays.
                web::focus_by_id(&format!("{id}-menu"));
                open.set(false);
                send.emit(ask.clone());
            })
        }
    };
    let alone = props.first.as_ref().map(|f| {
        html! {
            <button
                type="button" class={classes!(props.class, "first")} aria-label={f.name.clone()}
                onclick={choose(f.ask.clone())}
            >{ &f.label }</button>
        }
    });
    // Beside a button of its own the menu is only a sign.
    let bare = props.bare || props.first.is_some();
    let label: AttrValue = if props.first.is_some() { "⋯".into() } else { props.label.clone() };
    let name = if bare { props.name.to_string() } else { ui.words().titled(&props.label, &props.name) };
    if n == 0 && props.first.is_none() {
        return Html::default();
    }
    html! {
        <div
            class="menu" id={format!("{}-menu", props.id)} data-menu={props.id.clone()} tabindex="-1"
            onkeydown={on_key} onfocusout={on_leave}
        >
            { for alone }
            if n > 0 {
                <button
                    type="button" id={props.id.clone()} class={props.class} onclick={toggle}
                    aria-haspopup="menu" aria-expanded={open.to_string()}
                    aria-label={props.face.is_none().then(|| name.clone())}
                >
                    if let Some(face) = &props.face {
                        { face.clone() }<span class="hidden">{ &props.name }</span>
                    } else { { label } }
                    if !bare { <span class="down" aria-hidden="true">{ " ▾" }</span> }
                </button>
            }
            if *open {
                <ul role="menu" class={classes!("menu-list", props.up.then_some("up"))} aria-label={props.name.clone()}>
                    { for props.entries.iter().enumerate().map(|(i, entry)| {
                        let act = choose(entry.ask.clone());
                        html! {
                            <li role="none">
                                <button
                                    type="button" role="menuitem" tabindex="-1" id={format!("{}-{i}", props.id)}
                                    onclick={act}
                                >{ &entry.label }</button>
                            </li>
                        }
                    }) }
                </ul>
            }
        </div>
    }
}
