//! `lift tune` in the background, to be interrupted and killed.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::QUICK;

/// Whatever is waited for comes long before.
const PATIENCE: Duration = Duration::from_secs(60);

/// The command, which leads a process group as one started from a terminal does.
pub struct Background {
    child: Child,
    lines: Receiver<String>,
}

/// How it ended: its exit code, unless a signal ended it, and what it printed.
pub struct End {
    pub code: Option<i32>,
    pub stdout: String,
}

impl Background {
    pub fn start(folder: &Path, arguments: &[&str], env: &[(&str, &str)]) -> Background {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lift"))
            .args(arguments)
            .current_dir(folder)
            .env("NO_COLOR", "1")
            .envs(QUICK.iter().chain(env).copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                // Nobody need listen to the end.
                sender.send(line).ok();
            }
        });
        Background { child, lines }
    }

    /// Waits for a line on standard error that has this in it.
    #[track_caller]
    pub fn wait_for(&self, part: &str) {
        let mut said = Vec::new();
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) if line.contains(part) => return,
                Ok(line) => said.push(line),
                Err(error) => panic!("`{part}` was not said ({error}): {said:#?}"),
            }
        }
    }

    /// Ctrl-C, which goes to the whole group.
    pub fn interrupt(&self) {
        let group = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process_group(group, Signal::INT).unwrap();
    }

    /// A signal to the command alone, as of `kill`.
    pub fn signal(&self, signal: Signal) {
        let process = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(process, signal).unwrap();
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    pub fn end(mut self) -> End {
        let status = wait("the command to end", || self.child.try_wait().unwrap());
        let mut stdout = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        End { code: status.code(), stdout }
    }

    /// The processes that it has started.
    pub fn workers(&self) -> Vec<u32> {
        let own = self.child.id();
        let of = |process: u32| parent_and_state(process).filter(|(parent, _)| *parent == own);
        processes().into_iter().filter(|process| of(*process).is_some()).collect()
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // A test that failed leaves nothing behind.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Waits until these processes have ended.
#[track_caller]
pub fn wait_for_end(processes: &[u32]) {
    // A process that has ended and that nobody has asked about is still listed.
    let ended = |process: &u32| parent_and_state(*process).is_none_or(|(_, state)| state == 'Z');
    wait("the workers to end", || processes.iter().all(ended).then_some(()));
}

/// Asks again and again.
#[track_caller]
pub fn wait<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if let Some(answer) = ask() {
            return answer;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("waited too long for {what}");
}

fn processes() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().map_while(Result::ok);
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The processes that have this in their arguments. One that has ended has none.
pub fn whose_arguments_mention(text: &str) -> Vec<u32> {
    let mentions = |process: &u32| {
        let arguments = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&arguments).contains(text)
    };
    processes().into_iter().filter(mentions).collect()
}

/// The parent of a process, and a letter for what it does.
fn parent_and_state(process: u32) -> Option<(u32, char)> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name stands in parentheses and may hold anything.
    let mut after_name = stat.rsplit_once(") ")?.1.split(' ');
    let state = after_name.next()?.chars().next()?;
    Some((after_name.next()?.parse().ok()?, state))
}
