//! Workers that are not: each is a thread with a connection that speaks the protocol, and breaks it where it is told to.

use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use lift_explore::measure::messages::{Answer, Hello, Reply, line};
use lift_explore::measure::{Identity, Job, Problem, Verdict};
use serde_json::Value;

pub const TOKEN: &str = "the token of this test";

/// What a worker says, in the order of an ordinary conversation. A new message is to be added here: the match below does
/// not compile without it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    Hello,
    Opened,
    WaitsToPrepare,
    Ready,
    Waits,
    Ran,
    Done,
}

pub const STATES: [State; 7] = [
    State::Hello,
    State::Opened,
    State::WaitsToPrepare,
    State::Ready,
    State::Waits,
    State::Ran,
    State::Done,
];

/// The states in which a message is said; those that may come at any time, or instead of others, have faults of their own.
pub fn states_of(answer: &Answer) -> &'static [State] {
    match answer {
        Answer::Opened(_) => &[State::Opened],
        Answer::Waits => &[State::WaitsToPrepare, State::Waits],
        Answer::Ready { .. } => &[State::Ready],
        Answer::Ran => &[State::Ran],
        Answer::Done { .. } => &[State::Done],
        // Fault::Impossible, Fault::Quiet and Fault::Ended.
        Answer::Impossible(_) | Answer::Beat | Answer::Ended(_) => &[],
    }
}

/// What is said instead of the message of a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The connection ends: the worker was killed, or its machine.
    Closes,
    Garbage,
    /// A line that does not end.
    Endless,
    /// Nothing more, not even that it is there: the network was cut.
    Quiet,
    /// The message comes twice.
    Twice,
    /// The message of another state.
    OutOfTurn,
    /// The verdict is that on another candidate.
    Another,
    /// Its guardian says that the worker ended.
    Ended,
    Impossible,
}

pub const FAULTS: [Fault; 9] = [
    Fault::Closes,
    Fault::Garbage,
    Fault::Endless,
    Fault::Quiet,
    Fault::Twice,
    Fault::OutOfTurn,
    Fault::Another,
    Fault::Ended,
    Fault::Impossible,
];

/// Faults still to come: the first worker to be in that state has it.
pub type Plan = Mutex<Vec<(State, Fault)>>;

pub fn identity(host: &str, device: &str) -> Identity {
    let info = lift_runtime::open("cpu").unwrap().info().clone();
    let mut identity = Identity::of(&info);
    identity.host = host.to_string();
    identity.unit = host.to_string();
    identity.fingerprint = device.to_string();
    identity
}

pub struct Fake<'p> {
    pub address: SocketAddr,
    pub identity: Identity,
    pub token: String,
    pub protocol: u32,
    pub plan: &'p Plan,
    /// What a job comes to.
    pub judge: fn(&Job) -> Verdict,
    /// What it does in its turn.
    pub during: fn(),
}

enum Gone {
    /// It comes again, as a worker does.
    AndBack,
    ForGood(Reply),
}

