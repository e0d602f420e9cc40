//! Whole programs: what they mean, what is said of their mistakes, and that they print as themselves.

#![allow(clippy::unwrap_used)]

mod errors;
mod meaning;
mod round_trip;
