//! From a high-level program to the fastest low-level one: what there is to try, and trying it.
//!
//! [`space`] makes low-level programs by strategies with alternatives, [`parameters`] gives their parameters
//! values, [`candidate`] makes complete programs of both, [`measure`] runs them in worker processes, and
//! [`tune`] keeps what came of it in the database.

pub mod candidate;
pub mod deadline;
pub mod key;
pub mod machine;
pub mod measure;
pub mod parameters;
pub mod phase;
pub mod settings;
pub mod space;
pub mod tune;
