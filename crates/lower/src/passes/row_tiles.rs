//! Rows that a thread each goes through, by way of local memory.
//!
//! Before: `for (g0) for (i < 16) { acc += a[16*g0 + i]; r[16*g0 + i] = acc; }`, of which neighbouring threads touch what lies a
//! row apart, each time.
//! After: a group has as many rows as threads. They copy the rows to local memory, neighbours what lies side by side, and wait; each
//! does its own there, and what it makes of it goes back in the same way: `tile[…] = a[…]; barrier; for (i < 16) { acc +=
//! tile[17*l0 + i]; rows[17*l0 + i] = acc; } barrier; r[…] = rows[…]`. A row of a tile is one longer where its length is even, so that
//! its elements are in other banks than those of the next.
//!
//! Strides alone decide, whatever the threads compute: rows lie one behind the other, and no more is copied than they touch. What is
//! written has to be written whole, or other elements would be overwritten. Rows of one vector stay where they are: threads load and
//! store them as a whole, neighbours what lies side by side.

use std::collections::BTreeSet;

use lift_ir::{Nat, Pred, Range, Space, Var};
use lift_kernel::{
    Access, Barrier, Buffer, BufferId, Edit, Expr, Fence, Kernel, Launch, Loop, LoopKind, Runs,
    Stmt, ValueType,
};

use crate::Options;
use crate::cloning::{Comments, Copier};
use crate::effects::{Touch, touches};
use crate::nest::{Nest, step};
use crate::passes::group_tiling::by_group;

/// Elements of a row: threads with shorter ones touch what lies side by side, those with longer ones share a row.
const SHORTEST: i128 = 3;
const LONGEST: i128 = 128;

/// Rows of a group, which are its threads: the most that are not too many bytes, and of which there are groups enough.
const ROWS: [i128; 3] = [128, 64, 32];
const BYTES: i128 = 36 << 10;
const GROUPS: i128 = 1 << 8;

/// Groups that a launch has in its second dimension, at most.
const MOST_GROUPS: i128 = 65535;

/// Bytes of the widest load, and those of its smallest elements.
const VECTOR: i128 = 16;
const WIDE: i128 = 4;

/// Elements that a thread copies at once.
const AT_ONCE: i128 = 16;

/// Iterations that are looked at to know what a row's loops touch.
const ITERATIONS: i128 = 1 << 12;

pub(crate) fn run(kernel: &mut Kernel, options: &Options, globals: &[Buffer]) {
    if let Some(Tiled { body, launch, tiles, copier }) = tiled(kernel, options, globals) {
        kernel.body = vec![body];
        kernel.launch = launch;
        kernel.locals.extend(tiles);
        kernel.facts = copier.facts;
        kernel.ids = copier.ids;
        kernel.runs = Runs::Threads;
    }
}

struct Tiled {
    body: Stmt,
    launch: Launch,
    tiles: Vec<Buffer>,
    copier: Copier,
}

fn tiled(kernel: &Kernel, options: &Options, globals: &[Buffer]) -> Option<Tiled> {
    let is_open = kernel.launch.local.is_empty() && kernel.launch.global.is_empty();
    let is_free = is_open && options.local.is_none() && options.global.is_none();
    if !is_free || kernel.runs != Runs::Loops || kernel.schedule.tile.is_some() {
        return None;
    }
    let mut work = kernel.body.iter().filter(|stmt| !matches!(stmt, Stmt::Comment(_)));
    let nest = Nest::of(work.next()?).filter(|_| work.next().is_none())?;
    let plan = Plan::of(&nest, kernel, options, globals)?;
    let ways = ["rows through local memory", "rows as they lie"];
    let names = ways.map(|way| format!("{}: {way}", kernel.name));
    match options.choices.take("row_tiles", names.into()) {
        0 => Some(Tiling::new(&plan, kernel, globals).made()),
        _ => None,
    }
}

/// An array of which each thread touches a row.
struct Rows<'k> {
    of: &'k Buffer,
    length: i128,
    /// Where the row of thread 0 begins.
    first: Nat,
    is_written: bool,
}

