//! A maximum and a sum of powers relative to it as one fold, and a sum and squares around a mean ([`means`]).
//!
//! Before: `let m = reduce(-inf, max, map(s, xs)); e(reduce(0.0, (+), map(\x -> exp(s(x) - m) * g(x), xs)))`.
//! After: `let both = reduce((-inf, 0.0), step, map(\x -> (s(x), g(x)), xs)); let m = both.0; e(both.1)`, where `step` corrects the sum
//! when a larger maximum comes. The array is read once, and more powers are taken: whether that is faster is predicted. Where a
//! group keeps a row in its registers it is not; of columns nobody keeps one. A processor has the row in its cache, and does not ask.
//!
//! The law is `online_maximum` of the rules.

use std::cell::Cell;

use lift_ir::{
    BinaryOp, Build, Built, Call, Context, Def, Expr, FoldKind, Kind, Lambda, Literal, MapKind,
    Math, Param, Prim, Type, TypeError,
};

use crate::passes::default_lowering::is_grid_wide;
use crate::replace::{replaced, with_components, with_parts};
use crate::{LowerError, Options};

mod means;

pub(crate) fn run(def: &Def, options: &Options) -> Result<Def, LowerError> {
    if is_grid_wide(&def.body) {
        return Ok(def.clone());
    }
    let ways = ["a maximum, then a sum", "a maximum and a sum at once"];
    let maxima: AtOnce = |folds, m, value, body| folds.maximum_and_sum(m, value, body);
    let def = chosen(def, options, ways, maxima)?;
    let ways = ["a sum, then squares", "a sum and squares at once"];
    chosen(&def, options, ways, means::sum_and_squares)
}

/// What follows a fold with a name, where another in it is done at once with that.
type AtOnce = fn(&Folds, &Param, &Expr, &Expr) -> Result<Option<Expr>, TypeError>;

/// The program with folds done at once, where that is wanted.
fn chosen(
    def: &Def,
    options: &Options,
    ways: [&str; 2],
    at_once: AtOnce,
) -> Result<Def, LowerError> {
    let cx = def.context();
    let folds = Folds { cx: &cx, at_once, found: Cell::new(false) };
    let body = folds.expr(&def.body)?;
    if !folds.found.get() {
        return Ok(def.clone());
    }
    match options.choices.take("online_folds", ways.map(String::from).into()) {
        0 => Ok(def.clone()),
        _ => Ok(Def { body, next_number: cx.next_number(), ..def.clone() }),
    }
}

struct Folds<'a> {
    cx: &'a Context,
    at_once: AtOnce,
    found: Cell<bool>,
}

/// A name and what it stands for.
type Named = (Param, Expr);

/// The elements of an array, as an expression of those of another.
struct Elements {
    of: Expr,
    param: Param,
    element: Expr,
}

