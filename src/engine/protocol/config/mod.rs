//! Settings of topics, nodes and clients under Kafka's names: one table, and the checks that Kafka and this playground
//! make of a value. What a setting does stands where it is read.

mod elsewhere;
mod former;
mod known;
mod node;
mod table;

use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use core::cmp::Ordering;
use core::fmt;

pub use former::is_former;
pub use node::NodeConfig;

use super::ConfigMap;
use crate::base::Dur;

/// What a setting configures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    Topic,
    /// Brokers and controllers.
    Node,
    Producer,
    Consumer,
}

impl Scope {
    pub const ALL: [Scope; 4] = [Scope::Topic, Scope::Node, Scope::Producer, Scope::Consumer];

    /// As Kafka's documentation calls the configs of this kind.
    pub const fn name(self) -> &'static str {
        match self {
            Scope::Topic => "topic",
            Scope::Node => "broker",
            Scope::Producer => "producer",
            Scope::Consumer => "consumer",
        }
    }
}

/// Kafka's type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Bool,
    Short,
    Int,
    Long,
    Double,
    Text,
    /// Several, separated by commas.
    List,
}

/// Kafka's validator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Valid {
    Any,
    AtLeast(i64),
    Between(i64, i64),
    /// Between two numbers, or -1.
    OrMinusOne(i64, i64),
    /// A decimal number from 0 to 1.
    Share,
    /// `auto.offset.reset`: a word, or `by_duration:` and a span of ISO 8601.
    ResetPolicy,
    OneOf(&'static [&'static str]),
    OneOfAnyCase(&'static [&'static str]),
    /// Every item of the list is one of these.
    Listed(&'static [&'static str]),
    /// Replicas whose traffic is throttled: `*`, or `partition:broker` items.
    ThrottledReplicas,
    /// Voters of the metadata quorum: `id@host:port` items.
    Voters,
    NonEmpty,
}

/// What this playground allows of what Kafka allows: its own limit, and said as such.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// That of the unit, see [`Setting::limits`].
    Usual,
    Between(i64, i64),
    /// The values that are simulated, in any case.
    Words(&'static [&'static str]),
}

/// How a node's setting changes while the cluster runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// With a restart of the node.
    ReadOnly,
    /// For all brokers or for one.
    ClusterWide,
    /// For one broker at a time.
    PerBroker,
}

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    None,
    Millis,
    Seconds,
    Bytes,
}

/// A release of Kafka, major and minor.
pub type Release = (u32, u32);

/// The release whose defaults stand in the table.
pub const NEWEST: Release = (4, 1);

/// Milliseconds that a span may have: some thirty years. Sums of several still fit into simulated time.
const MOST_MILLIS: i64 = 1_000_000_000_000;

/// One setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    pub name: &'static str,
    pub scopes: &'static [Scope],
    pub kind: Type,
    pub valid: Valid,
    /// As Kafka prints it, in the newest release. Empty: there is none, or the setting is not modelled.
    pub default: &'static str,
    /// Defaults of releases before the named ones, the oldest first.
    pub before: &'static [(Release, &'static str)],
    pub update: Update,
    pub bound: Bound,
    /// It has its effect here. What is not modelled is accepted, and said.
    pub modelled: bool,
}

