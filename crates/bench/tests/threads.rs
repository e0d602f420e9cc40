//! Every program of the collection keeps a device busy that nobody tuned it for: as many threads as there are results, up to what the
//! device holds.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use lift::{Options, Target, explain, parse};
use lift_bench::suite::{Problem, read_all};
use lift_testing::root;

/// Threads that a large device holds, about; and results that a thread of a tile computes at most.
const HELD: i128 = 1 << 14;
const POINTS: i128 = 64;

/// The kernels of a problem's first program, which says what to compute and nothing of threads, at its largest size: those with too few.
fn idle(problem: &Problem) -> Vec<String> {
    let (program, point) = (&problem.programs[0], problem.sizes.last().unwrap());
    let text = std::fs::read_to_string(&program.file).unwrap();
    let parsed = parse(&program.name(), &text).unwrap();
    let def = match &program.entry {
        Some(entry) => parsed.defs.iter().find(|def| def.name == *entry).unwrap(),
        None => parsed.entry().unwrap(),
    };
    // A program that says its threads has said the plan.
    if !def.launches.is_empty() {
        return Vec::new();
    }
    let sizes: BTreeMap<String, i128> =
        point.sizes.iter().map(|(name, size)| (name.clone(), i128::from(*size))).collect();
    let options = Options { target: Target::Threads, sizes, ..Options::default() };
    let kernels = explain(def, &options).unwrap();
    assert!(!kernels.is_empty(), "{}", problem.name);
    let is_idle = |points: Option<i128>, threads: Option<i128>| match (points, threads) {
        (Some(points), Some(threads)) => threads < (points / POINTS).min(HELD),
        _ => true,
    };
    let few = kernels.iter().filter(|kernel| is_idle(kernel.points, kernel.threads()));
    few.map(|k| {
        format!("{}: {}: {:?} points, {:?} threads", problem.name, k.name, k.points, k.threads())
    })
    .collect()
}

#[test]
fn threads_are_as_many_as_points_or_as_a_device_holds() {
    let suites = read_all(&root().join("bench")).unwrap();
    let problems: Vec<&Problem> = suites.iter().flat_map(|suite| &suite.problems).collect();
    assert!(problems.len() > 60, "{}", problems.len());
    let few: Vec<String> = problems.into_iter().flat_map(idle).collect();
    assert_eq!(few, Vec::<String>::new());
}
