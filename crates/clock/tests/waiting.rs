//! What work-items wait for: loads, barriers, divisions and the step before.

mod common;

use common::{ROWS, machine, of_points, only, predicted, scaled};
use lift_clock::{Description, Prediction};

/// Where all work-items are there at once, a launch is done when they are: no wave follows, and only the first of their many turns is
/// waited for with nothing beside it.
#[test]
fn one_wave_has_no_other_behind_it() {
    let text = "def f(x: [f32; 4096]) -> [f32; 204800] =
      generate(204800, \\i -> x |> map(\\v -> exp(v * (i as f32))) |> reduceSeq(0.0, (+)));";
    let whole = predicted(text, &[], &machine("cuda"));
    let time = &only(&whole).time;
    assert_eq!(time.bound_by, "arithmetic", "{time:?}");
    assert!(time.tail_ms < 0.05 * time.bound_ms, "{time:?}");
}

/// Work-items that load bytes ask for less at the same time than those that load words, so a load waits less for those of others.
#[test]
fn bytes_wait_less_for_others() {
    let machine = machine("cuda");
    let crowded = scaled(&machine, "dram.loaded", 4.0);
    let words = of_points("m[x][y] + m[x][(y + 1) % N]");
    let [of_words, of_bytes] = [words.clone(), words.replace("f32", "u8")].map(|text| {
        let latency = |machine: &Description| {
            let whole = predicted(&text, &[("N", 16384)], machine);
            only(&whole).time.components["latency"]
        };
        latency(&crowded) / latency(&machine)
    });
    assert!(of_bytes < 0.7 * of_words, "{of_bytes} and {of_words}");
}

/// A load waits longer where all units load than where one does alone.
#[test]
fn a_crowd_waits_longer() {
    let copy = "def f[H, W](m: [[f32; W]; H]) -> [[f32; W]; H] = generate(H, \\x -> generate(W, \\y -> m[x][y] + 1.0));";
    let machine = machine("cuda");
    let latency = |height: i128, width: i128, machine: &Description| {
        let whole = predicted(copy, &[("H", height), ("W", width)], machine);
        only(&whole).time.components["latency"]
    };
    let crowded = scaled(&machine, "dram.loaded", 2.0);
    let (before, after) = (latency(8192, 8192, &machine), latency(8192, 8192, &crowded));
    assert!(after > 1.5 * before, "{after} and {before}");
    assert_eq!(latency(32, 32, &machine), latency(32, 32, &crowded), "what is in the cache");
    // One group alone has the latency of one load, whatever others would wait.
    let far = scaled(&scaled(&machine, "last.capacity", 1e-9), "last.full", 1e-9);
    let alone = latency(1, 32, &far);
    let in_a_crowd = latency(1, 32, &scaled(&far, "dram.loaded", 2.0));
    assert!(in_a_crowd < 1.01 * alone, "{in_a_crowd} and {alone}");
}

/// Loads do not begin before a division of the turn before has ended, where that is exact.
#[test]
fn a_division_that_may_branch_keeps_loads_apart() {
    let text = "def f[H, W](m: [[f32; W]; H]) -> [[f32; W]; H] =
      generate(H, \\x -> generate(W, \\y -> 1.5 / m[x][y]));";
    let latency = |slots: f64| {
        let machine = scaled(&machine("cuda"), "f32.div", slots / 10.0);
        // An element a thread: no multiple of four.
        let whole = predicted(text, &[("H", 8192), ("W", 8191)], &machine);
        only(&whole).time.components["latency"]
    };
    let (quick, exact) = (latency(3.0), latency(20.0));
    assert!(exact > 2.0 * quick, "{quick} {exact}");
}

/// Nor do they in a loop that is written out.
#[test]
fn a_division_that_may_branch_keeps_loads_of_straight_code_apart() {
    let text = "def f[N](x: [f32; N]) -> [f32; N] where N % 8192 == 0 launch local(256) global(N / 32) =
      x |> split(8192) |> mapWrg(0)(\\own -> transpose(split(256, own)) |> mapLcl(0)(mapSeqUnroll(\\v -> 1.5 / v)) |> transpose |> join) |> join;";
    let latency = |slots: f64| {
        let machine = scaled(&machine("cuda"), "f32.div", slots / 10.0);
        only(&predicted(text, &[("N", 1 << 24)], &machine)).time.components["latency"]
    };
    let (quick, exact) = (latency(3.0), latency(20.0));
    assert!(exact > 1.6 * quick, "{quick} {exact}");
}

