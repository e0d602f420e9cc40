//! How facts are used up, and what is left of them.

use super::{Known, inverse_modulo};
use crate::session::Effort;
use crate::{Nat, Pred, Var, parse, parse_assumptions};

fn nat(text: &str) -> Nat {
    parse(text).unwrap()
}

fn known(given: &str) -> Known {
    let mut known = Known::default();
    for p in parse_assumptions(given).unwrap() {
        known.assume(&p, &mut Effort::BRIEF.clone());
    }
    known
}

#[test]
fn inverses() {
    for m in 1..30_i128 {
        for a in -40..40_i128 {
            let inverse = inverse_modulo(a, &Nat::int(m));
            let exists = (0..m).any(|i| (a * i - 1) % m == 0);
            assert_eq!(inverse.is_some(), exists, "{a} modulo {m}");
            assert!(inverse.is_none_or(|i| (a * i - 1) % m == 0), "{a} modulo {m}: {inverse:?}");
        }
    }
    assert_eq!(inverse_modulo(-1, &nat("N")), Some(-1));
    assert_eq!(inverse_modulo(1, &nat("N")), Some(1));
    assert_eq!(inverse_modulo(2, &nat("N")), None);
    assert_eq!(inverse_modulo(2, &Nat::ZERO), None);
}

#[test]
fn bounds_of_variables_are_not_constraints() {
    let store = known("3 <= x, 2*y >= 7, x <= 2*x + 4, z >= -2");
    assert!(store.constraints.is_empty(), "{:?}", store.constraints);
    let lower = |name: &str| store.lower.get(&Var::named(name)).copied();
    assert_eq!(["x", "y", "z", "w"].map(lower), [Some(3), Some(4), Some(-2), None]);
    // What is divided out of a constraint is rounded down.
    let store = known("4*x + 6*y + 7 >= 0, 4*x <= 6*y - 7, x*y >= 3");
    assert_eq!(store.constraints, ["2*x + 3*y + 3", "3*y - 2*x - 4", "x*y - 3"].map(nat));
}

/// The least value of a factor follows from that of its product.
#[test]
fn factors_are_bounded_through_products() {
    for (given, least) in [
        ("1 <= a, a*x >= 1", Some(1)),
        ("0 <= a, a*x >= 1", Some(1)),
        ("a*x >= 1", None),
        ("-1 <= a, a*x >= 1", None),
        ("1 <= a, a*x >= 0", Some(0)),
        ("0 <= a, a*x >= 0", None),
        ("2 <= a, a*x >= -7", Some(-3)),
        ("2 <= a, a*a*x >= -9", Some(-2)),
        ("2 <= a, 3 <= b, a*b*x >= -13", Some(-2)),
        ("2 <= a, x*x*a >= 1", None),
        ("2 <= a, a*x <= 1", None),
        ("2 <= a, a*x + b >= 1", None),
        // One bound leads to the next.
        ("1 <= a, a*x >= 1, x*y >= 1, y*z >= 1, z <= 5", Some(1)),
    ] {
        let store = known(given);
        assert_eq!(store.lower.get(&Var::named("x")).copied(), least, "{given}");
    }
    let store = known("1 <= a, a*x >= 1, x*y >= 1, y*z >= 1");
    assert_eq!(store.lower.get(&Var::named("z")), Some(&1));
}

/// An equality or a divisibility is gone when a variable is solved by it.
#[test]
fn solving_uses_facts_up() {
    for (given, variable, solution) in [
        ("x == y + 3", "x", "y + 3"),
        ("2*x == 2*y + 6", "x", "y + 3"),
        ("x + y == 3", "x", "3 - y"),
        ("0 == y - x", "x", "y"),
        ("2*a == x*y + b", "b", "2*a - x*y"),
        ("3*a + b*c == x", "x", "3*a + b*c"),
    ] {
        let store = known(given);
        assert_eq!(store.solution(&Var::named(variable)), Some(nat(solution)), "{given}");
        assert!(store.constraints.is_empty() && store.divides.is_empty(), "{given}");
        assert!(store.vars().iter().all(|v| v.name() != "#"), "nothing is made up: {given}");
        assert!(!store.keeps(&nat(variable)) && store.keeps(&nat("other")));
    }
    let store = known("N % 8 == 0");
    let solved = store.solve(&nat("N / 8"));
    assert!(solved.as_var().is_some_and(|v| v.name() == "#"), "{solved}");
    assert_eq!(store.unsolve(&solved).to_string(), "N / 8");
    assert_eq!(store.unsolve(&(solved * Nat::int(8))), nat("N"));
    // What cannot be solved stays.
    assert_eq!(known("x*y % 4 == 0").divides, [(nat("4"), nat("x*y"))]);
    assert_eq!(known("x*y == 4").constraints, ["x*y - 4", "4 - x*y"].map(nat));
    assert_eq!(known("x*y % (-6) == 0").divides, [(nat("6"), nat("x*y"))]);
    assert_eq!(known("2*x % 4 == 0").solution(&Var::named("x")).map(|n| n.constant()), Some(0));
    // A divisor that mentions the variable does not solve it.
    assert_eq!(known("x % (x + 2) == 0").divides, [(nat("x + 2"), nat("x"))]);
}

