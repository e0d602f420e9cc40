//! Time that is over: whoever is at it is killed, what was not measured is not recorded, and others are not waited for.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use lift_explore::deadline::Deadline;
use lift_explore::measure::{Job, MeasureError, Pool, PoolOptions, Problem, Verdict};

/// For those who never answer.
const SHORT: Duration = Duration::from_millis(300);

/// Nobody waits for so long.
const LONG: Duration = Duration::from_secs(1000);

const READY: &str =
    r#"echo '{"ready":{"kind":"cpu","seconds":0,"reference_ms":7,"is_kept":true}}'"#;

/// A worker in shell that gets ready in this way, and whose number is in the file that is its first argument; and
/// what it was told first in the second.
fn options(ready: &str, folder: &Path) -> PoolOptions {
    let script = format!(
        r#"
        read -r problem
        echo $$ > "$1/number"; echo "$problem" >> "$1/problems"
        {ready}
        while read -r job; do
            case "$job" in
                *compiles*) sleep 1000;;
                *runs*) echo '"waits"'; read -r turn; sleep 1000;;
                *crashes*) exit 1;;
                *) echo '"waits"'; read -r turn; id=${{job#*:}}
                    echo "{{\"done\":{{\"id\":${{id%%,*}},\"verdict\":{{\"ok\":{{\"samples_ms\":[1]}}}}}}}}";;
            esac
        done
        "#
    );
    let folder = folder.display().to_string();
    PoolOptions {
        start_limit: LONG,
        compile_limit: LONG,
        run_limit: LONG,
        ..PoolOptions::new("sh", ["-c".to_string(), script, "sh".to_string(), folder])
    }
}

fn job(text: &str) -> Job {
    Job::new(text, "f", 1)
}

fn is_running(folder: &Path) -> bool {
    let number = fs::read_to_string(folder.join("number")).unwrap();
    Path::new("/proc").join(number.trim()).exists()
}

#[test]
fn a_worker_that_is_at_it_when_time_is_over_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let pool = Pool::start(&options(READY, folder.path()), &Problem::default()).unwrap();
    for text in ["compiles", "runs"] {
        assert!(is_running(folder.path()));
        assert_eq!(pool.measure_until(&job(text), Deadline::after(SHORT)), None);
        assert!(!is_running(folder.path()));
        // Others go on.
        assert_eq!(pool.measure(&job("good")), Verdict::Ok { samples_ms: vec![1.0] });
    }
}

#[test]
fn nobody_is_asked_when_time_is_over() {
    let folder = tempfile::tempdir().unwrap();
    let pool = Pool::start(&options(READY, folder.path()), &Problem::default()).unwrap();
    assert_eq!(pool.measure_until(&job("good"), Deadline::after(Duration::ZERO)), None);
    assert!(is_running(folder.path()));
    drop(pool);
    assert!(!is_running(folder.path()));
}

#[test]
fn a_worker_that_does_not_get_ready_in_time_is_late() {
    let folder = tempfile::tempdir().unwrap();
    let waits = "echo '\"waits\"'; read -r turn; sleep 1000";
    for ready in ["sleep 1000", waits] {
        let options = options(ready, folder.path());
        let started = Pool::start_until(&options, &Problem::default(), Deadline::after(SHORT));
        assert!(matches!(started, Err(MeasureError::Late { seconds }) if seconds > 0.0));
    }
}

/// The program itself may be slow, so it runs once.
#[test]
fn later_workers_read_what_the_first_has_computed() {
    let folder = tempfile::tempdir().unwrap();
    let pool = Pool::start(&options(READY, folder.path()), &Problem::default()).unwrap();
    assert_eq!(pool.reference_ms(), Some(7.0));
    // One that crashes is asked again in another worker, which crashes too.
    assert!(matches!(pool.measure(&job("crashes")), Verdict::Crashed(_)));
    let told = fs::read_to_string(folder.path().join("problems")).unwrap();
    let expected: Vec<serde_json::Value> =
        told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let path = expected[0]["expected"]["kept"].as_str().unwrap();
    assert!(Path::new(path).exists());
    assert_eq!(expected[1]["expected"]["read"].as_str(), Some(path));
    drop(pool);
    assert!(!Path::new(path).exists());
}

#[test]
fn what_could_not_be_kept_is_computed_again() {
    let folder = tempfile::tempdir().unwrap();
    let ready = r#"echo '{"ready":{"kind":"cpu","seconds":0}}'"#;
    let pool = Pool::start(&options(ready, folder.path()), &Problem::default()).unwrap();
    assert!(matches!(pool.measure(&job("crashes")), Verdict::Crashed(_)));
    let told = fs::read_to_string(folder.path().join("problems")).unwrap();
    assert!(told.lines().last().unwrap().contains(r#""expected":"computed""#), "{told}");
}
