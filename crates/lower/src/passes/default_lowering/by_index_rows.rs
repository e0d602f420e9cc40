//! Maps of `reduce_by_index` that are fewer than a device has work-items.
//!
//! Before: `map(\\x -> reduce_by_index(k, z, f, is, xs), rs)`, in as many maps as there are.
//! After: the elements of each are shared as those of one are ([`super::by_index`]); copies are folded for all of them:
//!
//! `let copies = map(\\x -> map(\\(is, xs) -> reduceByIndexSeq(k, z, f, is, xs), shares), rs);
//! map(\\own -> own |> transpose |> map(reduceSeq(z, f)), copies)`

use lift_ir::{Build, Built, Call, Expr, Lambda, MapKind, Nat, Param, Prim, TypeError};

use super::by_index::Parts;
use super::shared::point;
use super::{Decider, GROUP_DIMENSIONS, inner_map, nest_depth};

impl Decider<'_> {
    /// A nest of maps around a fold by indices, with more to do at a time; nothing where the nest has enough.
    pub(super) fn rows_by_index(&self, call: &Call) -> Result<Option<Expr>, TypeError> {
        let depth = nest_depth(call);
        let Some(parts) = point(call, depth).and_then(Expr::as_call).and_then(Parts::of) else {
            return Ok(None);
        };
        let (params, Some(count)) = (params(call, depth), points(call, depth)) else {
            return Ok(None);
        };
        // Copies are folded where the variables of the nest are not known.
        let Some(f) = point(call, depth).and_then(Expr::as_call).and_then(|c| c.functions.first())
        else {
            return Ok(None);
        };
        if params.iter().any(|param| parts.z.mentions(param) || f.body.mentions(param)) {
            return Ok(None);
        }
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

    fn folded_rows(&self, parts: &Parts, depth: u8, copies: Expr) -> Built {
        let b = Build::new(self.cx);
        b.let_in("copies", Ok(copies), |copies| {
            each(b, depth, copies, &|own| self.folded(parts, own))
        })
    }

    /// A nest of so many maps with another point; maps have the kind of how many they are in, from 1 on.
    fn with_point(
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
fn each(b: Build, depth: u8, array: Expr, f: &dyn Fn(Expr) -> Built) -> Built {
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

/// How many points a nest has, where that is known.
fn points(call: &Call, depth: u8) -> Option<i128> {
    let length = call.args.first()?.ty().as_array()?.1.as_int()?;
    match call.functions.first().and_then(inner_map).filter(|_| depth > 1) {
        Some(inner) => length.checked_mul(points(inner, depth - 1)?),
        None => Some(length),
    }
}
