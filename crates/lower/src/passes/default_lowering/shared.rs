//! Which work-items do a fold.
//!
//! Before: a map or a number with long folds, on a device whose work-items are threads.
//! After: the same with work-items that share them, or nothing where one work-item does each: what is folded does not lie
//! side by side and there are points enough, or what is read is shared along two dimensions, for which tiles are better.

use std::fmt;

use lift_ir::{Call, Expr, TypeError};

use super::chunks::Cut;
use super::strides::{Folds, Order};
use super::{
    Decider, GROUP_DIMENSIONS, Level, MOST_DIMENSIONS, chained, column_blocks, groups, inner_map,
    is_layout_only, nest_depth, rows, sink,
};
use crate::Target;

impl Decider<'_> {
    /// The same map with more dimensions, if it is another.
    pub(super) fn nested(&self, call: &Call) -> Result<Option<Expr>, TypeError> {
        match self.target {
            Target::Loops => Ok(None),
            Target::Threads => match sink::sunk(self.cx, call)? {
                Some(sunk) => Ok(Some(sunk)),
                None => chained::fused(self.cx, call),
            },
        }
    }

    /// A number outside of all maps that needs folds of whole arrays.
    pub(super) fn number_at(&self, expr: &Expr, level: Level) -> Result<Option<Expr>, TypeError> {
        match level {
            Level::Host | Level::Fused if self.target == Target::Threads => self.number(expr),
            Level::Host | Level::Fused | Level::Inside | Level::Kept | Level::Group => Ok(None),
        }
    }

    /// A map that need not be stored, since its elements are read once, but whose folds work-items share.
    pub(super) fn stored_for_reading(
        &self,
        call: &Call,
        level: Level,
    ) -> Result<Option<Expr>, TypeError> {
        match level {
            Level::Fused if !is_layout_only(call) && nest_depth(call) <= MOST_DIMENSIONS => {
                let chained = match self.target {
                    Target::Loops => None,
                    Target::Threads => chained::fused(self.cx, call)?,
                };
                let call = chained.as_ref().and_then(Expr::as_call).unwrap_or(call);
                self.shared(call, nest_depth(call))
            }
            Level::Host | Level::Fused | Level::Inside | Level::Kept | Level::Group => Ok(None),
        }
    }

    /// A nest of maps whose points have long folds, in which work-items share them, where that is better than a
    /// work-item a point.
    pub(super) fn shared(&self, call: &Call, depth: u8) -> Result<Option<Expr>, TypeError> {
        if self.is_plain || self.target == Target::Loops {
            return Ok(None);
        }
        let is_any = |folds: Vec<&Call>| folds.iter().any(|fold| groups::is_long(fold));
        let Some(point) = point(call, depth) else { return Ok(None) };
        if !groups::folds(point).is_some_and(is_any) && !rows::is_row(point) {
            return Ok(None);
        }
        let plain =
            Decider { is_plain: true, ..*self }.grid(call, depth - 1, Level::Fused, true)?;
        let next = self.cx.next_number();
        let Some(folds) = Folds::of(&plain, self.def, next, self.options) else { return Ok(None) };
        let length = innermost(call, depth).filter(|_| point.ty().is_register());
        let ways = ways(&folds, depth, length);
        let names = ways.iter().map(Way::to_string).collect();
        let first = self.options.choices.take("default_lowering", names);
        for way in ways.get(first..).unwrap_or_default() {
            if let Some(made) = self.folded_by(call, depth, way)? {
                return Ok(Some(made));
            }
            if *way == Way::Item {
                break;
            }
        }
        Ok(None)
    }

    /// A nest whose folds are done in one of the ways, or nothing where a work-item does each, or they cannot be done so.
    fn folded_by(&self, call: &Call, depth: u8, way: &Way) -> Result<Option<Expr>, TypeError> {
        match way {
            Way::Cut(cut) => self.cut(call, depth, *cut),
            Way::Block(width) => self.column_blocks(call, depth - 1, Level::Fused, *width),
            Way::Group if depth <= GROUP_DIMENSIONS => {
                self.groups(call, depth - 1, Level::Fused).map(Some)
            }
            Way::Group => match self.flattened(call)? {
                Some(flat) => self.expr(&flat, Level::Host).map(Some),
                None => Ok(None),
            },
            Way::Item => Ok(None),
        }
    }
}

/// Who does a fold.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// Several groups or work-items, a chunk each.
    Cut(Cut),
    Group,
    Item,
    /// A group does so many that lie side by side.
    Block(i128),
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Way::Cut(cut) => write!(f, "a fold in {} chunks", cut.chunks()),
            Way::Group => write!(f, "a group a fold"),
            Way::Item => write!(f, "a work-item a fold"),
            Way::Block(width) => write!(f, "a group {width} folds side by side"),
        }
    }
}

/// The ways to do folds, the one that is expected to be best first.
fn ways(folds: &Folds, depth: u8, length: Option<i128>) -> Vec<Way> {
    let is_row = folds.order == Order::Rows;
    let shared = if is_row { [Way::Group, Way::Item] } else { [Way::Item, Way::Group] };
    // What is flattened is chosen for again.
    let most = if depth <= GROUP_DIMENSIONS || is_row { 2 } else { 1 };
    let cut = Cut::of(folds).map(|cut| (Way::Cut(cut), cut.is_usual()));
    // Where there are so many points that none is cut, a work-item each has enough to do.
    let block = length.filter(|_| cut.is_some() && depth <= GROUP_DIMENSIONS);
    let block = block.and_then(|length| column_blocks::width(folds, length)).map(Way::Block);
    let (cut, also) = match cut {
        Some((cut, true)) => (Some(cut), None),
        Some((cut, false)) => (None, Some(cut)),
        None => (None, None),
    };
    let others = shared.into_iter().take(most).chain(also);
    cut.into_iter().chain(others).chain(block).collect()
}

/// The length of the innermost of so many maps.
fn innermost(call: &Call, depth: u8) -> Option<i128> {
    match call.functions.first().and_then(inner_map).filter(|_| depth > 1) {
        Some(inner) => innermost(inner, depth - 1),
        None => call.args.first()?.ty().as_array()?.1.as_int(),
    }
}

/// What a nest of so many maps does at a point.
pub(super) fn point(call: &Call, depth: u8) -> Option<&Expr> {
    let f = call.functions.first()?;
    match inner_map(f).filter(|_| depth > 1) {
        Some(inner) => point(inner, depth - 1),
        None => Some(&f.body),
    }
}
