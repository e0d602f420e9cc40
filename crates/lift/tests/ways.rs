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

// What is read again is stored or computed again.
def windows[M, K, N](a: [[f32; K]; M], b: [f32; N]) -> [f32; N] =
  b |> map(\\v -> sin(v) * cos(v)) |> pad(1, 1, clamp) |> slide(3, 1) |> map(reduce(0.0, (+)));
def blurred[M, K, N](a: [[f32; K]; M], b: [f32; N]) -> [f32; N] =
  let smooth = b |> pad(1, 1, clamp) |> slide(3, 1) |> map(reduce(0.0, (+)));
  smooth |> pad(2, 2, clamp) |> slide(5, 1) |> map(\\w -> reduce(-inf, max, w) - w[2]);

// Points read along one dimension and write along the other.
def turned[M, K](a: [[f32; K]; M], b: [[f32; M]; K]) -> [[f32; M]; K] =
  zip2(transpose(a), b) |> map2(\\(x, y) -> if x > y then x else 2.0 * y);
def crossed[M, K](a: [[f32; K]; M], b: [[f32; M]; K]) -> [[f32; M]; K] =
  transpose(a) |> pad2(1, 1, clamp) |> slide2(3, 1) |> map2(\\w -> w[0][1] + w[1][0] + w[1][1] + w[1][2] + w[2][1]);
";

const SIZES: [(&str, i128); 3] = [("M", 150), ("K", 200), ("N", 70)];

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
    let mut passes = BTreeMap::new();
    for name in [
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
    ] {
        let def = def(&program, name);
        let mut sizes = Sizes::new();
        for size in &def.sizes {
            let (_, n) = SIZES.iter().find(|(known, _)| *known == size.name()).unwrap();
            sizes.set(size.name(), *n);
        }
        let args = arguments(def, &sizes);
        let wanted = lift_interp::run(def, &args, &Sizes::new()).unwrap();
        let sizes = sizes.iter().map(|(name, n)| (name.to_owned(), n)).collect();
        let usual = Options { sizes, ..Options::default() };
        let choices = Compiled::new(def, &usual, &mut *device).unwrap().plan.choices;
        assert!(!choices.is_empty(), "{name} could go one way only");
        for (number, choice) in choices.iter().enumerate() {
            *passes.entry(choice.pass).or_insert(0) += choice.ways.len() - 1;
            for (way, told) in choice.ways.iter().enumerate().skip(1) {
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
    for pass in ["share", "default_lowering", "group_tiling", "turned_tiles"] {
        assert!(passes.get(pass).is_some_and(|ways| *ways > 1), "{pass}: {passes:?}");
    }
}
