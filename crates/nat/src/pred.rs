//! Conditions on sizes.

use crate::eval::EvalError;
use crate::{Nat, Var};
use std::collections::BTreeSet;

/// A comparison, a divisibility, or several of them at once.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Pred {
    Eq(Nat, Nat),
    Ne(Nat, Nat),
    Lt(Nat, Nat),
    Le(Nat, Nat),
    /// `of % divisor == 0`
    Divides {
        divisor: Nat,
        of: Nat,
    },
    And(Vec<Pred>),
}

impl Pred {
    pub fn divides(divisor: Nat, of: Nat) -> Pred {
        Pred::Divides { divisor, of }
    }

    /// A condition that holds wherever this one is defined and does not, if there is one.
    pub(crate) fn negation(&self) -> Option<Pred> {
        match self {
            Pred::Eq(a, b) => Some(Pred::Ne(a.clone(), b.clone())),
            Pred::Ne(a, b) => Some(Pred::Eq(a.clone(), b.clone())),
            Pred::Lt(a, b) => Some(Pred::Le(b.clone(), a.clone())),
            Pred::Le(a, b) => Some(Pred::Lt(b.clone(), a.clone())),
            Pred::Divides { .. } | Pred::And(_) => None,
        }
    }

    /// The truth value, where it does not depend on any variable.
    pub(crate) fn decide(&self) -> Option<bool> {
        let difference = |a: &Nat, b: &Nat| (a - b).as_int();
        match self {
            Pred::Eq(a, b) => difference(a, b).map(|d| d == 0),
            Pred::Ne(a, b) => difference(a, b).map(|d| d != 0),
            Pred::Lt(a, b) => difference(a, b).map(|d| d < 0),
            Pred::Le(a, b) => difference(a, b).map(|d| d <= 0),
            Pred::Divides { divisor, of } => match (divisor.as_int(), of.as_int()) {
                (Some(0), _) => None,
                (Some(d), Some(n)) => n.checked_rem(d).map(|r| r == 0),
                _ => of.over(divisor).map(|_| true),
            },
            Pred::And(all) => {
                if all.iter().any(|p| p.decide() == Some(false)) {
                    return Some(false);
                }
                all.iter().all(|p| p.decide() == Some(true)).then_some(true)
            }
        }
    }

    pub fn eval(&self, value: &dyn Fn(&Var) -> Option<i128>) -> Result<bool, EvalError> {
        let pair = |a: &Nat, b: &Nat| Ok((a.eval(value)?, b.eval(value)?));
        match self {
            Pred::Eq(a, b) => pair(a, b).map(|(a, b)| a == b),
            Pred::Ne(a, b) => pair(a, b).map(|(a, b)| a != b),
            Pred::Lt(a, b) => pair(a, b).map(|(a, b)| a < b),
            Pred::Le(a, b) => pair(a, b).map(|(a, b)| a <= b),
            Pred::Divides { divisor, of } => match pair(of, divisor)? {
                (_, 0) => Err(EvalError::DivisionByZero),
                (_, -1) => Ok(true),
                (n, d) => Ok(n % d == 0),
            },
            Pred::And(all) => {
                for p in all {
                    if !p.eval(value)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }

    pub fn substitute(&self, with: &dyn Fn(&Var) -> Option<Nat>) -> Pred {
        self.map_parts(&mut |part| part.substitute(with))
    }

    pub fn vars(&self) -> BTreeSet<Var> {
        let mut found = BTreeSet::new();
        self.each_part(&mut |part| found.extend(part.vars()));
        found
    }

    pub fn each_var(&self, f: &mut dyn FnMut(&Var)) {
        self.each_part(&mut |part| part.each_var(f));
    }

    /// Whether `f` holds of some variable that occurs; stops at the first.
    pub fn any_var(&self, f: &mut dyn FnMut(&Var) -> bool) -> bool {
        let mut hit = false;
        self.each_part(&mut |part| hit = hit || part.any_var(f));
        hit
    }

    pub fn mentions(&self, var: &Var) -> bool {
        self.any_var(&mut |v| v == var)
    }

    pub(crate) fn each_part(&self, f: &mut dyn FnMut(&Nat)) {
        match self {
            Pred::Eq(a, b) | Pred::Ne(a, b) | Pred::Lt(a, b) | Pred::Le(a, b) => {
                f(a);
                f(b);
            }
            Pred::Divides { divisor, of } => {
                f(divisor);
                f(of);
            }
            Pred::And(all) => all.iter().for_each(|p| p.each_part(f)),
        }
    }

    pub(crate) fn map_parts(&self, f: &mut dyn FnMut(&Nat) -> Nat) -> Pred {
        match self {
            Pred::Eq(a, b) => Pred::Eq(f(a), f(b)),
            Pred::Ne(a, b) => Pred::Ne(f(a), f(b)),
            Pred::Lt(a, b) => Pred::Lt(f(a), f(b)),
            Pred::Le(a, b) => Pred::Le(f(a), f(b)),
            Pred::Divides { divisor, of } => Pred::Divides { divisor: f(divisor), of: f(of) },
            Pred::And(all) => Pred::And(all.iter().map(|p| p.map_parts(f)).collect()),
        }
    }
}
