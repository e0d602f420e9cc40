//! Which grids are tiled for groups, and by which tile.
//!
//! From the indices alone: some operand of the folds is shared along the columns, some other along a dimension of rows.

use std::collections::BTreeSet;

use lift_ir::{Facts, Nat, Var};
use lift_kernel::{Access, Kernel, Loop, Stmt};

use super::WIDE;
use crate::nest::{Folds, Nest, Read};

/// A tile, and what it is worth.
struct Form {
    tile: [u32; 2],
    /// Rows and columns of points that a thread has.
    points: [u32; 2],
    /// How much of what a device can compute it reaches where there are enough of them, in percent.
    rate: i128,
}

/// The tiles that are tried. Those with more points a thread read local memory less often; those with fewer points are for grids
/// that would not have a tile for every multiprocessor.
const THROUGH_LOCAL: [Form; 7] = [
    Form { tile: [128, 128], points: [8, 8], rate: 100 },
    Form { tile: [64, 128], points: [8, 8], rate: 90 },
    Form { tile: [128, 64], points: [8, 8], rate: 90 },
    Form { tile: [64, 64], points: [4, 4], rate: 70 },
    Form { tile: [32, 64], points: [4, 4], rate: 55 },
    Form { tile: [32, 32], points: [4, 4], rate: 40 },
    Form { tile: [16, 32], points: [2, 4], rate: 25 },
];

/// The same where nothing goes through local memory: neighbouring threads have neighbouring columns.
const DIRECT: [Form; 6] = [
    Form { tile: [32, 128], points: [8, 4], rate: 60 },
    Form { tile: [64, 64], points: [8, 2], rate: 50 },
    Form { tile: [32, 64], points: [8, 2], rate: 50 },
    Form { tile: [32, 32], points: [8, 1], rate: 40 },
    Form { tile: [16, 64], points: [4, 2], rate: 35 },
    Form { tile: [16, 32], points: [4, 1], rate: 30 },
];

/// Multiprocessors of a device, about: so many tiles are computed at the same time.
const MULTIPROCESSORS: i128 = 128;

/// Accumulators of a thread, in words: half of its registers.
const ACCUMULATORS: i128 = 64;

/// Expressions of all points of a thread.
const WEIGHT: usize = 6000;

/// Steps of a fold, at least: for fewer nothing is worth copying.
const STEPS: i128 = 16;

/// Rows and columns of a grid, at least.
const LEAST: i128 = 16;

/// One dimension of a tile.
#[derive(Clone, Copy)]
pub(super) struct Side<'k> {
    /// The loop of the grid.
    pub l: &'k Loop,
    pub tile: i128,
    pub threads: i128,
    /// Points of a thread.
    pub points: i128,
    /// The tile divides the grid.
    pub is_whole: bool,
    /// Neighbours that a thread has: several where what they read comes from local memory, else threads are neighbours.
    pub beside: i128,
}

impl<'k> Side<'k> {
    fn of(l: &'k Loop, tile: u32, threads: u64, direct: bool, facts: &Facts) -> Option<Side<'k>> {
        let (tile, threads) = (i128::from(tile), i128::from(threads));
        if threads <= 0 || tile <= 0 || tile % threads != 0 {
            return None;
        }
        let (points, is_whole) = (tile / threads, facts.divides(&Nat::int(tile), &l.extent));
        let beside = if direct || points % WIDE != 0 { 1 } else { WIDE };
        Some(Side { l, tile, threads, points, is_whole, beside })
    }

    /// Whether all or none of so many neighbours are points of the grid.
    pub(super) fn divides_by(&self, beside: i128) -> bool {
        self.l.extent.as_int().is_some_and(|n| n % beside == 0)
    }

    pub(super) fn groups(&self) -> Nat {
        self.l.extent.ceil_div(&Nat::int(self.tile))
    }
}

/// How a nest is tiled.
pub(super) struct Plan<'k> {
    pub rows: Side<'k>,
    pub columns: Side<'k>,
    /// The other dimensions of the grid, outermost first.
    pub others: Vec<&'k Loop>,
    /// Steps of a fold that are copied at a time.
    pub depth: i128,
    operands: Vec<(&'k Loop, &'k Access)>,
}

