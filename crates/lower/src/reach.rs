//! How far the indices of a kernel reach, and everything computed on the way to them.
//!
//! Law: in a signed type that holds all that is found here, and one more below zero, no index, bound of a loop or
//! condition of the kernel wraps. Bounds are in terms of sizes, so that they are numbers where sizes are.

use std::collections::{BTreeMap, BTreeSet};

use lift_ir::{BinaryOp, Literal, Nat, Pred, QuickSet, Scalar, Space, Spread, Var};
use lift_kernel::{Access, Buffer, BufferId, Expr, Kernel, Loop, LoopKind, Runs, Stmt};

use crate::plan::{Plan, Step};

/// What a kernel computes with indices.
pub(crate) struct Reach {
    /// How far values reach above zero, and below it less one.
    pub noted: QuickSet<Nat>,
    /// Arrays in global memory that are accessed; they exist whenever the kernel runs.
    pub touched: BTreeSet<BufferId>,
    /// Where index variables lie.
    pub vars: BTreeMap<Var, Spread>,
}

/// Where the counters of the host's loops lie.
pub(crate) fn counters(plan: &Plan) -> BTreeMap<Var, Spread> {
    fn collect(steps: &[Step], found: &mut BTreeMap<Var, Spread>) {
        for step in steps {
            match step {
                Step::Launch(_) | Step::Stop(_) => {}
                Step::Loop { count, counter, body, taken, .. } => {
                    let last = below(count, found);
                    found.insert(counter.clone(), last);
                    if let Some(taken) = taken {
                        let all = below(&(count + Nat::ONE), found);
                        found.insert(taken.clone(), all);
                    }
                    collect(body, found);
                }
            }
        }
    }
    let mut found = BTreeMap::new();
    collect(&plan.steps, &mut found);
    found
}

/// Requires: `known` has the counters of the host's loops, `globals` the arrays in global memory.
pub(crate) fn of_kernel(
    kernel: &Kernel,
    globals: &[Buffer],
    known: &BTreeMap<Var, Spread>,
) -> Reach {
    let own = kernel.locals.iter().chain(&kernel.privates);
    let buffers = globals.iter().chain(own).map(|b| (b.id, b)).collect();
    let mut walk = Walk {
        kernel,
        buffers,
        reach: Reach { noted: QuickSet::default(), touched: BTreeSet::new(), vars: known.clone() },
        zero: BTreeSet::new(),
        tested: Vec::new(),
    };
    for buffer in kernel.locals.iter().chain(&kernel.privates) {
        // Where one thread runs a group, arrays of unknown length are allocated.
        let length = buffer.items.iter().fold(buffer.total(), |n, m| n * m);
        walk.nat(&(length * Nat::int(buffer.scalar.bytes() as i128 * 16)));
    }
    walk.block(&kernel.body);
    walk.reach
}

/// The spread of a variable: what is known of it, else it is a size.
pub(crate) fn spread_of(known: &BTreeMap<Var, Spread>, var: &Var) -> Spread {
    known.get(var).cloned().unwrap_or_else(|| Spread::up_to(Nat::var(var)))
}

/// The spread of what counts from 0 to before a bound.
fn below(bound: &Nat, known: &BTreeMap<Var, Spread>) -> Spread {
    let fixed = !bound.any_var(&mut |v| known.contains_key(v));
    let above = match bound {
        bound if fixed => bound.clone(),
        bound => bound.spread(&|v| spread_of(known, v), &mut |_| {}).above,
    };
    Spread::up_to(match above.as_int() {
        Some(n) => Nat::int(n.saturating_sub(1).max(0)),
        None => above - Nat::ONE,
    })
}

struct Walk<'k> {
    kernel: &'k Kernel,
    buffers: BTreeMap<BufferId, &'k Buffer>,
    reach: Reach,
    /// Variables of loops that run once. Printers leave such loops out, and write 0.
    zero: BTreeSet<Var>,
    /// Variables that the conditions around compare with lengths, which they are below.
    tested: Vec<(Var, Nat)>,
}

