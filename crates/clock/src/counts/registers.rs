//! How many registers a work-item needs, as far as its kernel shows.

use std::collections::BTreeMap;

use lift_ir::Var;
use lift_kernel::{Expr, Stmt};

/// The most registers of four bytes that variables take at once: each from where it is declared to where it is used last. An
/// index takes so many.
pub(super) fn live(block: &[Stmt], index: f64) -> f64 {
    let mut last: BTreeMap<Var, usize> = BTreeMap::new();
    for (k, stmt) in block.iter().enumerate() {
        mentioned(stmt, &mut |var| {
            last.insert(var.clone(), k);
        });
    }
    let (mut now, mut most) = (0.0, 0.0_f64);
    let mut ends: BTreeMap<usize, f64> = BTreeMap::new();
    for (k, stmt) in block.iter().enumerate() {
        let (own, inside) = match stmt {
            Stmt::Declare { var, .. } => {
                let registers = var.ty.scalar.bytes() as f64 * f64::from(var.ty.width) / 4.0;
                (Some((&var.id, registers)), 0.0)
            }
            Stmt::Index { var, .. } | Stmt::ThreadId { var, .. } => (Some((var, index)), 0.0),
            other => (None, other.blocks().iter().map(|b| live(b, index)).fold(0.0, f64::max)),
        };
        if let Some((var, registers)) = own {
            now += registers;
            *ends.entry(last.get(var).copied().unwrap_or(k)).or_default() += registers;
        }
        most = most.max(now + inside);
        now -= ends.remove(&k).unwrap_or(0.0);
    }
    most
}

/// Calls `f` with every variable that a statement, or one inside it, uses.
fn mentioned(stmt: &Stmt, f: &mut dyn FnMut(&Var)) {
    stmt.each(&mut |stmt| {
        for value in stmt.values() {
            value.each(&mut |e| match e {
                Expr::Var(v) => f(&v.id),
                Expr::Index(nat, _) => nat.each_var(f),
                Expr::Test(pred) => pred.each_var(f),
                Expr::Load(access, _) => access.index.each_var(f),
                _ => {}
            });
        }
        match stmt {
            Stmt::Assign { var, .. } => f(&var.id),
            Stmt::Store { access, .. } | Stmt::Atomic { access, .. } => access.index.each_var(f),
            _ => {}
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_take_registers_as_long_as_they_are_used() {
        let text = "kernel f(read global x: f32[100] align 4, write global y: f32[100] align 4)
          launch local(32) global(32) threads
        {
          thread g0 = global(0) below 32
          index a = index(2*g0: i32)
          index b = index(a + 1: i32)
          var v: f32 = x[a]
          y[b] = v
        }";
        let kernel = lift_kernel::read(text).expect("a kernel").remove(0);
        // Both indices and the number that is loaded; the place is no longer used then.
        assert_eq!(live(&kernel.body, 1.0), 3.0);
        assert_eq!(live(&kernel.body, 2.0), 5.0);
    }
}
