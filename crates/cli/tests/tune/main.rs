//! `lift tune` as a whole, and `lift run` with what it found.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod background;
#[path = "../common/mod.rs"]
mod common;
mod facade;
mod interrupted;
mod killed;
mod left_over;
mod odd_sizes;
mod programs;
mod results;
mod searches;
mod settings;
mod time;
mod trust;

use std::fs;
use std::path::Path;

use common::Ran;
use lift_store::{Measured, Store};
use tempfile::TempDir;

/// Kernels run in the thread that starts them, and soon: others wait for the processor too.
const QUICK: &[(&str, &str)] = &[("OMP_NUM_THREADS", "1")];

/// A space of few programs, so that it is there at once, and every candidate is measured once.
const SMALL: &str =
    "[algorithms]\ndepth = 1\nbreadth = 2\n\n[measure]\nrepeats = 2\nfinalists = 0\n";

const SUM: &str = "def sum[N](xs: [f32; N]) -> f32 = xs |> reduce(0.0, (+));
def twice[N](xs: [f32; N]) -> [f32; N] = xs |> map(\\x -> x * 2.0);";

/// What the tests of one problem tune.
const TUNE: &[&str] =
    &["tune", "p.lift", "--size", "N=256", "--db", "t.db", "--config", "small.toml"];

/// A folder with the programs above and the settings.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("p.lift"), SUM).unwrap();
    fs::write(folder.path().join("small.toml"), SMALL).unwrap();
    folder
}

fn lift(folder: &Path, arguments: &[&str]) -> Ran {
    common::with_env(folder, arguments, QUICK)
}

/// The command succeeds and prints this JSON.
#[track_caller]
fn json(folder: &Path, arguments: &[&str]) -> serde_json::Value {
    let ran = lift(folder, &[arguments, &["--json"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

/// All that was measured for the only problem of the database.
fn measured(folder: &Path) -> Vec<Measured> {
    let store = Store::open(folder.join("t.db")).unwrap();
    match store.problems().unwrap().as_slice() {
        [] => Vec::new(),
        [problem] => store.measured(*problem).unwrap(),
        several => panic!("{} problems", several.len()),
    }
}
