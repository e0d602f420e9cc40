//! Running the command.

#![allow(dead_code, reason = "each test file uses some of this")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

pub use lift_testing::root;

/// Every program of the repository, from its root.
pub fn programs() -> Vec<String> {
    let from_root = |p: &PathBuf| p.strip_prefix(root()).unwrap().to_str().unwrap().to_string();
    lift_testing::programs().iter().map(from_root).collect()
}

pub fn in_folder(folder: &Path, arguments: &[&str]) -> Ran {
    with_input(folder, arguments, "")
}

pub fn with_input(folder: &Path, arguments: &[&str], input: &str) -> Ran {
    run(folder, arguments, input, &[])
}

/// With these variables in the environment.
pub fn with_env(folder: &Path, arguments: &[&str], env: &[(&str, &str)]) -> Ran {
    run(folder, arguments, "", env)
}

fn run(folder: &Path, arguments: &[&str], input: &str, env: &[(&str, &str)]) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_lift"))
        .args(arguments)
        .current_dir(folder)
        // What its user has tuned must not matter.
        .env("XDG_DATA_HOME", folder.join("no-data"))
        .envs(env.iter().copied())
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The command need not read its input.
    child.stdin.take().unwrap().write_all(input.as_bytes()).ok();
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The files of a folder with this extension, in order.
pub fn with_extension(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let mut found: Vec<PathBuf> =
        entries.filter(|p| p.extension().is_some_and(|e| e == extension)).collect();
    found.sort();
    found
}

/// The bytes of a `.npy` file, version 1.0, put together by hand.
pub fn npy(dtype: &str, shape: &str, data: Vec<u8>) -> Vec<u8> {
    let mut header = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}");
    while (header.len() + 11) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}
