//! Files of older versions: what is in them is there after they are opened.

use std::path::Path;
use std::process::{Command, Stdio};

use lift_store::{Candidate, Outcome, ProblemId, Store};
use rusqlite::Connection;

use crate::{candidate, derivations, integrity, key, measurement};

const VERSION_2: &str =
    concat!(include_str!("../../src/schema/1.sql"), include_str!("../../src/schema/2.sql"));

/// Two candidates that were reached in the same way, and one that is the program itself.
const ROWS: &str = "
    INSERT INTO programs (text, name) VALUES ('def f(xs: [f32; N]) = xs', 'f');
    INSERT INTO devices (fingerprint, name, kind) VALUES ('cpu test 1.0', 'test', 'cpu');
    INSERT INTO problems (program, sizes, device, flags) VALUES (1, 'N=1024', 1, 'fast-math');
    INSERT INTO candidates
      (id, problem, hash, text, derivation, parameters, global, local, kernel_hash)
    VALUES
      (3, 1, 'a', 'def a', '// 1: split_join', 'T=2', '8', '4', 'ka'),
      (5, 1, 'b', 'def b', '', '', '9', '3', 'kb'),
      (8, 1, 'c', 'def c', '// 1: split_join', 'T=4', '7', '1', 'kc');
    INSERT INTO measurements
      (candidate, outcome, message, samples, median, started, seed, host)
    VALUES
      (3, 'ok', '', '[2.0]', 2.0, 1, '1', 'h'),
      (8, 'ok', '', '[1.0]', 1.0, 1, '1', 'h'),
      (5, 'wrong', 'not it', '[]', NULL, 1, '1', 'h');
    INSERT INTO features (candidate, version, numbers) VALUES (8, 1, '{\"loads\": 4.0}');";

fn make_version_2(file: &Path) {
    let connection = Connection::open(file).unwrap();
    connection.execute_batch(VERSION_2).unwrap();
    connection.execute_batch(ROWS).unwrap();
    connection.pragma_update(None, "application_id", 1_281_975_924).unwrap();
    connection.pragma_update(None, "user_version", 2).unwrap();
}

/// What [`ROWS`] say of a candidate.
fn row(hash: &str, derivation: &str, [parameters, global, local]: [&str; 3]) -> Candidate {
    Candidate {
        hash: hash.to_string(),
        text: format!("def {hash}"),
        derivation: derivation.into(),
        parameters: parameters.to_string(),
        global: global.to_string(),
        local: local.to_string(),
        kernel_hash: format!("k{hash}"),
    }
}

fn rows() -> [Candidate; 3] {
    let split = "// 1: split_join";
    [
        row("a", split, ["T=2", "8", "4"]),
        row("b", "", ["", "9", "3"]),
        row("c", split, ["T=4", "7", "1"]),
    ]
}

fn problem(store: &Store) -> ProblemId {
    store.find_problem(&key()).unwrap().unwrap()
}

fn candidates(store: &Store) -> Vec<Candidate> {
    let all = store.candidates(problem(store)).unwrap();
    all.into_iter().map(|(_, candidate)| candidate).collect()
}

#[test]
fn candidates_keep_their_derivations() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tuning.db");
    make_version_2(&file);
    let store = Store::open(&file).unwrap();
    assert_eq!(candidates(&store), rows());
    assert_eq!(derivations(&file), ["// 1: split_join", ""]);
    assert_eq!(integrity(&file), "ok");
}

#[test]
fn candidates_keep_what_refers_to_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tuning.db");
    make_version_2(&file);
    let store = Store::open(&file).unwrap();
    let problem = problem(&store);
    let best = store.best(problem).unwrap().unwrap();
    assert_eq!((&best.candidate, best.median), (&rows()[2], 1.0));
    assert_eq!(store.is_measured(problem, "b"), Ok(Some(Outcome::Wrong)));
    let features = store.features(problem).unwrap();
    assert_eq!(features.iter().map(|one| one.candidate).collect::<Vec<_>>(), [best.id]);
    let kernel = store.measured_kernel(problem, "ka").unwrap().unwrap();
    assert_eq!(kernel.candidate, rows()[0]);
    let connection = Connection::open(&file).unwrap();
    let dangling: i64 = connection
        .query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(dangling, 0);
}

#[test]
fn a_derivation_of_an_older_file_is_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tuning.db");
    make_version_2(&file);
    let mut store = Store::open(&file).unwrap();
    let fourth = Candidate { derivation: rows()[0].derivation.clone(), ..candidate("d") };
    let id = store.candidate(problem(&store), &fourth).unwrap();
    store.record(id, &measurement(0)).unwrap();
    assert_eq!(candidates(&store)[3], fourth);
    assert_eq!(derivations(&file), ["// 1: split_join", ""]);
}

#[test]
fn processes_migrate_a_file_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tuning.db");
    make_version_2(&file);
    let open = || {
        let mut command = Command::new(crate::child());
        command.arg("open").arg(&file).stdout(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..8).map(|_| open()).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "opened\n");
    }
    assert_eq!(candidates(&Store::open(&file).unwrap()), rows());
    assert_eq!(derivations(&file), ["// 1: split_join", ""]);
    assert_eq!(integrity(&file), "ok");
}
