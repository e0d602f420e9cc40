//! What a run may use: memory for one array, and steps.

use lift_ir::Scalar;

use crate::error::{Eval, fault};
use crate::number::Element;

/// The largest array that is made, in bytes.
pub const MAX_ARRAY_BYTES: u64 = 1 << 31;

/// Asked before anything is allocated or repeated, so that a size that is too large is an error
/// and not a crash.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    steps: u64,
}

impl Default for Meter {
    fn default() -> Meter {
        Meter { steps: u64::MAX }
    }
}

impl Meter {
    /// Fails after so many applications of functions and copied elements.
    pub(crate) fn with_steps(steps: u64) -> Meter {
        Meter { steps }
    }

    pub(crate) fn step(&mut self, count: usize) -> Eval<()> {
        match self.steps.checked_sub(count as u64) {
            Some(rest) => {
                self.steps = rest;
                Ok(())
            }
            None => fault("the evaluation takes too many steps"),
        }
    }

    /// Memory for an array whose lengths these are, still empty.
    pub(crate) fn memory<T: Element>(
        &mut self,
        lengths: impl IntoIterator<Item = usize>,
    ) -> Eval<Vec<T>> {
        let count = self.array(T::SCALAR, lengths)?;
        let mut memory = Vec::new();
        match memory.try_reserve_exact(count) {
            Ok(()) => Ok(memory),
            Err(_) => fault(format!("there is no memory for an array of {count} `{}`", T::SCALAR)),
        }
    }

    /// Asks for an array of so many scalars: the product of `lengths`.
    pub(crate) fn array(
        &mut self,
        scalar: Scalar,
        lengths: impl IntoIterator<Item = usize>,
    ) -> Eval<usize> {
        let mut count: u128 = 1;
        for length in lengths {
            count = count.saturating_mul(length as u128);
        }
        let bytes = count.saturating_mul(scalar.bytes() as u128);
        match usize::try_from(count) {
            Ok(count) if bytes <= u128::from(MAX_ARRAY_BYTES) => {
                self.step(count)?;
                Ok(count)
            }
            _ => fault(format!(
                "an array of {count} `{scalar}` takes {bytes} bytes, more than the \
                 {MAX_ARRAY_BYTES} that one array may take here"
            )),
        }
    }
}
