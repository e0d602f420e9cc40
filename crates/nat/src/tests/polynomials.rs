//! Laws of sums and of their division that hold for every value.

use super::{atom, monomial, nat, term};
use crate::divide::gcd;
use crate::ops::less_multiple;
use crate::term::{Mono, Term};
use crate::{EvalError, Nat};
use proptest::prelude::*;

fn polynomial() -> impl Strategy<Value = Nat> {
    let exponents = || prop::array::uniform3(0..3_u32);
    let terms = prop::collection::vec((-6..=6_i128, exponents()), 0..5);
    terms.prop_map(|all| Nat::from_terms(all.into_iter().map(|(c, e)| Term::new(c, monomial(e)))))
}

fn at(n: &Nat, values: [i128; 3]) -> i128 {
    let value = |name: &str| Some(values[["a", "b", "c"].iter().position(|n| *n == name)?]);
    n.eval(&|v| value(v.name())).expect("a value")
}

const POINTS: [[i128; 3]; 4] = [[2, 3, 5], [-1, 4, 7], [0, -2, 1], [11, 13, -17]];

fn sum_of(names: std::ops::Range<usize>) -> Nat {
    names.fold(Nat::ZERO, |sum, i| sum + nat(&format!("x{i}")))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn sums_and_products_have_the_values_of_their_parts(p in polynomial(), q in polynomial()) {
        for v in POINTS {
            let (x, y) = (at(&p, v), at(&q, v));
            prop_assert_eq!(at(&(&p + &q), v), x + y);
            prop_assert_eq!(at(&(&p - &q), v), x - y);
            prop_assert_eq!(at(&(&p * &q), v), x * y);
            prop_assert_eq!(at(&-&p, v), -x);
            prop_assert_eq!(at(&p.raise(3), v), x * x * x);
        }
        prop_assert_eq!(&p + &q - &q, p.clone());
        prop_assert_eq!(&p - &p, Nat::ZERO);
        prop_assert_eq!(p.cmp(&q), q.cmp(&p).reverse());
        prop_assert_eq!(p.cmp(&q).is_eq(), p == q);
    }

    #[test]
    fn a_multiple_is_taken_off(
        p in polynomial(), q in polynomial(), scale in 1..5_i128, factor in 1..5_i128,
        e in prop::array::uniform3(0..3_u32),
    ) {
        let mono = monomial(e);
        let expected = &p * Nat::int(scale) - Nat::term(factor, mono.clone()) * &q;
        prop_assert_eq!(less_multiple(&p, scale, &q, (factor, &mono)), expected);
    }

    #[test]
    fn what_one_is_more_than_another_is_their_difference(
        p in polynomial(), q in polynomial(), apart in -9..9_i128,
    ) {
        prop_assert_eq!(p.int_more_than(&q), (&p - &q).as_int());
        prop_assert_eq!((&p + Nat::int(apart)).int_more_than(&p), Some(apart));
        prop_assert_eq!(p.int_more_than(&Nat::overflow()), None);
    }

    #[test]
    fn division_undoes_multiplication(p in polynomial(), q in polynomial()) {
        let product = &p * &q;
        if q == Nat::ZERO {
            prop_assert_eq!(p.over(&q), None);
        } else {
            prop_assert_eq!(product.over(&q), Some(p.clone()));
            prop_assert_eq!(product.div(&q), p.clone());
            prop_assert_eq!(product.exact_div(&q), p.clone());
            prop_assert_eq!(product.rem(&q), Nat::ZERO);
        }
        if let Some(k) = p.over(&q) {
            prop_assert_eq!(k * q, p);
        }
    }

    #[test]
    fn the_content_is_what_all_terms_share(p in polynomial(), e in prop::array::uniform3(0..2_u32)) {
        prop_assume!(p != Nat::ZERO);
        let content = p.content();
        prop_assert!(content.coeff > 0);
        let primitive = p.over(&content.clone().into()).expect("the content divides");
        prop_assert_eq!(primitive.content(), term(1, &Mono::one()));
        let scaled = p * Nat::term(-4, monomial(e));
        prop_assert_eq!(scaled.content(), content.times(&term(4, &monomial(e))).unwrap());
    }

    #[test]
    fn common_factors_cancel(p in polynomial(), q in polynomial(), e in prop::array::uniform3(0..2_u32)) {
        prop_assume!(p != Nat::ZERO && q != Nat::ZERO);
        let factor = Nat::term(6, monomial(e));
        let (x, y) = (&p * &factor).cancel(&(&q * &factor));
        prop_assert_eq!(&x * &q, &y * &p);
        let shared = gcd(x.content().coeff, y.content().coeff);
        prop_assert_eq!(shared, 1);
        prop_assert!(x.content().mono.common(&y.content().mono).is_one());
    }

    #[test]
    fn of_a_value_and_its_negation_one_is_preferred(p in polynomial()) {
        let ((x, flipped), (y, other)) = (p.with_sign(), (-&p).with_sign());
        prop_assert_eq!(&x, &y);
        prop_assert_eq!(flipped == other, p == Nat::ZERO);
        prop_assert_eq!(if flipped { -&x } else { x.clone() }, p);
        let positive = x.terms().iter().filter(|t| t.coeff > 0).count();
        prop_assert!(2 * positive >= x.term_count());
    }

    #[test]
    fn a_common_divisor_has_the_common_terms(
        p in polynomial(), q in polynomial(), e in prop::array::uniform3(0..2_u32),
    ) {
        let factor = Nat::term(6, monomial(e));
        let (p, q) = (p * &factor, q * factor.clone());
        let common = p.gcd(&q);
        if p != Nat::ZERO || q != Nat::ZERO {
            prop_assert!(p.over(&common).is_some() && q.over(&common).is_some(), "{}", common);
            prop_assert!(common.over(&factor).is_some(), "{}", common);
        }
    }

    #[test]
    fn multiples_come_out_term_by_term(p in polynomial(), d in 2..5_i128, e in prop::array::uniform3(0..2_u32)) {
        let divisor = Nat::term(d, monomial(e));
        let divides = |t: &Term| Nat::from(t.clone()).over(&divisor).is_some();
        let (inside, outside): (Vec<Term>, Vec<Term>) = p.terms().iter().cloned().partition(divides);
        let (inside, outside) = (Nat::from_terms(inside), Nat::from_terms(outside));
        prop_assert_eq!(p.without_multiples_of(&divisor), outside);
        prop_assert_eq!(p.multiples_of(&divisor) * &divisor, inside);
        for t in p.rounded_over(d).terms().iter() {
            let of = p.terms().iter().find(|s| s.mono == t.mono).map(|s| s.coeff / d);
            prop_assert_eq!(Some(t.coeff), of);
        }
        for v in POINTS {
            let rest = &p - p.rounded_over(d) * Nat::int(d);
            prop_assert!(rest.terms().iter().all(|t| t.coeff.abs() < d), "{} at {:?}", rest, v);
        }
    }

    #[test]
    fn a_value_is_a_rest_and_a_multiple_of_an_atom(p in polynomial()) {
        for name in ["a", "b", "c"] {
            let power = p.terms().iter().map(|t| t.mono.power_of(&atom(name))).max().unwrap_or(0);
            match p.linear_in(&atom(name)) {
                Some((rest, cofactor)) => {
                    prop_assert!(power <= 1);
                    prop_assert!(!rest.atoms().contains(&atom(name)));
                    prop_assert!(!cofactor.atoms().contains(&atom(name)));
                    prop_assert_eq!(rest + cofactor * nat(name), p.clone());
                }
                None => prop_assert!(power > 1),
            }
        }
    }
}

