//! A domain as two, and as the tiles of the box around it.

use std::sync::Arc;

use lift_domain::{Constraint, Domain};
use lift_ir::{BinaryOp, Context, Expr, Lambda, Literal, Nat, Pred, Prim, Scalar};

use super::cells::{Layout, affine, seen_through, wide};
use super::{Points, around, call, points};
use crate::arguments::Choice;
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

pub(super) static DOMAIN_CUT: Rule = Rule::function(
    "domain_cut",
    "An iteration over a domain is one over its first m rows and one over the others, each put in its place.",
    "f: (i32, i32) -> i32",
    "generate(n * (n + 1) / 2, \\r -> let p = point({ (i, j) | j <= i, i < n }, r); f(p.0, p.1))",
    "generate(n * (n + 1) / 2, \\r -> if r < ((m * (m + 1) / 2) as i32) then \
     generate(m * (m + 1) / 2, \\r -> let p = point({ (i, j) | j <= i, i < m }, r); f(p.0, p.1))[r] else \
     generate(n * (n + 1) / 2 - m * (m + 1) / 2, \\r -> \
     let p = point({ (i, j) | j <= i, m <= i, i < n }, r); f(p.0, p.1))[r - ((m * (m + 1) / 2) as i32)])",
    cut,
)
.needs("m <= n");

pub(super) static DOMAIN_PUT: Rule = Rule::function(
    "domain_put",
    "An iteration over a domain is one over its points whose last index is below m and one over the others, both put in their places.",
    "f: (i32, i32) -> i32",
    "generate(n * (n + 1) / 2, \\r -> let p = point({ (i, j) | j <= i, i < n }, r); f(p.0, p.1))",
    "generate(n * (n + 1) / 2, \\r -> let p = point({ (i, j) | j <= i, i < n }, r); if p.1 < (m as i32) then \
     generate(m * (m + 1) / 2 + (n - m) * m, \\r -> let p = point({ (i, j) | j <= i, i < n, j < m }, r); f(p.0, p.1))\
     [rank({ (i, j) | j <= i, i < n, j < m }, (p.0, p.1))] else \
     generate((n - m) * (n - m + 1) / 2, \\r -> let p = point({ (i, j) | j <= i, i < n, m <= j }, r); f(p.0, p.1))\
     [rank({ (i, j) | j <= i, i < n, m <= j }, (p.0, p.1))])",
    put,
)
.needs("m <= n");

/// Points of a tile, in each dimension.
const TILE: i128 = 16;

fn in_two(site: &Site) -> Result<Expr, Refusal> {
    let points = points(site.expr)?;
    let rows = around(points.domain)?.into_iter().next().unwrap_or(Nat::ONE);
    cut_at(site.cx, &points, &rows.div(&Nat::int(2)))
}

fn cut(site: &Site) -> Result<Expr, Refusal> {
    cut_at(site.cx, &points(site.expr)?, &border(site)?)
}

/// Where a domain is cut.
fn border(site: &Site) -> Result<Nat, Refusal> {
    match site.arguments.sizes.get("m") {
        Some(Choice::Size(m)) if site.cx.proves(&Pred::Le(Nat::ZERO, m.clone())) => Ok(m.clone()),
        Some(Choice::Size(_)) => {
            Err(Refusal::Other("`m` is a size of the program or a number".to_string()))
        }
        // What stands for any size, while places are looked for, has a number; a size that a user would have to give has
        // none. How many points a part has is written in terms of it, so it is chosen.
        Some(Choice::Fresh(any)) if any.id() != 0 => {
            site.cx.declare_size(any);
            Ok(Nat::var(any))
        }
        Some(Choice::Fresh(_)) | None => Err(Refusal::Missing { parameter: "m".to_string() }),
    }
}