impl Fake<'_> {
    /// Comes again and again until it is told that it is over, or not wanted. How often it came is told.
    pub fn work(&self) -> (usize, Option<Reply>) {
        for times in 1..1000 {
            match self.converse() {
                Some(Gone::AndBack) => thread::sleep(Duration::from_millis(5)),
                Some(Gone::ForGood(reply)) => return (times, Some(reply)),
                None => return (times, None),
            }
        }
        panic!("the search does not end");
    }

    /// Nothing where nobody listens any more.
    fn converse(&self) -> Option<Gone> {
        let connection = TcpStream::connect(self.address).ok()?;
        let mut lines = BufReader::new(connection.try_clone().ok()?).lines();
        let mut hear = || lines.next().and_then(Result::ok);
        let name = format!("{} of the test", self.identity.host);
        let version = env!("CARGO_PKG_VERSION").to_string();
        let hello = Hello { protocol: self.protocol, version, token: self.token.clone(), name };
        if self.say(&connection, State::Hello, line(&hello)).is_none() {
            return Some(Gone::AndBack);
        }
        match hear().and_then(|reply| serde_json::from_str(&reply).ok()) {
            Some(Reply::Welcome) => {}
            Some(reply) => return Some(Gone::ForGood(reply)),
            None => return Some(Gone::AndBack),
        }
        let problem = hear()?;
        let mut told = None;
        let mut talk = || {
            let say = |state, answer: &Answer| {
                assert!(states_of(answer).contains(&state));
                self.say(&connection, state, line(answer))
            };
            serde_json::from_str::<Problem>(&problem).ok()?;
            let beat = format!("{}\n", line(&Answer::Beat));
            (&connection).write_all(beat.as_bytes()).ok()?;
            say(State::Opened, &Answer::Opened(Box::new(self.identity.clone())))?;
            say(State::WaitsToPrepare, &Answer::Waits)?;
            told = Some(hear()?);
            let kind = "gpu".to_string();
            let ready = Answer::Ready { kind, seconds: 0.0, reference_ms: None, is_kept: false };
            say(State::Ready, &ready)?;
            loop {
                let text = hear()?;
                told = Some(text.clone());
                let id = serde_json::from_str::<Value>(&text).ok()?["id"].as_u64()?;
                let verdict = (self.judge)(&serde_json::from_str(&text).ok()?);
                if !matches!(verdict, Verdict::Refused(_)) {
                    say(State::Waits, &Answer::Waits)?;
                    told = Some(hear()?);
                    (self.during)();
                    say(State::Ran, &Answer::Ran)?;
                }
                say(State::Done, &Answer::Done { id, verdict })?;
            }
        };
        let _: Option<()> = talk();
        let _ = connection.shutdown(Shutdown::Both);
        match told.and_then(|text| serde_json::from_str(&text).ok()) {
            Some(reply @ (Reply::Over | Reply::Refused(_))) => Some(Gone::ForGood(reply)),
            _ => Some(Gone::AndBack),
        }
    }

    /// Says it, or what the plan has instead. Nothing where the conversation is over.
    fn say(&self, mut connection: &TcpStream, state: State, text: String) -> Option<()> {
        let planned = {
            let mut plan = self.plan.lock().unwrap();
            let at = plan.iter().position(|(at, _)| *at == state);
            at.map(|at| plan.remove(at).1)
        };
        let mut send = |text: &str| connection.write_all(format!("{text}\n").as_bytes()).ok();
        let another = r#"{"done":{"id":999999,"verdict":{"ok":{"samples_ms":[7.0]}}}}"#;
        match planned {
            None => send(&text),
            Some(Fault::Twice) => send(&text).and_then(|()| send(&text)),
            Some(Fault::Closes) => None,
            Some(Fault::Garbage) => {
                send("what was the question?")?;
                self.wait_for_the_end(connection)
            }
            Some(Fault::Endless) => {
                while connection.write_all(&[b'x'; 1 << 16]).is_ok() {}
                None
            }
            Some(Fault::Quiet) => self.wait_for_the_end(connection),
            Some(Fault::OutOfTurn) => {
                // Where this is what comes next, something else.
                let other =
                    if state == State::Ran { line(&Answer::Waits) } else { line(&Answer::Ran) };
                send(&other)?;
                self.wait_for_the_end(connection)
            }
            Some(Fault::Another) => {
                send(another)?;
                self.wait_for_the_end(connection)
            }
            Some(Fault::Ended) => {
                send(&line(&Answer::Ended("was killed by signal 9 (killed)".to_string())))?;
                self.wait_for_the_end(connection)
            }
            Some(Fault::Impossible) => {
                send(&line(&Answer::Impossible("there is no such device".to_string())))?;
                self.wait_for_the_end(connection)
            }
        }
    }

    /// As one who is not there any more, until the other side gives up.
    fn wait_for_the_end(&self, connection: &TcpStream) -> Option<()> {
        for line in BufReader::new(connection).lines() {
            line.ok()?;
        }
        None
    }
}
