//! Scans of arrays by many work-groups.
//!
//! Before: `scan(z, f, xs)` outside all parallel maps, on a device whose work-items are threads.
//! After: three steps, the second of which is a scan again, of far fewer elements. Groups fold a tile of xs each; the folds
//! are scanned; groups scan a tile each, starting from the fold of all before it:
//!
//! `scan(z, f, join(tiles)) = join(map(\(s, t) -> scan(s, f, t), zip(starts, tiles)))`, where
//! `starts = concat([z], scan(z, f, map(fold, tiles)))` but for its last element.
//!
//! The function is associative and need not commute, so every step keeps the order; z need not be its identity, so it is
//! used once, in front of everything, and tiles are folded from their first element. The last tile is filled up with the last
//! element, and what comes of that is not stored. Valid for every length.
//!
//! [`Tile`] says what a group does.

use lift_ir::{Boundary, Build, Built, Call, Expr, FoldKind, Lambda, MapKind, Nat, Pred, Prim};

use super::tile::Tile;
use super::{Decider, Level};
use crate::Target;
use crate::passes::share;

/// Arrays up to this length are scanned by one work-item: a group takes as long.
const SHORT: i128 = 16;

/// Scans of folds around each other where the length is not known. What is left for one work-item is so short then.
const LEVELS: u32 = 2;

impl Decider<'_> {
    /// A scan outside all parallel maps.
    pub(super) fn scan(&self, call: &Call, level: Level) -> Built {
        let in_order =
            || self.rebuild(call, Prim::Scan(FoldKind::Seq), Level::Inside, super::read(level));
        let ([z, xs], [f]) = (call.args.as_slice(), call.functions.as_slice()) else {
            return in_order();
        };
        let length = xs.ty().as_array().and_then(|(_, n)| n.as_int());
        let is_short = length.is_some_and(|n| n <= SHORT);
        let is_outside = matches!(level, Level::Host | Level::Read);
        if !is_outside || self.target == Target::Loops || is_short {
            return in_order();
        }
        let Some(tile) = Tile::of(z.ty()) else { return in_order() };
        let f = Lambda { body: self.expr(&f.body, Level::Inside)?, ..f.clone() };
        let scan = Scan { decider: self, f: &f, tile };
        // Both are used in several kernels.
        let b = Build::new(self.cx);
        let from = |z: Expr| {
            if share::is_loop_free(xs) {
                let xs = self.expr(xs, Level::Read)?;
                return scan.whole(&z, &xs, LEVELS);
            }
            b.let_in("xs", self.expr(xs, Level::Host), |xs| scan.whole(&z, &xs, LEVELS))
        };
        if share::is_loop_free(z) {
            return from(self.expr(z, Level::Inside)?);
        }
        b.let_in("z", self.expr(z, Level::Host), from)
    }
}

/// A function to scan with, and how much a group takes.
struct Scan<'a> {
    decider: &'a Decider<'a>,
    f: &'a Lambda,
    tile: Tile,
}

impl Scan<'_> {
    /// The scan of an array, by as many levels of tiles as its length needs.
    fn whole(&self, z: &Expr, xs: &Expr, levels: u32) -> Built {
        let cx = self.decider.cx;
        let b = Build::new(cx);
        let length = xs.ty().as_array().map_or(Nat::ONE, |(_, n)| n.clone());
        let known = length.as_int();
        let ends = known.map_or(levels == 0, |n| n <= SHORT);
        if ends {
            let args = vec![z.clone(), xs.clone()];
            return cx.call(Prim::Scan(FoldKind::Seq), vec![], vec![self.f.clone()], args);
        }
        let tiles = self.tiles(z, xs, &length)?;
        let scanned = |starts: Expr| {
            let each = |pair: Expr| {
                let (start, tile) = (b.field(&pair, 0)?, b.field(&pair, 1)?);
                self.tile.scan(cx, self.f, &start, &tile)
            };
            let parts = b.map_as(MapKind::Wrg(0), each, b.zip([&starts, &tiles]));
            b.take(length.clone(), b.join(parts))
        };
        if known.is_some_and(|n| n <= self.tile.length()) {
            return scanned(b.array([z])?);
        }
        let fold = |tile: Expr| self.tile.fold(cx, self.f, &tile);
        let totals = b.join(b.map_as(MapKind::Wrg(0), fold, &tiles));
        b.let_in("totals", totals, |totals| {
            b.let_in("sums", self.whole(z, &totals, levels.saturating_sub(1)), |sums| {
                let count = length.ceil_div(&Nat::int(self.tile.length()));
                scanned(b.take(count, b.pad_value(Nat::ONE, Nat::ZERO, z, sums))?)
            })
        })
    }

    /// An array cut into tiles, the last of which is filled up.
    fn tiles(&self, z: &Expr, xs: &Expr, length: &Nat) -> Built {
        let cx = self.decider.cx;
        let b = Build::new(cx);
        let tile = Nat::int(self.tile.length());
        let rest = length.ceil_div(&tile) * &tile - length;
        let full = if rest == Nat::ZERO {
            Ok(xs.clone())
        } else if cx.proves(&Pred::Le(Nat::ONE, length.clone())) {
            // Of elements that the function is applied to anyway.
            b.pad(Nat::ZERO, rest, Boundary::Clamp, xs)
        } else {
            b.pad_value(Nat::ZERO, rest, z, xs)
        };
        b.split(tile, full)
    }
}
