//! What the page says, in every language. Each language is one file that implements `Words`; a message that is missing
//! or has other arguments does not compile. Kafka's own words (error names, configs, APIs) pass through untranslated.
//! It deliberately chooses no layout and reads no state.
mod en;
mod zh;

use highwater_studio::desk::command::{Refused, Thing};
use highwater_studio::view::model::*;

/// The languages of the page. A new one is a new file and a line in `ALL` and `words`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lang {
    En,
    Zh,
}

impl Lang {
    pub const ALL: [Lang; 2] = [Lang::En, Lang::Zh];

    pub fn words(self) -> &'static dyn Words {
        match self {
            Lang::En => &en::English,
            Lang::Zh => &zh::Chinese,
        }
    }

    /// The language of a tag such as `zh-Hans-CN`, by its first part.
    pub fn of_tag(tag: &str) -> Option<Lang> {
        let first = tag.split(['-', '_']).next().unwrap_or("").to_ascii_lowercase();
        Lang::ALL.into_iter().find(|l| l.short() == first)
    }

    /// As it stands in an address: `lang=zh`.
    pub fn short(self) -> &'static str {
        match self {
            Lang::En => "en",
            Lang::Zh => "zh",
        }
    }
}

/// Stretches of lost records that are named one by one.
const NAMED: usize = 6;

/// Words without arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    // around
    Scenario,
    /// What the scenarios of the picker have in common.
    Story,
    ScenarioChanged,
    Share,
    Language,
    Theme,
    ThemeAuto,
    ThemeLight,
    ThemeDark,
    ThemeContrast,
    Settings,
    HideSettings,
    ShowSettings,
    HidePanel,
    ShowPanel,
    OpenInHighwater,
    SharedScenario,
    Close,
    Keys,
    Loading,
    // places
    Stage,
    StageHelp,
    Controllers,
    Topic,
    Brokers,
    Clients,
    InternalTopics,
    Promises,
    Inspect,
    Log,
    Text,
    Panel,
    Messages,
    Lanes,
    TimeAndRuns,
    NoInternal,
    // transport
    Transport,
    Play,
    Pause,
    ToStart,
    StepBack,
    StepForward,
    SkipWait,
    Pace,
    Step,
    Playhead,
    /// Ends a way through the run where it has come.
    StopHere,
    ZoomIn,
    ZoomOut,
    ZoomAll,
    // marks
    AllMarks,
    MarkSafe,
    MarkNotSafe,
    MarkAcked,
    MarkLost,
    MarkEmpty,
    MarkHighWatermark,
    MarkLeader,
    MarkFault,
    MarkProduce,
    MarkReplication,
    MarkControl,
    MarkGroup,
    // nodes
    Break,
    Repair,
    RegistrationRefused,
    Actions,
    HealAll,
    ElectPreferred,
    ElectUnclean,
    OpenAsColumns,
    CloseColumns,
    // promises
    Why,
    EveryRecord,
    Acknowledged,
    Safe,
    AckedNotSafe,
    Lost,
    Refused,
    Pending,
    Delivered,
    DeliveredTwice,
    OutOfOrder,
    IfOneFails,
    IfTwoFail,
    // inspector
    NothingSelected,
    MessageRequest,
    MessageResponse,
    MessageSent,
    StillToGo,
    MessageArrives,
    DeliverNow,
    HoldMessage,
    ReleaseMessage,
    DelayMessage,
    DropMessage,
    DuplicateMessage,
    EachBranches,
    Fields,
    AllFields,
    WhatCausedIt,
    WhatItCaused,
    HeldBehind,
    FindsNobody,
    NothingNew,
    ShowInLanes,
    NextMessage,
    PreviousMessage,
    NotThere,
    Field,
    Value,
    // log
    OnlyNotable,
    SaveLog,
    LogEmpty,
    JumpHere,
    WhyLatestFirst,
    WhyCutShort,
    // text
    Summary,
    Cluster,
    TextPartition,
    TextLeader,
    TextIsr,
    TextEpoch,
    TextHighWatermark,
    TextReplicas,
    TextState,
    TextRack,
    TextLogEnd,
    TextRole,
    TextNow,
    TextRecent,
    TextMember,
    TextPosition,
    TextCommitted,
    TextLag,
    TextNone,
    // settings
    SetUpNote,
    SetUpMark,
    AskedFor,
    Default,
    On,
    Off,
    Less,
    More,
    KeysNone,
    KeysHot,
    KeysEven,
    PreviousRun,
    // share
    ShareTitle,
    ShareLink,
    ShareFrame,
    ShareSize,
    ShareMoment,
    Copy,
    Copied,
    CopyFailed,
    FrameTitle,
    // branches
    Branches,
    FirstRun,
    NameBranch,
    NothingHere,
    // errors
    LinkFailed,
    LinkFailedKept,
    Place,
    Found,
    Expected,
    Nearest,
    Limit,
    DigestDiffers,
    Digest,
    DigestSame,
    PanicTitle,
    PanicText,
    PanicMoment,
    PanicReport,
    OpenWithoutLink,
    GoBackBefore,
    // keys
    KeysTitle,
    KeyPlay,
    KeyStep,
    KeyNotable,
    KeyEvent,
    KeyEnds,
    KeyPace,
    KeyStage,
    KeyToStage,
    KeyMenu,
    KeyMessages,
    KeyAnswer,
    KeyStop,
    KeyUndo,
    KeyHelp,
    SingleKeys,
    // what the author says
    StoryCard,
    GuessTaken,
    GuessWaits,
    Undo,
    // phone
    Previous,
    Next,
    More2,
}