#[test]
fn common_divisors_of_integers() {
    for a in -40..=40_i128 {
        for b in -40..=40_i128 {
            let least = (1..=40).rev().find(|d| a % d == 0 && b % d == 0).unwrap_or(1);
            assert_eq!(gcd(a, b), if a == 0 && b == 0 { 0 } else { least }, "{a} {b}");
        }
    }
    assert_eq!(gcd(i128::MIN, 6), 2);
    assert_eq!(gcd(i128::MIN, i128::MIN), 1);
}

#[test]
fn common_divisors_of_sums() {
    for (a, b, common) in [
        ("(x + 1)*(x + 2)", "(x + 1)*(x + 3)", "x + 1"),
        ("(x + 1)*(x + 2)*y", "(x + 3)*(x + 1)*y*2", "x*y + y"),
        ("(a + b)*(a + 2*b)", "(a + b)*(a + 3*b)", "a + b"),
        ("(a - b)*(a + b)*(a + 2*b)", "(a + b)*(a + 5*b)", "a + b"),
        ("(x + 1)*(x + 2)", "(x + 1)*(x + 3)*(x + 4)", "x + 1"),
        ("(x + 1)*(x + 3)*(x + 4)", "(x + 1)*(x + 2)", "x + 1"),
        ("x*x + x", "x + 1", "x + 1"),
        ("x + 1", "x*x + x", "x + 1"),
        ("4*x + 2", "6*x + 3", "2*x + 1"),
        ("2 - 2*x", "3*x - 3", "x - 1"),
        ("x + 1", "x + 2", "1"),
        ("x + 1", "6", "1"),
        ("4*x + 2", "6", "2"),
        ("4*x*y", "6*x + 8*x*y", "2*x"),
        ("x^2 + 1", "x^3 + 2", "1"),
        ("0", "-3*x", "3*x"),
        ("-3*x", "0", "3*x"),
        ("0", "0", "0"),
    ] {
        assert_eq!(nat(a).gcd(&nat(b)), nat(common), "gcd({a}, {b})");
    }
}