impl Rows<'_> {
    /// Where an element is in its row.
    fn place(&self, access: &Access, thread: &Var, kernel: &Kernel) -> Nat {
        let row = Nat::var(thread) * Nat::int(self.length) + &self.first;
        kernel.facts.simplify(&(&access.index - row))
    }

    /// From one row of a tile to the next.
    fn pitch(&self) -> i128 {
        self.length | 1
    }
}

/// Which arrays go through local memory, and how many rows of them at once.
struct Plan<'k> {
    threads: &'k Loop,
    others: Vec<&'k Loop>,
    arrays: Vec<Rows<'k>>,
    /// Rows that a group has, and those that there are.
    rows: i128,
    all: i128,
    body: &'k [Stmt],
}

impl<'k> Plan<'k> {
    fn of(
        nest: &Nest<'k>,
        kernel: &Kernel,
        options: &Options,
        globals: &'k [Buffer],
    ) -> Option<Plan<'k>> {
        let (threads, others) = nest.loops.split_last()?;
        let all = threads.extent.as_int()?;
        let batch = others.iter().try_fold(1i128, |all, l| all.checked_mul(l.extent.as_int()?))?;
        let body = nest.body();
        if !body.iter().all(is_plain) {
            return None;
        }
        let found = touches(body);
        let mut inner = BTreeSet::new();
        body.iter().for_each(|stmt| {
            stmt.each(&mut |s| match s {
                Stmt::Loop(l) => inner.extend([l.var.clone()]),
                Stmt::Index { var, .. } => inner.extend([var.clone()]),
                _ => {}
            })
        });
        let look = Look { nest, kernel, found: &found, body, inner };
        let arrays: Vec<Rows> = globals.iter().filter_map(|of| look.rows(of)).collect();
        let bytes: i128 = arrays.iter().map(|a| a.pitch() * a.of.scalar.bytes() as i128).sum();
        let room = BYTES.min(options.local_bytes.into());
        let fits = |rows: &&i128| **rows * bytes <= room && all / **rows * batch >= GROUPS;
        let rows = *ROWS.iter().find(fits)?;
        let others = others.to_vec();
        (!arrays.is_empty() && batch <= MOST_GROUPS).then_some(Plan {
            threads,
            others,
            arrays,
            rows,
            all,
            body,
        })
    }
}

/// Whether a statement is done by a thread on its own, for as long as it wants.
fn is_plain(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Comment(_)
        | Stmt::Declare { .. }
        | Stmt::Assign { .. }
        | Stmt::Index { .. }
        | Stmt::Store { .. } => true,
        Stmt::Loop(l) => {
            matches!(l.kind, LoopKind::Seq | LoopKind::Unroll) && l.body.iter().all(is_plain)
        }
        Stmt::If { then, otherwise, .. } => then.iter().chain(otherwise).all(is_plain),
        Stmt::ThreadId { .. } | Stmt::Atomic { .. } | Stmt::Barrier(_) | Stmt::Stop(_) => false,
    }
}

/// What is known of what threads touch.
struct Look<'p, 'k> {
    nest: &'p Nest<'k>,
    kernel: &'p Kernel,
    found: &'p [Touch<'p>],
    body: &'p [Stmt],
    /// The indices that a thread has of its own.
    inner: BTreeSet<Var>,
}

