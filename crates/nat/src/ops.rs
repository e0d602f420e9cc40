//! Addition, subtraction and multiplication: polynomial arithmetic.

use crate::nat::MAX_TERMS;
use crate::term::{Atom, Term};
use crate::{Nat, Var};
use std::cmp::Ordering;
use std::ops::{Add, Mul, Neg, Sub};

/// Higher powers of sums stay closed: their coefficients grow out of hand.
const MAX_EXPANDED: u32 = 6;

fn add(a: &Nat, b: &Nat) -> Nat {
    if a.is_overflow() || b.is_overflow() {
        return Nat::overflow();
    }
    if let (Some(x), Some(y)) = (a.as_int(), b.as_int()) {
        return x.checked_add(y).map_or_else(Nat::overflow, Nat::int);
    }
    if a.as_int() == Some(0) {
        return b.clone();
    }
    if b.as_int() == Some(0) {
        return a.clone();
    }
    if a.term_count() + b.term_count() > 2 * MAX_TERMS {
        return add_closed(a, b);
    }
    let (left, right) = (a.terms(), b.terms());
    let mut out = Vec::with_capacity(left.len() + right.len());
    let (mut i, mut j) = (0, 0);
    while let (Some(l), Some(r)) = (left.get(i), right.get(j)) {
        match l.mono.cmp(&r.mono) {
            Ordering::Less => {
                out.push(l.clone());
                i += 1;
            }
            Ordering::Greater => {
                out.push(r.clone());
                j += 1;
            }
            Ordering::Equal => {
                let Some(coeff) = l.coeff.checked_add(r.coeff) else { return Nat::overflow() };
                out.push(Term::new(coeff, l.mono.clone()));
                i += 1;
                j += 1;
            }
        }
    }
    out.extend_from_slice(&left[i..]);
    out.extend_from_slice(&right[j..]);
    Nat::from_sorted(out)
}

/// Adds sums that together are too long, keeping the longer one closed.
fn add_closed(a: &Nat, b: &Nat) -> Nat {
    let (long, short) = if a.term_count() >= b.term_count() { (a, b) } else { (b, a) };
    let closed = Nat::atom(Atom::Group(long.clone()));
    if closed.is_overflow() { closed } else { add(&closed, &short.closed_above(MAX_TERMS)) }
}

fn negate(a: &Nat) -> Nat {
    if a.is_overflow() {
        return Nat::overflow();
    }
    let flip = |t: &Term| Some(Term::new(t.coeff.checked_neg()?, t.mono.clone()));
    match a.terms().iter().map(flip).collect() {
        Some(terms) => Nat::from_sorted(terms),
        None => Nat::overflow(),
    }
}

fn multiply(a: &Nat, b: &Nat) -> Nat {
    if a.is_overflow() || b.is_overflow() {
        return Nat::overflow();
    }
    match (a.as_int(), b.as_int()) {
        (Some(x), Some(y)) => return x.checked_mul(y).map_or_else(Nat::overflow, Nat::int),
        (Some(0), _) | (_, Some(0)) => return Nat::ZERO,
        (Some(1), _) => return b.clone(),
        (_, Some(1)) => return a.clone(),
        _ => {}
    }
    if a.term_count() > 1 && b.term_count() > 1 && a.term_count() * b.term_count() > MAX_TERMS {
        return multiply(&a.closed_above(1), &b.closed_above(1));
    }
    let (left, right) = (a.terms(), b.terms());
    if let ([one], many) | (many, [one]) = (left.as_ref(), right.as_ref()) {
        // A monomial order keeps products with one monomial sorted.
        return match many.iter().map(|t| t.times(one)).collect() {
            Some(terms) => Nat::from_sorted(terms),
            None => Nat::overflow(),
        };
    }
    let pairs = left.iter().flat_map(|l| right.iter().map(move |r| l.times(r)));
    match pairs.collect::<Option<Vec<_>>>() {
        Some(terms) => Nat::from_terms(terms),
        None => Nat::overflow(),
    }
}

impl Nat {
    /// This value as one closed atom when it has more than `limit` terms.
    fn closed_above(&self, limit: usize) -> Nat {
        if self.term_count() > limit { Nat::atom(Atom::Group(self.clone())) } else { self.clone() }
    }

    /// `self ^ k`, multiplied out while that stays small.
    pub(crate) fn raise(&self, k: u32) -> Nat {
        match k {
            0 => return Nat::ONE,
            1 => return self.clone(),
            _ => {}
        }
        if self.is_overflow() {
            return Nat::overflow();
        }
        if let Some(i) = self.as_int() {
            return i.checked_pow(k).map_or_else(Nat::overflow, Nat::int);
        }
        if let Some(t) = self.as_term() {
            return match (t.coeff.checked_pow(k), t.mono.to_power(k)) {
                (Some(coeff), Some(mono)) => Nat::term(coeff, mono),
                (None, _) if !t.mono.is_one() => Nat::atom(Atom::Group(self.clone())).raise(k),
                _ => Nat::overflow(),
            };
        }
        let mut product = self.clone();
        for _ in 1..k {
            if k > MAX_EXPANDED || product.term_count() * self.term_count() > MAX_TERMS {
                return self.closed_above(1).raise(k);
            }
            product = multiply(&product, self);
        }
        product
    }
}

/// An operator on values, for owned and borrowed operands alike.
macro_rules! operator {
    ($trait:ident, $method:ident, |$a:ident, $b:ident| $body:expr) => {
        impl $trait<&Nat> for &Nat {
            type Output = Nat;
            fn $method(self, other: &Nat) -> Nat {
                let ($a, $b) = (self, other);
                $body
            }
        }
        impl $trait<Nat> for &Nat {
            type Output = Nat;
            fn $method(self, other: Nat) -> Nat {
                $trait::$method(self, &other)
            }
        }
        impl $trait<&Nat> for Nat {
            type Output = Nat;
            fn $method(self, other: &Nat) -> Nat {
                $trait::$method(&self, other)
            }
        }
        impl $trait<Nat> for Nat {
            type Output = Nat;
            fn $method(self, other: Nat) -> Nat {
                $trait::$method(&self, &other)
            }
        }
    };
}

operator!(Add, add, |a, b| add(a, b));
operator!(Sub, sub, |a, b| add(a, &negate(b)));
operator!(Mul, mul, |a, b| multiply(a, b));

impl Neg for &Nat {
    type Output = Nat;
    fn neg(self) -> Nat {
        negate(self)
    }
}

impl Neg for Nat {
    type Output = Nat;
    fn neg(self) -> Nat {
        negate(&self)
    }
}

macro_rules! from_integer {
    ($($int:ty),*) => {$(
        impl From<$int> for Nat {
            fn from(value: $int) -> Nat {
                Nat::int(value as i128)
            }
        }
    )*};
}

from_integer!(i32, i64, u32, u64, usize);

impl From<&Var> for Nat {
    fn from(v: &Var) -> Nat {
        Nat::var(v)
    }
}

impl From<Var> for Nat {
    fn from(v: Var) -> Nat {
        Nat::var(&v)
    }
}
