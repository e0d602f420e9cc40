//! Constants between which a value lies, from those of its variables alone: most questions are answered by them.

use super::Known;
use crate::Nat;
use crate::term::{Atom, Term};

/// Nothing where there is no such constant, or it is not found.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub least: Option<i128>,
    pub most: Option<i128>,
}

impl Known {
    /// Of a value in terms of unsolved variables, wherever it is defined.
    pub(crate) fn bounds(&self, n: &Nat) -> Bounds {
        if n.is_overflow() {
            return Bounds { least: None, most: None };
        }
        let mut sum = Bounds::of(0);
        for term in n.terms().iter() {
            if sum.least.is_none() && sum.most.is_none() {
                break;
            }
            sum = sum.plus(self.of_term(term));
        }
        sum
    }

    fn of_term(&self, term: &Term) -> Bounds {
        // A single factor may be negative, too.
        if let [(atom, 1)] = term.mono.factors() {
            return self.of_atom(atom).scaled(term.coeff);
        }
        let mut product = Bounds::of(1);
        for (atom, power) in term.mono.factors() {
            let each = self.of_atom(atom).to_the(*power);
            product = product.times_natural(each);
        }
        product.scaled(term.coeff)
    }

    fn of_atom(&self, atom: &Atom) -> Bounds {
        let none = Bounds { least: None, most: None };
        match atom {
            Atom::Var(v) => {
                Bounds { least: self.lower.get(v).copied(), most: self.upper.get(v).copied() }
            }
            Atom::Quot(a, d) => match (d.as_int(), self.bounds(a)) {
                (Some(d), Bounds { least: Some(least), most }) if d > 0 && least >= 0 => {
                    Bounds { least: Some(least / d), most: most.map(|most| most / d) }
                }
                _ => none,
            },
            Atom::Min(parts) => self.of_parts(parts, |a, b| Bounds {
                least: a.least.zip(b.least).map(|(a, b)| a.min(b)),
                most: one_or_both(a.most, b.most, i128::min),
            }),
            Atom::Max(parts) => self.of_parts(parts, |a, b| Bounds {
                least: one_or_both(a.least, b.least, i128::max),
                most: a.most.zip(b.most).map(|(a, b)| a.max(b)),
            }),
            Atom::Cond(_, a, b) => {
                let (a, b) = (self.bounds(a), self.bounds(b));
                Bounds {
                    least: a.least.zip(b.least).map(|(a, b)| a.min(b)),
                    most: a.most.zip(b.most).map(|(a, b)| a.max(b)),
                }
            }
            Atom::Group(a) => self.bounds(a),
            Atom::Exact(..) | Atom::Pow(..) | Atom::Log2(_) | Atom::Sum(..) => none,
        }
    }

    fn of_parts(&self, parts: &[Nat], both: fn(Bounds, Bounds) -> Bounds) -> Bounds {
        let all = parts.iter().map(|part| self.bounds(part));
        all.reduce(both).unwrap_or(Bounds { least: None, most: None })
    }
}

fn one_or_both(a: Option<i128>, b: Option<i128>, both: fn(i128, i128) -> i128) -> Option<i128> {
    match (a, b) {
        (Some(a), Some(b)) => Some(both(a, b)),
        (one, other) => one.or(other),
    }
}

impl Bounds {
    fn of(n: i128) -> Bounds {
        Bounds { least: Some(n), most: Some(n) }
    }

    fn plus(self, other: Bounds) -> Bounds {
        let sum = |a: Option<i128>, b: Option<i128>| a?.checked_add(b?);
        Bounds { least: sum(self.least, other.least), most: sum(self.most, other.most) }
    }

    /// Of a product where neither factor is negative; nothing where one may be.
    fn times_natural(self, other: Bounds) -> Bounds {
        let product = |a: Option<i128>, b: Option<i128>| a?.checked_mul(b?);
        match (self.least, other.least) {
            (Some(a), Some(b)) if a >= 0 && b >= 0 => Bounds {
                least: product(self.least, other.least),
                most: product(self.most, other.most),
            },
            _ => Bounds { least: None, most: None },
        }
    }

    /// Of a power of what is not negative; nothing where it may be.
    fn to_the(self, power: u32) -> Bounds {
        let raised = |n: Option<i128>| n?.checked_pow(power);
        match self.least {
            Some(least) if least >= 0 => {
                Bounds { least: raised(self.least), most: raised(self.most) }
            }
            _ => Bounds { least: None, most: None },
        }
    }

    fn scaled(self, by: i128) -> Bounds {
        let scaled = |n: Option<i128>| n?.checked_mul(by);
        match by >= 0 {
            true => Bounds { least: scaled(self.least), most: scaled(self.most) },
            false => Bounds { least: scaled(self.most), most: scaled(self.least) },
        }
    }
}
