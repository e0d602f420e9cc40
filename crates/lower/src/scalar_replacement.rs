//! Scalar replacement: places of private arrays are variables wherever they do not move.
//!
//! Before: `float acc[4]; acc[0] = 0; … for (k) acc[8*i] = acc[8*i] + x[k];`
//! After: `float acc_0 = 0; … float a = acc[8*i]; for (k) a = a + x[k]; acc[8*i] = a;`
//!
//! An array of which all places are constants is no array any more ([`whole`]). Of others, what does not move in a loop is
//! in variables while the loop runs ([`loops`]).

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
