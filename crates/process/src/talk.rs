//! Somebody who is talked to in lines: a process, or whoever is at the other end of a connection.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::SendFlags;
use rustix::net::sockopt::set_socket_linger;
use rustix::process::Signal;

use crate::process::{END, Process, within};

/// No line of a process is longer. What is beyond is another line.
const LONGEST_LINE: u64 = 16 << 20;

/// No line of a connection is, which strangers may have made.
const LONGEST_LINE_FROM_AFAR: u64 = 1 << 20;

/// Threads that copy lines need no more.
const STACK: usize = 128 << 10;

/// Bytes of what a process complained about that are kept: the last ones.
const COMPLAINTS: usize = 4096;

/// How long it may take to notice that a process is gone.
const NOTICE: Duration = Duration::from_millis(100);

/// Somebody whose input and output are lines. A process is killed when this goes, and a connection closed.
pub struct Talk {
    with: With,
    /// Nothing where it has been told that no more comes.
    input: Option<Sender<Vec<u8>>>,
    /// How many lines are in there.
    unwritten: Arc<AtomicUsize>,
    output: Receiver<String>,
    complaints: Arc<Mutex<Vec<u8>>>,
    /// Closed when no more complaints come.
    complained: Receiver<()>,
}

/// Sends lines to somebody, as long as they are talked to.
pub struct Lines {
    input: Option<Sender<Vec<u8>>>,
    unwritten: Arc<AtomicUsize>,
}

impl Lines {
    pub fn send(&self, line: String) {
        pass_on(&self.input, &self.unwritten, ended(line));
    }
}

/// The bytes of a line, in one piece: over a connection each piece would be a packet of its own.
fn ended(line: String) -> Vec<u8> {
    let mut bytes = line.into_bytes();
    bytes.push(b'\n');
    bytes
}

/// Leaves bytes to the thread that writes.
fn pass_on(input: &Option<Sender<Vec<u8>>>, unwritten: &AtomicUsize, bytes: Vec<u8>) {
    // Where nobody reads any more, the output ends too, and that is noticed.
    if let Some(input) = input {
        unwritten.fetch_add(1, Ordering::SeqCst);
        let _ = input.send(bytes);
    }
}

enum With {
    Process(Process),
    Connection(TcpStream),
}

impl With {
    /// Whether there is nobody any more. The end of a connection is that of what comes from it.
    fn has_ended(&self) -> bool {
        match self {
            With::Process(process) => process.has_ended(),
            With::Connection(_) => false,
        }
    }
}

pub enum Heard {
    Line(String),
    Silence,
    /// There is no more to come.
    End,
}

/// What became of a process.
pub struct End {
    /// `ended with exit code 3`, `was killed by signal 9 (killed)`
    pub how: String,
    /// The last of what it said on standard error.
    pub complaints: String,
}

impl Talk {
    /// Standard error is listened to where the command pipes it.
    pub fn start(command: &mut Command) -> io::Result<Talk> {
        let mut process = Process::start(command.stdin(Stdio::piped()).stdout(Stdio::piped()))?;
        let child = &mut process.child;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (input, to_write) = channel();
        let (read, output) = sync_channel(16);
        let (complaining, complained) = channel();
        let complaints = Arc::new(Mutex::new(Vec::new()));
        let kept = complaints.clone();
        // Dropping it on an error ends the child.
        let with = With::Process(process);
        let unwritten = Arc::new(AtomicUsize::new(0));
        let left = unwritten.clone();
        let talk = Talk { with, input: Some(input), unwritten, output, complaints, complained };
        let (Some(stdin), Some(stdout), stderr) = pipes else {
            return Err(io::Error::other("a pipe is missing"));
        };
        let start = || thread::Builder::new().stack_size(STACK);
        start().spawn(move || write_lines(stdin, &to_write, &left))?;
        start().spawn(move || {
            let pass = &mut |line| read.send(line).is_ok();
            read_lines(BufReader::new(stdout), LONGEST_LINE, pass);
        })?;
        if let Some(stderr) = stderr {
            start().spawn(move || {
                keep_last(stderr, &kept);
                drop(complaining);
            })?;
        }
        Ok(talk)
    }

