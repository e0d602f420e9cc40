//! A process that may do anything, held at arm's length: no call here waits for longer than it was told.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// No answer is longer.
const LONGEST_LINE: u64 = 16 << 20;

/// Bytes of what a process complained about that are kept: the last ones.
const COMPLAINTS: usize = 4096;

/// How long it may take to notice that a process is gone.
const NOTICE: Duration = Duration::from_millis(100);

/// How long the end of a process may take once it has begun.
const END: Duration = Duration::from_secs(2);

/// A child in a process group of its own, whose input and output are lines.
pub(super) struct Process {
    child: Child,
    input: Sender<String>,
    output: Receiver<String>,
    complaints: Arc<Mutex<Vec<u8>>>,
    /// Closed when no more complaints come.
    complained: Receiver<()>,
    /// How the child ended, once it has been waited for.
    status: Option<ExitStatus>,
    /// Killed, and not waited for any more.
    is_over: bool,
}

pub(super) enum Heard {
    Line(String),
    Silence,
    /// There is no more to come.
    End,
}

impl Process {
    pub fn start(program: &Path, arguments: &[String]) -> io::Result<Process> {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (input, to_write) = channel();
        let (read, output) = sync_channel(16);
        let (complaining, complained) = channel();
        let complaints = Arc::new(Mutex::new(Vec::new()));
        let kept = complaints.clone();
        let process =
            Process { child, input, output, complaints, complained, status: None, is_over: false };
        // Dropping it on an error ends the child.
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(io::Error::other("a pipe is missing"));
        };
        let start = thread::Builder::new;
        start().spawn(move || write_lines(stdin, &to_write))?;
        start().spawn(move || {
            read_lines(BufReader::new(stdout), &mut |line| read.send(line).is_ok());
        })?;
        start().spawn(move || {
            keep_last(stderr, &kept);
            drop(complaining);
        })?;
        Ok(process)
    }

    /// Sends a line, if the process ever reads it.
    pub fn send(&self, line: String) {
        // Where nobody reads any more, the output ends too, and that is noticed.
        let _ = self.input.send(line);
    }

    /// The next line, if it comes in time.
    pub fn hear(&self, limit: Duration) -> Heard {
        let start = Instant::now();
        loop {
            // What it started may hold its output open, so whether it is there is asked before listening.
            let ended = self.has_ended();
            let left = limit.saturating_sub(start.elapsed());
            return match self.output.recv_timeout(left.min(NOTICE)) {
                Ok(line) => Heard::Line(line),
                Err(RecvTimeoutError::Disconnected) => Heard::End,
                Err(RecvTimeoutError::Timeout) if ended => Heard::End,
                Err(RecvTimeoutError::Timeout) if left <= NOTICE => Heard::Silence,
                Err(RecvTimeoutError::Timeout) => continue,
            };
        }
    }

    /// How a process that has said its last came to its end, and what it complained about.
    pub fn epitaph(mut self) -> String {
        let ended = soon(|| self.has_ended().then_some(())).is_some();
        self.kill();
        let status = self.status.filter(|_| ended);
        let how = status.map_or_else(|| "closed its output and went on".to_string(), describe);
        // The pipe may be held open by somebody who survived even the kill.
        let _ = self.complained.recv_timeout(END);
        let complaints = self.complaints.lock().unwrap_or_else(PoisonError::into_inner);
        let complaints = String::from_utf8_lossy(&complaints);
        match complaints.trim() {
            "" => format!("the worker {how}"),
            complaints => format!("the worker {how}: {complaints}"),
        }
    }

    /// Whether the child has ended. It is not waited for: that would give its number back, and with it the name of
    /// its group.
    fn has_ended(&self) -> bool {
        let peek = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let Some(child) = self.id() else { return false };
        matches!(waitid(WaitId::Pid(child), peek), Ok(Some(_)))
    }

    /// Kills the process and those that it started.
    fn kill(&mut self) {
        if self.status.is_some() || self.is_over {
            return;
        }
        self.send_kill();
        // One in the midst of a driver's call may take for ever.
        self.status = soon(|| self.child.try_wait().ok().flatten());
    }

    fn send_kill(&self) {
        if let Some(group) = self.id() {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// Kills several, which takes no longer than for one: drivers take their time to clean up.
    pub fn kill_all(mut all: Vec<Process>) {
        all.iter().for_each(Process::send_kill);
        soon(|| {
            for one in all.iter_mut().filter(|one| one.status.is_none()) {
                one.status = one.child.try_wait().ok().flatten();
            }
            all.iter().all(|one| one.status.is_some()).then_some(())
        });
        all.iter_mut().for_each(|one| one.is_over = true);
    }

    fn id(&self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.child.id()).ok()?)
    }
}

/// Asks again and again, for a while.
fn soon<T>(mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        let answer = ask();
        if answer.is_some() || start.elapsed() > END {
            return answer;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn write_lines(mut to: impl Write, lines: &Receiver<String>) {
    for line in lines {
        let written = to.write_all(line.as_bytes()).and_then(|()| to.write_all(b"\n"));
        if written.and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}

/// Passes lines on until there are no more, one is too long, or nobody wants them.
fn read_lines(mut from: impl BufRead, pass: &mut dyn FnMut(String) -> bool) {
    loop {
        let mut line = Vec::new();
        let read = from.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
        match read {
            Ok(bytes) if bytes > 0 => {}
            _ => return,
        }
        let text = String::from_utf8_lossy(&line).trim_end().to_string();
        if !pass(text) {
            return;
        }
    }
}

fn keep_last(mut from: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut bytes = [0; COMPLAINTS];
    loop {
        let new = match from.read(&mut bytes) {
            Ok(count) if count > 0 => bytes.get(..count).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            _ => return,
        };
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(new);
        let beyond = kept.len().saturating_sub(COMPLAINTS);
        kept.drain(..beyond);
    }
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}{}", signal_name(signal)),
        (None, None) => format!("ended with {status}"),
    }
}

fn signal_name(signal: i32) -> &'static str {
    match Signal::from_named_raw(signal) {
        Some(Signal::ILL) => " (illegal instruction)",
        Some(Signal::ABORT) => " (aborted)",
        Some(Signal::BUS) => " (bus error)",
        Some(Signal::FPE) => " (arithmetic error)",
        Some(Signal::KILL) => " (killed)",
        Some(Signal::SEGV) => " (segmentation fault)",
        _ => "",
    }
}
