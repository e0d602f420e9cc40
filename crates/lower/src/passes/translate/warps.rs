//! Warps and lanes as work-items of a group.
//!
//! `mapWarp(\w -> …mapLane…)` over n warps is, for each `mapLane` of length m in it, one loop over the
//! n·m pairs of warp and lane. The iterations of a map are independent, so its loop may be cut
//! between the `mapLane`s; where one reads what another wrote, the barrier between them stands at
//! group level, outside all loops, whatever the lengths are.
//!
//! Where work-items are threads, a `mapLane` no longer than a warp W of the device has W work-items for
//! each warp, of which the first m do something. So a warp is the same work-items in all of them, and
//! they need wait only for each other.

use std::collections::BTreeMap;

use lift_ir::{Nat, Pred, Range, Var};
use lift_kernel::{Edit, Expr, Loop, LoopKind, Replace, Stmt, Variable};

use super::Translator;
use super::emitter::Emitter;
use super::open_kernel::Open;
use crate::plan::Role;
use crate::{LowerError, Target};

impl Translator {
    /// A loop over warps.
    pub(super) fn over_warps(
        &mut self,
        extent: &Nat,
        body: impl FnOnce(&mut Translator, &Nat) -> Result<(), LowerError>,
    ) -> Result<(), LowerError> {
        self.out.refuse_warps_inside()?;
        let extent = self.out.simplify(extent);
        let outside = self.out.facts.clone();
        let warp = self.out.fresh_index("warp", Range::below(extent.clone()));
        let open = Open {
            var: warp.clone(),
            kind: LoopKind::Local(0),
            extent: extent.clone(),
            is_item: false,
        };
        if let Some(kernel) = &mut self.out.open {
            kernel.parallel.push(open);
        }
        let block = self.collect(|t| body(t, &Nat::var(&warp)));
        self.out.facts = outside;
        if let Some(kernel) = &mut self.out.open {
            kernel.parallel.pop();
        }
        for stmt in self.out.cut(block?, &[], &warp, &extent)? {
            self.out.emit(stmt);
        }
        Ok(())
    }
}

impl Emitter {
    /// Statements of one warp, done for all of them. What a warp computes before its lanes, every lane
    /// computes for itself; `before` is what was so far.
    fn cut(
        &mut self,
        block: Vec<Stmt>,
        before: &[Stmt],
        warp: &Var,
        warps: &Nat,
    ) -> Result<Vec<Stmt>, LowerError> {
        let (mut before, mut made) = (before.to_vec(), Vec::new());
        for stmt in block {
            match self.is_repeatable(&stmt) {
                true => before.push(stmt),
                false => made.push(self.with_warps(stmt, &before, warp, warps)?),
            }
        }
        Ok(made)
    }

    /// Whether every lane may do what a statement of its warp does.
    fn is_repeatable(&self, stmt: &Stmt) -> bool {
        let status = self.buffers.iter().find(|b| b.role == Role::Status).map(|b| b.buffer.id);
        match stmt {
            Stmt::Declare { value: Some(_), .. } | Stmt::Index { .. } => true,
            // The check of an index.
            Stmt::If { then, otherwise, .. } => then.iter().chain(otherwise).all(
                |inner| matches!(inner, Stmt::Store { access, .. } if Some(access.buffer) == status),
            ),
            Stmt::Declare { .. }
            | Stmt::Comment(_)
            | Stmt::Assign { .. }
            | Stmt::ThreadId { .. }
            | Stmt::Store { .. }
            | Stmt::Atomic { .. }
            | Stmt::Loop(_)
            | Stmt::Stop(_)
            | Stmt::Barrier(_) => false,
        }
    }

