//! Rows whose lengths are data.
//!
//! Before: `map(\r -> E[reduce(z, f, [ e | k in a .. b ])], rs)`: a work-item a row takes as long as the longest row does.
//! After, where the bounds are read from an array: short rows by work-items, long ones by groups
//! ([`range_tiles`](super::range_tiles)). Where indices are the bounds, a work-item does a row, or a group, whose work-items fold
//! every 256th element each ([`Decider::range_in_group`]).
//!
//! The laws are `range_cut` and `range_lanes` of the rules.

use lift_ir::{
    Build, Built, Call, Expr, Family, FoldKind, Kind, Lambda, Literal, Nat, Prim, Scalar, Type,
    TypeError,
};

use super::groups::{Folded, WIDEST, add_of_choice};
use super::shared::point;
use super::{Decider, GROUP_DIMENSIONS, Level};
use crate::Target;
use crate::passes::share;

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
                return self.in_tiles(call, point, fold);
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
                let decreasing = own.over(self, FoldKind::Seq, &low, &high)?;
                self.range_by_lanes(&own, WIDEST, WIDEST, Some(&decreasing), Ok)
            })
        })
    }

    /// A fold over a range by so many work-items of a group, which are some of those that share it. What runs is in its
    /// lowest form already. Of a range that decreases they fold nothing, or what is said of it.
    pub(super) fn range_by_lanes(
        &self,
        range: &Range,
        width: i128,
        all: i128,
        decreasing: Option<&Expr>,
        lane: impl FnOnce(Expr) -> Built,
    ) -> Built {
        let lanes = Build::new(self.cx).generate(Nat::int(width), Ok)?;
        self.fold_lanes(&Folded { z: range.z, f: range.f }, lanes, width, |own| {
            range.of_lane(self, &lane(own)?, all, decreasing)
        })
    }
}

/// A fold over a range.
pub(super) struct Range<'e> {
    pub z: &'e Expr,
    pub f: &'e Lambda,
    pub element: &'e Lambda,
    pub low: &'e Expr,
    pub high: &'e Expr,
}

impl<'e> Range<'e> {
    pub(super) fn of(fold: &'e Call) -> Option<Range<'e>> {
        let ([z, low, high], [f, element]) = (fold.args.as_slice(), fold.functions.as_slice())
        else {
            return None;
        };
        Some(Range { z, f, element, low, high })
    }

    /// The same between other bounds.
    pub(super) fn over(&self, d: &Decider, kind: FoldKind, low: &Expr, high: &Expr) -> Built {
        let args = vec![self.z.clone(), low.clone(), high.clone()];
        let functions = vec![self.f.clone(), self.element.clone()];
        d.cx.call(Prim::ReduceRange(kind), vec![], functions, args)
    }

    /// Two values folded.
    pub(super) fn folded(&self, d: &Decider, left: Expr, right: Expr) -> Built {
        match self.f.params.as_slice() {
            [acc, x] => {
                let body = d.cx.let_in(x.clone(), right, self.f.body.clone())?;
                d.cx.let_in(acc.clone(), left, body)
            }
            _ => Ok(left),
        }
    }

    /// What one of several lanes folds: every so many elements, from its own on. How many these are is found in 64 bits. Of a
    /// range that decreases it folds nothing, or what is said of it.
    pub(super) fn of_lane(
        &self,
        d: &Decider,
        lane: &Expr,
        lanes: i128,
        decreasing: Option<&Expr>,
    ) -> Built {
        let b = Build::new(d.cx);
        let Type::Scalar(own) = *self.low.ty() else { return Ok(self.z.clone()) };
        let wide = |e: &Expr| match e.ty() {
            Type::Scalar(Scalar::I64) => Ok(e.clone()),
            _ => b.cast(e, Scalar::I64),
        };
        let number = |n: i128| d.cx.literal(Literal::Int(Scalar::I64, n));
        let length = b.sub(wide(self.high)?, wide(self.low)?)?;
        let steps = b.sub(b.add(&length, number(lanes - 1))?, wide(lane)?)?;
        let steps = b.cast(b.div(steps, number(lanes))?, Scalar::I32)?;
        let ascends = b.le(self.low, self.high)?;
        let mut end = match decreasing {
            Some(_) => steps,
            None => b.if_then(&ascends, steps, b.i32(0))?,
        };
        if own == Scalar::I64 {
            // No memory holds the elements of a range that is longer, which every lane says.
            let near = b.and(b.le(number(0), &length)?, b.le(&length, number(FARTHEST))?)?;
            end = b.if_then(near, end, b.i32(-1))?;
        }
        let step = d.cx.fresh("step", Type::I32);
        // The sum is a number of the range, whatever wraps on the way.
        let part = |e: &Expr| if own == Scalar::I64 { wide(e) } else { Ok(e.clone()) };
        let by = b.mul(part(&d.cx.var(&step))?, d.cx.literal(Literal::Int(own, lanes)))?;
        let at = b.add(self.low, b.add(by, part(lane)?)?)?;
        let Some(k) = self.element.params.first() else { return Ok(self.z.clone()) };
        let body = d.cx.let_in(k.clone(), at, self.element.body.clone())?;
        let element = Lambda { size: None, params: vec![step], body };
        let args = vec![self.z.clone(), b.i32(0), end];
        let functions = vec![self.f.clone(), element];
        let part = d.cx.call(Prim::ReduceRange(FoldKind::Seq), vec![], functions, args)?;
        match decreasing {
            Some(said) => b.if_then(ascends, part, said),
            None => Ok(part),
        }
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
pub(super) fn only(
    d: &Decider,
    expr: &Expr,
    fold: &Call,
    new: &Expr,
) -> Result<Option<Expr>, TypeError> {
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
