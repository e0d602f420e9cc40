//! Loops over threads that are there.

use super::code::Code;
use super::dialect::Dialect;
use crate::{Kernel, Loop, LoopKind};

pub(super) trait Threads: Dialect {
    /// The number of threads that share the iterations of a loop.
    fn count(kind: LoopKind, wide: bool, unrolled: bool) -> String;
}

/// Turns that compilers do at a time where they unroll a loop.
const AT_A_TIME: i128 = 4;

/// Whether compilers should unroll a loop over threads. Counts of threads are unsigned: a loop whose variable they are added to may
/// wrap, and is not unrolled, unless they become what indices are. Along rows that hides how long memory takes, where there are
/// turns enough. From row to row and plane to plane it does not: neighbouring points are in caches, and a few at a time there
/// are more of them than fit.
fn is_unrolled(kernel: &Kernel, l: &Loop) -> bool {
    let items = kernel.launch.local.first().and_then(|n| n.as_int());
    match (l.kind, l.extent.as_int(), items) {
        (LoopKind::Local(0), Some(extent), Some(items)) => extent >= AT_A_TIME * items,
        (LoopKind::Global(0) | LoopKind::Group(0) | LoopKind::Local(0), ..) => true,
        _ => false,
    }
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
