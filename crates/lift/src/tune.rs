//! Tuning: the fastest of many low-level forms of a program, found by measuring, kept, and used.
//!
//! Candidates run in processes of their own, the workers: [`Worker::lift`] where the `lift` command is installed,
//! [`Worker::own`] where it is not. The latter starts the calling program again, which serves where it is asked to.
//!
//! ```standalone_crate
//! use lift::tune::{Database, Tuner, Worker, serve_if_asked};
//! use lift::{Options, Sizes, Value};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     serve_if_asked();
//!     let text = "def sum[N](xs: [f32; N]) -> f32 = xs |> reduce(0.0, (+));";
//!     let program = lift::parse("sum.lift", text)?;
//!     let sum = program.entry().ok_or("no program")?;
//!     let sizes: Sizes = [("N", 512)].into_iter().collect();
//!     # let folder = std::env::temp_dir().join(format!("lift-doc-{}", std::process::id()));
//!     # std::fs::create_dir_all(&folder)?;
//!     # let file = folder.join("tune.db");
//!
//!     let mut tuner = Tuner::new("cpu", Worker::own()?, &file);
//!     tuner.trials = 3;
//!     tuner.settings.repeats = 2;
//!     let tuned = tuner.tune(sum, &sizes)?;
//!     assert_eq!(tuned.progress.tried, 3);
//!     println!("{:?} ms instead of {:?}", tuned.best.map(|best| best.ms), tuned.default_ms);
//!
//!     // Later, and in any other program:
//!     let mut device = lift::open("cpu")?;
//!     let mut options = Options::default();
//!     options.sizes.insert("N".to_string(), 512);
//!     let mut compiled = Database::open(&file)?.compile(sum, &options, &mut *device)?;
//!     let run = compiled.run(&mut *device, &[Value::from(vec![0.5f32; 512])], &Sizes::new())?;
//!     assert_eq!(run.result.to_string(), "256.0");
//!     # std::fs::remove_dir_all(&folder)?;
//!     Ok(())
//! }
//! ```

mod across;
mod database;
mod elsewhere;
mod error;
mod fitted;
mod smaller;
mod worker;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use lift_clock::Description;
use lift_explore::candidate::Goal;
use lift_explore::deadline::Timetable;
use lift_explore::machine::machine;
use lift_explore::measure::{Pool, Problem};
use lift_explore::space::{Space, everything_until};
use lift_explore::tune::hopeless::clock;
use lift_explore::tune::{Prediction, Request, counts};
use lift_interp::{Sizes, solve_sizes};
use lift_ir::Def;
use lift_model::learn::device_label;
use lift_rewrite::formatted;
use lift_runtime::DeviceInfo;
use lift_store::{ProblemId, Store};

pub use across::Foreign;
pub use database::{Best, Database, key};
pub use elsewhere::Elsewhere;
pub use error::TuneError;
pub use lift_explore::measure::{Listener, MeasureError, Notice, Token};
pub use lift_explore::settings::{Settings, SettingsError};
pub use lift_explore::tune::{Finalist, Method, Progress};
pub use lift_model::learn::{Layout, Trained};
pub use lift_store::StoreError;
pub use worker::{Worker, serve_if_asked};

use smaller::smaller;

/// Workers, and the sizes at which they compare results where the program itself is too slow at those asked for.
type Started = (Arc<Pool>, Option<BTreeMap<String, i128>>);

/// What may be spent on tuning, and where.
#[derive(Clone, Debug)]
pub struct Tuner {
    /// As for [`crate::open`].
    pub device: String,
    pub worker: Worker,
    /// The file that results are kept in; it is made where there is none.
    pub database: PathBuf,
    pub method: Method,
    /// For [`Method::Model`]: trained for the device, by `lift model train`.
    pub model: Option<Arc<Trained>>,
    /// Where the device was measured by `lift calibrate`: what its clock says is hopeless is not run.
    pub machine: Option<Arc<Description>>,
    /// What random choices and inputs follow from.
    pub seed: u64,
    /// Candidates to measure, at most.
    pub trials: usize,
    /// From [`Tuner::prepare`] on, everything included: nothing is waited for any longer.
    pub time: Option<Duration>,
    /// What the database has is not measured again.
    pub resume: bool,
    /// Lets the device's compiler reorder floating-point arithmetic.
    pub fast_math: bool,
    pub settings: Settings,
    /// Where workers are, unless they are processes of this machine.
    pub elsewhere: Elsewhere,
}

impl Tuner {
    /// A hundred candidates, chosen by what the results so far promise most of.
    pub fn new(device: impl Into<String>, worker: Worker, database: impl Into<PathBuf>) -> Tuner {
        Tuner {
            device: device.into(),
            worker,
            database: database.into(),
            method: Method::Learning,
            model: None,
            machine: None,
            seed: 1,
            trials: 100,
            time: None,
            resume: false,
            fast_math: false,
            settings: Settings::default(),
            elsewhere: Elsewhere::default(),
        }
    }

