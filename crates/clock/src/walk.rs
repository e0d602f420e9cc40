//! A kernel followed step by step, for some of its work-items.
//!
//! What a launch does is counted by doing it: all but the arithmetic on data, for a few groups spread over the
//! launch, all work-items of a warp at once. So every address is the one that the device asks for, whatever the index
//! is made of. Of long loops some iterations in a row are followed, and stand for the others.
//!
//! On a GPU the lanes are work-items of a group with neighbouring numbers. On a processor one thread runs a group, and
//! the lanes are neighbouring iterations of an innermost loop, which vector code does together.

use std::collections::{BTreeMap, BTreeSet};

use lift_ir::{BinaryOp, Literal, Math, Nat, Pred, Space, UnaryOp, Var};
use lift_kernel::{Access, Arg, Buffer, BufferId, Expr, Kernel, Loop, LoopKind, Mark, Runs, Stmt};

use crate::operations::{self, Operations};

/// Lanes that are followed together.
pub const LANES: usize = 32;
pub type Lanes = [i64; LANES];
type Mask = [bool; LANES];

/// Iterations that stand for all of a loop, outside of all others and inside of one.
const ITERATIONS: [i64; 3] = [12, 8, 4];
/// Of a loop that is written out, all up to so many.
const WRITTEN_OUT: i64 = 64;
/// No more statements are followed for one warp; what is left counts as what was seen.
const MOST_STEPS: u32 = 20_000;

/// The part of memory that one request of a warp fetches at least, in bytes.
pub const SECTOR: i64 = 32;
/// Of a processor, the line.
pub const LINE: i64 = 64;

/// What was seen of one warp, or of one thread of a processor.
#[derive(Default)]
pub struct Seen {
    /// By lane: of a warp that takes part, every lane counts.
    pub operations: Operations,
    /// The same in loops that no vector code is made of. Only on a processor.
    pub scalar_operations: Operations,
    /// Requests to global memory by a warp, and the pieces of memory they touch, stores among them.
    pub requests: f64,
    pub pieces: f64,
    pub stored: f64,
    /// Rounds of the banks of local memory.
    pub local: f64,
    pub barriers: f64,
    pub branches: f64,
    /// Iterations of loops that are not written out.
    pub iterations: f64,
    /// How often a turn of a loop waits for loads of its own.
    pub turns: f64,
    /// Loads that each turn of the innermost loop does anew.
    pub loads: f64,
    /// Which pieces of which buffer, with how often each stands for others.
    pub touched: BTreeMap<(BufferId, i64), f64>,
    pub written: BTreeMap<(BufferId, i64), f64>,
    /// Operations that each turn of a loop waits for.
    pub chain: Operations,
    pub assumed: BTreeSet<String>,
}

/// Where in the launch the lanes are.
#[derive(Clone, Copy)]
pub struct Place {
    pub group: [i64; 3],
    /// The number of the first lane in its group.
    pub first: i64,
}

/// Numbers of the launch.
#[derive(Clone, Copy)]
pub struct Shape {
    pub local: [i64; 3],
    pub groups: [i64; 3],
}

pub struct Walk<'k> {
    kernel: &'k Kernel,
    shape: Shape,
    sizes: &'k dyn Fn(&Var) -> Option<i64>,
    buffers: BTreeMap<BufferId, &'k Buffer>,
    place: Place,
    scope: Vec<(&'k Var, Option<Lanes>)>,
    depth: usize,
    steps: u32,
    /// On a processor: the loop whose iterations are lanes is one that becomes vector code.
    vector: bool,
    /// Numbers of the part of a block that was followed, so that an index is computed once.
    known: BTreeSet<Nat>,
    /// Conditions that were tested already in straight code.
    tested: BTreeSet<Pred>,
    /// What each turn of the innermost loop computes anew: compilers move the rest out of it.
    changing: BTreeSet<&'k Var>,
    /// The part of a turn's operations that is left of one that is moved out.
    moved: f64,
    /// Variables that are what a remainder or a mask leaves, with how many of two bounds that does not imply.
    bounded: BTreeMap<&'k Var, f64>,
    seen: Seen,
}

