//! What is counted of a kernel: which warps, operations, and turns of loops.

mod common;

use common::{machine, only, predicted};
use lift_clock::KernelPrediction;

/// Of a group that is larger than its grid most warps have nothing to do. They are neither taken for the others where few
/// are followed, nor does their idleness make a chain of steps shorter.
#[test]
fn idle_warps_count_for_nothing() {
    let text = "def f[M, N](x: [[f32; N]; M]) -> [f32; M] launch local(256) global(256) =
      x |> mapGlb(0)(\\r -> r |> reduceSeq(0.0, (+)));";
    for n in [64, 1 << 14] {
        let latency = |m: i128| {
            let whole = predicted(text, &[("M", m), ("N", n)], &machine("cuda"));
            only(&whole).time.components["latency"]
        };
        let (few, all) = (latency(4), latency(256));
        // A crowd waits longer, but not so much.
        assert!((0.2..1.25).contains(&(few / all)), "{few} {all} for {n}");
    }
}

/// Of a grid that is narrower than its groups, every other warp is idle, not those behind.
#[test]
fn warps_between_idle_ones_count() {
    let text = "def f[M, N](x: [[f32; N]; M], y: [f32; 2]) -> [[f32; 2]; M] launch local(64, 4) global(64, 4 * (M / 4)) =
      x |> mapGlb(1)(\\r -> y |> mapGlb(0)(\\s -> r |> reduceSeq(s, (+))));";
    let (m, n) = (512, 1 << 14);
    let whole = predicted(text, &[("M", m), ("N", n)], &machine("cuda"));
    let added = only(&whole).counts.operations["f32.add"];
    // All lanes of a warp for each row.
    let all = (32 * m * n) as f64;
    assert!((added / all - 1.0).abs() < 0.05, "{added} of {all}");
}

/// A warp that only computes, and leaves the store of a group's sum to another, is not idle.
#[test]
fn warps_that_touch_no_memory_count() {
    let text = "def f[; N = 4](s: f32) -> f32 = generate(N, \\i -> exp(s + (i as f32))) |> reduce(0.0, (+));";
    let n = 1 << 20;
    let whole = predicted(text, &[("N", n)], &machine("cuda"));
    let counted = |k: &KernelPrediction| k.counts.operations.get("f32.exp").copied().unwrap_or(0.0);
    let all: f64 = whole.kernels.iter().map(counted).sum();
    assert!((all / n as f64 - 1.0).abs() < 0.05, "{all} of {n}");
}

/// What a loop stores is another number in each of its turns, so nothing that is computed from it is moved out of the loop.
#[test]
fn what_a_loop_stores_is_read_anew() {
    let text = "def f(x: [[f32; 32]; 256]) -> [[f32; 32]; 100] =
      repeat(100, x) |> mapWrg(0)(\\rows ->
        rows
        |> reduceSeq(repeat(32, 0.0) |> mapLcl(0)(toPrivate(\\a -> a)), \\sums row ->
          let own = row |> mapLcl(0)(toLocal(\\v -> v));
          sums |> mapLcl(0)(\\sum -> own |> reduceSeqUnroll(sum, \\s v -> s + v * v)))
        |> mapLcl(0)(toGlobal(\\a -> a)));";
    let whole = predicted(text, &[], &machine("cuda"));
    let squares = only(&whole).counts.operations["f32.fma"];
    let wanted = 100.0 * 32.0 * 256.0 * 32.0;
    assert!((0.99..1.01).contains(&(squares / wanted)), "{squares} of {wanted}");
}

/// Of the index of an element, a compiler moves a division out of a loop whose turns it is the same in.
#[test]
fn divisions_that_no_turn_changes_are_done_once() {
    let divisions = |row: &str, column: &str| {
        let text = format!(
            "def f(x: [[f32; 4096]; 512]) -> [f32; 3584] = generate(3584, \\i ->
               generate(4096, \\j -> x[{row}][{column}]) |> reduceSeq(0.0, (+)));"
        );
        let whole = predicted(&text, &[], &machine("cuda"));
        only(&whole).counts.operations.get("i32.divc").copied().unwrap_or(0.0) / 3584.0
    };
    let [same, own, both] = [("i / 7", "j"), ("i % 512", "j / 7"), ("(i + j) / 19", "j")]
        .map(|(row, column)| divisions(row, column));
    assert!((0.5..2.0).contains(&same), "{same}");
    assert!((4096.0..4200.0).contains(&own), "{own}");
    assert!((4096.0..4200.0).contains(&both), "{both}");
}

#[test]
fn conversions_have_two_ways() {
    let counted = |text: &str| {
        let whole = predicted(text, &[("N", 1 << 20)], &machine("cuda"));
        let operations = &only(&whole).counts.operations;
        ["convert.float", "convert.integer"]
            .map(|name| operations.get(name).copied().unwrap_or(0.0))
    };
    let n = f64::from(1 << 20);
    let to_float = "def f[N](x: [i32; N]) -> [f32; N] = x |> map(\\v -> v as f32);";
    let to_integer = "def f[N](x: [f32; N]) -> [i32; N] = x |> map(\\v -> v as i32);";
    assert_eq!(counted(to_float), [n, 0.0]);
    assert_eq!(counted(to_integer), [0.0, n]);
    // A description of before has one quantity for both.
    let mut machine = machine("cuda");
    machine.quantities.retain(|q| q.name != "convert.integer");
    for quantity in machine.quantities.iter_mut().filter(|q| q.name == "convert.float") {
        quantity.name = "convert".to_string();
    }
    let whole = predicted(to_integer, &[("N", 1 << 20)], &machine);
    assert!(!only(&whole).time.assumed.iter().any(|t| t.contains("convert")));
}

