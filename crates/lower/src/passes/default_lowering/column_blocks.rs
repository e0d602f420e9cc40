//! A group of work-items a block of columns.
//!
//! Before: `map(\x -> E[reduce(z, f, ys)], xs)`, where what neighbouring points fold lies side by side.
//! After: `join(mapWrg(0)(B, split(c, xs)))`, where the work-items of a group are so many beside each other as its block has columns,
//! and so many along the folds. Each folds a part of a column; what they made is in local memory, where one of each column folds it:
//!
//! `reduce(z, f, ys) = reduce(z, f, map(reduce(z, f), transpose(split(r, ys))))`, with `ys` padded with z.
//!
//! So a fold takes one kernel, also where there are few columns, and what follows it stays in the group. Folds of a point that do not wait
//! for each other, over arrays of one length, go through these together, as a fold of tuples:
//!
//! `(reduce(y, f, ys), reduce(z, g, zs)) = reduce((y, z), \(a, b) (p, q) -> (f(a, p), g(b, q)), zip(ys, zs))`

use lift_ir::{
    Build, Built, Call, Expr, FoldKind, Kind, Lambda, MapKind, Nat, Param, Prim, Space, TypeError,
};

use super::groups::Folded;
use super::strides::{Folds, Order};
use super::{Decider, Level, groups, inner_map};
use crate::parts::{Part, map_over_as};
use crate::replace::replaced;

/// Columns of a block at most and at least: a sector of memory has so many words.
const WIDEST: i128 = 32;
const NARROWEST: i128 = 8;

/// What so many work-items made is folded by one of them, and by so many what more made.
const FEW: i128 = 32;
const SHARED_BY: i128 = 16;

/// Groups that fill a device, and those that leave hardly a unit of it idle.
const GROUPS: i128 = 1 << 10;
const FEWEST_GROUPS: i128 = 1 << 7;

/// The columns of the blocks of a grid: as many as leave groups enough, where its innermost map is so many of them.
pub(super) fn width(folds: &Folds, length: i128) -> Option<i128> {
    let points = folds.points?;
    let least = |width: i128| if width == NARROWEST { FEWEST_GROUPS } else { GROUPS };
    let fits = |width: i128| points / width >= least(width);
    let widths = std::iter::successors(Some(WIDEST), |width| Some(width / 2));
    let mut widths = widths.take_while(|width| *width >= NARROWEST);
    let found = widths.find(|width| length % width == 0 && fits(*width));
    found.filter(|_| folds.order == Order::Columns && folds.are_beside)
}

impl Decider<'_> {
    /// A nest of maps over groups, each of which does a block of points of the innermost.
    pub(super) fn column_blocks(
        &self,
        call: &Call,
        dimension: u8,
        level: Level,
        width: i128,
    ) -> Result<Option<Expr>, TypeError> {
        let (Some(f), [xs]) = (call.functions.first(), call.args.as_slice()) else {
            return Ok(None);
        };
        let kind = MapKind::Wrg(dimension);
        let xs = self.expr(xs, level)?;
        if let Some(inner) = inner_map(f).filter(|_| dimension > 0) {
            let made = self.column_blocks(inner, dimension - 1, Level::Inside, width)?;
            let Some(body) = made else { return Ok(None) };
            let f = Lambda { body, ..f.clone() };
            return self.cx.call(Prim::Map(kind), vec![], vec![f], vec![xs]).map(Some);
        }
        let [x] = f.params.as_slice() else { return Ok(None) };
        let b = Build::new(self.cx);
        let blocks = b.split(Nat::int(width), xs)?;
        let Some((block, _)) = blocks.ty().as_array() else { return Ok(None) };
        let block = self.cx.fresh("block", block.clone());
        let part = Part { element: x.clone(), array: self.cx.var(&block) };
        let along = i128::from(self.options.group_items) / width;
        let shape = Shape { decider: self, along };
        let Some(body) = shape.rest(vec![part], &f.body)? else { return Ok(None) };
        let f = Lambda { size: None, params: vec![block], body };
        b.join(self.cx.call(Prim::Map(kind), vec![], vec![f], vec![blocks])).map(Some)
    }
}

/// An array with a name, where there is one, and what is made for each column after it.
type Parted = (Option<(Param, Expr)>, Part);

/// Which work-items a group has.
struct Shape<'d> {
    decider: &'d Decider<'d>,
    /// Those along a fold.
    along: i128,
}

