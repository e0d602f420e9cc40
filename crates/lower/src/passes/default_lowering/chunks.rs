//! Long folds at few points, cut into chunks.
//!
//! Before: `map(\x -> E[reduce(z, f, xs)], rs)`, with fewer points than a device has work-items.
//! After: `let partial = map(\x -> map(reduce(z, f), split(c, xs)), rs); map(\(x, p) -> E[reduce(z, f, p)], zip(rs, partial))`,
//! with `xs` padded with z. Chunks are a dimension of the first grid: a work-item each where neighbouring points read
//! neighbouring elements, else a group. In the first case, where `rs` is there or a view, the grid is of chunks of points, not of points
//! of chunks, so that neighbours store side by side what others read so:
//!
//! `let partial = map(\k -> map(\x -> reduce(z, f, split(c, xs)[k]), rs), indices); map(…, zip(rs, transpose(partial)))`
//!
//! Where an element takes a loop itself, nothing is padded, so that work-items need not
//! ask for each whether there is one: what is left over from the chunks is folded in the second grid.
//!
//! A contraction, in which something is read along each of two dimensions, has the grid of chunks of points too, and nothing padded: it
//! is one product more for each chunk, for which groups have tiles (`group_tiling`).
//!
//! Of several folds that follow each other at a point the first gets a grid of its own, so that each can be cut:
//!
//! `map(\x -> E[reduce(z, f, xs)], rs) = let ys = map(\x -> reduce(z, f, xs), rs); map(\(x, y) -> E[y], zip(rs, ys))`

use lift_ir::{
    Build, Built, Call, Expr, FoldKind, Kind, Lambda, MapKind, Nat, Param, Prim, Scalar, Type,
    TypeError,
};

use super::groups::Folded;
use super::shared::point;
use super::strides::{Folds, Order};
use super::{Decider, GROUP_DIMENSIONS, Level, MOST_DIMENSIONS, groups, inner_map};
use crate::passes::share;
use crate::replace::replaced;

/// Work-items that a device runs at once, about, and elements that one folds at least.
const ITEMS: i128 = 1 << 18;
const ITEM_FOLDS: i128 = 64;

/// The same of groups.
const GROUPS: i128 = 1 << 10;
const GROUP_FOLDS: i128 = 1 << 12;

/// Chunks of a fold, at least and at most.
const LEAST: i128 = 4;
const MOST: i128 = 1 << 8;

/// Points of all chunks of a contraction together, about, where its tiles fill a device; what is folded of a chunk at least, and chunks
/// at most.
const TILED: i128 = 1 << 20;
const TILED_FOLDS: i128 = 1 << 7;
const MOST_TILED: i128 = 1 << 10;

/// Steps of a tile that take as long as another kernel, and somewhat more.
const WORTH: i128 = 1 << 10;

/// Steps of tiles: chunks are whole numbers of them, so that none is shorter than the others.
const STEP: i128 = 16;

/// How folds are cut.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Cut {
    /// Elements of the fold, and chunks that are wanted.
    steps: i128,
    count: i128,
    kind: Chunks,
}

/// Who folds a chunk.
#[derive(Clone, Copy, PartialEq)]
enum Chunks {
    /// A work-item, those of neighbouring points side by side.
    Item,
    /// A group.
    Group,
    /// A work-item, or a group that has a tile of points, whose operands they share.
    Tile,
}

impl Cut {
    /// For the folds of a grid; nothing where there are points enough, or that is not known.
    pub(super) fn of(folds: &Folds) -> Option<Cut> {
        let (points, steps) = (folds.points?.max(1), folds.steps?);
        let kind = match folds.order {
            Order::Rows => Chunks::Group,
            Order::Contraction if folds.are_tiled => Chunks::Tile,
            Order::Columns | Order::Contraction => Chunks::Item,
        };
        let count = (kind.wanted() / points).min(steps / kind.least()).min(kind.most());
        (count >= LEAST).then(|| Cut { steps, count: 1 << count.ilog2(), kind })
    }

    /// The same for one of the folds, which may not be the longest of its grid. What chunks were folded to is not cut again: that takes no
    /// longer than to launch one kernel more.
    fn for_fold(self, fold: &Call) -> Option<Cut> {
        let (_, length) = fold.args.get(1)?.ty().as_array()?;
        let steps = length.as_int().filter(|n| *n > MOST)?;
        let count = self.count.min(steps / self.kind.least());
        (count >= LEAST).then(|| Cut { steps, count: 1 << count.ilog2(), ..self })
    }

