//! Packed arrays that are made in the box around their domain.
//!
//! Before: `generate(count(D), \r -> let p = point(D, r); m[p.0][p.1])`, where the whole grid makes m.
//! After: m, each of whose elements is stored at the number of its point. Those of points outside D go nowhere, and m has no
//! memory. Rows may begin elsewhere: `m[p.0][p.1 - p.0]`, and be laid out in two ways, by a comparison of the point:
//! `m[if 2 * p.0 < n then p.0 else n - 1 - p.0][if 2 * p.0 < n then p.1 else n - p.0 + p.1]`.

use std::rc::Rc;
use std::sync::Arc;

use lift_domain::{Constraint, Domain};
use lift_ir::{
    BinaryOp, Built, Call, Context, Expr as Functional, Facts, Kind, Lambda, Literal, MapKind, Nat,
    Param, Part, Pred, Prim, TypeError,
};

use super::points::placed;
use super::view::{Writer, broken};
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
        let Some(Seen { domain, nested, ways }) = seen_through(call) else { return Ok(false) };
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
        let is_held = |way: &Way| {
            let points = way.points(domain);
            held.open_condition(&way.cell(), &points, &self.out.facts).is_none()
        };
        if self.out.in_kernel()
            || !is_made_in_box(call)
            || !ways.iter().all(is_held)
            || !are_apart(&ways, domain, &self.out.facts)
        {
            return Ok(false);
        }
        let (domain, out) = (domain.clone(), out.clone());
        let place = move |cell: &[Nat]| {
            // The first way in which the cell has a point; 1 where there is one.
            let mut found: Option<(Nat, Nat)> = None;
            let mut only = None;
            for way in ways.iter().rev() {
                let point = way.point(cell);
                let natural = point.iter().map(|x| Pred::Le(Nat::ZERO, x.clone()));
                let own = way.points(&domain).conditions(&point);
                let inside = Pred::And(natural.chain(own).collect());
                let rank = levels.rank(&point);
                found = Some(match found {
                    None => {
                        only = Some(inside.clone());
                        (rank, Nat::cond(inside, Nat::ONE, Nat::ZERO))
                    }
                    Some((other, there)) => {
                        only = None;
                        let rank = Nat::cond(inside.clone(), rank, other);
                        (rank, Nat::cond(inside, Nat::ONE, there))
                    }
                });
            }
            let Some((rank, there)) = found else { return Err(broken("a way to lay out points")) };
            let inside = only.unwrap_or(Pred::Le(Nat::ONE, there));
            Ok(out.at(&rank)?.guarded(&inside))
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
    /// Where points are; of several ways, the first whose condition a point meets.
    pub ways: Vec<Way>,
}

/// How points are laid out in a box.
pub(crate) struct Way {
    /// Of the points that meet it.
    holds: Option<Constraint>,
    /// The value of each index that is cell 0, in terms of the indices before, and whether cells count down from there.
    begins: Vec<(Nat, bool)>,
}

impl Way {
    /// Cells are points.
    pub(crate) fn is_same(&self) -> bool {
        self.begins.iter().all(|(begin, down)| *begin == Nat::ZERO && !down)
    }

    /// The cell of a point, in terms of its indices.
    fn cell(&self) -> Vec<Nat> {
        let cell = |(k, (begin, down)): (usize, &(Nat, bool))| match down {
            true => begin - Domain::index(k),
            false => Domain::index(k) - begin,
        };
        self.begins.iter().enumerate().map(cell).collect()
    }

    /// The point of a cell.
    fn point(&self, cell: &[Nat]) -> Vec<Nat> {
        let mut point: Vec<Nat> = Vec::new();
        for (x, (begin, down)) in cell.iter().zip(&self.begins) {
            let begin = placed(begin, &point);
            point.push(if *down { begin - x } else { begin + x });
        }
        point
    }

    /// The points of a domain that are laid out so.
    fn points(&self, domain: &Domain) -> Domain {
        let own = domain.constraints().iter().chain(&self.holds).cloned().collect();
        Domain::new(domain.dimensions(), own)
    }
}

