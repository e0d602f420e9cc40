//! The tuning database: which low-level programs were tried for which problem, and how they did.
//!
//! It is one SQLite file. Whatever has been recorded stays when the process is killed, several
//! processes may use the file at once, and any tool that knows SQLite reads it; `docs/database.md`
//! describes the tables. This crate knows texts and numbers only: what a program or a hash means is
//! the caller's business.
//!
//! ```
//! use lift_store::{Candidate, Device, Measurement, Outcome, ProblemKey, Store};
//!
//! # fn main() -> Result<(), lift_store::StoreError> {
//! let mut store = Store::open_in_memory()?;
//! let problem = store.problem(&ProblemKey {
//!     program: "def twice(xs: [f32; N]) = map(\\x -> x * 2.0, xs)".to_string(),
//!     name: "twice".to_string(),
//!     sizes: [("N".to_string(), 1024)].into(),
//!     device: Device {
//!         fingerprint: "opencl NVIDIA H200 580.159".to_string(),
//!         name: "NVIDIA H200".to_string(),
//!         kind: "opencl".to_string(),
//!     },
//!     flags: String::new(),
//! })?;
//!
//! for (hash, time) in [("5eed", 0.31), ("cafe", 0.27)] {
//!     if store.is_measured(problem, hash)?.is_some() {
//!         continue; // An earlier run, which was perhaps killed, has done it.
//!     }
//!     let candidate = Candidate { hash: hash.to_string(), ..Candidate::default() };
//!     let candidate = store.candidate(problem, &candidate)?;
//!     store.record(candidate, &Measurement {
//!         outcome: Outcome::Ok,
//!         message: String::new(),
//!         samples: vec![time],
//!         started: 1_700_000_000,
//!         seed: 1,
//!         host: "a machine".to_string(),
//!     })?;
//! }
//!
//! let best = store.best(problem)?.expect("two are ok");
//! assert_eq!((best.candidate.hash.as_str(), best.median), ("cafe", 0.27));
//! # Ok(())
//! # }
//! ```

mod candidate;
mod derivation;
mod error;
mod features;
mod file;
mod measurement;
mod merge;
mod outcome;
mod problem;
mod results;
mod run;
mod schema;
mod seal;
mod sql_text;
mod store;
mod tried;

pub use candidate::{Candidate, CandidateId};
pub use error::{Cause, StoreError};
pub use features::CandidateFeatures;
pub use measurement::{Measurement, deciding};
pub use merge::{Merged, merge};
pub use outcome::Outcome;
pub use problem::{Device, ProblemId, ProblemKey};
pub use results::{Best, Measured};
pub use run::{PastRun, Run, RunId};
pub use store::Store;
pub use tried::{Durations, Tried};
