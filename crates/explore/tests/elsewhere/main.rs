//! Workers elsewhere that die, lie, fall silent and come again: the rows of a search are the same as without, up to times,
//! and nothing is recorded twice.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

#[path = "../common/mod.rs"]
mod common;
mod fake;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use common::{def, space};
use fake::{FAULTS, Fake, Fault, Plan, STATES, State, TOKEN, identity};
use lift_explore::candidate::Goal;
use lift_explore::deadline::Timetable;
use lift_explore::measure::messages::{Answer, PROTOCOL, Reply};
use lift_explore::measure::{
    Job, Listener, MeasureError, Notice, Pool, PoolOptions, Problem, Token, Verdict,
};
use lift_explore::parameters::Bounds;
use lift_explore::tune::{Method, Progress, Request, tune};
use lift_ir::Def;
use lift_model::features::Machine;
use lift_runtime::Language;
use lift_store::{Device, Outcome, ProblemKey, Store};

const NAMES: [&str; 8] = ["a", "wrong", "b", "crashes", "c", "refused", "d", "large"];

/// By the name in the candidate, so that every run comes to the same.
fn judge(job: &Job) -> Verdict {
    let is = |name: &str| job.text.contains(&format!("\\{name} ->"));
    match () {
        () if is("wrong") => Verdict::Wrong("element 3 is 1, expected 2".to_string()),
        () if is("crashes") => Verdict::Crashed("the device failed".to_string()),
        () if is("refused") => Verdict::Refused("no such thing".to_string()),
        () if is("large") => Verdict::OutOfResources("2 TB of memory".to_string()),
        () => Verdict::Ok { samples_ms: vec![2.0; job.samples()] },
    }
}

/// A search that listens, and what workers told it.
struct Search {
    listener: Arc<Listener>,
    options: PoolOptions,
    notices: Arc<Mutex<Vec<String>>>,
}

impl Search {
    fn new() -> Search {
        let listener = Listener::bind(("127.0.0.1", 0), Token::new(TOKEN).unwrap()).unwrap();
        let listener = Arc::new(listener);
        let notices = Arc::new(Mutex::new(Vec::new()));
        let told = notices.clone();
        let options = PoolOptions {
            listener: Some(listener.clone()),
            notice: Notice::new(move |text| told.lock().unwrap().push(text.to_string())),
            // Longer than any answer of a thread takes, however busy the machine is.
            quiet_limit: Duration::from_secs(2),
            ..PoolOptions::new("false", [""; 0])
        };
        Search { listener, options, notices }
    }

    fn fake<'p>(&self, host: &str, plan: &'p Plan) -> Fake<'p> {
        Fake {
            address: self.listener.address(),
            identity: identity(host, "device"),
            token: TOKEN.to_string(),
            protocol: PROTOCOL,
            plan,
            judge,
            during: || (),
        }
    }

    fn pool(&self) -> Pool {
        Pool::start(&self.options, &problem()).unwrap()
    }

    fn is_told(&self, text: &str) -> bool {
        self.notices.lock().unwrap().iter().any(|notice| notice.contains(text))
    }
}

fn problem() -> Problem {
    let program = def("x", 1);
    Problem {
        text: program.to_string(),
        entry: "f".to_string(),
        sizes: [("N".to_string(), 64)].into(),
        device: "cpu".to_string(),
        ..Problem::default()
    }
}

fn request(program: &Def, trials: usize, resume: bool) -> Request<'_> {
    let sizes = BTreeMap::from([("N".to_string(), 64)]);
    Request {
        def: program,
        goal: Goal { sizes, language: Language::C, machine: Machine::processor(2) },
        bounds: Bounds::default(),
        method: Method::Random,
        prediction: None,
        clock: None,
        seed: 7,
        trials,
        timetable: Timetable::new(None),
        repeats: 3,
        far_slower: 3.0,
        finalists: 0,
        resume,
        host: String::new(),
        version: String::new(),
    }
}

