//! A sum and a sum of squares around a number as one fold: Welford's.
//!
//! Before: `let m = e(reduce(0.0, (+), map(s, xs))); f(reduce(0.0, (+), map(\\x -> (s(x) - c) * (s(x) - c), xs)))`, c a number.
//! After: `let all = reduce((0.0, 0.0, 0.0), step, map(\\x -> (1.0, s(x), 0.0), xs)); let m = e(all.0 * all.1);
//! f(all.2 + all.0 * (all.1 - c) * (all.1 - c))`, where `all` has how many elements there are, their mean, and the squares around it.
//!
//! The number is the mean as a rule, so that nothing is added to the squares. The law is `online_mean` of the rules.

use lift_ir::{
    BinaryOp, Build, Built, Expr, Kind, Lambda, Literal, MapKind, Param, Prim, Type, TypeError,
};

use super::{Elements, Folds, each_sum, operands};
use crate::replace::replaced;

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
    let (Some(zero), Some(one)) = (number(0.0), number(1.0)) else { return Ok(None) };
    let element = b.tuple([&one, &own.element, &zero])?;
    let each = Lambda { size: None, params: vec![own.param.clone()], body: element };
    let elements = folds.cx.call(Prim::Map(MapKind::Map), vec![], vec![each], vec![own.of.clone()]);
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
