//! Folds in branches are done before the choice.
//!
//! Before: `map(\x -> if c then a else E[reduce(z, f, ys)], xs)`
//! After: `map(\x -> let d = E[reduce(z, f, ys)]; if c then a else d, xs)`, so that all points of a grid do the same: they can share what they
//! fold by tiles, groups or vectors.
//!
//! Only what cannot fail is computed before it is chosen, and only where many points stand side by side: in several maps, or in one whose
//! points are threads. There it is a choice, as a row that nobody asks for is read. What `&&` and `||` evaluate last is in a branch, too.

use lift_ir::{
    BinaryOp, Built, Call, Context, Def, Expr, FoldKind, Kind, Lambda, MapKind, Prim, TypeError,
};

use super::share::is_total;
use crate::passes::default_lowering::is_grid_wide;
use crate::{LowerError, Options, Target};

/// Steps of a fold, at least; those of a window stay in their branch.
const STEPS: i128 = 32;

pub(crate) fn run(def: &Def, options: &Options) -> Result<Def, LowerError> {
    if is_grid_wide(&def.body) {
        return Ok(def.clone());
    }
    let cx = def.context();
    let are_threads = options.target == Target::Threads;
    let body = Eager { cx: &cx, are_threads }.expr(&def.body, 0)?;
    let ways =
        || vec!["folds before choices".into(), "folds in the branches that are taken".into()];
    if body.same_node(&def.body) || options.choices.take("eager_folds", ways()) > 0 {
        return Ok(def.clone());
    }
    Ok(Def { body, next_number: cx.next_number(), ..def.clone() })
}

struct Eager<'a> {
    cx: &'a Context,
    /// Points of a map are threads.
    are_threads: bool,
}

impl Eager<'_> {
    /// An expression with so many maps around it.
    fn expr(&self, expr: &Expr, maps: usize) -> Built {
        let made = match expr.kind() {
            Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => return Ok(expr.clone()),
            Kind::Let { param, value, body } => {
                let (own, rest) = (self.expr(value, maps)?, self.expr(body, maps)?);
                if own.same_node(value) && rest.same_node(body) {
                    return Ok(expr.clone());
                }
                self.cx.let_in(param.clone(), own, rest)?
            }
            Kind::Call(call) => self.call(expr, call, maps)?,
        };
        Ok(made.placed_as(expr))
    }

    fn call(&self, expr: &Expr, call: &Call, maps: usize) -> Built {
        let is_map = matches!(call.prim, Prim::Map(MapKind::Map) | Prim::Generate);
        // A fold inside of a map goes through its elements one after the other: there is nobody beside them. But where points are
        // threads, what a long fold is made of is a grid of its own.
        let is_grid = self.are_threads && call.prim == Prim::Reduce(FoldKind::Any);
        if maps > 0 && !is_map && !is_grid && !call.prim.is_layout() && !chooses(&call.prim) {
            return Ok(expr.clone());
        }
        // What a loop of the host repeats stands side by side in each step.
        let is_loop = matches!(
            call.prim,
            Prim::Iterate | Prim::IterateIndex | Prim::IterateUntil | Prim::Reduce(FoldKind::Seq)
        );
        let function = |f: &Lambda| match is_map || is_loop {
            true => {
                let maps = maps + usize::from(is_map);
                Ok(Lambda { body: self.expr(&f.body, maps)?, ..f.clone() })
            }
            false => Ok(f.clone()),
        };
        let functions: Vec<Lambda> =
            call.functions.iter().map(function).collect::<Result<_, TypeError>>()?;
        let args: Vec<Expr> =
            call.args.iter().map(|arg| self.expr(arg, maps)).collect::<Result<_, TypeError>>()?;
        // Maps around a choice.
        let least = if self.are_threads { 1 } else { 2 };
        if chooses(&call.prim) && maps >= least {
            return self.chosen(expr, call, args);
        }
        let is_same = functions.iter().zip(&call.functions).all(|(a, b)| a.body.same_node(&b.body))
            && args.iter().zip(&call.args).all(|(a, b)| a.same_node(b));
        match is_same {
            true => Ok(expr.clone()),
            false => self.cx.call(call.prim.clone(), call.sizes.clone(), functions, args),
        }
    }

    /// `if c then a else b = let d = b; if c then a else d`
    fn chosen(&self, expr: &Expr, call: &Call, mut args: Vec<Expr>) -> Built {
        let mut before = Vec::new();
        for arg in args.iter_mut().skip(1) {
            if arg.ty().is_register() && arg.has(is_long) && is_total(arg) {
                let param = self.cx.fresh("all", arg.ty().clone());
                let value = std::mem::replace(arg, self.cx.var(&param));
                before.push((param, value));
            }
        }
        if before.is_empty() && args.iter().zip(&call.args).all(|(a, b)| a.same_node(b)) {
            return Ok(expr.clone());
        }
        let choice = self.cx.call(call.prim.clone(), vec![], vec![], args)?;
        before
            .into_iter()
            .rev()
            .try_fold(choice, |rest, (param, value)| self.cx.let_in(param, value, rest))
    }
}

/// Whether all arguments but the first are evaluated only where that one says so.
fn chooses(prim: &Prim) -> bool {
    matches!(prim, Prim::If | Prim::Binary(BinaryOp::And | BinaryOp::Or))
}

fn is_long(expr: &Expr) -> bool {
    let fold = expr.as_call().filter(|call| call.prim == Prim::Reduce(FoldKind::Any));
    let length = fold.and_then(|call| call.args.get(1)?.ty().as_array().map(|(_, n)| n));
    length.is_some_and(|n| n.as_int().is_none_or(|n| n >= STEPS))
}
