//! What a program costs on a device beside its kernels, by the host's clock.

use std::time::Instant;

/// In milliseconds. Every call of a device returns after its work is done, so the host's clock sees it.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Costs {
    /// Of everything that is on the device, and of the host's memory for results that were read back.
    pub allocate_ms: f64,
    /// Arguments to the device, and results that were read back.
    pub transfer_ms: f64,
    /// The last run: launches and kernels.
    pub run_ms: f64,
}

impl Costs {
    /// Allocation, transfers and a run.
    pub fn total_ms(&self) -> f64 {
        self.allocate_ms + self.transfer_ms + self.run_ms
    }
}

/// Adds to a number how long something takes.
pub(crate) fn timed<T>(ms: &mut f64, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = work();
    *ms += start.elapsed().as_secs_f64() * 1e3;
    done
}
