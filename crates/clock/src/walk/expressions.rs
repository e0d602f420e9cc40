//! The operations of expressions: what is done once in straight code, and what compilers move out of loops.

use lift_ir::{BinaryOp, Nat, Pred};
use lift_kernel::{Expr, Runs};

use super::tally::Number;
use super::{LANES, Mask, Walk};
use crate::operations;

/// Numbers of a vector that a processor does with one instruction.
pub(super) const REGISTER: u32 = 16;

impl<'k> Walk<'k> {
    pub(super) fn expr(&mut self, expr: &'k Expr, mask: Mask, weight: f64, fused: bool) {
        if matches!(expr, Expr::Literal(_) | Expr::Var(_)) {
            return;
        }
        let (operation, stays) = match self.moved < 1.0 {
            true => {
                let (operation, changes) = self.tally.changing(expr, &self.changing);
                (operation, !changes)
            }
            false => (self.tally.of(expr), false),
        };
        if stays {
            // Moved out of the loop, with all that is inside.
            let moved = std::mem::replace(&mut self.moved, 1.0);
            self.expr(expr, mask, weight * moved, fused);
            self.moved = moved;
            return;
        }
        if !fused && let Some((number, lanes)) = operation {
            match self.kernel.runs {
                Runs::Loops if lanes > 1.0 && expr.ty().width > 1 => {
                    self.registers(number, expr.ty().width, mask, weight);
                }
                _ => self.operation(number, lanes, mask, weight),
            }
        }
        match expr {
            Expr::Load(access, _) => self.access(access, mask, weight, false),
            Expr::Lane(vector, _) => match &**vector {
                // The lanes of one vector load are one access.
                Expr::Load(access, _) => {
                    let number = self.tally.index(&access.index, self.index_class());
                    if self.known.insert(number) {
                        self.access(access, mask, weight, false);
                    }
                }
                other => self.expr(other, mask, weight, false),
            },
            Expr::Select(condition, then, otherwise) => {
                self.expr(condition, mask, weight, false);
                self.either(condition, mask, weight, |walk, mask, weight, taken| {
                    walk.expr(if taken { then } else { otherwise }, mask, weight, false);
                });
            }
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => {
                let first = operations::fuses(a);
                self.expr(a, mask, weight, first);
                self.expr(b, mask, weight, !first && operations::fuses(b));
            }
            Expr::Index(nat, _) => self.index(nat, mask, weight),
            Expr::Test(pred) => {
                let number = self.tally.test(pred);
                let is_new = !self.tested.contains(&number);
                if is_new && pred.any_var(&mut |v| !self.constant.contains(&v)) {
                    self.tested.insert(number);
                    let wide = if self.kernel.wide_indices { 2.0 } else { 1.0 };
                    let count = wide * self.comparisons(pred);
                    let number = self.tally.number("i32.add");
                    self.operation(number, count, mask, weight);
                }
            }
            Expr::Literal(_) | Expr::Var(_) => {}
            Expr::Unary(_, a) | Expr::Cast(_, a) | Expr::Splat(_, a) => {
                self.expr(a, mask, weight, false);
            }
            // It goes the way of local memory, a word of each lane at a time.
            Expr::Shuffle(_, a) => {
                self.expr(a, mask, weight, false);
                self.seen.local += weight * operations::words(a.ty().scalar);
            }
            Expr::Binary(_, a, b) => {
                self.expr(a, mask, weight, false);
                self.expr(b, mask, weight, false);
            }
            // Numbers that are computed alike side by side are computed as a vector.
            Expr::Vector(_, args) if self.kernel.runs == Runs::Loops => {
                let weight = if are_alike(args) { weight / args.len() as f64 } else { weight };
                args.iter().for_each(|a| self.expr(a, mask, weight, false));
            }
            Expr::Math(_, args) | Expr::Vector(_, args) | Expr::Extern(_, args) => {
                args.iter().for_each(|a| self.expr(a, mask, weight, false));
            }
        }
    }

