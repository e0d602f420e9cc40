//! Whole programs: what they mean, what is said of their mistakes, and that they print as themselves.

#![allow(clippy::unwrap_used)]

mod errors;
mod meaning;
mod round_trip;

use std::path::{Path, PathBuf};

/// The programs of the repository and those that show the language.
fn programs() -> Vec<PathBuf> {
    fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, found);
            } else if path.extension().is_some_and(|e| e == "lift") {
                found.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    collect(&root.join("programs"), &mut found);
    collect(&root.join("filetests/language"), &mut found);
    found.sort();
    found
}
