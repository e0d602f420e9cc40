//! Elements in place of indices: what reads arrays at its own index alone is a map over them.
//!
//! Before: `generate(n, \i -> f(xs[i], ys[i]))`, where `xs` and `ys` have n elements and `i` has no other use.
//! After: `map(\p -> f(p.0, p.1), zip(xs, ys))`, or the array itself where there is nothing to do. So what is said by indices
//! is seen to be rows, folds and products as what is said by patterns is.
//!
//! Likewise `map(\i -> f(xs[i]), generate(n, \i -> i))`. A name for an array that is the result anyway goes: `let y = e; y` is `e`.

use lift_ir::{
    Built, Call, Context, Def, Expr, Kind, Lambda, MapKind, Nat, Param, Prim, TypeError,
};

use crate::LowerError;
use crate::parts::{Part, map_over};
use crate::passes::default_lowering::is_grid_wide;

pub(crate) fn run(def: &Def) -> Result<Def, LowerError> {
    if is_grid_wide(&def.body) {
        return Ok(def.clone());
    }
    let cx = def.context();
    let body = expr(&cx, &def.body)?;
    Ok(Def { body, next_number: cx.next_number(), ..def.clone() })
}

fn expr(cx: &Context, given: &Expr) -> Built {
    let made = match given.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => return Ok(given.clone()),
        Kind::Let { param, value, body } => {
            let (new, rest) = (expr(cx, value)?, expr(cx, body)?);
            match rest.kind() {
                Kind::Var(own) if own == param && !new.ty().is_register() => new,
                _ if new.same_node(value) && rest.same_node(body) => return Ok(given.clone()),
                _ => cx.let_in(param.clone(), new, rest)?,
            }
        }
        Kind::Call(call) => match by_elements(cx, call)? {
            // What is a map now may have others inside that become one.
            Some(map) => expr(cx, &map)?,
            None => inside(cx, given, call)?,
        },
    };
    Ok(match given.span() {
        Some(span) => made.with_span(span),
        None => made,
    })
}

/// A call of which arguments and functions are done.
fn inside(cx: &Context, given: &Expr, call: &Call) -> Built {
    let args = call.args.iter().map(|arg| expr(cx, arg));
    let args = args.collect::<Result<Vec<Expr>, TypeError>>()?;
    let mut functions = Vec::new();
    for f in &call.functions {
        functions.push(Lambda { body: expr(cx, &f.body)?, ..f.clone() });
    }
    let same = args.iter().zip(&call.args).all(|(new, old)| new.same_node(old))
        && functions.iter().zip(&call.functions).all(|(new, old)| new.body.same_node(&old.body));
    match same {
        true => Ok(given.clone()),
        false => cx.call(call.prim.clone(), call.sizes.clone(), functions, args),
    }
}

/// The map that a call is, if it goes over indices of arrays only to read them there.
fn by_elements(cx: &Context, call: &Call) -> Result<Option<Expr>, TypeError> {
    let (Some((length, i)), [f]) = (indices(call), call.functions.as_slice()) else {
        return Ok(None);
    };
    let mut search = Search { cx, i, length, bound: Vec::new(), parts: Vec::new() };
    let (true, Ok(body)) = (search.is_only_index(&f.body), search.with_elements(&f.body)) else {
        return Ok(None);
    };
    match (body.as_var(), search.parts.as_slice()) {
        (_, []) => Ok(None),
        (Some(own), [part]) if *own == part.element => Ok(Some(part.array.clone())),
        (_, parts) => map_over(cx, parts, body).map(Some),
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

struct Search<'a> {
    cx: &'a Context,
    i: &'a Param,
    length: &'a Nat,
    /// Variables bound inside, which arrays must not depend on.
    bound: Vec<u32>,
    parts: Vec<Part>,
}

impl Search<'_> {
    /// Whether an expression uses the index only to read arrays of the same length, made outside; these become parts.
    fn is_only_index(&mut self, expr: &Expr) -> bool {
        if !expr.mentions(self.i) {
            return true;
        }
        match expr.kind() {
            Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => false,
            Kind::Let { param, value, body } => {
                self.bound.push(param.id());
                self.is_only_index(value) && self.is_only_index(body)
            }
            Kind::Call(call) => {
                if let Some(array) = self.read(call) {
                    return self.add(array);
                }
                self.bound.extend(call.functions.iter().flat_map(|f| &f.params).map(Param::id));
                call.children().all(|child| self.is_only_index(child))
            }
        }
    }

    /// The array that a call reads at the index.
    fn read<'e>(&self, call: &'e Call) -> Option<&'e Expr> {
        match (&call.prim, call.args.as_slice()) {
            (Prim::At, [index, array]) if index.as_var() == Some(self.i) => Some(array),
            _ => None,
        }
    }

    fn add(&mut self, array: &Expr) -> bool {
        let outside = !array.mentions(self.i)
            && !array.free_variables().iter().any(|id| self.bound.contains(id));
        let Some((element, n)) = array.ty().as_array() else { return false };
        if !outside || !is_view(array) || !self.cx.same_size(n, self.length) {
            return false;
        }
        if self.part(array).is_none() {
            let element = self.cx.fresh("element", element.clone());
            self.parts.push(Part { element, array: array.clone() });
        }
        true
    }

    fn part(&self, array: &Expr) -> Option<&Part> {
        self.parts.iter().find(|part| part.array.alpha_eq(array))
    }

    /// The expression with elements in place of what is read at the index.
    fn with_elements(&self, expr: &Expr) -> Built {
        if !expr.mentions(self.i) {
            return Ok(expr.clone());
        }
        match expr.kind() {
            Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => Ok(expr.clone()),
            Kind::Let { param, value, body } => {
                let value = self.with_elements(value)?;
                self.cx.let_in(param.clone(), value, self.with_elements(body)?)
            }
            Kind::Call(call) => {
                if let Some(part) = self.read(call).and_then(|array| self.part(array)) {
                    return Ok(self.cx.var(&part.element));
                }
                let args = call.args.iter().map(|arg| self.with_elements(arg));
                let args = args.collect::<Result<Vec<Expr>, TypeError>>()?;
                let mut functions = Vec::new();
                for f in &call.functions {
                    functions.push(Lambda { body: self.with_elements(&f.body)?, ..f.clone() });
                }
                self.cx.call(call.prim.clone(), call.sizes.clone(), functions, args)
            }
        }
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
