//! A child and what it starts, which end together.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// How long the end of a process may take once it has begun.
pub(crate) const END: Duration = Duration::from_secs(2);

/// A child in a process group of its own. Both are killed when this goes.
pub struct Process {
    pub(crate) child: Child,
    /// How the child ended, once it has been waited for.
    status: Option<ExitStatus>,
    /// Killed, and not waited for any more.
    is_over: bool,
}

impl Process {
    pub fn start(command: &mut Command) -> io::Result<Process> {
        let child = command.process_group(0).spawn()?;
        Ok(Process { child, status: None, is_over: false })
    }

    /// How it ended, if it does so in time.
    pub fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        if self.status.is_none() {
            self.status = within(limit, || self.child.try_wait().ok().flatten());
        }
        self.status
    }

    /// Whether the child has ended. It is not waited for: that would give its number back, and with it the name of
    /// its group.
    pub(crate) fn has_ended(&self) -> bool {
        let peek = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let Some(child) = self.id() else { return false };
        self.status.is_some() || matches!(waitid(WaitId::Pid(child), peek), Ok(Some(_)))
    }

    /// Kills the process and those that it started.
    pub fn kill(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() && !self.is_over {
            self.send_kill();
            // One in the midst of a driver's call may take for ever.
            self.wait(END);
        }
        self.status
    }

    fn send_kill(&self) {
        if let Some(group) = self.id().filter(|_| self.status.is_none()) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// Kills several, which takes no longer than for one: drivers take their time to clean up.
    pub(crate) fn kill_all<'p>(all: impl Iterator<Item = &'p mut Process>) {
        let mut all: Vec<&mut Process> = all.collect();
        all.iter().for_each(|one| one.send_kill());
        within(END, || {
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

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Asks again and again, for a while.
pub(crate) fn within<T>(limit: Duration, mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        let answer = ask();
        if answer.is_some() || start.elapsed() > limit {
            return answer;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}
