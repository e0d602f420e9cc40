//! Folds whose order is free, in the lanes of a processor's vectors.
//!
//! `reduce(z, f, xs) = reduce(reduce(z, f, map(reduce(z, f), transpose(split(16, xs)))), f, rest)`: every lane folds each
//! sixteenth element. Of a known length the lanes do what is left over, too: they take the last sixteen elements, and those
//! that had theirs already forget what they find. Then lanes are folded, half of them with the other half, until one is left.
//!
//! It pays where the elements lie side by side, and those of neighbouring points do not: else points are the lanes
//! (`register_tiling`).

use std::collections::BTreeSet;

use lift_ir::{Expr as Functional, Kind, Nat, Pred, Prim, Scalar, Space, Type, Var};
use lift_kernel::{Access, BufferId, LoopKind, Mark, Stmt};

use super::Translator;
use super::emitter::Emitter;
use super::folds::Fold;
use super::open_kernel::OpenKernel;
use super::view::{View, Writer};
use crate::nest::{PACKED_FOR, step};
use crate::passes::register_tiling::VECTOR_BYTES;
use crate::{LowerError, Target, rows};

/// Elements of a fold, at least, where a point does it in a loop of its own.
const REPEATED: i128 = 64;

impl Translator {
    /// Folds into a state that is the start already.
    pub(super) fn fold_lanes(
        &mut self,
        fold: &Fold,
        count: i128,
        state: &View,
        place: &Writer,
    ) -> Result<(), LowerError> {
        let Fold { z, f, xs, env } = *fold;
        let lanes = Nat::int(count);
        let whole = self.out.simplify(&xs.length.div(&lanes));
        let rest = self.out.simplify(&xs.length.rem(&lanes));
        let all = Type::array(z.ty().clone(), lanes.clone());
        let storage = self.out.allocate("lanes", &all, Space::Private, 0)?;
        let name = f.params.first().map_or("acc", |p| p.name()).to_string();
        let (shares, places) = (storage.view().into_array()?, storage.writer());
        self.repeat(LoopKind::Seq, &lanes, |t, lane| {
            let start = t.eval(z, env)?;
            t.store(start, &places.at(lane)?)
        })?;
        self.out.mark_lanes();
        self.repeat(LoopKind::Seq, &whole, |t, step| {
            t.repeat(LoopKind::Seq, &lanes, |t, lane| {
                let (own, writer) = t.out.registers(&name, z.ty())?;
                let share = shares.read(t, lane)?;
                t.store(share, &writer)?;
                let x = xs.read(t, &(step * &lanes + lane))?;
                fold.step(t, &own, x, &writer)?;
                t.store(own, &places.at(lane)?)
            })?;
            t.out.mark_lanes();
            Ok(())
        })?;
        let in_lanes = rest != Nat::ZERO && xs.length.as_int().is_some();
        if in_lanes {
            let first = self.out.simplify(&(&xs.length - &lanes));
            let done = self.out.simplify(&(&lanes - &rest));
            self.repeat(LoopKind::Seq, &lanes, |t, lane| {
                let (own, writer) = t.out.registers(&name, z.ty())?;
                let share = shares.read(t, lane)?;
                t.store(share, &writer)?;
                let x = xs.read(t, &(&first + lane))?;
                fold.step(t, &own, x, &writer)?;
                let is_left = Pred::Le(done.clone(), lane.clone());
                t.store(own, &places.at(lane)?.guarded(&is_left))
            })?;
            self.out.mark_lanes();
        }
        let mut half = count / 2;
        while half > 0 {
            let others = Nat::int(half);
            self.repeat(LoopKind::Seq, &others, |t, lane| {
                let (own, writer) = t.out.registers(&name, z.ty())?;
                let share = shares.read(t, lane)?;
                t.store(share, &writer)?;
                let x = shares.read(t, &(lane + &others))?;
                fold.step(t, &own, x, &writer)?;
                t.store(own, &places.at(lane)?)
            })?;
            self.out.mark_lanes();
            half /= 2;
        }
        let x = shares.read(self, &Nat::ZERO)?;
        fold.step(self, state, x, place)?;
        if rest == Nat::ZERO || in_lanes {
            return Ok(());
        }
        self.repeat(LoopKind::Seq, &rest, |t, at| {
            let x = xs.read(t, &(&whole * &lanes + at))?;
            fold.step(t, state, x, place)
        })
    }
}

impl Emitter {
    /// How much was made besides statements: where it grows, what was translated cannot be again.
    pub(super) fn made(&self) -> (u32, usize, usize) {
        let privates = self.open.as_ref().map_or(0, |k| k.privates.len());
        (self.next_buffer, self.checks.len(), privates)
    }

