//! Division that holds for every value of the variables.
//!
//! Each law here is right wherever its left side is defined, whatever the signs. What needs to
//! know signs or bounds is in [`crate::quotient`].

use crate::Nat;
use crate::term::{Atom, Mono, Term};
use std::cmp::Ordering;

/// Steps of a polynomial division before it is given up.
const MAX_STEPS: usize = 256;

impl Nat {
    /// `self / other`, truncating towards zero as in C.
    ///
    /// - `(k * q) / q = k`
    /// - `(c * p) / (c * q) = p / q`, where `c` is a common factor
    /// - `(p / q) / r = p / (q * r)`, which holds for truncation whatever the signs
    /// - `(-p) / q = p / (-q) = -(p / q)`
    pub fn div(&self, other: &Nat) -> Nat {
        if self.is_overflow() || other.is_overflow() {
            return Nat::overflow();
        }
        if other.as_int() == Some(0) {
            return Nat::atom(Atom::Quot(self.clone(), Nat::ZERO));
        }
        if let (Some(a), Some(b)) = (self.as_int(), other.as_int()) {
            return a.checked_div(b).map_or_else(Nat::overflow, Nat::int);
        }
        if let Some(k) = self.over(other) {
            return k;
        }
        let (p, q) = self.cancel(other);
        let (p, p_flipped) = p.with_sign();
        let (q, q_flipped) = q.with_sign();
        let quotient = match p.as_atom() {
            Some(Atom::Quot(a, b) | Atom::Exact(a, b)) if b.as_int() != Some(0) => a.div(&(b * &q)),
            _ => Nat::atom(Atom::Quot(p, q)),
        };
        if p_flipped != q_flipped { -quotient } else { quotient }
    }

    /// The remainder of [`Nat::div`], with the sign of `self`: `a % d = a - d * (a / d)`.
    pub fn rem(&self, other: &Nat) -> Nat {
        match other.as_int() {
            Some(0) => self.div(other),
            _ => self - &(other * &self.div(other)),
        }
    }

    /// `self / other` where the caller knows that nothing remains; undefined elsewhere.
    pub fn exact_div(&self, other: &Nat) -> Nat {
        if self.is_overflow() || other.is_overflow() {
            return Nat::overflow();
        }
        if other.as_int() != Some(0)
            && let Some(k) = self.over(other)
        {
            return k;
        }
        let (p, q) = self.cancel(other);
        let (p, p_flipped) = p.with_sign();
        let (q, q_flipped) = q.with_sign();
        let quotient = match p.as_atom() {
            Some(Atom::Exact(a, b)) if q.as_int() != Some(0) => a.exact_div(&(b * &q)),
            _ => Nat::atom(Atom::Exact(p, q)),
        };
        if p_flipped != q_flipped { -quotient } else { quotient }
    }

    /// The least `k` with `k * other >= self`, for positive values: `(a + b - 1) / b`.
    pub fn ceil_div(&self, other: &Nat) -> Nat {
        (self + other - Nat::ONE).div(other)
    }

    /// A greatest common divisor of the two as polynomials: it divides both whatever values the
    /// variables take. `gcd(4*a*b, 6*a*b*c) = 2*a*b`.
    pub fn gcd(&self, other: &Nat) -> Nat {
        if self.is_overflow() || other.is_overflow() {
            return Nat::overflow();
        }
        match (self.as_int(), other.as_int()) {
            (Some(0), _) => return other.with_sign().0,
            (_, Some(0)) => return self.with_sign().0,
            _ => {}
        }
        let (mine, theirs) = (self.content(), other.content());
        let shared = Nat::term(gcd(mine.coeff, theirs.coeff), mine.mono.common(&theirs.mono));
        let (Some(a), Some(b)) = (self.over(&mine.into()), other.over(&theirs.into())) else {
            return shared;
        };
        let (a, b) = (a.with_sign().0, b.with_sign().0);
        if a.as_int().is_some() || b.as_int().is_some() {
            shared
        } else if b.over(&a).is_some() {
            shared * a
        } else if a.over(&b).is_some() {
            shared * b
        } else {
            shared * common_by_remainders(a, b)
        }
    }

    /// The polynomial `k` with `k * other = self`, if there is one.
    pub(crate) fn over(&self, other: &Nat) -> Option<Nat> {
        if self.is_overflow() || other.is_overflow() {
            return None;
        }
        let divisor = other.terms();
        match divisor.as_ref() {
            [] => None,
            [one] => {
                let over: Option<Vec<Term>> = self.terms().iter().map(|t| t.over(one)).collect();
                over.map(Nat::from_sorted)
            }
            [.., lead] => {
                if self.term_count() < 2 {
                    return (self.as_int() == Some(0)).then_some(Nat::ZERO);
                }
                let (mut rest, mut quotient) = (self.clone(), Vec::new());
                for _ in 0..MAX_STEPS {
                    let Some(top) = rest.terms().last().cloned() else {
                        return (!rest.is_overflow()).then(|| Nat::from_terms(quotient));
                    };
                    let step = top.over(lead)?;
                    rest = rest - Nat::from(step.clone()) * other;
                    quotient.push(step);
                }
                None
            }
        }
    }

