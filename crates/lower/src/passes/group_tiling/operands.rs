//! Operands of a tile in local memory: `tile[k][r]` is what row r, or column r, reads in step k of a fold.

use lift_ir::{Facts, Nat, Pred, Scalar, Space, Var};
use lift_kernel::{Access, Buffer, BufferId, Expr, Loop, Stmt, ValueType};

use super::WIDE;
use crate::nest::step;

/// What a fold reads, and where it is in local memory.
pub(super) struct Operand {
    pub access: Access,
    /// The loop of the grid that it varies along, and what stands for the place in the tile.
    pub var: Var,
    pub within: Var,
    pub place: Place,
    pub buffer: Buffer,
}

/// How an operand lies in local memory.
pub(super) struct Place {
    /// Rows, or columns, of the tile.
    tile: i128,
    /// From one step to the next.
    stride: i128,
    /// Neighbouring steps lie side by side in global memory, so neighbouring threads take them.
    by_step: bool,
}

/// One element that a thread copies.
pub(super) struct Share {
    /// Which of the rows or columns: of so many that are copied at once, the first and which of them.
    pub first: Nat,
    pub at: i128,
    pub beside: i128,
    pub step: Nat,
    /// Where there is one.
    condition: Option<Pred>,
}

impl Place {
    pub(super) fn of(access: &Access, l: &Loop, tile: i128, facts: &Facts) -> Place {
        let by_step = step(&access.index, &l.var, facts) == Nat::ONE;
        // Threads that store steps side by side then use different banks.
        let stride = if by_step { tile + WIDE } else { tile };
        Place { tile, stride, by_step }
    }

    pub(super) fn buffer(&self, id: BufferId, name: &str, scalar: Scalar, depth: i128) -> Buffer {
        Buffer {
            id,
            name: name.to_owned(),
            scalar,
            length: Nat::int(depth * self.stride),
            stages: 1,
            space: Space::Local,
            items: Vec::new(),
            align: 16,
            heap: false,
        }
    }

    /// What one of so many threads copies.
    pub(super) fn shares(&self, depth: i128, threads: i128, thread: &Nat) -> Vec<Share> {
        let all = self.tile * depth;
        let inner = if self.by_step { depth } else { self.tile };
        let wide = if all % (threads * WIDE) == 0 && inner % WIDE == 0 { WIDE } else { 1 };
        let rounds = (all + threads * wide - 1) / (threads * wide);
        let mut shares = Vec::new();
        for round in 0..rounds {
            for at in 0..wide {
                let first = thread * Nat::int(wide) + Nat::int(round * threads * wide);
                let is_there = (round + 1) * threads * wide <= all;
                let condition = Pred::Lt(&first + Nat::int(at), Nat::int(all));
                let condition = (!is_there).then_some(condition);
                let share = match self.by_step {
                    true => Share {
                        first: first.div(&Nat::int(depth)),
                        at: 0,
                        beside: 1,
                        step: first.rem(&Nat::int(depth)) + Nat::int(at),
                        condition,
                    },
                    false => Share {
                        first: first.rem(&Nat::int(self.tile)),
                        at,
                        beside: wide,
                        step: first.div(&Nat::int(self.tile)),
                        condition,
                    },
                };
                shares.push(share);
            }
        }
        shares
    }
}

impl Operand {
    pub(super) fn at(&self, step: &Nat, within: &Nat) -> Access {
        Access {
            buffer: self.buffer.id,
            index: step * Nat::int(self.place.stride) + within,
            stage: Nat::ZERO,
            items: Vec::new(),
            width: 1,
            aligned: false,
        }
    }

    /// Copies one element, which lies at an index in global memory.
    pub(super) fn copy(&self, index: Nat, share: &Share, facts: &Facts) -> Stmt {
        let from = Access { index, ..self.access.clone() };
        let value = Expr::Load(from, ValueType::scalar(self.buffer.scalar));
        let to = self.at(&share.step, &(&share.first + Nat::int(share.at)));
        let access = Access { index: facts.simplify(&to.index), ..to };
        let store = Stmt::Store { access, value };
        match &share.condition {
            None => store,
            Some(condition) => {
                let condition = Expr::Test(condition.clone());
                Stmt::If { condition, then: vec![store], otherwise: Vec::new() }
            }
        }
    }
}
