//! Expressions with others in place of some of their parts.

use lift_ir::{Built, Call, Context, Expr, Kind, TypeError};

/// An expression with others in place of some calls, outside of the functions that it maps.
pub(crate) fn replaced(cx: &Context, expr: &Expr, parts: &[(&Call, Expr)]) -> Built {
    match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => Ok(expr.clone()),
        Kind::Let { param, value, body } => {
            let value = replaced(cx, value, parts)?;
            cx.let_in(param.clone(), value, replaced(cx, body, parts)?)
        }
        Kind::Call(call) => {
            if let Some((_, new)) = parts.iter().find(|(old, _)| std::ptr::eq(*old, call)) {
                return Ok(new.clone());
            }
            let args = call.args.iter().map(|arg| replaced(cx, arg, parts));
            let args = args.collect::<Result<Vec<Expr>, TypeError>>()?;
            if args.iter().zip(&call.args).all(|(new, old)| new.same_node(old)) {
                return Ok(expr.clone());
            }
            cx.call(call.prim.clone(), call.sizes.clone(), call.functions.clone(), args)
        }
    }
}
