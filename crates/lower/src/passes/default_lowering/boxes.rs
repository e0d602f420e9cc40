//! Points of a domain, as those of the box around it.
//!
//! Before: `map(\r -> let p = point(D, r); e, generate(count(D), \r -> r))`, a work-item a point, which finds its indices.
//! After: `generate(count(D), \r -> let p = point(D, r); m[p.0][p.1])` with `m = map(\i -> map(\j -> e, …), …)` on a grid of all
//! dimensions. Neighbours in the grid are neighbours in memory, so whatever is done for grids is done for it, tiles among them
//! (`group_tiling` leaves out those without a point); what is outside D is stored nowhere.
//!
//! Only where e has a value at all points of the box, none of which is checked, and a good part of the box is in D.

use std::sync::Arc;

use lift_domain::Domain;
use lift_ir::{Build, Built, Call, Def, Expr, Kind, Nat, Param, Prim, TypeError};

use super::strides::free_variables;
use super::{Decider, Level};
use crate::Target;
use crate::passes::translate::translate;
use crate::replace::with_components;

/// Of so many points of the box one is in the domain, at least.
const SPARSEST: i128 = 4;

/// The dimensions of domains that are looked at: those of a grid of groups.
const DIMENSIONS: [usize; 2] = [2, 3];

/// A map of the points of a domain.
struct Points<'e> {
    domain: &'e Arc<Domain>,
    point: &'e Param,
    /// What is done at a point.
    body: &'e Expr,
    count: &'e Nat,
}

impl<'e> Points<'e> {
    fn of(call: &'e Call) -> Option<Points<'e>> {
        let (f, xs) = (call.functions.first()?, call.args.first()?);
        let indices = xs.as_call().filter(|c| c.prim == Prim::Generate)?;
        let own = indices.functions.first()?;
        if own.body.as_var() != own.params.first() {
            return None;
        }
        let [number] = f.params.as_slice() else { return None };
        let Kind::Let { param, value, body } = f.body.kind() else { return None };
        let found = value.as_call()?;
        let Prim::Point(domain) = &found.prim else { return None };
        let is_own = found.args.first()?.as_var() == Some(number) && !body.mentions(number);
        let count = indices.sizes.first()?;
        let fits = is_own && DIMENSIONS.contains(&domain.dimensions());
        fits.then_some(Points { domain, point: param, body, count })
    }
}

impl Decider<'_> {
    /// A map of the points of a domain on a grid; nothing where each number has a work-item.
    pub(super) fn boxed(&self, call: &Call) -> Result<Option<Expr>, TypeError> {
        if self.is_plain || self.target == Target::Loops {
            return Ok(None);
        }
        let Some(points) = Points::of(call) else { return Ok(None) };
        let Some(extents) = points.domain.bounding_box() else { return Ok(None) };
        let all = extents.iter().try_fold(1i128, |all, n| all.checked_mul(n.as_int()?));
        let (Some(all), Some(count)) = (all, points.count.as_int()) else { return Ok(None) };
        if count == 0 || all / count >= SPARSEST {
            return Ok(None);
        }
        let nested = self.over_box(&points, &extents, Vec::new())?;
        if !self.is_total(&nested)? {
            return Ok(None);
        }
        let names = ["a grid of the box around a domain", "a work-item a point of a domain"];
        let names = names.map(String::from).to_vec();
        if self.options.choices.take("default_lowering", names) != 0 {
            return Ok(None);
        }
        let nested = self.expr(&nested, Level::Host)?;
        self.seen_through(&points, nested).map(Some)
    }

    /// What is done at a point, at every point of a box.
    fn over_box(&self, points: &Points, extents: &[Nat], before: Vec<Expr>) -> Built {
        let b = Build::new(self.cx);
        let Some(extent) = extents.get(before.len()) else {
            return with_components(self.cx, points.body, points.point, &before);
        };
        let each = |i: Expr| {
            let here = before.iter().cloned().chain([i]).collect();
            self.over_box(points, extents, here)
        };
        b.map(each, b.generate(extent.clone(), Ok))
    }

    /// Whether nothing is checked when an array is made.
    fn is_total(&self, nested: &Expr) -> Result<bool, TypeError> {
        let Some(call) = nested.as_call() else { return Ok(false) };
        let depth = super::nest_depth(call);
        let plain = Decider { is_plain: true, ..*self };
        let grid = plain.grid(call, depth.saturating_sub(1), Level::Fused, true)?;
        let alone = Def {
            params: free_variables(&grid),
            ret: grid.ty().clone(),
            launches: Vec::new(),
            body: grid.clone(),
            next_number: self.cx.next_number(),
            ..self.def.clone()
        };
        Ok(translate(&alone, self.options, &[]).is_ok_and(|plan| plan.checks.is_empty()))
    }

    /// `generate(count(D), \r -> let p = point(D, r); m[p.0][p.1])`
    fn seen_through(&self, points: &Points, nested: Expr) -> Built {
        let (cx, b) = (self.cx, Build::new(self.cx));
        b.generate(points.count.clone(), |number| {
            let prim = Prim::Point(points.domain.clone());
            let found = cx.call(prim, vec![], vec![], vec![number])?;
            b.let_in("p", found, |point| {
                (0..points.domain.dimensions())
                    .try_fold(nested, |array, k| b.at(b.field(&point, k as u32), array))
            })
        })
    }
}
