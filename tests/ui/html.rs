//! Rendering to HTML and reading it back, as far as these tests need it. It is no general HTML parser.
use crate::fixture::Fixture;
use highwater_page::ui::context::{DeskRef, Pulse, Ui};
use highwater_page::ui::words::Lang;
use highwater_studio::desk::Desk;
use yew::prelude::*;
use yew::{LocalServerRenderer, function_component};

#[derive(PartialEq, Properties)]
struct FrameProps {
    ui: Ui,
    children: Children,
}

#[function_component]
fn Frame(props: &FrameProps) -> Html {
    html! { <ContextProvider<Ui> context={props.ui.clone()}>{ for props.children.iter() }</ContextProvider<Ui>> }
}

pub fn desk() -> DeskRef {
    DeskRef::new(Box::new(Fixture::new()) as Box<dyn Desk>)
}

/// The HTML of something that lives below the root, in a language.
pub fn render(lang: Lang, inner: Html) -> String {
    let ui = Ui { lang, embed: false, acts: true, desk: desk(), ask: Callback::noop(), pulse: Pulse::default() };
    block(
        LocalServerRenderer::<Frame>::with_props(FrameProps { ui, children: Children::new(vec![inner]) })
            .hydratable(false)
            .render(),
    )
}

pub fn block<T>(f: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime of one thread");
    tokio::task::LocalSet::new().block_on(&runtime, f)
}

/// The opening tags of a name, with the text up to the end of the element's first line of content.
pub struct Tag<'a> {
    pub attributes: &'a str,
    /// Everything behind the opening tag.
    pub rest: &'a str,
}

pub fn tags<'a>(html: &'a str, name: &'a str) -> impl Iterator<Item = Tag<'a>> + 'a {
    let open = format!("<{name}");
    let starts: Vec<usize> = html.match_indices(&open).map(|(i, _)| i + open.len()).collect();
    starts.into_iter().filter_map(move |i| {
        let after = &html[i..];
        // `<button` but not `<buttons`.
        if !after.starts_with([' ', '>', '/']) {
            return None;
        }
        let end = after.find('>')?;
        Some(Tag { attributes: &after[..end], rest: &after[end + 1..] })
    })
}

impl Tag<'_> {
    pub fn attribute(&self, name: &str) -> Option<&str> {
        let key = format!(" {name}=\"");
        let from = self.attributes.find(&key)? + key.len();
        let value = &self.attributes[from..];
        Some(&value[..value.find('"')?])
    }

    /// Text up to the closing tag of a name, without markup.
    pub fn text(&self, name: &str) -> String {
        let inner = self.rest.split(&format!("</{name}>")).next().unwrap_or("");
        let mut out = String::new();
        let mut inside = false;
        for c in inner.chars() {
            match c {
                '<' => inside = true,
                '>' => inside = false,
                c if !inside => out.push(c),
                _ => {}
            }
        }
        out
    }
}

/// Levels of all headings in order.
pub fn heading_levels(html: &str) -> Vec<u32> {
    html.match_indices("<h").filter_map(|(i, _)| html[i + 2..].chars().next()?.to_digit(10)).collect()
}

/// No heading is more than one level below the one before it.
pub fn check_headings(html: &str) {
    let mut last = 0;
    for level in heading_levels(html) {
        assert!(level <= last + 1, "a heading of level {level} follows one of level {last}");
        last = level;
    }
}

/// What holds of all HTML that the page makes.
pub fn check_house_rules(html: &str) {
    assert!(!html.contains(" style=\""), "a style attribute");
    for b in tags(html, "button") {
        let name = b.attribute("aria-label").map_or_else(|| b.text("button"), str::to_owned);
        assert!(!name.trim().is_empty(), "a button without a name: {}", b.attributes);
        assert_eq!(b.attribute("type"), Some("button"), "{}", b.attributes);
    }
    for svg in tags(html, "svg") {
        let named = svg.attribute("aria-label").is_some() && svg.attribute("role").is_some();
        let nested = svg.attribute("overflow").is_some() || svg.attribute("preserveAspectRatio").is_some();
        assert!(
            named || nested || svg.attribute("aria-hidden") == Some("true"),
            "a picture neither named nor hidden: {}",
            svg.attributes
        );
    }
    let mut ids: Vec<&str> =
        html.match_indices(" id=\"").filter_map(|(i, m)| html[i + m.len()..].split('"').next()).collect();
    ids.sort_unstable();
    let n = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), n, "an id stands twice");
}
