//! Numbers that take a loop, computed once for all applications of a function that they do not depend on.
//!
//! `map(\x -> E[s], xs) = let t = s; map(\x -> E[t], xs)`
//!
//! A number with or without a name moves out of every function that it does not depend on, and so do the arrays that are named
//! on the way to it. What is not evaluated cannot fail: out of a branch moves only what cannot fail anywhere. Folds of few
//! elements stay: a number that is stored and read costs as much.

use std::collections::BTreeMap;

use lift_ir::{
    BinaryOp, Call, Context, Expr, Family, Kind, Lambda, Literal, Nat, Param, Prim, TypeError,
};

use super::chooses;

/// Steps of a loop from which on its result is worth a name.
const STEPS: i128 = 8;

/// An expression with numbers that take loops in front of the functions that they do not depend on.
pub(super) fn named(cx: &Context, expr: &Expr) -> Result<Expr, TypeError> {
    Namer { cx, levels: BTreeMap::new(), open: Vec::new(), branch: 0, wall: 0 }.expr(expr)
}

struct Namer<'a> {
    cx: &'a Context,
    /// How many functions are around the place where each variable is bound; those that are not here are the program's.
    levels: BTreeMap<u32, usize>,
    /// What is to stand in front of each call whose function is around the current place, outermost first.
    open: Vec<Vec<(Param, Expr)>>,
    /// How many functions are around the innermost branch: so many of them what may fail does not leave.
    branch: usize,
    /// How many functions are around the innermost length that a function binds: types mention it.
    wall: usize,
}

impl Namer<'_> {
    fn expr(&mut self, expr: &Expr) -> Result<Expr, TypeError> {
        if expr.ty().is_register() && self.level(expr) < self.open.len() {
            // Where there is no loop in it, there is none in its parts.
            if !expr.has(is_loop) {
                return Ok(expr.clone());
            }
            if let Some(level) = self.outside(expr) {
                let param = self.cx.fresh("tmp", expr.ty().clone());
                let param = self.moved(&param, expr, level)?;
                return Ok(self.cx.var(&param));
            }
        }
        let made = match expr.kind() {
            Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => return Ok(expr.clone()),
            Kind::Let { param, value, body } => {
                // Folds behind a name may need it.
                let level = self.outside(value).filter(|_| value.has(is_loop) || body.has(is_loop));
                if let Some(level) = level {
                    let known = self.moved(param, value, level)?;
                    let body = match known == *param {
                        true => body.clone(),
                        false => self.cx.substitute(body, &[(param.clone(), self.cx.var(&known))]),
                    };
                    return self.expr(&body);
                }
                let own = self.expr(value)?;
                self.levels.insert(param.id(), self.open.len());
                let rest = self.expr(body)?;
                if own.same_node(value) && rest.same_node(body) {
                    return Ok(expr.clone());
                }
                self.cx.let_in(param.clone(), own, rest)?
            }
            Kind::Call(call) => self.call(expr, call)?,
        };
        Ok(match expr.span() {
            Some(span) => made.with_span(span),
            None => made,
        })
    }

    fn call(&mut self, expr: &Expr, call: &Call) -> Result<Expr, TypeError> {
        let mut args = Vec::with_capacity(call.args.len());
        for (index, arg) in call.args.iter().enumerate() {
            let around = self.branch;
            if index > 0 && chooses(&call.prim) {
                self.branch = self.open.len();
            }
            args.push(self.expr(arg)?);
            self.branch = around;
        }
        let is_again = applies_again(call);
        if is_again {
            self.open.push(Vec::new());
        }
        let mut functions = Vec::with_capacity(call.functions.len());
        for f in &call.functions {
            functions.push(self.function(f)?);
        }
        let in_front = match is_again {
            true => self.open.pop().unwrap_or_default(),
            false => Vec::new(),
        };
        let same = functions.iter().zip(&call.functions).all(|(a, b)| a.body.same_node(&b.body))
            && args.iter().zip(&call.args).all(|(a, b)| a.same_node(b));
        let result = match same {
            true => expr.clone(),
            false => self.cx.call(call.prim.clone(), call.sizes.clone(), functions, args)?,
        };
        let around = |body, (param, value)| self.cx.let_in(param, value, body);
        in_front.into_iter().rev().try_fold(result, around)
    }

    fn function(&mut self, f: &Lambda) -> Result<Lambda, TypeError> {
        let wall = self.wall;
        if f.size.is_some() {
            self.wall = self.open.len();
        }
        for param in &f.params {
            self.levels.insert(param.id(), self.open.len());
        }
        let body = self.expr(&f.body);
        self.wall = wall;
        Ok(Lambda { body: body?, ..f.clone() })
    }

    /// The name of a value in front of a function around, with so many functions around that.
    fn moved(&mut self, param: &Param, value: &Expr, level: usize) -> Result<Param, TypeError> {
        let inner = self.open.split_off(level);
        let value = self.expr(value);
        self.open.extend(inner);
        let value = value?;
        let Some(own) = self.open.get_mut(level) else {
            panic!("a value moves in front of a function that is around it")
        };
        if let Some((known, _)) = own.iter().find(|(_, known)| known.alpha_eq(&value)) {
            return Ok(known.clone());
        }
        own.push((param.clone(), value));
        self.levels.insert(param.id(), level);
        Ok(param.clone())
    }

    /// How many functions are around the outermost place where a value may stand; nothing where that is here.
    fn outside(&self, value: &Expr) -> Option<usize> {
        let level = self.level(value).max(self.wall);
        let level = if level < self.branch && !is_total(value) { self.branch } else { level };
        (level < self.open.len()).then_some(level)
    }

    /// How many functions bind what an expression is made from.
    fn level(&self, expr: &Expr) -> usize {
        let levels = expr.free_variables().iter().filter_map(|id| self.levels.get(id));
        levels.copied().max().unwrap_or(0)
    }
}

