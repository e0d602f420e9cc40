//! What is known about a problem: which candidates were measured, and which is best.
//!
//! Later means recorded later (`measurements.id`), not what a clock said.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, Row, named_params};

use crate::candidate::{self, Candidate, CandidateId};
use crate::derivation::Derivations;
use crate::error::{Cause, StoreError};
use crate::measurement::{self, Measurement};
use crate::outcome::Outcome;
use crate::problem::ProblemId;
use crate::seal;
use crate::store::Store;

/// A candidate with its measurements in the order they were recorded; there is one at least.
#[derive(Clone, PartialEq, Debug)]
pub struct Measured {
    pub id: CandidateId,
    pub candidate: Candidate,
    pub measurements: Vec<Measurement>,
}

/// The fastest candidate, with the measurement that says so.
#[derive(Clone, PartialEq, Debug)]
pub struct Best {
    pub id: CandidateId,
    pub candidate: Candidate,
    pub measurement: Measurement,
    /// Of the measurement's samples, in milliseconds.
    pub median: f64,
}

impl Store {
    /// How the latest measurement of the candidate with this hash ended; nothing if it has none.
    pub fn is_measured(
        &self,
        problem: ProblemId,
        hash: &str,
    ) -> Result<Option<Outcome>, StoreError> {
        self.read(|connection| {
            let outcome = connection
                .prepare_cached(
                    "SELECT outcome FROM measurements
                     WHERE candidate =
                       (SELECT id FROM candidates WHERE problem = :problem AND hash = :hash)
                     ORDER BY id DESC LIMIT 1",
                )?
                .query_row(named_params! { ":problem": problem.0, ":hash": hash }, |row| row.get(0))
                .optional()?;
            Ok(outcome)
        })
    }

    /// All that was measured, by candidate in the order these were added.
    pub fn measured(&self, problem: ProblemId) -> Result<Vec<Measured>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT candidates.*, measurements.*
                 FROM candidates JOIN measurements ON measurements.candidate = candidates.id
                 WHERE candidates.problem = :problem
                 ORDER BY candidates.id, measurements.id",
            )?;
            let mut rows = statement.query(named_params! { ":problem": problem.0 })?;
            let mut derivations = Derivations::of(connection);
            let mut all: Vec<Measured> = Vec::new();
            while let Some(row) = rows.next()? {
                let (id, measurement) = (candidate_id(row)?, measurement::from_row(row)?);
                match all.last_mut() {
                    Some(last) if last.id == id => last.measurements.push(measurement),
                    _ => all.push(Measured {
                        id,
                        candidate: candidate::from_row(row, &mut derivations)?,
                        measurements: vec![measurement],
                    }),
                }
            }
            Ok(all)
        })
    }

    /// The latest ok measurement of kernels with this hash, whichever of the problem's candidates was compiled
    /// to them, so that the same kernels are not measured twice. Nothing where they were found wrong since, and
    /// nothing for the empty hash, which stands for no kernels.
    pub fn measured_kernel(
        &self,
        problem: ProblemId,
        kernel_hash: &str,
    ) -> Result<Option<Measured>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT candidates.*, measurements.*
                 FROM candidates JOIN measurements ON measurements.candidate = candidates.id
                 WHERE candidates.problem = :problem AND candidates.kernel_hash = :kernel_hash
                   AND :kernel_hash <> '' AND measurements.outcome IN ('ok', 'wrong')
                 ORDER BY measurements.id DESC LIMIT 1",
            )?;
            let mut rows = statement
                .query(named_params! { ":problem": problem.0, ":kernel_hash": kernel_hash })?;
            let Some(row) = rows.next()? else { return Ok(None) };
            let measurement = measurement::from_row(row)?;
            if measurement.outcome != Outcome::Ok {
                return Ok(None);
            }
            Ok(Some(Measured {
                id: candidate_id(row)?,
                candidate: candidate::from_row(row, &mut Derivations::of(connection))?,
                measurements: vec![measurement],
            }))
        })
    }

    /// The candidate with the lowest median, the first added of equals. Of each candidate its latest ok
    /// measurement counts, and none where it was found wrong since: a race may show itself late. One whose row was
    /// altered is an error: nobody knows what is best.
    pub fn best(&self, problem: ProblemId) -> Result<Option<Best>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT candidates.*, measurements.*, measurements.id AS measurement
                 FROM candidates JOIN measurements ON measurements.id =
                   (SELECT max(id) FROM measurements
                    WHERE candidate = candidates.id AND outcome = 'ok')
                 WHERE candidates.problem = :problem AND NOT EXISTS
                   (SELECT * FROM measurements AS later
                    WHERE later.candidate = candidates.id AND later.outcome = 'wrong'
                      AND later.id > measurements.id)
                 ORDER BY measurements.median, candidates.id LIMIT 1",
            )?;
            let mut rows = statement.query(named_params! { ":problem": problem.0 })?;
            let Some(row) = rows.next()? else { return Ok(None) };
            if !seal::is_intact(connection, row.get("measurement")?)? {
                return Err(Cause::Altered { candidate: row.get("hash")? });
            }
            Ok(Some(Best {
                id: candidate_id(row)?,
                candidate: candidate::from_row(row, &mut Derivations::of(connection))?,
                measurement: measurement::from_row(row)?,
                median: row.get("median")?,
            }))
        })
    }

    /// How many candidates there are by the outcome of their latest measurement. Outcomes of none are
    /// left out, and so are candidates without a measurement.
    pub fn counts(&self, problem: ProblemId) -> Result<BTreeMap<Outcome, usize>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT outcome, count(*)
                 FROM candidates JOIN measurements ON measurements.id =
                   (SELECT max(id) FROM measurements WHERE candidate = candidates.id)
                 WHERE candidates.problem = :problem
                 GROUP BY outcome",
            )?;
            statement
                .query_map(named_params! { ":problem": problem.0 }, |row| {
                    Ok((row.get(0)?, row.get::<_, isize>(1)?.unsigned_abs()))
                })?
                .map(|count| count.map_err(Cause::from))
                .collect()
        })
    }
}

/// Of a row that has the columns of `measurements`.
fn candidate_id(row: &Row<'_>) -> rusqlite::Result<CandidateId> {
    row.get("candidate").map(CandidateId)
}
