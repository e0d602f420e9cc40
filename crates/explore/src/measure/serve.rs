//! The worker: jobs in, verdicts out.

use std::io::{BufRead, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use lift_execute::Error;
use rustix::process::{Pid, Signal, getpgrp, getpid, getppid, kill_process, kill_process_group};
use serde::de::DeserializeOwned;

use super::bench::{Bench, Turns};
use super::identity::Identity;
use super::messages::{Answer, Task, Turn, line};
use super::{Problem, Verdict};

/// How long a worker that nobody listens to may go on.
const GRACE: Duration = Duration::from_secs(2);

/// How often it is asked whether the parent is there.
const NOTICE: Duration = Duration::from_millis(20);

/// Serves one problem until the input ends or a candidate has done harm.
///
/// Where the input ends, nobody is left to answer to: whatever runs then is given a moment, and then the process
/// is killed, since a kernel that hangs cannot be stopped otherwise. Where it ends because the parent did, there is
/// no moment.
pub fn serve(input: impl BufRead + Send + 'static, output: &mut dyn Write) -> Result<(), String> {
    serve_on(None, input, output)
}

/// The same on a device of one's own choice, whatever the problem says.
pub fn serve_on(
    device: Option<String>,
    input: impl BufRead + Send + 'static,
    output: &mut dyn Write,
) -> Result<(), String> {
    let (sender, lines) = channel();
    let parent = getppid();
    let reading = thread::Builder::new().spawn(move || listen(input, sender, parent));
    reading.map_err(|error| format!("cannot start a thread: {error}"))?;
    Worker { lines, output }.serve(device)
}

/// Passes lines on. At the end, nothing else matters any more.
fn listen(input: impl BufRead, lines: Sender<String>, parent: Option<Pid>) {
    for line in input.lines() {
        let Ok(line) = line else { break };
        if lines.send(line).is_err() {
            break;
        }
    }
    drop(lines);
    let end = Instant::now();
    while end.elapsed() < GRACE && getppid() == parent {
        thread::sleep(NOTICE);
    }
    // What a driver has started to compile with goes too. Exit handlers of drivers wait for kernels; this does not.
    if getpgrp() == getpid() {
        let _ = kill_process_group(getpid(), Signal::KILL);
    }
    let _ = kill_process(getpid(), Signal::KILL);
}

struct Worker<'o> {
    lines: Receiver<String>,
    output: &'o mut dyn Write,
}

impl Worker<'_> {
    fn serve(&mut self, device: Option<String>) -> Result<(), String> {
        let Some(mut problem) = self.hear::<Problem>()? else { return Ok(()) };
        problem.device = device.unwrap_or(problem.device);
        let start = Instant::now();
        let opened = match lift_runtime::open(&problem.device) {
            Ok(device) => device,
            Err(error) => return self.say(&Answer::Impossible(Error::from(error).to_string())),
        };
        self.say(&Answer::Opened(Box::new(Identity::of(opened.info()))))?;
        let mut wait = || self.wait().map_err(Error::arguments);
        let mut bench = match Bench::on(opened, &problem, &mut wait) {
            Ok(bench) => bench,
            Err(error) => return self.say(&Answer::Impossible(error.to_string())),
        };
        let seconds = start.elapsed().as_secs_f64();
        let (reference_ms, is_kept) = (bench.reference_ms(), bench.is_kept());
        let kind = bench.kind().to_string();
        self.say(&Answer::Ready { kind, seconds, reference_ms, is_kept })?;
        while let Some(Task { id, job }) = self.hear::<Task>()? {
            let verdict = bench.measure(&job, self)?;
            let last = matches!(verdict, Verdict::Crashed(_));
            self.say(&Answer::Done { id, verdict })?;
            if last {
                break;
            }
        }
        Ok(())
    }

    /// The next line, unless there are no more.
    fn hear<T: DeserializeOwned>(&mut self) -> Result<Option<T>, String> {
        let Ok(line) = self.lines.recv() else { return Ok(None) };
        match serde_json::from_str(&line) {
            Ok(message) => Ok(Some(message)),
            Err(error) => Err(format!("a line for the worker makes no sense: {error}")),
        }
    }

    fn say(&mut self, answer: &Answer) -> Result<(), String> {
        let written = writeln!(self.output, "{}", line(answer)).and_then(|()| self.output.flush());
        written.map_err(|error| format!("cannot answer: {error}"))
    }
}

impl Turns for Worker<'_> {
    type Error = String;

    fn wait(&mut self) -> Result<(), String> {
        self.say(&Answer::Waits)?;
        match self.hear()? {
            Some(Turn::Run) => Ok(()),
            None => Err("nobody waits for the candidate any more".to_string()),
        }
    }

    fn give_back(&mut self) -> Result<(), String> {
        self.say(&Answer::Ran)
    }
}
