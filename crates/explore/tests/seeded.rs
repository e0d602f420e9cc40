//! A space with candidates that hang, crash, lie and talk nonsense: the search goes on, and every one is recorded as
//! what it is.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use common::{def, space};
use lift_explore::candidate::{Candidate, Goal};
use lift_explore::deadline::Timetable;
use lift_explore::measure::{Pool, PoolOptions, Problem};
use lift_explore::parameters::Bounds;
use lift_explore::tune::{Method, Progress, Request, tune};
use lift_ir::Def;
use lift_model::features::Machine;
use lift_runtime::Language;
use lift_store::{Device, Outcome, ProblemId, ProblemKey, Store};

/// What a worker does for a job is in the names of its program.
const WORKER: &str = r#"
    waits() { echo '"waits"'; read -r turn; }
    done_with() { id=${job#*:}; echo "{\"done\":{\"id\":${id%%,*},\"verdict\":$1}}"; }
    read -r problem
    echo '{"ready":{"kind":"cpu","seconds":0}}'
    while read -r job; do
        case "$job" in
            *hangs_compiling*) sleep 1000;;
            *hangs_running*) waits; sleep 1000;;
            *crashes_compiling*) kill -SEGV $$;;
            *crashes_running*) waits; kill -ABRT $$;;
            *lies*) waits; done_with '{"wrong":"element 3 is 1, expected 2"}';;
            *raves*) echo 'what was the question?';;
            *is_too_large*) done_with '{"out_of_resources":"2 TB of memory"}';;
            *fast*) waits; done_with '{"ok":{"samples_ms":[1,1,1]}}';;
            *) waits; done_with '{"ok":{"samples_ms":[2,2,2]}}';;
        esac
    done
"#;

/// The program on workers that read the candidates' names, at a size.
struct Setting {
    program: Def,
    pool: Pool,
    key: ProblemKey,
    goal: Goal,
}

impl Setting {
    fn at(size: u32) -> Setting {
        Setting::at_with_limit(size, Duration::from_secs(4))
    }

    /// One candidate after the other.
    fn one_by_one(size: u32) -> Setting {
        Setting::with(size, Duration::from_secs(4), &|options| options.workers = 1)
    }

    fn at_with_limit(size: u32, limit: Duration) -> Setting {
        Setting::with(size, limit, &|_| {})
    }

    fn with(size: u32, limit: Duration, change: &dyn Fn(&mut PoolOptions)) -> Setting {
        let program = def("x", 1);
        let sizes = BTreeMap::from([("N".to_string(), size.into())]);
        let problem = Problem {
            text: program.to_string(),
            entry: "f".to_string(),
            sizes: sizes.clone(),
            seed: 1,
            device: "cpu".to_string(),
            fast_math: false,
            ..Problem::default()
        };
        let mut options = PoolOptions {
            compile_limit: limit,
            run_limit: limit,
            ..PoolOptions::new("sh", ["-c", WORKER])
        };
        change(&mut options);
        let pool = Pool::start(&options, &problem).unwrap();
        let device = Device { fingerprint: "d".into(), name: "d".into(), kind: "cpu".into() };
        let key = ProblemKey {
            program: program.to_string(),
            name: "f".to_string(),
            sizes: [("N0".to_string(), size.into())].into(),
            device,
            flags: String::new(),
        };
        let goal = Goal { sizes, language: Language::C, machine: Machine::processor(2) };
        Setting { program, pool, key, goal }
    }

    fn request(&self, method: Method, trials: usize) -> Request<'_> {
        Request {
            def: &self.program,
            goal: self.goal.clone(),
            bounds: Bounds::default(),
            method,
            prediction: None,
            clock: None,
            seed: 1,
            trials,
            timetable: Timetable::new(None),
            repeats: 3,
            far_slower: 3.0,
            finalists: 2,
            resume: false,
            host: String::new(),
            version: String::new(),
        }
    }

    /// Searches, and what was found.
    fn tune(
        &self,
        method: Method,
        trials: usize,
        names: &[&str],
        store: &mut Store,
    ) -> (ProblemId, Progress) {
        let id = store.problem(&self.key).unwrap();
        let request = self.request(method, trials);
        (id, tune(&request, &space(names), &self.pool, store, id, &mut |_| true).unwrap())
    }
}

#[test]
fn candidates_that_hang_crash_and_lie_are_survived_and_recorded() {
    let names = [
        "hangs_compiling",
        "plain",
        "crashes_compiling",
        "lies",
        "crashes_running",
        "raves",
        "is_too_large",
        "fast",
        "hangs_running",
    ];
    let mut store = Store::open_in_memory().unwrap();
    let (id, progress) = Setting::at(64).tune(Method::Exhaustive, 100, &names, &mut store);
    // The program itself comes first.
    assert_eq!(progress.tried, names.len() + 1);
    let failed = [("crashed", 3), ("out-of-resources", 1), ("timed-out", 2), ("wrong", 1)];
    let failed: BTreeMap<String, usize> = failed.map(|(kind, n)| (kind.to_string(), n)).into();
    assert_eq!(progress.failed, failed);
    let best = store.best(id).unwrap().unwrap();
    assert!(best.candidate.text.contains("fast"), "{}", best.candidate.text);
    let outcome_of = |name: &str| {
        let measured = store.measured(id).unwrap();
        let one = measured.iter().find(|m| m.candidate.text.contains(name)).unwrap();
        one.measurements.last().unwrap().outcome
    };
    assert_eq!(outcome_of("hangs_compiling"), Outcome::TimedOut);
    assert_eq!(outcome_of("lies"), Outcome::Wrong);
    assert_eq!(outcome_of("raves"), Outcome::Crashed);
    assert_eq!(outcome_of("plain"), Outcome::Ok);
    // One of the two fastest is as fast as the program itself.
    assert_eq!(progress.finalists.first().map(|finalist| finalist.ms), Some(1.0));
    assert!(!progress.finalists.iter().any(|finalist| finalist.ties));
}

