//! The arithmetic from outside, in one binary: it links once.

mod cases;
mod common;
mod complete;
mod facts;
mod forms;
mod layouts;
mod limits;
mod soundness;
mod spread;
mod text;
