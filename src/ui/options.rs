//! How an address asks for the page or an embed to be shown: the words behind the payload that are not about the run.
//! Each is honoured, or it is said that it was not; it deliberately opens nothing and shows nothing by itself.
use super::context::Theme;
use super::words::Lang;
use highwater_studio::view::model::{Pace, PartitionRef, Speed, Subject};

/// When play begins by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Autoplay {
    #[default]
    No,
    Now,
    /// Once it is seen.
    Visible,
}

/// What an embed lets its reader do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Controls {
    /// Nodes have menus.
    Full,
    #[default]
    Play,
    /// Only a pause, while something moves.
    None,
}

/// What can be shown in an embed, alone or with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Cluster,
    Timeline,
    Controls,
    Log,
    Text,
}

/// What the address says about how to show a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewOptions {
    pub lang: Option<Lang>,
    pub theme: Option<Theme>,
    pub play: Autoplay,
    pub controls: Controls,
    pub parts: Vec<Part>,
    pub links: bool,
    pub speed: Option<Pace>,
    pub focus: Option<Subject>,
    pub label: Option<String>,
    /// The moment, where there is no payload that carries it.
    pub at: Option<String>,
    /// What was asked for and is not done, as it was written.
    pub refused: Vec<String>,
}

impl Default for ViewOptions {
    fn default() -> ViewOptions {
        ViewOptions {
            lang: None,
            theme: None,
            play: Autoplay::No,
            controls: Controls::Play,
            parts: vec![Part::Cluster, Part::Timeline, Part::Controls],
            links: true,
            speed: None,
            focus: None,
            label: None,
            at: None,
            refused: Vec::new(),
        }
    }
}

/// The longest value that is looked at or repeated.
const LONGEST: usize = 200;

impl ViewOptions {
    /// Reads what stands behind `#`. A payload is no option: it is the first word, and holds no `=`.
    pub fn read(fragment: &str) -> ViewOptions {
        let mut o = ViewOptions::default();
        for word in fragment.split('&') {
            let Some((name, value)) = word.split_once('=') else { continue };
            let value = decoded(value);
            if !o.take(name, &value) {
                o.refused.push(format!("{name}={value}").chars().take(LONGEST).collect());
            }
        }
        o
    }

    pub fn shows(&self, p: Part) -> bool {
        self.parts.contains(&p)
    }

    /// Whether the option is honoured.
    fn take(&mut self, name: &str, value: &str) -> bool {
        match (name, value) {
            ("lang", "auto") | ("theme", "") => {}
            ("lang", l) => match Lang::of_tag(l) {
                Some(l) => self.lang = Some(l),
                None => return false,
            },
            ("theme", t) => match Theme::of_id(t) {
                Some(t) => self.theme = Some(t),
                None => return false,
            },
            ("play", "0") => self.play = Autoplay::No,
            ("play", "1") => self.play = Autoplay::Now,
            ("play", "visible") => self.play = Autoplay::Visible,
            ("controls", "full") => self.controls = Controls::Full,
            ("controls", "play") => self.controls = Controls::Play,
            ("controls", "none") => self.controls = Controls::None,
            ("links", "on") => self.links = true,
            ("links", "off") => self.links = false,
            ("mode", "view") => {}
            ("mode", "log") => self.parts = vec![Part::Log, Part::Timeline, Part::Controls],
            ("parts", list) => return self.take_parts(list),
            ("speed", s) => match pace(s) {
                Some(p) => self.speed = Some(p),
                None => return false,
            },
            ("focus", thing) => match subject(thing) {
                Some(s) => self.focus = Some(s),
                None => return false,
            },
            ("label", l) => self.label = Some(l.chars().take(LONGEST).collect()),
            ("at", at) => self.at = Some(at.to_owned()),
            // The digest is the run's; what follows is the host page's own business, and done by it.
            ("d", _) | ("version", "1") | ("size", "fixed") | ("load", "eager" | "visible") | ("answers", "show") => {}
            // `step`, `v`, other modes, `size=fit` and whatever is not known here.
            _ => return false,
        }
        true
    }

    fn take_parts(&mut self, list: &str) -> bool {
        let mut parts = Vec::new();
        let mut known = true;
        for name in list.split(',').filter(|n| !n.is_empty()) {
            match name {
                "cluster" => parts.push(Part::Cluster),
                "timeline" => parts.push(Part::Timeline),
                "controls" => parts.push(Part::Controls),
                "log" => parts.push(Part::Log),
                "text" => parts.push(Part::Text),
                _ => known = false,
            }
        }
        if parts.is_empty() {
            return false;
        }
        self.parts = parts;
        known
    }
}