    /// How many lanes should share the fold that was just put down, if any.
    pub(super) fn lanes_that_pay(&self, z: &Functional) -> Option<i128> {
        let open = self.open.as_ref().filter(|_| self.options.target == Target::Loops)?;
        let Stmt::Loop(l) = open.blocks.last()?.last()? else { return None };
        let is_loop_free = l.body.iter().all(is_loop_free);
        let lanes = lanes_of(z.ty())?;
        // What a point folds again and again is better packed for lanes of points, where it is short.
        let least = if open.sequential == 0 { lanes + 1 } else { REPEATED };
        let is_long = l.extent.as_int().is_none_or(|n| n >= least);
        if !is_long || !is_loop_free || !is_constant(z) {
            return None;
        }
        let mut loads: Vec<&Access> = Vec::new();
        let mut plain = true;
        for stmt in &l.body {
            stmt.each(&mut |s| {
                plain &=
                    !matches!(s, Stmt::Store { .. } | Stmt::Atomic { .. } | Stmt::Index { .. });
                s.values().for_each(|value| {
                    value.each(&mut |e| {
                        if let lift_kernel::Expr::Load(access, _) = e {
                            loads.push(access);
                        }
                    });
                });
            });
        }
        let step = |access: &Access, var: &Var| step(&access.index, var, &self.facts);
        let still = |access: &Access, var: &Var| step(access, var) == Nat::ZERO;
        let beside = |access: &Access, var: &Var| step(access, var) == Nat::ONE;
        let in_lanes = loads.iter().all(|a| beside(a, &l.var) || still(a, &l.var));
        let moves = loads.iter().any(|a| beside(a, &l.var));
        // Whether points are as good as lanes: what they read lies side by side, or can be made to.
        let by_data = by_data(open);
        let points = open.parallel.split_last().is_some_and(|(points, around)| {
            let room = |n: &Nat, least: i128| n.as_int().is_none_or(|n| n >= least);
            let packable =
                |a: &Access| around.iter().any(|o| room(&o.extent, PACKED_FOR) && still(a, &o.var));
            let lanewise = |a: &Access| {
                let is_row = || self.is_row(open, a.buffer, &points.var);
                beside(a, &points.var) || (still(a, &points.var) && !is_row())
            };
            room(&points.extent, lanes)
                && open.sequential == 0
                && loads.iter().all(|a| {
                    !a.index.any_var(&mut |v| by_data.contains(v)) && (lanewise(a) || packable(a))
                })
        });
        (plain && in_lanes && moves && !points).then_some(lanes)
    }

    /// Whether an array is a row that each point has made before.
    fn is_row(&self, open: &OpenKernel, buffer: BufferId, points: &Var) -> bool {
        let mut found = false;
        for stmt in open.blocks.iter().flatten() {
            stmt.each(&mut |s| {
                found |= matches!(s, Stmt::Loop(l)
                    if rows::makes_row(l, buffer, points, &self.facts));
            });
        }
        found
    }

    /// Takes back the statement that was put down last.
    pub(super) fn take_back(&mut self) {
        if let Some(block) = self.open.as_mut().and_then(|k| k.blocks.last_mut()) {
            block.pop();
        }
    }

    /// The loop that was put down last is over lanes.
    fn mark_lanes(&mut self) {
        let last = self.open.as_mut().and_then(|k| k.blocks.last_mut()?.last_mut());
        if let Some(Stmt::Loop(l)) = last {
            l.mark = Mark::Lanes;
        }
    }
}

/// The variables of indices that data decide, for each point anew.
fn by_data(open: &OpenKernel) -> BTreeSet<Var> {
    let mut found = BTreeSet::new();
    for stmt in open.blocks.iter().flatten() {
        if let Stmt::Index { var, .. } = stmt {
            found.insert(var.clone());
        }
    }
    found
}

/// Whether a statement is straight-line code, or a branch to such: no loop, no barrier.
fn is_loop_free(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::If { then, otherwise, .. } => then.iter().chain(otherwise).all(is_loop_free),
        other => other.is_straight_line(),
    }
}

/// Whether a start is the same wherever it is asked for.
fn is_constant(z: &Functional) -> bool {
    match z.kind() {
        Kind::Literal(_) | Kind::Size(..) => true,
        Kind::Var(_) | Kind::Let { .. } => false,
        Kind::Call(call) => {
            matches!(call.prim, Prim::Tuple | Prim::Cast(_) | Prim::Unary(_))
                && call.args.iter().all(is_constant)
        }
    }
}

/// Lanes for states of a type: as many as a vector has of its largest number.
fn lanes_of(ty: &Type) -> Option<i128> {
    let largest = largest(ty)?;
    Some(VECTOR_BYTES / i128::try_from(largest.bytes()).ok()?.max(4))
}

fn largest(ty: &Type) -> Option<Scalar> {
    match ty {
        Type::Scalar(scalar) => Some(*scalar),
        Type::Tuple(items) => {
            let all: Option<Vec<Scalar>> = items.iter().map(largest).collect();
            all?.into_iter().max_by_key(|scalar| scalar.bytes())
        }
        Type::Vector(..) | Type::Array(..) => None,
    }
}
