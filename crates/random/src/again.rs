//! Expressions made anew with the checked constructors: as they would be if they were written so.

use lift_ir::{Call, Context, Expr, Kind, Lambda, TypeError};

pub(crate) fn again(cx: &Context, expr: &Expr) -> Result<Expr, TypeError> {
    match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) => Ok(expr.clone()),
        Kind::Size(size, scalar) => cx.size(size, *scalar),
        Kind::Let { param, value, body } => {
            cx.let_in(param.clone(), again(cx, value)?, again(cx, body)?)
        }
        Kind::Call(Call { prim, sizes, functions, args }) => {
            let args: Result<Vec<Expr>, TypeError> = args.iter().map(|a| again(cx, a)).collect();
            let functions: Result<Vec<Lambda>, TypeError> = functions
                .iter()
                .map(|f| Ok(Lambda { body: again(cx, &f.body)?, ..f.clone() }))
                .collect();
            cx.call(prim.clone(), sizes.clone(), functions?, args?)
        }
    }
}
