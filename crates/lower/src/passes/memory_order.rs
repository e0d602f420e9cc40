//! The order of arrays that kernels leave for each other: that of what they are computed from.
//!
//! Before: `let t = map2(f, transpose(x)); e(t)`, and `iterate(k, f, transpose(x))`.
//! After: `let t = toGlobal(transpose(map2(f, transpose(x)))); e(transpose(t))`, which is stored in the order in which `x` is read, and
//! `transpose(iterate(k, \s -> transpose(f(transpose(s))), x))`. Where the result is transposed again nothing is ever read in one order
//! and written in another; where it is not, the last kernel does it in place of the first.
//!
//! A map whose dimensions are d₀, …, dₙ is stored with that one innermost along which it reads what lies side by side. Folds of
//! columns are as fast as those of rows, scans are not: where a program has such, the order of maps stays unless it is predicted to take
//! longer.

use std::cell::Cell;

use lift_ir::{
    Build, Built, Call, Context, Def, Expr, Kind, Lambda, MapKind, Prim, Space, Type, TypeError,
};

use crate::passes::default_lowering::{is_grid_wide, nearest_dimension};
use crate::passes::share::{copied, is_long_fold};
use crate::{LowerError, Options};

pub(crate) fn run(def: &Def, options: &Options) -> Result<Def, LowerError> {
    if is_grid_wide(&def.body) {
        return Ok(def.clone());
    }
    let cx = def.context();
    let orders = Orders { cx: &cx, def, options, turned: Cell::new(false) };
    let body = orders.expr(&def.body)?;
    if !orders.turned.get() {
        return Ok(def.clone());
    }
    let mut ways = ["arrays lie as they are read", "arrays lie as maps make them"];
    let is_usual = !def.body.has(scans);
    if !is_usual {
        ways.reverse();
    }
    let taken = options.choices.take("memory_order", ways.map(String::from).into());
    match (taken == 0) == is_usual {
        true => Ok(Def { body, next_number: cx.next_number(), ..def.clone() }),
        false => Ok(def.clone()),
    }
}

/// Whether an expression goes along rows in their order.
fn scans(expr: &Expr) -> bool {
    let call = expr.as_call();
    call.is_some_and(|call| matches!(call.prim, Prim::Scan(_) | Prim::ReduceByIndex(_)))
}

struct Orders<'a> {
    cx: &'a Context,
    def: &'a Def,
    options: &'a Options,
    /// Whether an array got another order.
    turned: Cell<bool>,
}

