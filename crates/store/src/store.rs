//! An open database, and how every read and write of it goes.

use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::error::{Cause, StoreError};
use crate::{file, schema};

/// How long one waits for other processes that write.
const PATIENCE: Duration = Duration::from_secs(10);

/// A tuning database.
///
/// Every method that writes is one transaction: when it has returned, what it wrote is there for every
/// other process and stays there if this one is killed. Several processes may hold the same file.
pub struct Store {
    connection: Connection,
    path: PathBuf,
}

impl Store {
    /// Opens a file, and makes it and its folders where they are missing.
    pub fn open(path: impl AsRef<Path>) -> Result<Store, StoreError> {
        Store::open_with_patience(path.as_ref(), PATIENCE)
    }

    /// Opens a file for someone who only reads. It may be one that cannot be written, in a folder that cannot be.
    pub fn open_to_read(path: impl AsRef<Path>) -> Result<Store, StoreError> {
        let path = path.as_ref();
        // A file in write-ahead mode has others beside it, also for those who read. Where these can be made,
        // whoever opens the file last removes them, which takes permission to write.
        match Store::open(path) {
            Err(StoreError { cause: Cause::NoAccess { .. }, .. }) if path.exists() => {}
            opened => return opened,
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let read = |name: &Path, flags: OpenFlags| {
            let connection = Connection::open_with_flags(name, flags)?;
            connection.busy_timeout(PATIENCE)?;
            schema::check(&connection)?;
            Ok(connection)
        };
        read(path, flags)
            .or_else(|_: Cause| read(&file::as_it_is(path)?, flags | OpenFlags::SQLITE_OPEN_URI))
            .map(|connection| Store { connection, path: path.to_path_buf() })
            .map_err(|cause| cause.at(path))
    }

    /// A database that is gone when the store is dropped.
    pub fn open_in_memory() -> Result<Store, StoreError> {
        let path = Path::new(":memory:");
        Connection::open_in_memory()
            .map_err(Cause::from)
            .and_then(|connection| prepare(connection, PATIENCE))
            .map(|connection| Store { connection, path: path.to_path_buf() })
            .map_err(|cause| cause.at(path))
    }

    pub(crate) fn open_with_patience(path: &Path, patience: Duration) -> Result<Store, StoreError> {
        open_file(path, patience)
            .map(|connection| Store { connection, path: path.to_path_buf() })
            .map_err(|cause| cause.at(path))
    }

    /// The file, `:memory:` where there is none.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Does something that reads.
    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Cause>,
    ) -> Result<T, StoreError> {
        work(&self.connection).map_err(|cause| cause.at(&self.path))
    }

    /// Does something that writes, completely or not at all.
    pub(crate) fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Cause>,
    ) -> Result<T, StoreError> {
        // Immediate: a transaction that starts to write after reading may find that somebody else
        // wrote in between, and waiting does not help it.
        let write = || {
            let behavior = TransactionBehavior::Immediate;
            let transaction = self.connection.transaction_with_behavior(behavior)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            Ok(result)
        };
        write().map_err(|cause: Cause| cause.at(&self.path))
    }
}

fn open_file(path: &Path, patience: Duration) -> Result<Connection, Cause> {
    file::make_folder(path)?;
    file::check_before_opening(path)?;
    let connection = prepare(Connection::open(path)?, patience)?;
    let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    file::check_length(path, page.unsigned_abs())?;
    Ok(connection)
}

/// Settings of the connection, and the tables. Nothing is written before the file is known to be ours.
fn prepare(mut connection: Connection, patience: Duration) -> Result<Connection, Cause> {
    connection.busy_timeout(patience)?;
    connection.pragma_update(None, "synchronous", "normal")?;
    schema::migrate(&mut connection, schema::STEPS)?;
    use_write_ahead_log(&connection, patience)?;
    Ok(connection)
}

/// Lets readers go on while somebody writes. The file keeps the mode.
///
/// SQLite takes the lock for this after it has begun to read, where it does not wait for others by itself.
fn use_write_ahead_log(connection: &Connection, patience: Duration) -> Result<(), Cause> {
    let until = Instant::now() + patience;
    loop {
        let changed = connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()));
        match changed.map_err(Cause::from) {
            Err(Cause::Locked) if Instant::now() < until => sleep(Duration::from_millis(5)),
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Device, ProblemKey};

    fn key() -> ProblemKey {
        let device = Device { fingerprint: "cpu x".into(), name: "x".into(), kind: "cpu".into() };
        ProblemKey {
            program: "def f …".repeat(10_000),
            name: "f".into(),
            sizes: [("N".to_string(), 8)].into(),
            device,
            flags: String::new(),
        }
    }

    #[test]
    fn a_file_is_opened_in_write_ahead_mode() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path().join("t.db")).expect("opens");
        let mode: String = store
            .connection
            .pragma_query_value(None, "journal_mode", |row| row.get(0))
            .expect("a mode");
        let synchronous: i64 = store
            .connection
            .pragma_query_value(None, "synchronous", |row| row.get(0))
            .expect("a number");
        assert_eq!((mode.as_str(), synchronous), ("wal", 1));
    }

    #[test]
    fn a_file_that_somebody_else_keeps_locked_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.db");
        let other = Store::open(&path).expect("opens");
        other.connection.execute_batch("BEGIN IMMEDIATE").expect("nobody else writes");
        let mut store = Store::open_with_patience(&path, Duration::ZERO).expect("reading is free");
        let error = store.problem(&key()).expect_err("locked");
        assert_eq!(error.cause, Cause::Locked);
        assert!(error.to_string().contains("is locked by another process"), "{error}");
        other.connection.execute_batch("COMMIT").expect("ends");
        store.problem(&key()).expect("no longer locked");
    }

    #[test]
    fn changing_the_mode_of_a_file_waits_for_who_writes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.db");
        let Store { connection: other, .. } = Store::open(&path).expect("opens");
        other
            .pragma_update_and_check(None, "journal_mode", "delete", |_| Ok(()))
            .expect("nobody else reads");
        other.execute_batch("BEGIN IMMEDIATE").expect("nobody else writes");
        let refused = Store::open_with_patience(&path, Duration::ZERO).map(|_| ());
        assert_eq!(refused.map_err(|error| error.cause), Err(Cause::Locked));
        std::thread::scope(|scope| {
            let opened = scope.spawn(|| Store::open(&path).map(|_| ()));
            sleep(Duration::from_millis(100));
            other.execute_batch("COMMIT").expect("ends");
            assert_eq!(opened.join().expect("no panic"), Ok(()));
        });
    }

    #[test]
    fn a_full_disk_is_an_error_and_leaves_no_half_of_a_write() {
        let mut store = Store::open_in_memory().expect("opens");
        let pages: i64 = store
            .connection
            .pragma_query_value(None, "page_count", |row| row.get(0))
            .expect("a number");
        store
            .connection
            .pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))
            .expect("a limit");
        let error = store.problem(&key()).expect_err("full");
        assert_eq!(error.cause, Cause::DiskFull);
        assert!(error.to_string().contains("no space is left"), "{error}");
        let rows: i64 = store
            .connection
            .query_row("SELECT count(*) FROM devices", [], |row| row.get(0))
            .expect("a number");
        assert_eq!(rows, 0);
    }
}
