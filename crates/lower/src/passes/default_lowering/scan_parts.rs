//! Scans of few long columns, in parts.
//!
//! Before: `map(scan(z, f), columns)`, neighbouring columns side by side in memory, too few for a work-item each.
//! After: columns are cut into parts. A work-item folds one; one scans the folds of a column; one scans a part from the
//! fold of those before it, as in [`super::scans`].

use lift_ir::{Boundary, Build, Expr, FoldKind, Lambda, MapKind, Nat, Prim, TypeError};

use super::scanned::Scanned;
use super::{Decider, Level};
use crate::passes::share;

/// Work-items that a device has room for.
const ITEMS: i128 = 1 << 17;

/// Elements of a part, and parts of a column, which one work-item scans.
const LEAST: i128 = 64;
const MOST_PARTS: i128 = 128;

impl Decider<'_> {
    pub(super) fn by_parts(
        &self,
        scan: &Scanned,
        columns: &Nat,
    ) -> Result<Option<Expr>, TypeError> {
        let (Some(length), Some(count)) = (scan.row_length(), columns.as_int()) else {
            return Ok(None);
        };
        let parts = (ITEMS / count.max(1)).min(length / LEAST).min(MOST_PARTS);
        let Scanned { z, f, xs, after: None } = scan else { return Ok(None) };
        if parts < 2 || !z.ty().is_register() || share::takes_a_loop(z) {
            return Ok(None);
        }
        let f = Lambda { body: self.expr(&f.body, Level::Inside)?, ..f.clone() };
        let z = self.expr(z, Level::Inside)?;
        let own = (length + parts - 1) / parts;
        let parts = (length + own - 1) / own;
        let b = Build::new(self.cx);
        let fold = |prim: Prim, z: Expr, xs: Expr| {
            self.cx.call(prim, vec![], vec![f.clone()], vec![z, xs])
        };
        let cut = |column: Expr| {
            let rest = Nat::int(parts * own - length);
            b.split(Nat::int(own), b.pad(Nat::ZERO, rest, Boundary::Clamp, column))
        };
        let cut = b.transpose(b.map(cut, self.expr(xs, Level::Fused)))?;
        let total = |part: Expr| {
            fold(Prim::Reduce(FoldKind::Seq), b.head(&part)?, b.drop(Nat::ONE, &part)?)
        };
        let of_columns = |columns| b.map_as(MapKind::Glb(0), total, columns);
        let totals = b.map_as(MapKind::Glb(1), of_columns, &cut);
        b.let_in("totals", totals, |totals| {
            let scanned = |column| fold(Prim::Scan(FoldKind::Seq), z.clone(), column);
            let sums = b.transpose(b.map_as(MapKind::Glb(0), scanned, b.transpose(totals)));
            b.let_in("sums", sums, |sums| {
                let before =
                    |column| b.take(Nat::int(parts), b.pad_value(Nat::ONE, Nat::ZERO, &z, column));
                let starts = b.transpose(b.map(before, b.transpose(sums)))?;
                let scanned = |pair: Expr| {
                    fold(Prim::Scan(FoldKind::Seq), b.field(&pair, 0)?, b.field(&pair, 1)?)
                };
                let of_columns = |pair: Expr| {
                    let pairs = b.zip([b.field(&pair, 0)?, b.field(&pair, 1)?]);
                    b.map_as(MapKind::Glb(0), scanned, pairs)
                };
                let made = b.map_as(MapKind::Glb(1), of_columns, b.zip([starts, cut]));
                b.map(|column| b.take(Nat::int(length), b.join(column)), b.transpose(made))
            })
        })
        .map(Some)
    }
}
