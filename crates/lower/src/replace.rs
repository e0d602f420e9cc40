//! Expressions with others in place of some of their parts.

use lift_ir::{Built, Call, Context, Expr, Kind, Lambda, Param, Prim, TypeError};

/// An expression with others in place of some calls, outside of the functions that it maps.
pub(crate) fn replaced(cx: &Context, expr: &Expr, parts: &[(&Call, Expr)]) -> Built {
    let made = match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => return Ok(expr.clone()),
        Kind::Let { param, value, body } => {
            let value = replaced(cx, value, parts)?;
            cx.let_in(param.clone(), value, replaced(cx, body, parts)?)?
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
            cx.call(call.prim.clone(), call.sizes.clone(), call.functions.clone(), args)?
        }
    };
    Ok(made.placed_as(expr))
}

/// A call with what becomes of the bodies of its functions and of its arguments; the call itself where all of them stay.
pub(crate) fn with_parts(
    cx: &Context,
    expr: &Expr,
    call: &Call,
    part: &dyn Fn(&Expr) -> Built,
) -> Built {
    let body = |f: &Lambda| Ok(Lambda { body: part(&f.body)?, ..f.clone() });
    let functions: Vec<Lambda> = call.functions.iter().map(body).collect::<Result<_, _>>()?;
    let args: Vec<Expr> = call.args.iter().map(part).collect::<Result<_, _>>()?;
    let same = functions.iter().zip(&call.functions).all(|(a, b)| a.body.same_node(&b.body))
        && args.iter().zip(&call.args).all(|(a, b)| a.same_node(b));
    match same {
        true => Ok(expr.clone()),
        false => cx.call(call.prim.clone(), call.sizes.clone(), functions, args),
    }
}

/// An expression of a tuple whose components are given.
pub(crate) fn with_components(
    cx: &Context,
    expr: &Expr,
    tuple: &Param,
    components: &[Expr],
) -> Built {
    if !expr.mentions(tuple) {
        return Ok(expr.clone());
    }
    let part = |expr: &Expr| with_components(cx, expr, tuple, components);
    let made = match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => {
            cx.call(Prim::Tuple, vec![], vec![], components.to_vec())?
        }
        Kind::Let { param, value, body } => cx.let_in(param.clone(), part(value)?, part(body)?)?,
        Kind::Call(call) => {
            let own = call.args.first().is_some_and(|arg| arg.as_var() == Some(tuple));
            if let (Prim::Field(k), true) = (&call.prim, own)
                && let Some(component) = components.get(*k as usize)
            {
                return Ok(component.clone());
            }
            let body = |f: &Lambda| Ok(Lambda { body: part(&f.body)?, ..f.clone() });
            let functions: Result<Vec<Lambda>, TypeError> =
                call.functions.iter().map(body).collect();
            let args: Result<Vec<Expr>, TypeError> = call.args.iter().map(part).collect();
            cx.call(call.prim.clone(), call.sizes.clone(), functions?, args?)?
        }
    };
    Ok(made.placed_as(expr))
}
