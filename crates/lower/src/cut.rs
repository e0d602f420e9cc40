//! Loops over work-items around others are cut where work-items have to wait for each other.
//!
//! Before: `for l1 { for l0 { a[l1, l0] = … } for l0 { … = a[l1, 7 - l0] } }`
//! After: `for l1 { for l0 { a[l1, l0] = … } } for l1 { for l0 { … = a[l1, 7 - l0] } }`
//!
//! The iterations of a map are independent, so its loop may be cut between statements; a barrier then stands
//! outside of it, where all work-items come by. A loop in one work-item's order around such statements is moved
//! outside in the same way. What the outer loop computes first, each piece computes for itself. Where this
//! cannot be done the program is refused: the barrier would stand in divergent flow.

use lift_kernel::{BufferId, Kernel, Loop, LoopKind, Stmt};

use crate::LowerError;
use crate::copy::Copier;
use crate::launch::uses;

pub(crate) fn run(kernel: &mut Kernel, status: Option<BufferId>) -> Result<(), LowerError> {
    if !uses(&kernel.body, &|k| matches!(k, LoopKind::Local(_))) {
        return Ok(());
    }
    let unshared = kernel.privates.iter().map(|b| b.id).chain(status).collect();
    let mut pass = Pass { unshared, status, copier: Copier::of(kernel) };
    let body = std::mem::take(&mut kernel.body);
    kernel.body = pass.block(body)?;
    Ok(())
}

struct Pass {
    /// What work-items do not share.
    unshared: Vec<BufferId>,
    status: Option<BufferId>,
    copier: Copier,
}

impl Pass {
    fn block(&mut self, block: Vec<Stmt>) -> Result<Vec<Stmt>, LowerError> {
        let mut made = Vec::new();
        for mut stmt in block {
            match stmt {
                Stmt::Loop(l) if matches!(l.kind, LoopKind::Local(_)) => {
                    made.extend(self.pieces(l)?);
                }
                Stmt::If { ref then, ref otherwise, .. }
                    if self.is_torn(then) || self.is_torn(otherwise) =>
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
        let (mut before, mut piece, mut made) = (Vec::new(), Vec::new(), Vec::new());
        for stmt in &l.body {
            if self.clash(&piece, stmt) {
                self.finish(&l, &before, &mut piece, &mut made);
            }
            match stmt {
                _ if self.is_repeatable(stmt) => {
                    before.extend(take_comments(&mut piece));
                    before.push(stmt.clone());
                }
                Stmt::Loop(inner) if inner.kind == LoopKind::Seq && self.is_torn_around(inner) => {
                    self.finish(&l, &before, &mut piece, &mut made);
                    if inner.extent.mentions(&l.var) {
                        return Err(divergent());
                    }
                    let body = before.iter().chain(&inner.body).cloned().collect();
                    let own = Stmt::Loop(Loop { body, ..l.clone() });
                    let own = self.copier.copy(&[own], &|_| None, true);
                    let body = self.block(own)?;
                    made.push(Stmt::Loop(Loop { body, ..inner.clone() }));
                }
                Stmt::Comment(_) | Stmt::Loop(_) => piece.push(stmt.clone()),
                _ => return Err(divergent()),
            }
        }
        self.finish(&l, &before, &mut piece, &mut made);
        Ok(made)
    }

    /// A loop over the statements of a piece, with names of its own. What is said about the next one is kept.
    fn finish(&mut self, l: &Loop, before: &[Stmt], piece: &mut Vec<Stmt>, made: &mut Vec<Stmt>) {
        let next = take_comments(piece);
        let own = std::mem::replace(piece, next);
        if own.is_empty() {
            return;
        }
        let body = before.iter().cloned().chain(own).collect();
        let own = Stmt::Loop(Loop { body, ..l.clone() });
        made.extend(self.copier.copy(&[own], &|_| None, true));
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

    fn clash(&self, earlier: &[Stmt], later: &Stmt) -> bool {
        let (mut touched, mut written) = (Vec::new(), Vec::new());
        earlier.iter().for_each(|stmt| self.accesses(stmt, &mut touched, &mut written));
        let (mut touches, mut writes) = (Vec::new(), Vec::new());
        self.accesses(later, &mut touches, &mut writes);
        touches.iter().any(|id| written.contains(id))
            || writes.iter().any(|id| touched.contains(id))
    }

    fn accesses(&self, stmt: &Stmt, touched: &mut Vec<BufferId>, written: &mut Vec<BufferId>) {
        stmt.each_access(&mut |access, is_store| {
            if self.unshared.contains(&access.buffer) {
                return;
            }
            touched.push(access.buffer);
            if is_store {
                written.push(access.buffer);
            }
        });
    }

    /// Whether every piece may do what a statement does: it computes in registers, and at most says that an
    /// index was out of range.
    fn is_repeatable(&self, stmt: &Stmt) -> bool {
        let mut stores = false;
        stmt.each_access(&mut |access, is_store| {
            stores |= is_store && Some(access.buffer) != self.status;
        });
        !stores && !holds_items(stmt) && !matches!(stmt, Stmt::Comment(_))
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
