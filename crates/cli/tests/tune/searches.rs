//! Ways to search: near what was fast, and by what a model predicts; and what they have in common.

use std::collections::HashSet;
use std::fs;

use lift_store::Outcome;

use crate::{TUNE, folder, json, lift, measured};

#[test]
fn a_search_that_learns_measures_what_was_asked_for() {
    let folder = folder();
    let more = ["--entry", "twice", "--search", "learning", "--trials", "12"];
    let tuned = json(folder.path(), &[TUNE, &more].concat());
    assert_eq!(tuned["tried"], 12);
    let ok = |m: &lift_store::Measured| m.measurements.iter().any(|m| m.outcome == Outcome::Ok);
    assert!(measured(folder.path()).iter().filter(|m| ok(m)).count() >= 2);
}

#[test]
fn a_model_is_trained_on_one_program_and_leads_the_search_for_another() {
    let folder = folder();
    let learn = ["--entry", "twice", "--trials", "12"];
    json(folder.path(), &[TUNE, &learn].concat());
    let trained = lift(folder.path(), &["model", "train", "t.db", "-o", "model.json"]);
    assert_eq!(trained.code, 0, "{}", trained.stderr);
    fs::remove_file(folder.path().join("t.db")).unwrap();
    let led = ["--entry", "sum", "--search", "model", "--model", "model.json", "--trials", "4"];
    let tuned = json(folder.path(), &[TUNE, &led].concat());
    assert_eq!(tuned["tried"], 4);
    assert_eq!(measured(folder.path()).len(), 4);
}

#[test]
fn a_search_by_a_model_needs_one_for_the_device() {
    let folder = folder();
    let without = lift(folder.path(), &[TUNE, &["--search", "model"]].concat());
    assert_eq!(without.code, 2);
    assert!(without.stderr.contains("--model"), "{}", without.stderr);
    fs::write(folder.path().join("model.json"), "{").unwrap();
    let half = ["--search", "model", "--model", "model.json"];
    let half = lift(folder.path(), &[TUNE, &half].concat());
    assert_eq!(half.code, 1);
    assert!(half.stderr.contains("model.json"), "{}", half.stderr);
    assert!(measured(folder.path()).is_empty());
}

#[test]
fn the_same_kernels_are_measured_once() {
    let folder = folder();
    json(folder.path(), &[TUNE, &["--entry", "twice", "--trials", "15"]].concat());
    let all = measured(folder.path());
    let kernels: HashSet<&str> = all.iter().map(|m| m.candidate.kernel_hash.as_str()).collect();
    assert_eq!(kernels.len(), all.len());
    assert!(!kernels.contains(""));
}

#[test]
fn the_fastest_are_measured_again_in_turns() {
    let folder = folder();
    let settings = fs::read_to_string(folder.path().join("small.toml")).unwrap();
    let settings = settings.replace("finalists = 0", "finalists = 2");
    fs::write(folder.path().join("small.toml"), settings).unwrap();
    json(folder.path(), &[TUNE, &["--entry", "twice", "--trials", "6"]].concat());
    let again = |m: &&lift_store::Measured| m.measurements.len() == 2;
    let all = measured(folder.path());
    let finalists: Vec<_> = all.iter().filter(again).collect();
    assert_eq!(finalists.len(), 2);
    // Three turns of two runs.
    assert!(finalists.iter().all(|m| m.measurements[1].samples.len() == 6));
}
