//! Durations, rates, shares and moments as they are written. Reads whole numbers only.

use highwater_engine::base::Dur;

/// Units of a duration, the largest first.
const UNITS: [(&str, u64); 5] = [("h", 3_600_000_000), ("m", 60_000_000), ("s", 1_000_000), ("ms", 1_000), ("us", 1)];

/// What a message says was expected.
pub const A_DURATION: &str = "a duration such as \"250ms\", \"3s\" or \"2m\"";

/// `250ms`, `3s`, `2m`.
pub fn duration(text: &str) -> Option<Dur> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
    whole(number)?.checked_mul(*factor).map(Dur)
}

/// The shortest way to write a duration.
pub fn duration_text(span: Dur) -> String {
    if span == Dur::ZERO {
        return "0s".into();
    }
    UNITS
        .iter()
        .find(|(_, factor)| span.0.is_multiple_of(*factor))
        .map_or_else(String::new, |(name, factor)| format!("{}{name}", span.0 / factor))
}

/// `20/s`.
pub fn rate(text: &str) -> Option<u64> {
    whole(text.strip_suffix("/s")?)
}

/// `1%`, as parts of a million.
pub fn share(text: &str) -> Option<u32> {
    let percent = whole(text.strip_suffix('%')?)?;
    (percent <= 100).then_some(percent as u32 * 10_000)
}

/// Digits and nothing else, without leading zeros.
fn whole(digits: &str) -> Option<u64> {
    let plain =
        !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    if plain { digits.parse().ok() } else { None }
}

/// A moment of a run: simulated time, and how many steps (events and actions) of that instant are done; `None` is all
/// of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Moment {
    pub at: Dur,
    pub done: Option<u32>,
}

impl Moment {
    /// When everything of this instant is done.
    pub const fn after(at: Dur) -> Moment {
        Moment { at, done: None }
    }

    /// `12s`, or `14802317us+3`.
    pub fn parse(text: &str) -> Option<Moment> {
        match text.split_once('+') {
            Some((at, done)) => Some(Moment { at: duration(at)?, done: Some(u32::try_from(whole(done)?).ok()?) }),
            None => Some(Moment { at: duration(text)?, done: None }),
        }
    }

    /// The shortest way to write it.
    pub fn text(self) -> String {
        match self.done {
            Some(done) => format!("{}+{done}", duration_text(self.at)),
            None => duration_text(self.at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_the_shortest_way() {
        for (written, shortest) in [
            ("1000ms", "1s"),
            ("60s", "1m"),
            ("90s", "90s"),
            ("3600s", "1h"),
            ("500us", "500us"),
            ("0ms", "0s"),
            ("1500ms", "1500ms"),
        ] {
            let span = duration(written).map(duration_text);
            assert_eq!(span.as_deref(), Some(shortest), "{written}");
        }
        for bad in ["", "s", "1", "1.5s", "-1s", "01s", "1 s", "1min", "99999999999999999999s", "18446744073709551615h"]
        {
            assert_eq!(duration(bad), None, "{bad}");
        }
    }

    #[test]
    fn rates_shares_and_moments() {
        assert_eq!((rate("20/s"), rate("20"), rate("2/m")), (Some(20), None, None));
        assert_eq!(
            (share("1%"), share("100%"), share("101%"), share("1")),
            (Some(10_000), Some(1_000_000), None, None)
        );
        assert_eq!(Moment::parse("14802317us+3"), Some(Moment { at: Dur(14_802_317), done: Some(3) }));
        assert_eq!(Moment::parse("12s").map(Moment::text).as_deref(), Some("12s"));
    }
}
