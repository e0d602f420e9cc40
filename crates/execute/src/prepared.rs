//! What all runs of a program for the same sizes have in common.

use lift_interp::Sizes;
use lift_runtime::DeviceInfo;

use crate::calls::Call;
use crate::memory::{bytes_of, number};
use crate::{Compiled, Error};

/// Sizes that the program and the device allow, and what follows from them.
pub struct Prepared {
    pub(crate) sizes: Sizes,
    /// One a kernel.
    pub(crate) calls: Vec<Call>,
    /// The bytes of what temporaries share.
    pub(crate) slots: Vec<u64>,
    /// The bytes of each buffer of the plan.
    pub(crate) buffers: Vec<u64>,
}

impl Compiled {
    /// Requires: the sizes are those of all arguments, and index functions permute for them; see
    /// [`Compiled::prepare`].
    pub(crate) fn prepared(&self, info: &DeviceInfo, sizes: Sizes) -> Result<Prepared, Error> {
        self.check_requirements(&sizes)?;
        self.check_memory(info, &sizes)?;
        let calls = self.calls(info, &sizes)?;
        let slots: Result<Vec<u64>, Error> =
            self.memory.bytes.iter().map(|bytes| number(bytes, &sizes)).collect();
        let buffers: Result<Vec<u64>, Error> =
            self.plan.buffers.iter().map(|planned| bytes_of(&planned.buffer, &sizes)).collect();
        Ok(Prepared { slots: slots?, buffers: buffers?, calls, sizes })
    }
}