impl Orders<'_> {
    /// What is outside of all maps.
    fn expr(&self, expr: &Expr) -> Built {
        let made = match expr.kind() {
            Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => return Ok(expr.clone()),
            Kind::Let { param, value, body } => {
                let (stored, from) = self.stored(value)?;
                let Some(from) = from else {
                    return self.cx.let_in(param.clone(), stored, self.expr(body)?);
                };
                let own = self.cx.fresh(param.name(), stored.ty().clone());
                let back = self.outward(self.cx.var(&own), from)?;
                let body = self.cx.substitute(body, &[(param.clone(), back)]);
                let body = self.expr(&body)?;
                match body.as_var() == Some(&own) {
                    true => stored,
                    false => self.cx.let_in(own, stored, body)?,
                }
            }
            Kind::Call(call) => match &call.prim {
                _ if is_loop(call) => match self.iteration(expr, call)? {
                    (made, Some(from)) => self.outward(made, from)?,
                    (made, None) => made,
                },
                _ if let (Some(depth), [array]) = (swap(call), call.args.as_slice()) => {
                    self.swapped(self.expr(array)?, depth)?
                }
                prim if prim.is_layout() && call.functions.is_empty() || *prim == Prim::Tuple => {
                    let args = call.args.iter().map(|arg| self.expr(arg));
                    let args = args.collect::<Result<Vec<Expr>, TypeError>>()?;
                    self.cx.call(prim.clone(), call.sizes.clone(), Vec::new(), args)?
                }
                _ => return Ok(expr.clone()),
            },
        };
        Ok(made.placed_as(expr))
    }

    /// An array as it is to be stored, and which of its dimensions is innermost there, where that is another than the last.
    fn stored(&self, value: &Expr) -> Result<(Expr, Option<usize>), TypeError> {
        match value.as_call() {
            Some(call) if is_loop(call) => self.iteration(value, call),
            _ => {
                let value = self.expr(value)?;
                match self.wanted(&value)? {
                    Some(from) => {
                        let turned = self.inward(value, from);
                        let stored = Build::new(self.cx).to(Space::Global, Ok, turned)?;
                        Ok((stored, Some(from)))
                    }
                    None => Ok((value, None)),
                }
            }
        }
    }

    /// A loop around steps, with its state in the order in which the first one finds it, and which that is.
    fn iteration(&self, expr: &Expr, call: &Call) -> Result<(Expr, Option<usize>), TypeError> {
        let ([f], [start]) = (call.functions.as_slice(), call.args.as_slice()) else {
            return Ok((expr.clone(), None));
        };
        let start = self.expr(start)?;
        let again = |f: Lambda, start: Expr| {
            self.cx.call(call.prim.clone(), call.sizes.clone(), vec![f], vec![start])
        };
        let from = match f.size {
            None => self.order_of(&start)?,
            Some(_) => None,
        };
        let (Some(from), Some((state, others))) = (from, f.params.split_last()) else {
            let f = Lambda { body: self.expr(&f.body)?, ..f.clone() };
            return Ok((again(f, start)?, None));
        };
        self.turned.set(true);
        let start = self.inward(start, from)?;
        let own = self.cx.fresh(state.name(), start.ty().clone());
        let back = self.outward(self.cx.var(&own), from)?;
        let body = self.cx.substitute(&f.body, &[(state.clone(), back)]);
        let body = self.inward(self.expr(&body)?, from)?;
        let params = others.iter().cloned().chain([own]).collect();
        Ok((again(Lambda { params, body, ..f.clone() }, start)?, Some(from)))
    }

    /// The dimension of a map that is to be the innermost in memory, where that is another than the last.
    fn wanted(&self, value: &Expr) -> Result<Option<usize>, TypeError> {
        let map = value.as_call().filter(|call| call.prim == Prim::Map(MapKind::Map));
        match map {
            Some(_) if value.has(|part| is_long_fold(part) || scans(part)) => Ok(None),
            Some(call) => {
                let from = nearest_dimension(self.cx, self.def, self.options, call)?;
                let from = from.filter(|_| dimensions(value.ty()).is_some());
                self.turned.set(self.turned.get() || from.is_some());
                Ok(from)
            }
            None => Ok(None),
        }
    }

    /// The same of an array that is there already, in this order or another.
    fn order_of(&self, array: &Expr) -> Result<Option<usize>, TypeError> {
        if dimensions(array.ty()).is_none_or(|n| n < 2) || !rearranges(array) {
            return Ok(None);
        }
        let copy = copied(&Build::new(self.cx), array.clone())?;
        let Some(call) = copy.as_call() else { return Ok(None) };
        nearest_dimension(self.cx, self.def, self.options, call)
    }

    /// An array with one of its dimensions innermost, the others in their order.
    fn inward(&self, array: Expr, from: usize) -> Built {
        let last = dimensions(array.ty()).unwrap_or_default().saturating_sub(1);
        (from..last).try_fold(array, |array, depth| self.swapped(array, depth))
    }

    /// The reverse: the innermost dimension is that one again.
    fn outward(&self, array: Expr, to: usize) -> Built {
        let last = dimensions(array.ty()).unwrap_or_default().saturating_sub(1);
        (to..last).rev().try_fold(array, |array, depth| self.swapped(array, depth))
    }

    /// `map(… map(transpose))`: a dimension and the next one inside change places. Two such changes in a row are none.
    fn swapped(&self, array: Expr, depth: usize) -> Built {
        let b = Build::new(self.cx);
        match (depth, array.kind()) {
            // What is named stays outside.
            (_, Kind::Let { param, value, body }) => {
                let body = self.swapped(body.clone(), depth)?;
                self.cx.let_in(param.clone(), value.clone(), body)
            }
            (_, Kind::Call(call))
                if let (Some(before), [inner]) = (swap(call), call.args.as_slice())
                    && before == depth =>
            {
                Ok(inner.clone())
            }
            (0, _) => b.transpose(array),
            (_, _) => b.map(|row| self.swapped(row, depth - 1), array),
        }
    }
}

/// Whether a call applies a function again and again.
fn is_loop(call: &Call) -> bool {
    matches!(call.prim, Prim::Iterate | Prim::IterateIndex)
}

/// The dimension that a call has change places with the next one inside, where it does nothing else.
fn swap(call: &Call) -> Option<usize> {
    match (&call.prim, call.functions.as_slice()) {
        (Prim::Transpose, _) => Some(0),
        (Prim::Map(MapKind::Map), [f]) => {
            let inner = f.body.as_call()?;
            let is_whole = inner.args.first()?.as_var() == f.params.first();
            is_whole.then(|| swap(inner)).flatten().map(|depth| depth + 1)
        }
        _ => None,
    }
}

/// How many dimensions an array of numbers, or of tuples of them, has.
fn dimensions(ty: &Type) -> Option<usize> {
    match ty {
        Type::Array(element, _) => Some(dimensions(element)? + 1),
        other => other.is_register().then_some(0),
    }
}

/// Whether an expression is an array in another order, and computes nothing.
fn rearranges(expr: &Expr) -> bool {
    match expr.kind() {
        Kind::Var(_) => true,
        Kind::Literal(_) | Kind::Size(..) | Kind::Let { .. } => false,
        Kind::Call(call) => {
            let map = matches!(call.prim, Prim::Map(MapKind::Map));
            let moves = call.prim.is_layout() && !matches!(call.prim, Prim::Generate | Prim::At);
            (map || moves)
                && call.functions.iter().all(|f| rearranges(&f.body))
                && call.args.iter().all(rearranges)
        }
    }
}
