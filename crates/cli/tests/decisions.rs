//! Decisions and forms, predicted and measured: with the descriptions of other machines, put where those of these are
//! looked for.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use std::fs;
use std::path::Path;

use common::{Ran, root, with_env};
use serde_json::Value;

fn lift(data: &Path, arguments: &[&str]) -> Ran {
    with_env(&root(), arguments, &[("XDG_DATA_HOME", data.to_str().unwrap())])
}

/// Describes the devices of these kinds, and says what they are called.
fn describe(data: &Path, kinds: &[&str]) -> Vec<String> {
    let devices: Value = serde_json::from_str(&lift(data, &["devices", "--json"]).stdout).unwrap();
    let machines = data.join("lift/machines");
    fs::create_dir_all(&machines).unwrap();
    let mut ids = Vec::new();
    for device in devices.as_array().unwrap() {
        let text = |name: &str| device[name].as_str().unwrap();
        let kind = text("id").split(':').next().unwrap();
        if !kinds.contains(&kind) {
            continue;
        }
        let mut fingerprint = format!("{kind} {} {}", text("name"), text("driver"));
        let file = match kind {
            "cpu" => {
                fingerprint += &format!(", {} threads", device["compute_units"]);
                "data/machines/xeon-16.json"
            }
            _ => "data/machines/h200-opencl.json",
        };
        let text_of = fs::read_to_string(root().join(file)).unwrap();
        let mut machine: Value = serde_json::from_str(&text_of).unwrap();
        machine["device"] = fingerprint.clone().into();
        let letters = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let name: String = fingerprint.chars().map(letters).collect();
        fs::write(machines.join(format!("{name}.json")), machine.to_string()).unwrap();
        ids.push(text("id").to_string());
    }
    ids
}

#[test]
fn decisions_are_compared_with_what_is_best() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let ids = describe(data, &["cpu", "opencl"]);
    assert!(ids.len() >= 2, "{ids:?}");
    let file = data.join("decisions.json");
    let devices = format!("{},{}", ids[0], ids[1]);
    let arguments = [
        "bench",
        "decide",
        "--devices",
        &devices,
        "--only",
        "axpy",
        "--powers",
        "16,18",
        "--json",
        "-o",
        file.to_str().unwrap(),
    ];
    let ran = lift(data, &arguments);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(fs::read_to_string(&file).unwrap().trim(), ran.stdout.trim());
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    let decisions = told["decisions"].as_array().unwrap();
    assert_eq!(decisions.len(), 2, "{told:#}");
    for decision in decisions {
        let elements = decision["sizes"]["N"].as_f64().unwrap();
        assert_eq!(elements, decision["power"].as_f64().unwrap().exp2(), "{decision}");
        let offers = decision["offers"].as_array().unwrap();
        let ms = |k: usize, name: &str| offers[k][name].as_f64().unwrap();
        // The one that is predicted to be done first comes first.
        assert!(ms(0, "predicted_ms") <= ms(1, "predicted_ms"), "{decision}");
        assert_eq!(decision["chosen"], offers[0]["device"]);
        let best = ms(0, "measured_ms").min(ms(1, "measured_ms"));
        let regret = decision["regret"].as_f64().unwrap();
        assert!((regret * best / ms(0, "measured_ms") - 1.0).abs() < 0.01, "{decision}");
    }
    assert!(told["worst"].as_f64() >= told["regret"].as_f64(), "{told}");
    // No time, no decision, and that is said.
    let ran = lift(data, &[&arguments[..8], &["10", "--time", "0.000001"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("the time is over"), "{}", ran.stderr);
}

#[test]
fn decisions_need_two_devices_that_are_known() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let refused = |arguments: &[&str], says: &[&str]| {
        let ran = lift(data, &[&["bench", "decide"], arguments].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{arguments:?} {}", ran.stderr);
        for part in says {
            assert!(ran.stderr.contains(part), "{arguments:?}: {}", ran.stderr);
        }
    };
    refused(&[], &["none is measured", "lift calibrate --device cpu"]);
    describe(data, &["cpu"]);
    refused(&["--devices", "cpu"], &["only `cpu` is measured", "--devices"]);
    refused(&["--devices", "cpu,opencl:0"], &["`opencl:0`", "lift calibrate --device opencl:0"]);
    describe(data, &["cpu", "opencl"]);
    refused(&["--only", "axpi"], &["`axpi`"]);
    refused(&["--bench-dir", "docs"], &["no benchmarks in `docs`"]);
}

#[test]
fn forms_of_programs_are_predicted_and_run() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    describe(data, &["cpu"]);
    let file = data.join("c.json");
    let file = file.to_str().unwrap();
    let validate = ["model", "validate", "--set", "c"];
    let measure = ["--only", "axpy", "--count", "1", "--json", "-o", file];
    let ran = lift(data, &[&validate[..], &measure[..]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    let forms = told["forms"].as_array().unwrap();
    assert!(forms.len() >= 3, "the program and others: {told:#}");
    for form in forms {
        let of = |name: &str| form[name].as_f64().unwrap();
        assert!(of("measured_ms") > 0.0 && of("predicted_ms") > 0.0, "{form}");
        assert!((of("q") * of("measured_ms") / of("predicted_ms") - 1.0).abs() < 0.01, "{form}");
    }
    // What is kept is compared again without a device, and has the programs in it.
    let kept: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    assert!(kept["forms"][1]["text"].as_str().unwrap().contains("def "));
    let machine = "data/machines/xeon-16.json";
    let again = ["--measured", file, "--machine", machine];
    let ran = lift(data, &[&validate[..], &again[..]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("90 % of d") && ran.stdout.contains("axpy"), "{}", ran.stdout);
    let other = ["model", "validate", "--set", "b", "--measured", file, "--machine", machine];
    let ran = lift(data, &other);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("no measurements"), "{}", ran.stderr);
}
