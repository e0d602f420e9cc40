//! The programs of the repository: each one checks, passes its tests, and is formatted.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use std::fs;
use std::path::PathBuf;

use common::{Ran, in_folder, root, with_extension};

/// Every program in `programs` and the language's feature tests, from the root of the repository.
fn programs() -> Vec<String> {
    let mut folders: Vec<PathBuf> =
        vec![root().join("programs"), root().join("filetests/language")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        found.extend(with_extension(&folder, "lift"));
        let entries = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path());
        folders.extend(entries.filter(|p| p.is_dir()));
    }
    assert!(found.len() > 50, "only {} programs", found.len());
    let from_root = |p: PathBuf| p.strip_prefix(root()).unwrap().to_str().unwrap().to_string();
    let mut names: Vec<String> = found.into_iter().map(from_root).collect();
    names.sort();
    names
}

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
