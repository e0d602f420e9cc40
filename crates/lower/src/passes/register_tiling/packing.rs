//! Operands of a tile's columns, copied to where they lie side by side.
//!
//! Before: 32 columns read `b[x][k]`, far apart from each other.
//! After: `packed[32 k + c]`, which many tiles of rows read. Steps of several loops are counted as those of one.

use lift_ir::{Literal, Nat, Pred, Range, Space, Var};
use lift_kernel::{
    Access, Buffer, BufferId, Edit, Expr, Kernel, Loop, LoopKind, Mark, Stmt, ValueType,
};

use super::shape::Plan;
use crate::cloning::Copier;
use crate::nest::{FAR, Folds, Nest, Read, step};

/// Bytes of packed operands that stay in the cache.
const MOST_BYTES: i128 = 1 << 19;

/// The operands of a nest that are packed.
pub(super) struct Packing<'k> {
    operands: Vec<Operand<'k>>,
    width: Nat,
}

struct Operand<'k> {
    access: &'k Access,
    /// The loops that count its elements, outermost first.
    folds: Vec<&'k Loop>,
    buffer: Buffer,
}

impl<'k> Packing<'k> {
    /// `others` are the arrays that the kernel may know already, `next` the number of the next one.
    pub(super) fn of<'b>(
        nest: &Nest<'k>,
        plan: &Plan<'k>,
        kernel: &Kernel,
        others: impl Iterator<Item = &'b Buffer>,
        next: &mut u32,
    ) -> Packing<'k> {
        let width = Nat::int(plan.lanes * plan.vectors);
        let mut packing = Packing { operands: Vec::new(), width };
        let Some(folds) = Folds::of(nest, kernel) else { return packing };
        let others: Vec<&Buffer> = others.collect();
        for read in &folds.reads {
            let known = packing.operands.iter().any(|operand| operand.access == read.access);
            let scalar = others.iter().find(|b| b.id == read.access.buffer).map(|b| b.scalar);
            let (Some(scalar), false) = (scalar, known) else { continue };
            let folds = read.counted_by();
            if !read.is_packable(plan.rows, &kernel.facts) || !pays(read, &folds, plan, kernel) {
                continue;
            }
            let steps = folds.iter().fold(Nat::ONE, |steps, l| steps * &l.extent);
            let buffer = Buffer {
                id: BufferId(*next),
                name: "pack".to_owned(),
                scalar,
                length: steps * &packing.width,
                stages: 1,
                space: Space::Private,
                items: Vec::new(),
                align: 64,
                heap: false,
            };
            *next += 1;
            packing.operands.push(Operand { access: read.access, folds, buffer });
        }
        packing
    }

    pub(super) fn buffers(&self) -> impl Iterator<Item = &Buffer> {
        self.operands.iter().map(|operand| &operand.buffer)
    }

    /// Statements that read packed operands, of the columns from `first` on.
    pub(super) fn used(&self, body: &[Stmt], columns: &Loop, first: &Nat) -> Vec<Stmt> {
        Use { packing: self, column: Nat::var(&columns.var) - first }.block(body)
    }

    /// Packs the operands of the columns from `first` on: a tile of them, or so many with zeros behind them.
    pub(super) fn fill(
        &self,
        columns: &Loop,
        first: &Nat,
        count: Option<&Nat>,
        copier: &mut Copier,
    ) -> Vec<Stmt> {
        let mut made = Vec::new();
        for Operand { access, folds, buffer } in &self.operands {
            let steps: Vec<Var> = folds.iter().map(|l| copier.ids.fresh(l.var.name())).collect();
            let column = copier.ids.fresh("column");
            for (step, fold) in steps.iter().zip(folds) {
                copier.facts.declare_inside(step, Range::below(fold.extent.clone()));
            }
            copier.facts.declare_inside(&column, Range::below(self.width.clone()));
            let value = |v: &Var| match *v == columns.var {
                true => Some(first + Nat::var(&column)),
                false => {
                    let mut pairs = folds.iter().zip(&steps);
                    pairs.find(|(fold, _)| *v == fold.var).map(|(_, step)| Nat::var(step))
                }
            };
            let index = copier.facts.simplify(&access.index.substitute(&value));
            let from = Access { index, ..(*access).clone() };
            let ty = ValueType::scalar(buffer.scalar);
            let value = match count {
                Some(count) => {
                    let there = Expr::Test(Pred::Lt(Nat::var(&column), count.clone()));
                    let zero = Expr::Literal(Literal::zero(buffer.scalar));
                    Expr::Select(Box::new(there), Box::new(Expr::Load(from, ty)), Box::new(zero))
                }
                None => Expr::Load(from, ty),
            };
            let access = self.place(buffer, folds, steps.iter(), &Nat::var(&column));
            let store = vec![Stmt::Store { access, value }];
            let row = Loop::new(column, LoopKind::Seq, self.width.clone(), store);
            let row = Stmt::Loop(Loop { mark: Mark::Independent, ..row });
            made.push(folds.iter().zip(steps).rev().fold(row, |inner, (fold, step)| {
                Stmt::Loop(Loop::new(step, LoopKind::Seq, fold.extent.clone(), vec![inner]))
            }));
        }
        made
    }

    /// Where a column lies in the step at which the loops `folds` have the values `steps`.
    fn place<'v>(
        &self,
        buffer: &Buffer,
        folds: &[&Loop],
        steps: impl Iterator<Item = &'v Var>,
        column: &Nat,
    ) -> Access {
        let step = folds
            .iter()
            .zip(steps)
            .fold(Nat::ZERO, |outer, (fold, step)| outer * &fold.extent + Nat::var(step));
        Access {
            buffer: buffer.id,
            index: step * &self.width + column,
            stage: Nat::ZERO,
            items: Vec::new(),
            width: 1,
            aligned: false,
        }
    }
}

/// Whether an operand is worth packing: its columns lie apart or make no whole vector, or the steps of the one loop that counts it
/// are far from each other and there are many tiles.
fn pays(read: &Read, folds: &[&Loop], plan: &Plan, kernel: &Kernel) -> bool {
    let facts = &kernel.facts;
    let along = step(&read.access.index, &plan.columns.var, facts);
    if along == Nat::ZERO {
        return false;
    }
    if along != Nat::ONE || plan.is_narrow() {
        return true;
    }
    let [fold] = folds else { return false };
    let far = step(&read.access.index, &fold.var, facts).as_int().is_some_and(|n| n >= FAR);
    let bytes = fold.extent.as_int().map(|n| n * plan.lanes * plan.vectors * 4);
    let tiles = plan.rows.and_then(|rows| Some(rows.extent.as_int()? / plan.rows_at_once));
    far && bytes.is_some_and(|n| n <= MOST_BYTES) && tiles.is_some_and(|n| n >= 8)
}

struct Use<'p, 'k> {
    packing: &'p Packing<'k>,
    /// The column, counted from the first of the tile.
    column: Nat,
}

impl Edit for Use<'_, '_> {
    fn access(&mut self, access: &Access) -> Access {
        match self.packing.operands.iter().find(|operand| operand.access == access) {
            Some(Operand { folds, buffer, .. }) => {
                self.packing.place(buffer, folds, folds.iter().map(|l| &l.var), &self.column)
            }
            None => access.clone(),
        }
    }
}
