//! Maps of `reduce_by_index` that are fewer than a device has work-items.
//!
//! Before: `map(\\x -> reduce_by_index(k, z, f, is, xs), rs)`, in as many maps as there are.
//! After: the elements of each are shared as those of one are ([`super::by_index`]); copies are folded for all of them:
//!
//! `let copies = map(\\x -> map(\\(is, xs) -> reduceByIndexSeq(k, z, f, is, xs), shares), rs);
//! map(\\own -> own |> transpose |> map(reduceSeq(z, f)), copies)`
//!
//! Where groups have no room for the results of one, and all work-items can change those of all, the maps are one fold
//! ([`super::by_index_joined`]). The columns of rows are taken side by side ([`super::by_index_columns`]).

use lift_ir::{Build, Built, Call, Expr, Lambda, MapKind, Nat, Param, Prim, TypeError};

use super::by_index::Parts;
use super::by_index_columns::Columns;
use super::shared::point;
use super::{Decider, GROUP_DIMENSIONS, inner_map, nest_depth};

impl Decider<'_> {
    /// A nest of maps around a fold by indices, with more to do at a time; nothing where the nest has enough.
    pub(super) fn rows_by_index(&self, call: &Call) -> Result<Option<Expr>, TypeError> {
        let depth = nest_depth(call);
        let Some(parts) = point(call, depth).and_then(Expr::as_call).and_then(Parts::of) else {
            return Ok(None);
        };
        let params = params(call, depth);
        // Copies are folded where the variables of the nest are not known.
        let Some(f) = point(call, depth).and_then(Expr::as_call).and_then(|c| c.functions.first())
        else {
            return Ok(None);
        };
        if params.iter().any(|param| parts.z.mentions(param) || f.body.mentions(param)) {
            return Ok(None);
        }
        if let Some(made) = self.rows_side_by_side(call, depth, &parts)? {
            return Ok(Some(made));
        }
        let Some(count) = points(call, depth) else { return Ok(None) };
        let b = Build::new(self.cx);
        let in_groups = self.room_in_groups(&parts, count).filter(|_| depth < GROUP_DIMENSIONS);
        if let Some((groups, lanes)) = in_groups {
            let copies = || {
                let by_group = |group| self.copy_of_group(&parts, lanes, group);
                b.map_as(MapKind::Wrg(0), by_group, self.pairs_of_groups(&parts, groups, lanes))
            };
            let copies = self.with_point(call, depth, &|inside| MapKind::Wrg(inside), &copies)?;
            return match groups {
                1 => each(b, depth, copies, &|own| b.join(own)).map(Some),
                _ => self.folded_rows(&parts, depth, copies).map(Some),
            };
        }
        let shares = self.shares(&parts, count);
        if shares == Nat::ONE {
            return Ok(None);
        }
        let copies = || {
            b.map(|pair| self.chunk_in_order(&parts, pair), self.pairs_of_items(&parts, &shares))
        };
        let copies = self.with_point(call, depth, &|_| MapKind::Map, &copies)?;
        self.folded_rows(&parts, depth, copies).map(Some)
    }

    /// Columns by groups, or the folds of all rows as one.
    fn rows_side_by_side(
        &self,
        call: &Call,
        depth: u8,
        parts: &Parts,
    ) -> Result<Option<Expr>, TypeError> {
        let columns = self.innermost(call, depth).and_then(Columns::of);
        let has_room = |columns| {
            // Groups have a dimension for blocks of columns, one for shares of rows, and the others for the nest around.
            let outer =
                lengths(call, depth - 1).iter().try_fold(1, |all, n| n.as_int()?.checked_mul(all));
            let outer = outer.filter(|_| depth < GROUP_DIMENSIONS)?;
            Some((columns, self.room_for_columns(columns, outer)?))
        };
        if let Some((columns, blocks)) = columns.as_ref().and_then(has_room) {
            let ways = ["groups have copies of the results of columns", "results of all columns"];
            let ways = ways.map(String::from).to_vec();
            if self.options.choices.take("default_lowering", ways) == 0 {
                return self.columns_in_groups((call, depth), columns, blocks).map(Some);
            }
        }
        let is_near = columns.is_none() && self.has_room_near(parts);
        match !is_near && self.is_changed_together(parts) {
            true => self.joined_by_index(call, depth, parts),
            false => Ok(None),
        }
    }

    /// The innermost of so many maps.
    pub(super) fn innermost<'a>(&self, call: &'a Call, depth: u8) -> Option<&'a Call> {
        match depth {
            0 | 1 => Some(call),
            _ => self.innermost(inner_map(call.functions.first()?)?, depth - 1),
        }
    }

    fn folded_rows(&self, parts: &Parts, depth: u8, copies: Expr) -> Built {
        let b = Build::new(self.cx);
        b.let_in("copies", Ok(copies), |copies| {
            each(b, depth, copies, &|own| self.folded(parts, own))
        })
    }

    /// A nest of so many maps with another point; maps have the kind of how many they are in, from 1 on.
    pub(super) fn with_point(
        &self,
        call: &Call,
        depth: u8,
        kind: &dyn Fn(u8) -> MapKind,
        point: &dyn Fn() -> Built,
    ) -> Built {
        let f = call.functions.first();
        let body = match f.and_then(inner_map).filter(|_| depth > 1) {
            Some(inner) => self.with_point(inner, depth - 1, kind, point)?,
            None => point()?,
        };
        let functions = f.map(|f| Lambda { body, ..f.clone() }).into_iter().collect();
        self.cx.call(Prim::Map(kind(depth)), vec![], functions, call.args.clone())
    }
}

/// A function of each element of an array of so many dimensions.
pub(super) fn each(b: Build, depth: u8, array: Expr, f: &dyn Fn(Expr) -> Built) -> Built {
    match depth {
        0 => f(array),
        _ => b.map(|row| each(b, depth - 1, row, f), array),
    }
}

/// The variables of a nest of so many maps.
fn params(call: &Call, depth: u8) -> Vec<Param> {
    let Some(f) = call.functions.first() else { return Vec::new() };
    let inner = inner_map(f).filter(|_| depth > 1).map(|inner| params(inner, depth - 1));
    f.params.iter().cloned().chain(inner.into_iter().flatten()).collect()
}

/// The lengths of a nest of so many maps, outermost first.
pub(super) fn lengths(call: &Call, depth: u8) -> Vec<Nat> {
    if depth == 0 {
        return Vec::new();
    }
    let own = call.args.first().and_then(|xs| xs.ty().as_array()).map(|(_, n)| n.clone());
    let inner = call.functions.first().and_then(inner_map).filter(|_| depth > 1);
    let inner = inner.map(|inner| lengths(inner, depth - 1));
    own.into_iter().chain(inner.into_iter().flatten()).collect()
}

/// How many points a nest has, where that is known.
fn points(call: &Call, depth: u8) -> Option<i128> {
    let length = call.args.first()?.ty().as_array()?.1.as_int()?;
    match call.functions.first().and_then(inner_map).filter(|_| depth > 1) {
        Some(inner) => length.checked_mul(points(inner, depth - 1)?),
        None => Some(length),
    }
}
