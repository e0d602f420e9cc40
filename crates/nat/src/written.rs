//! From the canonical form back to what a person would write.
//!
//! The canonical form knows no remainder: `a % d` is `a - d * (a / d)`. Here it is found again.

use crate::over::Over;
use crate::term::{Atom, Mono, Term};
use crate::{Nat, Pred, Var};
use std::cmp::Reverse;
use std::sync::Arc;

/// An expression as a person would write it, with remainders and differences.
#[derive(Debug)]
pub enum Written {
    /// Not negative.
    Int(u128),
    Var(Var),
    /// Two or more parts, or one that is subtracted; `true` marks what is subtracted.
    Sum(Vec<(bool, Written)>),
    /// Two or more factors.
    Product(Vec<Written>),
    Div(Box<Written>, Box<Written>),
    Rem(Box<Written>, Box<Written>),
    Pow(Box<Written>, Box<Written>),
    Log2(Box<Written>),
    Min(Vec<Written>),
    Max(Vec<Written>),
    Choice(Arc<Pred>, Box<Written>, Box<Written>),
    /// What is added up one by one.
    Over(Arc<Over>),
    /// No value: a number in it is too large.
    Overflow,
}

/// `factor * (of % divisor)`
struct Remainder {
    factor: Nat,
    of: Nat,
    divisor: Nat,
}

/// Sums longer than this are written as they are.
const SEARCH_LIMIT: usize = 64;

impl Nat {
    /// From the canonical form, which equal values share, to one way of writing it.
    pub fn written(&self) -> Written {
        if self.is_overflow() {
            return Written::Overflow;
        }
        let mut rest = self.clone();
        let mut remainders = Vec::new();
        while !rest.is_polynomial()
            && rest.term_count() <= SEARCH_LIMIT
            && let Some((found, less)) = find_remainder(&rest)
        {
            remainders.push(found);
            rest = less;
        }
        let mut parts: Vec<(bool, Written)> =
            remainders.into_iter().map(Remainder::written).collect();
        let all = rest.terms();
        // Products first, then remainders, then the rest; the constant last.
        let mut terms: Vec<&Term> = all.iter().rev().collect();
        terms.sort_by_key(|t| Reverse((t.mono.degree(), t.coeff.unsigned_abs())));
        let split = terms.iter().take_while(|t| t.mono.degree() > 1).count();
        parts.splice(0..0, terms[..split].iter().map(|t| t.written()));
        parts.extend(terms[split..].iter().map(|t| t.written()));
        // A sum that begins with a minus reads worse than one that does not.
        if let Some(first) = parts.iter().position(|(negative, _)| !negative) {
            let part = parts.remove(first);
            parts.insert(0, part);
        }
        match parts.len() {
            0 => Written::Int(0),
            1 if !parts[0].0 => parts.remove(0).1,
            _ => Written::Sum(parts),
        }
    }
}

impl Remainder {
    fn written(self) -> (bool, Written) {
        let (factor, mut negative) = self.factor.with_sign();
        let mut of = self.of;
        if negative && of.is_difference() {
            // -((i - 3) % 2) is (3 - i) % 2.
            (of, negative) = (-of, false);
        }
        let rem = Written::Rem(Box::new(of.written()), Box::new(self.divisor.written()));
        if factor.as_int() == Some(1) {
            return (negative, rem);
        }
        let mut factors = match factor.written() {
            Written::Product(factors) => factors,
            other => vec![other],
        };
        factors.push(rem);
        (negative, Written::Product(factors))
    }
}

/// `rest = k * (a % d) + shorter`, for a quotient `a / d` in `rest`; the deepest numerators first,
/// so that `(a % b) % c` is found before the `a % b` inside it.
fn find_remainder(rest: &Nat) -> Option<(Remainder, Nat)> {
    let mut quotients: Vec<(&Nat, &Nat, &Atom)> = rest
        .atoms()
        .into_iter()
        .filter_map(|atom| match atom {
            Atom::Quot(a, d) | Atom::Exact(a, d) => Some((a, d, atom)),
            _ => None,
        })
        .collect();
    quotients.sort_by_key(|(a, d, _)| Reverse(a.depth().max(d.depth())));
    for (a, d, atom) in &quotients {
        let Some((_, cofactor)) = rest.linear_in(atom) else { continue };
        if matches!(atom, Atom::Quot(..))
            && let Some(found) = as_remainder(rest, &cofactor, a, d, atom)
        {
            return Some(found);
        }
        // a / (b * c) is (a / b) / c, so (a / b) % c may be here.
        for (inner, b, inner_atom) in &quotients {
            if inner == a
                && inner_atom != atom
                && let Some(c) = d.over(b)
                && let Some(found) =
                    as_remainder(rest, &cofactor, &Nat::atom((*inner_atom).clone()), &c, atom)
            {
                return Some(found);
            }
        }
    }
    None
}

