//! How fast a low-level program will be, from the program itself.
//!
//! [`features`] says in numbers what a program does; [`learn`] learns from measured programs which numbers are
//! good ones.

pub mod features;
pub mod learn;
