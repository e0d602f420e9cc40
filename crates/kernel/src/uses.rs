//! What a piece of a kernel mentions.

use std::collections::BTreeSet;

use crate::{BufferId, Kernel, Stmt, Usage};

/// The buffers in some statements.
pub fn buffers_in(stmts: &[Stmt]) -> BTreeSet<BufferId> {
    let mut found = BTreeSet::new();
    for stmt in stmts {
        stmt.each_access(&mut |access, _| {
            found.insert(access.buffer);
        });
    }
    found
}

/// Whether what one work-item does with an argument is all that matters to it, so that the pointer may be called
/// `restrict`. Compilers take from that word that nothing else changes the memory, also while the work-item waits:
/// what others write before a barrier and this one reads after it must not have it, nor what others change as one step.
pub(crate) fn is_restricted(kernel: &Kernel, usage: Usage) -> bool {
    let mut waits = false;
    let meets = |s: &Stmt| matches!(s, Stmt::Barrier(_) | Stmt::Atomic { .. });
    kernel.body.iter().for_each(|stmt| stmt.each(&mut |s| waits |= meets(s)));
    usage != Usage::ReadWrite || !waits
}
