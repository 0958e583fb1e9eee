//! Sentences of both languages: complete, with their values, and Kafka's words as they are.
use crate::fixture::orders;
use highwater_page::ui::words::Lang;
use highwater_studio::view::model::*;

fn facts() -> Vec<Fact> {
    let (p, b, error) = (|| orders(0), NodeRef::Broker, || Term::from("NOT_ENOUGH_REPLICAS"));
    let (group, member, producer) = (|| "billing".to_owned(), || "b1".to_owned(), || "checkout".to_owned());
    let mut all = vec![
        Fact::Killed { node: b(1) },
        Fact::Stopped { node: b(1) },
        Fact::ControlledShutdownBegan { broker: 1 },
        Fact::Started { node: NodeRef::Controller(2) },
        Fact::Paused { node: b(1) },
        Fact::Resumed { node: b(1) },
        Fact::Registered { broker: 1, epoch: 31, clean: true },
        Fact::Registered { broker: 1, epoch: 31, clean: false },
        Fact::Fenced { broker: 1, session_us: 9_000_000 },
        Fact::Unfenced { broker: 1 },
        Fact::Cut { a: vec![b(1)], b: vec![b(2), b(3)], one_way: false },
        Fact::Cut { a: vec![b(1)], b: vec![b(2)], one_way: true },
        Fact::Healed { a: vec![b(1)], b: vec![b(2)] },
        Fact::Healed { a: vec![], b: vec![] },
        Fact::LinkChanged { a: b(1), b: b(2), latency_us: 50_000, loss_permille: 15 },
        Fact::MessageActed {
            deed: MessageDeed::Dropped,
            message: "FetchResponse".into(),
            from: Some(b(1)),
            to: Some(b(2)),
        },
        Fact::MessageActed {
            deed: MessageDeed::Delayed { by_us: 2_000_000 },
            message: "ProduceRequest".into(),
            from: None,
            to: Some(b(2)),
        },
        Fact::MessageActed { deed: MessageDeed::Held, message: "VoteRequest".into(), from: None, to: None },
        Fact::MessageActed { deed: MessageDeed::Duplicated, message: "VoteRequest".into(), from: None, to: None },
        Fact::MessageActed { deed: MessageDeed::Delivered, message: "VoteRequest".into(), from: None, to: None },
        Fact::MessageReleased { name: "h1".into() },
        Fact::QuorumElectionBegan { controller: 1, epoch: 7 },
        Fact::QuorumLeaderElected { controller: 1, epoch: 7 },
        Fact::QuorumLeaderResigned { controller: 1, epoch: 7 },
        Fact::ActiveController { controller: 1, epoch: 7 },
        Fact::PartitionOffline { partition: p(), last: Some(1) },
        Fact::PartitionOffline { partition: p(), last: None },
        Fact::IsrShrunk { partition: p(), removed: vec![1], isr: vec![2, 3], by: IsrBy::Leader(2) },
        Fact::IsrExpanded { partition: p(), added: vec![1], isr: vec![2, 3, 1], by: IsrBy::Controller },
        Fact::IsrChangeRefused { partition: p(), error: error() },
        Fact::HighWatermarkAdvanced { partition: p(), broker: 2, from: 45, to: 46 },
        Fact::HighWatermarkStalled { partition: p(), broker: 2, at: 46, waits_for: vec![3] },
        Fact::HighWatermarkStalled { partition: p(), broker: 2, at: 46, waits_for: vec![] },
        Fact::Truncated { partition: p(), broker: 1, from: 48, to: 45 },
        Fact::BecameLeader { partition: p(), broker: 2, epoch: 1 },
        Fact::BecameFollower { partition: p(), broker: 3, leader: 2, epoch: 1 },
        Fact::Appended { partition: p(), broker: 2, first: 45, last: 47 },
        Fact::Refused { producer: producer(), partition: p(), error: error() },
        Fact::ProduceTimedOut { producer: producer(), partition: p(), count: 2 },
        Fact::Retried { producer: producer(), partition: p(), error: error() },
        Fact::AckedLost { partition: p(), first: 45, last: 47 },
        Fact::Duplicated { partition: p(), first: 45, last: 45 },
        Fact::Delivered { member: member(), partition: p(), first: 1, last: 2 },
        Fact::CoordinatorFound { group: group(), broker: 1, partition: 9 },
        Fact::CoordinatorLost { group: group(), broker: Some(1), partition: 9 },
        Fact::CoordinatorLost { group: group(), broker: None, partition: 9 },
        Fact::CoordinatorUnavailable { group: group(), partition: 9, error: "COORDINATOR_NOT_AVAILABLE".into() },
        Fact::CoordinatorLoading { group: group(), broker: 2, partition: 9 },
        Fact::CoordinatorLoaded { broker: 2, partition: 9 },
        Fact::MemberJoined { group: group(), member: member() },
        Fact::MemberLeft { group: group(), member: member() },
        Fact::MemberExpired { group: group(), member: member() },
        Fact::Rebalancing { group: group(), generation: 1 },
        Fact::GroupStable { group: group(), generation: 2, members: 2 },
        Fact::OffsetsCommitted { group: group(), member: member(), partition: p(), offset: 20 },
        Fact::CommitFailed { group: group(), member: member(), error: error() },
        Fact::PositionReset { member: member(), partition: p(), from: None, to: 0 },
        Fact::PositionReset { member: member(), partition: p(), from: Some(4), to: 9 },
        Fact::PositionReset { member: member(), partition: p(), from: Some(9), to: 9 },
        Fact::PositionReset { member: member(), partition: p(), from: Some(9), to: 4 },
        Fact::ElrChanged { partition: p(), elr: vec![1], last_known_leader: None },
        Fact::ElrChanged { partition: p(), elr: vec![], last_known_leader: Some(2) },
        Fact::MemberStopped { group: group(), member: member(), error: error(), client: "2.3".into() },
        Fact::MemberReadsOn { group: group(), member: member() },
        Fact::ClientStarted { client: NodeRef::Member(member()) },
        Fact::ClientClosed { client: NodeRef::Producer(producer()) },
        Fact::TopicDeleted { topic: "orders".into() },
        Fact::PartitionsAdded { topic: "orders".into(), total: 8 },
        Fact::StopRequested { node: b(1) },
        Fact::DiskLost { node: b(1) },
        Fact::ControlledShutdownAllowed { broker: 1 },
        Fact::RegistrationRefused { broker: 1, error: error() },
        Fact::MetadataTruncated { node: NodeRef::Controller(1), from: 9, to: 5 },
        Fact::RequestUnread { node: b(1), of: NodeRef::Producer(producer()), api: "Produce".into(), records: 2 },
        Fact::ControllerRefused { controller: 1, api: "AlterPartition".into(), error: error() },
        Fact::WithoutEffect { action: "cut".into() },
        Fact::SettingWas {
            target: ConfigTarget::Cluster,
            key: "offsets.topic.replication.factor".into(),
            value: "1".into(),
        },
        Fact::HasReplicas { partition: p(), replicas: vec![1, 2, 3] },
        Fact::OnlyReplicaOn { partition: p(), broker: 1 },
        Fact::CreatedWhileAlone { topic: "__consumer_offsets".into(), broker: 1, replication_factor: 1 },
        Fact::ClientVersionWaits { client: "2.3".into(), long_poll: true },
        Fact::ClientVersionWaits { client: "2.3".into(), long_poll: false },
        Fact::GroupHashesTo { group: group(), partition: 9 },
        Fact::BrokerIsDown { broker: 1 },
        Fact::NotInIsr { partition: p(), broker: 1 },
        Fact::RunBegan,
    ];
    let hows = [
        ElectionKind::Clean,
        ElectionKind::Preferred,
        ElectionKind::Elr,
        ElectionKind::LastKnown,
        ElectionKind::Unclean,
    ];
    all.extend(hows.map(|how| Fact::LeaderElected { partition: p(), broker: 2, epoch: 1, how }));
    let creators = [CreatedBy::Admin, CreatedBy::Metadata, CreatedBy::FindCoordinator];
    all.extend(creators.map(|by| Fact::TopicCreated {
        topic: "orders".into(),
        partitions: 6,
        replication_factor: 3,
        by,
    }));
    let target = || ConfigTarget::Topic("orders".into());
    let asked = [
        Asked::Restart { node: b(1) },
        Asked::Close { client: NodeRef::Member(member()) },
        Asked::CreateTopic { topic: "orders".into() },
        Asked::DeleteTopic { topic: "orders".into() },
        Asked::AddPartitions { topic: "orders".into(), total: 8 },
        Asked::DeleteRecords { partition: p(), before: Some(5) },
        Asked::DeleteRecords { partition: p(), before: None },
        Asked::SetConfig { target: target(), key: "min.insync.replicas".into(), value: "2".into() },
        Asked::SetConfig { target: target(), key: "min.insync.replicas".into(), value: "".into() },
        Asked::ElectLeader { partition: p(), unclean: false },
        Asked::ElectLeader { partition: p(), unclean: true },
        Asked::Describe { api: "DescribeQuorum".into() },
        Asked::Produce { client: NodeRef::Producer(producer()), topic: Some("orders".into()), count: 3 },
        Asked::Produce { client: NodeRef::Producer(producer()), topic: None, count: 3 },
        Asked::PausePolling { member: NodeRef::Member(member()), span_us: 1_000_000 },
        Asked::Seek { member: NodeRef::Member(member()), partition: p(), to: 7 },
        Asked::Commit { member: NodeRef::Member(member()) },
    ];
    all.extend(asked.map(Fact::Asked));
    let wrong = |needed| Reason::WrongState { node: b(1), needed };
    let reasons = [
        Reason::Kafka { error: "TOPIC_ALREADY_EXISTS".into(), exception: "TopicExistsException".into(), message: None },
        Reason::Kafka {
            error: "TOPIC_ALREADY_EXISTS".into(),
            exception: "TopicExistsException".into(),
            message: Some("Topic 'orders' already exists.".into()),
        },
        Reason::NoSuchNode { node: b(9) },
        Reason::NoSuchClient { name: producer() },
        Reason::NotStarted { name: producer() },
        Reason::NameTaken { name: producer() },
        Reason::NoSuchRole { role: "leader-of orders/0".into() },
        wrong(Needed::Running),
        wrong(Needed::NotRunning),
        wrong(Needed::RunningAndNotPaused),
        wrong(Needed::Paused),
        wrong(Needed::Producer),
        Reason::HoldTaken { name: "h1".into() },
        Reason::NothingHeld { name: "h1".into() },
        Reason::Limit { what: "clients at a time".into(), most: 64 },
        Reason::Config {
            exception: "ConfigException".into(),
            key: "acks".into(),
            value: "7".into(),
            expected: "0, 1 or all".into(),
        },
        Reason::SetUp { what: "broker 3 is named twice".into() },
    ];
    all.extend(reasons.map(|reason| Fact::ActionRefused { action: "start".into(), reason }));
    let (client, topic) = (producer, || "orders".to_string());
    let waits = [
        WaitFor::Leader { partition: p() },
        WaitFor::MoreMembers { group: group() },
        WaitFor::Rebalance { group: group() },
        WaitFor::Coordinator { client: member(), group: group() },
        WaitFor::Commit { client: member(), group: group() },
        WaitFor::Poll { client: member(), group: group() },
        WaitFor::Success { client: client() },
        WaitFor::LivingBroker { client: client() },
        WaitFor::Answer { client: client(), topic: topic(), partition: None },
        WaitFor::Answer { client: client(), topic: topic(), partition: Some(3) },
        WaitFor::Reading { group: group(), partition: p() },
    ];
    for what in waits {
        all.push(Fact::WaitBegan { what: what.clone(), since_us: 12_000_000 });
        all.push(Fact::WaitEnded { what, after_us: 3_000_000, count: 4 });
    }
    let bys = [AckedBy::Nobody, AckedBy::LeaderAlone, AckedBy::WholeIsr];
    all.extend(bys.map(|by| Fact::Acked { producer: producer(), partition: p(), first: 45, last: 47, by }));
    all
}

