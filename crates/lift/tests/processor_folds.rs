//! Folds whose form on processors follows from what they read: lanes along rows, few columns as one vector, choices.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use lift::{Options, Target, explain, open, parse};

#[path = "common/interpreted.rs"]
mod interpreted;

use interpreted::agrees;

/// `nans` has some in each row.
const PROGRAMS: &str = "
fn huber(t: f32) -> f32 = if abs(t) < 1.0 then 0.5 * t * t else abs(t) - 0.5;
def chosen[N, M](x: [[f32; M]; N], y: [[f32; N]; M]) -> [[f32; N]; N] =
  x |> map(\\row -> transpose(y) |> map(\\col -> zip(row, col) |> map(\\(a, b) -> huber(a) * b) |> reduce(0.0, (+))));
def compared[N, M](x: [[f32; M]; N], y: [[f32; M]; N]) -> [[f32; N]; N] =
  x |> map(\\r -> y |> map(\\s -> zip(r, s) |> map(\\(a, b) -> if a > b then a * 0.5 else b - a) |> reduce(0.0, (+))));
def narrow[N, M](x: [[f32; M]; N], y: [[f32; 6]; M]) -> [[f32; 6]; N] =
  x |> map(\\row -> transpose(y) |> map(\\col -> zip(row, col) |> map(\\(a, b) -> a * b) |> reduce(0.0, (+))));
def short[N, M](x: [[f32; 6]; N], y: [[f32; 6]; M]) -> [[f32; M]; N] =
  x |> map(\\p -> y |> map(\\q -> zip(p, q) |> map(\\(a, b) -> (a - b) * (a - b)) |> reduce(0.0, (+))));
def turned[N, M](x: [[f32; M]; N], y: [[f32; N]; M]) -> [[f32; N]; N] =
  x |> map(\\row ->
    transpose(y) |> map(\\col -> zip(row |> gather(shift(9)), col) |> map(\\(a, b) -> a * b) |> reduce(0.0, (+))));
def least[N, M](x: [[f32; M]; N], y: [f32; N]) -> f32 =
  zip(x, y) |> map(\\(row, b) -> row |> map(\\a -> max(max(a, b - 0.9), 0.0))) |> join |> reduce(inf, min);
def planes[N, M](x: [[[f32; M]; N]; 3]) -> [f32; 3] = x |> map(\\plane -> plane |> join |> reduce(-inf, max));
def nans[N, M](x: [[f32; M]; N], c: f32) -> [f32; N] =
  x |> map(\\row -> row |> map(\\a -> min(max(sqrt(a - 0.01), c), 0.5)) |> reduce(inf, min));
def clamped[N, M](x: [[f32; M]; N], c: f32) -> [[f32; M]; N] = x |> map(map(\\a -> max(c, a) + min(a, c)));
def columns[N, M](x: [[f32; M]; N]) -> [[f32; N]; M] =
  transpose(x) |> pad2(1, 1, clamp) |> slide2(3, 1) |> map2(\\w -> w |> join |> reduce(-inf, max));
def picked[N, M](x: [[f32; M]; N], y: [[f32; M]; N]) -> [[f32; N]; N] =
  x |> map(\\row ->
    let picks = row |> map(\\v -> row[(v * 20.0) as i32]);
    y |> map(\\col -> zip(picks, col) |> map(\\(a, b) -> a * b) |> reduce(0.0, (+))));
def picked_rows[N, M](x: [[f32; M]; N], by: [f32; 70], y: [[f32; N]; M]) -> [[f32; N]; 70] =
  by |> map(\\v -> x[(v * 20.0) as i32]) |> map(\\row ->
    transpose(y) |> map(\\col -> zip(row, col) |> map(\\(a, b) -> a * b) |> reduce(0.0, (+))));
def scanned[N, M](x: [[f32; M]; N], y: [[f32; N]; M]) -> [[f32; N]; N] =
  x |> map(\\row ->
    transpose(y) |> map(\\col -> zip(row, col) |> map(\\(a, b) -> a * b) |> reduce(0.0, (+))) |> scan(0.0, (+)));
";

#[test]
fn folds_agree_with_the_interpreter() {
    let program = parse("folds", PROGRAMS).unwrap();
    let mut device = open("cpu").unwrap();
    for def in program.defs.iter().filter(|def| !def.sizes.is_empty()) {
        for (n, m) in [(40, 130), (33, 200), (100, 64)] {
            let known = BTreeMap::from([("N".to_string(), n), ("M".to_string(), m)]);
            agrees(def, &known, &mut *device, true);
        }
    }
}

/// What data and a number that is the same for all make of a choice is computed once, and folds that are joined have a row each.
#[test]
fn what_is_folded_is_shared_by_threads() {
    let program = parse("folds", PROGRAMS).unwrap();
    for (name, kernels) in
        [("chosen", 2), ("scanned", 2), ("least", 2), ("picked", 2), ("picked_rows", 2)]
    {
        let def = program.defs.iter().find(|def| def.name == name).unwrap();
        let sizes = BTreeMap::from([("N".to_string(), 500), ("M".to_string(), 500)]);
        let options = Options { target: Target::Loops, sizes, ..Options::default() };
        let found = explain(def, &options).unwrap();
        assert_eq!(found.len(), kernels, "{name}: {found:?}");
        assert!(found[0].points >= Some(70), "{name}: {found:?}");
    }
}
