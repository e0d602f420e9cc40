//! Every program of the repository can be tuned.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::thread;

use lift_interp::{Sizes, solve_sizes};
use lift_ir::Def;
use lift_testing::lift_files;

use crate::QUICK;
use crate::common::with_env;

/// Values of parameters: the result of one depends on them, the other takes long to compile with its own.
const CHOSEN: &[(&str, &[(&str, i128)])] = &[
    ("montecarlo", &[("P", 16), ("T", 4)]),
    ("mandelbrot", &[("K", 100)]),
    ("mm_local", &[("LX", 4), ("LY", 4), ("TM", 4), ("TN", 4), ("TK", 4)]),
];

/// One algorithm a program: others take longer to find than to measure.
const SETTINGS: &str =
    "[algorithms]\ndepth = 0\nbreadth = 1\n[measure]\nrepeats = 1\nfinalists = 0\n";

/// Programs of which arguments cannot be drawn at random, with what a search says of such: rows follow each other.
const NOT_DRAWN: [(&str, &str); 1] = [("levels", "decreases")];

/// Optimises nothing: what candidates compute is the same, and there are many to compile.
const FLAGS: &str = "-O0";

/// The same value for all sizes, the least of some that meets the clauses.
fn sizes(def: &Def) -> Option<Sizes> {
    let mut without_arguments = def.clone();
    without_arguments.params.clear();
    let chosen = CHOSEN.iter().find(|(name, _)| *name == def.name).map_or(&[][..], |(_, c)| c);
    let same = |value: i128| {
        let all = def.sizes.iter().map(|v| (v.name(), value));
        all.chain(chosen.iter().copied()).collect()
    };
    let all = [16, 32, 60, 64, 120, 128, 256, 480, 512, 1024].into_iter().map(same);
    all.into_iter().find(|s| solve_sizes(&without_arguments, &[], s).is_ok())
}

/// What went wrong, if anything did.
fn tune(file: &Path) -> Result<(), String> {
    let checked = lift_syntax::check_file(file).unwrap();
    let def = checked.program.entry().unwrap();
    if def.uses_extern().is_some() {
        return Ok(());
    }
    let sizes = sizes(def).ok_or_else(|| format!("{}: no sizes", def.name))?;
    let sizes: Vec<String> = sizes.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let sizes = sizes.join(",");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("tune.toml"), SETTINGS).unwrap();
    let tune = ["tune", file.to_str().unwrap(), "--size", &sizes, "--trials", "3"];
    let more = ["--db", "t.db", "--config", "tune.toml", "--json"];
    let env = [QUICK, &[("LIFT_CFLAGS", FLAGS)]].concat();
    let ran = with_env(folder.path(), &[&tune[..], &more].concat(), &env);
    let said = || {
        let (name, code) = (file.display(), ran.code);
        format!("{name} at {sizes}: exit code {code}\n{}{}", ran.stdout, ran.stderr)
    };
    if let Some((_, why)) = NOT_DRAWN.iter().find(|(name, _)| *name == def.name) {
        let is_told = ran.code == 1 && ran.stderr.contains(why);
        return if is_told { Ok(()) } else { Err(said()) };
    }
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).map_err(|_| said())?;
    let failed = report["failed"].as_object().ok_or_else(said)?;
    let broken = ["wrong", "crashed", "timed-out", "failed-to-compile"];
    let is_broken = broken.iter().any(|kind| failed.contains_key(*kind));
    if is_broken || !report["best"].is_object() { Err(said()) } else { Ok(()) }
}

#[test]
fn all_can_be_tuned() {
    let open = Mutex::new(lift_files("programs"));
    let next = || open.lock().unwrap().pop();
    let work = || {
        let mut mistakes = Vec::new();
        while let Some(file) = next() {
            mistakes.extend(tune(&file).err());
        }
        mistakes
    };
    let mistakes: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}