/// What a database has: candidate, outcome, message, by candidate.
fn rows(store: &Store) -> Vec<(String, Outcome, String)> {
    let mut rows = Vec::new();
    for problem in store.problems().unwrap() {
        for measured in store.measured(problem).unwrap() {
            for one in &measured.measurements {
                rows.push((measured.candidate.text.clone(), one.outcome, one.message.clone()));
            }
        }
    }
    rows.sort();
    rows
}

fn key() -> ProblemKey {
    ProblemKey {
        program: def("x", 1).to_string(),
        name: "f".to_string(),
        sizes: [("N0".to_string(), 64)].into(),
        device: Device { fingerprint: "d".into(), name: "d".into(), kind: "cpu".into() },
        flags: String::new(),
    }
}

/// Searches with these workers, and what came of it.
fn searched(search: &Search, workers: &[Fake], store: &mut Store, trials: usize) -> Progress {
    thread::scope(|scope| {
        for worker in workers {
            scope.spawn(|| worker.work());
        }
        let pool = search.pool();
        search.listener.last();
        let id = store.problem(&key()).unwrap();
        let program = def("x", 1);
        let request = request(&program, trials, true);
        tune(&request, &space(&NAMES), &pool, store, id, &mut |_| true).unwrap()
    })
}

fn undisturbed() -> Vec<(String, Outcome, String)> {
    let (search, plan) = (Search::new(), Plan::default());
    let mut store = Store::open_in_memory().unwrap();
    let progress = searched(&search, &[search.fake("one", &plan)], &mut store, 100);
    assert_eq!(progress.tried, NAMES.len() + 1);
    rows(&store)
}

#[test]
fn an_undisturbed_search_has_every_candidate_once() {
    let rows = undisturbed();
    assert_eq!(rows.len(), NAMES.len() + 1);
    let count = |outcome| rows.iter().filter(|row| row.1 == outcome).count();
    assert_eq!((count(Outcome::Ok), count(Outcome::Wrong), count(Outcome::Crashed)), (5, 1, 1));
}

/// Every fault in every state, for the first worker that comes there.
#[test]
fn rows_are_the_same_after_any_fault_in_any_state() {
    let expected = undisturbed();
    for state in STATES {
        for fault in FAULTS {
            let (search, plan) = (Search::new(), Plan::new(vec![(state, fault)]));
            let mut store = Store::open_in_memory().unwrap();
            let workers = [search.fake("one", &plan), search.fake("two", &plan)];
            searched(&search, &workers, &mut store, 100);
            assert_eq!(rows(&store), expected, "{fault:?} in {state:?}");
            assert!(plan.lock().unwrap().is_empty(), "{fault:?} in {state:?} never happened");
        }
    }
}

/// The only worker is at fault, and comes again.
#[test]
fn a_search_goes_on_when_its_only_worker_comes_again() {
    let expected = undisturbed();
    for (state, fault) in
        [(State::Done, Fault::Closes), (State::Ran, Fault::Garbage), (State::Waits, Fault::Quiet)]
    {
        let (search, plan) = (Search::new(), Plan::new(vec![(state, fault)]));
        let mut store = Store::open_in_memory().unwrap();
        searched(&search, &[search.fake("one", &plan)], &mut store, 100);
        assert_eq!(rows(&store), expected, "{fault:?} in {state:?}");
    }
}

#[test]
fn a_candidate_that_every_worker_is_lost_with_is_lost_and_not_crashed() {
    let search = Search::new();
    let plan = Plan::new(vec![(State::Ran, Fault::Closes); 3]);
    thread::scope(|scope| {
        let worker = search.fake("one", &plan);
        scope.spawn(move || worker.work());
        let pool = search.pool();
        search.listener.last();
        let verdict = pool.measure(&Job::new("\\a -> a", "f", 1));
        let Verdict::Lost(who) = &verdict else { panic!("{verdict:?}") };
        assert!(who.contains("one of the test at 127.0.0.1"), "{who}");
        // It is measured when it is asked for again.
        assert!(matches!(pool.measure(&Job::new("\\a -> a", "f", 1)), Verdict::Ok { .. }));
    });
}

