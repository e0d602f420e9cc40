//! From a typed definition to OpenCL text: lowering, validation and printing, on one core.

use std::path::Path;

use lift_ir::Def;
use lift_lower::{Options, lower};

fn main() {
    divan::main();
}

/// Matrix multiplication without a word on how, tiled in local memory, and blocked in registers.
const PROGRAMS: [&str; 3] = ["mm", "thesis/mm_local", "thesis/mm_register"];

fn definition(program: &str) -> Def {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    let path = root.join(program).with_extension("lift");
    let checked = lift_syntax::check_file(&path).expect("a file");
    assert!(!checked.has_errors(), "{}", checked.render(false));
    checked.program.entry().expect("an entry").clone()
}

fn text(def: &Def, options: &Options) -> String {
    let plan = lower(def, options).expect("a plan");
    let print = |kernel| lift_kernel::opencl(&lift_kernel::validate(kernel).expect("no faults"));
    plan.kernels.iter().map(print).collect()
}

/// Sizes stay arguments of the kernel.
#[divan::bench(args = PROGRAMS)]
fn symbolic_sizes(bencher: divan::Bencher, program: &str) {
    let def = definition(program);
    let options = Options::default();
    bencher.bench(|| text(&def, &options));
}

/// Sizes are numbers in the kernel.
#[divan::bench(args = PROGRAMS)]
fn given_sizes(bencher: divan::Bencher, program: &str) {
    let def = definition(program);
    let sizes = ["M", "K", "N"].map(|name| (name.to_string(), 1024));
    let options = Options { sizes: sizes.into_iter().collect(), ..Options::default() };
    bencher.bench(|| text(&def, &options));
}
