//! Measurements: what happened when a candidate was tried.

use rusqlite::{Connection, Row, named_params};

use crate::candidate::CandidateId;
use crate::error::{Cause, StoreError};
use crate::outcome::Outcome;
use crate::seal;
use crate::sql_text::{Json, Seed};
use crate::store::Store;

#[derive(Clone, PartialEq, Debug)]
pub struct Measurement {
    pub outcome: Outcome,
    /// Why it is not ok; may be empty.
    pub message: String,
    /// Every time taken, in milliseconds. An ok measurement has one at least.
    pub samples: Vec<f64>,
    /// Unix seconds.
    pub started: i64,
    /// Of the inputs.
    pub seed: u64,
    /// The machine, in words.
    pub host: String,
}

impl Measurement {
    /// The middle of the samples, or the mean of the two middle ones; nothing of no samples.
    pub fn median(&self) -> Option<f64> {
        let mut sorted = self.samples.clone();
        sorted.sort_by(f64::total_cmp);
        let upper = *sorted.get(sorted.len() / 2)?;
        let lower = *sorted.get((sorted.len() - 1) / 2)?;
        Some((lower + upper) / 2.0)
    }
}

impl Measurement {
    /// How long the candidate takes, as far as this says. One that was given up for being far too slow has run all
    /// the same.
    pub fn ms(&self) -> Option<f64> {
        self.median().filter(|_| matches!(self.outcome, Outcome::Ok | Outcome::Skipped))
    }
}

/// The measurement that says how fast a candidate is: the latest ok one, unless it was found wrong since. Otherwise
/// the latest, unless it says nothing because the candidate was not tried.
pub fn deciding(measurements: &[Measurement]) -> Option<&Measurement> {
    let decides = |m: &&Measurement| matches!(m.outcome, Outcome::Ok | Outcome::Wrong);
    let says = |m: &&Measurement| match m.outcome {
        Outcome::Skipped => !m.samples.is_empty(),
        Outcome::Lost => false,
        _ => true,
    };
    let latest = measurements.iter().rev();
    latest.clone().find(decides).or_else(|| latest.clone().find(says))
}

impl Store {
    /// Adds a measurement of the candidate to those it has.
    pub fn record(
        &mut self,
        candidate: CandidateId,
        measurement: &Measurement,
    ) -> Result<(), StoreError> {
        self.write(|transaction| insert(transaction, candidate, measurement).map(drop))
    }
}

/// Adds a measurement, sealed. Its number is told.
pub(crate) fn insert(
    connection: &Connection,
    candidate: CandidateId,
    measurement: &Measurement,
) -> Result<i64, Cause> {
    check(measurement)?;
    let added = connection
        .prepare_cached(
            "INSERT INTO measurements
               (candidate, outcome, message, samples, median, started, seed, host)
             SELECT id, :outcome, :message, :samples, :median, :started, :seed, :host
             FROM candidates WHERE id = :candidate",
        )?
        .execute(named_params! {
            ":candidate": candidate.0,
            ":outcome": measurement.outcome,
            ":message": measurement.message,
            ":samples": Json(&measurement.samples),
            ":median": measurement.median(),
            ":started": measurement.started,
            ":seed": Seed(measurement.seed),
            ":host": measurement.host,
        })?;
    if added != 1 {
        return Err(Cause::invalid(format!("there is no candidate {}", candidate.0)));
    }
    let id = connection.last_insert_rowid();
    seal::seal_measurement(connection, id)?;
    Ok(id)
}

fn check(measurement: &Measurement) -> Result<(), Cause> {
    let time = |sample: &&f64| sample.is_finite() && **sample >= 0.0;
    if let Some(sample) = measurement.samples.iter().find(|sample| !time(sample)) {
        return Err(Cause::invalid(format!("{sample} is no time in milliseconds")));
    }
    if measurement.outcome == Outcome::Ok && measurement.samples.is_empty() {
        return Err(Cause::invalid("an ok measurement has one time at least"));
    }
    Ok(())
}

/// Reads a row of `measurements` with all its columns.
pub(crate) fn from_row(row: &Row<'_>) -> rusqlite::Result<Measurement> {
    Ok(Measurement {
        outcome: row.get("outcome")?,
        message: row.get("message")?,
        samples: row.get::<_, Json<_>>("samples")?.0,
        started: row.get("started")?,
        seed: row.get::<_, Seed>("seed")?.0,
        host: row.get("host")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measurement(outcome: Outcome, samples: &[f64]) -> Measurement {
        Measurement {
            outcome,
            message: String::new(),
            samples: samples.to_vec(),
            started: 0,
            seed: 0,
            host: String::new(),
        }
    }

    #[test]
    fn the_median_is_the_middle_in_any_order() {
        let median = |samples: &[f64]| measurement(Outcome::Ok, samples).median();
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&[5.0]), Some(5.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn times_are_finite_and_not_negative() {
        for sample in [f64::NAN, f64::INFINITY, -1.0] {
            let refusal = check(&measurement(Outcome::Wrong, &[1.0, sample]));
            assert!(matches!(refusal, Err(Cause::Invalid { .. })), "{sample}");
        }
        assert_eq!(check(&measurement(Outcome::Ok, &[0.0, 1.5])), Ok(()));
    }

    #[test]
    fn only_what_is_not_ok_may_be_without_times() {
        for outcome in Outcome::ALL {
            let refused = check(&measurement(outcome, &[])).is_err();
            assert_eq!(refused, outcome == Outcome::Ok, "{outcome}");
        }
    }
}
