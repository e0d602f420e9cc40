//! Elements in place of indices.
//!
//! Before: `generate(n, \i -> generate(m, \j -> f(a[i][j], x[j], i)))`
//! After: `map(\(row, i) -> map(\(e, v) -> f(e, v, i), zip(row, x)), zip(a, generate(n, \i -> i)))`, for an array of n rows of m
//! elements: the same as programs say by maps, so that what is done with maps is done for it.
//!
//! Indices that are computed with, as in `x[i + 1]`, stay.

use lift_ir::{
    Build, Built, Call, Context, Def, Expr, Kind, Lambda, Nat, Param, Prim, Type, TypeError,
};

use crate::LowerError;
use crate::parts::{Part, map_over};
use crate::passes::default_lowering::is_grid_wide;

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
                if own.same_node(value) && rest.same_node(body) {
                    return Ok(expr.clone());
                }
                self.cx.let_in(param.clone(), own, rest)?
            }
            Kind::Call(call) => match self.mapped(call)? {
                Some(map) => self.expr(&map)?,
                None => self.inside(expr, call)?,
            },
        };
        Ok(match expr.span() {
            Some(span) => made.with_span(span),
            None => made,
        })
    }

    fn inside(&self, expr: &Expr, call: &Call) -> Built {
        let body = |f: &Lambda| Ok(Lambda { body: self.expr(&f.body)?, ..f.clone() });
        let functions: Vec<Lambda> = call.functions.iter().map(body).collect::<Result<_, _>>()?;
        let args: Vec<Expr> = call.args.iter().map(|a| self.expr(a)).collect::<Result<_, _>>()?;
        let same = functions.iter().zip(&call.functions).all(|(a, b)| a.body.same_node(&b.body))
            && args.iter().zip(&call.args).all(|(a, b)| a.same_node(b));
        match same {
            true => Ok(expr.clone()),
            false => self.cx.call(call.prim.clone(), call.sizes.clone(), functions, args),
        }
    }

    /// A `generate` as a map over what it goes through; nothing where it goes through nothing.
    fn mapped(&self, call: &Call) -> Result<Option<Expr>, TypeError> {
        let (Prim::Generate, Some(n), Some(f)) =
            (&call.prim, call.sizes.first(), call.functions.first())
        else {
            return Ok(None);
        };
        let [i] = f.params.as_slice() else { return Ok(None) };
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
        match expr.kind() {
            Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => Ok(expr.clone()),
            Kind::Let { param, value, body } => {
                let value = self.taken(value, index, parts)?;
                self.cx.let_in(param.clone(), value, self.taken(body, index, parts)?)
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
                self.cx.call(call.prim.clone(), call.sizes.clone(), functions, args)
            }
        }
    }

    /// The element that `xs[i]` is, where it is one.
    fn element(&self, call: &Call, index: &Index, parts: &mut Vec<Part>) -> Option<Param> {
        let (Prim::At, [at, xs]) = (&call.prim, call.args.as_slice()) else { return None };
        let is_index = at.as_var().is_some_and(|param| param == index.i);
        let (ty, length) = xs.ty().as_array()?;
        let is_named = xs.as_var().is_some_and(|param| index.free.contains(&param.id()));
        if !is_index || !is_named || !self.cx.same_size(length, index.n) {
            return None;
        }
        let known = parts.iter().find(|part| part.array.as_var() == xs.as_var());
        let element = known.map(|part| part.element.clone());
        Some(element.unwrap_or_else(|| {
            let element = self.cx.fresh(name(ty), ty.clone());
            parts.push(Part { element: element.clone(), array: xs.clone() });
            element
        }))
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
