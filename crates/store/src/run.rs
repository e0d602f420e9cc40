//! Runs: when a problem was tuned, and how.

use std::collections::BTreeMap;

use rusqlite::named_params;

use crate::error::{Cause, StoreError};
use crate::problem::ProblemId;
use crate::sql_text::{Json, Seed};
use crate::store::Store;

/// One call of `lift tune`, as it starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// Of search.
    pub method: String,
    /// Of the search.
    pub seed: u64,
    /// What it may spend, in words.
    pub budget: String,
    /// Of the tool.
    pub version: String,
    /// Unix seconds.
    pub started: i64,
}

/// A run with how it ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PastRun {
    pub id: RunId,
    pub run: Run,
    /// Unix seconds; nothing while it goes on, and where it was killed.
    pub finished: Option<i64>,
    /// How many there were by phase.
    pub counts: BTreeMap<String, u64>,
}

/// A run of one store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RunId(pub(crate) i64);

impl Store {
    pub fn start_run(&mut self, problem: ProblemId, run: &Run) -> Result<RunId, StoreError> {
        self.write(|transaction| {
            let added = transaction
                .prepare_cached(
                    "INSERT INTO runs (problem, method, seed, budget, version, started, counts)
                     SELECT id, :method, :seed, :budget, :version, :started, '{}'
                     FROM problems WHERE id = :problem",
                )?
                .execute(named_params! {
                    ":problem": problem.0,
                    ":method": run.method,
                    ":seed": Seed(run.seed),
                    ":budget": run.budget,
                    ":version": run.version,
                    ":started": run.started,
                })?;
            match added {
                1 => Ok(RunId(transaction.last_insert_rowid())),
                _ => Err(Cause::invalid(format!("there is no problem {}", problem.0))),
            }
        })
    }

    /// Says when the run ended (Unix seconds) and how many candidates each phase saw.
    pub fn finish_run(
        &mut self,
        run: RunId,
        finished: i64,
        counts: &BTreeMap<String, u64>,
    ) -> Result<(), StoreError> {
        self.write(|transaction| {
            let changed = transaction
                .prepare_cached(
                    "UPDATE runs SET finished = :finished, counts = :counts
                     WHERE id = :run AND finished IS NULL",
                )?
                .execute(named_params! {
                    ":run": run.0,
                    ":finished": finished,
                    ":counts": Json(counts),
                })?;
            match changed {
                1 => Ok(()),
                _ => Err(Cause::invalid(format!("there is no run {} that goes on", run.0))),
            }
        })
    }

    /// The problem's runs in the order they were started.
    pub fn runs(&self, problem: ProblemId) -> Result<Vec<PastRun>, StoreError> {
        self.read(|connection| {
            let mut statement = connection
                .prepare_cached("SELECT * FROM runs WHERE problem = :problem ORDER BY id")?;
            statement
                .query_map(named_params! { ":problem": problem.0 }, |row| {
                    Ok(PastRun {
                        id: RunId(row.get("id")?),
                        run: Run {
                            method: row.get("method")?,
                            seed: row.get::<_, Seed>("seed")?.0,
                            budget: row.get("budget")?,
                            version: row.get("version")?,
                            started: row.get("started")?,
                        },
                        finished: row.get("finished")?,
                        counts: row.get::<_, Json<_>>("counts")?.0,
                    })
                })?
                .map(|run| run.map_err(Cause::from))
                .collect()
        })
    }
}
