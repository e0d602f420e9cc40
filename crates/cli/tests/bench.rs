//! `lift bench`: suites, peers, wrong results, and the table of devices. What times are is not asked.

#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use common::{Ran, in_folder, root};
use serde_json::{Value, json};

/// In the folder of the sources, once and briefly.
fn bench(arguments: &[&str]) -> Ran {
    in_folder(&root(), &[&["bench"], arguments, &["--rounds", "1", "--repeat", "2"]].concat())
}

fn rows(ran: &Ran) -> Vec<Value> {
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    found.as_array().unwrap().clone()
}

/// A folder of benchmarks with one suite, `own`, of these programs for the problem `scal`.
fn own_suite(programs: &[(&str, &str)], peers: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    for path in ["bench/suites", "bench/peers", "programs"] {
        fs::create_dir_all(at(path)).unwrap();
    }
    symlink(root().join("bench/reference.py"), at("bench/reference.py")).unwrap();
    for (name, text) in programs {
        fs::write(at(&format!("programs/{name}.lift")), text).unwrap();
    }
    for (name, text) in peers {
        fs::write(at(&format!("bench/peers/{name}_peer.py")), text).unwrap();
    }
    let files: Vec<String> = programs.iter().map(|(name, _)| format!("{name}.lift")).collect();
    let names: Vec<&str> = peers.iter().map(|(name, _)| *name).collect();
    let suite = json!({ "about": "for a test", "problems": [{
        "problem": "scal",
        "programs": files,
        "sizes": [{ "N": 48 }, { "N": 96 }],
        "quick": { "N": 32 },
        "peers": { "cpu": names, "gpu": [] },
    }]});
    fs::write(at("bench/suites/own.json"), suite.to_string()).unwrap();
    folder
}

fn in_suite(folder: &Path, arguments: &[&str]) -> Ran {
    let own = ["bench", "own", "--rounds", "2", "--repeat", "2"];
    in_folder(folder, &[&own, arguments].concat())
}

const SCAL: &str = "def scal[N](alpha: f32, x: [f32; N]) -> [f32; N] = x |> map(\\a -> alpha * a);";

