//! The tables, and how a file of an older version gets them.
//!
//! `PRAGMA user_version` says how many steps a file has been through; an empty file has been through
//! none, so making a database is the migration from version 0. A step that has been released is never
//! edited: a change of the tables is a new file in `schema/` and a new line in [`STEPS`].

use rusqlite::{Connection, TransactionBehavior};

use crate::error::Cause;
use crate::{derivation, seal};

/// Step n leads from version n to version n + 1.
pub const STEPS: &[&str] = &[
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
    include_str!("schema/6.sql"),
];

/// Marks the file as ours in its header: "Lift" in ASCII.
const APPLICATION_ID: i64 = 0x4c69_6674;

/// Brings the file through the steps it lacks.
///
/// Requires: nothing about the file; one that is not ours, or too new, is refused unchanged.
/// Ensures: the file has been through all steps. Each step happens completely or not at all, and once,
/// also where several processes open the file at the same moment. Foreign keys are checked from here on.
pub fn migrate(connection: &mut Connection, steps: &[&str]) -> Result<(), Cause> {
    // A step may replace a table to which others refer.
    connection.pragma_update(None, "foreign_keys", false)?;
    derivation::add_hash_function(connection)?;
    seal::add_function(connection)?;
    while version(connection, steps)? < steps.len() {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have been here since.
        let version = version(&transaction, steps)?;
        if let Some(step) = steps.get(version) {
            transaction.execute_batch(step)?;
            transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
            transaction.pragma_update(None, "user_version", (version + 1) as i64)?;
        }
        transaction.commit()?;
    }
    connection.pragma_update(None, "foreign_keys", true)?;
    Ok(())
}

/// Makes a file that is only read ready for it.
///
/// Requires: a file that has been through all steps; one that lacks some cannot be brought through them.
pub fn check(connection: &Connection) -> Result<(), Cause> {
    seal::add_function(connection)?;
    let version = version(connection, STEPS)?;
    if version < STEPS.len() {
        let message = format!("it has version {version} of the tables and needs to be migrated");
        return Err(Cause::NoAccess { message });
    }
    Ok(())
}

/// Whether a file lacks steps.
pub fn is_older(connection: &Connection) -> Result<bool, Cause> {
    Ok(version(connection, STEPS)? < STEPS.len())
}

/// How many of the steps the file has been through.
fn version(connection: &Connection, steps: &[&str]) -> Result<usize, Cause> {
    let (application, version, objects) = connection.query_row(
        "SELECT (SELECT application_id FROM pragma_application_id),
                (SELECT user_version FROM pragma_user_version),
                (SELECT count(*) FROM sqlite_schema)",
        [],
        |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?)),
    )?;
    let untouched = application == 0 && version == 0 && objects == 0;
    if application != APPLICATION_ID && !untouched {
        return Err(Cause::OtherProgram);
    }
    match usize::try_from(version) {
        Ok(version) if version <= steps.len() => Ok(version),
        _ => Err(Cause::Newer { found: version, known: steps.len() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADD_A_COLUMN: &str = "ALTER TABLE programs ADD COLUMN note TEXT NOT NULL DEFAULT 'none'";

    /// A database of version 1 with one program.
    fn version_1() -> Connection {
        let mut connection = Connection::open_in_memory().expect("memory");
        migrate(&mut connection, &STEPS[..1]).expect("an empty file is migrated");
        connection
            .execute("INSERT INTO programs (text, name) VALUES ('def f …', 'f')", [])
            .expect("the table is there");
        connection
    }

    fn text(connection: &Connection, query: &str) -> String {
        connection.query_row(query, [], |row| row.get(0)).expect(query)
    }

    #[test]
    fn an_empty_file_gets_the_current_version() {
        let mut connection = Connection::open_in_memory().expect("memory");
        migrate(&mut connection, STEPS).expect("an empty file is migrated");
        assert_eq!(version(&connection, STEPS), Ok(STEPS.len()));
    }

    #[test]
    fn an_older_version_is_migrated_and_keeps_its_rows() {
        let mut connection = version_1();
        let steps = [STEPS[0], ADD_A_COLUMN];
        migrate(&mut connection, &steps).expect("the step fits");
        assert_eq!(version(&connection, &steps), Ok(2));
        assert_eq!(text(&connection, "SELECT name || note FROM programs"), "fnone");
    }

    #[test]
    fn every_released_version_is_migrated_and_keeps_its_rows() {
        for released in 1..=STEPS.len() {
            let mut connection = version_1();
            migrate(&mut connection, &STEPS[..released]).expect("the steps fit");
            migrate(&mut connection, STEPS).expect("the steps fit");
            assert_eq!(version(&connection, STEPS), Ok(STEPS.len()));
            assert_eq!(text(&connection, "SELECT name FROM programs"), "f");
            assert_eq!(text(&connection, "SELECT count(*) || '' FROM features"), "0");
        }
    }

    #[test]
    fn all_steps_lead_to_the_newest_version() {
        let mut connection = Connection::open_in_memory().expect("memory");
        let steps = [STEPS[0], ADD_A_COLUMN, "DROP TABLE runs"];
        migrate(&mut connection, &steps).expect("the steps fit");
        assert_eq!(version(&connection, &steps), Ok(3));
    }

    #[test]
    fn a_step_that_fails_changes_nothing() {
        let mut connection = version_1();
        let broken = format!("{ADD_A_COLUMN}; DROP TABLE that_is_not_there");
        let failure = migrate(&mut connection, &[STEPS[0], &broken]);
        assert!(matches!(failure, Err(Cause::Sqlite { .. })), "{failure:?}");
        assert_eq!(version(&connection, STEPS), Ok(1));
        let columns = "SELECT count(*) || '' FROM pragma_table_info('programs')";
        assert_eq!(text(&connection, columns), "3");
    }

    #[test]
    fn keys_of_rows_that_are_not_there_are_refused_afterwards() {
        for released in 0..=STEPS.len() {
            let mut connection = Connection::open_in_memory().expect("memory");
            migrate(&mut connection, &STEPS[..released]).expect("the steps fit");
            migrate(&mut connection, STEPS).expect("the steps fit");
            let insert = "INSERT INTO features (candidate, version, numbers) VALUES (7, 1, '{}')";
            assert!(connection.execute(insert, []).is_err(), "from version {released}");
        }
    }

    #[test]
    fn a_newer_version_is_refused() {
        let mut connection = version_1();
        migrate(&mut connection, &[STEPS[0], ADD_A_COLUMN]).expect("the step fits");
        let failure = migrate(&mut connection, &STEPS[..1]);
        assert_eq!(failure, Err(Cause::Newer { found: 2, known: 1 }));
    }

    #[test]
    fn a_database_of_another_program_is_refused_and_left_alone() {
        let mut connection = Connection::open_in_memory().expect("memory");
        connection.execute_batch("CREATE TABLE songs (title TEXT)").expect("valid");
        assert_eq!(migrate(&mut connection, STEPS), Err(Cause::OtherProgram));
        assert_eq!(text(&connection, "SELECT group_concat(name) FROM sqlite_schema"), "songs");
    }
}
