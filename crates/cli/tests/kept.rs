//! What is kept: databases that are listed, shown, deleted from and merged; suites that are gone on with; the cache.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use common::{in_folder, root, with_env};
use lift_store::{Candidate, Device, Measurement, Outcome, ProblemKey, Store};
use serde_json::Value;

fn made(path: &Path, size: u64, candidates: usize) {
    let mut store = Store::open(path).unwrap();
    let key = ProblemKey {
        program: "def f(xs: [f32; N]) = xs".to_string(),
        name: "f".to_string(),
        sizes: [("N0".to_string(), size)].into(),
        device: Device { fingerprint: "d".into(), name: "a device".into(), kind: "cpu".into() },
        flags: String::new(),
    };
    let problem = store.problem(&key).unwrap();
    for n in 0..candidates {
        let hash = format!("{n:016x}");
        let candidate = Candidate { hash, text: "def …".repeat(100), ..Candidate::default() };
        let id = store.candidate(problem, &candidate).unwrap();
        let measurement = Measurement {
            outcome: Outcome::Ok,
            message: String::new(),
            samples: vec![1.0 + n as f64],
            started: n as i64,
            seed: 1,
            host: "here".to_string(),
        };
        store.record(id, &measurement).unwrap();
    }
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let ran = in_folder(folder, arguments);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn problems_are_listed_shown_and_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    made(&path.join("t.db"), 64, 3);
    made(&path.join("t.db"), 128, 2);
    let listed = json(path, &["db", "list", "--db", "t.db", "--json"]);
    assert_eq!(listed.as_array().unwrap().len(), 2);
    assert_eq!((&listed[0]["candidates"], &listed[0]["best_ms"]), (&3.into(), &1.0.into()));
    let shown = json(path, &["db", "show", "1", "--db", "t.db", "--json"]);
    assert_eq!(shown["candidates"].as_array().unwrap().len(), 3);
    assert_eq!(shown["candidates"][0]["kernel_ms"], 1.0);
    let table = in_folder(path, &["db", "list", "--db", "t.db"]).stdout;
    assert!(table.contains("N0=128") && table.contains("a device"), "{table}");
    // None is deleted where one is not there.
    let ran = in_folder(path, &["db", "delete", "1", "7", "--db", "t.db"]);
    assert!(ran.code == 1 && ran.stderr.contains("no problem 7"), "{}", ran.stderr);
    assert_eq!(in_folder(path, &["db", "delete", "1", "--db", "t.db"]).code, 0);
    let listed = json(path, &["db", "list", "--db", "t.db", "--json"]);
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["problem"]), (1, &2.into()));
    let ran = in_folder(path, &["db", "list", "--db", "none.db"]);
    assert!(ran.code == 1 && !path.join("none.db").exists(), "{}", ran.stderr);
}

/// Killed at any moment, there is no output or a whole one, and the inputs are as they were.
#[test]
fn a_merge_that_is_killed_leaves_nothing_half_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let names = ["a.db", "b.db"];
    names.iter().zip([64, 128]).for_each(|(name, size)| made(&path.join(name), size, 400));
    let before = names.map(|name| fs::read(path.join(name)).unwrap());
    let merge = ["db", "merge", "a.db", "b.db", "-o", "c.db"];
    for round in 0..8 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lift"))
            .args(merge)
            .current_dir(path)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        sleep(Duration::from_millis(8 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        if path.join("c.db").exists() {
            let listed = json(path, &["db", "list", "--db", "c.db", "--json"]);
            assert_eq!(listed.as_array().unwrap().len(), 2);
            fs::remove_file(path.join("c.db")).unwrap();
            // Whoever has listed it has made files beside it.
            let _ = fs::remove_file(path.join("c.db-wal"));
            let _ = fs::remove_file(path.join("c.db-shm"));
        }
    }
    for (name, before) in names.iter().zip(before) {
        assert!(fs::read(path.join(name)).unwrap() == before, "{name}");
    }
    let merged = json(path, &[&merge[..], &["--json"]].concat());
    assert_eq!((&merged["candidates"], &merged["conflicts"]), (&800.into(), &Value::Array(vec![])));
}

/// One budget, and what was done is not done again.
#[test]
fn a_suite_is_tuned_on_two_devices_and_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("suite.db");
    let suite = |more: &[&str]| {
        let database = database.to_str().unwrap();
        let fixed =
            ["tune-suite", "mm", "--only", "mm_at", "--size", "M=32,K=32,N=32", "--trials", "2"];
        let fixed =
            [&fixed[..], &["--search", "random", "--db", database, "--json"], more].concat();
        json(&root(), &fixed)
    };
    let states = |rows: &Value| -> Vec<String> {
        let rows = rows.as_array().unwrap();
        rows.iter()
            .map(|row| format!("{} {}", row["device"], row["state"]).replace('"', ""))
            .collect()
    };
    assert_eq!(states(&suite(&["--time", "60"])), ["cpu tuned"]);
    let both = suite(&["--devices", "cpu,opencl:pocl"]);
    assert_eq!(states(&both), ["cpu tuned before", "opencl:pocl tuned"]);
    assert!(both[0]["best_ms"].as_f64().unwrap() > 0.0 && both[1]["tried"] == 2);
    let listed = json(&root(), &["db", "list", "--json", "--db", database.to_str().unwrap()]);
    let kinds: Vec<&Value> = listed.as_array().unwrap().iter().map(|row| &row["runs"]).collect();
    assert_eq!(kinds, [1, 1]);
}

#[test]
fn the_cache_is_cleared_and_filled_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let cache = path.join("cache");
    let env = [("XDG_CACHE_HOME", cache.to_str().unwrap())];
    fs::write(path.join("f.lift"), "def f[N](xs: [f32; N]) -> [f32; N] = xs |> map(\\x -> x + x);")
        .unwrap();
    let run = ["run", "f.lift", "--device", "cpu", "xs=[1.0,2.0]"];
    let clear = |expected: bool| {
        let ran = with_env(path, &["cache", "clear", "--json"], &env);
        let cleared: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(cleared["files"].as_u64().unwrap() > 0, expected, "{}", ran.stdout);
    };
    clear(false);
    assert_eq!(with_env(path, &run, &env).code, 0);
    clear(true);
    clear(false);
    assert_eq!(with_env(path, &run, &env).code, 0);
}
