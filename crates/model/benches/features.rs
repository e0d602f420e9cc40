//! The features of a plan, without making the plan, on one core.

use std::collections::BTreeMap;
use std::path::Path;

use lift_lower::{Options, Plan, Target, lower};
use lift_model::features::{Machine, features};

fn main() {
    divan::main();
}

/// Tiles in local memory, blocks in registers, stencils with boundaries, reductions in local memory.
const PROGRAMS: [&str; 6] = [
    "thesis/mm_local",
    "thesis/mm_register",
    "stencil/gaussian_25",
    "stencil/jacobi2d_5_tiled",
    "reduce/llp3",
    "thesis/nbody_local",
];

fn sizes(names: &[String]) -> BTreeMap<String, i128> {
    names.iter().map(|name| (name.clone(), 1024)).collect()
}

fn plan(program: &str, target: Target) -> (Plan, BTreeMap<String, i128>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    let path = root.join(program).with_extension("lift");
    let checked = lift_syntax::check_file(&path).expect("a file");
    assert!(!checked.has_errors(), "{}", checked.render(false));
    let def = checked.program.entry().expect("an entry").clone();
    let names: Vec<String> = def.sizes.iter().map(ToString::to_string).collect();
    let sizes = sizes(&names);
    let options = Options { target, sizes: sizes.clone(), ..Options::default() };
    (lower(&def, &options).expect("a plan"), sizes)
}

#[divan::bench(args = PROGRAMS)]
fn threads(bencher: divan::Bencher, program: &str) {
    let (plan, sizes) = plan(program, Target::Threads);
    let machine = Machine::default();
    bencher.bench(|| features(&plan, &sizes, &machine));
}

#[divan::bench(args = PROGRAMS)]
fn loops(bencher: divan::Bencher, program: &str) {
    let (plan, sizes) = plan(program, Target::Loops);
    let machine = Machine::processor(2);
    bencher.bench(|| features(&plan, &sizes, &machine));
}