fn is_chinese(s: &str) -> bool {
    s.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c))
}

#[test]
fn every_fact_is_a_sentence_of_its_own_in_each_language() {
    for lang in Lang::ALL {
        let mut all: Vec<String> = facts().iter().map(|f| lang.words().fact(f)).collect();
        assert!(all.iter().all(|s| !s.is_empty() && !s.contains("  ")), "{all:#?}");
        assert!(all.iter().all(|s| is_chinese(s) == (lang == Lang::Zh)), "{all:#?}");
        let n = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), n, "two facts sound the same");
    }
}

fn causes() -> Vec<Cause> {
    let (name, producer) = (|| "billing".to_string(), || "checkout".to_string());
    vec![
        Cause::OffsetsPartitionOneReplica { group: name(), partition: 9, broker: 1 },
        Cause::OffsetsPartitionNoLeader { group: name(), partition: 9 },
        Cause::AckedByLeaderAlone { partition: orders(0), first: 45, last: 47, broker: 1 },
        Cause::UncleanElection { partition: orders(0), broker: 1 },
        Cause::IsrBelowMin { partition: orders(0), isr: 1, min: 2 },
        Cause::NoLeader { partition: orders(0), last: Some(3) },
        Cause::NoLeader { partition: orders(0), last: None },
        Cause::QuorumLost { alive: 1, voters: 3 },
        Cause::FencingPending { broker: 1, in_us: 3_000_000 },
        Cause::RetriedWithoutIdempotence { producer: producer() },
        Cause::Rebalanced { group: name() },
        Cause::Rebalanced { group: String::new() },
        Cause::NoOffsetsTopic { group: name(), wanted: 3, brokers: 1 },
        Cause::NoOffsetsTopic { group: name(), wanted: 3, brokers: 3 },
        Cause::CoordinatorLoads { group: name(), partition: 9, broker: 2 },
        Cause::CoordinatorNotFound { group: name(), partition: 9, broker: 2 },
        Cause::MemberFrozen { member: "b1".into() },
        Cause::PositionWentBack { member: "b1".into(), partition: orders(0), from: 9, to: 4 },
        Cause::LeaderSilent { producer: producer(), broker: 1 },
        Cause::WaitsForFollowers { partition: orders(0), broker: 1, waits_for: vec![2, 3] },
        Cause::Answered { producer: producer(), error: "NOT_LEADER_OR_FOLLOWER".into() },
        Cause::Unanswered { producer: producer() },
    ]
}

