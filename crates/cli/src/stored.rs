//! The tuning database, as the commands find and use it.

use std::path::{Path, PathBuf};

use lift::DeviceInfo;
use lift::tune::Database;
use lift_interp::Sizes;
use lift_ir::Def;

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
