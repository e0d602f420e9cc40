//! Points of a domain one after the other, by nested loops, on processors.
//!
//! Before: `map(\r -> let p = point(D, r); e, 0 .. count(D))`, or a fold of it: a point is found for each number.
//! After: threads have equal shares of the numbers. A share begins at the point of its first number and ends at that of its
//! last; in between its indices are counted, row by row, and a row's numbers follow one another.
//!
//! Only where the ranges of a domain's indices hold nothing but points: not on a chess board.

use std::sync::Arc;

use lift_domain::{Domain, Levels};
use lift_ir::{Call, Lambda, MapKind, Nat, Pred, Prim, Range, Scalar, Type};
use lift_kernel::{Expr, LoopKind, Stmt};

use super::folds::Fold;
use super::points::placed;
use super::view::{ArrayView, View, Writer};
use super::{Env, Translator};
use crate::passes::share;
use crate::plan::Role;
use crate::{LowerError, Target};

/// Shares at most: so many that threads, however many there are, get equal numbers of them.
const SHARES: i128 = 512;

/// Points of a share, at least: those that take a loop each, and others.
const LEAST: [i128; 2] = [8, 1024];

/// A point that a loop is at, and its number.
pub(super) struct Visited {
    domain: Arc<Domain>,
    number: Nat,
    point: Vec<Nat>,
}

/// A domain that is gone through by nested loops.
#[derive(Clone)]
pub(crate) struct Walked {
    domain: Arc<Domain>,
    levels: Levels,
    /// Points of a share, at least.
    least: i128,
}

/// The first and the last number of a share, which may be before the first; nothing where it is all there are.
type Share = Option<[Nat; 2]>;

/// The points of these numbers.
type Ends = Option<[Vec<Nat>; 2]>;

/// Points of a share that differ in their last index only.
#[derive(Clone)]
struct Row {
    /// The indices that they have in common.
    before: Vec<Nat>,
    /// The last index of the first.
    from: Nat,
    extent: Nat,
    /// The number of the first.
    number: Nat,
}

type Each<'a> = dyn FnMut(&mut Translator, &Row) -> Result<(), LowerError> + 'a;

impl Walked {
    /// The domain whose points the numbers of an array are that a call goes through, where a processor does so row by row.
    pub(crate) fn of(call: &Call, target: Target) -> Option<Walked> {
        let xs = call.args.last().filter(|_| target == Target::Loops)?;
        let (_, length) = xs.ty().as_array()?;
        let bodies = call.functions.iter().map(|f| &f.body);
        let domain = [xs].into_iter().chain(bodies).find_map(|expr| {
            expr.places().into_iter().find_map(|(_, part)| match &part.as_call()?.prim {
                Prim::Point(domain) => Some(domain),
                _ => None,
            })
        })?;
        let levels = domain
            .levels()
            .filter(|levels| levels.count() == length && has_only_points(domain, levels))?;
        let heavy = call.functions.iter().any(|f| share::takes_a_loop(&f.body));
        let least = if heavy || share::takes_a_loop(xs) { LEAST[0] } else { LEAST[1] };
        Some(Walked { domain: domain.clone(), levels, least })
    }

    /// How many shares there are, and how many points each but the last has; of an unknown number of points, those behind may
    /// have none.
    fn shares(&self) -> (Nat, Nat) {
        let (count, most) = (self.levels.count(), Nat::int(SHARES));
        let length = count.ceil_div(&most);
        match length.as_int() {
            Some(length) => {
                let length = Nat::int(length.max(self.least));
                (count.ceil_div(&length), length)
            }
            None => (most, length),
        }
    }
}

impl Translator {
    pub(super) fn walked(&self, call: &Call) -> Option<Walked> {
        match self.out.in_kernel() {
            true => None,
            false => Walked::of(call, self.out.options.target),
        }
    }

    /// A map over the points of a domain.
    pub(super) fn map_rows(
        &mut self,
        walked: &Walked,
        f: &Lambda,
        xs: ArrayView,
        env: &Env,
        out: &Writer,
    ) -> Result<(), LowerError> {
        let (walked, f, env, out) = (walked.clone(), f.clone(), env.clone(), out.clone());
        self.kernel(move |t| {
            t.in_shares(&walked, &mut |t, _, share| {
                t.rows(&walked, share, &mut |t, row| {
                    t.repeat(LoopKind::Seq, &row.extent, |t, i| {
                        t.at_point(&walked, row, i, |t, number| {
                            let x = xs.read(t, number)?;
                            let inner = t.enter(&f, vec![x], &env);
                            t.assign(&f.body, &inner, &out.at(number)?)
                        })
                    })
                })
            })
        })
    }