impl Setting {
    const fn new(
        scopes: &'static [Scope],
        name: &'static str,
        kind: Type,
        valid: Valid,
        default: &'static str,
    ) -> Setting {
        Setting {
            name,
            scopes,
            kind,
            valid,
            default,
            before: &[],
            update: Update::ReadOnly,
            bound: Bound::Usual,
            modelled: true,
        }
    }
    const fn cluster_wide(self) -> Setting {
        Setting { update: Update::ClusterWide, ..self }
    }
    const fn per_broker(self) -> Setting {
        Setting { update: Update::PerBroker, ..self }
    }
    const fn before(self, before: &'static [(Release, &'static str)]) -> Setting {
        Setting { before, ..self }
    }
    const fn here(self, least: i64, most: i64) -> Setting {
        Setting { bound: Bound::Between(least, most), ..self }
    }
    const fn words(self, words: &'static [&'static str]) -> Setting {
        Setting { bound: Bound::Words(words), ..self }
    }

    /// The default of a release.
    pub fn default_at(&self, release: Release) -> &'static str {
        self.before.iter().find(|(until, _)| release < *until).map_or(self.default, |(_, text)| text)
    }

    /// It can be changed without starting anything again, clients aside, which are started anew in life too.
    pub fn is_live(&self, scope: Scope) -> bool {
        match scope {
            Scope::Topic | Scope::Producer | Scope::Consumer => true,
            Scope::Node => self.update != Update::ReadOnly,
        }
    }

    pub fn unit(&self) -> Unit {
        if self.name.ends_with(".ms") {
            Unit::Millis
        } else if self.name.ends_with(".seconds") {
            Unit::Seconds
        } else if self.name.ends_with(".bytes") || self.name == "batch.size" || self.name == "max.request.size" {
            Unit::Bytes
        } else {
            Unit::None
        }
    }

    /// The least and the largest number that are allowed here, by Kafka and by this playground together. `None`: it
    /// holds no number.
    pub fn limits(&self) -> Option<(i64, i64)> {
        let (least, most) = match self.kind {
            Type::Short => (i64::from(i16::MIN), i64::from(i16::MAX)),
            Type::Int => (i64::from(i32::MIN), i64::from(i32::MAX)),
            Type::Long => (i64::MIN, i64::MAX),
            Type::Bool | Type::Double | Type::Text | Type::List => return None,
        };
        let (least, most) = match self.valid {
            Valid::AtLeast(number) => (least.max(number), most),
            Valid::Between(a, b) => (least.max(a), most.min(b)),
            Valid::OrMinusOne(_, b) => (least.max(-1), most.min(b)),
            Valid::Any
            | Valid::Share
            | Valid::ResetPolicy
            | Valid::OneOf(_)
            | Valid::OneOfAnyCase(_)
            | Valid::Listed(_)
            | Valid::ThrottledReplicas
            | Valid::Voters
            | Valid::NonEmpty => (least, most),
        };
        let (a, b) = self.playground();
        Some((least.max(a), most.min(b)))
    }

    /// The numbers that this playground allows. What has no effect needs no limit.
    fn playground(&self) -> (i64, i64) {
        match self.bound {
            Bound::Between(least, most) => (least, most),
            Bound::Usual | Bound::Words(_) if !self.modelled => (i64::MIN, i64::MAX),
            Bound::Usual | Bound::Words(_) => match self.unit() {
                Unit::Millis => (0, MOST_MILLIS),
                Unit::Seconds => (0, MOST_MILLIS / 1_000),
                Unit::Bytes | Unit::None => (0, i64::MAX),
            },
        }
    }

    /// Checks a value as Kafka does when it parses it, then against the limits of this playground.
    ///
    /// # Errors
    /// Why it is refused, in the words of whoever refuses it.
    pub fn check(&self, value: &str) -> Result<(), ConfigError> {
        let text = value.trim();
        let kafka = |expected: String| Err(self.error(value, expected, RefusedBy::Kafka));
        let number = |name: &str, range: core::ops::RangeInclusive<i64>| match text.parse::<i64>() {
            Ok(number) if range.contains(&number) => self.check_number(value, number),
            Ok(_) | Err(_) => kafka(format!("Not a number of type {name}")),
        };
        match self.kind {
            Type::Bool if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") => Ok(()),
            Type::Bool => kafka("Expected value to be either true or false".into()),
            Type::Short => number("SHORT", i64::from(i16::MIN)..=i64::from(i16::MAX)),
            Type::Int => number("INT", i64::from(i32::MIN)..=i64::from(i32::MAX)),
            Type::Long => number("LONG", i64::MIN..=i64::MAX),
            Type::Double if is_decimal(text) => match (self.valid, share(text)) {
                (Valid::Share, Some(Ordering::Less)) => kafka("Value must be at least 0".into()),
                (Valid::Share, Some(Ordering::Greater)) => kafka("Value must be no more than 1".into()),
                (_any_other, Some(_) | None) => Ok(()),
            },
            Type::Double => kafka("Not a number of type DOUBLE".into()),
            Type::Text | Type::List => self.check_words(value, text),
        }
    }

    fn check_number(&self, value: &str, number: i64) -> Result<(), ConfigError> {
        let kafka = |expected: String| Err(self.error(value, expected, RefusedBy::Kafka));
        match self.valid {
            Valid::AtLeast(least) | Valid::Between(least, _) if number < least => {
                return kafka(format!("Value must be at least {least}"));
            }
            Valid::Between(_, most) if number > most => return kafka(format!("Value must be no more than {most}")),
            Valid::OrMinusOne(least, most) if number != -1 && !(least..=most).contains(&number) => {
                return kafka(format!("Value must be between {least} and {most} or equal to -1"));
            }
            Valid::Any
            | Valid::AtLeast(_)
            | Valid::Between(..)
            | Valid::OrMinusOne(..)
            | Valid::Share
            | Valid::ResetPolicy
            | Valid::OneOf(_)
            | Valid::OneOfAnyCase(_)
            | Valid::Listed(_)
            | Valid::ThrottledReplicas
            | Valid::Voters
            | Valid::NonEmpty => {}
        }
        let (least, most) = self.playground();
        let here = |expected: String| Err(self.error(value, expected, RefusedBy::Playground));
        if number < least {
            here(format!("at least {least} in this playground"))
        } else if number > most {
            here(format!("at most {most} in this playground"))
        } else {
            Ok(())
        }
    }

    fn check_words(&self, value: &str, text: &str) -> Result<(), ConfigError> {
        let kafka = |expected: String| Err(self.error(value, expected, RefusedBy::Kafka));
        match self.valid {
            Valid::OneOf(words) if !words.contains(&text) => {
                return kafka(format!("String must be one of: {}", words.join(", ")));
            }
            Valid::Listed(words) => {
                if let Some(stranger) = text.split(',').map(str::trim).find(|item| !words.contains(item)) {
                    let expected = format!("String must be one of: {}", words.join(", "));
                    return Err(self.error(stranger, expected, RefusedBy::Kafka));
                }
            }
            Valid::OneOfAnyCase(words) if !words.iter().any(|word| word.eq_ignore_ascii_case(text)) => {
                return kafka(format!("String must be one of (case insensitive): {}", words.join(", ")));
            }
            Valid::ThrottledReplicas if text != "*" && !text.split(',').all(is_throttled_replica) => {
                return kafka(format!(
                    "{} must be the literal '*' or a list of replicas in the following format: \
                     [partitionId]:[brokerId],[partitionId]:[brokerId],...",
                    self.name
                ));
            }
            Valid::Voters if !text.is_empty() && !text.split(',').all(is_voter) => {
                return kafka("Each entry should be in the form `{id}@{host}:{port}`.".into());
            }
            Valid::NonEmpty if text.is_empty() => return kafka("String must be non-empty".into()),
            Valid::ResetPolicy if !is_reset_policy(text) => {
                return kafka(format!(
                    "Invalid value `{text}` for configuration {}. The value must be either 'earliest', 'latest', \
                     'none' or of the format 'by_duration:<PnDTnHnMn.nS.>'.",
                    self.name
                ));
            }
            Valid::Any
            | Valid::AtLeast(_)
            | Valid::Between(..)
            | Valid::OrMinusOne(..)
            | Valid::Share
            | Valid::ResetPolicy
            | Valid::OneOf(_)
            | Valid::OneOfAnyCase(_)
            | Valid::ThrottledReplicas
            | Valid::Voters
            | Valid::NonEmpty => {}
        }
        match self.bound {
            Bound::Words(words) if !words.iter().any(|word| word.eq_ignore_ascii_case(text)) => Err(self.error(
                value,
                format!("{}, which is what this playground simulates", words.join(" or ")),
                RefusedBy::Playground,
            )),
            Bound::Words(_) | Bound::Usual | Bound::Between(..) => Ok(()),
        }
    }

    fn error(&self, value: &str, expected: String, by: RefusedBy) -> ConfigError {
        ConfigError { key: self.name.to_string(), value: value.to_string(), expected, by }
    }
}

