//! What passes make of programs together. What one of them does alone is in `filetests/passes`.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use lift_kernel::{Kernel, Stmt, c, opencl, validate};
use lift_lower::{Options, Plan, Simplify, Step, Target, lower};

fn plan(text: &str, options: &Options) -> Plan {
    let checked = lift_syntax::check_text("test.lift", text);
    assert!(!checked.has_errors(), "{}", checked.render(false));
    lower(checked.program.entry().unwrap(), options).unwrap()
}

fn sizes(all: &[(&str, i128)]) -> Options {
    let sizes: BTreeMap<String, i128> = all.iter().map(|(n, v)| (n.to_string(), *v)).collect();
    Options { sizes, ..Options::default() }
}

/// The OpenCL text of the only kernel.
fn threads(text: &str, options: &Options) -> String {
    let plan = plan(text, options);
    let [kernel] = plan.kernels.as_slice() else { panic!("one kernel") };
    opencl(&validate(kernel).unwrap())
}

/// The C text of the only kernel.
fn loops(text: &str, options: &Options) -> String {
    let plan = plan(text, &Options { target: Target::Loops, ..options.clone() });
    let [kernel] = plan.kernels.as_slice() else { panic!("one kernel") };
    c(&validate(kernel).unwrap())
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

#[track_caller]
fn lacks(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(!text.contains(part), "`{part}` in\n{text}");
    }
}

const SQUARES: &str = "def f[N](x: [f32; N]) -> [f32; N / 4] where N % 4 == 0 =
  x |> split(4) |> mapGlb(0)(\\four ->
    four |> mapSeq(\\e -> e * e) |> toPrivate(id) |> reduceSeqUnroll(0.0, (+)));";

#[test]
fn private_arrays_are_variables_and_neighbours_are_loaded_at_once() {
    let text = threads(SQUARES, &Options::default());
    has(&text, &["float4 x4 = *(global const float4*)(x + 4*g0);"]);
    lacks(&text, &["[4];", "for ("]);
}

/// Also where that takes thousands of statements: a device's compiler would write them out all the same.
#[test]
fn scores_of_many_keys_are_variables() {
    let text = "def f[N](q: [[f32; 64]; N], keys: [[f32; 64]; 32]) -> [f32; N] =
      q |> mapGlb(0)(\\row ->
        let own = row |> mapSeqUnroll(toPrivate(id));
        let scores = keys |> mapSeqUnroll(\\key ->
          toPrivate(id)(zip(own, key) |> reduceSeqUnroll(0.0, \\t (a, b) -> t + a * b)));
        scores |> reduceSeqUnroll(0.0, \\m s -> m + s * s));";
    lacks(&threads(text, &Options::default()), &["float scores[", "float own[", "for ("]);
}

const TILED: &str = "def f[N](x: [f32; N]) -> f32 where N % 64 == 0 launch local(64) global(64) =
  [x] |> mapWrg(0)(\\all ->
    all
    |> split(64)
    |> reduceSeq(
      repeat(64, 0.0) |> mapLcl(0)(toPrivate(id)),
      \\acc tile ->
        let here = tile |> mapLcl(0)(toLocal(id));
        zip(acc, here |> gather(reverse)) |> mapLcl(0)(\\(a, e) -> a + e))
    |> mapLcl(0)(toGlobal(id)))
  |> map(\\sums -> sums[0]) |> head;";

#[test]
fn the_next_tile_is_fetched_while_this_one_is_worked_on() {
    let first = |options: &Options| {
        let plan = plan(TILED, options);
        let kernel = plan.kernels.first().unwrap().clone();
        (barriers(&kernel), kernel.locals[0].stages)
    };
    let options = sizes(&[("N", 640)]);
    assert_eq!(first(&options), (2, 2));
    assert_eq!(first(&Options { pipeline: false, ..options }), (2, 1));
}

