//! The tuning database, as the commands find and use it.

use std::path::{Path, PathBuf};

use lift::DeviceInfo;
use lift::tune::Database;
use lift_interp::Sizes;
use lift_ir::Def;
use lift_store::{Best, ProblemKey, Store};

use crate::report::Failure;

/// The file that the user names, or the one in the user's data folder.
pub fn path(given: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(path) = given {
        return Ok(path.to_path_buf());
    }
    Database::usual_path().ok_or_else(|| {
        Failure::message("there is no data folder: set XDG_DATA_HOME, or name a file by `--db`")
    })
}

/// What results are kept under.
pub fn key(def: &Def, sizes: &Sizes, device: &DeviceInfo, fast_math: bool) -> ProblemKey {
    lift::tune::key(def, sizes, device, fast_math)
}

/// The fastest form of a program that is stored for these sizes on this device. A database that is not there has
/// none.
pub fn tuned(
    path: &Path,
    def: &Def,
    sizes: &Sizes,
    device: &DeviceInfo,
    fast_math: bool,
) -> Result<Option<lift::tune::Best>, Failure> {
    if !path.exists() {
        return Ok(None);
    }
    let best = Database::open(path).and_then(|store| store.best(def, sizes, device, fast_math));
    best.map_err(|error| Failure::message(error.to_string()))
}

/// The best program that is stored for a problem. A database that is not there has none.
pub fn best(path: &Path, key: &ProblemKey) -> Result<Option<Best>, Failure> {
    if !path.exists() {
        return Ok(None);
    }
    let failed = |e: lift_store::StoreError| Failure::message(e.to_string());
    let store = Store::open(path).map_err(failed)?;
    match store.find_problem(key).map_err(failed)? {
        Some(problem) => store.best(problem).map_err(failed),
        None => Ok(None),
    }
}

/// The definition of a stored program.
pub fn definition(best: &Best, name: &str) -> Result<Def, Failure> {
    let checked = lift_syntax::check_text("stored program", &best.candidate.text);
    let found = checked.program.def(name).or(checked.program.entry()).cloned();
    found.filter(|_| !checked.has_errors()).ok_or_else(|| {
        let id = &best.candidate.hash;
        Failure::message(format!(
            "the stored program {id} cannot be read: tune again, or use `--db`"
        ))
    })
}
