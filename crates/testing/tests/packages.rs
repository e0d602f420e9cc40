//! Packages say what they are and hold what they are built from, so that they can be published.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Component, Path, PathBuf};

use lift_testing::root;

/// The folders of packages, and the text of their manifests.
fn packages() -> Vec<(PathBuf, String)> {
    let folders = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    folders
        .map(|path| (path.clone(), fs::read_to_string(path.join("Cargo.toml")).unwrap()))
        .collect()
}

#[test]
fn packages_have_names_that_are_free_and_say_what_they_are() {
    for (path, manifest) in packages() {
        let folder = path.file_name().unwrap().to_str().unwrap();
        let name =
            if folder == "lift" { "lift-lang".to_string() } else { format!("lift-lang-{folder}") };
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
        if !manifest.contains("publish = false") {
            for field in
                ["description = ", "license.workspace", "readme.workspace", "keywords.workspace"]
            {
                assert!(manifest.contains(field), "{name} lacks {field}");
            }
        }
    }
}

/// What one needs of another has a version, except in tests: there it would be a circle.
#[test]
fn what_only_tests_need_has_no_version() {
    for (path, manifest) in packages() {
        let Some((_, tests)) = manifest.split_once("[dev-dependencies]") else { continue };
        for line in tests.lines().filter(|line| line.starts_with("lift")) {
            assert!(line.contains("path = \"../"), "{}: {line}", path.display());
        }
    }
}

#[test]
fn packages_include_only_files_of_their_own() {
    for (path, _) in packages() {
        for file in sources(&path.join("src")) {
            let text = fs::read_to_string(&file).unwrap();
            for part in text.split("include_str!(\"").skip(1) {
                let (name, _) = part.split_once('"').unwrap();
                let within = file.parent().unwrap().strip_prefix(&path).unwrap().join(name);
                assert!(stays_inside(&within), "{} includes {name}", file.display());
            }
        }
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
    files
}

fn stays_inside(path: &Path) -> bool {
    let mut depth = 0;
    path.components().all(|component| {
        depth += if component == Component::ParentDir { -1 } else { 1 };
        depth >= 0
    })
}
