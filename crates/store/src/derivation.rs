//! Derivations: how candidates were reached. Thousands of candidates share one, and it is long, so each text is kept
//! once.

use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Transaction, named_params};

use crate::error::Cause;

/// The key of the derivation with this text, which is added where it is new.
pub(crate) fn keep(transaction: &Transaction<'_>, text: &str) -> Result<i64, Cause> {
    let hash = digest(text.as_bytes());
    let known = transaction
        .prepare_cached("SELECT id FROM derivations WHERE hash = :hash")?
        .query_row(named_params! { ":hash": hash }, |row| row.get(0))
        .optional()?;
    if let Some(id) = known {
        return Ok(id);
    }
    transaction
        .prepare_cached("INSERT INTO derivations (hash, text) VALUES (:hash, :text)")?
        .execute(named_params! { ":hash": hash, ":text": text })?;
    Ok(transaction.last_insert_rowid())
}

/// The derivations of the candidates that are being read: each is fetched when it is first asked for.
pub(crate) struct Derivations<'c> {
    connection: &'c Connection,
    fetched: BTreeMap<i64, Arc<str>>,
}

impl<'c> Derivations<'c> {
    pub(crate) fn of(connection: &'c Connection) -> Derivations<'c> {
        Derivations { connection, fetched: BTreeMap::new() }
    }

    pub(crate) fn text(&mut self, id: i64) -> Result<Arc<str>, Cause> {
        if let Some(text) = self.fetched.get(&id) {
            return Ok(text.clone());
        }
        let text: Arc<str> = self
            .connection
            .prepare_cached("SELECT text FROM derivations WHERE id = :id")?
            .query_row(named_params! { ":id": id }, |row| row.get(0))
            .optional()?
            .ok_or_else(|| Cause::damaged(format!("there is no derivation {id}")))?;
        self.fetched.insert(id, text.clone());
        Ok(text)
    }
}

/// Gives SQL the function `derivation_hash`, for the step that moves derivations to a table of their own.
pub(crate) fn add_hash_function(connection: &Connection) -> Result<(), Cause> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_DIRECTONLY;
    connection.create_scalar_function("derivation_hash", 1, flags, |context| {
        Ok(match context.get_raw(0) {
            ValueRef::Text(text) => Some(digest(text)),
            _ => None,
        })
    })?;
    Ok(())
}

/// FNV-1a of 128 bits, in hexadecimal. Files hold these, so it stays as it is. It is wide enough that equal hashes mean
/// equal texts.
pub(crate) fn digest(text: &[u8]) -> String {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = (1 << 88) + 0x13b;
    let hash = text.iter().fold(BASIS, |hash, &byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME));
    format!("{hash:032x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema;

    fn database() -> Connection {
        let mut connection = Connection::open_in_memory().expect("memory");
        schema::migrate(&mut connection, schema::STEPS).expect("an empty file is migrated");
        connection
    }

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(digest(b""), "6c62272e07bb014262b821756295c58d");
        assert_eq!(digest(b"a"), "d228cb696f1a8caf78912b704e4a8964");
        assert_eq!(digest(b"foobar"), "343e1662793c64bf6f0d3597ba446f18");
    }

    #[test]
    fn equal_texts_have_one_key_and_others_another() {
        let mut connection = database();
        let transaction = connection.transaction().expect("nobody else writes");
        let first = keep(&transaction, "1: map_glb").expect("new");
        assert_eq!(keep(&transaction, "1: map_glb"), Ok(first));
        assert_ne!(keep(&transaction, ""), Ok(first));
        assert_ne!(keep(&transaction, "2: map_glb"), Ok(first));
    }

    #[test]
    fn a_text_is_fetched_once() {
        let mut connection = database();
        let transaction = connection.transaction().expect("nobody else writes");
        let id = keep(&transaction, "1: map_glb").expect("new");
        let mut derivations = Derivations::of(&transaction);
        assert_eq!(derivations.text(id), Ok("1: map_glb".into()));
        transaction.execute("DELETE FROM derivations", []).expect("no candidate has it");
        assert_eq!(derivations.text(id), Ok("1: map_glb".into()));
    }

    #[test]
    fn a_derivation_that_is_not_there_is_damage() {
        let connection = database();
        let missing = Derivations::of(&connection).text(7);
        assert_eq!(missing, Err(Cause::damaged("there is no derivation 7")));
    }
}