impl Look<'_, '_> {
    /// An array, if each thread touches a row of it, behind that of the thread before.
    fn rows<'g>(&self, of: &'g Buffer) -> Option<Rows<'g>> {
        let thread = &self.nest.columns()?.var;
        let own: Vec<&Touch> = self.found.iter().filter(|t| t.access.buffer == of.id).collect();
        let (first, facts) = (own.first()?, &self.kernel.facts);
        let is_written = first.writes;
        let is_simple =
            |t: &&Touch| t.writes == is_written && t.access.width == 1 && t.access.items.is_empty();
        let length = step(&first.access.index, thread, facts).as_int()?;
        if !own.iter().all(is_simple) || !(SHORTEST..=LONGEST).contains(&length) {
            return None;
        }
        let rows = Rows { of, length, first: self.begin(first.access, length), is_written };
        let (last, end) = (Nat::int(length), &rows.first + self.extent()? * Nat::int(length));
        let is_inside = |t: &&Touch| {
            let place = rows.place(t.access, thread, self.kernel);
            let is_free = self.nest.loops.iter().all(|l| !place.mentions(&l.var));
            let natural = Pred::Le(Nat::ZERO, place.clone());
            is_free && facts.proves(&natural) && facts.proves(&Pred::Lt(place, last.clone()))
        };
        let fits = own.iter().all(is_inside) && facts.proves(&Pred::Le(end, of.length.clone()));
        let touched = || self.touched(&rows, is_written);
        let is_whole =
            fits && (if is_written { touched() == length } else { touched() * 2 >= length });
        (is_whole && !self.are_vectors(&rows, &own)).then_some(rows)
    }

    /// Whether a thread loads or stores its row at once: one vector, whose elements are touched by straight code when loops are
    /// written out.
    fn are_vectors(&self, rows: &Rows, own: &[&Touch]) -> bool {
        let of = rows.of;
        let bytes = of.scalar.bytes() as i128;
        let is_vector = bytes >= WIDE && bytes * rows.length == VECTOR;
        let is_aligned = i128::from(of.align) >= VECTOR
            && self.kernel.facts.divides(&Nat::int(rows.length), &rows.first);
        let is_unrolled = |t: &&Touch| t.loops.iter().all(|l| l.kind == LoopKind::Unroll);
        let mut is_straight = true;
        for stmt in self.body {
            stmt.each(&mut |s| is_straight &= !matches!(s, Stmt::If { .. }));
        }
        is_vector && is_aligned && is_straight && own.iter().all(is_unrolled)
    }

    fn extent(&self) -> Option<Nat> {
        Some(self.nest.columns()?.extent.clone())
    }

    /// Where the row of thread 0 begins that an access is in.
    fn begin(&self, access: &Access, length: i128) -> Nat {
        let is_other = |v: &Var| self.nest.around().iter().any(|l| l.var == *v);
        let of_grid = |v: &Var| self.nest.loops.iter().any(|l| l.var == *v);
        let is_own = |v: &Var| (of_grid(v) || self.inner.contains(v)) && !is_other(v);
        let at = access.index.substitute(&|v| is_own(v).then_some(Nat::ZERO));
        let within = at.constant().rem_euclid(length);
        self.kernel.facts.simplify(&(at - Nat::int(within)))
    }

    /// How many elements of a row are touched: for certain, if asked for.
    fn touched(&self, rows: &Rows, certainly: bool) -> i128 {
        let mut places = BTreeSet::new();
        let mut left = ITERATIONS;
        self.add_touched(self.body, &mut Vec::new(), rows, certainly, &mut places, &mut left);
        places.len() as i128
    }

    fn add_touched(
        &self,
        block: &[Stmt],
        counters: &mut Vec<(Var, i128)>,
        rows: &Rows,
        certainly: bool,
        places: &mut BTreeSet<i128>,
        left: &mut i128,
    ) {
        let Some(threads) = self.nest.columns() else { return };
        for stmt in block {
            match stmt {
                Stmt::Loop(l) => {
                    for i in 0..l.extent.as_int().unwrap_or(0) {
                        *left -= 1;
                        if *left < 0 {
                            return;
                        }
                        counters.push((l.var.clone(), i));
                        self.add_touched(&l.body, counters, rows, certainly, places, left);
                        counters.pop();
                    }
                    continue;
                }
                Stmt::If { then, otherwise, .. } if !certainly => {
                    for block in [then, otherwise] {
                        self.add_touched(block, counters, rows, certainly, places, left);
                    }
                }
                _ => {}
            }
            let value = |v: &Var| counters.iter().find(|(own, _)| own == v).map(|(_, i)| *i);
            let own = touches(std::slice::from_ref(stmt));
            let direct = own.iter().filter(|t| t.loops.is_empty() && t.access.buffer == rows.of.id);
            let is_block = matches!(stmt, Stmt::If { .. });
            for touch in direct.filter(|_| !is_block || !certainly) {
                let place = rows.place(touch.access, &threads.var, self.kernel);
                places.extend(place.eval(&value).ok());
            }
        }
    }
}

