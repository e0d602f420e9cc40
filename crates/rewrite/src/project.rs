//! Projections of variables, `p.0` or `p.1.0`, seen as variables of their own.

use lift_ir::{Call, Context, Expr, Kind, Lambda, Param, Prim, TypeError};

use crate::law::{Op, Term};

/// A variable and the fields taken of it, first to last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Path<V> {
    pub root: V,
    pub fields: Vec<u32>,
}

/// `x`, `p.0`, `p.1.0` in a law.
pub(crate) fn path_of_term(term: &Term) -> Option<Path<&str>> {
    match term {
        Term::Bound(name) => Some(Path { root: name, fields: Vec::new() }),
        Term::Call { op: Op::Exact(Prim::Field(index)), args, .. } => {
            let mut path = path_of_term(args.first()?)?;
            path.fields.push(*index);
            Some(path)
        }
        Term::Meta(_)
        | Term::Literal(_)
        | Term::Size(_)
        | Term::Apply(..)
        | Term::Let { .. }
        | Term::Call { .. } => None,
    }
}

/// The same in a program.
fn path_of(expr: &Expr) -> Option<Path<Param>> {
    match expr.kind() {
        Kind::Var(param) => Some(Path { root: param.clone(), fields: Vec::new() }),
        Kind::Call(Call { prim: Prim::Field(index), args, .. }) => {
            let mut path = path_of(args.first()?)?;
            path.fields.push(*index);
            Some(path)
        }
        Kind::Literal(_) | Kind::Size(..) | Kind::Let { .. } | Kind::Call(_) => None,
    }
}

/// `expr` with every projection in `named` replaced by its variable.
pub(crate) fn name_projections(
    cx: &Context,
    expr: &Expr,
    named: &[(Path<Param>, Param)],
) -> Result<Expr, TypeError> {
    if !named.iter().any(|(path, _)| expr.mentions(&path.root)) {
        return Ok(expr.clone());
    }
    if let Some(path) = path_of(expr)
        && let Some((_, variable)) = named.iter().find(|(own, _)| *own == path)
    {
        return Ok(cx.var(variable));
    }
    match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => Ok(expr.clone()),
        Kind::Let { param, value, body } => {
            let value = name_projections(cx, value, named)?;
            cx.let_in(param.clone(), value, name_projections(cx, body, named)?)
        }
        Kind::Call(Call { prim, sizes, functions, args }) => {
            let functions = functions
                .iter()
                .map(|f| {
                    let body = name_projections(cx, &f.body, named)?;
                    Ok(Lambda { size: f.size.clone(), params: f.params.clone(), body })
                })
                .collect::<Result<_, TypeError>>()?;
            let args =
                args.iter().map(|a| name_projections(cx, a, named)).collect::<Result<_, _>>()?;
            cx.call(prim.clone(), sizes.clone(), functions, args)
        }
    }
}

/// `expr` with projections of written-out tuples replaced by the components: `(a, b).0` is `a`.
pub(crate) fn project_tuples(cx: &Context, expr: &Expr) -> Result<Expr, TypeError> {
    if !expr.places().iter().any(|(_, part)| is_written_out(part)) {
        return Ok(expr.clone());
    }
    let simpler = match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => return Ok(expr.clone()),
        Kind::Let { param, value, body } => {
            let value = project_tuples(cx, value)?;
            cx.let_in(param.clone(), value, project_tuples(cx, body)?)?
        }
        Kind::Call(Call { prim, sizes, functions, args }) => {
            let functions = functions
                .iter()
                .map(|f| Ok(Lambda { body: project_tuples(cx, &f.body)?, ..f.clone() }))
                .collect::<Result<_, TypeError>>()?;
            let args = args.iter().map(|a| project_tuples(cx, a)).collect::<Result<_, _>>()?;
            // The constructor takes the component.
            cx.call(prim.clone(), sizes.clone(), functions, args)?
        }
    };
    Ok(match expr.span() {
        Some(span) if simpler.span().is_none() => simpler.with_span(span),
        _ => simpler,
    })
}

fn is_written_out(expr: &Expr) -> bool {
    let Some(Call { prim: Prim::Field(_), args, .. }) = expr.as_call() else { return false };
    args.iter().any(|a| a.as_call().is_some_and(|call| matches!(call.prim, Prim::Tuple)))
}
