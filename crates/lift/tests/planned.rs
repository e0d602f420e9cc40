//! What is written otherwise and means the same is planned alike, without a name that helps: arrays are computed once, maps are
//! grids whatever stands between them, and no kernel has fewer threads than points that a device has room for.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use lift::{KernelPlan, Options, Target, explain, parse};

/// Threads that a large device holds, about; and results that a thread of a tile computes at most.
const HELD: i128 = 1 << 14;
const POINTS: i128 = 64;

const PROGRAMS: &str = "
def mm[m, k, n](a: [[f32; k]; m], b: [[f32; n]; k]) -> [[f32; n]; m] =
  a |> map(\\row ->
    transpose(b) |> map(\\col -> zip(row, col) |> map(\\(x, y) -> x * y) |> reduce(0.0, (+))));

def products[N](a: [[f32; N]; N], b: [[f32; N]; N]) -> [[f32; N]; N] = mm(mm(a, b), a);
def products_named[N](a: [[f32; N]; N], b: [[f32; N]; N]) -> [[f32; N]; N] =
  let ab = mm(a, b); mm(ab, a);

def sums[N](x: [[f32; N]; N]) -> [[f32; N]; N] =
  x |> map(scan(0.0, (+))) |> transpose |> map(scan(0.0, (+)));
def sums_named[N](x: [[f32; N]; N]) -> [[f32; N]; N] =
  let rows = x |> map(scan(0.0, (+))); rows |> transpose |> map(scan(0.0, (+)));

def normal[n](row: [f32; n]) -> [f32; n] =
  let square = row |> map(\\v -> v * v) |> reduce(0.0, (+)); row |> map(\\v -> v * rsqrt(square + 1.0));
def normalised[N](a: [[f32; N]; N], b: [[f32; N]; N]) -> [[f32; N]; N] = mm(a, b) |> map(normal);
def normalised_named[N](a: [[f32; N]; N], b: [[f32; N]; N]) -> [[f32; N]; N] =
  let ab = mm(a, b); ab |> map(normal);

def powers[N](a: [[f32; N]; N], b: [[f32; N]; N]) -> [[f32; N]; N] = mm(a |> map(map(exp)), b);
def powers_named[N](a: [[f32; N]; N], b: [[f32; N]; N]) -> [[f32; N]; N] =
  let e = a |> map(map(exp)); mm(e, b);
def powers_inside[N](a: [[f32; N]; N], b: [[f32; N]; N]) -> [[f32; N]; N] =
  a |> map(\\row ->
    let e = row |> map(exp);
    transpose(b) |> map(\\c -> zip(e, c) |> map(\\(x, y) -> x * y) |> reduce(0.0, (+))));

def outer[N](x: [[f32; N]; N], w: [f32; 64]) -> [[[f32; N]; 64]; N] =
  x |> map(\\row -> w |> map(\\a -> row |> gather(reverse) |> map(\\b -> a * b)));
def outer_named[N](x: [[f32; N]; N], w: [f32; 64]) -> [[[f32; N]; 64]; N] =
  x |> map(\\row -> let r = row |> gather(reverse); w |> map(\\a -> r |> map(\\b -> a * b)));

def faded[N](x: [[f32; N]; N], w: [[f32; N]; N], s: [f32; N]) -> [[f32; N]; N] =
  x |> map(\\row ->
    w |> map(\\c -> zip(row, s, c) |> map(\\(a, b, v) -> a * b * v) |> reduce(0.0, (+))));
def faded_named[N](x: [[f32; N]; N], w: [[f32; N]; N], s: [f32; N]) -> [[f32; N]; N] =
  x |> map(\\row ->
    let r = zip(row, s) |> map(\\(a, b) -> a * b);
    w |> map(\\c -> zip(r, c) |> map(\\(a, b) -> a * b) |> reduce(0.0, (+))));

