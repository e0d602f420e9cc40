//! Scalar replacement: elements of private arrays are variables wherever their addresses do not move.
//!
//! Before: `float acc[4]; acc[0] = 0; … for (k) acc[8*i] = acc[8*i] + x[k];`
//! After: `float acc_0 = 0; … float a = acc[8*i]; for (k) a = a + x[k]; acc[8*i] = a;`
//!
//! An array with constant addresses alone becomes variables altogether ([`whole`]). Of other arrays, elements at addresses
//! that are invariant in a loop are variables around it ([`loops`]).

mod loops;
mod whole;

use lift_kernel::Kernel;

use crate::Target;

pub(crate) fn run(kernel: &mut Kernel, target: Target) {
    whole::run(kernel);
    loops::run(kernel, target);
    // Loops that were written out have left constants.
    whole::run(kernel);
}