fn are_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// An item of `*.replication.throttled.replicas`; Kafka lets an item be empty.
fn is_throttled_replica(item: &str) -> bool {
    let item = item.trim();
    item.is_empty() || item.split_once(':').is_some_and(|(a, b)| are_digits(a) && are_digits(b))
}

fn is_voter(item: &str) -> bool {
    let parts = item.trim().split_once('@').and_then(|(id, address)| Some((id, address.rsplit_once(':')?)));
    parts.is_some_and(|(id, (host, port))| are_digits(id) && !host.is_empty() && are_digits(port))
}

/// A decimal number as Java reads it, near enough for settings that have no effect here.
fn is_decimal(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E'))
}

/// Where a decimal number lies: below 0, from 0 to 1, or above. `None`: it is written with an exponent.
fn share(text: &str) -> Option<Ordering> {
    let (is_negative, digits) =
        text.strip_prefix('-').map_or((false, text.strip_prefix('+').unwrap_or(text)), |rest| (true, rest));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    if [whole, part].iter().any(|side| side.bytes().any(|b| !b.is_ascii_digit())) {
        return None;
    }
    let is_nothing = |side: &str| side.bytes().all(|b| b == b'0');
    let whole = whole.trim_start_matches('0');
    Some(match (whole, is_nothing(part)) {
        ("", true) => Ordering::Equal,
        (_, _) if is_negative => Ordering::Less,
        ("", false) | ("1", true) => Ordering::Equal,
        (_more, _) => Ordering::Greater,
    })
}

fn is_reset_policy(text: &str) -> bool {
    matches!(text, "earliest" | "latest" | "none") || text.strip_prefix("by_duration:").is_some_and(is_span)
}