/// A short loop of a known length is straight code, whose loads the loop around it does not repeat.
#[test]
fn short_loops_are_written_out_by_compilers() {
    let text = "def f[P, F, C](points: [[f32; F]; P], centres: [[f32; F]; C]) -> [f32; P] =
      points |> mapGlb(0)(\\p -> centres
        |> map(\\c -> zip(p, c) |> map(\\(a, b) -> (a - b) * (a - b)) |> reduceSeq(0.0, (+)))
        |> reduceSeq(inf, min));";
    let loads = |features: i128| {
        let sizes = [("P", 65536), ("F", features), ("C", 32)];
        let whole = predicted(text, &sizes, &machine("cuda"));
        let counts = &only(&whole).counts;
        // Of a warp, and each feature of a point.
        (counts.requests * 32.0 / 65536.0 - 1.0) / features as f64
    };
    let read = |features: i128| {
        let sizes = [("P", 65536), ("F", features), ("C", 32)];
        let whole = predicted(text, &sizes, &machine("cuda"));
        only(&whole).counts.read.distinct / (4.0 * (65536.0 + 32.0) * features as f64)
    };
    for features in [16, 160] {
        let part = read(features);
        assert!((0.8..1.2).contains(&part), "{features} features: {part} of what there is");
    }
    let (short, long) = (loads(16), loads(160));
    // Four neighbours are one load.
    assert!((4.0 * short - 33.0).abs() < 1.5, "once, and that of each centre: {short}");
    assert!(long > 60.0, "both for each centre: {long}");
}

/// What a program tests of an index from data is known of it.
#[test]
fn an_index_that_is_tested_is_in_its_range() {
    let text =
        "def f[N](at: [i32; N], x: [f32; N]) -> [f32; 32] = reduce_by_index(32, 0.0, (+), at, x);";
    let whole = predicted(text, &[("N", 1 << 20)], &machine("cuda"));
    let told: Vec<&String> = whole.kernels.iter().flat_map(|k| &k.time.assumed).collect();
    assert!(told.iter().any(|t| t.contains("an index below 32 is anywhere")), "{told:?}");
    assert!(!told.iter().any(|t| t.contains("half of the time")), "{told:?}");
}

/// A check of an index costs its comparisons, and is not taken to fail.
#[test]
fn checks_hold() {
    let text = "def f[N](x: [f32; N], at: [i32; N]) -> [f32; N] = at |> map(\\i -> x[i]);";
    let whole = predicted(text, &[("N", 1 << 20)], &machine("cuda"));
    let counts = &only(&whole).counts;
    assert!((counts.requests - 3.0 * f64::from(1 << 15)).abs() < 1.0, "{}", counts.requests);
}

/// Steps of a short loop of known length around others of known length are straight code, of which indices are known.
#[test]
fn nests_of_short_loops_are_written_out() {
    let halves = |n: u32| {
        let text = format!(
            "def f[N](x: [f32; N]) -> [f32; N / {n}] where N % {n} == 0 launch local({n}) global(N) =
              x |> split({n}) |> mapWrg(0)(\\own ->
                mapLcl(0)(toLocal(\\y -> y), own)
                |> iterate({}, \\ys -> split(2, ys) |> mapLcl(0)(\\two -> reduceSeq(0.0, (+), two) |> toLocal(\\y -> y)))
                |> mapLcl(0)(toGlobal(\\y -> y))) |> join;",
            n.trailing_zeros()
        );
        let whole = predicted(&text, &[("N", 1 << 20)], &machine("cuda"));
        let counts = only(&whole).counts.operations.clone();
        counts.iter().filter(|(name, _)| name.ends_with("rem")).map(|(_, n)| n).sum::<f64>()
    };
    assert_eq!(halves(64), 0.0);
}

/// A loop of a processor goes on from the index of the turn before, and what it does not change is computed outside.
#[test]
fn a_processor_computes_no_index_anew_in_each_turn() {
    let text = "def f[M, K](m: [[f32; K]; M], s: f32) -> [[f32; K]; M] = m |> map(map(\\v -> v * (s / 3.0 + s)));";
    let whole = predicted(text, &[("M", 1024), ("K", 1024)], &machine("cpu"));
    let counts = &only(&whole).counts;
    let elements = 1024.0 * 1024.0;
    let of = |name: &str| {
        [&counts.operations, &counts.scalar_operations]
            .iter()
            .filter_map(|o| o.get(name))
            .sum::<f64>()
    };
    assert!((of("f32.mul") / elements - 1.0).abs() < 0.1, "{:?}", counts.operations);
    assert!(
        of("f32.div") < 0.1 * elements && of("i32.mul") < 0.1 * elements,
        "{:?}",
        counts.operations
    );
}