    /// Whether it is expected to pay without a look at what else there is: the steps that it leaves out are more than those that a
    /// kernel more takes the time of. All of that is so of folds that work-items or groups share.
    pub(super) fn is_usual(self) -> bool {
        match self.kind {
            Chunks::Item | Chunks::Group => true,
            Chunks::Tile => self.steps - self.steps / self.count >= WORTH,
        }
    }

    /// How many chunks are wanted.
    pub(super) fn chunks(self) -> i128 {
        self.count
    }

    /// Elements of a chunk where the last one is padded: whole rounds of the work-items of a group, or of the steps that are
    /// written out.
    fn padded(self) -> i128 {
        let round = if self.kind == Chunks::Group { groups::WIDEST } else { groups::AT_ONCE };
        let in_all = self.count * round;
        (self.steps + in_all - 1) / in_all * round
    }

    /// Elements of a chunk where few are left over: somewhat more chunks than are wanted, if that leaves fewer.
    fn whole(self) -> i128 {
        let most = (self.steps / self.count).max(1);
        let (fewer, round) = match self.kind {
            Chunks::Item | Chunks::Group => (most / 8, 1),
            Chunks::Tile => (most / 3, STEP),
        };
        let least = (most - fewer).max(1);
        let whole = (least..=most).rev().filter(|chunk| chunk % round == 0);
        whole.min_by_key(|chunk| self.steps % chunk).unwrap_or(most)
    }
}

impl Chunks {
    /// Chunks of all points together that fill a device.
    fn wanted(self) -> i128 {
        match self {
            Chunks::Item => ITEMS,
            Chunks::Group => GROUPS,
            Chunks::Tile => TILED,
        }
    }

    /// Elements of a chunk at least.
    fn least(self) -> i128 {
        match self {
            Chunks::Item => ITEM_FOLDS,
            Chunks::Group => GROUP_FOLDS,
            Chunks::Tile => TILED_FOLDS,
        }
    }

    /// Chunks of a fold at most.
    fn most(self) -> i128 {
        match self {
            Chunks::Item | Chunks::Group => MOST,
            Chunks::Tile => MOST_TILED,
        }
    }
}

impl Decider<'_> {
    /// A nest of maps around a point with one long fold, which is cut.
    pub(super) fn cut(&self, call: &Call, depth: u8, cut: Cut) -> Result<Option<Expr>, TypeError> {
        let Some(point) = point(call, depth) else { return Ok(None) };
        let mut long = groups::folds(point).unwrap_or_default();
        long.retain(|fold| groups::is_long(fold));
        let by_group = cut.kind == Chunks::Group;
        let most = if by_group { GROUP_DIMENSIONS } else { MOST_DIMENSIONS };
        let Some(fold) = long.first().filter(|_| depth < most) else { return Ok(None) };
        let leaves_rest = match cut.kind {
            Chunks::Item => fold.args.iter().skip(1).any(share::takes_a_loop),
            Chunks::Group => false,
            Chunks::Tile => true,
        };
        let is_last = long.len() == 1;
        let Some(cut) = (if is_last { cut.for_fold(fold) } else { Some(cut) }) else {
            return Ok(None);
        };
        let chunk = self.cx.fresh("chunk", Type::Scalar(Scalar::I32));
        // What is computed for all chunks alike stands outside of them.
        let is_view = call.args.iter().all(|rows| !share::takes_a_loop(rows));
        let by_chunk = is_last && is_view && !by_group;
        if cut.kind == Chunks::Tile && is_last && !by_chunk {
            return Ok(None);
        }
        let cutter =
            Cutter { decider: self, fold, cut, leaves_rest, is_last, by_chunk, chunk, depth };
        let Some(partial) = cutter.partial(call, depth - 1, Level::Fused)? else { return Ok(None) };
        let partial = cutter.by_chunk(partial, depth)?;
        let partial = if is_last { partial } else { self.expr(&partial, Level::Host)? };
        let param = self.cx.fresh("partial", partial.ty().clone());
        let by_point = cutter.by_point(self.cx.var(&param), depth)?;
        let rest = cutter.rest(call, depth - 1, &by_point)?;
        self.cx.let_in(param, partial, self.expr(&rest, Level::Host)?).map(Some)
    }
}

