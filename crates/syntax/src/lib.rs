//! The language as text: from source to typed programs, and back.
//!
//! [`check_file`] reads a program with everything it imports, [`parser`] makes the surface tree,
//! elaboration turns it into the typed programs of `lift_ir`, [`diagnostic`] shows what is wrong,
//! [`format`] lays text out.

pub mod ast;
pub mod diagnostic;
mod elaborate;
pub mod format;
mod lexer;
mod load;
pub mod parser;
pub mod source;
pub mod suggest;

pub use load::{Checked, check_file, check_step, check_text, check_text_in};