impl Walk<'_> {
    fn block(&mut self, block: &[Stmt]) {
        block.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        for value in stmt.values() {
            value.each(&mut |e| self.expr(e));
        }
        match stmt {
            Stmt::Comment(_)
            | Stmt::Barrier(_)
            | Stmt::Declare { .. }
            | Stmt::Assign { .. }
            | Stmt::Stop(_) => {}
            Stmt::Index { var, value } => {
                let spread = self.value(value);
                self.reach.vars.insert(var.clone(), spread);
            }
            Stmt::ThreadId { var, kind, .. } => {
                let spread = Spread::up_to(self.threads(*kind));
                self.reach.noted.insert(spread.above.clone());
                self.reach.vars.insert(var.clone(), spread);
            }
            Stmt::Store { access, .. } | Stmt::Atomic { access, .. } => self.access(access),
            Stmt::Loop(l) => self.a_loop(l),
            Stmt::If { condition, then, otherwise } => {
                self.under(condition, then);
                self.block(otherwise);
            }
        }
    }

    fn a_loop(&mut self, l: &Loop) {
        let extent = self.nat(&l.extent);
        let shared =
            matches!(l.kind, LoopKind::Global(_) | LoopKind::Group(_) | LoopKind::Local(_));
        if shared && self.kernel.runs == Runs::Threads {
            // The variable goes on by the number of threads, past the end.
            self.reach.noted.insert(extent.above + self.threads(l.kind));
        }
        let spread = below(&l.extent, &self.reach.vars);
        self.reach.vars.insert(l.var.clone(), spread);
        if l.extent == Nat::ONE && !l.stops() {
            self.zero.insert(l.var.clone());
        }
        self.block(&l.body);
    }

    /// A block that runs where a condition holds.
    fn under(&mut self, condition: &Expr, block: &[Stmt]) {
        let Expr::Test(pred) = condition else {
            let outside = self.tested.len();
            self.tested.extend(tested_below(condition).filter(|(var, _)| !assigns(block, var)));
            self.block(block);
            return self.tested.truncate(outside);
        };
        let known = &self.reach.vars;
        let of = |v: &Var| spread_of(known, v);
        let bound = pred.vars().into_iter().filter(|v| known.contains_key(v));
        let refined: Vec<(Var, Spread)> =
            bound.map(|v| (v.clone(), pred.refine(&v, &of))).collect();
        let mut before = Vec::new();
        for (var, spread) in refined {
            before.push((var.clone(), self.reach.vars.insert(var, spread)));
        }
        self.block(block);
        for (var, spread) in before {
            if let Some(spread) = spread {
                self.reach.vars.insert(var, spread);
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Index(nat, _) => {
                self.nat(nat);
            }
            Expr::Test(pred) => self.pred(pred),
            Expr::Load(access, _) => self.access(access),
            Expr::Literal(_)
            | Expr::Var(_)
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Math(..)
            | Expr::Cast(..)
            | Expr::Select(..)
            | Expr::Vector(..)
            | Expr::Splat(..)
            | Expr::Lane(..)
            | Expr::Extern(..)
            | Expr::Shuffle(..) => {}
        }
    }

    fn access(&mut self, access: &Access) {
        let Some(buffer) = self.buffers.get(&access.buffer).copied() else { return };
        if buffer.space == Space::Global {
            self.reach.touched.insert(buffer.id);
        }
        self.nat(&access.address(buffer));
    }

    fn nat(&mut self, nat: &Nat) -> Spread {
        let (known, noted) = (&self.reach.vars, &mut self.reach.noted);
        let of = |v: &Var| spread_of(known, v);
        let mut note = |size: Nat| {
            if size != Nat::ZERO {
                noted.insert(size);
            }
        };
        if self.zero.iter().any(|v| nat.mentions(v)) {
            let zero = |v: &Var| self.zero.contains(v).then_some(Nat::ZERO);
            nat.substitute(&zero).spread(&of, &mut note);
        }
        nat.spread(&of, &mut note)
    }

    fn pred(&mut self, pred: &Pred) {
        match pred {
            Pred::Eq(a, b) | Pred::Ne(a, b) | Pred::Lt(a, b) | Pred::Le(a, b) => {
                self.nat(a);
                self.nat(b);
            }
            Pred::Divides { divisor, of } => {
                self.nat(divisor);
                self.nat(of);
            }
            Pred::And(all) => all.iter().for_each(|p| self.pred(p)),
        }
    }

    /// Where a value lies that becomes an index.
    fn value(&self, value: &Expr) -> Spread {
        let known = &self.reach.vars;
        match value {
            Expr::Index(nat, _) => nat.spread(&|v| spread_of(known, v), &mut |_| {}),
            Expr::Select(_, inside, _) => match chosen_below(value) {
                Some(length) => below(length, known),
                None => self.value(inside),
            },
            Expr::Var(variable) => match self.tested.iter().find(|(var, _)| *var == variable.id) {
                Some((_, length)) => below(length, known),
                None => of_type(variable.ty.scalar),
            },
            other => of_type(other.ty().scalar),
        }
    }

    /// A bound of the number of threads that share a loop. Whole groups are launched.
    fn threads(&self, kind: LoopKind) -> Nat {
        let launch = &self.kernel.launch;
        let of = |counts: &[Nat], d: u8| match counts.get(usize::from(d)) {
            Some(count) => count.spread(&|v| spread_of(&self.reach.vars, v), &mut |_| {}).above,
            None => Nat::ONE,
        };
        match kind {
            LoopKind::Global(d) => of(&launch.global, d) + of(&launch.local, d),
            LoopKind::Group(d) => match of(&launch.local, d).as_int() {
                Some(items) if items > 0 => of(&launch.global, d).ceil_div(&Nat::int(items)),
                _ => of(&launch.global, d) + of(&launch.local, d),
            },
            LoopKind::Local(d) => of(&launch.local, d),
            LoopKind::Seq | LoopKind::Unroll => Nat::ONE,
        }
    }
}

