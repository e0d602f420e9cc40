//! Rows whose lengths are data.
//!
//! Before: `map(\r -> E[reduce(z, f, [ e | k in a .. b ])], rs)`: a work-item a row takes as long as the longest row does.
//! After, where the bounds are read from an array: short rows by items, long ones by groups, as `f(fold of a .. m, fold of m .. b)` with m so far from a as one work-item goes, in
//! two kernels. In the first, groups go through tiles of rows, and do together what is beyond m, where anything is; in the second
//! a work-item does what is before m. Most tiles have no long row, which their work-items see at once. Where indices are the
//! bounds, a work-item does a row, or a group, whose work-items fold every 256th element each ([`Decider::range_in_group`]).
//!
//! The laws are `range_cut` and `range_lanes` of the rules.

use lift_ir::{
    Boundary, Build, Built, Call, Expr, Family, FoldKind, Kind, Lambda, Literal, MapKind, Math,
    Nat, Prim, Scalar, Type, TypeError,
};

use super::groups::{Folded, WIDEST, add_of_choice};
use super::shared::point;
use super::{Decider, GROUP_DIMENSIONS, Level};
use crate::Target;
use crate::passes::share;
use crate::replace::replaced;

/// Elements of a row that one work-item folds, at most, where a group does the rest.
const SHORT: i128 = 256;

/// Rows that a group looks through for long ones.
const TILE: i128 = 128;

/// Elements of a row at most: so many that an `i32` counts those of a lane.
const FARTHEST: i128 = 1 << 38;

