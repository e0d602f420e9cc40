//! What rules make of real programs, as it is printed.

use lift_ir::Nat;
use lift_rewrite::Arguments;
use lift_syntax::check_text;

use crate::{body, rewritten};

fn none() -> Arguments {
    Arguments::none()
}

fn size(name: &str, value: i128) -> Arguments {
    none().size(name, Nat::int(value))
}

/// The body after the rule at the root; the whole definition is printed, checked again and equal.
fn checked(rule: &str, text: &str, arguments: Arguments) -> String {
    let new = rewritten(rule, text, "root", arguments).unwrap();
    let again = check_text("again.lift", &new.to_string());
    assert!(!again.has_errors(), "{}\n{new}", again.render(false));
    assert!(again.program.entry().unwrap().alpha_eq(&new), "{new}");
    new.body.to_string()
}

const PAIRS_IN_CHUNKS: &str = "def f[N](xs: [i32; N], ys: [i32; N]) -> i32 where N % 4 == 0 =
  zip(xs, ys) |> split(4)
    |> reduceSeq(0, \\acc ps -> ps |> reduceSeq(acc, \\a p -> a + p.0 * p.1));";

#[test]
fn a_fold_over_zipped_chunks_zips_the_chunks() {
    let split = rewritten("zip_split", PAIRS_IN_CHUNKS, "2", none()).unwrap();
    assert_eq!(
        body("reduce_any_map_fusion", &split.to_string(), none()),
        "zip(split(4, xs), split(4, ys)) |> \
         reduceSeq(0i32, \\acc p -> zip(p.0, p.1) |> reduceSeq(acc, \\a p1 -> a + p1.0 * p1.1))"
    );
}

#[test]
fn nested_zips_become_flat_at_any_depth() {
    let text = |zipped: &str, pattern: &str| {
        format!(
            "def f[N](a: [i32; N], b: [i32; N], c: [i32; N], d: [i32; N]) -> [i32; N] =
               {zipped} |> {pattern};"
        )
    };
    let left = text("zip(zip(a, b), c)", "map(\\((x, y), z) -> x * y - z)");
    let flat = "zip(a, b, c) |> map(\\x -> x.0 * x.1 - x.2)";
    assert_eq!(checked("flatten_zip_map", &left, none()), flat);
    let right = text("zip(a, zip(b, c))", "map(\\(x, (y, z)) -> x * y - z)");
    assert_eq!(checked("flatten_zip_map", &right, none()), flat);
    let deep = text("zip(zip(zip(a, b), c), d)", "mapSeq(\\(((x, y), z), w) -> x * y - z * w)");
    assert_eq!(
        checked("flatten_zip_map_seq", &deep, none()),
        "zip(a, b, c, d) |> mapSeq(\\x -> x.0 * x.1 - x.2 * x.3)"
    );
}

#[test]
fn a_fold_takes_its_components_from_the_flat_zip() {
    let text = "def f[N](a: [i32; N], b: [i32; N], c: [i32; N]) -> i32 =
      zip(a, zip(b, c)) |> reduceSeq(0, \\acc p -> acc + p.0 * (p.1.0 - p.1.1));";
    assert_eq!(
        checked("flatten_zip_reduce_seq", text, none()),
        "zip(a, b, c) |> reduceSeq(0i32, \\acc p -> acc + p.0 * (p.1 - p.2))"
    );
}

#[test]
fn a_pair_that_is_used_whole_is_put_together_again() {
    let text = "def f[N](a: [i32; N], b: [i32; N], c: [i32; N]) -> [((i32, i32), i32); N] =
      zip(zip(a, b), c) |> map(\\(ab, z) -> (ab, z + 1));";
    assert_eq!(
        checked("flatten_zip_map", text, none()),
        "zip(a, b, c) |> map(\\x -> ((x.0, x.1), x.2 + 1))"
    );
}

#[test]
fn partial_results_become_fewer_step_by_step() {
    let text = "def f[N](xs: [i32; N]) -> [i32; N / 8] where N % 8 == 0 =
      partial_reduce(N / 8, 0, (+), xs);";
    assert_eq!(
        checked("partial_reduce_iterate", text, size("k", 2).size("i", Nat::int(3))),
        "iterate(3, \\ys -> partial_reduce(len(ys) / 2, 0, (+), ys), xs)"
    );
}

#[test]
fn any_value_may_be_given_a_memory() {
    let scalar = "def f(x: i32) -> i32 = x + 1;";
    assert_eq!(checked("to_private", scalar, none()), "toPrivate(\\y -> y)(x + 1)");
    let pair = "def f(x: i32) -> (i32, i32) = (x, x + 1);";
    assert_eq!(checked("to_global", pair, none()), "toGlobal(\\y -> y)((x, x + 1))");
    let array = "def f[N](xs: [i32; N]) -> [i32; N] = map(\\x -> x + 1, xs);";
    assert_eq!(checked("to_local", array, none()), "map(\\x -> x + 1, xs) |> toLocal(\\y -> y)");
}

