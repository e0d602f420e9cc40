//! Wherever a rule applies, the program means the same afterwards: also where the program is nearly, not quite, of
//! the form that the rule asks for.

use std::collections::BTreeSet;

use lift_interp::inputs::{Fill, generate};
use lift_interp::{Sizes, Value, compare, run};
use lift_ir::{Def, Nat, Permutation};
use lift_rewrite::{Arguments, Rule, apply_in, rules};

use crate::def;

/// Sizes are numbers, so that every condition is proved or refuted.
const PROGRAMS: [&str; 29] = [
    // Functions that are the identity, a constant, another variable.
    "def f(xs: [i32; 6], y: i32) -> [i32; 6] = map(\\x -> x, map(\\x -> y, xs));",
    "def f(xs: [i32; 6], y: i32) -> [i32; 6] = xs |> map(\\x -> let z = y; x) |> map(\\x -> y + x);",
    "def f(xss: [[i32; 6]; 4]) -> [[i32; 6]; 4] = map(\\r -> map(\\x -> r[0], r), xss);",
    "def f(xss: [[i32; 4]; 4]) -> [[i32; 4]; 4] = map(\\r -> map(\\x -> x, xss[1]), xss);",
    // Boundaries and permutations that are not the same twice.
    "def f(xs: [i32; 6]) -> [i32; 12] = xs |> pad(1, 2, wrap) |> pad(2, 1, clamp);",
    "def f(xs: [i32; 6]) -> [i32; 12] = xs |> pad(1, 2, clamp) |> pad(2, 1, clamp);",
    "def f(xs: [i32; 6]) -> [i32; 12] = xs |> pad(1, 2, mirror) |> pad(2, 1, mirror);",
    "def f(xs: [i32; 6]) -> [i32; 6] = xs |> pad(0, 2, wrap) |> take(6) |> pad(2, 0, clamp) |> drop(2);",
    "def f(xs: [i32; 6]) -> [i32; 6] = xs |> gather(shift(1)) |> scatter(shift(2)) |> gather(reverse);",
    "def f(xs: [i32; 6]) -> [i32; 6] = xs |> scatter(stride(2)) |> gather(stride(2)) |> gather(stride(3));",
    "def f(xs: [i32; 6]) -> [i32; 9] = pad_value(2, 1, 1, zip(xs, xs) |> map(\\p -> p.0 * p.1));",
    "def f(xs: [i32; 6]) -> [i32; 9] = pad_value(2, 1, 0, zip(xs, xs) |> map(\\p -> p.0 * p.0));",
    // Splits, joins and windows of other sizes.
    "def f(xs: [i32; 24]) -> [[i32; 6]; 4] = xs |> split(4) |> join |> split(6);",
    "def f(xs: [i32; 24]) -> [i32; 24] = xs |> split(4) |> transpose |> join |> split(4) |> join;",
    "def f(xs: [i32; 14]) -> [i32; 12] = xs |> slide(3, 1) |> map(\\w -> w[0] * w[2]);",
    "def f(xs: [i32; 13]) -> [i32; 6] = xs |> slide(3, 2) |> map(reduceSeq(1, \\a x -> a * 2 + x));",
    "def f(xs: [i32; 8]) -> [i32; 5] = concat(take(2, xs), drop(5, xs)) |> take(4) |> pad_value(1, 0, 7);",
    // Zips of two and of three, of the same and of others.
    "def f(xs: [i32; 6], ys: [i32; 6]) -> [i32; 6] = zip(xs, ys) |> map(\\p -> p.0 + p.0);",
    "def f(xs: [i32; 6], ys: [i32; 6]) -> [i32; 6] = zip(ys, xs, ys) |> map(\\(a, b, c) -> a - b * c);",
    "def f(xs: [i32; 6], ys: [i32; 6]) -> [i32; 6] = zip(zip(xs, ys), xs) |> map(\\((a, b), c) -> a - b * c);",
    "def f(xs: [i32; 6], ys: [i32; 6]) -> ([i32; 6], [i32; 6]) = unzip(zip(ys, map(\\x -> x + 1, xs)));",
    "def f(xs: [i32; 6], ys: [i32; 6]) -> [i32; 6] =
       zip(zip(xs, ys), map(\\x -> x * 2, xs)) |> map(\\((a, b), c) -> a - b * c);",
    // Folds, and functions that do not commute.
    "def f(xs: [i32; 12]) -> i32 = xs |> map(\\x -> x * 3) |> reduceSeq(5, \\a x -> a - x * 2);",
    "def f(xss: [[i32; 3]; 4]) -> i32 = xss |> map(reduce(0, (+))) |> reduceSeq(1, \\a x -> a * 2 - x);",
    "def f(xss: [[i32; 3]; 4], zs: [i32; 3]) -> [i32; 3] =
       xss |> reduceSeq(zs, \\us xs -> zip(us, xs) |> map(\\(u, x) -> u * 2 - x));",
    "def f(xs: [i32; 8]) -> [i32; 4] = partial_reduce(4, 0, (+), map(\\x -> x - 1, xs));",
    // Names used twice, or not at all.
    "def f(xs: [i32; 6]) -> [i32; 6] = map(\\x -> let y = x * 2; y * y - x, xs);",
    "def f(xs: [i32; 6], c: i32) -> [i32; 6] = map(\\x -> x + c, let y = c * 2; map(\\x -> x * y, xs));",
    "def f(xs: [i32; 6], c: i32) -> [i32; 6] =
       let ys = map(\\x -> x * c, xs); let d = c + 1; zip(ys, gather(reverse, ys)) |> map(\\(a, b) -> a * d - b);",
];

/// What may be chosen for the parameters of a rule: the same for all of them.
fn choices(rule: &Rule) -> Vec<Arguments> {
    let law = rule.read().unwrap();
    let with = |size: i128, p: Permutation| {
        let sized = law
            .parameters
            .iter()
            .fold(Arguments::none(), |arguments, name| arguments.size(name, Nat::int(size)));
        law.reorderings.iter().fold(sized, |arguments, name| arguments.permutation(name, p.clone()))
    };
    match (law.parameters.is_empty(), law.reorderings.is_empty()) {
        (true, true) => vec![Arguments::none()],
        (true, false) => {
            vec![with(0, Permutation::Reverse), with(0, Permutation::Shift(Nat::int(1)))]
        }
        (false, _) => (0..5).map(|size| with(size, Permutation::Reverse)).collect(),
    }
}

fn value(def: &Def) -> Value {
    let inputs = def.params.iter().zip(1..);
    let args: Vec<Value> =
        inputs.map(|(param, seed)| generate(Fill::Random { seed }, param.ty()).unwrap()).collect();
    run(def, &args, &Sizes::new()).unwrap_or_else(|e| panic!("{def}\n{}", e.message))
}

#[test]
fn every_application_keeps_the_value() {
    let (mut applied, mut fired) = (0, BTreeSet::new());
    for program in PROGRAMS {
        let before = def(program);
        let expected = value(&before);
        for rule in rules() {
            for arguments in choices(rule) {
                for (place, _) in before.body.places() {
                    let Ok(after) = apply_in(rule, &before, &place, &arguments) else { continue };
                    let same = compare(&value(&after), &expected, false);
                    assert!(same.is_ok(), "{} at {place}:\n{before}\n{after}", rule.name);
                    applied += 1;
                    fired.insert(rule.name);
                }
            }
        }
    }
    assert!(applied > 1000 && fired.len() > 60, "{applied} applications of {} rules", fired.len());
}
