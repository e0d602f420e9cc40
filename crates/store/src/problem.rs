//! Problems: a program at given sizes on a device.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Row, named_params};

use crate::error::{Cause, StoreError};
use crate::store::Store;

/// What is tuned. Two keys are the same problem if program, sizes, device and flags are the same texts;
/// names are not compared, and the ones seen first stay.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProblemKey {
    /// Canonical text of the high-level definition.
    pub program: String,
    pub name: String,
    pub sizes: BTreeMap<String, u64>,
    pub device: Device,
    /// What else changes the kernels, such as `fast-math`; written the same way each time.
    pub flags: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Device {
    /// What stays the same between sessions, such as `opencl NVIDIA H200 580.159`. The id under which
    /// a user asks for a device may name another one tomorrow.
    pub fingerprint: String,
    pub name: String,
    pub kind: String,
}

/// A problem of one store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ProblemId(pub(crate) i64);

impl ProblemId {
    /// By which people name it. It is that of one file: in another the problem has another.
    pub fn number(self) -> i64 {
        self.0
    }
}

impl Store {
    /// The problem with this key, which is added where it is new.
    pub fn problem(&mut self, key: &ProblemKey) -> Result<ProblemId, StoreError> {
        self.write(|transaction| {
            transaction
                .prepare_cached(
                    "INSERT INTO programs (text, name) VALUES (:text, :name)
                     ON CONFLICT DO NOTHING",
                )?
                .execute(named_params! { ":text": key.program, ":name": key.name })?;
            transaction
                .prepare_cached(
                    "INSERT INTO devices (fingerprint, name, kind)
                     VALUES (:fingerprint, :name, :kind)
                     ON CONFLICT DO NOTHING",
                )?
                .execute(named_params! {
                    ":fingerprint": key.device.fingerprint,
                    ":name": key.device.name,
                    ":kind": key.device.kind,
                })?;
            transaction
                .prepare_cached(
                    "INSERT INTO problems (program, sizes, device, flags)
                     SELECT programs.id, :sizes, devices.id, :flags FROM programs, devices
                     WHERE programs.text = :text AND devices.fingerprint = :fingerprint
                     ON CONFLICT DO NOTHING",
                )?
                .execute(named_params! {
                    ":sizes": sizes_text(&key.sizes)?,
                    ":flags": key.flags,
                    ":text": key.program,
                    ":fingerprint": key.device.fingerprint,
                })?;
            find(transaction, key)?
                .ok_or_else(|| Cause::damaged("a problem just added is not there"))
        })
    }

    /// All problems, in the order in which they came.
    pub fn problems(&self) -> Result<Vec<ProblemId>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached("SELECT id FROM problems ORDER BY id")?;
            let ids = statement.query_map([], |row| row.get(0).map(ProblemId))?;
            Ok(ids.collect::<Result<Vec<ProblemId>, _>>()?)
        })
    }

    /// What the problem is.
    pub fn key(&self, problem: ProblemId) -> Result<ProblemKey, StoreError> {
        self.read(|connection| {
            let key = connection
                .prepare_cached(
                    "SELECT programs.text, programs.name, problems.sizes, problems.flags,
                            devices.fingerprint, devices.name, devices.kind
                     FROM problems
                     JOIN programs ON programs.id = problems.program
                     JOIN devices ON devices.id = problems.device
                     WHERE problems.id = :problem",
                )?
                .query_row(named_params! { ":problem": problem.0 }, |row| {
                    Ok((row.get::<_, String>(2)?, key_from_row(row)?))
                })
                .optional()?;
            let Some((sizes, key)) = key else {
                return Err(Cause::invalid(format!("there is no problem {}", problem.0)));
            };
            Ok(ProblemKey { sizes: sizes_of(&sizes)?, ..key })
        })
    }

    /// Deletes problems with all that was measured for them, and what nothing refers to any more.
    pub fn delete_problems(&mut self, problems: &[ProblemId]) -> Result<(), StoreError> {
        self.write(|transaction| {
            for problem in problems {
                for delete in [
                    "measurements WHERE candidate IN (SELECT id FROM candidates WHERE problem = :id)",
                    "features WHERE candidate IN (SELECT id FROM candidates WHERE problem = :id)",
                    "candidates WHERE problem = :id",
                    "runs WHERE problem = :id",
                    "problems WHERE id = :id",
                ] {
                    let delete = format!("DELETE FROM {delete}");
                    transaction.prepare(&delete)?.execute(named_params! { ":id": problem.0 })?;
                }
            }
            transaction.execute_batch(
                "DELETE FROM derivations WHERE id NOT IN (SELECT derivation FROM candidates);
                 DELETE FROM programs WHERE id NOT IN (SELECT program FROM problems);
                 DELETE FROM devices WHERE id NOT IN (SELECT device FROM problems);",
            )?;
            Ok(())
        })
    }

    /// The problem with this key, if it is known. Nothing is written.
    pub fn find_problem(&self, key: &ProblemKey) -> Result<Option<ProblemId>, StoreError> {
        self.read(|connection| find(connection, key))
    }
}

