//! Private arrays are registers: loops that index them are written out.
//!
//! Before: `for (i = 0; i < 4; ++i) acc[i] = 0;` over an array in private memory.
//! After: the same loop, marked to be written out, so that every index is a constant.

use lift_ir::Var;
use lift_kernel::{Access, BufferId, Expr, Kernel, LoopKind, Stmt};

/// Longer loops are left alone: so many registers there are not.
const MAX_UNROLLED: i128 = 64;

pub(crate) fn mark(kernel: &mut Kernel) {
    let private: Vec<BufferId> = kernel.privates.iter().map(|b| b.id).collect();
    if !private.is_empty() {
        block(&mut kernel.body, &private);
    }
}

fn block(stmts: &mut [Stmt], private: &[BufferId]) {
    for stmt in stmts {
        for inner in stmt.blocks_mut() {
            block(inner, private);
        }
        if let Stmt::Loop(l) = stmt {
            let short = l.extent.as_int().is_some_and(|n| n <= MAX_UNROLLED);
            if l.kind == LoopKind::Seq && short && indexes(&l.body, &l.var, private) {
                l.kind = LoopKind::Unroll;
            }
        }
    }
}

/// Whether an index into a private array depends on a variable.
fn indexes(stmts: &[Stmt], var: &Var, private: &[BufferId]) -> bool {
    let mut found = false;
    let mut access = |a: &Access| found |= private.contains(&a.buffer) && a.index.mentions(var);
    for stmt in stmts {
        stmt.each(&mut |s| {
            if let Stmt::Store { access: to, .. } = s {
                access(to);
            }
            for value in s.values() {
                value.each(&mut |e| {
                    if let Expr::Load(from, _) = e {
                        access(from);
                    }
                });
            }
        });
    }
    found
}
