//! How many registers a work-item needs, as far as the kernel shows.

use lift_ir::Nat;
use lift_kernel::{Kernel, Stmt, ValueType};

/// Registers of four bytes: those of the variables in sight at once, and of the private arrays.
pub(super) fn registers(kernel: &Kernel, value: &dyn Fn(&Nat) -> f64) -> f64 {
    private_bytes(kernel, value) / 4.0 + block(&kernel.body, index_registers(kernel))
}

/// The private arrays of one work-item.
pub(super) fn private_bytes(kernel: &Kernel, value: &dyn Fn(&Nat) -> f64) -> f64 {
    let bytes = |b: &lift_kernel::Buffer| value(&b.total()) * b.scalar.bytes() as f64;
    kernel.privates.iter().map(bytes).sum()
}

/// The private arrays of all work-items that one thread runs.
pub(super) fn held_bytes(kernel: &Kernel, value: &dyn Fn(&Nat) -> f64) -> f64 {
    let slots = |b: &lift_kernel::Buffer| b.items.iter().map(value).product::<f64>();
    let bytes = |b: &lift_kernel::Buffer| value(&b.total()) * b.scalar.bytes() as f64;
    kernel.privates.iter().map(|b| slots(b) * bytes(b)).sum()
}

fn index_registers(kernel: &Kernel) -> f64 {
    if kernel.wide_indices { 2.0 } else { 1.0 }
}

/// What a block declares itself, and the most that any block inside does.
fn block(stmts: &[Stmt], index: f64) -> f64 {
    let (mut own, mut inside) = (0.0, 0.0_f64);
    for stmt in stmts {
        match stmt {
            Stmt::Declare { var, .. } => own += of_type(var.ty),
            Stmt::Index { .. } | Stmt::ThreadId { .. } => own += index,
            Stmt::Loop(l) => inside = inside.max(index + block(&l.body, index)),
            Stmt::If { then, otherwise, .. } => {
                inside = inside.max(block(then, index)).max(block(otherwise, index));
            }
            Stmt::Comment(_)
            | Stmt::Assign { .. }
            | Stmt::Store { .. }
            | Stmt::Atomic { .. }
            | Stmt::Stop(_)
            | Stmt::Barrier(_) => {}
        }
    }
    own + inside
}

fn of_type(ty: ValueType) -> f64 {
    (ty.scalar.bytes() as f64 * f64::from(ty.width) / 4.0).ceil()
}