/// Whether a call may apply its functions more than once. The map of a single element, such as a loop's step computes, has its
/// number where it is.
fn applies_again(call: &Call) -> bool {
    let points = match call.prim {
        Prim::To(_) | Prim::Vectorize => return false,
        Prim::Map(_) => call.args.first().and_then(|xs| xs.ty().as_array()).map(|(_, n)| n),
        Prim::Generate => call.sizes.first(),
        _ => None,
    };
    !call.functions.is_empty() && points.and_then(Nat::as_int) != Some(1)
}

/// Whether an expression takes steps one after the other, and not very few of them.
pub(super) fn is_loop(expr: &Expr) -> bool {
    let Some(call) = expr.as_call() else { return false };
    let steps = match call.prim.family() {
        Family::Fold(_) => call.args.last().and_then(|xs| xs.ty().as_array()).map(|(_, n)| n),
        Family::Iteration => call.sizes.first(),
        Family::Map | Family::Layout | Family::Storage | Family::Scalar => return false,
    };
    steps.is_none_or(|n| n.as_int().is_none_or(|n| n >= STEPS))
}

/// Whether an expression has a value wherever it is evaluated.
pub(crate) fn is_total(expr: &Expr) -> bool {
    let call = match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => return true,
        Kind::Let { value, body, .. } => return is_total(value) && is_total(body),
        Kind::Call(call) => call,
    };
    let own = match &call.prim {
        Prim::Binary(BinaryOp::Div | BinaryOp::Rem) => {
            expr.ty().element_scalar().is_some_and(|scalar| scalar.is_float())
        }
        Prim::At => is_inside(call),
        Prim::ReduceByIndex(_)
        | Prim::ReduceRange(_)
        | Prim::IterateUntil
        | Prim::Update
        | Prim::Rank(_)
        | Prim::Point(_)
        | Prim::Extern(_) => false,
        Prim::Map(_)
        | Prim::Reduce(_)
        | Prim::Scan(_)
        | Prim::MapSeqSlide
        | Prim::PartialReduce
        | Prim::Zip
        | Prim::Unzip
        | Prim::Split
        | Prim::Join
        | Prim::Transpose
        | Prim::Gather(_)
        | Prim::Scatter(_)
        | Prim::Slide
        | Prim::Pad(_)
        | Prim::PadValue
        | Prim::Take
        | Prim::Drop
        | Prim::Concat
        | Prim::Head
        | Prim::Generate
        | Prim::Repeat
        | Prim::Iterate
        | Prim::IterateIndex
        | Prim::Id
        | Prim::AsVector
        | Prim::AsScalar
        | Prim::Vectorize
        | Prim::To(_)
        | Prim::Tuple
        | Prim::Field(_)
        | Prim::Array
        | Prim::Vector
        | Prim::Splat
        | Prim::Lane
        | Prim::If
        | Prim::Cast(_)
        | Prim::Unary(_)
        | Prim::Binary(_)
        | Prim::Math(_) => true,
    };
    own && call.children().all(is_total)
}

/// Whether an index that is a number is in range.
fn is_inside(call: &Call) -> bool {
    let [index, array] = call.args.as_slice() else { return false };
    let length = array.ty().as_array().and_then(|(_, n)| n.as_int());
    match (index.kind(), length) {
        (Kind::Literal(Literal::Int(_, index)), Some(n)) => (0..n).contains(index),
        _ => false,
    }
}
