//! What must be found: bounds that are attained, quotients that come out, facts that follow.

use crate::common::config;
use lift_nat::{Facts, Nat, Pred, Range, Var, default_facts, parse, parse_assumptions};
use proptest::prelude::*;

pub fn nat(text: &str) -> Nat {
    parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn pred(text: &str) -> Pred {
    Pred::And(parse_assumptions(text).unwrap_or_else(|e| panic!("{text}: {e}")))
}

/// Nothing but what is given: variables are integers.
pub fn integers(given: &str) -> Facts {
    let mut facts = Facts::new();
    facts.assume(&pred(given));
    facts
}

/// Sizes are at least one, other variables at least zero.
pub fn naturals(given: &str) -> Facts {
    default_facts(&[], &parse_assumptions(given).expect("assumptions"))
}

/// All that is wrong with a table, not only the first.
#[derive(Default)]
pub struct Wrong(String);

impl Wrong {
    pub fn unless(&mut self, right: bool, what: impl FnOnce() -> String) {
        if !right {
            self.0 += &(what() + "\n");
        }
    }

    pub fn none(self) {
        assert!(self.0.is_empty(), "\n{}", self.0);
    }
}

/// The least and the greatest value, both attained where the facts hold.
#[test]
fn bounds_are_tight() {
    let mut wrong = Wrong::default();
    for (given, value, least, greatest) in [
        ("3 <= x", "x", Some(3), None),
        ("x <= 3", "x", None, Some(3)),
        ("3 < x", "x", Some(4), None),
        ("x < 3", "x", None, Some(2)),
        ("x == 3", "x", Some(3), Some(3)),
        ("x < y, y < 10", "x", None, Some(8)),
        ("2 < x, x + 1 < y", "y", Some(5), None),
        ("7 <= 2*x, 3*x <= 17", "x", Some(4), Some(5)),
        ("7 <= 2*x + 4*y", "x + 2*y", Some(4), None),
        ("7 <= 2*x + 4*y", "3*x + 6*y", Some(12), None),
        ("-7 <= 2*x", "x", Some(-3), None),
        ("2*x <= -7", "x", None, Some(-4)),
        ("x <= 5, x != 5", "x", None, Some(4)),
        ("5 <= x, x != 5", "x", Some(6), None),
        ("x + y <= 5, x + y != 5", "x + y", None, Some(4)),
        ("5 <= x + y, x + y != 5", "x + y", Some(6), None),
        ("2 <= T, T*x + 7 >= 0", "x", Some(-3), None),
        ("2 <= T, 3*T*x + 7 >= 0", "x", Some(-1), None),
        ("0 <= T, T*x >= 5", "x", Some(1), None),
        ("0 <= T, T*x >= 1", "x", Some(1), None),
        ("1 <= T, T*x >= 0", "x", Some(0), None),
        ("0 <= T, T*x >= 0", "x", None, None),
        ("T*x >= 5", "x", None, None),
        ("2 <= T, 3 <= S, T*S*x + 20 >= 0", "x", Some(-3), None),
        ("x == 2*y + 1, 2 <= y <= 4", "x", Some(5), Some(9)),
        ("3*x == 2*y, 1 <= x, x <= 8", "y", Some(3), Some(12)),
        ("x % 4 == 0, 1 <= x, x <= 11", "x", Some(4), Some(8)),
        ("(x + 1) % 4 == 0, 1 <= x, x <= 12", "x", Some(3), Some(11)),
        ("(3*x + 1) % 7 == 0, 3 <= x, x <= 15", "x", Some(9), Some(9)),
        ("x % 4 == 2, 0 <= x, x <= 11", "x", Some(2), Some(10)),
        ("x % 4 == 2, 3 <= x", "x", Some(6), None),
        ("0 <= x <= 3, 0 <= y <= 4", "x*y", Some(0), Some(12)),
        ("1 <= x <= 3, 2 <= y <= 4", "x*y", Some(2), Some(12)),
        ("1 <= x <= 3", "x*x", Some(1), Some(9)),
        ("", "x*x", Some(0), None),
        ("", "x*x + 3", Some(3), None),
        ("", "x % 4", Some(-3), Some(3)),
        ("0 <= x", "x % 4", Some(0), Some(3)),
        ("0 <= x <= 17", "x / 4", Some(0), Some(4)),
        ("-17 <= x <= 17", "4*(x / 4)", Some(-20), Some(20)),
        ("0 <= x", "x - x / 4 * 4", Some(0), Some(3)),
        ("0 <= n", "2^n", Some(1), None),
        ("3 <= n", "2^n - n", Some(1), None),
        ("0 <= n", "2^n - n", Some(1), None),
        ("0 <= n", "0^n", Some(0), None),
        ("1 <= x <= 30", "log2(x)", Some(0), Some(29)),
        ("", "log2(x)", Some(0), None),
        ("", "log2(x) - x", None, Some(-1)),
        ("x <= 9", "min(x, 4)", None, Some(4)),
        ("2 <= x", "min(x, 4)", Some(2), Some(4)),
        ("2 <= x <= 3", "min(x, 4)", Some(2), Some(3)),
        ("x <= 9", "max(x, 4)", Some(4), None),
        ("x <= 3", "max(x, 4)", Some(4), Some(4)),
        ("0 <= x, 0 <= y", "if x < y then x + 3 else y + 5", Some(3), None),
        ("0 <= x, x % 3 == 0", "x // 3", Some(0), None),
        ("1 <= x, x*y % 3 == 0, 1 <= y", "x*y // 3", Some(1), None),
        ("0 <= x, x*y % 3 == 0, 0 <= y", "x*y // 3", Some(0), None),
    ] {
        let (facts, n) = (integers(given), nat(value));
        let found = (facts.lower(&n), facts.upper(&n));
        let right = found == (least, greatest);
        wrong.unless(right, || {
            format!("{value} where {given}: {found:?}, not {:?}", (least, greatest))
        });
        let mut holds = |p: Pred, expected: bool| {
            let right = facts.proves(&p) == expected && (!expected || !facts.refutes(&p));
            wrong.unless(right, || format!("{p} where {given} is {expected}"));
        };
        if let Some(least) = least {
            let less = |i: i128| Pred::Lt(n.clone(), Nat::int(i));
            holds(Pred::Le(Nat::int(least), n.clone()), true);
            holds(Pred::Lt(Nat::int(least - 1), n.clone()), true);
            holds(Pred::Lt(Nat::int(least), n.clone()), false);
            holds(Pred::Ne(n.clone(), Nat::int(least - 1)), true);
            holds(less(least), false);
            let refuted = facts.refutes(&less(least)) && !facts.refutes(&less(least + 1));
            wrong.unless(refuted, || format!("{value} < {least} where {given}"));
        }
        if let Some(greatest) = greatest {
            let (first, last) = (Nat::int(greatest), Nat::int(greatest - 1));
            wrong.unless(facts.at_most(&n, &first), || format!("{value} where {given}"));
            wrong.unless(!facts.at_most(&n, &last), || format!("{value} where {given}"));
            wrong.unless(!facts.less(&n, &first), || format!("{value} where {given}"));
        }
    }
    wrong.none();
}

/// What follows, and next to it what does not.
#[test]
fn consequences() {
    let mut wrong = Wrong::default();
    for (given, follows, open) in [
        ("x != y", "x != y, y != x", "x < y"),
        ("x != y", "x + z != y + z", "x != z"),
        ("x == y + 1", "x != y, y < x, x - 1 == y", "x == z"),
        ("2*x == 3*y", "x % 3 == 0, y % 2 == 0, 4*x == 6*y", "x % 2 == 0"),
        ("6*x == 4*y", "3*x == 2*y, y % 3 == 0", "x % 4 == 0"),
        ("x == y, y == z", "x == z", "x == w"),
        ("x % 4 == 0, y % 4 == 0", "(x + y) % 4 == 0, (x - 3*y + 8) % 2 == 0", "(x + y) % 8 == 0"),
        ("x % 4 == 0", "x % 2 == 0, 3*x % 12 == 0, x*y % 4 == 0", "x % 8 == 0"),
        ("x % 6 == 0, x % 4 == 0", "x % 12 == 0", "x % 24 == 0"),
        ("x % -4 == 0", "x % 4 == 0", "x % 8 == 0"),
        ("(x + y) % 4 == 0, y % 2 == 0", "x % 2 == 0", "x % 4 == 0"),
        ("(3*x + 1) % 7 == 0", "(x - 2) % 7 == 0, (x + 5) % 7 == 0", "x % 7 == 0"),
        ("(5*x - y) % 9 == 0", "(x - 2*y) % 9 == 0", "x % 9 == 0"),
        ("x*y % 4 == 0", "x*y*z % 4 == 0, 3*x*y % 12 == 0, (x*y + 8) % 4 == 0", "x*y % 8 == 0"),
        ("x*y % 4 == 0", "x*y / 4 * 4 == x*y", "x / 4 * 4 == x"),
        ("x % y == 0, y % z == 0", "x % z == 0", "x % (y*z) == 0"),
        ("0 <= x, x % 4 == 2", "(x + 2) % 4 == 0, x / 4 * 4 + 2 == x", "x % 8 == 2"),
        ("0 <= x, x % y == 3, 1 <= y", "(x - 3) % y == 0, x % y != 0", "x % 2 == 0"),
        ("x*y == 0", "0 <= x*y, x*y <= 0", "x == 0"),
        ("x / 4 == 2, 0 <= x", "8 <= x, x <= 11", "9 <= x"),
        ("x*x == 4", "x*x <= 4, 4 <= x*x", "x == 2"),
        ("0 <= x < y", "1 <= y, x != y, x*x <= x*y", "x + 1 < y"),
        ("0 <= x < y, 0 <= z < w, 0 <= w", "x*w + z < y*w", "x*w + z < y*w - 1"),
        ("0 <= x, 1 <= y", "x / y <= x, x / y * y <= x, x < x / y * y + y", "x / y < x"),
        ("0 <= x < 4*y", "x / 4 < y", "x / 4 < y - 1"),
        ("0 <= x < y*4, 0 <= y", "x / 4 < y, 4*(x / 4) < 4*y", "x / 4 < y - 1"),
        (
            "0 <= x, 1 <= y, 1 <= z",
            "x / y / z <= x / y, x / (y*z) * z <= x / y",
            "x / y / z < x / y",
        ),
        ("0 <= x", "x / 4 <= x / 2, x / 2 <= 2*(x / 4) + 1", "x / 2 <= 2*(x / 4)"),
        ("", "min(x, y) <= x, min(x, y) <= max(x, y), y <= max(x, y)", "x <= min(x, y)"),
        ("x <= y", "min(x, y) == x, max(x, y) == y", "min(x, y) == y"),
        ("0 <= x, 0 <= y", "0 <= min(x, y) + max(x, y), max(x, y) <= x + y", "max(x, y) <= x"),
        ("", "(if x < y then y - x else x - y) >= 0", "(if x < y then x else y) >= 0"),
        ("0 <= x", "x % 3 + x / 3 * 3 == x, x % 3 <= x", "x % 3 == x"),
        ("0 <= i <= n", "2^(n - i) * 2^i == 2^n", "2^n == 2^i"),
        ("6 <= x, 6 <= y, x*y % 3 == 0", "12 <= x*y // 3, x*y // 3 <= x*y", "13 <= x*y // 3"),
        ("0 <= x, 0 <= y, x*y <= 36", "x*y // 3 <= 12", "x*y // 3 <= 11"),
        ("1 <= x", "log2(x) < x, log2(2*x) == log2(x) + 1", "log2(x) < x - 1"),
    ] {
        let facts = integers(given);
        for claim in parse_assumptions(follows).expect(follows) {
            wrong.unless(facts.proves(&claim), || format!("{claim} where {given}"));
            wrong.unless(!facts.refutes(&claim), || format!("not {claim} where {given}"));
        }
        let open = pred(open);
        wrong.unless(!facts.proves(&open), || format!("open: {open} where {given}"));
        wrong.unless(!facts.refutes(&open), || format!("open: not {open} where {given}"));
    }
    wrong.none();
}

#[test]
fn what_cannot_be_is_refuted() {
    let mut wrong = Wrong::default();
    for (given, claim) in [
        ("0 <= x, x % 4 == 0", "x % 4 == 1"),
        ("x % 4 == 0, 0 <= x", "(x + 1) % 4 == 0"),
        ("x % 4 == 0, x <= 0", "(x - 1) % 2 == 0"),
        ("x < y", "y <= x"),
        ("x < y", "y < x"),
        ("x < y", "x == y"),
        ("x == y", "x != y"),
        ("x != y", "x == y"),
        ("x < y", "z < w, y <= x"),
        ("1 <= x, x < y", "x % y == 0"),
    ] {
        let facts = integers(given);
        let claim = pred(claim);
        wrong.unless(facts.refutes(&claim), || format!("{claim} where {given}"));
        wrong.unless(!facts.proves(&claim), || format!("proved: {claim} where {given}"));
        let simple = facts.simplify_pred(&claim);
        let never = Pred::Eq(Nat::ZERO, Nat::ONE);
        wrong.unless(simple == never, || format!("{claim} where {given}: {simple}"));
    }
    wrong.none();
}

#[test]
fn one_of_several_values() {
    let v = Var::named("v");
    let value = Nat::var(&v);
    let mut facts = naturals("N % 6 == 0, i < N");
    facts.one_of(&v, vec![nat("N"), nat("N / 2"), nat("N / 3")]);
    assert!(facts.proves(&pred("v <= N, 2 <= v, v != N + 1, 0 < v")));
    assert!(!facts.proves(&pred("v < N")) && !facts.proves(&pred("3 <= v")));
    assert!(facts.refutes(&Pred::Eq(value.clone(), nat("N + 1"))));
    assert_eq!(facts.lower(&value), Some(2));
    assert_eq!(facts.lower(&(&value * Nat::int(3))), Some(6));
    assert_eq!(facts.upper(&value), None);
    // Two at a time are split over.
    let w = Var::named("w");
    facts.one_of(&w, vec![Nat::int(2), Nat::int(4)]);
    assert!(facts.proves(&pred("w % 2 == 0, w != 3, w*v >= 4")));
    assert!(facts.divides(&Nat::int(2), &(Nat::var(&w) * &value)));
    // Those that the claim does not mention take none of the splits.
    let mut many = Facts::new();
    let all = ["a", "b", "c", "d"].map(Var::named);
    all.iter().for_each(|v| many.one_of(v, vec![Nat::int(2), Nat::int(4)]));
    assert!(many.proves(&pred("d % 2 == 0")) && many.proves(&pred("c*d % 4 == 0")));
    let mut one = Facts::new();
    one.one_of(&v, vec![Nat::int(7)]);
    assert!(one.equal(&value, &Nat::int(7)));
    assert!(!one.equal(&value, &Nat::int(8)));
}

#[test]
fn ranges_are_what_they_say() {
    let v = Var::named("v");
    let bounds = |range: Range| {
        let mut facts = Facts::new();
        facts.declare(&v, range);
        (facts.lower(&Nat::var(&v)), facts.upper(&Nat::var(&v)))
    };
    assert_eq!(bounds(Range::at_least(Nat::int(-2))), (Some(-2), None));
    assert_eq!(bounds(Range::below(Nat::int(5))), (Some(0), Some(4)));
    assert_eq!(bounds(Range::between(Nat::int(3), Nat::int(5))), (Some(3), Some(5)));
    assert_eq!(bounds(Range::any()), (None, None));
    // A later, weaker fact takes nothing back.
    let mut facts = Facts::new();
    facts.declare(&v, Range::at_least(Nat::int(5)));
    facts.declare(&v, Range::at_least(Nat::int(2)));
    assert_eq!(facts.lower(&Nat::var(&v)), Some(5));
    let facts = default_facts(&[&nat("N + n + _x")], &[]);
    assert_eq!(["N", "n", "_x"].map(|name| facts.lower(&nat(name))), [Some(1), Some(0), Some(0)]);
}

/// A size or a constant, by its text.
fn radix() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["N", "M", "K", "2", "3", "8", "16"])
}

