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
//! Workers are processes of this machine, commands that carry lines to processes elsewhere, or connections that they
//! make themselves ([`Listener`], [`connect`]); the conversation is the same ([`messages`]). One that is elsewhere is
//! watched over by a process there ([`Relay`]), which says regularly that it is there and how the worker ended: so a
//! candidate that crashes is told from a machine that is lost, and what was lost is measured again by another.
//!
//! One worker uses a device at a time, for steps 2 to 4: the parent gives each its turn. On devices that run on
//! a machine's processor, compiling too would disturb the times, so a pool for these has one worker. Elsewhere
//! several workers compile at once; a worker that compiles its next job while another measures is all there is of
//! compiling ahead: jobs are handed out one at a time.
//!
//! A problem that fits the caches is timed out of memory all the same: there are several copies of its
//! arrays, in different places, and the runs take turns at them.

mod bench;
mod crew;
mod failure;
mod identity;
mod kept;
mod listen;
pub mod messages;
mod pool;
mod relay;
mod serve;
mod shared;
mod token;
mod turns;
mod worker;

pub use identity::{Identity, Limits, host};
pub use listen::Listener;
pub use messages::{Expected, Job, Problem, Stage, Verdict};
pub use pool::{MeasureError, Measured, Notice, Place, Pool, PoolOptions};
pub use relay::{Relay, connect, own_name};
pub use serve::{serve, serve_on};
pub use token::Token;
pub use worker::Took;