#[test]
fn every_cause_is_a_sentence_of_its_own_in_each_language() {
    for lang in Lang::ALL {
        let mut all: Vec<String> = causes().iter().map(|cause| lang.words().cause(cause)).collect();
        assert!(all.iter().all(|s| is_chinese(s) == (lang == Lang::Zh) && !s.contains("  ")), "{all:#?}");
        let n = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), n, "two causes sound the same");
    }
}

#[test]
fn lost_records_are_named_by_offset_wherever_they_are_counted() {
    let at: Vec<Stretch> =
        (0..8).map(|n| Stretch { partition: orders(n), first: 45, last: 45 + u64::from(n % 2) }).collect();
    for lang in Lang::ALL {
        let w = lang.words();
        let verdict = w.verdict(&Verdict::AckedLost { count: 2, at: at[1..2].to_vec() });
        let beside = w.lost_of_them(2, &at[1..2]);
        for said in [verdict, beside] {
            assert!(said.contains("orders-1") && said.contains("45–46"), "{said}");
        }
        let many = w.lost_at(&at);
        assert!(many.contains("orders-5") && !many.contains("orders-6") && many.contains('2'), "{many}");
    }
}

#[test]
fn kafkas_words_pass_through_untranslated() {
    for lang in Lang::ALL {
        for fact in facts() {
            let said = lang.words().fact(&fact);
            if let Fact::Refused { error, .. }
            | Fact::IsrChangeRefused { error, .. }
            | Fact::CommitFailed { error, .. } = &fact
            {
                assert!(said.contains(error.as_ref()), "{said}");
            }
        }
    }
}

