//! Workers on other machines: where they are, and searches for all devices that they have.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use lift_explore::deadline::Timetable;
use lift_explore::machine::fingerprint;
use lift_explore::measure::{Listener, MeasureError, Notice, Pool};
use lift_interp::Sizes;
use lift_ir::Def;
use lift_runtime::DeviceInfo;

use super::{Progress, TuneError, Tuned, Tuner, check};

/// How often one looks for workers with other devices.
const LOOK: Duration = Duration::from_millis(50);

/// Programs nest as deep as the checker lets them.
const STACK: usize = 256 * 1024 * 1024;

/// Workers that this process does not start by itself, or not on this machine.
#[derive(Clone, Debug, Default)]
pub struct Elsewhere {
    /// Commands of a shell that do what `lift worker` does: `ssh gpu2 lift worker`.
    pub commands: Vec<String>,
    /// Where workers come by themselves.
    pub listener: Option<Arc<Listener>>,
    /// Told who comes and who does not.
    pub notice: Notice,
    /// Whether workers with other devices than the first get problems of their own: see [`Tuner::tune_on_any`].
    pub any_device: bool,
    /// More is to be tuned by those who come: they are not sent away at the end.
    pub goes_on: bool,
    /// The devices of workers, the first one's first.
    seen: Arc<Mutex<Vec<DeviceInfo>>>,
}

impl Elsewhere {
    /// These commands, and whoever comes to the listener.
    pub fn new(
        commands: Vec<String>,
        listener: Option<Arc<Listener>>,
        notice: Notice,
    ) -> Elsewhere {
        Elsewhere { commands, listener, notice, ..Elsewhere::default() }
    }

    pub(super) fn is_used(&self) -> bool {
        !self.commands.is_empty() || self.listener.is_some()
    }

    fn seen(&self) -> MutexGuard<'_, Vec<DeviceInfo>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tuner {
    /// Tunes a program for these sizes on every device that workers elsewhere have, each as a problem of its own. Searches go
    /// on side by side; the first result is that of the first worker's device. `watch` is told of all, by what devices with
    /// the same results have in common.
    pub fn tune_on_any(
        &self,
        def: &Def,
        sizes: &Sizes,
        watch: &mut (dyn FnMut(&str, &Progress) -> bool + Send),
    ) -> Result<Vec<(String, Tuned)>, TuneError> {
        let timetable = Timetable::new(self.time);
        check(def, sizes)?;
        let first = self.pool(def, sizes, &timetable)?.0;
        let watch = Mutex::new(watch);
        let search = |pool: Arc<Pool>| {
            let info = self.info(Some(&pool))?;
            let device = fingerprint(&info);
            let mut tuning = self.prepare_with(Some((pool, None)), def, sizes, timetable)?;
            // Whoever comes may be for another device.
            tuning.listener = None;
            let tuned = tuning.run(&mut |progress| {
                watch.lock().unwrap_or_else(PoisonError::into_inner)(&device, progress)
            })?;
            Ok((info.name, tuned))
        };
        let tuned = thread::scope(|scope| {
            let start = |pool: Arc<Pool>| {
                let large = thread::Builder::new().stack_size(STACK);
                let failed = |e| MeasureError::Worker(format!("cannot start a thread: {e}"));
                large.spawn_scoped(scope, || search(pool)).map_err(failed)
            };
            let mut searches = vec![start(first.clone())?];
            // A search that goes on may be joined by another.
            while searches.iter().any(|search| !search.is_finished()) {
                match first.other() {
                    Some(pool) => searches.push(start(Arc::new(pool))?),
                    None => thread::sleep(LOOK),
                }
            }
            let died = |_| Err(MeasureError::Worker("a search ended by itself".to_string()).into());
            searches.into_iter().map(|search| search.join().unwrap_or_else(died)).collect()
        });
        if let Some(listener) = self.elsewhere.listener.as_ref().filter(|_| !self.elsewhere.goes_on)
        {
            listener.last();
        }
        tuned
    }

    /// What [`Tuner::tune_on_any`] would report that has come so far, from what the database has by now: of every device that
    /// a worker was ready with, whether its search goes on, is done or hangs.
    pub fn found_on_any(
        &self,
        def: &Def,
        sizes: &Sizes,
        progress: &BTreeMap<String, Progress>,
    ) -> Result<Vec<(String, Tuned)>, TuneError> {
        let seen = self.elsewhere.seen().clone();
        if seen.is_empty() {
            return Err(nobody_yet().into());
        }
        let found = |info: DeviceInfo| {
            let progress = progress.get(&fingerprint(&info)).cloned().unwrap_or_default();
            Ok((info.name.clone(), self.found_on(&info, def, sizes, progress)?))
        };
        seen.into_iter().map(found).collect()
    }

    /// The device, which is here, or where the first worker is.
    pub(super) fn info(&self, pool: Option<&Pool>) -> Result<DeviceInfo, TuneError> {
        if !self.elsewhere.is_used() {
            return Ok(crate::open(&self.device).map_err(crate::Error::Device)?.info().clone());
        }
        let mut seen = self.elsewhere.seen();
        let Some(info) = pool.and_then(Pool::identity).and_then(|who| who.device.info()) else {
            return Ok(seen.first().cloned().ok_or_else(nobody_yet)?);
        };
        if !seen.iter().any(|known| fingerprint(known) == fingerprint(&info)) {
            seen.push(info.clone());
        }
        Ok(info)
    }
}

fn nobody_yet() -> MeasureError {
    MeasureError::Worker("no worker has said what its device is".to_string())
}
