#![allow(clippy::unwrap_used)]
//! The store as its users see it: what it answers, what it survives, and what it refuses.

mod altered;
mod bad_files;
mod candidates;
mod documentation;
mod features;
mod folders;
mod killed;
mod measurements;
mod merged;
mod older;
mod problems;
mod read_only;
mod runs;
mod together;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lift_store::{
    Candidate, Device, Durations, Measurement, Outcome, ProblemId, ProblemKey, Store,
};

include!("sample.rs");

/// An empty store with one problem.
fn with_problem() -> (Store, ProblemId) {
    let mut store = Store::open_in_memory().unwrap();
    let problem = store.problem(&key()).unwrap();
    (store, problem)
}

fn ok(samples: &[f64]) -> Measurement {
    Measurement { samples: samples.to_vec(), ..measurement(0) }
}

fn durations(n: u8) -> Durations {
    let ms = f64::from(n);
    Durations { choose_ms: ms, compile_ms: ms + 0.25, run_ms: ms + 0.5, compare_ms: ms + 0.75 }
}

fn not_ok(outcome: Outcome) -> Measurement {
    let message = format!("it is {outcome}");
    Measurement { outcome, message, samples: Vec::new(), ..measurement(0) }
}

/// The other process: an example, which `cargo test` builds beside the tests.
fn child() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let built = own.ancestors().nth(2).unwrap().join("examples/lift-store-child");
    assert!(built.is_file(), "no {}: build it by `cargo build --examples`", built.display());
    built
}

/// A child that writes; its lines say what is recorded.
fn writer(file: &Path, tag: &str, count: u64) -> Command {
    let mut command = Command::new(child());
    command.arg("write").arg(file).args([tag, &count.to_string()]).stdout(Stdio::piped());
    command
}

/// The texts of all derivations, in the order in which they were added.
fn derivations(file: &Path) -> Vec<String> {
    let connection = rusqlite::Connection::open(file).unwrap();
    let mut statement = connection.prepare("SELECT text FROM derivations ORDER BY id").unwrap();
    let texts = statement.query_map([], |row| row.get(0)).unwrap();
    texts.map(Result::unwrap).collect()
}

/// What SQLite finds wrong with a file: `ok` if nothing.
fn integrity(file: &Path) -> String {
    let connection = rusqlite::Connection::open(file).unwrap();
    connection.pragma_query_value(None, "integrity_check", |row| row.get(0)).unwrap()
}