    /// A fold, in any order, over the points of a domain: of each share, and of what comes of them.
    pub(super) fn fold_rows(
        &mut self,
        walked: &Walked,
        fold: &Fold,
        out: &Writer,
    ) -> Result<(), LowerError> {
        let (shares, _) = walked.shares();
        let out = out.clone();
        if shares == Nat::ONE {
            return self.fold_shares(walked, fold, move |_| Ok(out.clone()));
        }
        let parts = Type::array(fold.z.ty().clone(), shares);
        let parts = self.out.global("parts", &parts, |_| Role::Temporary)?;
        let writer = parts.writer();
        self.fold_shares(walked, fold, move |share| writer.at(share))?;
        let parts = parts.view().into_array()?;
        let (z, f, env) = (fold.z.clone(), fold.f.clone(), fold.env.clone());
        self.kernel(move |t| {
            let fold = Fold { z: &z, f: &f, xs: &parts, env: &env };
            t.fold_registers(LoopKind::Seq, false, &fold, &out)
        })
    }

    /// The fold of each share, put in its place.
    fn fold_shares(
        &mut self,
        walked: &Walked,
        fold: &Fold,
        out: impl Fn(&Nat) -> Result<Writer, LowerError> + 'static,
    ) -> Result<(), LowerError> {
        let Fold { z, f, xs, env } = *fold;
        let (walked, z, f, xs, env) =
            (walked.clone(), z.clone(), f.clone(), xs.clone(), env.clone());
        self.kernel(move |t| {
            t.in_shares(&walked, &mut |t, place, share| {
                let (acc, writer) = t.out.registers("acc", z.ty())?;
                let start = t.eval(&z, &env)?;
                t.store(start, &writer)?;
                t.rows(&walked, share, &mut |t, row| {
                    let (own, all, here) = (walked.clone(), xs.clone(), row.clone());
                    let elements = View::array(&row.extent, move |t, i| {
                        t.at_point(&own, &here, i, |t, number| all.read(t, number))
                    });
                    let elements = elements.into_array()?;
                    let fold = Fold { z: &z, f: &f, xs: &elements, env: &env };
                    t.fold_into(LoopKind::Seq, true, &fold, &acc, &writer)
                })?;
                t.store(acc, &out(place)?)
            })
        })
    }

    /// What each thread does: a share of the points, which has a number. A single one is no loop.
    fn in_shares(
        &mut self,
        walked: &Walked,
        each: &mut dyn FnMut(&mut Translator, &Nat, Share) -> Result<(), LowerError>,
    ) -> Result<(), LowerError> {
        let (shares, length) = walked.shares();
        if shares == Nat::ONE {
            return each(self, &Nat::ZERO, None);
        }
        self.map_loop(MapKind::Glb(0), &shares, |t, number| {
            let natural = || Range::at_least(Nat::ZERO);
            let length = t.out.held_index("length", &length, natural());
            let first = t.out.held_index("first", &(number * &length), natural());
            let end = Nat::min(&(&first + &length), walked.levels.count());
            let last = t.out.held_index("last", &(end - Nat::ONE), Range::any());
            each(t, number, Some([first, last]))
        })
    }

    /// Goes through the rows of a share.
    fn rows(&mut self, walked: &Walked, share: Share, each: &mut Each) -> Result<(), LowerError> {
        let Some([first, last]) = share else {
            return self.rows_behind(walked, &None, &[], each);
        };
        let condition = Expr::Test(Pred::Le(first.clone(), last.clone()));
        let then = self.collect(|t| {
            let first = t.point_of(&walked.domain, &walked.levels, first)?;
            let last = t.point_of(&walked.domain, &walked.levels, last)?;
            t.rows_behind(walked, &Some([first, last]), &[], each)
        })?;
        match walked.levels.count().as_int() {
            // Each has a point.
            Some(_) => then.into_iter().for_each(|stmt| self.out.emit(stmt)),
            None => self.out.emit(Stmt::If { condition, then, otherwise: Vec::new() }),
        }
        Ok(())
    }

