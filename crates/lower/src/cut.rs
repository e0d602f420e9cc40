//! Loops over work-items around others are cut where work-items have to wait for each other.
//!
//! Before: `for l1 { for l0 { a[l1, l0] = … } for l0 { … = a[l1, 7 - l0] } }`
//! After: `for l1 { for l0 { a[l1, l0] = … } } for l1 { for l0 { … = a[l1, 7 - l0] } }`
//!
//! The iterations of a map are independent, so its loop may be cut between statements; a barrier then stands
//! outside of it, where all work-items come by. A loop in one work-item's order around such statements is moved
//! outside in the same way. What the outer loop computes first, each piece computes for itself. Branches that all
//! work-items of a group take alike stay around the pieces. Where this cannot be done the program is refused: the
//! barrier would stand in divergent flow.

use std::collections::BTreeSet;

use lift_ir::{Nat, Var};
use lift_kernel::{BufferId, Expr, Kernel, Loop, LoopKind, Stmt, Uniform};

use crate::LowerError;
use crate::copy::Copier;
use crate::launch::uses;

pub(crate) fn run(kernel: &mut Kernel, status: Option<BufferId>) -> Result<(), LowerError> {
    if !uses(&kernel.body, &|k| matches!(k, LoopKind::Local(_))) {
        return Ok(());
    }
    let privates: Vec<BufferId> = kernel.privates.iter().map(|b| b.id).collect();
    let unshared = privates.iter().copied().chain(status).collect();
    let (copier, uniform) = (Copier::of(kernel), Uniform::of(kernel));
    let mut pass = Pass { privates, unshared, uniform, copier };
    let body = std::mem::take(&mut kernel.body);
    kernel.body = pass.block(body)?;
    Ok(())
}

struct Pass {
    privates: Vec<BufferId>,
    /// What work-items do not share, or may all write: those, and where a failed check is said.
    unshared: Vec<BufferId>,
    uniform: Uniform,
    copier: Copier,
}

/// The pieces of one loop over work-items, as far as they are made.
struct Pieces<'l> {
    l: &'l Loop,
    /// What every piece computes for itself.
    before: Vec<Stmt>,
    /// What the next piece does.
    next: Vec<Stmt>,
    /// What each piece does, without what it computes for itself.
    done: Vec<Vec<Stmt>>,
    made: Vec<Stmt>,
}

impl Pass {
    fn block(&mut self, block: Vec<Stmt>) -> Result<Vec<Stmt>, LowerError> {
        let mut made = Vec::new();
        for mut stmt in block {
            match stmt {
                Stmt::Loop(l) if matches!(l.kind, LoopKind::Local(_)) => {
                    made.extend(self.pieces(l)?);
                }
                Stmt::If { ref condition, ref then, ref otherwise }
                    if !self.uniform.is_uniform(condition)
                        && (self.is_torn(then) || self.is_torn(otherwise)) =>
                {
                    return Err(divergent());
                }
                _ => {
                    for inner in stmt.blocks_mut() {
                        *inner = self.block(std::mem::take(inner))?;
                    }
                    made.push(stmt);
                }
            }
        }
        Ok(made)
    }

    /// A loop over work-items as one or several.
    fn pieces(&mut self, l: Loop) -> Result<Vec<Stmt>, LowerError> {
        let l = Loop { body: self.block(l.body)?, ..l };
        if !self.is_torn(&l.body) {
            return Ok(vec![Stmt::Loop(l)]);
        }
        let (before, next, done, made) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut pieces = Pieces { l: &l, before, next, done, made };
        for stmt in &l.body {
            if self.clash(&pieces.next, stmt) {
                self.finish(&mut pieces);
            }
            if self.is_repeatable(stmt) {
                let said = take_comments(&mut pieces.next);
                pieces.before.extend(said);
                pieces.before.push(stmt.clone());
                continue;
            }
            // What every piece reads for itself has to stay.
            if self.clash(&pieces.before, stmt) {
                return Err(divergent());
            }
            match stmt {
                Stmt::Loop(inner) if inner.kind == LoopKind::Seq && self.is_torn_around(inner) => {
                    self.finish(&mut pieces);
                    // Work-items that stop at different times do not wait for each other.
                    if inner.extent.mentions(&l.var) || inner.stops() {
                        return Err(divergent());
                    }
                    let body = pieces.before.iter().chain(&inner.body).cloned().collect();
                    let own = Stmt::Loop(Loop { body, ..l.clone() });
                    let own = self.copier.copy(&[own], &|_| None, true);
                    let body = self.block(own)?;
                    pieces.made.push(Stmt::Loop(Loop { body, ..inner.clone() }));
                    pieces.done.push(inner.body.clone());
                }
                Stmt::Comment(_) | Stmt::Loop(_) => pieces.next.push(stmt.clone()),
                _ => return Err(divergent()),
            }
        }
        self.finish(&mut pieces);
        if carries_state(&pieces.before, &pieces.done, &self.privates) {
            return Err(divergent());
        }
        Ok(pieces.made)
    }

    /// A loop over the statements of a piece, with variables of its own. What is said about the next one is kept.
    fn finish(&mut self, pieces: &mut Pieces<'_>) {
        let said = take_comments(&mut pieces.next);
        let own = std::mem::replace(&mut pieces.next, said);
        if own.is_empty() {
            return;
        }
        let body = pieces.before.iter().chain(&own).cloned().collect();
        let piece = Stmt::Loop(Loop { body, ..pieces.l.clone() });
        pieces.made.extend(self.copier.copy(&[piece], &|_| None, true));
        pieces.done.push(own);
    }

