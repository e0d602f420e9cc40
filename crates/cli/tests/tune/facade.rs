//! Tuning from Rust, with the command as the worker.

use std::path::Path;

use lift::tune::{Database, TuneError, Tuner, Worker};
use lift::{Compiled, Options, Program, Sizes, Value};

use crate::{folder, json};

fn program(text: &str) -> Program {
    lift::parse("p.lift", text).unwrap()
}

fn sizes(sizes: &[(&str, i128)]) -> Sizes {
    sizes.iter().map(|(name, value)| (*name, *value)).collect()
}

fn tuner(database: &Path) -> Tuner {
    let mut tuner = Tuner::new("cpu", Worker::lift(env!("CARGO_BIN_EXE_lift")), database);
    tuner.trials = 3;
    tuner.settings.repeats = 2;
    (tuner.settings.limits.depth, tuner.settings.limits.breadth) = (1, 2);
    tuner
}

const TWICE: &str = "def twice[N](xs: [f32; N]) -> [f32; N] = xs |> map(\\x -> x * 2.0);";

#[test]
fn what_is_found_is_found_again_under_other_names() {
    let folder = folder();
    let file = folder.path().join("t.db");
    let tuned = tuner(&file).tune(program(TWICE).entry().unwrap(), &sizes(&[("N", 256)])).unwrap();
    assert_eq!(tuned.progress.tried, 3);
    assert!(tuned.default_ms.is_some());
    let best = tuned.best.unwrap();
    let renamed = program("def double[L](v: [f32; L]) -> [f32; L] = v |> map(\\e -> e * 2.0);");
    let renamed = renamed.entry().unwrap();
    let mut device = lift::open("cpu").unwrap();
    let database = Database::open(&file).unwrap();
    let find = |def, given: &[(&str, i128)], fast_math| {
        let info = lift::open("cpu").unwrap().info().clone();
        database.best(def, &sizes(given), &info, fast_math).unwrap().map(|best| best.id)
    };
    assert_eq!(find(renamed, &[("L", 256)], false), Some(best.id));
    assert_eq!(find(renamed, &[("L", 128)], false), None);
    assert_eq!(find(renamed, &[("L", 256)], true), None);
    let mut options = Options::default();
    options.sizes.insert("L".to_string(), 256);
    let mut compiled = database.compile(renamed, &options, &mut *device).unwrap();
    let argument = [Value::from(vec![1.5f32; 256])];
    let run = compiled.run(&mut *device, &argument, &sizes(&[("L", 256)])).unwrap();
    let plain = Compiled::new(renamed, &options, &mut *device);
    let plain = plain.unwrap().run(&mut *device, &argument, &Sizes::new()).unwrap();
    assert_eq!(run.result, plain.result);
}

/// A parameter that the program has itself is tuned too, unless somebody chooses its value.
#[test]
fn parameters_of_the_program_are_not_taken_for_chosen_ones() {
    let folder = folder();
    let path = folder.path();
    let text = "def f[N; T = 4](xs: [f32; N]) -> [f32; N] where N % T == 0 =
      xs |> split(T) |> mapGlb(0)(mapSeq(\\x -> x + 1.0)) |> join;";
    std::fs::write(path.join("f.lift"), text).unwrap();
    let parsed = program(text);
    let tuner = Tuner { trials: 6, ..tuner(&path.join("t.db")) };
    let tuned = tuner.tune(parsed.entry().unwrap(), &sizes(&[("N", 256)])).unwrap();
    let id = tuned.best.unwrap().id;
    let run =
        |size: &str| json(path, &["run", "f.lift", "xs=iota", "--size", size, "--db", "t.db"]);
    let (by_default, chosen) = (run("N=256"), run("N=256,T=8"));
    assert_eq!((&by_default["variant"], &chosen["variant"]), (&id.into(), &"default".into()));
    assert_eq!(by_default["result"], chosen["result"]);
}

#[test]
fn what_cannot_be_tuned_is_an_error() {
    let folder = folder();
    let file = folder.path().join("t.db");
    let parsed = program(TWICE);
    let failed = |tuner: &Tuner, given: &[(&str, i128)]| {
        tuner.tune(parsed.entry().unwrap(), &sizes(given)).unwrap_err()
    };
    let tuner = tuner(&file);
    let no_size = failed(&tuner, &[]);
    assert!(matches!(no_size, TuneError::Program(_)) && no_size.to_string().contains("`N`"));
    let no_device = failed(&Tuner { device: "nowhere".into(), ..tuner.clone() }, &[("N", 8)]);
    assert!(no_device.to_string().contains("nowhere"), "{no_device}");
    assert!(!file.exists());
    let worker = Worker::lift(folder.path().join("nothing"));
    let no_worker = failed(&Tuner { worker, ..tuner }, &[("N", 8)]);
    assert!(matches!(no_worker, TuneError::Worker(_)), "{no_worker}");
}