impl Shape<'_> {
    /// What a block of points is, from arrays that have an element for each column: those whose folds are known already are among them.
    fn rest(&self, mut parts: Vec<Part>, point: &Expr) -> Result<Option<Expr>, TypeError> {
        let d = self.decider;
        let b = Build::new(d.cx);
        let ready = ready(point);
        let Some(together) = Together::of(d, &ready)? else { return Ok(None) };
        let own = d.cx.fresh("own", together.z.ty().clone());
        let mut of = Vec::new();
        for (k, fold) in (0..).zip(&ready) {
            let all = d.cx.var(&own);
            of.push((fold.call, if ready.len() == 1 { all } else { b.field(all, k)? }));
        }
        let point = replaced(d.cx, point, &of)?;
        let Some((first, column)) = self.partial(&parts, &together)? else { return Ok(None) };
        // What others in the group read is there before any of them goes on.
        let after = |rest: Expr| match first {
            Some((name, made)) => d.cx.let_in(name, made, rest).map(Some),
            None => Ok(Some(rest)),
        };
        let folded = d.in_order(&together.fold(), d.cx.var(&column.element))?;
        let folded = around(d, &together.names, folded)?;
        parts.push(column);
        if self::ready(&point).is_empty() {
            let point = d.cx.let_in(own, folded, point)?;
            return after(self.for_each(&parts, d.expr(&point, Level::Inside)?)?);
        }
        let stored = b.to(Space::Local, Ok, folded)?;
        let stored = self.for_each(&parts, stored)?;
        parts.pop();
        let name = d.cx.fresh("folded", stored.ty().clone());
        parts.push(Part { element: own, array: d.cx.var(&name) });
        let Some(rest) = self.rest(parts, &point)? else { return Ok(None) };
        after(d.cx.let_in(name, stored, rest)?)
    }

    /// A value for each column, by one work-item each.
    fn for_each(&self, parts: &[Part], value: Expr) -> Built {
        map_over_as(self.decider.cx, MapKind::Lcl(0), parts, value)
    }

    /// What the work-items of a group make of folds, a few values for each column, and what has a name in front of that.
    fn partial(&self, parts: &[Part], together: &Together) -> Result<Option<Parted>, TypeError> {
        let d = self.decider;
        let round = self.along * groups::AT_ONCE;
        let length = together.xs.ty().as_array().and_then(|(_, n)| n.as_int());
        let is_short = length.is_some_and(|n| n <= self.along * groups::WRITTEN_OUT);
        let width = if is_short { self.along } else { round };
        let xs = d.padded(&together.z, together.xs.clone(), width)?;
        let Some(Part { element, array }) = self.folded(parts, together, self.along, &xs)? else {
            return Ok(None);
        };
        if self.along <= FEW {
            return Ok(Some((None, Part { element, array })));
        }
        let name = d.cx.fresh("partial", array.ty().clone());
        let made = d.cx.var(&element);
        let named = Part { element, array: d.cx.var(&name) };
        let parts = [parts, &[named]].concat();
        let few = self.folded(&parts, together, SHARED_BY, &made)?;
        Ok(few.map(|few| (Some((name, array)), few)))
    }

    /// An array for each column, folded by so many work-items.
    fn folded(
        &self,
        parts: &[Part],
        together: &Together,
        along: i128,
        xs: &Expr,
    ) -> Result<Option<Part>, TypeError> {
        let d = self.decider;
        let b = Build::new(d.cx);
        let lanes = b.transpose(b.split(Nat::int(along), xs))?;
        let lane = |lane: Expr| {
            let own = d.in_order(&together.fold(), b.at(lane, lanes)?)?;
            let own = around(d, &together.names, b.to(Space::Local, Ok, own)?)?;
            self.for_each(parts, d.expr(&own, Level::Inside)?)
        };
        let made = b.map_as(MapKind::Lcl(1), lane, b.generate(Nat::int(along), Ok))?;
        let array = b.transpose(made)?;
        let element = array.ty().as_array().map(|(column, _)| d.cx.fresh("column", column.clone()));
        Ok(element.map(|element| Part { element, array }))
    }
}

/// A name and what it stands for.
type Named<'e> = (&'e Param, &'e Expr);

/// A fold, and the names around it that it may use.
struct Ready<'e> {
    call: &'e Call,
    names: Vec<Named<'e>>,
}

