//! Dead-code elimination: variables that nothing reads, and loops without an iteration.
//!
//! Before: `float x = a[i];` with no use of `x`; `for (i = 0; i < 0; ++i) …`
//! After: nothing. Values have no effects, so dropping one changes nothing.

use std::collections::BTreeSet;

use lift_ir::{Nat, Var};
use lift_kernel::{Kernel, Stmt};

use crate::plan::Uses;

pub(crate) fn remove(kernel: &mut Kernel) {
    loop {
        let mut uses = Uses::default();
        uses.block(&kernel.body);
        let mut read = uses.variables;
        read.extend(uses.sizes);
        let before = count(&kernel.body);
        let body = std::mem::take(&mut kernel.body);
        kernel.body = without_dead(body, &read);
        if count(&kernel.body) == before {
            return;
        }
    }
}

fn count(block: &[Stmt]) -> usize {
    let mut count = 0;
    block.iter().for_each(|stmt| stmt.each(&mut |_| count += 1));
    count
}

fn without_dead(block: Vec<Stmt>, read: &BTreeSet<Var>) -> Vec<Stmt> {
    let mut kept = Vec::new();
    for stmt in block {
        match stmt {
            Stmt::Declare { ref var, .. } | Stmt::Assign { ref var, .. } => {
                if read.contains(&var.id) {
                    kept.push(stmt);
                }
            }
            Stmt::Index { ref var, .. } | Stmt::ThreadId { ref var, .. } => {
                if read.contains(var) {
                    kept.push(stmt);
                }
            }
            // What it would do may not even make sense for no element.
            Stmt::Loop(l) if l.extent == Nat::ZERO => {}
            Stmt::Loop(mut l) => {
                l.body = without_dead(l.body, read);
                if does_something(&l.body) {
                    kept.push(Stmt::Loop(l));
                }
            }
            Stmt::If { condition, then, otherwise } => {
                let (then, otherwise) = (without_dead(then, read), without_dead(otherwise, read));
                if does_something(&then) || does_something(&otherwise) {
                    kept.push(Stmt::If { condition, then, otherwise });
                }
            }
            Stmt::Comment(_)
            | Stmt::Store { .. }
            | Stmt::Atomic { .. }
            | Stmt::Barrier(_)
            | Stmt::Stop(_) => {
                kept.push(stmt);
            }
        }
    }
    kept
}

fn does_something(block: &[Stmt]) -> bool {
    block.iter().any(|stmt| !matches!(stmt, Stmt::Comment(_)))
}
