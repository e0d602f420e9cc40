//! Derivations: saved, done again, and what is said of those that were changed.

use lift_rewrite::{formatted, replay};

use super::*;

const STENCIL: &str = "def g[N](xs: [i32; N]) -> [i32; N] =
  xs |> pad(1, 1, clamp) |> slide(3, 1) |> map(reduce(0, (+)));";

/// A program with a parameter and a clause of its own.
const GIVEN: &str = "def f[N, M; T = 4](xs: [i32; N], ys: [i32; M]) -> ([i32; N], [i32; M])
  where N % T == 0 =
  (split(T, xs) |> join |> map(\\x -> x + 1), map(\\y -> y * 2, ys));";

#[test]
fn a_saved_derivation_is_done_again() {
    for (program, text) in [
        (TWO, "map_fusion"),
        (TWO, "id"),
        (MM, "tile(m, k) >> sequential"),
        (MM, "tile(m, k) >> copy >> transpose_intro >> simplify"),
        (MM, "try(split_join(m) >> fail) >> somewhere(reduce_to_seq)"),
        (SUM, "reduce_promotion(N / 2) >> find(reduce, reduce_reorder(stride(2)))"),
        (SUM, "find(reduce, fold_every(p) >> argument(body(fused_fold >> split_fold(m))))"),
        (STENCIL, "somewhere(slide_tiling(v))"),
        (LET, "somewhere(let_inline)"),
        (GIVEN, "argument(0, split_join(m)) >> argument(1, split_join(k))"),
    ] {
        let outcome = ran(program, text).unwrap_or_else(|f| panic!("{text}: {f}"));
        let saved = outcome.derivation.to_string();
        let again = replay(&saved).unwrap_or_else(|e| panic!("{text}: {e}\n{saved}"));
        assert_eq!(again.to_string(), saved, "{text}");
        assert_eq!(again.steps.len(), outcome.derivation.steps.len());
        assert!(again.end().alpha_eq(&outcome.def), "{text}");
        assert_eq!(formatted(&again.start), formatted(&def(program)));
        for count in 0..again.steps.len() {
            let seen = outcome.derivation.after(count);
            assert_eq!(formatted(&again.after(count)), formatted(&seen), "{text} after {count}");
        }
    }
}

#[test]
fn a_script_with_parameters_is_done_again() {
    let text = "strategy main[; T = 4] where N % T == 0 launch local(T) global(N) = split_join(T);";
    let program = def("def f[N](xs: [i32; N]) -> [i32; N] = map(\\x -> x + 1, xs);");
    let saved = read_script(0, text).unwrap().run(&program).unwrap().derivation.to_string();
    assert!(saved.starts_with("def f[N; T = 4](xs: [i32; N])"), "{saved}");
    assert_eq!(replay(&saved).unwrap().to_string(), saved);
}

#[test]
fn definitions_can_be_seen_after_every_step() {
    let derivation = ran(TWO, "map_fusion >> split_join(m)").unwrap().derivation;
    assert_eq!(derivation.after(0).to_string(), def(TWO).to_string());
    assert!(derivation.after(1).parameters.is_empty());
    assert_eq!(derivation.after(2).parameters.len(), 1);
    assert_eq!(derivation.after(9).to_string(), derivation.end().to_string());
}

#[test]
fn derivations_follow_each_other() {
    let program = "def f[N, M](xss: [[i32; M]; N]) -> [[i32; M]; N] = map(map(\\x -> x + 1), xss);";
    let parts = ["split_join(m)", "argument(split_join(k))", "argument(argument(split_join(l)))"];
    let whole = ran(program, &parts.join(" >> ")).unwrap().derivation;
    let mut joined = lift_rewrite::Derivation::of(&def(program));
    for part in parts {
        joined = joined.clone().then(run(&joined.end(), &strategy(part)).unwrap().derivation);
    }
    for count in 0..=3 {
        assert_eq!(joined.after(count).to_string(), whole.after(count).to_string());
    }
    assert_eq!(joined.end().parameters.len(), 3);
}

#[test]
fn a_changed_derivation_is_refused_at_the_step() {
    let saved = ran(TWO, "map_fusion >> split_join(m)").unwrap().derivation.to_string();
    assert!(saved.contains("// 2: split_join at root, m = new m"), "{saved}");
    let changed = |from: &str, to: &str| {
        assert!(saved.contains(from), "{from}\n{saved}");
        replay(&saved.replace(from, to)).unwrap_err().to_string()
    };
    assert_eq!(
        changed("// 1: map_fusion at root", "// 1: map_fusoin at root"),
        "step 1: there is no rule `map_fusoin`; did you mean `map_fusion`?"
    );
    assert_eq!(
        changed("// 1: map_fusion at root", "// 1: map_fusion at 7"),
        "step 1: `map_fusion` at 7: there is no place 7"
    );
    assert_eq!(
        changed("// 1: map_fusion at root", "// 1: map_fusion at 1"),
        "step 1: `map_fusion` at 1: expected `map`, found the variable `xs`"
    );
    assert_eq!(
        changed("// 1: map_fusion at root", "// 1: map_fusion"),
        "step 1: expected `RULE at PLACE`"
    );
    assert_eq!(
        changed("m = new m", "m = 3"),
        "step 2: `split_join` at root: `N % 3 == 0` cannot be proved"
    );
    assert_eq!(changed("m = new m", "m = Q"), "step 2: `f` has no size `Q`");
    assert_eq!(changed("m = new m", "m"), "step 2: `m` chooses nothing");
    assert_eq!(
        changed("m = new m", "k = 3"),
        "step 2: `split_join` at root: there is no parameter `k`; there is m"
    );
    assert!(
        changed("x * 2 + 1", "x * 2 + 2")
            .starts_with("step 1: `map_fusion` at root gives another program:\n"),
    );
    assert_eq!(
        replay("def f(x: i32) -> i32 = y;").unwrap_err().to_string(),
        "the definition at the beginning: nothing is called `y`"
    );
    assert_eq!(
        replay("").unwrap_err().to_string(),
        "the definition at the beginning: there is no definition"
    );
}
