//! How many groups share work of any length.

#![allow(clippy::unwrap_used)]

use lift_ir::Nat;
use lift_lower::{Options, lower};

/// The groups of a program's first kernel, on a device of so many units.
fn first_groups(text: &str, units: Option<u32>) -> Nat {
    let checked = lift_syntax::check_text("test.lift", text);
    assert!(!checked.has_errors(), "{}", checked.render(false));
    let options = Options { units, ..Options::default() };
    let plan = lower(checked.program.entry().unwrap(), &options).unwrap();
    let launch = &plan.kernels[0].launch;
    launch.global[0].div(&launch.local[0])
}

#[test]
fn work_of_any_length_fills_the_device() {
    let sum = "def f[N](x: [f32; N]) -> f32 = x |> reduce(0.0, (+));";
    let products = "def f[N](at: [i32; N], x: [i32; N]) -> [i32; 3] =
        reduce_by_index(3, 1, \\a b -> a * b, at, x);";
    for text in [sum, products] {
        assert_eq!(first_groups(text, Some(2)), Nat::int(8));
        assert_eq!(first_groups(text, Some(1000)), Nat::int(512));
        assert_eq!(first_groups(text, None), Nat::int(512));
    }
    // Of a known length each work-item has its share.
    let known = "def f(x: [f32; 1048576]) -> f32 = x |> reduce(0.0, (+));";
    assert_eq!(first_groups(known, Some(2)), Nat::int(256));
}
