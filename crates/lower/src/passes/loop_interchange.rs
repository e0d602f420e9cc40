//! Loop interchange, on programs: loops whose state is an array change places with maps.
//!
//! Before: `map(\x -> iterate(n, \s -> f(x, s), z(x)), xs)`, where a work-item would have a whole array to itself.
//! After: `iterate(n, \ss -> map(\(x, s) -> f(x, s), zip(xs, ss)), map(z, xs))`, a loop around steps that have all points of
//! all states in parallel; likewise for folds and scans. What stands around the loop in the function is cut off first:
//!
//! `map(\x -> let y = e; C[loop], xs) = let ys = map(\x -> e, xs); let ls = …; map(\(x, y, l) -> C[l], zip(xs, ys, ls))`
//!
//! The other way round, a fold of rows that works on each place alone is a fold for each column ([`columns`]).

mod columns;
mod places;

use lift_ir::{
    Build, Built, Call, Context, Def, Expr, FoldKind, Kind, Lambda, MapKind, Param, Prim, Type,
    TypeError,
};

use crate::parts::{Part, map_over};
use crate::passes::default_lowering::{is_grid_wide, is_layout_only};
use crate::replace::{replaced, with_parts};
use crate::{LowerError, Options, Target};

/// Numbers of a state that a work-item keeps to itself, at most.
const OWN: i128 = 64;

/// The same for a processor's thread, and how many states give all of its threads something to do.
const CACHED: i128 = 1 << 11;
const THREADS: i128 = 16;

pub(crate) fn run(def: &Def, options: &Options) -> Result<Def, LowerError> {
    if is_grid_wide(&def.body) {
        return Ok(def.clone());
    }
    let cx = def.context();
    let body = Interchange { cx: &cx, target: options.target }.expr(&def.body)?;
    Ok(Def { body, next_number: cx.next_number(), ..def.clone() })
}

/// Whether a state is so large that its parts get work-items of their own.
pub(crate) fn is_large(state: &Type, target: Target) -> bool {
    let most = if target == Target::Threads { OWN } else { CACHED };
    !state.is_register() && state.numbers().is_none_or(|n| n > most)
}

struct Interchange<'a> {
    cx: &'a Context,
    target: Target,
}

