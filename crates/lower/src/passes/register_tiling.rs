//! Register tiling of grids whose points fold over what their neighbours read too, by the schedule's `tile`.
//!
//! Before: `for (y) for (x) { acc = 0; for (k) acc = acc + a[y][k] * b[k][x]; r[y][x] = acc; }`
//! After: tiles of, say, 8 rows and 32 columns. Neighbouring columns are the lanes of vectors, each lane has 8 x 2 accumulators,
//! and one loop over k updates all of them, so that an element of `b` is loaded once for 8 rows and one of `a` for 32 columns.
//!
//! It is unroll-and-jam in two dimensions, for any code around and in the folds: what a column's point computes is copied
//! ([`crate::jam`]), and loops of equal length become one. Which dimension is the one of rows follows from what is shared along it
//! ([`shape`]). Operands whose columns do not lie side by side are packed first ([`packing`]), for as many tiles
//! as read them. Points that do more than one fold are done part by part ([`segments`]), and folds over joined rows row by row
//! ([`strips`]).

mod packing;
pub(super) mod segments;
mod shape;
mod strips;

use std::collections::BTreeSet;

use lift_ir::{Nat, Pred, Range, Var};
use lift_kernel::{Buffer, BufferId, Expr, Kernel, Loop, LoopKind, Stmt};

use crate::cloning::{Comments, Copier};
use crate::jam;
use crate::nest::Nest;
use packing::Packing;
use segments::{Kept, Lanes};
use shape::Plan;
pub(crate) use shape::VECTOR_BYTES;

/// Tiles that are computed from one copy of what is packed.
const TILES_PER_PACK: i128 = 16;

/// The tile that is expected to pay, for the first grid of the kernel that has one.
pub(crate) fn best(kernel: &Kernel) -> Option<[u32; 2]> {
    let mut nests = kernel.body.iter().filter_map(Nest::of);
    nests.find_map(|nest| Plan::of(&nest, kernel, None)).map(|plan| plan.tile())
}

pub(crate) fn run(kernel: &mut Kernel, globals: &[Buffer]) {
    let Some(tile) = kernel.schedule.tile.filter(|tile| *tile != [1, 1]) else { return };
    let mut copier = Copier::of(kernel);
    let mut body = Vec::new();
    let mut arrays = Vec::new();
    let known = globals.iter().chain(&kernel.locals).chain(&kernel.privates);
    let mut next = known.map(|buffer| buffer.id.0 + 1).max().unwrap_or(0);
    for stmt in &kernel.body {
        let nest = Nest::of(stmt);
        let plan = nest.as_ref().and_then(|nest| Plan::of(nest, kernel, Some(tile)));
        match (nest, plan) {
            (Some(nest), Some(plan)) => {
                let known = globals.iter().chain(&kernel.locals).chain(&kernel.privates);
                let packing = Packing::of(&nest, &plan, kernel, known, &mut next);
                arrays.extend(packing.buffers().cloned());
                let arrays = &mut arrays;
                let mut tiling = Tiling {
                    nest: &nest,
                    plan: &plan,
                    copier: &mut copier,
                    arrays,
                    next: &mut next,
                };
                body.extend(tiling.tiled(&packing));
            }
            _ => body.push(stmt.clone()),
        }
    }
    kernel.privates.extend(arrays);
    kernel.body = body;
    kernel.facts = copier.facts;
}