#[test]
fn what_a_pattern_makes_is_given_a_memory() {
    let loops = "def f[N](xs: [i32; N]) -> [i32; N] = mapSeq(\\x -> x + 1, xs);";
    assert_eq!(checked("result_to_local", loops, none()), "toLocal(mapSeq(\\x -> x + 1))(xs)");
    let fold = "def f[N](xs: [i32; N]) -> i32 = reduceSeq(0, (+), xs);";
    assert_eq!(checked("result_to_global", fold, none()), "toGlobal(reduceSeq(0i32, (+)))(xs)");
}

#[test]
fn a_fold_of_vectors_starts_with_a_vector() {
    let text = "def f(xs: [f32; 64]) -> f32 = reduce(0.0, (+), xs);";
    assert_eq!(
        checked("vectorize_reduce", text, size("m", 4)),
        "as_scalar([as_vector(4, xs) |> reduce(f32x4(0.0), vectorize(4, (+)))]) |> \
         reduce(0.0, (+))"
    );
}

#[test]
fn products_of_lanes_are_dot_products() {
    let text = "def f[N](xs: [f32x4; N], ys: [f32x4; N]) -> f32 =
      zip(xs, ys) |> mapSeq(\\(a, b) -> a * b) |> as_scalar |> reduceSeq(0.0, (+));";
    assert_eq!(
        checked("dot_builtin", text, none()),
        "zip(xs, ys) |> mapSeq(\\p -> dot(p.0, p.1)) |> reduceSeq(0.0f32, (+))"
    );
}

#[test]
fn vectors_of_any_scalar_cancel() {
    let text = "def f[N](vs: [f32x4; N]) -> [f32x4; N] = as_vector(4, as_scalar(vs));";
    assert_eq!(checked("as_vector_as_scalar", text, none()), "vs");
}

#[test]
fn windows_of_any_length_are_made_in_tiles() {
    let text = "def f[N](xs: [f32; N]) -> [[f32; 3]; N - 2] where N >= 3 = slide(3, 1, xs);";
    assert_eq!(
        checked("slide_tiling_padded", text, size("v", 4)),
        "pad(0, 3 - (N + 1) % 4, clamp, xs) |> slide(6, 4) |> map(slide(3, 1)) |> \
         join |> take(N - 2)"
    );
}

#[test]
fn windows_of_a_matrix_are_made_in_tiles() {
    let text = "def f(xss: [[f32; 18]; 34]) -> [[[[f32; 3]; 5]; 16]; 30] =
      slide2_each((5, 1), (3, 1), xss);";
    let tiles = size("v0", 6).size("v1", Nat::int(8));
    assert_eq!(
        checked("slide_tiling_2d", text, tiles),
        "map(slide(10, 8), xss) |> slide(10, 6) |> map(transpose) |> \
         map(map(\\t -> map(slide(3, 1), t) |> slide(5, 1) |> map(transpose))) |> \
         map(transpose) |> join |> map(join)"
    );
}

#[test]
fn windows_of_a_volume_are_made_in_tiles() {
    let text =
        "def f(x: [[[f32; 6]; 6]; 6]) -> [[[[[[f32; 3]; 3]; 3]; 4]; 4]; 4] = slide3(3, 1, x);";
    let tiles = size("v0", 2).size("v1", Nat::int(2)).size("v2", Nat::int(4));
    let tiled = checked("slide_tiling_3d", text, tiles);
    assert!(tiled.starts_with("map(\\p -> map(slide(6, 4), p) |> slide(4, 2)"), "{tiled}");
}

#[test]
fn taking_moves_outward() {
    let text = "def f(xss: [[i32; 4]; 8]) -> [[i32; 3]; 8] = map(take(3), xss);";
    assert_eq!(checked("map_take_columns", text, none()), "transpose(xss) |> take(3) |> transpose");
    let text = "def f[N](xs: [i32; N]) -> [i32; 3] = map(\\x -> x + 1, take(3, xs));";
    assert_eq!(checked("map_take", text, none()), "map(\\x -> x + 1, xs) |> take(3)");
}

#[test]
fn a_name_in_an_argument_moves_outward() {
    let text = "def f[N](xs: [i32; N], c: i32) -> [i32; N] =
      map(\\x -> x + 1, let y = c * 2; map(\\x -> x * y + y, xs));";
    assert_eq!(
        checked("let_float_argument", text, none()),
        "let y = c * 2; map(\\x -> x * y + y, xs) |> map(\\x -> x + 1)"
    );
}
