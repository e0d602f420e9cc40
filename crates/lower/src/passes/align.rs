//! Arrays in local and private memory are aligned to the widest access to them.
//!
//! Before: `float acc[32] __attribute__((aligned(16)));` of which vectors of 16 are loaded.
//! After: `float acc[32] __attribute__((aligned(64)));`, so that no vector lies in two cache lines.

use std::collections::BTreeMap;

use lift_kernel::{BufferId, Kernel};

pub(crate) fn run(kernel: &mut Kernel) {
    let mut widest: BTreeMap<BufferId, u32> = BTreeMap::new();
    for stmt in &kernel.body {
        stmt.each_access(&mut |access, _| {
            let width = widest.entry(access.buffer).or_default();
            *width = access.width.max(*width);
        });
    }
    for buffer in kernel.locals.iter_mut().chain(&mut kernel.privates) {
        let width = widest.get(&buffer.id).copied().unwrap_or(1);
        buffer.align = buffer.align.max(buffer.scalar.bytes() as u32 * width.next_power_of_two());
    }
}
