//! A domain as two, and as the tiles of the box around it.

use std::sync::Arc;

use lift_domain::{Constraint, Domain};
use lift_ir::{BinaryOp, Context, Expr, Lambda, Literal, Nat, Prim, Scalar};

use super::cells::{Layout, affine, seen_through, wide};
use super::{around, call, points};
use crate::inline::renamed_function;
use crate::refusal::Refusal;
use crate::rule::{Rule, Site};

pub(super) static DOMAIN_IN_TWO: Rule = Rule::function(
    "domain_in_two",
    "An iteration over a domain is one over its first rows and one over the others, each put in its place.",
    "f: (i32, i32) -> i32",
    "generate(n * (n + 1) / 2, \\r -> let p = point({ (i, j) | j <= i, i < n }, r); f(p.0, p.1))",
    "generate(n * (n + 1) / 2, \\r -> if r < (((n / 2) * (n / 2 + 1) / 2) as i32) then \
     generate((n / 2) * (n / 2 + 1) / 2, \\r -> let p = point({ (i, j) | j <= i, i < n / 2 }, r); f(p.0, p.1))[r] else \
     generate(n * (n + 1) / 2 - (n / 2) * (n / 2 + 1) / 2, \\r -> \
     let p = point({ (i, j) | j <= i, n / 2 <= i, i < n }, r); f(p.0, p.1))[r - (((n / 2) * (n / 2 + 1) / 2) as i32)])",
    in_two,
);

pub(super) static DOMAIN_IN_TILES: Rule = Rule::function(
    "domain_in_tiles",
    "An iteration over a domain is one over the tiles of the box around it: at points of a tile that is inside as a whole nothing is asked.",
    "f: (i32, i32) -> i32",
    "generate(n * (n + 1) / 2, \\r -> let p = point({ (i, j) | j <= i, i < n }, r); f(p.0, p.1))",
    "generate(n * (n + 1) / 2, \\r -> let p = point({ (i, j) | j <= i, i < n }, r); \
     map(\\a -> map(\\b -> map(\\i -> map(\\j -> \
     if a * 16 + i < (n as i32) && (b < a || b * 16 + j <= a * 16 + i) then f(a * 16 + i, b * 16 + j) else 0, \
     generate(16, \\j -> j)), generate(16, \\i -> i)), \
     generate((n + 15) / 16, \\b -> b)), generate((n + 15) / 16, \\a -> a))\
     [p.0 / 16][p.1 / 16][p.0 % 16][p.1 % 16])",
    in_tiles,
);

/// Points of a tile, in each dimension.
const TILE: i128 = 16;

fn in_two(site: &Site) -> Result<Expr, Refusal> {
    let cx = site.cx;
    let points = points(site.expr)?;
    let rows = around(points.domain)?.into_iter().next().unwrap_or(Nat::ONE);
    let half = rows.div(&Nat::int(2));
    let first = Domain::index(0);
    let parts = [Constraint::less(&first, &half), Constraint::at_most(&half, &first)];
    let number = cx.fresh("r", points.number.ty().clone());
    let mut at = cx.var(&number);
    let (mut made, mut test) = (Vec::new(), None);
    for part in parts {
        let constraints = points.domain.constraints().iter().cloned().chain([part]).collect();
        let domain = Arc::new(Domain::new(points.domain.dimensions(), constraints));
        let Some(levels) = domain.levels() else {
            return Err(Refusal::Other(format!("no formula counts the points of `{domain}`")));
        };
        let count = cx.simplify(levels.count());
        let found = call(cx, Prim::Point(domain), vec![cx.var(points.number)])?;
        let body = cx.let_in(points.point.clone(), found, points.body.clone())?;
        let f = Lambda { size: None, params: vec![points.number.clone()], body };
        let f = renamed_function(cx, &f)?;
        let array = cx.call(Prim::Generate, vec![count.clone()], vec![f], vec![])?;
        made.push(call(cx, Prim::At, vec![at.clone(), array])?);
        // The numbers of the first rows come first.
        let first = cx.size(&count, Scalar::I32)?;
        if test.is_none() {
            test = Some(call(cx, Prim::Binary(BinaryOp::Lt), vec![at.clone(), first.clone()])?);
        }
        at = call(cx, Prim::Binary(BinaryOp::Sub), vec![at, first])?;
    }
    if made.iter().any(|e| e.ty().as_array().is_some()) {
        return Err(Refusal::Other("elements that are arrays are not chosen between".to_string()));
    }
    let chosen = call(cx, Prim::If, test.into_iter().chain(made).collect())?;
    let f = Lambda { size: None, params: vec![number], body: chosen };
    let f = renamed_function(cx, &f)?;
    Ok(cx.call(Prim::Generate, vec![points.count.clone()], vec![f], vec![])?)
}

