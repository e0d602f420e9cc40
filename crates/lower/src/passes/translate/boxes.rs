//! Packed arrays that are made in the box around their domain.
//!
//! Before: `generate(count(D), \r -> let p = point(D, r); m[p.0][p.1])`, where the whole grid makes m.
//! After: m, each of whose elements is stored at the number of its point. Those of points outside D go nowhere, and m has no
//! memory.

use std::rc::Rc;
use std::sync::Arc;

use lift_domain::Domain;
use lift_ir::{Call, Expr as Functional, Kind, Nat, Param, Pred, Prim};

use super::view::Writer;
use super::{Env, Translator};
use crate::LowerError;
use crate::passes::default_lowering::is_grid_wide;

impl Translator {
    /// Makes a packed array in a box; whether it could be.
    pub(super) fn made_in_box(
        &mut self,
        call: &Call,
        env: &Env,
        out: &Writer,
    ) -> Result<bool, LowerError> {
        let Some((domain, nested)) = seen_through(call) else { return Ok(false) };
        let Some(levels) = domain.levels() else { return Ok(false) };
        let mut lengths = Vec::new();
        let mut ty = nested.ty();
        while let (Some((element, length)), true) =
            (ty.as_array(), lengths.len() < domain.dimensions())
        {
            lengths.push(length.clone());
            ty = element;
        }
        let held = Domain::of_extents(&lengths);
        let open = held.open_condition(&domain.point(), domain, &self.out.facts);
        if self.out.in_kernel() || !is_made_in_box(call) || open.is_some() {
            return Ok(false);
        }
        let (domain, out) = (domain.clone(), out.clone());
        let place = move |point: &[Nat]| {
            let inside = Pred::And(domain.conditions(point));
            Ok(out.at(&levels.rank(point))?.guarded(&inside))
        };
        let writer = over(Rc::new(place), lengths, Vec::new())?;
        self.assign(nested, env, &writer)?;
        Ok(true)
    }
}

type Place = dyn Fn(&[Nat]) -> Result<Writer, LowerError>;

/// The places of a nested array, given that of a point.
fn over(place: Rc<Place>, lengths: Vec<Nat>, before: Vec<Nat>) -> Result<Writer, LowerError> {
    match lengths.get(before.len()) {
        None => place(&before),
        Some(length) => Ok(Writer::array(&length.clone(), move |i| {
            let point = before.iter().cloned().chain([i.clone()]).collect();
            over(place.clone(), lengths.clone(), point)
        })),
    }
}

/// Whether an array is made in a box, by the whole grid.
pub(super) fn is_made_in_box(call: &Call) -> bool {
    seen_through(call).is_some_and(|(_, nested)| is_grid_wide(nested))
}

/// The domain and the nested array, where an array is the elements of the one at the points of the other.
fn seen_through(call: &Call) -> Option<(&Arc<Domain>, &Functional)> {
    let f = call.functions.first().filter(|_| call.prim == Prim::Generate)?;
    let [number] = f.params.as_slice() else { return None };
    let Kind::Let { param, value, body } = f.body.kind() else { return None };
    let point = value.as_call()?;
    let Prim::Point(domain) = &point.prim else { return None };
    if point.args.first()?.as_var() != Some(number) {
        return None;
    }
    let mut array = body;
    for k in (0..domain.dimensions()).rev() {
        let at = array.as_call().filter(|at| at.prim == Prim::At)?;
        let [index, inner] = at.args.as_slice() else { return None };
        if !is_index(index, param, k, domain.dimensions()) {
            return None;
        }
        array = inner;
    }
    (!array.mentions(param) && !array.mentions(number)).then_some((domain, array))
}

fn is_index(index: &Functional, point: &Param, k: usize, dimensions: usize) -> bool {
    if dimensions == 1 {
        return index.as_var() == Some(point);
    }
    let field = index.as_call().filter(|call| call.prim == Prim::Field(k as u32));
    field.and_then(|call| call.args.first()).and_then(Functional::as_var) == Some(point)
}
