//! Tiles of a grid for work-groups, by the schedule's `tile`: contractions of any kind, where work-items are threads.
//!
//! Before: `for (y) for (x) { acc = 0; for (k) acc = acc + a[y][k] * b[k][x]; r[y][x] = acc; }`, a thread a point.
//! After: a group of 16 x 16 threads has a tile of 128 rows and 128 columns, each thread 8 x 8 points with an accumulator each.
//! The fold goes in steps of 8: the group copies what its rows and its columns read in them to local memory, and each element is
//! read from there by many threads, and by each for 8 points.
//!
//! As [`register_tiling`](super::register_tiling) on processors it looks at strides alone ([`crate::nest`]), for any code in and
//! around the folds: what a thread's points do is copied side by side ([`crate::jam`]); an operand that varies along the rows
//! only, or along the columns only, goes through local memory ([`operands`]); any other is read where it is.
//!
//! Where points store only under a condition, as those of the box around a triangle do, a group whose tile has no such point does
//! nothing ([`conditions`]).
//!
//! Where the tile does not divide the grid, points beyond its end repeat the last row or column, and store nothing.

mod conditions;
mod operands;
mod shape;

use lift_ir::{Facts, Nat, Pred, Range, Var};
use lift_kernel::{
    Access, Barrier, Buffer, BufferId, Edit, Expr, Fence, Kernel, Launch, Loop, LoopKind, Runs,
    Stmt,
};

use crate::Options;
use crate::cloning::Copier;
use crate::jam;
use crate::nest::Nest;
use operands::{Operand, Place};
use shape::{Plan, Side, Tile};

/// Tiles that are worth a look besides the one expected to be best.
const OTHERS: usize = 3;

pub(crate) fn run(kernel: &mut Kernel, options: &Options, globals: &[Buffer]) {
    let Some((tiled, launch, tile)) = tiled(kernel, options, globals) else { return };
    kernel.body = vec![tiled.body];
    kernel.locals.extend(tiled.tiles);
    kernel.facts = tiled.facts;
    kernel.launch = launch;
    kernel.schedule.tile = Some(tile);
    // A thread's points are variables of its own from here on.
    kernel.runs = Runs::Threads;
}

/// What becomes of a kernel.
struct Tiled {
    body: Stmt,
    tiles: Vec<Buffer>,
    facts: Facts,
}

/// The kernel by the tile that its schedule says, or by the one expected to pay where thread counts are open, too.
fn tiled(
    kernel: &Kernel,
    options: &Options,
    globals: &[Buffer],
) -> Option<(Tiled, Launch, [u32; 2])> {
    let is_open = kernel.launch.local.is_empty() && kernel.launch.global.is_empty();
    let is_free = is_open && options.local.is_none() && options.global.is_none();
    let nest = only_nest(kernel)?;
    let (tile, threads) = match kernel.schedule.tile {
        Some(tile) => (tile, shape::threads(tile)),
        None if is_free => chosen(&nest, kernel, options)?,
        None => return None,
    };
    let said: Option<Vec<u64>> =
        kernel.launch.local.iter().map(|n| n.as_int()?.try_into().ok()).collect();
    let said = options.local.clone().or(said).filter(|local| !local.is_empty());
    let mut local = said.unwrap_or_else(|| threads.to_vec());
    let plan = Plan::of(&nest, kernel, tile, &local)?;
    let groups = plan.groups();
    local.resize(groups.len(), 1);
    let local: Vec<Nat> = local.iter().map(|n| Nat::int((*n).into())).collect();
    let global = groups.iter().zip(&local).map(|(groups, items)| groups * items).collect();
    let known = globals.iter().chain(&kernel.locals).chain(&kernel.privates);
    let next = known.map(|buffer| buffer.id.0 + 1).max().unwrap_or(0);
    let mut tiling = Tiling::new(&plan, kernel, globals, next);
    let body = tiling.group(&nest);
    let tiled = Tiled { body, tiles: tiling.tiles, facts: tiling.copier.facts };
    Some((tiled, Launch { global, local }, tile))
}

/// The tile to take where none is said; nothing where each point has a thread.
fn chosen(nest: &Nest, kernel: &Kernel, options: &Options) -> Option<Tile> {
    let tiles = shape::tiles(nest, kernel, options.local_bytes);
    let best = tiles.first()?;
    let others = tiles.iter().skip(1).take(OTHERS).map(Some);
    let ways: Vec<Option<&Tile>> = [Some(best), None].into_iter().chain(others).collect();
    let name = |way: &Option<&Tile>| match way {
        Some(([rows, columns], _)) => format!("{}: tile({rows}, {columns})", kernel.name),
        None => format!("{}: no tile", kernel.name),
    };
    let names = ways.iter().map(name).collect();
    ways.get(options.choices.take("group_tiling", names)).copied().flatten().copied()
}

