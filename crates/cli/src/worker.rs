//! `lift worker`: candidates measured for another process that may outlive this one.

use std::io::{self, BufReader};
use std::path::PathBuf;
use std::time::Duration;

use lift_explore::measure::{Relay, Token, connect, own_name, serve_on};

use crate::arguments::parse_seconds;
use crate::report::Failure;

/// Measure candidates for a `lift tune` on another machine
///
/// Without `--connect`, a problem and jobs come on standard input and verdicts go to standard output, so that any command
/// that carries these is a way to a worker: `lift tune --worker 'ssh HOST lift worker'`. With it, the worker goes to where
/// `lift tune --listen` is and serves one problem after the other until the search is over. What it compiles and runs comes
/// from there: give the token to nobody else.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:\n\
\x20 lift worker --device cpu < /dev/null")]
pub struct Options {
    /// Where `lift tune --listen` is, as in HOST:PORT
    #[arg(long, value_name = "ADDRESS", requires = "token_file")]
    connect: Option<String>,
    /// A file with the secret of the search, which nobody else can read
    #[arg(long, value_name = "FILE", requires = "connect")]
    token_file: Option<PathBuf>,
    /// By which the search knows this worker, instead of the machine's name and the process's number
    #[arg(long, value_name = "NAME", requires = "connect")]
    name: Option<String>,
    /// How long to wait where nobody listens
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = parse_seconds)]
    wait: Duration,
    /// The device, whatever the search asks for
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// Serve in this process, with nobody to say how it ended
    #[arg(long, hide = true, conflicts_with = "connect")]
    direct: bool,
    /// How often to say that the worker is there
    #[arg(long, hide = true, value_name = "SECONDS", value_parser = parse_seconds)]
    beat: Option<Duration>,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    served(options).map_err(Failure::message)
}

fn served(options: &Options) -> Result<(), String> {
    if options.direct {
        let device = options.device.clone();
        return serve_on(device, BufReader::new(io::stdin()), &mut io::stdout().lock());
    }
    let own = crate::own::path().map_err(|e| format!("cannot find the program itself: {e}"))?;
    let mut arguments = vec!["worker".to_string(), "--direct".to_string()];
    arguments.extend(options.device.iter().flat_map(|d| ["--device".to_string(), d.clone()]));
    let mut relay = Relay::new(own, arguments);
    relay.beat = options.beat.unwrap_or(relay.beat);
    match (&options.connect, &options.token_file) {
        (Some(address), Some(file)) => {
            let name = options.name.clone().unwrap_or_else(own_name);
            connect(&relay, address, &Token::read(file)?, &name, options.wait)
        }
        _ => relay.run(),
    }
}
