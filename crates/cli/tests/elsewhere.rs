//! Workers that the command line names, and workers that come by themselves: what is found is what is found alone.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{Ran, in_folder, root};
use lift_store::{Outcome, Store};
use rustix::process::{Pid, Signal, kill_process};

const LIFT: &str = env!("CARGO_BIN_EXE_lift");

/// A program with few forms that are quick to measure.
const SUM: &str = "def sum[N](xs: [f32; N]) -> f32 = xs |> reduce(0.0, (+));";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("sum.lift"), SUM).unwrap();
    let mut token = fs::OpenOptions::new();
    let mut token =
        token.write(true).create(true).mode(0o600).open(folder.path().join("token")).unwrap();
    std::io::Write::write_all(&mut token, b"a token of this test alone\n").unwrap();
    folder
}

/// What is tried follows from the seed alone.
fn tune<'a>(database: &'a str, trials: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let fixed = ["tune", "sum.lift", "--size", "N=512", "--search", "random", "--seed", "11"];
    let more =
        [&["--resume", "--trials", trials, "--db", database, "-o", "best.lift"], more].concat();
    [&fixed[..], &more].concat()
}

/// Candidates and how they ended, each as often as it was recorded. Whether one that is right is timed again depends on
/// times.
fn rows(folder: &Path, database: &str) -> Vec<(String, &'static str)> {
    let store = Store::open(folder.join(database)).unwrap();
    let mut rows = Vec::new();
    for problem in store.problems().unwrap() {
        for measured in store.measured(problem).unwrap() {
            let first = measured.measurements.iter().filter(|m| !m.message.contains("again"));
            for one in first {
                let outcome = match one.outcome {
                    Outcome::Ok | Outcome::Skipped => "right",
                    other => other.name(),
                };
                rows.push((measured.candidate.hash.clone(), outcome));
            }
        }
    }
    rows.sort();
    rows
}

#[track_caller]
fn succeeded(ran: &Ran) {
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
}

fn alone(folder: &Path) -> Vec<(String, &'static str)> {
    succeeded(&in_folder(folder, &tune("alone.db", "8", &[])));
    let rows = rows(folder, "alone.db");
    assert_eq!(rows.len(), 8);
    rows
}

/// A search in the background, of which every line is heard.
struct Search {
    child: Child,
    lines: BufReader<ChildStderr>,
}

impl Search {
    fn start(folder: &Path, arguments: &[&str]) -> Search {
        let mut child = Command::new(LIFT)
            .args(arguments)
            .current_dir(folder)
            .env("XDG_DATA_HOME", folder.join("no-data"))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap());
        Search { child, lines }
    }

    /// The next line with this in it.
    #[track_caller]
    fn hear(&mut self, part: &str) -> String {
        let mut all = String::new();
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "it ended: {all}");
            if line.contains(part) {
                return line;
            }
            all.push_str(&line);
        }
    }

    /// Hears the rest.
    fn end(mut self) -> (bool, String) {
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.lines, &mut rest).unwrap();
        (self.child.wait().unwrap().success(), rest)
    }

    /// Processes that it has started, and those below them.
    fn below(&self) -> Vec<i32> {
        below(self.child.id())
    }
}

fn below(process: u32) -> Vec<i32> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Ok(number) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let after_name = stat.rsplit(") ").next().unwrap_or_default();
        if after_name.split_whitespace().nth(1) == Some(&process.to_string()) {
            found.push(number as i32);
            found.extend(below(number));
        }
    }
    found
}

/// Whether a process measures by itself, below the one that carries its lines.
fn serves(process: i32) -> bool {
    fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default().contains("--direct")
}

fn kill(process: i32) {
    let _ = kill_process(Pid::from_raw(process).unwrap(), Signal::KILL);
}

fn free_address() -> String {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().to_string()
}

