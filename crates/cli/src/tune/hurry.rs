//! What is reported where a search does not end in time.
//!
//! A search keeps to its time by itself, except where a single step of it takes long: the lowering of one program, say,
//! which nothing interrupts. What was measured is in the database by then, so somebody else can tell it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use lift::tune::Progress;

/// A search that takes so much longer than it has time is not waited for. The search itself gives up a second earlier,
/// where nothing was measured, and then says why.
const PATIENCE: Duration = Duration::from_secs(4);

/// How far the search is, until somebody reports it.
pub struct Hurry<P = Progress>(Arc<Mutex<Option<P>>>);

/// How far one search is, or several.
pub trait Known: Default + Send + 'static {
    /// So long has it taken.
    fn took(&mut self, time: Duration);
}

impl Known for Progress {
    fn took(&mut self, time: Duration) {
        self.elapsed = time;
    }
}

/// Searches that go on side by side, by device.
impl Known for BTreeMap<String, Progress> {
    fn took(&mut self, time: Duration) {
        self.values_mut().for_each(|progress| progress.took(time));
    }
}

impl<P: Known> Hurry<P> {
    /// When the time is over and nobody has reported, `report` does.
    pub fn watch(
        time: Option<Duration>,
        report: impl FnOnce(P) + Send + 'static,
    ) -> Result<Hurry<P>, String> {
        let hurry = Hurry(Arc::new(Mutex::new(Some(P::default()))));
        if let Some(time) = time {
            let watched = Hurry(hurry.0.clone());
            let wait = move || {
                thread::sleep(time.saturating_add(PATIENCE));
                if let Some(mut progress) = watched.take() {
                    progress.took(time.saturating_add(PATIENCE));
                    report(progress);
                }
            };
            let started = thread::Builder::new().stack_size(crate::STACK).spawn(wait);
            started.map_err(|error| format!("cannot start a thread: {error}"))?;
        }
        Ok(hurry)
    }

    /// Something of what is known is otherwise now.
    pub fn tell(&self, change: impl FnOnce(&mut P)) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.as_mut() {
            change(known);
        }
    }

    /// Gives one of those who ask the task to report.
    fn take(&self) -> Option<P> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Returns where nobody else reports: whoever does ends the process.
    pub fn end(self) {
        if self.take().is_none() {
            loop {
                thread::park();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn what_is_known_is_reported_once_by_whoever_comes_first() {
        let (send, told) = channel();
        let report = move |progress: Progress| send.send(progress.tried).unwrap_or(());
        let hurry = Hurry::watch(Some(Duration::ZERO), report).unwrap();
        hurry.tell(|known| known.tried = 7);
        assert_eq!(told.recv(), Ok(7));
        assert!(hurry.take().is_none());
    }

    #[test]
    fn a_search_that_ends_in_time_reports_itself() {
        for time in [None, Some(Duration::MAX)] {
            let (send, told) = channel::<usize>();
            let report = move |progress: Progress| send.send(progress.tried).unwrap_or(());
            let hurry = Hurry::watch(time, report).unwrap();
            hurry.end();
            assert!(told.try_recv().is_err());
        }
    }
}
