//! Values of expressions under an assignment.

use crate::term::Atom;
use crate::{Nat, Var};
use std::fmt;

/// Why an expression has no value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EvalError {
    Unbound(Var),
    DivisionByZero,
    /// An exact division that leaves a remainder.
    Inexact,
    Overflow,
    NegativePower,
    /// A logarithm of zero or less.
    NotPositive,
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvalError::Unbound(v) => write!(f, "`{v}` has no value"),
            EvalError::DivisionByZero => f.write_str("division by zero"),
            EvalError::Inexact => f.write_str("a division known to be exact leaves a remainder"),
            EvalError::Overflow => f.write_str("the value is out of range"),
            EvalError::NegativePower => f.write_str("a negative power"),
            EvalError::NotPositive => f.write_str("the logarithm of a value below one"),
        }
    }
}

impl std::error::Error for EvalError {}

impl Nat {
    /// The value where the variables have the values given. Every part must be defined, also one
    /// multiplied by zero; of a choice only the branch taken.
    pub fn eval(&self, value: &dyn Fn(&Var) -> Option<i128>) -> Result<i128, EvalError> {
        if let Some(i) = self.as_int() {
            return Ok(i);
        }
        if self.is_overflow() {
            return Err(EvalError::Overflow);
        }
        let mut total: i128 = 0;
        for term in self.terms().iter() {
            let mut product = term.coeff;
            for (atom, k) in term.mono.factors() {
                let base = atom.eval(value)?;
                let power = base.checked_pow(*k).ok_or(EvalError::Overflow)?;
                product = product.checked_mul(power).ok_or(EvalError::Overflow)?;
            }
            total = total.checked_add(product).ok_or(EvalError::Overflow)?;
        }
        Ok(total)
    }
}

impl Atom {
    fn eval(&self, value: &dyn Fn(&Var) -> Option<i128>) -> Result<i128, EvalError> {
        match self {
            Atom::Var(v) => value(v).ok_or_else(|| EvalError::Unbound(v.clone())),
            Atom::Quot(a, b) => divide(a.eval(value)?, b.eval(value)?),
            Atom::Exact(a, b) => {
                let (a, b) = (a.eval(value)?, b.eval(value)?);
                let quotient = divide(a, b)?;
                if a.checked_rem(b) == Some(0) { Ok(quotient) } else { Err(EvalError::Inexact) }
            }
            Atom::Pow(a, b) => power(a.eval(value)?, b.eval(value)?),
            Atom::Log2(a) => {
                let log = a.eval(value)?.checked_ilog2();
                log.map(i128::from).ok_or(EvalError::NotPositive)
            }
            Atom::Min(parts) => extremum(parts, value, i128::min),
            Atom::Max(parts) => extremum(parts, value, i128::max),
            Atom::Cond(pred, a, b) => {
                if pred.eval(value)? {
                    a.eval(value)
                } else {
                    b.eval(value)
                }
            }
            Atom::Sum(sum) => {
                let args: Result<Vec<i128>, EvalError> =
                    sum.args.iter().map(|arg| arg.eval(value)).collect();
                sum.summand.sum(sum.end.eval(value)?, &args?)
            }
            Atom::Group(a) => a.eval(value),
        }
    }
}

fn divide(a: i128, b: i128) -> Result<i128, EvalError> {
    if b == 0 {
        return Err(EvalError::DivisionByZero);
    }
    a.checked_div(b).ok_or(EvalError::Overflow)
}

fn power(base: i128, exponent: i128) -> Result<i128, EvalError> {
    if exponent < 0 {
        return Err(EvalError::NegativePower);
    }
    match (base, u32::try_from(exponent)) {
        (0 | 1, _) => Ok(if exponent == 0 { 1 } else { base }),
        (-1, _) => Ok(if exponent % 2 == 0 { 1 } else { -1 }),
        (_, Ok(k)) => base.checked_pow(k).ok_or(EvalError::Overflow),
        (_, Err(_)) => Err(EvalError::Overflow),
    }
}

fn extremum(
    parts: &[Nat],
    value: &dyn Fn(&Var) -> Option<i128>,
    better: fn(i128, i128) -> i128,
) -> Result<i128, EvalError> {
    let mut best = None;
    for part in parts {
        let v = part.eval(value)?;
        best = Some(best.map_or(v, |b| better(b, v)));
    }
    best.ok_or(EvalError::Overflow)
}
