//! Applying a function of the program to arguments, without computing anything twice.

use lift_ir::{Call, Context, Expr, Kind, Lambda, Param, TypeError};

use crate::failing::{evaluates, may_fail};
use crate::project::project_tuples;

/// `lambda` applied to `args`.
///
/// `(\x -> e)(a)` is `e` with `a` for `x` where that computes `a` at most as often as before:
/// `a` is a view or an atom, or `x` occurs once and not inside a function. Else it is
/// `let x = a; e`, as it is where `a` may fail and `e` may not evaluate it. Components of tuples that are written out are taken.
pub fn apply(cx: &Context, lambda: &Lambda, args: &[Expr]) -> Result<Expr, TypeError> {
    let mut replaced = Vec::new();
    let mut named = Vec::new();
    for (param, arg) in lambda.params.iter().zip(args) {
        let lost = !evaluates(&lambda.body, param) && may_fail(cx, arg);
        let once = uses(&lambda.body, param) == Uses::Once;
        if !lost && (is_free(arg) || once) {
            replaced.push((param.clone(), arg.clone()));
        } else if lost || lambda.body.mentions(param) {
            let fresh = cx.fresh(param.name(), arg.ty().clone());
            replaced.push((param.clone(), cx.var(&fresh)));
            named.push((fresh, arg.clone()));
        }
    }
    let body = project_tuples(cx, &cx.substitute(&lambda.body, &replaced))?;
    named.into_iter().rev().try_fold(body, |body, (param, arg)| cx.let_in(param, arg, body))
}

/// Costs nothing wherever and however often it stands: atoms, and layout patterns of them.
pub fn is_free(expr: &Expr) -> bool {
    expr.is_atom()
        || expr.as_call().is_some_and(|call| {
            call.prim.is_layout() && call.functions.is_empty() && call.args.iter().all(is_free)
        })
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Uses {
    None,
    Once,
    Many,
}

/// How often a variable's value is used; inside a function means often.
fn uses(expr: &Expr, param: &Param) -> Uses {
    if !expr.mentions(param) {
        return Uses::None;
    }
    let both = |a: Uses, b: Uses| match (a, b) {
        (Uses::None, other) | (other, Uses::None) => other,
        (Uses::Once | Uses::Many, Uses::Once | Uses::Many) => Uses::Many,
    };
    match expr.kind() {
        Kind::Var(_) => Uses::Once,
        Kind::Literal(_) | Kind::Size(..) => Uses::None,
        Kind::Let { value, body, .. } => both(uses(value, param), uses(body, param)),
        Kind::Call(call) => {
            if call.functions.iter().any(|f| f.body.mentions(param)) {
                return Uses::Many;
            }
            call.args.iter().map(|a| uses(a, param)).fold(Uses::None, both)
        }
    }
}

/// The same expression with all of its binders renamed: for a second copy in one program.
pub fn renamed(cx: &Context, expr: &Expr) -> Result<Expr, TypeError> {
    renamed_by(cx, expr, &Param::name)
}

/// The same with the names that `name` gives to binders; the printer tells equal ones apart.
pub fn renamed_by(
    cx: &Context,
    expr: &Expr,
    name: &dyn for<'p> Fn(&'p Param) -> &'p str,
) -> Result<Expr, TypeError> {
    let copy = match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => return Ok(expr.clone()),
        Kind::Let { param, value, body } => {
            let fresh = cx.fresh(name(param), param.ty().clone());
            let body = cx.substitute(body, &[(param.clone(), cx.var(&fresh))]);
            cx.let_in(fresh, renamed_by(cx, value, name)?, renamed_by(cx, &body, name)?)?
        }
        Kind::Call(Call { prim, sizes, functions, args }) => {
            if expr.is_atom() {
                return Ok(expr.clone());
            }
            let functions = functions
                .iter()
                .map(|f| renamed_function_by(cx, f, name))
                .collect::<Result<_, _>>()?;
            let args = args.iter().map(|a| renamed_by(cx, a, name)).collect::<Result<_, _>>()?;
            cx.call(prim.clone(), sizes.clone(), functions, args)?
        }
    };
    Ok(match expr.span() {
        Some(span) => copy.with_span(span),
        None => copy,
    })
}

/// The same function with its parameters and all binders inside renamed.
pub fn renamed_function(cx: &Context, lambda: &Lambda) -> Result<Lambda, TypeError> {
    renamed_function_by(cx, lambda, &Param::name)
}

fn renamed_function_by(
    cx: &Context,
    lambda: &Lambda,
    name: &dyn for<'p> Fn(&'p Param) -> &'p str,
) -> Result<Lambda, TypeError> {
    let params: Vec<Param> =
        lambda.params.iter().map(|p| cx.fresh(name(p), p.ty().clone())).collect();
    let values: Vec<(Param, Expr)> =
        lambda.params.iter().cloned().zip(params.iter().map(|p| cx.var(p))).collect();
    let body = renamed_by(cx, &cx.substitute(&lambda.body, &values), name)?;
    Ok(Lambda { size: lambda.size.clone(), params, body })
}
