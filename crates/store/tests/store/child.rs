//! The other process of the tests.
//!
//! `write FILE TAG COUNT` records COUNT measurements and prints a line for each that is recorded;
//! `open FILE` opens the database and prints what comes of it.

use std::io::Write;
use std::process::ExitCode;

use lift_store::{Candidate, Device, Measurement, Outcome, ProblemKey, Store, StoreError};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match args.as_slice() {
        ["write", file, tag, count] => match count.parse() {
            Ok(count) => write(file, tag, count),
            Err(_) => return usage(),
        },
        ["open", file] => open(file),
        _ => return usage(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: write FILE TAG COUNT, or open FILE");
    ExitCode::FAILURE
}

fn open(file: &str) -> Result<(), StoreError> {
    let mut store = Store::open(file)?;
    store.problem(&key())?;
    println!("opened");
    Ok(())
}

/// Measurement number n is of candidate `TAG-n`; what is in it follows from n.
fn write(file: &str, tag: &str, count: u64) -> Result<(), StoreError> {
    let mut store = Store::open(file)?;
    let problem = store.problem(&key())?;
    for n in 0..count {
        let hash = format!("{tag}-{n}");
        let candidate = store.candidate(problem, &candidate(&hash))?;
        store.record(candidate, &measurement(n))?;
        println!("{n}");
        // A parent that is gone wants no more.
        if std::io::stdout().flush().is_err() {
            break;
        }
    }
    Ok(())
}

include!("sample.rs");
