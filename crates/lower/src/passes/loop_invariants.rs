//! Loop-invariant code motion of loads.
//!
//! Before: `for (i < n) { for (k < 3) { float a = x[3*g0 + k]; float b = y[3*i + k]; acc = acc + (a - b); } … }`
//! After: `float a = x[3*g0]; float a_2 = x[3*g0 + 1]; float a_3 = x[3*g0 + 2]; for (i < n) { … }`, with the loop over k written out.
//!
//! A short loop inside is written out where that makes loads invariant: what one work-item compares with all others stays in
//! its registers. A load moves out of a loop that is done at least once, if it is done each time and nobody stores to its array.

use std::collections::BTreeSet;

use lift_ir::{Nat, Pred, Var};
use lift_kernel::{Access, BufferId, Expr, Kernel, Loop, LoopKind, Stmt};

use crate::cloning::Copier;
use crate::effects::Counts;
use crate::passes::unroll;

/// Iterations of a loop that is written out for its invariants, at most, and of the loop around it, at least.
const SHORT: i128 = 32;
const AGAIN: i128 = 8;

/// Loads that are kept in registers during a loop, at most.
const KEPT: usize = 48;

pub(crate) fn run(kernel: &mut Kernel) {
    let stored = Counts::of(&kernel.body);
    let global = |access: &Access| {
        let mut own = kernel.locals.iter().chain(&kernel.privates);
        !stored.is_stored(access.buffer) && own.all(|b| b.id != access.buffer)
    };
    let mut read = BTreeSet::new();
    kernel.body.iter().for_each(|stmt| {
        stmt.each(&mut |s| {
            s.each_own_access(&mut |access, _| {
                if global(access) {
                    read.insert(access.buffer);
                }
            });
        });
    });
    let mut motion = Motion { read, copier: Copier::of(kernel) };
    kernel.body = motion.block(std::mem::take(&mut kernel.body));
    kernel.facts = motion.copier.facts;
}

struct Motion {
    /// The arrays in global memory that are only read.
    read: BTreeSet<BufferId>,
    copier: Copier,
}

impl Motion {
    fn block(&mut self, stmts: Vec<Stmt>) -> Vec<Stmt> {
        let mut made = Vec::with_capacity(stmts.len());
        for mut stmt in stmts {
            for inner in stmt.blocks_mut() {
                *inner = self.block(std::mem::take(inner));
            }
            match stmt {
                Stmt::Loop(l) if l.kind == LoopKind::Seq => self.around(l, &mut made),
                other => made.push(other),
            }
        }
        made
    }

    /// A loop behind the loads that do not change in it.
    fn around(&mut self, mut l: Loop, made: &mut Vec<Stmt>) {
        if l.stops() || !self.copier.facts.proves(&Pred::Le(Nat::ONE, l.extent.clone())) {
            return made.push(Stmt::Loop(l));
        }
        let mut changing = changing_in(&l);
        if l.extent.as_int().is_none_or(|n| n >= AGAIN) {
            let mut marked = 0;
            for stmt in &mut l.body {
                if let Stmt::Loop(s) = stmt
                    && self.is_worth_writing_out(s, &changing)
                {
                    s.kind = LoopKind::Unroll;
                    marked += 1;
                }
            }
            if marked > 0 {
                l.body = unroll::written_out(&mut self.copier, SHORT as u32, &l.body);
                changing = changing_in(&l);
            }
        }
        let assigned = assigned(&l);
        let mut kept = 0;
        let (moved, stay): (Vec<Stmt>, Vec<Stmt>) = l.body.drain(..).partition(|stmt| {
            let moves = kept < KEPT
                && match stmt {
                    Stmt::Declare { var, value: Some(Expr::Load(access, _)) } => {
                        !assigned.contains(&var.id)
                            && self.is_fixed(access, &|v| changing.contains(v))
                    }
                    _ => false,
                };
            kept += usize::from(moves);
            moves
        });
        made.extend(moved);
        l.body = stay;
        made.push(Stmt::Loop(l));
    }

    /// Whether a load gives the same while these variables change.
    fn is_fixed(&self, access: &Access, changes: &dyn Fn(&Var) -> bool) -> bool {
        let mut fixed = self.read.contains(&access.buffer);
        access.index.each_var(&mut |v| fixed = fixed && !changes(v));
        fixed
    }

    /// Whether a short loop loads what is the same in each iteration of the loop around it, in which these variables change.
    fn is_worth_writing_out(&self, s: &Loop, changing: &BTreeSet<Var>) -> bool {
        let is_short = s.extent.as_int().is_some_and(|n| (2..=SHORT).contains(&n));
        let is_straight = s.kind == LoopKind::Seq && s.body.iter().all(Stmt::is_straight_line);
        let changes = |v: &Var| *v != s.var && changing.contains(v);
        let is_load = |stmt: &Stmt| match stmt {
            Stmt::Declare { value: Some(Expr::Load(access, _)), .. } => {
                access.index.mentions(&s.var) && self.is_fixed(access, &changes)
            }
            _ => false,
        };
        is_short && is_straight && s.body.iter().any(is_load)
    }
}

/// The variables that indices in a loop may mention and that are others in its next iteration.
fn changing_in(l: &Loop) -> BTreeSet<Var> {
    let mut found = BTreeSet::from([l.var.clone()]);
    for stmt in &l.body {
        stmt.each(&mut |s| match s {
            Stmt::Index { var, .. } | Stmt::ThreadId { var, .. } => {
                found.insert(var.clone());
            }
            Stmt::Loop(inner) => {
                found.insert(inner.var.clone());
            }
            _ => {}
        });
    }
    found
}

/// The variables that a loop assigns.
fn assigned(l: &Loop) -> BTreeSet<Var> {
    let mut found = BTreeSet::new();
    for stmt in &l.body {
        stmt.each(&mut |s| {
            if let Stmt::Assign { var, .. } = s {
                found.insert(var.id.clone());
            }
        });
    }
    found
}
