//! Times predicted: by the command, without a device, and what it says where it cannot.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use std::fs;

use common::{Ran, in_folder, root, with_env};
use serde_json::Value;

const H200: &str = "data/machines/h200-cuda.json";
const MM: [&str; 4] = ["predict", "programs/mm.lift", "--size", "M=512,K=512,N=512"];

fn lift(arguments: &[&str]) -> Ran {
    // Neither a compiler nor a driver.
    with_env(&root(), arguments, &[("CC", "/no/compiler"), ("OPENCL_DYLIB_PATH", "/no/opencl.so")])
}

fn json(arguments: &[&str]) -> Value {
    let ran = lift(arguments);
    assert_eq!(ran.code, 0, "{arguments:?} {}", ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

fn refused(arguments: &[&str], says: &[&str]) {
    let ran = lift(arguments);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{arguments:?}");
    for part in says {
        assert!(ran.stderr.contains(part), "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn machines_of_the_repository_answer_without_a_device() {
    for machine in common::with_extension(&root().join("data/machines"), "json") {
        let machine = machine.to_str().unwrap();
        let arguments = [&MM[..], &["--machine", machine, "--json"]].concat();
        let first = lift(&arguments);
        assert_eq!(first.code, 0, "{machine}: {}", first.stderr);
        assert_eq!(first.stdout, lift(&arguments).stdout, "the same bytes each time");
        let told: Value = serde_json::from_str(&first.stdout).unwrap();
        let kernels = told["kernels"].as_array().unwrap();
        let mut kernel_ms = 0.0;
        for kernel in kernels {
            let ms = |name: &str| kernel[name].as_f64().unwrap();
            let sum = ms("launch_ms") + ms("bound_ms") + ms("tail_ms");
            assert!((sum / ms("ms") - 1.0).abs() < 2e-3, "{kernel}");
            let longest = kernel["components"].as_object().unwrap().values();
            let longest = longest.map(|v| v.as_f64().unwrap()).fold(0.0, f64::max);
            assert!(ms("bound_ms") >= 0.999 * longest && ms("bound_ms") <= 1.251 * longest);
            let by = kernel["bound_by"].as_str().unwrap();
            assert_eq!(kernel["components"][by].as_f64(), Some(longest), "{kernel}");
            kernel_ms += ms("runs") * ms("ms");
        }
        let total = told["total_ms"].as_f64().unwrap();
        assert!(total > kernel_ms + told["transfer_ms"].as_f64().unwrap(), "{told}");
    }
}

#[test]
fn half_a_rate_in_a_file_doubles_what_it_binds() {
    let folder = tempfile::tempdir().unwrap();
    let slower = folder.path().join("slower.json");
    let mut machine: Value =
        serde_json::from_str(&fs::read_to_string(root().join(H200)).unwrap()).unwrap();
    for quantity in machine["quantities"].as_array_mut().unwrap() {
        if quantity["name"] == "dram.rate" {
            quantity["value"] = (quantity["value"].as_f64().unwrap() / 2.0).into();
        }
    }
    fs::write(&slower, machine.to_string()).unwrap();
    let nn = ["predict", "programs/thesis/nn.lift", "--size", "N=67108864", "--json", "--machine"];
    let before = json(&[&nn[..], &[H200]].concat());
    let after = json(&[&nn[..], &[slower.to_str().unwrap()]].concat());
    let dram = |told: &Value| told["kernels"][0]["components"]["dram"].as_f64().unwrap();
    assert!((dram(&after) / dram(&before) - 2.0).abs() < 2e-3);
    for (name, ms) in before["kernels"][0]["components"].as_object().unwrap() {
        if name != "dram" {
            assert_eq!(&after["kernels"][0]["components"][name], ms, "{name}");
        }
    }
}

#[test]
fn kernels_written_by_hand_are_predicted() {
    let told = json(&[
        "predict",
        "programs/kernels/saxpy.kernel",
        "--size",
        "N=67108864",
        "--machine",
        H200,
        "--json",
        "--roofline",
    ]);
    let counts = &told["kernels"][0]["counts"];
    let bytes = 4.0 * 67_108_864.0;
    for (name, times) in [("read_bytes", 2.0), ("written_bytes", 1.0)] {
        let found = counts[name].as_f64().unwrap();
        assert!((found / (times * bytes) - 1.0).abs() < 0.02, "{name}: {found}");
    }
    assert_eq!(told["roofline"]["under"], "memory");
    // A small one is in the last cache, and memory is no roof of it.
    let sized = ["--size", "N=65536", "--machine", H200, "--roofline"];
    let small = lift(&[&["predict", "programs/kernels/saxpy.kernel"][..], &sized].concat()).stdout;
    assert!(
        small.contains("of what the last cache allows") && !small.contains("memory allows"),
        "{small}"
    );
    let text =
        lift(&["predict", "programs/kernels/saxpy.kernel", "--size", "N=1024", "--machine", H200]);
    assert!(text.stdout.contains("bound by"), "{}", text.stdout);
}

#[test]
fn a_kernel_is_predicted_as_it_is() {
    let saxpy = |rest: &[&'static str]| {
        let file = "programs/kernels/saxpy.kernel";
        [&["predict", file, "--machine", H200][..], rest].concat()
    };
    for flag in
        [["--local", "16"], ["--global", "1024"], ["--entry", "saxpy"], ["--form", "stored"]]
    {
        refused(&saxpy(&flag), &[flag[0], "is for programs"]);
    }
    refused(&saxpy(&["--size", "N=1024,Z=3"]), &["no kernel has a size `Z`"]);
    refused(&saxpy(&["--size", "N=0"]), &["`N` is 0"]);
    // A size that is not given is assumed, and told.
    let told = json(&saxpy(&["--json"]));
    let assumed = told["kernels"][0]["assumed"].as_array().unwrap();
    assert!(assumed.iter().any(|a| a.as_str().unwrap().contains("`N` is 1024")), "{told}");
}

/// Times are printed by four digits that count, however short they are.
#[test]
fn short_times_are_printed_too() {
    let dot = ["predict", "programs/reduce/dot.lift", "--size", "N=1024", "--machine", H200];
    let told = json(&[&dot[..], &["--json"]].concat());
    let text = lift(&dot).stdout;
    for kernel in told["kernels"].as_array().unwrap() {
        for (name, ms) in kernel["components"].as_object().unwrap() {
            let ms = ms.as_f64().unwrap();
            let lines = text.lines().filter_map(|line| line.trim().strip_prefix(name.as_str()));
            let printed =
                lines.filter_map(|rest| rest.trim().strip_suffix(" ms")?.parse::<f64>().ok());
            let near = |found: f64| (found - ms).abs() <= 1e-3 * ms + 1e-9;
            assert!(printed.into_iter().any(near), "{name} {ms}: {text}");
        }
    }
}

#[test]
fn a_program_adds_up_in_what_is_printed() {
    let told = json(&[&MM[..], &["--machine", H200, "--json"]].concat());
    let ms = |name: &str| told[name].as_f64().unwrap();
    let parts = ms("allocation_ms") + ms("transfer_ms") + ms("launch_ms") + ms("kernel_ms");
    assert!((parts / ms("total_ms") - 1.0).abs() < 2e-3, "{told}");
}

#[test]
fn what_was_measured_is_compared_again() {
    for set in ["b", "d"] {
        let measured = format!("data/clock/{set}-h200-cuda.json");
        let told = json(&[
            "model",
            "validate",
            "--set",
            set,
            "--measured",
            &measured,
            "--machine",
            H200,
            "--json",
        ]);
        let pairs = told["pairs"].as_array().unwrap();
        assert!(pairs.len() >= 17);
        let mean = pairs.iter().map(|p| p["q"].as_f64().unwrap()).sum::<f64>() / pairs.len() as f64;
        // As docs/clock.md says, with room for changes of kernels.
        assert!((0.85..1.15).contains(&mean), "set {set}: {mean}");
    }
    let table = lift(&[
        "model",
        "validate",
        "--set",
        "d",
        "--measured",
        "data/clock/d-h200-cuda.json",
        "--machine",
        H200,
    ]);
    assert!(table.stdout.contains("below 50,000 elements"), "{}", table.stdout);
}

#[test]
fn what_cannot_be_predicted_says_what_to_do() {
    let mm = |rest: &[&'static str]| [&MM[..], rest].concat();
    refused(&mm(&["--machine", "no.json"]), &["no.json"]);
    refused(&mm(&["--machine", "Cargo.toml"]), &["no machine's description", "lift calibrate"]);
    refused(&mm(&["--machine", H200, "--form", "stored"]), &["--device"]);
    refused(
        &mm(&["--machine", H200, "--fast-math"]),
        &["no flags", "`--fast-math`", "lift calibrate"],
    );
    refused(
        &["predict", "programs/mm.lift", "--size", "M=512,K=512", "--machine", H200],
        &["`N`", "--size N="],
    );
    refused(
        &[
            "model",
            "validate",
            "--set",
            "b",
            "--measured",
            "data/clock/d-h200-cuda.json",
            "--machine",
            H200,
        ],
        &["measurements of set d"],
    );
    refused(
        &["model", "validate", "--set", "d", "--measured", "data/clock/d-h200-cuda.json"],
        &["--machine"],
    );
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other.json");
    let text = fs::read_to_string(root().join(H200)).unwrap();
    fs::write(&other, text.replacen("\"format\": 1", "\"format\": 7", 1)).unwrap();
    let ran = lift(&[&MM[..], &["--machine", other.to_str().unwrap()]].concat());
    assert_eq!(ran.code, 1);
    assert!(
        ran.stderr.contains("format 7") && ran.stderr.contains("lift calibrate"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_device_that_was_not_measured_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(root().join("programs/reduce/dot.lift"), folder.path().join("dot.lift")).unwrap();
    let ran = in_folder(folder.path(), &["predict", "dot.lift", "--size", "N=1024"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("lift calibrate --device cpu"), "{}", ran.stderr);
    let ran = in_folder(folder.path(), &["calibrate", "--check"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("has no description yet"), "{}", ran.stderr);
    let arguments = ["run", "dot.lift", "x=[1,2,3]", "y=ones", "--device", "auto", "--json"];
    let ran = in_folder(folder.path(), &arguments);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("no device is calibrated") && ran.stderr.contains("cpu"),
        "{}",
        ran.stderr
    );
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(told["device"], "cpu");
}

/// The description of another machine, put where that of this one is looked for.
#[test]
fn descriptions_are_used_where_they_fit() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(root().join("programs/reduce/dot.lift"), folder.path().join("dot.lift")).unwrap();
    let data = folder.path().join("data");
    let env = [("XDG_DATA_HOME", data.to_str().unwrap())];
    // A calibration that has no time ends before anything is written, and says where the time went.
    let ran = with_env(folder.path(), &["calibrate", "--time", "0.001"], &env);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("--time"), "{}", ran.stderr);
    assert!(!data.join("lift/machines").exists());
    // What cannot be written is told before anything is measured.
    for (file, says) in [("data", "is a folder"), ("dot.lift/machine.json", "cannot be written")] {
        fs::create_dir_all(&data).unwrap();
        let ran = with_env(folder.path(), &["calibrate", "--time", "0.001", "-o", file], &env);
        assert!(ran.code == 1 && ran.stderr.contains(says), "{}", ran.stderr);
    }
    let devices = with_env(folder.path(), &["devices", "--json"], &env);
    let devices: Value = serde_json::from_str(&devices.stdout).unwrap();
    let cpu = &devices[0];
    let fingerprint = format!(
        "cpu {} {}, {} threads",
        cpu["name"].as_str().unwrap(),
        cpu["driver"].as_str().unwrap(),
        cpu["compute_units"]
    );
    let name: String =
        fingerprint.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let machines = data.join("lift/machines");
    fs::create_dir_all(&machines).unwrap();
    let text = fs::read_to_string(root().join("data/machines/xeon-16.json")).unwrap();
    let mut machine: Value = serde_json::from_str(&text).unwrap();
    let path = machines.join(format!("{name}.json"));
    // As it is, it is of another device.
    fs::write(&path, machine.to_string()).unwrap();
    let predict = ["predict", "dot.lift", "--size", "N=1024", "--json"];
    let ran = with_env(folder.path(), &predict, &env);
    assert!(ran.code == 1 && ran.stderr.contains("and this is"), "{}", ran.stderr);
    machine["device"] = fingerprint.clone().into();
    fs::write(&path, machine.to_string()).unwrap();
    let ran = with_env(folder.path(), &predict, &env);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(told["machine"], fingerprint.as_str());
    // A check has as much time as it is given, too.
    let ran = with_env(folder.path(), &["calibrate", "--check", "--time", "0.001"], &env);
    assert!(ran.code == 1 && ran.stderr.contains("--time"), "{}", ran.stderr);
    let arguments = ["run", "dot.lift", "x=[1,2,3]", "y=ones", "--device", "auto"];
    for resident in [&[][..], &["--resident"][..]] {
        let ran = with_env(folder.path(), &[&arguments[..], resident].concat(), &env);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let line = ran.stderr.lines().next().unwrap();
        assert!(
            line.starts_with("cpu ") && line.contains(" ms") && line.contains(": cpu"),
            "{line}"
        );
        assert_eq!(line.contains("of it transfers"), resident.is_empty(), "{line}");
    }
}

#[test]
fn small_programs_stay_where_they_are() {
    let machines = "data/machines/xeon-16.json,data/machines/h200-cuda.json";
    let told = json(&["bench", "crossover", "programs/mm.lift", "--machines", machines, "--json"]);
    let from = told["predicted"].as_i64().unwrap();
    // Data is copied to the GPU and back, which pays where there is enough to do.
    assert!((64..4096).contains(&from), "{told}");
    let never = json(&[
        "bench",
        "crossover",
        "programs/mm.lift",
        "--machines",
        machines,
        "--to",
        "16",
        "--json",
    ]);
    assert_eq!(never["predicted"], "never");
    refused(&["bench", "crossover", "programs/mm.lift", "--machines", H200], &["two are compared"]);
}

#[test]
fn validations_and_rooflines_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (validation, roofline) = (file("b.json"), file("mm.json"));
    let measured = "data/clock/b-h200-cuda.json";
    let validate = ["model", "validate", "--set", "b", "--measured", measured, "--machine", H200];
    let told = lift(&[&validate[..], &["--json"]].concat()).stdout;
    let pairs: Value = serde_json::from_str(&told).unwrap();
    let steady =
        pairs["pairs"].as_array().unwrap().iter().filter(|p| p["unsteady"] == false).count();
    fs::write(&validation, told).unwrap();
    let roof = lift(&[&MM[..], &["--machine", H200, "--roofline", "--json"]].concat());
    fs::write(&roofline, roof.stdout).unwrap();
    let ran = lift(&["report", "--validation", &validation, "--roofline", &roofline]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stdout.matches("<svg").count(), 3, "two of the pairs, one of the roof");
    assert_eq!(ran.stdout.matches("<circle").count(), steady + 1);
    assert!(ran.stdout.contains("mm on cuda NVIDIA H200"), "{}", ran.stdout);
    refused(&["report", "--validation", &roofline], &["lift model validate"]);
    refused(&["report", "--roofline", &validation], &["lift predict"]);
    refused(&["report", "--roofline", "Cargo.toml"], &["Cargo.toml is no JSON"]);
    refused(&["report", "--roofline", "no.json"], &["cannot read no.json"]);
}
