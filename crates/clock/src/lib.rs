//! A calibrated clock: how long a program takes on a machine, before it runs.
//!
//! A [`Description`] holds what was measured of a machine by small programs, the probes. [`count`] follows a kernel
//! and says what a launch asks of a machine; [`time`] says how long that takes; [`predict`] adds up a program; [`planned`]
//! chooses among the ways to lower it.

pub mod bodies;
pub mod calibrate;
mod counts;
mod crossover;
pub mod decide;
mod description;
pub mod forms;
mod host;
mod operations;
mod planner;
mod predict;
mod roofline;
mod shipped;
mod time;
pub mod timed;
pub mod validate;
mod walk;

pub use counts::{Counts, Traffic, count};
pub use crossover::{Crossover, crossover};
pub use description::{Description, FORMAT, Quantity, Sample, fingerprint};
pub use operations::Operations;
pub use planner::{Planned, planned};
pub use predict::{
    KernelPrediction, Prediction, Sizes, four_digits, plan, predict, predict_kernel,
};
pub use roofline::Roofline;
pub use shipped::like;
pub use time::{Time, time};