#[test]
fn both_languages_give_the_same_numbers() {
    let digits = |s: String| {
        let mut all: Vec<char> = s.chars().filter(char::is_ascii_digit).collect();
        all.sort_unstable();
        all
    };
    for fact in facts() {
        assert_eq!(digits(Lang::En.words().fact(&fact)), digits(Lang::Zh.words().fact(&fact)), "{fact:?}");
    }
}

#[test]
fn what_a_message_carries_is_said_in_each_language() {
    let is = |says, value: &str| Carried { says, of: "orders-0".into(), value: value.into() };
    let all = [
        is(Says::Records, "4"),
        is(Says::Records, "4–6"),
        is(Says::Sent, "1"),
        is(Says::Sent, "2"),
        is(Says::Written, "4"),
        is(Says::From, "4"),
        is(Says::HighWatermark, "4"),
        is(Says::NewHighWatermark, "4 → 6"),
        is(Says::Field, "NOT_LEADER_OR_FOLLOWER"),
        is(Says::More, "2"),
    ];
    for lang in Lang::ALL {
        let mut said: Vec<String> = all.iter().map(|c| lang.words().carries(c)).collect();
        for (words, c) in said.iter().zip(&all) {
            assert!(words.contains(&c.value) && (c.says == Says::More || words.contains("orders-0")), "{words}");
        }
        said.sort();
        said.dedup();
        assert_eq!(said.len(), all.len(), "two say the same");
    }
    assert_eq!(Lang::En.words().carries(&all[1]), "orders-0 offsets 4–6");
}