struct Cutter<'d, 'e> {
    decider: &'d Decider<'d>,
    /// The fold that is cut.
    fold: &'e Call,
    cut: Cut,
    /// What makes no whole chunk is folded afterwards.
    leaves_rest: bool,
    /// No other fold of the point waits for it: else it is not cut yet, but done for all points beforehand.
    is_last: bool,
    /// Chunks are the outermost dimension of the grid, else they are the innermost one.
    by_chunk: bool,
    /// The number of a chunk, where chunks are the outermost dimension.
    chunk: Param,
    /// Dimensions of the grid without chunks.
    depth: u8,
}

impl Cutter<'_, '_> {
    fn is_fold(&self, expr: &Expr) -> bool {
        expr.as_call().is_some_and(|call| std::ptr::eq(call, self.fold))
    }

    fn has_fold(&self, expr: &Expr) -> bool {
        self.is_fold(expr) || expr.children().into_iter().any(|child| self.has_fold(child))
    }

    /// The grid of points for each chunk.
    fn by_chunk(&self, points: Expr, depth: u8) -> Built {
        if !self.by_chunk {
            return Ok(points);
        }
        let b = Build::new(self.decider.cx);
        let f = Lambda { size: None, params: vec![self.chunk.clone()], body: points };
        let indices = b.generate(self.count(), Ok)?;
        self.decider.cx.call(Prim::Map(MapKind::Glb(depth)), vec![], vec![f], vec![indices])
    }

    /// What the chunks of each point are folded to, of what the points of each chunk are.
    fn by_point(&self, partial: Expr, depth: u8) -> Built {
        let b = Build::new(self.decider.cx);
        match (self.by_chunk, depth) {
            (false, _) | (true, 0) => Ok(partial),
            (true, 1) => b.transpose(partial),
            (true, _) => b.map(|inner| self.by_point(inner, depth - 1), b.transpose(partial)),
        }
    }

    /// How many chunks there are.
    fn count(&self) -> Nat {
        let (steps, chunk) = match self.leaves_rest {
            true => (self.cut.steps, self.cut.whole()),
            false => (self.cut.steps + self.cut.padded() - 1, self.cut.padded()),
        };
        Nat::int(steps / chunk)
    }

    /// The grid of what chunks are folded to, or of what one chunk of each is.
    fn partial(&self, call: &Call, inside: u8, level: Level) -> Result<Option<Expr>, TypeError> {
        let (Some(f), Some(xs)) = (call.functions.first(), call.args.first()) else {
            return Ok(None);
        };
        let body = match inner_map(f).filter(|_| inside > 0) {
            Some(inner) => self.partial(inner, inside - 1, Level::Inside)?,
            None => self.chunks(&f.body)?,
        };
        let Some(body) = body else { return Ok(None) };
        let kind = match (self.is_last, self.cut.kind == Chunks::Group) {
            (false, _) => MapKind::Map,
            (true, true) => MapKind::Wrg(inside + 1),
            (true, false) => MapKind::Glb(inside),
        };
        let f = Lambda { body, ..f.clone() };
        let xs = if self.is_last { self.decider.expr(xs, level)? } else { xs.clone() };
        self.decider.cx.call(Prim::Map(kind), vec![], vec![f], vec![xs]).map(Some)
    }

    /// What the chunks of the fold in an expression are folded to, in the scope of the fold.
    fn chunks(&self, expr: &Expr) -> Result<Option<Expr>, TypeError> {
        let cx = self.decider.cx;
        match expr.kind() {
            Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => Ok(None),
            Kind::Let { value, .. } if self.has_fold(value) => self.chunks(value),
            Kind::Let { param, value, body } => {
                let Some(body) = self.chunks(body)? else { return Ok(None) };
                let value = match self.is_last {
                    true => self.decider.expr(value, Level::Inside)?,
                    false => value.clone(),
                };
                cx.let_in(param.clone(), value, body).map(Some)
            }
            Kind::Call(_) if self.is_fold(expr) && !self.is_last => Ok(Some(expr.clone())),
            Kind::Call(_) if self.is_fold(expr) => self.folded().map(Some),
            Kind::Call(call) => match call.args.iter().find(|arg| self.has_fold(arg)) {
                Some(arg) => self.chunks(arg),
                None => Ok(None),
            },
        }
    }

