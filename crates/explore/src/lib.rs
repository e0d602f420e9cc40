//! From a high-level program to the fastest low-level one: what there is to try, and trying it.
//!
//! [`space`] makes low-level programs by strategies with alternatives, [`parameters`] gives their parameters
//! values, and [`measure`] runs them in worker processes.

pub mod candidate;
pub mod key;
pub mod measure;
pub mod parameters;
pub mod space;
