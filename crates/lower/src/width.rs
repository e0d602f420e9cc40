//! 32-bit indices where they certainly suffice, 64-bit ones otherwise.
//!
//! Before: a kernel whose indices have no width.
//! After: it is marked wide unless every buffer of the plan is known to be short enough.

use lift_ir::Facts;

use crate::Plan;

pub(crate) fn choose(plan: &mut Plan, facts: &Facts) {
    let short =
        |length: &lift_ir::Nat| facts.upper(length).is_some_and(|n| n <= i128::from(i32::MAX));
    let narrow = plan.buffers.iter().all(|b| short(&b.buffer.total()));
    for kernel in &mut plan.kernels {
        kernel.wide_indices = !narrow;
    }
}