#[test]
fn remainders_keep_their_sign() {
    for (text, flipped) in [
        ("a - d*(a/d)", false),
        ("d*(a/d) - a", true),
        ("1 - x", true),
        ("x - 1", false),
        ("a*b - c", true),
        ("c - a*b", false),
        ("-5", true),
        ("5", false),
        ("0", false),
    ] {
        assert_eq!(nat(text).with_sign().1, flipped, "{text}");
    }
}

#[test]
fn long_products_stay_closed() {
    let (long, longer) = (sum_of(0..24), sum_of(30..55));
    assert_eq!((&long * &longer).term_count(), 600);
    let closed = sum_of(0..25) * &longer;
    assert_eq!(closed.term_count(), 1);
    assert_eq!(closed.eval(&|_| Some(2)), Ok(50 * 50));
    // One term does not make a product longer.
    let very_long = sum_of(0..601);
    assert_eq!((&very_long * nat("y")).term_count(), 601);
    assert_eq!((nat("y") * &very_long).term_count(), 601);
}

#[test]
fn long_sums_stay_closed() {
    let (p, q) = (sum_of(0..600), sum_of(1000..1600));
    assert_eq!((&p + &q).term_count(), 1200);
    let longer = sum_of(1000..1601);
    for (n, value) in [(&p + &longer, 1201), (&longer + &p, 1201), (&p - &longer, -1)] {
        // The longer of the two is one term; the shorter has no more than 600.
        assert_eq!(n.term_count(), 601, "{value}");
        assert_eq!(n.eval(&|_| Some(1)), Ok(value));
    }
    let twice = sum_of(0..601) + &longer;
    assert_eq!((twice.term_count(), twice.eval(&|_| Some(1))), (2, Ok(1202)));
}

#[test]
fn small_powers_of_sums_are_multiplied_out() {
    let p = nat("a + b");
    assert_eq!(p.raise(6).term_count(), 7);
    assert_eq!(p.raise(7).term_count(), 1);
    assert_eq!(p.raise(7).eval(&|_| Some(1)), Ok(128));
    assert_eq!(sum_of(0..24).raise(2).term_count(), 300);
    // 25 terms times 25 would be too many, before equal ones are added up.
    assert_eq!(sum_of(0..25).raise(2).term_count(), 1);
    let cube = sum_of(0..24).raise(3).as_term().expect("one term");
    assert_eq!((cube.mono.factors().len(), cube.mono.degree()), (1, 3));
    assert_eq!(nat("3*a").raise(4), nat("81*a^4"));
    assert_eq!(nat("-2").raise(3), nat("-8"));
    assert_eq!(p.raise(1), p);
    assert_eq!(p.raise(0), Nat::ONE);
}