/// `auto`, or a pace of the page's scale: `1`, `0.01`, `1/100`, `10`.
fn pace(s: &str) -> Option<Pace> {
    if s == "auto" {
        return Some(Pace::Automatic);
    }
    let (n, d) = match (s.split_once('/'), s.split_once('.')) {
        (Some((n, d)), _) => (n.parse().ok()?, d.parse().ok()?),
        (None, Some((whole, rest))) => {
            let digits = u32::try_from(rest.len()).ok().filter(|n| (1..=6).contains(n))?;
            let d = 10_u64.pow(digits);
            (whole.parse::<u64>().ok()?.checked_mul(d)?.checked_add(rest.parse().ok()?)?, d)
        }
        (None, None) => (s.parse().ok()?, 1),
    };
    let same =
        |x: &&Speed| u128::from(x.numerator) * u128::from(d) == u128::from(n) * u128::from(x.denominator) && d > 0;
    Speed::SCALE.iter().find(same).map(|x| Pace::Fixed(*x))
}

/// `broker/1`, `controller/2`, `partition/orders/0`, `producer/checkout`, `group/billing`.
fn subject(s: &str) -> Option<Subject> {
    let (kind, name) = s.split_once('/')?;
    Some(match kind {
        "broker" => Subject::Broker(name.parse().ok()?),
        "controller" => Subject::Controller(name.parse().ok()?),
        "partition" => {
            let (topic, partition) = name.rsplit_once('/')?;
            Subject::Partition(PartitionRef { topic: topic.to_owned(), partition: partition.parse().ok()? })
        }
        "producer" => Subject::Producer(name.to_owned()),
        "group" => Subject::Group(name.to_owned()),
        _ => return None,
    })
}

/// Percent-decoded; what cannot be decoded stays as it is.
fn decoded(s: &str) -> String {
    let mut bytes = Vec::with_capacity(s.len());
    let mut rest = s.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let hex = |b: &u8| char::from(*b).to_digit(16);
        match (first, tail) {
            (b'%', [a, b, after @ ..]) if hex(a).is_some() && hex(b).is_some() => {
                bytes.push((hex(a).unwrap_or(0) * 16 + hex(b).unwrap_or(0)) as u8);
                rest = after;
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| s.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_option_of_an_embed_is_honoured_or_refused() {
        let o = ViewOptions::read(
            "k1abc.0123456&at=12s&d=00000000&lang=zh&theme=contrast&play=visible&controls=full&links=off\
             &parts=cluster,log&speed=1/100&focus=partition/orders/0&label=My%20frame&load=eager&size=fixed&mode=view",
        );
        assert_eq!(o.refused, Vec::<String>::new());
        assert_eq!((o.lang, o.theme), (Some(Lang::Zh), Some(Theme::Contrast)));
        assert_eq!((o.play, o.controls, o.links), (Autoplay::Visible, Controls::Full, false));
        assert_eq!(o.parts, [Part::Cluster, Part::Log]);
        assert_eq!(o.speed, Some(Pace::Fixed(Speed::new(1, 100))));
        assert_eq!(o.focus, Some(Subject::Partition(PartitionRef { topic: "orders".into(), partition: 0 })));
        assert_eq!(o.label.as_deref(), Some("My frame"));
        for honoured in [
            "version=1",
            "mode=log",
            "parts=cluster,timeline,log,text,controls",
            "controls=play",
            "controls=none",
            "play=0",
            "play=1",
            "speed=auto",
            "lang=auto",
            "lang=en",
            "theme=auto",
            "theme=light",
            "theme=dark",
            "load=visible",
            "links=on",
            "answers=show",
        ] {
            assert_eq!(ViewOptions::read(&format!("k1abc&{honoured}")).refused, [""; 0], "{honoured}");
        }
        for not_here in [
            "version=2",
            "mode=lesson",
            "mode=edit",
            "mode=present",
            "step=predict",
            "v=2",
            "size=fit",
            "answers=hide",
            "load=click",
            "parts=metrics",
            "parts=cluster,metrics",
            "theme=pink",
            "lang=xx",
            "play=2",
            "controls=some",
            "links=maybe",
            "speed=7",
            "focus=moon",
            "colour=red",
        ] {
            assert_eq!(ViewOptions::read(&format!("k1abc&{not_here}")).refused, [not_here]);
        }
    }

    #[test]
    fn options_alone_are_read_from_the_first_on() {
        assert_eq!(ViewOptions::read("lang=zh&play=1").lang, Some(Lang::Zh));
        assert_eq!(ViewOptions::read("").refused, Vec::<String>::new());
    }

    #[test]
    fn a_pace_is_one_of_the_scale_however_it_is_written() {
        assert_eq!(pace("0.01"), pace("1/100"));
        assert_eq!(pace("1"), Some(Pace::Fixed(Speed::new(1, 1))));
        assert_eq!(pace("auto"), Some(Pace::Automatic));
        assert_eq!([pace("1/0"), pace("x"), pace("0.0000001"), pace("-1")], [None; 4]);
    }

    #[test]
    fn what_cannot_be_decoded_stays_as_it_is() {
        assert_eq!(decoded("a%20%E4%B8%AD"), "a 中");
        assert_eq!(decoded("%ff%"), "%ff%");
    }
}
