//! Programs on devices: compiled for one, given arguments, run and timed.
//!
//! [`Compiled`] is a program for a device. What runs several times on the same arguments is a [`Session`]: they
//! are put on the device once. What lies there already, in another library's memory, is [`Placed`].

mod bytes;
mod calls;
mod compile;
mod costs;
mod error;
mod explain;
mod externs;
mod kept;
mod memory;
mod placed;
mod prepared;
mod requirements;
mod run;
mod scalars;
mod session;

pub use compile::{Compiled, KernelText, compile_text, lower_for};
pub use costs::Costs;
pub use error::Error;
pub use explain::{KernelPlan, Stored, explain, explain_domains};
pub use kept::{read_value, write_value};
pub use placed::Placed;
pub use prepared::Prepared;
pub use run::{KernelTime, Run};
pub use session::Session;