/// Follows one warp of a GPU, or on a processor the iteration of the outermost parallel loops at a place.
pub fn follow<'k>(
    kernel: &'k Kernel,
    shape: Shape,
    sizes: &'k dyn Fn(&Var) -> Option<i64>,
    place: Place,
) -> Seen {
    let mut buffers = BTreeMap::new();
    for arg in &kernel.args {
        if let Arg::Buffer(buffer, _) = arg {
            buffers.insert(buffer.id, buffer);
        }
    }
    for buffer in kernel.locals.iter().chain(&kernel.privates) {
        buffers.insert(buffer.id, buffer);
    }
    let mut walk = Walk {
        kernel,
        shape,
        sizes,
        buffers,
        place,
        scope: Vec::new(),
        depth: 0,
        steps: 0,
        vector: false,
        known: BTreeSet::new(),
        tested: BTreeSet::new(),
        changing: BTreeSet::new(),
        moved: 1.0,
        bounded: BTreeMap::new(),
        seen: Seen::default(),
    };
    let mask = match kernel.runs {
        Runs::Threads => {
            let items: i64 = shape.local.iter().product();
            std::array::from_fn(|k| place.first + (k as i64) < items)
        }
        // One thread, until a loop's iterations are lanes.
        Runs::Loops => std::array::from_fn(|k| k == 0),
    };
    walk.block(&kernel.body, mask, 1.0);
    walk.seen
}

impl<'k> Walk<'k> {
    fn block(&mut self, block: &'k [Stmt], mask: Mask, weight: f64) {
        let outer = self.scope.len();
        for stmt in block {
            self.stmt(stmt, mask, weight);
        }
        self.scope.truncate(outer);
    }

    fn stmt(&mut self, stmt: &'k Stmt, mask: Mask, weight: f64) {
        self.steps += 1;
        if !mask.iter().any(|m| *m) || self.steps > MOST_STEPS {
            return;
        }
        match stmt {
            Stmt::Comment(_) => {}
            Stmt::Declare { var, value } => {
                if let Some(value) = value {
                    self.expr(value, mask, weight, false);
                    self.defined(&var.id, value);
                }
            }
            Stmt::Assign { var, value } => {
                self.expr(value, mask, weight, false);
                self.defined(&var.id, value);
                self.wait(&var.id, value, weight);
            }
            Stmt::Index { var, value } => {
                self.expr(value, mask, weight, false);
                self.defined(var, value);
                let lanes = self.integer(value);
                self.scope.push((var, lanes));
            }
            Stmt::Place { var, kind, .. } => {
                let lanes = self.thread(*kind);
                self.scope.push((var, Some(lanes)));
            }
            Stmt::Store { access, value } => {
                self.expr(value, mask, weight, false);
                self.access(access, mask, weight, true);
            }
            Stmt::Loop(l) => self.a_loop(l, mask, weight),
            Stmt::If { condition, then, otherwise } => {
                self.seen.branches += weight;
                self.expr(condition, mask, weight, false);
                self.either(condition, mask, weight, |walk, mask, weight, taken| {
                    walk.block(if taken { then } else { otherwise }, mask, weight);
                });
            }
            Stmt::Barrier(_) => self.seen.barriers += weight,
            Stmt::Stop(condition) => {
                self.seen.branches += weight;
                self.expr(condition, mask, weight, false);
            }
        }
    }

    fn either(
        &mut self,
        condition: &'k Expr,
        mask: Mask,
        weight: f64,
        mut branch: impl FnMut(&mut Self, Mask, f64, bool),
    ) {
        match self.truth(condition) {
            Some(holds) => {
                for taken in [true, false] {
                    let inside = std::array::from_fn(|k| mask[k] && holds[k] == taken);
                    if inside.iter().any(|m| *m) {
                        branch(self, inside, weight, taken);
                    }
                }
            }
            // That an index from data is in range holds; of other conditions both sides, half as often.
            None if matches!(condition, Expr::Test(_)) => branch(self, mask, weight, true),
            None => {
                let note = "a condition on data holds half of the time";
                self.seen.assumed.insert(note.to_string());
                branch(self, mask, weight / 2.0, true);
                branch(self, mask, weight / 2.0, false);
            }
        }
    }

