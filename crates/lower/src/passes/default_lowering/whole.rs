//! Folds of whole arrays, by all of the device.
//!
//! Before: `E[reduce(z, f, xs)]` outside of all maps, a number.
//! After: two kernels. In the first, each of w work-items folds every w-th element, and groups the results of their
//! work-items; in the second, one group folds those of the groups, and computes E. A short array needs the second only.
//!
//! `reduce(z, f, xs) = reduce(z, f, map(reduce(z, f), transpose(split(w, xs))))`, with `xs` padded with z.

use lift_ir::{Build, Built, Call, Expr, Lambda, MapKind, Nat, Param, TypeError};

use super::groups::{self, Folded, WIDEST};
use super::{Decider, Level, is_grid_wide};
use crate::passes::share;
use crate::replace::replaced;

/// Groups of the first kernel, at most, and elements a work-item has at least where one is quickly computed.
const GROUPS: i128 = 1024;
const SHARE: i128 = 16;

/// Elements that one group folds as fast as many.
const FOR_ONE_GROUP: i128 = 8192;

impl Decider<'_> {
    /// A number that needs long folds of whole arrays; nothing where it does not, or not always.
    pub(super) fn number(&self, expr: &Expr) -> Result<Option<Expr>, TypeError> {
        let b = Build::new(self.cx);
        let mut long = groups::folds(expr).unwrap_or_default();
        long.retain(|fold| groups::is_long(fold));
        let needs_more = |fold: &&Call| folds_again(fold) || !is_closed(fold, expr);
        if long.is_empty() || long.iter().any(needs_more) {
            return Ok(None);
        }
        let mut lets: Vec<(Param, Expr)> = Vec::new();
        let mut folds = Vec::new();
        for fold in long {
            let ([z, xs], Some(f)) = (fold.args.as_slice(), fold.functions.first()) else {
                return Ok(None);
            };
            let is_cheap = !share::takes_a_loop(xs);
            if is_short(xs) && is_cheap {
                continue;
            }
            let read = self.expr(xs, Level::Fused)?;
            let partial = if is_short(xs) && is_grid_wide(&read) {
                read
            } else {
                let z = self.expr(z, Level::Inside)?;
                let f = Lambda { body: self.expr(&f.body, Level::Inside)?, ..f.clone() };
                let share = if is_cheap { SHARE } else { 1 };
                self.partial(&Folded { z: &z, f: &f }, read, share)?
            };
            let param = self.cx.fresh("partial", partial.ty().clone());
            let args = vec![z.clone(), self.cx.var(&param)];
            folds.push((
                fold,
                self.cx.call(fold.prim.clone(), vec![], fold.functions.clone(), args)?,
            ));
            lets.push((param, partial));
        }
        let rest = self.expr(&replaced(self.cx, expr, &folds)?, Level::Group)?;
        let once = b.generate(Nat::ONE, Ok)?;
        let made = b.head(b.map_as(MapKind::Wrg(0), |_| Ok(rest), once))?;
        let around = |body, (param, value)| self.cx.let_in(param, value, body);
        lets.into_iter().rev().try_fold(made, around).map(Some)
    }

    /// What groups fold their shares of an array to, whose work-items have so many elements at least.
    fn partial(&self, fold: &Folded, xs: Expr, share: i128) -> Built {
        let b = Build::new(self.cx);
        let length = xs.ty().as_array().and_then(|(_, n)| n.as_int());
        let any = self.options.groups_for_any();
        let wanted = length.map_or(any, |n| (n / (share * WIDEST)).clamp(1, GROUPS));
        let items = wanted * WIDEST;
        let rows = b.split(Nat::int(items), self.padded(fold.z, xs, items)?);
        let columns = b.split(Nat::int(WIDEST), b.transpose(rows));
        b.map_as(MapKind::Wrg(0), |columns| self.fold_columns(fold, columns, WIDEST), columns)
    }
}

fn is_short(xs: &Expr) -> bool {
    xs.ty().as_array().and_then(|(_, n)| n.as_int()).is_some_and(|n| n <= FOR_ONE_GROUP)
}

/// Whether a fold can be done before the expression that it is in: nothing it needs has its name in there.
fn is_closed(fold: &Call, around: &Expr) -> bool {
    let known = around.free_variables();
    let is_known =
        |id: u32, f: &Lambda| known.contains(&id) || f.params.iter().any(|p| p.id() == id);
    fold.args.iter().all(|arg| arg.free_variables().iter().all(|id| known.contains(id)))
        && fold.functions.iter().all(|f| f.body.free_variables().iter().all(|id| is_known(*id, f)))
}

/// Whether what is folded needs another fold first.
fn folds_again(fold: &Call) -> bool {
    fold.args.iter().any(|arg| {
        let mut inner = Vec::new();
        !groups::add_folds(arg, &mut inner) || !inner.is_empty()
    })
}
