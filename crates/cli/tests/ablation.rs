//! The benchmark of simplifications, at sizes that only try it.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use std::fs;
use std::process::Command;

use common::root;
use serde_json::{Value, json};

#[test]
fn simplifications_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json");
    let output = Command::new("python3")
        .arg(root().join("scripts/bench-ablation"))
        .args(["--lift", env!("CARGO_BIN_EXE_lift"), "--device", "opencl:pocl", "--tiny"])
        .args(["--repeat", "2", "--json"])
        .arg(&report)
        .args(["nn_global", "transpose_gather"])
        .output()
        .unwrap();
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{table}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(table.matches("| tiny |").count(), 2, "{table}");
    let found: Value = serde_json::from_str(&fs::read_to_string(&report).unwrap()).unwrap();
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2, "{found:#}");
    for row in rows {
        let cells = row["cells"].as_object().unwrap();
        assert_eq!(cells.len(), 5, "{row:#}");
        // A cell was measured, or there is nothing to measure.
        for (name, cell) in cells {
            assert!(cell["ms"].as_f64().is_some() != (cell["same"] == json!(true)), "{name} {row}");
        }
        assert!(cells["none"]["ms"].is_f64(), "{row:#}");
    }
    let of = |name: &str| &rows.iter().find(|row| row["program"] == name).unwrap()["cells"];
    assert_eq!(of("nn_global")["no barrier elimination"]["same"], true, "it shares no memory");
    assert!(of("transpose_gather")["no access simplification"]["ms"].is_f64());
}