/// Everything that the page can say.
pub trait Words {
    /// BCP 47 tag for the `lang` attribute.
    fn tag(&self) -> &'static str;
    /// The language's name in itself.
    fn own_name(&self) -> &'static str;
    fn label(&self, l: Label) -> &'static str;
    /// The scenario's own title, which stands in its file.
    fn scenario(&self, s: ScenarioId) -> String {
        s.title(self.tag())
    }
    /// One sentence about what this scenario shows, from its file too.
    fn scenario_about(&self, s: ScenarioId) -> String {
        s.about(self.tag())
    }
    fn node(&self, n: &NodeRef) -> String;
    fn fact(&self, f: &Fact) -> String;
    fn verdict(&self, v: &Verdict) -> String;
    fn cause(&self, c: &Cause) -> String;
    fn cure(&self, c: &Cure) -> String;
    fn promise(&self, p: Promise) -> &'static str;
    fn answer(&self, a: &Answer) -> String;
    fn fate(&self, s: &LedgerSquare) -> String;
    fn action(&self, a: NodeAction) -> &'static str;
    fn actions_of(&self, n: &NodeRef) -> String;
    fn process(&self, p: ProcessState) -> String;
    fn broker_state(&self, b: &BrokerView) -> String;
    /// Who led last, while nobody does.
    fn last_led(&self, broker: u32) -> String;
    fn quorum_role(&self, r: QuorumRole) -> &'static str;
    fn controller_state(&self, c: &ControllerView) -> String;
    fn role(&self, r: ReplicaRole) -> &'static str;
    fn rack(&self, r: &str) -> String;
    /// The log end offset, short.
    fn log_end(&self, o: u64) -> String;
    /// Accessible name of a replica: where, role, offsets, high watermark, marks.
    fn replica(&self, r: &ReplicaView, broker: u32) -> String;
    /// Accessible name of a column.
    fn column(&self, topic: &str, p: &PartitionView) -> String;
    fn strip(&self, s: &InternalStrip) -> String;
    /// The same where there is room for few words.
    fn strip_short(&self, s: &InternalStrip, broker: u32) -> String;
    fn square(&self, topic: &str, s: &InternalSquare) -> String;
    fn producer_now(&self, p: &ProducerNow) -> String;
    fn producer_counts(&self, p: &ProducerView) -> String;
    fn lost_of_them(&self, n: u64, at: &[Stretch]) -> String;
    /// Where lost records were, by partition and offset.
    fn lost_at(&self, at: &[Stretch]) -> String;
    fn group_now(&self, g: &GroupView) -> String;
    fn group_state(&self, s: GroupState) -> &'static str;
    fn coordinator(&self, g: &GroupView) -> String;
    fn member_now(&self, m: &MemberNow) -> String;
    fn waiting(&self, w: &Waiting) -> String;
    /// How long until a broker is fenced, said beside it.
    fn fenced_in(&self, in_us: Micros) -> String;
    /// The state of a broker where a line holds few words.
    fn broker_briefly(&self, b: &BrokerView) -> String;
    /// Statements in a row, told or shown as one text.
    fn sentences(&self, all: &[String]) -> String;
    /// A thing and what is said of it: its value, its state, what is done to it.
    fn titled(&self, title: &str, what: &str) -> String;
    /// Statements about one thing, within a sentence.
    fn clauses(&self, all: &[String]) -> String;
    /// Things in a row.
    fn enumerated(&self, all: &[String]) -> String;
    fn countdown(&self, w: &Waiting, in_us: Micros) -> String;
    /// Who is telling whom what, in a clause.
    fn doing(&self, d: &Doing) -> String;
    /// Why play ended by itself.
    fn ended(&self, e: Ended) -> std::borrow::Cow<'static, str>;
    /// Play cannot keep its pace: what it reaches, in thousandths of real time.
    fn reached(&self, thousandths: u64) -> String;
    /// The playhead is on its way there.
    fn on_the_way(&self, to_us: Micros) -> String;
    fn flight(&self, f: &Flight) -> String;
    /// Who says what to whom: `broker 2 answers broker 1: FetchResponse v18`.
    fn sends(&self, m: &MessageDetail) -> String;
    /// One thing that a message says.
    fn carries(&self, c: &Carried) -> String;
    /// `1 of 2 in flight`.
    fn in_flight(&self, place: usize, of: usize) -> String;
    /// What a message has not caused yet, and when it arrives.
    /// Who serves the API of a message.
    fn served_by(&self, server: Server) -> &'static str;
    fn not_yet(&self, left_us: Micros) -> String;
    fn held_as(&self, name: &str) -> String;
    /// What the receiver of a value knows instead.
    fn was(&self, known: &str) -> String;
    fn hidden_flights(&self, n: u32) -> String;
    fn setting(&self, k: &SettingKey) -> String;
    /// What the author of a scenario should know.
    fn remark(&self, n: &Note) -> String;
    fn settings_of(&self, s: &SettingsOf) -> String;
    fn in_force(&self, value: &str, default: &str) -> String;
    fn pace(&self, p: Pace) -> String;
    fn step(&self, s: StepKind) -> &'static str;
    fn lane(&self, l: &LaneOf) -> String;
    fn lane_state(&self, l: LaneState) -> &'static str;
    fn mark(&self, m: MarkKind) -> &'static str;
    fn branch(&self, b: &BranchView) -> String;
    fn playhead(&self, at_us: Micros, end_us: Micros) -> String;
    fn log_kind(&self, k: LogKind) -> &'static str;
    fn log_count(&self, shown: usize, total: usize) -> String;
    fn inspect_kind(&self, k: InspectKind) -> &'static str;
    fn inspect_value(&self, v: &InspectValue) -> String;
    fn subject(&self, s: &Subject) -> String;
    fn why_about(&self, s: &Subject) -> String;
    fn why_verdict(&self, v: &Verdict) -> String;
    fn problem(&self, p: OpenProblem) -> &'static str;
    fn refused(&self, r: &Refused) -> String;
    fn and_more(&self, n: usize) -> String;
    fn one_of(&self, i: usize, n: usize) -> String;
    fn earlier_records(&self, n: u64) -> String;
    fn characters(&self, n: u32, limit: u32) -> String;
    fn summary(&self, s: &Scene, p: &Promises) -> String;
    fn changes(&self, n: usize) -> String;
    /// Options of an address that are not honoured, as they were written.
    fn options_refused(&self, options: &[String]) -> String;
    fn active_controller(&self, n: &NodeRef) -> String;
    /// Whether an answer was right, with the answer.
    fn judged(&self, right: bool, answer: &str) -> String;
    /// Which clients are stopped and which go on.
    fn clients_now(&self, stopped: &[String], going_on: &[String]) -> String;
}

