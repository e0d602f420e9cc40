//! Folds of what the work-items of a group hold, warp by warp.
//!
//! Before: `reduce(z, f, mapLcl(0)(g, xs))` in a group, on a device whose work-items of a warp give each other numbers.
//! After: `acc = g(x)`; five times `acc = f(acc, shuffle(bit: acc))`, after which each work-item has the fold of its warp; the
//! first of each warp stores that in local memory, and all work-items fold what is there.
//!
//! `reduce(z, f, xs) = reduce(z, f, map(reduce(z, f), split(32, xs)))`, in any order.

use lift_ir::{Call, LaunchClause, MapKind, Nat, Pred, Prim, Scalar, Space, Type};
use lift_kernel::{Expr, LoopKind, Stmt};

use super::assign::function;
use super::emitter::Emitter;
use super::folds::Fold;
use super::view::{View, Writer};
use super::{Env, Translator};
use crate::{LowerError, Options, Target};

/// Work-items of a warp, of the devices that have shuffles.
const WARP: i128 = 32;

/// What work-items whose numbers differ in one bit give each other, one after the other.
const BITS: [u32; 5] = [16, 8, 4, 2, 1];

/// Whether so many work-items of a group fold values of a type by shuffles: warps are whole, however many work-items a group has.
pub(crate) fn are_used(
    options: &Options,
    launches: &[lift_ir::Launch],
    ty: &Type,
    width: i128,
) -> bool {
    let is_whole = |n: Option<i128>| n.is_some_and(|n| n > 0 && n % WARP == 0);
    let by_user = options.local.as_ref().and_then(|counts| counts.first());
    let by_program = launches.iter().filter_map(|said| said.get(LaunchClause::Local).first());
    options.shuffles
        && options.target == Target::Threads
        && i128::from(options.warp) == WARP
        && is_whole(Some(width))
        && by_user.is_none_or(|n| is_whole(Some(i128::from(*n))))
        && by_program.into_iter().all(|n| is_whole(n.as_int()))
        && is_in_words(ty)
}

/// Whether shuffles take all numbers of a value.
fn is_in_words(ty: &Type) -> bool {
    match ty {
        Type::Scalar(scalar) => *scalar != Scalar::Bool && matches!(scalar.bytes(), 4 | 8),
        Type::Tuple(items) => items.iter().all(is_in_words),
        Type::Vector(..) | Type::Array(..) => false,
    }
}

impl Translator {
    /// Folds what the work-items of a group make, where warps do it; says whether they do.
    pub(super) fn fold_in_warps(
        &mut self,
        call: &Call,
        env: &Env,
        out: &Writer,
    ) -> Result<bool, LowerError> {
        let ([z, xs], Some(f)) = (call.args.as_slice(), call.functions.first()) else {
            return Ok(false);
        };
        let made = xs.as_call().filter(|made| made.prim == Prim::Map(MapKind::Lcl(0)));
        let width = xs.ty().as_array().and_then(|(_, n)| n.as_int());
        let (Some(made), Some(width)) = (made, width) else { return Ok(false) };
        let by_group = self.out.in_kernel() && !self.out.in_item() && !self.out.in_warp();
        if !by_group || !are_used(&self.out.options, &self.out.launches, z.ty(), width) {
            return Ok(false);
        }
        let g = function(made)?.clone();
        let items = self.argument(made, 0, env)?.into_array()?;
        let folded = Type::array(z.ty().clone(), Nat::int(width / WARP));
        let name = self.naming.clone();
        let storage = self.out.allocate(&name, &folded, Space::Local, 0)?;
        let (shares, places) = (storage.view().into_array()?, storage.writer());
        let fold = Fold { z, f, xs: &shares, env };
        self.map_loop(MapKind::Lcl(0), &Nat::int(width), |t, item| {
            let x = items.read(t, item)?;
            let inner = t.enter(&g, vec![x], env);
            let name = f.params.first().map_or("acc", |p| p.name());
            let (own, writer) = t.out.registers(name, z.ty())?;
            t.assign(&g.body, &inner, &writer)?;
            for bit in BITS {
                let other = t.out.shuffled(bit, &own);
                fold.step(t, &own, other, &writer)?;
            }
            let warp = Nat::int(WARP);
            let is_first = Pred::Eq(item.rem(&warp), Nat::ZERO);
            t.store(own, &places.at(&item.div(&warp))?.guarded(&is_first))
        })?;
        self.out.comment(&call.prim);
        self.fold_registers(LoopKind::Unroll, false, &fold, out)?;
        Ok(true)
    }
}

impl Emitter {
    /// What another work-item of the warp has in the same variables.
    fn shuffled(&mut self, bit: u32, view: &View) -> View {
        match view {
            View::Value(value) => {
                let var = self.fresh_variable("other", value.ty());
                let shuffle = Expr::Shuffle(bit, Box::new(value.clone()));
                self.emit(Stmt::Declare { var: var.clone(), value: Some(shuffle) });
                View::Value(Expr::Var(var))
            }
            View::Tuple(items) => {
                View::Tuple(items.iter().map(|item| self.shuffled(bit, item)).collect())
            }
            View::Array(_) => view.clone(),
        }
    }
}