/// The grid that is all of a kernel.
fn only_nest(kernel: &Kernel) -> Option<Nest<'_>> {
    let mut work = kernel.body.iter().filter(|stmt| !matches!(stmt, Stmt::Comment(_)));
    let nest = Nest::of(work.next()?)?;
    work.next().is_none().then_some(nest)
}

struct Tiling<'p, 'k> {
    plan: &'p Plan<'k>,
    kernel: &'k Kernel,
    globals: &'p [Buffer],
    copier: Copier,
    /// What goes through local memory, and the number of the next array.
    tiles: Vec<Buffer>,
    next: u32,
    rows: Along<'k>,
    columns: Along<'k>,
    /// The number of the thread in its group.
    thread: Nat,
}

/// How the points of a group lie along one loop of the grid.
struct Along<'k> {
    side: Side<'k>,
    group: Var,
    /// The thread's place in its group.
    item: Var,
    /// Stands for the place of a point in the tile until it is known which of a thread's points it is.
    within: Var,
    /// Likewise for the place of the first of those that a thread has side by side.
    first: Var,
}

impl Along<'_> {
    /// The index in the grid of a place in the tile, as if the grid had no end.
    fn beyond(&self, within: &Nat) -> Nat {
        Nat::var(&self.group) * Nat::int(self.side.tile) + within
    }

    /// The same, or what the last ones of the grid have: of so many side by side, the place of the first and which it is.
    fn index(&self, first: &Nat, at: i128, beside: i128) -> Nat {
        let extent = &self.side.l.extent;
        let beyond = self.beyond(first);
        match self.side.is_whole {
            true => beyond + Nat::int(at),
            false if self.side.divides_by(beside) => {
                Nat::min(&beyond, &(extent - Nat::int(beside))) + Nat::int(at)
            }
            false => Nat::min(&(beyond + Nat::int(at)), &(extent - Nat::ONE)),
        }
    }

    /// That there is a point.
    fn is_there(&self) -> Pred {
        let place = if self.side.divides_by(self.side.beside) { &self.first } else { &self.within };
        Pred::Lt(self.beyond(&Nat::var(place)), self.side.l.extent.clone())
    }

    /// What stands for one of a thread's points, and what it is.
    fn point(&self, number: i128) -> [(Var, Nat); 3] {
        let Side { beside, threads, l, .. } = self.side;
        let (block, at) = (number / beside, number % beside);
        let first = Nat::var(&self.item) * Nat::int(beside) + Nat::int(block * beside * threads);
        [
            (l.var.clone(), self.index(&first, at, beside)),
            (self.within.clone(), &first + Nat::int(at)),
            (self.first.clone(), first),
        ]
    }
}

/// Elements side by side that a thread takes at once.
const WIDE: i128 = 4;

