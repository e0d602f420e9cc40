//! What holds of predictions for processors: which loops compilers make vector code of, and what the others cost.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use std::collections::BTreeMap;

use common::{machine, only, predicted, scaled};
use lift_clock::{Counts, Description, Quantity};

fn counted(text: &str, sizes: &[(&str, i128)]) -> Counts {
    only(&predicted(text, sizes, &machine("cpu"))).counts.clone()
}

fn of(operations: &BTreeMap<String, f64>, name: &str) -> f64 {
    operations.get(name).copied().unwrap_or(0.0)
}

const SIZES: [(&str, i128); 2] = [("N", 256), ("M", 512)];

/// Rows of a matrix, each number read at an index of its column.
fn rows(index: &str) -> String {
    format!(
        "def f[N, M](m: [[f32; M]; N]) -> [[f32; M]; N]
          launch local(1) global(N) =
          generate(N, \\x -> x) |> mapGlb(0)(\\x -> generate(M, \\y -> y) |> mapSeq(\\y -> m[x][{index}] + 1.0));"
    )
}

/// What lies a fixed way apart in memory is loaded into vectors. Nobody knows that of a quotient of an index, or of what is left of
/// one, so each number is loaded and computed by itself. An index that is held at a border is one in the interior, which has a
/// loop of its own.
#[test]
fn lanes_that_are_not_evenly_apart_are_done_one_by_one() {
    let added = |index: &str| {
        let counts = counted(&rows(index), &SIZES);
        let all = (256 * 512) as f64;
        (
            of(&counts.operations, "f32.add") / all,
            of(&counts.scalar_operations, "f32.add") / all,
            counts.scalar_accesses / all,
        )
    };
    assert_eq!(added("y"), (1.0, 0.0, 0.0));
    // A load and a store each.
    for index in ["y % 128", "(y / 3)"] {
        let (vector, scalar, accesses) = added(index);
        assert_eq!((vector, scalar), (0.0, 1.0), "{index}");
        assert!((1.9..2.1).contains(&accesses), "{index}: {accesses}");
    }
    for index in ["max(y - 1, 0)", "min(y + 1, M - 1)"] {
        let (vector, _, accesses) = added(index);
        assert!(vector > 0.99 && accesses < 0.01, "{index}: {vector}, {accesses}");
    }
}

#[test]
fn what_is_done_one_by_one_takes_longer() {
    let mut machine = machine("cpu");
    let scalar = machine.quantities.iter().filter(|q| q.name.ends_with(".add"));
    let scalar: Vec<_> = scalar
        .map(|q| {
            let mut q = q.clone();
            (q.name, q.value) = (format!("{}.scalar", q.name), 16.0);
            q
        })
        .collect();
    machine.quantities.extend(scalar);
    let bound = |index: &str| {
        let whole = predicted(&rows(index), &[("N", 64), ("M", 512)], &machine);
        let time = &only(&whole).time;
        time.components["arithmetic"].max(time.components["integer"])
    };
    let (even, held) = (bound("y"), bound("(y / 3)"));
    assert!(held > 15.0 * even, "{held} and {even}");
}

/// Vector code loads and stores, too: a vector of words each, about as often as it adds integers.
#[test]
fn vectors_are_loaded_and_stored() {
    let counts = counted(&rows("y"), &SIZES);
    let all = (256 * 512) as f64;
    assert_eq!((counts.vector_accesses / all, counts.scalar_accesses), (2.0, 0.0));
    let machine = machine("cpu");
    let integer = |machine: &Description| {
        let whole = predicted(&rows("y"), &SIZES, machine);
        only(&whole).time.components["integer"]
    };
    // A load, a store and nothing else, by additions of a slot each, of which the machine has 30,000 in a nanosecond.
    let ms = 2.0 * all / (30_000.0 * 1e6);
    assert!((integer(&machine) / ms - 1.0).abs() < 0.05, "{} and {ms}", integer(&machine));
    assert!((integer(&scaled(&machine, "i32.add", 2.0)) / ms - 2.0).abs() < 0.1);
}

/// A probe of numbers done one by one that a compiler made vector code of says that they are as fast as in vectors. A pipe takes one
/// instruction for a number as for a vector of them.
#[test]
fn numbers_one_by_one_take_as_many_instructions() {
    let arithmetic = |scalar: &[(&str, f64)]| {
        let mut machine = machine("cpu");
        for (name, value) in scalar {
            let own =
                Quantity { name: name.to_string(), value: *value, ..machine.quantities[0].clone() };
            machine.quantities.push(own);
        }
        let whole = predicted(&rows("(y / 3)"), &SIZES, &machine);
        only(&whole).time.components["arithmetic"]
    };
    let of = |add: f64| arithmetic(&[("i32.add.scalar", 12.0), ("f32.add.scalar", add)]);
    assert_eq!(of(1.0), of(12.0));
    assert!((of(30.0) / of(12.0) - 2.5).abs() < 1e-9);
    // Where nothing is known of integers, what was measured counts.
    let measured = |add: f64| arithmetic(&[("f32.add.scalar", add)]);
    assert!((measured(30.0) / measured(1.0) - 30.0).abs() < 1e-9);
}

