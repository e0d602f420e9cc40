//! The file of a database, apart from what SQLite says about it.

use std::fs::metadata;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

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

/// The name by which SQLite opens a file that does not change while it is open, so that nothing is made beside it.
pub fn as_it_is(path: &Path) -> Result<PathBuf, Cause> {
    let message = |error: std::io::Error| Cause::NoAccess { message: error.to_string() };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-~".contains(&byte);
    let written = |byte: &u8| match plain(*byte) {
        true => char::from(*byte).to_string(),
        false => format!("%{byte:02x}"),
    };
    let path = path.canonicalize().map_err(message)?;
    let name: String = path.as_os_str().as_bytes().iter().map(written).collect();
    Ok(PathBuf::from(format!("file:{name}?immutable=1")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_so_that_none_is_mistaken() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a b?c%d#é.db");
        std::fs::write(&file, "").expect("written");
        let name = as_it_is(&file).expect("it is there");
        let ends = name.to_string_lossy().ends_with("/a%20b%3fc%25d%23%c3%a9.db?immutable=1");
        assert!(ends, "{}", name.display());
    }
}
