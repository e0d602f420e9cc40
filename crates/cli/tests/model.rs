//! `lift model`: from databases to tables, models and what they say.

#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::{Ran, in_folder};
use lift_model::features::{VERSION, names};
use lift_store::{Candidate, Device, Measurement, Outcome, ProblemKey, Store};
use serde_json::Value;

const CPU: &str = "cpu made up";

const PROGRAMS: &str = "
def plain[N](xs: [f32; N]) -> [f32; N] = xs |> mapGlb(0, \\x -> x * 2.0);
def main[N](xs: [f32; N]) -> [f32; N] = xs |> mapGlb(0, \\x -> x * 2.0 + 1.0);
";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("p.lift"), PROGRAMS).unwrap();
    folder
}

fn lift(folder: &tempfile::TempDir, arguments: &[&str]) -> Ran {
    in_folder(folder.path(), &[&["model"], arguments].concat())
}

fn printed(folder: &tempfile::TempDir, arguments: &[&str]) -> String {
    let ran = lift(folder, arguments);
    assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.stderr);
    ran.stdout
}

fn json(folder: &tempfile::TempDir, arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(folder, &[arguments, &["--json"]].concat())).unwrap()
}

/// What is said on standard error by a call that fails.
fn said(folder: &tempfile::TempDir, arguments: &[&str]) -> String {
    let ran = lift(folder, arguments);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{arguments:?}: {}", ran.stderr);
    ran.stderr
}

fn problem(program: &str, device: &str) -> ProblemKey {
    ProblemKey {
        program: format!("text of {program}"),
        name: program.to_string(),
        sizes: [("N0".to_string(), 1024), ("N1".to_string(), 8)].into(),
        device: Device {
            fingerprint: format!("cpu {device} 1.0"),
            name: device.to_string(),
            kind: "cpu".to_string(),
        },
        flags: String::new(),
    }
}

/// Numbers for every feature; speed follows from the first two.
fn numbers(random: &mut fastrand::Rng) -> BTreeMap<String, f64> {
    let value = |k: usize, random: &mut fastrand::Rng| match k {
        0 | 1 => 1.0 + f64::from(random.u8(..16)),
        2 => random.f64(),
        _ => k as f64,
    };
    names().iter().enumerate().map(|(k, name)| (name.to_string(), value(k, random))).collect()
}

fn time(numbers: &BTreeMap<String, f64>) -> f64 {
    numbers[names()[0]] + 0.2 * numbers[names()[1]]
}

fn measurement(outcome: Outcome, samples: Vec<f64>) -> Measurement {
    let (message, host) = (String::new(), "test".to_string());
    Measurement { outcome, message, samples, started: 0, seed: 1, host }
}

/// Adds candidates of a program, of which every tenth fails, with features of this version.
fn fill(path: &Path, program: &str, device: &str, version: u32) {
    let mut store = Store::open(path).unwrap();
    let problem = store.problem(&problem(program, device)).unwrap();
    let mut random = fastrand::Rng::with_seed(program.len() as u64);
    for k in 0..40 {
        let candidate = Candidate {
            hash: format!("{k:016x}"),
            parameters: format!("T={k},R=4"),
            ..Candidate::default()
        };
        let id = store.candidate(problem, &candidate).unwrap();
        let numbers = numbers(&mut random);
        let ms = time(&numbers);
        let outcome = match k % 10 {
            9 => measurement(Outcome::Wrong, Vec::new()),
            _ => measurement(Outcome::Ok, vec![ms, 0.99 * ms, 1.01 * ms]),
        };
        store.record(id, &outcome).unwrap();
        store.record_features(id, version, &numbers).unwrap();
    }
}

/// A database of three programs on one device.
fn with_database() -> tempfile::TempDir {
    let folder = folder();
    for program in ["dot", "scan", "matmul"] {
        fill(&folder.path().join("t.db"), program, "made up", VERSION);
    }
    folder
}

