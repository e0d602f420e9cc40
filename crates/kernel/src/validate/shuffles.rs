//! Where the work-items of a warp may give each other numbers.
//!
//! A warp is 32 work-items with neighbouring numbers in the first dimension of a group, which has a multiple of so many. All of them
//! come by together: around are branches and loops that are the same for the whole group, loops over multiples of 32 work-items, and
//! branches that the first so many take.

use lift_ir::{Nat, Pred, Scalar};

use super::{Check, show};
use crate::{Expr, Loop, LoopKind, Runs, Stmt, ValueType};

/// Work-items of a warp.
const WARP: u32 = 32;

impl Check<'_> {
    pub(super) fn shuffle(&mut self, bit: u32, ty: ValueType) {
        if !bit.is_power_of_two() || bit >= WARP {
            self.error(format!("the numbers of the work-items of a warp have no bit {bit}"));
        }
        let is_number = ty.scalar != Scalar::Bool && matches!(ty.scalar.bytes(), 4 | 8);
        if !is_number || ty.width != 1 {
            self.error(format!("work-items give each other {}", show(ty)));
        }
        let first = self.kernel.launch.local.first();
        if first.is_some_and(|n| !is_multiple(n)) {
            self.error("a shuffle is in groups that are no whole warps".to_owned());
        }
        let is_item = self.loops.contains(&LoopKind::Local(0));
        if self.parts_warps || self.kernel.runs == Runs::Loops && !is_item {
            self.error("a shuffle is where not all work-items of a warp come by".to_owned());
        }
    }

    /// Whether all work-items of a warp go through a loop together.
    pub(super) fn is_by_whole_warps(&self, l: &Loop) -> bool {
        match l.kind {
            LoopKind::Local(0) => is_multiple(&l.extent),
            LoopKind::Local(_) | LoopKind::Group(_) => true,
            LoopKind::Global(_) => false,
            LoopKind::Seq | LoopKind::Unroll => {
                let parts = |s: &Stmt| matches!(s, Stmt::Stop(c) if !self.uniform.is_uniform(c));
                self.uniform.is_same(&l.extent) && !l.body.iter().any(parts)
            }
        }
    }

    /// Whether a condition is the same for the work-items of a warp, though not for all of a group.
    pub(super) fn is_of_whole_warps(&self, condition: &Expr) -> bool {
        let Expr::Test(pred) = condition else { return false };
        if let Pred::Lt(number, count) = pred
            && number.as_var().and_then(|v| self.threads.get(v)) == Some(&LoopKind::Local(0))
        {
            return is_multiple(count);
        }
        let is_of_rows = |kind: &LoopKind| matches!(kind, LoopKind::Local(1 | 2));
        pred.vars().iter().all(|v| {
            self.threads.get(v).is_some_and(is_of_rows) || self.uniform.is_same(&Nat::var(v))
        })
    }
}

fn is_multiple(n: &Nat) -> bool {
    n.as_int().is_some_and(|n| n % i128::from(WARP) == 0)
}
