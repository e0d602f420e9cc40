//! Iterations over domains that are no boxes, mapped to grids.
//!
//! The laws are written for a triangle; the rules are for every domain whose points have numbers. Rows of points are in
//! [`rows`], parts of domains in [`parts`], whole iterations in [`whole`].

mod cells;
mod parts;
mod rows;
mod whole;

use std::sync::Arc;

use lift_domain::Domain;
use lift_ir::{Context, Expr, Kind, Lambda, MapKind, Nat, Param, Prim, Scalar, TypeError};

use crate::refusal::Refusal;
use crate::rule::{Rule, Site};
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "domains",
    about: "Iterations over domains that are no boxes are mapped to grids.",
    rules: &[
        &DOMAIN_BY_RANK,
        &DOMAIN_IN_BOX,
        &rows::DOMAIN_BY_ROWS,
        &rows::DOMAIN_FOLDED,
        &parts::DOMAIN_IN_TILES,
        &parts::DOMAIN_IN_TWO,
        &parts::DOMAIN_CUT,
        &parts::DOMAIN_PUT,
        &whole::DOMAIN_MAP_FUSION,
        &whole::DOMAIN_IS_BOX,
    ],
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

/// `generate(count, \r -> let p = point(D, r); body)`, or `point(D, r as i64)`
struct Points<'e> {
    count: &'e Nat,
    number: &'e Param,
    domain: &'e Arc<Domain>,
    point: &'e Param,
    body: &'e Expr,
    /// The number is taken in 64 bits, and so are the indices: they may have no room in 32.
    is_wide: bool,
}

impl Points<'_> {
    /// The point of a domain that has the number.
    fn found(&self, cx: &Context, domain: &Arc<Domain>) -> Result<Expr, TypeError> {
        let number = cx.var(self.number);
        let number = if self.is_wide { cells::wide(cx, &number)? } else { number };
        call(cx, Prim::Point(domain.clone()), vec![number])
    }
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
    let cast = found.args.first().and_then(Expr::as_call);
    let cast = cast.filter(|call| call.prim == Prim::Cast(Scalar::I64));
    let is_wide = cast.is_some();
    let own = cast.map_or(found.args.first(), |cast| cast.args.first());
    let is_own = own.and_then(Expr::as_var) == Some(number);
    match is_own && !body.mentions(number) {
        true => Ok(Points { count, number, domain, point: param, body, is_wide }),
        false => Err(no()),
    }
}

fn by_rank(site: &Site) -> Result<Expr, Refusal> {
    let found_points = points(site.expr)?;
    let found = found_points.found(site.cx, found_points.domain)?;
    let Points { count, number, point, body, .. } = found_points;
    let numbered = Lambda { size: None, params: vec![number.clone()], body: found };
    let all = site.cx.call(Prim::Generate, vec![count.clone()], vec![numbered], vec![])?;
    let f = Lambda { size: None, params: vec![point.clone()], body: body.clone() };
    Ok(site.cx.call(Prim::Map(MapKind::Map), vec![], vec![f], vec![all])?)
}

fn in_box(site: &Site) -> Result<Expr, Refusal> {
    let points = points(site.expr)?;
    let extents = around(points.domain)?;
    cells::seen_through(site.cx, &points, &extents, &cells::Same)
}

/// How long a box around a domain is.
fn around(domain: &Domain) -> Result<Vec<Nat>, Refusal> {
    domain.bounding_box().ok_or_else(|| {
        Refusal::Other(format!("no box is known that holds the points of `{domain}`"))
    })
}

fn call(cx: &Context, prim: Prim, args: Vec<Expr>) -> Result<Expr, TypeError> {
    cx.call(prim, vec![], vec![], args)
}
