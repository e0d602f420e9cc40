pub mod ast;
pub mod diagnostic;
mod elaborate;
pub mod format;
mod lexer;
mod load;
pub mod parser;
pub mod source;

pub use load::{Checked, check_file, check_text};
