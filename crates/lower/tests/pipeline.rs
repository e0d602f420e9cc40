//! The table of passes: its names, and what every pass leaves behind.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lift_kernel::{read, text, validate};
use lift_lower::{Options, Stage, Target, lower_watched, passes};

#[test]
fn every_pass_has_a_name_of_its_own_and_says_what_it_does() {
    let names: BTreeSet<&str> = passes().iter().map(|pass| pass.name).collect();
    assert_eq!(names.len(), passes().len());
    for pass in passes() {
        for line in [pass.law, pass.requires, pass.ensures] {
            assert!(!line.is_empty() && !line.contains('\n'), "{}", pass.name);
        }
    }
}

fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            programs(&path, found);
        } else if path.extension().is_some_and(|e| e == "lift") {
            found.push(path);
        }
    }
}

/// Kernels are valid after every pass, on both targets: a pass that breaks one is named. What there is between two passes
/// can be shown, and read again.
#[test]
fn every_pass_leaves_valid_kernels() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    ["programs", "filetests/language", "bench/users"]
        .iter()
        .for_each(|folder| programs(&root.join(folder), &mut files));
    let (mut faults, mut seen) = (Vec::new(), BTreeSet::new());
    for path in files {
        let checked = lift_syntax::check_file(&path).unwrap();
        for def in &checked.program.defs {
            for target in [Target::Threads, Target::Loops] {
                let options = Options { target, ..Options::default() };
                let lowered = lower_watched(def, &options, &mut |pass, stage| {
                    seen.insert(pass.name);
                    let Stage::Plan(plan) = stage else { return };
                    for kernel in &plan.kernels {
                        if let Err(found) = validate(kernel) {
                            let (pass, found) = (pass.name, found.join("; "));
                            faults.push(format!("{}: `{pass}`: {found}", def.name));
                        }
                        let written = text(kernel);
                        let again = read(&written);
                        let again = again.unwrap_or_else(|error| panic!("{error}\n{written}"));
                        assert_eq!(again.iter().map(text).collect::<String>(), written);
                    }
                });
                lowered.unwrap();
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let all: BTreeSet<&str> = passes().iter().map(|pass| pass.name).collect();
    assert_eq!(seen, all);
}
