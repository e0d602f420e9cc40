//! Kernels under Oclgrind, which finds races and accesses outside of what was allocated.
//!
//! Every program's tests and every definition at sizes that make several groups run clean, and give
//! what the interpreter gives. Kernels written to be wrong show that what is wrong is found.

#![allow(clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;
mod groups;
#[path = "../common/halves.rs"]
mod halves;
#[path = "../common/lengths.rs"]
mod lengths;
mod simulator;
mod wrong;

use lift::{Compiled, Error, Options, Sizes, Value};
use lift_interp::inputs::{Fill, generate};

#[test]
fn every_test_is_clean() {
    simulator::run_clean("every_test_is_clean", |mut s| common::every_test_passes_on(&mut s));
}

#[test]
fn every_definition_is_clean() {
    simulator::run_clean("every_definition_is_clean", |mut s| {
        groups::every_definition_runs(&mut s, false);
    });
}

#[test]
fn every_definition_with_fixed_sizes_is_clean() {
    simulator::run_clean("every_definition_with_fixed_sizes_is_clean", |mut s| {
        groups::every_definition_runs(&mut s, true);
    });
}

#[test]
fn every_length_is_clean() {
    simulator::run_clean("every_length_is_clean", |mut s| {
        lengths::every_length_agrees_on(&mut s, true);
        for launch in &s.launches {
            assert!(launch.groups >= groups::GROUPS && launch.items >= groups::ITEMS, "{launch:?}");
        }
        lengths::every_length_agrees_on(&mut s, false);
    });
}

/// Triangles and tetrahedra that the simulator does in good time: up to the sizes that `HALVES` gives, of triangles, of
/// tetrahedra and of sums.
#[test]
fn every_half_is_clean() {
    let given = std::env::var("HALVES").unwrap_or_default();
    let given: Vec<usize> = given.split(',').filter_map(|n| n.trim().parse().ok()).collect();
    let most = given.try_into().unwrap_or([halves::MOST, 32, 2]);
    simulator::run_clean("every_half_is_clean", |mut s| {
        halves::every_size_agrees_on(&mut s, most);
    });
}

/// Triangles at primes near 1000, half a million points each. A sum over a tetrahedron of that size goes through 165 million, which
/// the simulator would take hours for.
#[test]
fn large_triangles_are_clean() {
    simulator::run_clean("large_triangles_are_clean", |mut s| {
        halves::large_sizes_agree_on(&mut s, &["skew", "gram"], &halves::LARGE);
    });
}

/// Tiles that are read in one order and written in the other, also where they do not divide the grid.
#[test]
fn turned_tiles_are_clean() {
    simulator::run_clean("turned_tiles_are_clean", |mut s| {
        let text = "
            def turned[B, M, N](a: [[[f32; N]; M]; B]) -> [[[f32; M]; N]; B] =
              a |> map(transpose) |> map3(\\x -> 2.0 * x);
            def crossed[B, M, N](a: [[[f32; N]; M]; B]) -> [[[f32; M]; N]; B] =
              a |> map(transpose) |> map(\\p -> slide(3, 1, pad(1, 1, clamp, p)) |> map(\\rows ->
                transpose(rows) |> map(\\w -> w[0] + w[1] * w[2] + w[0] * w[1])));";
        let program = lift::parse("turned.lift", text).unwrap();
        for (def, [m, n]) in program.defs.iter().flat_map(|d| [(d, [70, 50]), (d, [64, 33])]) {
            let sizes = [("B", 2), ("M", m), ("N", n)].map(|(name, n)| (name.to_owned(), n));
            let usual = Options { sizes: sizes.into(), ..Options::default() };
            let plan = Compiled::new(def, &usual, &mut s).unwrap().plan;
            let choice = plan.choices.iter().position(|c| c.pass == "turned_tiles").unwrap();
            let options = Options { choices: usual.choices.with(choice, 1), ..usual };
            let mut compiled = Compiled::new(def, &options, &mut s).unwrap();
            assert!(compiled.plan.kernels.iter().any(|k| !k.locals.is_empty()), "{}", def.name);
            let mut known = Sizes::new();
            options.sizes.iter().for_each(|(name, n)| known.set(name, *n));
            let ty = lift_interp::concrete_type(def.params[0].ty(), &known).unwrap();
            let args = [generate(Fill::Random { seed: 7 }, &ty).unwrap()];
            let wanted = lift_interp::run(def, &args, &Sizes::new()).unwrap();
            let found = compiled.run(&mut s, &args, &Sizes::new()).unwrap().result;
            lift_interp::compare(&found, &wanted, true).unwrap();
        }
    });
}

/// An index out of range reads nothing.
#[test]
fn a_failed_check_is_clean() {
    simulator::run_clean("a_failed_check_is_clean", |mut s| {
        let text =
            "def pick[N, M](xs: [f32; N], at: [i32; M]) -> [f32; M] = at |> map(\\i -> xs[i]);";
        let program = lift::parse("pick.lift", text).unwrap();
        let options = Options { local: Some(vec![32]), ..Options::default() };
        let mut compiled = Compiled::new(program.entry().unwrap(), &options, &mut s).unwrap();
        let xs = Value::from(vec![1.0f32; 50]);
        for wrong in [-1, 50, i32::MIN, i32::MAX] {
            let mut at: Vec<i32> = (0..50).collect();
            at[40] = wrong;
            let run = compiled.run(&mut s, &[xs.clone(), Value::from(at)], &Sizes::new());
            let Err(Error::Arguments(error)) = run else { panic!("{wrong} is out of range") };
            let told = format!("index {wrong} is outside an array of length 50");
            assert_eq!(error.message, told);
        }
    });
}

#[test]
fn wrong_kernels_are_reported() {
    let test = "wrong_kernels_are_reported";
    if let Some(outcome) = simulator::run(test, |mut s| wrong::every_fault_is_found(&mut s)) {
        assert!(outcome.passed, "{}", outcome.output);
        assert!(outcome.log.contains("data race"), "{}", outcome.log);
    }
}
