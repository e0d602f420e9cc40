//! Every combinator: what it does, and where it fails.

use lift_rewrite::strategy::{at_every_place, run_until};

use super::*;

const FUSED: &str = "map(\\x -> x * 2 + 1, xs)";
const UNCHANGED: &str = "map(\\x -> x * 2, xs) |> map(\\x -> x + 1)";

#[test]
fn id_does_nothing_and_fail_fails() {
    let outcome = ran(TWO, "id").unwrap();
    assert!(outcome.derivation.steps.is_empty());
    assert_eq!(outcome.def.body.to_string(), UNCHANGED);
    assert_eq!(failure(TWO, "fail"), "`fail` fails at root: it always does");
}

#[test]
fn parts_of_a_sequence_follow_each_other_or_none_happens() {
    assert_eq!(body(TWO, "seq(map_fusion, map_to_seq)"), "mapSeq(\\x -> x * 2 + 1, xs)");
    assert_eq!(body(TWO, "map_fusion >> map_to_seq"), "mapSeq(\\x -> x * 2 + 1, xs)");
    assert_eq!(
        failure(TWO, "map_fusion >> map_fusion"),
        "`map_fusion` fails at root: expected `map`, found the variable `xs`"
    );
    assert_eq!(body(TWO, "try(map_fusion >> map_fusion)"), UNCHANGED);
}

#[test]
fn the_first_choice_that_succeeds_is_taken() {
    assert_eq!(body(TWO, "choice(map_fusion, map_to_seq)"), FUSED);
    assert_eq!(body(TWO, "choice(transpose_transpose, map_fusion)"), FUSED);
    assert_eq!(body(TWO, "choice(map_to_seq >> fail, map_fusion)"), FUSED);
    assert_eq!(
        failure(SUM, "choice(map_fusion, reduce_promotion(3))"),
        "`choice` fails at root: no part succeeds (`reduce_promotion` fails at root: `N % 3 == 0` \
         cannot be proved)"
    );
}

#[test]
fn repeat_ends_where_nothing_changes() {
    let three = "def f[N](xs: [i32; N]) -> [i32; N] =
      xs |> map(\\x -> x * 2) |> map(\\x -> x + 1) |> map(\\x -> x * 3);";
    assert_eq!(body(three, "repeat(map_fusion)"), "map(\\x -> (x * 2 + 1) * 3, xs)");
    assert_eq!(body(TWO, "repeat(id)"), UNCHANGED);
    assert_eq!(body(TWO, "repeat(fail)"), UNCHANGED);
}

#[test]
fn one_goes_to_the_first_child_that_fits() {
    assert_eq!(
        body(PAIR, "one(map_to_seq)"),
        "zip(mapSeq(\\x -> x + 1, xs), map(\\y -> y * 2, ys))"
    );
    let second = "one(where(map) >> argument(where(value)) >> map_to_seq)";
    assert_eq!(body(PAIR, second), "zip(mapSeq(\\x -> x + 1, xs), map(\\y -> y * 2, ys))");
    assert_eq!(
        failure(PAIR, "one(reduce_to_seq)"),
        "`one` fails at root: it succeeds nowhere; nearest to it, `reduce_to_seq` fails at 0: \
         expected `reduce`, found `map`"
    );
    assert_eq!(
        failure("def f[N](xs: [i32; N]) -> [i32; N] = xs;", "one(id)"),
        "`one` fails at root: there is nothing inside"
    );
}

#[test]
fn all_needs_every_child() {
    assert_eq!(
        body(PAIR, "all(map_to_seq)"),
        "zip(mapSeq(\\x -> x + 1, xs), mapSeq(\\y -> y * 2, ys))"
    );
    let uneven = "def f[N](xs: [i32; N], ys: [i32; N]) -> [(i32, i32); N] =
      zip(map(\\x -> x + 1, xs), ys);";
    assert_eq!(
        failure(uneven, "all(map_to_seq)"),
        "`map_to_seq` fails at 1: expected `map`, found the variable `ys`"
    );
    assert_eq!(body(uneven, "try(all(map_to_seq))"), "zip(map(\\x -> x + 1, xs), ys)");
    assert_eq!(body("def f[N](xs: [i32; N]) -> [i32; N] = xs;", "all(fail)"), "xs");
}

