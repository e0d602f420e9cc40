//! Every command that the documentation shows is run, in a fresh clone.
//!
//! Commands come from README.md, from every page of docs/ and from the examples of every verb's `--help`;
//! `page` and `help` say how they are told from other text. Each page, and all verbs together, have a clone and a home
//! folder of their own, in which their commands run in order. `lift` and `cargo run --release --` are the `lift` under test.
//! `DOCS=docs/tutorial.md cargo test -p lift-lang-cli --test docs` runs what one page shows, `DOCS=--help` what verbs show.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

#[path = "../common/mod.rs"]
mod common;
mod help;
mod house;
mod page;
mod pattern;
mod step;

use std::io::Write;
use std::process::Command;
use std::sync::Mutex;
use std::time::Instant;

use common::root;
use house::House;
use step::{Part, Step, Want};

/// Of so many commands one may be marked as needing what a test has not.
const ONE_MARKED_IN: usize = 10;

/// What README.md, docs/ and the folders with programs say.
fn pages() -> Vec<Part> {
    let mut files = vec!["README.md".to_string()];
    let docs = common::with_extension(&root().join("docs"), "md");
    files.extend(docs.iter().map(|p| format!("docs/{}", p.file_name().unwrap().to_str().unwrap())));
    files.extend(["programs/README.md", "derivations/README.md"].map(String::from));
    let read = |name: String| {
        let text = std::fs::read_to_string(root().join(&name)).unwrap();
        let steps = page::steps(&text).unwrap_or_else(|mistake| panic!("{name}: {mistake}"));
        Part { name, steps }
    };
    files.into_iter().map(read).collect()
}

fn parts() -> Vec<Part> {
    let mut parts = vec![help::part()];
    parts.extend(pages());
    parts.retain(|part| !part.steps.is_empty());
    parts
}

#[test]
fn every_command_runs_in_a_fresh_clone() {
    let wanted = std::env::var("DOCS").ok();
    let mut parts = parts();
    parts.retain(|part| wanted.as_ref().is_none_or(|name| part.name == *name));
    assert!(!parts.is_empty(), "nothing is called {wanted:?}");
    let begun = Instant::now();
    let (total, faults) = (parts.len(), Mutex::new(Vec::new()));
    let queue = Mutex::new(parts.into_iter());
    // Two at a time: compilers and searches use the cores well enough.
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(part) = { queue.lock().unwrap().next() } {
                    let begun = Instant::now();
                    let found = House::new().live(&part);
                    tell(&format!("  {:>5.1} s {}", begun.elapsed().as_secs_f64(), part.name));
                    faults.lock().unwrap().extend(found);
                }
            });
        }
    });
    tell(&format!("  {:>5.1} s for {total} pages and verbs", begun.elapsed().as_secs_f64()));
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "{} commands:\n\n{}", faults.len(), faults.join("\n\n"));
}

#[test]
fn at_most_one_command_in_ten_is_not_run() {
    let commands: Vec<(String, Step)> = parts()
        .into_iter()
        .flat_map(|part| part.steps.into_iter().map(move |step| (part.name.clone(), step)))
        .filter(|(_, step)| matches!(step, Step::Command { .. }))
        .collect();
    let marked: Vec<String> = commands
        .iter()
        .filter_map(|(name, step)| match step {
            Step::Command { text, want: Want::Marked(why), .. } => {
                Some(format!("  {name}: {text} ({why})"))
            }
            _ => None,
        })
        .collect();
    let (all, not_run) = (commands.len(), marked.len());
    tell(&format!("{all} commands are documented, {not_run} of them marked and not run:"));
    tell(&marked.join("\n"));
    assert!(not_run * ONE_MARKED_IN <= all, "{not_run} of {all} are marked: at most one in ten");
}

/// Cargo's own notion of what `cargo run` means: one binary, `lift`.
#[test]
fn cargo_run_means_lift() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let targets = packages.iter().flat_map(|p| p["targets"].as_array().unwrap());
    let binaries: Vec<&str> = targets
        .filter(|target| target["kind"][0] == "bin")
        .map(|target| target["name"].as_str().unwrap())
        .collect();
    assert_eq!(binaries, ["lift"]);
}

/// On the terminal, also of tests that pass.
fn tell(text: &str) {
    writeln!(std::io::stderr(), "{text}").ok();
}
