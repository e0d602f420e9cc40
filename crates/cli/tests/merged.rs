//! Databases of two devices in one: models of each, forms of each on the other, and one page about both.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use std::fs;
use std::path::Path;

use common::in_folder;
use serde_json::Value;

const PROGRAMS: &str = "
def sum[N](xs: [f32; N]) -> f32 = xs |> reduce(0.0, (+));
def twice[N](xs: [f32; N]) -> [f32; N] = xs |> map(\\x -> x * 2.0);
";

#[track_caller]
fn lift(folder: &Path, arguments: &[&str]) -> String {
    let ran = in_folder(folder, arguments);
    assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.stderr);
    ran.stdout
}

fn tune(folder: &Path, device: &str, database: &str) {
    for entry in ["sum", "twice"] {
        let program = ["tune", "p.lift", "--entry", entry, "--size", "N=512", "-o", "best.lift"];
        let how = ["--device", device, "--search", "random", "--trials", "4", "--repeat", "2"];
        lift(folder, &[&program[..], &how, &["--db", database]].concat());
    }
}

/// The tables of what was tuned for one device and ran on another: a row each, cells by column.
fn across(page: &str) -> Vec<Vec<Vec<String>>> {
    let cells = |row: &str, tag: &str| -> Vec<String> {
        let start = format!("<{tag}>");
        let parts = row.split(start.as_str()).skip(1);
        parts.map(|part| part.split("</").next().unwrap().to_string()).collect()
    };
    let tables = page.split("<section class=\"across\">").skip(1);
    tables
        .map(|table| {
            let rows = table.split("</table>").next().unwrap().split("<tr>").skip(1);
            rows.map(|row| [cells(row, "th"), cells(row, "td")].concat()).collect()
        })
        .collect()
}

#[test]
fn two_devices_are_merged_learned_from_apart_and_reported_on_one_page() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("p.lift"), PROGRAMS).unwrap();
    tune(path, "cpu", "cpu.db");
    tune(path, "opencl:pocl", "opencl.db");
    lift(path, &["db", "merge", "cpu.db", "opencl.db", "-o", "all.db"]);

    // A model is for one device, and is what it would be without the other.
    let ran = in_folder(path, &["model", "train", "all.db", "-o", "model.json"]);
    assert!(ran.code == 1 && ran.stderr.contains("several devices"), "{}", ran.stderr);
    for (device, part, own) in [("cpu", "cpu ", "cpu.db"), ("opencl", "opencl ", "opencl.db")] {
        let train = |from: &str, to: &str| {
            let how = ["model", "train", from, "-o", to, "--device", part, "--json"];
            serde_json::from_str::<Value>(&lift(path, &how)).unwrap()
        };
        let (both, alone) = (train("all.db", "both.json"), train(own, "alone.json"));
        assert!(both["device"].as_str().unwrap().starts_with(device), "{both}");
        assert_eq!((&both["samples"], &both["programs"]), (&alone["samples"], &alone["programs"]));
    }
    let judged: Value =
        serde_json::from_str(&lift(path, &["model", "eval", "all.db", "--json"])).unwrap();
    let devices: Vec<&str> =
        judged.as_array().unwrap().iter().map(|one| one["device"].as_str().unwrap()).collect();
    assert!(devices[0].starts_with("cpu ") && devices[1].starts_with("opencl "), "{devices:?}");

    // Both devices are on the page, and each program has a table of what was tuned for which and ran on which.
    let report = || {
        lift(path, &["report", "all.db", "-o", "page.html"]);
        fs::read_to_string(path.join("page.html")).unwrap()
    };
    let page = report();
    assert!(
        devices.iter().all(|device| page.contains(&format!("<td>{device}</td>"))),
        "{devices:?}"
    );
    for table in across(&page) {
        assert_eq!(
            table[0],
            ["tuned for", &format!("on {}", devices[0]), &format!("on {}", devices[1])]
        );
        assert_eq!(
            (table.len(), &table[1][0], &table[2][0]),
            (3, &devices[0].into(), &devices[1].into())
        );
        assert!(table[1][1].ends_with("100 %") && table[2][2].ends_with("100 %"), "{table:?}");
    }
    assert_eq!(across(&page).len(), 2);

    // What was tuned for one device is run on the other, once, and the cells say how fast it is.
    for device in ["cpu", "opencl:pocl"] {
        lift(path, &["db", "across", "--db", "all.db", "--device", device]);
        let again = lift(path, &["db", "across", "--db", "all.db", "--device", device, "--json"]);
        assert_eq!(again, "[]\n");
    }
    let page = report();
    for table in across(&page) {
        let cells: Vec<&String> = table[1..].iter().flat_map(|row| &row[1..]).collect();
        assert_eq!(cells.len(), 4);
        assert!(!cells.iter().any(|cell| *cell == "not measured"), "{table:?}");
    }
    // What was recorded is intact, and merging what came of it with where it came from changes nothing.
    let merged: Value = serde_json::from_str(&lift(
        path,
        &["db", "merge", "all.db", "cpu.db", "opencl.db", "-o", "again.db", "--json"],
    ))
    .unwrap();
    assert_eq!((&merged["problems"], &merged["altered"]), (&4.into(), &0.into()), "{merged}");
    assert_eq!(merged["conflicts"], Value::Array(Vec::new()));
}
