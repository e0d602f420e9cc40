//! `lift worker`: candidates measured in processes of their own.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::root;
use lift_explore::measure::{Job, MeasureError, Pool, PoolOptions, Problem, Stage, Verdict};

const DEVICES: [&str; 2] = ["cpu", "opencl:pocl"];

const LIFT: &str = env!("CARGO_BIN_EXE_lift");

const TWICE: &str = "def twice[N](xs: [f32; N]) -> [f32; N] = xs |> map(\\x -> x + x);";

fn problem(device: &str) -> Problem {
    Problem {
        text: TWICE.to_string(),
        entry: "twice".to_string(),
        sizes: [("N".to_string(), 1024)].into(),
        seed: 3,
        device: device.to_string(),
        fast_math: false,
        allow_extern: true,
        ..Problem::default()
    }
}

fn pool(device: &str) -> Pool {
    Pool::start(&PoolOptions::new(LIFT, ["worker", "--direct"]), &problem(device)).unwrap()
}

/// A kernel that does this with every element, in groups of so many.
fn kernel(group: u64, function: &str) -> String {
    format!(
        "def twice[N](xs: [f32; N]) -> [f32; N] where N % {group} == 0
           launch local({group}) global(N) =
           xs |> split({group}) |> mapWrg(0)(mapLcl(0)({function})) |> join;"
    )
}

fn measure(pool: &Pool, text: &str) -> Verdict {
    pool.measure(&Job::new(text, "twice", 3))
}

#[track_caller]
fn is_ok(verdict: &Verdict, samples: usize) {
    let Verdict::Ok { samples_ms } = verdict else { panic!("{verdict:?}") };
    assert_eq!(samples_ms.len(), samples);
}

#[track_caller]
fn is_refused(verdict: &Verdict, why: &str) {
    assert!(matches!(verdict, Verdict::Refused(text) if text.contains(why)), "{verdict:?}");
}

#[track_caller]
fn is_wrong(verdict: &Verdict, how: &str) {
    assert!(matches!(verdict, Verdict::Wrong(text) if text.contains(how)), "{verdict:?}");
}

#[track_caller]
fn lacks_resources(verdict: &Verdict, which: &str) {
    let lacks = matches!(verdict, Verdict::OutOfResources(text) if text.contains(which));
    assert!(lacks, "{verdict:?}");
}

#[test]
fn a_right_candidate_has_as_many_times_as_asked_for() {
    for device in DEVICES {
        let pool = pool(device);
        let text = kernel(64, "\\x -> x * 2.0");
        for repeats in [1, 5] {
            is_ok(&pool.measure(&Job::new(text.as_str(), "twice", repeats)), repeats as usize);
        }
        let threads = Job {
            local: Some(vec![32]),
            global: Some(vec![512]),
            local_padding: 1,
            pipeline: false,
            ..Job::new(text.as_str(), "twice", 2)
        };
        is_ok(&pool.measure(&threads), 2);
        // No time is below nothing.
        let hurried = Job { cutoff_ms: Some(-1.0), ..Job::new(text.as_str(), "twice", 5) };
        let verdict = pool.measure(&hurried);
        assert!(matches!(verdict, Verdict::TooSlow { ms } if ms >= 0.0), "{verdict:?}");
    }
}

#[test]
fn a_candidate_has_its_own_parameters_and_entry() {
    let text = "def other[N](xs: [f32; N]) -> [f32; N] = xs;
                def tiled[N; T = 32](xs: [f32; N]) -> [f32; N] where N % T == 0 =
                  xs |> split(T) |> mapWrg(0)(mapLcl(0)(\\x -> x + x)) |> join;";
    let pool = pool("cpu");
    is_ok(&pool.measure(&Job::new(text, "tiled", 1)), 1);
    is_wrong(&pool.measure(&Job::new(text, "other", 1)), "1024 of 1024 differ");
    is_refused(&pool.measure(&Job::new(text, "third", 1)), "there is no definition `third`");
}

#[test]
fn a_wrong_candidate_is_told_how() {
    for device in DEVICES {
        let pool = pool(device);
        let verdict = measure(&pool, &kernel(64, "\\x -> x * 3.0"));
        is_wrong(&verdict, "at `[0]`; 1024 of 1024 differ, by up to ");
        let outside = "def twice[N](xs: [f32; N]) -> [f32; N] =
                         xs |> mapGlb(0)(\\x -> xs[(x as i32) + N] + x);";
        is_wrong(&measure(&pool, outside), " is outside an array of length 1024");
        is_ok(&measure(&pool, &kernel(64, "\\x -> x + x")), 3);
    }
}

#[test]
fn what_the_compiler_does_not_take_is_refused() {
    for device in DEVICES {
        let pool = pool(device);
        is_refused(&measure(&pool, "def twice("), "candidate.lift:1");
        is_refused(&measure(&pool, &TWICE.replace("map", "mapLcl(0)")), "mapWrg");
        is_refused(&measure(&pool, &kernel(1000, "id")), "1024 % 1000 == 0");
        let pair = "def twice[N](xs: [f32; N], ys: [f32; N]) -> [f32; N] = xs;";
        is_refused(&measure(&pool, pair), "`twice` takes 2 arguments, found 1");
        is_ok(&measure(&pool, &kernel(64, "\\x -> x + x")), 3);
    }
}

