//! A worker's guardian, on the worker's machine: it passes lines on, says that it is there, and how the worker ended.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use lift_process::{End, Heard, Lines, Talk};

use super::identity::host;
use super::messages::{Answer, Hello, PROTOCOL, Reply, line};
use super::token::Token;

/// How long it may take to notice that one side has ended.
const NOTICE: Duration = Duration::from_millis(100);

/// How long one waits before coming again.
const PAUSE: Duration = Duration::from_millis(200);

/// No line from a parent is longer.
const LONGEST_LINE: u64 = 16 << 20;

/// What is sent and not confirmed for so long is lost, and the connection with it.
const CUT_OFF: Duration = Duration::from_secs(60);

/// How long the answer to a greeting may take: as long as there may be no problem.
const ANSWER: Duration = Duration::from_secs(900);

/// How a worker is started, and how often its guardian says that it is there.
#[derive(Clone, Debug)]
pub struct Relay {
    pub program: PathBuf,
    pub arguments: Vec<String>,
    pub beat: Duration,
}

/// How a conversation ended.
#[derive(Clone, PartialEq, Debug)]
enum Ending {
    /// The worker has, and the parent was told how.
    Worker,
    /// The parent is gone.
    Parent,
    /// The parent says so.
    Told(Reply),
}

impl Relay {
    /// Every five seconds it says that it is there.
    pub fn new(program: impl Into<PathBuf>, arguments: Vec<String>) -> Relay {
        Relay { program: program.into(), arguments, beat: Duration::from_secs(5) }
    }

    /// Passes lines between standard input and output and a worker, until either ends.
    pub fn run(&self) -> Result<(), String> {
        match self.between(BufReader::new(io::stdin()), io::stdout())? {
            Ending::Worker | Ending::Parent | Ending::Told(Reply::Welcome | Reply::Over) => Ok(()),
            Ending::Told(Reply::Refused(why)) => {
                Err(format!("the search refused this worker: {why}"))
            }
        }
    }

    fn between(
        &self,
        from: impl BufRead + Send + 'static,
        to: impl Write + Send + 'static,
    ) -> Result<Ending, String> {
        let mut command = Command::new(&self.program);
        let started = Talk::start(command.args(&self.arguments).stderr(Stdio::piped()));
        let failed = |error| format!("cannot start {}: {error}", self.program.display());
        let worker = started.map_err(failed)?;
        let ending = Arc::new(Mutex::new(None));
        let (to, told, lines) = (Arc::new(Mutex::new(to)), ending.clone(), worker.lines());
        let start = thread::Builder::new;
        let no_thread = |error| format!("cannot start a thread: {error}");
        start().spawn(move || pass_on(from, &lines, &told)).map_err(no_thread)?;
        let (beating, beat) = (Arc::downgrade(&to), self.beat);
        // The first beat comes before anything the worker says, however soon it ends.
        if say(&to, &line(&Answer::Beat)).is_err() {
            return Ok(Ending::Parent);
        }
        start()
            .spawn(move || {
                loop {
                    thread::sleep(beat);
                    let Some(to) = beating.upgrade() else { return };
                    if say(&to, &line(&Answer::Beat)).is_err() {
                        return;
                    }
                }
            })
            .map_err(no_thread)?;
        loop {
            if let Some(ending) = locked(&ending).take() {
                return Ok(ending);
            }
            match worker.hear(NOTICE) {
                Heard::Line(text) => {
                    if say(&to, &text).is_err() {
                        return Ok(Ending::Parent);
                    }
                }
                Heard::Silence => {}
                Heard::End => break,
            }
        }
        let End { how, complaints } = worker.end();
        let separator = if complaints.is_empty() { "" } else { ": " };
        // Where nobody hears it, nobody needs it.
        let _ = say(&to, &line(&Answer::Ended(format!("{how}{separator}{complaints}"))));
        Ok(Ending::Worker)
    }
}

/// Serves whoever listens there, one problem after the other, until they say that it is over. Where nobody listens, one
/// waits for so long.
pub fn connect(
    relay: &Relay,
    address: &str,
    token: &Token,
    name: &str,
    patience: Duration,
) -> Result<(), String> {
    let mut since = Instant::now();
    loop {
        let met = TcpStream::connect(address).and_then(|connection| {
            let reply = greet(&connection, token, name)?;
            Ok((connection, reply))
        });
        let reply = match met {
            Ok((connection, Reply::Welcome)) => {
                let ending = served(relay, connection);
                since = Instant::now();
                match ending? {
                    Ending::Told(reply) => reply,
                    Ending::Worker | Ending::Parent => Reply::Welcome,
                }
            }
            Ok((_, reply)) => reply,
            Err(error) if since.elapsed() >= patience => {
                return Err(format!("cannot reach a search at {address}: {error}"));
            }
            Err(_) => Reply::Welcome,
        };
        match reply {
            Reply::Over => return Ok(()),
            Reply::Refused(why) => return Err(format!("the search refused this worker: {why}")),
            Reply::Welcome => thread::sleep(PAUSE),
        }
    }
}

/// By which a worker is known unless it is given another name.
pub fn own_name() -> String {
    format!("{}:{}", host(), std::process::id())
}

fn greet(mut connection: &TcpStream, token: &Token, name: &str) -> io::Result<Reply> {
    connection.set_nodelay(true)?;
    // Not every system knows it, and without it one notices later.
    let _ = rustix::net::sockopt::set_tcp_user_timeout(connection, CUT_OFF.as_millis() as u32);
    let hello = Hello {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_string(),
        token: token.text().to_string(),
        name: name.to_string(),
    };
    writeln!(connection, "{}", line(&hello))?;
    connection.set_read_timeout(Some(ANSWER))?;
    // Byte by byte, so that nothing of what comes after the line is taken.
    let mut text = Vec::new();
    let mut byte = [0];
    while text.len() < 4096 {
        connection.read_exact(&mut byte)?;
        match byte {
            [b'\n'] => {
                connection.set_read_timeout(None)?;
                return serde_json::from_slice(&text).map_err(io::Error::other);
            }
            [other] => text.push(other),
        }
    }
    Err(io::Error::other("what listens there is no search"))
}

fn served(relay: &Relay, connection: TcpStream) -> Result<Ending, String> {
    let clone = || connection.try_clone().map_err(|error| format!("cannot listen: {error}"));
    let ending = relay.between(BufReader::new(clone()?), clone()?);
    // Whoever still reads notices.
    let _ = connection.shutdown(Shutdown::Both);
    ending
}

/// Passes on what the parent says, until there is no more or it is for the guardian.
fn pass_on(mut from: impl BufRead, lines: &Lines, ending: &Mutex<Option<Ending>>) {
    let end = loop {
        let mut text = Vec::new();
        match from.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut text) {
            Ok(bytes) if bytes > 0 => {}
            _ => break Ending::Parent,
        }
        let text = String::from_utf8_lossy(&text).trim_end().to_string();
        match serde_json::from_str(&text) {
            Ok(reply @ (Reply::Over | Reply::Refused(_))) => break Ending::Told(reply),
            _ => lines.send(text),
        }
    };
    *locked(ending) = Some(end);
}

fn say(to: &Mutex<impl Write>, text: &str) -> io::Result<()> {
    let mut to = locked(to);
    // In one piece, which over a connection is one packet.
    to.write_all(format!("{text}\n").as_bytes()).and_then(|()| to.flush())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
