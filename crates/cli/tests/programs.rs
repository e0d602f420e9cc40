//! The programs of the repository: each one checks, passes its tests, and is formatted.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use common::{Ran, in_folder, programs, root};

fn lift_all(verb: &[&str], programs: &[String]) -> Ran {
    let files = programs.iter().map(String::as_str);
    in_folder(&root(), &verb.iter().copied().chain(files).collect::<Vec<_>>())
}

#[test]
fn all_check_without_warnings() {
    for program in programs() {
        let ran = in_folder(&root(), &["check", &program]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{program}");
    }
}

#[test]
fn all_tests_pass() {
    let ran = lift_all(&["test"], &programs());
    let rest: Vec<&str> = ran.stdout.lines().filter(|l| !l.starts_with("ok ")).collect();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", rest.join("\n"));
    let [closing] = rest.as_slice() else { panic!("{}", rest.join("\n")) };
    assert!(closing.ends_with(" passed, 0 failed"), "{closing}");
}

#[test]
fn all_are_formatted() {
    let ran = lift_all(&["fmt", "--check"], &programs());
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
}
