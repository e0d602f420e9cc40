//! A group of work-items a row.
//!
//! Before: `map(\row -> let s = E[reduce(z, f, ys)]; …; map(g, row), rows)`, where rows lie side by side: a soft maximum, a
//! normalisation.
//! After: `mapWrg(0)(\row -> let s = E[fold by the group]; …; mapLcl(0)(g, row), rows)`. A row is read from memory once and from
//! the cache again, and what was folded stays in the group.
//!
//! Arrays that are named on the way and computed without a loop are computed again where they are read. A map that is not of
//! this form, or whose rows do not lie so, or are few and long, is cut into kernels (`share`).

use lift_ir::{
    Build, Built, Call, Context, Def, Expr, Kind, Lambda, MapKind, Nat, Prim, Scalar, Type,
    TypeError,
};

use super::strides::{Folds, Order};
use super::{Decider, LONG, Level, groups, is_layout_only};
use crate::passes::share;
use crate::{Options, Target};

/// Rows of more elements than this are read from memory again; then there must be so many that groups fill the device.
const LONGEST: i128 = 1 << 15;
const MANY: i128 = 1 << 8;

/// Numbers in a row that a work-item takes at once.
const BESIDE: i128 = 4;

/// The function of a map whose rows groups do, one each, with arrays that it names written out; nothing where they
/// should not.
pub(crate) fn function(
    cx: &Context,
    def: &Def,
    options: &Options,
    call: &Call,
) -> Result<Option<Lambda>, TypeError> {
    let (Target::Threads, Some(f)) = (options.target, call.functions.first()) else {
        return Ok(None);
    };
    let Some(f) = of_row(cx, f)? else { return Ok(None) };
    let fits = folds(cx, def, options, call, &f)?.is_some_and(|folds| {
        let is_long = folds.steps.is_some_and(|n| n > LONGEST);
        let are_many = folds.points.is_none_or(|n| n >= MANY);
        folds.order == Order::Rows && (are_many || !is_long)
    });
    Ok(fits.then_some(f))
}

/// Whether the rows that a map is over are columns in memory, neighbours side by side. A thread that goes through one after the
/// other fetches a line for each number; what is folded of all of them is folded line by line, and so are rows made from it.
pub(crate) fn are_columns(
    cx: &Context,
    def: &Def,
    options: &Options,
    call: &Call,
) -> Result<bool, TypeError> {
    let Some(f) = call.functions.first() else { return Ok(false) };
    let Some(f) = of_row(cx, f)? else { return Ok(false) };
    let folds = folds(cx, def, options, call, &f)?;
    Ok(folds.is_some_and(|folds| folds.order == Order::Columns && folds.are_beside))
}

/// Whether a map folds columns, neighbours side by side, to a number each.
pub(crate) fn fold_columns(
    cx: &Context,
    def: &Def,
    options: &Options,
    call: &Call,
) -> Result<bool, TypeError> {
    let Some(f) = call.functions.first().filter(|f| f.body.ty().is_register()) else {
        return Ok(false);
    };
    let folds = folds(cx, def, options, call, f)?;
    Ok(folds.is_some_and(|folds| folds.order == Order::Columns && folds.are_beside))
}

/// A function that folds its row and makes another from that, with arrays that it names written out.
fn of_row(cx: &Context, f: &Lambda) -> Result<Option<Lambda>, TypeError> {
    let body = written_out(cx, &f.body)?.filter(is_row);
    Ok(body.map(|body| Lambda { body, ..f.clone() }))
}

/// The folds of a map of this function, each by a work-item.
fn folds(
    cx: &Context,
    def: &Def,
    options: &Options,
    call: &Call,
    f: &Lambda,
) -> Result<Option<Folds>, TypeError> {
    let whole = Call { functions: vec![f.clone()], ..call.clone() };
    let plain =
        Decider { cx, target: options.target, def, options, is_plain: true, is_shared: true };
    let grid = plain.grid(&whole, 0, Level::Fused, true)?;
    Ok(Folds::of(&grid, def, cx.next_number(), options))
}

