//! Rows of a domain: the points that have all indices but the last in common.
//!
//! A row begins at some value of the last index, which the others say. *By rows*, cells count from there, so that the box is as wide as the longest
//! row and no wider. *Folded*, a cell of the box has two rows, the first and the last, the second and the last but one, and so
//! on, one from the left and one from the right: where short rows are joined to long ones, the box is half as high and not
//! much wider.

use lift_domain::{Constraint, Domain};
use lift_ir::{BinaryOp, Context, Expr, Literal, Nat, Prim, Scalar};

use super::cells::{Layout, affine, seen_through, wide};
use super::{around, call, points};
use crate::refusal::Refusal;
use crate::rule::{Rule, Site};

pub(super) static DOMAIN_BY_ROWS: Rule = Rule::function(
    "domain_by_rows",
    "An iteration over a domain is one over its rows, each of which begins where its first point may be: of cells without a point, nothing is computed.",
    "f: (i32, i32) -> i32",
    "generate(n * (n + 1) / 2, \\r -> let p = point({ (i, j) | i <= j, j < n }, r); f(p.0, p.1))",
    "generate(n * (n + 1) / 2, \\r -> let p = point({ (i, j) | i <= j, j < n }, r); \
     map(\\i -> map(\\c -> if i + c < (n as i32) then f(i, i + c) else 0, generate(n, \\c -> c)), \
     generate(n, \\i -> i))[p.0][p.1 - p.0])",
    by_rows,
);

pub(super) static DOMAIN_FOLDED: Rule = Rule::function(
    "domain_folded",
    "An iteration over a domain is one over pairs of its rows, the first with the last and so on: short rows are joined to long ones.",
    "f: (i32, i32) -> i32",
    "generate(n * (n + 1) / 2, \\r -> let p = point({ (i, j) | j <= i, i < n }, r); f(p.0, p.1))",
    "generate(n * (n + 1) / 2, \\r -> let p = point({ (i, j) | j <= i, i < n }, r); \
     map(\\i -> map(\\c -> if c <= i then f(i, c) else f((n as i32) - 1 - i, c - 1 - i), generate(n + 1, \\c -> c)), \
     generate((n + 1) / 2, \\i -> i))\
     [if p.0 + p.0 < (n as i32) then p.0 else (n as i32) - 1 - p.0]\
     [if p.0 + p.0 < (n as i32) then p.1 else (n as i32) - p.0 + p.1])",
    folded,
);

fn by_rows(site: &Site) -> Result<Expr, Refusal> {
    let points = points(site.expr)?;
    let rows = Rows::of(points.domain)?;
    let mut extents = around(points.domain)?;
    if let Some(last) = extents.last_mut() {
        *last = rows.width(&rows.length())?;
    }
    seen_through(site.cx, &points, &extents, &rows)
}

fn folded(site: &Site) -> Result<Expr, Refusal> {
    let points = points(site.expr)?;
    let rows = Rows::of(points.domain)?;
    let Some(at) = rows.dimensions.checked_sub(2) else {
        return Err(Refusal::Other("one index has no rows".to_string()));
    };
    let height = rows.extents.get(at).cloned().unwrap_or(Nat::ONE);
    let (own, other) = (rows.length(), mirrored(&rows.length(), at, &height));
    let width = Nat::max(&rows.width(&(&own + &other))?, &rows.width(&own)?);
    let width = site.cx.simplify(&width);
    let mut extents = rows.extents.clone();
    for (extent, new) in
        extents.iter_mut().skip(at).zip([height.ceil_div(&Nat::int(2)), width.clone()])
    {
        *extent = new;
    }
    let layout = Folded { rows, at, height, width };
    seen_through(site.cx, &points, &extents, &layout)
}

/// A value with the last row in place of the first, and so on.
fn mirrored(value: &Nat, at: usize, height: &Nat) -> Nat {
    let var = Domain::index_var(at);
    value.substitute(&|v| (*v == var).then(|| height - Nat::ONE - Domain::index(at)))
}

/// The rows of a domain.
struct Rows {
    dimensions: usize,
    /// Those of a box around the domain.
    extents: Vec<Nat>,
    /// The last index is nowhere before, and nowhere behind, in terms of the others.
    low: Nat,
    high: Nat,
}

