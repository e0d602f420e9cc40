//! Ctrl-C, as a terminal sends it.

use std::fs;
use std::path::Path;

use lift_store::{Outcome, PastRun, Store};

use crate::background::{Background, wait, wait_for_end};
use crate::{TUNE, folder, measured};

const LONG: &[&str] = &["--entry", "sum", "--trials", "1000000"];

fn runs(folder: &Path) -> Vec<PastRun> {
    let store = Store::open(folder.join("t.db")).unwrap();
    let problems = store.problems().unwrap();
    store.runs(problems[0]).unwrap()
}

#[test]
fn an_interrupted_search_says_what_it_found_and_keeps_it() {
    let folder = folder();
    let tune = [TUNE, LONG, &["-o", "best.lift"]].concat();
    let search = Background::start(folder.path(), &tune, &[]);
    search.wait_for(" tried, ");
    let workers = search.workers();
    assert!(!workers.is_empty());
    search.interrupt();
    search.wait_for("stopping after the candidate at hand");
    let end = search.end();
    assert_eq!(end.code, Some(130));
    assert!(end.stdout.starts_with("// wrote best.lift\n"), "{}", end.stdout);
    let best = std::fs::read_to_string(folder.path().join("best.lift")).unwrap();
    assert!(best.contains("def sum[N"), "{best}");
    assert!(end.stdout.contains(" tried in "), "{}", end.stdout);
    assert_eq!(end.stdout.lines().find(|line| line.contains("crashed")), None);
    wait_for_end(&workers);
    // The run is finished, and says how many it has measured.
    let (runs, measured) = (runs(folder.path()), measured(folder.path()));
    assert_eq!(runs.len(), 1);
    assert!(runs[0].finished.is_some());
    let told = runs[0].counts.iter().find(|(phase, _)| phase.ends_with("measured"));
    assert_eq!(told.map(|(_, count)| *count), Some(measured.len() as u64));
    let outcomes = measured.iter().flat_map(|m| &m.measurements).map(|m| m.outcome);
    assert_eq!(outcomes.filter(|outcome| *outcome == Outcome::Crashed).count(), 0);
}

/// A compiler that waits where there is a file `wait`, and says so by a file `waits`.
const COMPILER: &str = "case \"$*\" in *--version*) exec cc --version;; esac
if [ -e wait ]; then : > waits; while [ -e wait ]; do sleep 0.1; done; fi
exec cc \"$@\"
";

#[test]
fn the_second_interrupt_ends_at_once_and_keeps_what_was_measured() {
    let folder = folder();
    let path = folder.path();
    fs::write(path.join("cc.sh"), COMPILER).unwrap();
    let cache = path.join("cache");
    let env = [("CC", "sh ./cc.sh"), ("XDG_CACHE_HOME", cache.to_str().unwrap())];
    let mut search = Background::start(path, &[TUNE, LONG].concat(), &env);
    search.wait_for(" tried, ");
    fs::write(path.join("wait"), "").unwrap();
    wait("a candidate to compile", || path.join("waits").exists().then_some(()));
    let before = measured(path);
    assert!(!before.is_empty());
    let workers = search.workers();
    search.interrupt();
    search.wait_for("stopping after the candidate at hand");
    // It waits for the candidate, which waits for the compiler.
    assert!(search.is_running());
    search.interrupt();
    assert_eq!(search.end().code, Some(130));
    wait_for_end(&workers);
    fs::remove_file(path.join("wait")).unwrap();
    assert_eq!(measured(path), before);
    assert_eq!(runs(path)[0].finished, None);
}
