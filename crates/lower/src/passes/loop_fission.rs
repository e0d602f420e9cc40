//! Loop fission: a loop over work-items is split where they have to wait for each other inside.
//!
//! Before: `for l1 { for l0 { a[l1, l0] = … } for l0 { … = a[l1, 7 - l0] } }`
//! After: `for l1 { for l0 { a[l1, l0] = … } } for l1 { for l0 { … = a[l1, 7 - l0] } }`
//!
//! Two accesses conflict if they touch one buffer, one of them writes, and they may be by different work-items; between them
//! stands a barrier. The iterations of a map are independent, so its loop may be split between statements, and the barrier
//! then stands outside of it, where all work-items come by. A sequential loop around such statements is hoisted in the same
//! way. Every piece recomputes the prefix of the loop. Branches that all work-items of a group take alike stay around the
//! pieces. Elsewhere the program is refused: the barrier would stand in divergent flow.

use std::collections::BTreeSet;

use lift_ir::Var;
use lift_kernel::{BufferId, Kernel, Loop, LoopKind, Stmt, Uniform};

use crate::LowerError;
use crate::cloning::{Comments, Copier};
use crate::effects::{self, Own, Sharing, Touch, Variables, holds_items};
use crate::plan::Warps;

pub(crate) fn run(
    kernel: &mut Kernel,
    status: Option<BufferId>,
    warps: &Warps,
) -> Result<(), LowerError> {
    if !holds_items(&kernel.body) {
        return Ok(());
    }
    let privates = kernel.privates.iter().map(|b| b.id).collect();
    let sharing = Sharing::of(kernel, status, warps);
    let (copier, uniform) = (Copier::of(kernel), Uniform::of(kernel));
    let mut pass = Pass { privates, sharing, uniform, copier };
    let body = std::mem::take(&mut kernel.body);
    kernel.body = pass.block(body)?;
    Ok(())
}

struct Pass<'w> {
    privates: Vec<BufferId>,
    sharing: Sharing<'w>,
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

impl Pass<'_> {
    fn block(&mut self, block: Vec<Stmt>) -> Result<Vec<Stmt>, LowerError> {
        let mut made = Vec::new();
        for mut stmt in block {
            match stmt {
                Stmt::Loop(l) if matches!(l.kind, LoopKind::Local(_)) => {
                    made.extend(self.pieces(l)?);
                }
                Stmt::If { ref condition, ref then, ref otherwise }
                    if !self.uniform.is_uniform(condition)
                        && (self.needs_barrier(then) || self.needs_barrier(otherwise)) =>
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
        if !self.needs_barrier(&l.body) {
            return Ok(vec![Stmt::Loop(l)]);
        }
        let (before, next, done, made) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut pieces = Pieces { l: &l, before, next, done, made };
        for stmt in &l.body {
            if self.conflict(&pieces.next, stmt) {
                self.finish(&mut pieces);
            }
            if self.is_repeatable(stmt) {
                let said = take_comments(&mut pieces.next);
                pieces.before.extend(said);
                pieces.before.push(stmt.clone());
                continue;
            }
            // What every piece reads for itself has to stay.
            if self.conflict(&pieces.before, stmt) {
                return Err(divergent());
            }
            match stmt {
                Stmt::Loop(inner)
                    if inner.kind == LoopKind::Seq && self.needs_barrier_around(inner) =>
                {
                    self.finish(&mut pieces);
                    // Work-items that stop at different times do not wait for each other.
                    if inner.extent.mentions(&l.var) || inner.stops() {
                        return Err(divergent());
                    }
                    let body = pieces.before.iter().chain(&inner.body).cloned().collect();
                    let own = Stmt::Loop(Loop { body, ..l.clone() });
                    let own = self.copier.copy(&[own], &|_| None, Comments::Keep);
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
        pieces.made.extend(self.copier.copy(&[piece], &|_| None, Comments::Keep));
        pieces.done.push(own);
    }

    /// Whether a block of one work-item has loops over others, and accesses in it conflict.
    fn needs_barrier(&self, block: &[Stmt]) -> bool {
        let needs_one_before = |i: usize| {
            self.conflict(&block[..i], &block[i])
                || match &block[i] {
                    Stmt::Loop(l) => l.kind == LoopKind::Seq && self.needs_barrier_around(l),
                    Stmt::If { then, otherwise, .. } => {
                        self.needs_barrier(then) || self.needs_barrier(otherwise)
                    }
                    _ => false,
                }
        };
        holds_items(block) && (0..block.len()).any(needs_one_before)
    }

    /// The same of a loop, whose end meets its beginning.
    fn needs_barrier_around(&self, l: &Loop) -> bool {
        let next_time = |own: Own| own.next_time(&l.var);
        let meets = || {
            self.may_conflict(&effects::touches(&l.body), &effects::touches(&l.body), &next_time)
        };
        holds_items(&l.body) && (meets() || self.needs_barrier(&l.body))
    }

    /// Whether an access of a statement conflicts with an earlier one.
    fn conflict(&self, earlier: &[Stmt], later: &Stmt) -> bool {
        self.may_conflict(&effects::touches(earlier), &effects::touches([later]), &|own| own)
    }

    /// The same of accesses, of which the later ones are moved.
    fn may_conflict(&self, earlier: &[Touch], later: &[Touch], moved: &dyn Fn(Own) -> Own) -> bool {
        let same_work_item = |a: &Touch, b: &Touch| {
            let one = a.by_one().is_some_and(|one| b.by_one() == Some(one));
            one || self.sharing.own(a).is_some_and(|a| self.sharing.own(b).map(moved) == Some(a))
        };
        let meet = |a: &Touch, b: &Touch| {
            let buffer = a.access.buffer;
            buffer == b.access.buffer
                && (a.writes || b.writes)
                && self.sharing.is_shared(buffer)
                && !same_work_item(a, b)
        };
        later.iter().any(|b| earlier.iter().any(|a| meet(a, b)))
    }

    /// Whether every piece may do what a statement does: it computes what is its own, and at most says that an
    /// index was out of range.
    fn is_repeatable(&self, stmt: &Stmt) -> bool {
        !self.sharing.writes([stmt]) && !holds_items([stmt]) && !matches!(stmt, Stmt::Comment(_))
    }
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
        for (var, mentions) in Variables::of(block).iter() {
            state.touched.insert(Kept::Variable(var.clone()));
            if mentions.declared || !mentions.assigned.is_empty() {
                state.changed.insert(Kept::Variable(var.clone()));
            }
        }
        for touch in effects::touches(block) {
            let array = touch.access.buffer;
            if privates.contains(&array) {
                state.touched.insert(Kept::Array(array));
                if touch.writes {
                    state.changed.insert(Kept::Array(array));
                }
            }
        }
        state
    }
}

/// The comments at the end.
fn take_comments(piece: &mut Vec<Stmt>) -> Vec<Stmt> {
    let count = piece.iter().rev().take_while(|s| matches!(s, Stmt::Comment(_))).count();
    piece.split_off(piece.len() - count)
}

fn divergent() -> LowerError {
    let text = "work-items of the `mapLcl` around would have to wait for each other in the middle of it, where not all of them come by: make what they share in a `mapLcl` of its own";
    LowerError::at(None, text)
}
