//! What an expression is made of.

use super::{atom, monomial, nat, term};
use crate::term::{Atom, Mono};
use crate::{Nat, Var};

#[test]
fn occurrences_of_variables() {
    let x = Var::named("x");
    for (text, mentions, chooses, polynomial_in, polynomial) in [
        ("7", false, false, true, true),
        ("x", true, false, true, true),
        ("y*z + 1", false, false, true, true),
        ("x*y + 1", true, false, true, true),
        ("x + y/z", true, false, true, false),
        ("x / z", true, false, false, false),
        ("z / x", true, false, false, false),
        ("2^x", true, false, false, false),
        ("log2(x)", true, false, false, false),
        ("min(x, y)", true, true, false, false),
        ("max(y, x + 1)", true, true, false, false),
        ("min(y, z)", false, false, true, false),
        ("min(y, z) + x", true, false, true, false),
        ("x*min(y, z)", true, false, true, false),
        ("min(y, z / x)", true, true, false, false),
        ("min(y, z) / x", true, false, false, false),
        ("min(x, z) / y", true, true, false, false),
        ("(if x < y then 1 else 2) / z", true, true, false, false),
        ("if y < z then 1 else x", true, true, false, false),
        ("if y % x == 0 then 1 else 2", true, true, false, false),
        ("(x // 3) + min(y, z)", true, false, false, false),
    ] {
        let n = nat(text);
        assert_eq!(n.mentions(&x), mentions, "{text}");
        assert_eq!(n.vars().contains(&x), mentions, "{text}");
        assert_eq!(n.chooses_by(&x), chooses, "{text}");
        assert_eq!(n.is_polynomial_in(&x), polynomial_in, "{text}");
        assert_eq!(n.is_polynomial(), polynomial, "{text}");
        let mut seen = Vec::new();
        n.each_var(&mut |v| seen.push(v.clone()));
        assert_eq!(seen.into_iter().collect::<std::collections::BTreeSet<_>>(), n.vars());
        // Replacing what is not there changes nothing; replacing `x` by itself neither.
        assert_eq!(n.substitute(&|v| (v.name() == "w").then_some(Nat::ONE)), n);
        assert_eq!(n.substitute(&|v| Some(Nat::var(v))), n, "{text}");
    }
    let over = Nat::int(i128::MAX) + Nat::ONE;
    assert!(!over.is_polynomial() && over.vars().is_empty());
    assert_eq!(nat("x/y + x*y").substitute(&|v| (*v == x).then(|| nat("2*y"))), nat("2 + 2*y*y"));
}

#[test]
fn parts_of_a_sum() {
    for (text, constant, largest, depth, terms) in [
        ("0", 0, 0, 0, 0),
        ("7", 7, 7, 0, 1),
        ("-7", -7, 7, 0, 1),
        ("x", 0, 1, 0, 1),
        ("3*x - 9", -9, 9, 0, 2),
        ("12*x - 9", -9, 12, 0, 2),
        ("x / 30 + 4", 4, 30, 1, 2),
        ("(x - 50) / 30 + 4", 4, 50, 1, 2),
        ("min(x / 8, 70)", 0, 70, 2, 1),
        ("if x < 80 then y else 3", 0, 80, 1, 1),
        ("-20*(x / 8)", 0, 20, 1, 1),
    ] {
        let n = nat(text);
        assert_eq!(n.constant(), constant, "{text}");
        assert_eq!(n.largest_constant(), largest, "{text}");
        assert_eq!(n.depth(), depth, "{text}");
        assert_eq!(n.term_count(), terms, "{text}");
        assert_eq!(n.terms().len(), terms, "{text}");
    }
    let over = Nat::int(i128::MAX) + Nat::ONE;
    assert_eq!((over.constant(), over.largest_constant(), over.term_count()), (0, u128::MAX, 0));
    assert_eq!((over.size(), Nat::int(5).size(), nat("x + 1").size()), (1, 1, 3));
}

#[test]
fn what_a_value_is() {
    let x = Var::named("x");
    assert_eq!(nat("x").as_var(), Some(&x));
    assert_eq!(nat("x").as_atom(), Some(&atom("x")));
    assert_eq!(nat("x / y").as_var(), None);
    assert!(matches!(nat("x / y").as_atom(), Some(Atom::Quot(..))));
    for text in ["2*x", "x + 1", "x*x", "x*y", "5", "0", "-x"] {
        assert_eq!(nat(text).as_atom(), None, "{text}");
        assert_eq!(nat(text).as_var(), None, "{text}");
    }
    assert_eq!(nat("3*a*b").as_term(), Some(term(3, &monomial([1, 1, 0]))));
    assert_eq!(nat("5").as_term(), Some(term(5, &Mono::one())));
    assert_eq!((nat("a + 1").as_term(), nat("0").as_term()), (None, None));
    assert_eq!((nat("5").as_int(), nat("a").as_int()), (Some(5), None));
}

#[test]
fn atoms_know_their_parts() {
    for (text, depth, size) in [
        ("a / b", 1, 5),
        ("log2(a + 1)", 1, 4),
        ("min(a, b, c)", 1, 7),
        ("(a + a/b) / (c + c/d)", 2, 17),
    ] {
        let n = nat(text);
        let atom = n.as_atom().unwrap_or_else(|| panic!("{text} is an atom"));
        assert_eq!((atom.depth(), atom.size()), (depth, size), "{text}");
    }
    assert_eq!((atom("x").depth(), atom("x").size()), (0, 1));
}

#[test]
fn powers_with_large_exponents_stay() {
    assert_eq!(nat("x^65536").as_term().map(|t| t.mono.degree()), Some(65_536));
    assert!(matches!(nat("x^65537").as_atom(), Some(Atom::Pow(..))));
    assert!(matches!(nat("x^-1").as_atom(), Some(Atom::Pow(..))));
    assert_eq!(nat("(x^n)^3"), nat("(x^n)*(x^n)*(x^n)"));
    assert_eq!(nat("(x^n)^m"), nat("x^(n*m)"));
}

/// Only parts that another beats are dropped, and of many parts none.
#[test]
fn extrema_keep_what_counts() {
    assert_eq!(nat("min(x + 2, y, x + 1)"), nat("min(x + 1, y)"));
    assert_eq!(nat("min(x + 1, y, x + 2)"), nat("min(y, x + 1)"));
    assert_eq!(nat("max(x + 2, y, x + 1)"), nat("max(y, x + 2)"));
    assert_eq!(nat("max(x, x)"), nat("x"));
    assert_eq!(nat("min(max(x, y), z)"), nat("min(z, max(y, x))"));
    assert_eq!(nat("max(max(x, y), z)"), nat("max(x, y, z)"));
    let parts = |n: usize| (0..n).map(|i| nat(&format!("x{i}"))).collect::<Vec<_>>();
    let counted = |mut all: Vec<Nat>| {
        all.push(nat("x0 + 1"));
        match Nat::min_of(all).as_atom() {
            Some(Atom::Min(parts)) => parts.len(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!((counted(parts(64)), counted(parts(65))), (64, 66));
}
