//! From the canonical form back to what a person would write.
//!
//! The canonical form knows no remainder: `a % d` is `a - d * (a / d)`. Here it is found again.

use crate::over::Over;
use crate::term::{Atom, Mono, Term};
use crate::{Nat, Pred, Var};
use std::cmp::Reverse;
use std::sync::Arc;

/// An expression as written.
pub(crate) enum Expr {
    /// Not negative.
    Int(u128),
    Var(Var),
    /// Two or more parts, or one that is subtracted; `true` marks what is subtracted.
    Sum(Vec<(bool, Expr)>),
    Product(Vec<Expr>),
    Div(Box<Expr>, Box<Expr>),
    Rem(Box<Expr>, Box<Expr>),
    Pow(Box<Expr>, Box<Expr>),
    Log2(Box<Expr>),
    Min(Vec<Expr>),
    Max(Vec<Expr>),
    Choice(Arc<Pred>, Box<Expr>, Box<Expr>),
    Over(Arc<Over>),
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
    pub(crate) fn layout(&self) -> Expr {
        if self.is_overflow() {
            return Expr::Overflow;
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
        let mut parts: Vec<(bool, Expr)> = remainders.into_iter().map(Remainder::layout).collect();
        let all = rest.terms();
        // Products first, then remainders, then the rest; the constant last.
        let mut terms: Vec<&Term> = all.iter().rev().collect();
        terms.sort_by_key(|t| Reverse((t.mono.degree(), t.coeff.unsigned_abs())));
        let split = terms.iter().take_while(|t| t.mono.degree() > 1).count();
        parts.splice(0..0, terms[..split].iter().map(|t| t.layout()));
        parts.extend(terms[split..].iter().map(|t| t.layout()));
        // A sum that begins with a minus reads worse than one that does not.
        if let Some(first) = parts.iter().position(|(negative, _)| !negative) {
            let part = parts.remove(first);
            parts.insert(0, part);
        }
        match parts.len() {
            0 => Expr::Int(0),
            1 if !parts[0].0 => parts.remove(0).1,
            _ => Expr::Sum(parts),
        }
    }
}

impl Remainder {
    fn layout(self) -> (bool, Expr) {
        let (factor, mut negative) = self.factor.with_sign();
        let mut of = self.of;
        if negative && of.is_difference() {
            // -((i - 3) % 2) is (3 - i) % 2.
            (of, negative) = (-of, false);
        }
        let rem = Expr::Rem(Box::new(of.layout()), Box::new(self.divisor.layout()));
        if factor.as_int() == Some(1) {
            return (negative, rem);
        }
        let mut factors = match factor.layout() {
            Expr::Product(factors) => factors,
            other => vec![other],
        };
        factors.push(rem);
        (negative, Expr::Product(factors))
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
    fn layout(&self) -> (bool, Expr) {
        // -((i - 3) / 2) is (3 - i) / 2.
        if self.coeff < 0
            && let [(Atom::Quot(a, d), 1)] = self.mono.factors()
            && a.is_difference()
            && let Some(coeff) = self.coeff.checked_neg()
        {
            return Term::new(coeff, Mono::atom(Atom::Quot(-a, d.clone()))).layout();
        }
        let size = self.coeff.unsigned_abs();
        let mut factors = self.mono.layout();
        if size != 1 || factors.is_empty() {
            factors.insert(0, Expr::Int(size));
        }
        let product = match factors.len() {
            1 => factors.remove(0),
            _ => Expr::Product(factors),
        };
        (self.coeff.is_negative(), product)
    }
}

impl Mono {
    /// Factors in reading order: indices, then sizes (upper-case names), then compounds.
    fn layout(&self) -> Vec<Expr> {
        let rank = |atom: &Atom| match atom {
            Atom::Var(v) => u8::from(v.name().starts_with(char::is_uppercase)),
            _ => 2,
        };
        let mut factors: Vec<&(Atom, u32)> = self.factors().iter().collect();
        factors.sort_by_key(|(atom, _)| rank(atom));
        let power = |(atom, k): &(Atom, u32)| match k {
            1 => atom.layout(),
            _ => Expr::Pow(Box::new(atom.layout()), Box::new(Expr::Int((*k).into()))),
        };
        factors.into_iter().map(power).collect()
    }
}

impl Atom {
    fn layout(&self) -> Expr {
        let boxed = |n: &Nat| Box::new(n.layout());
        let all = |parts: &[Nat]| parts.iter().rev().map(Nat::layout).collect();
        match self {
            Atom::Var(v) => Expr::Var(v.clone()),
            Atom::Quot(a, b) | Atom::Exact(a, b) => Expr::Div(boxed(a), boxed(b)),
            Atom::Pow(a, b) => Expr::Pow(boxed(a), boxed(b)),
            Atom::Log2(a) => Expr::Log2(boxed(a)),
            Atom::Min(parts) => Expr::Min(all(parts)),
            Atom::Max(parts) => Expr::Max(all(parts)),
            Atom::Cond(pred, a, b) => Expr::Choice(pred.clone(), boxed(a), boxed(b)),
            Atom::Sum(sum) => Expr::Over(sum.clone()),
            Atom::Group(a) => a.layout(),
        }
    }
}
