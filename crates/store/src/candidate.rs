//! Candidates: low-level programs that solve a problem.

use std::sync::Arc;

use rusqlite::{OptionalExtension, Row, Transaction, named_params};

use crate::derivation::{self, Derivations};
use crate::error::{Cause, StoreError};
use crate::problem::ProblemId;
use crate::seal;
use crate::store::Store;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Candidate {
    /// Of the low-level program, in hexadecimal. Within a problem it stands for the candidate.
    pub hash: String,
    /// The complete low-level definition, its parameters fixed by values, and its launch.
    pub text: String,
    /// How it was reached; may be empty.
    pub derivation: Arc<str>,
    /// `T=16,R=4`
    pub parameters: String,
    pub global: String,
    pub local: String,
    /// Of the kernels it is compiled to, or empty. Candidates with the same are as fast as each other.
    pub kernel_hash: String,
}

/// A candidate of one store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CandidateId(pub(crate) i64);

impl Store {
    /// The problem's candidate with this hash, which is added where it is new. One that is known stays
    /// as it is: many derivations lead to the same program, and the first is kept.
    pub fn candidate(
        &mut self,
        problem: ProblemId,
        candidate: &Candidate,
    ) -> Result<CandidateId, StoreError> {
        self.write(|transaction| add(transaction, problem, candidate))
    }

    /// All candidates of the problem in the order they were added, measured or not.
    pub fn candidates(
        &self,
        problem: ProblemId,
    ) -> Result<Vec<(CandidateId, Candidate)>, StoreError> {
        self.read(|connection| {
            let mut statement = connection
                .prepare_cached("SELECT * FROM candidates WHERE problem = :problem ORDER BY id")?;
            let mut derivations = Derivations::of(connection);
            statement
                .query_and_then(named_params! { ":problem": problem.0 }, |row| {
                    Ok((CandidateId(row.get("id")?), from_row(row, &mut derivations)?))
                })?
                .collect()
        })
    }
}

pub(crate) fn add(
    transaction: &Transaction<'_>,
    problem: ProblemId,
    candidate: &Candidate,
) -> Result<CandidateId, Cause> {
    if let Some(known) = find(transaction, problem, &candidate.hash)? {
        return Ok(known);
    }
    let derivation = derivation::keep(transaction, &candidate.derivation)?;
    let added = transaction
        .prepare_cached(
            "INSERT INTO candidates
               (problem, hash, text, derivation, parameters, global, local, kernel_hash)
             SELECT id, :hash, :text, :derivation, :parameters, :global, :local, :kernel_hash
             FROM problems WHERE id = :problem",
        )?
        .execute(named_params! {
            ":problem": problem.0,
            ":hash": candidate.hash,
            ":text": candidate.text,
            ":derivation": derivation,
            ":parameters": candidate.parameters,
            ":global": candidate.global,
            ":local": candidate.local,
            ":kernel_hash": candidate.kernel_hash,
        })?;
    match added {
        1 => {
            let id = transaction.last_insert_rowid();
            seal::seal_candidate(transaction, id)?;
            Ok(CandidateId(id))
        }
        _ => Err(Cause::invalid(format!("there is no problem {}", problem.0))),
    }
}

fn find(
    transaction: &Transaction<'_>,
    problem: ProblemId,
    hash: &str,
) -> Result<Option<CandidateId>, Cause> {
    let id = transaction
        .prepare_cached("SELECT id FROM candidates WHERE problem = :problem AND hash = :hash")?
        .query_row(named_params! { ":problem": problem.0, ":hash": hash }, |row| row.get(0))
        .optional()?;
    Ok(id.map(CandidateId))
}

/// Reads a row of `candidates` with all its columns.
pub(crate) fn from_row(
    row: &Row<'_>,
    derivations: &mut Derivations<'_>,
) -> Result<Candidate, Cause> {
    Ok(Candidate {
        hash: row.get("hash")?,
        text: row.get("text")?,
        derivation: derivations.text(row.get("derivation")?)?,
        parameters: row.get("parameters")?,
        global: row.get("global")?,
        local: row.get("local")?,
        kernel_hash: row.get("kernel_hash")?,
    })
}
