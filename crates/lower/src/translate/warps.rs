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

use lift_ir::{Nat, Pred, Range, Var};
use lift_kernel::{Edit, Expr, Loop, LoopKind, Replace, Stmt};

use super::{Open, Translator};
use crate::{LowerError, Target};

impl Translator {
    /// A loop over warps.
    pub(super) fn over_warps(
        &mut self,
        extent: &Nat,
        body: impl FnOnce(&mut Translator, &Nat) -> Result<(), LowerError>,
    ) -> Result<(), LowerError> {
        let extent = self.simplify(extent);
        let warp = self.fresh_index("warp", Range::below(extent.clone()));
        let open = Open {
            var: warp.clone(),
            kind: LoopKind::Local(0),
            extent: extent.clone(),
            is_item: false,
        };
        if let Some(kernel) = &mut self.open {
            kernel.parallel.push(open);
        }
        let block = self.collect(|t| body(t, &Nat::var(&warp)));
        if let Some(kernel) = &mut self.open {
            kernel.parallel.pop();
        }
        for stmt in block? {
            let made = self.with_warps(stmt, &warp, &extent)?;
            self.emit(made);
        }
        Ok(())
    }

    /// A statement of one warp, done for all of them.
    fn with_warps(&mut self, stmt: Stmt, warp: &Var, warps: &Nat) -> Result<Stmt, LowerError> {
        match stmt {
            Stmt::Comment(_) => Ok(stmt),
            Stmt::Loop(l) if matches!(l.kind, LoopKind::Local(_)) => Ok(self.pairs(l, warp, warps)),
            Stmt::Loop(l) if !l.extent.mentions(warp) => {
                let body: Result<Vec<Stmt>, LowerError> =
                    l.body.into_iter().map(|s| self.with_warps(s, warp, warps)).collect();
                Ok(Stmt::Loop(Loop { body: body?, ..l }))
            }
            Stmt::Loop(_)
            | Stmt::Declare { .. }
            | Stmt::Assign { .. }
            | Stmt::Index { .. }
            | Stmt::Place { .. }
            | Stmt::Store { .. }
            | Stmt::If { .. }
            | Stmt::Barrier(_) => Err(LowerError::at(
                None,
                "inside `mapWarp` everything is computed by `mapLane`: this stands outside it",
            )),
        }
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
        let simplify = |n: &Nat| self.simplify(n);
        let mut body = Replace { value: &value, simplify: &simplify }.block(&l.body);
        if !self.facts.equal(&lanes, &l.extent) {
            let condition = Expr::Test(Pred::Lt(t.rem(&lanes), l.extent.clone()));
            body = vec![Stmt::If { condition, then: body, otherwise: Vec::new() }];
        }
        Stmt::Loop(Loop::new(pair, LoopKind::Local(0), extent, body))
    }
}
