//! The helper behind `cargo xtask`: builds, serves, tests and measures the page.
//!
//! It deliberately downloads no prebuilt tool. The bindings generator and the runner of the wasm
//! tests are linked in as a library, so their version is the one in `Cargo.lock`.

mod bench;
mod deny;
mod house;
mod http;
mod options;
mod page;
mod serve;
mod site;
mod suite;
mod tools;
mod trunk;

use house::House;
use options::Options;
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask serve [--port N] [--release] [--no-watch] [--no-build] [--dist DIR]
    Builds the page, serves it on 127.0.0.1 and rebuilds it when a file changes.
cargo xtask test [--only STEP]... [--list]
    Installs what is missing and runs every test. --only runs single steps.
cargo xtask build [--release] [--dist DIR]
    Builds the page into dist/.
cargo xtask bench
    Measures the release build and prints the figures beside their budgets.
";

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    // Trunk calls us by the name of the bindings generator, because that is what we are to it.
    if Path::new(&name).file_stem().is_some_and(|stem| stem == trunk::GENERATOR) {
        return ended(wasm_bindgen_cli::wasm_bindgen::run_cli_with_args(std::env::args_os()));
    }
    // Cargo calls us back as the runner of the wasm tests; its arguments are not ours to read.
    if arguments.next().is_some_and(|first| first == "wasm-test-runner") {
        let arguments = std::env::args_os().skip(1);
        return ended(wasm_bindgen_cli::wasm_bindgen_test_runner::run_cli_with_args(arguments));
    }
    match dispatch(lexopt::Parser::from_env()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("\nxtask: {message}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(mut parser: lexopt::Parser) -> Result<(), String> {
    let command = match parser.next().map_err(|error| error.to_string())? {
        Some(lexopt::Arg::Value(command)) => command.to_string_lossy().into_owned(),
        None | Some(lexopt::Arg::Long("help") | lexopt::Arg::Short('h')) => "help".to_owned(),
        Some(other) => return Err(format!("{}\n\n{USAGE}", other.unexpected())),
    };
    if command == "help" {
        print!("{USAGE}");
        return Ok(());
    }
    let house = House::find()?;
    match command.as_str() {
        "serve" => {
            let options = Options::read(parser, &["port", "dist"], &["release", "no-watch", "no-build"])?;
            serve::run(&house, &options)
        }
        "test" => {
            let options = Options::read(parser, &["only"], &["list"])?;
            suite::run(&house, &options)
        }
        "build" => {
            let options = Options::read(parser, &["dist"], &["release"])?;
            tools::wasm_target(&house)?;
            let dist = options.path(&house, "dist", "dist");
            page::build(&house, page::Profile::of(&options), &dist)
        }
        "bench" => {
            Options::read(parser, &[], &[])?;
            bench::run(&house)
        }
        other => Err(format!("there is no command `{other}`\n\n{USAGE}")),
    }
}

fn ended(result: Result<(), impl std::fmt::Debug>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:?}");
            ExitCode::FAILURE
        }
    }
}
