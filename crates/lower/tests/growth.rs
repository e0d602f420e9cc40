//! Kernels grow with the length of a program, not with what is fused into what.

#![allow(clippy::unwrap_used)]

#[path = "common/families.rs"]
mod families;

use lift_lower::{Options, Target, lower};

/// The length of all kernels of a program as text.
fn length(text: &str, target: Target) -> usize {
    let checked = lift_syntax::check_text("family.lift", text);
    assert!(!checked.has_errors(), "{}", checked.render(false));
    let options = Options { target, ..Options::default() };
    let plan = lower(checked.program.entry().unwrap(), &options).unwrap();
    let print = |kernel| match target {
        Target::Loops => lift_kernel::c(&lift_kernel::validate(kernel).unwrap()),
        Target::Threads => lift_kernel::opencl(&lift_kernel::validate(kernel).unwrap()),
    };
    plan.kernels.iter().map(|kernel| print(kernel).len()).sum()
}

#[test]
fn four_times_the_program_is_at_most_five_times_the_kernels() {
    for (name, program) in families::FAMILIES {
        for target in [Target::Loops, Target::Threads] {
            let (short, long) = (length(&program(8), target), length(&program(32), target));
            assert!(long <= 5 * short, "{name}: {short} and {long} bytes for {target:?}");
        }
    }
}

/// Where a program says what runs on which threads, nothing is stored that it does not say: a value computed on
/// reading may outgrow its kernel, which is refused with the reason.
#[test]
fn a_kernel_that_becomes_too_long_is_refused() {
    let sums = " |> slide(2, 1) |> map(\\w -> w[0] + w[1])".repeat(16);
    let text = format!(
        "def main[N](x: [[f32; 32]; N]) -> [[f32; 16]; N] = x |> mapGlb(0)(\\row -> row{sums} |> mapSeq(id));\n"
    );
    let checked = lift_syntax::check_text("long.lift", &text);
    assert!(!checked.has_errors(), "{}", checked.render(false));
    let error = lower(checked.program.entry().unwrap(), &Options::default()).unwrap_err();
    assert!(error.message.contains("too long"), "{error}");
    assert!(error.span.is_some(), "{error}");
}
