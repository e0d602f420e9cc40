//! A writer is killed at random moments. The file opens again, SQLite finds nothing wrong with it, and
//! all that the writer said it had recorded is there.

use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Duration;

use lift_store::{Measured, Outcome, Store};

use crate::{candidate, integrity, key, measurement, writer};

/// Any number below the limit. A moment is not repeatable anyhow, so there is no seed.
fn random(limit: u64) -> u64 {
    RandomState::new().hash_one(0) % limit
}

/// Starts a writer, kills it a moment after it has recorded so many, and gives the number it recorded.
fn kill_a_writer(file: &Path, tag: &str, after: u64) -> u64 {
    let mut child = writer(file, tag, u64::MAX).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    let mut recorded = 0;
    while recorded < after {
        line.clear();
        assert_ne!(lines.read_line(&mut line).unwrap(), 0, "the writer ended by itself");
        assert_eq!(line, format!("{recorded}\n"));
        recorded += 1;
    }
    std::thread::sleep(Duration::from_micros(random(4000)));
    child.kill().unwrap();
    assert!(!child.wait().unwrap().success(), "the writer does not end by itself");
    // What is still in the pipe was printed before the kill. A line that was cut says nothing.
    loop {
        line.clear();
        lines.read_line(&mut line).unwrap();
        match line.strip_suffix('\n') {
            Some(number) => assert_eq!(number, recorded.to_string()),
            None => return recorded,
        }
        recorded += 1;
    }
}

fn all_measured(file: &Path) -> Vec<Measured> {
    let mut store = Store::open(file).unwrap();
    let problem = store.problem(&key()).unwrap();
    store.measured(problem).unwrap()
}

/// All `recorded` of the tag are there as they were given, and at most one more: the one that was
/// recorded but not yet reported.
fn check(all: &[Measured], tag: &str, recorded: u64) {
    let prefix = format!("{tag}-");
    let found: Vec<_> = all.iter().filter(|one| one.candidate.hash.starts_with(&prefix)).collect();
    let count = found.len() as u64;
    assert!((recorded..=recorded + 1).contains(&count), "{recorded} recorded, {count} found");
    for (n, one) in found.iter().enumerate() {
        assert_eq!(one.candidate, candidate(&format!("{tag}-{n}")));
        assert_eq!(one.measurements, [measurement(n as u64)]);
    }
}

#[test]
fn nothing_recorded_is_lost_when_the_writer_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tuning.db");
    let mut done = Vec::new();
    for round in 0..20 {
        let tag = format!("r{round}");
        let recorded = kill_a_writer(&file, &tag, random(60));
        assert_eq!(integrity(&file), "ok");
        done.push((tag, recorded));
        let all = all_measured(&file);
        done.iter().for_each(|(tag, recorded)| check(&all, tag, *recorded));
    }
    assert!(done.iter().any(|(_, recorded)| *recorded > 0), "no writer got to write");
}

#[test]
fn a_file_whose_making_was_cut_short_is_completed() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..20 {
        let file = folder.path().join(format!("{round}.db"));
        let recorded = kill_a_writer(&file, "a", 0);
        let mut store = Store::open(&file).unwrap();
        let problem = store.problem(&key()).unwrap();
        let id = store.candidate(problem, &candidate("b-0")).unwrap();
        store.record(id, &measurement(0)).unwrap();
        assert_eq!(store.is_measured(problem, "b-0"), Ok(Some(Outcome::Ok)));
        assert_eq!(integrity(&file), "ok");
        let all = store.measured(problem).unwrap();
        check(&all, "a", recorded);
        check(&all, "b", 1);
    }
}
