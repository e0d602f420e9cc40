//! Scans in chunks, by the threads of a processor.
//!
//! Before: `scan(z, f, xs)` outside all parallel maps, long, or a map of such scans over fewer rows than there may be threads.
//! After: threads fold a chunk each, all but the last; one scans the folds; threads scan a chunk each, from the fold of
//! those before it:
//!
//! `scan(z, f, join(chunks)) = join(map(\(s, c) -> scan(s, f, c), zip(concat([z], sums), chunks)))`, where
//! `sums = scan(z, f, map(fold, chunks but the last))`.
//!
//! The function is associative and need not commute, so chunks are folded in order; sums and products, which commute, are left
//! to the lanes of vectors. The last chunk is filled up with the last element, and what comes of that is not stored.

use lift_ir::{
    BinaryOp, Boundary, Build, Built, Expr, FoldKind, Kind, Lambda, Literal, MapKind, Nat, Prim,
    Scalar, Type, TypeError,
};

use super::scanned::Scanned;
use super::scans::Rows;
use super::{Decider, Level};
use crate::passes::share;

/// Chunks of all rows together: more than processors have threads, so that none waits long for the last.
const CHUNKS: i128 = 1 << 6;

/// Elements of a chunk, at least: what it costs to start threads twice more.
const LEAST: i128 = 1 << 13;

impl Decider<'_> {
    /// A scan, or one of each row, by chunks, where the length is known and worth it.
    pub(super) fn by_chunks(
        &self,
        found: &Scanned,
        rows: Option<Nat>,
    ) -> Result<Option<Expr>, TypeError> {
        let Scanned { z, f, xs, after: None } = found else { return Ok(None) };
        let b = Build::new(self.cx);
        let shape = Rows { b, count: rows };
        let count = shape.count.as_ref().map_or(Some(1), Nat::as_int);
        let (Some(length), Some(count)) = (shape.length(xs).as_int(), count) else {
            return Ok(None);
        };
        let wanted = (CHUNKS / count.max(1)).min(length / LEAST);
        if wanted < 2 || !z.ty().is_register() || share::takes_a_loop(z) {
            return Ok(None);
        }
        let own = (length + wanted - 1) / wanted;
        let (own, parts) = (Nat::int(own), Nat::int((length + own - 1) / own));
        let f = Lambda { body: self.expr(&f.body, Level::Inside)?, ..f.clone() };
        let z = self.expr(z, Level::Inside)?;
        let scan = Scan { decider: self, rows: &shape, z, f, own, parts };
        if share::takes_a_loop(xs) {
            return b.let_in("xs", self.expr(xs, Level::Host), |xs| scan.whole(&xs)).map(Some);
        }
        scan.whole(&self.expr(xs, Level::Fused)?).map(Some)
    }
}

struct Scan<'a> {
    decider: &'a Decider<'a>,
    rows: &'a Rows<'a>,
    z: Expr,
    f: Lambda,
    /// Elements of a chunk, and chunks of a row.
    own: Nat,
    parts: Nat,
}

impl Scan<'_> {
    fn whole(&self, xs: &Expr) -> Built {
        let (b, rows) = (self.rows.b, self.rows);
        let length = rows.length(xs);
        let before_last = &self.parts - Nat::ONE;
        let full = |row| b.split(self.own.clone(), b.take(&before_last * &self.own, row));
        let full = rows.together(rows.each(full, xs.clone()));
        let totals = b.map_as(MapKind::Glb(0), |chunk| self.fold(chunk), full);
        b.let_in("totals", rows.apart(before_last.clone(), totals), |totals| {
            let scan = |row| self.scan(self.z.clone(), row);
            let sums = match self.rows.count {
                None => scan(totals),
                Some(_) => b.map_as(MapKind::Glb(0), scan, totals),
            };
            b.let_in("sums", sums, |sums| {
                let starts = |sums| b.pad_value(Nat::ONE, Nat::ZERO, &self.z, sums);
                let starts = rows.together(rows.each(starts, sums))?;
                let all = &self.parts * &self.own;
                let chunks = |row: Expr| {
                    let rest = self.decider.cx.simplify(&(&all - &length));
                    b.split(self.own.clone(), b.pad(Nat::ZERO, rest, Boundary::Clamp, row))
                };
                let chunks = rows.together(rows.each(chunks, xs.clone()))?;
                let each = |pair: Expr| self.scan(b.field(&pair, 0)?, b.field(&pair, 1)?);
                let made = b.join(b.map_as(MapKind::Glb(0), each, b.zip([starts, chunks])));
                rows.each(|row| b.take(length.clone(), row), rows.apart(all.clone(), made)?)
            })
        })
    }

    fn scan(&self, start: Expr, xs: Expr) -> Built {
        let prim = Prim::Scan(FoldKind::Seq);
        self.decider.cx.call(prim, vec![], vec![self.f.clone()], vec![start, xs])
    }

    /// From the first element on, in order; in any order where the function commutes and has an identity.
    fn fold(&self, chunk: Expr) -> Built {
        let (b, cx) = (self.rows.b, self.decider.cx);
        let (kind, args) = match identity(&self.f) {
            Some(identity) => (FoldKind::Any, vec![cx.literal(identity), chunk]),
            None => (FoldKind::Seq, vec![b.head(&chunk)?, b.drop(Nat::ONE, &chunk)?]),
        };
        cx.call(Prim::Reduce(kind), vec![], vec![self.f.clone()], args)
    }
}

/// The identity of a sum or product of two numbers.
fn identity(f: &Lambda) -> Option<Literal> {
    let ([a, b], Some(call)) = (f.params.as_slice(), f.body.as_call()) else { return None };
    let is = |arg: &Expr, param| matches!(arg.kind(), Kind::Var(own) if own == param);
    let both = match call.args.as_slice() {
        [x, y] => is(x, a) && is(y, b) || is(x, b) && is(y, a),
        _ => false,
    };
    let Type::Scalar(scalar) = f.body.ty() else { return None };
    let number = |scalar: Scalar, n: i32| {
        Literal::float(scalar, f64::from(n)).unwrap_or(Literal::Int(scalar, n.into()))
    };
    match call.prim {
        Prim::Binary(BinaryOp::Add) if both => Some(number(*scalar, 0)),
        Prim::Binary(BinaryOp::Mul) if both => Some(number(*scalar, 1)),
        _ => None,
    }
}
