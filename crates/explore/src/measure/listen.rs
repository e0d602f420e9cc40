//! Workers that come by themselves, over TCP.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use lift_process::Talk;

use super::crew::Crew;
use super::identity::foreign;
use super::messages::{Hello, Reply, line};
use super::token::Token;

/// How long somebody may take to say who they are, and in how many bytes.
const INTRODUCTION: Duration = Duration::from_secs(10);
const LONGEST_HELLO: u64 = 4096;

/// How many may be at it at once.
const MOST_STRANGERS: usize = 512;

/// How long a worker waits for the next problem, where there is none at the moment.
const BETWEEN_PROBLEMS: Duration = Duration::from_secs(600);

/// How often one looks for what may have come.
const LOOK: Duration = Duration::from_millis(10);

/// A name that people can read, and no longer.
const LONGEST_NAME: usize = 80;

/// A port that workers come to, for one problem after the other. It is closed when this goes.
#[derive(Debug)]
pub struct Listener {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    token: Token,
    /// Who they are for at the moment.
    crew: Mutex<Weak<Crew>>,
    strangers: AtomicUsize,
    /// There are no more problems.
    over: AtomicBool,
    /// Nobody is let in any more.
    closed: AtomicBool,
}

impl Listener {
    /// Listens from now on. Whoever comes waits for the first problem.
    pub fn bind(address: impl ToSocketAddrs, token: Token) -> io::Result<Listener> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            token,
            crew: Mutex::default(),
            strangers: AtomicUsize::new(0),
            over: AtomicBool::new(false),
            closed: AtomicBool::new(false),
        });
        let door = shared.clone();
        thread::Builder::new().spawn(move || door.keep(&listener))?;
        Ok(Listener { address, shared })
    }

    /// Where it is, with the port that was chosen where none was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whoever comes from now on is for them.
    pub(super) fn lead_to(&self, crew: &Arc<Crew>) {
        let mut current = self.shared.crew.lock().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::downgrade(crew);
    }

    /// There are no more problems after the one at hand: workers are told so when it ends, and those who come later.
    pub fn last(&self) {
        self.shared.over.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_over(&self) -> bool {
        self.shared.over.load(Ordering::SeqCst)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::SeqCst);
    }
}

impl Shared {
    /// Lets in whoever comes, each in a thread of their own.
    fn keep(self: Arc<Shared>, listener: &TcpListener) {
        while !self.closed.load(Ordering::SeqCst) {
            let Ok((connection, from)) = listener.accept() else {
                thread::sleep(LOOK);
                continue;
            };
            if self.strangers.fetch_add(1, Ordering::SeqCst) >= MOST_STRANGERS {
                self.strangers.fetch_sub(1, Ordering::SeqCst);
                continue;
            }
            let door = self.clone();
            let greet = move || {
                let known = door.introduced(connection, from);
                door.strangers.fetch_sub(1, Ordering::SeqCst);
                if let Some((connection, name)) = known {
                    door.lead(connection, &name);
                }
            };
            if thread::Builder::new().spawn(greet).is_err() {
                self.strangers.fetch_sub(1, Ordering::SeqCst);
            }
        }
    }

    /// Somebody with the token, of this version, and by which name they are known.
    fn introduced(
        &self,
        mut connection: TcpStream,
        from: SocketAddr,
    ) -> Option<(TcpStream, String)> {
        connection.set_nonblocking(false).ok()?;
        connection.set_nodelay(true).ok()?;
        let hello = hello(&connection)?;
        let refusal = if self.token.is(&hello.token) {
            foreign(hello.protocol, &hello.version)
        } else {
            Some("the token is not that of this search".to_string())
        };
        if let Some(why) = refusal {
            let _ = writeln!(connection, "{}", line(&Reply::Refused(why)));
            return None;
        }
        let readable = hello.name.chars().filter(|c| !c.is_control()).take(LONGEST_NAME);
        Some((connection, format!("{} at {from}", readable.collect::<String>())))
    }

    /// Leads somebody to the problem at hand, or to the next.
    fn lead(&self, mut connection: TcpStream, name: &str) {
        let start = Instant::now();
        let mut say = |reply: &Reply| writeln!(connection, "{}", line(reply));
        while start.elapsed() < BETWEEN_PROBLEMS {
            let crew = self.crew.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
            if let Some(crew) = crew.filter(|crew| !crew.is_closed()) {
                if say(&Reply::Welcome).is_ok()
                    && let Ok(talk) = Talk::over(connection)
                {
                    crew.join(talk, name);
                }
                return;
            }
            if self.over.load(Ordering::SeqCst) || self.closed.load(Ordering::SeqCst) {
                let _ = say(&Reply::Over);
                return;
            }
            thread::sleep(LOOK);
        }
    }
}

/// What somebody says who has just come, if it can be understood.
fn hello(connection: &TcpStream) -> Option<Hello> {
    let end = Instant::now() + INTRODUCTION;
    let mut reader = BufReader::new(connection.take(LONGEST_HELLO));
    let mut text = Vec::new();
    // However slowly they speak, they have so long in all.
    while text.last() != Some(&b'\n') {
        let left = end.saturating_duration_since(Instant::now());
        connection.set_read_timeout(Some(left).filter(|left| !left.is_zero())).ok()?;
        let available =
            reader.fill_buf().ok().filter(|bytes| !bytes.is_empty() && !left.is_zero())?;
        let count =
            available.iter().position(|byte| *byte == b'\n').map_or(available.len(), |at| at + 1);
        text.extend_from_slice(available.get(..count)?);
        reader.consume(count);
    }
    connection.set_read_timeout(None).ok()?;
    serde_json::from_slice(&text).ok()
}
