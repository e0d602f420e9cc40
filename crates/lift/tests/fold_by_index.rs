//! Folds into places that data choose, inside maps: rows are shared by work-items, and come out as the interpreter has them.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use lift::{Options, Target, explain, open, parse};

#[path = "common/interpreted.rs"]
mod interpreted;

use interpreted::agrees;

/// Indices may lie outside, and count nowhere then.
const PROGRAMS: &str = "
fn bin(v: f32) -> i32 = (v * 40.0) as i32;
def rows[B, N](x: [[f32; N]; B]) -> [[i32; 37]; B] =
  x |> map(\\row -> reduce_by_index(37, 0, (+), row |> map(bin), row |> map(\\v -> 1)));
def largest[B, N](x: [[f32; N]; B]) -> [[(f32, i32); 37]; B] =
  x |> map(\\row ->
    reduce_by_index(37, (-inf, 0), \\a b -> (max(a.0, b.0), a.1 + b.1), row |> map(bin), row |> map(\\v -> (v, 1))));
def wide[B, N](x: [[f32; N]; B]) -> [[i32; 3000]; B] =
  x |> map(\\row -> reduce_by_index(3000, 0, (+), row |> map(\\v -> (v * 3000.0) as i32), row |> map(\\v -> 1)));
def named[B, N](x: [[f32; N]; B]) -> [[f32; 37]; B] =
  x |> map(\\row ->
    let h = reduce_by_index(37, 0, (+), row |> map(bin), row |> map(\\v -> 1));
    h |> map(\\c -> (c as f32) / 8.0));
def folded[B, N](x: [[f32; N]; B]) -> [i32; B] =
  x |> map(\\row ->
    let h = reduce_by_index(37, 0, (+), row |> map(bin), row |> map(\\v -> 1));
    h |> map(\\c -> c * c) |> reduce(0, (+)));
def planes[B, N](x: [[f32; N]; B]) -> [[[i32; 37]; B]; 2] =
  [0.0, 0.25] |> map(\\by ->
    x |> map(\\row -> reduce_by_index(37, 0, (+), row |> map(\\v -> bin(v - by)), row |> map(\\v -> 1))));
def started[B, N](x: [[f32; N]; B], from: [i32; B]) -> [[i32; 5]; B] =
  zip(x, from) |> map(\\(row, z) -> reduce_by_index(5, z, max, row |> map(\\v -> (v * 6.0) as i32), row |> map(bin)));
";

/// Into more places than local memory has room for: all work-items change the results. Of `spread` the sum of floats is of small
/// integers, so that it is the same in any order.
const SPREAD: &str = "
fn spot(v: f32) -> i64 = ((v * 20000.0) as i64) - 100i64;
def spread[N](x: [f32; N]) -> [(f32, i32, u32); 16384] =
  reduce_by_index(16384, (0.0, i32::min, 0), \\a b -> (a.0 + b.0, max(a.1, b.1), a.2 ^ b.2),
    x |> map(spot), x |> map(\\v -> (floor(v * 16.0), (v * 999.0) as i32, (v * 65536.0) as u32)));
def open[N, K](x: [f32; N], y: [f32; K]) -> [f32; K] =
  zip(y, reduce_by_index(K, -inf, max, x |> map(spot), x)) |> map(\\(a, b) -> min(a, b));
def started[N](x: [f32; N]) -> [i32; 12000] =
  reduceByIndexGlb(12000, 7, \\acc v -> acc + ((v * 9.0) as i32), x |> map(spot), x);
def chained[N](x: [f32; N]) -> [i32; 9000] =
  let first = reduce_by_index(9000, 0, (+), x |> map(spot), x |> map(\\v -> 1));
  reduce_by_index(9000, i32::max, min, first |> map(\\n -> 37 * n), first);
";

#[test]
fn places_that_all_work_items_change_agree() {
    let program = parse("spread", SPREAD).unwrap();
    for name in ["cpu", "opencl:pocl"] {
        let mut device = open(name).unwrap();
        for def in program.defs.iter().filter(|def| !def.sizes.is_empty()) {
            for (n, k) in [(70_000, 9001), (300, 10), (1, 1)] {
                let all = [("N", n), ("K", k)].map(|(name, n)| (name.to_string(), n));
                let is_own = |name: &str| def.sizes.iter().any(|size| size.name() == name);
                let own = all.into_iter().filter(|(name, _)| is_own(name)).collect();
                agrees(def, &own, &mut *device, false);
            }
        }
    }
}

#[test]
fn rows_agree_on_every_device() {
    let program = parse("by_index", PROGRAMS).unwrap();
    for name in ["cpu", "opencl:pocl"] {
        let mut device = open(name).unwrap();
        for def in program.defs.iter().filter(|def| !def.sizes.is_empty()) {
            for (b, n) in [(1, 9000), (3, 4099), (70, 300)] {
                let known = BTreeMap::from([("B".to_string(), b), ("N".to_string(), n)]);
                agrees(def, &known, &mut *device, false);
            }
        }
    }
}

/// A few rows of many elements keep a device busy, also where something is computed from what they are folded to.
#[test]
fn few_long_rows_have_many_work_items() {
    let program = parse("by_index", PROGRAMS).unwrap();
    for name in ["rows", "largest", "wide", "named", "folded", "planes"] {
        let def = program.defs.iter().find(|def| def.name == name).unwrap();
        for (target, least) in [(Target::Threads, 1000), (Target::Loops, 32)] {
            let sizes = BTreeMap::from([("B".to_string(), 4), ("N".to_string(), 1 << 20)]);
            let options = Options { target, sizes, ..Options::default() };
            let kernels = explain(def, &options).unwrap();
            let most = kernels.iter().filter_map(|kernel| kernel.points).max();
            assert!(most >= Some(least), "{name}: {kernels:?}");
        }
    }
}
