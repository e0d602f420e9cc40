//! What holds of every prediction, whatever the program and the machine.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use std::collections::BTreeMap;

use common::{SCALE, SUMS, language, machine, only, predicted, scaled};
use lift_clock::bodies::{SIZES, Set, programs};
use lift_clock::{Description, KernelPrediction, Prediction, plan, predict};
use lift_lower::Options;

#[test]
fn a_launch_is_bound_by_its_longest_component() {
    for machine in [machine("cuda"), machine("cpu")] {
        for text in programs(Set::A, 20, 5) {
            for (height, width) in [SIZES[0], SIZES[8], SIZES[16]] {
                let whole = predicted(&text, &[("H", height), ("W", width)], &machine);
                let time = &only(&whole).time;
                let mut sorted: Vec<f64> = time.components.values().copied().collect();
                sorted.sort_by(|a, b| b.total_cmp(a));
                let (most, next) = (sorted[0], sorted[1]);
                assert!(most <= time.bound_ms && time.bound_ms <= 1.25 * most, "{text} {time:?}");
                if next < most / 2.0 {
                    assert_eq!(time.bound_ms, most, "{text}");
                }
                assert_eq!(time.ms(), time.launch_ms + time.bound_ms + time.tail_ms);
                assert!(time.tail_ms >= 0.0 && time.ms().is_finite());
            }
        }
    }
}

