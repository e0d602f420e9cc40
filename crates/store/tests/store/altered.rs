//! Rows that somebody edited: they are noticed, and nothing is made of them.

use std::path::{Path, PathBuf};

use lift_store::{Cause, ProblemId, ProblemKey, Store};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::{candidate, key, not_ok, ok};

/// Two candidates of a problem, `b` the faster one; and another problem with one, `c`.
fn filled() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.db");
    let mut store = Store::open(&file).unwrap();
    let problem = store.problem(&key()).unwrap();
    let other = store.problem(&ProblemKey { flags: String::new(), ..key() }).unwrap();
    for (problem, hash, ms) in [(problem, "a", 2.0), (problem, "b", 1.0), (other, "c", 0.5)] {
        let id = store.candidate(problem, &candidate(hash)).unwrap();
        store.record(id, &ok(&[ms])).unwrap();
    }
    (folder, file)
}

fn edit(file: &Path, statement: &str) {
    let connection = Connection::open(file).unwrap();
    connection.pragma_update(None, "foreign_keys", false).unwrap();
    assert!(connection.execute(statement, []).unwrap() > 0, "{statement}");
}

fn opened(file: &Path) -> (Store, ProblemId) {
    let store = Store::open(file).unwrap();
    let problem = store.find_problem(&key()).unwrap().unwrap();
    (store, problem)
}

/// The hash of the best, or of the one that would be.
fn best(file: &Path) -> Result<String, String> {
    let (store, problem) = opened(file);
    match store.best(problem) {
        Ok(best) => Ok(best.unwrap().candidate.hash),
        Err(error) => match error.cause {
            Cause::Altered { candidate } => Err(candidate),
            _ => panic!("{error}"),
        },
    }
}

/// Every column that decides what runs, and for what.
const EDITS: &[(&str, &str)] = &[
    ("UPDATE candidates SET text = replace(text, '1024', '1025') WHERE hash = 'b'", "b"),
    ("UPDATE candidates SET parameters = 'T=32' WHERE hash = 'b'", "b"),
    ("UPDATE candidates SET global = '8' WHERE hash = 'b'", "b"),
    ("UPDATE candidates SET local = '8' WHERE hash = 'b'", "b"),
    ("UPDATE candidates SET kernel_hash = '' WHERE hash = 'b'", "b"),
    ("UPDATE candidates SET hash = 'd' WHERE hash = 'b'", "d"),
    ("UPDATE candidates SET seal = '' WHERE hash = 'b'", "b"),
    ("UPDATE candidates SET problem = 1 WHERE hash = 'c'", "c"),
    ("UPDATE candidates SET derivation = 77 WHERE hash = 'b'", "b"),
    ("UPDATE measurements SET samples = '[0.1]', median = 0.1 WHERE candidate = 1", "a"),
    ("UPDATE measurements SET candidate = 1 WHERE candidate = 3", "a"),
    ("UPDATE measurements SET host = x'00' WHERE candidate = 2", "b"),
    ("UPDATE programs SET name = 'g'", ""),
];

#[test]
fn a_best_row_that_was_edited_is_an_error_that_names_it() {
    for (statement, altered) in EDITS {
        let (_folder, file) = filled();
        assert_eq!(best(&file), Ok("b".to_string()));
        edit(&file, statement);
        let expected = match *altered {
            // What a program was called says nothing.
            "" => Ok("b".to_string()),
            altered => Err(altered.to_string()),
        };
        assert_eq!(best(&file), expected, "{statement}");
    }
}

#[test]
fn results_do_not_move_to_another_program_or_device() {
    for statement in [
        "UPDATE programs SET text = 'def g'",
        "UPDATE devices SET fingerprint = 'another'",
        "UPDATE problems SET sizes = 'N=7' WHERE id = 1",
    ] {
        let (_folder, file) = filled();
        edit(&file, statement);
        let store = Store::open(&file).unwrap();
        let error = store.best(store.problems().unwrap()[0]).unwrap_err();
        assert!(matches!(error.cause, Cause::Altered { .. }), "{statement}: {error}");
    }
}

#[test]
fn altered_rows_are_removed_and_all_others_stay() {
    let (_folder, file) = filled();
    let (mut store, problem) = opened(&file);
    assert_eq!(store.remove_altered(problem), Ok(0));
    let id = store.candidates(problem).unwrap()[1].0;
    store.record_features(id, 1, &[("loads".to_string(), 1.0)].into()).unwrap();
    store.record(id, &not_ok(lift_store::Outcome::Crashed)).unwrap();
    edit(&file, "UPDATE candidates SET text = 'def x' WHERE hash = 'b'");
    assert_eq!(store.remove_altered(problem), Ok(1));
    assert_eq!(best(&file), Ok("a".to_string()));
    edit(&file, "UPDATE measurements SET median = 0.1 WHERE candidate = 1");
    assert_eq!(store.remove_altered(problem), Ok(1));
    assert_eq!(store.best(problem), Ok(None));
    assert_eq!(store.candidates(problem).unwrap().len(), 1);
    let other = store.problems().unwrap()[1];
    assert_eq!(store.best(other).unwrap().unwrap().candidate.hash, "c");
    // What was removed can be found again.
    store.candidate(problem, &candidate("b")).unwrap();
    assert_eq!(store.candidates(problem).unwrap().len(), 2);
}