    /// A statement of one warp, done for all of them.
    fn with_warps(
        &mut self,
        stmt: Stmt,
        before: &[Stmt],
        warp: &Var,
        warps: &Nat,
    ) -> Result<Stmt, LowerError> {
        match stmt {
            Stmt::Comment(_) => Ok(stmt),
            Stmt::Loop(mut l) if matches!(l.kind, LoopKind::Local(_)) => {
                let whole: Vec<Stmt> = before.iter().cloned().chain(l.body).collect();
                l.body = self.renamed(&whole, before);
                Ok(self.pairs(l, warp, warps))
            }
            Stmt::Loop(l) if !l.extent.mentions(warp) => {
                let body = self.cut(l.body, before, warp, warps)?;
                Ok(Stmt::Loop(Loop { body, ..l }))
            }
            Stmt::Loop(_)
            | Stmt::Declare { .. }
            | Stmt::Assign { .. }
            | Stmt::Index { .. }
            | Stmt::ThreadId { .. }
            | Stmt::Store { .. }
            | Stmt::Atomic { .. }
            | Stmt::If { .. }
            | Stmt::Stop(_)
            | Stmt::Barrier(_) => Err(LowerError::at(
                None,
                "inside `mapWarp` everything is computed by `mapLane`: this stands outside it",
            )),
        }
    }

    /// Statements with variables of their own for what `before` declares.
    fn renamed(&mut self, block: &[Stmt], before: &[Stmt]) -> Vec<Stmt> {
        let mut own = BTreeMap::new();
        for stmt in before {
            let (Stmt::Declare { var: Variable { id: var, .. }, .. } | Stmt::Index { var, .. }) =
                stmt
            else {
                continue;
            };
            own.insert(var.clone(), self.ids.fresh(var.name()));
        }
        Renamed { own }.block(block)
    }

    /// The work-items of each of so many warps that share a loop over lanes.
    pub(super) fn lanes(&self, extent: &Nat, warps: &Nat) -> Nat {
        if self.fits_warp(extent) && *warps != Nat::ONE {
            Nat::int(self.options.warp.into())
        } else {
            extent.clone()
        }
    }

    fn fits_warp(&self, lanes: &Nat) -> bool {
        let width = Nat::int(self.options.warp.into());
        self.options.target == Target::Threads && self.facts.at_most(lanes, &width)
    }

    /// The loop over lanes `l` as one over pairs `t = warp * lanes + lane`. There may be lanes that do
    /// nothing.
    fn pairs(&mut self, l: Loop, warp: &Var, warps: &Nat) -> Stmt {
        let lanes = self.lanes(&l.extent, warps);
        let extent = self.simplify(&(warps * &lanes));
        let pair = self.fresh_index("l0", Range::below(extent.clone()));
        if self.fits_warp(&l.extent) {
            self.warps.loops.insert(pair.clone(), warp.clone());
        }
        let (lane, t) = (l.var.clone(), Nat::var(&pair));
        let value = |v: &Var| {
            if v == warp {
                Some(t.div(&lanes))
            } else if *v == lane {
                Some(t.rem(&lanes))
            } else {
                None
            }
        };
        // The loops in the body are done: only the kernel still knows their variables.
        let facts = self.open.as_ref().map_or(&self.facts, |kernel| &kernel.facts);
        let simplify = |n: &Nat| facts.simplify(n);
        let mut body = Replace { value: &value, simplify: &simplify }.block(&l.body);
        if !facts.equal(&lanes, &l.extent) {
            let condition = Expr::Test(Pred::Lt(t.rem(&lanes), l.extent.clone()));
            body = vec![Stmt::If { condition, then: body, otherwise: Vec::new() }];
        }
        Stmt::Loop(Loop::new(pair, LoopKind::Local(0), extent, body))
    }
}

/// Puts other variables in the place of some, where they are declared and where they are used.
struct Renamed {
    own: BTreeMap<Var, Var>,
}

impl Edit for Renamed {
    fn nat(&mut self, nat: &Nat) -> Nat {
        nat.substitute(&|v| self.own.get(v).map(Nat::var))
    }

    fn pred(&mut self, pred: &Pred) -> Pred {
        pred.substitute(&|v| self.own.get(v).map(Nat::var))
    }

    fn variable(&mut self, var: &Variable) -> Variable {
        Variable { id: self.bound(&var.id), ty: var.ty }
    }

    fn bound(&mut self, var: &Var) -> Var {
        self.own.get(var).unwrap_or(var).clone()
    }
}
