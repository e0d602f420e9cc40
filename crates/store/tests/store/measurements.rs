use lift_store::{Cause, Durations, Measurement, Outcome, ProblemId, Store, Tried};

use crate::{candidate, durations, measurement, not_ok, ok, with_problem};

fn record(store: &mut Store, problem: ProblemId, hash: &str, measurement: &Measurement) {
    let id = store.candidate(problem, &candidate(hash)).unwrap();
    store.record(id, measurement).unwrap();
}

/// The hash and the median of the best.
fn best(store: &Store, problem: ProblemId) -> Option<(String, f64)> {
    store.best(problem).unwrap().map(|best| (best.candidate.hash, best.median))
}

#[test]
fn measurements_are_read_back_bit_by_bit_and_in_order() {
    let (mut store, problem) = with_problem();
    let tiny = ok(&[0.1 + 0.2, 1e-9, f64::MIN_POSITIVE, 1e300, 0.0]);
    let given = [measurement(7), not_ok(Outcome::Wrong), tiny];
    given.iter().for_each(|measurement| record(&mut store, problem, "a", measurement));
    assert_eq!(store.measured(problem).unwrap()[0].measurements, given);
}

#[test]
fn candidates_come_in_the_order_they_were_added() {
    let (mut store, problem) = with_problem();
    for hash in ["b", "a", "c"] {
        store.candidate(problem, &candidate(hash)).unwrap();
    }
    for hash in ["c", "b"] {
        record(&mut store, problem, hash, &ok(&[1.0]));
    }
    let measured = store.measured(problem).unwrap();
    let hashes: Vec<_> = measured.iter().map(|one| one.candidate.hash.as_str()).collect();
    assert_eq!(hashes, ["b", "c"], "without a measurement there is nothing to resume from");
}

#[test]
fn every_outcome_is_recorded_and_the_latest_answers() {
    let (mut store, problem) = with_problem();
    assert_eq!(store.is_measured(problem, "a"), Ok(None));
    store.candidate(problem, &candidate("a")).unwrap();
    assert_eq!(store.is_measured(problem, "a"), Ok(None));
    record(&mut store, problem, "a", &ok(&[1.0]));
    for outcome in Outcome::ALL.into_iter().filter(|outcome| *outcome != Outcome::Ok) {
        record(&mut store, problem, "a", &not_ok(outcome));
        assert_eq!(store.is_measured(problem, "a"), Ok(Some(outcome)));
    }
}

#[test]
fn the_lowest_median_is_best() {
    let (mut store, problem) = with_problem();
    assert_eq!(best(&store, problem), None);
    record(&mut store, problem, "a", &ok(&[1.0, 9.0, 9.0]));
    record(&mut store, problem, "b", &ok(&[8.0, 7.0, 7.0]));
    assert_eq!(best(&store, problem), Some(("b".to_string(), 7.0)));
    record(&mut store, problem, "c", &not_ok(Outcome::Crashed));
    let wrong = Measurement { outcome: Outcome::Wrong, ..ok(&[0.1]) };
    record(&mut store, problem, "d", &wrong);
    assert_eq!(best(&store, problem), Some(("b".to_string(), 7.0)), "only ok counts");
}

#[test]
fn the_first_added_of_equals_is_best() {
    let (mut store, problem) = with_problem();
    for hash in ["b", "a"] {
        store.candidate(problem, &candidate(hash)).unwrap();
    }
    for hash in ["a", "b"] {
        record(&mut store, problem, hash, &ok(&[2.0]));
    }
    assert_eq!(best(&store, problem), Some(("b".to_string(), 2.0)));
}

#[test]
fn the_latest_ok_measurement_of_a_candidate_counts() {
    let (mut store, problem) = with_problem();
    record(&mut store, problem, "a", &ok(&[1.0]));
    record(&mut store, problem, "b", &ok(&[2.0]));
    record(&mut store, problem, "a", &ok(&[3.0]));
    assert_eq!(best(&store, problem), Some(("b".to_string(), 2.0)));
    record(&mut store, problem, "b", &ok(&[4.0]));
    record(&mut store, problem, "a", &not_ok(Outcome::TimedOut));
    assert_eq!(best(&store, problem), Some(("a".to_string(), 3.0)));
    assert_eq!(store.best(problem).unwrap().unwrap().measurement, ok(&[3.0]));
}

