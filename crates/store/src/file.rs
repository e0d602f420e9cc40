//! The file of a database, apart from what SQLite says about it.

use std::fs::metadata;
use std::path::Path;

use crate::error::Cause;

pub fn make_folder(path: &Path) -> Result<(), Cause> {
    let Some(folder) = path.parent() else { return Ok(()) };
    std::fs::create_dir_all(folder)
        .map_err(|error| Cause::NoAccess { message: format!("its folder cannot be made: {error}") })
}

/// Refuses what SQLite itself would not: it takes a file of one byte for an empty one.
pub fn check_before_opening(path: &Path) -> Result<(), Cause> {
    match metadata(path) {
        Ok(file) if file.is_dir() => Err(Cause::NoAccess { message: "it is a folder".to_string() }),
        Ok(file) if file.len() == 1 => Err(Cause::NotADatabase),
        _ => Ok(()),
    }
}

/// Refuses a file that ends within a page: SQLite takes what is missing of the last one for zeros.
///
/// Where the log beside the file holds something, that page may be there, so nothing is said.
pub fn check_length(path: &Path, page: u64) -> Result<(), Cause> {
    let mut log = path.as_os_str().to_os_string();
    log.push("-wal");
    let length = |path: &Path| metadata(path).map_or(0, |file| file.len());
    if length(Path::new(&log)) == 0 && !length(path).is_multiple_of(page.max(1)) {
        return Err(Cause::damaged("its last page is cut short"));
    }
    Ok(())
}