/// Words that somebody else wrote, safe to stand among ours: marks that turn the direction of text or cannot be seen
/// are shown by their code instead of doing what they do.
pub fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}' => {
                out.push_str(&format!("⟨U+{:04X}⟩", u32::from(c)));
            }
            c if c.is_control() => out.push_str(&format!("⟨U+{:04X}⟩", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// A moment, as `14.802 s`.
pub fn moment(us: Micros) -> String {
    format!("{}.{:03} s", us / 1_000_000, us / 1_000 % 1_000)
}

/// To the microsecond: messages take less than a thousandth of a second.
pub fn exact(us: Micros) -> String {
    format!("{}.{:06} s", us / 1_000_000, us % 1_000_000)
}

/// A number with its unit, where a line may break before it but not within: alone neither says anything.
pub fn unbroken(number: String) -> String {
    number.replace(' ', "\u{a0}")
}

/// A duration with three figures at most: `8.61 s`, `500 ms`, `0.5 ms`.
pub fn duration(us: Micros) -> String {
    match us {
        1..100 => format!("{us} µs"),
        0 | 100..1_000 => tenths(us, 1_000, "ms"),
        1_000..10_000 => tenths(us, 1_000, "ms"),
        10_000..1_000_000 => format!("{} ms", us / 1_000),
        1_000_000..60_000_000 => tenths(us, 1_000_000, "s"),
        _ => format!("{} s", us / 1_000_000),
    }
}

fn tenths(us: Micros, unit: Micros, name: &str) -> String {
    let (whole, tenth) = (us / unit, us % unit * 10 / unit);
    match tenth {
        0 => format!("{whole} {name}"),
        _ => format!("{whole}.{tenth} {name}"),
    }
}

/// `orders-0`, as Kafka writes a partition.
pub fn partition(p: &PartitionRef) -> String {
    format!("{}-{}", p.topic, p.partition)
}

/// Broker ids in their order: `2, 3`.
pub fn ids(all: &[u32]) -> String {
    all.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

/// `47`, or `45–47`.
pub fn span(first: u64, last: u64) -> String {
    if first == last { first.to_string() } else { format!("{first}–{last}") }
}

/// `20/s`, `0.5/s`, from records in 1000 seconds.
pub fn rate(milli: u64) -> String {
    match milli % 1000 {
        0 => format!("{}/s", milli / 1000),
        rest => format!("{}.{}/s", milli / 1000, rest / 100),
    }
}

/// A fixed pace: `1/1000×`, `3×`.
pub fn speed(s: Speed) -> String {
    match s.denominator {
        1 => format!("{}×", s.numerator),
        d => format!("{}/{d}×", s.numerator),
    }
}

/// A pace that was measured, in thousandths of real time: `0.03×`, `2.4×`, `17×`.
fn measured(thousandths: u64) -> String {
    match thousandths {
        10_000.. => format!("{}×", thousandths / 1_000),
        1_000.. => format!("{}.{}×", thousandths / 1_000, thousandths % 1_000 / 100),
        _ => format!("0.{thousandths:03}×"),
    }
}

/// A value of a setting as Kafka spells it; words for the key patterns come from the language.
pub fn setting_value(v: &SettingValue, w: &dyn Words) -> String {
    match v {
        SettingValue::Number(n) => n.to_string(),
        SettingValue::PerSecond(n) => format!("{n}/s"),
        SettingValue::Bool(b) => b.to_string(),
        SettingValue::Term(t) => t.to_string(),
        SettingValue::Keys(KeyPattern::None) => w.label(Label::KeysNone).to_owned(),
        SettingValue::Keys(KeyPattern::Hot) => w.label(Label::KeysHot).to_owned(),
        SettingValue::Keys(KeyPattern::Even) => w.label(Label::KeysEven).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_form_that_the_page_promises() {
        assert_eq!(moment(14_802_317), "14.802 s");
        assert_eq!(duration(500), "0.5 ms");
        assert_eq!(duration(40), "40 µs");
        assert_eq!(duration(8_612_000), "8.6 s");
        assert_eq!(duration(9_000_000), "9 s");
        assert_eq!(rate(20_000), "20/s");
        assert_eq!(rate(500), "0.5/s");
    }

    #[test]
    fn marks_of_direction_are_shown_and_do_nothing() {
        assert_eq!(shown("safe \u{202e}tsol\u{202c}"), "safe ⟨U+202E⟩tsol⟨U+202C⟩");
        assert_eq!(shown("a\u{2066}b\u{200f}c\nd"), "a⟨U+2066⟩b⟨U+200F⟩c⟨U+000A⟩d");
        assert_eq!(shown("订单 café עברית"), "订单 café עברית");
    }

    #[test]
    fn a_language_is_found_by_the_first_part_of_its_tag() {
        assert_eq!(Lang::of_tag("zh-Hans-CN"), Some(Lang::Zh));
        assert_eq!(Lang::of_tag("EN-gb"), Some(Lang::En));
        assert_eq!(Lang::of_tag("fr"), None);
    }
}
