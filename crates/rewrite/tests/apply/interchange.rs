//! Folds and maps that change places in real programs.

use lift_rewrite::Arguments;

use crate::{body, refusal, rewritten};

/// Rows of the first matrix with columns of the second; the fold is written in several ways.
fn matrix_multiplication(fold: &str) -> String {
    format!(
        "def mm[M, K, N](A: [[f32; K]; M], B: [[f32; N]; K]) -> [[f32; N]; M] =
           A |> map(\\row -> transpose(B) |> map(\\col -> {fold}));"
    )
}

fn inner(rule: &str, text: &str) -> String {
    rewritten(rule, text, "0", Arguments::none()).unwrap().body.to_string()
}

const BY_COLUMNS: &str = "map(\\row -> zip(row, transpose(B) |> transpose) |> \
    reduceSeq(repeat(N, 0.0f32), \\us q -> zip(us, q.1) |> map(\\r -> r.0 + q.0 * r.1)), A)";

#[test]
fn all_columns_take_one_element_of_the_row_at_a_time() {
    for fold in [
        "zip(row, col) |> reduceSeq(0.0, \\acc p -> acc + p.0 * p.1)",
        "zip(row, col) |> reduceSeq(0.0, \\acc (a, b) -> acc + a * b)",
    ] {
        assert_eq!(inner("map_reduce_zip_right", &matrix_multiplication(fold)), BY_COLUMNS);
    }
}

#[test]
fn the_row_may_come_first() {
    let text =
        matrix_multiplication("zip(col, row) |> reduceSeq(0.0, \\acc (b, a) -> acc + a * b)");
    assert_eq!(
        inner("map_reduce_zip_left", &text),
        "map(\\row -> zip(transpose(B) |> transpose, row) |> \
         reduceSeq(repeat(N, 0.0f32), \\us q -> zip(us, q.0) |> map(\\r -> r.0 + q.1 * r.1)), A)"
    );
}

#[test]
fn the_fold_moves_past_both_maps() {
    // After the inner interchange the outer map folds with a state that does not depend on the row.
    let once = rewritten(
        "map_reduce_zip_right",
        &matrix_multiplication("zip(row, col) |> reduceSeq(0.0, \\acc p -> acc + p.0 * p.1)"),
        "0",
        Arguments::none(),
    );
    let text = once.unwrap().to_string();
    assert_eq!(
        body("map_reduce_zip_left", &text, Arguments::none()),
        "zip(transpose(A), transpose(B) |> transpose) |> reduceSeq(repeat(M, repeat(N, 0.0f32)), \
         \\us q -> zip(us, q.0) |> map(\\r -> zip(r.0, q.1) |> map(\\r1 -> r1.0 + r.1 * r1.1)))"
    );
}

#[test]
fn every_column_may_have_a_start_value() {
    let text = "def f[K, N](row: [f32; K], zs: [f32; N], B: [[f32; K]; N]) -> [f32; N] =
      zip(zs, B) |> map(\\(z, col) -> zip(row, col) |> reduceSeq(z, \\acc (a, b) -> acc + a * b));";
    assert_eq!(
        body("map_reduce_zip_right_from", text, Arguments::none()),
        "zip(row, transpose(B)) |> \
         reduceSeq(zs, \\us q -> zip(us, q.1) |> map(\\r -> r.0 + q.0 * r.1))"
    );
}

#[test]
fn a_fold_of_maps_is_a_map_of_folds() {
    let text = "def f[K, N](zs: [i32; N], xss: [[i32; N]; K]) -> [i32; N] =
      xss |> reduceSeq(zs, \\us xs -> zip(us, xs) |> map(\\(u, x) -> u - x));";
    let folds = "zip(zs, transpose(xss)) |> map(\\p -> reduceSeq(p.0, (-), p.1))";
    assert_eq!(body("reduce_map_interchange", text, Arguments::none()), folds);
    let back = format!("def f[K, N](zs: [i32; N], xss: [[i32; N]; K]) -> [i32; N] = {folds};");
    assert_eq!(
        body("map_reduce_seq_from", &back, Arguments::none()),
        "transpose(xss) |> transpose |> \
         reduceSeq(zs, \\us v -> zip(us, v) |> map(\\r -> r.0 - r.1))"
    );
}

#[test]
fn a_fold_of_maps_with_a_zip_goes_back() {
    let text = "def f[K, N](row: [f32; K], B: [[f32; N]; K]) -> [f32; N] =
      zip(row, B) |> reduceSeq(repeat(N, 0.0), \\us q -> zip(us, q.1) |> map(\\r -> r.0 + q.0 * r.1));";
    let folds = rewritten("reduce_map_zip_right", text, "root", Arguments::none()).unwrap();
    assert_eq!(
        folds.body.to_string(),
        "zip(repeat(N, 0.0), transpose(B)) |> \
         map(\\p -> zip(row, p.1) |> reduceSeq(p.0, \\r q -> r + q.0 * q.1))"
    );
    assert_eq!(
        body("zip_repeat_first", &folds.to_string(), Arguments::none()),
        "transpose(B) |> map(\\p -> zip(row, p) |> reduceSeq(0.0f32, \\r q -> r + q.0 * q.1))"
    );
}

#[test]
fn a_start_value_of_the_row_stays_inside() {
    let text = "def f[K, N](xs: [i32; K], yss: [[i32; K]; N]) -> [i32; N] =
      yss |> map(\\ys -> zip(xs, ys) |> reduceSeq(head(ys), \\acc (x, y) -> acc + x * y));";
    assert_eq!(
        refusal("map_reduce_zip_right", text, Arguments::none()),
        "`z` depends on `ys`, which is bound inside"
    );
}

#[test]
fn a_function_of_the_whole_row_stays_inside() {
    let text = "def f[K, N](xs: [i32; K], yss: [[i32; K]; N]) -> [i32; N] =
      yss |> map(\\ys -> zip(xs, ys) |> reduceSeq(0, \\acc (x, y) -> acc + x * y * ys[0]));";
    assert_eq!(
        refusal("map_reduce_zip_right", text, Arguments::none()),
        "`f` depends on `ys`, which is bound inside"
    );
}

#[test]
fn rows_zipped_inside_are_zipped_outside_and_back() {
    let inside = "def f[N, M](A: [[i32; M]; N], x: [i32; M]) -> [[i32; M]; N] =
      A |> map(\\row -> zip(row, x) |> map(\\(a, b) -> a - b));";
    let outside = "zip(transpose(A), x) |> map(\\q -> map(\\x -> x - q.1, q.0)) |> transpose";
    assert_eq!(body("map_interchange_zip_inside", inside, Arguments::none()), outside);
    let columns = "def f[N, M](A: [[i32; M]; N], x: [i32; N]) -> [[i32; M]; N] =
      zip(A, x) |> map(\\(row, b) -> row |> map(\\a -> a - b));";
    assert_eq!(
        body("map_interchange_zip_outside", columns, Arguments::none()),
        "transpose(A) |> map(\\xs -> zip(xs, x) |> map(\\q -> q.0 - q.1)) |> transpose"
    );
}
