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

/// Elements of a row that is worth a work-item.
const SHORTEST: i128 = 3;

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

/// The function of a map whose rows are so short that a work-item does one as a whole, with arrays that it names written out; nothing
/// where it does not fold its row and make another of that. Cut into kernels, rows are read from memory for each of them.
pub(crate) fn short(
    cx: &Context,
    options: &Options,
    call: &Call,
) -> Result<Option<Lambda>, TypeError> {
    let (Target::Threads, Some(f)) = (options.target, call.functions.first()) else {
        return Ok(None);
    };
    let Some(body) = written_out(cx, &f.body)? else { return Ok(None) };
    let is_short = |xs: Option<&Expr>| length_of(xs).is_some_and(|n| (SHORTEST..LONG).contains(&n));
    let is_row = folded_row(&body).is_some_and(|(folds, made)| {
        let are_short = folds.iter().all(|fold| is_short(fold.args.get(1)));
        !folds.is_empty() && are_short && are_plain(&folds) && is_short(made.args.first())
    });
    if !is_row {
        return Ok(None);
    }
    let ways = ["a work-item a row", "rows in steps"].map(String::from);
    let is_whole = options.choices.take("share", ways.into()) == 0;
    Ok(is_whole.then(|| Lambda { body, ..f.clone() }))
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
    folded_row(expr).is_some_and(|(folds, made)| are_long(&folds) && is_long(made))
}

/// The folds of numbers, and the map behind them that is a row made from these.
fn folded_row(expr: &Expr) -> Option<(Vec<&Call>, &Call)> {
    let (mut folds, mut rest) = (Vec::new(), expr);
    while let Kind::Let { value, body, .. } = rest.kind() {
        if !value.ty().is_register() || !groups::add_folds(value, &mut folds) {
            return None;
        }
        rest = body;
    }
    Some((folds, plain_map(rest)?))
}

/// Whether there is a long fold among some, and their elements take no loop.
fn are_long(folds: &[&Call]) -> bool {
    are_plain(folds) && folds.iter().any(|fold| groups::is_long(fold))
}

fn are_plain(folds: &[&Call]) -> bool {
    folds.iter().all(|fold| fold.args.iter().all(|arg| !share::takes_a_loop(arg)))
}

/// The map that is a long row of numbers.
fn elements(expr: &Expr) -> Option<&Call> {
    plain_map(expr).filter(|call| is_long(call))
}

/// The map that is a row of numbers, of which none takes a loop.
fn plain_map(expr: &Expr) -> Option<&Call> {
    let call = expr.as_call().filter(|call| call.prim == Prim::Map(MapKind::Map))?;
    let (f, xs) = (call.functions.first()?, call.args.first()?);
    let is_plain = f.body.ty().is_register() && !share::takes_a_loop(&f.body);
    (is_plain && !share::takes_a_loop(xs) && !is_layout_only(call)).then_some(call)
}

fn is_long(map: &Call) -> bool {
    length_of(map.args.first()).is_none_or(|n| n >= LONG)
}

/// The elements of an array, where they are a number.
fn length_of(xs: Option<&Expr>) -> Option<i128> {
    xs?.ty().as_array()?.1.as_int()
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
