//! The arguments of the command, read strictly. Opens no file.

use std::ffi::OsString;
use std::path::PathBuf;

use highwater_engine::base::Dur;
use highwater_studio::scenario::unit;
use lexopt::prelude::*;

use crate::Complaint;

pub enum Command {
    /// Text to print.
    Help(&'static str),
    Conform(Conform),
    Swarm(Swarm),
    Trace(Trace),
    Bench(Bench),
    /// A scenario file.
    Link(PathBuf),
    /// A link.
    Open(String),
}

pub struct Trace {
    /// A scenario file or a link.
    pub what: String,
    pub until: Option<Dur>,
    pub all: bool,
}

pub struct Bench {
    pub events: u32,
    pub json: bool,
}

pub struct Conform {
    pub files: Vec<PathBuf>,
    /// Seeds to play with, first and last; `None`: as many as it takes to know.
    pub seeds: Option<(u64, u64)>,
    pub threads: usize,
    pub json: bool,
    pub verbose: bool,
    pub metadata: bool,
}

pub struct Swarm {
    pub runs: u64,
    pub seed: u64,
    pub threads: usize,
}

const VERSION: &str = concat!("highwater ", env!("CARGO_PKG_VERSION"), "\n");

const HELP: &str = "\
highwater: a simulated Kafka cluster, natively

  highwater conform FILE…        play recordings of real Kafka against the engine and compare
  highwater swarm                run random clusters under random faults and check invariants
  highwater trace FILE|LINK      tell what happens in a run
  highwater bench                say how many events a second are simulated
  highwater link FILE            print the link of a scenario file, and its size
  highwater open LINK            print the scenario in a link
  highwater COMMAND --help       options of one command
  highwater --version            the version

Exit code: 0 all is well, 1 a difference or a broken invariant, 2 bad input.
";

const CONFORM_HELP: &str = "\
highwater conform FILE… [options]: play recordings of real Kafka against the engine and compare

  --seeds N      play each with the seeds 1 to N (default: 20, and up to 100 where these cannot tell
                 chance from rule)
  --seed S       play with this seed alone
  --json         print the report as JSON
  --verbose      list what is equal too, with the rule by which it was judged
  --metadata     print the controllers' decisions with the first seed beside the recorded metadata log
  --threads N    play on N threads (default: all cores)

Where all n recorded runs agree, the share p of seeds that agree must satisfy p^n >= 0.05, and one seed
must agree with the whole file; a time is the median of 20 seeds.

Prints a table: per file the entries that are equal, equal in some runs (in enough of them), different
and not modelled, then each difference with its entry, the expected and the seen value, and what is not
modelled with the reason.
Exit code: 0 no difference, 1 a difference, 2 a file that cannot be read.
";

const SWARM_HELP: &str = "\
highwater swarm [options]: run random clusters under random faults and check invariants

  --runs N       how many runs (default 100)
  --seed S       seed of the first run; the others count up from it (default 1)
  --threads N    run on N threads (default: all cores)

Prints how often the hard things happened, and for each run that went wrong its seed, what was wrong,
the fewest actions found that still go wrong and the last lines of its trace.
Exit code: 0 no run went wrong, 1 one did, 2 bad input.
";

const TRACE_HELP: &str = "\
highwater trace FILE|LINK [options]: tell what happens in a run, a line each, and what it comes to

  --until T      up to this moment, such as 20s or 1500ms (default: the moment of the link, else half a
                 minute beyond the last thing that the script does; at most an hour)
  --all          every message and record too, not only what is notable

A line is the moment, the node, what happened with its values, and behind < what it came of. What waits
is told when it begins, with its end, and when it ends. At the end stand, of each producer, the records
sent, acknowledged, failed, lost (with offsets) and written twice; of each group what it was given; of
each partition leader, ISR, ELR, end and lag. The last line is the digest of the world: the same scenario
gives the same digest everywhere.
";

const BENCH_HELP: &str = "\
highwater bench [options]: say how many events a second are simulated