/// Whatever was said about a variable is said about what it stands for.
#[test]
fn facts_follow_a_solution() {
    let store = known("3 <= x, x <= z, x != w, x*y % 4 == 0, x == v + 1");
    assert_eq!(store.solution(&Var::named("x")), None);
    assert_eq!(store.solution(&Var::named("v")), Some(nat("x - 1")));
    let store = known("v >= 2, v <= z, v != w, v*y % 4 == 0, a == 1, x == v");
    let solved = ["v", "x"].map(|name| store.solution(&Var::named(name)).is_some());
    assert_eq!(solved.iter().filter(|s| **s).count(), 1, "{solved:?}");
    let (gone, left) = if solved[0] { ("v", "x") } else { ("x", "v") };
    assert!(!store.lower.contains_key(&Var::named(gone)));
    assert_eq!(store.lower.get(&Var::named(left)), Some(&2));
    assert_eq!(store.constraints, [nat("z") - nat(left)]);
    assert_eq!(store.divides, [(nat("4"), nat(left) * nat("y"))]);
    assert!(store.unequal(&(nat(left) - nat("w"))) && store.unequal(&(nat("w") - nat(left))));
    assert!(!store.unequal(&(nat(left) - nat("y"))));
    let over = Nat::int(i128::MAX) + Nat::ONE;
    let mut store = Known::default();
    store.assume(&Pred::Ne(over.clone(), Nat::ZERO), &mut Effort::BRIEF.clone());
    assert!(!store.unequal(&over));
}

/// Made-up variables are told apart, and answers are in terms of the others.
#[test]
fn made_up_variables_do_not_show() {
    let store = known("N % 8 == 0, M % 8 == 0, K % T == 0, T % 4 == 0");
    for text in [
        "N + M",
        "N / 8 + M / 8",
        "N / 4",
        "3*(N / 8)",
        "K",
        "K / T",
        "T / 4 * K",
        "N*M / 64",
        "K / 4",
    ] {
        let back = store.unsolve(&store.solve(&nat(text)));
        assert!(!back.to_string().contains('#'), "{text}: {back}");
        for (n, m, k, t) in [(8, 24, 12, 4), (40, 16, 32, 8), (56, 8, 24, 12)] {
            let at = |v: &Var| match v.name() {
                "N" => Some(n),
                "M" => Some(m),
                "K" => Some(k),
                "T" => Some(t),
                _ => None,
            };
            assert_eq!(back.eval(&at), nat(text).eval(&at), "{text}: {back}");
        }
    }
    let vars: Vec<String> = store.vars().iter().map(Var::to_string).collect();
    for name in ["N", "M", "K", "T"] {
        assert!(vars.contains(&name.to_string()), "{vars:?}");
    }
}

/// At every point where what is known holds, a value is between its bounds, and a value that is negative somewhere on the border has a
/// counterexample.
#[test]
fn bounds_and_counterexamples_of_values() {
    let store = known("0 <= x, x <= 5, -2 <= y, y <= 3, 1 <= z, z <= 2");
    for text in [
        "3*x - 2*y + z - 4",
        "x*z - 7",
        "x*y + 12",
        "max(0, min(x + y - 1, 4)) - 1",
        "min(x, 4 - y) + (x + 7) / 3",
        "5 - x - (y + 2) / 2",
        "if x < y then x - 1 else y + 2",
        "9 - x*x",
        "20 - x*x*z",
    ] {
        let value = nat(text);
        let bounds = store.bounds(&value);
        let mut least = i128::MAX;
        for (x, y, z) in (0..=5).flat_map(|x| (-2..=3).flat_map(move |y| [(x, y, 1), (x, y, 2)])) {
            let at = |v: &Var| {
                Some(if v.name() == "x" {
                    x
                } else if v.name() == "y" {
                    y
                } else {
                    z
                })
            };
            let found = value.eval(&at).unwrap();
            assert!(bounds.least.is_none_or(|least| least <= found), "{text} at {x} {y} {z}");
            assert!(bounds.most.is_none_or(|most| found <= most), "{text} at {x} {y} {z}");
            least = least.min(found);
        }
        assert_eq!(store.has_counterexample(&value), least < 0, "{text}");
    }
    // What is not bounded has none, and what is between takes what is known of it.
    assert!(store.bounds(&nat("x + w")).least.is_none());
    assert!(!store.has_counterexample(&nat("w*w - w")));
    assert!(known("0 <= x, x <= 9, x <= y, y <= 9").has_counterexample(&nat("8 - y")));
    assert!(!known("0 <= x, x <= 9, 3 <= y, x + y <= 9").has_counterexample(&nat("6 - x")));
}
