//! Random programs give on devices what the interpreter gives.
//!
//! A bounded run; `examples/random_programs.rs` is the long one.

#![allow(clippy::unwrap_used)]

#[path = "random_programs/device.rs"]
mod device;

use std::path::Path;

use device::{Verdict, verdict};
use lift_random::{Case, Config, shrink};

const PROGRAMS: u64 = 80;
/// Refusals among so many programs; one is made on purpose now and then.
const REFUSED: usize = 5;
/// Smaller programs tried for the first that fails.
const TRIALS: usize = 150;

#[test]
fn programs_agree_on_the_cpu() {
    every_program_agrees_on("cpu");
}

#[test]
fn programs_agree_through_opencl() {
    every_program_agrees_on("opencl:pocl");
}

fn every_program_agrees_on(id: &str) {
    let mut device = lift::open(id).unwrap();
    let mut refused = Vec::new();
    let mut failed = Vec::new();
    // Where a program brings the process down, its text is left here.
    let running = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("random_program_on_{}.lift", id.replace(':', "_")));
    for seed in 0..PROGRAMS {
        let case = Case::find(seed, &Config::default()).0.unwrap();
        std::fs::write(&running, case.to_string()).unwrap();
        match verdict(&case, leaves_sizes_open(seed), &mut *device) {
            Verdict::Agrees => {}
            Verdict::Refused(message) => refused.push(format!("seed {seed}: {message}")),
            Verdict::Fails(message) => failed.push((seed, case, message)),
        }
    }
    std::fs::remove_file(&running).unwrap();
    let messages: Vec<String> =
        failed.iter().map(|(seed, _, message)| format!("seed {seed}: {message}")).collect();
    if let Some((seed, case, _)) = failed.into_iter().next() {
        let open = leaves_sizes_open(seed);
        let small = shrink(case, TRIALS, &mut |candidate| {
            matches!(verdict(candidate, open, &mut *device), Verdict::Fails(_))
        });
        panic!(
            "{} of {PROGRAMS} programs fail on {id}:\n{}\nthe first, made smaller:\n{small}",
            messages.len(),
            messages.join("\n")
        );
    }
    assert!(refused.len() <= REFUSED, "{} are refused:\n{}", refused.len(), refused.join("\n"));
}

/// Every other program keeps its sizes as arguments of the kernels.
fn leaves_sizes_open(seed: u64) -> bool {
    seed % 2 == 1
}
