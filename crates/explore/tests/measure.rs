//! Workers that hang, crash and lie: each is survived, recorded as what it is, and replaced.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use lift_explore::measure::{Job, MeasureError, Pool, PoolOptions, Problem, Stage, Verdict};

/// For those who never answer.
const SHORT: Duration = Duration::from_millis(300);

fn problem() -> Problem {
    Problem {
        text: String::new(),
        entry: String::new(),
        sizes: [("N".to_string(), 1)].into(),
        seed: 0,
        device: String::new(),
        fast_math: false,
        ..Problem::default()
    }
}

/// A worker in shell: what to do for a job is for `case "$job" in`.
fn script(kind: &str, cases: &str) -> String {
    let ready = format!(r#"{{"ready":{{"kind":"{kind}","seconds":0.5}}}}"#);
    script_with(&format!("echo '{ready}'"), cases)
}

/// A worker that does this to get ready.
fn script_with(ready: &str, cases: &str) -> String {
    format!(
        r#"
        waits() {{ echo '"waits"'; read -r turn; }}
        ran() {{ echo '"ran"'; }}
        done_with() {{ id=${{job#*:}}; echo "{{\"done\":{{\"id\":${{id%%,*}},\"verdict\":$1}}}}"; }}
        ok() {{ done_with "{{\"ok\":{{\"samples_ms\":[$1]}}}}"; }}
        read -r problem
        {ready}
        while read -r job; do
            case "$job" in
                *good*) waits; ok 1.5,2.5;;
                {cases}
            esac
        done
        "#
    )
}

fn options(script: &str) -> PoolOptions {
    let limit = Duration::from_secs(20);
    PoolOptions {
        start_limit: limit,
        compile_limit: limit,
        run_limit: limit,
        ..PoolOptions::new("sh", ["-c", script])
    }
}

fn pool(cases: &str) -> Pool {
    Pool::start(&options(&script("cpu", cases)), &problem()).unwrap()
}

fn job(text: &str) -> Job {
    Job::new(text, "f", 2)
}

fn goes_on(pool: &Pool) {
    assert_eq!(pool.measure(&job("good")), Verdict::Ok { samples_ms: vec![1.5, 2.5] });
}

/// So many threads ask at once, and each is told the times.
#[track_caller]
fn all_are_measured(pool: &Pool, threads: usize) {
    thread::scope(|scope| {
        let ask = || pool.measure(&job("shared"));
        let asking: Vec<_> = (0..threads).map(|_| scope.spawn(ask)).collect();
        for answer in asking {
            assert_eq!(answer.join().unwrap(), Verdict::Ok { samples_ms: vec![1.0, 2.0] });
        }
    });
}

#[track_caller]
fn crashes(pool: &Pool, expected: &str) {
    let verdict = pool.measure(&job("bad"));
    let Verdict::Crashed(how) = &verdict else { panic!("{verdict:?}") };
    assert!(how.contains(expected), "{how}");
    goes_on(pool);
}

#[test]
fn a_worker_that_hangs_is_killed() {
    let usual = options(&script("cpu", "*bad*) sleep 1000;;"));
    let options = PoolOptions { compile_limit: SHORT, ..usual };
    let pool = Pool::start(&options, &problem()).unwrap();
    timed_out(&pool, Stage::Compile);
}

/// Candidates that are known to be slow do not keep others waiting for as long as the first ones may.
#[test]
fn who_takes_far_longer_than_the_best_is_killed_early() {
    let limit = Duration::from_secs(1000);
    let usual = options(&script("gpu", "*bad*) waits; sleep 1000;;"));
    let pool = Pool::start(&PoolOptions { run_limit: limit, ..usual }, &problem()).unwrap();
    let verdict = pool.measure(&Job { cutoff_ms: Some(0.1), ..job("bad") });
    assert!(
        matches!(verdict, Verdict::TimedOut { after_s, during: Stage::Run } if after_s < 500.0),
        "{verdict:?}"
    );
    goes_on(&pool);
}

#[test]
fn after_a_worker_that_hangs_there_is_another() {
    let usual = options(&script("cpu", "*bad*) waits; sleep 1000;;"));
    // Long enough for a line from a shell, whatever else this machine does.
    let options = PoolOptions { run_limit: Duration::from_secs(2), ..usual };
    let pool = Pool::start(&options, &problem()).unwrap();
    goes_on(&pool);
    timed_out(&pool, Stage::Run);
    goes_on(&pool);
}

#[track_caller]
fn timed_out(pool: &Pool, stage: Stage) {
    let verdict = pool.measure(&job("bad"));
    let Verdict::TimedOut { after_s, during } = verdict else { panic!("{verdict:?}") };
    assert!(after_s >= SHORT.as_secs_f64() && during == stage, "{after_s} {during:?}");
}

#[test]
fn a_job_that_nobody_reads_is_given_up() {
    let script = r#"echo '{"ready":{"kind":"cpu","seconds":0}}'; sleep 1000"#;
    let options = PoolOptions { compile_limit: SHORT, ..options(script) };
    let pool = Pool::start(&options, &problem()).unwrap();
    // More than a pipe holds.
    let verdict = pool.measure(&job(&"x".repeat(1 << 20)));
    assert!(matches!(verdict, Verdict::TimedOut { during: Stage::Compile, .. }), "{verdict:?}");
}

#[test]
fn a_worker_that_exits_has_crashed() {
    crashes(&pool("*bad*) echo the last straw >&2; exit 1;;"), "exit code 1: the last straw");
    crashes(&pool("*bad*) waits; exit 0;;"), "ended with exit code 0");
}

#[test]
fn a_worker_that_is_killed_has_crashed() {
    let fault = "signal 11 (segmentation fault)";
    crashes(&pool("*bad*) kill -SEGV $$;;"), fault);
    crashes(&pool("*bad*) waits; kill -SEGV $$;;"), fault);
    crashes(&pool("*bad*) kill -KILL $$;;"), "signal 9 (killed)");
}

#[test]
fn only_the_last_complaints_are_kept() {
    let pool = pool("*bad*) head -c 1000000 /dev/zero | tr '\\0' a >&2; echo z >&2; exit 3;;");
    let Verdict::Crashed(how) = pool.measure(&job("bad")) else { panic!("it exits") };
    assert!(how.contains("exit code 3: a") && how.ends_with("az"), "{how}");
    assert!(how.len() < 5000, "{}", how.len());
}

#[test]
fn a_worker_that_closes_its_output_has_crashed() {
    crashes(&pool("*bad*) exec 1>&-; sleep 1000;;"), "closed its output and went on");
}

#[test]
fn nonsense_is_a_crash() {
    for nonsense in [
        "echo garbage",
        "echo",
        "done_with '{\"ok\":{\"samples_ms\":\"fast\"}}'",
        "head -c 1000 /dev/urandom; echo",
        "yes",
        "yes | tr -d '\\n'",
        "waits; ok null,1",
    ] {
        crashes(&pool(&format!("*bad*) {nonsense};;")), "nonsense");
    }
}

#[test]
fn a_lie_is_a_crash() {
    for lie in [
        // No times, one too many, one that cannot be.
        "waits; ok",
        "waits; ok 1,2,3",
        "waits; ok 1,-1",
        // A time of a run that never had its turn.
        "ok 1,2",
        "waits; echo '\"waits\"'",
        "echo '{\"ready\":{\"kind\":\"cpu\",\"seconds\":0}}'",
        "done_with '{\"timed_out\":{\"after_s\":1,\"during\":\"run\"}}'",
        "done_with '{\"lost\":\"me\"}'",
        // The verdict on another candidate.
        "waits; echo '{\"done\":{\"id\":0,\"verdict\":{\"ok\":{\"samples_ms\":[1]}}}}'",
    ] {
        crashes(&pool(&format!("*bad*) {lie};;")), "the worker answered what cannot be");
    }
}

#[test]
fn what_a_worker_started_ends_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let child = folder.path().join("child");
    for (bad, limit) in [("exit 1", 20_000), ("sleep 1000", 1000)] {
        let cases = format!("*bad*) sleep 1000 & echo $! > {}; {bad};;", child.display());
        let options = PoolOptions {
            compile_limit: Duration::from_millis(limit),
            ..options(&script("cpu", &cases))
        };
        let pool = Pool::start(&options, &problem()).unwrap();
        let verdict = pool.measure(&job("bad"));
        assert!(matches!(verdict, Verdict::Crashed(_) | Verdict::TimedOut { .. }), "{verdict:?}");
        let child: u32 = fs::read_to_string(&child).unwrap().trim().parse().unwrap();
        assert!(is_gone(child), "{bad}");
    }
}

/// Whether a process ends soon. One that nobody waited for has still ended.
fn is_gone(process: u32) -> bool {
    let stat = format!("/proc/{process}/stat");
    (0..1000).any(|_| {
        thread::sleep(Duration::from_millis(10));
        fs::read_to_string(&stat).map_or(true, |text| text.contains(") Z "))
    })
}

/// How often something was written to a file.
fn lines(path: &Path) -> usize {
    fs::read_to_string(path).unwrap().lines().count()
}

#[test]
fn a_fresh_worker_has_the_last_word() {
    let folder = tempfile::tempdir().unwrap();
    let started = folder.path().join("started");
    let note = format!("echo worker >> {};", started.display());
    // It dies of every second job, whatever it is.
    let weak = script("cpu", "")
        .replace("while read", "n=0; while read")
        .replace("case", "n=$((n + 1)); if [ $n = 2 ]; then exit 1; fi; case");
    let pool = Pool::start(&options(&(note.clone() + &weak)), &problem()).unwrap();
    for _ in 0..3 {
        goes_on(&pool);
    }
    assert_eq!(lines(&started), 3);
    // What kills a fresh one as well has crashed, and is not tried for ever.
    fs::remove_file(&started).unwrap();
    let cases = script("cpu", "*bad*) exit 1;;");
    let pool = Pool::start(&options(&(note + &cases)), &problem()).unwrap();
    goes_on(&pool);
    crashes(&pool, "exit code 1");
    assert_eq!(lines(&started), 3);
}

#[test]
fn a_worker_serves_many_jobs_but_none_after_a_wrong_one() {
    let folder = tempfile::tempdir().unwrap();
    let started = folder.path().join("started");
    let wrong = "*wrong*) waits; done_with '{\"wrong\":\"2, not 3\"}';;";
    let refused = "*refused*) done_with '{\"refused\":\"no\"}';;";
    let script = script("cpu", &format!("{wrong} {refused}"));
    let script = format!("echo worker >> {};{script}", started.display());
    let pool = Pool::start(&options(&script), &problem()).unwrap();
    assert_eq!(pool.preparation(), Duration::from_millis(500));
    goes_on(&pool);
    assert_eq!(pool.measure(&job("refused")), Verdict::Refused("no".to_string()));
    goes_on(&pool);
    assert_eq!(lines(&started), 1);
    assert_eq!(pool.measure(&job("wrong")), Verdict::Wrong("2, not 3".to_string()));
    goes_on(&pool);
    assert_eq!(lines(&started), 2);
}

#[test]
fn one_worker_measures_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let (busy, started) = (folder.path().join("busy"), folder.path().join("started"));
    let cases = format!(
        "*shared*) waits
            if mkdir {0}; then sleep 0.05; rmdir {0}; ok 1,2; else ok; fi;;",
        busy.display()
    );
    // On a processor nothing else goes on meanwhile, so there is one worker.
    for (kind, most) in [("gpu", 3), ("cpu", 1)] {
        let script = format!("echo worker >> {};{}", started.display(), script(kind, &cases));
        let options = PoolOptions { workers: 3, ..options(&script) };
        let pool = Pool::start(&options, &problem()).unwrap();
        all_are_measured(&pool, 6);
        assert!(lines(&started) <= most, "{kind}: {}", lines(&started));
        fs::remove_file(&started).unwrap();
    }
}

#[test]
fn one_measures_while_another_compares() {
    let folder = tempfile::tempdir().unwrap();
    // Each waits, after its turn, until both have had theirs.
    let cases = format!(
        "*shared*) waits; ran; : > {0}/$$
            for i in $(seq 200); do [ $(ls {0} | wc -l) -ge 2 ] && break; sleep 0.05; done
            if [ $(ls {0} | wc -l) -ge 2 ]; then ok 1,2; else ok; fi;;",
        folder.path().display()
    );
    let options = PoolOptions { workers: 2, ..options(&script("gpu", &cases)) };
    let pool = Pool::start(&options, &problem()).unwrap();
    all_are_measured(&pool, 2);
}

#[test]
fn a_worker_prepares_on_the_device_in_its_turn() {
    let folder = tempfile::tempdir().unwrap();
    let busy = folder.path().join("busy");
    let alone = format!("mkdir {0} || exit 3; sleep 0.1; rmdir {0}", busy.display());
    let ready = r#"echo '{"ready":{"kind":"gpu","seconds":0.5}}'"#;
    let script = script_with(
        &format!("waits; {alone}; {ready}"),
        &format!("*shared*) waits; {alone}; ran; ok 1,2;;"),
    );
    let pool = Pool::start(&PoolOptions { workers: 3, ..options(&script) }, &problem()).unwrap();
    all_are_measured(&pool, 6);
}

#[test]
fn a_pool_needs_a_worker() {
    let start = |options: &PoolOptions| match Pool::start(options, &problem()) {
        Ok(_) => panic!("there is no worker"),
        Err(error) => error,
    };
    let nowhere = PoolOptions::new("/nowhere/lift", ["worker"]);
    assert!(start(&nowhere).to_string().contains("cannot start a worker: /nowhere/lift: "));
    let sleeps = PoolOptions { start_limit: SHORT, ..options("sleep 1000") };
    let late = start(&sleeps);
    assert!(
        matches!(late, MeasureError::Late { seconds } if seconds >= SHORT.as_secs_f64()),
        "{late}"
    );
    assert_eq!(
        MeasureError::Late { seconds: 2.04 }.to_string(),
        "cannot start a worker: it was not ready after 2.0 s"
    );
    let exits = start(&options("echo no such luck >&2; exit 7"));
    assert_eq!(
        exits.to_string(),
        "cannot start a worker: the worker ended with exit code 7: no such luck"
    );
    assert!(start(&options("echo hello; sleep 1000")).to_string().contains("nonsense: `hello`"));
    let impossible = r#"read -r problem; echo '{"impossible":"no such device"}'"#;
    assert_eq!(start(&options(impossible)), MeasureError::Problem("no such device".to_string()));
}

#[test]
fn where_no_worker_starts_any_more_every_job_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let once =
        format!("if ! mkdir {} 2>/dev/null; then echo gone >&2; exit 9; fi;", mark.display());
    let script = once + &script("cpu", "*bad*) exit 1;;");
    let pool = Pool::start(&options(&script), &problem()).unwrap();
    goes_on(&pool);
    for text in ["bad", "good"] {
        let verdict = pool.measure(&job(text));
        let Verdict::Crashed(how) = &verdict else { panic!("{verdict:?}") };
        assert!(how.contains("cannot start a worker") && how.contains("9: gone"), "{how}");
    }
}

#[test]
fn messages_survive_the_journey() {
    let job = Job {
        local: Some(vec![16, 4]),
        local_padding: 1,
        cutoff_ms: Some(0.125),
        ..Job::new("def f … \"quoted\"\n", "f", 3)
    };
    let text = serde_json::to_string(&job).unwrap();
    assert!(!text.contains('\n'));
    assert_eq!(serde_json::from_str::<Job>(&text).unwrap(), job);
    let verdict = Verdict::TimedOut { after_s: 1.5, during: Stage::Compile };
    let text = serde_json::to_string(&verdict).unwrap();
    assert_eq!(text, r#"{"timed_out":{"after_s":1.5,"during":"compile"}}"#);
    assert_eq!(serde_json::from_str::<Verdict>(&text).unwrap(), verdict);
    let text = serde_json::to_string(&problem()).unwrap();
    assert_eq!(serde_json::from_str::<Problem>(&text).unwrap(), problem());
}
