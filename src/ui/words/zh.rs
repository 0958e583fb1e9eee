//! 简体中文。Holds sentences only; what is said when is decided elsewhere.
use std::borrow::Cow;
use std::cmp::Ordering;

use super::*;

pub struct Chinese;

/// The trace does not always know whose request it was.
fn named(client: &str) -> &str {
    if client.is_empty() { "某个客户端" } else { client }
}

fn nodes(w: &Chinese, all: &[NodeRef]) -> String {
    all.iter().map(|n| w.node(n)).collect::<Vec<_>>().join("、")
}

/// How long until then; what is due now says so.
fn after(us: Micros) -> String {
    if us == 0 { "即将".into() } else { format!("{} 后", unbroken(duration(us))) + " " }
}

impl Words for Chinese {
    fn tag(&self) -> &'static str {
        "zh-Hans"
    }
    fn own_name(&self) -> &'static str {
        "中文"
    }

    fn label(&self, l: Label) -> &'static str {
        match l {
            Label::Scenario => "场景",
            Label::Story => "一个 broker 宕机，消费者停止消费",
            Label::ScenarioChanged => "已改动",
            Label::Share => "分享",
            Label::Language => "语言",
            Label::Theme => "配色",
            Label::ThemeAuto => "跟随系统",
            Label::ThemeLight => "浅色",
            Label::ThemeDark => "深色",
            Label::ThemeContrast => "高对比度",
            Label::Settings => "设置",
            Label::HideSettings => "收起设置",
            Label::ShowSettings => "展开设置",
            Label::HidePanel => "收起面板",
            Label::ShowPanel => "展开面板",
            Label::SharedScenario => "他人分享的场景，不在场景库中",
            Label::OpenInHighwater => "在 Highwater 中打开",
            Label::Close => "关闭",
            Label::Keys => "快捷键",
            Label::Loading => "集群正在启动",
            Label::Stage => "集群视图",
            Label::StageHelp => "方向键在副本之间移动，回车键在“查看”面板中打开，M 键打开该 broker 的操作菜单。",
            Label::Controllers => "controller",
            Label::Topic => "topic",
            Label::Brokers => "broker",
            Label::Clients => "客户端",
            Label::InternalTopics => "内部 topic",
            Label::Promises => "承诺",
            Label::Inspect => "查看",
            Label::Log => "日志",
            Label::Text => "文字",
            Label::Panel => "发生了什么",
            Label::Messages => "传输中的消息",
            Label::Lanes => "时间",
            Label::TimeAndRuns => "播放与时间",
            Label::NoInternal => "此 broker 上没有副本",
            Label::Transport => "播放控制",
            Label::Play => "播放",
            Label::Pause => "暂停",
            Label::ToStart => "回到开头",
            Label::StepBack => "后退一步",
            Label::StepForward => "前进一步",
            Label::SkipWait => "跳过等待",
            Label::Pace => "速度",
            Label::Step => "步长",
            Label::StopHere => "停在此处",
            Label::Playhead => "播放头",
            Label::ZoomIn => "放大",
            Label::ZoomOut => "缩小",
            Label::ZoomAll => "全程",
            Label::AllMarks => "全部图例",
            Label::MarkSafe => "安全：低于高水位",
            Label::MarkNotSafe => "尚不安全",
            Label::MarkAcked => "尚不安全，但已确认",
            Label::MarkLost => "已确认，却丢失",
            Label::MarkEmpty => "此处没有记录",
            Label::MarkHighWatermark => "该副本自己的高水位",
            Label::MarkLeader => "领导者",
            Label::MarkFault => "故障",
            Label::MarkProduce => "生产",
            Label::MarkReplication => "复制拉取",
            Label::MarkControl => "控制面",
            Label::MarkGroup => "消费与消费者组",
            Label::Break => "注入故障",
            Label::Repair => "恢复",
            Label::RegistrationRefused => "注册被拒绝",
            Label::Actions => "操作",
            Label::HealAll => "恢复所有链路",
            Label::ElectPreferred => "选举首选领导者",
            Label::ElectUnclean => "unclean 选举",
            Label::OpenAsColumns => "按列展开",
            Label::CloseColumns => "收起各列",
            Label::Why => "为什么？",
            Label::EveryRecord => "每条记录，按发送顺序",
            Label::Acknowledged => "已确认",
            Label::Safe => "安全",
            Label::AckedNotSafe => "已确认，尚不安全",
            Label::Lost => "丢失",
            Label::Refused => "被拒绝",
            Label::Pending => "等待应答",
            Label::Delivered => "已送达",
            Label::DeliveredTwice => "送达两次",
            Label::OutOfOrder => "乱序",
            Label::IfOneFails => "如果一个 broker 失效",
            Label::IfTwoFail => "如果两个 broker 失效",
            Label::MessageRequest => "请求",
            Label::MessageResponse => "响应",
            Label::MessageSent => "发出",
            Label::StillToGo => "还需",
            Label::MessageArrives => "到达",
            Label::DeliverNow => "立即送达",
            Label::HoldMessage => "扣住",
            Label::ReleaseMessage => "放行",
            Label::DelayMessage => "延迟…",
            Label::DropMessage => "丢弃",
            Label::DuplicateMessage => "重复",
            Label::EachBranches => "每个操作都是脚本中的一条；若已有后续，则另开一个分支。",
            Label::Fields => "字段",
            Label::AllFields => "全部字段",
            Label::WhatCausedIt => "起因",
            Label::WhatItCaused => "后果",
            Label::HeldBehind => "它排在同一连接上被扣住的消息之后。",
            Label::FindsNobody => "到达时将无人接收",
            Label::ShowInLanes => "在泳道中放大",
            Label::NothingNew => "没有新内容",
            Label::NextMessage => "下一条传输中的消息",
            Label::PreviousMessage => "上一条传输中的消息",
            Label::NothingSelected => "在集群视图上选择副本、broker、客户端或消息，即可按 Kafka 自己的术语查看。",
            Label::NotThere => "此刻它不存在。",
            Label::Field => "字段",
            Label::Value => "值",
            Label::SaveLog => "存为文件",
            Label::OnlyNotable => "只看重要变化",
            Label::LogEmpty => "还没有发生任何事。",
            Label::JumpHere => "跳到这一刻",
            Label::WhyLatestFirst => "从最近的原因到最初的原因",
            Label::WhyCutShort => "原因链还可继续向前追溯。",
            Label::Summary => "概要",
            Label::Cluster => "集群",
            Label::TextPartition => "分区",
            Label::TextLeader => "领导者",
            Label::TextIsr => "ISR",
            Label::TextEpoch => "epoch",
            Label::TextHighWatermark => "高水位",
            Label::TextReplicas => "副本",
            Label::TextState => "状态",
            Label::TextRack => "机架",
            Label::TextLogEnd => "LEO",
            Label::TextRole => "角色",
            Label::TextNow => "当前",
            Label::TextRecent => "最近的变化",
            Label::TextMember => "成员",
            Label::TextPosition => "位置",
            Label::TextCommitted => "已提交",
            Label::TextLag => "积压",
            Label::TextNone => "无",
            Label::SetUpNote => "↻ 会开始一次新的运行并播放到当前时刻；其余可实时调整。",
            Label::AskedFor => "刚刚提出，尚未生效",
            Label::SetUpMark => "开始新的一次运行",
            Label::Default => "默认",
            Label::On => "开",
            Label::Off => "关",
            Label::Less => "减少",
            Label::More => "增加",
            Label::KeysNone => "无",
            Label::KeysHot => "热点",
            Label::KeysEven => "均匀",
            Label::PreviousRun => "回到上一次运行",
            Label::ShareTitle => "分享此刻的运行",
            Label::ShareLink => "链接",
            Label::ShareFrame => "用于网页的 iframe",
            Label::ShareSize => "链接长度",
            Label::ShareMoment => "打开时刻",
            Label::Copy => "复制",
            Label::Copied => "已复制",
            Label::CopyFailed => "浏览器不允许复制：请选中文字后自行复制。",
            Label::FrameTitle => "Highwater 中的 Kafka 集群",
            Label::Branches => "各次运行",
            Label::FirstRun => "最初的运行",
            Label::NothingHere => "此处没有副本",
            Label::NameBranch => "这次运行的名称",
            Label::LinkFailed => "无法打开这个链接",
            Label::LinkFailedKept => "您看到的运行没有受到影响。",
            Label::Place => "位置",
            Label::Found => "读到",
            Label::Expected => "应为",
            Label::Nearest => "最接近的已知名称",
            Label::Limit => "上限",
            Label::Digest => "摘要",
            Label::DigestSame => "打开的运行与链接中的摘要一致",
            Label::DigestDiffers => "这次运行与生成链接时的运行不同。",
            Label::PanicTitle => "Highwater 已停止",
            Label::PanicText => "这是页面自身的缺陷，不是集群的问题。",
            Label::PanicMoment => "发生在",
            Label::PanicReport => "用于报告：发生了什么，以及这次运行的链接",
            Label::OpenWithoutLink => "不带链接打开",
            Label::GoBackBefore => "回到此前的时刻",
            Label::KeysTitle => "快捷键",
            Label::KeyPlay => "播放或暂停",
            Label::KeyStep => "后退或前进一步（焦点不在集群视图内时）",
            Label::KeyNotable => "到前一个或后一个重要变化",
            Label::KeyEvent => "后退或前进一个事件",
            Label::KeyEnds => "到开头、到末尾",
            Label::KeyPace => "更慢、更快",
            Label::KeyStage => "焦点在集群视图内时，在其中移动",
            Label::KeyToStage => "转到集群视图",
            Label::KeyMenu => "焦点在 broker 所在行时，打开它的操作菜单",
            Label::KeyMessages => "下一条 / 上一条传输中的消息",
            Label::KeyAnswer => "回答问题",
            Label::KeyStop => "在运行途中停在当前时刻",
            Label::KeyUndo => "撤销上一个操作",
            Label::KeyHelp => "这个列表",
            Label::SingleKeys => "启用单字符快捷键",
            Label::StoryCard => "故事",
            Label::GuessTaken => "现在按播放，看看结果。",
            Label::GuessWaits => "选出新的领导者之后揭晓。",
            Label::Undo => "撤销",
            Label::Previous => "上一个分区",
            Label::Next => "下一个分区",
            Label::More2 => "更多",
        }
    }

    fn node(&self, n: &NodeRef) -> String {
        match n {
            NodeRef::Controller(i) => format!("controller {i}"),
            NodeRef::Broker(i) => format!("broker {i}"),
            NodeRef::Producer(s) | NodeRef::Member(s) => named(s).into(),
            NodeRef::Admin => "管理员".into(),
        }
    }

    fn fact(&self, f: &Fact) -> String {
        match f {
            Fact::Killed { node } => format!("{} 被杀掉，磁盘保留", self.node(node)),
            Fact::Stopped { node } => format!("{} 已停止", self.node(node)),
            Fact::StopRequested { node } => format!("{} 被要求停止", self.node(node)),
            Fact::DiskLost { node } => format!("{} 的磁盘被清空", self.node(node)),
            Fact::ControlledShutdownAllowed { broker } => {
                format!("broker {broker} 不再领导任何分区：controller 允许它退出")
            }
            Fact::ControlledShutdownBegan { broker } => format!("broker {broker} 开始受控关闭"),
            Fact::Started { node } => format!("{} 启动", self.node(node)),
            Fact::Paused { node } => format!("{} 停顿", self.node(node)),
            Fact::Resumed { node } => format!("{} 恢复运行", self.node(node)),
            Fact::Registered { broker, epoch, clean: true } => {
                format!("broker {broker} 在正常停止后注册，broker epoch {epoch}")
            }
            Fact::Registered { broker, epoch, clean: false } => format!("broker {broker} 注册，broker epoch {epoch}"),
            Fact::RegistrationRefused { broker, error } => format!("broker {broker} 的注册被拒绝：{error}"),
            Fact::MetadataTruncated { node, from, to } => {
                format!("{} 把元数据日志从 {from} 截断到 {to}", self.node(node))
            }
            Fact::RequestUnread { node, of, api, records } => {
                let records = match records {
                    0 => String::new(),
                    n => format!("（{n} 条记录）"),
                };
                let (node, of) = (self.node(node), self.node(of));
                format!("{node} 不会再读 {of} 的 {api}Request{records}：它关闭了连接")
            }
            Fact::ControllerRefused { controller, api, error } => {
                format!("controller {controller} 拒绝 {api}：{error}")
            }
            Fact::Fenced { broker, session_us: 0 } => format!("broker {broker} 被隔离（fenced）"),
            Fact::Fenced { broker, session_us } => {
                format!("broker {broker} 被隔离（fenced）：{} 没有心跳", duration(*session_us))
            }
            Fact::Unfenced { broker } => format!("broker {broker} 解除隔离"),
            Fact::Cut { a, b, one_way: false } => format!("{} 与 {} 之间断开", nodes(self, a), nodes(self, b)),
            Fact::Cut { a, b, one_way: true } => format!("{} 到 {} 的方向断开", nodes(self, a), nodes(self, b)),
            Fact::Healed { a, b } if a.is_empty() || b.is_empty() => "所有链路恢复".into(),
            Fact::Healed { a, b } => format!("{} 与 {} 之间恢复", nodes(self, a), nodes(self, b)),
            Fact::LinkChanged { a, b, latency_us: 0, loss_permille: 0 } => {
                format!("{} 与 {} 之间的链路：无额外延迟，无丢包", self.node(a), self.node(b))
            }
            Fact::LinkChanged { a, b, latency_us, loss_permille } => {
                let loss = match loss_permille {
                    0 => "无丢包".into(),
                    n => format!("丢包 {}.{} %", n / 10, n % 10),
                };
                format!("{} 与 {} 之间的链路：延迟 {}，{loss}", self.node(a), self.node(b), duration(*latency_us))
            }
            Fact::MessageActed { deed, message, from, to } => {
                let ends = match (from, to) {
                    (Some(from), Some(to)) => format!("{} 发往 {} 的 ", self.node(from), self.node(to)),
                    (Some(from), None) => format!("{} 发出的 ", self.node(from)),
                    (None, Some(to)) => format!("发往 {} 的 ", self.node(to)),
                    (None, None) => String::new(),
                };
                let done = match deed {
                    MessageDeed::Dropped => "在途中丢失".to_string(),
                    MessageDeed::Held => "被扣住".to_string(),
                    MessageDeed::Delayed { by_us } => format!("被延迟 {}", duration(*by_us)),
                    MessageDeed::Duplicated => "被重复发送".to_string(),
                    MessageDeed::Delivered => "立即送达".to_string(),
                };
                format!("{ends}{message} {done}")
            }
            Fact::MessageReleased { name } => format!("扣住的消息 {name} 已放行"),
            Fact::QuorumElectionBegan { controller, epoch } => {
                format!("controller {controller} 请求投票，epoch {epoch}")
            }
            Fact::QuorumLeaderElected { controller, epoch } => {
                format!("controller {controller} 当选 quorum 领导者，epoch {epoch}")
            }
            Fact::QuorumLeaderResigned { controller, epoch } => format!("controller {controller} 卸任，epoch {epoch}"),
            Fact::ActiveController { controller, epoch } => {
                format!("controller {controller} 成为活动 controller，epoch {epoch}")
            }
            Fact::LeaderElected { partition: p, broker, epoch, how } => {
                let how = match how {
                    ElectionKind::Clean => "从 ISR 中选出",
                    ElectionKind::Preferred => "首选副本",
                    ElectionKind::Elr => "从 ELR 中选出",
                    ElectionKind::LastKnown => "最后已知的领导者",
                    ElectionKind::Unclean => "unclean：可能缺少记录",
                };
                format!("broker {broker} 当选 {} 的领导者，epoch {epoch}（{how}）", partition(p))
            }
            Fact::PartitionOffline { partition: p, last: Some(b) } => {
                format!("{} 没有领导者，上一任是 broker {b}", partition(p))
            }
            Fact::PartitionOffline { partition: p, last: None } => format!("{} 没有领导者", partition(p)),
            Fact::IsrShrunk { partition: p, removed, isr, by } => {
                let by = match by {
                    IsrBy::Leader(b) => format!("领导者 broker {b}"),
                    IsrBy::Controller => "controller".into(),
                };
                let out = if removed.is_empty() { String::new() } else { format!("：移出 {}", ids(removed)) };
                match isr.is_empty() {
                    true => format!("{} 的 ISR 已为空{out}，由 {by} 决定", partition(p)),
                    false => format!("{} 的 ISR 缩小为 {}{out}，由 {by} 决定", partition(p), ids(isr)),
                }
            }
            Fact::IsrExpanded { partition: p, added, isr, .. } if added.is_empty() => {
                format!("{} 的 ISR 扩大为 {}", partition(p), ids(isr))
            }
            Fact::IsrExpanded { partition: p, added, isr, .. } => {
                format!("{} 的 ISR 扩大为 {}：{} 已追上", partition(p), ids(isr), ids(added))
            }
            Fact::ElrChanged { partition: p, elr, last_known_leader } => {
                let elr = if elr.is_empty() { "空".to_owned() } else { ids(elr) };
                let last = last_known_leader.map_or_else(String::new, |b| format!("，最后已知的领导者 {b}"));
                format!("{} 的 ELR：{elr}{last}", partition(p))
            }
            Fact::IsrChangeRefused { partition: p, error } => format!("{} 的 ISR 变更被拒绝：{error}", partition(p)),
            Fact::HighWatermarkAdvanced { partition: p, broker, from, to } => {
                format!("broker {broker} 上 {} 的高水位从 {from} 前进到 {to}", partition(p))
            }
            Fact::HighWatermarkStalled { partition: p, broker, at, waits_for } if waits_for.is_empty() => {
                format!("broker {broker} 上 {} 的高水位停在 {at}", partition(p))
            }
            Fact::HighWatermarkStalled { partition: p, at, waits_for, .. } => {
                format!("{} 的高水位停在 {at}：broker {} 没有继续拉取", partition(p), ids(waits_for))
            }
            Fact::Truncated { partition: p, broker, from, to } => {
                format!("broker {broker} 把 {} 从 {from} 截断到 {to}", partition(p))
            }
            Fact::BecameLeader { partition: p, broker, epoch } => {
                format!("broker {broker} 成为 {} 的领导者，epoch {epoch}", partition(p))
            }
            Fact::BecameFollower { partition: p, broker, leader, epoch } => {
                format!("broker {broker} 跟随 broker {leader} 复制 {}，epoch {epoch}", partition(p))
            }
            Fact::Appended { partition: p, broker, first, last } => {
                format!("broker {broker} 追加 {} 位移 {}", partition(p), span(*first, *last))
            }
            Fact::Acked { producer, partition: p, first, last, by } => {
                let by = match by {
                    AckedBy::Nobody => "acks=0：无人应答",
                    AckedBy::LeaderAlone => "acks=1：只有领导者确认",
                    AckedBy::WholeIsr => "acks=all：整个 ISR 都已写入",
                };
                format!("{producer} 收到确认：{} 位移 {}（{by}）", partition(p), span(*first, *last))
            }
            Fact::Refused { producer, partition: p, error } => {
                format!("{} 对 {} 的写入被拒绝：{error}", named(producer), partition(p))
            }
            Fact::ProduceTimedOut { producer, partition: p, count } => {
                let who = named(producer);
                format!("{who} 放弃 {} 的 {count} 条记录：delivery.timeout.ms 已到", partition(p))
            }
            Fact::Retried { producer, partition: p, error } => format!("{producer} 因 {error} 重试 {}", partition(p)),
            Fact::AckedLost { partition: p, first, last } => {
                format!("已确认却丢失：{} 位移 {}", partition(p), span(*first, *last))
            }
            Fact::Duplicated { partition: p, first, last } => {
                format!("重复写入：{} 位移 {}", partition(p), span(*first, *last))
            }
            Fact::Delivered { member, partition: p, first, last } => {
                format!("{member} 读取 {} 位移 {}", partition(p), span(*first, *last))
            }
            Fact::CoordinatorFound { group, broker, partition: p } => {
                format!("broker {broker} 是消费者组 {group} 的 coordinator：它是 __consumer_offsets-{p} 的领导者")
            }
            Fact::CoordinatorLost { group, broker: Some(b), partition: p } => {
                format!("消费者组 {group} 失去 coordinator，即 broker {b}（__consumer_offsets-{p}）")
            }
            Fact::CoordinatorLost { group, broker: None, partition: p } => {
                format!("消费者组 {group} 失去 coordinator（__consumer_offsets-{p}）")
            }
            Fact::CoordinatorUnavailable { group, partition: p, error } => {
                format!("消费者组 {group} 找不到 coordinator：__consumer_offsets-{p} 返回 {error}")
            }
            Fact::CoordinatorLoading { group, broker, partition: p } => {
                format!("broker {broker} 正为消费者组 {group} 加载 __consumer_offsets-{p}")
            }
            Fact::CoordinatorLoaded { broker, partition: p } => {
                format!("broker {broker} 已加载 __consumer_offsets-{p}")
            }
            Fact::MemberJoined { group, member } => format!("{member} 加入消费者组 {group}"),
            Fact::MemberLeft { group, member } => format!("{member} 离开消费者组 {group}"),
            Fact::MemberExpired { group, member } => format!("{member} 会话超时，被移出消费者组 {group}"),
            Fact::Rebalancing { group, generation } => format!("消费者组 {group} 再均衡，原 generation {generation}"),
            Fact::GroupStable { group, generation, members } => {
                format!("消费者组 {group} 已稳定：generation {generation}，{members} 个成员")
            }
            Fact::OffsetsCommitted { group, partition: p, offset, .. } => {
                format!("消费者组 {group} 提交 {} 的位移 {offset}", partition(p))
            }
            Fact::CommitFailed { group, member, error } => format!("消费者组 {group} 的 {member} 无法提交：{error}"),
            Fact::PositionReset { member, partition: p, from: None, to } => {
                format!("{member} 在 {} 没有位置，从 {to} 开始", partition(p))
            }
            Fact::PositionReset { member, partition: p, from: Some(from), to } => {
                let between = match from.cmp(to) {
                    Ordering::Less => format!("其间的 {} 个位移不会被读取", to - from),
                    Ordering::Equal => "位置不变".to_owned(),
                    Ordering::Greater => format!("后退 {} 个位移", from - to),
                };
                format!("{member} 在 {} 的位置从 {from} 重置为 {to}：{between}", partition(p))
            }
            Fact::MemberStopped { member, error, client, .. } => {
                format!("{member} 什么也读不到：client {client} 在 poll 中等待，{error}")
            }
            Fact::MemberReadsOn { member, .. } => format!("{member} 在没有 coordinator 的情况下继续读取"),
            Fact::ClientStarted { client } => format!("{} 启动", self.node(client)),
            Fact::ClientClosed { client } => format!("{} 关闭", self.node(client)),
            Fact::ClientError { client, error } => format!("{}：{error}", self.node(client)),
            Fact::TopicCreated { topic, partitions, replication_factor, by } => {
                let by = match by {
                    CreatedBy::Admin => "由 CreateTopics 请求",
                    CreatedBy::Metadata => "因客户端请求其元数据",
                    CreatedBy::FindCoordinator => "因有人查找 coordinator",
                };
                format!("创建 topic {topic}（{by}）：{partitions} 个分区，副本数 {replication_factor}")
            }
            Fact::TopicDeleted { topic } => format!("topic {topic} 已删除"),
            Fact::PartitionsAdded { topic, total } => format!("topic {topic} 现有 {total} 个分区"),
            Fact::ConfigChanged { target, key, value } if value.is_empty() => {
                format!("{}：{key} 恢复默认", self.target(target))
            }
            Fact::ConfigChanged { target, key, value } => format!("{}：{key}={value}", self.target(target)),
            Fact::Asked(asked) => self.asked(asked),
            Fact::WaitBegan { what, since_us } => format!("自 {} 起：{}", moment(*since_us), self.waits_for(what)),
            Fact::WaitEnded { what, after_us, count } => {
                let over = format!("{} 后结束：{}", duration(*after_us), self.waits_for(what));
                if *count < 2 { over } else { format!("{over}（{count} 条记录或次尝试）") }
            }
            Fact::WithoutEffect { action } => format!("{action} 没有改变任何东西：原本就是如此"),
            Fact::ActionRefused { action, reason } => format!("{action} 被拒绝：{}", self.reason(reason)),
            Fact::HasReplicas { partition: p, replicas } if replicas.is_empty() => {
                format!("{} 没有副本", partition(p))
            }
            Fact::HasReplicas { partition: p, replicas } => {
                format!("{} 的副本在 broker {} 上", partition(p), ids(replicas))
            }
            Fact::OnlyReplicaOn { partition: p, broker } => {
                format!("{} 只有一个副本，在 broker {broker} 上", partition(p))
            }
            Fact::CreatedWhileAlone { topic, broker, replication_factor } => {
                format!("{topic} 创建时只有 broker {broker} 在线：副本数永远是 {replication_factor}")
            }
            Fact::SettingWas { target, key, value } if value.is_empty() => {
                format!("{}：{key} 当时为默认值", self.target(target))
            }
            Fact::SettingWas { target, key, value } => format!("{}：{key} 当时为 {value}", self.target(target)),
            Fact::ClientVersionWaits { client, long_poll: true } => {
                format!("client {client} 的 poll(long) 会无限期等待 coordinator")
            }
            Fact::ClientVersionWaits { client, long_poll: false } => {
                format!("client {client} 在不知道 coordinator 时 poll 读不到任何数据")
            }
            Fact::GroupHashesTo { group, partition: p } => format!("组名 {group} 哈希到 __consumer_offsets-{p}"),
            Fact::BrokerIsDown { broker } => format!("broker {broker} 已宕机"),
            Fact::NotInIsr { partition: p, broker } => format!("broker {broker} 不在 {} 的 ISR 中", partition(p)),
            Fact::RunBegan => "运行开始".into(),
        }
    }

    fn verdict(&self, v: &Verdict) -> String {
        match v {
            Verdict::EveryConsumerStopped => "所有消费者都停止消费".into(),
            Verdict::GroupStopped { group } => format!("消费者组 {group} 停止消费"),
            Verdict::GroupWithoutCommits { group } => format!("消费者组 {group} 只读到一部分，且无法提交"),
            Verdict::PartitionsUnread { group, .. } => format!("消费者组 {group} 有分区无人读取"),
            Verdict::NoActiveController => "没有活动 controller：什么也无法改变".into(),
            Verdict::PartitionsOffline { count, topic } => format!("{topic} 有 {count} 个分区没有领导者"),
            Verdict::AckedLost { count, at } => format!("丢失 {count} 条已确认的记录：{}", self.lost_at(at)),
            Verdict::WritesRefused { error, .. } => format!("写入被拒绝：{error}"),
            Verdict::WritesStalled { producer } => format!("{producer} 的写入停住了"),
            Verdict::DeliveredTwice { count } => format!("{count} 条记录送达两次"),
            Verdict::OutOfOrder { count } => format!("{count} 条记录乱序"),
            Verdict::AtRisk { count } => format!("{count} 条已确认的记录尚不安全"),
            Verdict::EveryPromiseKept => "到目前为止，所有承诺都兑现了".into(),
        }
    }

    fn cause(&self, c: &Cause) -> String {
        match c {
            Cause::OffsetsPartitionOneReplica { group, partition: p, broker } => {
                format!(
                    "消费者组 {group} 没有 coordinator：__consumer_offsets-{p} 只有一个副本，在 broker {broker} 上。"
                )
            }
            Cause::OffsetsPartitionNoLeader { group, partition: p } => {
                format!("消费者组 {group} 没有 coordinator：__consumer_offsets-{p} 没有领导者。")
            }
            Cause::AckedByLeaderAlone { partition: p, first, last, broker } => {
                format!("{} 位移 {}：只有 broker {broker} 确认过（acks=1）。", partition(p), span(*first, *last))
            }
            Cause::UncleanElection { partition: p, broker } => {
                format!("broker {broker} 不在 ISR 中，却当选 {} 的领导者。", partition(p))
            }
            Cause::IsrBelowMin { partition: p, isr, min } => {
                format!("{} 的 ISR 有 {isr} 个副本，而 min.insync.replicas 为 {min}。", partition(p))
            }
            Cause::NoLeader { partition: p, last: Some(b) } => {
                format!("{} 没有领导者，上一任是 broker {b}。", partition(p))
            }
            Cause::NoLeader { partition: p, last: None } => format!("{} 没有领导者。", partition(p)),
            Cause::QuorumLost { alive, voters } => {
                format!("{voters} 个 controller 中只有 {alive} 个彼此可达，需要多数。")
            }
            Cause::FencingPending { broker, in_us } => {
                format!("broker {broker} 没有心跳，{}被隔离。", after(*in_us))
            }
            Cause::RetriedWithoutIdempotence { producer } => {
                format!("{producer} 在没有 enable.idempotence 的情况下重试。")
            }
            Cause::NoOffsetsTopic { group, wanted, brokers } if wanted > brokers => {
                format!(
                    "消费者组 {group} 没有 coordinator：__consumer_offsets 需要 {wanted} 个副本\
                     （offsets.topic.replication.factor），只有 {brokers} 个 broker 已注册。"
                )
            }
            Cause::NoOffsetsTopic { group, .. } => {
                format!("消费者组 {group} 没有 coordinator：__consumer_offsets 尚不存在。")
            }
            Cause::CoordinatorLoads { group, partition: p, broker } => {
                format!("broker {broker} 仍在为消费者组 {group} 加载 __consumer_offsets-{p}。")
            }
            Cause::CoordinatorNotFound { group, partition: p, broker } => {
                format!("broker {broker} 领导 __consumer_offsets-{p}；消费者组 {group} 的成员尚未找到它。")
            }
            Cause::MemberFrozen { member } => format!("成员 {member} 的进程已暂停：既不读取，也不让出分区。"),
            Cause::PositionWentBack { member, partition: p, from, to } => {
                format!("{member} 在 {} 中的位置从 {from} 退回到 {to}。", partition(p))
            }
            Cause::LeaderSilent { producer, broker } => format!("{producer} 收不到 broker {broker} 的任何应答。"),
            Cause::WaitsForFollowers { partition: p, broker, waits_for } => {
                format!("broker {broker} 等待 broker {} 拉取 {}。", ids(waits_for), partition(p))
            }
            Cause::Answered { producer, error } => format!("{producer} 得到的最后应答是 {error}。"),
            Cause::Unanswered { producer } => format!("{producer} 的请求尚无应答。"),
            Cause::Rebalanced { group } if group.is_empty() => "有消费者组在位置提交之前发生了再均衡。".into(),
            Cause::Rebalanced { group } => format!("消费者组 {group} 在提交位置之前发生了再均衡。"),
        }
    }

    fn cure(&self, c: &Cure) -> String {
        match c {
            Cure::OffsetsReplicationFactor { to } => format!("试试 offsets 副本数 {to}"),
            Cure::Acks { to, .. } => format!("试试 acks={to}"),
            Cure::MinInsyncReplicas { to, .. } => format!("试试 min.insync.replicas={to}"),
            Cure::ReplicationFactor { to, .. } => format!("试试副本数 {to}"),
            Cure::UncleanElectionOff { .. } => "试试关闭 unclean 选举".into(),
            Cure::Idempotence { .. } => "试试打开幂等".into(),
            Cure::Start { node } => format!("启动 {}", self.node(node)),
            Cure::Resume { node } => format!("恢复运行 {}", self.node(node)),
            Cure::Heal { node } => format!("恢复 {} 的连接", self.node(node)),
            Cure::ClientVersion { to, .. } => format!("试试 client {to}"),
        }
    }

    fn promise(&self, p: Promise) -> &'static str {
        match p {
            Promise::ProducersCanWrite => "生产者可以写入",
            Promise::ConsumersGoOn => "消费者继续工作",
            Promise::NothingAckedIsLost => "已确认的不会丢",
        }
    }
    fn answer(&self, a: &Answer) -> String {
        let because = |w: &Weakness| match w {
            Weakness::OffsetsReplicationFactor(n) => format!("offsets 副本数 {n}"),
            Weakness::ReplicationFactor(n) => format!("副本数 {n}"),
            Weakness::MinInsyncReplicas { min, left } => format!("min ISR {min}，只剩 {left}"),
            Weakness::Acks(a) => format!("acks={a}"),
            Weakness::UncleanElection => "unclean 选举".into(),
            Weakness::Controllers(n) => format!("{n} 个 controller"),
            Weakness::AlreadyDown => "已有 broker 宕机".into(),
        };
        match a {
            Answer::Yes => "是".into(),
            Answer::No { because: w } => format!("否：{}", because(w)),
            Answer::Depends { because: w } => format!("不一定：{}", because(w)),
        }
    }

    fn fate(&self, s: &LedgerSquare) -> String {
        let fate = self.fate_of(s.fate);
        let delivered = match self.delivery(s.delivered) {
            "" => String::new(),
            delivered => format!("，{delivered}"),
        };
        let place =
            s.offset.map_or_else(|| partition(&s.partition), |o| format!("{} 位移 {o}", partition(&s.partition)));
        format!("记录 {}：{place}，{fate}{delivered}", s.number)
    }

    fn action(&self, a: NodeAction) -> &'static str {
        match a {
            NodeAction::Kill => "杀掉",
            NodeAction::Stop => "正常停止",
            NodeAction::Restart => "重启",
            NodeAction::Start => "启动",
            NodeAction::Pause => "暂停（长 GC）",
            NodeAction::Resume => "恢复运行",
            NodeAction::CutFromBrokers => "断开与 broker 的连接",
            NodeAction::CutFromControllers => "断开与 controller 的连接",
            NodeAction::CutFromClients => "断开与客户端的连接",
            NodeAction::CutFromAll => "断开所有连接",
            NodeAction::Heal => "恢复它的连接",
            NodeAction::SlowLink => "放慢它的链路",
            NodeAction::LossyLink => "丢失它的部分消息",
            NodeAction::RestoreLink => "还原它的链路",
        }
    }
    fn actions_of(&self, n: &NodeRef) -> String {
        format!("{} 的操作", self.node(n))
    }

    fn process(&self, p: ProcessState) -> String {
        match p {
            ProcessState::NotStarted => "未启动".into(),
            ProcessState::Running => "运行中".into(),
            ProcessState::Stopping => "正在停止".into(),
            ProcessState::Paused { since_us } => format!("暂停于 {}", unbroken(moment(since_us))),
            ProcessState::Down { since_us, clean: false } => format!("宕机于 {}", unbroken(moment(since_us))),
            ProcessState::Down { since_us, clean: true } => format!("停止于 {}", unbroken(moment(since_us))),
        }
    }
    fn broker_state(&self, b: &BrokerView) -> String {
        let state = match (b.process, &b.phase) {
            (ProcessState::Running | ProcessState::Stopping, Some(phase)) => match phase {
                BrokerPhase::Registering { refused: None } => "启动中：请求注册".into(),
                BrokerPhase::Registering { refused: Some(error) } => format!("注册被拒绝：{error}"),
                BrokerPhase::CatchingUp => "启动中：追上元数据前被隔离".into(),
                BrokerPhase::HandingOver { leads: 0 } => "受控关闭中".into(),
                BrokerPhase::HandingOver { leads } => format!("受控关闭中：仍领导 {leads} 个分区"),
                BrokerPhase::ShuttingDown => "正在关闭".into(),
                BrokerPhase::AtWork => match (b.standing, b.broker_epoch) {
                    (BrokerStanding::Unregistered, _) => "未注册".into(),
                    (BrokerStanding::Fenced { .. }, _) => "被隔离".into(),
                    (BrokerStanding::ControlledShutdown, _) => "受控关闭中".into(),
                    (BrokerStanding::Active, Some(e)) => format!("epoch {e}"),
                    (BrokerStanding::Active, None) => self.process(b.process),
                },
            },
            (p, _) => self.process(p),
        };
        if b.restarting { format!("{state}，随后重启") } else { state }
    }
    fn last_led(&self, broker: u32) -> String {
        format!("最后的领导者 {broker}")
    }
    fn quorum_role(&self, r: QuorumRole) -> &'static str {
        match r {
            QuorumRole::Active => "活动",
            QuorumRole::Leader => "领导者",
            QuorumRole::Follower => "跟随者",
            QuorumRole::Candidate => "候选者",
            QuorumRole::Prospective => "预备候选",
            QuorumRole::Voted => "已投票",
            QuorumRole::Unattached => "未归属",
            QuorumRole::Resigned => "已卸任",
        }
    }
    fn controller_state(&self, c: &ControllerView) -> String {
        match (c.process, c.role) {
            (ProcessState::Running, QuorumRole::Active) => format!("活动 · ep {}", c.quorum_epoch),
            (ProcessState::Running, r) => self.quorum_role(r).into(),
            (p, _) => self.process(p),
        }
    }
    fn role(&self, r: ReplicaRole) -> &'static str {
        match r {
            ReplicaRole::Leader => "领导者",
            ReplicaRole::InSync => "同步",
            ReplicaRole::OutOfSync => "未同步",
            ReplicaRole::Offline => "离线",
            ReplicaRole::StaleLeader => "过期领导者",
        }
    }
    fn rack(&self, r: &str) -> String {
        format!("机架 {r}")
    }
    fn log_end(&self, o: u64) -> String {
        format!("LEO {o}")
    }
    fn replica(&self, r: &ReplicaView, broker: u32) -> String {
        let lost = r.cells.iter().filter(|c| **c == RecordCell::AckedLost).count();
        let risk = r.cells.iter().filter(|c| **c == RecordCell::NotSafeAcked).count();
        let mut s = format!(
            "broker {broker} 上的 {}：{}，LEO {}，高水位 {}",
            partition(&r.partition),
            self.role(r.role),
            r.log_end_offset,
            r.high_watermark
        );
        if r.eligible {
            s += "，在 ELR 中，可以当选";
        }
        if risk > 0 {
            s += &format!("，{risk} 条已确认但尚不安全");
        }
        if lost > 0 {
            s += &format!("，{lost} 条已确认却丢失");
        }
        s
    }
    fn column(&self, topic: &str, p: &PartitionView) -> String {
        let leader = p.leader.map_or_else(|| "没有领导者".into(), |l| format!("领导者 {l}"));
        let health = match p.isr_health {
            IsrHealth::Full => "完整",
            IsrHealth::Reduced => "已缩小",
            IsrHealth::BelowMin => "低于 min.insync.replicas",
            IsrHealth::Offline => "离线",
        };
        let mut s = format!(
            "{topic}-{}：{leader}，leader epoch {}，ISR {}（{health}），高水位 {}",
            p.partition,
            p.leader_epoch,
            if p.isr.is_empty() { self.label(Label::TextNone).into() } else { ids(&p.isr) },
            p.high_watermark
        );
        if !p.elr.is_empty() {
            s += &format!("，ELR {}", ids(&p.elr));
        }
        if let Some(last) = p.last_known_leader {
            s += &format!("，{}", self.last_led(last));
        }
        s
    }
    fn strip(&self, s: &InternalStrip) -> String {
        match (s.squares.len(), s.nowhere_else, s.leaderless) {
            (0, _, _) => self.label(Label::NoInternal).into(),
            (n, only, 0) if only as usize == n => format!("{n} 个分区，别处没有副本：副本数 1"),
            (n, only, _) if only as usize == n => format!("全部 {n} 个分区都只在这里：副本数 1"),
            (n, _, 0) => format!("{n} 个分区"),
            (n, _, gone) => format!("{n} 个分区，其中 {gone} 个没有领导者"),
        }
    }
    fn strip_short(&self, s: &InternalStrip, broker: u32) -> String {
        match s.squares.len() {
            n if n > 0 && s.nowhere_else as usize == n => format!("{n} 个分区都只在 broker {broker}"),
            _ => self.strip(s),
        }
    }
    fn square(&self, topic: &str, s: &InternalSquare) -> String {
        format!("{topic}-{}：{}", s.partition, self.role(s.role))
    }

    fn producer_now(&self, p: &ProducerNow) -> String {
        match p {
            ProducerNow::NotStarted => "未启动".into(),
            ProducerNow::Closed => "已关闭".into(),
            ProducerNow::Idle => "空闲".into(),
            ProducerNow::Sending => "发送中".into(),
            ProducerNow::AwaitingAcks { oldest_us: 0 } => "等待应答".into(),
            ProducerNow::AwaitingAcks { oldest_us } => format!("等待应答，已 {}", duration(*oldest_us)),
            ProducerNow::Retrying { error, next_in_us, .. } => format!("{}重试：{error}", after(*next_in_us)),
            ProducerNow::NoLeader { error, partition: p } => format!("{} 没有领导者：{error}", partition(p)),
            ProducerNow::Failing { error } => format!("放弃：{error}"),
            ProducerNow::Paused => "已暂停".into(),
        }
    }
    fn producer_counts(&self, p: &ProducerView) -> String {
        format!("已确认 {}", p.acked)
    }
    fn lost_of_them(&self, n: u64, at: &[Stretch]) -> String {
        format!("其中丢失 {n}：{}", self.lost_at(at))
    }
    fn lost_at(&self, at: &[Stretch]) -> String {
        let named =
            at.iter().take(NAMED).map(|s| format!("{} 位移 {}", partition(&s.partition), span(s.first, s.last)));
        let named = named.collect::<Vec<_>>().join("、");
        match at.len().saturating_sub(NAMED) {
            0 => named,
            more => format!("{named}，{}", self.and_more(more)),
        }
    }
    fn group_now(&self, g: &GroupView) -> String {
        match &g.now {
            GroupNow::NoMembers => "没有成员".into(),
            GroupNow::Reading => format!("读取中，积压 {}", g.lag),
            GroupNow::Rebalancing => "再均衡中".into(),
            GroupNow::Stopped { error } => format!("停止消费：{error}"),
            GroupNow::ReadsWithoutCoordinator { error, partitions_read, partitions_still } => {
                format!("读 {partitions_read} 个分区，{partitions_still} 个停住：{error}")
            }
            GroupNow::NotPolling => format!("无人 poll，积压 {}", g.lag),
            GroupNow::CaughtUp => "已追上".into(),
            GroupNow::Starting => "启动中".into(),
        }
    }
    fn group_state(&self, s: GroupState) -> &'static str {
        match s {
            GroupState::Unknown => "状态未知",
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
            Coordinator::NoTopic => format!("→ 分区 {p}，尚未创建"),
            Coordinator::Missing { last: Some(b), down: true } => format!("→ 分区 {p} → broker {b}（宕机）"),
            Coordinator::Missing { last: Some(b), down: false } => {
                format!("→ 分区 {p} → 没有领导者（原为 broker {b}）")
            }
            Coordinator::Missing { last: None, .. } => format!("→ 分区 {p} → 没有领导者"),
            Coordinator::Loading { broker } => format!("→ 分区 {p} → broker {broker}（加载中）"),
            Coordinator::Ready { broker } => format!("→ 分区 {p} → broker {broker}"),
        }
    }
    fn member_now(&self, m: &MemberNow) -> String {
        match m {
            MemberNow::NotStarted => "未启动".into(),
            MemberNow::Closed => "已关闭".into(),
            MemberNow::FindingCoordinator { error: Some(e) } => format!("寻找 coordinator：{e}"),
            MemberNow::FindingCoordinator { error: None } => "寻找 coordinator".into(),
            MemberNow::Joining => "加入中".into(),
            MemberNow::Syncing => "等待分配".into(),
            MemberNow::Reading => "读取中".into(),
            MemberNow::CaughtUp => "已追上".into(),
            MemberNow::ReadingUncommitted { error } => format!("继续读取，无法提交：{error}"),
            MemberNow::Stopped { error } => format!("停止消费：{error}"),
            MemberNow::Paused => "不再 poll".into(),
            MemberNow::Failing { error } => format!("失败：{error}"),
        }
    }
    fn waiting(&self, w: &Waiting) -> String {
        match w {
            Waiting::Fencing { broker } => format!("broker {broker} 的会话到期"),
            Waiting::QuorumElection { controller } => format!("controller {controller} 等待选举"),
            Waiting::MemberTimeout { group, member } => format!("消费者组 {group} 中 {member} 的会话到期"),
            Waiting::RebalanceEnd { group } => format!("消费者组 {group} 的再均衡"),
            Waiting::ClientRetry { client } => format!("{client} 重试"),
            Waiting::ScriptEntry => "脚本的下一步".into(),
        }
    }
    fn broker_briefly(&self, b: &BrokerView) -> String {
        let ends = if b.restarting { "正在重启" } else { "正在关闭" };
        match &b.phase {
            Some(BrokerPhase::HandingOver { leads: 0 } | BrokerPhase::ShuttingDown) => ends.into(),
            Some(BrokerPhase::HandingOver { leads }) => format!("{ends}：仍领导 {leads} 个"),
            Some(BrokerPhase::Registering { .. } | BrokerPhase::CatchingUp | BrokerPhase::AtWork) | None => {
                self.broker_state(b)
            }
        }
    }
    fn sentences(&self, all: &[String]) -> String {
        all.join("。")
    }
    fn titled(&self, title: &str, what: &str) -> String {
        format!("{title}：{what}")
    }
    fn clauses(&self, all: &[String]) -> String {
        all.join("；")
    }
    fn enumerated(&self, all: &[String]) -> String {
        all.join("，")
    }
    fn fenced_in(&self, in_us: Micros) -> String {
        format!("{}隔离", after(in_us).trim_end())
    }
    fn countdown(&self, w: &Waiting, in_us: Micros) -> String {
        match w {
            Waiting::Fencing { broker } => format!("{}broker {broker} 被隔离", after(in_us)),
            Waiting::QuorumElection { .. }
            | Waiting::MemberTimeout { .. }
            | Waiting::RebalanceEnd { .. }
            | Waiting::ClientRetry { .. }
            | Waiting::ScriptEntry => format!("{}：{}", after(in_us).trim_end(), self.waiting(w)),
        }
    }
    fn doing(&self, d: &Doing) -> String {
        let from = self.node(&d.from);
        let to = nodes(self, &d.to);
        match &d.did {
            Did::Refuses { api, error } => format!("{from} 对 {to} 的 {api} 应答：{error}"),
            Did::TellsMetadata => format!("{from} 把决定告诉 {to}"),
            Did::AsksForVotes => format!("{from} 请 {to} 投票"),
            Did::ProposesIsr => format!("{from} 请 {to} 修改 ISR"),
            Did::Joins => format!("{from} 在 {to} 加入组"),
            Did::SendsRecords => format!("{from} 向 {to} 发送记录"),
            Did::Acknowledges => format!("{from} 确认 {to} 的记录"),
            Did::HandsRecords => format!("{from} 把记录交给 {to}"),
        }
    }
    fn ended(&self, e: Ended) -> Cow<'static, str> {
        match e {
            Ended::NothingNew => "之后没有新变化。可以注入故障，或继续播放。".into(),
            Ended::Script => "脚本到此结束，可以继续播放。".into(),
            Ended::Limit => "此次运行无法再继续。".into(),
            Ended::Needs(limit) => {
                let (most, what) = match limit {
                    Limit::EventsOfOneInstant(most) => (most, "个同一时刻的事件"),
                    Limit::Events(most) => (most, "个事件"),
                    Limit::RecordBytes(most) => (most, "字节的记录"),
                    Limit::Steps(most) => (most, "步"),
                };
                format!("此次运行需要超过 {most} {what}，因此到此结束；全过程仍可查看。").into()
            }
        }
    }
    fn reached(&self, thousandths: u64) -> String {
        format!("已按此设备的最快速度播放：{}。", measured(thousandths))
    }
    fn on_the_way(&self, to_us: Micros) -> String {
        format!("正在运行到 {}", moment(to_us))
    }
    fn flight(&self, f: &Flight) -> String {
        let kind = if f.response { "应答" } else { "请求" };
        let about = f.about.as_ref().map(|p| format!("，{}", partition(p))).unwrap_or_default();
        let error = f.error.as_ref().map(|e| format!("，{e}")).unwrap_or_default();
        let doomed = if f.doomed { "，将会丢失" } else { "" };
        format!("{} {kind}，从 {} 到 {}{about}{error}{doomed}", f.api, self.node(&f.from), self.node(&f.to))
    }
    fn sends(&self, m: &MessageDetail) -> String {
        let does = if m.response { "应答" } else { "请求" };
        format!("{} {does} {}：{} v{}", self.node(&m.from), self.node(&m.to), m.name, m.version)
    }
    fn carries(&self, c: &Carried) -> String {
        let (of, value) = (&c.of, &c.value);
        match c.says {
            Says::Records => format!("{of} 位移 {value}"),
            Says::Sent => format!("{of} 的 {value} 条记录"),
            Says::Written => format!("{of} 从位移 {value} 起写入"),
            Says::From => format!("{of} 从位移 {value} 起"),
            Says::HighWatermark => format!("{of} 的高水位仍是 {value}"),
            Says::NewHighWatermark => format!("{of} 的高水位 {value}"),
            Says::Field => format!("{of} {value}"),
            Says::More => format!("另有 {value} 项"),
        }
    }
    fn in_flight(&self, place: usize, of: usize) -> String {
        format!("传输中 {place}/{of}")
    }
    fn served_by(&self, server: Server) -> &'static str {
        match server {
            Server::Partition => "由该分区的领导者处理",
            Server::Group => "由该消费者组的协调者处理",
            Server::Broker => "任意 broker 都可处理",
            Server::Cluster => "由活动 controller 决定，任意 broker 都会转交",
            Server::Controller => "由活动 controller 为 broker 处理",
            Server::Quorum => "由元数据 quorum 的投票者处理",
        }
    }
    fn not_yet(&self, left_us: Micros) -> String {
        format!("尚未发生：{}后到达", duration(left_us))
    }
    fn held_as(&self, name: &str) -> String {
        format!("已扣住（{name}），放行后才会到达。")
    }
    fn was(&self, known: &str) -> String {
        format!("原为 {known}")
    }
    fn hidden_flights(&self, n: u32) -> String {
        format!("另有 {n} 条消息在传输中")
    }

    fn setting(&self, k: &SettingKey) -> String {
        match k {
            // Kafka's own name, shortened where the panel has no room for it.
            SettingKey::Config { name: "unclean.leader.election.enable", .. } => "unclean 选举",
            SettingKey::Config { name: "enable.idempotence", .. } => "幂等",
            SettingKey::Config { name: "offsets.topic.replication.factor", .. } => "副本数",
            SettingKey::Config { name, .. } => name,
            SettingKey::Partitions { .. } => "分区数",
            SettingKey::ReplicationFactor { .. } => "副本数",
            SettingKey::Rate { .. } => "速率",
            SettingKey::Keys { .. } => "key",
            SettingKey::Members { .. } => "成员",
            SettingKey::ClientVersion { .. } => "client",
            SettingKey::Brokers => "broker",
            SettingKey::Controllers => "controller",
        }
        .into()
    }
    fn remark(&self, n: &Note) -> String {
        match n {
            Note::DefaultTaken { topic, setting, value } => {
                format!("topic {topic} 未指定，取 {setting} 的值：{value}")
            }
            Note::NotModelled { path, name } => format!("{name} 在本模拟中不起作用（{path}）"),
            Note::TopicRefused { topic, sentence } => format!("Kafka 会拒绝创建 topic {topic}：{sentence}"),
            Note::NoOffsetsTopic { wants, brokers } => format!(
                "offsets topic 需要 {wants} 个副本，而 broker 只有 {brokers} 个：消费者组找不到 coordinator，\
                 消费者什么也读不到。请把 offsets.topic.replication.factor 设为不超过 {brokers}。"
            ),
        }
    }
    fn settings_of(&self, s: &SettingsOf) -> String {
        match s {
            SettingsOf::Topic(t) => format!("topic {t}"),
            SettingsOf::Producer(p) => format!("生产者 {p}"),
            SettingsOf::Group(g) => format!("消费者组 {g}"),
            SettingsOf::OffsetsTopic => "__consumer_offsets".into(),
            SettingsOf::Cluster => "集群".into(),
        }
    }
    fn in_force(&self, value: &str, default: &str) -> String {
        if value == default {
            format!("当前值：{value}（默认）")
        } else {
            format!("当前值：{value}，默认：{default}")
        }
    }
    fn pace(&self, p: Pace) -> String {
        match p {
            Pace::Automatic => "自动".into(),
            Pace::Fixed(s) => speed(s),
        }
    }
    fn step(&self, s: StepKind) -> &'static str {
        match s {
            StepKind::Message => "消息",
            StepKind::Event => "事件",
            StepKind::Notable => "重要变化",
        }
    }
    fn lane(&self, l: &LaneOf) -> String {
        match l {
            LaneOf::Quorum => "controller".into(),
            LaneOf::Broker(b) => format!("broker {b}"),
            LaneOf::Producer(s) | LaneOf::Group(s) => s.clone(),
        }
    }
    fn lane_state(&self, l: LaneState) -> &'static str {
        match l {
            LaneState::Good => "正常",
            LaneState::Between => "过渡",
            LaneState::Stuck => "停住",
            LaneState::Down => "宕机",
        }
    }
    fn mark(&self, m: MarkKind) -> &'static str {
        match m {
            MarkKind::Fault => "故障",
            MarkKind::Repair => "恢复",
            MarkKind::Election => "选举",
            MarkKind::IsrShrink => "ISR 缩小",
            MarkKind::IsrExpand => "ISR 扩大",
            MarkKind::Truncation => "截断",
            MarkKind::Rebalance => "再均衡",
            MarkKind::Error => "错误",
            MarkKind::Loss => "丢失",
            MarkKind::Setting => "设置",
        }
    }
    fn branch(&self, b: &BranchView) -> String {
        match (&b.name, &b.began_with, b.parent) {
            (Some(n), _, _) => n.clone(),
            (None, Some(f), _) => format!("{}：{}", moment(b.forked_at_us), self.fact(f)),
            (None, None, None) => self.label(Label::FirstRun).into(),
            (None, None, Some(_)) => format!("自 {} 起", moment(b.forked_at_us)),
        }
    }
    fn playhead(&self, at_us: Micros, end_us: Micros) -> String {
        format!("{}，共 {}", moment(at_us), moment(end_us))
    }
    fn log_kind(&self, k: LogKind) -> &'static str {
        match k {
            LogKind::Fault => "故障",
            LogKind::Controller => "controller",
            LogKind::Replication => "复制",
            LogKind::Producer => "生产者",
            LogKind::Group => "消费者组",
            LogKind::Setting => "设置",
        }
    }
    fn log_count(&self, shown: usize, total: usize) -> String {
        if shown == total { format!("共 {total} 行") } else { format!("共 {total} 行，显示最近 {shown} 行") }
    }
    fn inspect_kind(&self, k: InspectKind) -> &'static str {
        match k {
            InspectKind::Identity => "身份",
            InspectKind::Fields => "字段",
            InspectKind::Log => "日志",
            InspectKind::EpochCache => "leader epoch 缓存",
            InspectKind::Fetchers => "拉取状态",
            InspectKind::Registration => "注册",
            InspectKind::Group => "消费者组",
            InspectKind::Members => "成员",
            InspectKind::Batches => "批次",
            InspectKind::Timers => "定时器",
            InspectKind::Configs => "配置",
        }
    }
    fn inspect_value(&self, v: &InspectValue) -> String {
        match v {
            InspectValue::Number(n) => n.to_string(),
            InspectValue::Bool(b) => b.to_string(),
            InspectValue::Moment(t) => moment(*t),
            InspectValue::In(t) => after(*t).trim_end().into(),
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
            Subject::Leader(p) => format!("{} 的领导者", partition(p)),
            Subject::Isr(p) => format!("{} 的 ISR", partition(p)),
            Subject::HighWatermark(p) => format!("{} 的高水位", partition(p)),
            Subject::Replica { partition: p, broker } => format!("broker {broker} 上的 {}", partition(p)),
            Subject::Record { partition: p, broker, offset } => {
                format!("broker {broker} 上 {} 的位移 {offset}", partition(p))
            }
            Subject::Producer(n) => format!("生产者 {n}"),
            Subject::Group(n) => format!("消费者组 {n}"),
            Subject::Member(n) => format!("成员 {n}"),
            Subject::Message(m) => format!("消息 {}", m.0),
            Subject::Verdict(_) => "这一判定".into(),
            Subject::LedgerRecord(n) => format!("记录 {n}"),
            Subject::Trace(_) => "这一变化".into(),
        }
    }
    fn why_about(&self, s: &Subject) -> String {
        format!("为什么：{}", self.subject(s))
    }
    fn why_verdict(&self, v: &Verdict) -> String {
        format!("为什么：{}", self.verdict(v))
    }
    fn problem(&self, p: OpenProblem) -> &'static str {
        match p {
            OpenProblem::CutShort => "链接被截断：缺少结尾。",
            OpenProblem::Changed => "链接被改动：校验不符。",
            OpenProblem::TooLarge => "链接太大。",
            OpenProblem::NewerVersion => "链接由更新版本的 Highwater 生成。",
            OpenProblem::UnknownCodec => "链接开头的编码在这里未知。",
            OpenProblem::NotJson => "其中的内容不是正确的 JSON。",
            OpenProblem::UnknownKey => "其中有这里未知的名称。",
            OpenProblem::WrongType => "某个值的类型不对。",
            OpenProblem::OutOfRange => "某个值超出范围。",
            OpenProblem::Missing => "缺少某项内容。",
            OpenProblem::Impossible => "这样的集群不可能存在。",
            OpenProblem::Refused => "Kafka 拒绝这样的内容。",
            OpenProblem::UnknownOption => "其中有这里未知的选项。",
            OpenProblem::Repeated => "其中有选项重复出现。",
            OpenProblem::BadMoment => "无法读出时刻。",
        }
    }
    fn refused(&self, r: &Refused) -> String {
        match r {
            Refused::Kafka(e) => format!("被拒绝：{e}"),
            Refused::Limit { what, bound } => format!("{what}：不能超过 {bound}"),
            Refused::NotNow(action) => format!("现在无法执行“{}”", self.action(*action)),
            Refused::Because(reason) => self.reason(reason),
            Refused::OnTheWay => "正在运行到另一时刻：请先停止，或等待完成".to_owned(),
            Refused::Unknown(what) => {
                let what = match what {
                    Thing::Setting => "设置",
                    Thing::Group => "消费者组",
                    Thing::Node => "节点",
                    Thing::Message => "消息",
                    Thing::Moment => "时刻",
                    Thing::Run => "之前的运行",
                    Thing::Branch => "运行",
                };
                format!("没有这样的{what}")
            }
        }
    }
    fn and_more(&self, n: usize) -> String {
        format!("另有 {n} 项")
    }
    fn one_of(&self, i: usize, n: usize) -> String {
        format!("第 {i} / {n} 个")
    }
    fn earlier_records(&self, n: u64) -> String {
        format!("此前还有 {n} 条记录")
    }
    fn characters(&self, n: u32, limit: u32) -> String {
        format!("{n} / {limit} 个字符")
    }
    fn summary(&self, s: &Scene, p: &Promises) -> String {
        let up =
            s.brokers.iter().filter(|b| matches!(b.process, ProcessState::Running | ProcessState::Stopping)).count();
        let verdict = p.verdicts.first().map(|v| self.verdict(&v.verdict)).unwrap_or_default();
        let verdict = if verdict.is_empty() { verdict } else { verdict + "。" };
        format!("{}：{} 个 broker 中 {up} 个在运行。{verdict}", moment(s.at_us), s.brokers.len())
    }
    fn changes(&self, n: usize) -> String {
        format!("{n} 处变化")
    }
    fn judged(&self, right: bool, answer: &str) -> String {
        if right {
            format!("你的答案是“{answer}”：正确。")
        } else {
            format!("你的答案是“{answer}”：不是这样。")
        }
    }
    fn clients_now(&self, stopped: &[String], going_on: &[String]) -> String {
        let of = |names: &[String], words: &str| match names {
            [] => String::new(),
            names => format!("{words}：{}。", names.join("、")),
        };
        let none = if stopped.is_empty() { "没有客户端卡住。".to_owned() } else { of(stopped, "卡住") };
        format!("{none}{}", of(going_on, "正常工作"))
    }
    fn options_refused(&self, options: &[String]) -> String {
        format!("链接要求了这里不支持的选项：{}。", options.join("、"))
    }
    fn active_controller(&self, n: &NodeRef) -> String {
        format!("{}：活动", self.node(n))
    }
}

