//! Views as text: what the page shows at moments of the gallery, held against files. It judges no pixel.

use std::fmt::Write as _;

use highwater_studio::desk::command::Command;
use highwater_studio::desk::{Desk, Studio};
use highwater_studio::view::model::*;

use crate::story::named;
use crate::text;

fn shown(studio: &Studio) -> String {
    let view = studio.text();
    let mut out = String::new();
    let _ = writeln!(out, "at {} us", view.scene.at_us);
    for controller in &view.scene.controllers {
        let _ = writeln!(
            out,
            "controller {} {:?} {:?} epoch {} tail {:?}",
            controller.id, controller.role, controller.process, controller.quorum_epoch, controller.tail
        );
    }
    for topic in &view.scene.topics {
        for p in &topic.partitions {
            let _ = writeln!(
                out,
                "{}-{} leader {:?} epoch {} isr {:?} {:?} hw {}",
                topic.name, p.partition, p.leader, p.leader_epoch, p.isr, p.isr_health, p.high_watermark
            );
        }
    }
    for broker in &view.scene.brokers {
        let _ = writeln!(out, "broker {} {:?} {:?}", broker.id, broker.process, broker.standing);
        for replica in &broker.replicas {
            let cells: String = replica
                .cells
                .iter()
                .map(|cell| match cell {
                    RecordCell::Safe => '#',
                    RecordCell::NotSafe => 'o',
                    RecordCell::NotSafeAcked => '!',
                    RecordCell::AckedLost => 'x',
                    RecordCell::Empty => '.',
                })
                .collect();
            let _ = writeln!(
                out,
                "  {}-{} {:?} [{cells}] end {} hw {}",
                replica.partition.topic,
                replica.partition.partition,
                replica.role,
                replica.log_end_offset,
                replica.high_watermark
            );
        }
        for strip in &broker.internal {
            let _ = writeln!(
                out,
                "  {} carries {} alone {} leaderless {}",
                strip.topic,
                strip.squares.len(),
                strip.nowhere_else,
                strip.leaderless
            );
        }
    }
    for producer in &view.scene.producers {
        let _ = writeln!(
            out,
            "producer {} acks {} {:?} sent {} acked {} lost {}",
            producer.name, producer.acks, producer.now, producer.sent, producer.acked, producer.lost
        );
    }
    for group in &view.scene.groups {
        let _ = writeln!(
            out,
            "group {} {:?} generation {} {:?} {:?} lag {} delivered {}",
            group.name, group.state, group.generation, group.coordinator, group.now, group.lag, group.delivered
        );
        for member in &group.members {
            let owned: Vec<String> =
                member.assigned.iter().map(|a| format!("{}@{:?}", a.partition.partition, a.position)).collect();
            let _ = writeln!(out, "  {} {} {:?} {}", member.name, member.client_version, member.now, owned.join(" "));
        }
    }
    for card in &view.promises.verdicts {
        let _ = writeln!(out, "verdict {:?} because {:?} try {:?}", card.verdict, card.cause, card.cure);
    }
    let _ = writeln!(out, "counts {:?}", view.promises.counts);
    let _ = writeln!(out, "if one fails {:?}", view.promises.if_one_fails);
    let _ = writeln!(out, "if two fail {:?}", view.promises.if_two_fail);
    for line in &view.recent {
        let _ = writeln!(out, "{:>12} {:?} {:?}", line.at_us, line.kind, line.fact);
    }
    if let Some(why) = studio.why(&Subject::Verdict(0)) {
        for step in &why.steps {
            let _ = writeln!(out, "because {:>12} {:?}", step.at_us, step.fact);
        }
    }
    let _ = writeln!(out, "awaiting {:?}", studio.playback().awaiting);
    out
}

#[test]
fn the_gallery_at_its_moments() {
    for (id, name) in [
        (named("as-it-happened"), "as-it-happened"),
        (named("same-cluster-today"), "same-cluster-today"),
        (named("the-cure"), "the-cure"),
    ] {
        let mut out = String::new();
        for ms in [0, 2_000, 11_500, 12_010, 15_000, 24_000, 40_000] {
            let mut studio = Studio::scenario(id);
            studio.handle(Command::SeekTo { at_us: ms * 1_000 });
            out.push_str(&shown(&studio));
            out.push('\n');
        }
        text::check(&format!("studio/view-{name}.txt"), &out);
    }
}