#[test]
fn powers_out_of_range() {
    assert!(nat("10").raise(40).is_overflow());
    assert!(Nat::overflow().raise(2).is_overflow());
    // The coefficient leaves the range, the term stays closed.
    let closed = nat("1000000*x").raise(20);
    assert!(!closed.is_overflow());
    assert_eq!(closed.eval(&|_| Some(0)), Ok(0));
    assert_eq!(closed.eval(&|_| Some(1)), Err(EvalError::Overflow));
}

#[test]
fn depth_and_size_are_bounded() {
    let x = nat("x");
    let mut n = x.clone();
    for depth in 1..=64 {
        n = (n + Nat::ONE).div(&x);
        assert_eq!(n.depth(), depth);
    }
    assert!((n + Nat::ONE).div(&x).is_overflow());

    let mut n = nat("x / y");
    assert_eq!(n.size(), 1 + 1 + 2 + 2);
    let mut size = n.size();
    for _ in 0..20 {
        n = (&n + &nat("1")).div(&(&n + &nat("z")));
        // Each operand adds a term; the quotient is a term and an atom.
        size = if n.is_overflow() { break } else { n.size() };
        assert!(size <= 40_000);
    }
    assert!(n.is_overflow() && size > 10_000);
}

#[test]
fn overflow_is_catching() {
    let over = Nat::int(i128::MAX) + Nat::ONE;
    let x = nat("x");
    let results = [
        &over + &x,
        &x + &over,
        &over - &x,
        &x - &over,
        &over * &x,
        &x * &over,
        -&over,
        over.div(&x),
        x.div(&over),
        over.rem(&x),
        over.exact_div(&x),
        x.exact_div(&over),
        over.gcd(&x),
        x.gcd(&over),
        over.pow(&x),
        x.pow(&over),
        over.log2(),
        Nat::min(&over, &x),
        Nat::max(&x, &over),
    ];
    for (i, n) in results.iter().enumerate() {
        assert!(n.is_overflow(), "{i}: {n}");
    }
    let least = Nat::int(i128::MIN);
    assert!((-&least).is_overflow());
    assert!((&least - Nat::ONE).is_overflow());
    assert!((Nat::ZERO - &least).is_overflow());
    assert!((&x - &least).is_overflow());
    assert!((&x - &(&least * &x)).is_overflow());
    assert!((nat("y") - &(&least * &x)).is_overflow());
    assert!(least.div(&Nat::int(-1)).is_overflow());
    assert!((Nat::int(i128::MAX) * &x + &x).is_overflow());
    assert!((Nat::int(i128::MAX) * &x * Nat::int(2)).is_overflow());
    let (mono, two) = (Mono::one(), Nat::int(2));
    assert!(less_multiple(&Nat::int(i128::MAX), 2, &two, (1, &mono)).is_overflow());
    assert!(less_multiple(&two, 1, &Nat::int(i128::MAX), (2, &mono)).is_overflow());
    assert!(less_multiple(&two, 1, &Nat::int(-i128::MAX), (1, &mono)).is_overflow());
    assert_eq!(over.over(&x), None);
    assert_eq!(x.over(&over), None);
}

/// Of expressions, not of values: integers, then sums, then what overflows.
#[test]
fn the_order_of_expressions_is_total() {
    let over = || Nat::int(i128::MAX) + Nat::ONE;
    let sorted = [Nat::int(-3), Nat::ZERO, Nat::int(7), nat("x"), nat("2*x"), nat("x*x"), over()];
    for (i, a) in sorted.iter().enumerate() {
        for (j, b) in sorted.iter().enumerate() {
            assert_eq!(a.cmp(b), i.cmp(&j), "{a} and {b}");
        }
    }
    assert_eq!(nat("x + 1").cmp(&nat("x + 1")), std::cmp::Ordering::Equal);
}