/// Whether no cell has points of two ways.
fn are_apart(ways: &[Way], domain: &Domain, known: &Facts) -> bool {
    let [first, second] = ways else { return ways.len() == 1 };
    let other = second.point(&first.cell());
    let own = first.points(domain);
    let natural = other.iter().map(|x| Constraint::AtLeast(x.clone()));
    let others = second.points(domain);
    let others = others.constraints().iter().filter_map(|c| match c {
        Constraint::AtLeast(value) => Some(Constraint::AtLeast(placed(value, &other))),
        Constraint::Multiple { .. } => None,
    });
    let all = own.constraints().iter().cloned().chain(natural).chain(others).collect();
    Domain::new(domain.dimensions(), all).is_nowhere(known)
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
    let dimensions = domain.dimensions();
    let mut array = body;
    let mut cells: Vec<(Nat, Nat)> = Vec::new();
    let mut choice: Option<(Nat, Nat)> = None;
    for _ in 0..dimensions {
        let at = array.as_call().filter(|at| at.prim == Prim::At)?;
        let [index, inner] = at.args.as_slice() else { return None };
        let both = match index.as_call().filter(|call| call.prim == Prim::If) {
            None => {
                let cell = affine_of(index, param, dimensions)?;
                (cell.clone(), cell)
            }
            Some(chosen) => {
                let [test, first, second] = chosen.args.as_slice() else { return None };
                let test = test.as_call().filter(|t| t.prim == Prim::Binary(BinaryOp::Lt))?;
                let [low, high] = test.args.as_slice() else { return None };
                let part = |e: &Functional| affine_of(e, param, dimensions);
                let own = (part(low)?, part(high)?);
                if choice.as_ref().is_some_and(|known| *known != own) {
                    return None;
                }
                choice = Some(own);
                (part(first)?, part(second)?)
            }
        };
        cells.push(both);
        array = inner;
    }
    cells.reverse();
    let way = |cell: &dyn Fn(&(Nat, Nat)) -> Nat, holds: Option<Constraint>| {
        let begins = cells.iter().enumerate().map(|(k, both)| begin(&cell(both), k, dimensions));
        Some(Way { holds, begins: begins.collect::<Option<_>>()? })
    };
    let first = choice.as_ref().map(|(low, high)| Constraint::less(low, high));
    let mut ways = vec![way(&|both| both.0.clone(), first)?];
    if let Some((low, high)) = &choice {
        ways.push(way(&|both| both.1.clone(), Some(Constraint::at_most(high, low)))?);
    }
    let is_apart = !array.mentions(param) && !array.mentions(number);
    is_apart.then_some(Seen { domain, nested: array, ways })
}

/// The nested array that an array is seen through a domain of, where the program says that it is made for that: a nest of maps,
/// which is for a grid.
pub(crate) fn nest_to_see(call: &Call) -> Option<&Functional> {
    let seen = seen_through(call)?;
    let mut array = seen.nested;
    for _ in 0..seen.domain.dimensions() {
        let map = array.as_call().filter(|map| map.prim == Prim::Map(MapKind::Map))?;
        array = &map.functions.first()?.body;
    }
    Some(seen.nested)
}

/// The same array, seen of another nested one.
pub(crate) fn with_nested(cx: &Context, call: &Call, nested: Functional) -> Built {
    let broken = || TypeError::new(Part::Whole, "an array seen through a domain");
    let f = call.functions.first().ok_or_else(broken)?;
    let Kind::Let { param, value, body } = f.body.kind() else { return Err(broken()) };
    let Prim::Point(domain) = &value.as_call().ok_or_else(broken)?.prim else {
        return Err(broken());
    };
    let (mut array, mut indices) = (body, Vec::new());
    for _ in 0..domain.dimensions() {
        let [index, inner] = array.as_call().ok_or_else(broken)?.args.as_slice() else {
            return Err(broken());
        };
        indices.push(index.clone());
        array = inner;
    }
    let seen = indices
        .into_iter()
        .rev()
        .try_fold(nested, |array, index| cx.call(Prim::At, vec![], vec![], vec![index, array]))?;
    let f = Lambda { body: cx.let_in(param.clone(), value.clone(), seen)?, ..f.clone() };
    cx.call(Prim::Generate, call.sizes.clone(), vec![f], vec![])
}

/// The value of index k that has cell 0, in terms of the indices before, and whether cells count down from it.
fn begin(cell: &Nat, k: usize, dimensions: usize) -> Option<(Nat, bool)> {
    let x = Domain::index(k);
    let begins = [(&x - cell, false), (cell + &x, true)];
    let of_earlier = |begin: &Nat| (k..dimensions).all(|j| !begin.mentions(&Domain::index_var(j)));
    begins.into_iter().find(|(begin, _)| of_earlier(begin))
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