/// The length that a value is below: `if 0 <= v && v < length then v else 0` is an index.
fn chosen_below(value: &Expr) -> Option<&Nat> {
    let Expr::Select(condition, chosen, _) = value else { return None };
    let Expr::Binary(BinaryOp::And, _, upper) = &**condition else { return None };
    match &**upper {
        Expr::Binary(BinaryOp::Lt, v, length) if v == chosen => match &**length {
            Expr::Index(length, _) => Some(length),
            _ => None,
        },
        _ => None,
    }
}

/// A variable and the length that it is below where a condition holds: `0 <= v && v < length`.
fn tested_below(condition: &Expr) -> Option<(Var, Nat)> {
    let Expr::Binary(BinaryOp::And, lower, upper) = condition else { return None };
    let (Expr::Binary(BinaryOp::Le, zero, low), Expr::Binary(BinaryOp::Lt, value, length)) =
        (&**lower, &**upper)
    else {
        return None;
    };
    let (Expr::Literal(Literal::Int(_, 0)), Expr::Var(var)) = (&**zero, &**value) else {
        return None;
    };
    let length = match &**length {
        Expr::Index(length, _) => length.clone(),
        Expr::Literal(Literal::Int(_, length)) => Nat::int(*length),
        _ => return None,
    };
    (low == value).then(|| (var.id.clone(), length))
}

fn assigns(block: &[Stmt], var: &Var) -> bool {
    let mut found = false;
    for stmt in block {
        stmt.each(&mut |s| found |= matches!(s, Stmt::Assign { var: own, .. } if own.id == *var));
    }
    found
}

/// All values of a type.
fn of_type(scalar: Scalar) -> Spread {
    match scalar.integer_range() {
        Some((low, high)) => Spread { below: Nat::int(-low), above: Nat::int(high) },
        None => Spread::up_to(Nat::ONE),
    }
}
