//! What features count equals what the kernels count when they run.

use lift_ir::Def;
use lift_lower::{Options, Plan, Target, lower};
use lift_model::features::{Machine, features};

use crate::instrument::COUNTERS;
use crate::plans::{Sizes, plan, program, sizes, text};
use crate::run::{Who, per_item};

fn check(def: &Def, target: Target, sizes: &Sizes, who: Who) {
    check_plan(&plan(def, target, sizes), target, sizes, who);
}

fn check_plan(plan: &Plan, target: Target, sizes: &Sizes, who: Who) {
    let found = features(plan, sizes, &Machine::default());
    let counted = per_item(plan, sizes, who);
    let mut wrong = Vec::new();
    for ((_, name), counted) in COUNTERS.iter().zip(&counted) {
        let said = found.get(name).unwrap();
        if (said - counted).abs() > 1e-9 * counted.abs().max(1.0) {
            wrong.push(format!("{name}: {said}, counted {counted}"));
        }
    }
    assert!(wrong.is_empty(), "{} for {target:?}\n{}", plan.name, wrong.join("\n"));
    assert!(counted.iter().sum::<f64>() > 0.0);
}

fn check_both(name: &str, given: &[(&str, i128)], who: Who) {
    let (def, sizes) = (program(name), sizes(given));
    for target in [Target::Threads, Target::Loops] {
        check(&def, target, &sizes, who);
    }
}

#[test]
fn tiles_in_local_memory() {
    check_both("thesis/mm_local", &[("M", 128), ("K", 64), ("N", 256)], Who::All);
}

#[test]
fn blocks_in_registers() {
    check_both("thesis/mm_register", &[("M", 128), ("K", 64), ("N", 128)], Who::All);
}

#[test]
fn stencil_by_default() {
    check_both("stencil/jacobi2d_5", &[("N", 256), ("M", 256)], Who::Middle);
}

#[test]
fn stencil_in_tiles() {
    check_both("stencil/jacobi2d_5_tiled", &[("N", 256), ("M", 256)], Who::Middle);
}

#[test]
fn stencil_of_25_points() {
    check_both("stencil/gaussian_25", &[("N", 256), ("M", 256)], Who::Middle);
}

#[test]
fn rows_reduced_by_groups() {
    check_both("thesis/gemv_coalesced", &[("M", 64), ("N", 512)], Who::All);
}

#[test]
fn reduction_by_iterate() {
    check_both("reduce/llp1", &[("N", 65536)], Who::All);
}

#[test]
fn reduction_by_warps() {
    check_both("reduce/llp3", &[("N", 65536)], Who::All);
}

#[test]
fn bodies_in_local_memory() {
    check_both("thesis/nbody_local", &[("N", 512)], Who::All);
}

#[test]
fn vectors() {
    check_both("thesis/mm_vectorised", &[("M", 64), ("K", 64), ("N", 64)], Who::All);
    check_both("thesis/mm_mali", &[("M", 64), ("K", 64), ("N", 64)], Who::All);
}

/// Constants around an array are chosen where it is read.
#[test]
fn constants_at_the_boundary() {
    check_both("thesis/convolution", &[("N", 512), ("M", 512)], Who::Middle);
    let sizes = sizes(&[("D", 128), ("N", 128), ("M", 128)]);
    check(&program("stencil/acoustic3d"), Target::Threads, &sizes, Who::Middle);
}

#[test]
fn more_threads_than_elements() {
    let def = text("def f[N](xs: [f32; N]) -> [f32; N] = xs |> map(\\x -> x + 1.0);");
    for target in [Target::Threads, Target::Loops] {
        check(&def, target, &sizes(&[("N", 100_000)]), Who::Middle);
    }
}

#[test]
fn fewer_threads_than_elements() {
    let def = text("def f[N](xs: [f32; N]) -> [f32; N] = xs |> mapGlb(0)(\\x -> x + 1.0);");
    let sizes = sizes(&[("N", 1000)]);
    let options = Options {
        sizes: sizes.clone(),
        local: Some(vec![64]),
        global: Some(vec![256]),
        ..Options::default()
    };
    let plan = lower(&def, &options).unwrap();
    check_plan(&plan, Target::Threads, &sizes, Who::All);
}

/// Sizes are arguments of the kernel.
#[test]
fn sizes_left_open() {
    let plan = plan(&program("thesis/gemv_coalesced"), Target::Threads, &Sizes::new());
    check_plan(&plan, Target::Threads, &sizes(&[("M", 32), ("N", 512)]), Who::All);
}
