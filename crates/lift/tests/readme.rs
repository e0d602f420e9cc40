//! The Rust program in README.md is the example, which `cargo test` builds beside the tests.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use std::path::Path;
use std::process::Command;

#[test]
fn the_program_of_the_readme_is_the_example() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(folder.join("../../README.md")).unwrap();
    let (_, shown) = readme.split_once("```rust\n").unwrap();
    let (shown, _) = shown.split_once("```").unwrap();
    let example = std::fs::read_to_string(folder.join("examples/mm.rs")).unwrap();
    assert!(example.ends_with(shown), "README.md shows\n{shown}");
}

#[test]
fn the_example_runs() {
    let own = std::env::current_exe().unwrap();
    let built = own.ancestors().nth(2).unwrap().join("examples/mm");
    assert!(built.is_file(), "no {}: build it by `cargo build --examples`", built.display());
    let output = Command::new(built).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = "[[3, 3, 3, 3],\n [7.5, 7.5, 7.5, 7.5]]\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), printed);
}