#[test]
fn a_lost_candidate_is_measured_when_the_search_is_resumed() {
    let expected = undisturbed();
    let mut store = Store::open_in_memory().unwrap();
    // One candidate, so that all losses are with it.
    let (search, plan) = (Search::new(), Plan::new(vec![(State::Ran, Fault::Closes); 3]));
    let progress = searched(&search, &[search.fake("one", &plan)], &mut store, 1);
    assert_eq!(progress.failed.get("lost"), Some(&1), "{progress:?}");
    let (search, plan) = (Search::new(), Plan::default());
    searched(&search, &[search.fake("one", &plan)], &mut store, 100);
    let mut rows = rows(&store);
    rows.retain(|row| row.1 != Outcome::Lost);
    assert_eq!(rows, expected);
}

/// A search that was killed has recorded what was measured, and one that goes on measures the rest.
#[test]
fn a_search_that_ended_early_is_resumed_without_loss() {
    let expected = undisturbed();
    for before in 1..NAMES.len() {
        let mut store = Store::open_in_memory().unwrap();
        for trials in [before, expected.len() - before] {
            let (search, plan) = (Search::new(), Plan::default());
            let workers = [search.fake("one", &plan), search.fake("two", &plan)];
            searched(&search, &workers, &mut store, trials);
        }
        assert_eq!(rows(&store), expected);
    }
}

#[test]
fn fifty_workers_that_come_at_once_are_all_let_in() {
    let expected = undisturbed();
    let (search, plan) = (Search::new(), Plan::default());
    let workers: Vec<Fake> = (0..50).map(|n| search.fake(&format!("host{n}"), &plan)).collect();
    let mut store = Store::open_in_memory().unwrap();
    thread::scope(|scope| {
        for worker in &workers {
            scope.spawn(|| worker.work());
        }
        let pool = search.pool();
        while (0..50).any(|n| !search.is_told(&format!("host{n} of the test"))) {
            thread::sleep(Duration::from_millis(10));
        }
        search.listener.last();
        let id = store.problem(&key()).unwrap();
        let program = def("x", 1);
        let request = request(&program, 100, false);
        tune(&request, &space(&NAMES), &pool, &mut store, id, &mut |_| true).unwrap();
    });
    assert_eq!(rows(&store), expected);
}

/// Those who are not wanted are told why, and the search goes on with others.
#[test]
fn strangers_other_versions_and_other_devices_are_refused_with_a_sentence() {
    let (search, plan) = (Search::new(), Plan::default());
    let (refusals, verdict) = thread::scope(|scope| {
        let worker = search.fake("right", &plan);
        scope.spawn(move || worker.work());
        let pool = search.pool();
        let token = "another token altogether".to_string();
        let mut older = search.fake("older", &plan);
        older.identity.version = "0.0.1".to_string();
        let refusals = [
            Fake { token, ..search.fake("stranger", &plan) },
            Fake { protocol: PROTOCOL + 1, ..search.fake("newer", &plan) },
            older,
            Fake { identity: identity("other", "GPU 2"), ..search.fake("other", &plan) },
        ]
        .map(|fake| fake.work());
        search.listener.last();
        (refusals, pool.measure(&Job::new("\\a -> a", "f", 1)))
    });
    assert!(matches!(verdict, Verdict::Ok { .. }), "{verdict:?}");
    let sentences = [
        "the token is not that of this search",
        "install the same version on both sides",
        "it is lift 0.0.1 with protocol",
        "its device is GPU 2, and this search is for device",
    ];
    for (refusal, sentence) in refusals.iter().zip(sentences) {
        let (1, Some(Reply::Refused(why))) = refusal else { panic!("{refusal:?}") };
        assert!(why.contains(sentence), "{why}");
    }
    assert!(search.is_told("other of the test"));
}

