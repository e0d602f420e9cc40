//! `lift worker`: candidates measured for another process that may outlive this one.

use std::io::{self, BufReader};

use lift_explore::measure::serve;

use crate::report::Failure;

/// Measure candidates for `lift tune`: a problem and jobs on standard input, verdicts on standard output
#[derive(clap::Args)]
pub struct Options {}

pub fn run(_: &Options) -> Result<(), Failure> {
    serve(BufReader::new(io::stdin()), &mut io::stdout().lock()).map_err(Failure::message)
}
