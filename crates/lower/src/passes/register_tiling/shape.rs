//! Whether tiles of a grid pay, and which.
//!
//! From the indices alone: an access that does not vary along a dimension is shared along it, one that moves by one element
//! along the columns is a vector. A grid pays where its points fold, and what they read is one or the other or can be packed.

use std::collections::BTreeSet;

use lift_ir::{Facts, Nat, Var};
use lift_kernel::{Access, BufferId, Kernel, Loop, LoopKind, Stmt};

use super::Nest;
use crate::effects::{Counts, touches};

/// Bytes of the vectors that columns are the lanes of.
pub(crate) const VECTOR_BYTES: i128 = 64;

/// Vectors of accumulators in a tile: half of the registers of a processor, the rest is for operands.
const ACCUMULATORS: i128 = 16;

/// Tiles that a grid has at least where they are larger than one vector.
const TILES: i128 = 16;

/// Vectors of columns in a tile without rows.
const VECTORS: i128 = 4;

/// Elements between two steps of a fold from which on each is in another page, and all are in few places of the cache.
pub(super) const FAR: i128 = 512;

/// Columns of a wide tile at most: their accumulators stay in the cache. And how many such tiles there are at least.
const WIDEST: i128 = 2048;
const PANELS: i128 = 4;

/// Iterations of a fold, at least.
const STEPS: i128 = 8;

/// Expressions of all points of a tile.
const WEIGHT: usize = 4000;

/// Rows that a packed operand is read for, at least.
pub(crate) const PACKED_FOR: i128 = 16;

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
        if !room(&columns.extent, lanes) {
            return None;
        }
        let rows = folds.rows(nest, &kernel.facts);
        let packable = |read: &Read| read.is_packable(rows, &kernel.facts);
        let facts = &kernel.facts;
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
        let packable = |read: &Read| read.is_packable(plan.rows, facts);
        if !folds.reads.iter().all(|read| read.is_lanewise(&columns.var, facts) || packable(read)) {
            return None;
        }
        if tile.is_none() && plan.rows.is_none() && folds.go_far(columns, facts) {
            let wanted = columns.extent.as_int().map_or(WIDEST, |n| (n / PANELS).min(WIDEST));
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

    pub(super) fn tile(&self) -> [u32; 2] {
        let number = |n: i128| u32::try_from(n).unwrap_or(1);
        [number(self.rows_at_once), number(self.lanes * self.vectors)]
    }
}

/// A load in a fold.
pub(super) struct Read<'k> {
    pub access: &'k Access,
    /// The loops around it inside of the point, outermost first.
    pub folds: Vec<&'k Loop>,
    /// Whether the point stores to the same array: then it may not be read beforehand.
    is_stored: bool,
}

impl<'k> Read<'k> {
    /// How far the next neighbour's is away.
    fn step(&self, var: &Var, facts: &Facts) -> Nat {
        step(&self.access.index, var, facts)
    }

    /// Whether lanes read the same element, or neighbouring ones.
    pub(super) fn is_lanewise(&self, columns: &Var, facts: &Facts) -> bool {
        let step = self.step(columns, facts);
        step == Nat::ZERO || step == Nat::ONE
    }

    pub(super) fn is_shared(&self, rows: &Loop, facts: &Facts) -> bool {
        self.step(&rows.var, facts) == Nat::ZERO
    }

    /// Whether an operand can be packed: its elements are counted by one loop, and read for many rows, or in many steps of
    /// another loop.
    pub(super) fn is_packable(&self, rows: Option<&Loop>, facts: &Facts) -> bool {
        let many = |l: &Loop| l.extent.as_int().is_none_or(|n| n >= PACKED_FOR);
        let for_rows = rows.is_some_and(|rows| many(rows) && self.is_shared(rows, facts));
        let again = rows.is_none_or(|rows| self.is_shared(rows, facts))
            && self.folds.iter().any(|l| many(l) && !self.access.index.mentions(&l.var));
        !self.is_stored
            && self.access.width == 1
            && self.counted_by().is_some()
            && (for_rows || again)
    }

    /// The one loop that counts the elements.
    pub(super) fn counted_by(&self) -> Option<&'k Loop> {
        let mut counting = self.folds.iter().filter(|l| self.access.index.mentions(&l.var));
        counting.next().copied().filter(|_| counting.next().is_none())
    }
}

/// How far an index is from that of the next value of a variable.
pub(crate) fn step(index: &Nat, var: &Var, facts: &Facts) -> Nat {
    let next = index.substitute(&|v| (v == var).then(|| Nat::var(var) + Nat::ONE));
    facts.simplify(&(next - index))
}

/// What the points of a nest fold.
pub(super) struct Folds<'k> {
    pub reads: Vec<Read<'k>>,
    /// Variables that folds carry from step to step.
    carried: i128,
    /// Bytes of the largest of them.
    bytes: i128,
    weight: usize,
}