    /// Whoever is at the other end of a connection. Its lines are shorter than those of processes, and one that is not
    /// is cut.
    pub fn over(connection: TcpStream) -> io::Result<Talk> {
        let (from, mut to) = (connection.try_clone()?, connection.try_clone()?);
        let (input, to_write) = channel();
        let (read, output) = sync_channel(16);
        let start = || thread::Builder::new().stack_size(STACK);
        let (with, complaints) = (With::Connection(connection), Arc::default());
        let (unwritten, complained) = (Arc::new(AtomicUsize::new(0)), channel().1);
        let left = unwritten.clone();
        let talk = Talk { with, input: Some(input), unwritten, output, complaints, complained };
        start().spawn(move || {
            write_lines(&mut to, &to_write, &left);
            let _ = to.shutdown(Shutdown::Write);
        })?;
        start().spawn(move || {
            let pass = &mut |line| read.send(line).is_ok();
            read_lines(BufReader::new(from), LONGEST_LINE_FROM_AFAR, pass);
        })?;
        Ok(talk)
    }

    /// For others who send lines to a process.
    pub fn lines(&self) -> Lines {
        Lines { input: self.input.clone(), unwritten: self.unwritten.clone() }
    }

    /// Sends a line, if it is ever read.
    pub fn send(&self, line: String) {
        let mut bytes = ended(line);
        // What a connection takes at once needs no other thread to wake up. Nobody else writes to it meanwhile: this is the
        // only one who sends, and what was left to the thread is written.
        if let (With::Connection(to), 0) = (&self.with, self.unwritten.load(Ordering::SeqCst)) {
            let taken = rustix::net::send(to, &bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
            bytes.drain(..taken.unwrap_or(0).min(bytes.len()));
        }
        if !bytes.is_empty() {
            pass_on(&self.input, &self.unwritten, bytes);
        }
    }

    /// The next line, if it comes in time.
    pub fn hear(&self, limit: Duration) -> Heard {
        let start = Instant::now();
        loop {
            // What it started may hold its output open, so whether it is there is asked before listening.
            let ended = self.with.has_ended();
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

    /// Says that there is no more, and lets it end by itself in this time. What was sent before is sent.
    pub fn close(self, limit: Duration) {
        Talk::close_all(vec![self], limit);
    }

    /// The same for several, which takes no longer than for one. Those who do not end are killed.
    pub fn close_all(mut all: Vec<Talk>, limit: Duration) {
        all.iter_mut().for_each(|talk| talk.input = None);
        let start = Instant::now();
        for talk in &all {
            match &talk.with {
                With::Process(process) => {
                    let left = limit.saturating_sub(start.elapsed());
                    within(left, || process.has_ended().then_some(()));
                }
                With::Connection(_) => {
                    let left = || limit.saturating_sub(start.elapsed());
                    while let Ok(_line) = talk.output.recv_timeout(left()) {}
                }
            }
        }
        Talk::kill_all(all);
    }

    /// How one who has said its last came to its end, and what it complained about.
    pub fn end(mut self) -> End {
        let With::Process(process) = &mut self.with else {
            let how = "closed its connection".to_string();
            return End { how, complaints: String::new() };
        };
        let ended = within(END, || process.has_ended().then_some(())).is_some();
        let status = process.kill().filter(|_| ended);
        let how = status.map_or_else(|| "closed its output and went on".to_string(), describe);
        // The pipe may be held open by somebody who survived even the kill.
        let _ = self.complained.recv_timeout(END);
        let complaints = self.complaints.lock().unwrap_or_else(PoisonError::into_inner);
        End { how, complaints: String::from_utf8_lossy(&complaints).trim().to_string() }
    }

    /// Ends several, which takes no longer than for one.
    pub fn kill_all(mut all: Vec<Talk>) {
        Process::kill_all(all.iter_mut().filter_map(|talk| match &mut talk.with {
            With::Process(process) => Some(process),
            With::Connection(_) => None,
        }));
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        if let With::Connection(connection) = &self.with {
            // Nobody reads what still comes, and whoever sends it is to know. One that is closed already stays so.
            let _ = set_socket_linger(connection, Some(Duration::ZERO));
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

fn write_lines(mut to: impl Write, lines: &Receiver<Vec<u8>>, unwritten: &AtomicUsize) {
    for line in lines {
        if to.write_all(&line).and_then(|()| to.flush()).is_err() {
            return;
        }
        unwritten.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Passes lines on until there are no more or nobody wants them. One that is too long is passed on in pieces.
fn read_lines(mut from: impl BufRead, longest: u64, pass: &mut dyn FnMut(String) -> bool) {
    loop {
        let mut line = Vec::new();
        let read = from.by_ref().take(longest).read_until(b'\n', &mut line);
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

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(20);

    fn shell(script: &str) -> Talk {
        Talk::start(Command::new("/bin/sh").args(["-c", script]).stderr(Stdio::piped())).unwrap()
    }

    #[test]
    fn lines_go_both_ways() {
        let talk = shell("read a; echo got $a; read b; echo then $b");
        for (said, heard) in [("one", "got one"), ("two", "then two")] {
            talk.send(said.to_string());
            assert!(matches!(talk.hear(SOON), Heard::Line(line) if line == heard));
        }
        assert!(matches!(talk.hear(SOON), Heard::End));
    }

    /// Two ends of a connection.
    fn connection() -> (Talk, TcpStream) {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let other = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (Talk::over(listener.accept().unwrap().0).unwrap(), other)
    }

    #[test]
    fn lines_go_both_ways_over_a_connection() {
        let (talk, mut other) = connection();
        talk.send("one".to_string());
        let mut heard = [0; 4];
        other.read_exact(&mut heard).unwrap();
        assert_eq!(&heard, b"one\n");
        other.write_all(b"two\n").unwrap();
        assert!(matches!(talk.hear(SOON), Heard::Line(line) if line == "two"));
        assert!(matches!(talk.hear(Duration::ZERO), Heard::Silence));
        drop(other);
        assert!(matches!(talk.hear(SOON), Heard::End));
        assert_eq!(talk.end().how, "closed its connection");
    }

    /// More than a connection holds, to one who does not read yet: nobody waits, and all of it comes, in order.
    #[test]
    fn lines_that_a_connection_does_not_take_are_kept_and_come_in_order() {
        let (talk, other) = connection();
        let line = |n: usize| format!("{n} {}", "x".repeat(1 << 16));
        let start = Instant::now();
        (0..200).for_each(|n| talk.send(line(n)));
        assert!(start.elapsed() < SOON);
        for (n, heard) in BufReader::new(other).lines().take(200).enumerate() {
            assert_eq!(heard.unwrap(), line(n));
        }
    }

    #[test]
    fn a_connection_ends_with_its_talk_and_not_before_everything_is_sent() {
        let (talk, mut other) = connection();
        drop(talk);
        assert_eq!(other.read(&mut [0]).unwrap(), 0);
        let (talk, mut other) = connection();
        talk.send("over".to_string());
        let closing = thread::spawn(move || talk.close(SOON));
        let mut heard = String::new();
        other.read_to_string(&mut heard).unwrap();
        assert_eq!(heard, "over\n");
        drop(other);
        closing.join().unwrap();
    }

    #[test]
    fn a_line_without_end_does_not_fill_the_memory() {
        let (talk, mut other) = connection();
        let writing = thread::spawn(move || {
            // Nobody reads all of it, so writing fails in the end.
            while other.write_all(&[b'x'; 1 << 16]).is_ok() {}
        });
        let Heard::Line(line) = talk.hear(SOON) else { panic!("it says something") };
        assert_eq!(line.len() as u64, LONGEST_LINE_FROM_AFAR);
        drop(talk);
        writing.join().unwrap();
    }

    #[test]
    fn nothing_is_waited_for_longer_than_told() {
        let start = Instant::now();
        let talk = shell("sleep 1000");
        assert!(matches!(talk.hear(Duration::from_millis(50)), Heard::Silence));
        drop(talk);
        let process = Process::start(Command::new("sleep").arg("1000"));
        assert_eq!(process.unwrap().wait(Duration::from_millis(50)), None);
        assert!(start.elapsed() < SOON);
    }

    #[test]
    fn the_end_is_described() {
        let End { how, complaints } = shell("echo oh dear >&2; exit 3").end();
        assert_eq!((how.as_str(), complaints.as_str()), ("ended with exit code 3", "oh dear"));
        let End { how, .. } = shell("kill -SEGV $$").end();
        assert_eq!(how, "was killed by signal 11 (segmentation fault)");
        let End { how, .. } = shell("exec >&-; sleep 1000").end();
        assert_eq!(how, "closed its output and went on");
    }

    #[test]
    fn one_that_is_told_that_no_more_comes_ends_by_itself() {
        let file = std::env::temp_dir().join(format!("lift-process-{}", std::process::id()));
        let script = format!("cat; echo > '{}'", file.display());
        shell(&script).close(SOON);
        assert!(file.exists());
        std::fs::remove_file(file).unwrap();
    }

    #[test]
    fn what_a_process_started_ends_with_it() {
        let talk = shell("sleep 1000 & echo $!; wait");
        let Heard::Line(child) = talk.hear(SOON) else { panic!("it says nothing") };
        let stat = format!("/proc/{}/stat", child.trim());
        assert!(std::fs::exists(&stat).unwrap());
        drop(talk);
        // One that has ended and that nobody has asked about is still listed.
        let is_gone = || {
            let stat = std::fs::read_to_string(&stat).unwrap_or_default();
            (stat.is_empty() || stat.contains(") Z ")).then_some(())
        };
        assert!(within(SOON, is_gone).is_some());
    }
}
