//! What a database says is a program like any other: it may be altered, foreign, or out of reach.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use lift_store::{Candidate, Measurement, Outcome, Store};

use crate::{TUNE, folder, json, lift, measured};

const TWICE: &[&str] = &["--entry", "twice", "--trials", "2"];

const RUN: &[&str] =
    &["run", "p.lift", "--entry", "twice", "--size", "N=256", "xs=ones", "--db", "t.db"];

/// The result of the program.
const RIGHT: &str = "[2.0, 2.0, 2.0";

/// The form that ran, the result and what was said.
fn run(folder: &Path, more: &[&str]) -> (String, String, String) {
    let ran = lift(folder, &[RUN, more, &["--json"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let text = |key: &str| report[key].as_str().unwrap().to_string();
    (text("variant"), text("result"), ran.stderr)
}

/// The default form ran, and the user knows why.
#[track_caller]
fn runs_by_default(folder: &Path, why: &str) {
    let (variant, result, said) = run(folder, &[]);
    assert_eq!(variant, "default");
    assert!(result.starts_with(RIGHT), "{result}");
    assert!(said.contains(&format!("warning: {why}")), "{said}");
    assert!(said.contains("the default lowering is used"), "{said}");
}

fn edit(folder: &Path, statement: &str) {
    let connection = rusqlite::Connection::open(folder.join("t.db")).unwrap();
    assert!(connection.execute(statement, []).unwrap() > 0);
}

#[test]
fn an_altered_row_is_ignored_and_tuning_replaces_it() {
    let folder = folder();
    let path = folder.path();
    let best = json(path, &[TUNE, TWICE].concat())["best"]["id"].as_str().unwrap().to_string();
    assert_eq!(run(path, &[]).0, best);
    edit(path, "UPDATE candidates SET text = replace(text, '2.0', '3.0')");
    runs_by_default(path, &format!("the row of the candidate {best} in t.db was altered"));
    // All forms were altered, so they are measured again.
    let again = json(path, &[TUNE, TWICE, &["--resume"]].concat());
    assert_eq!(again["tried"], 2);
    let (variant, result, said) = run(path, &[]);
    assert_ne!(variant, "default");
    assert!(result.starts_with(RIGHT) && !said.contains("warning"), "{result} {said}");
}

#[test]
fn a_stored_program_that_cannot_be_read_is_ignored() {
    let folder = folder();
    let path = folder.path();
    json(path, &[TUNE, TWICE].concat());
    plant(path, "def twice of a later language");
    runs_by_default(path, "the stored program planted cannot be read");
}

/// A program that is the fastest by what its row says, recorded as any other.
fn plant(folder: &Path, text: &str) {
    let mut store = Store::open(folder.join("t.db")).unwrap();
    let problem = store.problems().unwrap()[0];
    let (hash, text) = ("planted".to_string(), text.to_string());
    let id = store.candidate(problem, &Candidate { hash, text, ..Candidate::default() }).unwrap();
    let measurement = Measurement {
        outcome: Outcome::Ok,
        message: String::new(),
        samples: vec![0.0],
        started: 0,
        seed: 1,
        host: String::new(),
    };
    store.record(id, &measurement).unwrap();
}

const FOREIGN: &str = "extern \"c\" fn g(x: f32) -> f32 = \"return 7.0f * x;\";
def twice[N](xs: [f32; N]) -> [f32; N] = xs |> map(\\x -> g(x));";

#[test]
fn extern_code_of_a_database_needs_permission() {
    let folder = folder();
    let path = folder.path();
    json(path, &[TUNE, TWICE].concat());
    plant(path, FOREIGN);
    runs_by_default(path, "the stored program planted of t.db uses the extern function `g`");
    let (variant, result, _) = run(path, &["--allow-extern"]);
    assert_eq!(variant, "planted");
    assert!(result.starts_with("[7.0, 7.0"), "{result}");
}

/// The fastest are measured again in the end, and what is planted among them is not run for it.
#[test]
fn extern_code_of_a_database_is_not_measured() {
    let folder = folder();
    let path = folder.path();
    let finalists =
        "[algorithms]\ndepth = 1\nbreadth = 2\n\n[measure]\nrepeats = 2\nfinalists = 3\n";
    fs::write(path.join("small.toml"), finalists).unwrap();
    json(path, &[TUNE, TWICE].concat());
    plant(path, FOREIGN);
    json(path, &[TUNE, TWICE].concat());
    let planted = measured(path).into_iter().find(|m| m.candidate.hash == "planted").unwrap();
    let last = planted.measurements.last().unwrap();
    assert_eq!(last.outcome, Outcome::Refused);
    assert!(last.message.contains("the extern function `g`"), "{}", last.message);
}

/// The test of `lift-lang-store` is by another user; where this one may do everything, it says less.
#[test]
fn a_database_that_cannot_be_written_is_used() {
    let folder = folder();
    let path = folder.path();
    let best = json(path, &[TUNE, TWICE].concat())["best"]["id"].as_str().unwrap().to_string();
    let allow = |name: &str, mode: u32| {
        fs::set_permissions(path.join(name), Permissions::from_mode(mode)).unwrap();
    };
    allow("t.db", 0o444);
    allow("", 0o555);
    let found = run(path, &[]);
    allow("", 0o755);
    assert_eq!(found.0, best);
}
