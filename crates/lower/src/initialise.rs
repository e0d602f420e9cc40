//! A variable is declared with its first value.
//!
//! Before: `float acc; acc = 0.0f;`
//! After: `float acc = 0.0f;`

use lift_kernel::{Kernel, Stmt};

pub(crate) fn run(kernel: &mut Kernel) {
    let body = std::mem::take(&mut kernel.body);
    kernel.body = block(body);
}

fn block(stmts: Vec<Stmt>) -> Vec<Stmt> {
    let mut made: Vec<Stmt> = Vec::new();
    for stmt in stmts {
        match (made.last_mut(), stmt) {
            (
                Some(Stmt::Declare { var: declared, value: slot @ None }),
                Stmt::Assign { var, value },
            ) if *declared == var => *slot = Some(value),
            (_, Stmt::Loop(mut l)) => {
                l.body = block(l.body);
                made.push(Stmt::Loop(l));
            }
            (_, Stmt::If { condition, then, otherwise }) => {
                made.push(Stmt::If { condition, then: block(then), otherwise: block(otherwise) })
            }
            (_, other) => made.push(other),
        }
    }
    made
}