impl Folds<'_> {
    fn expr(&self, expr: &Expr) -> Built {
        let made = match expr.kind() {
            Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => return Ok(expr.clone()),
            Kind::Let { param, value, body } => match (self.at_once)(self, param, value, body)? {
                Some(made) => {
                    self.found.set(true);
                    made
                }
                None => self.cx.let_in(param.clone(), self.expr(value)?, self.expr(body)?)?,
            },
            Kind::Call(call) => with_parts(self.cx, expr, call, &|part| self.expr(part))?,
        };
        Ok(made.placed_as(expr))
    }

    /// What follows a maximum, where it has a sum of powers.
    fn maximum_and_sum(
        &self,
        m: &Param,
        value: &Expr,
        body: &Expr,
    ) -> Result<Option<Expr>, TypeError> {
        let Type::Scalar(scalar) = *m.ty() else { return Ok(None) };
        let Some(maximum) = fold_of(value, is_maximum, f64::NEG_INFINITY) else { return Ok(None) };
        let Some(own) = self.elements(maximum, &[]) else { return Ok(None) };
        let mut sums = Vec::new();
        each_sum(body, &mut Vec::new(), &mut |sum, xs, names| {
            let powers = self.elements(xs, names);
            let factor = powers.and_then(|powers| self.factor(m, &own, &powers));
            // What it is multiplied by has to be there before the maximum.
            let is_known = |e: &Expr| !names.iter().any(|(param, _)| e.mentions(param));
            sums.extend(factor.filter(is_known).map(|factor| (sum, factor)));
        });
        let [(sum, factor)] = sums.as_slice() else { return Ok(None) };
        let b = Build::new(self.cx);
        let number = |n: f64| Literal::float(scalar, n).map(|n| self.cx.literal(n));
        let (Some(least), Some(zero)) = (number(f64::NEG_INFINITY), number(0.0)) else {
            return Ok(None);
        };
        let pair = b.tuple([own.element.clone(), factor.clone()])?;
        let each = Lambda { size: None, params: vec![own.param.clone()], body: pair };
        let pairs =
            self.cx.call(Prim::Map(MapKind::Map), vec![], vec![each], vec![own.of.clone()])?;
        let step = |p: Expr, q: Expr| {
            let most = b.math(Math::Max, [b.field(&p, 0)?, b.field(&q, 0)?]);
            b.let_in("m", most, |most| {
                // A part without elements adds nothing: the power of -inf - -inf is not asked for.
                let part = |p: &Expr| {
                    let power = b.math(Math::Exp, [b.sub(b.field(p, 0), &most)?]);
                    let is_empty = b.eq(b.field(p, 0), &least)?;
                    b.if_then(is_empty, &zero, b.mul(b.field(p, 1), power))
                };
                b.tuple([most.clone(), b.add(part(&p)?, part(&q)?)?])
            })
        };
        let none = b.tuple([least.clone(), zero.clone()])?;
        let both = b.let_in("both", b.reduce(none, step, pairs), |both| {
            let body = replaced(self.cx, body, &[(*sum, b.field(&both, 1)?)])?;
            self.cx.let_in(m.clone(), b.field(&both, 0)?, self.expr(&body)?)
        })?;
        Ok(Some(both))
    }

    /// The elements of an array that maps make, by the names around it.
    fn elements(&self, array: &Expr, names: &[Named]) -> Option<Elements> {
        if let Some(name) = array.as_var()
            && let Some((_, value)) = names.iter().find(|(param, _)| param == name)
        {
            return self.elements(value, names);
        }
        if let Some(call) = array.as_call()
            && call.prim == Prim::Map(MapKind::Map)
            && let ([f], [xs]) = (call.functions.as_slice(), call.args.as_slice())
            && let [param] = f.params.as_slice()
        {
            let inner = self.elements(xs, names)?;
            let element = match inner.element.as_call() {
                Some(tuple) if tuple.prim == Prim::Tuple => {
                    with_components(self.cx, &f.body, param, &tuple.args).ok()?
                }
                _ => self.cx.substitute(&f.body, &[(param.clone(), inner.element)]),
            };
            return Some(Elements { element, ..inner });
        }
        if let Some(call) = array.as_call()
            && call.prim == Prim::Zip
            && let [first, rest @ ..] = call.args.as_slice()
            && rest.iter().all(|other| other.alpha_eq(first))
        {
            let inner = self.elements(first, names)?;
            let copies = call.args.iter().map(|_| inner.element.clone());
            let element = Build::new(self.cx).tuple(copies).ok()?;
            return Some(Elements { element, ..inner });
        }
        let (element, _) = array.ty().as_array()?;
        let param = self.cx.fresh("x", element.clone());
        Some(Elements { of: array.clone(), element: self.cx.var(&param), param })
    }

    /// What powers relative to a maximum of these elements are multiplied by.
    fn factor(&self, m: &Param, own: &Elements, powers: &Elements) -> Option<Expr> {
        if !powers.of.alpha_eq(&own.of) {
            return None;
        }
        let same = (powers.param.clone(), self.cx.var(&own.param));
        let element = self.cx.substitute(&powers.element, &[same]);
        let is_power = |e: &Expr| {
            let Some(Call { prim: Prim::Math(Math::Exp), args, .. }) = e.as_call() else {
                return false;
            };
            let Some((value, top)) = args.first().and_then(|e| operands(e, BinaryOp::Sub)) else {
                return false;
            };
            top.as_var() == Some(m) && value.alpha_eq(&own.element)
        };
        if is_power(&element) {
            let Type::Scalar(scalar) = *m.ty() else { return None };
            return Literal::float(scalar, 1.0).map(|one| self.cx.literal(one));
        }
        let (a, b) = operands(&element, BinaryOp::Mul)?;
        let factor = match (is_power(a), is_power(b)) {
            (true, _) => b,
            (_, true) => a,
            _ => return None,
        };
        (!factor.mentions(m)).then(|| factor.clone())
    }
}

/// Calls `visit` on every sum outside of functions, with the array whose elements it adds and the names around it.
fn each_sum<'e>(
    expr: &'e Expr,
    names: &mut Vec<Named>,
    visit: &mut dyn FnMut(&'e Call, &Expr, &[Named]),
) {
    match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => {}
        Kind::Let { param, value, body } => {
            each_sum(value, names, visit);
            names.push((param.clone(), value.clone()));
            each_sum(body, names, visit);
            names.pop();
        }
        Kind::Call(call) => {
            if let Some(xs) = fold_of(expr, is_addition, 0.0) {
                visit(call, xs, names);
            }
            call.args.iter().for_each(|arg| each_sum(arg, names, visit));
        }
    }
}

/// The array that an operator folds, from a number.
fn fold_of(expr: &Expr, is_wanted: fn(&Prim) -> bool, from: f64) -> Option<&Expr> {
    let call = expr.as_call().filter(|call| call.prim == Prim::Reduce(FoldKind::Any))?;
    let ([z, xs], [f]) = (call.args.as_slice(), call.functions.as_slice()) else { return None };
    let (Kind::Literal(z), [p, q]) = (z.kind(), f.params.as_slice()) else { return None };
    let body = f.body.as_call().filter(|call| is_wanted(&call.prim))?;
    let both = |a: &Param, b: &Param| matches!(body.args.as_slice(), [x, y] if x.as_var() == Some(a) && y.as_var() == Some(b));
    (z.as_f64() == Some(from) && (both(p, q) || both(q, p))).then_some(xs)
}

fn is_maximum(prim: &Prim) -> bool {
    *prim == Prim::Math(Math::Max)
}

fn is_addition(prim: &Prim) -> bool {
    *prim == Prim::Binary(BinaryOp::Add)
}

fn operands(expr: &Expr, op: BinaryOp) -> Option<(&Expr, &Expr)> {
    let call = expr.as_call().filter(|call| call.prim == Prim::Binary(op))?;
    match call.args.as_slice() {
        [a, b] => Some((a, b)),
        _ => None,
    }
}