    /// The place of each lane among the threads that share a loop of a kind.
    fn thread(&self, kind: LoopKind) -> Lanes {
        let [x, y, _] = self.shape.local.map(|n| n.max(1));
        let item = |k: usize, d: usize| {
            let number = self.place.first + k as i64;
            match d {
                0 => number % x,
                1 => number / x % y,
                _ => number / (x * y),
            }
        };
        std::array::from_fn(|k| match kind {
            LoopKind::Local(d) => item(k, d.into()),
            LoopKind::Group(d) => at(&self.place.group, d),
            LoopKind::Global(d) => {
                at(&self.place.group, d) * at(&self.shape.local, d) + item(k, d.into())
            }
            LoopKind::Seq | LoopKind::Unroll => 0,
        })
    }

    fn threads(&self, kind: LoopKind) -> i64 {
        match kind {
            LoopKind::Local(d) => at(&self.shape.local, d),
            LoopKind::Group(d) => at(&self.shape.groups, d),
            LoopKind::Global(d) => at(&self.shape.groups, d) * at(&self.shape.local, d),
            LoopKind::Seq | LoopKind::Unroll => 1,
        }
        .max(1)
    }

    fn a_loop(&mut self, l: &'k Loop, mask: Mask, weight: f64) {
        let extent = self.nat(&l.extent);
        if extent.is_none() {
            self.seen.assumed.insert("a loop whose length data decides runs once".to_string());
        }
        let extent = extent.unwrap_or([1; LANES]);
        let parallel = parallel(l.kind);
        match self.kernel.runs {
            Runs::Threads if parallel => {
                let (first, step) = (self.thread(l.kind), self.threads(l.kind));
                self.iterate(l, mask, weight, &|turn| first.map(|f| f + turn * step), &extent);
            }
            Runs::Threads => self.iterate(l, mask, weight, &|turn| [turn; LANES], &extent),
            Runs::Loops => self.loop_of_a_thread(l, mask, weight, extent[0], parallel),
        }
    }

    /// Goes through the turns of a loop, in each of which a lane's variable has a value of its own.
    fn iterate(
        &mut self,
        l: &'k Loop,
        mask: Mask,
        weight: f64,
        value: &dyn Fn(i64) -> Lanes,
        extent: &Lanes,
    ) {
        let inside = |turn: i64| -> Mask {
            let lanes = value(turn);
            std::array::from_fn(|k| mask[k] && lanes[k] < extent[k])
        };
        let runs = |turn: i64| inside(turn).iter().any(|m| *m);
        let turns = count_while(&runs);
        let chosen = self.choose(l, turns);
        let each = weight * turns as f64 / chosen.len().max(1) as f64;
        let written_out = l.kind == LoopKind::Unroll || turns <= 1;
        let loads = self.seen.loads;
        let outer = (std::mem::take(&mut self.changing), self.moved);
        if written_out {
            (self.changing, self.moved) = outer.clone();
        } else {
            self.seen.iterations += weight * turns as f64;
            self.depth += 1;
            self.changing.insert(&l.var);
            self.moved = 1.0 / turns as f64;
        }
        for turn in chosen {
            self.forget();
            let number = self.scope.len();
            self.scope.push((&l.var, Some(value(turn))));
            self.block(&l.body, inside(turn), each);
            self.scope.truncate(number);
        }
        if !written_out {
            if self.seen.loads > loads {
                // Compilers ask for what four turns need at once, where they know how many there are.
                let at_once = if parallel(l.kind) { 1.0 } else { 4.0 };
                self.seen.turns += weight * turns as f64 / at_once;
            }
            self.depth -= 1;
            self.forget();
            (self.changing, self.moved) = outer;
        }
    }

