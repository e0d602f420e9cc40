//! `lift timed`: programs timed for another process that may outlive this one.

use std::io::{self, BufReader};

use lift_clock::timed::serve;

use crate::report::Failure;

/// Time programs for `lift bench decide` and `lift model validate`: questions on standard input, answers on standard output
#[derive(clap::Args)]
pub struct Options {}

pub fn run(_: &Options) -> Result<(), Failure> {
    serve(BufReader::new(io::stdin()), &mut io::stdout().lock()).map_err(Failure::message)
}