fn find(connection: &Connection, key: &ProblemKey) -> Result<Option<ProblemId>, Cause> {
    let id = connection
        .prepare_cached(
            "SELECT problems.id FROM problems
             JOIN programs ON programs.id = problems.program
             JOIN devices ON devices.id = problems.device
             WHERE programs.text = :text AND devices.fingerprint = :fingerprint
               AND problems.sizes = :sizes AND problems.flags = :flags",
        )?
        .query_row(
            named_params! {
                ":sizes": sizes_text(&key.sizes)?,
                ":flags": key.flags,
                ":text": key.program,
                ":fingerprint": key.device.fingerprint,
            },
            |row| row.get(0),
        )
        .optional()?;
    Ok(id.map(ProblemId))
}

/// `K=1024,M=1024`: a map has one order, and names hold none of the signs between.
fn sizes_text(sizes: &BTreeMap<String, u64>) -> Result<String, Cause> {
    let name_of = |name: &str| !name.is_empty() && !name.contains(['=', ',']);
    match sizes.keys().find(|name| !name_of(name)) {
        Some(name) => Err(Cause::invalid(format!("`{name}` is no name of a size"))),
        None => {
            let sizes: Vec<_> =
                sizes.iter().map(|(name, value)| format!("{name}={value}")).collect();
            Ok(sizes.join(","))
        }
    }
}

/// The sizes of a text that [`sizes_text`] made.
fn sizes_of(text: &str) -> Result<BTreeMap<String, u64>, Cause> {
    let size = |part: &str| {
        let (name, value) = part.split_once('=')?;
        Some((name.to_string(), value.parse().ok()?))
    };
    let parts = text.split(',').filter(|_| !text.is_empty());
    parts
        .map(|part| size(part).ok_or_else(|| Cause::damaged(format!("`{part}` is no size"))))
        .collect()
}

/// All of a key but its sizes.
fn key_from_row(row: &Row<'_>) -> rusqlite::Result<ProblemKey> {
    Ok(ProblemKey {
        program: row.get(0)?,
        name: row.get(1)?,
        sizes: BTreeMap::new(),
        flags: row.get(3)?,
        device: Device { fingerprint: row.get(4)?, name: row.get(5)?, kind: row.get(6)? },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(sizes: &[(&str, u64)]) -> Result<String, Cause> {
        sizes_text(&sizes.iter().map(|&(name, value)| (name.to_string(), value)).collect())
    }

    #[test]
    fn sizes_have_one_text_whatever_their_order() {
        assert_eq!(sizes(&[("N", 8), ("K", 1024)]), Ok("K=1024,N=8".to_string()));
        assert_eq!(sizes(&[("K", 1024), ("N", 8)]), Ok("K=1024,N=8".to_string()));
        assert_eq!(sizes(&[]), Ok(String::new()));
    }

    #[test]
    fn names_that_would_make_the_text_ambiguous_are_refused() {
        for name in ["", "N=1", "N,M"] {
            assert!(matches!(sizes(&[(name, 1)]), Err(Cause::Invalid { .. })), "{name}");
        }
    }
}