#[test]
fn programs_are_timed_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rows.json");
    let flags = ["extra", "--quick", "--only", "scal,black_scholes", "--against", "numpy"];
    let ran = bench(&[&flags[..], &["--json", "-o", file.to_str().unwrap()]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let found = rows(&ran);
    assert_eq!(found.len(), 2);
    for row in &found {
        assert_eq!(row["size"], "N=1024");
        assert_eq!(row["sizes"], json!({ "N": 1024 }));
        assert!(row["ms"].is_f64() && row["peers"]["numpy"].is_f64(), "{row:#}");
        assert_eq!(row["samples"].as_array().unwrap().len(), 2);
        assert_eq!(row["peer_samples"]["numpy"].as_array().unwrap().len(), 2);
        assert!(row["peer_about"]["numpy"].as_str().unwrap().starts_with("numpy "));
        assert_eq!((&row["right"], &row["variant"]), (&json!(true), &json!("default")));
        assert!(row["error"].as_f64().unwrap() < 1e-5);
        assert_eq!(row["missing"], json!({}));
    }
    assert_eq!(found[0]["program"], "scal");
    assert_eq!(found[0]["bytes"], 8192.0);
    assert_eq!(found[1]["program"], "black_scholes");
    let written: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(written, Value::from(found));
}

/// The suite has `mm` at two lists of sizes.
#[test]
fn at_given_sizes_a_program_is_measured_once() {
    let flags = ["mm", "--only", "mm_at", "--size", "M=16,K=8,N=16", "--against", "none"];
    let ran = bench(&[&flags[..], &["--json"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let sizes: Vec<String> = rows(&ran).iter().map(|row| row["size"].to_string()).collect();
    assert_eq!(sizes, ["\"K=8,M=16,N=16\""]);
}

#[test]
fn a_peer_that_is_not_there_is_missing() {
    let flags = ["mm", "--quick", "--only", "mm_at", "--against", "cublas"];
    let ran = bench(&[&flags[..], &["--json"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    // At the sizes that tiles divide, and at those they do not.
    for row in rows(&ran) {
        assert_eq!(row["peers"], json!({}));
        assert_eq!(row["missing"], json!({ "cublas": "cuBLAS runs on GPUs" }));
        assert_eq!(row["right"], true);
    }
    let table = bench(&flags);
    assert_eq!(table.code, 0, "{}", table.stderr);
    let line = table.stdout.lines().find(|l| l.starts_with("mm_at ")).unwrap();
    assert!(line.contains("GFLOP/s") && line.ends_with("missing"), "{line}");
    assert!(
        table.stdout.ends_with("\ncublas is missing: cuBLAS runs on GPUs\n"),
        "{}",
        table.stdout
    );
}

#[test]
fn peers_are_scripts_and_may_fail() {
    let twice = "import json, sys\nfor line in sys.stdin:\n    question = json.loads(line)\n    \
                 assert question['problem'] == 'scal' and question['device']['kind'] == 'cpu'\n    \
                 print(json.dumps({'peer': 'fine', 'ms': 3, 'samples': [2, 3, 4],\n                      \
                 'about': f\"{question['sizes']['N']} {question['bytes']}\"}), flush=True)";
    let peers = [
        ("fine", twice),
        ("absent", "input(); print('{\"missing\": \"gone fishing\"}')"),
        ("broken", "raise ValueError('of no use')"),
        ("silly", "input(); print('hello')"),
        ("endless", "input(); print('{\"peer\": \"endless\", \"samples\": []}')"),
    ];
    let folder = own_suite(&[("scal", SCAL)], &peers);
    let ran = in_suite(folder.path(), &["--sizes", "largest", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let [row] = &rows(&ran)[..] else { panic!("{}", ran.stdout) };
    assert_eq!(row["size"], "N=96");
    assert_eq!(row["peers"], json!({ "fine": 3.0 }));
    assert_eq!(row["peer_samples"]["fine"], json!([2.0, 3.0, 4.0, 2.0, 3.0, 4.0]));
    assert_eq!(row["peer_about"]["fine"], "96 768");
    assert_eq!(row["missing"]["absent"], "gone fishing");
    assert_eq!(row["missing"]["broken"], "it ended: ValueError: of no use");
    assert_eq!(row["missing"]["silly"], "it answered nonsense: `hello`");
    assert!(row["missing"]["endless"].as_str().unwrap().starts_with("it answered what cannot be"));
}

#[test]
fn wrong_results_and_failures_are_told() {
    let off = SCAL.replace("alpha * a", "alpha * a + 0.01");
    let misfit = SCAL.replace("alpha", "beta");
    let programs =
        [("scal", SCAL), ("off", &off), ("misfit", &misfit), ("broken", "def broken = 1 +;")];
    let folder = own_suite(&programs, &[]);
    let ran = in_suite(folder.path(), &["--quick", "--json"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stderr.contains("error: 3 of 4 wrong or failed"), "{}", ran.stderr);
    let found = rows(&ran);
    let right: Vec<&Value> = found.iter().map(|row| &row["right"]).collect();
    assert_eq!(right, [&json!(true), &json!(false), &json!(false), &json!(false)]);
    assert!(found[1]["error"].as_f64().unwrap() > found[1]["tolerance"].as_f64().unwrap());
    let why = |row: &Value| row["failed"].as_str().unwrap().to_string();
    assert!(why(&found[2]).contains("no input beta"), "{found:#?}");
    assert!(!why(&found[3]).is_empty() && found[3]["ms"].is_null());
    let table = in_suite(folder.path(), &["--quick"]);
    assert_eq!(table.code, 1);
    assert!(table.stdout.contains("WRONG"), "{}", table.stdout);
    assert!(table.stdout.contains("failed: "), "{}", table.stdout);
}

#[test]
fn programs_are_tuned_first() {
    let folder = own_suite(&[("scal", SCAL)], &[]);
    let run = |more: &[&str]| {
        let ran = in_suite(folder.path(), &[&["--quick", "--json", "--db", "t.db"], more].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        rows(&ran).remove(0)
    };
    assert_eq!(run(&[])["variant"], "default");
    // It ends sooner, where there is nothing left to try.
    let tuned = run(&["--tune", "20"]);
    assert_ne!(tuned["variant"], "default");
    assert_eq!(tuned["right"], true);
    assert_eq!(run(&[])["variant"], tuned["variant"]);
    assert_eq!(run(&["--untuned"])["variant"], "default");
}

#[test]
fn what_is_tuned_for_one_device_runs_on_others() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("p.lift"), SCAL).unwrap();
    let own = ["bench", "cross", "--program", "p.lift", "--size", "N=256", "--db", "t.db"];
    let devices = ["--devices", "cpu,opencl:pocl", "--rounds", "1", "--repeat", "2"];
    let cross = |more: &[&str]| in_folder(folder.path(), &[&own[..], &devices[..], more].concat());
    let untuned = cross(&[]);
    assert_eq!(untuned.code, 1);
    assert!(
        untuned.stderr.contains("nothing is stored for `cpu`, `opencl:pocl`"),
        "{}",
        untuned.stderr
    );
    assert!(untuned.stderr.contains("--tune SECONDS"), "{}", untuned.stderr);
    let ran = cross(&["--trials", "2", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let found = rows(&ran);
    let pairs: Vec<(&str, &str)> = found
        .iter()
        .map(|row| (row["tuned_for"].as_str().unwrap(), row["run_on"].as_str().unwrap()))
        .collect();
    let (cpu, pocl) = ("cpu", "opencl:pocl");
    assert_eq!(pairs, [(cpu, cpu), (cpu, pocl), (pocl, cpu), (pocl, pocl)]);
    for row in &found {
        assert!(row["ms"].is_f64() && row["percent"].is_f64(), "{row:#}");
        assert!(row["variant"].is_string());
    }
    assert_eq!((&found[0]["percent"], &found[3]["percent"]), (&json!(100.0), &json!(100.0)));
    // What is stored is not tuned for again.
    let table = cross(&["--trials", "2"]);
    assert_eq!(table.code, 0, "{}", table.stderr);
    assert!(!table.stderr.contains("tried"), "{}", table.stderr);
    let lines: Vec<&str> = table.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{}", table.stdout);
    assert!(lines[0].starts_with("tuned for") && lines[0].ends_with("on opencl:pocl"));
    assert!(lines[1].starts_with("cpu ") && lines[1].matches(" %").count() == 2, "{}", lines[1]);
}

#[test]
fn suites_are_listed() {
    let ran = in_folder(&root(), &["bench"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let names: Vec<&str> = ran.stdout.lines().filter_map(|l| l.split(' ').next()).collect();
    assert_eq!(names, ["extra", "mm", "reductions", "stencils", "thesis", "tuned", "users"]);
    let ran = in_folder(&root(), &["bench", "--json"]);
    assert_eq!(rows(&ran).len(), names.len());
}

#[test]
fn mistakes_are_told() {
    let said = |arguments: &[&str]| {
        let ran = in_folder(&root(), &[&["bench"], arguments].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{arguments:?} {}", ran.stderr);
        ran.stderr
    };
    assert!(said(&["stencil"]).contains("help: did you mean `stencils`?"));
    assert!(said(&["mm", "--only", "mm_locl"]).contains("did you mean `mm_local`?"));
    assert!(said(&["mm", "--quick", "--against", "nunpy"]).contains("did you mean `numpy`?"));
    assert!(said(&["mm", "--size", "N=3"]).contains("no program of the suite has these sizes"));
    assert!(said(&["mm", "--device", "interp"]).contains("no device"));
    assert!(said(&["mm", "--bench-dir", "docs"]).contains("there are no benchmarks in `docs`"));
    assert!(said(&["mm", "--quick", "--python", "/none"]).contains("no Python with numpy"));
    let folder = own_suite(&[("scal", SCAL)], &[]);
    let suite = folder.path().join("bench/suites/own.json");
    fs::write(&suite, r#"{"about": "", "problems": [{"problem": "scal", "sise": []}]}"#).unwrap();
    let ran = in_suite(folder.path(), &[]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.stderr.contains("own.json: problem 1: `sise` means nothing here"),
        "{}",
        ran.stderr
    );
}

/// What the suites name is there.
#[test]
fn suites_name_what_exists() {
    let there = |path: String| assert!(root().join(&path).is_file(), "{path}");
    let text = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let (known, users) = (text("bench/problems.py"), text("programs/users_expected.py"));
    let mut problems = BTreeSet::new();
    for file in common::with_extension(&root().join("bench/suites"), "json") {
        let suite: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        for problem in suite["problems"].as_array().unwrap() {
            let name = problem["problem"].as_str().unwrap().to_string();
            match name.strip_prefix("users/") {
                Some(name) => {
                    let class = format!("\n@program\nclass {name}(");
                    assert!(users.contains(&class), "{name}");
                }
                None => {
                    assert!(known.contains(&format!("\n@problem(\"{name}\")\n")), "{name}");
                    problems.insert(name);
                }
            }
            for program in problem["programs"].as_array().unwrap() {
                let file = program.as_str().unwrap().split(':').next().unwrap();
                there(format!("programs/{file}"));
            }
            for peer in
                ["cpu", "gpu"].iter().flat_map(|kind| problem["peers"][kind].as_array().unwrap())
            {
                there(format!("bench/peers/{}_peer.py", peer.as_str().unwrap()));
            }
        }
    }
    assert_eq!(problems.len(), known.matches("\n@problem(").count(), "a problem of no suite");
}
