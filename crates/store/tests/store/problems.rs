use lift_store::{Cause, ProblemKey, Store};

use crate::key;

#[test]
fn the_same_key_is_the_same_problem() {
    let mut store = Store::open_in_memory().unwrap();
    let problem = store.problem(&key()).unwrap();
    assert_eq!(store.problem(&key()), Ok(problem));
    assert_eq!(store.find_problem(&key()), Ok(Some(problem)));
}

#[test]
fn program_sizes_device_and_flags_tell_problems_apart() {
    let mut store = Store::open_in_memory().unwrap();
    let mut keys = vec![key(); 5];
    keys[1].program.push(' ');
    keys[2].sizes.insert("N".to_string(), 2048);
    keys[3].device.fingerprint = "cpu test 1.1".to_string();
    keys[4].flags = String::new();
    let mut problems: Vec<_> = keys.iter().map(|key| store.problem(key).unwrap()).collect();
    let again: Vec<_> = keys.iter().map(|key| store.problem(key).unwrap()).collect();
    assert_eq!(problems, again);
    problems.sort();
    problems.dedup();
    assert_eq!(problems.len(), keys.len());
}

#[test]
fn names_do_not_tell_problems_apart() {
    let mut store = Store::open_in_memory().unwrap();
    let problem = store.problem(&key()).unwrap();
    let mut renamed = ProblemKey { name: "g".to_string(), ..key() };
    renamed.device.name = "the same".to_string();
    assert_eq!(store.problem(&renamed), Ok(problem));
}

#[test]
fn finding_adds_nothing() {
    let mut store = Store::open_in_memory().unwrap();
    assert_eq!(store.find_problem(&key()), Ok(None));
    assert_eq!(store.find_problem(&key()), Ok(None));
    let problem = store.problem(&key()).unwrap();
    assert_eq!(store.find_problem(&key()), Ok(Some(problem)));
}

#[test]
fn a_size_without_a_proper_name_is_refused() {
    let mut store = Store::open_in_memory().unwrap();
    let sizes = [("N=1,M".to_string(), 2)].into();
    let error = store.problem(&ProblemKey { sizes, ..key() }).unwrap_err();
    assert!(matches!(error.cause, Cause::Invalid { .. }), "{error}");
}
