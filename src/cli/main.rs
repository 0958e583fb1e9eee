//! The native command `highwater`: the same engine as in the page, without the page. Holds arguments, files and
//! printing only.

mod args;
mod bench;
mod conform;
mod links;
mod out;
mod swarm;
mod trace;
mod workers;

use std::process::ExitCode;

use args::Command;

/// Exit code of bad input: arguments or files.
const BAD_INPUT: u8 = 2;

/// What keeps a command from doing its work: bad arguments or files. Said on the error stream.
pub type Complaint = String;

fn main() -> ExitCode {
    let outcome = args::parse(lexopt::Parser::from_env()).and_then(|command| match command {
        Command::Help(text) => {
            out::write(format_args!("{text}"));
            Ok(true)
        }
        Command::Conform(options) => conform::run(&options),
        Command::Swarm(options) => swarm::run(&options),
        Command::Trace(options) => trace::run(&options),
        Command::Bench(options) => bench::run(&options),
        Command::Link(path) => links::link(&path),
        Command::Open(link) => links::open(&link),
    });
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(complaint) => {
            out::complain(format_args!("{complaint}"));
            ExitCode::from(BAD_INPUT)
        }
    }
}
