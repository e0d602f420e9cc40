//! Work that takes long, while Python goes on.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

use crate::error::error;

/// The compiler follows the nesting of programs: no program that it accepts fills this.
const STACK: usize = 256 * 1024 * 1024;

/// How often Python's signals are looked at: Ctrl-C is one.
const PATIENCE: Duration = Duration::from_millis(20);

/// Does work on a thread of its own. Where a signal ends the wait, the work goes on and its result is dropped.
pub fn apart<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (done, result) = channel();
    let send = move || {
        // Nobody may be waiting any more.
        done.send(work()).ok();
    };
    let started = thread::Builder::new().stack_size(STACK).spawn(send);
    started.map_err(|e| error(format!("cannot start a thread: {e}")))?;
    wait(py, &result)
}

/// Waits for an answer without holding Python.
pub fn wait<T: Send>(py: Python<'_>, answer: &Receiver<T>) -> PyResult<T> {
    loop {
        let received = {
            let answer = Shared(answer);
            py.detach(move || answer.receive())
        };
        match received {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(error(
                    "the compiler ended without an answer; this is a mistake of Lift",
                ));
            }
        }
    }
}

/// A receiver that one thread uses at a time: the one that waits.
struct Shared<'a, T>(&'a Receiver<T>);

// SAFETY: The thread that detaches from Python is the one that receives.
unsafe impl<T: Send> Send for Shared<'_, T> {}

impl<T> Shared<'_, T> {
    fn receive(&self) -> Result<T, RecvTimeoutError> {
        self.0.recv_timeout(PATIENCE)
    }
}