    /// Straight code ends here.
    fn forget(&mut self) {
        self.known.clear();
        self.tested.clear();
    }

    /// The turns that are followed, in a row about the middle.
    fn choose(&self, l: &Loop, turns: i64) -> Vec<i64> {
        let most = match l.kind {
            LoopKind::Unroll => WRITTEN_OUT,
            _ => ITERATIONS.get(self.depth).copied().unwrap_or(2),
        };
        let first = (turns - most).max(0) / 2;
        (first..turns.min(first + most)).collect()
    }

    /// On a processor: groups and work-items of the grid are iterations, of which the outermost ones are given.
    fn loop_of_a_thread(
        &mut self,
        l: &'k Loop,
        mask: Mask,
        weight: f64,
        extent: i64,
        parallel: bool,
    ) {
        if extent <= 0 {
            return;
        }
        if parallel && matches!(l.mark, Mark::Shared { .. }) {
            return self.shared(l, weight);
        }
        let innermost = !l.body.iter().any(holds_loop);
        if !innermost || l.kind == LoopKind::Unroll {
            let lanes = [extent; LANES];
            return self.iterate(l, mask, weight, &|turn| [turn; LANES], &lanes);
        }
        self.lanes_loop(l, weight, extent);
    }

    /// Loops that threads share: the place says which of their iterations, taken together. Where they hold no other loop,
    /// neighbouring iterations are lanes, and the place counts as many of them together.
    fn shared(&mut self, l: &'k Loop, weight: f64) {
        let nest = shared_nest(l);
        let Some(last) = nest.last().copied() else { return };
        let lanes = !last.body.iter().any(holds_loop);
        let all: i64 =
            nest.iter().map(|l| self.nat(&l.extent).map_or(1, |e| e[0]).max(1)).product();
        let first = if lanes { self.place.first * LANES as i64 } else { self.place.first };
        let number: Lanes = std::array::from_fn(|k| first + if lanes { k as i64 } else { 0 });
        let mask: Mask = std::array::from_fn(|k| number[k] < all && (lanes || k == 0));
        let known = self.scope.len();
        let mut left = number;
        // The innermost goes through its values first.
        for l in nest.iter().rev() {
            let extent = self.nat(&l.extent).map_or(1, |e| e[0]).max(1);
            self.scope.push((&l.var, Some(left.map(|n| n.rem_euclid(extent)))));
            left = left.map(|n| n.div_euclid(extent));
        }
        let before = self.vector;
        self.vector = lanes && nest.len() == 1 && is_vector_code(last);
        self.forget();
        self.block(&last.body, mask, weight);
        self.vector = before;
        self.scope.truncate(known);
    }

    /// An innermost loop: neighbouring iterations are the lanes.
    fn lanes_loop(&mut self, l: &'k Loop, weight: f64, extent: i64) {
        let before = self.vector;
        self.vector = is_vector_code(l);
        let turns = (extent + LANES as i64 - 1) / LANES as i64;
        let chosen = self.choose(l, turns);
        let followed: i64 =
            chosen.iter().map(|t| (extent - t * LANES as i64).min(LANES as i64)).sum();
        let each = weight * extent as f64 / followed.max(1) as f64;
        self.seen.iterations += weight * extent as f64;
        for turn in chosen {
            self.forget();
            let first = turn * LANES as i64;
            let mask = std::array::from_fn(|k| first + (k as i64) < extent);
            let number = self.scope.len();
            self.scope.push((&l.var, Some(std::array::from_fn(|k| first + k as i64))));
            self.depth += 1;
            self.block(&l.body, mask, each);
            self.depth -= 1;
            self.scope.truncate(number);
        }
        self.forget();
        self.vector = before;
    }

    /// Whether a value is another one in each turn of the innermost loop.
    fn changes(&self, expr: &Expr) -> bool {
        let of_nat = |nat: &Nat| {
            let mut found = false;
            nat.each_var(&mut |v| found |= self.changing.contains(v));
            found
        };
        let mut found = false;
        expr.each(&mut |e| {
            found |= match e {
                Expr::Var(v) => self.changing.contains(&v.id),
                Expr::Index(nat, _) => of_nat(nat),
                Expr::Test(pred) => pred.vars().iter().any(|v| self.changing.contains(v)),
                Expr::Load(access, _) => of_nat(&access.index),
                _ => false,
            }
        });
        found
    }