/// Whether a function of a row folds it, and makes numbers or another row from that, without a loop for each element.
pub(crate) fn works_on_rows(cx: &Context, body: &Expr) -> Result<bool, TypeError> {
    let Some(body) = written_out(cx, body)? else { return Ok(false) };
    let mut folds = Vec::new();
    let is_number = body.ty().is_register() && groups::add_folds(&body, &mut folds);
    Ok(is_row(&body) || is_number && are_long(&folds))
}

/// An expression without names for arrays; nothing where computing one takes a loop.
fn written_out(cx: &Context, expr: &Expr) -> Result<Option<Expr>, TypeError> {
    let Kind::Let { param, value, body } = expr.kind() else { return Ok(Some(expr.clone())) };
    if value.ty().is_register() {
        let Some(body) = written_out(cx, body)? else { return Ok(None) };
        return cx.let_in(param.clone(), value.clone(), body).map(Some);
    }
    match share::takes_a_loop(value) {
        true => Ok(None),
        false => written_out(cx, &cx.substitute(body, &[(param.clone(), value.clone())])),
    }
}

/// Whether an expression is numbers, long folds among them, and then a long array of numbers made from these.
pub(super) fn is_row(expr: &Expr) -> bool {
    let (mut folds, mut rest) = (Vec::new(), expr);
    while let Kind::Let { value, body, .. } = rest.kind() {
        if !value.ty().is_register() || !groups::add_folds(value, &mut folds) {
            return false;
        }
        rest = body;
    }
    are_long(&folds) && elements(rest).is_some()
}

/// Whether there is a long fold among some, and their elements take no loop.
fn are_long(folds: &[&Call]) -> bool {
    let is_plain = |fold: &&Call| fold.args.iter().all(|arg| !share::takes_a_loop(arg));
    folds.iter().all(is_plain) && folds.iter().any(|fold| groups::is_long(fold))
}

/// The map that is a row of numbers.
fn elements(expr: &Expr) -> Option<&Call> {
    let call = expr.as_call().filter(|call| call.prim == Prim::Map(MapKind::Map))?;
    let (f, xs) = (call.functions.first()?, call.args.first()?);
    let is_long = xs.ty().as_array()?.1.as_int().is_none_or(|n| n >= LONG);
    let is_plain = f.body.ty().is_register() && !share::takes_a_loop(&f.body);
    (is_long && is_plain && !share::takes_a_loop(xs) && !is_layout_only(call)).then_some(call)
}

impl Decider<'_> {
    /// A row by the work-items of a group.
    pub(super) fn row(&self, expr: &Expr) -> Built {
        match (expr.kind(), elements(expr)) {
            (Kind::Let { param, value, body }, _) => {
                let value = self.expr(value, Level::Group)?;
                self.cx.let_in(param.clone(), value, self.row(body)?)
            }
            (_, Some(call)) => self.elements(call),
            (_, None) => self.expr(expr, Level::Group),
        }
    }

    /// `map(g, xs)` by as many work-items as fold a row of this length. Each takes several elements side by side where
    /// these are words, and lengths are multiples.
    fn elements(&self, call: &Call) -> Built {
        let b = Build::new(self.cx);
        let (Some(f), Some(xs)) = (call.functions.first(), call.args.first()) else {
            return self.rebuild(call, call.prim.clone(), Level::Inside, Level::Inside);
        };
        let f = Lambda { body: self.expr(&f.body, Level::Inside)?, ..f.clone() };
        let xs = self.expr(xs, Level::Inside)?;
        let length = xs.ty().as_array().and_then(|(_, n)| n.as_int());
        let width = length.map_or(groups::WIDEST, groups::width_for);
        let map =
            |kind: MapKind, xs| self.cx.call(Prim::Map(kind), vec![], vec![f.clone()], vec![xs]);
        let is_word = matches!(f.body.ty(), Type::Scalar(s) if word(*s));
        if !is_word || length.is_none_or(|n| n % (width * BESIDE) != 0) {
            return map(MapKind::Lcl(0), xs);
        }
        let few = b.split(Nat::int(width), b.split(Nat::int(BESIDE), xs));
        let own = |mine| b.map_as(MapKind::Seq, |four| map(MapKind::SeqUnroll, four), mine);
        let made = b.map_as(MapKind::Lcl(0), own, b.transpose(few));
        b.join(b.join(b.transpose(made)))
    }
}

fn word(scalar: Scalar) -> bool {
    scalar.bytes() == 4
}
