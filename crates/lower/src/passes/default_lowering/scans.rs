//! Scans shared by work-groups.
//!
//! Before: `scan(z, f, xs)` outside all parallel maps, or a map of such scans over long rows, on a device whose work-items
//! are threads. Those of processors are in [`super::scan_chunks`].
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
//! [`super::tile`] says what a group does, [`super::scan_nests`] which maps of scans are shared so.

use lift_ir::{
    Boundary, Build, Built, Call, Expr, FoldKind, Lambda, MapKind, Nat, Pred, Prim, TypeError,
};

use super::scanned::Scanned;
use super::tile::Tile;
use super::{Decider, Level};
use crate::Target;
use crate::passes::share;

/// Arrays up to this length are scanned by one work-item: a group takes as long.
const SHORT: i128 = 16;

/// Scans of folds around each other where the length is not known. What is left for one work-item is short then.
const LEVELS: u32 = 2;

impl Decider<'_> {
    /// A scan.
    pub(super) fn scan(&self, call: &Call, level: Level) -> Built {
        if let Level::Host | Level::Fused = level
            && let Some(found) = Scanned::of_call(call)
            && let Some(made) = self.in_parallel(found, None)?
        {
            return Ok(made);
        }
        let in_order = |call: &Call| {
            self.rebuild(call, Prim::Scan(FoldKind::Seq), Level::Inside, super::read(level))
        };
        match (level, call.args.as_slice()) {
            // One work-item scans, all of them make what it scans.
            (Level::Host | Level::Fused, [z, xs]) if share::takes_a_loop(xs) => Build::new(self.cx)
                .let_in("xs", self.expr(xs, Level::Host), |xs| {
                    in_order(&Call { args: vec![z.clone(), xs], ..call.clone() })
                }),
            _ => in_order(call),
        }
    }

    /// A scan, or one of each row, by chunks or by groups.
    pub(super) fn in_parallel(
        &self,
        found: Scanned,
        rows: Option<Nat>,
    ) -> Result<Option<Expr>, TypeError> {
        match self.target {
            Target::Loops => self.by_chunks(&found, rows),
            Target::Threads => self.by_groups(found, rows),
        }
    }

    /// A scan, or one of each row, by groups, where that pays and a group has room.
    pub(super) fn by_groups(
        &self,
        found: Scanned,
        rows: Option<Nat>,
    ) -> Result<Option<Expr>, TypeError> {
        let Scanned { z, f, xs, after } = found;
        let shape = Rows { b: Build::new(self.cx), count: rows };
        let known = shape.length(&xs).as_int();
        if known.is_some_and(|n| n <= SHORT) {
            return Ok(None);
        }
        let Some(tile) = Tile::of(z.ty(), known, self.options.local_bytes.into()) else {
            return Ok(None);
        };
        let inside = |f: &Lambda| -> Result<Lambda, TypeError> {
            Ok(Lambda { body: self.expr(&f.body, Level::Inside)?, ..f.clone() })
        };
        let (f, after) = (inside(&f)?, after.as_ref().map(inside).transpose()?);
        let scan = Scan { decider: self, f: &f, tile, rows: &shape };
        // Both are used in several kernels.
        let b = Build::new(self.cx);
        let from = |z: Expr| {
            if !share::takes_a_loop(&xs) {
                return scan.whole(&z, &self.expr(&xs, Level::Fused)?, LEVELS, after.as_ref());
            }
            let stored = self.expr(&xs, Level::Host);
            b.let_in("xs", stored, |xs| scan.whole(&z, &xs, LEVELS, after.as_ref()))
        };
        if !share::takes_a_loop(&z) {
            return from(self.expr(&z, Level::Inside)?).map(Some);
        }
        b.let_in("z", self.expr(&z, Level::Host), from).map(Some)
    }
}

/// One array, or an array of rows, so many.
pub(super) struct Rows<'a> {
    pub(super) b: Build<'a>,
    pub(super) count: Option<Nat>,
}

