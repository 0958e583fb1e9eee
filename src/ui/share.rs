//! The Share box: the link that opens this run at this moment, a frame for other pages, and how long the link is.
//! It deliberately sends nothing anywhere.
use super::context::{Ask, use_ui};
use super::words::{Label, moment};
use crate::web;
use highwater_studio::view::model::*;
use yew::prelude::*;

/// The link of a run, with the language in which it is shown.
pub fn link(base: &str, fragment: &str, lang: &str) -> String {
    format!("{base}#{fragment}&lang={lang}")
}

/// The digest that a link names.
fn digest(fragment: &str) -> Option<&str> {
    fragment.split('&').find_map(|option| option.strip_prefix("d="))
}

/// Markup of a frame for another page: the strictest sandbox in which it works.
pub fn frame(base: &str, share: &Share, lang: &str, title: &str) -> String {
    let escape = |s: &str| s.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
    format!(
        concat!(
            "<iframe title=\"{}\" loading=\"lazy\" width=\"100%\" height=\"640\" src=\"{}\" ",
            "sandbox=\"allow-scripts allow-popups allow-popups-to-escape-sandbox\" ",
            "allow=\"fullscreen; clipboard-write\" referrerpolicy=\"no-referrer\"></iframe>"
        ),
        escape(title),
        escape(&link(&format!("{base}embed/1/"), &share.fragment, lang))
    )
}

#[derive(PartialEq, Properties)]
pub struct ShareProps {
    pub share: Share,
    pub at_us: Micros,
    /// What came of the digest of the link that was opened.
    pub check: DigestCheck,
    /// Address of the playground, ending in `/`.
    pub base: AttrValue,
}

#[component]
pub fn ShareDialog(props: &ShareProps) -> Html {
    let ui = use_ui();
    let w = ui.words();
    // Which of the two was copied, and whether the browser allowed it.
    let copied = use_state(|| None::<(&'static str, bool)>);
    use_effect_with((), |()| web::show_modal("share"));
    let lang = ui.lang.short();
    let address = link(&props.base, &props.share.fragment, lang);
    let markup = frame(&props.base, &props.share, lang, w.label(Label::FrameTitle));
    let n = u32::try_from(address.chars().count()).unwrap_or(u32::MAX);

    let copy = |id: &'static str, text: String| {
        let copied = copied.clone();
        Callback::from(move |_: MouseEvent| {
            let copied = copied.clone();
            web::copy_text(
                &text,
                Callback::from(move |ok: bool| {
                    if !ok {
                        web::select_all(id);
                    }
                    copied.set(Some((id, ok)));
                }),
            );
        })
    };
    let answer = |id: &str| match *copied {
        Some((which, true)) if which == id => w.label(Label::Copied),
        Some((which, false)) if which == id => w.label(Label::CopyFailed),
        Some(_) | None => "",
    };
    let close = ui.on(Ask::CloseDialog);
    let send = ui.ask.clone();
    html! {
        <dialog id="share" class="box" aria-labelledby="share-title" onclose={move |_| send.emit(Ask::CloseDialog)}>
            <div class="box-top">
                <h2 id="share-title">{ w.label(Label::ShareTitle) }</h2>
                <button type="button" class="btn square" aria-label={w.label(Label::Close)} onclick={close}>
                    { "✕" }
                </button>
            </div>
            <p class="muted">{ w.label(Label::ShareMoment) }{ " " }<span class="mono">{ moment(props.at_us) }</span>
                if let Some(d) = digest(&props.share.fragment) {
                    { format!(" · {} ", w.label(Label::Digest)) }<span class="mono">{ d.to_owned() }</span>
                }
                if props.check == DigestCheck::Same { { format!(" · {}", w.label(Label::DigestSame)) } }
            </p>
            <label for="share-link">{ w.label(Label::ShareLink) }</label>
            <div class="copy-row">
                <input id="share-link" class="mono" type="text" readonly=true value={address.clone()} />
                <button type="button" class="btn" onclick={copy("share-link", address)}>
                    { w.label(Label::Copy) }
                </button>
            </div>
            <p class="copy-answer" role="status">{ answer("share-link") }</p>
            <label for="share-frame">{ w.label(Label::ShareFrame) }</label>
            <div class="copy-row">
                <textarea id="share-frame" class="mono" readonly=true rows="4" value={markup.clone()} />
                <button type="button" class="btn" onclick={copy("share-frame", markup)}>
                    { w.label(Label::Copy) }
                </button>
            </div>
            <p class="copy-answer" role="status">{ answer("share-frame") }</p>
            <label class="size"><span>{ w.label(Label::ShareSize) }</span>
                <meter
                    min="0" max={props.share.limit.to_string()} high={(props.share.limit / 2).to_string()}
                    value={n.to_string()}
                >{ n }</meter>
                <span class="mono">{ w.characters(n, props.share.limit) }</span>
            </label>
        </dialog>
    }
}