impl Decider<'_> {
    /// A nest of maps whose points fold ranges; nothing where a work-item does each.
    pub(super) fn ragged(&self, call: &Call, depth: u8) -> Result<Option<Expr>, TypeError> {
        if self.is_plain || self.target == Target::Loops || depth > GROUP_DIMENSIONS {
            return Ok(None);
        }
        let Some(point) = point(call, depth) else { return Ok(None) };
        let mut folds = Vec::new();
        if !point.ty().is_register() || !add_folds(point, &mut folds) || folds.is_empty() {
            return Ok(None);
        }
        // Of what is no data the lengths of neighbours are about the same.
        let is_data = point.has(|part| matches!(part.as_call(), Some(c) if c.prim == Prim::At))
            && folds.iter().all(|fold| from_data(point, fold));
        // How long rows are that data says cannot be foreseen, so nothing is asked.
        match folds.as_slice() {
            [fold] if is_data && depth == 1 && is_outside(point, fold) => {
                return self.in_two(call, point, fold);
            }
            _ if is_data => return Ok(None),
            _ => {}
        }
        let names = ["a work-item a row", "a group a row"].map(String::from).to_vec();
        match self.options.choices.take("default_lowering", names) {
            0 => Ok(None),
            _ => self.groups(call, depth - 1, Level::Fused).map(Some),
        }
    }

    /// A map of rows, in two kernels.
    fn in_two(&self, call: &Call, point: &Expr, fold: &Call) -> Result<Option<Expr>, TypeError> {
        let (Some(own), Some(xs)) = (call.functions.first(), call.args.first()) else {
            return Ok(None);
        };
        let ([x], Some(range)) = (own.params.as_slice(), Range::of(fold)) else { return Ok(None) };
        let Some((_, length)) = xs.ty().as_array() else { return Ok(None) };
        let (cx, b) = (self.cx, Build::new(self.cx));
        let middle = || self.middle(range.low, range.high);
        let is_left = |m: &Expr| b.lt(m, range.high);
        let flag = b.let_in("middle", middle(), |m| b.if_then(is_left(&m), b.i32(1), b.i32(0)))?;
        let rest = b.let_in("middle", middle(), |m| {
            b.if_then(is_left(&m), range.over(self, &m, range.high), range.z)
        })?;
        let (Some(flag), Some(rest)) =
            (only(self, point, fold, &flag)?, only(self, point, fold, &rest)?)
        else {
            return Ok(None);
        };
        let flag = self.expr(&flag, Level::Inside)?;
        let rest = self.expr(&rest, Level::Group)?;
        let none = self.expr(range.z, Level::Inside)?;
        let in_tile = |tile: Expr| {
            let most =
                b.lambda([("a", Type::I32), ("b", Type::I32)], |[x, y]| b.math(Math::Max, [x, y]))?;
            let flags = |own: Expr| Ok(cx.substitute(&flag, &[(x.clone(), own)]));
            let zero = b.i32(0);
            let any = self.fold_lanes(&Folded { z: &zero, f: &most }, tile.clone(), TILE, flags);
            b.let_in("any", any, |any| {
                let rest = |own: Expr| {
                    let rest = cx.substitute(&rest, &[(x.clone(), own)]);
                    b.if_then(b.lt(b.i32(0), &any), rest, &none)
                };
                b.map_as(MapKind::Seq, rest, tile)
            })
        };
        let tiles = length.ceil_div(&Nat::int(TILE)) * Nat::int(TILE);
        let padded =
            b.pad(Nat::ZERO, &tiles - length, Boundary::Clamp, self.expr(xs, Level::Fused)?);
        let tiles = b.map_as(MapKind::Wrg(0), in_tile, b.split(Nat::int(TILE), padded))?;
        let rests = b.take(length.clone(), b.join(tiles))?;
        let whole = |rests: Expr| {
            let each = |pair: Expr| {
                let short = b.let_in("middle", middle(), |m| range.over(self, range.low, &m))?;
                let both = range.folded(self, short, b.field(&pair, 1)?)?;
                let body = replaced(cx, point, &[(fold, both)])?;
                Ok(cx.substitute(&body, &[(x.clone(), b.field(&pair, 0)?)]))
            };
            let made = b.map(each, b.zip([xs.clone(), rests]))?;
            match made.as_call() {
                Some(made) => self.grid(made, 0, Level::Fused, true),
                None => Ok(made),
            }
        };
        b.let_in("rests", rests, whole).map(Some)
    }

    /// [`SHORT`] behind the first number, or the end where that comes before. Nothing wraps.
    fn middle(&self, low: &Expr, high: &Expr) -> Built {
        let b = Build::new(self.cx);
        let number = |n: i128| match low.ty() {
            Type::Scalar(scalar) => self.cx.literal(Literal::Int(*scalar, n)),
            _ => b.i32(n as i32),
        };
        // Where the difference wraps, it is negative, and nothing is left for a group.
        let grows = b.lt(low, high)?;
        let is_long = b.lt(number(SHORT), b.sub(high, low))?;
        let both = b.and(grows, is_long)?;
        b.if_then(both, b.add(low, number(SHORT)), high)
    }

    /// A fold over a range by the work-items of a group.
    pub(super) fn range_in_group(&self, call: &Call) -> Built {
        let Some(range) = Range::of(call) else {
            return self.rebuild(call, call.prim.clone(), Level::Inside, Level::Inside);
        };
        let b = Build::new(self.cx);
        let inside = |f: &Lambda| -> Result<Lambda, TypeError> {
            Ok(Lambda { body: self.expr(&f.body, Level::Inside)?, ..f.clone() })
        };
        let (z, f) = (self.expr(range.z, Level::Inside)?, inside(range.f)?);
        let element = inside(range.element)?;
        let (low, high) =
            (self.expr(range.low, Level::Inside)?, self.expr(range.high, Level::Inside)?);
        b.let_in("low", low, |low| {
            b.let_in("high", high, |high| {
                let own = Range { z: &z, f: &f, element: &element, low: &low, high: &high };
                let lanes = b.generate(Nat::int(WIDEST), Ok)?;
                self.fold_lanes(&Folded { z: &z, f: &f }, lanes, WIDEST, |lane| {
                    own.of_lane(self, &lane)
                })
            })
        })
    }
}

/// A fold over a range.
struct Range<'e> {
    z: &'e Expr,
    f: &'e Lambda,
    element: &'e Lambda,
    low: &'e Expr,
    high: &'e Expr,
}

