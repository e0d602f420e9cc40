//! What is checked at run time: indices that may be out of range. Divisors are in `division`.
//!
//! An index that is proved in range is used as it is. Any other is compared with the length where it
//! is used: out of range, element 0 is read in its place, and the host is told which index it was. With
//! [`unchecked`](crate::Options::unchecked) none is.

use lift_ir::{Call, Literal, Nat, Pred, Range, Scalar, Space, UnaryOp};
use lift_kernel::{Buffer, Expr, Stmt};

use super::Translator;
use super::view::{Leaf, Place, View, Writer};
use crate::LowerError;
use crate::plan::{Check, Fault, PlanBuffer, Role};

impl Translator {
    /// The index that `xs[value]` reads.
    pub(super) fn index_value(
        &mut self,
        value: Expr,
        length: &Nat,
        call: &Call,
    ) -> Result<Nat, LowerError> {
        let index = match value {
            Expr::Index(index, _) => self.simplify(&index),
            Expr::Literal(Literal::Int(_, i)) => Nat::int(i),
            other => {
                let var = self.fresh_index("at", Range::any());
                self.emit(Stmt::Index { var: var.clone(), value: other });
                Nat::var(&var)
            }
        };
        let inside = Pred::And(vec![
            Pred::Le(Nat::int(0), index.clone()),
            Pred::Lt(index.clone(), length.clone()),
        ]);
        if self.options.unchecked || self.proves(&inside) {
            return Ok(index);
        }
        let span = call.args.first().and_then(|index| index.span());
        let outside = Expr::Unary(UnaryOp::Not, Box::new(Expr::Test(inside.clone())));
        self.fail_where(outside, Check { span, fault: Fault::Index { length: length.clone() } })?;
        Ok(Nat::cond(inside, index, Nat::int(0)))
    }

    /// Leaves the number of a check in the status where it fails: where a condition holds, in a lane that is
    /// evaluated.
    pub(super) fn fail_where(&mut self, failed: Expr, check: Check) -> Result<(), LowerError> {
        let failed = self.in_any_lane(failed);
        self.checks.push(check);
        let number = Literal::Int(Scalar::I32, self.checks.len() as i128);
        let status = Writer::Leaf(Leaf::Place(self.status_place()));
        let then = self.collect(|t| t.store(View::Value(Expr::Literal(number)), &status))?;
        self.emit(Stmt::If { condition: failed, then, otherwise: Vec::new() });
        Ok(())
    }

    fn status_place(&mut self) -> Place {
        let known = self.buffers.iter().find(|b| b.role == Role::Status).map(|b| b.buffer.id);
        let buffer = known.unwrap_or_else(|| {
            let id = self.fresh_buffer();
            let buffer = Buffer {
                id,
                name: self.fresh_name("status"),
                scalar: Scalar::I32,
                length: Nat::int(1),
                stages: 1,
                space: Space::Global,
                items: Vec::new(),
                align: Scalar::I32.bytes() as u32,
            };
            self.buffers.push(PlanBuffer { buffer, role: Role::Status });
            id
        });
        Place {
            buffer,
            index: Nat::int(0),
            stage: Nat::ZERO,
            items: Vec::new(),
            scalar: Scalar::I32,
            width: 1,
        }
    }
}