proptest! {
    #![proptest_config(config(60))]

    /// A position `((i * r1 + j) * r2 + k)` comes apart into its digits, and lies in bounds.
    #[test]
    fn digits_of_positions(r0 in radix(), r1 in radix(), r2 in radix()) {
        let facts = naturals(&format!("i < {r0}, j < {r1}, k < {r2}, N >= 1, M >= 1, K >= 1"));
        let position = format!("((i*{r1} + j)*{r2} + k)");
        for (digit, text) in [
            ("i", format!("{position} / {r2} / {r1}")),
            ("i", format!("{position} / ({r1}*{r2})")),
            ("j", format!("{position} / {r2} % {r1}")),
            ("j", format!("{position} % ({r1}*{r2}) / {r2}")),
            ("k", format!("{position} % {r2}")),
            ("k", format!("{position} % ({r1}*{r2}) % {r2}")),
            ("0", format!("{position} / ({r0}*{r1}*{r2})")),
        ] {
            prop_assert_eq!(facts.simplify(&nat(&text)).to_string(), digit, "{}", text);
        }
        let inside = pred(&format!("0 <= {position}, {position} < {r0}*{r1}*{r2}"));
        prop_assert!(facts.proves(&inside), "{}", inside);
        let further = pred(&format!("{position} < {r0}*{r1}*{r2} - 1"));
        prop_assert!(!facts.proves(&further), "{}", further);
    }

    /// `c * x >= k` is `x >= k / c` rounded up, in all its spellings.
    #[test]
    fn bounds_are_rounded(c in 1..9_i128, k in -30..30_i128, d in 1..4_i128) {
        let x = nat("x");
        let scaled = &x * Nat::int(c);
        let mut below = Facts::new();
        below.assume(&Pred::Le(Nat::int(k), scaled.clone()));
        let least = k.div_euclid(c) + i128::from(k.rem_euclid(c) != 0);
        prop_assert_eq!(below.lower(&x), Some(least));
        prop_assert_eq!(below.lower(&(&x * Nat::int(d) + nat("5"))), Some(least * d + 5));
        let mut above = Facts::new();
        above.assume(&Pred::Lt(scaled, Nat::int(k)));
        prop_assert_eq!(above.upper(&x), Some((k - 1).div_euclid(c)));
    }

    /// What is congruent to `r` modulo `m` is found to be, and nothing else.
    #[test]
    fn congruences(a in 1..12_i128, r in 0..12_i128, m in 2..12_i128, b in 1..12_i128) {
        let x = nat("x");
        let multiple = |a: i128, r: i128, m: i128| {
            Pred::divides(Nat::int(m), &x * Nat::int(a) + Nat::int(r))
        };
        let mut facts = Facts::new();
        facts.declare(&Var::named("x"), Range::at_least(Nat::ZERO));
        facts.assume(&multiple(a, r, m));
        let solutions: Vec<i128> = (0..m).filter(|x| (a * x + r) % m == 0).collect();
        prop_assume!(!solutions.is_empty());
        for s in 0..m {
            let claim = multiple(b, s, m);
            let truths: Vec<bool> = solutions.iter().map(|x| (b * x + s) % m == 0).collect();
            let always = truths.iter().all(|t| *t);
            prop_assert_eq!(facts.proves(&claim), always, "{} where {}x + {} % {}", claim, a, r, m);
            prop_assert!(!facts.refutes(&claim) || !truths.contains(&true), "{}", claim);
        }
    }
}