    fn expr(&mut self, expr: &'k Expr, mask: Mask, weight: f64, fused: bool) {
        if self.moved < 1.0 && !self.changes(expr) {
            // Moved out of the loop, with all that is inside.
            let moved = std::mem::replace(&mut self.moved, 1.0);
            self.expr(expr, mask, weight * moved, fused);
            self.moved = moved;
            return;
        }
        if !fused && let Some((name, lanes)) = operations::of(expr) {
            self.operation(name, lanes, mask, weight);
        }
        match expr {
            Expr::Load(access, _) => self.access(access, mask, weight, false),
            Expr::Lane(vector, _) => match &**vector {
                // The lanes of one vector load are one access.
                Expr::Load(access, _) => {
                    if self.known.insert(access.index.clone()) {
                        self.access(access, mask, weight, false);
                    }
                }
                other => self.expr(other, mask, weight, false),
            },
            Expr::Select(condition, then, otherwise) => {
                self.expr(condition, mask, weight, false);
                self.either(condition, mask, weight, |walk, mask, weight, taken| {
                    walk.expr(if taken { then } else { otherwise }, mask, weight, false);
                });
            }
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => {
                let first = operations::fuses(a);
                self.expr(a, mask, weight, first);
                self.expr(b, mask, weight, !first && operations::fuses(b));
            }
            Expr::Index(nat, _) => self.index(nat, mask, weight),
            Expr::Test(pred) => {
                if self.tested.insert(pred.clone()) {
                    let wide = if self.kernel.wide_indices { 2.0 } else { 1.0 };
                    let count = wide * self.comparisons(pred);
                    self.operation("i32.add".to_string(), count, mask, weight);
                }
            }
            Expr::Literal(_) | Expr::Var(_) => {}
            Expr::Unary(_, a) | Expr::Cast(_, a) | Expr::Splat(_, a) => {
                self.expr(a, mask, weight, false);
            }
            Expr::Binary(_, a, b) => {
                self.expr(a, mask, weight, false);
                self.expr(b, mask, weight, false);
            }
            Expr::Math(_, args) | Expr::Vector(_, args) | Expr::Extern(_, args) => {
                args.iter().for_each(|a| self.expr(a, mask, weight, false));
            }
        }
    }

    fn operation(&mut self, name: String, lanes: f64, mask: Mask, weight: f64) {
        let (into, count) = match self.kernel.runs {
            // A warp does it for all its lanes.
            Runs::Threads => (&mut self.seen.operations, LANES as f64),
            Runs::Loops => {
                let active = mask.iter().filter(|m| **m).count() as f64;
                let into = match self.vector {
                    true => &mut self.seen.operations,
                    false => &mut self.seen.scalar_operations,
                };
                (into, active)
            }
        };
        *into.entry(name).or_default() += weight * lanes * count;
    }

    /// How many numbers are compared, where a condition is not decided by what its variables are.
    fn comparisons(&self, pred: &Pred) -> f64 {
        match pred {
            Pred::And(all) => all.iter().map(|p| self.comparisons(p)).sum(),
            Pred::Eq(..) | Pred::Ne(..) | Pred::Lt(..) | Pred::Le(..) | Pred::Divides { .. } => {
                let vars = pred.vars();
                let left = vars.iter().filter_map(|v| self.bounded.get(v).copied());
                left.fold(1.0, f64::min)
            }
        }
    }

