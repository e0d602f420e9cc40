//! Whether tiles of a grid pay, and which.
//!
//! From the indices alone: an access that does not vary along a dimension is shared along it, one that moves by one element
//! along the columns is a vector. A grid pays where its points fold, and what they read is one or the other or can be packed.

use lift_ir::Nat;
use lift_kernel::{Kernel, Loop};

use crate::nest::{Folds, Nest, Read};

/// Bytes of the vectors that columns are the lanes of.
pub(crate) const VECTOR_BYTES: i128 = 64;

/// Vectors of accumulators in a tile: half of the registers of a processor, the rest is for operands.
const ACCUMULATORS: i128 = 16;

/// Tiles that a grid has at least where they are larger than one vector.
const TILES: i128 = 16;

/// Vectors of columns in a tile without rows.
const VECTORS: i128 = 4;

/// Columns of a wide tile at most: their accumulators stay in the cache. How many such tiles there are at least, one for each thread,
/// unless they become so narrow that memory is read in short pieces.
const WIDEST: i128 = 2048;
const PANELS: i128 = 16;
const NARROWEST: i128 = 256;

/// Columns at least. Where they make no whole vector, what they read is packed, with zeros behind the last.
const FEWEST: i128 = 3;

/// Expressions of all points of a tile.
const WEIGHT: usize = 4000;

/// How a nest is tiled.
pub(super) struct Plan<'k> {
    /// Neighbours here are lanes.
    pub columns: &'k Loop,
    pub lanes: i128,
    /// Vectors of columns a tile.
    pub vectors: i128,
    /// So many neighbours here are computed together, if any.
    pub rows: Option<&'k Loop>,
    pub rows_at_once: i128,
    /// A tile is one row of many columns, and folds go along whole rows.
    pub is_wide: bool,
}

impl<'k> Plan<'k> {
    /// The plan for a nest: with the tile that is asked for, or the one expected to pay.
    pub(super) fn of(nest: &Nest<'k>, kernel: &Kernel, tile: Option<[u32; 2]>) -> Option<Plan<'k>> {
        let columns = nest.columns()?;
        let folds = Folds::of(nest, kernel)?;
        let lanes = VECTOR_BYTES / folds.bytes;
        let room = |n: &Nat, least: i128| n.as_int().is_none_or(|n| n >= least);
        if !room(&columns.extent, FEWEST) {
            return None;
        }
        let rows = folds.rows(nest, &kernel.facts);
        let packable = |read: &Read| read.is_packable(rows, &kernel.facts);
        let facts = &kernel.facts;
        // What lies side by side compilers find themselves, around a few steps.
        if folds.is_short && folds.reads.iter().all(|read| read.is_lanewise(&columns.var, facts)) {
            return None;
        }
        let is_narrow = !room(&columns.extent, lanes);
        let varies = |read: &&Read| !read.is_shared(columns, facts);
        if is_narrow && !folds.reads.iter().filter(varies).all(packable) {
            return None;
        }
        if !folds.reads.iter().all(|read| read.is_lanewise(&columns.var, facts) || packable(read)) {
            return None;
        }
        let mut plan = Plan { columns, lanes, vectors: 1, rows, rows_at_once: 1, is_wide: false };
        match tile {
            Some([at_once, columns]) => {
                plan.vectors = (i128::from(columns) / lanes).max(1);
                plan.rows_at_once = at_once.into();
                plan.widen(columns.into());
            }
            None => {
                let most = (ACCUMULATORS / folds.carried).max(1);
                let others: Option<i128> = nest
                    .around()
                    .iter()
                    .map(|l| l.extent.as_int())
                    .try_fold(1i128, |all, n| all.checked_mul(n?));
                // Threads enough have a tile.
                let is_spread =
                    |vectors: i128, at_once: i128| match (columns.extent.as_int(), others) {
                        (Some(n), Some(others)) => n * others >= TILES * vectors * lanes * at_once,
                        _ => true,
                    };
                let light = |points: i128| folds.weight * points as usize <= WEIGHT;
                let wanted = if rows.is_some() { 2 } else { VECTORS };
                while plan.vectors < wanted
                    && 2 * plan.vectors <= most
                    && room(&columns.extent, 2 * plan.vectors * lanes)
                    && light(2 * plan.vectors)
                    && is_spread(2 * plan.vectors, 1)
                {
                    plan.vectors *= 2;
                }
                while let Some(rows) = rows
                    && plan.rows_at_once < 8
                    && 2 * plan.rows_at_once * plan.vectors <= most
                    && room(&rows.extent, 2 * plan.rows_at_once)
                    && light(2 * plan.rows_at_once * plan.vectors)
                    && is_spread(plan.vectors, 2 * plan.rows_at_once)
                {
                    plan.rows_at_once *= 2;
                }
            }
        }
        if plan.rows_at_once == 1 {
            plan.rows = None;
        }
        if is_narrow && plan.rows.is_none() {
            return None;
        }
        let packable = |read: &Read| read.is_packable(plan.rows, facts);
        if !folds.reads.iter().all(|read| read.is_lanewise(&columns.var, facts) || packable(read)) {
            return None;
        }
        if tile.is_none() && plan.rows.is_none() && folds.go_far(columns, facts) {
            let share = |n: i128| (n / PANELS).max(NARROWEST.min(n / 4)).min(WIDEST);
            let wanted = columns.extent.as_int().map_or(WIDEST, share);
            plan.widen(wanted / lanes * lanes);
        }
        Some(plan)
    }

    /// Makes a tile one row of so many columns, where these are more than vectors in registers.
    fn widen(&mut self, columns: i128) {
        if self.rows_at_once == 1 && columns > VECTORS * self.lanes {
            (self.lanes, self.vectors, self.is_wide) = (columns, 1, true);
        }
    }

    /// Whether there are fewer columns than lanes.
    pub(super) fn is_narrow(&self) -> bool {
        self.columns.extent.as_int().is_some_and(|n| n < self.lanes)
    }

    pub(super) fn tile(&self) -> [u32; 2] {
        let number = |n: i128| u32::try_from(n).unwrap_or(1);
        [number(self.rows_at_once), number(self.lanes * self.vectors)]
    }
}
