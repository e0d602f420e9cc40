//! A group of work-items a fold.
//!
//! Before: `map(\r -> E[reduce(z, f, xs)], rs)`, where the elements of `xs` lie side by side.
//! After: `mapWrg(0)(\r -> E[fold], rs)`, in which the work-items of a group fold every 256th element each, and the
//! results are folded in two short steps:
//!
//! `reduce(z, f, xs) = reduce(z, f, map(reduce(z, f), transpose(split(w, xs))))`, with `xs` padded with z.
//!
//! Where the work-items of a warp give each other numbers, what they made stays a `reduce`, which warps do (`translate::shuffles`).
//!
//! Neighbouring work-items read neighbouring elements at the same time, which is one access of a whole line.

use lift_ir::{
    Build, Built, Call, Expr, Family, FoldKind, Kind, Lambda, MapKind, Nat, Pred, Prim, Space,
};

use super::{Decider, LONG, Level, inner_map};
use crate::passes::share;
use crate::passes::translate::shuffles;

/// Work-items of a group, for folds of at most so many elements.
const WIDTHS: [(i128, i128); 3] = [(1023, 32), (2047, 64), (4095, 128)];
pub(super) const WIDEST: i128 = 256;

/// Elements of a fold that are written out, so that all of them are loaded before the first is waited for.
pub(super) const WRITTEN_OUT: i128 = 64;

/// The same where there are more of them.
pub(super) const AT_ONCE: i128 = 16;

/// The results of a group's work-items are folded by about the square root of them, then by each.
fn shared_by(width: i128) -> i128 {
    if width > 64 { 16 } else { 8 }
}

/// Whether a fold is long enough for several work-items.
pub(super) fn is_long(call: &Call) -> bool {
    let length = call.args.get(1).and_then(|xs| xs.ty().as_array()).map(|(_, n)| n);
    let is_long = length.is_some_and(|n| n.as_int().is_none_or(|n| n >= LONG));
    is_long && call.args.first().is_some_and(|z| z.ty().is_register())
}

/// The folds of any order that a point does itself, outside of the functions that it maps. Nothing where a group could
/// not do the point: what is neither a number nor read where it is folded would be computed by each work-item.
pub(super) fn folds(point: &Expr) -> Option<Vec<&Call>> {
    let mut found = Vec::new();
    (point.ty().is_register() && add_folds(point, &mut found)).then_some(found)
}

pub(super) fn add_folds<'e>(expr: &'e Expr, found: &mut Vec<&'e Call>) -> bool {
    match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => true,
        Kind::Let { param, value, body } => {
            (value.ty().is_register() || share::is_read_once(param, value, body))
                && add_folds(value, found)
                && add_folds(body, found)
        }
        Kind::Call(call) => match &call.prim {
            Prim::Reduce(FoldKind::Any) => {
                found.push(call);
                call.args.iter().all(|arg| add_folds(arg, found))
            }
            prim if share::chooses(prim) => add_of_choice(call, found, add_folds),
            prim => match prim.family() {
                Family::Map => *prim == Prim::Map(MapKind::Map) && add_all(call, found),
                Family::Fold(_) | Family::Iteration | Family::Storage => false,
                Family::Layout | Family::Scalar => add_all(call, found),
            },
        },
    }
}

/// Adds the folds of a choice, none of which may lie in what is chosen: work-items wait for each other where all of them
/// come by.
pub(super) fn add_of_choice<'e>(
    call: &'e Call,
    found: &mut Vec<&'e Call>,
    add: fn(&'e Expr, &mut Vec<&'e Call>) -> bool,
) -> bool {
    let mut args = call.args.iter();
    let always = args.next().is_none_or(|arg| add(arg, found));
    let count = found.len();
    always && args.all(|arg| add(arg, found)) && found.len() == count
}

fn add_all<'e>(call: &'e Call, found: &mut Vec<&'e Call>) -> bool {
    call.args.iter().all(|arg| add_folds(arg, found))
}