/// There is no first tile to fetch where there may be none.
#[test]
fn tiles_that_may_not_be_there_are_not_fetched_ahead() {
    let tiles = |all: &str| {
        let text = TILED.replace("all\n    |> split(64)", &format!("all |> split(64) {all}"));
        assert_ne!(text, TILED);
        plan(&text, &Options::default()).kernels[0].locals[0].stages
    };
    assert_eq!((tiles(""), tiles("|> drop(1)")), (2, 1));
}

/// Devices start 65535 groups in the second dimension; whoever there is goes through the rest.
#[test]
fn grids_of_any_size_can_be_started() {
    for text in [
        "def f[N, M](xs: [[i32; N]; M]) -> [[i32; N]; M] = xs |> map(map(\\x -> x + 1));",
        "def f[N, M](xs: [[i32; N]; M]) -> [[i32; N]; M] = xs |> mapWrg(1)(mapLcl(0)(toGlobal(\\x -> x + 1)));",
    ] {
        let plan = plan(text, &Options::default());
        let [kernel] = plan.kernels.as_slice() else { panic!("one kernel") };
        let of = |n: &lift_ir::Nat| {
            n.eval(&|v| Some(if v.name() == "M" { 10_000_000 } else { 3 })).unwrap()
        };
        let groups = of(&kernel.launch.global[1]) / of(&kernel.launch.local[1]);
        assert_eq!(groups, 65535, "{text}");
        let text = opencl(&validate(kernel).unwrap());
        assert!(
            text.contains("get_global_size(1)") || text.contains("get_num_groups(1)"),
            "{text}"
        );
    }
}

fn barriers(kernel: &Kernel) -> usize {
    let mut count = 0;
    for stmt in &kernel.body {
        stmt.each(&mut |s| count += usize::from(matches!(s, Stmt::Barrier(..))));
    }
    count
}

/// The barrier that an exchange inside another map over work-items needs stands outside of both.
#[test]
fn work_items_wait_outside_of_nested_maps() {
    let text = "def f[M](x: [[f32; 64]; M]) -> [[f32; 64]; M] launch local(8, 4) global(8 * M, 4) =
      x |> mapWrg(0)(\\row ->
        row |> split(8) |> mapLcl(1)(\\c ->
          c |> mapLcl(0)(toLocal(id)) |> gather(reverse) |> mapLcl(0)(toGlobal(id))) |> join);";
    let plan = plan(text, &Options::default());
    let [kernel] = plan.kernels.as_slice() else { panic!("one kernel") };
    assert_eq!(barriers(kernel), 1);
    assert!(kernel.body.iter().any(|s| matches!(s, Stmt::Barrier(_))), "outside of all loops");
}

/// What both windows read is loaded once. There are no variables for constants.
#[test]
fn results_written_out_are_computed_side_by_side() {
    let text = "def f[N](x: [f32; N]) -> [f32; N] where N % 2 == 0 =
      x |> pad(1, 1, clamp) |> slide(4, 2) |> mapGlb(0)(\\t ->
        t |> slide(3, 1) |> mapSeqUnroll(\\w ->
          zip(w, [1.0, 2.0, 3.0]) |> map(\\(a, b) -> a * b) |> reduceSeq(0.0, (+)))) |> join;";
    let text = loops(text, &Options::default());
    let (_, interior) = text.split_once("< N / 2 - 2;").expect(&text);
    let (interior, _) = interior.split_once('}').unwrap();
    let loads = interior.lines().filter_map(|line| Some(line.split_once("x[")?.1));
    let places: Vec<&str> = loads.filter_map(|line| Some(line.split_once(']')?.0)).collect();
    assert_eq!(places.len(), 4, "{interior}");
    lacks(interior, &["= 1.0f", "= 2.0f", "= 3.0f"]);
}

#[test]
fn indices_can_be_left_as_layouts_compose_them() {
    let text = "def f[N](x: [f32; N]) -> [f32; N] where N % 8 == 0 =
      x |> split(8) |> transpose |> transpose |> join |> mapGlb(0)(\\e -> e + e);";
    has(&threads(text, &Options::default()), &["x[g0]"]);
    let simplify = Simplify { accesses: false, ..Simplify::default() };
    let composed = threads(text, &Options { simplify, ..Options::default() });
    has(&composed, &["from_ = 8*(g0 / 8);", "x[g0 % 8 + from_]"]);
}

