//! What programs ask for, counted by hand.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use lift::{Sizes, parse};
use lift_interp::{Work, bytes, work};

/// Operations on floats and on integers, and bytes, of the last definition.
#[track_caller]
fn counted(text: &str, sizes: &[(&str, i128)]) -> (f64, f64, f64) {
    let program = parse("test.lift", text).unwrap();
    let mut known = Sizes::new();
    sizes.iter().for_each(|(name, value)| known.set(*name, *value));
    let def = program.entry().unwrap();
    let Work { float, integer } = work(def, &known).unwrap();
    (float, integer, bytes(def, &known).unwrap())
}

#[test]
fn patterns_apply_their_function_once_an_element() {
    let mm =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../programs/mm.lift"));
    let sizes = [("M", 3), ("K", 5), ("N", 7)];
    let expected = (2.0 * 105.0, 0.0, 4.0 * (15.0 + 35.0 + 21.0));
    assert_eq!(counted(&mm.unwrap(), &sizes), expected);
    let blur = "def f[N](x: [f32; N]) -> [f32; N] =
      x |> map(\\a -> a * a) |> pad(1, 1, clamp) |> slide(3, 1) |> map(reduce(0.0, (+)));";
    // Squares are asked for once, however often a kernel that stores none computes them.
    assert_eq!(counted(blur, &[("N", 10)]).0, 10.0 + 30.0);
}

#[test]
fn bytes_are_those_of_arrays() {
    let text = "def f[N](a: f32, x: [f32; N]) -> [f32; N] = x |> map(\\e -> a * e);";
    assert_eq!(counted(text, &[("N", 10)]), (10.0, 0.0, 80.0));
}

#[test]
fn a_let_is_computed_once() {
    let text = "def f[N](x: [f32; N]) -> f32 = let s = x |> reduce(0.0, (+)); s * s + s;";
    assert_eq!(counted(text, &[("N", 100)]).0, 102.0);
}

#[test]
fn integers_are_counted_apart_and_indices_are_not() {
    let text = "def f[N](x: [i32; N]) -> [i32; N] = x |> map(\\a -> a * 3 + 1);";
    assert_eq!(counted(text, &[("N", 10)]), (0.0, 20.0, 80.0));
    let text = "def f[N](x: [f32; N]) -> [f32; N] = generate(N, \\i -> x[(i * 7) % (N as i32)]);";
    assert_eq!(counted(text, &[("N", 10)]), (0.0, 0.0, 80.0));
}

#[test]
fn of_two_sides_the_longer_counts() {
    let text =
        "def f[N](x: [f32; N]) -> [f32; N] = x |> map(\\a -> if a < 0.0 then a else a * a + a);";
    assert_eq!(counted(text, &[("N", 10)]).0, 30.0);
}

#[test]
fn iterations_count_what_is_left() {
    let text = "def f(x: [f32; 8]) -> [f32; 1] = x |> iterate(3, \\y -> y |> split(2) |> map(reduce(0.0, (+))));";
    assert_eq!(counted(text, &[]).0, 8.0 + 4.0 + 2.0);
    let text = "def f[N](x: [f32; N]) -> [f32; N] = x |> iterate(5, map(\\a -> a * 2.0));";
    assert_eq!(counted(text, &[("N", 10)]).0, 50.0);
}

#[test]
fn vectors_count_by_lanes() {
    let text = "def f[N](x: [f32x4; N]) -> [f32; N] = x |> map(\\v -> dot(v * 2.0, v));";
    assert_eq!(counted(text, &[("N", 10)]).0, 10.0 * (4.0 + 7.0));
}

/// Each name stands twice in the next: 2^60 additions, counted in 60 steps.
#[test]
fn shared_expressions_are_counted_in_time() {
    let fns: String = (0..60)
        .map(|n| format!("fn g{}(x: f32) -> f32 = let y = g{n}(x); y + y;\n", n + 1))
        .collect();
    let text = format!("fn g0(x: f32) -> f32 = x;\n{fns}def f(x: f32) -> f32 = g60(x);");
    assert_eq!(counted(&text, &[]).0, 60.0);
}

#[test]
fn foreign_code_is_not_counted() {
    let text = "extern \"c\" fn g(x: f32) -> f32 = \"return x;\";
def f[N](x: [f32; N]) -> [f32; N] = x |> map(g);";
    let program = parse("test.lift", text).unwrap();
    let mut sizes = Sizes::new();
    sizes.set("N", 4);
    assert_eq!(work(program.entry().unwrap(), &sizes), None);
}