/// A span as Java reads it and Kafka takes it, `P1DT2H3M4.5S`: its parts in this order, none of them negative.
fn is_span(text: &str) -> bool {
    let upper = text.to_ascii_uppercase();
    let Some(rest) = upper.strip_prefix('P') else { return false };
    let (days, time) = rest.split_once('T').map_or((rest, None), |(days, time)| (days, Some(time)));
    // Takes `12H` from the front; what is left, and whether there was one.
    let take = |text: &str, unit: char| -> Option<usize> {
        let end = text.find(unit)?;
        let number = text.get(..end)?;
        let number = if unit == 'S' { number.split_once('.').map_or(number, |(whole, _)| whole) } else { number };
        are_digits(number).then_some(end + 1)
    };
    let has_days = !days.is_empty();
    if has_days && take(days, 'D') != Some(days.len()) {
        return false;
    }
    let Some(mut time) = time else { return has_days };
    if time.is_empty() {
        return false;
    }
    for unit in ['H', 'M', 'S'] {
        time = take(time, unit).and_then(|end| time.get(end..)).unwrap_or(time);
    }
    time.is_empty()
}

/// Every setting that is known, the modelled ones first.
pub fn settings() -> impl Iterator<Item = &'static Setting> {
    table::MODELLED.iter().chain(known::KNOWN).chain(elsewhere::ELSEWHERE)
}

/// The setting of this name.
pub fn setting(scope: Scope, name: &str) -> Option<&'static Setting> {
    settings().find(|setting| setting.name == name && setting.scopes.contains(&scope))
}

/// Who does not take a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefusedBy {
    Kafka,
    Playground,
    /// Nobody knows a setting of this name.
    NoSuchSetting,
}

/// A value that Kafka or this playground refuses, or a name that Kafka does not know.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConfigError {
    pub key: String,
    pub value: String,
    /// Kafka's message, or what this playground expects instead.
    pub expected: String,
    pub by: RefusedBy,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.by {
            RefusedBy::Kafka => {
                write!(f, "Invalid value {} for configuration {}: {}", self.value, self.key, self.expected)
            }
            RefusedBy::Playground => write!(f, "{}={}: expected {}", self.key, self.value, self.expected),
            RefusedBy::NoSuchSetting => write!(f, "{}: {}", self.expected, self.key),
        }
    }
}

/// Checks one setting by its name.
///
/// # Errors
/// An unknown name, or a value that is refused.
pub fn check(scope: Scope, name: &str, value: &str) -> Result<&'static Setting, ConfigError> {
    let Some(setting) = setting(scope, name) else {
        return Err(ConfigError {
            key: name.to_string(),
            value: value.to_string(),
            expected: format!("Unknown {} config name", scope.name()),
            by: RefusedBy::NoSuchSetting,
        });
    };
    setting.check(value).map(|()| setting)
}

/// Checks all that is given.
///
/// # Errors
/// The first, in the order of the names.
pub fn check_all(scope: Scope, configs: &ConfigMap) -> Result<(), ConfigError> {
    configs.iter().try_for_each(|(name, value)| check(scope, name, value).map(drop))
}

/// Checks the configs of a topic as the controller does: unknown keys and bad values are INVALID_CONFIG.
pub fn validate_topic(configs: &ConfigMap) -> Result<(), ConfigError> {
    check_all(Scope::Topic, configs)
}

/// Checks the configuration of the nodes.
pub fn validate_node(configs: &ConfigMap) -> Result<(), ConfigError> {
    check_all(Scope::Node, configs)
}

/// What is given over the defaults of a release, after its check.
pub struct Given<'a> {
    scope: Scope,
    release: Release,
    given: &'a ConfigMap,
}

impl<'a> Given<'a> {
    /// Checks and opens.
    ///
    /// # Errors
    /// The first name or value that is refused.
    pub fn read(scope: Scope, release: Release, given: &'a ConfigMap) -> Result<Given<'a>, ConfigError> {
        check_all(scope, given)?;
        Ok(Given { scope, release, given })
    }

    pub fn is_given(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    /// The value in force. A name that is not in the table is a bug here, not a mistake of the user's.
    pub fn text(&self, name: &str) -> &str {
        let setting = setting(self.scope, name);
        assert!(setting.is_some(), "{name} is no {} setting", self.scope.name());
        let default = setting.map_or("", |setting| setting.default_at(self.release));
        self.given.get(name).map_or(default, |value| value.trim())
    }

    pub fn int(&self, name: &str) -> i64 {
        self.text(name).parse().unwrap_or(0)
    }

    /// A number that its limits keep from being negative.
    pub fn count(&self, name: &str) -> u64 {
        self.int(name).max(0) as u64
    }

    pub fn flag(&self, name: &str) -> bool {
        self.text(name).eq_ignore_ascii_case("true")
    }

    pub fn ms(&self, name: &str) -> Dur {
        Dur::ms(self.count(name))
    }
}

/// Builds a [`ConfigMap`] from pairs.
pub fn config_map(pairs: &[(&str, &str)]) -> ConfigMap {
    pairs.iter().map(|(k, v)| (Rc::from(*k), Rc::from(*v))).collect()
}

#[cfg(test)]
mod tests;