    /// Tunes a program for these sizes.
    pub fn tune(&self, def: &Def, sizes: &Sizes) -> Result<Tuned, TuneError> {
        self.prepare(def, sizes)?.run(&mut |_| true)
    }

    /// Finds out what there is to try, and gets the first worker ready.
    pub fn prepare<'d>(&self, def: &'d Def, sizes: &Sizes) -> Result<Tuning<'d>, TuneError> {
        if let Some(function) = def.uses_extern() {
            let text = format!("`{}` uses the extern function `{function}`", def.name);
            return Err(crate::Error::arguments(text).into());
        }
        let timetable = Timetable::new(self.time);
        check(def, sizes)?;
        // What a device elsewhere is like is known when there is a worker.
        let early = match self.elsewhere.is_used() {
            true => Some(self.pool(def, sizes, &timetable)?),
            false => None,
        };
        self.prepare_with(early, def, sizes, timetable)
    }

    /// The same, with workers that are there already.
    fn prepare_with<'d>(
        &self,
        mut early: Option<Started>,
        def: &'d Def,
        sizes: &Sizes,
        timetable: Timetable,
    ) -> Result<Tuning<'d>, TuneError> {
        let info = self.info(early.as_ref().map(|(pool, _)| &**pool))?;
        self.check_model(&info)?;
        let mut store = Store::open(&self.database)?;
        let problem = store.problem(&database::key(def, sizes, &info, self.fast_math))?;
        store.remove_altered(problem)?;
        let request = self.request(def, sizes, &info, timetable);
        let Goal { sizes: known, .. } = &request.goal;
        let (target, limits) = (request.goal.target(), &self.settings.limits);
        let (space, started) = thread::scope(|scope| {
            let early = early.take();
            let starting = scope.spawn(move || match early {
                Some(started) => Ok(started),
                None => self.pool(def, sizes, &timetable),
            });
            let space = everything_until(def, known, target, limits, timetable.space());
            let died = |_| Err(MeasureError::Worker("the thread that starts it ended".to_string()));
            (space, starting.join().unwrap_or_else(died))
        });
        let (space, (pool, compared_at)) = (space?, started?);
        let listener = self.elsewhere.listener.clone().filter(|_| !self.elsewhere.goes_on);
        Ok(Tuning { request, space, pool, compared_at, store, problem, listener })
    }

    /// Whether the database has a search like this one that came to its end. Elsewhere it is not known before the first
    /// worker has come.
    pub fn is_done(&self, def: &Def, sizes: &Sizes) -> Result<bool, TuneError> {
        if !self.database.exists() {
            return Ok(false);
        }
        let Ok(info) = self.info(None) else { return Ok(false) };
        let store = Store::open_to_read(&self.database)?;
        let key = database::key(def, sizes, &info, self.fast_math);
        let Some(problem) = store.find_problem(&key)? else { return Ok(false) };
        let trials = format!("{} trials", self.trials);
        let is_same = |past: &lift_store::PastRun| {
            past.finished.is_some()
                && past.run.method == self.method.name()
                && past.run.seed == self.seed
                && past.run.budget.split(',').next() == Some(trials.as_str())
        };
        Ok(store.runs(problem)?.iter().any(is_same))
    }

    /// What a search would report that has come so far, from what the database has by now.
    pub fn found(&self, def: &Def, sizes: &Sizes, progress: Progress) -> Result<Tuned, TuneError> {
        self.found_on(&self.info(None)?, def, sizes, progress)
    }

    /// The same for this device.
    fn found_on(
        &self,
        info: &DeviceInfo,
        def: &Def,
        sizes: &Sizes,
        progress: Progress,
    ) -> Result<Tuned, TuneError> {
        let store = Store::open_to_read(&self.database)?;
        let key = database::key(def, sizes, info, self.fast_math);
        let (mut best, mut default_ms) = (None, None);
        if let Some(problem) = store.find_problem(&key)? {
            best = store.best(problem)?.map(|best| Best::read(best, def, sizes)).transpose()?;
            default_ms = own_ms(&store, problem, def)?;
        }
        Ok(Tuned { best, default_ms, progress, counts: BTreeMap::new() })
    }

    /// Starts workers.
    fn pool(
        &self,
        def: &Def,
        sizes: &Sizes,
        timetable: &Timetable,
    ) -> Result<Started, MeasureError> {
        let mut options = self.settings.pool(self.worker.options());
        options.commands = self.elsewhere.commands.clone();
        options.listener = self.elsewhere.listener.clone();
        options.notice = self.elsewhere.notice.clone();
        options.any_device = self.elsewhere.any_device;
        let problem = self.problem(def, sizes);
        // Elsewhere it may be that nobody has come yet: that says nothing about the program.
        let smaller = smaller(def, sizes).filter(|_| !self.elsewhere.is_used());
        let Some(compare_at) = smaller else {
            let pool = Pool::start_until(&options, &problem, timetable.latest())?;
            return Ok((Arc::new(pool), None));
        };
        match Pool::start_until(&options, &problem, timetable.reference()) {
            Err(MeasureError::Late { .. }) => {}
            started => return Ok((Arc::new(started?), None)),
        }
        let problem = Problem { compare_at: Some(compare_at.clone()), ..problem };
        let pool = Pool::start_until(&options, &problem, timetable.latest())?;
        Ok((Arc::new(pool), Some(compare_at)))
    }

    /// A search that goes by a model has one, for this device.
    fn check_model(&self, info: &DeviceInfo) -> Result<(), TuneError> {
        match &self.model {
            Some(model) => {
                model.for_device(&device_label(info.way(), &info.name)).map_err(TuneError::Model)
            }
            None if self.method == Method::Model => Err(TuneError::NoModel),
            None => Ok(()),
        }
    }

    fn problem(&self, def: &Def, sizes: &Sizes) -> Problem {
        Problem {
            text: formatted(def),
            entry: def.name.clone(),
            sizes: by_name(sizes),
            seed: self.seed,
            device: self.device.clone(),
            fast_math: self.fast_math,
            ..Problem::default()
        }
    }

    fn request<'d>(
        &self,
        def: &'d Def,
        sizes: &Sizes,
        info: &DeviceInfo,
        timetable: Timetable,
    ) -> Request<'d> {
        let goal = Goal { sizes: by_name(sizes), language: info.language, machine: machine(info) };
        let mut bounds = self.settings.bounds.clone();
        bounds.most_items = bounds.most_items.min(i128::from(info.max_group_size));
        Request {
            def,
            clock: self.machine.as_ref().map(|described| clock((**described).clone(), &goal)),
            goal,
            bounds,
            method: self.method,
            prediction: self.model.clone().map(|model| {
                Arc::new(move |features: &[f64]| model.predict(features)) as Prediction
            }),
            seed: self.seed,
            trials: self.trials,
            timetable,
            repeats: self.settings.repeats,
            far_slower: self.settings.far_slower,
            finalists: self.settings.finalists,
            resume: self.resume,
            host: info.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_string(),
        }
    }
}