    /// The integers that indices are computed in.
    fn index_class(&self) -> &'static str {
        if self.kernel.wide_indices { "i64" } else { "i32" }
    }

    /// What it takes to compute an index: once in straight code.
    fn index(&mut self, nat: &Nat, mask: Mask, weight: f64) {
        if nat.as_int().is_some() || nat.as_var().is_some() || !self.known.insert(nat.clone()) {
            return;
        }
        let mut variables = 0.0;
        nat.each_var(&mut |_| variables += 1.0);
        let mut divisors = Vec::new();
        nat.each_divisor(&mut |d| divisors.push(d.as_int()));
        for divisor in divisors {
            let kind = match divisor {
                Some(n) if n > 0 && n & (n - 1) == 0 => "add",
                Some(_) => "divc",
                None => "rem",
            };
            let name = format!("{}.{kind}", self.index_class());
            self.operation(name, 1.0, mask, weight);
        }
        let name = format!("{}.mul", self.index_class());
        self.operation(name, (variables / 2.0_f64).max(1.0), mask, weight);
    }

    fn access(&mut self, access: &'k Access, mask: Mask, weight: f64, store: bool) {
        let mut still = false;
        access.index.each_var(&mut |v| still |= self.changing.contains(v));
        let weight = if still || self.moved == 1.0 { weight } else { weight * self.moved };
        let Some(buffer) = self.buffers.get(&access.buffer).copied() else { return };
        if buffer.space == Space::Private {
            return;
        }
        self.index(&access.index, mask, weight);
        let scalar = buffer.scalar.bytes() as i64;
        let bytes = scalar * i64::from(access.width.max(1));
        let index = self.nat(&access.index);
        if index.is_none() {
            self.seen.assumed.insert(format!("`{}` is read anywhere, by data", buffer.name));
        }
        let length = self.nat(&buffer.total()).map_or(1 << 20, |l| l[0]).max(1);
        let index = index.unwrap_or_else(|| self.anywhere(length));
        let active = || (0..LANES).filter(|k| mask[*k]);
        if buffer.space == Space::Local {
            let words: Vec<i64> = active().map(|k| index[k] * scalar / 4).collect();
            self.seen.local += weight * bank_rounds(&words, bytes);
            return;
        }
        let piece = if self.kernel.runs == Runs::Threads { SECTOR } else { LINE };
        let mut pieces = BTreeSet::new();
        for k in active() {
            let from = index[k].saturating_mul(scalar);
            for part in from.div_euclid(piece)..=(from + bytes - 1).div_euclid(piece) {
                pieces.insert(part);
            }
        }
        self.seen.requests += weight;
        if !store && (still || self.depth == 0) {
            self.seen.loads += weight;
        }
        self.seen.pieces += weight * pieces.len() as f64;
        if store {
            self.seen.stored += weight * pieces.len() as f64;
        }
        let into = if store { &mut self.seen.written } else { &mut self.seen.touched };
        for part in pieces {
            into.entry((access.buffer, part)).or_insert(weight);
        }
    }

    /// Indices spread over an array, the same each time.
    fn anywhere(&self, length: i64) -> Lanes {
        let seed = self.place.first.wrapping_mul(7919) + self.place.group[0].wrapping_mul(104_729);
        std::array::from_fn(|k| {
            let n =
                (seed + i64::from(self.steps) * 31 + k as i64).wrapping_mul(0x09E3_779B_97F4_A7C1);
            n.rem_euclid(length)
        })
    }

    fn defined(&mut self, var: &'k Var, value: &'k Expr) {
        if self.changes(value) {
            self.changing.insert(var);
        }
        if let Some(bounds) = bounds_left(value) {
            self.bounded.insert(var, bounds);
        }
    }

    /// A number that is changed from its value before: the next turn waits for it.
    fn wait(&mut self, var: &Var, value: &'k Expr, weight: f64) {
        let mut reads = false;
        value.each(&mut |e| reads |= matches!(e, Expr::Var(v) if &v.id == var));
        if reads && let Some((name, _)) = operations::of(value) {
            *self.seen.chain.entry(name).or_default() += weight;
        }
    }

    fn nat(&self, nat: &Nat) -> Option<Lanes> {
        nat.eval_lanes(&|v| self.value(v))
    }

    fn value(&self, var: &Var) -> Option<Lanes> {
        match self.scope.iter().rev().find(|(v, _)| *v == var) {
            Some((_, lanes)) => *lanes,
            None => (self.sizes)(var).map(|n| [n; LANES]),
        }
    }

    fn truth(&self, expr: &Expr) -> Option<Mask> {
        match expr {
            Expr::Test(pred) => pred.eval_lanes(&|v| self.value(v)),
            Expr::Literal(Literal::Bool(value)) => Some([*value; LANES]),
            Expr::Unary(UnaryOp::Not, a) => Some(self.truth(a)?.map(|t| !t)),
            Expr::Binary(op, a, b) => {
                let (a, b) = match op {
                    BinaryOp::And | BinaryOp::Or => {
                        (self.truth(a)?.map(i64::from), self.truth(b)?.map(i64::from))
                    }
                    _ => (self.integer(a)?, self.integer(b)?),
                };
                let holds = |k: usize| {
                    Some(match op {
                        BinaryOp::And => a[k] != 0 && b[k] != 0,
                        BinaryOp::Or => a[k] != 0 || b[k] != 0,
                        BinaryOp::Eq => a[k] == b[k],
                        BinaryOp::Ne => a[k] != b[k],
                        BinaryOp::Lt => a[k] < b[k],
                        BinaryOp::Le => a[k] <= b[k],
                        BinaryOp::Gt => a[k] > b[k],
                        BinaryOp::Ge => a[k] >= b[k],
                        _ => return None,
                    })
                };
                let mut mask = [false; LANES];
                for (k, m) in mask.iter_mut().enumerate() {
                    *m = holds(k)?;
                }
                Some(mask)
            }
            _ => None,
        }
    }

    /// The values of an integer that is computed from indices alone.
    fn integer(&self, expr: &Expr) -> Option<Lanes> {
        match expr {
            Expr::Index(nat, _) => self.nat(nat),
            Expr::Literal(Literal::Int(_, value)) => Some([i64::try_from(*value).ok()?; LANES]),
            Expr::Cast(ty, value) if ty.scalar.is_integer() && ty.width == 1 => self.integer(value),
            Expr::Unary(UnaryOp::Neg, a) => Some(self.integer(a)?.map(i64::wrapping_neg)),
            Expr::Binary(op, a, b) => {
                let narrow = a.ty().scalar.width() <= 32;
                let (a, b) = (self.integer(a)?, self.integer(b)?);
                let shift = |n: i64| (n & 63) as u32;
                let of = |a: i64, b: i64| {
                    Some(match op {
                        BinaryOp::Add => a.wrapping_add(b),
                        BinaryOp::Sub => a.wrapping_sub(b),
                        BinaryOp::Mul => a.wrapping_mul(b),
                        BinaryOp::Div => a.checked_div(b).unwrap_or(0),
                        BinaryOp::Rem => a.checked_rem(b).unwrap_or(0),
                        BinaryOp::BitAnd => a & b,
                        BinaryOp::BitOr => a | b,
                        BinaryOp::BitXor => a ^ b,
                        BinaryOp::Shl => a.wrapping_shl(shift(b)),
                        BinaryOp::Shr => a.wrapping_shr(shift(b)),
                        _ => return None,
                    })
                };
                let mut lanes = [0; LANES];
                for (k, lane) in lanes.iter_mut().enumerate() {
                    let wide = of(a[k], b[k])?;
                    *lane = if narrow { i64::from(wide as i32) } else { wide };
                }
                Some(lanes)
            }
            Expr::Math(math @ (Math::Min | Math::Max), args) => {
                let [a, b] = args.as_slice() else { return None };
                let (a, b) = (self.integer(a)?, self.integer(b)?);
                let better = if *math == Math::Min { i64::min } else { i64::max };
                Some(std::array::from_fn(|k| better(a[k], b[k])))
            }
            Expr::Select(condition, a, b) => {
                let holds = self.truth(condition)?;
                let (a, b) = (self.integer(a)?, self.integer(b)?);
                Some(std::array::from_fn(|k| if holds[k] { a[k] } else { b[k] }))
            }
            _ => None,
        }
    }
}