#[test]
fn what_was_found_wrong_is_best_only_when_it_was_ok_since() {
    let (mut store, problem) = with_problem();
    record(&mut store, problem, "a", &ok(&[1.0]));
    record(&mut store, problem, "a", &not_ok(Outcome::Wrong));
    assert_eq!(best(&store, problem), None);
    record(&mut store, problem, "a", &ok(&[2.0]));
    assert_eq!(best(&store, problem), Some(("a".to_string(), 2.0)));
}

#[test]
fn candidates_are_counted_by_their_latest_outcome() {
    let (mut store, problem) = with_problem();
    record(&mut store, problem, "a", &ok(&[1.0]));
    record(&mut store, problem, "a", &ok(&[1.0]));
    record(&mut store, problem, "b", &not_ok(Outcome::Wrong));
    record(&mut store, problem, "c", &ok(&[1.0]));
    record(&mut store, problem, "c", &not_ok(Outcome::Wrong));
    store.candidate(problem, &candidate("d")).unwrap();
    let counts = store.counts(problem).unwrap();
    assert_eq!(counts, [(Outcome::Ok, 1), (Outcome::Wrong, 2)].into());
}

#[test]
fn a_measurement_that_is_refused_leaves_nothing() {
    let (mut store, problem) = with_problem();
    let id = store.candidate(problem, &candidate("a")).unwrap();
    for bad in [ok(&[]), ok(&[f64::NAN]), ok(&[-1.0])] {
        let error = store.record(id, &bad).unwrap_err();
        assert!(matches!(error.cause, Cause::Invalid { .. }), "{error}");
    }
    assert_eq!(store.is_measured(problem, "a"), Ok(None));
}

#[test]
fn a_candidate_of_another_store_is_refused() {
    let (mut store, problem) = with_problem();
    let id = store.candidate(problem, &candidate("a")).unwrap();
    let error = Store::open_in_memory().unwrap().record(id, &ok(&[1.0])).unwrap_err();
    assert!(matches!(error.cause, Cause::Invalid { .. }), "{error}");
}

#[test]
fn what_was_tried_is_recorded_as_a_whole_or_not_at_all() {
    let (mut store, problem) = with_problem();
    let features = [("loads".to_string(), 4.0)].into();
    let mut record = |hash: &str, measurement: &Measurement, durations: Option<Durations>| {
        let (candidate, features) = (&candidate(hash), &features);
        let tried = Tried { candidate, version: 3, features, measurement, durations };
        store.record_tried(problem, &tried).is_ok()
    };
    assert!(record("a", &ok(&[1.0]), None));
    assert!(record("a", &ok(&[2.0]), Some(durations(3))));
    assert!(record("b", &not_ok(Outcome::Wrong), Some(durations(4))));
    for odd in [f64::NAN, -1.0] {
        assert!(!record("c", &ok(&[3.0]), Some(Durations { run_ms: odd, ..durations(1) })));
        assert!(!record("c", &ok(&[odd]), None));
    }
    // How long it took is known where somebody looked at the clock.
    assert_eq!(store.durations(problem), Ok(vec![durations(3), durations(4)]));
    let measured = store.measured(problem).unwrap();
    let medians: Vec<Vec<Option<f64>>> = measured
        .iter()
        .map(|one| one.measurements.iter().map(Measurement::median).collect())
        .collect();
    assert_eq!(medians, [vec![Some(1.0), Some(2.0)], vec![None]]);
    assert_eq!(store.candidates(problem).unwrap().len(), 2);
    assert!(store.features(problem).unwrap().iter().all(|one| one.numbers == features));
    assert_eq!(store.remove_altered(problem), Ok(0));
}
