//! Where a database is made.

use std::fs::{Permissions, metadata, set_permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use lift_store::{Cause, Store};

use crate::key;

#[test]
fn missing_folders_are_made() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a/b/tuning.db");
    let mut store = Store::open(&file).unwrap();
    assert_eq!(store.path(), file);
    let problem = store.problem(&key()).unwrap();
    drop(store);
    assert_eq!(Store::open(&file).unwrap().find_problem(&key()), Ok(Some(problem)));
}

#[test]
fn a_folder_is_no_database() {
    let folder = tempfile::tempdir().unwrap();
    let error = Store::open(folder.path()).err().unwrap();
    assert!(matches!(error.cause, Cause::NoAccess { .. }), "{error}");
    assert!(error.to_string().contains("it is a folder"), "{error}");
}

#[test]
fn a_file_in_the_way_of_a_folder_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a"), "").unwrap();
    let error = Store::open(folder.path().join("a/tuning.db")).err().unwrap();
    assert!(matches!(error.cause, Cause::NoAccess { .. }), "{error}");
    assert!(error.to_string().contains("its folder cannot be made"), "{error}");
}

/// What a child says that opens the file. Permissions do not stop root, so it is not root.
fn open_without_rights(child: &Path, file: &Path) -> String {
    const NOBODY: u32 = 65534;
    let mut command = Command::new(child);
    command.arg("open").arg(file);
    if metadata(child).unwrap().uid() == 0 {
        command.uid(NOBODY).gid(NOBODY);
    }
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[test]
fn a_folder_without_permission_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let set = |path: &Path, mode| set_permissions(path, Permissions::from_mode(mode)).unwrap();
    // A copy, as the child's own folder may be closed to others.
    let child = folder.path().join("child");
    std::fs::copy(crate::child(), &child).unwrap();
    let closed = folder.path().join("closed");
    let known = closed.join("known.db");
    Store::open(&known).unwrap().problem(&key()).unwrap();
    set(&known, 0o444);
    set(&closed, 0o555);
    set(folder.path(), 0o755);

    for file in [closed.join("new.db"), closed.join("sub/new.db"), known] {
        let said = open_without_rights(&child, &file);
        let start = format!("error: {} cannot be opened or written (", file.display());
        assert!(said.starts_with(&start), "{said}");
        assert!(said.contains("check the permissions of the file and of its folder"), "{said}");
    }
    set(&closed, 0o755);
    let open = folder.path().join("open");
    std::fs::create_dir(&open).unwrap();
    set(&open, 0o777);
    assert_eq!(open_without_rights(&child, &open.join("new.db")), "opened\n");
}
