//! The processes in which candidates run.

use std::io::{self, BufReader};
use std::path::PathBuf;
use std::process::exit;

use lift_explore::measure::{PoolOptions, serve};

/// What asks a program of one's own to serve.
const ASKED: &str = "--lift-worker";

/// Programs nest as deep as the checker lets them.
const STACK: usize = 256 * 1024 * 1024;

/// How a worker is started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Worker {
    program: PathBuf,
    arguments: Vec<String>,
}

impl Worker {
    /// The `lift` command, by its path.
    pub fn lift(program: impl Into<PathBuf>) -> Worker {
        Worker::command(program, ["worker", "--direct"])
    }

    /// A command that does what `lift worker --direct` does.
    pub fn command<A: Into<String>>(
        program: impl Into<PathBuf>,
        arguments: impl IntoIterator<Item = A>,
    ) -> Worker {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Worker { program: program.into(), arguments }
    }

    /// The program that runs at this moment, whose `main` begins with [`serve_if_asked`].
    pub fn own() -> io::Result<Worker> {
        Ok(Worker::command(std::env::current_exe()?, [ASKED]))
    }

    pub(super) fn options(&self) -> PoolOptions {
        PoolOptions::new(&self.program, self.arguments.iter().cloned())
    }
}

/// Where [`Worker::own`] has started the program, serves and ends it; otherwise does nothing.
pub fn serve_if_asked() {
    if std::env::args().nth(1).is_none_or(|argument| argument != ASKED) {
        return;
    }
    let work = || serve(BufReader::new(io::stdin()), &mut io::stdout().lock());
    let served = std::thread::Builder::new().stack_size(STACK).spawn(work);
    let served = served.map_err(|error| format!("cannot start a thread: {error}"));
    // A panic has printed its message already.
    match served.and_then(|thread| thread.join().unwrap_or_else(|_| exit(101))) {
        Ok(()) => exit(0),
        Err(error) => {
            eprintln!("{error}");
            exit(1)
        }
    }
}