/// A search that is ready to start. Its workers end with it.
pub struct Tuning<'d> {
    request: Request<'d>,
    space: Space,
    pool: Arc<Pool>,
    compared_at: Option<BTreeMap<String, i128>>,
    store: Store,
    problem: ProblemId,
    /// Whose workers are told in the end that there is no more to do.
    listener: Option<Arc<Listener>>,
}

impl Drop for Tuning<'_> {
    fn drop(&mut self) {
        // Before the pool goes.
        if let Some(listener) = &self.listener {
            listener.last();
        }
    }
}

impl Tuning<'_> {
    /// How many low-level programs there are to choose from.
    pub fn programs(&self) -> usize {
        self.space.variants.len()
    }

    /// Sizes at which results are compared with those of the program, where that is too slow at the ones asked for.
    pub fn compared_at(&self) -> Option<&BTreeMap<String, i128>> {
        self.compared_at.as_ref()
    }

    /// Measures until the budget is spent or `watch`, which is told after every candidate, says no.
    pub fn run(
        mut self,
        watch: &mut (dyn FnMut(&Progress) -> bool + Send),
    ) -> Result<Tuned, TuneError> {
        let Tuning { request, space, pool, store, problem, .. } = &mut self;
        let progress = lift_explore::tune::tune(request, space, pool, store, *problem, watch)?;
        let sizes: Sizes = request.goal.sizes.iter().map(|(name, value)| (name, *value)).collect();
        let best = store.best(*problem)?.map(|best| Best::read(best, request.def, &sizes));
        Ok(Tuned {
            best: best.transpose()?,
            default_ms: own_ms(store, *problem, request.def)?,
            counts: counts(&self.space, &progress),
            progress,
        })
    }
}

/// The latest time of the program itself.
fn own_ms(store: &Store, problem: ProblemId, def: &Def) -> Result<Option<f64>, StoreError> {
    let hash = lift_explore::candidate::hash(&formatted(def));
    let measured = store.measured(problem)?;
    let own = measured.iter().find(|measured| measured.candidate.hash == hash);
    Ok(own.and_then(|own| own.measurements.iter().rev().find_map(|m| m.median())))
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// The fastest of all that the database has; nothing where no candidate was right.
    pub best: Option<Best>,
    /// The time of the program by default lowering, where it was measured.
    pub default_ms: Option<f64>,
    pub progress: Progress,
    /// How many there were by phase.
    pub counts: BTreeMap<String, u64>,
}

/// Every size has a value, and these meet the clauses.
fn check(def: &Def, sizes: &Sizes) -> Result<(), TuneError> {
    let mut without_arguments = def.clone();
    without_arguments.params.clear();
    solve_sizes(&without_arguments, &[], sizes).map_err(crate::Error::from)?;
    Ok(())
}

fn by_name(sizes: &Sizes) -> BTreeMap<String, i128> {
    sizes.iter().map(|(name, value)| (name.to_string(), value)).collect()
}
