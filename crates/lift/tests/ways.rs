//! Wherever lowering can go several ways, each of them computes the same.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use lift::{Compiled, Options, Sizes, Value, open, parse};
use lift_interp::inputs::{Fill, generate};
use lift_interp::{compare, concrete_type};
use lift_ir::{Def, Program};

const PROGRAMS: &str = "
// Tiles of several shapes, or a work-item a point.
def product[M, K, N](a: [[f32; K]; M], b: [[f32; N]; K]) -> [[f32; N]; M] =
  a |> map(\\row ->
    transpose(b) |> map(\\col -> zip(row, col) |> map(\\(x, y) -> x * y) |> reduce(0.0, (+))));

// Nothing goes through local memory.
def distances[M, K, N](a: [[f32; K]; M], b: [[f32; K]; N]) -> [[f32; N]; M] =
  a |> map(\\p -> b |> map(\\q -> zip(p, q) |> map(\\(x, y) -> (x - y) * (x - y)) |> reduce(0.0, (+))));

// Groups, work-items or chunks.
def rows[M, K, N](a: [[f32; K]; M], b: [f32; N]) -> [f32; M] = a |> map(reduce(0.0, (+)));
def columns[M, K, N](a: [[f32; K]; M], b: [f32; N]) -> [f32; K] = transpose(a) |> map(reduce(-inf, max));
def softmax[M, K, N](a: [[f32; K]; M], b: [f32; N]) -> [[f32; K]; M] =
  a |> map(\\row ->
    let most = reduce(-inf, max, row);
    let parts = row |> map(\\v -> exp(v - most));
    let all = reduce(0.0, (+), parts);
    parts |> map(\\v -> v / all));

// A map of what rows are folded to, inside of another.
def shifted[M, K, N](a: [[f32; K]; M], b: [f32; N]) -> [[f32; M]; N] =
  b |> map(\\c -> a |> map(\\row -> row |> map(\\v -> abs(v - c)) |> reduce(inf, min)) |> map(\\v -> tanh(v + c)));

def beside[M, K, N](a: [[f32; K]; M], b: [f32; N]) -> [[f32; M]; N] =
  b |> map(\\c -> zip(a |> map(reduce(0.0, (+))), a |> map(reduce(-inf, max))) |> map(\\(s, t) -> s * c + t));

// A maximum and a sum of powers, one after the other or at once.
def soft[M, K, N](a: [[f32; K]; M], b: [f32; N]) -> [f32; K] =
  transpose(a) |> map(\\col ->
    let most = reduce(-inf, max, col);
    most + log(col |> map(\\v -> exp(v - most)) |> reduce(0.0, (+))));

// Folds of one column, of which one waits for another.
def spread[M, K, N](a: [[f32; K]; M], b: [f32; N]) -> [f32; K] =
  transpose(a) |> map(\\col ->
    let mean = reduce(0.0, (+), col) / (M as f32);
    let most = reduce(-inf, max, col);
    most + mean * (col |> map(\\v -> (v - mean) * (v - mean)) |> reduce(0.0, (+))));
def highest[M, K, N](a: [[f32; K]; M], b: [f32; N]) -> [i32; K] =
  transpose(a) |> map(\\col ->
    let best =
      zip(col, generate(M, \\i -> i))
      |> reduce((-inf, i32::max), \\p q -> if q.0 > p.0 || q.0 == p.0 && q.1 < p.1 then q else p);
    best.1);

// What is read again is stored or computed again.
def windows[M, K, N](a: [[f32; K]; M], b: [f32; N]) -> [f32; N] =
  b |> map(\\v -> sin(v) * cos(v)) |> pad(1, 1, clamp) |> slide(3, 1) |> map(reduce(0.0, (+)));
def blurred[M, K, N](a: [[f32; K]; M], b: [f32; N]) -> [f32; N] =
  let smooth = b |> pad(1, 1, clamp) |> slide(3, 1) |> map(reduce(0.0, (+)));
  smooth |> pad(2, 2, clamp) |> slide(5, 1) |> map(\\w -> reduce(-inf, max, w) - w[2]);

// Short rows: each as a whole, or in steps, through local memory or as they lie.
def running[M, K, N](a: [[f32; K]; M], b: [f32; N]) -> [[f32; K]; M] = a |> map(scan(0.0, (+)));
def centred[M, K, N](a: [[f32; K]; M], b: [f32; N]) -> [([f32; K], f32); M] =
  a |> map(\\row -> let mean = reduce(0.0, (+), row) / (K as f32); (row |> map(\\v -> v - mean), mean));

// Columns as they lie, or as rows.
def so_far[M, K, N](a: [[f32; K]; M], b: [f32; N]) -> [[f32; M]; K] =
  transpose(a) |> map(\\col -> col |> map(\\v -> v * v) |> scan(0.0, (+)));

