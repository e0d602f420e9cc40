//! Elements in place of indices.
//!
//! Before: `generate(n, \i -> generate(m, \j -> f(a[i][j], x[j], i)))`
//! After: `map(\(row, i) -> map(\(e, v) -> f(e, v, i), zip(row, x)), zip(a, generate(n, \i -> i)))`, for an array of n rows of m
//! elements: the same as programs say by maps, so that what is done with maps is done for it.
//!
//! Likewise `map(\i -> f(xs[i]), generate(n, \i -> i))`. Indices that are computed with, as in `x[i + 1]`, stay. A name for an array
//! that is the result anyway goes: `let y = e; y` is `e`.

use lift_ir::{
    Build, Built, Call, Context, Def, Expr, Kind, Lambda, MapKind, Nat, Param, Prim, Type,
    TypeError,
};

use crate::LowerError;
use crate::parts::{Part, map_over};
use crate::passes::default_lowering::is_grid_wide;
use crate::replace::with_parts;

pub(crate) fn run(def: &Def) -> Result<Def, LowerError> {
    if is_grid_wide(&def.body) {
        return Ok(def.clone());
    }
    let cx = def.context();
    let body = Elements { cx: &cx }.expr(&def.body)?;
    Ok(Def { body, next_number: cx.next_number(), ..def.clone() })
}

struct Elements<'a> {
    cx: &'a Context,
}

impl Elements<'_> {
    /// An expression, from the outside in: the rows of one are the arrays of the next.
    fn expr(&self, expr: &Expr) -> Built {
        let made = match expr.kind() {
            Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => return Ok(expr.clone()),
            Kind::Let { param, value, body } => {
                let (own, rest) = (self.expr(value)?, self.expr(body)?);
                if rest.as_var() == Some(param) && !own.ty().is_register() {
                    return Ok(own);
                }
                if own.same_node(value) && rest.same_node(body) {
                    return Ok(expr.clone());
                }
                self.cx.let_in(param.clone(), own, rest)?
            }
            Kind::Call(call) => match self.mapped(call)? {
                Some(map) => self.expr(&map)?,
                None => with_parts(self.cx, expr, call, &|part| self.expr(part))?,
            },
        };
        Ok(made.placed_as(expr))
    }

    /// The map that a call is over what its indices go through; nothing where they go through nothing.
    fn mapped(&self, call: &Call) -> Result<Option<Expr>, TypeError> {
        let (Some((n, i)), [f]) = (indices(call), call.functions.as_slice()) else {
            return Ok(None);
        };
        let mut parts = Vec::new();
        let body =
            self.taken(&f.body, &Index { i, n, free: f.body.free_variables() }, &mut parts)?;
        if parts.is_empty() {
            return Ok(None);
        }
        if body.mentions(i) {
            let indices = Build::new(self.cx).generate(n.clone(), Ok)?;
            parts.push(Part { element: i.clone(), array: indices });
        }
        map_over(self.cx, &parts, body).map(Some)
    }

    /// An expression with elements in place of `xs[i]`, for arrays of n elements that do not depend on i.
    fn taken(&self, expr: &Expr, index: &Index, parts: &mut Vec<Part>) -> Built {
        if !expr.mentions(index.i) {
            return Ok(expr.clone());
        }
        let made = match expr.kind() {
            Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => return Ok(expr.clone()),
            Kind::Let { param, value, body } => {
                let value = self.taken(value, index, parts)?;
                self.cx.let_in(param.clone(), value, self.taken(body, index, parts)?)?
            }
            Kind::Call(call) => {
                if let Some(element) = self.element(call, index, parts) {
                    return Ok(self.cx.var(&element));
                }
                let mut functions = Vec::new();
                for f in &call.functions {
                    let body = self.taken(&f.body, index, parts)?;
                    functions.push(Lambda { body, ..f.clone() });
                }
                let args = call.args.iter().map(|a| self.taken(a, index, parts));
                let args = args.collect::<Result<Vec<Expr>, TypeError>>()?;
                self.cx.call(call.prim.clone(), call.sizes.clone(), functions, args)?
            }
        };
        Ok(made.placed_as(expr))
    }

    /// The element that `xs[i]` is, where it is one.
    fn element(&self, call: &Call, index: &Index, parts: &mut Vec<Part>) -> Option<Param> {
        let (Prim::At, [at, xs]) = (&call.prim, call.args.as_slice()) else { return None };
        let is_index = at.as_var().is_some_and(|param| param == index.i);
        let (ty, length) = xs.ty().as_array()?;
        let is_outside =
            !xs.mentions(index.i) && xs.free_variables().iter().all(|id| index.free.contains(id));
        if !is_index || !is_outside || !is_view(xs) || !self.cx.same_size(length, index.n) {
            return None;
        }
        let known = parts.iter().find(|part| part.array.alpha_eq(xs));
        let element = known.map(|part| part.element.clone());
        Some(element.unwrap_or_else(|| {
            let element = self.cx.fresh(name(ty), ty.clone());
            parts.push(Part { element: element.clone(), array: xs.clone() });
            element
        }))
    }
}

/// How many indices a call's function is applied to, one after the other from 0, and its parameter.
fn indices(call: &Call) -> Option<(&Nat, &Param)> {
    let [i] = call.functions.first()?.params.as_slice() else { return None };
    match call.prim {
        Prim::Generate => Some((call.sizes.first()?, i)),
        Prim::Map(MapKind::Map) => {
            let inner = call.args.first()?.as_call()?;
            let (length, own) = indices(inner).filter(|_| inner.prim == Prim::Generate)?;
            (inner.functions.first()?.body.as_var() == Some(own)).then_some((length, i))
        }
        _ => None,
    }
}

/// Whether an expression is a variable, a part of one, or that in another order. It may move out of a branch: it cannot fail.
fn is_view(expr: &Expr) -> bool {
    match expr.kind() {
        Kind::Var(_) => true,
        Kind::Literal(_) | Kind::Size(..) | Kind::Let { .. } => false,
        Kind::Call(call) => {
            let moves = call.prim.is_layout() && !matches!(call.prim, Prim::Generate | Prim::At);
            (moves || matches!(call.prim, Prim::Field(_)))
                && call.functions.is_empty()
                && call.args.iter().all(is_view)
        }
    }
}

/// The index of a `generate`, and how many there are.
struct Index<'e> {
    i: &'e Param,
    n: &'e Nat,
    /// The variables that the function takes from around it, and the index.
    free: &'e [u32],
}

fn name(ty: &Type) -> &'static str {
    if ty.is_register() { "x" } else { "row" }
}
