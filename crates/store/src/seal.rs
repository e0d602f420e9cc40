//! Seals: a candidate and a measurement each have a digest of themselves and of what they belong to.
//!
//! A row that was altered, or moved to another program, size, device or candidate, does not fit its seal any more, and
//! nothing is made of it. A seal is a checksum, not a signature: whoever means to can make another.

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, named_params};

use crate::derivation::digest;
use crate::error::{Cause, StoreError};
use crate::problem::ProblemId;
use crate::store::Store;

/// What a candidate's seal is, in a query of [`CANDIDATES`].
pub(crate) const OF_CANDIDATE: &str = "seal_of(
    programs.text, problems.sizes, devices.fingerprint, problems.flags, derivations.hash,
    candidates.hash, candidates.text, candidates.parameters, candidates.global, candidates.local,
    candidates.kernel_hash)";

/// What a measurement's is, beside its candidate.
pub(crate) const OF_MEASUREMENT: &str = "seal_of(
    candidates.seal, measurements.outcome, measurements.message, measurements.samples,
    measurements.median, measurements.started, measurements.seed, measurements.host)";

/// Candidates with all that their seals speak of.
pub(crate) const CANDIDATES: &str = "candidates
    JOIN problems ON problems.id = candidates.problem
    JOIN programs ON programs.id = problems.program
    JOIN devices ON devices.id = problems.device
    JOIN derivations ON derivations.id = candidates.derivation";

/// Seals a candidate that has just been added.
pub(crate) fn seal_candidate(connection: &Connection, id: i64) -> Result<(), Cause> {
    let seal = format!("SELECT {OF_CANDIDATE} FROM {CANDIDATES} WHERE candidates.id = :id");
    let update = format!("UPDATE candidates SET seal = ({seal}) WHERE id = :id");
    connection.prepare_cached(&update)?.execute(named_params! { ":id": id })?;
    Ok(())
}

/// Seals a measurement that has just been added.
pub(crate) fn seal_measurement(connection: &Connection, id: i64) -> Result<(), Cause> {
    let seal = format!(
        "SELECT {OF_MEASUREMENT} FROM candidates WHERE candidates.id = measurements.candidate"
    );
    let update = format!("UPDATE measurements SET seal = ({seal}) WHERE id = :id");
    connection.prepare_cached(&update)?.execute(named_params! { ":id": id })?;
    Ok(())
}

/// Seals all there is, as it is.
pub(crate) fn seal_all(connection: &Connection) -> Result<(), Cause> {
    let seal = format!(
        "SELECT {OF_CANDIDATE} FROM problems
         JOIN programs ON programs.id = problems.program
         JOIN devices ON devices.id = problems.device
         JOIN derivations ON derivations.id = candidates.derivation
         WHERE problems.id = candidates.problem"
    );
    connection.execute(&format!("UPDATE candidates SET seal = ({seal})"), [])?;
    let seal = format!(
        "SELECT {OF_MEASUREMENT} FROM candidates WHERE candidates.id = measurements.candidate"
    );
    connection.execute(&format!("UPDATE measurements SET seal = ({seal})"), [])?;
    Ok(())
}

/// Whether a measurement and its candidate are as they were recorded.
pub(crate) fn is_intact(connection: &Connection, measurement: i64) -> Result<bool, Cause> {
    let query = format!(
        "SELECT candidates.seal = {OF_CANDIDATE} AND measurements.seal = {OF_MEASUREMENT}
         FROM {CANDIDATES} JOIN measurements ON measurements.candidate = candidates.id
         WHERE measurements.id = :id"
    );
    let fits: Option<bool> = connection
        .prepare_cached(&query)?
        .query_row(named_params! { ":id": measurement }, |row| row.get(0))
        .optional()?;
    // What refers to a row that is not there was altered too.
    Ok(fits.unwrap_or(false))
}

impl Store {
    /// Removes the problem's candidates and measurements that were altered, and says how many rows that were.
    /// Measurements of an altered candidate, and what else is known of it, go with it.
    pub fn remove_altered(&mut self, problem: ProblemId) -> Result<usize, StoreError> {
        self.write(|transaction| {
            let intact = format!(
                "SELECT candidates.id FROM {CANDIDATES}
                 WHERE candidates.problem = :problem AND candidates.seal = {OF_CANDIDATE}"
            );
            let altered = format!(
                "SELECT id FROM candidates WHERE problem = :problem AND id NOT IN ({intact})"
            );
            let wrong = format!(
                "SELECT measurements.id
                 FROM candidates JOIN measurements ON measurements.candidate = candidates.id
                 WHERE candidates.problem = :problem AND measurements.seal <> {OF_MEASUREMENT}"
            );
            let mut count = 0;
            for (table, column, rows, is_counted) in [
                ("measurements", "id", &wrong, true),
                ("measurements", "candidate", &altered, false),
                ("features", "candidate", &altered, false),
                ("candidates", "id", &altered, true),
            ] {
                let delete = format!("DELETE FROM {table} WHERE {column} IN ({rows})");
                let gone = transaction
                    .prepare(&delete)?
                    .execute(named_params! { ":problem": problem.0 })?;
                count += if is_counted { gone } else { 0 };
            }
            Ok(count)
        })
    }
}

/// Gives SQL the function `seal_of`, of any number of values.
pub(crate) fn add_function(connection: &Connection) -> Result<(), Cause> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_DIRECTONLY;
    connection.create_scalar_function("seal_of", -1, flags, |context| Ok(seal_of(context)))?;
    Ok(())
}

/// Of the values, their kinds and their lengths: no two lists of values are mistaken for each other.
fn seal_of(values: &Context<'_>) -> String {
    let mut bytes = Vec::new();
    for index in 0..values.len() {
        let (kind, value) = match values.get_raw(index) {
            ValueRef::Null => (b'n', Vec::new()),
            ValueRef::Integer(number) => (b'i', number.to_le_bytes().to_vec()),
            ValueRef::Real(number) => (b'r', number.to_bits().to_le_bytes().to_vec()),
            ValueRef::Text(text) => (b't', text.to_vec()),
            ValueRef::Blob(blob) => (b'b', blob.to_vec()),
        };
        bytes.push(kind);
        bytes.extend_from_slice(&(value.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&value);
    }
    digest(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seal(values: &str) -> String {
        let connection = Connection::open_in_memory().expect("memory");
        add_function(&connection).expect("a function");
        let query = format!("SELECT seal_of({values})");
        connection.query_row(&query, [], |row| row.get(0)).expect(&query)
    }

    #[test]
    fn seals_tell_values_kinds_and_borders_apart() {
        assert_eq!(seal("'ab', 'c', 1, 2.5, NULL"), seal("'ab', 'c', 1, 2.5, NULL"));
        let lists =
            ["'ab', 'c'", "'a', 'bc'", "'abc'", "'1'", "1", "1.0", "NULL", "''", "x'31'", ""];
        let mut seals: Vec<String> = lists.map(seal).to_vec();
        seals.sort();
        seals.dedup();
        assert_eq!(seals.len(), lists.len());
    }
}