    /// Every coefficient divided by `d`, rounded towards zero.
    pub(crate) fn rounded_over(&self, d: i128) -> Nat {
        let over = |t: &Term| Some(Term::new(t.coeff.checked_div(d)?, t.mono.clone()));
        self.terms().iter().map(over).collect::<Option<_>>().map_or(Nat::ZERO, Nat::from_sorted)
    }

    /// This value less those of its terms that `divisor` divides.
    pub(crate) fn without_multiples_of(&self, divisor: &Nat) -> Nat {
        let divides = |t: &Term| Nat::from(t.clone()).over(divisor).is_some();
        Nat::from_sorted(self.terms().iter().filter(|t| !divides(t)).cloned().collect())
    }

    /// The greatest term that divides every term, with a positive coefficient.
    pub(crate) fn content(&self) -> Term {
        let terms = self.terms();
        let Some(first) = terms.first() else { return Term::new(1, Mono::one()) };
        let mut content = Term::new(gcd(first.coeff, 0), first.mono.clone());
        for t in terms.iter().skip(1) {
            content = Term::new(gcd(content.coeff, t.coeff), content.mono.common(&t.mono));
        }
        content
    }

    /// `c * p, c * q` becomes `p, q`, for the greatest term `c`.
    pub(crate) fn cancel(&self, other: &Nat) -> (Nat, Nat) {
        let (mine, theirs) = (self.content(), other.content());
        let common = Nat::term(gcd(mine.coeff, theirs.coeff), mine.mono.common(&theirs.mono));
        match (self.over(&common), other.over(&common)) {
            (Some(p), Some(q)) if common.as_int() != Some(1) => (p, q),
            _ => (self.clone(), other.clone()),
        }
    }

    /// This value or its negation, whichever has more positive terms, and whether it was negated.
    /// A tie is decided by a term of low degree, so that `a - d * (a / d)` stays.
    pub(crate) fn with_sign(&self) -> (Nat, bool) {
        let terms = self.terms();
        let negative = terms.iter().filter(|t| t.coeff < 0).count();
        let flip = match (2 * negative).cmp(&terms.len()) {
            Ordering::Less => false,
            Ordering::Greater => true,
            Ordering::Equal => {
                let mut open = terms.iter().filter(|t| !t.mono.is_one()).peekable();
                let degree = open.peek().map(|t| t.mono.degree());
                let low = open.take_while(|t| Some(t.mono.degree()) == degree);
                low.last().is_some_and(|t| t.coeff < 0)
            }
        };
        let negated = if flip { -self } else { Nat::ZERO };
        if flip && !negated.is_overflow() { (negated, true) } else { (self.clone(), false) }
    }
}

impl From<Term> for Nat {
    fn from(t: Term) -> Nat {
        Nat::term(t.coeff, t.mono)
    }
}

/// A common divisor of two primitive polynomials by subtracting multiples of one from the other,
/// as far as leading coefficients divide; one when that gets stuck.
fn common_by_remainders(mut a: Nat, mut b: Nat) -> Nat {
    let (first, second) = (a.clone(), b.clone());
    for _ in 0..8 {
        let rest = reduce(&a, &b);
        if rest == a {
            (a, b) = (b, a);
            if reduce(&a, &b) == a {
                break;
            }
            continue;
        }
        if rest.as_int() == Some(0) {
            // Only what divides both counts, whatever the steps above did.
            let fits = first.over(&b).is_some() && second.over(&b).is_some();
            return if fits { b } else { Nat::ONE };
        }
        let Some(primitive) = rest.over(&rest.content().into()) else { break };
        a = primitive.with_sign().0;
        if a.as_int().is_some() || a.is_overflow() {
            break;
        }
        (a, b) = (b, a);
    }
    Nat::ONE
}

/// `a` less multiples of `b`, while the leading term of `b` divides the leading term that is left.
fn reduce(a: &Nat, b: &Nat) -> Nat {
    let mut rest = a.clone();
    let divisor = b.terms();
    let Some(lead) = divisor.last() else { return rest };
    for _ in 0..MAX_STEPS {
        let Some(step) = rest.terms().last().and_then(|top| top.over(lead)) else { break };
        rest = rest - Nat::from(step) * b;
    }
    rest
}

pub(crate) fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    // Only gcd(MIN, MIN) and gcd(MIN, 0) leave the range; one divides as well.
    i128::try_from(a).unwrap_or(1)
}
