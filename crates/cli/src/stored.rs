//! The tuning database, as the commands find and use it.

use std::path::{Path, PathBuf};

use lift::DeviceInfo;
use lift::tune::{Best, Database};
use lift_interp::Sizes;
use lift_ir::Def;

use crate::report::{Failure, remark};

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
///
/// What a file says is no more to be trusted than any program: a form that was altered since it was measured, or that
/// uses extern functions without permission, is not used, and the user is told.
pub fn tuned(
    path: &Path,
    def: &Def,
    sizes: &Sizes,
    device: &DeviceInfo,
    fast_math: bool,
    allow_extern: bool,
) -> Result<Option<Best>, Failure> {
    if !path.exists() {
        return Ok(None);
    }
    let best = Database::open(path).and_then(|store| store.best(def, sizes, device, fast_math));
    match best {
        Ok(Some(best)) if !allow_extern => Ok(without_extern(best, path)),
        Ok(best) => Ok(best),
        Err(error) if error.is_of_the_form() => {
            warn(&error.to_string());
            Ok(None)
        }
        Err(error) => Err(Failure::message(error.to_string())),
    }
}

fn without_extern(best: Best, path: &Path) -> Option<Best> {
    let Some(function) = best.def.uses_extern() else { return Some(best) };
    warn(&format!(
        "the stored program {} of {} uses the extern function `{function}`; where it is trusted, give `--allow-extern`",
        best.id,
        path.display()
    ));
    None
}

fn warn(text: &str) {
    remark(&format!("warning: {text}; the default lowering is used"));
}
