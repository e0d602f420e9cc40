//! Iterations over domains that are no boxes, mapped to grids.
//!
//! The laws are written for a triangle; the rules are for every domain whose points have numbers.

use std::sync::Arc;

use lift_domain::Domain;
use lift_ir::{
    BinaryOp, Context, Expr, Kind, Lambda, Literal, MapKind, Nat, Param, Pred, Prim, Scalar, Type,
    TypeError,
};

use crate::inline::renamed_function;
use crate::refusal::Refusal;
use crate::rule::{Rule, Site};
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "domains",
    about: "Iterations over domains that are no boxes are mapped to grids.",
    rules: &[&DOMAIN_BY_RANK, &DOMAIN_IN_BOX],
};

static DOMAIN_BY_RANK: Rule = Rule::function(
    "domain_by_rank",
    "An iteration over a domain is a map of its points, each found by its number: as many work-items as points.",
    "f: (i32, i32) -> a",
    "generate(n * (n + 1) / 2, \\r -> let p = point({ (i, j) | j <= i, i < n }, r); f(p.0, p.1))",
    "map(\\p -> f(p.0, p.1), generate(n * (n + 1) / 2, \\r -> point({ (i, j) | j <= i, i < n }, r)))",
    by_rank,
);

static DOMAIN_IN_BOX: Rule = Rule::function(
    "domain_in_box",
    "An iteration over a domain is one over the box around it, seen through the domain: of the points outside, nothing is computed.",
    "f: (i32, i32) -> i32",
    "generate(n * (n + 1) / 2, \\r -> let p = point({ (i, j) | j <= i, i < n }, r); f(p.0, p.1))",
    "generate(n * (n + 1) / 2, \\r -> let p = point({ (i, j) | j <= i, i < n }, r); \
     map(\\i -> map(\\j -> if j <= i then f(i, j) else 0, generate(n, \\j -> j)), generate(n, \\i -> i))[p.0][p.1])",
    in_box,
);

/// `generate(count, \r -> let p = point(D, r); body)`
struct Points<'e> {
    count: &'e Nat,
    number: &'e Param,
    domain: &'e Arc<Domain>,
    point: &'e Param,
    body: &'e Expr,
}

fn points(expr: &Expr) -> Result<Points<'_>, Refusal> {
    let no = || Refusal::Other("expected an iteration over a domain that is no box".to_string());
    let call = expr.as_call().filter(|call| call.prim == Prim::Generate).ok_or_else(no)?;
    let ([count], [f]) = (call.sizes.as_slice(), call.functions.as_slice()) else {
        return Err(no());
    };
    let (Kind::Let { param, value, body }, [number]) = (f.body.kind(), f.params.as_slice()) else {
        return Err(no());
    };
    let found = value.as_call().ok_or_else(no)?;
    let Prim::Point(domain) = &found.prim else { return Err(no()) };
    let is_own = found.args.first().and_then(Expr::as_var) == Some(number);
    match is_own && !body.mentions(number) {
        true => Ok(Points { count, number, domain, point: param, body }),
        false => Err(no()),
    }
}

fn by_rank(site: &Site) -> Result<Expr, Refusal> {
    let Points { count, number, domain, point, body } = points(site.expr)?;
    let found = call(site.cx, Prim::Point(domain.clone()), vec![site.cx.var(number)])?;
    let numbered = Lambda { size: None, params: vec![number.clone()], body: found };
    let all = site.cx.call(Prim::Generate, vec![count.clone()], vec![numbered], vec![])?;
    let f = Lambda { size: None, params: vec![point.clone()], body: body.clone() };
    Ok(site.cx.call(Prim::Map(MapKind::Map), vec![], vec![f], vec![all])?)
}

