//! What memory and caches are asked for, and what it takes.

mod common;

use common::{ROWS, SCALE, machine, of_points, only, predicted, scaled};
use lift_clock::Description;

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

/// The last cache of a GPU keeps half as much of what is written as of all: more than that goes on to memory.
#[test]
fn what_is_written_has_half_of_the_last_cache() {
    let machine = machine("cuda");
    let dram = |text: &str, n: i128| {
        let whole = predicted(text, &[("N", n)], &machine);
        only(&whole).time.components["dram"]
    };
    let write = "def f[; N = 8](a: f32) -> [f32; N] = generate(N, \\i -> a);";
    assert_eq!(dram(write, 3 << 20), 0.0, "12.6 MB are kept");
    // 33.5 MB, where 30 are kept if half of them are read.
    let bytes = 4.0 * f64::from(1 << 23);
    let alone = dram(write, 1 << 23) * 3000.0 * 1e6;
    assert!((alone / bytes - 1.0).abs() < 0.01, "{alone}");
    let both = dram(SCALE, 1 << 22) * 3000.0 * 1e6;
    assert!(both > 0.0 && both < 0.3 * bytes, "{both}");
}

/// The last cache finds two neighbouring sectors at once: one whose neighbour nobody asks for takes longer.
#[test]
fn lonely_sectors_take_longer_in_the_last_cache() {
    let n = 1 << 20;
    let passed = |index: &str| {
        let text = format!(
            "def f[N](x: [f32; N]) -> [f32; N] = generate(N, \\i -> x[({index}) & 1048575] + 1.0);"
        );
        let whole = predicted(&text, &[("N", n)], &machine("cuda"));
        only(&whole).time.components["last"] * 6000.0 * 1e6 / n as f64
    };
    let (stream, apart) = (passed("i"), passed("i * 26544353"));
    assert!((stream - 8.0).abs() < 0.1, "{stream} bytes: read and written");
    assert!(
        (apart - (1.4 * 32.0 + 4.0)).abs() < 1.0,
        "{apart} bytes: a sector, and what is written"
    );
}
