//! Benchmarks: suites of programs against what others do, in the same run.
//!
//! A suite ([`suite`]) says which programs solve which problems at which sizes. Of these some are chosen ([`cases`]) and
//! measured ([`measure()`]) by turns with their peers, which are scripts that time other libraries ([`Peers`]); a script in
//! Python makes the inputs and judges the results ([`Reference`]). [`cross`] runs what was tuned for one device on every
//! other.

pub mod cases;
pub mod cluster;
pub mod cross;
mod measure;
mod peers;
mod reference;
mod row;
mod script;
pub mod suite;
mod table;
mod tuning;

pub use measure::{How, measure};
pub use peers::Peers;
pub use reference::Reference;
pub use row::{Measured, Peer, Row};
pub use script::python;
pub use table::Table;
pub use tuning::{Form, Lookup, Tuning};
