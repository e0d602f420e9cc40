//! `--time`: what it may be, and that a search ends with it whatever hangs.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::background::whose_arguments_mention;
use crate::common::Ran;
use crate::{QUICK, TUNE, common, folder, lift};

#[test]
fn a_time_may_be_a_fraction() {
    let folder = folder();
    for time in ["60", "60.0", "6.05e1"] {
        let tune = [TUNE, &["--entry", "twice", "--trials", "1", "--time", time]].concat();
        let ran = lift(folder.path(), &tune);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
    for time in ["0", "-1", "nan", "inf", "soon", ""] {
        let flag = format!("--time={time}");
        let ran = lift(folder.path(), &[TUNE, &[flag.as_str()]].concat());
        assert_eq!(ran.code, 2, "{time}");
        assert!(ran.stderr.contains("a time is a positive number of seconds"), "{}", ran.stderr);
    }
}

/// A search at a size that is not small, with a compiler that is a script of the test's.
fn with_compiler(compiler: &str, time: &str) -> (TempDir, Ran) {
    let folder = folder();
    let path = folder.path();
    let script = path.join("cc.sh");
    let version = "case \"$*\" in *--version*) exec cc --version;; esac\n";
    fs::write(&script, format!("{version}{compiler}")).unwrap();
    let (command, cache) = (format!("sh {}", script.display()), path.join("cache"));
    let own = [("CC", command.as_str()), ("XDG_CACHE_HOME", cache.to_str().unwrap())];
    let env: Vec<(&str, &str)> = QUICK.iter().copied().chain(own).collect();
    let tune = ["tune", "p.lift", "--entry", "twice", "--size", "N=4096", "--db", "t.db"];
    let more = ["--config", "small.toml", "--trials", "1", "--time", time];
    let ran = common::with_env(path, &[&tune[..], &more].concat(), &env);
    no_compiler_is_left(&script);
    (folder, ran)
}

#[track_caller]
fn no_compiler_is_left(script: &Path) {
    let mentions = script.to_str().unwrap();
    crate::background::wait("the compilers to end", || {
        whose_arguments_mention(mentions).is_empty().then_some(())
    });
}

#[test]
fn a_compiler_that_hangs_does_not_keep_the_search() {
    let (_folder, ran) = with_compiler("sleep 1000; :", "2");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("cannot start a worker: it was not ready after"), "{}", ran.stderr);
}

/// What hangs first is the program itself.
#[test]
fn a_program_that_takes_too_long_is_compared_with_at_smaller_sizes() {
    let once = "if mkdir \"$0.first\" 2>/dev/null; then sleep 1000; :; fi\nexec cc \"$@\"";
    let (_folder, ran) = with_compiler(once, "8");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let line = "the program itself takes too long: results are compared at N=256";
    assert!(ran.stderr.contains(line), "{}", ran.stderr);
}
