//! Processes that may do anything, held at arm's length: no call here waits for longer than it was told.

mod process;
mod talk;

pub use process::Process;
pub use talk::{End, Heard, Lines, Talk};
