//! What a kernel does, per work-item.
//!
//! Every statement has a weight: how often it is executed per work-item of the launch. Where work-items are threads,
//! those that share a parallel loop take its iterations in turn, so that each has its part on average. Where they are
//! iterations, a loop is executed as often as it says, by whoever runs the group, and all is divided by the number of
//! work-items.

use std::collections::BTreeMap;

use lift_ir::{BinaryOp, Math, Space, Var};
use lift_kernel::{Access, Barrier, Buffer, BufferId, Expr, Kernel, Loop, LoopKind, Runs, Stmt};

use super::access::{Pattern, Reach, touched};
use super::control::{changes_a_number, decides, holds_loop};
use super::footprint::Footprint;
use super::grid::{Grid, is_parallel};
use super::lanes::Lanes;
use super::machine::Machine;
use super::operations;
use super::scope::{Meaning, Role, Scope};
use super::values::Values;

/// A loop of up to so many iterations, on whose variable other loops or branches depend, is gone through value by
/// value.
const MOST_ITERATIONS: i128 = 64;
/// As long as no more statements than this were looked at.
const MOST_STATEMENTS: u32 = 20_000;
/// No loop has more iterations.
const MOST_EXTENT: i128 = 1 << 62;

/// Accesses of one memory, per work-item.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(super) struct Traffic {
    pub loads: f64,
    pub stores: f64,
    /// Bytes asked for.
    pub bytes: f64,
    /// Cache lines that the warps touch, each access by itself.
    pub load_lines: f64,
    pub store_lines: f64,
    /// Bytes fetched, and those of them that are asked for, over the lanes that share them.
    pub moved: f64,
    pub useful: f64,
    /// Rounds of the banks of local memory.
    pub conflicts: f64,
    /// Scalars: a vector is as many as it has lanes.
    pub scalars: f64,
    /// Accesses by how the address goes with the lanes: all the same, neighbours, anything else.
    pub same: f64,
    pub contiguous: f64,
    pub strided: f64,
}

#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(super) struct Counts {
    pub global: Traffic,
    pub local: Traffic,
    /// Accesses of private arrays that are no variables.
    pub private: f64,
    pub barriers: f64,
    pub ifs: f64,
    pub selects: f64,
    pub loop_bodies: f64,
    /// Of those, the ones of loops that hold no other loop.
    pub innermost_bodies: f64,
    /// Innermost loops entered.
    pub innermost_loops: f64,
    /// Innermost bodies without a branch in them, all of whose accesses are of neighbours or the same.
    pub vector_bodies: f64,
    /// Of those, the ones without an index that chooses by the loop's variable, which keeps compilers from loading
    /// whole vectors. Only where one thread runs a group.
    pub plain_bodies: f64,
    /// Accesses with an index that chooses by the variable of the innermost loop. Only where one thread runs a group.
    pub chosen: f64,
    /// Innermost bodies that wait for the one before: they change a number from outside of the loop, and the loop
    /// around, whose iterations could be lanes instead, does not go through neighbours. Only where one thread runs a
    /// group.
    pub serial_bodies: f64,
    pub flops: f64,
    pub special: f64,
    pub integer: f64,
    /// Variables in the indices of accesses: what it takes to compute these.
    pub index_terms: f64,
}

/// Counts a kernel, and the bytes of global memory that one group touches, or one of the iterations that run in
/// parallel.
pub(super) fn count<'k>(
    kernel: &'k Kernel,
    grid: &Grid,
    parallel: f64,
    scope: Scope<'k>,
    machine: &Machine,
) -> (Counts, f64) {
    let buffers = kernel.buffers();
    let mut counter = Counter {
        runs: kernel.runs,
        buffers,
        grid,
        share: grid.items() / parallel.max(1.0),
        machine,
        scope,
        shared: Vec::new(),
        loops: Vec::new(),
        side_by_side: None,
        counts: Counts::default(),
        footprint: Footprint::default(),
        statements: 0,
    };
    let weight = match kernel.runs {
        Runs::Threads => 1.0,
        Runs::Loops => 1.0 / grid.items(),
    };
    counter.block(&kernel.body, weight);
    let Counter { counts, footprint, buffers, scope, .. } = counter;
    let length = |id: BufferId| {
        buffers.get(&id).map_or(0.0, |b| {
            scope.eval(&b.total(), &[]).unwrap_or(0) as f64 * b.scalar.bytes() as f64
        })
    };
    (counts, footprint.bytes(&length))
}

