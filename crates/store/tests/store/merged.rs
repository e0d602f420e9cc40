//! The union of files: a function of the set of their rows.

use std::fs;
use std::path::{Path, PathBuf};

use lift_store::{Cause, Merged, Run, Tried, merge};
use proptest::prelude::*;

use super::*;

/// A row of a made-up database: which problem, which candidate, which of its measurements, whether a run.
type Made = Vec<(u8, u8, u8, bool)>;

fn made(path: &Path, rows: &Made) {
    let mut store = Store::open(path).unwrap();
    for (problem, candidate, measurement, is_run) in rows {
        let device = Device { fingerprint: format!("cpu {}", problem % 2), ..key().device };
        let sizes = [("N".to_string(), u64::from(problem / 2))].into();
        let problem = store.problem(&ProblemKey { device, sizes, ..key() }).unwrap();
        let hash = format!("hash{candidate}");
        // How it was reached depends on who found it.
        let derivation = format!("rule {measurement}").as_str().into();
        let one = Candidate { derivation, ..super::candidate(&hash) };
        let started = i64::from(*measurement);
        let samples = vec![f64::from(*measurement) + 0.1];
        // Not everybody looks at the clock.
        let durations = (measurement % 2 == 1).then(|| super::durations(*measurement));
        let tried = Tried {
            candidate: &one,
            version: 1,
            features: &[("loads".to_string(), 1.0)].into(),
            measurement: &Measurement { started, samples, ..super::measurement(0) },
            durations,
        };
        store.record_tried(problem, &tried).unwrap();
        if *is_run {
            let text = String::new;
            let run = Run { method: text(), seed: 1, budget: text(), version: text(), started };
            let run = store.start_run(problem, &run).unwrap();
            store.finish_run(run, 9, &[].into()).unwrap();
        }
    }
}

/// Every row of every table, numbers and seals included.
fn dump(path: &Path) -> Vec<String> {
    let connection = rusqlite::Connection::open(path).unwrap();
    let mut all = Vec::new();
    for table in [
        "programs",
        "devices",
        "problems",
        "derivations",
        "candidates",
        "measurements",
        "features",
        "runs",
    ] {
        let mut statement =
            connection.prepare(&format!("SELECT * FROM {table} ORDER BY id")).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let cells: Vec<String> =
                (0..columns).map(|i| format!("{:?}", row.get_ref(i).unwrap())).collect();
            all.push(format!("{table} {}", cells.join(" ")));
        }
    }
    all
}

fn merged(inputs: &[&Path], output: &Path) -> Merged {
    let inputs: Vec<PathBuf> = inputs.iter().map(|path| path.to_path_buf()).collect();
    merge(&inputs, output).unwrap()
}

fn rows() -> impl Strategy<Value = Made> {
    prop::collection::vec((0u8..4, 0u8..4, 0u8..4, any::<bool>()), 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_union_does_not_depend_on_order_or_repetition(a in rows(), b in rows(), c in rows()) {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let files = [("a", &a), ("b", &b), ("c", &c)].map(|(name, rows)| {
            made(&at(name), rows);
            at(name)
        });
        let before = files.each_ref().map(|path| fs::read(path).unwrap());
        let [fa, fb, fc] = &files;
        merged(&[fa, fb, fc], &at("abc"));
        let all = dump(&at("abc"));
        // Commutative.
        merged(&[fc, fa, fb], &at("cab"));
        prop_assert_eq!(&dump(&at("cab")), &all);
        // Associative.
        merged(&[fa, fb], &at("ab"));
        merged(&[&at("ab"), fc], &at("ab,c"));
        prop_assert_eq!(&dump(&at("ab,c")), &all);
        merged(&[fb, fc], &at("bc"));
        merged(&[fa, &at("bc")], &at("a,bc"));
        prop_assert_eq!(&dump(&at("a,bc")), &all);
        // Idempotent.
        merged(&[&at("abc"), &at("abc"), fa], &at("again"));
        prop_assert_eq!(&dump(&at("again")), &all);
        // What went in is as it was, and what came out is intact.
        for (path, before) in files.iter().zip(before) {
            prop_assert!(fs::read(path).unwrap() == before);
        }
        let mut store = Store::open(at("abc")).unwrap();
        for problem in store.problems().unwrap() {
            prop_assert_eq!(store.remove_altered(problem).unwrap(), 0);
        }
    }
}

#[test]
fn a_union_has_every_row_once() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    made(&at("a"), &vec![(0, 1, 1, true), (0, 1, 2, false), (1, 1, 1, false)]);
    made(&at("b"), &vec![(0, 1, 2, false), (0, 2, 3, true)]);
    let found = merged(&[&at("a"), &at("b")], &at("c"));
    let expected = Merged {
        problems: 2,
        candidates: 3,
        measurements: 4,
        runs: 2,
        altered: 0,
        conflicts: vec![],
    };
    assert_eq!(found, expected);
    let store = Store::open(at("c")).unwrap();
    let key = ProblemKey {
        sizes: [("N".to_string(), 0)].into(),
        device: Device { fingerprint: "cpu 0".to_string(), ..key().device },
        ..key()
    };
    let problem = store.find_problem(&key).unwrap().unwrap();
    // The latest measurement of each decides: 2.1 of the one, 3.1 of the other.
    assert_eq!(store.best(problem).unwrap().unwrap().median, 2.1);
    let names: Vec<String> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert!(
        !names.iter().any(|name| name.contains("-made") || name.contains("-copy")),
        "{names:?}"
    );
}