#[test]
fn a_window_rotates_in_registers() {
    let text = "def f[N](x: [f32; N]) -> [f32; N - 2] = x |> mapSeqSlide(3, 1)(\\w -> w[0] + w[1] + w[2]);";
    let text = threads(text, &Options::default());
    has(&text, &["window_0 = window_1;", "window_1 = window_2;"]);
    has(&text, &["float2 x2 = *(global const float2*)x;"]);
    assert_eq!(text.matches("x[").count(), 1, "two before the loop at once, one in it:\n{text}");
}

#[test]
fn a_row_of_a_local_array_can_be_padded() {
    let text = "def f(x: [[[f32; 32]; 32]; 4]) -> [[[f32; 32]; 32]; 4]
      launch local(32, 32) global(128, 32) =
      x |> mapWrg(0)(\\all ->
        all |> mapLcl(1)(mapLcl(0)(toLocal(id))) |> transpose |> mapLcl(1)(mapLcl(0)(toGlobal(id))));";
    has(&threads(text, &Options::default()), &["tmp[1024]", "tmp[32*l0 + l1]"]);
    let padded = Options { local_padding: 1, ..Options::default() };
    let expected = ["tmp[1056]", "tmp[33*l0 + l1]", "tmp[33*l1 + l0]"];
    has(&threads(text, &padded), &expected);
    let text = text.replace("global(128, 32)", "global(128, 32) padding(1)");
    has(&threads(&text, &Options::default()), &expected);
    // What is asked for from outside counts.
    let padded = Options { local_padding: 2, ..Options::default() };
    has(&threads(&text, &padded), &["tmp[34*l0 + l1]"]);
}

/// Folds and maps around what runs on the whole grid.
#[test]
fn grid_wide_steps_are_a_loop_of_the_host() {
    let text = "def f[N, M](rows: [[i32; N]; M], start: [i32; N]) -> [i32; N] =
      rows |> reduceSeq(start, \\acc row -> zip(acc, row) |> mapGlb(0)(\\(a, b) -> a + b));";
    let plan = plan(text, &Options::default());
    let looped = plan.steps.iter().find_map(|step| match step {
        Step::Loop { count, counter, body, swap, .. } => {
            Some((count, counter, body.len(), swap.len()))
        }
        Step::Launch(_) | Step::Stop(_) => None,
    });
    let (count, counter, inside, swapped) = looped.unwrap();
    assert_eq!((count.to_string().as_str(), inside, swapped), ("M", 1, 1));
    assert!(plan.is_counter(counter));
}

#[test]
fn a_grid_is_asked_by_the_host_whether_to_stop() {
    let text = "def f[N](x: [i32; N]) -> ([i32; N], i32) =
      x |> iterate_until(9, \\y -> y[0] > 3, \\y -> y |> mapGlb(0)(\\e -> 2 * e));";
    let plan = plan(text, &Options::default());
    let looped = plan.steps.iter().find_map(|step| match step {
        Step::Loop { body, taken, .. } => Some((body, taken)),
        Step::Launch(_) | Step::Stop(_) => None,
    });
    let (body, taken) = looped.unwrap();
    assert!(matches!(body.as_slice(), [Step::Launch(_), Step::Stop(_), Step::Launch(_)]));
    assert!(plan.is_counter(taken.as_ref().unwrap()));
}

#[test]
fn a_work_item_stops_by_itself_and_a_group_together() {
    let text = "def f[N](x: [i32; N]) -> [(i32, i32); N] =
      x |> mapGlb(0)(\\e -> e |> iterate_until(1, \\a -> a > 3, \\a -> 2 * a));";
    // Also where there is one iteration.
    has(&threads(text, &Options::default()), &["i < 1; ++i)", "if (state > 3) break;"]);
    let text = "def f[M](x: [[i32; 32]; M]) -> [[i32; 32]; M] launch local(32) global(32 * M) =
      x |> mapWrg(0)(\\r ->
        (r |> iterate_until(9, \\y -> y[0] > 3, mapLcl(0)(toLocal(\\e -> 2 * e)))).0
        |> mapLcl(0)(toGlobal(id)));";
    has(&threads(text, &Options::default()), &["if (stop[0]) break;", "barrier("]);
}

