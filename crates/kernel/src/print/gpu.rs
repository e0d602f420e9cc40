//! Loops over threads that are there.

use super::code::Code;
use super::dialect::Dialect;
use crate::{Kernel, Loop, LoopKind, is_unrolled};

pub(super) trait Threads: Dialect {
    /// The number of threads that share the iterations of a loop.
    fn count(kind: LoopKind, wide: bool, unrolled: bool) -> String;
}

/// A loop over groups or work-items that are shared with a stride.
pub(super) fn parallel<D: Threads>(code: &mut Code<'_, D>, l: &Loop) {
    let wide = code.kernel.wide_indices;
    let unrolled = is_unrolled(code.kernel, l);
    code.counted(l, &D::thread_id(l.kind, wide), &D::count(l.kind, wide, unrolled));
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
