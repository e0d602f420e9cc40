//! The union of databases, which is a function of the set of their rows: whatever their order, and however often one is
//! among them, the result is the same.
//!
//! A row is known by what it is about, not by its number: a problem by program, sizes, device and flags; a candidate by
//! its problem and its hash; a measurement and a run by all they say. Where two files say different things about the
//! same candidate, the lesser text is kept and the conflict reported.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use crate::error::{Cause, StoreError};
use crate::store::Store;
use crate::{file, schema, seal};

/// What became of a union.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Merged {
    pub problems: usize,
    pub candidates: usize,
    pub measurements: usize,
    pub runs: usize,
    /// Rows that were altered since they were recorded, and left out.
    pub altered: usize,
    /// About which the files differ, and which of it was kept.
    pub conflicts: Vec<String>,
}

/// Writes the union of files to another. It is there as a whole or not at all; the others are only read.
pub fn merge(inputs: &[PathBuf], output: &Path) -> Result<Merged, StoreError> {
    check_output(inputs, output).map_err(|cause| cause.at(output))?;
    let beside = Beside::of(output);
    file::make_folder(output).map_err(|cause| cause.at(output))?;
    let mut connection = union(&beside.made).map_err(|cause| cause.at(output))?;
    let mut merged = Merged::default();
    for input in inputs {
        merged.altered +=
            gather(&connection, input, &beside.copy).map_err(|cause| cause.at(input))?;
    }
    let finished = |cause: Cause| cause.at(output);
    settle(&mut connection, &mut merged).map_err(finished)?;
    let closed = connection.close().map_err(|(_, error)| Cause::from(error));
    closed.map_err(finished)?;
    let moved = fs::File::open(&beside.made)
        .and_then(|file| file.sync_all())
        .and_then(|()| fs::rename(&beside.made, output));
    moved.map_err(|error| Cause::NoAccess { message: error.to_string() }.at(output))?;
    Ok(merged)
}

/// Refuses to replace what is being used, or is to be read.
fn check_output(inputs: &[PathBuf], output: &Path) -> Result<(), Cause> {
    let Ok(known) = output.canonicalize() else { return Ok(()) };
    if known.is_dir() {
        return Err(Cause::NoAccess { message: "it is a folder".to_string() });
    }
    if inputs.iter().any(|input| input.canonicalize().is_ok_and(|input| input == known)) {
        return Err(Cause::invalid("it is one of the files to merge; write to another one"));
    }
    if ["-wal", "-shm"].iter().any(|end| appended(output, end).exists()) {
        return Err(Cause::invalid("it is in use; write to another file"));
    }
    Ok(())
}

/// Files beside the output that are gone when this is.
struct Beside {
    /// The union as it is being made.
    made: PathBuf,
    /// An input of an older version, which is brought up to date here and not in its place.
    copy: PathBuf,
}

impl Beside {
    fn of(output: &Path) -> Beside {
        let end = |what: &str| format!(".{}-{what}", std::process::id());
        let beside =
            Beside { made: appended(output, &end("made")), copy: appended(output, &end("copy")) };
        beside.remove();
        beside
    }

    fn remove(&self) {
        for path in [&self.made, &self.copy] {
            for end in ["", "-wal", "-shm", "-journal"] {
                // Most of them never were.
                let _ = fs::remove_file(appended(path, end));
            }
        }
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        self.remove();
    }
}

fn appended(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(end);
    PathBuf::from(name)
}

/// Rows by what they are about. Keys are digests, so that a program's text is not repeated with every row.
const GATHERED: &str = "
CREATE TEMP TABLE all_programs (text, name);
CREATE TEMP TABLE all_devices (fingerprint, name, kind);
CREATE TEMP TABLE all_problems (key PRIMARY KEY, program, sizes, device, flags) WITHOUT ROWID;
CREATE TEMP TABLE all_derivations (hash PRIMARY KEY, text) WITHOUT ROWID;
CREATE TEMP TABLE all_candidates
  (key, problem, hash, text, derivation, parameters, global, local, kernel_hash);
CREATE TEMP TABLE all_measurements
  (candidate, outcome, message, samples, median, started, seed, host,
   choose_ms, compile_ms, run_ms, compare_ms);
CREATE TEMP TABLE all_features (candidate, version, numbers);
CREATE TEMP TABLE all_runs
  (problem, method, seed, budget, version, started, finished, counts);
";

fn union(path: &Path) -> Result<Connection, Cause> {
    let flags = OpenFlags::default() | OpenFlags::SQLITE_OPEN_URI;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.pragma_update(None, "journal_mode", "off")?;
    // What is gathered may be larger than the memory.
    connection.pragma_update(None, "temp_store", "file")?;
    schema::migrate(&mut connection, schema::STEPS)?;
    connection.execute_batch(GATHERED)?;
    Ok(connection)
}