/// What each simplification is worth can be seen by leaving it out.
#[test]
fn simplifications_can_be_left_out() {
    let text = "def f[N](x: [f32; N]) -> [f32; N] where N % 64 == 0 launch local(64) global(N) =
      x |> split(64) |> mapWrg(0)(\\c ->
        c |> mapLcl(0)(toLocal(id)) |> mapLcl(0)(toLocal(\\e -> e + 1.0)) |> mapLcl(0)(toGlobal(id)))
      |> join;";
    let with = |simplify| threads(text, &Options { simplify, ..Options::default() });
    let all = Simplify::default();
    let plain = with(all);
    lacks(&plain, &["barrier(", "for (", " / ", " % "]);
    has(&with(Simplify { barriers: false, ..all }), &["barrier("]);
    has(&with(Simplify { control: false, ..all }), &["for (long l0 = get_local_id(0); l0 < 64;"]);
    let text = "def f[N](x: [f32; N]) -> [f32; N] where N % 64 == 0 =
      x |> split(64) |> mapWrg(0)(\\c ->
        c |> split(8) |> transpose |> join |> split(8) |> mapLcl(0)(mapSeq(\\e -> e + 1.0)) |> join)
      |> join;";
    let access = |accesses| {
        let simplify = Simplify { accesses, ..all };
        threads(text, &Options { simplify, ..Options::default() })
    };
    lacks(&access(true), &[" % ", " / "]);
    has(&access(false), &["from_3_ = from_2_ + i;", "from_3_ / 8"]);
}

/// The sums of the columns of a matrix, a block of columns at a time.
fn column_sums(columns: u32, step: &str) -> String {
    format!(
        "def f[M, N](x: [[f32; N]; M]) -> [f32; N] where N % {columns} == 0 =
           x |> map(split({columns})) |> transpose |> mapGlb(0)(\\rows ->
             rows |> reduceSeq(repeat({columns}, 0.0) |> mapSeq(toPrivate(id)), \\sums row -> {step}))
           |> join;"
    )
}

const BY_VECTORS: &str =
    "zip(as_vector(16, sums), as_vector(16, row)) |> mapSeqUnroll(\\(a, b) -> a + b) |> as_scalar";

/// There are not so many registers.
#[test]
fn many_vectors_stay_in_memory() {
    let text = loops(&column_sums(2048, BY_VECTORS), &Options::default());
    has(&text, &["*)(acc + 16*i_2) = "]);
    lacks(&text, &["acc_2"]);
}

/// Every sum is made of the sum before it, so that the new ones are built up beside the old ones.
#[test]
fn only_a_vector_made_of_itself_is_updated_in_place() {
    let same = loops(&column_sums(32, BY_VECTORS), &Options::default());
    lacks(&same, &["next"]);
    let other = "zip(as_vector(16, gather(shift(1), sums)), as_vector(16, row))
                 |> mapSeqUnroll(\\(a, b) -> a + b) |> as_scalar";
    let other = loops(&column_sums(32, other), &Options::default());
    has(&other, &["next["]);
}

/// The blocks of results of a tile, each folded on its own.
#[test]
fn a_loop_around_one_that_stays_is_not_written_out_for_a_c_compiler() {
    let text = "def f[M](x: [[f32; 8]; M]) -> [f32; 8] =
      [x] |> mapGlb(0)(\\rows ->
        rows |> transpose |> mapSeq(\\column -> column |> reduceSeq(0.0, (+)) |> toPrivate(id))
             |> mapSeq(\\s -> s * 2.0)) |> join;";
    let c = loops(text, &Options::default());
    let (before, rest) = c.split_once("< M;").unwrap();
    lacks(before, &["unroll"]);
    has(rest, &["#pragma GCC unroll 8"]);
}