struct Tiling<'p, 'k> {
    plan: &'p Plan<'k>,
    kernel: &'p Kernel,
    copier: Copier,
    group: Var,
    thread: Var,
    tiles: Vec<Buffer>,
}

impl<'p, 'k> Tiling<'p, 'k> {
    fn new(plan: &'p Plan<'k>, kernel: &'p Kernel, globals: &[Buffer]) -> Self {
        let mut copier = Copier::of(kernel);
        let mut fresh = |name: &str, extent: Nat| {
            let var = copier.ids.fresh(name);
            copier.facts.declare_inside(&var, Range::below(extent));
            var
        };
        let group = fresh("wg0", plan.threads.extent.ceil_div(&Nat::int(plan.rows)));
        let thread = fresh("l0", Nat::int(plan.rows));
        let known = globals.iter().chain(&kernel.locals).chain(&kernel.privates);
        let next = known.map(|buffer| buffer.id.0 + 1).max().unwrap_or(0);
        let tile = |(number, rows): (u32, &Rows)| Buffer {
            id: BufferId(next + number),
            name: format!("{}_rows", rows.of.name),
            scalar: rows.of.scalar,
            length: Nat::int(plan.rows * rows.pitch()),
            stages: 1,
            space: Space::Local,
            items: Vec::new(),
            align: 16,
            heap: false,
        };
        let tiles = (0..).zip(&plan.arrays).map(tile).collect();
        Tiling { plan, kernel, copier, group, thread, tiles }
    }

    fn made(mut self) -> Tiled {
        let plan = self.plan;
        let batch = plan.others.iter().fold(Nat::ONE, |all, l| all * &l.extent);
        let second = self.copier.ids.fresh("wg1");
        let has_batch = !plan.others.is_empty();
        if has_batch {
            self.copier.facts.declare_inside(&second, Range::below(batch.clone()));
        }
        let others = by_group(&plan.others, &second, &self.copier.facts);
        let mut inside = vec![Stmt::ThreadId {
            var: self.thread.clone(),
            kind: LoopKind::Local(0),
            extent: Nat::int(plan.rows),
        }];
        let barrier = Stmt::Barrier(Barrier::group(Fence::Local));
        let filled = self.copied(false, &others);
        if !filled.is_empty() {
            inside.extend(filled);
            inside.push(barrier.clone());
        }
        inside.extend(self.done(&others));
        let drained = self.copied(true, &others);
        if !drained.is_empty() {
            inside.push(barrier);
            inside.extend(drained);
        }
        let groups = plan.threads.extent.ceil_div(&Nat::int(plan.rows));
        let mut dims = vec![(self.group, 0, groups, Nat::int(plan.rows))];
        if has_batch {
            dims.push((second, 1, batch, Nat::ONE));
        }
        let launch = Launch {
            global: dims.iter().map(|(_, _, groups, items)| groups * items).collect(),
            local: dims.iter().map(|(_, _, _, items)| items.clone()).collect(),
        };
        for (var, d, extent, _) in dims {
            inside = vec![Stmt::Loop(Loop::new(var, LoopKind::Group(d), extent, inside))];
        }
        let body = inside.swap_remove(0);
        Tiled { body, launch, tiles: self.tiles, copier: self.copier }
    }

    /// What a thread does, in the tiles.
    fn done(&mut self, others: &[(Var, Nat)]) -> Vec<Stmt> {
        let plan = self.plan;
        let mut through = Through { tiling: self, kernel: self.kernel };
        let body = through.block(plan.body);
        let row = self.row(&Nat::var(&self.thread));
        let threads = &plan.threads.var;
        let value = |v: &Var| {
            let own = others.iter().find(|(own, _)| own == v).map(|(_, n)| n.clone());
            own.or_else(|| (v == threads).then(|| row.clone()))
        };
        let made = self.copier.copy(&body, &value, Comments::Keep);
        self.where_there_is(&row, made)
    }