    /// `map(reduce(z, f), split(c, xs))`, or one element of it.
    fn folded(&self) -> Built {
        let d = self.decider;
        let b = Build::new(d.cx);
        let [z, xs] = self.fold.args.as_slice() else {
            return d.rebuild(self.fold, self.fold.prim.clone(), Level::Inside, Level::Inside);
        };
        let (chunk, array) = match self.leaves_rest {
            true => (self.cut.whole(), b.take(self.in_chunks(), xs)?),
            false => (self.cut.padded(), d.padded(z, xs.clone(), self.cut.padded())?),
        };
        let chunks = d.expr(&b.split(Nat::int(chunk), array)?, Level::Inside)?;
        let Some(f) = self.fold.functions.first() else { return Ok(chunks) };
        let z = d.expr(z, Level::Inside)?;
        let f = Lambda { body: d.expr(&f.body, Level::Inside)?, ..f.clone() };
        let fold = Folded { z: &z, f: &f };
        if self.cut.kind == Chunks::Group {
            return b.map_as(MapKind::Wrg(0), |chunk| d.fold_array(&fold, chunk), chunks);
        }
        let each = |chunk| match self.leaves_rest {
            true => self.in_order(&f, &z, chunk),
            false => d.in_order(&fold, chunk),
        };
        match self.by_chunk {
            true => each(b.at(d.cx.var(&self.chunk), chunks)?),
            false => b.map_as(MapKind::Glb(self.depth), each, chunks),
        }
    }

    /// Elements of the fold that are in chunks.
    fn in_chunks(&self) -> Nat {
        Nat::int(self.cut.steps - self.cut.steps % self.cut.whole())
    }

    fn in_order(&self, f: &Lambda, z: &Expr, xs: Expr) -> Built {
        let prim = Prim::Reduce(FoldKind::Seq);
        self.decider.cx.call(prim, vec![], vec![f.clone()], vec![z.clone(), xs])
    }

    /// The fold, of what its chunks were folded to and what is left over.
    fn refolded(&self, partial: Expr) -> Built {
        let (cx, b) = (self.decider.cx, Build::new(self.decider.cx));
        let ([z, xs], Some(f)) = (self.fold.args.as_slice(), self.fold.functions.first()) else {
            return Ok(partial);
        };
        if !self.is_last {
            return Ok(partial);
        }
        if !self.leaves_rest || self.in_chunks() == Nat::int(self.cut.steps) {
            let args = vec![z.clone(), partial];
            return cx.call(self.fold.prim.clone(), vec![], vec![f.clone()], args);
        }
        let rest = b.drop(self.in_chunks(), xs)?;
        match (self.cut.kind, f.params.as_slice()) {
            (Chunks::Tile, [left, right]) => {
                let args = vec![z.clone(), partial];
                let made = cx.call(self.fold.prim.clone(), vec![], vec![f.clone()], args)?;
                let values = [(left.clone(), made), (right.clone(), self.in_order(f, z, rest)?)];
                Ok(cx.substitute(&f.body, &values))
            }
            (Chunks::Tile | Chunks::Item | Chunks::Group, _) => {
                self.in_order(f, &self.in_order(f, z, rest)?, partial)
            }
        }
    }

    /// The grid of points, with what the chunks of each are folded to.
    fn rest(&self, call: &Call, inside: u8, partial: &Expr) -> Built {
        let cx = self.decider.cx;
        let b = Build::new(cx);
        let (Some(f), Some(xs)) = (call.functions.first(), call.args.first()) else {
            return cx.call(call.prim.clone(), vec![], call.functions.clone(), call.args.clone());
        };
        let each = |pair: Expr| {
            let own = b.field(&pair, 1)?;
            let body = match inner_map(f).filter(|_| inside > 0) {
                Some(inner) => self.rest(inner, inside - 1, &own)?,
                None => replaced(cx, &f.body, &[(self.fold, self.refolded(own)?)])?,
            };
            let x = b.field(&pair, 0)?;
            let values: Vec<(Param, Expr)> =
                f.params.iter().map(|p| (p.clone(), x.clone())).collect();
            Ok(cx.substitute(&body, &values))
        };
        b.map(each, b.zip([xs, partial]))
    }
}