impl Decider<'_> {
    /// A nest of maps over groups, each of which does the folds of a point together.
    pub(super) fn groups(&self, call: &Call, dimension: u8, level: Level) -> Built {
        let (Some(f), Some(xs)) = (call.functions.first(), call.args.first()) else {
            return self.rebuild(call, call.prim.clone(), Level::Inside, Level::Host);
        };
        let body = match inner_map(f).filter(|_| dimension > 0) {
            Some(inner) => self.groups(inner, dimension - 1, Level::Inside)?,
            None => self.row(&f.body)?,
        };
        let f = Lambda { body, ..f.clone() };
        let xs = self.expr(xs, level)?;
        self.cx.call(Prim::Map(MapKind::Wrg(dimension)), vec![], vec![f], vec![xs])
    }

    /// `reduce(z, f, xs)` by the work-items of a group.
    pub(super) fn fold_in_group(&self, call: &Call) -> Built {
        let (Some(f), [z, xs]) = (call.functions.first(), call.args.as_slice()) else {
            return self.rebuild(call, call.prim.clone(), Level::Inside, Level::Inside);
        };
        let z = self.expr(z, Level::Inside)?;
        let f = Lambda { body: self.expr(&f.body, Level::Inside)?, ..f.clone() };
        let xs = self.expr(xs, Level::Group)?;
        self.fold_array(&Folded { z: &z, f: &f }, xs)
    }

    /// The same of what runs in some way already.
    pub(super) fn fold_array(&self, fold: &Folded, xs: Expr) -> Built {
        let b = Build::new(self.cx);
        let length = xs.ty().as_array().and_then(|(_, n)| n.as_int());
        let width = length.map_or(WIDEST, width_for);
        let columns = b.transpose(b.split(Nat::int(width), self.padded(fold.z, xs, width)?))?;
        self.fold_columns(fold, columns, width)
    }

    /// Columns, as many as a group has work-items, folded by one each, and then their results.
    pub(super) fn fold_columns(&self, fold: &Folded, columns: Expr, width: i128) -> Built {
        let each = |column| self.in_order(fold, column);
        let partial = self.in_local(each, columns)?;
        self.fold_partial(fold, partial, width)
    }

    /// What the work-items of a group make each, folded.
    pub(super) fn fold_lanes(
        &self,
        fold: &Folded,
        lanes: Expr,
        width: i128,
        each: impl FnOnce(Expr) -> Built,
    ) -> Built {
        let partial = self.in_local(each, lanes)?;
        self.fold_partial(fold, partial, width)
    }

    fn fold_partial(&self, fold: &Folded, partial: Expr, width: i128) -> Built {
        let b = Build::new(self.cx);
        if shuffles::are_used(self.options, &self.def.launches, fold.z.ty(), width) {
            let args = vec![fold.z.clone(), partial];
            return self.cx.call(Prim::Reduce(FoldKind::Any), vec![], vec![fold.f.clone()], args);
        }
        let few = b.transpose(b.split(Nat::int(shared_by(width)), partial))?;
        let few = self.in_local(|column| self.in_order(fold, column), few)?;
        self.in_order(fold, few)
    }

    /// Whether the program has the work-items of a group make what is folded, and warps fold it.
    pub(super) fn is_for_warps(&self, call: &Call) -> bool {
        let [z, xs] = call.args.as_slice() else { return false };
        let is_made = |xs: &Call| xs.prim == Prim::Map(MapKind::Lcl(0));
        let width = xs.ty().as_array().and_then(|(_, n)| n.as_int());
        let fits = |width| shuffles::are_used(self.options, &self.def.launches, z.ty(), width);
        xs.as_call().is_some_and(is_made) && width.is_some_and(fits)
    }

    /// `mapLcl(0)(\c -> toLocal(each(c)), columns)`
    fn in_local(&self, each: impl FnOnce(Expr) -> Built, columns: Expr) -> Built {
        let b = Build::new(self.cx);
        let each = |column| b.to(Space::Local, Ok, each(column)?);
        b.map_as(MapKind::Lcl(0), each, columns)
    }

    /// A fold in order, written out if it is short, else some steps at a time.
    ///
    /// `reduce(z, f, xs) = reduce(z, \acc row -> reduce(acc, f, row), split(16, xs))`
    pub(super) fn in_order(&self, fold: &Folded, xs: Expr) -> Built {
        let b = Build::new(self.cx);
        let length = xs.ty().as_array().and_then(|(_, n)| n.as_int());
        let call = |kind: FoldKind, f: Lambda, args: Vec<Expr>| {
            self.cx.call(Prim::Reduce(kind), vec![], vec![f], args)
        };
        let all = |kind: FoldKind, z: &Expr, xs| call(kind, fold.f.clone(), vec![z.clone(), xs]);
        match length {
            Some(n) if n <= WRITTEN_OUT => all(FoldKind::SeqUnroll, fold.z, xs),
            Some(n) if n % AT_ONCE == 0 => {
                let rows = b.split(Nat::int(AT_ONCE), xs)?;
                let row = rows.ty().as_array().map_or(rows.ty(), |(row, _)| row).clone();
                let params = [("acc", fold.z.ty().clone()), ("row", row)];
                let step = b.lambda(params, |[acc, row]| all(FoldKind::SeqUnroll, &acc, row))?;
                call(FoldKind::Seq, step, vec![fold.z.clone(), rows])
            }
            Some(_) | None => all(FoldKind::Seq, fold.z, xs),
        }
    }

    /// An array with as many z at the end as make its length a multiple.
    pub(super) fn padded(&self, z: &Expr, xs: Expr, width: i128) -> Built {
        let width = Nat::int(width);
        let Some(length) = xs.ty().as_array().map(|(_, n)| n.clone()) else { return Ok(xs) };
        if self.cx.proves(&Pred::divides(width.clone(), length.clone())) {
            return Ok(xs);
        }
        let rest = length.ceil_div(&width) * &width - &length;
        Build::new(self.cx).pad_value(Nat::int(0), rest, z, xs)
    }
}

/// What is folded how.
pub(super) struct Folded<'e> {
    pub z: &'e Expr,
    pub f: &'e Lambda,
}

/// The work-items of a group for a fold of so many elements.
pub(super) fn width_for(length: i128) -> i128 {
    WIDTHS.iter().find(|(most, _)| length <= *most).map_or(WIDEST, |(_, width)| *width)
}