struct Counter<'k, 'm> {
    runs: Runs,
    buffers: BTreeMap<BufferId, &'k Buffer>,
    grid: &'m Grid,
    /// Work-items of a group, or of one of the iterations that run in parallel.
    share: f64,
    machine: &'m Machine,
    scope: Scope<'k>,
    /// Where one thread runs a group, the variables of the loops around that threads share.
    shared: Vec<&'k Var>,
    /// The loops around that one thread runs, by the numbers of their variables.
    loops: Vec<usize>,
    /// The loop whose iterations are lanes in place of the innermost loop's, which have to wait for each other.
    side_by_side: Option<usize>,
    counts: Counts,
    footprint: Footprint,
    statements: u32,
}

impl<'k> Counter<'k, '_> {
    fn block(&mut self, stmts: &'k [Stmt], weight: f64) {
        let known = self.scope.len();
        stmts.iter().for_each(|stmt| self.stmt(stmt, weight));
        self.scope.truncate(known);
    }

    fn stmt(&mut self, stmt: &'k Stmt, weight: f64) {
        self.statements = self.statements.saturating_add(1);
        match stmt {
            Stmt::Comment(_) => {}
            Stmt::Declare { value, .. } => {
                if let Some(value) = value {
                    self.expr(value, weight);
                }
            }
            Stmt::Assign { value, .. } => self.expr(value, weight),
            Stmt::Index { var, value } => {
                self.expr(value, weight);
                self.scope.push(var, Meaning::Defined(value));
            }
            Stmt::ThreadId { var, kind, .. } => {
                let count = self.grid.threads(*kind);
                self.scope.push(var, Meaning::Takes(Values::below(count), self.role(*kind)));
            }
            Stmt::Store { access, value } => {
                self.expr(value, weight);
                self.access(access, true, weight, 1.0);
            }
            Stmt::Atomic { access, value, .. } => {
                self.expr(value, weight);
                self.access(access, false, weight, 1.0);
                self.access(access, true, weight, 1.0);
            }
            Stmt::Loop(l) => self.a_loop(l, weight),
            // How often is not known: all of the loop is counted.
            Stmt::Stop(condition) => {
                self.counts.ifs += weight;
                self.expr(condition, weight);
            }
            Stmt::If { condition, then, otherwise } => {
                self.counts.ifs += weight;
                self.expr(condition, weight);
                self.either(condition, weight, |counter, weight, taken| {
                    counter.block(if taken { then } else { otherwise }, weight);
                });
            }
            Stmt::Barrier(Barrier { .. }) => match self.runs {
                Runs::Threads => self.counts.barriers += weight,
                // One thread runs the group and waits for nobody.
                Runs::Loops => {}
            },
        }
    }

    /// Both branches of a condition, with the weight of each.
    fn either(
        &mut self,
        condition: &'k Expr,
        weight: f64,
        mut branch: impl FnMut(&mut Self, f64, bool),
    ) {
        for taken in [true, false] {
            let (chance, narrowed) = self.scope.assume(condition, taken);
            if chance > 0.0 {
                branch(self, weight * chance, taken);
            }
            self.scope.restore(narrowed);
        }
    }

    fn role(&self, kind: LoopKind) -> Role {
        match kind {
            LoopKind::Global(d) => Role::Global(usize::from(d)),
            LoopKind::Group(_) => Role::Group,
            LoopKind::Local(d) => Role::Local(usize::from(d)),
            LoopKind::Seq | LoopKind::Unroll => Role::Iteration,
        }
    }

    /// Of a loop. Where one thread runs a group, it runs all loops inside those that are shared among threads.
    fn loop_role(&mut self, l: &'k Loop) -> Role {
        if self.runs == Runs::Threads || !is_parallel(l) {
            return self.role(l.kind);
        }
        if self.shared.is_empty() {
            self.shared = l.shared_nest().iter().map(|l| &l.var).collect();
        }
        if self.shared.contains(&&l.var) { Role::Group } else { Role::Iteration }
    }

    fn a_loop(&mut self, l: &'k Loop, weight: f64) {
        // A length that data decides is taken to be one.
        let extent = self.scope.eval(&l.extent, &[]).unwrap_or(1).min(MOST_EXTENT);
        let mean = self.scope.mean(&l.extent).unwrap_or(1.0);
        if mean <= 0.0 {
            return;
        }
        let times = match self.runs {
            Runs::Threads => mean / self.grid.threads(l.kind) as f64,
            Runs::Loops => mean,
        };
        let shared = !matches!(l.kind, LoopKind::Seq | LoopKind::Unroll);
        let printed = l.extent.as_int() != Some(1) || (shared && self.runs == Runs::Threads);
        let before = self.counts;
        if printed && l.kind != LoopKind::Unroll {
            self.counts.loop_bodies += weight * times;
        }
        let innermost = printed && l.kind != LoopKind::Unroll && !holds_loop(&l.body);
        let waits = innermost && self.runs == Runs::Loops && changes_a_number(&l.body);
        if waits {
            self.side_by_side = self.neighbours_around(l, extent);
            if self.side_by_side.is_none() {
                self.counts.serial_bodies += weight * times;
            }
        }
        let outermost = self.shared.is_empty();
        let role = self.loop_role(l);
        let values = Values::below(extent);
        let by_value = !shared
            && (2..=MOST_ITERATIONS).contains(&extent)
            && self.statements < MOST_STATEMENTS
            && decides(&l.body, &l.var);
        if by_value {
            for value in 0..extent {
                self.iteration(l, Values::one(value), role, weight * times / extent as f64);
            }
        } else {
            self.iteration(l, values, role, weight * times);
        }
        if outermost {
            self.shared.clear();
        }
        if innermost {
            self.innermost(before, weight, weight * times);
            self.side_by_side = None;
        }
    }

    /// The loop around a loop, by the number of its variable, if one thread runs it and it goes through neighbours.
    fn neighbours_around(&mut self, l: &'k Loop, extent: i128) -> Option<usize> {
        let around = self.loops.last().copied()?;
        let (_, role) = self.scope.entry(around)?;
        if matches!(role, Role::Group) {
            return None;
        }
        self.scope.push(&l.var, Meaning::Takes(Values::below(extent), Role::Iteration));
        let mut found = true;
        for stmt in &l.body {
            stmt.each_access(&mut |access, _| {
                let Some(buffer) = self.buffers.get(&access.buffer) else { return };
                if buffer.space != Space::Private {
                    let reach = Reach::of(&self.scope, access, buffer);
                    let stride = reach.stride(around);
                    found &= reach.base.is_some() && (stride == 0 || stride == reach.bytes);
                }
            });
        }
        self.scope.truncate(self.scope.len() - 1);
        found.then_some(around)
    }

    fn iteration(&mut self, l: &'k Loop, values: Values, role: Role, weight: f64) {
        let number = self.scope.len();
        let alone = values.count() <= 1;
        self.scope.push(&l.var, Meaning::Takes(values, role));
        if !alone {
            self.loops.push(number);
        }
        self.block(&l.body, weight);
        if !alone {
            self.loops.pop();
        }
        self.scope.truncate(number);
    }

    /// Notes a loop without loops inside, given the counts before it.
    fn innermost(&mut self, before: Counts, entered: f64, bodies: f64) {
        let strided = |c: &Counts| c.global.strided + c.local.strided;
        let branches = |c: &Counts| c.ifs;
        let straight = branches(&self.counts) == branches(&before);
        self.counts.innermost_loops += entered;
        self.counts.innermost_bodies += bodies;
        if straight && strided(&self.counts) == strided(&before) {
            self.counts.vector_bodies += bodies;
            if self.runs == Runs::Loops && self.counts.chosen == before.chosen {
                self.counts.plain_bodies += bodies;
            }
        }
    }

    fn expr(&mut self, expr: &'k Expr, weight: f64) {
        let own = operations::of(expr);
        self.counts.flops += weight * own.flops;
        self.counts.special += weight * own.special;
        self.counts.integer += weight * own.integer;
        match expr {
            Expr::Load(access, _) => self.access(access, false, weight, 1.0),
            // One lane of a vector: the others are taken from the same load.
            Expr::Lane(vector, _) => match vector.as_ref() {
                Expr::Load(access, _) => {
                    self.access(access, false, weight, 1.0 / f64::from(access.width.max(1)));
                }
                _ => self.expr(vector, weight),
            },
            Expr::Select(condition, then, otherwise) => {
                self.choice(condition, then, otherwise, weight);
            }
            Expr::Math(Math::Select, args) => match args.as_slice() {
                [c, then, otherwise] if c.ty().width == 1 => {
                    self.choice(c, then, otherwise, weight);
                }
                all => all.iter().for_each(|e| self.expr(e, weight)),
            },
            // The second operand is looked at where the first does not decide.
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) if expr.ty().width == 1 => {
                self.expr(a, weight);
                let (chance, narrowed) = self.scope.assume(a, *op == BinaryOp::And);
                self.expr(b, weight * chance);
                self.scope.restore(narrowed);
            }
            Expr::Literal(_) | Expr::Var(_) | Expr::Index(..) | Expr::Test(_) => {}
            Expr::Unary(_, a) | Expr::Cast(_, a) | Expr::Splat(_, a) | Expr::Shuffle(_, a) => {
                self.expr(a, weight);
            }
            Expr::Binary(_, a, b) => {
                self.expr(a, weight);
                self.expr(b, weight);
            }
            Expr::Math(_, args) | Expr::Vector(_, args) | Expr::Extern(_, args) => {
                args.iter().for_each(|a| self.expr(a, weight));
            }
        }
    }

    fn choice(&mut self, condition: &'k Expr, then: &'k Expr, otherwise: &'k Expr, weight: f64) {
        self.counts.selects += weight;
        self.expr(condition, weight);
        self.either(condition, weight, |counter, weight, taken| {
            counter.expr(if taken { then } else { otherwise }, weight);
        });
    }

    /// An access, or the part of one that is used.
    fn access(&mut self, access: &'k Access, store: bool, weight: f64, part: f64) {
        let Some(buffer) = self.buffers.get(&access.buffer).copied() else { return };
        let weight = weight * part;
        let mut terms = 0.0;
        access.index.each_var(&mut |_| terms += 1.0);
        self.counts.index_terms += weight * terms;
        if buffer.space == Space::Private {
            self.counts.private += weight;
            return;
        }
        let innermost = self.side_by_side.or(self.loops.last().copied());
        let lanes = match self.runs {
            Runs::Threads => Lanes::Items(self.grid.local),
            Runs::Loops => Lanes::Iterations(innermost),
        };
        if self.runs == Runs::Loops
            && innermost
                .and_then(|number| self.scope.var(number))
                .is_some_and(|var| access.index.chooses_by(var))
        {
            self.counts.chosen += weight;
        }
        let reach = Reach::of(&self.scope, access, buffer);
        let touched = touched(&self.scope, access, buffer, &reach, &lanes, self.machine);
        let width = f64::from(access.width.max(1));
        let traffic = match buffer.space {
            Space::Global => &mut self.counts.global,
            Space::Local | Space::Private => &mut self.counts.local,
        };
        if store {
            traffic.stores += weight;
            traffic.store_lines += weight * touched.lines;
        } else {
            traffic.loads += weight;
            traffic.load_lines += weight * touched.lines;
        }
        traffic.bytes += weight * reach.bytes as f64;
        traffic.scalars += weight * width;
        traffic.moved += weight * touched.moved / touched.lanes;
        traffic.useful += weight * touched.useful / touched.lanes;
        traffic.conflicts += weight * touched.conflicts;
        match touched.pattern {
            Pattern::Same => traffic.same += weight,
            Pattern::Next => traffic.contiguous += weight,
            Pattern::Elsewhere => traffic.strided += weight,
        }
        if buffer.space == Space::Global {
            let items = (self.runs == Runs::Threads).then_some(&self.grid.local);
            let times = weight * self.share;
            self.footprint.add(access.buffer, &reach, &self.scope, items, times);
        }
    }
}