#[test]
fn half_a_rate_doubles_its_component_and_no_other() {
    let rates = [
        ("dram.rate", "dram"),
        ("last.rate", "last"),
        ("last.parts", "parts"),
        ("first.rate", "first"),
        ("first.lines", "lines"),
        ("first.rounds", "banks"),
        ("pipe.rate", "arithmetic"),
        ("integer.rate", "integer"),
        ("division.rate", "division"),
        ("first.crowded", "crowded"),
        ("last.crowded", "crowded out"),
    ];
    for machine in [machine("cuda"), machine("cpu")] {
        for text in programs(Set::A, 10, 6).iter().map(String::as_str).chain([SCALE, SUMS]) {
            let sizes = [("H", 4096), ("W", 8192), ("M", 3000), ("N", 100_000)];
            let used: Vec<(&str, i128)> = sizes
                .into_iter()
                .filter(|(name, _)| text.contains(&format!("; {name}]")))
                .collect();
            let before = predicted(text, &used, &machine);
            for (rate, component) in rates {
                if machine.find(rate).is_none() {
                    continue;
                }
                let after = predicted(text, &used, &scaled(&machine, rate, 0.5));
                for (a, b) in before.kernels.iter().zip(&after.kernels) {
                    for (name, ms) in &a.time.components {
                        let times = if *name == component { 2.0 } else { 1.0 };
                        assert_eq!(
                            b.time.components[name],
                            ms * times,
                            "{name} with half of {rate}: {text}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn half_the_memory_rate_doubles_what_memory_binds() {
    let machine = machine("cuda");
    let before = predicted(SCALE, &[("N", 1 << 28)], &machine);
    assert_eq!(only(&before).time.bound_by, "dram");
    let after = predicted(SCALE, &[("N", 1 << 28)], &scaled(&machine, "dram.rate", 0.5));
    let ratio = only(&after).time.bound_ms / only(&before).time.bound_ms;
    assert!((ratio - 2.0).abs() < 0.1, "{ratio}");
}

#[test]
fn what_is_read_and_written_is_counted_once() {
    let n = 1 << 24;
    for machine in [machine("cuda"), machine("cpu")] {
        let whole = predicted(SCALE, &[("N", n)], &machine);
        let counts = &only(&whole).counts;
        let bytes = 4.0 * n as f64;
        for found in [counts.read.distinct, counts.written.distinct, counts.read.asked] {
            assert!((found / bytes - 1.0).abs() < 0.01, "{found} for {bytes} on {}", machine.way);
        }
        assert_eq!(counts.operations.get("f32.mul"), Some(&(n as f64)), "{:?}", counts.operations);
    }
}

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

#[test]
fn equal_accesses_are_one() {
    // The two indices are the same, and proved to be; the third is one element.
    let text = "def f[H, W](m: [[f32; W]; H]) -> [[f32; W]; H] =
      generate(H, \\x -> generate(W, \\y -> m[x][y] + m[x % H][y % W] * m[7 % H][9 % W]));";
    let whole = predicted(text, &[("H", 2048), ("W", 2048)], &machine("cuda"));
    let read = only(&whole).counts.read;
    let bytes = 4.0 * 2048.0 * 2048.0;
    assert!((read.distinct / bytes - 1.0).abs() < 0.02, "{read:?}");
    assert!(read.asked < 1.5 * bytes, "what is the same is asked for once: {read:?}");
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

/// A grid that says itself which dimension is the innermost, so that nothing is read in another order.
fn of_points(element: &str) -> String {
    let inner = format!("generate(N, \\y -> y) |> mapGlb(0)(\\y -> {element})");
    format!(
        "def f[N](m: [[f32; N]; N]) -> [[f32; N]; N] = generate(N, \\x -> x) |> mapGlb(1)(\\x -> {inner});"
    )
}

#[test]
fn columns_ask_for_a_sector_each() {
    let whole = predicted(&of_points("m[y][x]"), &[("N", 2048)], &machine("cuda"));
    let read = only(&whole).counts.read;
    let bytes = 4.0 * 2048.0 * 2048.0;
    assert!((read.asked / (8.0 * bytes) - 1.0).abs() < 0.02, "32 bytes for each of four: {read:?}");
    assert!((read.distinct / bytes - 1.0).abs() < 0.02, "{read:?}");
}

/// Lanes that are apart ask for a line each; where their words are in different banks, that is all.
#[test]
fn words_of_one_bank_come_one_after_the_other() {
    let column = &of_points("m[y][x] + 1.0");
    let diagonal = column.replace("m[y][x]", "m[y][y]");
    let counted = |text: &str| {
        let whole = predicted(text, &[("N", 2048)], &machine("cuda"));
        let counts = &only(&whole).counts;
        (counts.lines / counts.requests, counts.rounds / counts.requests)
    };
    let (lines, rounds) = counted(column);
    assert!((lines - 16.5).abs() < 0.1 && (rounds - 16.5).abs() < 0.1, "{lines} {rounds}");
    let (lines, rounds) = counted(&diagonal);
    assert!(lines > 10.0 && (rounds - 1.0).abs() < 0.1, "{lines} {rounds}");
}

#[test]
fn lanes_that_are_apart_take_a_line_each() {
    let rows = &of_points("m[x][y] + 1.0");
    let columns = rows.replace("m[x][y]", "m[y][x]");
    let lines = |text: &str| {
        let whole = predicted(text, &[("N", 2048)], &machine("cuda"));
        let kernel = only(&whole);
        (kernel.counts.lines * 32.0 / (2048.0 * 2048.0), kernel.time.components["lines"])
    };
    let ((near, soon), (apart, late)) = (lines(rows), lines(&columns));
    assert!((near - 2.0).abs() < 0.05, "a line is loaded and one stored: {near}");
    assert!((apart - 33.0).abs() < 0.5, "one for each lane, and one stored: {apart}");
    assert!(late > 15.0 * soon, "{late} and {soon}");
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

#[test]
fn repeated_launches_count() {
    let text =
        "def f[N](x: [f32; N]) -> [f32; N] = iterate(50, \\y -> y |> map(\\v -> v + 1.0), x);";
    let once = predicted(SCALE, &[("N", 1 << 20)], &machine("cuda"));
    let whole = predicted(text, &[("N", 1 << 20)], &machine("cuda"));
    let runs: f64 = whole.kernels.iter().map(|k| k.runs).sum();
    assert!(runs >= 1.0 && whole.kernel_ms() > 5.0 * once.kernel_ms(), "{runs} runs");
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

/// Memory brings two sectors where one is asked for.
#[test]
fn what_is_scattered_takes_longer() {
    let dram = |index: &str, machine: &Description| {
        let text = format!(
            "def f[N](x: [f32; N]) -> [f32; N] = generate(N, \\i -> x[({index}) & 67108863] + 1.0);"
        );
        only(&predicted(&text, &[("N", 1 << 26)], machine)).time.components["dram"]
    };
    let machine = machine("cuda");
    let more = scaled(&machine, "dram.scattered", 2.0);
    assert_eq!(dram("i", &machine), dram("i", &more), "a stream");
    let (near, far) = (dram("i", &machine), dram("i * 26544353", &machine));
    // 1 + 7 * 2.5 sectors and what is written, beside one and that.
    assert!((far / near / (19.6 / 2.1) - 1.0).abs() < 0.1, "{near} {far}");
    assert!(dram("i * 26544353", &more) > 1.8 * far);
}

/// Memory that only writes is as fast as one that only reads.
#[test]
fn reading_and_writing_by_turns_costs() {
    let machine = machine("cuda");
    let write = "def f[; N = 8](a: f32) -> [f32; N] = generate(N, \\i -> a);";
    let write = only(&predicted(write, &[("N", 1 << 28)], &machine)).time.components["dram"];
    let both = only(&predicted(SCALE, &[("N", 1 << 28)], &machine)).time.components["dram"];
    assert!((both / write - 2.1).abs() < 0.01, "{both} {write}");
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

#[test]
fn what_is_not_known_is_told() {
    let text = "def f[N](x: [f32; N], at: [i32; N]) -> [f32; N] = at |> map(\\i -> x[i]);";
    let whole = predicted(text, &[("N", 1 << 20)], &machine("cuda"));
    let told: Vec<&String> = only(&whole).time.assumed.iter().collect();
    assert!(told.iter().any(|t| t.contains("anywhere, by data")), "{told:?}");
}

#[test]
fn a_missing_quantity_is_named() {
    let everywhere = "launch launch.host allocation transfer.to.latency transfer.to.rate transfer.from.latency \
                      transfer.from.rate dram.rate dram.write_weight last.rate last.capacity last.full pipe.rate units";
    let of_gpus = "first.rate first.lines first.latency last.latency dram.latency f32.add.latency code iteration \
                   group.start unit.items unit.groups unit.registers unit.local_bytes";
    for (way, more) in
        [("cuda", of_gpus), ("cpu", "integer.rate fork first.rate first.capacity first.full")]
    {
        for name in everywhere.split(' ').chain(more.split(' ')) {
            let mut machine = machine(way);
            machine.quantities.retain(|q| q.name != name);
            let checked = lift_syntax::check_text("program", SCALE);
            let def = checked.program.defs.last().unwrap();
            let sizes = BTreeMap::from([("N".to_string(), 1024)]);
            let options = Options { sizes: sizes.clone(), ..Options::default() };
            let plan = plan(def, &options, language(&machine), &machine).unwrap();
            let said = predict(&plan, &sizes, &machine).expect_err(name);
            let named = said.contains(&format!("`{name}`"));
            assert!(named && said.contains("lift calibrate"), "{way}, {name}: {said}");
        }
    }
}

/// Quantities that no machine has are refused, not printed as times.
#[test]
fn times_are_finite() {
    let mut machine = machine("cuda");
    machine.quantities.iter_mut().for_each(|q| q.value = 1e308);
    let checked = lift_syntax::check_text("program", SCALE);
    let def = checked.program.defs.last().unwrap();
    let sizes = BTreeMap::from([("N".to_string(), 1024)]);
    let options = Options { sizes: sizes.clone(), ..Options::default() };
    let plan = plan(def, &options, language(&machine), &machine).unwrap();
    let said = predict(&plan, &sizes, &machine).expect_err("no machine is so");
    assert!(said.contains("no finite time") && said.contains("lift calibrate"), "{said}");
}

#[test]
fn a_program_adds_up() {
    let machine = machine("cuda");
    for (text, sizes) in [(SCALE, vec![("N", 1 << 20)]), (SUMS, vec![("M", 3000), ("N", 5000)])] {
        let whole = predicted(text, &sizes, &machine);
        let launches: f64 = whole.kernels.iter().map(|k| k.runs).sum();
        assert_eq!(whole.launch_ms, 0.01 * launches);
        let parts = whole.allocation_ms + whole.transfer_ms + whole.launch_ms + whole.kernel_ms();
        assert!((whole.total_ms() / parts - 1.0).abs() < 1e-12);
        assert_eq!(whole.resident_ms(), whole.launch_ms + whole.kernel_ms());
    }
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

/// Rows that are far apart, one for each work-item.
const ROWS: &str = "def f[M, K](m: [[f32; K]; M]) -> [f32; M] launch local(256) global(M) = m |> mapGlb(0)(reduceSeq(0.0, \\s v -> s + v));";

/// Units without a group help nobody: until each has one, more groups take no longer.
#[test]
fn the_units_that_have_a_group_do_it_all() {
    let of = |groups: i128| {
        let whole = predicted(ROWS, &[("M", 256 * groups), ("K", 1024)], &machine("cuda"));
        only(&whole).time.components.clone()
    };
    let (few, all, twice) = (of(4), of(100), of(200));
    for name in ["banks", "lines", "first", "arithmetic"] {
        assert!((few[name] / all[name] - 1.0).abs() < 0.02, "{name}: {few:?} {all:?}");
        assert!((twice[name] / all[name] - 2.0).abs() < 0.02, "{name}: {twice:?} {all:?}");
    }
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

/// What a unit writes goes on as it comes, each word alone where lanes are apart.
#[test]
fn words_that_are_written_apart_are_passed_on_one_by_one() {
    let text = "def f[N](x: [f32; N]) -> [f32; N] where N % 16 == 0 launch local(256) global(N / 16) = x |> split(16) |> mapGlb(0)(mapSeq(\\v -> v * 2.0)) |> join;";
    let whole = predicted(text, &[("N", 1 << 20)], &machine("cuda"));
    let kernel = only(&whole);
    let bytes = 4.0 * f64::from(1 << 20);
    let passed = kernel.time.components["last"] * 6000.0 * 1e6;
    assert!(
        (passed / (9.0 * bytes) - 1.0).abs() < 0.05,
        "{passed}: each read once, written eight times"
    );
}

/// A sector of which a request writes a part takes longer than a whole one.
#[test]
fn sectors_that_are_written_in_part_take_longer() {
    let parts = |across: &str| {
        let text = format!(
            "def f[N](x: [[f32; N]; N]) -> [[f32; N]; N] launch local(64, 4) global(N, N) = x |> mapGlb(1)(mapGlb(0)(\\v -> v * 2.0)){across};"
        );
        let whole = predicted(&text, &[("N", 2048)], &machine("cuda"));
        only(&whole).counts.stored_parts / (2048.0 * 2048.0)
    };
    assert_eq!(parts(""), 0.0);
    assert_eq!(parts(" |> transpose"), 1.0);
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

/// Columns that are summed side by side, in the lanes of vectors, wait together.
#[test]
fn sums_in_lanes_wait_together() {
    let text = "def f[M, N](m: [[f32; N]; M]) -> [f32; N] = m |> transpose |> map(\\c -> c |> reduce(0.0, (+)));";
    let whole = predicted(text, &[("M", 1000), ("N", 64)], &machine("cpu"));
    let steps: f64 = only(&whole).counts.chain.values().sum();
    assert!((steps / 1000.0 - 1.0).abs() < 0.01, "one for each row: {steps}");
}

/// Every element that is put into a result is a change in one step, at a rate of its own or, where that was not measured, at that of
/// parts of sectors.
#[test]
fn changes_in_one_step_have_a_rate() {
    let text = "def f[N](is: [i32; N], xs: [f32; N]) -> [f32; 65536] = reduce_by_index(65536, 0.0, (+), is, xs);";
    let n = 1 << 24;
    let changes = |machine: &Description| {
        let whole = predicted(text, &[("N", n)], machine);
        let [started, changed] = whole.kernels.as_slice() else {
            panic!("{} kernels", whole.kernels.len())
        };
        assert!(started.counts.changed == 0.0 && !started.time.components.contains_key("changes"));
        let counted = changed.counts.changed;
        assert!((counted / n as f64 - 1.0).abs() < 0.01, "{counted}");
        assert_eq!(changed.time.bound_by, "changes");
        changed.time.components["changes"]
    };
    let known = machine("cuda");
    let own = changes(&known);
    assert!((own * 25.0 * 1e6 / n as f64 - 1.0).abs() < 0.01, "{own}");
    let mut before = known.clone();
    before.quantities.retain(|q| q.name != "last.changes");
    assert!((changes(&before) / own - 25.0 / 70.0).abs() < 1e-9);
}