fn in_tiles(site: &Site) -> Result<Expr, Refusal> {
    let points = points(site.expr)?;
    let extents = around(points.domain)?;
    let tile = Nat::int(TILE);
    let tiles = extents.iter().map(|extent| extent.ceil_div(&tile));
    let all: Vec<Nat> = tiles.chain(extents.iter().map(|_| tile.clone())).collect();
    seen_through(site.cx, &points, &all, &Tiles { domain: points.domain })
}

/// A tile for every so many points in each dimension.
struct Tiles<'d> {
    domain: &'d Domain,
}

impl Layout for Tiles<'_> {
    fn cell(&self, cx: &Context, point: &[Expr]) -> Result<Vec<Expr>, Refusal> {
        let tile = || cx.literal(Literal::Int(Scalar::I32, TILE));
        let of = |op, x: &Expr| call(cx, Prim::Binary(op), vec![x.clone(), tile()]);
        let tiles = point.iter().map(|x| of(BinaryOp::Div, x));
        let inside = point.iter().map(|x| of(BinaryOp::Rem, x));
        Ok(tiles.chain(inside).collect::<Result<_, _>>()?)
    }

    fn points(&self, cx: &Context, cell: &[Expr]) -> Result<Vec<Vec<Expr>>, Refusal> {
        let (tiles, inside) = cell.split_at(cell.len() / 2);
        let mut point = Vec::new();
        for (tile, x) in tiles.iter().zip(inside) {
            let corner = corner(cx, tile)?;
            point.push(call(cx, Prim::Binary(BinaryOp::Add), vec![corner, wide(cx, x)?])?);
        }
        Ok(vec![point])
    }

    /// Every constraint holds at the corner of the tile where its value is least.
    fn whole(&self, cx: &Context, cell: &[Expr]) -> Result<Option<Expr>, Refusal> {
        let (tiles, _) = cell.split_at(cell.len() / 2);
        let mut all: Option<Expr> = None;
        for constraint in self.domain.constraints() {
            let Constraint::AtLeast(value) = constraint else { return Ok(None) };
            let Ok((factors, _)) = lift_domain::affine(value, tiles.len()) else { return Ok(None) };
            let mut least = Vec::new();
            for (tile, factor) in tiles.iter().zip(factors) {
                let last = cx.literal(Literal::Int(Scalar::I64, TILE - 1));
                let corner = corner(cx, tile)?;
                least.push(match factor < 0 {
                    true => call(cx, Prim::Binary(BinaryOp::Add), vec![corner, last])?,
                    false => corner,
                });
            }
            let zero = cx.literal(Literal::Int(Scalar::I64, 0));
            let value = affine(cx, value, &least, Scalar::I64)?;
            let test = call(cx, Prim::Binary(BinaryOp::Le), vec![zero, value])?;
            all = Some(match all {
                None => test,
                Some(before) => call(cx, Prim::Binary(BinaryOp::And), vec![before, test])?,
            });
        }
        Ok(all)
    }
}

/// The first index of a tile, in 64 bits.
fn corner(cx: &Context, tile: &Expr) -> Result<Expr, Refusal> {
    let by = cx.literal(Literal::Int(Scalar::I64, TILE));
    Ok(call(cx, Prim::Binary(BinaryOp::Mul), vec![wide(cx, tile)?, by])?)
}