#[test]
fn what_the_device_does_not_have_is_said() {
    for device in DEVICES {
        let pool = pool(device);
        let text = kernel(64, "\\x -> x + x");
        let many = Job {
            local: Some(vec![1 << 16]),
            global: Some(vec![1 << 16]),
            ..Job::new(text.as_str(), "twice", 1)
        };
        lacks_resources(&pool.measure(&many), "the work-group size");
        let local = "def twice[N](xs: [f32; N]) -> [f32; N] where N % 1024 == 0 =
            xs |> split(1024) |> mapWrg(0)(\\ys ->
              let tile = repeat(4096, ys) |> mapSeq(mapLcl(0)(toLocal(\\x -> x + x)));
              tile[17] |> mapLcl(0)(id)) |> join;";
        lacks_resources(&measure(&pool, local), "local memory");
        is_ok(&measure(&pool, &text), 3);
    }
}

/// A candidate whose function is written in C.
fn foreign(body: &str) -> String {
    let function = format!("extern \"opencl,c\" fn g(x: f32) -> f32 = \"{body}\";");
    function + &kernel(64, "\\x -> g(x)")
}

#[test]
fn kernels_that_hang_or_crash_are_survived() {
    for device in DEVICES {
        let options = PoolOptions {
            run_limit: Duration::from_secs(6),
            ..PoolOptions::new(LIFT, ["worker", "--direct"])
        };
        let pool = Pool::start(&options, &problem(device)).unwrap();
        let verdict = measure(&pool, &foreign("volatile int i = 1; while (i) {} return x;"));
        assert!(matches!(verdict, Verdict::TimedOut { during: Stage::Run, .. }), "{verdict:?}");
        is_ok(&measure(&pool, &foreign("return x + x;")), 3);
        let verdict = measure(&pool, &foreign("*(volatile int *)(long)(x * 0.0f) = 1; return x;"));
        let Verdict::Crashed(how) = &verdict else { panic!("{device}: {verdict:?}") };
        assert!(how.contains("signal 11 (segmentation fault)"), "{device}: {how}");
        let verdict = measure(&pool, &foreign("return no_such_variable;"));
        let failed = matches!(&verdict, Verdict::FailedToCompile(text) if text.contains("no_such"));
        assert!(failed, "{device}: {verdict:?}");
        is_ok(&measure(&pool, &foreign("return x + x;")), 3);
    }
}

#[test]
fn a_problem_that_cannot_be_run_is_an_error() {
    let start = |problem: &Problem| {
        let options = PoolOptions::new(LIFT, ["worker", "--direct"]);
        match Pool::start(&options, problem) {
            Err(MeasureError::Problem(text)) => text,
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("it cannot be run"),
        }
    };
    let usual = problem("cpu");
    let text = start(&Problem { device: "abacus".to_string(), ..usual.clone() });
    assert!(text.contains("there is no device `abacus`"), "{text}");
    let text = start(&Problem { text: "def twice".to_string(), ..usual.clone() });
    assert!(text.contains("problem.lift:1"), "{text}");
    let text = start(&Problem { sizes: [].into(), ..usual.clone() });
    assert!(text.contains("the size `N` of `twice`"), "{text}");
    let text = start(&Problem { sizes: [("N".to_string(), 1 << 50)].into(), ..usual });
    assert!(text.contains("bytes"), "{text}");
}

/// A worker whose parent is gone has nobody to kill it when a kernel hangs.
#[test]
fn a_worker_ends_when_nobody_listens() {
    let mut worker = Command::new(LIFT)
        .args(["worker", "--direct"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to = worker.stdin.take().unwrap();
    let mut from = BufReader::new(worker.stdout.take().unwrap()).lines();
    let job = Job::new(foreign("volatile int i = 1; while (i) {} return x;"), "twice", 1);
    writeln!(to, "{}", serde_json::to_string(&problem("cpu")).unwrap()).unwrap();
    assert!(from.next().unwrap().unwrap().starts_with(r#"{"opened":{"protocol":"#));
    assert_eq!(from.next().unwrap().unwrap(), r#""waits""#);
    writeln!(to, r#""run""#).unwrap();
    assert!(from.next().unwrap().unwrap().starts_with(r#"{"ready":{"kind":"cpu","#));
    let mut job = serde_json::to_value(&job).unwrap();
    job["id"] = 1.into();
    writeln!(to, "{job}").unwrap();
    assert_eq!(from.next().unwrap().unwrap(), r#""waits""#);
    writeln!(to, r#""run""#).unwrap();
    drop(to);
    assert_eq!(worker.wait().unwrap().signal(), Some(9));
    assert!(from.next().is_none());
}

#[test]
fn nonsense_is_refused() {
    let nonsense = common::with_input(&root(), &["worker", "--direct"], "good morning\n");
    assert_eq!((nonsense.code, nonsense.stdout.as_str()), (1, ""));
    assert!(nonsense.stderr.contains("makes no sense"), "{}", nonsense.stderr);
    // Whoever watches over it says how it ended.
    let nonsense = common::with_input(&root(), &["worker"], "good morning\n");
    assert!(nonsense.stdout.starts_with("\"beat\"\n"), "{}", nonsense.stdout);
}

/// Elsewhere too a candidate that ends its process has crashed, and no worker is lost.
#[test]
fn a_crash_elsewhere_is_no_loss() {
    let mut options = PoolOptions::new("false", [""; 0]);
    options.commands = vec![format!("{LIFT} worker")];
    let pool = Pool::start(&options, &problem("cpu")).unwrap();
    let verdict = measure(&pool, &foreign("__builtin_trap(); return x;"));
    assert!(matches!(&verdict, Verdict::Crashed(how) if how.contains("signal")), "{verdict:?}");
    is_ok(&measure(&pool, &kernel(64, "\\x -> x + x")), 3);
}
