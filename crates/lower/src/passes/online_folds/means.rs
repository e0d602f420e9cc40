//! A sum and a sum of squares around a number as one fold: Welford's and Chan's.
//!
//! Before: `let m = e(reduce(0.0, (+), map(s, xs))); f(reduce(0.0, (+), map(\x -> (s(x) - c) * (s(x) - c), xs)))`, c a number.
//! After: `let all = reduce((0.0, 0.0, 0.0), step, map(few, transpose(split(n / 8, xs)))); let m = e(all.0 * all.1);
//! f(all.2 + all.0 * (all.1 - c) * (all.1 - c))`, where `few` makes of some elements how many they are, their mean, and the squares
//! around it, and `step` puts two such parts together. It divides, which is dear, so elements are not put together one by one. Those that
//! are taken together lie apart, so that neighbours read what lies side by side.
//!
//! The number is the mean as a rule, so that nothing is added to the squares. The law is `online_mean` of the rules.

use lift_ir::{BinaryOp, Build, Built, Expr, Kind, Literal, Nat, Param, Pred, Type, TypeError};

use super::{Elements, Folds, each_sum, operands};
use crate::replace::replaced;

/// Elements that are taken together. They have to divide the array.
const FEW: i32 = 8;

/// What follows a sum, where it has a sum of squares.
pub(super) fn sum_and_squares(
    folds: &Folds,
    m: &Param,
    value: &Expr,
    body: &Expr,
) -> Result<Option<Expr>, TypeError> {
    let Type::Scalar(scalar) = *m.ty() else { return Ok(None) };
    let mut sums = Vec::new();
    each_sum(value, &mut Vec::new(), &mut |sum, xs, names| {
        let own = folds.elements(xs, names).filter(|own| !mentions_any(&own.of, names));
        sums.extend(own.map(|own| (sum, own)));
    });
    let [(sum, own)] = sums.as_slice() else { return Ok(None) };
    let mut squares = Vec::new();
    each_sum(body, &mut Vec::new(), &mut |sum, xs, names| {
        let around = folds.elements(xs, names).and_then(|found| around(folds, own, &found));
        squares.extend(around.map(|around| (sum, around)));
    });
    let [(squares, around)] = squares.as_slice() else { return Ok(None) };
    let b = Build::new(folds.cx);
    let number = |n: f64| Literal::float(scalar, n).map(|n| folds.cx.literal(n));
    let (Some(zero), Some(count)) = (number(0.0), number(f64::from(FEW))) else { return Ok(None) };
    let length = own.of.ty().as_array().map_or(Nat::ONE, |(_, n)| n.clone());
    if !folds.cx.proves(&Pred::divides(Nat::from(FEW), length.clone())) {
        return Ok(None);
    }
    let part = folds.cx.simplify(&length.div(&Nat::from(FEW)));
    let element = |x: Expr| folds.cx.substitute(&own.element, &[(own.param.clone(), x)]);
    let elements =
        b.map(|few| moments(&b, &few, &count, &element), b.transpose(b.split(part, &own.of)));
    let none = b.tuple([&zero, &zero, &zero])?;
    let all = b.reduce(none, |p, q| step(&b, &p, &q, &zero), elements);
    let made = b.let_in("all", all, |all| {
        let (count, mean) = (b.field(&all, 0)?, b.field(&all, 1)?);
        let off = b.sub(&mean, around)?;
        let rest = b.mul(b.mul(&count, &off), &off);
        let body = replaced(folds.cx, body, &[(*squares, b.add(b.field(&all, 2), rest)?)])?;
        let value = replaced(folds.cx, value, &[(*sum, b.mul(&count, &mean)?)])?;
        folds.cx.let_in(m.clone(), value, folds.expr(&body)?)
    });
    made.map(Some)
}

/// How many a few elements are, their mean, and the squares around it.
fn moments(b: &Build, few: &Expr, count: &Expr, element: &dyn Fn(Expr) -> Expr) -> Built {
    named(b, few, element, Vec::new(), &|own| {
        b.let_in("mean", b.div(sum(b, own), count), |mean| {
            let square = |x: &Expr| {
                let d = b.sub(x, &mean)?;
                b.mul(&d, &d)
            };
            let squares = own.iter().map(square).collect::<Result<Vec<Expr>, TypeError>>()?;
            b.tuple([count.clone(), mean.clone(), sum(b, &squares)?])
        })
    })
}

/// What is made of a few elements, each computed once: those that have a name already, and the others.
fn named(
    b: &Build,
    few: &Expr,
    element: &dyn Fn(Expr) -> Expr,
    known: Vec<Expr>,
    rest: &dyn Fn(&[Expr]) -> Built,
) -> Built {
    if known.len() == FEW as usize {
        return rest(&known);
    }
    let next = element(b.at(b.size(known.len() as i32), few)?);
    b.let_in("x", next, |x| named(b, few, element, known.into_iter().chain([x]).collect(), rest))
}

/// The sum of some numbers, by halves.
fn sum(b: &Build, parts: &[Expr]) -> Built {
    match parts {
        [only] => Ok(only.clone()),
        _ => {
            let (first, second) = parts.split_at(parts.len() / 2);
            b.add(sum(b, first), sum(b, second))
        }
    }
}

/// Counts, means and squares of two parts put together. One without elements adds nothing.
fn step(b: &Build, p: &Expr, q: &Expr, zero: &Expr) -> Built {
    let count = b.add(b.field(p, 0), b.field(q, 0));
    b.let_in("count", count, |count| {
        let d = b.sub(b.field(q, 1), b.field(p, 1));
        b.let_in("d", d, |d| {
            let part = b.div(b.field(q, 0), &count);
            b.let_in("part", part, |part| {
                let mean = b.add(b.field(p, 1), b.mul(&d, &part))?;
                let between = b.mul(b.mul(&d, &d), b.mul(b.field(p, 0), &part));
                let squares = b.add(b.add(b.field(p, 2), b.field(q, 2)), between)?;
                let is_empty = b.eq(b.field(q, 0), zero)?;
                b.if_then(is_empty, p, b.tuple([count.clone(), mean, squares]))
            })
        })
    })
}

/// The number around which these elements are the squares of others.
fn around(folds: &Folds, own: &Elements, squares: &Elements) -> Option<Expr> {
    if !squares.of.alpha_eq(&own.of) {
        return None;
    }
    let same = (squares.param.clone(), folds.cx.var(&own.param));
    let element = folds.cx.substitute(&squares.element, &[same]);
    let distance = match element.kind() {
        Kind::Let { param, value, body } => {
            let (x, y) = operands(body, BinaryOp::Mul)?;
            let is_own = x.as_var() == Some(param) && y.as_var() == Some(param);
            is_own.then_some(value)?
        }
        _ => {
            let (x, y) = operands(&element, BinaryOp::Mul)?;
            x.alpha_eq(y).then_some(x)?
        }
    };
    let (x, y) = operands(distance, BinaryOp::Sub)?;
    let around = match (x.alpha_eq(&own.element), y.alpha_eq(&own.element)) {
        (true, _) => y,
        (_, true) => x,
        _ => return None,
    };
    (!around.mentions(&own.param)).then(|| around.clone())
}

/// Whether an expression has one of these names.
fn mentions_any(expr: &Expr, names: &[super::Named]) -> bool {
    names.iter().any(|(param, _)| expr.mentions(param))
}