    pub(super) fn operation(&mut self, number: Number, lanes: f64, mask: Mask, weight: f64) {
        let (is_scalar, count) = self.done_by(&mask);
        self.tally.add(number, is_scalar, weight * lanes * count);
    }

    /// An operation on what the program has as a vector: an instruction for each register, which takes as long as one for a number.
    fn registers(&mut self, number: Number, width: u32, mask: Mask, weight: f64) {
        let lanes = mask.iter().filter(|m| **m).count() as f64;
        self.tally.add(number, true, weight * lanes * f64::from(width.div_ceil(REGISTER)));
    }

    /// Whether an operation is done one by one, and by how many lanes.
    pub(super) fn done_by(&self, mask: &Mask) -> (bool, f64) {
        match self.kernel.runs {
            // A warp does it for all its lanes.
            Runs::Threads => (false, LANES as f64),
            // Vectors are whole.
            Runs::Loops => {
                let lanes = mask.iter().filter(|m| **m).count() as u32;
                let done = if self.vector { lanes.next_multiple_of(REGISTER) } else { lanes };
                (!self.vector, f64::from(done))
            }
        }
    }

    /// How many numbers are compared, where a condition is not decided by what its variables are.
    pub(super) fn comparisons(&self, pred: &Pred) -> f64 {
        match pred {
            Pred::And(all) => all.iter().map(|p| self.comparisons(p)).sum(),
            Pred::Eq(..) | Pred::Ne(..) | Pred::Lt(..) | Pred::Le(..) | Pred::Divides { .. } => {
                let mut least: f64 = 1.0;
                pred.each_var(&mut |v| {
                    least = least.min(self.bounded.get(v).copied().unwrap_or(1.0))
                });
                least
            }
        }
    }

    /// The integers that indices are computed in.
    pub(super) fn index_class(&self) -> &'static str {
        if self.kernel.wide_indices { "i64" } else { "i32" }
    }

    /// Whether compilers know an index.
    pub(super) fn is_constant(&self, nat: &Nat) -> bool {
        !nat.any_var(&mut |v| !self.constant.contains(&v))
    }

    /// What it takes to compute an index: once in straight code.
    pub(super) fn index(&mut self, nat: &Nat, mask: Mask, weight: f64) {
        if nat.as_var().is_some() || self.is_constant(nat) {
            return;
        }
        let index = self.tally.index(nat, self.index_class());
        if !self.known.insert(index) {
            return;
        }
        let (is_scalar, count) = self.done_by(&mask);
        // A loop of a processor goes on from the index of the turn before.
        let products = match self.kernel.runs {
            Runs::Threads => weight,
            Runs::Loops => weight * self.moved,
        };
        self.tally.add_index(index, is_scalar, weight * count, products * count);
        // What is divided alike in each turn is divided once.
        if self.kernel.runs == Runs::Threads && self.moved < 1.0 && self.changing.has_index(nat) {
            let spared = weight * count * (1.0 - self.moved);
            self.tally.spare_divisions(index, nat, &self.changing, spared);
        }
    }
}

/// Whether all are the same operation of other numbers.
fn are_alike(args: &[Expr]) -> bool {
    let kinds = args.iter().map(|a| operations::of(a).map(|(name, _)| name));
    let mut kinds = kinds.collect::<Vec<_>>();
    kinds.dedup();
    matches!(kinds.as_slice(), [Some(_)])
}

/// How many of the bounds of an index compilers still test, of two: a mask implies both, a remainder the upper one.
pub(super) fn bounds_left(value: &Expr) -> Option<f64> {
    let constant = |e: &Expr| match e {
        Expr::Literal(_) => true,
        Expr::Index(nat, _) => nat.as_int().is_some(),
        _ => false,
    };
    match value {
        Expr::Cast(_, inside) => bounds_left(inside),
        Expr::Binary(BinaryOp::BitAnd, _, b) if constant(b) => Some(0.0),
        Expr::Binary(BinaryOp::Rem, _, b) if constant(b) => Some(0.5),
        _ => None,
    }
}
