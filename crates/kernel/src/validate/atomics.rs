//! Elements that are changed as one step.
//!
//! - They are scalars in global or local memory, of 32 or 64 bits, which the kernel reads and writes; bits are those of integers.
//! - The value they are changed by is of their type and read elsewhere: what others have made of the buffer so far is not known.
//! - Threads of a processor do not share loops that hold such a change, nor are iterations done at a time: they have no such steps.

use lift_ir::{AtomicOp, Space};

use super::{Check, show};
use crate::{Access, Expr, Loop, Mark, Stmt, Usage, ValueType};

impl<'k> Check<'k> {
    pub(super) fn atomic(&mut self, op: AtomicOp, access: &'k Access, value: &'k Expr) {
        let found = self.expr(value);
        let Some((buffer, usage)) = self.access(access) else { return };
        let (name, scalar) = (&buffer.name, buffer.scalar);
        if buffer.space == Space::Private {
            self.error(format!("`{name}` is private: no other work-item changes it"));
        }
        if usage != Usage::ReadWrite {
            self.error(format!("`{name}` is changed in place, but not both read and written"));
        }
        if access.width != 1 || !op.takes(scalar) {
            let ty = show(ValueType::vector(scalar, access.width));
            self.error(format!(
                "`{name}` is changed by `{}`, which {ty} is not as one step",
                op.name()
            ));
        }
        if found != ValueType::scalar(scalar) {
            self.error(format!("`{name}` is of {scalar}, and changed by {}", show(found)));
        }
        let mut itself = false;
        value.each(&mut |e| {
            itself |= matches!(e, Expr::Load(from, _) if from.buffer == access.buffer);
        });
        if itself {
            self.error(format!("`{name}` is changed by what is read from it"));
        }
    }

    pub(super) fn by_threads_of_a_device(&mut self, l: &Loop) {
        if l.mark == Mark::None {
            return;
        }
        let mut found = false;
        let is_atomic = |s: &Stmt| matches!(s, Stmt::Atomic { .. });
        l.body.iter().for_each(|stmt| stmt.each(&mut |s| found |= is_atomic(s)));
        if found {
            let var = &l.var;
            self.error(format!(
                "the loop over `{var}` is shared, and changes elements as one step"
            ));
        }
    }
}
