//! What a piece of a kernel mentions.

use std::collections::BTreeSet;

use crate::{BufferId, Stmt};

/// The buffers in some statements.
pub(crate) fn buffers(stmts: &[Stmt]) -> BTreeSet<BufferId> {
    let mut found = BTreeSet::new();
    for stmt in stmts {
        stmt.each_access(&mut |access, _| {
            found.insert(access.buffer);
        });
    }
    found
}