#[test]
fn altered_rows_are_left_out_and_conflicts_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    made(&at("a"), &vec![(0, 1, 1, false), (0, 2, 1, false)]);
    made(&at("b"), &vec![(0, 1, 2, false)]);
    let connection = rusqlite::Connection::open(at("a")).unwrap();
    connection.execute("UPDATE candidates SET text = 'other' WHERE hash = 'hash2'", []).unwrap();
    drop(connection);
    let connection = rusqlite::Connection::open(at("b")).unwrap();
    connection.execute("UPDATE features SET numbers = '{\"loads\":2.0}'", []).unwrap();
    drop(connection);
    let found = merged(&[&at("a"), &at("b")], &at("c"));
    assert_eq!((found.altered, found.candidates, found.measurements), (1, 1, 2));
    assert_eq!(found.conflicts.len(), 1, "{:?}", found.conflicts);
    assert!(found.conflicts[0].contains("hash1 has 2 sets of features"), "{:?}", found.conflicts);
}

#[test]
fn what_cannot_be_merged_leaves_everything_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    made(&at("a"), &vec![(0, 1, 1, false)]);
    fs::write(at("text"), "no database, but a text that is long enough to look at").unwrap();
    let refused = |inputs: &[PathBuf], output: &Path| merge(inputs, output).unwrap_err().cause;
    assert!(matches!(refused(&[at("a"), at("none")], &at("c")), Cause::NoAccess { .. }));
    assert_eq!(refused(&[at("a"), at("text")], &at("c")), Cause::NotADatabase);
    assert!(!at("c").exists());
    assert!(matches!(refused(&[at("a")], &at("a")), Cause::Invalid { .. }));
    assert!(matches!(refused(&[at("a")], folder.path()), Cause::NoAccess { .. }));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// Files of every version are read as they are, and not brought up to date in their place.
#[test]
fn an_older_file_is_merged_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    made(&at("a"), &vec![(0, 1, 1, false)]);
    let connection = rusqlite::Connection::open(at("a")).unwrap();
    // Version 4 had another list of outcomes, and was the same otherwise.
    connection.pragma_update(None, "user_version", 4).unwrap();
    connection.pragma_update(None, "journal_mode", "delete").unwrap();
    drop(connection);
    let before = fs::read(at("a")).unwrap();
    assert_eq!(merged(&[&at("a")], &at("c")).measurements, 1);
    assert!(fs::read(at("a")).unwrap() == before);
}

/// A file that is being written to is read as it is at the moment, and problems can be deleted from it.
#[test]
fn a_file_in_use_is_merged_and_deleted_from() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    made(&at("a"), &vec![(0, 1, 1, true), (1, 1, 1, false)]);
    let mut used = Store::open(at("a")).unwrap();
    let problems = used.problems().unwrap();
    let id = used.candidates(problems[0]).unwrap()[0].0;
    used.record(id, &measurement(7)).unwrap();
    assert_eq!(merged(&[&at("a")], &at("c")).measurements, 3);
    used.delete_problems(&problems[..1]).unwrap();
    assert_eq!(used.problems().unwrap(), problems[1..]);
    let left = merged(&[&at("a")], &at("d"));
    assert_eq!((left.problems, left.candidates, left.measurements, left.runs), (1, 1, 1, 0));
    assert_eq!(dump(&at("d")).iter().filter(|row| row.starts_with("devices")).count(), 1);
}