impl Interchange<'_> {
    /// An expression, from the inside out.
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
            Kind::Call(call) => {
                let inside = with_parts(self.cx, expr, call, &|part| self.expr(part))?;
                let Some(call) = inside.as_call() else { return Ok(inside) };
                match self.interchanged(call)? {
                    Some(made) => made,
                    None => inside,
                }
            }
        };
        Ok(made.placed_as(expr))
    }

    fn interchanged(&self, call: &Call) -> Result<Option<Expr>, TypeError> {
        match &call.prim {
            Prim::Map(MapKind::Map) if !is_layout_only(call) => self.map(call),
            Prim::Reduce(_) | Prim::Scan(_) => self.by_columns(call),
            // A thread of a processor keeps rows as they are: its lanes take what lies side by side.
            Prim::ReduceByIndex(FoldKind::Any) if self.target == Target::Threads => {
                self.by_index(call)
            }
            _ => Ok(None),
        }
    }

    /// A map around a loop as a loop around maps.
    fn map(&self, call: &Call) -> Result<Option<Expr>, TypeError> {
        let (Some(f), [xs]) = (call.functions.first(), call.args.as_slice()) else {
            return Ok(None);
        };
        let ([x], Some(found)) = (f.params.as_slice(), self.first_loop(&f.body)) else {
            return Ok(None);
        };
        let several = xs.ty().as_array().and_then(|(_, n)| n.as_int());
        if self.target == Target::Loops && several.is_none_or(|n| n >= THREADS) {
            return Ok(None);
        }
        let found = found.clone();
        let (mut lets, mut parts) = (Vec::new(), Vec::new());
        let array = self.named(xs, &mut lets);
        parts.push(Part { element: x.clone(), array });
        let mut body = f.body.clone();
        while let Kind::Let { param, value, body: rest } = body.clone().kind() {
            if has_node(value, &found) {
                break;
            }
            let values = map_over(self.cx, &parts, value.clone())?;
            let array = self.named(&values, &mut lets);
            parts.push(Part { element: param.clone(), array });
            body = rest.clone();
        }
        let Some(own) = found.as_call() else { return Ok(None) };
        let Some(around) = self.over(own, &parts)? else { return Ok(None) };
        let state = self.cx.fresh("state", found.ty().clone());
        let rest = replaced(self.cx, &body, &[(own, self.cx.var(&state))])?;
        let result = match rest.as_var() {
            Some(param) if *param == state => around,
            _ => {
                let array = self.named(&around, &mut lets);
                parts.push(Part { element: state, array });
                self.expr(&map_over(self.cx, &parts, rest)?)?
            }
        };
        let bound = |body, (param, value)| self.cx.let_in(param, value, body);
        lets.into_iter().rev().try_fold(result, bound).map(Some)
    }

    /// The first loop that is reached by evaluating an expression, whose state is a large array that it maps.
    fn first_loop<'e>(&self, expr: &'e Expr) -> Option<&'e Expr> {
        match expr.kind() {
            Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => None,
            Kind::Let { value, body, .. } => {
                self.first_loop(value).or_else(|| self.first_loop(body))
            }
            Kind::Call(call) => {
                let inside = match call.prim {
                    // What is not chosen is not computed.
                    Prim::If => call.args.get(..1).unwrap_or_default(),
                    _ => call.args.as_slice(),
                };
                let deeper = inside.iter().find_map(|arg| self.first_loop(arg));
                deeper.or_else(|| self.is_loop(call).then_some(expr))
            }
        }
    }

    fn is_loop(&self, call: &Call) -> bool {
        let keeps = |f: &Lambda| f.size.is_none() && maps(&f.body);
        let is_kind = matches!(
            call.prim,
            Prim::Iterate
                | Prim::IterateIndex
                | Prim::Reduce(FoldKind::Seq)
                | Prim::Scan(FoldKind::Seq)
        );
        let state = call.args.first().map(Expr::ty);
        is_kind
            && state.is_some_and(|ty| is_large(ty, self.target))
            && call.functions.iter().all(keeps)
    }

    /// A loop that is done for the elements of several arrays, as one loop.
    fn over(&self, call: &Call, parts: &[Part]) -> Result<Option<Expr>, TypeError> {
        let (Some(f), Some(z)) = (call.functions.first(), call.args.first()) else {
            return Ok(None);
        };
        let depends = |e: &Expr| parts.iter().any(|part| e.mentions(&part.element));
        // Where no state depends on an element, all are the same one.
        if !call.children().any(depends) {
            return Ok(None);
        }
        let states = match depends(z) {
            true => map_over(self.cx, parts, z.clone())?,
            false => self.repeated(z, parts)?,
        };
        let all = self.cx.fresh("states", states.ty().clone());
        let together = |own: &[(&Param, &Param)]| {
            let mut all = parts.to_vec();
            for (element, array) in own {
                all.push(Part { element: (*element).clone(), array: self.cx.var(array) });
            }
            map_over(self.cx, &all, f.body.clone())
        };
        let step = |params: Vec<Param>, body: Expr| Lambda { size: None, params, body };
        let made = match (&call.prim, f.params.as_slice(), call.args.get(1)) {
            (Prim::Iterate, [s], None) => {
                let f = step(vec![all.clone()], together(&[(s, &all)])?);
                self.cx.call(Prim::Iterate, call.sizes.clone(), vec![f], vec![states])?
            }
            (Prim::IterateIndex, [k, s], None) => {
                let f = step(vec![k.clone(), all.clone()], together(&[(s, &all)])?);
                self.cx.call(Prim::IterateIndex, call.sizes.clone(), vec![f], vec![states])?
            }
            (Prim::Reduce(_) | Prim::Scan(_), [s, e], Some(es)) => {
                let (f, steps) = match depends(es) {
                    false => {
                        (step(vec![all.clone(), e.clone()], together(&[(s, &all)])?), es.clone())
                    }
                    true => {
                        let b = Build::new(self.cx);
                        let steps = b.transpose(map_over(self.cx, parts, es.clone()))?;
                        let Some((row, _)) = steps.ty().as_array() else { return Ok(None) };
                        let row = self.cx.fresh(e.name(), row.clone());
                        let body = together(&[(s, &all), (e, &row)])?;
                        (step(vec![all.clone(), row], body), steps)
                    }
                };
                let made = self.cx.call(call.prim.clone(), vec![], vec![f], vec![states, steps])?;
                match call.prim {
                    Prim::Scan(_) => Build::new(self.cx).transpose(made)?,
                    _ => made,
                }
            }
            _ => return Ok(None),
        };
        Ok(Some(made))
    }

    /// As many copies of a value as there are elements.
    fn repeated(&self, value: &Expr, parts: &[Part]) -> Built {
        let count = parts.first().and_then(|part| part.array.ty().as_array());
        let count = count.map(|(_, n)| n.clone()).into_iter().collect();
        self.cx.call(Prim::Repeat, count, vec![], vec![value.clone()])
    }

    /// An array that several expressions read: a variable, unless it is one.
    fn named(&self, array: &Expr, lets: &mut Vec<(Param, Expr)>) -> Expr {
        if array.as_var().is_some() {
            return array.clone();
        }
        let param = self.cx.fresh("tmp", array.ty().clone());
        lets.push((param.clone(), array.clone()));
        self.cx.var(&param)
    }
}

/// Whether an expression is part of another.
fn has_node(expr: &Expr, part: &Expr) -> bool {
    expr.same_node(part) || expr.children().into_iter().any(|child| has_node(child, part))
}

/// Whether an expression has a map that computes.
pub(crate) fn maps(expr: &Expr) -> bool {
    let is_map = |e: &Expr| {
        let call = e.as_call();
        call.is_some_and(|c| match c.prim {
            Prim::Map(MapKind::Map) => !is_layout_only(c),
            Prim::Generate => true,
            _ => false,
        })
    };
    expr.has(is_map)
}