/// Takes `k * (of - divisor * quotient)` out of `rest` if that makes it shorter.
fn as_remainder(
    rest: &Nat,
    cofactor: &Nat,
    of: &Nat,
    divisor: &Nat,
    quotient: &Atom,
) -> Option<(Remainder, Nat)> {
    let factor = -cofactor.multiples_of(divisor);
    if factor.as_int() == Some(0) {
        return None;
    }
    let remainder = of - divisor * Nat::atom(quotient.clone());
    let shorter = rest - &factor * remainder;
    let fits = shorter.term_count() < rest.term_count() && !shorter.is_overflow();
    fits.then(|| (Remainder { factor, of: of.clone(), divisor: divisor.clone() }, shorter))
}

impl Nat {
    /// `(a, d)` where this is `a % d`.
    pub fn as_remainder(&self) -> Option<(Nat, Nat)> {
        self.atoms().into_iter().find_map(|atom| match atom {
            Atom::Quot(a, d) if a.rem(d) == *self => Some((a.clone(), d.clone())),
            _ => None,
        })
    }

    /// Whether terms of both signs are added.
    fn is_difference(&self) -> bool {
        let terms = self.terms();
        terms.iter().any(|t| t.coeff < 0) && terms.iter().any(|t| t.coeff > 0)
    }

    /// The `k` of `self = k * divisor + rest` by the terms that the leading term of `divisor`
    /// divides.
    pub(crate) fn multiples_of(&self, divisor: &Nat) -> Nat {
        let terms = divisor.terms();
        let Some(lead) = terms.last() else { return Nat::ZERO };
        let (mut rest, mut quotient) = (self.clone(), Nat::ZERO);
        for _ in 0..SEARCH_LIMIT {
            let step = rest.terms().iter().rev().find_map(|t| t.over(lead));
            let Some(step) = step else { break };
            let step = Nat::from(step);
            rest = rest - &step * divisor;
            quotient = quotient + step;
        }
        quotient
    }
}

impl Term {
    /// The sign and the absolute value.
    fn written(&self) -> (bool, Written) {
        // -((i - 3) / 2) is (3 - i) / 2.
        if self.coeff < 0
            && let [(Atom::Quot(a, d), 1)] = self.mono.factors()
            && a.is_difference()
            && let Some(coeff) = self.coeff.checked_neg()
        {
            return Term::new(coeff, Mono::atom(Atom::Quot(-a, d.clone()))).written();
        }
        let size = self.coeff.unsigned_abs();
        let mut factors = self.mono.written();
        if size != 1 || factors.is_empty() {
            factors.insert(0, Written::Int(size));
        }
        let product = match factors.len() {
            1 => factors.remove(0),
            _ => Written::Product(factors),
        };
        (self.coeff.is_negative(), product)
    }
}

impl Mono {
    /// Factors in reading order: indices, then sizes (upper-case names), then compounds.
    fn written(&self) -> Vec<Written> {
        let rank = |atom: &Atom| match atom {
            Atom::Var(v) => u8::from(v.name().starts_with(char::is_uppercase)),
            _ => 2,
        };
        let mut factors: Vec<&(Atom, u32)> = self.factors().iter().collect();
        factors.sort_by_key(|(atom, _)| rank(atom));
        let power = |(atom, k): &(Atom, u32)| match k {
            1 => atom.written(),
            _ => Written::Pow(Box::new(atom.written()), Box::new(Written::Int((*k).into()))),
        };
        factors.into_iter().map(power).collect()
    }
}

impl Atom {
    fn written(&self) -> Written {
        let boxed = |n: &Nat| Box::new(n.written());
        let all = |parts: &[Nat]| parts.iter().rev().map(Nat::written).collect();
        match self {
            Atom::Var(v) => Written::Var(v.clone()),
            Atom::Quot(a, b) | Atom::Exact(a, b) => Written::Div(boxed(a), boxed(b)),
            Atom::Pow(a, b) => Written::Pow(boxed(a), boxed(b)),
            Atom::Log2(a) => Written::Log2(boxed(a)),
            Atom::Min(parts) => Written::Min(all(parts)),
            Atom::Max(parts) => Written::Max(all(parts)),
            Atom::Cond(pred, a, b) => Written::Choice(pred.clone(), boxed(a), boxed(b)),
            Atom::Sum(sum) => Written::Over(sum.clone()),
            Atom::Group(a) => a.written(),
        }
    }
}
