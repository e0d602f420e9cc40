//! Packed arrays that are made in the box around their domain.
//!
//! Before: `generate(count(D), \r -> let p = point(D, r); m[p.0][p.1])`, where the whole grid makes m.
//! After: m, each of whose elements is stored at the number of its point. Those of points outside D go nowhere, and m has no
//! memory. Rows may begin elsewhere: `m[p.0][p.1 - p.0]`.

use std::rc::Rc;
use std::sync::Arc;

use lift_domain::Domain;
use lift_ir::{BinaryOp, Call, Expr as Functional, Kind, Literal, Nat, Param, Pred, Prim};

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
        let Some(Seen { domain, nested, begins }) = seen_through(call) else { return Ok(false) };
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
        let cell: Vec<Nat> =
            domain.point().iter().zip(&begins).map(|(x, begin)| x - begin).collect();
        let open = held.open_condition(&cell, domain, &self.out.facts);
        if self.out.in_kernel() || !is_made_in_box(call) || open.is_some() {
            return Ok(false);
        }
        let (domain, out) = (domain.clone(), out.clone());
        let place = move |cell: &[Nat]| {
            let mut point: Vec<Nat> = Vec::new();
            for (x, begin) in cell.iter().zip(&begins) {
                let begin = begin.substitute(&|v| {
                    (0..point.len()).find(|k| Domain::index_var(*k) == *v).map(|k| point[k].clone())
                });
                point.push(x + begin);
            }
            let natural = point.iter().map(|x| Pred::Le(Nat::ZERO, x.clone()));
            let inside = natural.chain(domain.conditions(&point)).collect();
            Ok(out.at(&levels.rank(&point))?.guarded(&Pred::And(inside)))
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
pub(crate) fn is_made_in_box(call: &Call) -> bool {
    seen_through(call).is_some_and(|seen| is_grid_wide(seen.nested))
}

/// The elements of a nested array at the points of a domain.
pub(crate) struct Seen<'e> {
    pub domain: &'e Arc<Domain>,
    nested: &'e Functional,
    /// The value of each index that is element 0, in terms of the indices before.
    pub begins: Vec<Nat>,
}

/// What an array is seen through a domain, if it is that.
pub(crate) fn seen_through(call: &Call) -> Option<Seen<'_>> {
    let f = call.functions.first().filter(|_| call.prim == Prim::Generate)?;
    let [number] = f.params.as_slice() else { return None };
    let Kind::Let { param, value, body } = f.body.kind() else { return None };
    let point = value.as_call()?;
    let Prim::Point(domain) = &point.prim else { return None };
    if point.args.first()?.as_var() != Some(number) {
        return None;
    }
    let mut array = body;
    let mut begins = Vec::new();
    for k in (0..domain.dimensions()).rev() {
        let at = array.as_call().filter(|at| at.prim == Prim::At)?;
        let [index, inner] = at.args.as_slice() else { return None };
        let begin = Domain::index(k) - affine_of(index, param, domain.dimensions())?;
        let of_earlier = (k..domain.dimensions()).all(|j| !begin.mentions(&Domain::index_var(j)));
        begins.push(Some(begin).filter(|_| of_earlier)?);
        array = inner;
    }
    begins.reverse();
    let is_apart = !array.mentions(param) && !array.mentions(number);
    is_apart.then_some(Seen { domain, nested: array, begins })
}

/// An index in terms of those of a point, where it is affine in them.
fn affine_of(index: &Functional, point: &Param, dimensions: usize) -> Option<Nat> {
    let at = (0..dimensions).find(|k| is_index(index, point, *k, dimensions));
    if let Some(at) = at {
        return Some(Domain::index(at));
    }
    let call = match index.kind() {
        Kind::Literal(Literal::Int(_, n)) => return Some(Nat::int(*n)),
        Kind::Size(n, _) => return Some(n.clone()),
        Kind::Call(call) => call,
        Kind::Var(_) | Kind::Literal(_) | Kind::Let { .. } => return None,
    };
    let [a, b] = call.args.as_slice() else { return None };
    let part = |e: &Functional| affine_of(e, point, dimensions);
    match call.prim {
        Prim::Binary(BinaryOp::Add) => Some(part(a)? + part(b)?),
        Prim::Binary(BinaryOp::Sub) => Some(part(a)? - part(b)?),
        Prim::Binary(BinaryOp::Mul) => Some(part(a)? * part(b)?),
        _ => None,
    }
}

fn is_index(index: &Functional, point: &Param, k: usize, dimensions: usize) -> bool {
    if dimensions == 1 {
        return index.as_var() == Some(point);
    }
    let field = index.as_call().filter(|call| call.prim == Prim::Field(k as u32));
    field.and_then(|call| call.args.first()).and_then(Functional::as_var) == Some(point)
}