// Points read along one dimension and write along the other.
def turned[M, K](a: [[f32; K]; M], b: [[f32; M]; K]) -> [[f32; M]; K] =
  zip2(transpose(a), b) |> map2(\\(x, y) -> if x > y then x else 2.0 * y);
def crossed[M, K](a: [[f32; K]; M], b: [[f32; M]; K]) -> [[f32; M]; K] =
  transpose(a) |> pad2(1, 1, clamp) |> slide2(3, 1) |> map2(\\w -> w[0][1] + w[1][0] + w[1][1] + w[1][2] + w[2][1]);
domain above[n] = { (i, j) | i < j, j < n };
def skewed[M](a: [[f32; M]; M]) -> [f32 in above[M]] = [ a[i, j] - a[j, i] | (i, j) in above[M] ];
";

type Extents = [(&'static str, i128); 3];

const SIZES: Extents = [("M", 150), ("K", 200), ("N", 70)];

/// Columns so long that several work-items fold one, and so many that groups fold some each.
const LONG: Extents = [("M", 300), ("K", 1032), ("N", 70)];

/// Many short rows, so many that a group has fewer in the end.
const TALL: Extents = [("M", 9001), ("K", 12), ("N", 70)];

fn def<'p>(program: &'p Program, name: &str) -> &'p Def {
    program.defs.iter().find(|def| def.name == name).unwrap()
}

fn arguments(def: &Def, sizes: &Sizes) -> Vec<Value> {
    let of = |(k, param): (u64, &lift_ir::Param)| {
        let ty = concrete_type(param.ty(), sizes).unwrap();
        generate(Fill::Random { seed: 40 + k }, &ty).unwrap()
    };
    (0..).zip(&def.params).map(of).collect()
}

/// The ways of each choice in lowering a definition, all but the first of which are tried alone.
#[test]
fn every_way_computes_the_same() {
    let program = parse("ways", PROGRAMS).unwrap();
    let mut device = open("opencl:pocl").unwrap();
    let (mut passes, mut blocks) = (BTreeMap::new(), 0);
    let names = [
        "product",
        "distances",
        "rows",
        "columns",
        "softmax",
        "windows",
        "blurred",
        "shifted",
        "turned",
        "crossed",
    ];
    let long = ["columns", "soft", "spread", "highest"];
    let short = ["softmax", "running", "centred"];
    let all = names.map(|name| (name, SIZES)).into_iter().chain(long.map(|name| (name, LONG)));
    let all = all.chain([("so_far", LONG)]).chain(short.map(|name| (name, TALL)));
    for (name, extents) in all {
        let def = def(&program, name);
        let mut sizes = Sizes::new();
        for size in &def.sizes {
            let (_, n) = extents.iter().find(|(known, _)| *known == size.name()).unwrap();
            sizes.set(size.name(), *n);
        }
        let args = arguments(def, &sizes);
        let wanted = lift_interp::run(def, &args, &Sizes::new()).unwrap();
        let sizes = sizes.iter().map(|(name, n)| (name.to_owned(), n)).collect();
        let usual = Options { sizes, ..Options::default() };
        let mut compiled = Compiled::new(def, &usual, &mut *device).unwrap();
        let found = compiled.run(&mut *device, &args, &Sizes::new()).unwrap().result;
        compare(&found, &wanted, true).unwrap_or_else(|e| panic!("{name}: {e}"));
        let choices = compiled.plan.choices;
        assert!(!choices.is_empty(), "{name} could go one way only");
        for (number, choice) in choices.iter().enumerate() {
            *passes.entry(choice.pass).or_insert(0) += choice.ways.len() - 1;
            for (way, told) in choice.ways.iter().enumerate().skip(1) {
                if told.ends_with("side by side") {
                    blocks += 1;
                }
                let choices = usual.choices.with(number, way);
                let options = Options { choices, ..usual.clone() };
                let mut compiled = Compiled::new(def, &options, &mut *device).unwrap();
                let taken = compiled.plan.choices.get(number).map(|choice| choice.taken);
                assert_eq!(taken, Some(way), "{name}: {told}");
                let found = compiled.run(&mut *device, &args, &Sizes::new()).unwrap().result;
                compare(&found, &wanted, true).unwrap_or_else(|e| panic!("{name}: {told}: {e}"));
            }
        }
    }
    assert!(blocks >= long.len(), "{blocks} folds of columns side by side");
    for pass in ["share", "default_lowering", "group_tiling", "turned_tiles", "row_tiles"] {
        assert!(passes.get(pass).is_some_and(|ways| *ways > 1), "{pass}: {passes:?}");
    }
}
