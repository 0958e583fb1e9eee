//! The helper behind `cargo xtask`: builds, serves, tests and measures the page.
//!
//! It deliberately downloads no prebuilt tool. The bindings generator and the runner of the wasm
//! tests are linked in as a library, so their version is the one in `Cargo.lock`.

mod bench;
mod house;
mod http;
mod options;
mod page;
mod serve;
mod suite;
mod tools;

use house::House;
use options::Options;
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
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // Cargo calls us back as the runner of the wasm tests; its arguments are not ours to read.
    if arguments.first().is_some_and(|first| first == "wasm-test-runner") {
        return wasm_test_runner();
    }
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("\nxtask: {message}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<(), String> {
    let Some((command, rest)) = arguments.split_first() else {
        print!("{USAGE}");
        return Ok(());
    };
    let house = House::find()?;
    match command.as_str() {
        "serve" => {
            let options = Options::read(rest, &["--port", "--dist"], &["--release", "--no-watch", "--no-build"])?;
            serve::run(&house, &options)
        }
        "test" => {
            let options = Options::read(rest, &["--only"], &["--list"])?;
            suite::run(&house, &options)
        }
        "build" => {
            let options = Options::read(rest, &["--dist"], &["--release"])?;
            tools::wasm_target(&house)?;
            let dist = options.path(&house, "--dist", "dist");
            page::build(&house, page::Profile::of(&options), &dist)
        }
        "bench" => {
            Options::read(rest, &[], &[])?;
            bench::run(&house)
        }
        "help" | "--help" | "-h" => {
            print!("{USAGE}");
            Ok(())
        }
        other => Err(format!("there is no command `{other}`\n\n{USAGE}")),
    }
}

fn wasm_test_runner() -> ExitCode {
    match wasm_bindgen_cli::wasm_bindgen_test_runner::run_cli_with_args(std::env::args_os().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:?}");
            ExitCode::FAILURE
        }
    }
}
