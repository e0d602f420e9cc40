//! `plan.json`, made by the library, holds what `docs/plan.md` says, and nothing else.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lift::{Language, Options, compile_files};
use serde_json::{Map, Value};

fn files(text: &str, language: Language) -> Vec<(String, String)> {
    let program = lift::parse("a.lift", text).unwrap();
    compile_files(program.entry().unwrap(), &Options::default(), language).unwrap()
}

fn plan(text: &str, language: Language) -> Value {
    let files = files(text, language);
    serde_json::from_str(&files.last().unwrap().1).unwrap()
}

/// The kinds of objects in a plan, each with the keys that were found in one.
type Keys = BTreeMap<&'static str, BTreeSet<String>>;

fn add(kind: &'static str, object: &Map<String, Value>, keys: &mut Keys) {
    keys.entry(kind).or_default().extend(object.keys().cloned());
    for (key, value) in object {
        let kind = match key.as_str() {
            "buffers" => "buffers",
            "memory" => "memory",
            "kernels" => "kernels",
            "args" => "args",
            "steps" => "steps",
            "loop" => "loop",
            "requires" => "requires",
            _ => continue,
        };
        let rows = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        // The slot of a temporary has the key of the list of slots.
        rows.iter().filter_map(Value::as_object).for_each(|row| add(kind, row, keys));
    }
}

/// The first column of the tables, by heading.
fn documented() -> BTreeMap<String, BTreeSet<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/plan.md");
    let page = std::fs::read_to_string(path).unwrap();
    let mut heading = String::new();
    let mut keys: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in page.lines() {
        if let Some(text) = line.strip_prefix("## ") {
            heading = text.trim_matches('`').to_string();
        } else if let Some((key, _)) = line.strip_prefix("| `").and_then(|l| l.split_once('`')) {
            keys.entry(heading.clone()).or_default().insert(key.to_string());
        }
    }
    keys
}

/// Together these have everything that a plan can have.
const PROGRAMS: [(&str, Language); 6] = [
    (
        "def axpy[N](alpha: f32, x: [f32; N], y: [f32; N]) -> [f32; N] =
           zip(x, y) |> map(\\(a, b) -> alpha * a + b);",
        Language::OpenCl,
    ),
    (
        "def f[N](x: [i32; N]) -> ([i32; N], i32) =
           x |> iterate_until(9, \\y -> (y |> reduce(0, (+))) >= 100, map(\\e -> 2 * e));",
        Language::C,
    ),
    (
        "def f[N](x: [f32; N]) -> [f32; N] = x |> gather(\\i -> (7 * i) % len) |> map(\\a -> a);",
        Language::C,
    ),
    (
        "def f[N](x: [f32; N]) -> [f32; N] where N % 2 == 0 = x |> split(2) |> join |> map(\\a -> a);",
        Language::C,
    ),
    (
        "def f(x: [f32; 32768]) -> [f32; 32768] launch local(64) global(128) =
           x |> split(16384) |> mapWrg(0)(\\c ->
             c |> toLocal(mapLcl(0)(\\e -> e)) |> gather(reverse) |> mapLcl(0)(\\e -> e)) |> join;",
        Language::Cuda,
    ),
    (
        "domain many[n] =
           { (i, j, k) | 2 * j + 2 * k <= 2 * i + n, i + k < n, j + 2 <= k, 2 * k + i + j <= n + 2 };
         def f[N](x: [i32; N]) -> [i32 in many[N]] = [ x[i] + k | (i, j, k) in many[N] ];",
        Language::OpenCl,
    ),
];

#[test]
fn the_page_documents_every_key_and_no_other() {
    let mut found = Keys::new();
    for (text, language) in PROGRAMS {
        add("plan", plan(text, language).as_object().unwrap(), &mut found);
    }
    let found: BTreeMap<String, BTreeSet<String>> =
        found.into_iter().map(|(kind, keys)| (kind.to_string(), keys)).collect();
    assert_eq!(found, documented());
}

#[test]
fn the_plan_comes_last_and_names_the_files_before_it() {
    for (text, language) in PROGRAMS {
        let files = files(text, language);
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        let plan = plan(text, language);
        let kernels = plan["kernels"].as_array().unwrap().iter().map(|k| k["file"].as_str());
        let named: Vec<&str> = kernels.flatten().chain(["plan.json"]).collect();
        assert_eq!(names, named);
    }
}