impl<'k> Folds<'k> {
    /// Nothing where a point does something that lanes cannot do together.
    pub(super) fn of(nest: &Nest<'k>, kernel: &Kernel) -> Option<Folds<'k>> {
        let (columns, body) = (nest.columns()?, nest.body());
        let mut carried = BTreeSet::new();
        let mut bytes = 0;
        let mut look = Look { inside: BTreeSet::new(), is_plain: true, steps: false, weight: 0 };
        body.iter().for_each(|stmt| {
            look.stmt(stmt, nest, &mut |var, size| {
                carried.insert(var.clone());
                bytes = bytes.max(size);
            })
        });
        if !look.is_plain || !look.steps || carried.is_empty() {
            return None;
        }
        let own: BTreeSet<BufferId> =
            kernel.locals.iter().chain(&kernel.privates).map(|buffer| buffer.id).collect();
        let mut reads: Vec<Read> = Vec::new();
        let stored = Counts::of(body);
        for touch in touches(body) {
            let by_data = touch.access.index.vars().iter().any(|v| look.inside.contains(v));
            if own.contains(&touch.access.buffer) || by_data {
                return None;
            }
            let along = step(&touch.access.index, &columns.var, &kernel.facts);
            match touch.writes {
                // Lanes that write one element would have to take turns.
                true if along == Nat::ZERO => return None,
                true if !touch.loops.is_empty() && along != Nat::ONE => return None,
                true => {}
                false if touch.loops.is_empty() => {}
                false => reads.push(Read {
                    access: touch.access,
                    folds: touch.loops.to_vec(),
                    is_stored: stored.is_stored(touch.access.buffer),
                }),
            }
        }
        let count = i128::try_from(carried.len()).ok()?;
        Some(Folds { reads, carried: count, bytes, weight: look.weight })
    }

    /// Whether the next step of a fold is far from where the last one read columns.
    fn go_far(&self, columns: &Loop, facts: &Facts) -> bool {
        self.reads.iter().any(|read| {
            let far = read.folds.last().is_some_and(|l| {
                let step = read.step(&l.var, facts);
                step.as_int().map_or(step != Nat::ZERO, |n| n >= FAR)
            });
            far && read.step(&columns.var, facts) == Nat::ONE
        })
    }

    /// The loop around that of the columns along which most is shared, if anything is.
    fn rows(&self, nest: &Nest<'k>, facts: &Facts) -> Option<&'k Loop> {
        let columns = nest.columns()?;
        let shared = |l: &Loop| -> usize {
            let shared = self.reads.iter().filter(|read| read.is_shared(l, facts));
            shared.map(|read| 1 + usize::from(!read.is_shared(columns, facts))).sum()
        };
        let scored = nest.around().iter().map(|l| (shared(l), *l));
        // Of equals the innermost.
        scored.filter(|(score, _)| *score > 0).max_by_key(|(score, _)| *score).map(|(_, l)| l)
    }
}

/// Looks at all statements of a point.
struct Look {
    /// Index variables whose values come from data.
    inside: BTreeSet<Var>,
    /// Nothing keeps lanes apart.
    is_plain: bool,
    /// Whether there is a fold of some length.
    steps: bool,
    weight: usize,
}

impl Look {
    fn stmt(&mut self, stmt: &Stmt, nest: &Nest, carried: &mut dyn FnMut(&Var, i128)) {
        self.weight += 1;
        stmt.values().for_each(|value| value.each(&mut |_| self.weight += 1));
        match stmt {
            Stmt::Barrier(_) | Stmt::Stop(_) | Stmt::Place { .. } => self.is_plain = false,
            Stmt::Index { var, .. } => {
                self.inside.insert(var.clone());
            }
            Stmt::Loop(l) => {
                let is_seq = matches!(l.kind, LoopKind::Seq | LoopKind::Unroll);
                let by_point = nest.loops.iter().any(|around| l.extent.mentions(&around.var));
                let by_data = l.extent.vars().iter().any(|v| self.inside.contains(v));
                self.is_plain &= is_seq && !by_point && !by_data;
                self.steps |= l.extent.as_int().is_none_or(|n| n >= STEPS);
                self.carried(l, carried);
            }
            _ => {}
        }
        stmt.blocks().into_iter().flatten().for_each(|inner| self.stmt(inner, nest, carried));
    }

    /// The variables that a loop assigns but does not declare.
    fn carried(&mut self, l: &Loop, found: &mut dyn FnMut(&Var, i128)) {
        let (mut declared, mut assigned) = (BTreeSet::new(), Vec::new());
        l.body.iter().for_each(|stmt| {
            stmt.each(&mut |s| match s {
                Stmt::Declare { var, .. } => {
                    declared.insert(var.id.clone());
                }
                Stmt::Assign { var, .. } => assigned.push(var.clone()),
                _ => {}
            });
        });
        for var in assigned.iter().filter(|var| !declared.contains(&var.id)) {
            self.is_plain &= var.ty.width == 1;
            found(&var.id, var.ty.scalar.bytes() as i128);
        }
    }
}
