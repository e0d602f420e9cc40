//! Features: numbers that say what a candidate does.

use std::collections::BTreeMap;

use rusqlite::{Connection, named_params};

use crate::candidate::CandidateId;
use crate::error::{Cause, StoreError};
use crate::problem::ProblemId;
use crate::sql_text::Json;
use crate::store::Store;

/// What a candidate does, in numbers.
#[derive(Clone, PartialEq, Debug)]
pub struct CandidateFeatures {
    pub candidate: CandidateId,
    /// Changes whenever the numbers mean something else.
    pub version: u32,
    pub numbers: BTreeMap<String, f64>,
}

impl Store {
    /// Keeps the candidate's numbers, in place of those of the same version. All of them are finite.
    pub fn record_features(
        &mut self,
        candidate: CandidateId,
        version: u32,
        numbers: &BTreeMap<String, f64>,
    ) -> Result<(), StoreError> {
        self.write(|transaction| put(transaction, candidate, version, numbers))
    }

    /// The numbers of the problem's candidates in the order these were added, measured or not; of one
    /// candidate, by version.
    pub fn features(&self, problem: ProblemId) -> Result<Vec<CandidateFeatures>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT features.* FROM features
                 JOIN candidates ON candidates.id = features.candidate
                 WHERE candidates.problem = :problem
                 ORDER BY features.candidate, features.version",
            )?;
            statement
                .query_map(named_params! { ":problem": problem.0 }, |row| {
                    Ok(CandidateFeatures {
                        candidate: CandidateId(row.get("candidate")?),
                        version: row.get("version")?,
                        numbers: row.get::<_, Json<_>>("numbers")?.0,
                    })
                })?
                .map(|row| row.map_err(Cause::from))
                .collect()
        })
    }
}

pub(crate) fn put(
    connection: &Connection,
    candidate: CandidateId,
    version: u32,
    numbers: &BTreeMap<String, f64>,
) -> Result<(), Cause> {
    if let Some((name, value)) = numbers.iter().find(|(_, value)| !value.is_finite()) {
        return Err(Cause::invalid(format!("`{name}` is {value}, which is no feature")));
    }
    let added = connection
        .prepare_cached(
            "INSERT INTO features (candidate, version, numbers)
             SELECT id, :version, :numbers FROM candidates WHERE id = :candidate
             ON CONFLICT (candidate, version) DO UPDATE SET numbers = excluded.numbers",
        )?
        .execute(named_params! {
            ":candidate": candidate.0,
            ":version": version,
            ":numbers": Json(numbers),
        })?;
    match added {
        1 => Ok(()),
        _ => Err(Cause::invalid(format!("there is no candidate {}", candidate.0))),
    }
}