impl<'e> Range<'e> {
    fn of(fold: &'e Call) -> Option<Range<'e>> {
        let ([z, low, high], [f, element]) = (fold.args.as_slice(), fold.functions.as_slice())
        else {
            return None;
        };
        Some(Range { z, f, element, low, high })
    }

    /// The same between other bounds.
    fn over(&self, d: &Decider, low: &Expr, high: &Expr) -> Built {
        let args = vec![self.z.clone(), low.clone(), high.clone()];
        let functions = vec![self.f.clone(), self.element.clone()];
        d.cx.call(Prim::ReduceRange(FoldKind::Any), vec![], functions, args)
    }

    /// Two values folded.
    fn folded(&self, d: &Decider, left: Expr, right: Expr) -> Built {
        match self.f.params.as_slice() {
            [acc, x] => {
                let body = d.cx.let_in(x.clone(), right, self.f.body.clone())?;
                d.cx.let_in(acc.clone(), left, body)
            }
            _ => Ok(left),
        }
    }

    /// What a lane of a group folds: every so many elements, from its own on. Numbers are added in 64 bits.
    fn of_lane(&self, d: &Decider, lane: &Expr) -> Built {
        let b = Build::new(d.cx);
        let Type::Scalar(own) = *self.low.ty() else { return Ok(self.z.clone()) };
        let wide = |e: &Expr| match e.ty() {
            Type::Scalar(Scalar::I64) => Ok(e.clone()),
            _ => b.cast(e, Scalar::I64),
        };
        let number = |n: i128| d.cx.literal(Literal::Int(Scalar::I64, n));
        let (low, high, lane) = (wide(self.low)?, wide(self.high)?, wide(lane)?);
        let length = b.sub(&high, &low)?;
        let up = b.add(&length, number(WIDEST - 1))?;
        let steps = b.sub(up, &lane)?;
        let steps = b.cast(b.div(steps, number(WIDEST))?, Scalar::I32)?;
        // A range that decreases does for every lane, and so does one that no memory holds the elements of.
        let grows = b.le(self.low, self.high)?;
        let ends = b.and(b.le(number(0), &length)?, b.le(&length, number(FARTHEST))?)?;
        let end = b.if_then(b.and(grows, ends)?, steps, b.i32(-1))?;
        let step = d.cx.fresh("step", Type::I32);
        let by = b.mul(wide(&d.cx.var(&step))?, number(WIDEST))?;
        let at = b.add(b.add(&low, by)?, &lane)?;
        let at = if own == Scalar::I64 { at } else { b.cast(at, own)? };
        let Some(k) = self.element.params.first() else { return Ok(self.z.clone()) };
        let body = d.cx.let_in(k.clone(), at, self.element.body.clone())?;
        let element = Lambda { size: None, params: vec![step], body };
        let args = vec![self.z.clone(), b.i32(0), end];
        let functions = vec![self.f.clone(), element];
        d.cx.call(Prim::ReduceRange(FoldKind::Seq), vec![], functions, args)
    }
}

/// The folds over ranges that a point does itself, always; nothing where it does more than that and numbers.
fn add_folds<'e>(expr: &'e Expr, found: &mut Vec<&'e Call>) -> bool {
    match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => true,
        Kind::Let { value, body, .. } => {
            value.ty().is_register() && add_folds(value, found) && add_folds(body, found)
        }
        Kind::Call(call) => match &call.prim {
            Prim::ReduceRange(FoldKind::Any) => {
                found.push(call);
                let before = found.len();
                call.args.iter().all(|arg| add_folds(arg, found)) && found.len() == before
            }
            prim if share::chooses(prim) => add_of_choice(call, found, add_folds),
            prim => match prim.family() {
                Family::Map | Family::Fold(_) | Family::Iteration | Family::Storage => false,
                Family::Layout | Family::Scalar => {
                    call.args.iter().all(|arg| add_folds(arg, found))
                }
            },
        },
    }
}

/// Whether a bound of a fold is read from an array, itself or by a name of the point.
fn from_data(point: &Expr, fold: &Call) -> bool {
    let reads = |e: &Expr| e.has(|part| matches!(part.as_call(), Some(c) if c.prim == Prim::At));
    let named = |e: &Expr| {
        point.places().iter().any(|(_, part)| match part.kind() {
            Kind::Let { param, value, .. } => e.mentions(param) && reads(value),
            _ => false,
        })
    };
    fold.args.iter().skip(1).any(|bound| reads(bound) || named(bound))
}

/// Whether what a fold starts from is the same for all rows.
fn is_outside(point: &Expr, fold: &Call) -> bool {
    let Some(z) = fold.args.first() else { return false };
    let names = |e: &Expr| matches!(e.kind(), Kind::Let { param, .. } if z.mentions(param));
    matches!(z.kind(), Kind::Literal(_)) || z.free_variables().is_empty() && !point.has(names)
}

/// Another expression in place of a fold, in the scope of the fold and without what is around it.
fn only(d: &Decider, expr: &Expr, fold: &Call, new: &Expr) -> Result<Option<Expr>, TypeError> {
    let has = |e: &Expr| e.has(|part| part.as_call().is_some_and(|c| std::ptr::eq(c, fold)));
    match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => Ok(None),
        Kind::Let { value, .. } if has(value) => only(d, value, fold, new),
        Kind::Let { param, value, body } => match only(d, body, fold, new)? {
            Some(body) => d.cx.let_in(param.clone(), value.clone(), body).map(Some),
            None => Ok(None),
        },
        Kind::Call(call) if std::ptr::eq(call, fold) => Ok(Some(new.clone())),
        Kind::Call(call) => match call.args.iter().find(|arg| has(arg)) {
            Some(arg) => only(d, arg, fold, new),
            None => Ok(None),
        },
    }
}
