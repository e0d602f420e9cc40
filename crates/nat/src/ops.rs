//! Addition, subtraction and multiplication: polynomial arithmetic.

use crate::nat::MAX_TERMS;
use crate::term::{Atom, Mono, Term};
use crate::{Nat, Var};
use std::cmp::Ordering;
use std::ops::{Add, Mul, Neg, Sub};

/// Higher powers of sums stay closed: their coefficients grow out of hand.
const MAX_EXPANDED: u32 = 6;

fn add(a: &Nat, b: &Nat) -> Nat {
    add_signed(a, b, false)
}

/// `a - b` if `negative`, `a + b` if not.
fn add_signed(a: &Nat, b: &Nat, negative: bool) -> Nat {
    let signed = |coeff: i128| if negative { coeff.checked_neg() } else { Some(coeff) };
    if a.is_overflow() || b.is_overflow() {
        return Nat::overflow();
    }
    if let (Some(x), Some(y)) = (a.as_int(), b.as_int()) {
        let sum = signed(y).and_then(|y| x.checked_add(y));
        return sum.map_or_else(Nat::overflow, Nat::int);
    }
    if a.as_int() == Some(0) {
        return if negative { negate(b) } else { b.clone() };
    }
    if b.as_int() == Some(0) {
        return a.clone();
    }
    if a.term_count() + b.term_count() > 2 * MAX_TERMS {
        return if negative { add_closed(a, &negate(b)) } else { add_closed(a, b) };
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
                let Some(coeff) = signed(r.coeff) else { return Nat::overflow() };
                out.push(Term::new(coeff, r.mono.clone()));
                j += 1;
            }
            Ordering::Equal => {
                let sum = signed(r.coeff).and_then(|c| l.coeff.checked_add(c));
                let Some(coeff) = sum else { return Nat::overflow() };
                out.push(Term::new(coeff, l.mono.clone()));
                i += 1;
                j += 1;
            }
        }
    }
    out.extend_from_slice(&left[i..]);
    for r in &right[j..] {
        let Some(coeff) = signed(r.coeff) else { return Nat::overflow() };
        out.push(Term::new(coeff, r.mono.clone()));
    }
    Nat::from_sorted(out)
}

/// `scale * a - factor * mono * b`, for a positive scale and factor.
pub(crate) fn less_multiple(a: &Nat, scale: i128, b: &Nat, (factor, mono): (i128, &Mono)) -> Nat {
    let times = |coeff: i128, by: i128| if by == 1 { Some(coeff) } else { coeff.checked_mul(by) };
    let kept = |t: &Term| Some(Term::new(times(t.coeff, scale)?, t.mono.clone()));
    let taken = |t: &Term| {
        let coeff = times(t.coeff, factor)?.checked_neg()?;
        Some(Term::new(coeff, t.mono.times(mono)?))
    };
    // A monomial order keeps products with one monomial sorted.
    let (left, right) = (a.terms(), b.terms());
    let mut left = left.iter().map(kept).peekable();
    let mut right = right.iter().map(taken).peekable();
    let mut out = Vec::with_capacity(left.len() + right.len());
    loop {
        let order = match (left.peek(), right.peek()) {
            (Some(None), _) | (_, Some(None)) => return Nat::overflow(),
            (None, None) => return Nat::from_sorted(out),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(Some(l)), Some(Some(r))) => l.mono.cmp(&r.mono),
        };
        match order {
            Ordering::Less => out.extend(left.next().flatten()),
            Ordering::Greater => out.extend(right.next().flatten()),
            Ordering::Equal => {
                let (Some(Some(l)), Some(Some(r))) = (left.next(), right.next()) else { continue };
                let Some(coeff) = l.coeff.checked_add(r.coeff) else { return Nat::overflow() };
                out.push(Term::new(coeff, l.mono));
            }
        }
    }
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
    /// `self - other`, where that is a number.
    pub fn int_more_than(&self, other: &Nat) -> Option<i128> {
        if self.is_overflow() || other.is_overflow() {
            return None;
        }
        // Terms are in order, the number first.
        let (left, right) = (self.terms(), other.terms());
        let apart = |terms: &[Term]| usize::from(terms.first().is_some_and(|t| t.mono.is_one()));
        let (mine, theirs) = (&left[apart(&left)..], &right[apart(&right)..]);
        match mine == theirs {
            true => self.constant().checked_sub(other.constant()),
            false => None,
        }
    }

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
operator!(Sub, sub, |a, b| add_signed(a, b, true));
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
