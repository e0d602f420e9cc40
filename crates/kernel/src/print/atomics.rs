//! What printers have in common for elements that are changed as one step.

use lift_ir::{AtomicOp, Scalar};

use super::code::Code;
use super::dialect::Dialect;
use super::expr::variable_of;
use crate::atomic::applied;
use crate::{Kernel, Stmt, ValueType};

/// What becomes of `before` and `value`, in the body of a helper.
pub(super) fn result<D: Dialect>(code: &mut Code<'_, D>, op: AtomicOp, scalar: Scalar) -> String {
    let ty = ValueType::scalar(scalar);
    code.expr(&applied(op, variable_of("before", ty), variable_of("value", ty))).text
}

/// What OpenCL C 1.2 has to be asked for, to change elements of 64 bits.
pub(super) fn extensions(kernel: &Kernel) -> Vec<&'static str> {
    let (mut sums, mut others) = (false, false);
    let mut look = |s: &Stmt| {
        if let Stmt::Atomic { op, value, .. } = s
            && value.ty().scalar.bytes() == 8
        {
            // Floats are compared and exchanged.
            let is_sum = *op == AtomicOp::Add || value.ty().scalar.is_float();
            sums |= is_sum;
            others |= !is_sum;
        }
    };
    kernel.body.iter().for_each(|stmt| stmt.each(&mut look));
    let mut lines = Vec::new();
    if sums {
        lines.push("#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable");
    }
    if others {
        lines.push("#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable");
    }
    lines
}