fn parallel(kind: LoopKind) -> bool {
    !matches!(kind, LoopKind::Seq | LoopKind::Unroll)
}

/// How many of the bounds of an index compilers still test, of two: a mask implies both, a remainder the upper one.
fn bounds_left(value: &Expr) -> Option<f64> {
    let constant = |e: &Expr| match e {
        Expr::Literal(_) => true,
        Expr::Index(nat, _) => nat.as_int().is_some(),
        _ => false,
    };
    match value {
        Expr::Cast(_, inside) => bounds_left(inside),
        Expr::Binary(BinaryOp::BitAnd, _, b) if constant(b) => Some(0.0),
        Expr::Binary(BinaryOp::Rem, _, b) if constant(b) => Some(0.5),
        _ => None,
    }
}

fn at(counts: &[i64; 3], d: u8) -> i64 {
    counts.get(usize::from(d)).copied().unwrap_or(1)
}

/// How many turns there are until one does not run; lanes start in order, so none runs after it.
fn count_while(runs: &dyn Fn(i64) -> bool) -> i64 {
    let (mut low, mut high) = (0, 1);
    while runs(high - 1) {
        low = high;
        high *= 2;
        if high > 1 << 40 {
            return low;
        }
    }
    // `low` turns run, `high` do not.
    while low < high - 1 {
        let middle = (low + high) / 2;
        if runs(middle - 1) { low = middle } else { high = middle }
    }
    low
}