def scaled[N](x: [[f32; N]; N]) -> [[f32; N]; N] = x |> map(\\row -> row |> map(\\v -> exp(v) + 1.0));
def scaled_turned[N](x: [[f32; N]; N]) -> [[f32; N]; N] =
  x |> map(\\row -> row |> map(\\v -> exp(v) + 1.0) |> gather(reverse));
def scaled_joined[N](x: [[f32; N]; N]) -> [[f32; N]; N] where N % 4 == 0 =
  x |> map(\\row -> row |> split(4) |> map(map(\\v -> exp(v) + 1.0)) |> join);

def batch[N](x: [[[f32; N]; N]; 4], y: [[[f32; N]; N]; 4]) -> [[[f32; N]; N]; 4] =
  zip(x, y) |> map(\\(a, b) -> mm(a, b)) |> map(transpose);
def batch_turned[N](x: [[[f32; N]; N]; 4], y: [[[f32; N]; N]; 4]) -> [[[f32; N]; N]; 4] =
  zip(x, y) |> map(\\(a, b) -> mm(a, b) |> transpose);

def with_means[N](x: [[f32; N]; N]) -> [([f32; N], f32); N] =
  x |> map(\\row -> let s = row |> reduce(0.0, (+)); (row |> map(\\v -> v - s), s));

def below[N](a: [[f32; N]; N], b: [[f32; N]; N]) -> [[f32; N]; N] =
  zip(a, generate(N, \\i -> i)) |> map(\\(row, i) ->
    zip(transpose(b), generate(N, \\j -> j)) |> map(\\(col, j) ->
      let d = zip(row, col) |> map(\\(x, y) -> x * y) |> reduce(0.0, (+));
      if j > i then 0.0 else d));
def below_chosen[N](a: [[f32; N]; N], b: [[f32; N]; N]) -> [[f32; N]; N] =
  zip(a, generate(N, \\i -> i)) |> map(\\(row, i) ->
    zip(transpose(b), generate(N, \\j -> j)) |> map(\\(col, j) ->
      if j > i then 0.0 else zip(row, col) |> map(\\(x, y) -> x * y) |> reduce(0.0, (+))));

def shares[N](x: [[f32; N]; N]) -> [[f32; N]; N] =
  let all = x |> join |> reduce(0.0, (+)); x |> map(map(\\v -> v / all));
def shares_unnamed[N](x: [[f32; N]; N]) -> [[f32; N]; N] =
  x |> map(map(\\v -> v / (x |> join |> reduce(0.0, (+)))));

def grouped[N](x: [[[f32; N]; 32]; 8]) -> [[[f32; N]; 32]; 8] =
  x |> map(\\image ->
    let means = image |> map(\\g -> (g |> reduce(0.0, (+))) / (N as f32));
    zip(image, means) |> map(\\(g, mean) -> g |> map(\\v -> v - mean)));
def added[N](x: [[[f32; N]; N]; N]) -> [[f32; N]; N] =
  x |> reduce(generate(N, \\i -> generate(N, \\j -> 0.0)), \\a b -> zip2(a, b) |> map2(\\(v, w) -> v + w));

def four[N](x: [[[[f32; N]; 16]; 16]; 16]) -> [[[[f32; N]; 16]; 16]; 16] =
  x |> map(map(map(map(\\v -> v + 1.0))));
def running[N](x: [f32; N]) -> [f32; N] = x |> scan(0.0, (+));
def total[N](x: [f32; N]) -> f32 = x |> reduce(0.0, (+));
def columns[N](x: [[f32; N]; N]) -> [f32; N] = transpose(x) |> map(reduce(0.0, (+)));
def rows[N](x: [[f32; N]; N]) -> [f32; N] = x |> map(reduce(0.0, (+)));
def across[N](a: [[f32; N]; N], b: [[f32; N]; N]) -> [[f32; N]; N] =
  a |> map(\\row -> b |> map(\\col -> zip(row, col) |> map(\\(x, y) -> x * y) |> reduce(0.0, (+))));
