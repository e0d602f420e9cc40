//! Replacing index variables in statements.

use lift_ir::{Nat, Var};
use lift_kernel::{Access, Expr, Loop, Stmt};

type Value<'a> = dyn Fn(&Var) -> Option<Nat> + 'a;
type Size<'a> = dyn Fn(&Nat) -> Nat + 'a;

/// The statements with every index rewritten by `size`, and conditions by `value`.
pub(crate) fn in_block(block: &[Stmt], value: &Value, size: &Size) -> Vec<Stmt> {
    block.iter().map(|stmt| in_stmt(stmt, value, size)).collect()
}

fn in_stmt(stmt: &Stmt, value: &Value, size: &Size) -> Stmt {
    let expr = |e: &Expr| in_expr(e, value, size);
    match stmt {
        Stmt::Comment(_) | Stmt::Barrier(_) => stmt.clone(),
        Stmt::Declare { var, value: init } => {
            Stmt::Declare { var: var.clone(), value: init.as_ref().map(expr) }
        }
        Stmt::Assign { var, value } => Stmt::Assign { var: var.clone(), value: expr(value) },
        Stmt::Index { var, value } => Stmt::Index { var: var.clone(), value: expr(value) },
        Stmt::Store { access, value } => {
            Stmt::Store { access: in_access(access, size), value: expr(value) }
        }
        Stmt::Loop(l) => Stmt::Loop(Loop {
            extent: size(&l.extent),
            body: in_block(&l.body, value, size),
            ..l.clone()
        }),
        Stmt::If { condition, then, otherwise } => Stmt::If {
            condition: expr(condition),
            then: in_block(then, value, size),
            otherwise: in_block(otherwise, value, size),
        },
    }
}

fn in_access(access: &Access, size: &Size) -> Access {
    Access {
        index: size(&access.index),
        items: access.items.iter().map(size).collect(),
        ..access.clone()
    }
}

fn in_expr(expr: &Expr, value: &Value, size: &Size) -> Expr {
    let boxed = |e: &Expr| Box::new(in_expr(e, value, size));
    let all = |args: &[Expr]| args.iter().map(|e| in_expr(e, value, size)).collect();
    match expr {
        Expr::Literal(_) | Expr::Var(_) => expr.clone(),
        Expr::Index(index, scalar) => Expr::Index(size(index), *scalar),
        Expr::Test(pred) => Expr::Test(pred.substitute(value)),
        Expr::Load(access, ty) => Expr::Load(in_access(access, size), *ty),
        Expr::Unary(op, a) => Expr::Unary(*op, boxed(a)),
        Expr::Binary(op, a, b) => Expr::Binary(*op, boxed(a), boxed(b)),
        Expr::Math(math, args) => Expr::Math(*math, all(args)),
        Expr::Cast(ty, a) => Expr::Cast(*ty, boxed(a)),
        Expr::Select(a, b, c) => Expr::Select(boxed(a), boxed(b), boxed(c)),
        Expr::Vector(scalar, args) => Expr::Vector(*scalar, all(args)),
        Expr::Splat(width, a) => Expr::Splat(*width, boxed(a)),
        Expr::Lane(a, lane) => Expr::Lane(boxed(a), *lane),
        Expr::Extern(function, args) => Expr::Extern(function.clone(), all(args)),
    }
}