/// A loop that threads share, and those right inside that they share with it.
pub fn shared_nest(outer: &Loop) -> Vec<&Loop> {
    let Mark::Shared { inside } = outer.mark else { return vec![outer] };
    let mut nest = vec![outer];
    let mut body = &outer.body;
    for _ in 0..inside {
        let inner = body.iter().find_map(|stmt| match stmt {
            Stmt::Loop(l) => Some(l),
            _ => None,
        });
        let Some(inner) = inner else { break };
        nest.push(inner);
        body = &inner.body;
    }
    nest
}

pub fn holds_loop(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Loop(l) => l.kind != LoopKind::Unroll || l.body.iter().any(holds_loop),
        other => other.blocks().iter().any(|block| block.iter().any(holds_loop)),
    }
}

/// Whether a compiler makes vector code of an innermost loop: no number is carried from one iteration to the next,
/// nothing is called, no integer is divided by another, and no store is under a condition.
fn is_vector_code(l: &Loop) -> bool {
    let mut own = BTreeSet::new();
    let mut vector = true;
    for stmt in &l.body {
        stmt.each(&mut |stmt| match stmt {
            Stmt::Declare { var, .. } => {
                own.insert(&var.id);
            }
            Stmt::Assign { var, .. } => vector &= own.contains(&var.id),
            Stmt::Stop(_) => vector = false,
            Stmt::If { .. } => vector = false,
            _ => {}
        });
        stmt.each(&mut |stmt| {
            for value in stmt.values() {
                value.each(&mut |e| match e {
                    Expr::Math(math, _) => vector &= !math.is_approximate() || *math == Math::Sqrt,
                    Expr::Extern(..) => vector = false,
                    Expr::Binary(BinaryOp::Div | BinaryOp::Rem, a, b) => {
                        let constant = matches!(&**b, Expr::Literal(_));
                        vector &= a.ty().scalar.is_float() || constant;
                    }
                    _ => {}
                });
            }
        });
    }
    vector
}

/// How often the banks of local memory are asked until every lane has its words.
fn bank_rounds(words: &[i64], bytes: i64) -> f64 {
    const BANKS: usize = 32;
    let mut distinct: BTreeSet<i64> = BTreeSet::new();
    for word in words {
        distinct.extend((0..(bytes / 4).max(1)).map(|k| word + k));
    }
    let mut load = [0u32; BANKS];
    for word in distinct {
        load[word.rem_euclid(BANKS as i64) as usize] += 1;
    }
    f64::from(load.iter().copied().max().unwrap_or(0).max(1))
}
