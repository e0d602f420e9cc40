//! Files that cannot be written, for someone who only reads.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread;

use lift_store::{Cause, Store, StoreError};
use rustix::process::{Uid, geteuid};
use rustix::thread::set_thread_uid;

use crate::{candidate, key, ok};

/// A thread of a user who has no permissions beside those that everyone has.
fn as_nobody<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let work = || {
        if geteuid().is_root() {
            set_thread_uid(Uid::from_raw(65534)).unwrap();
        }
        work()
    };
    thread::scope(|scope| scope.spawn(work).join().unwrap())
}

fn allow(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn fill(file: &Path) -> Store {
    let mut store = Store::open(file).unwrap();
    let problem = store.problem(&key()).unwrap();
    let id = store.candidate(problem, &candidate("a")).unwrap();
    store.record(id, &ok(&[1.0])).unwrap();
    store
}

fn best(file: &Path) -> Result<String, StoreError> {
    let store = Store::open_to_read(file)?;
    let problem = store.find_problem(&key())?.unwrap();
    Ok(store.best(problem)?.unwrap().candidate.hash)
}

/// A file and its folder with these permissions, which somebody else may be writing to.
fn read(file_mode: u32, folder_mode: u32, is_open: bool) -> Result<String, StoreError> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.db");
    let store = Some(fill(&file)).filter(|_| is_open);
    let beside = ["t.db", "t.db-wal", "t.db-shm"].map(|name| folder.path().join(name));
    beside.iter().filter(|path| path.exists()).for_each(|path| allow(path, file_mode));
    let before = fs::read_dir(folder.path()).unwrap().count();
    allow(folder.path(), folder_mode);
    let found = as_nobody(|| best(&file));
    if folder_mode & 0o222 == 0 {
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), before);
    }
    allow(folder.path(), 0o755);
    drop(store);
    found
}

#[test]
fn neither_the_file_nor_its_folder_need_be_writable() {
    for file_mode in [0o444, 0o666] {
        for folder_mode in [0o555, 0o777] {
            for is_open in [false, true] {
                let found = read(file_mode, folder_mode, is_open);
                let case = format!("{file_mode:o} in {folder_mode:o}, open: {is_open}");
                assert_eq!(found, Ok("a".to_string()), "{case}");
            }
        }
    }
}

#[test]
fn a_file_that_cannot_be_read_is_an_error() {
    let error = read(0o000, 0o555, false).unwrap_err();
    assert!(matches!(error.cause, Cause::NoAccess { .. }), "{error}");
}

#[test]
fn nothing_is_written_to_what_is_only_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.db");
    drop(fill(&file));
    allow(&file, 0o444);
    allow(folder.path(), 0o555);
    let error = as_nobody(|| {
        let mut store = Store::open_to_read(&file).unwrap();
        store.problem(&lift_store::ProblemKey { flags: "other".to_string(), ..key() }).unwrap_err()
    });
    allow(folder.path(), 0o755);
    assert!(matches!(error.cause, Cause::NoAccess { .. }), "{error}");
}

#[test]
fn an_older_file_that_cannot_be_migrated_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.db");
    drop(fill(&file));
    let connection = rusqlite::Connection::open(&file).unwrap();
    connection.pragma_update(None, "user_version", 3).unwrap();
    drop(connection);
    allow(&file, 0o444);
    allow(folder.path(), 0o555);
    let error = as_nobody(|| best(&file).unwrap_err());
    allow(folder.path(), 0o755);
    assert!(error.to_string().contains("needs to be migrated"), "{error}");
}
