//! English. Holds sentences only; what is said when is decided elsewhere.
use std::borrow::Cow;
use std::cmp::Ordering;

use super::*;

pub struct English;

fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// The trace does not always know whose request it was.
fn named(client: &str) -> &str {
    if client.is_empty() { "a client" } else { client }
}

fn nodes(w: &English, all: &[NodeRef]) -> String {
    all.iter().map(|n| w.node(n)).collect::<Vec<_>>().join(", ")
}

/// `brokers 1 and 3`; others by their names.
fn receivers(w: &English, all: &[NodeRef]) -> String {
    let id = |n: &NodeRef| if let NodeRef::Broker(id) = n { Some(id.to_string()) } else { None };
    let names: Option<Vec<String>> = all.iter().map(id).collect();
    match names.as_deref() {
        Some([first @ .., last]) if !first.is_empty() => format!("brokers {} and {last}", first.join(", ")),
        Some(_) | None => nodes(w, all),
    }
}

fn offsets(first: u64, last: u64) -> String {
    format!("{} {}", if first == last { "offset" } else { "offsets" }, span(first, last))
}

/// How long until then; what is due now says so.
fn after(us: Micros) -> String {
    if us == 0 { "now".into() } else { format!("in {}", unbroken(duration(us))) }
}

impl Words for English {
    fn tag(&self) -> &'static str {
        "en"
    }
    fn own_name(&self) -> &'static str {
        "English"
    }

    fn label(&self, l: Label) -> &'static str {
        match l {
            Label::Scenario => "Scenario",
            Label::Story => "One broker dies, and consumers stop",
            Label::ScenarioChanged => "changed",
            Label::Share => "Share",
            Label::Language => "Language",
            Label::Theme => "Theme",
            Label::ThemeAuto => "as the system",
            Label::ThemeLight => "light",
            Label::ThemeDark => "dark",
            Label::ThemeContrast => "high contrast",
            Label::Settings => "Settings",
            Label::HideSettings => "Hide settings",
            Label::ShowSettings => "Show settings",
            Label::HidePanel => "Hide the panel",
            Label::ShowPanel => "Show the panel",
            Label::SharedScenario => "A shared scenario, not from the gallery",
            Label::OpenInHighwater => "Open in Highwater",
            Label::Close => "Close",
            Label::Keys => "Keys",
            Label::Loading => "The cluster is starting",
            Label::Stage => "Stage",
            Label::StageHelp => {
                "Arrow keys walk the replicas; Enter opens one in the inspector, M what can be done to its broker."
            }
            Label::Controllers => "Controllers",
            Label::Topic => "Topic",
            Label::Brokers => "Brokers",
            Label::Clients => "Clients",
            Label::InternalTopics => "Internal topics",
            Label::Promises => "Promises",
            Label::Inspect => "Inspect",
            Label::Log => "Log",
            Label::Text => "Text",
            Label::Panel => "What happened",
            Label::Messages => "Messages in flight",
            Label::Lanes => "Time",
            Label::TimeAndRuns => "Playback",
            Label::NoInternal => "no replica on this broker",
            Label::Transport => "Transport",
            Label::Play => "Play",
            Label::Pause => "Pause",
            Label::ToStart => "To the start",
            Label::StepBack => "Step back",
            Label::StepForward => "Step forward",
            Label::SkipWait => "Skip the wait",
            Label::Pace => "pace",
            Label::Step => "step",
            Label::StopHere => "Stop here",
            Label::Playhead => "Playhead",
            Label::ZoomIn => "Zoom in",
            Label::ZoomOut => "Zoom out",
            Label::ZoomAll => "Whole run",
            Label::AllMarks => "All marks",
            Label::MarkSafe => "safe: below the high watermark",
            Label::MarkNotSafe => "not yet safe",
            Label::MarkAcked => "not yet safe, but acknowledged",
            Label::MarkLost => "acknowledged, lost",
            Label::MarkEmpty => "nothing there",
            Label::MarkHighWatermark => "this replica's own high watermark",
            Label::MarkLeader => "leader",
            Label::MarkFault => "fault",
            Label::MarkProduce => "produce",
            Label::MarkReplication => "replication fetch",
            Label::MarkControl => "control plane",
            Label::MarkGroup => "consumer and group",
            Label::Break => "Break",
            Label::Repair => "Repair",
            Label::RegistrationRefused => "registration refused",
            Label::Actions => "Actions",
            Label::HealAll => "Heal all links",
            Label::ElectPreferred => "Elect the preferred leader",
            Label::ElectUnclean => "Elect an unclean leader",
            Label::OpenAsColumns => "Show as columns",
            Label::CloseColumns => "Hide columns",
            Label::Why => "Why?",
            Label::EveryRecord => "Every record, in the order sent",
            Label::Acknowledged => "acknowledged",
            Label::Safe => "safe",
            Label::AckedNotSafe => "acked, not yet safe",
            Label::Lost => "lost",
            Label::Refused => "refused",
            Label::Pending => "waiting for an answer",
            Label::Delivered => "delivered",
            Label::DeliveredTwice => "delivered twice",
            Label::OutOfOrder => "out of order",
            Label::IfOneFails => "If one broker fails",
            Label::IfTwoFail => "If two brokers fail",
            Label::MessageRequest => "request",
            Label::MessageResponse => "response",
            Label::MessageSent => "sent",
            Label::StillToGo => "still to go",
            Label::MessageArrives => "arrives",
            Label::DeliverNow => "Deliver now",
            Label::HoldMessage => "Hold",
            Label::ReleaseMessage => "Release",
            Label::DelayMessage => "Delay…",
            Label::DropMessage => "Drop",
            Label::DuplicateMessage => "Duplicate",
            Label::EachBranches => {
                "Each is an entry of the script; it begins a branch where there is a future already."
            }
            Label::Fields => "Fields",
            Label::AllFields => "all fields",
            Label::WhatCausedIt => "What caused it",
            Label::WhatItCaused => "What it caused",
            Label::HeldBehind => "It waits behind a message that is held on its connection.",
            Label::FindsNobody => "it will find nobody",
            Label::ShowInLanes => "Show it in the lanes",
            Label::NothingNew => "nothing new",
            Label::NextMessage => "Next message in flight",
            Label::PreviousMessage => "Previous message in flight",
            Label::NothingSelected => {
                "Choose a replica, a broker, a client or a message on the stage to see it in Kafka's own terms."
            }
            Label::NotThere => "It does not exist at this moment.",
            Label::Field => "Field",
            Label::Value => "Value",
            Label::SaveLog => "Save as a file",
            Label::OnlyNotable => "Only notable changes",
            Label::LogEmpty => "Nothing has happened yet.",
            Label::JumpHere => "Go to this moment",
            Label::WhyLatestFirst => "From the latest to the first cause",
            Label::WhyCutShort => "The chain goes further back.",
            Label::Summary => "Summary",
            Label::Cluster => "Cluster",
            Label::TextPartition => "Partition",
            Label::TextLeader => "Leader",
            Label::TextIsr => "ISR",
            Label::TextEpoch => "Epoch",
            Label::TextHighWatermark => "High watermark",
            Label::TextReplicas => "Replicas",
            Label::TextState => "State",
            Label::TextRack => "Rack",
            Label::TextLogEnd => "Log end",
            Label::TextRole => "Role",
            Label::TextNow => "Now",
            Label::TextRecent => "Latest changes",
            Label::TextMember => "Member",
            Label::TextPosition => "Position",
            Label::TextCommitted => "Committed",
            Label::TextLag => "Lag",
            Label::TextNone => "none",
            Label::SetUpNote => "↻ begins a new run, played to this moment; the rest can be turned live.",
            Label::AskedFor => "asked for just now",
            Label::SetUpMark => "begins a new run",
            Label::Default => "default",
            Label::On => "on",
            Label::Off => "off",
            Label::Less => "less",
            Label::More => "more",
            Label::KeysNone => "none",
            Label::KeysHot => "hot",
            Label::KeysEven => "even",
            Label::PreviousRun => "Back to the run before",
            Label::ShareTitle => "Share this run at this moment",
            Label::ShareLink => "Link",
            Label::ShareFrame => "Frame for a web page",
            Label::ShareSize => "Length of the link",
            Label::ShareMoment => "It opens at",
            Label::Copy => "Copy",
            Label::Copied => "Copied",
            Label::CopyFailed => "The browser did not allow copying: select the text and copy it.",
            Label::FrameTitle => "Kafka cluster in Highwater",
            Label::Branches => "Runs",
            Label::FirstRun => "first run",
            Label::NothingHere => "no replica here",
            Label::NameBranch => "Name of this run",
            Label::LinkFailed => "This link could not be opened",
            Label::LinkFailedKept => "The run that you see was not touched.",
            Label::Place => "Where",
            Label::Found => "Found",
            Label::Expected => "Expected",
            Label::Nearest => "Nearest known name",
            Label::Limit => "Limit",
            Label::Digest => "digest",
            Label::DigestSame => "the run that was opened gave the digest of its link",
            Label::DigestDiffers => "This run differs from the one that the link was made from.",
            Label::PanicTitle => "Highwater has stopped",
            Label::PanicText => "This is a bug of the page, not of the cluster.",
            Label::PanicMoment => "It happened at",
            Label::PanicReport => "For the report: what happened, and the link of the run",
            Label::OpenWithoutLink => "Open without the link",
            Label::GoBackBefore => "Go back before it",
            Label::KeysTitle => "Keys",
            Label::KeyPlay => "play or pause",
            Label::KeyStep => "step back or forward, outside the stage",
            Label::KeyNotable => "to the notable change before or after",
            Label::KeyEvent => "one event back or forward",
            Label::KeyEnds => "to the start, to the end",
            Label::KeyPace => "slower, faster",
            Label::KeyStage => "walk the stage when the focus is in it",
            Label::KeyToStage => "to the stage",
            Label::KeyMenu => "what can be done to the broker, when the focus is in its row",
            Label::KeyMessages => "next message in flight, the one before",
            Label::KeyAnswer => "answer the question",
            Label::KeyStop => "end a long way through the run where it is",
            Label::KeyUndo => "take back the last action",
            Label::KeyHelp => "this list",
            Label::SingleKeys => "Single-character keys act",
            Label::StoryCard => "The story",
            Label::GuessTaken => "Now press Play and see.",
            Label::GuessWaits => "The answer comes once leaders have been elected.",
            Label::Undo => "Undo",
            Label::Previous => "Partition before",
            Label::Next => "Next partition",
            Label::More2 => "More",
        }
    }

    fn node(&self, n: &NodeRef) -> String {
        match n {
            NodeRef::Controller(i) => format!("controller {i}"),
            NodeRef::Broker(i) => format!("broker {i}"),
            NodeRef::Producer(s) | NodeRef::Member(s) => named(s).into(),
            NodeRef::Admin => "the administrator".into(),
        }
    }

    fn fact(&self, f: &Fact) -> String {
        match f {
            Fact::Killed { node } => format!("{} is killed; its disk stays", self.node(node)),
            Fact::Stopped { node } => format!("{} has stopped", self.node(node)),
            Fact::StopRequested { node } => format!("{} is asked to stop", self.node(node)),
            Fact::DiskLost { node } => format!("the disk of {} is wiped", self.node(node)),
            Fact::ControlledShutdownAllowed { broker } => {
                format!("broker {broker} leads nothing any more: the controller lets it go")
            }
            Fact::ControlledShutdownBegan { broker } => format!("broker {broker} begins a controlled shutdown"),
            Fact::Started { node } => format!("{} starts", self.node(node)),
            Fact::Paused { node } => format!("{} stands still", self.node(node)),
            Fact::Resumed { node } => format!("{} goes on", self.node(node)),
            Fact::Registered { broker, epoch, clean: true } => {
                format!("broker {broker} registers after a clean stop, broker epoch {epoch}")
            }
            Fact::Registered { broker, epoch, clean: false } => {
                format!("broker {broker} registers, broker epoch {epoch}")
            }
            Fact::RegistrationRefused { broker, error } => {
                format!("the registration of broker {broker} is refused: {error}")
            }
            Fact::MetadataTruncated { node, from, to } => {
                format!("{} cuts its metadata log from {from} back to {to}", self.node(node))
            }
            Fact::RequestUnread { node, of, api, records } => {
                let records = match records {
                    0 => String::new(),
                    n => format!(" ({})", counted(u64::from(*n), "record", "records")),
                };
                let (node, of) = (self.node(node), self.node(of));
                format!("{node} never reads {api}Request of {of}{records}: it closes the connection")
            }
            Fact::ControllerRefused { controller, api, error } => {
                format!("controller {controller} refuses {api}: {error}")
            }
            Fact::Fenced { broker, session_us: 0 } => format!("broker {broker} is fenced"),
            Fact::Fenced { broker, session_us } => {
                format!("broker {broker} is fenced: no heartbeat for {}", duration(*session_us))
            }
            Fact::Unfenced { broker } => format!("broker {broker} is unfenced"),
            Fact::Cut { a, b, one_way: false } => format!("cut between {} and {}", nodes(self, a), nodes(self, b)),
            Fact::Cut { a, b, one_way: true } => format!("cut from {} to {}", nodes(self, a), nodes(self, b)),
            Fact::Healed { a, b } if a.is_empty() || b.is_empty() => "all links are healed".into(),
            Fact::Healed { a, b } => format!("healed between {} and {}", nodes(self, a), nodes(self, b)),
            Fact::LinkChanged { a, b, latency_us: 0, loss_permille: 0 } => {
                format!("link between {} and {}: no delay, no loss", self.node(a), self.node(b))
            }
            Fact::LinkChanged { a, b, latency_us, loss_permille } => {
                let loss = match loss_permille {
                    0 => "no loss".into(),
                    n => format!("loss {}.{} %", n / 10, n % 10),
                };
                let latency = duration(*latency_us);
                format!("link between {} and {}: latency {latency}, {loss}", self.node(a), self.node(b))
            }
            Fact::MessageActed { deed, message, from, to } => {
                let from = from.as_ref().map_or(String::new(), |node| format!(" from {}", self.node(node)));
                let to = to.as_ref().map_or(String::new(), |node| format!(" to {}", self.node(node)));
                let done = match deed {
                    MessageDeed::Dropped => "is lost on the way".to_string(),
                    MessageDeed::Held => "is held".to_string(),
                    MessageDeed::Delayed { by_us } => format!("is delayed by {}", duration(*by_us)),
                    MessageDeed::Duplicated => "is sent twice".to_string(),
                    MessageDeed::Delivered => "is delivered at once".to_string(),
                };
                format!("{message}{from}{to} {done}")
            }
            Fact::MessageReleased { name } => format!("the message held as {name} goes on"),
            Fact::QuorumElectionBegan { controller, epoch } => {
                format!("controller {controller} asks for votes, epoch {epoch}")
            }
            Fact::QuorumLeaderElected { controller, epoch } => {
                format!("controller {controller} is elected leader of the quorum, epoch {epoch}")
            }
            Fact::QuorumLeaderResigned { controller, epoch } => {
                format!("controller {controller} resigns, epoch {epoch}")
            }
            Fact::ActiveController { controller, epoch } => {
                format!("controller {controller} is the active controller, epoch {epoch}")
            }
            Fact::LeaderElected { partition: p, broker, epoch, how } => {
                let how = match how {
                    ElectionKind::Clean => "from the ISR",
                    ElectionKind::Preferred => "the preferred replica",
                    ElectionKind::Elr => "from the eligible leader replicas",
                    ElectionKind::LastKnown => "the last known leader",
                    ElectionKind::Unclean => "unclean: it may lack records",
                };
                format!("broker {broker} is elected leader of {}, epoch {epoch} ({how})", partition(p))
            }
            Fact::PartitionOffline { partition: p, last: Some(b) } => {
                format!("{} has no leader; the last one was broker {b}", partition(p))
            }
            Fact::PartitionOffline { partition: p, last: None } => format!("{} has no leader", partition(p)),
            Fact::IsrShrunk { partition: p, removed, isr, by } => {
                let by = match by {
                    IsrBy::Leader(b) => format!("by its leader, broker {b}"),
                    IsrBy::Controller => "by the controller".into(),
                };
                let out = if removed.is_empty() { String::new() } else { format!(": without {}", ids(removed)) };
                match isr.is_empty() {
                    true => format!("ISR of {} is empty now{out}, {by}", partition(p)),
                    false => format!("ISR of {} shrinks to {}{out}, {by}", partition(p), ids(isr)),
                }
            }
            Fact::IsrExpanded { partition: p, added, isr, .. } if added.is_empty() => {
                format!("ISR of {} grows to {}", partition(p), ids(isr))
            }
            Fact::IsrExpanded { partition: p, added, isr, .. } => {
                format!("ISR of {} grows to {}: {} caught up", partition(p), ids(isr), ids(added))
            }
            Fact::ElrChanged { partition: p, elr, last_known_leader } => {
                let elr = if elr.is_empty() { "empty".to_owned() } else { ids(elr) };
                let last = last_known_leader.map_or_else(String::new, |b| format!(", last known leader {b}"));
                format!("eligible leader replicas of {}: {elr}{last}", partition(p))
            }
            Fact::IsrChangeRefused { partition: p, error } => {
                format!("change of the ISR of {} refused: {error}", partition(p))
            }
            Fact::HighWatermarkAdvanced { partition: p, broker, from, to } => {
                format!("high watermark of {} on broker {broker} moves from {from} to {to}", partition(p))
            }
            Fact::HighWatermarkStalled { partition: p, broker, at, waits_for } if waits_for.is_empty() => {
                format!("high watermark of {} on broker {broker} stands at {at}", partition(p))
            }
            Fact::HighWatermarkStalled { partition: p, at, waits_for, .. } => {
                format!(
                    "high watermark of {} stands at {at}: broker {} has not fetched further",
                    partition(p),
                    ids(waits_for)
                )
            }
            Fact::Truncated { partition: p, broker, from, to } => {
                format!("broker {broker} truncates {} from {from} to {to}", partition(p))
            }
            Fact::BecameLeader { partition: p, broker, epoch } => {
                format!("broker {broker} becomes leader of {}, epoch {epoch}", partition(p))
            }
            Fact::BecameFollower { partition: p, broker, leader, epoch } => {
                format!("broker {broker} follows broker {leader} for {}, epoch {epoch}", partition(p))
            }
            Fact::Appended { partition: p, broker, first, last } => {
                format!("broker {broker} appends {} of {}", offsets(*first, *last), partition(p))
            }
            Fact::Acked { producer, partition: p, first, last, by } => {
                let by = match by {
                    AckedBy::Nobody => "acks=0: nobody answered",
                    AckedBy::LeaderAlone => "acks=1: by the leader alone",
                    AckedBy::WholeIsr => "acks=all: the whole ISR has them",
                };
                format!("{producer} is told \"done\" for {}, {} ({by})", partition(p), offsets(*first, *last))
            }
            Fact::Refused { producer, partition: p, error } => {
                format!("write of {} to {} is refused: {error}", named(producer), partition(p))
            }
            Fact::ProduceTimedOut { producer, partition: p, count } => {
                format!(
                    "{} gives up {} for {}: delivery.timeout.ms has passed",
                    named(producer),
                    counted(*count, "record", "records"),
                    partition(p)
                )
            }
            Fact::Retried { producer, partition: p, error } => {
                format!("{producer} tries {} again after {error}", partition(p))
            }
            Fact::AckedLost { partition: p, first, last } => {
                format!("acknowledged and lost: {}, {}", partition(p), offsets(*first, *last))
            }
            Fact::Duplicated { partition: p, first, last } => {
                format!("written twice: {}, {}", partition(p), offsets(*first, *last))
            }
            Fact::Delivered { member, partition: p, first, last } => {
                format!("{member} reads {}, {}", partition(p), offsets(*first, *last))
            }
            Fact::CoordinatorFound { group, broker, partition: p } => {
                format!("broker {broker} is coordinator of group {group}: it leads __consumer_offsets-{p}")
            }
            Fact::CoordinatorLost { group, broker: Some(b), partition: p } => {
                format!("group {group} loses its coordinator, broker {b} (__consumer_offsets-{p})")
            }
            Fact::CoordinatorLost { group, broker: None, partition: p } => {
                format!("group {group} loses its coordinator (__consumer_offsets-{p})")
            }
            Fact::CoordinatorUnavailable { group, partition: p, error } => {
                format!("group {group} finds no coordinator: __consumer_offsets-{p} answers {error}")
            }
            Fact::CoordinatorLoading { group, broker, partition: p } => {
                format!("broker {broker} loads __consumer_offsets-{p} for group {group}")
            }
            Fact::CoordinatorLoaded { broker, partition: p } => {
                format!("broker {broker} has loaded __consumer_offsets-{p}")
            }
            Fact::MemberJoined { group, member } => format!("{member} joins group {group}"),
            Fact::MemberLeft { group, member } => format!("{member} leaves group {group}"),
            Fact::MemberExpired { group, member } => {
                format!("{member} is removed from group {group}: its session ran out")
            }
            Fact::Rebalancing { group, generation } => {
                format!("group {group} rebalances, from generation {generation}")
            }
            Fact::GroupStable { group, generation, members } => {
                format!(
                    "group {group} is stable: generation {generation}, {}",
                    counted(u64::from(*members), "member", "members")
                )
            }
            Fact::OffsetsCommitted { group, partition: p, offset, .. } => {
                format!("group {group} commits {} at {offset}", partition(p))
            }
            Fact::CommitFailed { group, member, error } => format!("{member} of group {group} cannot commit: {error}"),
            Fact::PositionReset { member, partition: p, from: None, to } => {
                format!("{member} had no position in {} and begins at {to}", partition(p))
            }
            Fact::PositionReset { member, partition: p, from: Some(from), to } => {
                let between = match from.cmp(to) {
                    Ordering::Less => {
                        format!("it does not read the {} between", counted(to - from, "offset", "offsets"))
                    }
                    Ordering::Equal => "it goes on where it was".to_owned(),
                    Ordering::Greater => format!("it goes back by {}", counted(from - to, "offset", "offsets")),
                };
                format!("position of {member} in {} is reset from {from} to {to}: {between}", partition(p))
            }
            Fact::MemberStopped { member, error, client, .. } => {
                format!("{member} reads nothing: client {client} waits in poll, {error}")
            }
            Fact::MemberReadsOn { member, .. } => format!("{member} reads on without a coordinator"),
            Fact::ClientStarted { client } => format!("{} starts", self.node(client)),
            Fact::ClientClosed { client } => format!("{} closes", self.node(client)),
            Fact::ClientError { client, error } => format!("{}: {error}", self.node(client)),
            Fact::TopicCreated { topic, partitions, replication_factor, by } => {
                let by = match by {
                    CreatedBy::Admin => "by CreateTopics",
                    CreatedBy::Metadata => "because a client asked for its metadata",
                    CreatedBy::FindCoordinator => "because somebody looked for a coordinator",
                };
                format!(
                    "topic {topic} is created {by}: {}, replication factor {replication_factor}",
                    counted(u64::from(*partitions), "partition", "partitions")
                )
            }
            Fact::TopicDeleted { topic } => format!("topic {topic} is deleted"),
            Fact::PartitionsAdded { topic, total } => {
                format!("topic {topic} has {} now", counted(u64::from(*total), "partition", "partitions"))
            }
            Fact::ConfigChanged { target, key, value } if value.is_empty() => {
                format!("{key} goes back to its default {}", self.target(target))
            }
            Fact::ConfigChanged { target, key, value } => format!("{key}={value} {}", self.target(target)),
            Fact::Asked(asked) => self.asked(asked),
            Fact::WaitBegan { what, since_us } => format!("{}, since {}", self.waits_for(what), moment(*since_us)),
            Fact::WaitEnded { what, after_us, count } => {
                let over = format!("over after {}: {}", duration(*after_us), self.waits_for(what));
                // Of a single one the sentence has said all.
                if *count < 2 { over } else { format!("{over} ({count} records or attempts)") }
            }
            Fact::WithoutEffect { action } => format!("{action} changes nothing: it was so already"),
            Fact::ActionRefused { action, reason } => format!("{action} is refused: {}", self.reason(reason)),
            Fact::HasReplicas { partition: p, replicas } if replicas.is_empty() => {
                format!("{} has no replica", partition(p))
            }
            Fact::HasReplicas { partition: p, replicas } => {
                format!("{} has its replicas on brokers {}", partition(p), ids(replicas))
            }
            Fact::OnlyReplicaOn { partition: p, broker } => {
                format!("{} has one replica, on broker {broker}", partition(p))
            }
            Fact::CreatedWhileAlone { topic, broker, replication_factor } => {
                format!(
                    "{topic} was made while broker {broker} was alone: replication factor {replication_factor} for ever"
                )
            }
            Fact::SettingWas { target, key, value } if value.is_empty() => {
                format!("{key} had its default {}", self.target(target))
            }
            Fact::SettingWas { target, key, value } => format!("{key} was {value} {}", self.target(target)),
            Fact::ClientVersionWaits { client, long_poll: true } => {
                format!("poll(long) of client {client} waits for a coordinator without end")
            }
            Fact::ClientVersionWaits { client, long_poll: false } => {
                format!("client {client} reads nothing in poll while it knows no coordinator")
            }
            Fact::GroupHashesTo { group, partition: p } => format!("the name {group} hashes to __consumer_offsets-{p}"),
            Fact::BrokerIsDown { broker } => format!("broker {broker} is down"),
            Fact::NotInIsr { partition: p, broker } => format!("broker {broker} is not in the ISR of {}", partition(p)),
            Fact::RunBegan => "the run begins".into(),
        }
    }

    fn verdict(&self, v: &Verdict) -> String {
        match v {
            Verdict::EveryConsumerStopped => "Every consumer is stopped".into(),
            Verdict::GroupStopped { group } => format!("Group {group} is stopped"),
            Verdict::GroupWithoutCommits { group } => format!("Group {group} reads in part and cannot commit"),
            Verdict::PartitionsUnread { group, .. } => format!("Group {group} does not read every partition"),
            Verdict::NoActiveController => "No active controller: nothing can change".into(),
            Verdict::PartitionsOffline { count: 1, topic } => format!("1 partition of {topic} has no leader"),
            Verdict::PartitionsOffline { count, topic } => format!("{count} partitions of {topic} have no leader"),
            Verdict::AckedLost { count, at } => {
                let records = counted(*count, "acknowledged record", "acknowledged records");
                format!("{records} lost: {}", self.lost_at(at))
            }
            Verdict::WritesRefused { error, .. } => format!("Writes are refused: {error}"),
            Verdict::WritesStalled { producer } => format!("Writes of {producer} stand still"),
            Verdict::DeliveredTwice { count } => format!("{} delivered twice", counted(*count, "record", "records")),
            Verdict::OutOfOrder { count } => format!("{} out of order", counted(*count, "record", "records")),
            Verdict::AtRisk { count } => {
                format!("{} not yet safe", counted(*count, "acknowledged record", "acknowledged records"))
            }
            Verdict::EveryPromiseKept => "Every promise kept so far".into(),
        }
    }

    fn cause(&self, c: &Cause) -> String {
        match c {
            Cause::OffsetsPartitionOneReplica { group, partition: p, broker } => {
                format!("Group {group} has no coordinator: __consumer_offsets-{p} had one replica, on broker {broker}.")
            }
            Cause::OffsetsPartitionNoLeader { group, partition: p } => {
                format!("Group {group} has no coordinator: __consumer_offsets-{p} has no leader.")
            }
            Cause::AckedByLeaderAlone { partition: p, first, last, broker } => {
                format!("{}, {}: acknowledged by broker {broker} alone (acks=1).", partition(p), offsets(*first, *last))
            }
            Cause::UncleanElection { partition: p, broker } => {
                format!("Broker {broker} was elected for {} without being in the ISR.", partition(p))
            }
            Cause::IsrBelowMin { partition: p, isr, min } => {
                format!(
                    "{} has {} in the ISR, min.insync.replicas is {min}.",
                    partition(p),
                    counted(u64::from(*isr), "replica", "replicas")
                )
            }
            Cause::NoLeader { partition: p, last: Some(b) } => {
                format!("{} has no leader; the last one was broker {b}.", partition(p))
            }
            Cause::NoLeader { partition: p, last: None } => format!("{} has no leader.", partition(p)),
            Cause::QuorumLost { alive, voters } => {
                format!("{alive} of {voters} controllers can reach each other; a majority is needed.")
            }
            Cause::FencingPending { broker, in_us } => {
                format!("Broker {broker} is silent; it is fenced {}.", after(*in_us))
            }
            Cause::RetriedWithoutIdempotence { producer } => {
                format!("{producer} tried again without enable.idempotence.")
            }
            Cause::NoOffsetsTopic { group, wanted, brokers } if wanted > brokers => {
                format!(
                    "Group {group} has no coordinator: __consumer_offsets wants {wanted} replicas \
                     (offsets.topic.replication.factor), {} registered.",
                    counted(u64::from(*brokers), "broker is", "brokers are")
                )
            }
            Cause::NoOffsetsTopic { group, .. } => {
                format!("Group {group} has no coordinator: __consumer_offsets does not exist yet.")
            }
            Cause::CoordinatorLoads { group, partition: p, broker } => {
                format!("Broker {broker} still loads __consumer_offsets-{p} for group {group}.")
            }
            Cause::CoordinatorNotFound { group, partition: p, broker } => {
                format!("Broker {broker} leads __consumer_offsets-{p}; the members of {group} have not found it yet.")
            }
            Cause::MemberFrozen { member } => {
                format!("The process of its member {member} is paused: it reads nothing and does not give way.")
            }
            Cause::PositionWentBack { member, partition: p, from, to } => {
                format!("The position of {member} in {} went back from {from} to {to}.", partition(p))
            }
            Cause::LeaderSilent { producer, broker } => format!("{producer} hears nothing of broker {broker}."),
            Cause::WaitsForFollowers { partition: p, broker, waits_for } => {
                format!("Broker {broker} waits for brokers {} to fetch {}.", ids(waits_for), partition(p))
            }
            Cause::Answered { producer, error } => format!("The last answer to {producer} is {error}."),
            Cause::Unanswered { producer } => format!("The requests of {producer} have no answer yet."),
            Cause::Rebalanced { group } if group.is_empty() => {
                "A group rebalanced before its positions were committed.".into()
            }
            Cause::Rebalanced { group } => format!("Group {group} rebalanced before its positions were committed."),
        }
    }

    fn cure(&self, c: &Cure) -> String {
        match c {
            Cure::OffsetsReplicationFactor { to } => format!("Try offsets RF {to}"),
            Cure::Acks { to, .. } => format!("Try acks={to}"),
            Cure::MinInsyncReplicas { to, .. } => format!("Try min.insync.replicas={to}"),
            Cure::ReplicationFactor { to, .. } => format!("Try RF {to}"),
            Cure::UncleanElectionOff { .. } => "Try without unclean election".into(),
            Cure::Idempotence { .. } => "Try with idempotence".into(),
            Cure::Start { node } => format!("Start {}", self.node(node)),
            Cure::Resume { node } => format!("Resume {}", self.node(node)),
            Cure::Heal { node } => format!("Heal the links of {}", self.node(node)),
            Cure::ClientVersion { to, .. } => format!("Try client {to}"),
        }
    }

    fn promise(&self, p: Promise) -> &'static str {
        match p {
            Promise::ProducersCanWrite => "producers can write",
            Promise::ConsumersGoOn => "consumers go on",
            Promise::NothingAckedIsLost => "nothing acked is lost",
        }
    }
    fn answer(&self, a: &Answer) -> String {
        let because = |w: &Weakness| match w {
            Weakness::OffsetsReplicationFactor(n) => format!("offsets RF {n}"),
            Weakness::ReplicationFactor(n) => format!("RF {n}"),
            Weakness::MinInsyncReplicas { min, left } => format!("min ISR {min}, {left} left"),
            Weakness::Acks(a) => format!("acks={a}"),
            Weakness::UncleanElection => "unclean election".into(),
            Weakness::Controllers(n) => counted(u64::from(*n), "controller", "controllers"),
            Weakness::AlreadyDown => "a broker is down".into(),
        };
        match a {
            Answer::Yes => "yes".into(),
            Answer::No { because: w } => format!("no: {}", because(w)),
            Answer::Depends { because: w } => format!("not always: {}", because(w)),
        }
    }

    fn fate(&self, s: &LedgerSquare) -> String {
        let fate = self.fate_of(s.fate);
        let delivered = match self.delivery(s.delivered) {
            "" => String::new(),
            delivered => format!(", {delivered}"),
        };
        let place =
            s.offset.map_or_else(|| partition(&s.partition), |o| format!("{} offset {o}", partition(&s.partition)));
        format!("record {}: {place}, {fate}{delivered}", s.number)
    }

    fn action(&self, a: NodeAction) -> &'static str {
        match a {
            NodeAction::Kill => "Kill",
            NodeAction::Stop => "Stop cleanly",
            NodeAction::Restart => "Restart",
            NodeAction::Start => "Start",
            NodeAction::Pause => "Pause (long GC)",
            NodeAction::Resume => "Resume",
            NodeAction::CutFromBrokers => "Cut off from brokers",
            NodeAction::CutFromControllers => "Cut off from controllers",
            NodeAction::CutFromClients => "Cut off from clients",
            NodeAction::CutFromAll => "Cut off from all",
            NodeAction::Heal => "Heal its links",
            NodeAction::SlowLink => "Slow its links down",
            NodeAction::LossyLink => "Lose its messages",
            NodeAction::RestoreLink => "Restore its links",
        }
    }
    fn actions_of(&self, n: &NodeRef) -> String {
        format!("Actions for {}", self.node(n))
    }

    fn process(&self, p: ProcessState) -> String {
        match p {
            ProcessState::NotStarted => "not started".into(),
            ProcessState::Running => "running".into(),
            ProcessState::Stopping => "stopping".into(),
            ProcessState::Paused { since_us } => format!("paused since {}", unbroken(moment(since_us))),
            ProcessState::Down { since_us, clean: false } => format!("down since {}", unbroken(moment(since_us))),
            ProcessState::Down { since_us, clean: true } => format!("stopped since {}", unbroken(moment(since_us))),
        }
    }
    fn broker_state(&self, b: &BrokerView) -> String {
        let state = match (b.process, &b.phase) {
            (ProcessState::Running | ProcessState::Stopping, Some(phase)) => match phase {
                BrokerPhase::Registering { refused: None } => "starts: asks to register".into(),
                BrokerPhase::Registering { refused: Some(error) } => format!("registration refused: {error}"),
                BrokerPhase::CatchingUp => "starts: fenced until it has caught up".into(),
                BrokerPhase::HandingOver { leads: 0 } => "controlled shutdown".into(),
                BrokerPhase::HandingOver { leads } => {
                    format!(
                        "controlled shutdown: leads {} still",
                        counted(u64::from(*leads), "partition", "partitions")
                    )
                }
                BrokerPhase::ShuttingDown => "shuts down".into(),
                BrokerPhase::AtWork => match (b.standing, b.broker_epoch) {
                    (BrokerStanding::Unregistered, _) => "not registered".into(),
                    (BrokerStanding::Fenced { .. }, _) => "fenced".into(),
                    (BrokerStanding::ControlledShutdown, _) => "in controlled shutdown".into(),
                    (BrokerStanding::Active, Some(e)) => format!("epoch {e}"),
                    (BrokerStanding::Active, None) => self.process(b.process),
                },
            },
            (p, _) => self.process(p),
        };
        if b.restarting { format!("{state}, then starts again") } else { state }
    }
    fn last_led(&self, broker: u32) -> String {
        format!("last leader {broker}")
    }
    fn quorum_role(&self, r: QuorumRole) -> &'static str {
        match r {
            QuorumRole::Active => "active",
            QuorumRole::Leader => "leader",
            QuorumRole::Follower => "follower",
            QuorumRole::Candidate => "candidate",
            QuorumRole::Prospective => "prospective",
            QuorumRole::Voted => "voted",
            QuorumRole::Unattached => "unattached",
            QuorumRole::Resigned => "resigned",
        }
    }
    fn controller_state(&self, c: &ControllerView) -> String {
        match (c.process, c.role) {
            (ProcessState::Running, QuorumRole::Active) => format!("active · ep {}", c.quorum_epoch),
            (ProcessState::Running, r) => self.quorum_role(r).into(),
            (p, _) => self.process(p),
        }
    }
    fn role(&self, r: ReplicaRole) -> &'static str {
        match r {
            ReplicaRole::Leader => "leader",
            ReplicaRole::InSync => "in sync",
            ReplicaRole::OutOfSync => "out of sync",
            ReplicaRole::Offline => "offline",
            ReplicaRole::StaleLeader => "stale leader",
        }
    }
    fn rack(&self, r: &str) -> String {
        format!("rack {r}")
    }
    fn log_end(&self, o: u64) -> String {
        format!("end {o}")
    }
    fn replica(&self, r: &ReplicaView, broker: u32) -> String {
        let lost = r.cells.iter().filter(|c| **c == RecordCell::AckedLost).count();
        let risk = r.cells.iter().filter(|c| **c == RecordCell::NotSafeAcked).count();
        let mut s = format!(
            "{} on broker {broker}: {}, log end {}, high watermark {}",
            partition(&r.partition),
            self.role(r.role),
            r.log_end_offset,
            r.high_watermark
        );
        if r.eligible {
            s += ", eligible leader replica";
        }
        if risk > 0 {
            s += &format!(", {risk} acknowledged and not yet safe");
        }
        if lost > 0 {
            s += &format!(", {lost} acknowledged and lost");
        }
        s
    }
    fn column(&self, topic: &str, p: &PartitionView) -> String {
        let leader = p.leader.map_or_else(|| "no leader".into(), |l| format!("leader {l}"));
        let health = match p.isr_health {
            IsrHealth::Full => "complete",
            IsrHealth::Reduced => "reduced",
            IsrHealth::BelowMin => "below min.insync.replicas",
            IsrHealth::Offline => "offline",
        };
        let mut s = format!(
            "{topic}-{}: {leader}, leader epoch {}, ISR {} ({health}), high watermark {}",
            p.partition,
            p.leader_epoch,
            if p.isr.is_empty() { self.label(Label::TextNone).into() } else { ids(&p.isr) },
            p.high_watermark
        );
        if !p.elr.is_empty() {
            s += &format!(", eligible leader replicas {}", ids(&p.elr));
        }
        if let Some(last) = p.last_known_leader {
            s += &format!(", {}", self.last_led(last));
        }
        s
    }
    fn strip(&self, s: &InternalStrip) -> String {
        match (s.squares.len(), s.nowhere_else, s.leaderless) {
            (0, _, _) => self.label(Label::NoInternal).into(),
            (n, only, 0) if only as usize == n => format!("{n} partitions, nowhere else: replication factor 1"),
            (n, only, _) if only as usize == n => {
                format!("all {n} partitions are here and nowhere else: replication factor 1")
            }
            (n, _, 0) => format!("{n} partitions"),
            (n, _, gone) => format!("{n} partitions, {gone} without a leader"),
        }
    }
    fn strip_short(&self, s: &InternalStrip, broker: u32) -> String {
        match s.squares.len() {
            n if n > 0 && s.nowhere_else as usize == n => format!("all {n} on broker {broker} only"),
            _ => self.strip(s),
        }
    }
    fn square(&self, topic: &str, s: &InternalSquare) -> String {
        format!("{topic}-{}: {}", s.partition, self.role(s.role))
    }

    fn producer_now(&self, p: &ProducerNow) -> String {
        match p {
            ProducerNow::NotStarted => "not started".into(),
            ProducerNow::Closed => "closed".into(),
            ProducerNow::Idle => "idle".into(),
            ProducerNow::Sending => "sending".into(),
            ProducerNow::AwaitingAcks { oldest_us: 0 } => "waits for answers".into(),
            ProducerNow::AwaitingAcks { oldest_us } => format!("waits for answers, {}", duration(*oldest_us)),
            ProducerNow::Retrying { error, next_in_us, .. } => {
                format!("tries again {}: {error}", after(*next_in_us))
            }
            ProducerNow::NoLeader { error, partition: p } => format!("no leader for {}: {error}", partition(p)),
            ProducerNow::Failing { error } => format!("gives up: {error}"),
            ProducerNow::Paused => "paused".into(),
        }
    }
    fn producer_counts(&self, p: &ProducerView) -> String {
        format!("{} acknowledged", p.acked)
    }
    fn lost_of_them(&self, n: u64, at: &[Stretch]) -> String {
        format!("{n} of them lost: {}", self.lost_at(at))
    }
    fn lost_at(&self, at: &[Stretch]) -> String {
        let named = at.iter().take(NAMED).map(|s| format!("{} {}", partition(&s.partition), offsets(s.first, s.last)));
        let named = named.collect::<Vec<_>>().join(", ");
        match at.len().saturating_sub(NAMED) {
            0 => named,
            more => format!("{named}, {}", self.and_more(more)),
        }
    }
    fn group_now(&self, g: &GroupView) -> String {
        match &g.now {
            GroupNow::NoMembers => "no members".into(),
            GroupNow::Reading => format!("reading, lag {}", g.lag),
            GroupNow::Rebalancing => "rebalancing".into(),
            GroupNow::Stopped { error } => format!("stopped: {error}"),
            GroupNow::ReadsWithoutCoordinator { error, partitions_read, partitions_still } => {
                format!("reads {partitions_read} partitions, {partitions_still} stand still: {error}")
            }
            GroupNow::NotPolling => format!("nobody polls, lag {}", g.lag),
            GroupNow::CaughtUp => "caught up".into(),
            GroupNow::Starting => "starting".into(),
        }
    }
    fn group_state(&self, s: GroupState) -> &'static str {
        match s {
            GroupState::Unknown => "state unknown",
            GroupState::Empty => "Empty",
            GroupState::PreparingRebalance => "PreparingRebalance",
            GroupState::CompletingRebalance => "CompletingRebalance",
            GroupState::Stable => "Stable",
            GroupState::Dead => "Dead",
        }
    }
    fn coordinator(&self, g: &GroupView) -> String {
        let p = g.offsets_partition;
        match g.coordinator {
            Coordinator::NoTopic => format!("→ partition {p}, not made yet"),
            Coordinator::Missing { last: Some(b), down: true } => format!("→ partition {p} → broker {b} (down)"),
            Coordinator::Missing { last: Some(b), down: false } => {
                format!("→ partition {p} → no leader (was broker {b})")
            }
            Coordinator::Missing { last: None, .. } => format!("→ partition {p} → no leader"),
            Coordinator::Loading { broker } => format!("→ partition {p} → broker {broker} (loading)"),
            Coordinator::Ready { broker } => format!("→ partition {p} → broker {broker}"),
        }
    }
    fn member_now(&self, m: &MemberNow) -> String {
        match m {
            MemberNow::NotStarted => "not started".into(),
            MemberNow::Closed => "closed".into(),
            MemberNow::FindingCoordinator { error: Some(e) } => format!("looks for the coordinator: {e}"),
            MemberNow::FindingCoordinator { error: None } => "looks for the coordinator".into(),
            MemberNow::Joining => "joining".into(),
            MemberNow::Syncing => "waits for its assignment".into(),
            MemberNow::Reading => "reading".into(),
            MemberNow::CaughtUp => "caught up".into(),
            MemberNow::ReadingUncommitted { error } => format!("reads on, cannot commit: {error}"),
            MemberNow::Stopped { error } => format!("stopped: {error}"),
            MemberNow::Paused => "does not poll".into(),
            MemberNow::Failing { error } => format!("fails: {error}"),
        }
    }
    fn waiting(&self, w: &Waiting) -> String {
        match w {
            Waiting::Fencing { broker } => format!("session of broker {broker} runs out"),
            Waiting::QuorumElection { controller } => format!("controller {controller} waits before an election"),
            Waiting::MemberTimeout { group, member } => format!("session of {member} in group {group} runs out"),
            Waiting::RebalanceEnd { group } => format!("rebalance of group {group}"),
            Waiting::ClientRetry { client } => format!("{client} tries again"),
            Waiting::ScriptEntry => "next entry of the script".into(),
        }
    }
    fn broker_briefly(&self, b: &BrokerView) -> String {
        let ends = if b.restarting { "restarts" } else { "stops" };
        match &b.phase {
            Some(BrokerPhase::HandingOver { leads: 0 } | BrokerPhase::ShuttingDown) => ends.into(),
            Some(BrokerPhase::HandingOver { leads }) => format!("{ends}: leads\u{a0}{leads}"),
            Some(BrokerPhase::Registering { .. } | BrokerPhase::CatchingUp | BrokerPhase::AtWork) | None => {
                self.broker_state(b)
            }
        }
    }
    fn sentences(&self, all: &[String]) -> String {
        all.join(". ")
    }
    fn titled(&self, title: &str, what: &str) -> String {
        format!("{title}: {what}")
    }
    fn clauses(&self, all: &[String]) -> String {
        all.join("; ")
    }
    fn enumerated(&self, all: &[String]) -> String {
        all.join(", ")
    }
    fn fenced_in(&self, in_us: Micros) -> String {
        format!("fenced {}", after(in_us))
    }
    fn countdown(&self, w: &Waiting, in_us: Micros) -> String {
        match w {
            Waiting::Fencing { broker } => format!("broker {broker} is fenced {}", after(in_us)),
            Waiting::QuorumElection { .. }
            | Waiting::MemberTimeout { .. }
            | Waiting::RebalanceEnd { .. }
            | Waiting::ClientRetry { .. }
            | Waiting::ScriptEntry => format!("{} {}", self.waiting(w), after(in_us)),
        }
    }
    fn doing(&self, d: &Doing) -> String {
        let from = self.node(&d.from);
        let to = receivers(self, &d.to);
        match &d.did {
            Did::Refuses { api, error } => format!("{from} answers {api} of {to}: {error}"),
            Did::TellsMetadata => format!("{from} tells {to} what was decided"),
            Did::AsksForVotes => format!("{from} asks {to} for a vote"),
            Did::ProposesIsr => format!("{from} asks {to} to change an ISR"),
            Did::Joins => format!("{from} joins its group at {to}"),
            Did::SendsRecords => format!("{from} sends records to {to}"),
            Did::Acknowledges => format!("{from} acknowledges records of {to}"),
            Did::HandsRecords => format!("{from} hands records to {to}"),
        }
    }
    fn ended(&self, e: Ended) -> Cow<'static, str> {
        match e {
            Ended::NothingNew => "Nothing new is coming. Break something, or play on.".into(),
            Ended::Script => "The script ends here. Play goes on.".into(),
            Ended::Limit => "This run can go no further.".into(),
            Ended::Needs(limit) => {
                let (most, what) = match limit {
                    Limit::EventsOfOneInstant(most) => (most, "events at one instant"),
                    Limit::Events(most) => (most, "events"),
                    Limit::RecordBytes(most) => (most, "bytes of records"),
                    Limit::Steps(most) => (most, "steps"),
                };
                format!("This run needs more than {most} {what}: it ends here. All of it can still be looked at.")
                    .into()
            }
        }
    }
    fn reached(&self, thousandths: u64) -> String {
        format!("Plays as fast as this device can: {}.", measured(thousandths))
    }
    fn on_the_way(&self, to_us: Micros) -> String {
        format!("The run is being played on to {}", moment(to_us))
    }
    fn flight(&self, f: &Flight) -> String {
        let kind = if f.response { "response" } else { "request" };
        let about = f.about.as_ref().map(|p| format!(", {}", partition(p))).unwrap_or_default();
        let error = f.error.as_ref().map(|e| format!(", {e}")).unwrap_or_default();
        let doomed = if f.doomed { ", will be lost" } else { "" };
        format!("{} {kind} from {} to {}{about}{error}{doomed}", f.api, self.node(&f.from), self.node(&f.to))
    }
    fn sends(&self, m: &MessageDetail) -> String {
        let does = if m.response { "answers" } else { "asks" };
        format!("{} {does} {}: {} v{}", self.node(&m.from), self.node(&m.to), m.name, m.version)
    }
    fn carries(&self, c: &Carried) -> String {
        let (of, value) = (&c.of, &c.value);
        match c.says {
            Says::Records => format!("{of} offset{} {value}", if value.contains('–') { "s" } else { "" }),
            Says::Sent => format!("{value} record{} for {of}", if value == "1" { "" } else { "s" }),
            Says::Written => format!("{of} written from offset {value}"),
            Says::From => format!("{of} from offset {value}"),
            Says::HighWatermark => format!("the high watermark of {of} is still {value}"),
            Says::NewHighWatermark => format!("the high watermark of {of} moves {value}"),
            Says::Field => format!("{of} {value}"),
            Says::More => format!("and {value} more"),
        }
    }
    fn in_flight(&self, place: usize, of: usize) -> String {
        format!("{place} of {of} in flight")
    }
    fn served_by(&self, server: Server) -> &'static str {
        match server {
            Server::Partition => "Served by the leader of the partition",
            Server::Group => "Served by the coordinator of the group",
            Server::Broker => "Served by any broker",
            Server::Cluster => "Decided by the active controller; any broker passes it on",
            Server::Controller => "Served by the active controller, for brokers",
            Server::Quorum => "Served by the voters of the metadata quorum",
        }
    }
    fn not_yet(&self, left_us: Micros) -> String {
        format!("not yet: it arrives in {}", duration(left_us))
    }
    fn held_as(&self, name: &str) -> String {
        format!("It is held as {name} until it is released.")
    }
    fn was(&self, known: &str) -> String {
        format!("was {known}")
    }
    fn hidden_flights(&self, n: u32) -> String {
        format!("and {n} more messages in flight")
    }

    fn setting(&self, k: &SettingKey) -> String {
        match k {
            // Kafka's own name, shortened where the panel has no room for it.
            SettingKey::Config { name: "unclean.leader.election.enable", .. } => "unclean election",
            SettingKey::Config { name: "enable.idempotence", .. } => "idempotence",
            SettingKey::Config { name: "offsets.topic.replication.factor", .. } => "replication factor",
            SettingKey::Config { name, .. } => name,
            SettingKey::Partitions { .. } => "partitions",
            SettingKey::ReplicationFactor { .. } => "replication factor",
            SettingKey::Rate { .. } => "rate",
            SettingKey::Keys { .. } => "keys",
            SettingKey::Members { .. } => "members",
            SettingKey::ClientVersion { .. } => "client",
            SettingKey::Brokers => "brokers",
            SettingKey::Controllers => "controllers",
        }
        .into()
    }
    fn remark(&self, n: &Note) -> String {
        match n {
            Note::DefaultTaken { topic, setting, value } => {
                format!("Topic {topic} does not say it, so {setting} decides: {value}")
            }
            Note::NotModelled { path, name } => format!("{name} has no effect in this simulation ({path})"),
            Note::TopicRefused { topic, sentence } => format!("Kafka will refuse topic {topic}: {sentence}"),
            Note::NoOffsetsTopic { wants, brokers } => format!(
                "The offsets topic wants {wants} replicas, brokers: {brokers}. No group finds its coordinator; \
                 consumers read nothing. Set offsets.topic.replication.factor to at most {brokers}."
            ),
        }
    }
    fn settings_of(&self, s: &SettingsOf) -> String {
        match s {
            SettingsOf::Topic(t) => format!("Topic {t}"),
            SettingsOf::Producer(p) => format!("Producer {p}"),
            SettingsOf::Group(g) => format!("Group {g}"),
            SettingsOf::OffsetsTopic => "__consumer_offsets".into(),
            SettingsOf::Cluster => "Cluster".into(),
        }
    }
    fn in_force(&self, value: &str, default: &str) -> String {
        if value == default {
            format!("in force: {value} (the default)")
        } else {
            format!("in force: {value}, default: {default}")
        }
    }
    fn pace(&self, p: Pace) -> String {
        match p {
            Pace::Automatic => "automatic".into(),
            Pace::Fixed(s) => speed(s),
        }
    }
    fn step(&self, s: StepKind) -> &'static str {
        match s {
            StepKind::Message => "message",
            StepKind::Event => "event",
            StepKind::Notable => "notable change",
        }
    }
    fn lane(&self, l: &LaneOf) -> String {
        match l {
            LaneOf::Quorum => "controllers".into(),
            LaneOf::Broker(b) => format!("broker {b}"),
            LaneOf::Producer(s) | LaneOf::Group(s) => s.clone(),
        }
    }
    fn lane_state(&self, l: LaneState) -> &'static str {
        match l {
            LaneState::Good => "working",
            LaneState::Between => "between",
            LaneState::Stuck => "stuck",
            LaneState::Down => "down",
        }
    }
    fn mark(&self, m: MarkKind) -> &'static str {
        match m {
            MarkKind::Fault => "fault",
            MarkKind::Repair => "repair",
            MarkKind::Election => "election",
            MarkKind::IsrShrink => "ISR shrinks",
            MarkKind::IsrExpand => "ISR grows",
            MarkKind::Truncation => "truncation",
            MarkKind::Rebalance => "rebalance",
            MarkKind::Error => "error",
            MarkKind::Loss => "loss",
            MarkKind::Setting => "setting",
        }
    }
    fn branch(&self, b: &BranchView) -> String {
        match (&b.name, &b.began_with, b.parent) {
            (Some(n), _, _) => n.clone(),
            (None, Some(f), _) => format!("{}: {}", moment(b.forked_at_us), self.fact(f)),
            (None, None, None) => self.label(Label::FirstRun).into(),
            (None, None, Some(_)) => format!("from {}", moment(b.forked_at_us)),
        }
    }
    fn playhead(&self, at_us: Micros, end_us: Micros) -> String {
        format!("{} of {}", moment(at_us), moment(end_us))
    }
    fn log_kind(&self, k: LogKind) -> &'static str {
        match k {
            LogKind::Fault => "faults",
            LogKind::Controller => "controllers",
            LogKind::Replication => "replication",
            LogKind::Producer => "producers",
            LogKind::Group => "groups",
            LogKind::Setting => "settings",
        }
    }
    fn log_count(&self, shown: usize, total: usize) -> String {
        if shown == total {
            counted(total as u64, "line", "lines")
        } else {
            format!("the latest {shown} of {total} lines")
        }
    }
    fn inspect_kind(&self, k: InspectKind) -> &'static str {
        match k {
            InspectKind::Identity => "What it is",
            InspectKind::Fields => "Fields",
            InspectKind::Log => "Log",
            InspectKind::EpochCache => "Leader epoch cache",
            InspectKind::Fetchers => "Fetch state",
            InspectKind::Registration => "Registration",
            InspectKind::Group => "Group",
            InspectKind::Members => "Members",
            InspectKind::Batches => "Batches",
            InspectKind::Timers => "Timers",
            InspectKind::Configs => "Configs",
        }
    }
    fn inspect_value(&self, v: &InspectValue) -> String {
        match v {
            InspectValue::Number(n) => n.to_string(),
            InspectValue::Bool(b) => b.to_string(),
            InspectValue::Moment(t) => moment(*t),
            InspectValue::In(t) => after(*t),
            InspectValue::Term(t) => t.to_string(),
            InspectValue::Brokers(b) if b.is_empty() => self.label(Label::TextNone).into(),
            InspectValue::Brokers(b) => ids(b),
            InspectValue::Partition(p) => partition(p),
            InspectValue::Node(n) => self.node(n),
            InspectValue::GroupState(state) => self.group_state(*state).into(),
            InspectValue::Fate(fate) => self.fate_of(*fate).into(),
            InspectValue::Delivery(Delivery::No) => self.label(Label::TextNone).into(),
            InspectValue::Delivery(delivery) => self.delivery(*delivery).into(),
            InspectValue::None => self.label(Label::TextNone).into(),
        }
    }
    fn subject(&self, s: &Subject) -> String {
        match s {
            Subject::Controller(i) => format!("controller {i}"),
            Subject::Broker(i) => format!("broker {i}"),
            Subject::Partition(p) => partition(p),
            Subject::Leader(p) => format!("leader of {}", partition(p)),
            Subject::Isr(p) => format!("ISR of {}", partition(p)),
            Subject::HighWatermark(p) => format!("high watermark of {}", partition(p)),
            Subject::Replica { partition: p, broker } => format!("{} on broker {broker}", partition(p)),
            Subject::Record { partition: p, broker, offset } => {
                format!("{} offset {offset} on broker {broker}", partition(p))
            }
            Subject::Producer(n) => format!("producer {n}"),
            Subject::Group(n) => format!("group {n}"),
            Subject::Member(n) => format!("member {n}"),
            Subject::Message(m) => format!("message {}", m.0),
            Subject::Verdict(_) => "this verdict".into(),
            Subject::LedgerRecord(n) => format!("record {n}"),
            Subject::Trace(_) => "this change".into(),
        }
    }
    fn why_about(&self, s: &Subject) -> String {
        format!("Why: {}", self.subject(s))
    }
    fn why_verdict(&self, v: &Verdict) -> String {
        format!("Why: {}", self.verdict(v))
    }
    fn problem(&self, p: OpenProblem) -> &'static str {
        match p {
            OpenProblem::CutShort => "It was cut short: the end is missing.",
            OpenProblem::Changed => "It was changed: its check does not fit.",
            OpenProblem::TooLarge => "It is too large.",
            OpenProblem::NewerVersion => "It was made by a newer version of Highwater.",
            OpenProblem::UnknownCodec => "It begins with a code that is not known here.",
            OpenProblem::NotJson => "What it holds is not well-formed JSON.",
            OpenProblem::UnknownKey => "It holds a name that is not known here.",
            OpenProblem::WrongType => "A value has the wrong type.",
            OpenProblem::OutOfRange => "A value is out of range.",
            OpenProblem::Missing => "Something is missing.",
            OpenProblem::Impossible => "Such a cluster cannot be.",
            OpenProblem::Refused => "Kafka refuses it.",
            OpenProblem::UnknownOption => "It asks for an option that is not known here.",
            OpenProblem::Repeated => "It gives an option twice.",
            OpenProblem::BadMoment => "The moment cannot be read.",
        }
    }
    fn refused(&self, r: &Refused) -> String {
        match r {
            Refused::Kafka(e) => format!("Refused: {e}"),
            Refused::Limit { what, bound } => format!("{what}: no more than {bound}"),
            Refused::NotNow(action) => format!("\"{}\" cannot be done now", self.action(*action)),
            Refused::Because(reason) => self.reason(reason),
            Refused::OnTheWay => "The run is on its way to another moment: stop it first, or wait".to_owned(),
            Refused::Unknown(what) => {
                let what = match what {
                    Thing::Setting => "setting",
                    Thing::Group => "group",
                    Thing::Node => "node",
                    Thing::Message => "message",
                    Thing::Moment => "moment",
                    Thing::Run => "run before this one",
                    Thing::Branch => "run",
                };
                format!("There is no such {what}")
            }
        }
    }
    fn and_more(&self, n: usize) -> String {
        format!("and {n} more")
    }
    fn one_of(&self, i: usize, n: usize) -> String {
        format!("{i} of {n}")
    }
    fn earlier_records(&self, n: u64) -> String {
        format!("{} before these", counted(n, "record", "records"))
    }
    fn characters(&self, n: u32, limit: u32) -> String {
        format!("{n} of {limit} characters")
    }
    fn summary(&self, s: &Scene, p: &Promises) -> String {
        let up =
            s.brokers.iter().filter(|b| matches!(b.process, ProcessState::Running | ProcessState::Stopping)).count();
        let verdict = p.verdicts.first().map(|v| self.verdict(&v.verdict)).unwrap_or_default();
        let verdict = if verdict.is_empty() { verdict } else { format!(" {verdict}.") };
        format!(
            "At {}: {up} of {} run.{verdict}",
            moment(s.at_us),
            counted(s.brokers.len() as u64, "broker", "brokers")
        )
    }
    fn changes(&self, n: usize) -> String {
        counted(n as u64, "change", "changes")
    }
    fn judged(&self, right: bool, answer: &str) -> String {
        if right { format!("You said “{answer}”: right.") } else { format!("You said “{answer}”: not so.") }
    }
    fn clients_now(&self, stopped: &[String], going_on: &[String]) -> String {
        let of = |names: &[String], words: &str| match names {
            [] => String::new(),
            names => format!("{words}: {}. ", names.join(", ")),
        };
        let none = if stopped.is_empty() { "No client is stuck. ".to_owned() } else { of(stopped, "Stuck") };
        format!("{none}{}", of(going_on, "At work")).trim_end().to_owned()
    }
    fn options_refused(&self, options: &[String]) -> String {
        format!("Not done here, though the address asks for it: {}.", options.join(", "))
    }
    fn active_controller(&self, n: &NodeRef) -> String {
        format!("{} active", self.node(n))
    }
}

