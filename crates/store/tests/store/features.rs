use std::collections::BTreeMap;

use lift_store::{Cause, Outcome, ProblemKey, Store};

use crate::{candidate, key, not_ok, ok, with_problem};

fn numbers(loads: f64) -> BTreeMap<String, f64> {
    [("loads".to_string(), loads), ("third".to_string(), 1.0 / 3.0)].into()
}

#[test]
fn features_are_read_back_bit_by_bit_in_the_order_of_candidates() {
    let (mut store, problem) = with_problem();
    let first = store.candidate(problem, &candidate("b")).unwrap();
    let second = store.candidate(problem, &candidate("a")).unwrap();
    store.record_features(second, 1, &numbers(0.1 + 0.2)).unwrap();
    store.record_features(first, 2, &numbers(1e300)).unwrap();
    store.record_features(first, 1, &numbers(-5e-324)).unwrap();
    let read: Vec<_> = store.features(problem).unwrap();
    let read: Vec<_> = read.into_iter().map(|f| (f.candidate, f.version, f.numbers)).collect();
    let given =
        [(first, 1, numbers(-5e-324)), (first, 2, numbers(1e300)), (second, 1, numbers(0.1 + 0.2))];
    assert_eq!(read, given);
}

#[test]
fn the_numbers_recorded_last_for_a_version_stay() {
    let (mut store, problem) = with_problem();
    let id = store.candidate(problem, &candidate("a")).unwrap();
    store.record_features(id, 1, &numbers(1.0)).unwrap();
    store.record_features(id, 1, &numbers(2.0)).unwrap();
    let read = store.features(problem).unwrap();
    assert_eq!(read.len(), 1);
    assert_eq!(read[0].numbers, numbers(2.0));
}

#[test]
fn what_is_no_feature_is_refused_and_leaves_nothing() {
    let (mut store, problem) = with_problem();
    let id = store.candidate(problem, &candidate("a")).unwrap();
    for bad in [f64::NAN, f64::INFINITY] {
        let error = store.record_features(id, 1, &numbers(bad)).unwrap_err();
        assert!(matches!(error.cause, Cause::Invalid { .. }), "{error}");
        assert!(error.to_string().contains("`loads` is"), "{error}");
    }
    assert_eq!(store.features(problem), Ok(Vec::new()));
    let error = Store::open_in_memory().unwrap().record_features(id, 1, &numbers(1.0));
    assert!(matches!(error.unwrap_err().cause, Cause::Invalid { .. }));
}

#[test]
fn problems_do_not_share_features() {
    let (mut store, problem) = with_problem();
    let other = store.problem(&ProblemKey { flags: String::new(), ..key() }).unwrap();
    let id = store.candidate(problem, &candidate("a")).unwrap();
    store.record_features(id, 1, &numbers(1.0)).unwrap();
    assert_eq!(store.features(other), Ok(Vec::new()));
}

#[test]
fn candidates_are_listed_also_without_measurements() {
    let (mut store, problem) = with_problem();
    let first = store.candidate(problem, &candidate("b")).unwrap();
    let second = store.candidate(problem, &candidate("a")).unwrap();
    store.record(second, &ok(&[1.0])).unwrap();
    let listed = store.candidates(problem).unwrap();
    assert_eq!(listed, [(first, candidate("b")), (second, candidate("a"))]);
}

#[test]
fn a_problem_has_the_key_it_was_made_with() {
    let (mut store, problem) = with_problem();
    let mut without_sizes = key();
    without_sizes.sizes.clear();
    let other = store.problem(&without_sizes).unwrap();
    assert_eq!(store.key(problem), Ok(key()));
    assert_eq!(store.key(other), Ok(without_sizes));
    let error = Store::open_in_memory().unwrap().key(problem).unwrap_err();
    assert!(matches!(error.cause, Cause::Invalid { .. }), "{error}");
}

#[test]
fn kernels_are_known_whichever_candidate_was_measured_with_them() {
    let (mut store, problem) = with_problem();
    let with_kernel = |hash: &str, kernel: &str| {
        let kernel_hash = kernel.to_string();
        lift_store::Candidate { kernel_hash, ..candidate(hash) }
    };
    let a = store.candidate(problem, &with_kernel("a", "k")).unwrap();
    let b = store.candidate(problem, &with_kernel("b", "k")).unwrap();
    let other = store.candidate(problem, &with_kernel("c", "other")).unwrap();
    let nameless = store.candidate(problem, &with_kernel("d", "")).unwrap();
    store.record(other, &ok(&[7.0])).unwrap();
    store.record(nameless, &ok(&[8.0])).unwrap();
    assert_eq!(store.measured_kernel(problem, "k"), Ok(None));
    assert_eq!(store.measured_kernel(problem, ""), Ok(None));

    store.record(a, &ok(&[1.0])).unwrap();
    store.record(a, &not_ok(Outcome::TimedOut)).unwrap();
    let found = store.measured_kernel(problem, "k").unwrap().unwrap();
    assert_eq!((found.id, found.measurements), (a, vec![ok(&[1.0])]));
    store.record(b, &ok(&[2.0])).unwrap();
    let found = store.measured_kernel(problem, "k").unwrap().unwrap();
    assert_eq!((found.id, found.measurements), (b, vec![ok(&[2.0])]));

    store.record(a, &not_ok(Outcome::Wrong)).unwrap();
    assert_eq!(store.measured_kernel(problem, "k"), Ok(None), "the kernels were found wrong since");
    let elsewhere = store.problem(&ProblemKey { flags: String::new(), ..key() }).unwrap();
    assert_eq!(store.measured_kernel(elsewhere, "other"), Ok(None));
}
