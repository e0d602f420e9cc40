use std::collections::BTreeMap;

use lift_store::{Cause, PastRun, Run, Store};

use crate::with_problem;

fn run(method: &str) -> Run {
    Run {
        method: method.to_string(),
        seed: u64::MAX,
        budget: "100 measurements".to_string(),
        version: "0.1.0".to_string(),
        started: 1_700_000_000,
    }
}

#[test]
fn runs_are_read_back_finished_or_not() {
    let (mut store, problem) = with_problem();
    let killed = store.start_run(problem, &run("random")).unwrap();
    let done = store.start_run(problem, &run("annealing")).unwrap();
    let counts: BTreeMap<_, _> =
        [("derived".to_string(), 900), ("measured".to_string(), 33)].into();
    store.finish_run(done, 1_700_000_060, &counts).unwrap();
    let killed =
        PastRun { id: killed, run: run("random"), finished: None, counts: BTreeMap::new() };
    let done = PastRun { id: done, run: run("annealing"), finished: Some(1_700_000_060), counts };
    assert_eq!(store.runs(problem), Ok(vec![killed, done]));
}

#[test]
fn a_run_finishes_once() {
    let (mut store, problem) = with_problem();
    let id = store.start_run(problem, &run("random")).unwrap();
    store.finish_run(id, 1, &BTreeMap::new()).unwrap();
    let error = store.finish_run(id, 2, &BTreeMap::new()).unwrap_err();
    assert!(matches!(error.cause, Cause::Invalid { .. }), "{error}");
    assert_eq!(store.runs(problem).unwrap()[0].finished, Some(1));
}

#[test]
fn a_run_needs_a_problem_of_the_store() {
    let (_, problem) = with_problem();
    let mut empty = Store::open_in_memory().unwrap();
    let error = empty.start_run(problem, &run("random")).unwrap_err();
    assert!(matches!(error.cause, Cause::Invalid { .. }), "{error}");
}
