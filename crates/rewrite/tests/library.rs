//! Strategies of the library on small programs; derivations try the others.

#![allow(clippy::unwrap_used)]

use lift_rewrite::strategy::{outcomes, outcomes_until};
use lift_rewrite::{read_strategy, run};

/// The body after a strategy.
fn after(program: &str, strategy: &str) -> String {
    let checked = lift_syntax::check_text("program", program);
    assert!(!checked.has_errors(), "{}", checked.render(false));
    let strategy = read_strategy(0, strategy).unwrap();
    run(checked.program.entry().unwrap(), &strategy).unwrap().def.body.to_string()
}

#[test]
fn the_outermost_of_three_loops_moves_inside() {
    let program = "def f[A, B, C](x: [[[i32; C]; B]; A]) -> [[[i32; C]; B]; A] =
        x |> map(map(map(\\e -> e + 1)));";
    assert_eq!(
        after(program, "interchange_far"),
        "transpose(x) |> map(\\x -> transpose(x) |> map(map(\\e -> e + 1)) |> transpose) |> transpose"
    );
}

/// The bodies of all outcomes.
fn all(program: &str, strategy: &str) -> Vec<String> {
    let checked = lift_syntax::check_text("program", program);
    assert!(!checked.has_errors(), "{}", checked.render(false));
    let strategy = read_strategy(0, strategy).unwrap();
    let all = outcomes(checked.program.entry().unwrap(), &strategy, 1000);
    assert!(all.is_complete);
    all.found.iter().map(|outcome| outcome.def.body.to_string()).collect()
}

const TWO: &str =
    "def f[N](x: [i32; N]) -> [i32; N] = x |> map(\\e -> e + 1) |> map(\\e -> e * 2);";

#[test]
fn every_alternative_is_an_outcome() {
    let found = all(TWO, "any(map_to_seq, map_to_glb(0), map_fusion, fail, map_fusion)");
    let last = "x |> map(\\e -> e + 1) |> ";
    let expected = [
        format!("{last}mapSeq(\\e -> e * 2)"),
        format!("{last}mapGlb(0)(\\e -> e * 2)"),
        "map(\\e -> (e + 1) * 2, x)".to_string(),
    ];
    assert_eq!(
        found,
        expected.map(|text| text.replace("x |> map(\\e -> e + 1)", "map(\\e -> e + 1, x)"))
    );
}

#[test]
fn every_place_is_an_outcome() {
    let found = all(TWO, "anywhere(map_to_seq) >> any(id, anywhere(map_to_seq))");
    assert_eq!(found.len(), 3, "{found:?}");
}

#[test]
fn decisions_multiply() {
    let found =
        all(TWO, "any(map_to_seq, map_to_glb(0)) >> argument(any(map_to_seq, map_to_glb(1)))");
    assert_eq!(found.len(), 4, "{found:?}");
    let strategy = read_strategy(0, "anywhere(split_join(m)) >> anywhere(split_join(k))").unwrap();
    let checked = lift_syntax::check_text("program", TWO);
    let some = outcomes(checked.program.entry().unwrap(), &strategy, 2);
    assert!(!some.is_complete && some.found.len() == 2);
}

/// Whenever there is no time for more, what was found is the beginning of what there is.
#[test]
fn a_search_that_is_stopped_has_found_the_first_ones() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let strategy = "any(map_to_seq, map_to_glb(0)) >> argument(any(map_to_seq, map_to_glb(1)))";
    let whole = all(TWO, strategy);
    let checked = lift_syntax::check_text("program", TWO);
    let (def, strategy) = (checked.program.entry().unwrap(), read_strategy(0, strategy).unwrap());
    let mut counts = Vec::new();
    for asked in 0..40 {
        let left = AtomicUsize::new(asked);
        let stop = || {
            let before =
                left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
            before.is_err()
        };
        let some = outcomes_until(def, &strategy, 1000, &stop);
        let found: Vec<String> = some.found.iter().map(|o| o.def.body.to_string()).collect();
        assert_eq!(found, whole[..found.len()], "asked {asked} times");
        assert!(some.is_complete || found.len() < whole.len() || asked > 0);
        counts.push(found.len());
    }
    assert!(counts.is_sorted(), "{counts:?}");
    assert_eq!((counts[0], counts[39]), (0, whole.len()));
}

/// Tiling of `map(map(f))` as in Figure 5.10 of the thesis: tiles of rows, of these tiles of columns, each
/// transposed to be mapped over and back.
#[test]
fn a_nest_of_maps_is_tiled() {
    let program = "def f[M, N](x: [[i32; N]; M]) -> [[i32; N]; M]
        where M % 4 == 0 && N % 8 == 0 = x |> map(map(\\e -> e + 1));";
    assert_eq!(
        after(program, "tile(4, 8)"),
        "split(4, x) |> map(\\x -> transpose(x) |> split(8) \
         |> map(\\x1 -> transpose(x1) |> map(map(\\e -> e + 1)) |> transpose) \
         |> join |> transpose) |> join"
    );
}