fn in_box(site: &Site) -> Result<Expr, Refusal> {
    let cx = site.cx;
    let Points { count, number, domain, point, body } = points(site.expr)?;
    let extents = domain.bounding_box();
    let extents = extents.ok_or_else(|| {
        Refusal::Other(format!("no box is known that holds the points of `{domain}`"))
    })?;
    let indices: Vec<Param> =
        (0..extents.len()).map(|_| cx.fresh("i", Type::Scalar(Scalar::I32))).collect();
    let values: Vec<Expr> = indices.iter().map(|p| cx.var(p)).collect();
    let own = match values.as_slice() {
        [only] => only.clone(),
        many => call(cx, Prim::Tuple, many.to_vec())?,
    };
    let element = cx.let_in(point.clone(), own, body.clone())?;
    let nothing = nothing(cx, body.ty())?;
    let inside = inside(cx, domain, &values)?;
    let mut made = call(cx, Prim::If, vec![inside, element, nothing])?;
    for (extent, param) in extents.iter().zip(&indices).rev() {
        let f = Lambda { size: None, params: vec![param.clone()], body: made };
        let i = cx.fresh("i", Type::Scalar(Scalar::I32));
        let same = Lambda { size: None, params: vec![i.clone()], body: cx.var(&i) };
        let all = cx.call(Prim::Generate, vec![extent.clone()], vec![same], vec![])?;
        made = cx.call(Prim::Map(MapKind::Map), vec![], vec![f], vec![all])?;
    }
    let seen = cx.fresh("p", point.ty().clone());
    for k in 0..extents.len() {
        let index = match extents.len() {
            1 => cx.var(&seen),
            _ => call(cx, Prim::Field(k as u32), vec![cx.var(&seen)])?,
        };
        made = call(cx, Prim::At, vec![index, made])?;
    }
    let found = call(cx, Prim::Point(domain.clone()), vec![cx.var(number)])?;
    let f =
        Lambda { size: None, params: vec![number.clone()], body: cx.let_in(seen, found, made)? };
    let f = renamed_function(cx, &f)?;
    Ok(cx.call(Prim::Generate, vec![count.clone()], vec![f], vec![])?)
}

fn call(cx: &Context, prim: Prim, args: Vec<Expr>) -> Result<Expr, TypeError> {
    cx.call(prim, vec![], vec![], args)
}

/// Whether a point is in a domain, in 64 bits, where nothing wraps.
fn inside(cx: &Context, domain: &Domain, point: &[Expr]) -> Result<Expr, Refusal> {
    let wide = |e: &Expr| call(cx, Prim::Cast(Scalar::I64), vec![e.clone()]);
    let number = |n: i128| cx.literal(Literal::Int(Scalar::I64, n));
    let binary = |op, a, b| call(cx, Prim::Binary(op), vec![a, b]);
    // A value that is affine in the indices.
    let affine = |value: &Nat| -> Result<Expr, Refusal> {
        let (factors, rest) = lift_domain::affine(value, point.len())
            .map_err(|_| Refusal::Other(format!("`{value}` is not affine")))?;
        let mut sum = cx.size(&rest, Scalar::I64)?;
        for (factor, x) in factors.into_iter().zip(point).filter(|(factor, _)| *factor != 0) {
            let product = binary(BinaryOp::Mul, number(factor), wide(x)?)?;
            sum = binary(BinaryOp::Add, sum, product)?;
        }
        Ok(sum)
    };
    let mut all = None;
    for constraint in domain.constraints() {
        let test = match constraint.pred() {
            Pred::Le(_, value) => binary(BinaryOp::Le, number(0), affine(&value)?)?,
            Pred::Divides { divisor, of } => {
                let divisor = cx.size(&divisor, Scalar::I64)?;
                let rest = binary(BinaryOp::Rem, affine(&of)?, divisor)?;
                binary(BinaryOp::Eq, rest, number(0))?
            }
            other => return Err(Refusal::Other(format!("`{other}` is no constraint"))),
        };
        all = Some(match all {
            None => test,
            Some(before) => binary(BinaryOp::And, before, test)?,
        });
    }
    Ok(all.unwrap_or_else(|| cx.literal(Literal::Bool(true))))
}

/// Some value of a type, for points that nobody reads.
fn nothing(cx: &Context, ty: &Type) -> Result<Expr, TypeError> {
    match ty {
        Type::Scalar(scalar) => {
            let number = Literal::int(*scalar, 0).or_else(|| Literal::float(*scalar, 0.0));
            Ok(cx.literal(number.unwrap_or(Literal::Bool(false))))
        }
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