/// A short loop inside is written out, so that the one around it becomes vector code.
#[test]
fn a_short_loop_is_no_obstacle_to_vectors() {
    let text = |turns: i128| {
        format!(
            "def f[N](m: [[f32; N]; {turns}]) -> [f32; N] launch local(1) global(1) =
              transpose(m) |> mapSeq(\\c -> c |> reduceSeq(0.0, (+)));"
        )
    };
    let added = |turns: i128| {
        let counts = counted(&text(turns), &[("N", 4096)]);
        let of = |operations| of(operations, "f32.add") / 4096.0;
        (of(&counts.operations), of(&counts.scalar_operations))
    };
    assert_eq!(added(8), (8.0, 0.0));
    // Each of the sums reads a row here.
    let long = text(500).replace("[[f32; N]; 500]", "[[f32; 500]; N]").replace("transpose(m)", "m");
    let counts = counted(&long, &[("N", 4096)]);
    let scalar = of(&counts.scalar_operations, "f32.add") / (500.0 * 4096.0);
    assert!((scalar - 1.0).abs() < 0.05 && counts.operations.is_empty(), "{scalar}");
}

/// A number that each turn has for itself keeps no other turn waiting; one that all of them change does.
#[test]
fn turns_wait_for_what_they_share() {
    let own = "def f[N](x: [f32; N]) -> [f32; N] launch local(1) global(1) =
      x |> slide(3, 1) |> mapSeq(\\w -> w |> reduceSeqUnroll(0.0, (+)));";
    let own = own.replace("-> [f32; N] launch", "-> [f32; N - 2] where N >= 3 launch");
    assert!(counted(&own, &[("N", 4096)]).chain.is_empty());
    let shared =
        "def f[N](x: [f32; N]) -> f32 launch local(1) global(1) = x |> reduceSeq(0.0, (+));";
    let chain = counted(shared, &[("N", 4096)]).chain;
    assert!((of(&chain, "f32.add") / 4096.0 - 1.0).abs() < 0.05, "{chain:?}");
}

/// A vector of the program is one instruction, as long as a register holds it.
#[test]
fn vectors_of_the_program_are_counted_by_register() {
    let text = |width: u32| {
        format!(
            "def f[N](x: [f32; N]) -> [f32; N] where N % {width} == 0 launch local(1) global(1) =
              x |> as_vector({width}) |> mapSeq(vectorize({width}, \\a -> a + 1.0)) |> as_scalar;"
        )
    };
    let added = |width: u32| {
        let counts = counted(&text(width), &[("N", 1 << 14)]);
        of(&counts.operations, "f32.add") + of(&counts.scalar_operations, "f32.add")
    };
    let (four, sixteen) = (added(4), added(16));
    assert!((four / 4096.0 - 1.0).abs() < 0.05, "{four}");
    assert!((sixteen / 1024.0 - 1.0).abs() < 0.05, "{sixteen}");
}

/// A row that a loop reads number by number is as many lines as it has.
#[test]
fn a_line_that_several_turns_read_is_one() {
    let text = "def f[M, N](x: [[f32; N]; M], y: [f32; N]) -> [f32; M] =
      x |> map(\\r -> zip(r, y) |> reduceSeq(0.0, \\a p -> a + p.0 * p.1));";
    let (m, n) = (64, 1 << 14);
    let whole = predicted(text, &[("M", m), ("N", n)], &machine("cpu"));
    let read = only(&whole).counts.read;
    let bytes = 4.0 * (m * n + m * n) as f64;
    assert!((read.by_group / bytes - 1.0).abs() < 0.1, "{} of {bytes}", read.by_group);
}

/// Rows of a few vectors that are all alike are computed once; of longer ones each is.
#[test]
fn short_rows_that_are_alike_are_computed_once() {
    let text = "def f[H, W](m: [[f32; W]; H]) -> [[f32; W]; H] launch local(1) global(1) =
      generate(H, \\x -> x) |> mapSeq(\\x -> generate(W, \\y -> y) |> mapSeq(\\y -> (y as f32) / (y as f32 + 1.0)));";
    let divided = |width: i128| {
        let counts = counted(text, &[("H", 32), ("W", width)]);
        of(&counts.operations, "f32.div") / width as f64
    };
    assert!((divided(64) - 1.0).abs() < 0.01, "{}", divided(64));
    assert!((divided(512) - 32.0).abs() < 0.5, "{}", divided(512));
}