/// What the clock says is hopeless is not run, and kept with the reason. Without a clock everything is.
#[test]
fn hopeless_candidates_are_not_run() {
    let names = ["fast", "plain", "hangs_running"];
    let setting = Setting::one_by_one(64);
    let mut store = Store::open_in_memory().unwrap();
    let id = store.problem(&setting.key).unwrap();
    // The one that hangs would take a second; of one, nothing can be told.
    let clock = |candidate: &Candidate| match &candidate.text {
        text if text.contains("hangs_running") => Some(1000.0),
        text if text.contains("plain") => None,
        _ => Some(1.0),
    };
    let request =
        Request { clock: Some(Arc::new(clock)), ..setting.request(Method::Exhaustive, 100) };
    let found =
        tune(&request, &space(&names), &setting.pool, &mut store, id, &mut |_| true).unwrap();
    assert_eq!((found.tried, found.hopeless), (3, 1), "{found:?}");
    assert!(found.failed.is_empty(), "{found:?}");
    let measured = store.measured(id).unwrap();
    let kept = measured.iter().find(|m| m.candidate.text.contains("hangs_running")).unwrap();
    let kept = kept.measurements.last().unwrap();
    assert_eq!((kept.outcome, kept.samples.len()), (Outcome::Skipped, 0));
    assert!(kept.message.starts_with("not run: predicted to be"), "{}", kept.message);
    assert!(store.best(id).unwrap().unwrap().candidate.text.contains("fast"));
}

/// Neither is the one recorded that time ran out for, nor are the fastest measured again.
#[test]
fn a_search_ends_with_its_time() {
    let mut store = Store::open_in_memory().unwrap();
    let setting = Setting::at_with_limit(64, Duration::from_secs(1000));
    let id = store.problem(&setting.key).unwrap();
    let timetable = Timetable::new(Some(Duration::from_secs(4)));
    let request = Request { timetable, ..setting.request(Method::Exhaustive, 100) };
    let space = space(&["fast", "hangs_running", "plain"]);
    let progress = tune(&request, &space, &setting.pool, &mut store, id, &mut |_| true).unwrap();
    assert_eq!((progress.tried, progress.failed.len()), (2, 0));
    assert!(timetable.search().is_over());
    let measured = store.measured(id).unwrap();
    assert!(!measured.iter().any(|m| m.candidate.text.contains("hangs_running")));
    let best = store.best(id).unwrap().unwrap();
    assert!(best.candidate.text.contains("fast"), "{}", best.candidate.text);
}

/// It has been found too slow to wait for.
#[test]
fn a_program_that_results_are_not_compared_with_is_not_measured() {
    let mut store = Store::open_in_memory().unwrap();
    let mut setting = Setting::at(64);
    let small = Some(BTreeMap::from([("N".to_string(), 8)]));
    let options = PoolOptions::new("sh", ["-c", WORKER]);
    let problem = Problem { compare_at: small, ..Problem::default() };
    setting.pool = Pool::start(&options, &problem).unwrap();
    let (id, progress) = setting.tune(Method::Exhaustive, 100, &["fast", "plain"], &mut store);
    assert_eq!(progress.tried, 2);
    let texts = store.measured(id).unwrap().into_iter().map(|m| m.candidate.text);
    assert!(texts.into_iter().all(|text| text.contains("mapGlb")));
}

/// Late with something is better than in time with nothing.
#[test]
fn a_search_without_time_measures_one_form() {
    let mut store = Store::open_in_memory().unwrap();
    let setting = Setting::at(64);
    let id = store.problem(&setting.key).unwrap();
    let timetable = Timetable::new(Some(Duration::ZERO));
    let request = Request { timetable, ..setting.request(Method::Exhaustive, 100) };
    let space = space(&["fast", "plain"]);
    let progress = tune(&request, &space, &setting.pool, &mut store, id, &mut |_| true).unwrap();
    assert_eq!((progress.tried, progress.best_ms), (1, Some(2.0)));
}

#[test]
fn what_was_fast_at_another_size_is_tried_first() {
    let names: Vec<String> = (0..40).map(|k| format!("plain{k}")).collect();
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.insert(33, "fast");
    let mut store = Store::open_in_memory().unwrap();
    Setting::at(64).tune(Method::Exhaustive, 100, &names, &mut store);
    let second = |method: Method, size: u32, store: &mut Store| {
        let (id, _) = Setting::at(size).tune(method, 2, &names, store);
        // The program itself comes first.
        store.measured(id).unwrap()[1].candidate.text.contains("fast")
    };
    assert!(second(Method::Learning, 128, &mut store));
    assert!(!second(Method::Random, 256, &mut store));
}
