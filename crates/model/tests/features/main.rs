//! The features are what kernels do: counted by the kernels themselves, and by hand.

#![allow(clippy::unwrap_used)]

mod counted;
mod instrument;
mod lines;
mod plans;
mod run;
mod whole;