/// Adds the rows of a file, but those that were altered, whose number it says.
fn gather(connection: &Connection, input: &Path, copy: &Path) -> Result<usize, Cause> {
    if !input.is_file() {
        return Err(Cause::NoAccess { message: "there is no such file".to_string() });
    }
    file::check_before_opening(input)?;
    let mut name = read_only(input)?;
    if schema::is_older(&Connection::open_with_flags(
        &name,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
    )?)? {
        let source = Connection::open_with_flags(
            &name,
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
        )?;
        let _ = fs::remove_file(copy);
        source.execute("VACUUM INTO ?1", [copy.to_string_lossy()])?;
        drop(Store::open(copy).map_err(|error| error.cause)?);
        name = read_only(copy)?;
    }
    connection.execute("ATTACH ?1 AS source", [name.to_string_lossy()])?;
    let altered = gather_attached(connection)?;
    connection.execute_batch("DETACH source")?;
    Ok(altered)
}

/// The name by which a file is opened so that nothing is made beside it, unless somebody uses it.
fn read_only(path: &Path) -> Result<PathBuf, Cause> {
    let name = file::as_it_is(path)?;
    let used = fs::metadata(appended(path, "-wal")).is_ok_and(|log| log.len() > 0);
    match used {
        true => Ok(name.to_string_lossy().replace("?immutable=1", "?mode=ro").into()),
        false => Ok(name),
    }
}

fn gather_attached(connection: &Connection) -> Result<usize, Cause> {
    let candidates = seal::CANDIDATES
        .replace("candidates\n", "source.candidates AS candidates\n")
        .replace("JOIN ", "JOIN source.");
    let candidate = seal::OF_CANDIDATE;
    let measurement = seal::OF_MEASUREMENT;
    const PROBLEM: &str =
        "seal_of(programs.text, problems.sizes, devices.fingerprint, problems.flags)";
    let problems = "source.problems
        JOIN source.programs ON programs.id = problems.program
        JOIN source.devices ON devices.id = problems.device";
    connection.execute_batch(&format!(
        "BEGIN;
         CREATE TEMP TABLE keys AS
         SELECT candidates.id AS id, seal_of({PROBLEM}, candidates.hash) AS key,
                candidates.seal AS seal
         FROM {candidates} WHERE candidates.seal = {candidate};
         CREATE UNIQUE INDEX keys_by_id ON keys (id);
         INSERT INTO all_programs SELECT text, name FROM source.programs;
         INSERT INTO all_devices SELECT fingerprint, name, kind FROM source.devices;
         INSERT OR IGNORE INTO all_problems
         SELECT {PROBLEM}, programs.text, problems.sizes, devices.fingerprint, problems.flags
         FROM {problems};
         INSERT OR IGNORE INTO all_derivations SELECT hash, text FROM source.derivations;
         INSERT INTO all_candidates
         SELECT keys.key, {PROBLEM}, candidates.hash, candidates.text, derivations.hash,
                candidates.parameters, candidates.global, candidates.local, candidates.kernel_hash
         FROM {candidates} JOIN keys ON keys.id = candidates.id;
         INSERT INTO all_measurements
         SELECT keys.key, outcome, message, samples, median, started, seed, host,
                choose_ms, compile_ms, run_ms, compare_ms
         FROM source.measurements AS measurements
         JOIN source.candidates AS candidates ON candidates.id = measurements.candidate
         JOIN keys ON keys.id = candidates.id
         WHERE measurements.seal = {measurement};
         INSERT INTO all_features
         SELECT keys.key, version, numbers
         FROM source.features JOIN keys ON keys.id = features.candidate;
         INSERT INTO all_runs
         SELECT {PROBLEM}, runs.method, runs.seed, runs.budget, runs.version, runs.started,
                runs.finished, runs.counts
         FROM {problems} JOIN source.runs ON runs.problem = problems.id;
         COMMIT;"
    ))?;
    let altered = connection.query_row(
        &format!(
            "SELECT (SELECT count(*) FROM source.candidates) - (SELECT count(*) FROM keys)
                  + (SELECT count(*) FROM source.measurements AS measurements
                     JOIN source.candidates AS candidates ON candidates.id = measurements.candidate
                     JOIN keys ON keys.id = candidates.id
                     WHERE measurements.seal <> {measurement})"
        ),
        [],
        |row| row.get::<_, i64>(0),
    )?;
    connection.execute_batch("DROP TABLE keys")?;
    Ok(usize::try_from(altered).unwrap_or(0))
}

/// One row of each, in an order of their own, sealed.
const SETTLED: &str = "
INSERT INTO programs (text, name)
SELECT text, min(name) FROM all_programs GROUP BY text ORDER BY text;
INSERT INTO devices (fingerprint, name, kind)
SELECT fingerprint, name, kind FROM (
  SELECT *, row_number() OVER (PARTITION BY fingerprint ORDER BY name, kind) AS place FROM all_devices)
