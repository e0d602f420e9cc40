//! Workers that commands start, and start again where they fail.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use lift_process::Talk;

use super::super::worker::{NotReady, Worker};
use super::{Crew, LOOK, Origin};

/// A command that fails so often in a row is not tried again.
const MOST_FAILURES: u32 = 3;

/// How long one waits before a command that failed is tried again, times how often it has failed.
const PAUSE: Duration = Duration::from_secs(1);

impl Crew {
    /// Starts all commands. Each worker has a seat when it is ready.
    pub fn start_commands(self: &Arc<Crew>) {
        self.lock().coming += self.options.commands.len();
        (0..self.options.commands.len()).for_each(|index| self.summon(index));
    }

    /// Has a thread wait for the worker of a command, which counts as coming.
    pub(super) fn summon(self: &Arc<Crew>, index: usize) {
        let crew = self.clone();
        let started = thread::Builder::new().spawn(move || {
            crew.wait_for_command(index);
            crew.lock().coming -= 1;
            crew.changed.notify_all();
        });
        if started.is_err() {
            self.lock().coming -= 1;
        }
    }

    fn wait_for_command(self: &Arc<Crew>, index: usize) {
        let Some(command) = self.options.commands.get(index) else { return };
        let mut failures = 0;
        while !self.is_closed() {
            let mut shell = Command::new("/bin/sh");
            let started = Talk::start(shell.args(["-c", command]).stderr(Stdio::piped()));
            let refusal = match started {
                Ok(talk) => self.admit(Worker::new(talk, command, false), Origin::Command(index)),
                Err(error) => Err(NotReady::Failed(error.to_string())),
            };
            match refusal {
                Ok(()) => return,
                Err(refusal @ (NotReady::Late | NotReady::Failed(_))) => {
                    failures += 1;
                    self.refuse(command, refusal);
                    if failures == MOST_FAILURES {
                        self.options.notice.say(&format!("{command}: it is not tried again"));
                        return;
                    }
                    self.pause(PAUSE * failures);
                }
                Err(refusal) => return self.refuse(command, refusal),
            }
        }
    }

    fn pause(&self, time: Duration) {
        let start = Instant::now();
        while !self.is_closed() && start.elapsed() < time {
            thread::sleep(LOOK);
        }
    }
}
