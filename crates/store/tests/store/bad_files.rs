//! Files that are something else, or half of something.

use std::path::Path;

use lift_store::{Cause, ProblemId, Store, StoreError};

use crate::{candidate, key, measurement};

fn refusal(file: &Path) -> StoreError {
    let before = std::fs::read(file).unwrap();
    let Err(error) = Store::open(file) else { panic!("{} opens", file.display()) };
    assert_eq!(std::fs::read(file).unwrap(), before, "a file that is refused stays as it is");
    assert!(error.to_string().contains(&file.display().to_string()), "{error}");
    error
}

#[test]
fn a_file_that_is_no_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.txt");
    for text in ["x".to_string(), "hello\n".repeat(3), "a long text\n".repeat(10_000)] {
        std::fs::write(&file, text).unwrap();
        let error = refusal(&file);
        assert_eq!(error.cause, Cause::NotADatabase);
        assert!(error.to_string().contains("is not a database; name another file"), "{error}");
    }
}

#[test]
fn an_empty_file_becomes_a_database() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("new.db");
    std::fs::write(&file, "").unwrap();
    let mut store = Store::open(&file).unwrap();
    let problem = store.problem(&key()).unwrap();
    assert_eq!(store.find_problem(&key()), Ok(Some(problem)));
}

#[test]
fn a_file_that_was_cut_short_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tuning.db");
    let mut store = Store::open(&file).unwrap();
    let problem = store.problem(&key()).unwrap();
    for n in 0..20 {
        let id = store.candidate(problem, &candidate(&n.to_string())).unwrap();
        store.record(id, &measurement(n)).unwrap();
    }
    drop(store);
    let whole = std::fs::read(&file).unwrap();
    let cut = folder.path().join("cut.db");
    let pages = (1..whole.len()).step_by(4096);
    for length in pages.chain([16, 100, 512, 4096, 8192, whole.len() / 2, whole.len() - 1]) {
        std::fs::write(&cut, &whole[..length]).unwrap();
        let error = refusal(&cut);
        let expected = matches!(error.cause, Cause::Damaged { .. } | Cause::NotADatabase);
        assert!(expected, "{length} of {} bytes: {error}", whole.len());
    }
}

#[test]
fn a_newer_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tuning.db");
    drop(Store::open(&file).unwrap());
    let connection = rusqlite::Connection::open(&file).unwrap();
    connection.pragma_update(None, "user_version", 7).unwrap();
    drop(connection);
    let error = refusal(&file);
    assert_eq!(error.cause, Cause::Newer { found: 7, known: 6 });
    assert!(error.to_string().contains("use a newer `lift`"), "{error}");
}

#[test]
fn a_database_of_another_program_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("songs.db");
    let connection = rusqlite::Connection::open(&file).unwrap();
    connection.execute_batch("CREATE TABLE songs (title TEXT)").unwrap();
    drop(connection);
    let error = refusal(&file);
    assert_eq!(error.cause, Cause::OtherProgram);
    assert!(error.to_string().contains("a database of another program"), "{error}");
}

/// A database with one measured candidate.
fn with_result(file: &Path) -> (Store, ProblemId) {
    let mut store = Store::open(file).unwrap();
    let problem = store.problem(&key()).unwrap();
    let id = store.candidate(problem, &candidate("a")).unwrap();
    store.record(id, &measurement(0)).unwrap();
    (store, problem)
}

#[test]
fn a_candidate_whose_derivation_was_deleted_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tuning.db");
    let (store, problem) = with_result(&file);
    let connection = rusqlite::Connection::open(&file).unwrap();
    connection.pragma_update(None, "foreign_keys", false).unwrap();
    connection.execute("DELETE FROM derivations", []).unwrap();
    let errors = [
        store.candidates(problem).unwrap_err(),
        store.measured(problem).unwrap_err(),
        store.measured_kernel(problem, "kernel of a").unwrap_err(),
        store.best(problem).unwrap_err(),
    ];
    for error in errors {
        let expected = matches!(error.cause, Cause::Damaged { .. } | Cause::Altered { .. });
        assert!(expected, "{error}");
    }
}

#[test]
fn a_row_that_was_edited_into_nonsense_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tuning.db");
    let (store, problem) = with_result(&file);
    for edit in ["samples = 'fast'", "samples = '[1, \"x\"]'", "seed = '-1'", "host = x'00'"] {
        let connection = rusqlite::Connection::open(&file).unwrap();
        connection.execute(&format!("UPDATE measurements SET {edit}"), []).unwrap();
        let error = store.measured(problem).unwrap_err();
        assert!(matches!(error.cause, Cause::Damaged { .. }), "{edit}: {error}");
    }
}