impl<'k> Plan<'k> {
    /// The plan for a tile that so many threads share.
    pub(super) fn of(
        nest: &Nest<'k>,
        kernel: &Kernel,
        tile: [u32; 2],
        local: &[u64],
    ) -> Option<Plan<'k>> {
        let contraction = Contraction::of(nest, kernel)?;
        let thread = |d: usize| local.get(d).copied().unwrap_or(1);
        if thread(2) != 1 {
            return None;
        }
        let side = |l: &'k Loop, tile: u32, threads: u64| {
            Side::of(l, tile, threads, contraction.reads_direct(l), &kernel.facts)
        };
        let rows = side(contraction.rows, tile[0], thread(1))?;
        let columns = side(contraction.columns, tile[1], thread(0))?;
        let (others, operands) = (contraction.others, contraction.operands);
        Some(Plan { rows, columns, others, depth: depth(tile), operands })
    }

    /// Groups in each dimension.
    pub(super) fn groups(&self) -> Vec<Nat> {
        let own = [self.columns.groups(), self.rows.groups()].into_iter();
        own.chain(self.batch()).collect()
    }

    /// Groups of the third dimension, if there is one: for all other dimensions of the grid.
    pub(super) fn batch(&self) -> Option<Nat> {
        let all = self.others.iter().fold(Nat::ONE, |all, l| all * &l.extent);
        (!self.others.is_empty()).then_some(all)
    }

    /// What a fold reads that goes through local memory.
    pub(super) fn operands(&self, fold: &Loop) -> impl Iterator<Item = &'k Access> + use<'k> {
        let of: Vec<&Access> = self
            .operands
            .iter()
            .filter(|(l, _)| l.var == fold.var)
            .map(|(_, access)| *access)
            .collect();
        of.into_iter()
    }
}

/// Steps that are copied at a time: a large tile has enough to do with few.
fn depth(tile: [u32; 2]) -> i128 {
    if tile[0] * tile[1] >= 128 * 64 { 8 } else { 16 }
}

/// The threads that usually share a tile: columns first.
pub(super) fn threads(tile: [u32; 2]) -> [u64; 2] {
    let known = THROUGH_LOCAL.iter().find(|form| form.tile == tile);
    let points = known.map_or([4, 4], |form| form.points);
    [1, 0].map(|d| u64::from((tile[d] / points[d]).max(1)))
}

/// Rows and columns of a tile, and the threads that share it, columns first.
pub(super) type Tile = ([u32; 2], [u64; 2]);

/// The tiles that a nest can have, the one expected to be fastest first; none where a thread a point is better.
pub(super) fn tiles(nest: &Nest, kernel: &Kernel, room: u64) -> Vec<Tile> {
    let Some(mut timed) = timed(nest, kernel, room) else { return Vec::new() };
    timed.sort_by_key(|(time, _)| *time);
    timed.into_iter().map(|(_, tile)| tile).collect()
}

/// The tiles that fit, with the time that each would take.
fn timed(nest: &Nest, kernel: &Kernel, room: u64) -> Option<Vec<(i128, Tile)>> {
    let contraction = Contraction::of(nest, kernel)?;
    let extent = |l: &Loop| l.extent.as_int();
    let (rows, columns) = (extent(contraction.rows)?, extent(contraction.columns)?);
    let others = contraction.others.iter().map(|l| extent(l));
    let batch = others.into_iter().try_fold(1i128, |all, n| all.checked_mul(n?))?;
    if rows < LEAST || columns < LEAST || rows.checked_mul(columns)?.checked_mul(batch)? == 0 {
        return None;
    }
    let forms: &[Form] = match contraction.operands.is_empty() {
        false => &THROUGH_LOCAL,
        true => &DIRECT,
    };
    let timed = |form: &Form| {
        let [tall, wide] = form.tile.map(i128::from);
        let tiles = ((rows + tall - 1) / tall) * ((columns + wide - 1) / wide) * batch;
        let turns = (tiles + MULTIPROCESSORS - 1) / MULTIPROCESSORS;
        let threads = [1, 0].map(|d| u64::from(form.tile[d] / form.points[d]));
        (turns * tall * wide * 1000 / form.rate, (form.tile, threads))
    };
    Some(forms.iter().filter(|form| contraction.fits(form, room)).map(timed).collect())
}