fn connect(folder: &Path, address: &str, more: &[&str]) -> Child {
    Command::new(LIFT)
        .args(["worker", "--connect", address, "--token-file", "token"])
        .args(more)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn commands_find_what_is_found_alone() {
    let folder = folder();
    let expected = alone(folder.path());
    let worker = format!("{LIFT} worker");
    let workers = ["--worker", worker.as_str(), "--worker", worker.as_str()];
    let ran = in_folder(folder.path(), &tune("t.db", "8", &workers));
    succeeded(&ran);
    assert!(ran.stderr.contains(": ready"), "{}", ran.stderr);
    assert_eq!(rows(folder.path(), "t.db"), expected);
    let store = Store::open(folder.path().join("t.db")).unwrap();
    let measured = store.measured(store.problems().unwrap()[0]).unwrap();
    let host = lift_explore::measure::host();
    assert!(measured.iter().all(|m| m.measurements.iter().all(|m| m.host == host)));
}

/// A command is killed again and again, with all it started, in the midst of candidates.
#[test]
fn workers_that_are_killed_lose_nothing() {
    let folder = folder();
    let expected = alone(folder.path());
    let worker = format!("{LIFT} worker");
    let workers = ["--worker", worker.as_str(), "--worker", worker.as_str()];
    let mut search = Search::start(folder.path(), &tune("t.db", "8", &workers));
    for _ in 0..2 {
        search.hear(": ready");
        if let Some(first) = search.below().first() {
            kill(*first);
        }
    }
    // With one candidate done, workers are at the next: what serves is killed, and not what carries its lines.
    search.hear(" tried, ");
    search.below().into_iter().rfind(|process| serves(*process)).into_iter().for_each(kill);
    let (is_well, said) = search.end();
    assert!(is_well, "{said}");
    assert_eq!(rows(folder.path(), "t.db"), expected);
}

#[test]
fn a_search_that_is_killed_is_gone_on_with_and_leaves_no_process() {
    let folder = folder();
    let expected = alone(folder.path());
    let worker = format!("{LIFT} worker");
    let mut search = Search::start(folder.path(), &tune("t.db", "8", &["--worker", &worker]));
    search.hear(" tried, ");
    let left = search.below();
    assert!(!left.is_empty());
    search.child.kill().unwrap();
    search.child.wait().unwrap();
    let is_gone = |process: &i32| {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        stat.is_empty() || stat.contains(") Z ")
    };
    let start = Instant::now();
    while !left.iter().all(is_gone) {
        assert!(start.elapsed() < Duration::from_secs(60));
        sleep(Duration::from_millis(50));
    }
    let before = rows(folder.path(), "t.db");
    let rest = (expected.len() - before.len()).to_string();
    if rest != "0" {
        succeeded(&in_folder(folder.path(), &tune("t.db", &rest, &["--worker", &worker])));
    }
    assert_eq!(rows(folder.path(), "t.db"), expected);
}

#[test]
fn workers_come_by_themselves_and_end_with_the_search() {
    let folder = folder();
    let expected = alone(folder.path());
    let address = free_address();
    let workers = [(); 2].map(|()| connect(folder.path(), &address, &[]));
    let listen = ["--listen", address.as_str(), "--token-file", "token"];
    let ran = in_folder(folder.path(), &tune("t.db", "8", &listen));
    succeeded(&ran);
    for worker in workers {
        let output = worker.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(rows(folder.path(), "t.db"), expected);
}

/// One worker serves all problems of a suite, and what is done is not done again.
#[test]
fn workers_stay_for_all_problems_of_a_suite() {
    let folder = folder();
    let (token, database) = (folder.path().join("token"), folder.path().join("t.db"));
    for (state, tried) in [("tuned", 2), ("tuned before", 0)] {
        let address = free_address();
        let worker = connect(folder.path(), &address, &[]);
        let arguments = [
            "tune-suite",
            "mm",
            "--only",
            "mm_at,mm_bt",
            "--size",
            "M=32,K=32,N=32",
            "--trials",
            "2",
            "--json",
            "--search",
            "random",
            "--db",
            database.to_str().unwrap(),
            "--listen",
            &address,
            "--token-file",
            token.to_str().unwrap(),
        ];
        let ran = in_folder(&root(), &arguments);
        succeeded(&ran);
        let found: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(found.as_array().unwrap().len(), 2);
        for row in found.as_array().unwrap() {
            assert_eq!((&row["state"], &row["tried"]), (&state.into(), &tried.into()), "{row}");
        }
        let output = worker.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// A worker on another device, and one with another token, are told so and end; the search does not notice.
#[test]
fn devices_stay_apart_and_strangers_stay_out() {
    let folder = folder();
    let address = free_address();
    let listen = ["--listen", address.as_str(), "--token-file", "token"];
    let mut search = Search::start(folder.path(), &tune("t.db", "1000000", &listen));
    search.hear("waiting for workers");
    let mut own = connect(folder.path(), &address, &["--device", "cpu", "--name", "own"]);
    search.hear("own at 127.0.0.1");
    search.hear(" tried, ");
    let other = connect(folder.path(), &address, &["--device", "opencl:pocl", "--name", "other"]);
    let refused = search.hear("other at 127.0.0.1");
    assert!(refused.contains("refused: its device is opencl"), "{refused}");
    let output = other.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("and this search is for cpu"), "{said}");
    fs::write(folder.path().join("token"), "another token than that of the test").unwrap();
    let output = connect(folder.path(), &address, &[]).wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("the token is not that"), "{said}");
    kill_process(Pid::from_raw(search.child.id() as i32).unwrap(), Signal::INT).unwrap();
    search.end();
    assert!(own.wait().unwrap().success());
}

/// Two devices, each with a problem of its own, side by side.
#[test]
fn with_any_device_each_has_its_own_problem() {
    let folder = folder();
    let workers = ["cpu", "opencl:pocl"].map(|device| format!("{LIFT} worker --device {device}"));
    let [one, two] = &workers;
    let arguments = [
        "tune",
        "sum.lift",
        "--size",
        "N=512",
        "--search",
        "random",
        "--trials",
        "12",
        "--db",
        "t.db",
        "--devices",
        "any",
        "--json",
        "--worker",
        one,
        "--worker",
        two,
    ];
    let ran = in_folder(folder.path(), &arguments);
    succeeded(&ran);
    let found: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(found.as_array().unwrap().len(), 2, "{}", ran.stderr);
    let store = Store::open(folder.path().join("t.db")).unwrap();
    let mut kinds: Vec<String> = Vec::new();
    for problem in store.problems().unwrap() {
        kinds.push(store.key(problem).unwrap().device.kind);
        assert!(!store.measured(problem).unwrap().is_empty());
    }
    kinds.sort();
    assert_eq!(kinds, ["cpu", "opencl"]);
    let ran = in_folder(
        folder.path(),
        &tune("t.db", "8", &[])
            .iter()
            .map(|a| match *a {
                "-o" => "--devices",
                "best.lift" => "any",
                other => other,
            })
            .collect::<Vec<&str>>(),
    );
    assert!(ran.code == 1 && ran.stderr.contains("is for workers elsewhere"), "{}", ran.stderr);
}

/// A step that nothing interrupts, here a database that somebody else keeps locked, takes longer than there is time: what was
/// measured is told of every device, and not of the first alone.
#[test]
fn a_search_that_hangs_tells_of_every_device() {
    let folder = folder();
    let workers = ["cpu", "opencl:pocl"].map(|device| format!("{LIFT} worker --device {device}"));
    let [one, two] = &workers;
    let fixed = ["tune", "sum.lift", "--size", "N=512", "--trials", "1000000", "--time", "20"];
    let more = ["--db", "t.db", "--devices", "any", "--json", "--worker", one, "--worker", two];
    let start = Instant::now();
    let mut child = Command::new(LIFT)
        .args([&fixed[..], &more].concat())
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(fs::File::create(folder.path().join("said")).unwrap())
        .spawn()
        .unwrap();
    let database = folder.path().join("t.db");
    let devices = || {
        let store = Store::open_to_read(database.exists().then_some(&database)?).ok()?;
        let all = store.problems().ok()?;
        let is_right = |problem: &_| store.best(*problem).is_ok_and(|best| best.is_some());
        (all.len() == 2 && all.iter().all(is_right)).then_some(())
    };
    while devices().is_none() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before both devices were at it");
        sleep(Duration::from_millis(50));
    }
    // Late enough: whoever wants to write waits for ten seconds and then fails, and after four more than it has time the
    // search is not waited for. Early enough: no search has come to its end, for which it writes.
    while start.elapsed() < Duration::from_millis(15_500) {
        sleep(Duration::from_millis(50));
    }
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection.busy_timeout(Duration::from_secs(30)).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    let output = child.wait_with_output().unwrap();
    let said = fs::read_to_string(folder.path().join("said")).unwrap();
    assert!(output.status.success(), "{said}");
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let best: Vec<bool> =
        found.as_array().unwrap().iter().map(|one| one["best"]["kernel_ms"].is_f64()).collect();
    assert_eq!(best, [true, true], "{found}");
}

/// The time is over, whether somebody comes or not.
#[test]
fn a_search_that_nobody_comes_to_ends_in_time() {
    let folder = folder();
    let address = free_address();
    let more = ["--listen", address.as_str(), "--token-file", "token", "--time", "2"];
    let ran = in_folder(folder.path(), &tune("t.db", "8", &more));
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("it was not ready after"), "{}", ran.stderr);
}

#[test]
fn mistakes_are_told() {
    let folder = folder();
    let says = |arguments: &[&str], text: &str| {
        let ran = in_folder(folder.path(), arguments);
        assert!(ran.code != 0 && ran.stderr.contains(text), "{}", ran.stderr);
    };
    says(&tune("t.db", "8", &["--worker", "exit 3"]), "exit code 3");
    says(&tune("t.db", "8", &["--listen", "127.0.0.1:0"]), "--token-file");
    let listen = ["--listen", "nowhere:1", "--token-file", "token"];
    says(&tune("t.db", "8", &listen), "cannot listen at nowhere:1");
    let nobody = ["worker", "--connect", &free_address(), "--token-file", "token", "--wait", "0.1"];
    says(&nobody, "cannot reach a search at 127.0.0.1");
    fs::write(folder.path().join("open"), "readable by everybody, so no secret").unwrap();
    says(&["worker", "--connect", "127.0.0.1:1", "--token-file", "open"], "chmod 600");
    assert!(!folder.path().join("t.db").exists());
    assert!(root().join("cluster/slurm/workers.sbatch").is_file());
}
