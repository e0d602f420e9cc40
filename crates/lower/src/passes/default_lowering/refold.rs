//! Expressions whose folds fold something else.
//!
//! Before: `E[reduce(z, f, xs)]`
//! After: `E[reduce(z, f, ys)]`

use lift_ir::{Built, Call, Context, Expr, Kind, TypeError};

/// An expression in which some folds, outside of the functions it maps, get other arrays.
pub(super) fn refolded(cx: &Context, expr: &Expr, arrays: &[(&Call, Expr)]) -> Built {
    match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => Ok(expr.clone()),
        Kind::Let { param, value, body } => {
            let value = refolded(cx, value, arrays)?;
            cx.let_in(param.clone(), value, refolded(cx, body, arrays)?)
        }
        Kind::Call(call) => {
            let args = match arrays.iter().find(|(fold, _)| std::ptr::eq(*fold, call)) {
                Some((_, array)) => call.args.iter().take(1).chain([array]).cloned().collect(),
                None => {
                    let args = call.args.iter().map(|arg| refolded(cx, arg, arrays));
                    args.collect::<Result<Vec<Expr>, TypeError>>()?
                }
            };
            if args.iter().zip(&call.args).all(|(new, old)| new.same_node(old)) {
                return Ok(expr.clone());
            }
            cx.call(call.prim.clone(), call.sizes.clone(), call.functions.clone(), args)
        }
    }
}