/// A grid whose points fold products, or anything, of operands that are shared along one dimension or another.
struct Contraction<'k> {
    rows: &'k Loop,
    columns: &'k Loop,
    others: Vec<&'k Loop>,
    folds: Folds<'k>,
    /// What can go through local memory, with the fold that reads it.
    operands: Vec<(&'k Loop, &'k Access)>,
}

impl<'k> Contraction<'k> {
    fn of(nest: &Nest<'k>, kernel: &Kernel) -> Option<Contraction<'k>> {
        let columns = nest.columns()?;
        let folds = Folds::of(nest, kernel).filter(|folds| !folds.is_short)?;
        let rows = folds.rows(nest, &kernel.facts)?;
        let others = nest.around().iter().copied().filter(|l| l.var != rows.var).collect();
        let varies = |read: &Read, l: &Loop| read.access.index.mentions(&l.var);
        let only = |l: &Loop, other: &Loop| {
            folds.reads.iter().any(|read| varies(read, l) && !varies(read, other))
        };
        if !only(rows, columns) || !only(columns, rows) {
            return None;
        }
        let branched = branched(nest.body());
        let mut operands: Vec<(&Loop, &Access)> = Vec::new();
        for read in &folds.reads {
            let fold = counts(read).filter(|fold| !branched.contains(&fold.var));
            let Some(fold) = fold else { continue };
            let known =
                operands.iter().any(|(l, access)| l.var == fold.var && *access == read.access);
            if varies(read, rows) != varies(read, columns) && !known {
                operands.push((fold, read.access));
            }
        }
        Some(Contraction { rows, columns, others, folds, operands })
    }

    /// Whether some of what varies along a dimension is not read through local memory.
    fn reads_direct(&self, l: &Loop) -> bool {
        let is_operand = |read: &Read| {
            let fold = read.folds.last().map(|fold| &fold.var);
            let known =
                |(l, access): &(&Loop, &Access)| fold == Some(&l.var) && *access == read.access;
            self.operands.iter().any(known)
        };
        let mut along = self.folds.reads.iter().filter(|r| r.access.index.mentions(&l.var));
        along.any(|read| !is_operand(read))
    }

    /// Whether a thread has registers enough for its part of a tile, and a group local memory, twice as it is filled ahead.
    fn fits(&self, form: &Form, room: u64) -> bool {
        let points = i128::from(form.points[0] * form.points[1]);
        let words = self.folds.carried * (self.folds.bytes + 3) / 4;
        let along = |access: &Access| match access.index.mentions(&self.rows.var) {
            true => form.tile[0],
            false => form.tile[1],
        };
        let elements: i128 = self.operands.iter().map(|(_, a)| i128::from(along(a) + 4)).sum();
        let bytes = elements * depth(form.tile) * 8 * 2;
        points * words <= ACCUMULATORS
            && self.folds.weight * points as usize <= WEIGHT
            && bytes <= i128::from(room)
    }
}

/// The innermost loop around a read, where that counts its elements, many of them, nothing is in it but straight code, and what is
/// read is not stored to.
fn counts<'k>(read: &Read<'k>) -> Option<&'k Loop> {
    let fold = read.folds.last().copied()?;
    let is_innermost = fold.body.iter().all(|stmt| !has_loop(stmt));
    let is_plain = !read.is_stored && read.access.width == 1;
    let is_long = fold.extent.as_int().is_none_or(|n| n >= STEPS);
    (is_innermost && is_plain && is_long && read.access.index.mentions(&fold.var)).then_some(fold)
}

/// The loops in branches, which not all threads of a group may take: they cannot wait for each other there.
fn branched(body: &[Stmt]) -> BTreeSet<Var> {
    let mut found = BTreeSet::new();
    for stmt in body {
        stmt.each(&mut |s| {
            if let Stmt::If { then, otherwise, .. } = s {
                then.iter().chain(otherwise).for_each(|inner| {
                    inner.each(&mut |s| {
                        if let Stmt::Loop(l) = s {
                            found.insert(l.var.clone());
                        }
                    });
                });
            }
        });
    }
    found
}

fn has_loop(stmt: &Stmt) -> bool {
    let mut found = false;
    stmt.each(&mut |s| found |= matches!(s, Stmt::Loop(_)));
    found
}
