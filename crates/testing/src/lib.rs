//! What tests of several crates share: where the repository is, and the programs in it.

use std::fs;
use std::path::{Path, PathBuf};

/// The repository.
pub fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the sources are where they were built")
}

/// Every program: the benchmark programs and the tests of the language.
pub fn programs() -> Vec<PathBuf> {
    let found = [lift_files("programs"), lift_files("filetests/language")].concat();
    assert!(found.len() > 50, "only {} programs", found.len());
    found
}

/// The `.lift` files in a folder of the repository and in those inside of it, in order.
pub fn lift_files(folder: &str) -> Vec<PathBuf> {
    let mut folders = vec![root().join(folder)];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder)
            .unwrap_or_else(|e| panic!("{} cannot be read: {e}", folder.display()));
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "lift") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