impl English {
    fn fate_of(&self, fate: RecordFate) -> &'static str {
        match fate {
            RecordFate::Pending => "waiting for an answer",
            RecordFate::Written => "written, not yet safe",
            RecordFate::Safe => "safe",
            RecordFate::AckedNotSafe => "acknowledged, not yet safe",
            RecordFate::AckedLost => "acknowledged and lost",
            RecordFate::Refused => "refused",
            RecordFate::LostUnacked => "lost, never acknowledged",
        }
    }
    fn delivery(&self, delivery: Delivery) -> &'static str {
        match delivery {
            Delivery::No => "",
            Delivery::Once => "delivered",
            Delivery::Twice => "delivered twice",
            Delivery::OutOfOrder => "delivered out of order",
        }
    }
    fn asked(&self, asked: &Asked) -> String {
        match asked {
            Asked::Restart { node } => format!("{} is to be restarted", self.node(node)),
            Asked::Close { client } => format!("{} is asked to close", self.node(client)),
            Asked::CreateTopic { topic } => format!("the administrator asks for topic {topic} (CreateTopics)"),
            Asked::DeleteTopic { topic } => format!("the administrator asks to delete topic {topic} (DeleteTopics)"),
            Asked::AddPartitions { topic, total } => {
                format!("the administrator asks for {total} partitions of {topic} (CreatePartitions)")
            }
            Asked::DeleteRecords { partition: p, before: Some(before) } => {
                format!("the administrator asks to delete records of {} before {before} (DeleteRecords)", partition(p))
            }
            Asked::DeleteRecords { partition: p, before: None } => {
                format!("the administrator asks to delete all records of {} (DeleteRecords)", partition(p))
            }
            Asked::SetConfig { target, key, value } if value.is_empty() => {
                format!("the administrator asks for the default of {key} {}", self.target(target))
            }
            Asked::SetConfig { target, key, value } => {
                format!("the administrator asks for {key}={value} {}", self.target(target))
            }
            Asked::ElectLeader { partition: p, unclean: false } => {
                format!("the administrator asks for the preferred leader of {} (ElectLeaders)", partition(p))
            }
            Asked::ElectLeader { partition: p, unclean: true } => {
                format!("the administrator asks for an unclean election of {} (ElectLeaders)", partition(p))
            }
            Asked::Describe { api } => format!("the administrator asks {api}"),
            Asked::Produce { client, topic, count } => {
                let to = topic.as_ref().map_or(String::new(), |topic| format!(" to {topic}"));
                format!("{} is given {} to send{to}", self.node(client), counted(*count, "record", "records"))
            }
            Asked::PausePolling { member, span_us } => {
                format!("{} does not call poll for {}", self.node(member), duration(*span_us))
            }
            Asked::Seek { member, partition: p, to } => {
                format!("{} seeks to {to} in {}", self.node(member), partition(p))
            }
            Asked::Commit { member } => format!("{} is told to commit", self.node(member)),
        }
    }
    fn reason(&self, reason: &Reason) -> String {
        match reason {
            Reason::Kafka { error, exception, message: None } => format!("{error} ({exception})"),
            Reason::Kafka { error, exception, message: Some(said) } => format!("{error} ({exception}: {said})"),
            Reason::NoSuchNode { node } => format!("there is no {}", self.node(node)),
            Reason::NoSuchClient { name } => format!("no client {name} has started"),
            Reason::NotStarted { name } => format!("client {name} has not started yet"),
            Reason::NameTaken { name } => format!("a client {name} runs already"),
            Reason::NoSuchRole { role } => format!("nobody is {role} now"),
            Reason::WrongState { node, needed } => {
                let state = match needed {
                    Needed::Running => "does not run",
                    Needed::NotRunning => "runs",
                    Needed::RunningAndNotPaused => "does not run, or is paused already",
                    Needed::Paused => "is not paused",
                    Needed::Producer => "is no producer",
                };
                format!("{} {state}", self.node(node))
            }
            Reason::HoldTaken { name } => format!("a message is held by the name {name} already"),
            Reason::NothingHeld { name } => format!("no message is held by the name {name}"),
            Reason::Limit { what, most } => format!("{what}: no more than {most}"),
            Reason::Config { exception, key, value, expected } => format!("{exception}: {key}={value}: {expected}"),
            Reason::SetUp { what } => what.to_string(),
        }
    }
    fn waits_for(&self, what: &WaitFor) -> String {
        match what {
            WaitFor::Leader { partition: p } => format!("{} has no leader", partition(p)),
            WaitFor::MoreMembers { group } => {
                format!("group {group} waits for more members (group.initial.rebalance.delay.ms)")
            }
            WaitFor::Rebalance { group } => format!("group {group} waits for its members to join"),
            WaitFor::Coordinator { client, group } => format!("{client} finds no coordinator of group {group}"),
            WaitFor::Commit { client, group } => format!("commits of {client} in group {group} fail"),
            WaitFor::Poll { client, group } => format!("poll of {client} in group {group} fails"),
            WaitFor::Success { client } => format!("records of {client} fail"),
            WaitFor::LivingBroker { client } => format!("{client} knows no living broker"),
            WaitFor::Answer { client, topic, partition: None } => {
                format!("records of {client} to {topic} have no answer")
            }
            WaitFor::Answer { client, topic, partition: Some(number) } => {
                format!("records of {client} to {topic}-{number} have no answer")
            }
            WaitFor::Reading { group, partition: p } => {
                format!("acknowledged records of {} are not read by group {group}", partition(p))
            }
        }
    }
    fn target(&self, t: &ConfigTarget) -> String {
        match t {
            ConfigTarget::Topic(t) => format!("for topic {t}"),
            ConfigTarget::Broker(b) => format!("for broker {b}"),
            ConfigTarget::Cluster => "for the cluster".into(),
            ConfigTarget::Client(c) => format!("for {c}"),
        }
    }
}
