//! What is found is kept, told and used.

use std::fs;

use serde_json::Value;

use crate::{TUNE, folder, json, lift, measured};

/// The count of a phase.
fn phase(report: &Value, name: &str) -> u64 {
    report["phases"][name].as_u64().unwrap()
}

#[test]
fn the_best_is_kept_written_and_used() {
    let folder = folder();
    let path = folder.path();
    let more = ["--entry", "twice", "--trials", "3", "-o", "best.lift"];
    let report = json(path, &[TUNE, &more].concat());
    assert_eq!(report["tried"], 3);
    assert_eq!(phase(&report, "measured"), 3);
    assert!(phase(&report, "low_level_programs") >= 4);
    assert!(report["seconds"].as_f64().unwrap() > 0.0);
    let id = report["best"]["id"].as_str().unwrap();
    assert!(report["best"]["kernel_ms"].as_f64().unwrap() >= 0.0);
    assert!(report["default_ms"].as_f64().unwrap() >= 0.0);
    for key in ["derivation", "parameters", "global", "local"] {
        assert!(report["best"][key].is_string(), "{key}");
    }
    // What is written is the program, and it is right.
    let written = fs::read_to_string(path.join("best.lift")).unwrap();
    assert_eq!(report["best"]["text"], written);
    let eval = |file: &str| {
        let ran = lift(path, &["eval", file, "--entry", "twice", "xs=iota", "--size", "N=256"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.stdout
    };
    assert_eq!(eval("best.lift"), eval("p.lift"));
    let own = ["run", "p.lift", "--entry", "twice", "xs=iota", "--size", "N=256"];
    let run = |more: &[&str]| json(path, &[&own[..], more].concat());
    assert_eq!(run(&["--db", "t.db"])["variant"], id);
    assert_eq!(run(&["--db", "t.db", "--untuned"])["variant"], "default");
    assert_eq!(run(&["--db", "other.db"])["variant"], "default");
    assert_eq!(run(&["--db", "t.db"])["result"], run(&["--db", "t.db", "--untuned"])["result"]);
}

#[test]
fn the_summary_is_a_program_with_what_is_known_about_it() {
    let folder = folder();
    let path = folder.path();
    let ran = lift(path, &[TUNE, &["--entry", "twice", "--trials", "4"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let (program, about) = ran.stdout.split_once("\n\n// ").unwrap();
    assert!(program.starts_with("def twice[N"), "{program}");
    let told = about.lines().next().unwrap();
    for part in [" ms, ", " GB/s, ", " GFLOP/s, ", " times as fast as the default lowering ("] {
        assert!(told.contains(part), "{told}");
    }
    assert!(about.contains("// 4 tried in "), "{about}");
    assert!(about.contains("low-level programs: "), "{about}");
    assert!(about.contains("derived by") || about.contains("the program as it is"), "{about}");
    assert!(ran.stderr.contains("low-level programs to choose from\n1 of 4 tried, "));
    fs::write(path.join("whole.lift"), &ran.stdout).unwrap();
    assert_eq!(lift(path, &["check", "whole.lift"]).code, 0);
}

#[test]
fn a_resumed_search_measures_what_is_new() {
    let folder = folder();
    let search = ["--entry", "sum", "--search", "exhaustive", "--resume", "--trials"];
    let tune = |trials| json(folder.path(), &[TUNE, &search, &[trials]].concat());
    let (first, second) = (tune("2"), tune("1"));
    assert_eq!((&first["tried"], &second["tried"]), (&2.into(), &1.into()));
    let measured = measured(folder.path());
    assert_eq!(measured.len(), 3);
    assert!(measured.iter().all(|m| m.measurements.len() == 1));
    let store = lift_store::Store::open(folder.path().join("t.db")).unwrap();
    let runs = store.runs(store.problems().unwrap()[0]).unwrap();
    assert_eq!(runs.len(), 2);
    assert!(runs.iter().all(|run| run.finished.is_some()));
}

#[test]
fn what_cannot_be_tuned_is_said() {
    let folder = folder();
    let path = folder.path();
    let said = |arguments: &[&str]| {
        let ran = lift(path, arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
        ran.stderr
    };
    let missing = said(&["tune", "p.lift", "--db", "t.db"]);
    assert_eq!(missing, "error: `N` has no value: give `--size N=…`\n\n");
    assert!(!path.join("t.db").exists());
    let device = said(&[TUNE, &["--device", "opencl:nowhere"]].concat());
    assert!(device.contains("nowhere"), "{device}");
    fs::write(path.join("t.db"), "not a database, but a text of some length").unwrap();
    let database = said(TUNE);
    assert!(database.contains("t.db"), "{database}");
    assert_eq!(lift(path, &["tune"]).code, 2);
}
