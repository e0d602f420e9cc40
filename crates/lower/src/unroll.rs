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
        match stmt {
            Stmt::Loop(l) => {
                block(&mut l.body, private);
                let short = l.extent.as_int().is_some_and(|n| n <= MAX_UNROLLED);
                if l.kind == LoopKind::Seq && short && indexes(&l.body, &l.var, private) {
                    l.kind = LoopKind::Unroll;
                }
            }
            Stmt::If { then, otherwise, .. } => {
                block(then, private);
                block(otherwise, private);
            }
            Stmt::Comment(_)
            | Stmt::Declare { .. }
            | Stmt::Assign { .. }
            | Stmt::Index { .. }
            | Stmt::Store { .. }
            | Stmt::Barrier(_) => {}
        }
    }
}

/// Whether an index into a private array depends on a variable.
fn indexes(stmts: &[Stmt], var: &Var, private: &[BufferId]) -> bool {
    let access = |a: &Access| private.contains(&a.buffer) && a.index.mentions(var);
    stmts.iter().any(|stmt| match stmt {
        Stmt::Comment(_) | Stmt::Barrier(_) => false,
        Stmt::Declare { value, .. } => value.as_ref().is_some_and(|v| loads(v, &access)),
        Stmt::Assign { value, .. } | Stmt::Index { value, .. } => loads(value, &access),
        Stmt::Store { access: to, value } => access(to) || loads(value, &access),
        Stmt::Loop(l) => indexes(&l.body, var, private),
        Stmt::If { condition, then, otherwise } => {
            loads(condition, &access)
                || indexes(then, var, private)
                || indexes(otherwise, var, private)
        }
    })
}

fn loads(expr: &Expr, wanted: &dyn Fn(&Access) -> bool) -> bool {
    match expr {
        Expr::Literal(_) | Expr::Var(_) | Expr::Index(..) | Expr::Test(_) => false,
        Expr::Load(access, _) => wanted(access),
        Expr::Unary(_, a) | Expr::Cast(_, a) | Expr::Splat(_, a) | Expr::Lane(a, _) => {
            loads(a, wanted)
        }
        Expr::Binary(_, a, b) => loads(a, wanted) || loads(b, wanted),
        Expr::Select(a, b, c) => [a, b, c].into_iter().any(|e| loads(e, wanted)),
        Expr::Math(_, args) | Expr::Vector(_, args) | Expr::Extern(_, args) => {
            args.iter().any(|e| loads(e, wanted))
        }
    }
}