impl<'p, 'k> Tiling<'p, 'k> {
    fn new(plan: &'p Plan<'k>, kernel: &'k Kernel, globals: &'p [Buffer], next: u32) -> Self {
        let mut copier = Copier::of(kernel);
        let mut along = |side: &Side<'k>, name: &str, d: u8| {
            let mut fresh = |name: String, extent: &Nat| {
                let var = copier.ids.fresh(&name);
                copier.facts.declare_inside(&var, Range::below(extent.clone()));
                var
            };
            Along {
                group: fresh(format!("wg{d}"), &side.groups()),
                item: fresh(format!("l{d}"), &Nat::int(side.threads)),
                within: fresh(name.to_owned(), &Nat::int(side.tile)),
                first: fresh(name.to_owned(), &Nat::int(side.tile)),
                side: *side,
            }
        };
        let (rows, columns) = (along(&plan.rows, "row", 1), along(&plan.columns, "column", 0));
        let thread =
            Nat::var(&rows.item) * Nat::int(columns.side.threads) + Nat::var(&columns.item);
        Tiling { plan, kernel, globals, copier, tiles: Vec::new(), next, rows, columns, thread }
    }

    /// The loops over groups, and what a group does.
    fn group(&mut self, nest: &Nest<'k>) -> Stmt {
        let body = self.block(nest.body());
        let batch = self.plan.batch();
        let group = batch.as_ref().map(|extent| self.fresh("wg2", extent));
        let others = group
            .as_ref()
            .map_or_else(Vec::new, |group| by_group(&self.plan.others, group, &self.copier.facts));
        let mut points = Vec::new();
        for row in 0..self.rows.side.points {
            for column in 0..self.columns.side.points {
                let own = self.rows.point(row).into_iter().chain(self.columns.point(column));
                points.push(own.chain(others.iter().cloned()).collect());
            }
        }
        let mut inside: Vec<Stmt> = [&self.rows, &self.columns]
            .into_iter()
            .zip([1, 0])
            .map(|(along, d)| Stmt::ThreadId {
                var: along.item.clone(),
                kind: LoopKind::Local(d),
                extent: Nat::int(along.side.threads),
            })
            .collect();
        let work = jam::together(&body, points, &mut self.copier);
        let along = [&self.rows, &self.columns].map(|a| (&a.side.l.var, &a.group, a.side.tile));
        match conditions::of_tile(nest.body(), &along, &others, &self.copier.facts) {
            None => inside.extend(work),
            Some(meets) => {
                let condition = Expr::Test(meets);
                inside.push(Stmt::If { condition, then: work, otherwise: Vec::new() });
            }
        }
        let tiles = [(&self.columns, 0), (&self.rows, 1)];
        for (along, d) in tiles {
            let groups = along.side.groups();
            let l = Loop::new(along.group.clone(), LoopKind::Group(d), groups, inside);
            inside = vec![Stmt::Loop(l)];
        }
        if let (Some(var), Some(extent)) = (group, batch) {
            inside = vec![Stmt::Loop(Loop::new(var, LoopKind::Group(2), extent, inside))];
        }
        inside.swap_remove(0)
    }

    /// What a point does, its folds in steps, its stores where it is one of the grid.
    fn block(&mut self, block: &[Stmt]) -> Vec<Stmt> {
        let mut made = Vec::new();
        for stmt in block {
            match stmt {
                Stmt::Loop(l) => self.a_loop(l, &mut made),
                Stmt::Store { access, value } => made.push(
                    self.guarded(access, |access| Stmt::Store { access, value: value.clone() }),
                ),
                Stmt::Atomic { op, access, value } => made.push(self.guarded(access, |access| {
                    Stmt::Atomic { op: *op, access, value: value.clone() }
                })),
                Stmt::If { condition, then, otherwise } => made.push(Stmt::If {
                    condition: condition.clone(),
                    then: self.block(then),
                    otherwise: self.block(otherwise),
                }),
                Stmt::Comment(_)
                | Stmt::Declare { .. }
                | Stmt::Assign { .. }
                | Stmt::Index { .. }
                | Stmt::ThreadId { .. }
                | Stmt::Barrier(_)
                | Stmt::Stop(_) => made.push(stmt.clone()),
            }
        }
        made
    }

    /// A store where there is a point.
    fn guarded(&self, access: &Access, store: impl FnOnce(Access) -> Stmt) -> Stmt {
        let sides = [&self.rows, &self.columns];
        let place = |v: &Var| {
            let along =
                sides.iter().find(|along| along.side.l.var == *v && !along.side.is_whole)?;
            Some(along.beyond(&Nat::var(&along.within)))
        };
        let access = Access { index: access.index.substitute(&place), ..access.clone() };
        let store = store(access);
        let ends = sides.into_iter().filter(|along| !along.side.is_whole);
        let mut all: Vec<Pred> = ends.map(Along::is_there).collect();
        let condition = match all.len() {
            0 => return store,
            1 => all.swap_remove(0),
            _ => Pred::And(all),
        };
        Stmt::If { condition: Expr::Test(condition), then: vec![store], otherwise: Vec::new() }
    }

    /// A loop of a point: in steps, where it reads what goes through local memory.
    fn a_loop(&mut self, l: &Loop, made: &mut Vec<Stmt>) {
        let operands = self.operands(l);
        if operands.is_empty() {
            let body = self.block(&l.body);
            return made.push(Stmt::Loop(Loop { body, ..l.clone() }));
        }
        let depth = Nat::int(self.plan.depth);
        let steps = self.copier.facts.simplify(&l.extent.div(&depth));
        let rest = self.copier.facts.simplify(&l.extent.rem(&depth));
        let whole = &steps * &depth;
        if steps != Nat::ZERO {
            let step = self.fresh("step", &steps);
            let first = Nat::var(&step) * &depth;
            let fill = self.fill(&operands, l, &first);
            let within = self.fresh(l.var.name(), &depth);
            let work = Through { operands: &operands, step: Nat::var(&within) }.block(&l.body);
            let at = first + Nat::var(&within);
            let work = self.at(&work, &l.var, &at);
            let work = Stmt::Loop(Loop::new(within, l.kind, depth, work));
            let wait = Stmt::Barrier(Barrier::group(Fence::Local));
            let body = fill.into_iter().chain([wait.clone(), work, wait]).collect();
            made.push(Stmt::Loop(Loop::new(step, LoopKind::Seq, steps, body)));
        }
        if rest != Nat::ZERO {
            let left = self.fresh(l.var.name(), &rest);
            let body = self.at(&l.body, &l.var, &(whole + Nat::var(&left)));
            made.push(Stmt::Loop(Loop::new(left, l.kind, rest, body)));
        }
    }

    fn fresh(&mut self, name: &str, extent: &Nat) -> Var {
        let var = self.copier.ids.fresh(name);
        self.copier.facts.declare_inside(&var, Range::below(extent.clone()));
        var
    }

    /// Statements at a value of a loop's variable.
    fn at(&mut self, block: &[Stmt], var: &Var, value: &Nat) -> Vec<Stmt> {
        let value = |v: &Var| (v == var).then(|| value.clone());
        self.copier.copy(block, &value, crate::cloning::Comments::Keep)
    }

    /// What a loop reads that goes through local memory, with a tile of its own each.
    fn operands(&mut self, l: &Loop) -> Vec<Operand> {
        let mut found: Vec<Operand> = Vec::new();
        for access in self.plan.operands(l) {
            let along = if access.index.mentions(&self.rows.side.l.var) {
                &self.rows
            } else {
                &self.columns
            };
            let id = access.buffer;
            let all = self.globals.iter().chain(&self.kernel.locals);
            let Some(scalar) = all.clone().find(|b| b.id == id).map(|b| b.scalar) else { continue };
            let place = Place::of(access, l, along.side.tile, &self.copier.facts);
            let name = all.clone().find(|b| b.id == id).map_or("tile", |b| b.name.as_str());
            let buffer =
                place.buffer(BufferId(self.next), &format!("{name}_tile"), scalar, self.plan.depth);
            self.next += 1;
            self.tiles.push(buffer.clone());
            let (var, within) = (along.side.l.var.clone(), along.within.clone());
            found.push(Operand { access: access.clone(), var, within, place, buffer });
        }
        found
    }

    /// The threads of a group copy what its rows and columns read in the steps from `first` on.
    fn fill(&mut self, operands: &[Operand], l: &Loop, first: &Nat) -> Vec<Stmt> {
        let threads = self.rows.side.threads * self.columns.side.threads;
        let mut made = Vec::new();
        for operand in operands {
            let along =
                if operand.var == self.rows.side.l.var { &self.rows } else { &self.columns };
            let shares = operand.place.shares(self.plan.depth, threads, &self.thread);
            for share in shares {
                let value = |v: &Var| match *v == operand.var {
                    true => Some(along.index(&share.first, share.at, share.beside)),
                    false => (*v == l.var).then(|| first + &share.step),
                };
                let facts = &self.copier.facts;
                let index = facts.simplify(&operand.access.index.substitute(&value));
                let stmt = operand.copy(index, &share, facts);
                made.push(stmt);
            }
        }
        made
    }
}

/// Reads operands from local memory.
struct Through<'o> {
    operands: &'o [Operand],
    step: Nat,
}

impl Edit for Through<'_> {
    fn access(&mut self, access: &Access) -> Access {
        match self.operands.iter().find(|operand| operand.access == *access) {
            Some(operand) => operand.at(&self.step, &Nat::var(&operand.within)),
            None => access.clone(),
        }
    }
}

/// What loops of a grid are, by the number of the group that has them all in one dimension.
pub(super) fn by_group(loops: &[&Loop], group: &Var, facts: &Facts) -> Vec<(Var, Nat)> {
    let (mut left, mut made) = (Nat::var(group), Vec::new());
    for (number, l) in loops.iter().enumerate().rev() {
        let at = if number == 0 { left.clone() } else { left.rem(&l.extent) };
        made.push((l.var.clone(), facts.simplify(&at)));
        left = left.div(&l.extent);
    }
    made
}
