//! Bad input of every kind: what users are told, word by word.
//!
//! `filetests/errors/NAME.lift` is checked and must print `NAME.stderr`; `run/NAME.cmd` holds
//! arguments of `lift` and must print `run/NAME.stderr`. `BLESS=1 cargo test` rewrites them.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{in_folder, npy, with_extension};

/// Compares with the file of that name, or writes it. Says what is wrong.
fn compared(path: &Path, found: &str) -> Option<String> {
    if std::env::var_os("BLESS").is_some() {
        fs::write(path, found).unwrap();
        return None;
    }
    let wanted = fs::read_to_string(path).unwrap_or_default();
    let name = path.display();
    (wanted != found).then(|| format!("{name}: expected\n{wanted}\nfound\n{found}"))
}

fn folder() -> PathBuf {
    common::root().join("filetests/errors")
}

fn assert_none(failures: Vec<String>) {
    assert!(failures.is_empty(), "{} differ\n\n{}", failures.len(), failures.join("\n\n"));
}

#[test]
fn programs_with_mistakes() {
    let mut failures = Vec::new();
    let programs = with_extension(&folder(), "lift");
    assert!(programs.len() > 100, "only {} programs", programs.len());
    for path in programs {
        let name = path.file_name().unwrap().to_str().unwrap();
        let ran = in_folder(&folder(), &["check", name]);
        if ran.code != 1 || !ran.stdout.is_empty() {
            failures.push(format!("{name}: exit code {}, printed {:?}", ran.code, ran.stdout));
        }
        failures.extend(compared(&path.with_extension("stderr"), &ran.stderr));
    }
    assert_none(failures);
}

#[test]
fn every_expectation_has_its_program() {
    for (folder, extension) in [(folder(), "lift"), (folder().join("run"), "cmd")] {
        for path in with_extension(&folder, "stderr") {
            assert!(path.with_extension(extension).exists(), "{} is left over", path.display());
        }
    }
}

/// Files that the commands read: good ones, and what becomes of them.
fn write_inputs(folder: &Path) {
    let floats = |count: usize| (0..count).flat_map(|i| (i as f32).to_le_bytes()).collect();
    let three: Vec<u8> = npy("<f4", "(3,)", floats(3));
    let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).unwrap();
    write("three.npy", &three);
    write("four.npy", &npy("<f4", "(4,)", floats(4)));
    write("matrix.npy", &npy("<f4", "(2, 3)", floats(6)));
    write("none.npy", &npy("<f4", "(0,)", Vec::new()));
    write("integers.npy", &npy("<i8", "(2,)", vec![0; 16]));
    write("short.npy", &three[..three.len() - 5]);
    write("header.npy", &npy("<f4", "(3,", floats(3)));
    write("corrupt.npy", b"these are not the bytes of an array");
    write("corrupt.npz", b"PK\x03\x04 nor is this an archive");
    write("empty.npy", b"");
}

#[test]
fn commands_with_mistakes() {
    let source = folder().join("run");
    let work = tempfile::tempdir().unwrap();
    for path in with_extension(&source, "lift") {
        fs::copy(&path, work.path().join(path.file_name().unwrap())).unwrap();
    }
    write_inputs(work.path());
    let files = || fs::read_dir(work.path()).unwrap().count();
    let before = files();
    let mut failures = Vec::new();
    for path in with_extension(&source, "cmd") {
        let command = fs::read_to_string(&path).unwrap();
        let arguments: Vec<&str> = command.split_whitespace().collect();
        let ran = in_folder(work.path(), &arguments);
        let name = path.display();
        if ran.code != 1 || !ran.stdout.is_empty() {
            failures.push(format!("{name}: exit code {}, printed {:?}", ran.code, ran.stdout));
        }
        if files() != before {
            failures.push(format!("{name}: leaves a file behind"));
        }
        failures.extend(compared(&path.with_extension("stderr"), &ran.stderr));
    }
    assert_none(failures);
}

#[test]
fn deep_nesting_is_refused_quickly() {
    let work = tempfile::tempdir().unwrap();
    let deep = |open: &str, close: &str| {
        format!(
            "def f[N](x: [f32; N]) -> f32 = {}1.0{};",
            open.repeat(10_000),
            close.repeat(10_000)
        )
    };
    let texts = [
        deep("(", ")"),
        deep("[", "]"),
        deep("-", ""),
        deep("id(", ")"),
        deep("\\x -> ", ""),
        deep("if true then 1.0 else ", ""),
        deep("let y = 1.0; ", ""),
        format!("fn f(x: {}f32{}) -> f32 = 1.0;", "(".repeat(10_000), ", f32)".repeat(10_000)),
    ];
    for text in texts {
        fs::write(work.path().join("deep.lift"), &text).unwrap();
        let ran = in_folder(work.path(), &["check", "deep.lift"]);
        assert_eq!(ran.code, 1, "{:.60}\n{}", text, ran.stderr);
        assert!(ran.stderr.contains("nested too deeply"), "{:.60}\n{}", text, ran.stderr);
        assert!(ran.stderr.len() < 4000, "{}", ran.stderr);
    }
}
