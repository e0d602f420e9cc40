//! A variable is declared with its first value.
//!
//! Before: `float acc; acc = 0.0f;`
//! After: `float acc = 0.0f;`

use lift_kernel::{Kernel, Stmt, Variable};

pub(crate) fn run(kernel: &mut Kernel) {
    let body = std::mem::take(&mut kernel.body);
    kernel.body = block(body);
}

fn block(stmts: Vec<Stmt>) -> Vec<Stmt> {
    let mut made: Vec<Stmt> = Vec::new();
    for mut stmt in stmts {
        for inner in stmt.blocks_mut() {
            *inner = block(std::mem::take(inner));
        }
        if let Stmt::Assign { var, value } = &stmt
            && let Some(at) = waiting(&made, var)
        {
            stmt = Stmt::Declare { var: var.clone(), value: Some(value.clone()) };
            made.remove(at);
        }
        made.push(stmt);
    }
    made
}

/// Where a variable is declared without a value, with nothing but comments after that.
fn waiting(made: &[Stmt], var: &Variable) -> Option<usize> {
    let at = made.iter().rposition(|stmt| !matches!(stmt, Stmt::Comment(_)))?;
    let declares = matches!(&made[at], Stmt::Declare { var: own, value: None } if own == var);
    declares.then_some(at)
}
