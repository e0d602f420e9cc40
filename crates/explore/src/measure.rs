//! Measuring candidates in worker processes.
//!
//! A candidate is a kernel nobody has run before: it may hang, crash, eat memory, or be wrong. So it runs in a
//! process of its own, a worker ([`serve`]). A [`Pool`] starts workers, hands them jobs, and turns whatever
//! happens to them into a [`Verdict`]; nothing a worker does ends the process that measures.
//!
//! A worker prepares once: it opens the device, makes the inputs from a seed, and computes the expected result by
//! the default lowering of the high-level program. Other workers read that result, since the program itself may be
//! slow. Where it is so slow that a search has no time for it, results are compared at smaller sizes. A worker then
//! serves many jobs. For each it
//!
//! 1. compiles the candidate,
//! 2. runs it once on memory whose results are poisoned, and reads them,
//! 3. warms up and times the runs by the device's clock,
//! 4. frees what the candidate had on the device,
//! 5. compares what it read with what is expected: a wrong candidate has no time.
//!
//! One worker uses the device at a time, for steps 2 to 4: the parent gives each its turn. On devices that run on
//! this machine's processor, compiling too would disturb the times, so a pool for these has one worker. Elsewhere
//! several workers compile at once; a worker that compiles its next job while another measures is all there is of
//! compiling ahead: jobs are handed out one at a time.
//!
//! A problem that fits the caches is timed out of memory all the same: there are several copies of its
//! arrays, in different places, and the runs take turns at them.

mod bench;
mod failure;
mod kept;
mod messages;
mod pool;
mod serve;
mod shared;

pub use messages::{Expected, Job, Problem, Stage, Verdict};
pub use pool::{MeasureError, Pool, PoolOptions};
pub use serve::serve;