impl Rows<'_> {
    /// Of the array, or of each row.
    pub(super) fn length(&self, xs: &Expr) -> Nat {
        let own = match (&self.count, xs.ty().as_array()) {
            (None, own) => own,
            (Some(_), rows) => rows.and_then(|(row, _)| row.as_array()),
        };
        own.map_or(Nat::ONE, |(_, n)| n.clone())
    }

    /// A function of each row.
    pub(super) fn each(&self, f: impl FnOnce(Expr) -> Built, xs: Expr) -> Built {
        match self.count {
            None => f(xs),
            Some(_) => self.b.map(f, xs),
        }
    }

    /// The elements of all rows.
    pub(super) fn together(&self, xs: Built) -> Built {
        match self.count {
            None => xs,
            Some(_) => self.b.join(xs),
        }
    }

    /// Rows of so many elements again.
    pub(super) fn apart(&self, length: Nat, xs: Built) -> Built {
        match self.count {
            None => xs,
            Some(_) => self.b.split(length, xs),
        }
    }
}

/// A function to scan with, and how much a group takes.
struct Scan<'a> {
    decider: &'a Decider<'a>,
    f: &'a Lambda,
    tile: Tile,
    rows: &'a Rows<'a>,
}

impl Scan<'_> {
    /// The scans of all rows, by as many levels of tiles as their length needs, and a function of every element.
    fn whole(&self, z: &Expr, xs: &Expr, levels: u32, after: Option<&Lambda>) -> Built {
        let cx = self.decider.cx;
        let (b, rows) = (self.rows.b, self.rows);
        let length = rows.length(xs);
        let known = length.as_int();
        let ends = known.map_or(levels == 0, |n| n <= SHORT);
        if ends {
            return self.in_order(z, xs);
        }
        let size = Nat::int(self.tile.length());
        let count = length.ceil_div(&size);
        let tiles = rows.together(rows.each(|row| self.tiles(z, &row), xs.clone()))?;
        let scanned = |starts: Expr| {
            let each = |pair: Expr| {
                let (start, tile) = (b.field(&pair, 0)?, b.field(&pair, 1)?);
                self.tile.scan(cx, self.f, (&start, &tile), after)
            };
            let parts = b.join(b.map_as(MapKind::Wrg(0), each, b.zip([&starts, &tiles])));
            rows.each(|row| b.take(length.clone(), row), rows.apart(&count * &size, parts)?)
        };
        if known.is_some_and(|n| n <= self.tile.length()) {
            return scanned(b.repeat(rows.count.clone().unwrap_or(Nat::ONE), z)?);
        }
        let fold = |tile: Expr| self.tile.fold(cx, self.f, &tile);
        let totals = rows.apart(count.clone(), b.join(b.map_as(MapKind::Wrg(0), fold, &tiles)));
        b.let_in("totals", totals, |totals| {
            let sums = self.whole(z, &totals, levels.saturating_sub(1), None);
            b.let_in("sums", sums, |sums| {
                let before =
                    |sums| b.take(count.clone(), b.pad_value(Nat::ONE, Nat::ZERO, z, sums));
                scanned(rows.together(rows.each(before, sums))?)
            })
        })
    }

    /// The scan of each row by one work-item.
    fn in_order(&self, z: &Expr, xs: &Expr) -> Built {
        let cx = self.decider.cx;
        let scan = |row: Expr| {
            let args = vec![z.clone(), row];
            cx.call(Prim::Scan(FoldKind::Seq), vec![], vec![self.f.clone()], args)
        };
        match self.rows.count {
            None => scan(xs.clone()),
            Some(_) => self.rows.b.map_as(MapKind::Glb(0), scan, xs),
        }
    }

    /// An array cut into tiles, the last of which is filled up.
    fn tiles(&self, z: &Expr, xs: &Expr) -> Built {
        let cx = self.decider.cx;
        let b = self.rows.b;
        let length = xs.ty().as_array().map_or(Nat::ONE, |(_, n)| n.clone());
        let tile = Nat::int(self.tile.length());
        let rest = length.ceil_div(&tile) * &tile - &length;
        let full = if rest == Nat::ZERO {
            Ok(xs.clone())
        } else if cx.proves(&Pred::Le(Nat::ONE, length)) {
            // Of elements that the function is applied to anyway.
            b.pad(Nat::ZERO, rest, Boundary::Clamp, xs)
        } else {
            b.pad_value(Nat::ZERO, rest, z, xs)
        };
        b.split(tile, full)
    }
}
