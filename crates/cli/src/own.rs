//! How the command starts itself again, for work that may crash.

use std::io;
use std::path::PathBuf;

/// Where another program carries the command: what starts it.
const COMMAND: &str = "LIFT_COMMAND";

pub fn path() -> io::Result<PathBuf> {
    match std::env::var_os(COMMAND).filter(|path| !path.is_empty()) {
        Some(path) => Ok(path.into()),
        None => std::env::current_exe(),
    }
}
