//! The table of passes: its names, and what every pass leaves behind.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use lift_ir::Def;
use lift_kernel::{Kernel, read, text, validate};
use lift_lower::{Options, Pass, Stage, Target, Targets, lower_watched, passes};
use lift_random::{Case, Config};

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

#[test]
fn a_pass_is_for_the_devices_that_it_names() {
    let rows = [
        (Targets::All, "all", true, true),
        (Targets::Threads, "threads", true, false),
        (Targets::Loops, "loops", false, true),
    ];
    for (targets, name, threads, loops) in rows {
        let found = (targets.name(), targets.has(Target::Threads), targets.has(Target::Loops));
        assert_eq!(found, (name, threads, loops));
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

/// Random programs that are tried on both targets, every other with its sizes open.
const RANDOM: u64 = 60;

/// Kernels are valid after every pass, on both targets: a pass that breaks one is named. What there is between two passes,
/// a program or kernels, can be shown, read again, and shown the same.
#[test]
fn every_pass_leaves_what_is_valid_and_can_be_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    ["programs", "filetests/language"]
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
                    faults.extend(fault(pass, stage).map(|fault| format!("{}: {fault}", def.name)));
                });
                lowered.unwrap();
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let all: BTreeSet<&str> = passes().iter().map(|pass| pass.name).collect();
    assert_eq!(seen, all);
}

/// The same of programs that nobody has written.
#[test]
fn every_pass_leaves_what_is_valid_and_can_be_read_of_random_programs() {
    let (mut faults, mut kernels) = (Vec::new(), 0);
    for seed in 0..RANDOM {
        let case = Case::find(seed, &Config::default()).0.unwrap();
        let given = case.sizes.iter().filter(|_| seed % 2 == 0);
        let sizes: BTreeMap<_, _> = given.map(|(name, value)| (name.to_string(), value)).collect();
        for target in [Target::Threads, Target::Loops] {
            let options = Options { target, sizes: sizes.clone(), ..Options::default() };
            // One is made on purpose now and then that is refused.
            let lowered = lower_watched(&case.def, &options, &mut |pass, stage| {
                faults.extend(fault(pass, stage).map(|fault| format!("seed {seed}: {fault}")));
            });
            kernels += lowered.map_or(0, |plan| plan.kernels.len());
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(kernels > RANDOM as usize, "{kernels}");
}

/// What is wrong with what there is after a pass.
fn fault(pass: &Pass, stage: Stage<'_>) -> Option<String> {
    match stage {
        Stage::Program(program) => fault_of_program(&program.def),
        Stage::Plan(plan) => plan.kernels.iter().find_map(fault_of_kernel),
    }
    .map(|fault| format!("`{}`: {fault}", pass.name))
}

/// What a program is written as is read as a program that is written the same.
fn fault_of_program(def: &Def) -> Option<String> {
    let written = lift_rewrite::formatted(def);
    let checked = lift_syntax::check_text("after.lift", &written);
    if checked.has_errors() {
        return Some(format!("{}\n{written}", checked.render(false)));
    }
    let again: String = checked.program.defs.iter().map(lift_rewrite::formatted).collect();
    (again != written).then(|| format!("{written}\nis read as\n{again}"))
}

/// The same of a kernel, which is valid too.
fn fault_of_kernel(kernel: &Kernel) -> Option<String> {
    if let Err(found) = validate(kernel) {
        return Some(found.join("; "));
    }
    let written = text(kernel);
    match read(&written) {
        Err(error) => Some(format!("{error}\n{written}")),
        Ok(again) => {
            let again: String = again.iter().map(text).collect();
            (again != written).then(|| format!("{written}\nis read as\n{again}"))
        }
    }
}