  --events N     how many to simulate (default 500000), after a tenth of them to warm up
  --json         one line of JSON: {\"events_per_second\": N}
";

const LINK_HELP: &str = "\
highwater link FILE: print the link of a scenario file; its size goes to the error stream

What is printed begins with # and stands behind the address of the page.
";

const OPEN_HELP: &str = "\
highwater open LINK: print the scenario in a link, in its canonical form

LINK is an address with a link, or what stands behind its #.
";

/// Reads the command line.
pub fn parse(mut parser: lexopt::Parser) -> Result<Command, Complaint> {
    let command = match parser.next().map_err(said)? {
        None | Some(Long("help") | Short('h')) => return Ok(Command::Help(HELP)),
        Some(Long("version") | Short('V')) => return Ok(Command::Help(VERSION)),
        Some(Value(name)) => name.string().map_err(said)?,
        Some(other) => return Err(format!("{}; try highwater --help", other.unexpected())),
    };
    match command.as_str() {
        "help" => Ok(Command::Help(HELP)),
        "conform" => conform(parser),
        "swarm" => swarm(parser),
        "trace" => trace(parser),
        "bench" => bench(parser),
        "link" => {
            Ok(one(parser, "link", "a scenario file")?
                .map_or(Command::Help(LINK_HELP), |file| Command::Link(file.into())))
        }
        "open" => match one(parser, "open", "a link")? {
            None => Ok(Command::Help(OPEN_HELP)),
            Some(link) => link
                .into_string()
                .map(Command::Open)
                .map_err(|_| "open: found bytes that are no text, expected a link".into()),
        },
        _ => Err(format!(
            "unknown command \"{command}\"; expected one of conform, swarm, trace, bench, link, open (see highwater \
             --help)"
        )),
    }
}

fn said(error: lexopt::Error) -> Complaint {
    format!("{error}; try highwater --help")
}

/// A whole number of at least `least`.
fn number(parser: &mut lexopt::Parser, option: &str, least: u64) -> Result<u64, Complaint> {
    let text = parser.value().and_then(|v| v.string()).map_err(said)?;
    match text.parse::<u64>() {
        Ok(number) if number >= least => Ok(number),
        Ok(_) | Err(_) => Err(format!("--{option}: found \"{text}\", expected a whole number of at least {least}")),
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

fn conform(mut parser: lexopt::Parser) -> Result<Command, Complaint> {
    let mut options =
        Conform { files: Vec::new(), seeds: None, threads: cores(), json: false, verbose: false, metadata: false };
    while let Some(arg) = parser.next().map_err(said)? {
        match arg {
            Long("help") | Short('h') => return Ok(Command::Help(CONFORM_HELP)),
            Long("seeds") => options.seeds = Some((1, number(&mut parser, "seeds", 1)?)),
            Long("seed") => {
                let seed = number(&mut parser, "seed", 0)?;
                options.seeds = Some((seed, seed));
            }
            Long("threads") => options.threads = number(&mut parser, "threads", 1)? as usize,
            Long("json") => options.json = true,
            Long("verbose") => options.verbose = true,
            Long("metadata") => options.metadata = true,
            Value(file) => options.files.push(file.into()),
            other => return Err(format!("conform: {}; try highwater conform --help", other.unexpected())),
        }
    }
    match options.files.is_empty() {
        true => Err("conform: expected at least one recording; try highwater conform --help".into()),
        false => Ok(Command::Conform(options)),
    }
}

fn swarm(mut parser: lexopt::Parser) -> Result<Command, Complaint> {
    let mut options = Swarm { runs: 100, seed: 1, threads: cores() };
    while let Some(arg) = parser.next().map_err(said)? {
        match arg {
            Long("help") | Short('h') => return Ok(Command::Help(SWARM_HELP)),
            Long("runs") => options.runs = number(&mut parser, "runs", 1)?,
            Long("seed") => options.seed = number(&mut parser, "seed", 0)?,
            Long("threads") => options.threads = number(&mut parser, "threads", 1)? as usize,
            other => return Err(format!("swarm: {}; try highwater swarm --help", other.unexpected())),
        }
    }
    Ok(Command::Swarm(options))
}

fn bench(mut parser: lexopt::Parser) -> Result<Command, Complaint> {
    let mut options = Bench { events: 500_000, json: false };
    while let Some(arg) = parser.next().map_err(said)? {
        match arg {
            Long("help") | Short('h') => return Ok(Command::Help(BENCH_HELP)),
            Long("events") => {
                let events = number(&mut parser, "events", 1)?;
                options.events = u32::try_from(events)
                    .map_err(|_| format!("--events: found {events}, expected at most {}", u32::MAX))?;
            }
            Long("json") => options.json = true,
            other => return Err(format!("bench: {}; try highwater bench --help", other.unexpected())),
        }
    }
    Ok(Command::Bench(options))
}

/// The only argument of a command; `None` if help was asked for.
fn one(mut parser: lexopt::Parser, command: &str, expected: &str) -> Result<Option<OsString>, Complaint> {
    let mut found = None;
    while let Some(arg) = parser.next().map_err(said)? {
        match arg {
            Long("help") | Short('h') => return Ok(None),
            Value(value) if found.is_none() => found = Some(value),
            other => return Err(format!("{command}: {}; expected {expected} alone", other.unexpected())),
        }
    }
    found.map(Some).ok_or_else(|| format!("{command}: expected {expected}; try highwater {command} --help"))
}

fn trace(mut parser: lexopt::Parser) -> Result<Command, Complaint> {
    let mut options = Trace { what: String::new(), until: None, all: false };
    while let Some(arg) = parser.next().map_err(said)? {
        match arg {
            Long("help") | Short('h') => return Ok(Command::Help(TRACE_HELP)),
            Long("all") => options.all = true,
            Long("until") => {
                let text = parser.value().and_then(|v| v.string()).map_err(said)?;
                options.until = Some(
                    unit::duration(&text)
                        .ok_or_else(|| format!("--until: found \"{text}\", expected {}", unit::A_DURATION))?,
                );
            }
            Value(what) if options.what.is_empty() => options.what = what.string().map_err(said)?,
            other => return Err(format!("trace: {}; try highwater trace --help", other.unexpected())),
        }
    }
    match options.what.is_empty() {
        true => Err("trace: expected a scenario file or a link; try highwater trace --help".into()),
        false => Ok(Command::Trace(options)),
    }
}