/// Which columns a part of the grid has.
enum Columns<'a> {
    /// So many vectors, from one column on.
    Vectors { first: &'a Nat, count: i128 },
    /// Those from one column on that make no whole tile, and operands that are zero behind the last.
    Rest { first: &'a Nat, count: &'a Nat, packed: &'a BTreeSet<BufferId> },
}

struct Tiling<'p, 'k> {
    nest: &'p Nest<'k>,
    plan: &'p Plan<'k>,
    copier: &'p mut Copier,
    /// The arrays that are made on the way, and the number of the next one.
    arrays: &'p mut Vec<Buffer>,
    next: &'p mut u32,
}

impl Tiling<'_, '_> {
    fn fresh(&mut self, name: &str, extent: &Nat) -> Var {
        let var = self.copier.ids.fresh(name);
        self.copier.facts.declare_inside(&var, Range::below(extent.clone()));
        var
    }

    /// The nest, in whole tiles and what is left of the columns.
    fn tiled(&mut self, packing: &Packing) -> Vec<Stmt> {
        let columns = self.plan.columns;
        let width = Nat::int(self.plan.lanes * self.plan.vectors);
        let whole = self.copier.facts.simplify(&columns.extent.div(&width));
        let rest = self.copier.facts.simplify(&columns.extent.rem(&width));
        let mut made = Vec::new();
        if whole != Nat::ZERO {
            let panel = self.fresh("panel", &whole);
            let first = Nat::var(&panel) * &width;
            let body = packing.used(self.nest.body(), columns, &first);
            let fill = packing.fill(columns, &first, None, self.copier);
            let part = Columns::Vectors { first: &first, count: self.plan.vectors };
            let (rows, inside) = self.blocks(&body, &part, fill);
            let loops = std::iter::once((panel, whole.clone())).chain(rows).collect();
            made.push(self.grid(loops, inside));
        }
        if rest != Nat::ZERO {
            let first = whole * &width;
            let body = packing.used(self.nest.body(), columns, &first);
            let fill = packing.fill(columns, &first, Some(&rest), self.copier);
            let packed: BTreeSet<BufferId> = packing.buffers().map(|buffer| buffer.id).collect();
            let part = Columns::Rest { first: &first, count: &rest, packed: &packed };
            let (rows, inside) = self.blocks(&body, &part, fill);
            let nest = self.grid(rows.into_iter().collect(), inside);
            // The loops around have variables of their own.
            made.extend(self.copier.copy(&[nest], &|_| None, Comments::Keep));
        }
        made
    }

    /// What is done for all rows: a loop over the grid, if rows are tiled, and what is in it. What fills packed
    /// operands stands in front of the tiles that use them.
    fn blocks(
        &mut self,
        body: &[Stmt],
        part: &Columns,
        mut fill: Vec<Stmt>,
    ) -> (Option<(Var, Nat)>, Vec<Stmt>) {
        let Some(rows) = self.plan.rows else {
            fill.extend(self.lanes(body, &[None], part));
            return (None, fill);
        };
        let count = rows.extent.ceil_div(&Nat::int(self.plan.rows_at_once));
        if fill.is_empty() {
            let block = self.fresh("tile", &count);
            let tile = self.tile(body, &Nat::var(&block), part);
            return (Some((block, count)), tile);
        }
        let together = Nat::int(TILES_PER_PACK);
        let chunks = count.ceil_div(&together);
        let chunk = self.fresh("chunk", &chunks);
        let first = Nat::var(&chunk) * &together;
        let left = self.copier.facts.simplify(&Nat::min(&together, &(count - &first)));
        let block = self.fresh("tile", &left);
        let tile = self.tile(body, &(first + Nat::var(&block)), part);
        fill.push(Stmt::Loop(Loop::new(block, LoopKind::Seq, left, tile)));
        (Some((chunk, chunks)), fill)
    }

    /// One block of rows: together where all are there, else one by one.
    fn tile(&mut self, body: &[Stmt], block: &Nat, part: &Columns) -> Vec<Stmt> {
        let Some(rows) = self.plan.rows else { return Vec::new() };
        let at_once = self.plan.rows_at_once;
        let first = block * Nat::int(at_once);
        let all = Pred::Lt(&first + Nat::int(at_once - 1), rows.extent.clone());
        let is_sure = self.copier.facts.proves(&all);
        let facts = self.copier.facts.clone();
        self.copier.facts.assume(&all);
        let values: Vec<Option<Nat>> = (0..at_once).map(|k| Some(&first + Nat::int(k))).collect();
        let then = self.lanes(body, &values, part);
        if is_sure {
            return then;
        }
        self.copier.facts = facts;
        let left = self.copier.facts.simplify(&(&rows.extent - &first));
        let row = self.fresh("row", &left);
        let one = self.lanes(body, &[Some(&first + Nat::var(&row))], part);
        let otherwise = vec![Stmt::Loop(Loop::new(row, LoopKind::Seq, left, one))];
        vec![Stmt::If { condition: Expr::Test(all), then, otherwise }]
    }

    /// Loops over lanes, each of which does all rows and vectors of a tile.
    fn lanes(&mut self, body: &[Stmt], rows: &[Option<Nat>], part: &Columns) -> Vec<Stmt> {
        let columns = self.plan.columns;
        let lanes = Nat::int(self.plan.lanes);
        let (extent, first, vectors) = match part {
            Columns::Vectors { first, count } => (lanes.clone(), *first, *count),
            Columns::Rest { first, count, .. } => ((*count).clone(), *first, 1),
        };
        let padded = match part {
            Columns::Rest { count, packed, .. } if !packed.is_empty() && !self.plan.is_wide => {
                count.as_int().map(|n| (Nat::int(n).ceil_div(&lanes) * &lanes, *packed))
            }
            Columns::Rest { .. } | Columns::Vectors { .. } => None,
        };
        let lane = self.fresh("lane", &extent);
        let mut points = Vec::new();
        for row in rows {
            for vector in 0..vectors {
                let column = first + Nat::int(vector) * &lanes + Nat::var(&lane);
                let row =
                    self.plan.rows.zip(row.as_ref()).map(|(l, at)| (l.var.clone(), at.clone()));
                points.push(row.into_iter().chain([(columns.var.clone(), column)]).collect());
            }
        }
        let body = strips::mined(jam::together(body, points, self.copier), self.copier);
        let width = Nat::int(self.plan.lanes * self.plan.vectors);
        let mut kept = Kept { width, next: self.next, buffers: self.arrays };
        let lanes = Lanes { var: lane, extent, padded };
        segments::cut(lanes, body, self.plan.is_wide, &mut kept, self.copier)
    }

    /// The loops of the grid that are neither over rows nor over columns, then others, around a body.
    fn grid(&self, loops: Vec<(Var, Nat)>, body: Vec<Stmt>) -> Stmt {
        let is_rows = |l: &Loop| self.plan.rows.is_some_and(|rows| rows.var == l.var);
        let outer = self.nest.around().iter().filter(|l| !is_rows(l));
        let mut all: Vec<(Var, Nat)> =
            outer.map(|l| (l.var.clone(), l.extent.clone())).chain(loops).collect();
        if all.is_empty() {
            all.push((self.copier.ids.fresh("once"), Nat::ONE));
        }
        let mut body = body;
        // The dimensions that the nest had, the innermost lowest.
        for (dimension, (var, extent)) in (0..).zip(all.into_iter().rev()) {
            let l = Loop::new(var, LoopKind::Global(dimension), extent, body);
            body = vec![Stmt::Loop(l)];
        }
        body.swap_remove(0)
    }
}
