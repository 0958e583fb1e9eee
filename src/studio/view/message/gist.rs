//! What matters most of what a message carries, for the line over the stage. It reads the rows of its fields and never
//! the message, so it says nothing that they do not say.

use super::shown::{Carried, MessageField, Says};
use super::{FlightKind, Term};

/// What is named; the rest is counted.
const MOST: usize = 3;

/// The most telling of the rows: errors and records, then high watermarks, else what comes first.
pub fn carried(rows: &[MessageField], kind: FlightKind, response: bool) -> Vec<Carried> {
    let (mut all, mut marks, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    let (mut part, mut first, mut mark) = (&Term::Borrowed(""), "", None);
    for row in rows.iter().filter(|row| !row.more) {
        let is = |says, of: &Term| Carried { says, of: of.clone(), value: row.value.clone() };
        let said = match &*row.name {
            _ if row.value.is_empty() => {
                if row.depth == 0 {
                    (part, mark) = (&row.name, None);
                }
                continue;
            }
            "error_code" if row.value.starts_with("0 ") => continue,
            "error_code" => is(Says::Field, part),
            "acks" | "new_isr_with_epochs" => is(Says::Field, &row.name),
            "fetch_offset" => is(Says::From, part),
            "base_offset" => is(Says::Written, part),
            "baseOffset" => {
                first = &row.value;
                continue;
            }
            "recordsCount" if kind == FlightKind::Produce => is(Says::Sent, part),
            "recordsCount" => {
                // That it stands still is worth a word beside new records alone: they are not safe yet.
                marks.extend(mark.take());
                let value = span(first, &row.value);
                Carried { says: Says::Records, of: part.clone(), value }
            }
            "high_watermark" if kind == FlightKind::Replication && response => {
                match &row.was {
                    Some(was) => marks.push(Carried {
                        says: Says::NewHighWatermark,
                        of: part.clone(),
                        value: format!("{was} → {}", row.value),
                    }),
                    None => mark = Some(is(Says::HighWatermark, part)),
                }
                continue;
            }
            _other => {
                rest.push(is(Says::Field, &row.name));
                continue;
            }
        };
        all.push(said);
    }
    all.append(&mut marks);
    if all.is_empty() {
        rest.truncate(MOST);
        return rest;
    }
    if all.len() > MOST {
        let value = (all.len() - MOST).to_string();
        all.truncate(MOST);
        all.push(Carried { says: Says::More, of: Term::Borrowed(""), value });
    }
    all
}

/// The offsets of a batch: `4`, or `4–6`.
fn span(first: &str, count: &str) -> String {
    match (first.parse::<u64>(), count.parse::<u64>()) {
        (Ok(from), Ok(n @ 2..)) => format!("{from}–{}", from + n - 1),
        (Ok(_) | Err(_), Ok(_) | Err(_)) => first.to_owned(),
    }
}