impl Chinese {
    fn fate_of(&self, fate: RecordFate) -> &'static str {
        match fate {
            RecordFate::Pending => "等待应答",
            RecordFate::Written => "已写入，尚不安全",
            RecordFate::Safe => "安全",
            RecordFate::AckedNotSafe => "已确认，尚不安全",
            RecordFate::AckedLost => "已确认，却丢失",
            RecordFate::Refused => "被拒绝",
            RecordFate::LostUnacked => "丢失，从未确认",
        }
    }
    fn delivery(&self, delivery: Delivery) -> &'static str {
        match delivery {
            Delivery::No => "",
            Delivery::Once => "已送达",
            Delivery::Twice => "送达两次",
            Delivery::OutOfOrder => "乱序送达",
        }
    }
    fn asked(&self, asked: &Asked) -> String {
        match asked {
            Asked::Restart { node } => format!("要求重启 {}", self.node(node)),
            Asked::Close { client } => format!("要求关闭 {}", self.node(client)),
            Asked::CreateTopic { topic } => format!("管理员请求创建 topic {topic}（CreateTopics）"),
            Asked::DeleteTopic { topic } => format!("管理员请求删除 topic {topic}（DeleteTopics）"),
            Asked::AddPartitions { topic, total } => {
                format!("管理员请求把 {topic} 扩到 {total} 个分区（CreatePartitions）")
            }
            Asked::DeleteRecords { partition: p, before: Some(before) } => {
                format!("管理员请求删除 {} 中位移 {before} 之前的记录（DeleteRecords）", partition(p))
            }
            Asked::DeleteRecords { partition: p, before: None } => {
                format!("管理员请求删除 {} 的全部记录（DeleteRecords）", partition(p))
            }
            Asked::SetConfig { target, key, value } if value.is_empty() => {
                format!("管理员请求恢复默认值（{}）：{key}", self.target(target))
            }
            Asked::SetConfig { target, key, value } => {
                format!("管理员请求设置（{}）：{key}={value}", self.target(target))
            }
            Asked::ElectLeader { partition: p, unclean: false } => {
                format!("管理员请求选举 {} 的首选领导者（ElectLeaders）", partition(p))
            }
            Asked::ElectLeader { partition: p, unclean: true } => {
                format!("管理员请求对 {} 进行 unclean 选举（ElectLeaders）", partition(p))
            }
            Asked::Describe { api } => format!("管理员查询 {api}"),
            Asked::Produce { client, topic, count } => {
                let to = topic.as_ref().map_or(String::new(), |topic| format!("发往 {topic} 的 "));
                format!("交给 {} {to}{count} 条记录", self.node(client))
            }
            Asked::PausePolling { member, span_us } => {
                format!("{} 在 {} 内不调用 poll", self.node(member), duration(*span_us))
            }
            Asked::Seek { member, partition: p, to } => {
                format!("{} 在 {} 中跳到 {to}（seek）", self.node(member), partition(p))
            }
            Asked::Commit { member } => format!("要求 {} 提交位移", self.node(member)),
        }
    }
    fn reason(&self, reason: &Reason) -> String {
        match reason {
            Reason::Kafka { error, exception, message: None } => format!("{error}（{exception}）"),
            Reason::Kafka { error, exception, message: Some(said) } => format!("{error}（{exception}：{said}）"),
            Reason::NoSuchNode { node } => format!("没有 {}", self.node(node)),
            Reason::NoSuchClient { name } => format!("没有启动过名为 {name} 的客户端"),
            Reason::NotStarted { name } => format!("客户端 {name} 尚未启动"),
            Reason::NameTaken { name } => format!("客户端 {name} 已在运行"),
            Reason::NoSuchRole { role } => format!("现在没有谁是 {role}"),
            Reason::WrongState { node, needed } => {
                let state = match needed {
                    Needed::Running => "没有运行",
                    Needed::NotRunning => "正在运行",
                    Needed::RunningAndNotPaused => "没有运行，或已暂停",
                    Needed::Paused => "没有暂停",
                    Needed::Producer => "不是生产者",
                };
                format!("{} {state}", self.node(node))
            }
            Reason::HoldTaken { name } => format!("已有消息以名称 {name} 被扣留"),
            Reason::NothingHeld { name } => format!("没有以名称 {name} 扣留的消息"),
            Reason::Limit { what, most } => format!("{what}：不能超过 {most}"),
            Reason::Config { exception, key, value, expected } => format!("{exception}：{key}={value}：{expected}"),
            Reason::SetUp { what } => format!("设置有误：{what}"),
        }
    }
    fn waits_for(&self, what: &WaitFor) -> String {
        match what {
            WaitFor::Leader { partition: p } => format!("{} 没有领导者", partition(p)),
            WaitFor::MoreMembers { group } => {
                format!("消费者组 {group} 等待更多成员（group.initial.rebalance.delay.ms）")
            }
            WaitFor::Rebalance { group } => format!("消费者组 {group} 等待成员重新加入"),
            WaitFor::Coordinator { client, group } => format!("{client} 找不到消费者组 {group} 的 coordinator"),
            WaitFor::Commit { client, group } => format!("{client} 在消费者组 {group} 中无法提交"),
            WaitFor::Poll { client, group } => format!("{client} 在消费者组 {group} 中 poll 失败"),
            WaitFor::Success { client } => format!("{client} 的记录发送失败"),
            WaitFor::LivingBroker { client } => format!("{client} 所知的 broker 都不在线"),
            WaitFor::Answer { client, topic, partition: None } => format!("{client} 发往 {topic} 的记录没有应答"),
            WaitFor::Answer { client, topic, partition: Some(number) } => {
                format!("{client} 发往 {topic}-{number} 的记录没有应答")
            }
            WaitFor::Reading { group, partition: p } => {
                format!("{} 中已确认的记录尚未被消费者组 {group} 读到", partition(p))
            }
        }
    }
    fn target(&self, t: &ConfigTarget) -> String {
        match t {
            ConfigTarget::Topic(t) => format!("topic {t}"),
            ConfigTarget::Broker(b) => format!("broker {b}"),
            ConfigTarget::Cluster => "整个集群".into(),
            ConfigTarget::Client(c) => c.clone(),
        }
    }
}
