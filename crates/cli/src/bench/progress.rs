//! How far a benchmark is: one line that changes on a terminal, a line for every program elsewhere.

use std::io::{IsTerminal, Write};
use std::time::Instant;

use crate::report::remark;

pub struct Progress {
    done: usize,
    all: usize,
    since: Instant,
    is_terminal: bool,
}

impl Progress {
    pub fn new(all: usize) -> Progress {
        let is_terminal = std::io::stderr().is_terminal();
        Progress { done: 0, all, since: Instant::now(), is_terminal }
    }

    pub fn begins(&self, what: &str) {
        let mut line = format!("{} of {}: {what}", self.done + 1, self.all);
        if self.done > 0 {
            let each = self.since.elapsed().as_secs_f64() / self.done as f64;
            let left = each * self.all.saturating_sub(self.done) as f64;
            line.push_str(&format!(", about {left:.0} s left"));
        }
        if self.is_terminal {
            // Nobody is left to be told that standard error is closed.
            write!(std::io::stderr(), "\r\x1b[K{line}").ok();
        } else {
            remark(&line);
        }
    }

    pub fn ends(&mut self) {
        self.done += 1;
        if self.is_terminal {
            // Nobody is left to be told that standard error is closed.
            write!(std::io::stderr(), "\r\x1b[K").ok();
        }
    }
}