/// The two parts of a domain on either side of a value of an index, and how many points each has.
fn parts(
    cx: &Context,
    domain: &Domain,
    index: usize,
    border: &Nat,
) -> Result<[(Arc<Domain>, Nat); 2], Refusal> {
    let own = Domain::index(index);
    let part = |side: Constraint| {
        let constraints = domain.constraints().iter().cloned().chain([side]).collect();
        let part = Arc::new(Domain::new(domain.dimensions(), constraints));
        match part.levels() {
            Some(levels) => Ok((part, cx.simplify(levels.count()))),
            None => Err(Refusal::Other(format!("no formula counts the points of `{part}`"))),
        }
    };
    Ok([part(Constraint::less(&own, border))?, part(Constraint::at_most(border, &own))?])
}

/// The same iteration over another domain of as many indices.
fn over(cx: &Context, points: &Points, domain: &Arc<Domain>, count: &Nat) -> Result<Expr, Refusal> {
    let found = points.found(cx, domain)?;
    let body = cx.let_in(points.point.clone(), found, points.body.clone())?;
    let f = Lambda { size: None, params: vec![points.number.clone()], body };
    let f = renamed_function(cx, &f)?;
    Ok(cx.call(Prim::Generate, vec![count.clone()], vec![f], vec![])?)
}

/// One of two elements.
fn chosen(cx: &Context, test: Expr, first: Expr, second: Expr) -> Result<Expr, Refusal> {
    if first.ty().as_array().is_some() {
        return Err(Refusal::Other("elements that are arrays are not chosen between".to_string()));
    }
    Ok(call(cx, Prim::If, vec![test, first, second])?)
}

fn put(site: &Site) -> Result<Expr, Refusal> {
    let cx = site.cx;
    let points = points(site.expr)?;
    let (border, dimensions) = (border(site)?, points.domain.dimensions());
    let seen = cx.fresh("p", points.point.ty().clone());
    let own: Vec<Expr> = (0..dimensions)
        .map(|k| match dimensions {
            1 => Ok(cx.var(&seen)),
            _ => call(cx, Prim::Field(k as u32), vec![cx.var(&seen)]),
        })
        .collect::<Result<_, _>>()?;
    let last = own.last().cloned().ok_or_else(|| Refusal::Other("no index".to_string()))?;
    let [first, second] = parts(cx, points.domain, dimensions.saturating_sub(1), &border)?;
    let element = |(domain, count): &(Arc<Domain>, Nat)| -> Result<Expr, Refusal> {
        let at = call(cx, Prim::Rank(domain.clone()), own.clone())?;
        Ok(call(cx, Prim::At, vec![at, over(cx, &points, domain, count)?])?)
    };
    let size = cx.size(&border, if points.is_wide { Scalar::I64 } else { Scalar::I32 })?;
    let test = call(cx, Prim::Binary(BinaryOp::Lt), vec![last, size])?;
    let made = chosen(cx, test, element(&first)?, element(&second)?)?;
    let found = points.found(cx, points.domain)?;
    let body = cx.let_in(seen, found, made)?;
    let f = Lambda { size: None, params: vec![points.number.clone()], body };
    let f = renamed_function(cx, &f)?;
    Ok(cx.call(Prim::Generate, vec![points.count.clone()], vec![f], vec![])?)
}

/// The rows before one, and the others. The numbers of the first rows come first.
fn cut_at(cx: &Context, points: &Points, row: &Nat) -> Result<Expr, Refusal> {
    let [(first, before), (second, behind)] = parts(cx, points.domain, 0, row)?;
    let number = cx.fresh("r", points.number.ty().clone());
    let (at, start) = (cx.var(&number), cx.size(&before, Scalar::I32)?);
    let test = call(cx, Prim::Binary(BinaryOp::Lt), vec![at.clone(), start.clone()])?;
    let later = call(cx, Prim::Binary(BinaryOp::Sub), vec![at.clone(), start])?;
    let element = |at: Expr, domain: &Arc<Domain>, count: &Nat| -> Result<Expr, Refusal> {
        Ok(call(cx, Prim::At, vec![at, over(cx, points, domain, count)?])?)
    };
    let made = chosen(cx, test, element(at, &first, &before)?, element(later, &second, &behind)?)?;
    let f = Lambda { size: None, params: vec![number], body: made };
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