impl Rows {
    /// Of several bounds one that depends on the row is taken, if there is one: rows are then as long as they are.
    fn of(domain: &Domain) -> Result<Rows, Refusal> {
        let extents = around(domain)?;
        let dimensions = domain.dimensions();
        let last = dimensions.saturating_sub(1);
        let (mut low, mut high) = (None::<(bool, Nat)>, None::<(bool, Nat)>);
        for constraint in domain.constraints() {
            let Constraint::AtLeast(value) = constraint else { continue };
            let Ok((factors, _)) = lift_domain::affine(value, dimensions) else { continue };
            let varies = factors.iter().take(last).any(|factor| *factor != 0);
            let better =
                |found: &Option<(bool, Nat)>| found.as_ref().is_none_or(|(v, _)| varies && !v);
            match factors.get(last) {
                Some(1) if better(&low) => low = Some((varies, Domain::index(last) - value)),
                Some(-1) if better(&high) => high = Some((varies, value + Domain::index(last))),
                _ => {}
            }
        }
        let low = low.filter(|(varies, _)| *varies).map_or(Nat::ZERO, |(_, low)| low);
        let end = extents.last().map_or(Nat::ZERO, |extent| extent - Nat::ONE);
        let high = high.filter(|(varies, _)| *varies).map_or(end, |(_, high)| high);
        Ok(Rows { dimensions, extents, low, high })
    }

    fn length(&self) -> Nat {
        &self.high - &self.low + Nat::ONE
    }

    /// The largest value that something has for any row of the box, 0 where that is less.
    fn width(&self, value: &Nat) -> Result<Nat, Refusal> {
        let last = self.dimensions.saturating_sub(1);
        let before = self.extents.iter().take(last).enumerate();
        let mut constraints: Vec<Constraint> =
            before.map(|(k, extent)| Constraint::less(&Domain::index(k), extent)).collect();
        constraints.push(Constraint::less(&Domain::index(last), value));
        let all = around(&Domain::new(self.dimensions, constraints))?;
        Ok(all.last().cloned().unwrap_or(Nat::ONE))
    }
}

impl Layout for Rows {
    fn cell(&self, cx: &Context, point: &[Expr]) -> Result<Vec<Expr>, Refusal> {
        let mut cell = point.to_vec();
        if let Some(last) = cell.last_mut() {
            let low = affine(cx, &self.low, point, Scalar::I32)?;
            *last = call(cx, Prim::Binary(BinaryOp::Sub), vec![last.clone(), low])?;
        }
        Ok(cell)
    }

    fn points(&self, cx: &Context, cell: &[Expr]) -> Result<Vec<Vec<Expr>>, Refusal> {
        let mut point: Vec<Expr> = cell.iter().map(|x| wide(cx, x)).collect::<Result<_, _>>()?;
        let low = affine(cx, &self.low, &point, Scalar::I64)?;
        if let Some(last) = point.last_mut() {
            *last = call(cx, Prim::Binary(BinaryOp::Add), vec![low, last.clone()])?;
        }
        Ok(vec![point])
    }
}

/// Pairs of rows.
struct Folded {
    rows: Rows,
    /// The index that says which row.
    at: usize,
    /// Rows that there are, and cells of a pair.
    height: Nat,
    width: Nat,
}

impl Folded {
    /// The row with which a row shares cells.
    fn other(&self) -> Nat {
        &self.height - Nat::ONE - Domain::index(self.at)
    }

    /// From the right: the cell of a last index, and the last index of a cell, which is one function.
    fn right_shift(&self) -> Nat {
        &self.width - Nat::ONE - &self.rows.high
    }
}

impl Layout for Folded {
    fn cell(&self, cx: &Context, point: &[Expr]) -> Result<Vec<Expr>, Refusal> {
        let binary = |op, a, b| call(cx, Prim::Binary(op), vec![a, b]);
        let number = |n: &Nat| affine(cx, n, point, Scalar::I32);
        let two = cx.literal(Literal::Int(Scalar::I32, 2));
        let row = number(&Domain::index(self.at))?;
        let is_first = binary(
            BinaryOp::Lt,
            binary(BinaryOp::Mul, two, row.clone())?,
            cx.size(&self.height, Scalar::I32)?,
        )?;
        let mut cell = self.rows.cell(cx, point)?;
        let last = number(&(Domain::index(self.at + 1) + self.right_shift()))?;
        let others = [number(&self.other())?, last];
        for (own, other) in cell.iter_mut().skip(self.at).zip(others) {
            *own = call(cx, Prim::If, vec![is_first.clone(), own.clone(), other])?;
        }
        Ok(cell)
    }

    fn points(&self, cx: &Context, cell: &[Expr]) -> Result<Vec<Vec<Expr>>, Refusal> {
        let first = self.rows.points(cx, cell)?;
        let mut second: Vec<Expr> = cell.iter().map(|x| wide(cx, x)).collect::<Result<_, _>>()?;
        let row = affine(cx, &self.other(), &second, Scalar::I64)?;
        if let Some(own) = second.get_mut(self.at) {
            *own = row;
        }
        let last =
            affine(cx, &(Domain::index(self.at + 1) - self.right_shift()), &second, Scalar::I64)?;
        if let Some(own) = second.last_mut() {
            *own = last;
        }
        Ok(first.into_iter().chain([second]).collect())
    }
}
