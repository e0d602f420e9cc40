//! From a typed definition to OpenCL text: lowering, validation and printing, on one core.

#[path = "../tests/common/families.rs"]
mod families;

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

/// Families of programs at three lengths: the time grows as they do.
#[divan::bench(args = families::FAMILIES.iter().flat_map(|f| [8, 16, 32].map(|n| (f.0, n))))]
fn growth(bencher: divan::Bencher, (family, length): (&str, usize)) {
    let (_, program) = families::FAMILIES.iter().find(|f| f.0 == family).expect("a family");
    let checked = lift_syntax::check_text("family.lift", &program(length));
    assert!(!checked.has_errors(), "{}", checked.render(false));
    let def = checked.program.entry().expect("an entry").clone();
    bencher.bench(|| text(&def, &Options::default()));
}
