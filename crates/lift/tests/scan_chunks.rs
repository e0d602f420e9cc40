//! Long scans on processors: threads take chunks, in order, whatever the length.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use lift::{Options, Target, explain, open, parse};

#[path = "common/interpreted.rs"]
mod interpreted;

use interpreted::agrees;

/// Each is associative; `maps` and `firsts` do not commute, and the start of `offset` is no identity.
const PROGRAMS: &str = "
def sums[N](x: [i32; N]) -> [i32; N] = x |> scan(0, (+));
def products[N](x: [u32; N]) -> [u32; N] = x |> map(\\v -> v | 1) |> scan(1, (*));
def offset[N](x: [i32; N]) -> [i32; N] = x |> scan(1000, (+));
def largest[N](x: [f32; N]) -> [f32; N] = x |> scan(-inf, max);
def firsts[N](x: [i32; N]) -> [i32; N] = x |> scan(0, \\a b -> if a == 0 then b else a);
def maps[N](x: [u32; N], y: [u32; N]) -> [(u32, u32); N] =
  zip(x, y) |> scan((1, 0), \\f g -> (f.0 * g.0, f.1 * g.0 + g.1));
def after[N](x: [i32; N]) -> [i32; N] = x |> scan(0, (+)) |> map(\\v -> v * 3) |> gather(reverse);
def rows[N](x: [[i32; N]; 3]) -> [[i32; N]; 3] = x |> map(scan(7, (+)));
def planes[N](x: [[[i32; N]; 2]; 3]) -> [[[i32; N]; 2]; 3] = x |> map(map(scan(0, (+))));
def columns[N](x: [[i32; 3]; N]) -> [[i32; 3]; N] = transpose(x) |> map(scan(0, (+))) |> transpose;
";

#[test]
fn chunks_of_every_length_agree() {
    let program = parse("scans", PROGRAMS).unwrap();
    let mut device = open("cpu").unwrap();
    for def in &program.defs {
        // A chunk is at least 2^13 long, and there are at most 2^6.
        for n in [8192, 16_384, 16_385, 24_575, 100_003, (1 << 19) + 1] {
            let known = BTreeMap::from([("N".to_string(), n)]);
            agrees(def, &known, &mut *device, false);
        }
    }
}

#[test]
fn long_scans_are_parallel() {
    let program = parse("scans", PROGRAMS).unwrap();
    for def in &program.defs {
        let sizes = BTreeMap::from([("N".to_string(), 1 << 20)]);
        let options = Options { target: Target::Loops, sizes, ..Options::default() };
        let kernels = explain(def, &options).unwrap();
        let shared = kernels.iter().filter(|kernel| kernel.is_shared && kernel.points >= Some(50));
        assert!(shared.count() >= 2, "{}: {kernels:?}", def.name);
    }
}