#[test]
fn models_are_judged_by_programs_they_have_not_seen() {
    let folder = with_database();
    let found = json(&folder, &["eval", "t.db"]);
    assert_eq!(found["device"], CPU);
    for (kind, model) in ["knn", "trees"].iter().zip(found["models"].as_array().unwrap()) {
        assert_eq!(model["kind"], *kind);
        let programs = model["programs"].as_array().unwrap();
        let listed: Vec<&str> = programs.iter().map(|p| p["program"].as_str().unwrap()).collect();
        assert_eq!(listed, ["dot", "matmul", "scan"]);
        for program in programs {
            let problem = &program["problems"][0];
            assert_eq!(problem["sizes"], "N0=1024,N1=8");
            assert_eq!((&problem["measured"], &problem["failed"]), (&36.into(), &4.into()));
            assert!(program["pearson"].as_f64().unwrap() > 0.6, "{kind}: {program}");
            assert_eq!(problem["reached"][2]["runs"], 5);
            assert!(problem["reached"][2]["model"].as_f64().unwrap() > 0.5, "{kind}: {problem}");
        }
        assert!(model["all"]["pearson"].as_f64().unwrap() > 0.7, "{kind}: {}", model["all"]);
        assert!(model["all"]["fewer_runs"].as_f64().unwrap() > 1.0, "{kind}: {}", model["all"]);
    }
    assert_eq!(found["redundancy"].as_array().unwrap().len(), names().len());
    assert_eq!(found["redundancy"][0]["feature"], names()[0]);
    assert_eq!(found["noise"]["candidates"], 108);
    let spread = found["noise"]["median_spread"].as_f64().unwrap();
    assert!((spread - 0.01).abs() < 1e-9, "{spread}");

    let text = printed(&folder, &["eval", "t.db"]);
    for part in ["\nknn\n", "\ntrees\n", "\nall ", "pearson", "redundancy", names()[0], "Noise: "] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_table_says_what_the_database_says() {
    let folder = with_database();
    let exported = json(&folder, &["export", "t.db", "-o", "t.csv"]);
    assert_eq!(exported["candidates"], 120);
    assert_eq!(
        printed(&folder, &["export", "t.db", "-o", "t.csv.gz"]),
        "t.csv.gz: 120 candidates\n"
    );
    let text = fs::read_to_string(folder.path().join("t.csv")).unwrap();
    assert_eq!(text.lines().count(), 121);
    let start = "program,sizes,device,hash,parameters,outcome,ms,spread,feature_version,";
    assert!(text.starts_with(start), "{text}");
    assert!(
        text.contains("dot,\"N0=1024,N1=8\",cpu made up,0000000000000009,\"T=9,R=4\",wrong,,,")
    );
    let packed = fs::read(folder.path().join("t.csv.gz")).unwrap();
    assert!(packed.len() * 4 < text.len(), "{} of {}", packed.len(), text.len());
    let of_database = json(&folder, &["eval", "t.db"]);
    assert_eq!(json(&folder, &["eval", "t.csv"]), of_database);
    assert_eq!(json(&folder, &["eval", "t.csv.gz"]), of_database);
    // What is named twice counts once.
    assert_eq!(json(&folder, &["eval", "t.db", "t.csv"]), of_database);
}

#[test]
fn the_same_measurements_give_the_same_model() {
    let folder = with_database();
    for kind in ["knn", "trees"] {
        let train = |file: &str, name: &str| {
            let trained = json(&folder, &["train", file, "-o", name, "--kind", kind]);
            assert_eq!(trained["kind"], kind);
            assert_eq!(trained["device"], CPU);
            assert_eq!(trained["samples"], 108);
            fs::read(folder.path().join(name)).unwrap()
        };
        printed(&folder, &["export", "t.db", "-o", "t.csv"]);
        assert_eq!(train("t.db", "one.json"), train("t.csv", "two.json"));
    }
}

#[test]
fn features_are_printed_by_name() {
    let folder = folder();
    let features = ["features", "p.lift", "--size", "N=1024"];
    let found = json(&folder, &features);
    assert_eq!(found["version"], VERSION);
    assert_eq!(found["features"].as_object().unwrap().len(), names().len());
    let text = printed(&folder, &features);
    let listed: Vec<&str> =
        text.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(listed, names());
    // `main` does one operation more than the other.
    let flops = |entry: &str| {
        let found = json(&folder, &[&features[..], &["--entry", entry]].concat());
        found["features"]["total_flops"].as_f64().unwrap()
    };
    assert_eq!((flops("main"), flops("plain")), (2048.0, 1024.0));
    assert!(said(&folder, &["features", "p.lift"]).contains("give `--size N=…`"));
    assert!(said(&folder, &["features", "q.lift"]).contains("q.lift"));
    let nowhere = [&features[..], &["--device", "opencl:99"]].concat();
    assert!(said(&folder, &nowhere).contains("opencl:99"));
}

/// A database of three candidates for a sum of 256 elements, measured on this machine's processor.
fn with_tuned_sum() -> tempfile::TempDir {
    let folder = folder();
    let sum = "def sum[N](xs: [f32; N]) -> f32 = xs |> reduce(0.0, (+));";
    fs::write(folder.path().join("sum.lift"), sum).unwrap();
    let tune = ["tune", "sum.lift", "--size", "N=256", "--trials", "3", "--repeat", "1"];
    let ran = in_folder(folder.path(), &[&tune[..], &["--db", "t.db"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    folder
}

/// Models are asked about the numbers that they were trained on.
#[test]
fn the_features_of_a_file_are_those_that_tuning_recorded() {
    let folder = with_tuned_sum();
    let store = Store::open(folder.path().join("t.db")).unwrap();
    let problem = store.problems().unwrap()[0];
    let recorded = store.features(problem).unwrap();
    assert_eq!(recorded.len(), 3);
    for (id, candidate) in store.candidates(problem).unwrap() {
        fs::write(folder.path().join("candidate.lift"), &candidate.text).unwrap();
        let found = json(&folder, &["features", "candidate.lift", "--size", "N=256"]);
        let own = recorded.iter().find(|of| of.candidate == id).unwrap();
        assert_eq!(own.version, VERSION);
        let recorded: Value = own.numbers.clone().into_iter().collect();
        assert_eq!(found["features"], recorded, "{}", candidate.text);
    }
}

#[test]
fn features_that_a_database_lacks_are_computed_anew() {
    let folder = with_tuned_sum();
    let path = folder.path().join("t.db");
    let all = |store: &Store| store.features(store.problems().unwrap()[0]).unwrap();
    let mut store = Store::open(&path).unwrap();
    let recorded = all(&store);
    // One lacks a number, one has a wrong one.
    let mut numbers = recorded[1].numbers.clone();
    numbers.remove("flops");
    store.record_features(recorded[1].candidate, VERSION, &numbers).unwrap();
    numbers = recorded[2].numbers.clone();
    numbers.insert("flops".to_string(), -7.0);
    store.record_features(recorded[2].candidate, VERSION, &numbers).unwrap();
    fill(&path, "elsewhere", "made up", VERSION);
    assert_ne!(all(&store), recorded);
    let found = json(&folder, &["renew", "t.db"]);
    assert_eq!((&found["candidates"], &found["refused"]), (&3.into(), &0.into()));
    assert_eq!(all(&store), recorded);
}

#[test]
fn what_has_no_candidate_of_the_device_is_not_renewed() {
    let folder = with_database();
    let text = said(&folder, &["renew", "t.db"]);
    assert!(text.contains("t.db has no candidate of cpu"), "{text}");
    assert!(said(&folder, &["renew", "u.db"]).contains("there is no file u.db"));
    assert!(!folder.path().join("u.db").exists());
    fs::write(folder.path().join("other.txt"), "what is this?").unwrap();
    assert!(said(&folder, &["renew", "other.txt"]).contains("not a database"));
}

/// A candidate that an older version could compile may be none for this one.
#[test]
fn a_candidate_that_is_no_program_keeps_what_it_has() {
    let folder = folder();
    let cpu = lift::open("cpu").unwrap().info().name.clone();
    let path = folder.path().join("t.db");
    fill(&path, "dot", &cpu, VERSION);
    let all = |store: &Store| store.features(store.problems().unwrap()[0]).unwrap();
    let before = all(&Store::open(&path).unwrap());
    let found = json(&folder, &["renew", "t.db"]);
    assert_eq!((&found["candidates"], &found["refused"]), (&0.into(), &before.len().into()));
    assert_eq!(all(&Store::open(&path).unwrap()), before);
}

/// A model for the processor of this machine.
fn with_model() -> tempfile::TempDir {
    let folder = folder();
    let cpu = lift::open("cpu").unwrap().info().name.clone();
    fill(&folder.path().join("t.db"), "dot", &cpu, VERSION);
    printed(&folder, &["train", "t.db", "-o", "model.json"]);
    folder
}

#[test]
fn programs_are_ranked() {
    let folder = with_model();
    let slow = PROGRAMS.replace("mapGlb(0,", "mapSeq(").replace("x * 2.0", "sin(x) * 2.0");
    fs::write(folder.path().join("slow.lift"), slow).unwrap();
    for device in [&[][..], &["--device", "cpu"]] {
        let predict = ["predict", "model.json", "slow.lift", "p.lift", "--size", "N=1024"];
        let predict = [&predict[..], device].concat();
        let found = json(&folder, &predict);
        let ranked: Vec<(f64, &str)> = found
            .as_array()
            .unwrap()
            .iter()
            .map(|row| (row["predicted"].as_f64().unwrap(), row["file"].as_str().unwrap()))
            .collect();
        assert_eq!(ranked.len(), 2);
        assert!(ranked[0].0 >= ranked[1].0, "{ranked:?}");
        let text = printed(&folder, &predict);
        let files: Vec<&str> =
            text.lines().skip(1).filter_map(|line| line.split_whitespace().nth(1)).collect();
        assert_eq!(files, [ranked[0].1, ranked[1].1]);
    }
}

#[test]
fn a_model_of_another_device_or_version_is_refused() {
    let folder = with_database();
    printed(&folder, &["train", "t.db", "-o", "model.json"]);
    let predict = ["predict", "model.json", "p.lift", "--size", "N=8"];
    let text = said(&folder, &predict);
    assert!(text.contains("the model is for `cpu made up`, which this machine has not"), "{text}");
    let text = said(&folder, &[&predict[..], &["--device", "cpu"]].concat());
    assert!(text.contains("was trained for `cpu made up`, not for `cpu "), "{text}");

    let path = folder.path().join("model.json");
    let whole = fs::read_to_string(&path).unwrap();
    let current = format!("\"feature_version\":{VERSION}");
    assert!(whole.contains(&current));
    fs::write(&path, whole.replace(&current, "\"feature_version\":999")).unwrap();
    let text = said(&folder, &predict);
    assert!(
        text.contains("the features are of version 999") && text.contains("train again"),
        "{text}"
    );
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let text = said(&folder, &predict);
    assert!(text.contains("model.json: this is no model or half of one"), "{text}");
    assert!(said(&folder, &["predict", "none.json", "p.lift"]).contains("cannot read none.json"));
}

#[test]
fn databases_without_features_are_refused_and_some_are_left_out() {
    let folder = folder();
    let path = folder.path().join("t.db");
    drop(Store::open(&path).unwrap());
    for verb in [
        &["eval", "t.db"][..],
        &["train", "t.db", "-o", "m.json"],
        &["export", "t.db", "-o", "t.csv"],
    ] {
        let text = said(&folder, verb);
        assert!(text.contains("no measured candidate") && text.contains("`lift tune`"), "{text}");
    }
    fill(&path, "dot", "made up", VERSION + 1);
    let text = said(&folder, &["eval", "t.db"]);
    let expected =
        format!("none of 40 candidates has all features of version {VERSION}, but of version");
    assert!(text.contains(&expected) && text.contains("`lift model renew`"), "{text}");
    assert!(!folder.path().join("m.json").exists() && !folder.path().join("t.csv").exists());

    fill(&path, "scan", "made up", VERSION);
    let ran = lift(&folder, &["export", "t.db", "-o", "t.csv"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "t.csv: 40 candidates\n"));
    assert!(ran.stderr.contains("t.db: 40 of 80 candidates have no features"), "{}", ran.stderr);
}

#[test]
fn one_program_is_not_enough_to_judge_but_to_train() {
    let folder = folder();
    fill(&folder.path().join("t.db"), "dot", "made up", VERSION);
    let text = said(&folder, &["eval", "t.db"]);
    assert!(text.contains("there is only one program, `dot`"), "{text}");
    let text = printed(&folder, &["train", "t.db", "-o", "model.json"]);
    assert_eq!(text, "model.json: trees for `cpu made up`, from 36 candidates of dot\n");
}

#[test]
fn a_model_is_for_one_device() {
    let folder = with_database();
    fill(&folder.path().join("t.db"), "dot", "other", VERSION);
    let text = said(&folder, &["train", "t.db", "-o", "model.json"]);
    assert!(text.contains("choose from `cpu made up`, `cpu other` by `--device`"), "{text}");
    let train = ["train", "t.db", "-o", "model.json", "--device"];
    let text = printed(&folder, &[&train[..], &["other"]].concat());
    assert!(text.contains("for `cpu other`, from 36 candidates"), "{text}");
    // Of the other device there is one program, which is not enough to judge a model: the first is judged all the same.
    let ran = lift(&folder, &["eval", "t.db"]);
    assert!(ran.code == 0 && ran.stderr.contains("cpu other: there is only one program"));
    assert!(ran.stdout.starts_with("cpu made up: each program"), "{}", ran.stdout);
    let text = said(&folder, &[&train[..], &["H200"]].concat());
    assert!(text.contains("no device of the measurements has `H200` in its name"), "{text}");
}

/// What is said of a device in a database of several is what is said where it is alone.
#[test]
fn devices_are_judged_one_by_one() {
    let folder = with_database();
    let alone = json(&folder, &["eval", "t.db"]);
    for program in ["dot", "sum"] {
        fill(&folder.path().join("other.db"), program, "other", VERSION);
    }
    let other = json(&folder, &["eval", "other.db"]);
    let both = json(&folder, &["eval", "t.db", "other.db"]);
    assert_eq!(both, Value::Array(vec![alone.clone(), other]));
    let one = json(&folder, &["eval", "t.db", "other.db", "--device", "made up"]);
    assert_eq!(one, alone);
    printed(&folder, &["train", "t.db", "-o", "alone.json"]);
    let device = ["--device", "made up"];
    printed(&folder, &[&["train", "t.db", "other.db", "-o", "both.json"][..], &device].concat());
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert_eq!(read("both.json"), read("alone.json"));
}

#[test]
fn files_that_are_no_measurements_are_refused() {
    let folder = with_database();
    let path = |name: &str| folder.path().join(name);
    printed(&folder, &["export", "t.db", "-o", "t.csv"]);
    printed(&folder, &["export", "t.db", "-o", "t.csv.gz"]);
    let eval = |name: &str| said(&folder, &["eval", name]);
    assert!(eval("none.db").contains("none.db: cannot be read"));
    fs::write(path("empty"), "").unwrap();
    assert!(eval("empty").contains("empty: the file is empty"));
    fs::write(path("notes.txt"), "hello\n").unwrap();
    assert!(eval("notes.txt").contains("notes.txt: this is no table of measurements"));
    let table = fs::read_to_string(path("t.csv")).unwrap();
    let headings = table.lines().next().unwrap();
    fs::write(path("headings.csv"), format!("{headings}\n")).unwrap();
    assert!(eval("headings.csv").contains("there is no candidate in this table"));
    fs::write(path("cut.csv"), &table[..table.len() / 2]).unwrap();
    let text = eval("cut.csv");
    assert!(text.contains("cut.csv: line ") && text.contains("was the file cut short?"), "{text}");
    let packed = fs::read(path("t.csv.gz")).unwrap();
    fs::write(path("cut.csv.gz"), &packed[..packed.len() / 2]).unwrap();
    assert!(eval("cut.csv.gz").contains("is no text, or cut short"));
    let database = fs::read(path("t.db")).unwrap();
    fs::write(path("cut.db"), &database[..database.len() - 100]).unwrap();
    assert!(eval("cut.db").contains("cut.db is damaged"));
    let other = table.replace(&format!(",{VERSION},"), ",999,");
    fs::write(path("other.csv"), other).unwrap();
    assert!(eval("other.csv").contains("the features are of version 999"));
    let into = ["train", "t.db", "-o", "no/such/folder/model.json"];
    assert!(said(&folder, &into).contains("cannot write no/such/folder/model.json"));
}

#[test]
fn what_was_given_up_for_being_slow_is_learned_from() {
    let folder = folder();
    let file = folder.path().join("t.db");
    fill(&file, "dot", "made up", VERSION);
    let mut store = Store::open(&file).unwrap();
    let problem = store.problem(&problem("dot", "made up")).unwrap();
    let mut add = |hash: &str, samples: Vec<f64>| {
        let candidate = Candidate { hash: hash.to_string(), ..Candidate::default() };
        let id = store.candidate(problem, &candidate).unwrap();
        store.record(id, &measurement(Outcome::Skipped, samples)).unwrap();
        let numbers = numbers(&mut fastrand::Rng::with_seed(5));
        store.record_features(id, VERSION, &numbers).unwrap();
    };
    add("slow", vec![99.0]);
    add("unknown", Vec::new());
    printed(&folder, &["export", "t.db", "-o", "t.csv"]);
    let text = fs::read_to_string(folder.path().join("t.csv")).unwrap();
    assert!(text.contains(",slow,,skipped,99,,"), "{text}");
    assert!(!text.contains(",unknown,"), "one that was not tried says nothing");
}

#[test]
fn programs_of_the_same_name_are_told_apart() {
    let folder = folder();
    let file = folder.path().join("t.db");
    fill(&file, "dot", "made up", VERSION);
    let mut store = Store::open(&file).unwrap();
    let other = ProblemKey { program: "another text".to_string(), ..problem("dot", "made up") };
    let other = store.problem(&other).unwrap();
    let candidate = Candidate { hash: "5eed".to_string(), ..Candidate::default() };
    let id = store.candidate(other, &candidate).unwrap();
    store.record(id, &measurement(Outcome::Ok, vec![1.0])).unwrap();
    let numbers = numbers(&mut fastrand::Rng::with_seed(5));
    store.record_features(id, VERSION, &numbers).unwrap();
    let trained = json(&folder, &["train", "t.db", "-o", "model.json"]);
    let programs = trained["programs"].as_array().unwrap();
    assert_eq!(programs.len(), 2);
    assert!(programs.iter().all(|p| p.as_str().unwrap().starts_with("dot-")), "{programs:?}");
}

#[test]
fn every_verb_explains_itself_with_an_example() {
    let folder = folder();
    for verb in ["train", "eval", "features", "predict", "export", "renew"] {
        let help = printed(&folder, &[verb, "--help"]);
        assert!(help.contains("Example") && help.contains(&format!("lift model {verb}")), "{help}");
        assert!(help.contains("--json"), "{help}");
    }
    assert!(printed(&folder, &["--help"]).contains("lift model train"));
}

/// What docs/performance.md has of measured programs is what the command says of them. Logarithms are not the same to
/// the last bit everywhere, so numbers may differ a little.
#[track_caller]
fn is_recorded(data: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let recorded = fs::read_to_string(root.join("docs/performance.md")).unwrap();
    let ran = in_folder(&root, &["model", "eval", data]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let (tables, _) = ran.stdout.split_once("What each feature").unwrap();
    let title = tables.lines().next().unwrap();
    let (_, recorded) = recorded.split_once(title).unwrap();
    let (recorded, _) = recorded.split_once("```").unwrap();
    let words: Vec<&str> =
        tables.split_whitespace().skip(title.split_whitespace().count()).collect();
    let expected: Vec<&str> = recorded.split_whitespace().collect();
    assert!(words.len() > 200, "{tables}");
    assert_eq!(words.len(), expected.len(), "{tables}");
    for (word, expected) in words.iter().zip(expected) {
        let close = match (word.parse::<f64>(), expected.parse::<f64>()) {
            (Ok(a), Ok(b)) => (a - b).abs() <= 0.02 + 0.05 * b.abs(),
            _ => *word == expected,
        };
        assert!(close, "{word} instead of {expected} in\n{tables}");
    }
}

#[test]
fn the_table_of_stencils_on_a_processor_is_what_comes_out() {
    is_recorded("data/stencils-cpu.csv.gz");
}

#[test]
fn the_table_of_stencils_on_a_gpu_is_what_comes_out() {
    is_recorded("data/stencils-h200.csv.gz");
}
