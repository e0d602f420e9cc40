//! The same for processors: a thread goes through blocks of the grid, and what it reads or writes across goes through an array of its
//! own that stays in the cache.
//!
//! Before: `for (y) for (x) r[y][x] = f(a[x][y]);`, which fetches a line for each element of `a`.
//! After: `for (yb) for (xb) { for (x) for (y) tile[y][x] = a[x][y]; for (y) for (x) r[y][x] = f(tile[y][x]); }`, in which all loops go
//! along lines, and the last is vector code.

use lift_ir::{Nat, Range, Space, Var};
use lift_kernel::{Buffer, BufferId, Edit, Expr, Kernel, Loop, LoopKind, Stmt, ValueType};

use super::{Access, Plan, SIDE, Through, Way};
use crate::cloning::{Comments, Copier};
use crate::nest::Nest;

/// Points of a grid from which on its columns do not stay in the cache until their neighbours are read.
const MANY: i128 = 1 << 16;

pub(crate) fn run(kernel: &mut Kernel, globals: &[Buffer]) {
    let mut work = kernel.body.iter().filter(|stmt| !matches!(stmt, Stmt::Comment(_)));
    let nest = work.next().and_then(Nest::of).filter(|_| work.next().is_none());
    let plan = nest.as_ref().and_then(|nest| Plan::of(nest, kernel, globals));
    let (Some(nest), Some(plan)) =
        (nest, plan.filter(|plan| plan.points >= MANY && plan.guard.is_none()))
    else {
        return;
    };
    let known = globals.iter().chain(&kernel.locals).chain(&kernel.privates);
    let next = known.map(|buffer| buffer.id.0 + 1).max().unwrap_or(0);
    let mut blocks =
        Blocks { plan: &plan, copier: Copier::of(kernel), globals, tiles: Vec::new(), next };
    let body = blocks.made(nest.body());
    let Blocks { copier, tiles, .. } = blocks;
    kernel.body = vec![body];
    kernel.privates.extend(tiles);
    kernel.facts = copier.facts;
    kernel.ids = copier.ids;
}

struct Blocks<'p, 'k> {
    plan: &'p Plan<'k>,
    copier: Copier,
    globals: &'p [Buffer],
    tiles: Vec<Buffer>,
    next: u32,
}

/// One side of a block.
struct Side {
    /// The loop of the grid, and where the block begins.
    var: Var,
    start: Nat,
    /// The place in the block, and how many there are.
    within: Var,
    length: Nat,
}

impl Blocks<'_, '_> {
    fn made(&mut self, body: &[Stmt]) -> Stmt {
        let mut groups = Vec::new();
        let [rows, columns] = [self.plan.rows, self.plan.columns].map(|l| {
            let size = Nat::int(SIDE);
            let count = l.extent.ceil_div(&size);
            let block = self.fresh(&format!("block_{}", l.var), &count);
            let start = Nat::var(&block) * &size;
            let length = match l.extent.as_int().is_some_and(|n| n % SIDE == 0) {
                true => size,
                false => Nat::min(&size, &(&l.extent - &start)),
            };
            let within = self.fresh(&format!("in_{}", l.var), &length);
            groups.push((block, count));
            Side { var: l.var.clone(), start, within, length }
        });
        let (row, column) = (Nat::var(&rows.within), Nat::var(&columns.within));
        let mut through = Through { reads: Vec::new() };
        let (mut first, mut last) = (Vec::new(), Vec::new());
        match &self.plan.way {
            Way::Reads(reads) => {
                for access in reads {
                    let Some(place) = self.place(access, &row, &column) else { continue };
                    let value = Expr::Load(access.clone(), self.value_of(access));
                    first.push(Stmt::Store { access: place.clone(), value });
                    through.reads.push((access.clone(), place));
                }
                last.extend(through.block(body));
            }
            Way::Write => {
                for stmt in body {
                    let Stmt::Store { access, value } = stmt else {
                        first.push(stmt.clone());
                        continue;
                    };
                    let Some(place) = self.place(access, &row, &column) else { continue };
                    first.push(Stmt::Store { access: place.clone(), value: value.clone() });
                    let value = Expr::Load(place, self.value_of(access));
                    last.push(Stmt::Store { access: access.clone(), value });
                }
            }
        }
        let (along_rows, along_columns) = ([&columns, &rows], [&rows, &columns]);
        let orders = match self.plan.way {
            Way::Reads(_) => [along_rows, along_columns],
            Way::Write => [along_columns, along_rows],
        };
        let mut inside = Vec::new();
        for (work, order) in [first, last].iter().zip(orders) {
            inside.push(self.nest(work, order, &[&rows, &columns]));
        }
        let mut dimension = 0;
        for (var, count) in groups.into_iter().rev() {
            inside = vec![Stmt::Loop(Loop::new(var, LoopKind::Global(dimension), count, inside))];
            dimension += 1;
        }
        for l in self.plan.others.iter().rev() {
            let (kind, extent) = (LoopKind::Global(dimension), l.extent.clone());
            inside = vec![Stmt::Loop(Loop::new(l.var.clone(), kind, extent, inside))];
            dimension += 1;
        }
        inside.swap_remove(0)
    }

    /// Loops over the points of a block, the second of these sides inside.
    fn nest(&mut self, work: &[Stmt], [outer, inner]: [&Side; 2], sides: &[&Side; 2]) -> Stmt {
        let own = [outer, inner].map(|side| self.fresh(side.within.name(), &side.length));
        let values: Vec<(Var, Nat)> = sides
            .iter()
            .flat_map(|side| {
                let at = if side.var == outer.var { &own[0] } else { &own[1] };
                let place = Nat::var(at);
                [(side.var.clone(), &side.start + &place), (side.within.clone(), place)]
            })
            .collect();
        let value = |v: &Var| values.iter().find(|(own, _)| own == v).map(|(_, n)| n.clone());
        let body = self.copier.copy(work, &value, Comments::Keep);
        let [first, second] = own;
        let inside = Loop::new(second, LoopKind::Seq, inner.length.clone(), body);
        Stmt::Loop(Loop::new(first, LoopKind::Seq, outer.length.clone(), vec![Stmt::Loop(inside)]))
    }

    fn fresh(&mut self, name: &str, extent: &Nat) -> Var {
        let var = self.copier.ids.fresh(name);
        self.copier.facts.declare_inside(&var, Range::below(extent.clone()));
        var
    }

    fn value_of(&self, access: &Access) -> ValueType {
        let of = self.globals.iter().find(|b| b.id == access.buffer);
        ValueType::scalar(of.map_or(lift_ir::Scalar::F32, |b| b.scalar))
    }

    /// The element of an array for a block that stands for an access, with an array of its own for each.
    fn place(&mut self, access: &Access, row: &Nat, column: &Nat) -> Option<Access> {
        let of = self.globals.iter().find(|b| b.id == access.buffer)?;
        let tile = Buffer {
            id: BufferId(self.next),
            name: format!("{}_tile", of.name),
            scalar: of.scalar,
            length: Nat::int(SIDE * SIDE),
            stages: 1,
            space: Space::Private,
            items: Vec::new(),
            align: 64,
            heap: false,
        };
        self.next += 1;
        let index = row * Nat::int(SIDE) + column;
        let place = Access { buffer: tile.id, index, width: 1, aligned: false, ..access.clone() };
        self.tiles.push(tile);
        Some(place)
    }
}
