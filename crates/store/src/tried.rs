//! What a search records of a candidate, together with how long it took, in parts, so that the search can be replayed.

use std::collections::BTreeMap;

use rusqlite::{Connection, Row, named_params};

use crate::candidate::{self, Candidate, CandidateId};
use crate::error::{Cause, StoreError};
use crate::features;
use crate::measurement::{self, Measurement};
use crate::problem::ProblemId;
use crate::store::Store;

/// Parts of the time between one candidate and the next, in milliseconds. Messages are part of what workers take, and
/// waiting for a turn is not.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Durations {
    /// The search chose the candidate and made its kernels. It does so for one at a time.
    pub choose_ms: f64,
    /// Until the worker could run it.
    pub compile_ms: f64,
    /// It had the device.
    pub run_ms: f64,
    /// Until the verdict.
    pub compare_ms: f64,
}

impl Durations {
    fn all(&self) -> [f64; 4] {
        [self.choose_ms, self.compile_ms, self.run_ms, self.compare_ms]
    }

    /// Adds them to the measurement of this number.
    fn put(&self, connection: &Connection, measurement: i64) -> Result<(), Cause> {
        if let Some(ms) = self.all().into_iter().find(|ms| !ms.is_finite() || *ms < 0.0) {
            return Err(Cause::invalid(format!("{ms} is no time in milliseconds")));
        }
        connection
            .prepare_cached(
                "UPDATE measurements
                 SET choose_ms = :choose, compile_ms = :compile, run_ms = :run,
                     compare_ms = :compare
                 WHERE id = :id",
            )?
            .execute(named_params! {
                ":id": measurement,
                ":choose": self.choose_ms,
                ":compile": self.compile_ms,
                ":run": self.run_ms,
                ":compare": self.compare_ms,
            })?;
        Ok(())
    }
}

/// All that a search knows of a candidate that was tried.
#[derive(Clone, Copy, Debug)]
pub struct Tried<'t> {
    pub candidate: &'t Candidate,
    /// Of the features.
    pub version: u32,
    pub features: &'t BTreeMap<String, f64>,
    pub measurement: &'t Measurement,
    pub durations: Option<Durations>,
}

impl Store {
    /// Records all of it, or nothing: one transaction takes hardly longer than each of its parts would.
    pub fn record_tried(
        &mut self,
        problem: ProblemId,
        tried: &Tried<'_>,
    ) -> Result<CandidateId, StoreError> {
        self.write(|transaction| {
            let id = candidate::add(transaction, problem, tried.candidate)?;
            features::put(transaction, id, tried.version, tried.features)?;
            let measurement = measurement::insert(transaction, id, tried.measurement)?;
            if let Some(durations) = &tried.durations {
                durations.put(transaction, measurement)?;
            }
            Ok(id)
        })
    }

    /// Of all measurements of the problem that somebody looked at the clock for, in the order they were recorded.
    pub fn durations(&self, problem: ProblemId) -> Result<Vec<Durations>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT measurements.*
                 FROM candidates JOIN measurements ON measurements.candidate = candidates.id
                 WHERE candidates.problem = :problem AND choose_ms IS NOT NULL
                   AND compile_ms IS NOT NULL AND run_ms IS NOT NULL AND compare_ms IS NOT NULL
                 ORDER BY measurements.id",
            )?;
            let rows = statement.query_map(named_params! { ":problem": problem.0 }, from_row)?;
            Ok(rows.collect::<Result<Vec<Durations>, _>>()?)
        })
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Durations> {
    Ok(Durations {
        choose_ms: row.get("choose_ms")?,
        compile_ms: row.get("compile_ms")?,
        run_ms: row.get("run_ms")?,
        compare_ms: row.get("compare_ms")?,
    })
}