/// What waits at barriers takes longer by them, and by nothing else.
#[test]
fn barriers_are_waited_for() {
    let text = include_str!("../probes/exchange.lift");
    let machine = machine("cuda");
    let latency = |machine: &Description| {
        let whole = predicted(text, &[("N", 256), ("K", 100)], machine);
        let kernel = only(&whole);
        (kernel.counts.barriers / 8.0, kernel.time.components["latency"])
    };
    let (barriers, before) = latency(&machine);
    assert!((100.0..105.0).contains(&barriers), "{barriers}");
    let (_, after) = latency(&scaled(&machine, "barrier", 3.0));
    assert!(((after - before) / (barriers * 40e-6) - 1.0).abs() < 1e-6, "{before} {after}");
}

/// Sums that do not wait for each other take their additions side by side.
#[test]
fn chains_side_by_side_take_no_longer_than_one() {
    let (machine, slow) = (machine("cuda"), scaled(&machine("cuda"), "f32.add.latency", 2.0));
    let sums = |count: i128| {
        let text = format!(
            "def f[N](x: [f32; N], y: [f32; {count}]) -> [f32; {count}] launch local(32) global(32) = \
             x |> split(N) |> mapGlb(0)(reduceSeq(repeat({count}, 0.0) |> mapSeqUnroll(toPrivate(\\v -> v)), \
             \\s v -> zip(s, y) |> mapSeqUnroll(\\(a, b) -> a + v * b))) |> join;"
        );
        let of = |machine: &Description| predicted(&text, &[("N", 4096)], machine);
        let (before, after) = (of(&machine), of(&slow));
        let latency = |whole: &Prediction| only(whole).time.components["latency"];
        let counts = &only(&before).counts;
        let length: f64 = counts.chain.values().sum();
        (counts.chains, length, latency(&after) - latency(&before))
    };
    let ((one, short, alone), (four, same, together)) = (sums(1), sums(4));
    assert!((one - 1.0).abs() < 0.01 && (four - 4.0).abs() < 0.01, "{one} {four}");
    assert!((short / same - 1.0).abs() < 0.01, "{short} {same}");
    assert!(alone > 0.0 && together < 1.1 * alone, "{together} {alone}");
}

/// A compiler puts turns of a short loop together, and begins their loads at once; of one with a loop inside it does not.
#[test]
fn loads_of_several_turns_begin_at_once() {
    let turns = |text: &str| {
        let whole = predicted(text, &[("N", 4096), ("M", 32)], &machine("cuda"));
        only(&whole).counts.warp_turns
    };
    let rows = "def f[M, N](m: [[f32; M]; N]) -> [f32; M] launch local(32) global(M) = m |> transpose |> mapGlb(0)(BODY);";
    let short = turns(&rows.replace("BODY", "reduceSeq(0.0, \\s v -> s + v)"));
    let long = turns(&rows.replace("BODY", "reduceSeq(0.0, \\s v -> s * (v + 1.0) + s * s * (v + 2.0) + s * s * s * (v + 3.0) * (v + 4.0))"));
    let around = turns(
        &rows.replace("BODY", "reduceSeq(0.0, \\s v -> s + (iterate(100, \\u -> u * 0.5 + s, v)))"),
    );
    assert!(short <= 4096.0 / 8.0 && long > short && long < 4096.0, "{short} {long}");
    assert!((around - 4096.0).abs() < 1.0, "{around}");
}

/// From row to row compilers are asked to unroll loops whose arrays are read at one place; of others every turn waits for its own loads.
#[test]
fn rows_that_read_their_neighbours_wait_turn_by_turn() {
    let turns = |element: &str| {
        let whole = predicted(&of_points(element), &[("N", 8192)], &machine("cuda"));
        only(&whole).counts.warp_turns
    };
    let (once, twice) = (turns("m[x][y]"), turns("m[x][y] + m[min(x + 1, N - 1)][y]"));
    assert!(once > 0.0 && twice >= 4.0 * once, "{once} and {twice}");
}

/// A number of each row: every group of the row asks for it while it comes from memory, so all of them wait, not the first alone.
#[test]
fn what_groups_ask_for_together_all_wait_for() {
    let machine = machine("cuda");
    let latency = |text: &str, machine: &Description| {
        let whole = predicted(text, &[("N", 8192)], machine);
        only(&whole).time.components["latency"]
    };
    let far = scaled(&scaled(&machine, "dram.latency", 4.0), "dram.loaded", 4.0);
    let each_row = of_points("m[351][x] + 1.0");
    let (soon, late) = (latency(&each_row, &machine), latency(&each_row, &far));
    assert!(late > 3.0 * soon, "{late} and {soon}");
    let table = of_points("m[351][x & 31] + 1.0");
    let (soon, late) = (latency(&table, &machine), latency(&table, &far));
    assert!(late < 1.5 * soon, "what units keep: {late} and {soon}");
}

