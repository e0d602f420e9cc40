//! What programs ask for, counted by hand.

use lift_interp::{Sizes, Work, bytes, work};
use lift_ir::Def;
use lift_syntax::check_text;
use proptest::prelude::*;

/// The last definition.
#[track_caller]
fn def(text: &str) -> Def {
    let checked = check_text("test.lift", text);
    assert!(!checked.has_errors(), "{}", checked.render(false));
    checked.program.entry().expect("a definition").clone()
}

/// Operations on floats and on integers, and bytes, of the last definition.
#[track_caller]
fn counted(text: &str, sizes: &[(&str, i128)]) -> (f64, f64, f64) {
    let (def, sizes) = (def(text), sizes.iter().copied().collect());
    let Work { float, integer } = work(&def, &sizes).expect("a count");
    (float, integer, bytes(&def, &sizes).expect("all sizes"))
}

#[test]
fn patterns_apply_their_function_once_an_element() {
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
    let text = "def f[N](x: [f32; 4 * N]) -> [f32; 4 * N] =
      x |> as_vector(4) |> map(vectorize(4, \\a -> a * a + a)) |> as_scalar;";
    assert_eq!(counted(text, &[("N", 10)]).0, 80.0);
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
    assert_eq!(work(&def(text), &Sizes::from_iter([("N", 4)])), None);
}

#[test]
fn nothing_is_said_of_what_is_seen_when_it_runs() {
    let text = "def f[N](x: [f32; N]) -> [f32; N] = x |> map(\\a -> a * 2.0);";
    assert_eq!(work(&def(text), &Sizes::new()), None);
    assert_eq!(bytes(&def(text), &Sizes::new()), None);
    let until =
        "def f(x: f32) -> (f32, i32) = iterate_until(9, \\y -> y > 8.0, \\y -> y * 2.0, x);";
    assert_eq!(work(&def(until), &Sizes::new()), None);
}

#[test]
fn parameters_have_their_defaults() {
    let text = "def f[N; T = 4](x: [f32; N]) -> [f32; T] where N % T == 0 =
      partial_reduce(T, 0.0, (+), x) |> map(\\s -> s * 2.0);";
    assert_eq!(counted(text, &[("N", 12)]), (12.0 + 4.0, 0.0, 4.0 * 16.0));
    assert_eq!(counted(text, &[("N", 12), ("T", 3)]), (12.0 + 3.0, 0.0, 4.0 * 15.0));
}

#[test]
fn windows_and_elements_made_count_by_their_number() {
    let text = "def f[N](x: [f32; N]) -> [f32; N] =
      mapSeqSlide(3, 1)(\\w -> w[0] + w[2], pad(1, 1, clamp, x));";
    assert_eq!(counted(text, &[("N", 10)]).0, 10.0);
    let text = "def f(a: f32) -> [f32; 6] = generate(6, \\i -> fma(a, a, a) * a);";
    assert_eq!(counted(text, &[]), (6.0 * 3.0, 0.0, 24.0));
}

#[test]
fn bytes_of_all_components_and_lanes() {
    let text = "def f[N](x: [(f64, i8x4); N]) -> [i16; N] = x |> map(\\p -> 1i16);";
    assert_eq!(counted(text, &[("N", 10)]).2, 10.0 * (8.0 + 4.0 + 2.0));
}

proptest! {
    #[test]
    fn matrix_multiplication(m in 1..9i128, k in 1..9i128, n in 1..9i128) {
        let text = "def mm[M, K, N](A: [[f32; K]; M], B: [[f32; N]; K]) -> [[f32; N]; M] =
          A |> map(\\row -> transpose(B) |> map(\\col ->
            zip(row, col) |> map(\\(a, b) -> a * b) |> reduce(0.0, (+))));";
        let found = counted(text, &[("M", m), ("K", k), ("N", n)]);
        let expected = (2 * m * k * n, 4 * (m * k + k * n + m * n));
        prop_assert_eq!(found, (expected.0 as f64, 0.0, expected.1 as f64));
    }
}
