//! Several processes use one file at the same moment.

use lift_store::{Outcome, Store};

use crate::{candidate, derivations, integrity, key, measurement, writer};

const COUNT: u64 = 100;

/// Two write the same candidates, one its own; this process reads. The file is new, so they also make
/// it together.
#[test]
fn processes_write_and_read_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tuning.db");
    let tags = ["same", "same", "own"];
    let children: Vec<_> =
        tags.iter().map(|tag| writer(&file, tag, COUNT).spawn().unwrap()).collect();

    let mut store = Store::open(&file).unwrap();
    let problem = store.problem(&key()).unwrap();
    let mut seen = 0;
    for _ in 0..50 {
        let now = store.measured(problem).unwrap().len();
        assert!(now >= seen, "{now} after {seen}");
        seen = now;
    }
    for child in children {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}");
        assert_eq!(text.lines().count() as u64, COUNT);
    }

    let measured = store.measured(problem).unwrap();
    for n in 0..COUNT {
        let of = |tag: &str| {
            let hash = format!("{tag}-{n}");
            let one = measured.iter().find(|one| one.candidate.hash == hash).unwrap();
            one.measurements.clone()
        };
        assert_eq!(of("same"), vec![measurement(n); 2]);
        assert_eq!(of("own"), vec![measurement(n)]);
    }
    assert_eq!(store.counts(problem).unwrap(), [(Outcome::Ok, 2 * COUNT as usize)].into());
    assert_eq!(derivations(&file), [candidate("any").derivation.to_string()]);
    assert_eq!(integrity(&file), "ok");
}

#[test]
fn processes_make_a_file_at_once() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..5 {
        let file = folder.path().join(format!("{round}.db"));
        let children: Vec<_> = (0..8).map(|_| writer(&file, "a", 1).spawn().unwrap()).collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout), "0\n");
        }
        let mut store = Store::open(&file).unwrap();
        let problem = store.problem(&key()).unwrap();
        assert_eq!(store.measured(problem).unwrap()[0].measurements, vec![measurement(0); 8]);
        assert_eq!(integrity(&file), "ok");
    }
}

#[test]
fn what_one_store_records_another_sees() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tuning.db");
    let mut one = Store::open(&file).unwrap();
    let other = Store::open(&file).unwrap();
    let problem = one.problem(&key()).unwrap();
    assert_eq!(other.find_problem(&key()), Ok(Some(problem)));
    let id = one.candidate(problem, &candidate("a")).unwrap();
    one.record(id, &measurement(0)).unwrap();
    assert_eq!(other.is_measured(problem, "a"), Ok(Some(Outcome::Ok)));
}
