//! Laws of strategies, on random ones; all keep the type and the meaning of the program.

use lift_interp::inputs::{Fill, generate};
use lift_interp::{Sizes, Value, compare, concrete_type};
use lift_random::Random;
use lift_rewrite::strategy::run_at_most;
use lift_rewrite::{Rule, rules};

use super::*;

/// Sizes are numbers, so that every condition is proved or refuted.
const PROGRAMS: [&str; 4] = [
    "def mm(a: [[i32; 4]; 8], b: [[i32; 6]; 4]) -> [[i32; 6]; 8] =
       a |> map(\\r -> transpose(b) |> map(\\c -> zip(r, c) |> map(\\(x, y) -> x * y) |> reduce(0, (+))));",
    "def sum(xs: [i32; 24]) -> i32 = xs |> split(4) |> map(reduce(0, (+))) |> reduce(0, (+));",
    "def blur(xs: [i32; 12]) -> [i32; 12] =
       xs |> pad(1, 1, clamp) |> slide(3, 1) |> map(\\w -> w |> map(\\x -> x * 3) |> reduce(0, (+)));",
    "def rows(xss: [[i32; 4]; 6]) -> [[i32; 6]; 4] =
       let y = map(map(\\x -> x + 1), xss); y |> transpose |> map(\\r -> map(\\x -> x * 2, r) |> gather(reverse));",
];

/// As many applications as fit in a short test; what needs more is left out.
const LIMIT: usize = 60;

fn rule(random: &mut Random) -> Strategy {
    // Parallel maps may not stand everywhere.
    let parallel = |rule: &&Rule| {
        ["_to_glb", "_to_wrg", "_to_lcl", "_to_warp", "_to_lane"]
            .iter()
            .any(|part| rule.name.contains(part))
    };
    let known: Vec<&'static Rule> = rules().into_iter().filter(|r| !parallel(r)).collect();
    let picked = random.pick(&known).unwrap();
    let law = picked.read().unwrap();
    let sizes =
        law.parameters.iter().map(|_| ["2", "3", "4"][random.below(3) as usize].to_string());
    let mut given: Vec<String> = sizes.collect();
    given.extend(law.reorderings.iter().map(|_| "reverse".to_string()));
    match given.as_slice() {
        [] => strategy(picked.name),
        given => strategy(&format!("{}({})", picked.name, given.join(", "))),
    }
}

fn random_strategy(random: &mut Random, depth: u32) -> Strategy {
    if depth == 0 {
        return rule(random).somewhere();
    }
    let mut inner = || random_strategy(random, depth - 1);
    let (first, second) = (inner(), inner());
    match random.below(8) {
        0 => first.then(second),
        1 => first.or(second),
        2 => first.attempt(),
        3 => first.topdown(),
        4 => first.bottomup(),
        5 => Strategy::One(Box::new(first)).or(second),
        6 => first.attempt().then(second.attempt()),
        _ => first.then(Strategy::Simplify),
    }
}

/// What a strategy makes.
#[derive(PartialEq, Eq, Debug)]
enum Result {
    Made(String),
    Failed,
    /// Too long for a short test: nothing is known.
    Stopped,
}

fn result(def: &Def, strategy: &Strategy) -> Result {
    match run_at_most(def, strategy, LIMIT) {
        Ok(outcome) => Result::Made(outcome.def.to_string()),
        Err(failure) if failure.to_string().contains("does the strategy") => Result::Stopped,
        Err(_) => Result::Failed,
    }
}

fn each_case(count: u64, mut check: impl FnMut(&Def, &Strategy)) {
    for seed in 0..count {
        let mut random = Random::new(seed);
        let program = def(random.pick(&PROGRAMS).unwrap());
        let strategy = random_strategy(&mut random, 1 + (seed % 2) as u32);
        check(&program, &strategy);
    }
}

#[test]
fn combinators_obey_their_laws() {
    let mut compared = 0;
    each_case(150, |def, s| {
        let of = |strategy: &Strategy| result(def, strategy);
        let mut same = |a: Strategy, b: &Strategy| {
            let (left, right) = (of(&a), of(b));
            if left != Result::Stopped && right != Result::Stopped {
                assert_eq!(left, right, "{a} and {b}");
                compared += 1;
            }
        };
        let fail = || Strategy::Fail("no".to_string());
        same(fail().or(s.clone()), s);
        same(s.clone().or(fail()), s);
        same(Strategy::Id.then(s.clone()), s);
        same(s.clone().then(Strategy::Id), s);
        same(s.clone().then(fail()), &fail());
        same(fail().then(s.clone()), &fail());
        same(s.clone().at(lift_ir::Place::root()), s);
        same(s.clone().attempt().attempt(), &s.clone().attempt());
        same(s.clone().or(Strategy::Id), &s.clone().attempt());
        same(s.clone().then(fail()).repeat(), &Strategy::Id);
        same(s.clone().then(fail()).attempt(), &Strategy::Id);
        same(s.clone().then(fail()).topdown(), &Strategy::Id);
    });
    assert!(compared > 1200, "{compared}");
}

/// `try(s)` fails only where a limit is reached, and so does `s` then.
#[test]
fn attempts_never_fail() {
    let mut succeeded = 0;
    each_case(150, |def, s| match run_at_most(def, &s.clone().attempt(), LIMIT) {
        Ok(_) => succeeded += 1,
        Err(_) => assert_eq!(result(def, s), Result::Stopped, "{s}"),
    });
    assert!(succeeded > 100, "{succeeded}");
}

#[test]
fn what_is_made_has_the_type_and_the_value_of_the_original() {
    let (mut compared, mut steps) = (0, 0);
    each_case(600, |def, s| {
        let Ok(outcome) = run_at_most(def, s, LIMIT) else { return };
        let after = &outcome.def;
        assert_eq!(after.body.ty(), def.body.ty(), "{s}");
        let arguments: Vec<Value> = def
            .params
            .iter()
            .enumerate()
            .map(|(index, param)| {
                let ty = concrete_type(param.ty(), &Sizes::new()).unwrap();
                generate(Fill::Random { seed: index as u64 }, &ty).unwrap()
            })
            .collect();
        let expected = lift_interp::run(def, &arguments, &Sizes::new()).unwrap();
        let found = lift_interp::run(after, &arguments, &Sizes::new())
            .unwrap_or_else(|e| panic!("{s}\n{after}\n{}", e.message));
        assert!(compare(&found, &expected, false).is_ok(), "{s}\n{after}");
        compared += 1;
        steps += outcome.derivation.steps.len();
    });
    assert!(compared > 300 && steps > 200, "{compared} compared, {steps} steps");
}

/// What is printed of a random strategy reads back to one that does the same.
#[test]
fn random_strategies_read_back() {
    each_case(100, |def, s| {
        let again = strategy(&format!("{s:#}"));
        assert_eq!(format!("{again:#}"), format!("{s:#}"));
        assert_eq!(result(def, &again), result(def, s), "{s}");
    });
}