/// The long folds of a point that wait for no other.
fn ready(point: &Expr) -> Vec<Ready<'_>> {
    let mut found = Vec::new();
    add_ready(point, &mut Vec::new(), &mut Vec::new(), &mut found);
    let length = |ready: &Ready| {
        ready.call.args.get(1).and_then(|xs| xs.ty().as_array()).map(|(_, n)| n.clone())
    };
    let first = found.first().and_then(length);
    found.retain(|ready| length(ready) == first);
    found
}

fn add_ready<'e>(
    expr: &'e Expr,
    names: &mut Vec<Named<'e>>,
    waiting: &mut Vec<&'e Param>,
    found: &mut Vec<Ready<'e>>,
) {
    match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => {}
        Kind::Let { param, value, body } => {
            add_ready(value, names, waiting, found);
            if has_long_fold(value) || waiting.iter().any(|name| value.mentions(name)) {
                waiting.push(param);
            } else {
                names.push((param, value));
            }
            add_ready(body, names, waiting, found);
        }
        Kind::Call(call) => {
            let is_long = call.prim == Prim::Reduce(FoldKind::Any) && groups::is_long(call);
            let waits = call.args.iter().any(has_long_fold)
                || waiting.iter().any(|name| expr.mentions(name));
            match is_long && !waits {
                true => found.push(Ready { call, names: names.clone() }),
                false => call.args.iter().for_each(|arg| add_ready(arg, names, waiting, found)),
            }
        }
    }
}

/// Whether a long fold is in an expression, outside of the functions that it maps.
fn has_long_fold(expr: &Expr) -> bool {
    match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => false,
        Kind::Let { value, body, .. } => has_long_fold(value) || has_long_fold(body),
        Kind::Call(call) => {
            call.prim == Prim::Reduce(FoldKind::Any) && groups::is_long(call)
                || call.args.iter().any(has_long_fold)
        }
    }
}

/// Folds over arrays of one length, as one.
struct Together<'e> {
    z: Expr,
    f: Lambda,
    xs: Expr,
    /// Those that any of them may use.
    names: Vec<Named<'e>>,
}

impl<'e> Together<'e> {
    fn of(d: &Decider, ready: &[Ready<'e>]) -> Result<Option<Together<'e>>, TypeError> {
        let b = Build::new(d.cx);
        let (mut zs, mut fs, mut arrays) = (Vec::new(), Vec::new(), Vec::new());
        let mut names: Vec<Named> = Vec::new();
        for Ready { call, names: own } in ready {
            let ([z, xs], Some(f)) = (call.args.as_slice(), call.functions.first()) else {
                return Ok(None);
            };
            zs.push(z.clone());
            arrays.push(xs.clone());
            fs.push(f);
            let is_new = |name: &&Named| names.iter().all(|(known, _)| *known != name.0);
            let new: Vec<Named> = own.iter().filter(is_new).copied().collect();
            names.extend(new);
        }
        if let ([z], [f], [xs]) = (zs.as_slice(), fs.as_slice(), arrays.as_slice()) {
            let (z, f, xs) = (z.clone(), (*f).clone(), xs.clone());
            return Ok(Some(Together { z, f, xs, names }));
        }
        if zs.is_empty() {
            return Ok(None);
        }
        let (z, xs) = (b.tuple(zs)?, b.zip(arrays)?);
        let Some((element, _)) = xs.ty().as_array() else { return Ok(None) };
        let params = [("acc", z.ty().clone()), ("x", element.clone())];
        let f = b.lambda(params, |[acc, x]| {
            let step = |(k, f): (u32, &&Lambda)| {
                let values = [b.field(&acc, k)?, b.field(&x, k)?];
                let values: Vec<(Param, Expr)> = f.params.iter().cloned().zip(values).collect();
                Ok(d.cx.substitute(&f.body, &values))
            };
            b.tuple((0..).zip(&fs).map(step).collect::<Result<Vec<Expr>, TypeError>>()?)
        })?;
        Ok(Some(Together { z, f, xs, names }))
    }

    fn fold(&self) -> Folded<'_> {
        Folded { z: &self.z, f: &self.f }
    }
}

/// An expression in the scope of those names that it needs.
fn around(d: &Decider, names: &[Named], expr: Expr) -> Built {
    names.iter().rev().try_fold(expr, |body, (param, value)| match body.mentions(param) {
        true => d.cx.let_in((*param).clone(), (*value).clone(), body),
        false => Ok(body),
    })
}