#[test]
fn somewhere_goes_from_the_outside_in() {
    assert_eq!(body(TWO, "somewhere(map_to_seq)"), "map(\\x -> x * 2, xs) |> mapSeq(\\x -> x + 1)");
    assert_eq!(body(ROWS, "somewhere(map_fusion)"), "map(map(\\x -> x * 2 + 1), xss)");
    assert_eq!(
        ran(ROWS, "somewhere(map_fusion)").unwrap().derivation.steps[0].place.to_string(),
        "0"
    );
}

#[test]
fn topdown_and_bottomup_go_everywhere_and_never_fail() {
    let seq = "mapSeq(\\xs -> mapSeq(\\x -> x * 2, xs) |> mapSeq(\\x -> x + 1), xss)";
    assert_eq!(body(ROWS, "topdown(map_to_seq)"), seq);
    assert_eq!(body(ROWS, "bottomup(map_to_seq)"), seq);
    let order = |text| {
        let steps = ran(ROWS, text).unwrap().derivation.steps;
        steps.iter().map(|s| s.place.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(order("topdown(map_to_seq)"), ["root", "0", "0.1"]);
    assert_eq!(order("bottomup(map_to_seq)"), ["0.1", "0", "root"]);
    assert_eq!(body(TWO, "topdown(fail)"), UNCHANGED);
    assert_eq!(body(TWO, "bottomup(fail)"), UNCHANGED);
}

#[test]
fn places_are_below_where_the_strategy_stands() {
    assert_eq!(
        body(TWO, "at(root.1, map_to_seq)"),
        "mapSeq(\\x -> x * 2, xs) |> map(\\x -> x + 1)"
    );
    assert_eq!(body(TWO, "at(root, map_fusion)"), FUSED);
    let inside = "map(\\xs -> mapSeq(\\x -> x * 2, xs) |> map(\\x -> x + 1), xss)";
    assert_eq!(body(ROWS, "body(at(root.1, map_to_seq))"), inside);
    assert_eq!(
        failure(ROWS, "body(at(root.7.1, id))"),
        "`at` fails at 0.7.1: there is no such place"
    );
}

#[test]
fn body_and_argument_are_children_by_role() {
    assert_eq!(body(ROWS, "body(map_fusion)"), "map(map(\\x -> x * 2 + 1), xss)");
    assert_eq!(body(TWO, "argument(map_to_seq)"), "mapSeq(\\x -> x * 2, xs) |> map(\\x -> x + 1)");
    assert_eq!(
        body(PAIR, "argument(0, map_to_seq)"),
        "zip(mapSeq(\\x -> x + 1, xs), map(\\y -> y * 2, ys))"
    );
    assert_eq!(
        body(PAIR, "argument(map_to_seq)"),
        "zip(map(\\x -> x + 1, xs), mapSeq(\\y -> y * 2, ys))"
    );
    assert_eq!(failure(PAIR, "body(id)"), "`body` fails at root: there is no function here");
    assert_eq!(
        failure(PAIR, "argument(2, id)"),
        "`argument` fails at root: there is no such argument"
    );
    let value = "let ys = mapSeq(\\x -> x + 1, xs); map(\\y -> y * y, ys)";
    assert_eq!(body(LET, "argument(map_to_seq)"), value);
    let inside = "let ys = map(\\x -> x + 1, xs); mapSeq(\\y -> y * y, ys)";
    assert_eq!(body(LET, "body(map_to_seq)"), inside);
}

#[test]
fn find_and_within_go_to_the_first_that_meets_a_condition() {
    assert_eq!(body(MM, "find(reduce, reduce_to_seq)"), body(MM, "somewhere(reduce_to_seq)"));
    assert_eq!(body(MM, "within(map, map_to_seq)"), body(MM, "body(map_to_seq)"));
    assert_eq!(failure(TWO, "find(reduce, id)"), "`find` fails at root: there is no `reduce` here");
    assert_eq!(failure(PAIR, "within(zip, id)"), "`body` fails at root: there is no function here");
}

#[test]
fn normalize_applies_rules_until_none_does() {
    let clutter = "def f[N, M](xss: [[i32; M]; N]) -> [[i32; M]; N] =
      xss |> transpose |> transpose |> map(\\xs -> xs |> map(\\x -> x) |> map(\\x -> x + 1));";
    let rules = "normalize(transpose_transpose, map_identity, map_fusion)";
    assert_eq!(body(clutter, rules), "map(map(\\x -> x + 1), xss)");
    assert_eq!(body(TWO, "normalize(transpose_transpose)"), UNCHANGED);
}

#[test]
fn simplify_makes_the_program_smaller_and_not_larger() {
    let clutter = "def f[N, M](xss: [[i32; M]; N]) -> [[i32; M]; N] =
      xss |> transpose |> map(map(\\x -> x + 1)) |> transpose |> map(\\r -> map(\\x -> x, r));";
    assert_eq!(body(clutter, "simplify"), "map(map(\\x -> x + 1), xss)");
    let once = ran(MM, "tile(m, k) >> copy >> simplify").unwrap().def;
    assert!(once.body.weight() <= ran(MM, "tile(m, k)").unwrap().def.body.weight());
    assert_eq!(run(&once, &strategy("simplify")).unwrap().def.to_string(), once.to_string());
    assert_eq!(body(SUM, "simplify"), "reduce(0, (+), xs)");
}

/// Steps that simplification tries and takes back do not count.
#[test]
fn simplify_counts_what_it_keeps() {
    let clutter = def("def f[N, M](xss: [[i32; M]; N]) -> [[i32; M]; N] =
      xss |> transpose |> map(map(\\x -> x + 1)) |> transpose |> map(\\r -> map(\\x -> x, r));");
    let limited =
        |limit| lift_rewrite::strategy::run_at_most(&clutter, &strategy("simplify"), limit);
    let kept = limited(1000).unwrap().derivation.steps.len();
    assert!(kept < 10, "{kept}");
    let again = lift_rewrite::strategy::run_at_most(
        &clutter,
        &strategy("simplify >> try(somewhere(map_to_seq))"),
        kept + 1 + 8,
    );
    assert_eq!(again.unwrap().derivation.steps.len(), kept + 1);
}

#[test]
fn every_condition_holds_where_it_says() {
    let holds = |program, condition: &str| ran(program, &format!("where({condition})")).is_ok();
    for (program, condition, expected) in [
        (MM, "map", true),
        (MM, "reduce", false),
        (LET, "let", true),
        (TWO, "let", false),
        ("def f(x: i32) -> i32 = x;", "value", true),
        (MM, "value", false),
        ("def f[N, M](xss: [[i32; M]; N]) -> [[i32; N]; M] = transpose(xss);", "layout", true),
        (MM, "layout", false),
        (MM, "contains(zip)", true),
        (MM, "contains(scan)", false),
        (ROWS, "holds(map, map)", true),
        (TWO, "holds(map, map)", false),
        (TWO, "of(map, map)", true),
        (ROWS, "of(map, map)", false),
        (ROWS, "of(map, value)", true),
        (MM, "length == M", true),
        (MM, "length == N", false),
        (MM, "inner == N", true),
        (MM, "1 <= length && inner >= 1", true),
        (MM, "length != M", false),
        (SUM, "length == 8", false),
        (TWO, "inner == N", false),
        ("def f(xs: [i32; 12]) -> [i32; 12] = map(\\x -> x, xs);", "length % 4 == 0", true),
        ("def f(xs: [i32; 12]) -> [i32; 12] = map(\\x -> x, xs);", "length % 5 == 0", false),
        (
            "def f(xs: [i32; 12]) -> [i32; 12] = map(\\x -> x, xs);",
            "length > 11 && length < 13",
            true,
        ),
        (MM, "!reduce", true),
        (MM, "!map", false),
        (MM, "reduce || map", true),
        (MM, "reduce || zip", false),
        (MM, "map && contains(reduce)", true),
        (MM, "reduce && contains(reduce)", false),
        (MM, "(reduce || map) && contains(scan)", false),
        (MM, "reduce || (map && contains(zip))", true),
    ] {
        assert_eq!(holds(program, condition), expected, "{condition} of {program}");
    }
    assert_eq!(failure(MM, "where(reduce)"), "`where` fails at root: `reduce` does not hold");
}

#[test]
fn arguments_are_taken_by_name() {
    // `s` is read where it was written: there `m` is the outer one.
    let text = "strategy twice(s) = s >> s;
      strategy cut(m) = split_join(m);
      strategy main = twice(cut(2) >> argument(cut(N / 4)) >> join_split_intro(N));";
    let once = "strategy main = cut(2);
      strategy cut(m) = inner(split_join(m), 3);
      strategy inner(s, m) = s;";
    let program =
        def("def f[N](xs: [i32; N]) -> [i32; N] where N % 8 == 0 = map(\\x -> x + 1, xs);");
    let after = read_script(0, once).unwrap().run(&program).unwrap().def;
    assert_eq!(after.body.to_string(), "split(2, xs) |> map(map(\\x -> x + 1)) |> join");
    // The second time the same argument meets another program.
    let failed = read_script(0, text).unwrap().run(&program).unwrap_err().to_string();
    assert_eq!(
        failed,
        "main > twice > cut: `split_join` fails at root: expected `map`, found `join`"
    );
}

#[test]
fn a_strategy_at_every_place_is_done_at_each_by_itself() {
    let everywhere = |stop: &(dyn Fn() -> bool + Sync)| {
        let found = at_every_place(&def(PAIR), &strategy("split_join(2)"), stop);
        found.iter().map(|outcome| outcome.def.body.to_string()).collect::<Vec<_>>()
    };
    let found = everywhere(&|| false);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|body| body.matches("split").count() == 1), "{found:?}");
    assert_ne!(found[0], found[1]);
    assert!(everywhere(&|| true).is_empty());
}

#[test]
fn a_run_that_is_stopped_has_no_result() {
    let stopped = |stop: bool| run_until(&def(TWO), &strategy("map_fusion"), &|| stop);
    assert!(stopped(false).is_ok());
    assert!(stopped(true).is_err());
}

/// What may fail is evaluated as before, in the same place or under a name.
#[test]
fn a_value_that_may_fail_is_still_evaluated() {
    let fused = |first: &str, second: &str| {
        let text = format!(
            "def f[N](xs: [i32; N], k: i32) -> [i32; N] = xs |> map(\\x -> {first}) |> map(\\y -> {second});"
        );
        body(&text, "map_fusion")
    };
    let choice = "if k > 0 then y else 0";
    for (first, second, is_named) in [
        ("x / k", choice, true),
        ("x % k", choice, true),
        ("xs[x]", choice, true),
        // Neither a size nor such a number is zero, and the first element is there.
        ("x / N", choice, false),
        ("x / 3", choice, false),
        ("xs[0]", choice, false),
        ("x / k", "y + 1", false),
        ("x / k", "if y > 0 then 1 else 2", false),
        ("x / k", "let z = 3 * k; z + y", false),
        ("x / k", "let z = y * 2; if z > k then z else z + 1", false),
    ] {
        let found = fused(first, second);
        assert_eq!(found.contains("let y = "), is_named, "{first}, {second}: {found}");
    }
}