def eliminated[N](a: [[f32; N]; N]) -> [[f32; N]; N] =
  generate(N, \\i -> i) |> reduceSeq(a, \\m k ->
    m |> map(\\row -> zip(row, m[k]) |> map(\\(x, y) -> x - 0.5 * y)));
def turns[N](x: [(f32, f32); N]) -> [(f32, f32); N] =
  x |> iterate(10, \\s -> s |> map(\\(a, b) -> (a + 0.1 * b, b - 0.1 * a)));
";

fn plan(name: &str, n: i128) -> Vec<KernelPlan> {
    let program = parse("planned", PROGRAMS).unwrap();
    let def = program.defs.iter().find(|def| def.name == name).unwrap();
    let sizes = BTreeMap::from([("N".to_string(), n)]);
    let options = Options { target: Target::Threads, sizes, ..Options::default() };
    explain(def, &options).unwrap()
}

#[test]
fn a_name_changes_nothing() {
    for (plain, named) in [
        ("products", "products_named"),
        ("sums", "sums_named"),
        ("normalised", "normalised_named"),
        ("powers", "powers_named"),
        ("powers", "powers_inside"),
        ("outer", "outer_named"),
        ("faded", "faded_named"),
        ("scaled", "scaled_turned"),
        ("batch", "batch_turned"),
        ("below", "below_chosen"),
        ("shares", "shares_unnamed"),
    ] {
        let shape = |name: &str| -> Vec<_> {
            let kernels = plan(name, 1024);
            kernels.iter().map(|k| (k.points, k.groups, k.group.clone())).collect()
        };
        assert_eq!(shape(plain), shape(named), "{plain}");
    }
}

#[test]
fn every_point_has_a_thread() {
    for name in [
        "products",
        "sums",
        "normalised",
        "powers",
        "outer",
        "faded",
        "four",
        "running",
        "columns",
        "turns",
        "scaled_joined",
        "with_means",
        "grouped",
        "added",
    ] {
        for kernel in plan(name, 4096) {
            let (points, threads) = (kernel.points.unwrap(), kernel.threads().unwrap());
            assert!(threads >= (points / POINTS).min(HELD), "{name}: {kernel:?}");
        }
    }
}

#[test]
fn an_intermediate_is_computed_once() {
    for name in ["products", "sums", "normalised", "powers"] {
        assert_eq!(plan(name, 1024).len(), 2, "{name}");
    }
    assert_eq!(plan("outer", 1024).len(), 1);
    assert_eq!(plan("faded", 1024).len(), 1);
}

/// Threads share the folds of rows that are long, and what two operands share goes through local memory, however they lie.
#[test]
fn long_folds_and_products_are_shared() {
    let [rows] = &plan("rows", 4096)[..] else { panic!("one kernel") };
    assert!(rows.threads() >= Some(32 * 4096), "{rows:?}");
    let tile = |name: &str| plan(name, 1024)[0].schedule.clone();
    let other = &plan("products", 1024)[0];
    assert_eq!(tile("across"), other.schedule);
    assert!(tile("across").iter().any(|clause| clause.starts_with("tile(")), "{other:?}");
}

/// Steps of a loop over a large array run at all points, and copies around them do too.
#[test]
fn steps_of_a_loop_have_all_points() {
    for kernel in plan("eliminated", 512) {
        let (points, threads) = (kernel.points.unwrap(), kernel.threads().unwrap());
        assert!(points >= 512 * 512 && threads >= (points / POINTS).min(HELD), "{kernel:?}");
    }
}

/// A short sum is one kernel, and each of ten steps over tuples is one: there are no copies around them.
#[test]
fn there_are_no_more_kernels_than_steps() {
    assert_eq!(plan("total", 8192).len(), 1);
    assert_eq!(plan("turns", 1 << 20).len(), 10);
}
