//! Points of a domain as cells of a box.
//!
//! A way of laying out points says which cell belongs to a point, and which point, if any, to a cell. An iteration is then one over
//! all cells, seen through the domain: `generate(count(D), \r -> let p = point(D, r); m[cell(p).0][cell(p).1])`.

use lift_domain::Domain;
use lift_ir::{
    BinaryOp, Context, Expr, Lambda, Literal, MapKind, Nat, Param, Pred, Prim, Scalar, Type,
    TypeError,
};

use super::{Points, call};
use crate::inline::renamed_function;
use crate::refusal::Refusal;

/// Where points are.
pub(super) trait Layout {
    /// The cell of a point, each number an `i32`.
    fn cell(&self, cx: &Context, point: &[Expr]) -> Result<Vec<Expr>, Refusal>;

    /// What may be the point of a cell, each number an `i64`: the first that is in the domain is.
    fn points(&self, cx: &Context, cell: &[Expr]) -> Result<Vec<Vec<Expr>>, Refusal>;

    /// Where the point of a cell is in the domain whatever the numbers of the innermost indices, if that can be told.
    fn whole(&self, _: &Context, _: &[Expr]) -> Result<Option<Expr>, Refusal> {
        Ok(None)
    }
}

/// Points are cells.
pub(super) struct Same;

impl Layout for Same {
    fn cell(&self, _: &Context, point: &[Expr]) -> Result<Vec<Expr>, Refusal> {
        Ok(point.to_vec())
    }

    fn points(&self, cx: &Context, cell: &[Expr]) -> Result<Vec<Vec<Expr>>, Refusal> {
        Ok(vec![cell.iter().map(|x| wide(cx, x)).collect::<Result<_, _>>()?])
    }
}

/// An iteration over a domain as one over the cells of a box. Where a cell has no point, nothing is computed.
pub(super) fn seen_through(
    cx: &Context,
    points: &Points,
    extents: &[Nat],
    layout: &dyn Layout,
) -> Result<Expr, Refusal> {
    if points.is_wide {
        let text = format!("the indices of `{}` may have no room in 32 bits", points.domain);
        return Err(Refusal::Other(text));
    }
    let cell: Vec<Param> =
        extents.iter().map(|_| cx.fresh("i", Type::Scalar(Scalar::I32))).collect();
    let values: Vec<Expr> = cell.iter().map(|p| cx.var(p)).collect();
    let whole = layout.whole(cx, &values)?;
    let mut made = at_cell(cx, points, layout.points(cx, &values)?, whole)?;
    for (extent, param) in extents.iter().zip(&cell).rev() {
        // Around no points a box may be shorter than nothing: the program had no need of sizes for which it is not.
        let is_natural = cx.proves(&Pred::Le(Nat::ZERO, extent.clone()));
        let extent = if is_natural { extent.clone() } else { Nat::max(extent, &Nat::ZERO) };
        let f = Lambda { size: None, params: vec![param.clone()], body: made };
        let i = cx.fresh("i", Type::Scalar(Scalar::I32));
        let same = Lambda { size: None, params: vec![i.clone()], body: cx.var(&i) };
        let all = cx.call(Prim::Generate, vec![extent], vec![same], vec![])?;
        made = cx.call(Prim::Map(MapKind::Map), vec![], vec![f], vec![all])?;
    }
    let seen = cx.fresh("p", points.point.ty().clone());
    let dimensions = points.domain.dimensions();
    let own: Vec<Expr> = (0..dimensions)
        .map(|k| match dimensions {
            1 => Ok(cx.var(&seen)),
            _ => call(cx, Prim::Field(k as u32), vec![cx.var(&seen)]),
        })
        .collect::<Result<_, _>>()?;
    for index in layout.cell(cx, &own)? {
        made = call(cx, Prim::At, vec![index, made])?;
    }
    let found = points.found(cx, points.domain)?;
    let body = cx.let_in(seen, found, made)?;
    let f = Lambda { size: None, params: vec![points.number.clone()], body };
    let f = renamed_function(cx, &f)?;
    Ok(cx.call(Prim::Generate, vec![points.count.clone()], vec![f], vec![])?)
}

