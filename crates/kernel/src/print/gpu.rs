//! Loops over threads that are there.

use super::code::Code;
use super::dialect::Dialect;
use crate::{Kernel, Loop, LoopKind};

pub(super) trait Threads: Dialect {
    /// The number of threads that share the iterations of a loop.
    fn count(kind: LoopKind, wide: bool) -> String;
}

/// Whether compilers should unroll a loop over threads. Counts of threads are unsigned: a loop whose variable they are added to may
/// wrap, and is not unrolled, unless they become what indices are. Along rows that hides how long memory takes. From row to row
/// and plane to plane it does not: neighbouring points are in caches, and a few at a time there are more of them than fit.
pub(super) fn is_unrolled(kind: LoopKind) -> bool {
    matches!(kind, LoopKind::Global(0) | LoopKind::Group(0) | LoopKind::Local(0))
}

/// A loop over groups or work-items that are shared with a stride.
pub(super) fn parallel<D: Threads>(code: &mut Code<'_, D>, l: &Loop) {
    let wide = code.kernel.wide_indices;
    code.counted(l, &D::thread_id(l.kind, wide), &D::count(l.kind, wide));
}

/// The three local sizes, where all are constant.
pub(super) fn group_size(kernel: &Kernel) -> Option<[i128; 3]> {
    let mut sizes = [1; 3];
    if kernel.launch.local.is_empty() {
        return None;
    }
    for (size, local) in sizes.iter_mut().zip(&kernel.launch.local) {
        *size = local.as_int()?;
    }
    Some(sizes)
}