    /// Whether a block of one work-item has loops over others, and touches what these wrote or writes what was
    /// touched.
    fn is_torn(&self, block: &[Stmt]) -> bool {
        let torn = |i: usize| {
            self.clash(&block[..i], &block[i])
                || match &block[i] {
                    Stmt::Loop(l) => l.kind == LoopKind::Seq && self.is_torn_around(l),
                    Stmt::If { then, otherwise, .. } => {
                        self.is_torn(then) || self.is_torn(otherwise)
                    }
                    _ => false,
                }
        };
        block.iter().any(holds_items) && (0..block.len()).any(torn)
    }

    /// The same of a loop, whose end meets its beginning.
    fn is_torn_around(&self, l: &Loop) -> bool {
        let meets = l.body.iter().any(|stmt| self.clash(&l.body, stmt));
        l.body.iter().any(holds_items) && (meets || self.is_torn(&l.body))
    }

    /// Whether a work-item may touch what another one wrote, or write what another one touched.
    fn clash(&self, earlier: &[Stmt], later: &Stmt) -> bool {
        let earlier: Vec<Touch> = earlier.iter().flat_map(|stmt| self.touches(stmt)).collect();
        let apart = |a: &Touch, b: &Touch| a.by.is_none() || a.by != b.by;
        self.touches(later).iter().any(|b| {
            earlier.iter().any(|a| a.buffer == b.buffer && (a.writes || b.writes) && apart(a, b))
        })
    }

    fn touches(&self, stmt: &Stmt) -> Vec<Touch> {
        let mut found = Vec::new();
        self.touches_under(stmt, &BTreeSet::new(), true, &mut found);
        found
    }

    /// Adds what a statement touches under loops over work-items of dimensions, of one iteration each or not.
    fn touches_under(&self, stmt: &Stmt, around: &BTreeSet<u8>, one: bool, found: &mut Vec<Touch>) {
        let by = one.then(|| around.clone());
        stmt.each_own_access(&mut |access, writes| {
            if !self.unshared.contains(&access.buffer) {
                found.push(Touch { buffer: access.buffer, writes, by: by.clone() });
            }
        });
        let (mut around, mut one) = (around.clone(), one);
        if let Stmt::Loop(Loop { kind: LoopKind::Local(d), extent, .. }) = stmt {
            around.insert(*d);
            one &= *extent == Nat::ONE;
        }
        for inner in stmt.blocks().into_iter().flatten() {
            self.touches_under(inner, &around, one, found);
        }
    }

    /// Whether every piece may do what a statement does: it computes what is its own, and at most says that an
    /// index was out of range.
    fn is_repeatable(&self, stmt: &Stmt) -> bool {
        let mut shares = false;
        stmt.each_access(&mut |access, is_store| {
            shares |= is_store && !self.unshared.contains(&access.buffer);
        });
        !shares && !holds_items(stmt) && !matches!(stmt, Stmt::Comment(_))
    }
}

/// An access to what work-items share.
struct Touch {
    buffer: BufferId,
    writes: bool,
    /// The dimensions whose first work-item does it alone; `None` where there are several.
    by: Option<BTreeSet<u8>>,
}

/// Whether a piece changes what belongs to a work-item and another piece needs. Cut apart, the work-item would
/// see what its last iteration left.
fn carries_state(before: &[Stmt], pieces: &[Vec<Stmt>], privates: &[BufferId]) -> bool {
    let all: Vec<State> = pieces.iter().map(|piece| State::of(piece, privates)).collect();
    let before = State::of(before, privates);
    (0..all.len()).any(|i| {
        let others = all.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, other)| other);
        others.chain([&before]).any(|other| !all[i].changed.is_disjoint(&other.touched))
    })
}

/// What belongs to a work-item: variables, and arrays in private memory.
#[derive(PartialEq, Eq, PartialOrd, Ord, Clone)]
enum Kept {
    Variable(Var),
    Array(BufferId),
}

#[derive(Default)]
struct State {
    changed: BTreeSet<Kept>,
    touched: BTreeSet<Kept>,
}

impl State {
    fn of(block: &[Stmt], privates: &[BufferId]) -> State {
        let mut state = State::default();
        block.iter().for_each(|stmt| stmt.each(&mut |s| state.add(s, privates)));
        state
    }

    fn add(&mut self, stmt: &Stmt, privates: &[BufferId]) {
        if let Stmt::Assign { var, .. } | Stmt::Declare { var, .. } = stmt {
            self.changed.insert(Kept::Variable(var.id.clone()));
            self.touched.insert(Kept::Variable(var.id.clone()));
        }
        for value in stmt.values() {
            value.each(&mut |e| {
                if let Expr::Var(var) = e {
                    self.touched.insert(Kept::Variable(var.id.clone()));
                }
            });
        }
        stmt.each_own_access(&mut |access, is_store| {
            if privates.contains(&access.buffer) {
                self.touched.insert(Kept::Array(access.buffer));
                if is_store {
                    self.changed.insert(Kept::Array(access.buffer));
                }
            }
        });
    }
}

/// The comments at the end.
fn take_comments(piece: &mut Vec<Stmt>) -> Vec<Stmt> {
    let count = piece.iter().rev().take_while(|s| matches!(s, Stmt::Comment(_))).count();
    piece.split_off(piece.len() - count)
}

fn holds_items(stmt: &Stmt) -> bool {
    uses(std::slice::from_ref(stmt), &|k| matches!(k, LoopKind::Local(_)))
}

fn divergent() -> LowerError {
    let text = "work-items of the `mapLcl` around would have to wait for each other in the middle of it, where not all of them come by: make what they share in a `mapLcl` of its own";
    LowerError::at(None, text)
}