/// A sum down a column is done for neighbouring columns at once, if nothing else is in its loop; one along a row waits turn by turn.
#[test]
fn sums_of_columns_are_vector_code() {
    let text = |matrix: &str| {
        format!(
            "def f[N](m: [[f32; N]; N]) -> [f32; N] launch local(1) global(1) =
              {matrix} |> mapSeq(\\c -> c |> reduceSeq(0.0, (+)));"
        )
    };
    let added = |matrix: &str| {
        let counts = counted(&text(matrix), &[("N", 512)]);
        let all = (512 * 512) as f64;
        [&counts.operations, &counts.scalar_operations].map(|o| of(o, "f32.add") / all)
    };
    let is_about =
        |[a, b]: [f64; 2], [c, d]: [f64; 2]| (a - c).abs() < 0.01 && (b - d).abs() < 0.01;
    assert!(is_about(added("transpose(m)"), [1.0, 0.0]));
    assert!(is_about(added("m"), [0.0, 1.0]));
    // Where threads share the loop around, its order stays.
    let shared = "def f[B, N](m: [[[f32; N]; N]; B]) -> [[f32; N]; B] launch local(1) global(B) =
      m |> mapGlb(0)(\\p -> transpose(p) |> mapSeq(\\c -> c |> reduceSeq(0.0, (+))));";
    let counts = counted(shared, &[("B", 64), ("N", 512)]);
    assert_eq!(of(&counts.operations, "f32.add"), 0.0);
}

/// Dividers work beside the pipes for sums and products: half their rate doubles their time and no other.
#[test]
fn divisions_have_a_unit_of_their_own() {
    let text =
        "def f[N](x: [f32; N], s: f32) -> [f32; N] = x |> map(\\v -> (v * s + 1.0) / (v + s));";
    let sizes = [("N", 1 << 16)];
    let machine = machine("cpu");
    let before = predicted(text, &sizes, &machine);
    let (divided, summed) = {
        let components = &only(&before).time.components;
        (components["division"], components["arithmetic"])
    };
    assert!(divided > 0.0 && summed > 0.0);
    let after = predicted(text, &sizes, &scaled(&machine, "division.rate", 0.5));
    let components = &only(&after).time.components;
    assert_eq!((components["division"], components["arithmetic"]), (2.0 * divided, summed));
    // A description of before has one pipe for all.
    let mut older = machine.clone();
    older.quantities.retain(|q| q.name != "division.rate");
    let components = &only(&predicted(text, &sizes, &older)).time.components.clone();
    assert!(!components.contains_key("division"));
    assert!((components["arithmetic"] / (divided + summed) - 1.0).abs() < 1e-9);
}

const POINTS: &str = "def f[H, W](m: [[f32; W]; H]) -> [[f32; W]; H] =
  generate(H, \\x -> generate(W, \\y -> m[INDEX] + 1.0));";

/// A column of a matrix whose rows are a power of two long has few places in a cache: its lines come from the next one each time, one
/// by one. Those of rows of another length, and of a diagonal, stay.
#[test]
fn columns_of_powers_of_two_crowd() {
    let crowded = |index: &str, height: i128, width: i128| {
        let sizes = [("H", height), ("W", width)];
        let whole = predicted(&POINTS.replace("INDEX", index), &sizes, &machine("cpu"));
        let kernel = only(&whole);
        let all = (height * width) as f64;
        let of = |name: &str| kernel.time.components[name];
        let read = kernel.counts.read;
        assert_eq!(of("crowded") > 0.0, read.crowded > 0.0);
        assert_eq!(of("crowded out") > 0.0, read.crowded_out > 0.0);
        [read.crowded / all, read.crowded_out / all]
    };
    assert_eq!(crowded("y % H][7", 1024, 1024), [0.0, 1.0]);
    assert_eq!(crowded("y % H][7", 256, 256), [1.0, 0.0]);
    for (index, width) in [("y % H][7", 1040), ("y % H][y % W", 1024), ("x][y", 1024)] {
        assert_eq!(crowded(index, 1024, width), [0.0, 0.0], "{index} {width}");
    }
}

/// What every row reads again stays in the caches of a core, however much is written beside it.
#[test]
fn a_core_keeps_what_rows_share() {
    let counts = counted(&POINTS.replace("INDEX", "y % H][y % W"), &[("H", 4096), ("W", 4096)]);
    let read = counts.read;
    assert!(read.by_group > 0.9 * 64.0 * 4096.0 * 4096.0, "{read:?}");
    assert!(read.by_unit + 16.0 * read.kept < 0.01 * read.by_group, "{read:?}");
}
