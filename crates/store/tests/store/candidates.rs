use lift_store::{Candidate, Cause, ProblemKey, Store};

use crate::{candidate, derivations, key, ok, with_problem};

#[test]
fn a_candidate_is_read_back_as_it_was_given() {
    let (mut store, problem) = with_problem();
    let id = store.candidate(problem, &candidate("a")).unwrap();
    store.record(id, &ok(&[1.0])).unwrap();
    let measured = store.measured(problem).unwrap();
    assert_eq!(measured.len(), 1);
    assert_eq!((measured[0].id, &measured[0].candidate), (id, &candidate("a")));
}

#[test]
fn the_first_of_equal_hashes_stays() {
    let (mut store, problem) = with_problem();
    let id = store.candidate(problem, &candidate("a")).unwrap();
    let other_way = Candidate { derivation: "another way".into(), ..candidate("a") };
    assert_eq!(store.candidate(problem, &other_way), Ok(id));
    store.record(id, &ok(&[1.0])).unwrap();
    assert_eq!(store.measured(problem).unwrap()[0].candidate, candidate("a"));
}

#[test]
fn a_derivation_of_several_candidates_is_kept_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tuning.db");
    let mut store = Store::open(&file).unwrap();
    let problem = store.problem(&key()).unwrap();
    let other = store.problem(&ProblemKey { flags: String::new(), ..key() }).unwrap();
    let itself = Candidate { derivation: "".into(), ..candidate("b") };
    let given = [candidate("a"), itself, candidate("c")];
    for candidate in &given {
        store.candidate(problem, candidate).unwrap();
    }
    store.candidate(other, &candidate("a")).unwrap();
    let kept = store.candidates(problem).unwrap();
    assert_eq!(kept.into_iter().map(|(_, candidate)| candidate).collect::<Vec<_>>(), given);
    assert_eq!(derivations(&file), [candidate("a").derivation.to_string(), String::new()]);
}

#[test]
fn derivations_of_candidates_that_are_not_added_are_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tuning.db");
    let mut store = Store::open(&file).unwrap();
    let problem = store.problem(&key()).unwrap();
    store.candidate(problem, &candidate("a")).unwrap();
    let other_way = Candidate { derivation: "another way".into(), ..candidate("a") };
    store.candidate(problem, &other_way).unwrap();
    let (mut elsewhere, _) = with_problem();
    let foreign = elsewhere.problem(&ProblemKey { flags: String::new(), ..key() }).unwrap();
    let no_problem = Candidate { hash: "b".to_string(), ..other_way };
    store.candidate(foreign, &no_problem).unwrap_err();
    assert_eq!(derivations(&file), [candidate("a").derivation.to_string()]);
}

#[test]
fn problems_do_not_share_candidates() {
    let (mut store, problem) = with_problem();
    let other = store.problem(&ProblemKey { flags: String::new(), ..key() }).unwrap();
    let id = store.candidate(problem, &candidate("a")).unwrap();
    assert_ne!(store.candidate(other, &candidate("a")), Ok(id));
    store.record(id, &ok(&[1.0])).unwrap();
    assert_eq!(store.is_measured(other, "a"), Ok(None));
    assert_eq!(store.measured(other), Ok(Vec::new()));
    assert_eq!(store.best(other), Ok(None));
    assert!(store.counts(other).unwrap().is_empty());
}

#[test]
fn a_problem_of_another_store_is_refused() {
    let (_, problem) = with_problem();
    let mut empty = Store::open_in_memory().unwrap();
    let error = empty.candidate(problem, &candidate("a")).unwrap_err();
    assert!(matches!(error.cause, Cause::Invalid { .. }), "{error}");
}