#[test]
fn the_countdown_names_what_is_awaited() {
    let w = Waiting::Fencing { broker: 1 };
    assert_eq!(Lang::En.words().countdown(&w, 6_210_000), "broker 1 is fenced in 6.2\u{a0}s");
    assert_eq!(Lang::Zh.words().countdown(&w, 6_210_000), "6.2\u{a0}s 后 broker 1 被隔离");
}

#[test]
fn a_number_never_stands_on_another_line_than_its_unit() {
    for lang in Lang::ALL {
        for us in [10, 20_000, 9_300_000, 90_000_000] {
            let said = lang.words().fenced_in(us);
            let number = said.find(|c: char| c.is_ascii_digit()).expect("a number");
            let unit = said[number..].find(['s', 'm', 'µ']).expect("a unit");
            assert!(!said[number..number + unit].contains(' '), "{said}");
        }
    }
}

#[test]
fn a_wait_counts_attempts_only_where_there_were_more_than_one() {
    let ended = |count| Fact::WaitEnded { what: WaitFor::Rebalance { group: "g".into() }, after_us: 1_500_000, count };
    for lang in Lang::ALL {
        assert!(!lang.words().fact(&ended(1)).contains(['(', '（']), "{}", lang.words().fact(&ended(1)));
        assert!(lang.words().fact(&ended(3)).contains('3'));
    }
}

#[test]
fn no_sentence_has_an_end_without_a_value() {
    let none = || Fact::IsrShrunk { partition: orders(0), removed: vec![1], isr: vec![], by: IsrBy::Leader(1) };
    let b = NodeRef::Broker;
    let empty = [
        none(),
        Fact::IsrShrunk { partition: orders(0), removed: vec![], isr: vec![2], by: IsrBy::Controller },
        Fact::IsrExpanded { partition: orders(0), added: vec![], isr: vec![2], by: IsrBy::Controller },
        Fact::Fenced { broker: 1, session_us: 0 },
        Fact::Healed { a: vec![b(1)], b: vec![] },
        Fact::LinkChanged { a: b(1), b: b(2), latency_us: 0, loss_permille: 0 },
        Fact::HasReplicas { partition: orders(0), replicas: vec![] },
        Fact::Refused { producer: String::new(), partition: orders(0), error: "NOT_LEADER_OR_FOLLOWER".into() },
        Fact::ProduceTimedOut { producer: String::new(), partition: orders(0), count: 1 },
        Fact::ConfigChanged {
            target: ConfigTarget::Topic("orders".into()),
            key: "min.insync.replicas".into(),
            value: "".into(),
        },
    ];
    for lang in Lang::ALL {
        let w = lang.words();
        let mut all: Vec<String> = empty.iter().map(|f| w.fact(f)).collect();
        all.push(w.countdown(&Waiting::Fencing { broker: 3 }, 0));
        all.push(w.countdown(&Waiting::ClientRetry { client: "b1".into() }, 0));
        all.push(w.fenced_in(0));
        all.push(w.inspect_value(&InspectValue::In(0)));
        all.push(w.inspect_value(&InspectValue::Brokers(vec![])));
        all.push(w.producer_now(&ProducerNow::AwaitingAcks { oldest_us: 0 }));
        for said in &all {
            assert!(!said.is_empty(), "{all:#?}");
            for bad in [" :", ": ,", "  ", "0 ms", "= ", " ，", "：，", "为：", " .", "of  "] {
                assert!(!said.contains(bad), "{said:?} has {bad:?}");
            }
            assert!(!said.ends_with([':', '：', '=', ' ', ',']), "{said:?}");
        }
    }
    assert_eq!(Lang::En.words().fact(&none()), "ISR of orders-0 is empty now: without 1, by its leader, broker 1");
}

#[test]
fn chinese_uses_the_words_that_kafkas_users_know() {
    // The sentences as they stand in the source: every one of them, whenever it is said.
    let source = include_str!("../../src/ui/words/zh.rs");
    for word in ["停止消费", "unclean 选举", "哈希", "查看", "注入故障", "集群视图", "LEO", "副本数"]
    {
        assert!(source.contains(word), "{word}");
    }
    for word in ["停摆", "不洁", "散列", "检视", "破坏", "舞台", "日志末尾", "unclean election", " RF "]
    {
        assert!(!source.contains(word), "{word}");
    }
}

#[test]
fn a_dead_leader_has_a_sentence_with_an_end() {
    let cause = Cause::NoLeader { partition: orders(0), last: Some(3) };
    assert_eq!(Lang::En.words().cause(&cause), "orders-0 has no leader; the last one was broker 3.");
}
