//! What failures say, and that they leave nothing behind.

use lift_rewrite::strategy::run_at_most;

use super::*;

#[test]
fn a_failure_names_the_part_the_place_and_the_reason() {
    assert_eq!(
        failure(MM, "tile(4, k)"),
        "tile > cut: `split_join` fails at root: `M % 4 == 0` cannot be proved"
    );
    assert_eq!(
        failure(MM, "split_join(2 * T)"),
        "`split_join` fails at root: the program has no size `T`"
    );
    assert_eq!(
        failure("def f(xs: [i32; 9]) -> [i32; 9] = map(\\x -> x, xs);", "split_join(2)"),
        "`split_join` fails at root: `9 % 2 == 0` never holds"
    );
}

#[test]
fn a_condition_that_fails_tells_more_than_another_form() {
    assert_eq!(
        failure(SUM, "somewhere(reduce_promotion(3))"),
        "`somewhere` fails at root: it succeeds nowhere; nearest to it, `reduce_promotion` fails at \
         root: `N % 3 == 0` cannot be proved"
    );
    assert_eq!(
        failure(MM, "body(somewhere(split_join(5)))"),
        "`somewhere` fails at 0: it succeeds nowhere; nearest to it, `split_join` fails at 0: \
         `N % 5 == 0` cannot be proved"
    );
}

#[test]
fn the_cause_is_the_failure_that_tells_most() {
    let failed = ran(MM, "somewhere(choice(map_fusion, split_join(5)))").unwrap_err();
    let cause = failed.cause();
    assert_eq!((cause.part, cause.place.to_string().as_str()), ("split_join", "root"));
    assert!(cause.expr.as_ref().unwrap().to_string().starts_with("map("));
}

/// What was changed, introduced and assumed in a part that fails is not there afterwards, so the same name is
/// new again and nothing is known of it.
#[test]
fn what_fails_leaves_nothing() {
    for failing in ["map_fusion", "split_join(m)", "split_join(m) >> argument(split_join(k))"] {
        let outcome = ran(TWO, &format!("try({failing} >> fail)")).unwrap();
        assert_eq!(outcome.def.to_string(), def(TWO).to_string());
        assert!(outcome.derivation.steps.is_empty());
        assert!(outcome.def.parameters.is_empty() && outcome.def.wheres.is_empty());
    }
    let plain = ran(TWO, "split_join(m)").unwrap().def.to_string();
    assert_eq!(
        ran(TWO, "try(split_join(m) >> fail) >> split_join(m)").unwrap().def.to_string(),
        plain
    );
    let other = ran(TWO, "choice(argument(split_join(m)) >> fail, split_join(m))").unwrap();
    assert_eq!(other.def.to_string(), plain);
}

/// `N % m == 0` was assumed in the part that failed; it must be assumed again, not taken for proved.
#[test]
fn what_a_failing_part_assumed_is_not_known() {
    let program = "def f[N, M](xs: [i32; N], ys: [i32; M]) -> ([i32; N], [i32; M]) =
      (map(\\x -> x + 1, xs), map(\\y -> y + 1, ys));";
    let text = "argument(0, split_join(m)) >> try(argument(1, split_join(m)) >> fail) \
                >> argument(1, split_join(m))";
    let clauses: Vec<String> =
        ran(program, text).unwrap().def.wheres.iter().map(|c| c.pred.to_string()).collect();
    assert_eq!(clauses, ["N % m == 0", "M % m == 0"]);
}

#[test]
fn bounds_that_a_failing_part_required_are_dropped_and_others_kept() {
    let program = "def f[N](xs: [i32; N]) -> [i32; N] = map(\\x -> x + 1, xs);";
    let before = def(program);
    let failed = ran(program, "try(split_join(m) >> fail)").unwrap().def;
    assert_eq!(failed.implied, before.implied);
    let stencil = "def g[N](xs: [i32; N]) -> [i32; N] =
      xs |> pad(1, 1, clamp) |> slide(3, 1) |> map(reduce(0, (+)));";
    let tiled = ran(stencil, "somewhere(slide_tiling(v))").unwrap().def;
    let text = "somewhere(slide_tiling(v)) >> try(somewhere(split_join(m)) >> fail)";
    let with_failure = ran(stencil, text).unwrap().def;
    assert_eq!(with_failure.implied, tiled.implied);
    assert_eq!(with_failure.to_string(), tiled.to_string());
}

#[test]
fn strategies_that_never_end_are_stopped() {
    let limit = "stopped after 50 rule applications; does the strategy undo its own work?";
    for endless in ["repeat(argument(transpose_intro))", "repeat(somewhere(transpose_intro))"] {
        let failed = run_at_most(&def(MM), &strategy(endless), 50).unwrap_err();
        assert!(failed.to_string().ends_with(limit), "{failed}");
    }
    for (endless, reason) in [
        ("repeat(somewhere(transpose_intro))", "the program would have more than 4000 nodes"),
        ("normalize(transpose_intro)", "the program would have more than 4000 nodes"),
        ("repeat(bottomup(copy))", "the program would have more than 4000 nodes"),
        ("repeat(somewhere(join_split_intro))", "there would be more than 32 new sizes"),
    ] {
        let failed = failure(MM, endless);
        assert!(failed.contains(reason), "{endless}: {failed}");
    }
    // A limit is not met by another choice.
    let hidden = failure(MM, "try(repeat(somewhere(transpose_intro))) >> id");
    assert!(hidden.contains("4000 nodes"), "{hidden}");
    let hidden = failure(MM, "choice(repeat(somewhere(transpose_intro)), id)");
    assert!(hidden.contains("4000 nodes"), "{hidden}");
}

#[test]
fn long_places_are_not_written_out() {
    let failed = failure(MM, "repeat(bottomup(copy))");
    assert!(failed.contains("levels deep"), "{failed}");
    assert!(failed.len() < 200, "{failed}");
}