WHERE place = 1 ORDER BY fingerprint;
INSERT INTO problems (program, sizes, device, flags)
SELECT programs.id, sizes, devices.id, flags FROM all_problems
JOIN programs ON programs.text = all_problems.program
JOIN devices ON devices.fingerprint = all_problems.device
ORDER BY programs.id, devices.id, sizes, flags;

CREATE TEMP TABLE problem_ids AS
SELECT problems.id AS id, all_problems.key AS key FROM all_problems
JOIN programs ON programs.text = all_problems.program
JOIN devices ON devices.fingerprint = all_problems.device
JOIN problems ON problems.program = programs.id AND problems.device = devices.id
  AND problems.sizes = all_problems.sizes AND problems.flags = all_problems.flags;
CREATE UNIQUE INDEX problem_ids_by_key ON problem_ids (key);

CREATE TEMP TABLE chosen AS
SELECT * FROM (
  SELECT *, row_number() OVER (
    PARTITION BY key ORDER BY text, parameters, global, local, kernel_hash, derivation) AS place
  FROM all_candidates)
WHERE place = 1;
INSERT INTO derivations (hash, text)
SELECT hash, text FROM all_derivations
WHERE hash IN (SELECT derivation FROM chosen) ORDER BY hash;
INSERT INTO candidates
  (problem, hash, text, derivation, parameters, global, local, kernel_hash, seal)
SELECT problem_ids.id, chosen.hash, chosen.text, derivations.id, parameters, global, local, kernel_hash, chosen.key
FROM chosen JOIN problem_ids ON problem_ids.key = chosen.problem
JOIN derivations ON derivations.hash = chosen.derivation
ORDER BY problem_ids.id, chosen.hash;
CREATE TEMP TABLE candidate_ids AS SELECT id, seal AS key FROM candidates;
CREATE UNIQUE INDEX candidate_ids_by_key ON candidate_ids (key);

INSERT INTO measurements
  (candidate, outcome, message, samples, median, started, seed, host,
   choose_ms, compile_ms, run_ms, compare_ms)
SELECT DISTINCT candidate_ids.id, outcome, message, samples, median, started, seed, host,
  choose_ms, compile_ms, run_ms, compare_ms
FROM all_measurements JOIN candidate_ids ON candidate_ids.key = all_measurements.candidate
ORDER BY started, candidate_ids.id, message, outcome, samples, median, seed, host,
  choose_ms, compile_ms, run_ms, compare_ms;
INSERT INTO features (candidate, version, numbers)
SELECT candidate_ids.id, version, min(numbers)
FROM all_features JOIN candidate_ids ON candidate_ids.key = all_features.candidate
GROUP BY candidate_ids.id, version ORDER BY candidate_ids.id, version;
INSERT INTO runs (problem, method, seed, budget, version, started, finished, counts)
SELECT DISTINCT problem_ids.id, method, seed, budget, version, started, finished, counts
FROM all_runs AS run JOIN problem_ids ON problem_ids.key = run.problem
WHERE finished IS NOT NULL OR NOT EXISTS (
  SELECT 1 FROM all_runs AS other
  WHERE other.finished IS NOT NULL AND other.problem = run.problem AND other.method = run.method
    AND other.seed = run.seed AND other.budget = run.budget AND other.version = run.version
    AND other.started = run.started)
ORDER BY started, problem_ids.id, method, seed, budget, version, finished, counts;
";

fn settle(connection: &mut Connection, merged: &mut Merged) -> Result<(), Cause> {
    let transaction = connection.transaction()?;
    transaction.execute_batch(SETTLED)?;
    seal::seal_all(&transaction)?;
    let count = |table: &str| {
        let query = format!("SELECT count(*) FROM {table}");
        transaction.query_row(&query, [], |row| row.get::<_, i64>(0)).map(|n| n as usize)
    };
    merged.problems = count("problems")?;
    merged.candidates = count("candidates")?;
    merged.measurements = count("measurements")?;
    merged.runs = count("runs")?;
    let mut told = transaction.prepare(
        "SELECT 'the candidate ' || min(hash) || ' has ' || count(*) || ' texts; the least is kept'
         FROM (SELECT DISTINCT key, hash, text, parameters, global, local, kernel_hash
               FROM all_candidates)
         GROUP BY key HAVING count(*) > 1
         UNION ALL
         SELECT 'the candidate ' || min(hash) || ' has ' || count(*) ||
                ' sets of features of version ' || version || '; the least is kept'
         FROM (SELECT DISTINCT all_features.candidate AS key, version, numbers, chosen.hash AS hash
               FROM all_features JOIN chosen ON chosen.key = all_features.candidate)
         GROUP BY key, version HAVING count(*) > 1
         ORDER BY 1",
    )?;
    let conflicts = told.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    merged.conflicts = conflicts;
    drop(told);
    transaction.commit()?;
    Ok(())
}
