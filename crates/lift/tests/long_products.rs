//! Products of matrices of few elements are cut along their folds where these are long, whatever is made of their operands and results,
//! and the parts of the folds are computed in tiles.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use lift::{Compiled, KernelPlan, Options, Sizes, Target, Value, explain};

const PROGRAMS: &str = "
def dot[n](x: [i32; n], y: [i32; n]) -> i32 = zip(x, y) |> map(\\(a, b) -> a * b) |> reduce(0, (+));
def plain[M, N, K](x: [[i32; K]; M], y: [[i32; K]; N]) -> [[i32; N]; M] =
  x |> map(\\a -> y |> map(\\b -> dot(a, b)));
def turned[M, N, K](x: [[i32; M]; K], y: [[i32; N]; K]) -> [[i32; N]; M] =
  transpose(x) |> map(\\a -> transpose(y) |> map(\\b -> dot(a, b)));
def around[M, N, K](x: [[i32; K]; M], y: [[i32; K]; N]) -> [[i32; M]; N] =
  x |> map(map(\\v -> v * 3 - 1)) |> map(\\a -> y |> map(\\b -> max(0, dot(a, b) - b[2]))) |> transpose;
def sums[M, N, K](x: [[i32; K]; M], y: [[i32; K]; N]) -> [[i32; N]; M] =
  x |> map(\\a -> y |> map(\\b -> dot(a, b) - dot(b |> gather(reverse), a)));
def batches[M, N, K](x: [[i32; K]; M], y: [[i32; K]; N]) -> [[[i32; N]; M]; 3] =
  generate(3, \\k -> x |> map(map(\\v -> v + k))) |> map(\\xs -> xs |> map(\\a -> y |> map(\\b -> dot(a, b))));
def pairs[M, N, K](x: [[[i32; K]; M]; 3], y: [[[i32; K]; N]; 3]) -> [[[i32; N]; M]; 3] =
  zip(x, y) |> map(\\(xs, ys) -> plain(xs, ys));
";

/// Rows, columns and steps, so that tiles and chunks are whole, or not.
const SIZES: [[usize; 3]; 3] = [[16, 32, 4096], [21, 37, 5003], [64, 16, 1311]];

type Rows = Vec<Vec<i32>>;

fn dot(a: &[i32], b: &[i32]) -> i32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn products(x: &Rows, y: &Rows, of: impl Fn(&[i32], &[i32]) -> i32) -> Rows {
    x.iter().map(|a| y.iter().map(|b| of(a, b)).collect()).collect()
}

fn value(x: &Rows) -> Value {
    Value::shaped(x.concat(), &[x.len(), x[0].len()]).unwrap()
}

fn transposed(x: &Rows) -> Rows {
    (0..x[0].len()).map(|k| x.iter().map(|row| row[k]).collect()).collect()
}

fn options(names: [&str; 3], sizes: [usize; 3]) -> Options {
    let sizes = names.iter().zip(sizes).map(|(name, n)| (name.to_string(), n as i128));
    Options { sizes: sizes.collect::<BTreeMap<_, _>>(), ..Options::default() }
}

#[test]
fn products_are_right() {
    let program = lift::parse("products.lift", PROGRAMS).unwrap();
    for device in ["cpu", "opencl:pocl"] {
        let mut device = lift::open(device).unwrap();
        for [m, n, k] in SIZES {
            let matrix = |rows: usize, by: usize| -> Rows {
                let element = |r: usize, c: usize| ((r * k + c) * by % 19) as i32 - 9;
                (0..rows).map(|r| (0..k).map(|c| element(r, c)).collect()).collect()
            };
            let (x, y) = (matrix(m, 7), matrix(n, 5));
            for name in ["plain", "turned", "around", "sums", "batches"] {
                let def = program.defs.iter().find(|def| def.name == name).unwrap();
                let args = match name {
                    "turned" => [value(&transposed(&x)), value(&transposed(&y))],
                    _ => [value(&x), value(&y)],
                };
                let wanted = match name {
                    "around" => {
                        let of = |a: &[i32], b: &[i32]| {
                            let a: Vec<i32> = a.iter().map(|v| v * 3 - 1).collect();
                            (dot(&a, b) - b[2]).max(0)
                        };
                        value(&transposed(&products(&x, &y, of)))
                    }
                    "sums" => {
                        let of = |a: &[i32], b: &[i32]| {
                            let turned: Vec<i32> = b.iter().rev().copied().collect();
                            dot(a, b) - dot(&turned, a)
                        };
                        value(&products(&x, &y, of))
                    }
                    "batches" => {
                        let more = |by: i32| -> Rows {
                            x.iter().map(|row| row.iter().map(|v| v + by).collect()).collect()
                        };
                        let all: Vec<Value> =
                            (0..3).map(|by| value(&products(&more(by), &y, dot))).collect();
                        Value::array(all).unwrap()
                    }
                    _ => value(&products(&x, &y, dot)),
                };
                let options = options(["M", "N", "K"], [m, n, k]);
                let mut compiled = Compiled::new(def, &options, &mut *device).unwrap();
                let found = compiled.run(&mut *device, &args, &Sizes::new());
                assert_eq!(found.unwrap().result, wanted, "{name} {m} {n} {k}");
            }
        }
    }
}

/// The kernels that a program is for threads.
fn plan(name: &str, sizes: [usize; 3]) -> Vec<KernelPlan> {
    let program = lift::parse("products.lift", PROGRAMS).unwrap();
    let def = program.defs.iter().find(|def| def.name == name).unwrap();
    let options = Options { target: Target::Threads, ..options(["M", "N", "K"], sizes) };
    explain(def, &options).unwrap()
}

#[test]
fn partial_products_have_tiles_and_groups_enough() {
    for name in ["plain", "turned", "around", "sums", "pairs"] {
        let kernels = plan(name, [64, 64, 65536]);
        let is_tiled = |k: &KernelPlan| k.schedule.iter().any(|clause| clause.starts_with("tile("));
        let tiled: Vec<&KernelPlan> = kernels.iter().filter(|k| is_tiled(k)).collect();
        assert_eq!(tiled.len(), if name == "sums" { 2 } else { 1 }, "{name}: {kernels:?}");
        for kernel in tiled {
            assert!(kernel.groups >= Some(128), "{name}: {kernel:?}");
        }
    }
}

/// Where there are tiles for all of a device, or too few steps to leave out, nothing is cut.
#[test]
fn large_or_short_products_are_one_kernel() {
    for sizes in [[1024, 1024, 4096], [64, 64, 512]] {
        assert_eq!(plan("plain", sizes).len(), 1, "{sizes:?}");
    }
}