    /// Goes through the rows whose points begin with some indices.
    fn rows_behind(
        &mut self,
        walked: &Walked,
        ends: &Ends,
        before: &[Nat],
        each: &mut Each,
    ) -> Result<(), LowerError> {
        let Some(level) = walked.levels.levels().get(before.len()) else { return Ok(()) };
        let (low, high) = (placed(&level.low, before), placed(&level.high, before));
        let (mut from, mut to) = (low.clone(), high.clone());
        if let Some([first, last]) = ends {
            from = self.out.row_end("from", before, first, &low, Range::at_least(low.clone()));
            to = self.out.row_end("to", before, last, &high, Range::any());
            if let Some(var) = to.as_var() {
                self.out.assume_of(var, &Pred::Le(to.clone(), high.clone()));
            }
        }
        let extent = self.out.simplify(&(&to - &from + Nat::ONE));
        if before.len() + 1 == walked.levels.levels().len() {
            let point: Vec<Nat> = before.iter().cloned().chain([from.clone()]).collect();
            let number = walked.levels.rank(&point);
            let number = self.out.held_index("number", &number, Range::at_least(Nat::ZERO));
            let before = before.to_vec();
            return each(self, &Row { before, from, extent, number });
        }
        self.repeat(LoopKind::Seq, &extent, |t, i| {
            let x = t.out.held_index("x", &(&from + i), Range::between(low, high));
            let inner: Vec<Nat> = before.iter().cloned().chain([x]).collect();
            t.rows_behind(walked, ends, &inner, each)
        })
    }

    /// Something at point i of a row, given its number.
    fn at_point<T>(
        &mut self,
        walked: &Walked,
        row: &Row,
        i: &Nat,
        there: impl FnOnce(&mut Translator, &Nat) -> Result<T, LowerError>,
    ) -> Result<T, LowerError> {
        let point: Vec<Nat> = row.before.iter().cloned().chain([&row.from + i]).collect();
        // A variable that is there only where the point is.
        let own = i.vars().into_iter().chain(point.iter().rev().flat_map(Nat::vars));
        if let Some(var) = own.into_iter().find(|v| !self.out.sizes.contains(v)) {
            for condition in walked.domain.conditions(&point) {
                if !self.out.proves(&condition) {
                    self.out.assume_of(&var, &condition);
                }
            }
        }
        let (domain, number) = (walked.domain.clone(), self.out.simplify(&(&row.number + i)));
        self.visited.push(Visited { domain, number: number.clone(), point });
        let made = there(self, &number);
        self.visited.pop();
        made
    }

    /// The point of a number, where a loop is at it.
    pub(super) fn visited(&self, domain: &Domain, number: &Nat) -> Option<Vec<Nat>> {
        let is_it = |v: &&Visited| *v.domain == *domain && v.number == *number;
        self.visited.iter().rev().find(is_it).map(|v| v.point.clone())
    }
}

impl super::emitter::Emitter {
    /// Where a row begins or ends: at the end of a share, where it is the row of that, else where all rows do.
    fn row_end(
        &mut self,
        name: &str,
        before: &[Nat],
        end: &[Nat],
        usual: &Nat,
        range: Range,
    ) -> Nat {
        let Some(own) = end.get(before.len()) else { return usual.clone() };
        let same = before.iter().zip(end).map(|(x, y)| Pred::Eq(x.clone(), y.clone()));
        let same: Vec<Pred> = same.collect();
        if same.is_empty() {
            return own.clone();
        }
        let value = Nat::cond(Pred::And(same), own.clone(), usual.clone());
        self.held_index(name, &value, range)
    }

    /// An index in a variable, unless it is a number.
    fn held_index(&mut self, name: &str, value: &Nat, range: Range) -> Nat {
        let value = self.simplify(value);
        if value.as_int().is_some() || value.as_var().is_some() {
            return value;
        }
        let var = self.fresh_index(name, range);
        self.emit(Stmt::Index { var: var.clone(), value: Expr::Index(value, Scalar::I64) });
        Nat::var(&var)
    }
}

/// Whether the ranges of the indices say all that the constraints do.
pub(crate) fn has_only_points(domain: &Domain, levels: &Levels) -> bool {
    let mut facts = Domain::new(domain.dimensions(), Vec::new()).facts();
    for var in domain.sizes() {
        facts.assume(&Pred::Le(Nat::ZERO, Nat::var(&var)));
    }
    for (k, level) in levels.levels().iter().enumerate() {
        facts.assume(&Pred::Le(level.low.clone(), Domain::index(k)));
        facts.assume(&Pred::Le(Domain::index(k), level.high.clone()));
    }
    domain.conditions(&domain.point()).iter().all(|condition| facts.proves(condition))
}