/// A processor adds one number after the other where no vector code is made: each waits for the one before.
#[test]
fn every_turn_of_a_sum_waits_on_a_processor() {
    let whole = predicted(ROWS, &[("M", 25_600), ("K", 1024)], &machine("cpu"));
    let kernel = only(&whole);
    let steps: f64 = kernel.counts.chain.values().sum();
    assert!((steps / 1024.0 - 1.0).abs() < 0.01, "{steps}");
    let waited = kernel.time.components["latency"] / (256.0 * 1024.0 * 2.5e-6);
    assert!((waited - 1.0).abs() < 0.01, "256 rows a thread: {waited}");
}

/// Columns that are summed side by side, in the lanes of vectors, wait together.
#[test]
fn sums_in_lanes_wait_together() {
    let text = "def f[M, N](m: [[f32; N]; M]) -> [f32; N] = m |> transpose |> map(\\c -> c |> reduce(0.0, (+)));";
    let whole = predicted(text, &[("M", 1000), ("N", 64)], &machine("cpu"));
    let steps: f64 = only(&whole).counts.chain.values().sum();
    assert!((steps / 1000.0 - 1.0).abs() < 0.01, "one for each row: {steps}");
}

/// A load waits for what is written to memory beside it, two times as long as for what is read.
#[test]
fn a_written_byte_is_waited_for_as_two_read_ones() {
    let machine = machine("cuda");
    let copy = of_points("m[x][y] + 1.0");
    let latency = |machine: &Description| {
        let whole = predicted(&copy, &[("N", 8192)], machine);
        let kernel = only(&whole);
        (kernel.time.components["latency"], kernel.counts.groups)
    };
    let (before, groups) = latency(&machine);
    let (after, _) = latency(&scaled(&machine, "dram.loaded", 2.0));
    // Units hold eight groups each. A crowd waits 900 ns longer for what it reads.
    let waves = groups / 800.0;
    let longer = (after - before) / (waves * 900e-6);
    assert!((longer - 3.0).abs() < 0.05, "{longer}");
}

/// A work-item that goes through a row, word by word, waits for a sector once, though others go through rows beside.
#[test]
fn a_turn_that_asks_for_nothing_new_finds_it_near() {
    let machine = machine("cuda");
    let far = scaled(&scaled(&machine, "last.latency", 10.0), "last.loaded", 10.0);
    let waits = |order: &str, sizes: &[(&str, i128)]| {
        let text = format!(
            "def f[M, N](m: [[f32; M]; N]) -> [f32; {order} launch local(32) global(32) =
               ROWS |> mapGlb(0)(reduceSeq(0.0, \\s v -> s + (iterate(100, \\u -> u * 0.5 + s, v))));"
        );
        let text =
            text.replace("ROWS", if order.starts_with('M') { "m |> transpose" } else { "m" });
        let latency = |machine: &Description| {
            only(&predicted(&text, sizes, machine)).time.components["latency"]
        };
        latency(&far) - latency(&machine)
    };
    let columns = waits("M]", &[("M", 32), ("N", 1024)]);
    let rows = waits("N]", &[("M", 1024), ("N", 32)]);
    let part = rows / columns;
    assert!((0.05..0.2).contains(&part), "{part}: one turn of eight");
}

/// What a work-item computes takes as long with idle warps beside it as without.
#[test]
fn idle_warps_do_nobodys_work() {
    let sums: Vec<String> = (0..40).map(|k| format!("exp(v + {k}.0)")).collect();
    let latency = |items: i128| {
        let text = format!(
            "def f(x: [f32; 32]) -> [f32; 32] launch local({items}) global({items}) = x |> mapGlb(0)(\\v -> {});",
            sums.join(" + ")
        );
        only(&predicted(&text, &[], &machine("cuda"))).time.components["latency"]
    };
    let ratio = latency(256) / latency(32);
    assert!((0.9..1.1).contains(&ratio), "{ratio}");
}

/// Turns that compilers put together go on side by side, unless they carry a number.
#[test]
fn turns_that_carry_nothing_go_on_side_by_side() {
    let machine = machine("cuda");
    let dear = scaled(&machine, "f32.exp", 10.0);
    let longer = |result: &str, each: &str| {
        let text = format!(
            "def f(x: [[f32; 1024]; 32]) -> {result} launch local(32) global(32) = x |> mapGlb(0)({each});"
        );
        let latency = |machine: &Description| {
            only(&predicted(&text, &[], machine)).time.components["latency"]
        };
        latency(&dear) - latency(&machine)
    };
    let apart = longer("[[f32; 1024]; 32]", "mapSeq(\\v -> exp(v))");
    let carried = longer("[f32; 32]", "reduceSeq(0.0, \\s v -> s + exp(v))");
    let part = apart / carried;
    assert!((0.2..0.3).contains(&part), "{part}");
}