/// Has two workers measure at once, who do this in their turns.
fn two_at_once(units: [&str; 2], during: fn()) {
    let (search, plan) = (Search::new(), Plan::default());
    thread::scope(|scope| {
        for (host, unit) in ["one", "two"].into_iter().zip(units) {
            let mut worker = Fake { during, ..search.fake(host, &plan) };
            worker.identity.unit = unit.to_string();
            scope.spawn(move || worker.work());
        }
        let pool = search.pool();
        while !search.is_told("one of") || !search.is_told("two of") {
            thread::sleep(Duration::from_millis(10));
        }
        search.listener.last();
        let ask = || pool.measure(&Job::new("\\a -> a", "f", 1));
        thread::scope(|both| {
            for verdict in [both.spawn(ask), both.spawn(ask)] {
                assert!(matches!(verdict.join().unwrap(), Verdict::Ok { .. }));
            }
        });
    });
}

#[test]
fn workers_that_share_a_device_take_turns() {
    static INSIDE: AtomicUsize = AtomicUsize::new(0);
    two_at_once(["same", "same"], || {
        assert_eq!(INSIDE.fetch_add(1, Ordering::SeqCst), 0);
        thread::sleep(Duration::from_millis(50));
        INSIDE.fetch_sub(1, Ordering::SeqCst);
    });
}

#[test]
fn workers_with_devices_of_their_own_do_not_wait_for_each_other() {
    static MET: AtomicUsize = AtomicUsize::new(0);
    // Each goes on when both are in their turns.
    two_at_once(["one", "two"], || {
        MET.fetch_add(1, Ordering::SeqCst);
        let met = (0..2000).any(|_| {
            thread::sleep(Duration::from_millis(10));
            MET.load(Ordering::SeqCst) >= 2
        });
        assert!(met);
    });
}

/// Times of two machines are not compared.
#[test]
fn finalists_are_measured_on_one_host() {
    let (search, plan) = (Search::new(), Plan::default());
    let mut store = Store::open_in_memory().unwrap();
    let id = store.problem(&key()).unwrap();
    thread::scope(|scope| {
        for host in ["one", "two", "three"] {
            let worker = search.fake(host, &plan);
            scope.spawn(move || worker.work());
        }
        let pool = search.pool();
        search.listener.last();
        let program = def("x", 1);
        let request = Request { finalists: 4, ..request(&program, 100, false) };
        tune(&request, &space(&NAMES), &pool, &mut store, id, &mut |_| true).unwrap();
    });
    let measured = store.measured(id).unwrap();
    let again = measured.iter().flat_map(|m| &m.measurements);
    let mut hosts: Vec<&str> =
        again.filter(|m| m.message.contains("again")).map(|m| m.host.as_str()).collect();
    assert_eq!(hosts.len(), 4);
    hosts.dedup();
    assert_eq!(hosts.len(), 1, "{hosts:?}");
}

/// Commands of a shell are workers too. One that cannot be started is told about and not tried for ever.
#[test]
fn commands_are_started_again_and_given_up() {
    let notices = Arc::new(Mutex::new(Vec::new()));
    let told = notices.clone();
    let options = |commands: &[&str]| PoolOptions {
        commands: commands.iter().map(ToString::to_string).collect(),
        notice: Notice::new({
            let told = told.clone();
            move |text: &str| told.lock().unwrap().push(text.to_string())
        }),
        ..PoolOptions::new("false", [""; 0])
    };
    let none = Pool::start(&options(&["echo no route to host >&2; exit 255"]), &problem());
    let Err(MeasureError::Worker(why)) = none else { panic!("there is no worker") };
    assert!(why.contains("exit code 255: no route to host"), "{why}");
    let notices = notices.lock().unwrap();
    assert!(notices.iter().any(|text| text.ends_with("it is not tried again")), "{notices:?}");
}

#[test]
fn every_message_has_its_states() {
    let identity = Box::new(identity("one", "device"));
    let (id, verdict) = (1, Verdict::Refused(String::new()));
    let said = [
        Answer::Opened(identity),
        Answer::Waits,
        Answer::Ready { kind: String::new(), seconds: 0.0, reference_ms: None, is_kept: false },
        Answer::Ran,
        Answer::Done { id, verdict },
    ];
    let covered: Vec<State> =
        said.iter().flat_map(|answer| fake::states_of(answer)).copied().collect();
    // The first is said before any answer.
    assert!(STATES.iter().skip(1).all(|state| covered.contains(state)));
    assert_eq!(covered.len() + 1, STATES.len());
}
