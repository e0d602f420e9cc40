//! `lift tune`, and `lift run` with what it found.

#![allow(clippy::unwrap_used)]

mod common;

use std::fs;

use common::in_folder;
use serde_json::Value;

const SUM: &str = "def sum[N](xs: [f32; N]) -> f32 = xs |> reduce(0.0, (+));
def twice[N](xs: [f32; N]) -> [f32; N] = xs |> map(\\x -> x * 2.0);";

fn lift(folder: &tempfile::TempDir, arguments: &[&str]) -> common::Ran {
    in_folder(folder.path(), arguments)
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("p.lift"), SUM).unwrap();
    folder
}

const TUNE: &[&str] = &["tune", "p.lift", "--size", "N=256", "--repeat", "2", "--db", "t.db"];

fn tuned(folder: &tempfile::TempDir, more: &[&str]) -> Value {
    let ran = lift(folder, &[TUNE, &["--json"], more].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn the_best_is_kept_written_and_used() {
    let folder = folder();
    let more = ["--entry", "twice", "--trials", "3", "-o", "best.lift"];
    let report = tuned(&folder, &more);
    assert_eq!(report["tried"], 3);
    let id = report["best"]["id"].as_str().unwrap();
    assert!(report["best"]["kernel_ms"].as_f64().unwrap() >= 0.0);
    assert!(report["phases"]["low-level programs"].as_u64().unwrap() >= 4);
    // What is written is the program, and it is right.
    let eval = |file: &str| {
        let ran = lift(&folder, &["eval", file, "--entry", "twice", "xs=iota", "--size", "N=256"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.stdout
    };
    assert_eq!(eval("best.lift"), eval("p.lift"));
    let run = |more: &[&str]| {
        let own = ["run", "p.lift", "--entry", "twice", "xs=iota", "--size", "N=256", "--json"];
        let ran = lift(&folder, &[&own, more].concat());
        serde_json::from_str::<Value>(&ran.stdout).unwrap()
    };
    assert_eq!(run(&["--db", "t.db"])["variant"], id);
    assert_eq!(run(&["--db", "t.db", "--untuned"])["variant"], "default");
    assert_eq!(run(&["--db", "other.db"])["variant"], "default");
    assert_eq!(run(&["--db", "t.db"])["result"], run(&["--db", "t.db", "--untuned"])["result"]);
}

#[test]
fn a_resumed_search_measures_what_is_new() {
    let folder = folder();
    let search = ["--entry", "sum", "--search", "exhaustive", "--resume", "--trials"];
    let first = tuned(&folder, &[&search[..], &["2"]].concat());
    let second = tuned(&folder, &[&search[..], &["1"]].concat());
    assert_eq!((&first["tried"], &second["tried"]), (&2.into(), &1.into()));
    let store = lift_store::Store::open(folder.path().join("t.db")).unwrap();
    let problems = store.problems().unwrap();
    assert_eq!(problems.len(), 1);
    let measured = store.measured(problems[0]).unwrap();
    assert_eq!(measured.len(), 3);
    assert!(measured.iter().all(|m| m.measurements.len() == 1));
    assert_eq!(store.runs(problems[0]).unwrap().len(), 2);
}

#[test]
fn what_cannot_be_tuned_is_said() {
    let folder = folder();
    let said = |arguments: &[&str]| {
        let ran = lift(&folder, arguments);
        assert_eq!(ran.code, 1, "{}", ran.stdout);
        ran.stderr
    };
    let missing = said(&["tune", "p.lift", "--db", "t.db"]);
    assert_eq!(missing, "error: `N` has no value: give `--size N=…`\n\n");
    assert!(!folder.path().join("t.db").exists());
    let device = said(&[TUNE, &["--device", "opencl:nowhere"]].concat());
    assert!(device.contains("nowhere"), "{device}");
    fs::write(folder.path().join("t.db"), "not a database, but a text of some length").unwrap();
    let database = said(TUNE);
    assert!(database.contains("t.db"), "{database}");
}