    /// The rows of a group that are read, or those that are written, copied by all of its threads.
    fn copied(&mut self, written: bool, others: &[(Var, Nat)]) -> Vec<Stmt> {
        let plan = self.plan;
        let mut made = Vec::new();
        let arrays: Vec<usize> = (0..plan.arrays.len()).collect();
        for at in arrays {
            let (Some(rows), Some(tile)) = (plan.arrays.get(at), self.tiles.get(at).cloned())
            else {
                continue;
            };
            if rows.is_written != written {
                continue;
            }
            let once = (1..=AT_ONCE).rev().find(|n| rows.length % n == 0).unwrap_or(1);
            let times = rows.length / once;
            let turn = self.copier.ids.fresh("part");
            self.copier.facts.declare_inside(&turn, Range::below(Nat::int(times)));
            let from = if times == 1 { Nat::ZERO } else { Nat::var(&turn) * Nat::int(once) };
            let each = |t: &mut Self, number: i128| {
                t.element(rows, &tile, &(&from + Nat::int(number)), others)
            };
            let body: Vec<Stmt> = (0..once).flat_map(|number| each(self, number)).collect();
            match times {
                1 => made.extend(body),
                _ => {
                    let l = Loop::new(turn, LoopKind::Seq, Nat::int(times), body);
                    made.push(Stmt::Loop(l));
                }
            }
        }
        made
    }

    /// An element that a thread copies: each time, all of them copy what lies side by side.
    fn element(
        &mut self,
        rows: &Rows,
        tile: &Buffer,
        time: &Nat,
        others: &[(Var, Nat)],
    ) -> Vec<Stmt> {
        let length = Nat::int(rows.length);
        let flat = time * Nat::int(self.plan.rows) + Nat::var(&self.thread);
        let (row, column) = (flat.div(&length), flat.rem(&length));
        let facts = &self.copier.facts;
        let within = facts.simplify(&(&row * Nat::int(rows.pitch()) + column));
        let first = rows
            .first
            .substitute(&|v| others.iter().find(|(own, _)| own == v).map(|(_, n)| n.clone()));
        let group = Nat::var(&self.group) * Nat::int(self.plan.rows * rows.length);
        let outside = facts.simplify(&(first + group + flat));
        let (tile, array) = (element_of(tile.id, within), element_of(rows.of.id, outside));
        let (to, from) = if rows.is_written { (array, tile) } else { (tile, array) };
        let value = Expr::Load(from, ValueType::scalar(rows.of.scalar));
        let copied = vec![Stmt::Store { access: to, value }];
        let row = self.row(&row);
        self.where_there_is(&row, copied)
    }

    /// A row of the group among all.
    fn row(&self, own: &Nat) -> Nat {
        self.copier.facts.simplify(&(Nat::var(&self.group) * Nat::int(self.plan.rows) + own))
    }

    /// What is done for a row, where the last group may have fewer of them.
    fn where_there_is(&self, row: &Nat, then: Vec<Stmt>) -> Vec<Stmt> {
        let is_there = Pred::Lt(row.clone(), Nat::int(self.plan.all));
        if self.copier.facts.proves(&is_there) {
            return then;
        }
        vec![Stmt::If { condition: Expr::Test(is_there), then, otherwise: Vec::new() }]
    }
}

fn element_of(buffer: BufferId, index: Nat) -> Access {
    Access { buffer, index, stage: Nat::ZERO, items: Vec::new(), width: 1, aligned: false }
}

/// Rows in tiles, in place of those in memory.
struct Through<'t, 'p, 'k> {
    tiling: &'t Tiling<'p, 'k>,
    kernel: &'t Kernel,
}

impl Edit for Through<'_, '_, '_> {
    fn access(&mut self, access: &Access) -> Access {
        let plan = self.tiling.plan;
        let mut tiles = plan.arrays.iter().zip(&self.tiling.tiles);
        match tiles.find(|(rows, _)| rows.of.id == access.buffer) {
            Some((rows, tile)) => {
                let place = rows.place(access, &plan.threads.var, self.kernel);
                let row = Nat::var(&self.tiling.thread) * Nat::int(rows.pitch());
                element_of(tile.id, row + place)
            }
            None => access.clone(),
        }
    }
}
