//! Ctrl-C: the first one ends the search when the candidate at hand is done, the second one at once.
//!
//! Workers are in process groups of their own, so the terminal does not interrupt them. They end with the search,
//! and where that is gone, when their input ends.

use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::ProgressBar;

use crate::report::remark;

/// What shells say of a command that was interrupted: 128 and the number of the signal.
const STATUS: i32 = 130;

pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// From now on Ctrl-C asks for an end. What is said then does not spoil the bar.
    pub fn watch(bar: Option<ProgressBar>) -> Result<Interrupt, String> {
        let came = Arc::new(AtomicBool::new(false));
        let seen = came.clone();
        let handler = move || {
            if seen.swap(true, Ordering::SeqCst) {
                exit(STATUS);
            }
            let text = "stopping after the candidate at hand; Ctrl-C again stops at once";
            match &bar {
                Some(bar) => bar.println(text),
                None => remark(text),
            }
        };
        ctrlc::set_handler(handler).map_err(|error| format!("cannot watch for Ctrl-C: {error}"))?;
        Ok(Interrupt(came))
    }

    pub fn came(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Everything that was to be said has been said.
    pub fn end_if_it_came(&self) {
        if self.came() {
            exit(STATUS);
        }
    }
}
