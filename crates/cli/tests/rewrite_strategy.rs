//! `lift rewrite` with strategies, scripts and saved derivations: the exact words where they refuse.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use std::fs;

use common::{Ran, in_folder};

const PROGRAM: &str = "def scale[N](xs: [i32; N]) -> [i32; N] = map(\\x -> x * 2, xs);\n";

/// In a folder with a program and, where it is not empty, `s.strategy`.
fn lift(script: &str, arguments: &[&str]) -> (Ran, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.lift"), PROGRAM).unwrap();
    fs::write(folder.path().join("s.strategy"), script).unwrap();
    let ran = in_folder(folder.path(), &[&["rewrite", "a.lift"], arguments].concat());
    (ran, folder)
}

fn refused(script: &str, arguments: &[&str]) -> String {
    let (ran, _) = lift(script, arguments);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{}", ran.stderr);
    ran.stderr
}

#[test]
fn an_unknown_rule_is_shown_in_the_file() {
    assert_eq!(
        refused("strategy main =\n  somewhere(map_fusoin);\n", &["--script", "s.strategy"]),
        "error: there is no rule or strategy `map_fusoin`
  ┌─ s.strategy:2:13
  │
2 │   somewhere(map_fusoin);
  │             ^^^^^^^^^^ here
  │
  = help: did you mean `map_fusion`?

"
    );
}

#[test]
fn failures_say_the_part_the_place_and_the_reason() {
    let of = |strategy: &str| refused("", &["--strategy", strategy]);
    let stands = " = there stands `map(\\x -> x * 2, xs)`\n\n";
    assert_eq!(of("at(root.7.1, id)"), "error: `at` fails at 7.1: there is no such place\n\n");
    assert_eq!(
        of("split_join(3)"),
        format!("error: `split_join` fails at root: `N % 3 == 0` cannot be proved\n{stands}")
    );
    assert_eq!(of("fail"), format!("error: `fail` fails at root: it always does\n{stands}"));
    let endless = of("repeat(somewhere(copy))");
    assert!(endless.contains("would have more than 4000 nodes"), "{endless}");
}

#[test]
fn files_that_are_missing_empty_or_programs_are_refused() {
    let missing = refused("", &["--script", "no.strategy"]);
    assert!(missing.starts_with("error: cannot read no.strategy: "), "{missing}");
    assert_eq!(
        refused("", &["--script", "s.strategy"]),
        "error: there is no strategy in this file\n = help: write `strategy main = …;`\n\n"
    );
    let program = refused("", &["--script", "a.lift"]);
    assert!(
        program.contains("expected `strategy` and a name, found the keyword `def`"),
        "{program}"
    );
    let replayed = refused("", &["--replay", "s.strategy"]);
    assert_eq!(
        replayed,
        "error: s.strategy: the definition at the beginning: there is no definition\n\n"
    );
}

#[test]
fn names_that_clash_are_shown_in_the_file() {
    let clash = refused("strategy main[; N = 3] = id;", &["--script", "s.strategy"]);
    assert!(
        clash.starts_with("error: the program has a `N` already\n  ┌─ s.strategy:1:17\n"),
        "{clash}"
    );
}

#[test]
fn a_derivation_is_saved_and_done_again_or_nothing_is_left() {
    let (ran, folder) = lift("", &["--strategy", "split_join(m)", "--save", "d"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let again = in_folder(folder.path(), &["rewrite", "a.lift", "--replay", "d"]);
    assert_eq!((again.code, again.stdout), (0, ran.stdout));
    let saved = fs::read_to_string(folder.path().join("d")).unwrap();
    fs::write(folder.path().join("e"), saved.replace("at root, m = new m", "at 5, m = new m"))
        .unwrap();
    let changed = in_folder(folder.path(), &["rewrite", "a.lift", "--replay", "e"]);
    assert_eq!(changed.stderr, "error: e: step 1: `split_join` at 5: there is no place 5\n\n");
    let (unwritable, folder) = lift("", &["--strategy", "id", "--save", "no/d"]);
    assert_eq!((unwritable.code, unwritable.stdout.as_str()), (1, ""));
    assert!(unwritable.stderr.starts_with("error: cannot write no/d: "), "{}", unwritable.stderr);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn the_library_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let listed = in_folder(folder.path(), &["rules", "--strategies"]);
    let tile = "tile(m, k)\n  A nest of two maps runs tile by tile, m times k elements each.\n";
    assert!(listed.stdout.contains(tile), "{}", listed.stdout);
    let table = in_folder(folder.path(), &["rules", "--strategies", "--markdown"]);
    assert!(table.stdout.starts_with("| strategy | does |\n|---|---|\n| `"), "{}", table.stdout);
}
