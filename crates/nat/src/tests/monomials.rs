//! Monomials are vectors of exponents: each operation is compared with the one on vectors.

use super::{Exponents, atom, monomial, monomials, term};
use crate::term::{Mono, Term};
use std::cmp::Ordering;

fn zip(x: Exponents, y: Exponents, f: fn(u32, u32) -> u32) -> Exponents {
    [0, 1, 2].map(|i| f(x[i], y[i]))
}

fn divides(y: Exponents, x: Exponents) -> bool {
    (0..3).all(|i| y[i] <= x[i])
}

/// By degree, then by the exponent of the first atom in which they differ.
fn graded(x: Exponents, y: Exponents) -> Ordering {
    let degree = |e: Exponents| e.iter().sum::<u32>();
    degree(x).cmp(&degree(y)).then(x.cmp(&y))
}

#[test]
fn products_add_exponents_and_quotients_subtract_them() {
    for (x, mx) in monomials() {
        for (y, my) in monomials() {
            assert_eq!(mx.times(&my), Some(monomial(zip(x, y, |a, b| a + b))));
            let quotient = divides(y, x).then(|| monomial(zip(x, y, |a, b| a - b)));
            assert_eq!(mx.over(&my), quotient, "{x:?} over {y:?}");
            assert_eq!(mx.common(&my), monomial(zip(x, y, u32::min)));
            for coeffs in [(6, 3), (6, 4), (-6, 2)] {
                let expected = quotient.as_ref().filter(|_| coeffs.0 % coeffs.1 == 0);
                let expected = expected.map(|m| term(coeffs.0 / coeffs.1, m));
                assert_eq!(term(coeffs.0, &mx).over(&term(coeffs.1, &my)), expected);
            }
        }
    }
    assert_eq!(term(1, &Mono::one()).over(&term(0, &Mono::one())), None);
}

#[test]
fn what_is_left_of_a_division_must_fit() {
    for (x, mx) in monomials() {
        for (y, my) in monomials() {
            let left = |i: usize| x[i].saturating_sub(y[i]);
            assert_eq!(mx.leaves(&my, |_, _| true), divides(y, x), "{x:?} {y:?}");
            // Only an even power of `b` may be left.
            let fits = divides(y, x) && left(0) == 0 && left(2) == 0 && left(1) % 2 == 0;
            let even_b = |a: &_, k: u32| *a == atom("b") && k.is_multiple_of(2);
            assert_eq!(mx.leaves(&my, even_b), fits, "{x:?} {y:?}");
        }
    }
}

#[test]
fn the_order_is_graded_and_kept_by_products() {
    for (x, mx) in monomials() {
        assert_eq!(mx.degree(), u64::from(x.iter().sum::<u32>()));
        assert_eq!(mx.is_one(), x == [0, 0, 0]);
        for (y, my) in monomials() {
            assert_eq!(mx.cmp(&my), graded(x, y), "{x:?} {y:?}");
            assert_eq!(mx.partial_cmp(&my), Some(graded(x, y)));
            for (z, mz) in monomials() {
                let (xz, yz) = (mx.times(&mz).unwrap(), my.times(&mz).unwrap());
                assert_eq!(xz.cmp(&yz), graded(x, y), "{x:?} {y:?} times {z:?}");
            }
        }
    }
}

#[test]
fn powers_and_parts() {
    for (x, m) in monomials() {
        for (i, name) in ["a", "b", "c"].into_iter().enumerate() {
            assert_eq!(m.power_of(&atom(name)), x[i]);
            let mut without = x;
            without[i] = 0;
            assert_eq!(m.without(&atom(name)), monomial(without));
        }
        assert_eq!(m.to_power(0), Some(Mono::one()));
        assert_eq!(m.to_power(3), Some(monomial(x.map(|k| 3 * k))));
        assert_eq!(Term::size(&term(5, &m)), 1 + x.iter().filter(|k| **k > 0).count());
    }
}

#[test]
fn exponents_and_factors_keep_their_range() {
    let a = monomial([1, 0, 0]);
    let high = a.to_power(u32::MAX).unwrap();
    assert_eq!(high.times(&a), None);
    assert_eq!(high.to_power(2), None);
    assert_eq!(term(i128::MAX, &a).times(&term(2, &a)), None);
    let many = |n: usize| (0..n).map(|i| (atom(&format!("x{i:03}")), 1)).collect::<Mono>();
    assert!(many(127).times(&a).is_some());
    assert!(many(128).times(&a).is_none());
}
