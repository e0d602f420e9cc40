//! Searches that are killed at any moment, and gone on with.

use std::collections::BTreeMap;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use lift_store::Measurement;

use crate::background::{Background, wait_for_end};
use crate::{TUNE, folder, json, lift, measured};

const SEARCH: &[&str] = &["--entry", "sum", "--search", "exhaustive", "--resume", "--trials"];

const ROUNDS: u64 = 6;

/// What SQLite finds when it looks at everything.
fn integrity(file: &Path) -> String {
    let connection = rusqlite::Connection::open(file).unwrap();
    connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap()
}

/// By the hash of the candidate.
fn results(folder: &Path) -> BTreeMap<String, Vec<Measurement>> {
    let all = measured(folder).into_iter();
    all.map(|measured| (measured.candidate.hash, measured.measurements)).collect()
}

/// Some number of milliseconds, spread over the first candidates.
fn delay(round: u64) -> Duration {
    let mixed = (round + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    Duration::from_millis(mixed % 500)
}

#[test]
fn a_killed_search_loses_nothing_and_measures_nothing_twice() {
    let folder = folder();
    let path = folder.path();
    let mut before = BTreeMap::new();
    for round in 0..ROUNDS {
        let mut search = Background::start(path, &[TUNE, SEARCH, &["1000000"]].concat(), &[]);
        // While it gets ready, with its first candidates, and later.
        match round % 3 {
            0 => {}
            1 => search.wait_for("low-level programs to choose from"),
            _ => search.wait_for(" tried, "),
        }
        sleep(delay(round));
        let workers = search.workers();
        search.kill();
        wait_for_end(&workers);
        if !path.join("t.db").exists() {
            continue;
        }
        assert_eq!(integrity(&path.join("t.db")), "ok");
        let now = results(path);
        for (hash, measurements) in &before {
            assert_eq!(now.get(hash), Some(measurements), "{hash} in round {round}");
        }
        assert!(now.values().all(|measurements| measurements.len() == 1));
        before = now;
    }
    assert!(!before.is_empty());
    // A search that is let end goes on from what is there.
    let report = json(path, &[TUNE, SEARCH, &["3"]].concat());
    assert_eq!(report["tried"], 3);
    let now = results(path);
    assert_eq!(now.len(), before.len() + 3);
    assert!(before.iter().all(|(hash, measurements)| now.get(hash) == Some(measurements)));
    assert!(now.values().all(|measurements| measurements.len() == 1));
    used_by_run(path, report["best"]["id"].as_str().unwrap());
}

/// `lift run` uses the best there is, and computes what the interpreter does.
fn used_by_run(folder: &Path, id: &str) {
    let program = ["run", "p.lift", "--entry", "sum", "xs=iota", "--size", "N=256"];
    let ran = json(folder, &[&program[..], &["--db", "t.db"]].concat());
    assert_eq!(ran["variant"], id);
    let meant = lift(folder, &[&program[..], &["--device", "interp"]].concat());
    assert_eq!(ran["result"].as_str(), Some(meant.stdout.trim()));
}