/// What is done at the first of some points that is in the domain.
///
/// It is written for each of them, so that what its test says of a point is known where the point is used.
fn at_cell(
    cx: &Context,
    points: &Points,
    candidates: Vec<Vec<Expr>>,
    whole: Option<Expr>,
) -> Result<Expr, Refusal> {
    let mut made = nothing(cx, points.body.ty())?;
    for candidate in candidates.into_iter().rev() {
        // Each number has a name, for the same reason.
        let named: Vec<(Param, Expr)> =
            candidate.into_iter().map(|x| (cx.fresh("x", x.ty().clone()), x)).collect();
        let own: Vec<Expr> = named.iter().map(|(param, _)| cx.var(param)).collect();
        let narrow: Vec<Expr> = own
            .iter()
            .map(|x| call(cx, Prim::Cast(Scalar::I32), vec![x.clone()]))
            .collect::<Result<_, _>>()?;
        let point = match narrow.as_slice() {
            [only] => only.clone(),
            many => call(cx, Prim::Tuple, many.to_vec())?,
        };
        let params = vec![points.point.clone()];
        let body = Lambda { size: None, params, body: points.body.clone() };
        let body = renamed_function(cx, &body)?;
        let [param] = body.params.as_slice() else {
            return Err(Refusal::Other("a point has one name".to_string()));
        };
        let element = cx.let_in(param.clone(), point, body.body.clone())?;
        let mut test = inside(cx, points.domain, &own)?;
        if let Some(whole) = &whole {
            test = call(cx, Prim::Binary(BinaryOp::Or), vec![whole.clone(), test])?;
        }
        made = call(cx, Prim::If, vec![test, element, made])?;
        let mut all = named.into_iter().rev();
        made = all.try_fold(made, |body, (param, value)| cx.let_in(param, value, body))?;
    }
    Ok(made)
}

/// A number in 64 bits.
pub(super) fn wide(cx: &Context, x: &Expr) -> Result<Expr, TypeError> {
    call(cx, Prim::Cast(Scalar::I64), vec![x.clone()])
}

/// A value that is affine in numbers of one type.
pub(super) fn affine(
    cx: &Context,
    value: &Nat,
    point: &[Expr],
    scalar: Scalar,
) -> Result<Expr, Refusal> {
    let (factors, rest) = lift_domain::affine(value, point.len())
        .map_err(|_| Refusal::Other(format!("`{value}` is not affine")))?;
    let mut sum = cx.size(&rest, scalar)?;
    for (factor, x) in factors.into_iter().zip(point).filter(|(factor, _)| *factor != 0) {
        let factor = cx.literal(Literal::Int(scalar, factor));
        let product = call(cx, Prim::Binary(BinaryOp::Mul), vec![factor, x.clone()])?;
        sum = call(cx, Prim::Binary(BinaryOp::Add), vec![sum, product])?;
    }
    Ok(sum)
}

/// Whether a point is in a domain, in 64 bits, where nothing wraps.
fn inside(cx: &Context, domain: &Domain, point: &[Expr]) -> Result<Expr, Refusal> {
    let number = |n: i128| cx.literal(Literal::Int(Scalar::I64, n));
    let binary = |op, a, b| call(cx, Prim::Binary(op), vec![a, b]);
    let mut tests = Vec::new();
    for x in point {
        tests.push(binary(BinaryOp::Le, number(0), x.clone())?);
    }
    for constraint in domain.constraints() {
        tests.push(match constraint.pred() {
            Pred::Le(_, value) => {
                binary(BinaryOp::Le, number(0), affine(cx, &value, point, Scalar::I64)?)?
            }
            Pred::Divides { divisor, of } => {
                let divisor = cx.size(&divisor, Scalar::I64)?;
                let rest = binary(BinaryOp::Rem, affine(cx, &of, point, Scalar::I64)?, divisor)?;
                binary(BinaryOp::Eq, rest, number(0))?
            }
            other => return Err(Refusal::Other(format!("`{other}` is no constraint"))),
        });
    }
    let all = tests.into_iter().map(Ok).reduce(|a, b| binary(BinaryOp::And, a?, b?));
    Ok(all.unwrap_or_else(|| Ok(cx.literal(Literal::Bool(true))))?)
}

/// Some value of a type, for points that nobody reads.
pub(super) fn nothing(cx: &Context, ty: &Type) -> Result<Expr, TypeError> {
    match ty {
        Type::Scalar(scalar) => Ok(cx.literal(Literal::zero(*scalar))),
        Type::Vector(scalar, width) => {
            let lane = nothing(cx, &Type::Scalar(*scalar))?;
            cx.call(Prim::Splat, vec![width.clone()], vec![], vec![lane])
        }
        Type::Tuple(parts) => {
            let parts = parts.iter().map(|part| nothing(cx, part)).collect::<Result<_, _>>()?;
            call(cx, Prim::Tuple, parts)
        }
        Type::Array(element, length) => {
            let element = nothing(cx, element)?;
            cx.call(Prim::Repeat, vec![length.clone()], vec![], vec![element])
        }
    }
}
