//! Files that appear whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes a file under another name beside its place and moves it there, so that nobody ever sees
/// half of it and a failure leaves what was there before.
pub fn replace(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    // What a link points to is replaced, not the link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let (temporary, mut file) = beside(&target)?;
    let written = write(&mut file)
        .and_then(|()| file.flush())
        .and_then(|()| match fs::metadata(&target) {
            Ok(old) => file.set_permissions(old.permissions()),
            Err(_) => Ok(()),
        })
        .and_then(|()| file.sync_all());
    drop(file);
    let moved = written.and_then(|()| fs::rename(&temporary, &target));
    if moved.is_err() {
        fs::remove_file(&temporary).ok();
    }
    moved
}

/// Writes files into a folder, which is made where there is none: all of them or, should one not be
/// writable, none. They are put together apart and moved to their places, the last one last.
pub fn fill_folder(folder: &Path, files: &[(String, String)]) -> io::Result<()> {
    let exists = folder.is_dir();
    let staging = if exists {
        stage(&folder.join("lift"))?
    } else {
        let parent = folder.parent().filter(|p| !p.as_os_str().is_empty());
        // A file in the place of a folder is not told apart otherwise.
        parent.map_or(Ok(()), fs::create_dir_all).map_err(|e| match e.kind() {
            io::ErrorKind::AlreadyExists => io::ErrorKind::NotADirectory.into(),
            _ => e,
        })?;
        stage(folder)?
    };
    let written = files.iter().try_for_each(|(name, text)| fs::write(staging.join(name), text));
    let moved = written.and_then(|()| {
        if !exists {
            return fs::rename(&staging, folder);
        }
        files.iter().try_for_each(|(name, _)| fs::rename(staging.join(name), folder.join(name)))
    });
    // Gone already where the folder is new; what is left over does not hide the first error.
    fs::remove_dir_all(&staging).ok();
    moved
}

/// A new folder beside `target`, on the same file system.
fn stage(target: &Path) -> io::Result<PathBuf> {
    let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let mut own = std::ffi::OsString::from(".");
    own.push(name);
    own.push(format!(".{}", std::process::id()));
    let path = target.with_file_name(own);
    fs::create_dir(&path).map(|()| path)
}

/// A new file in the folder of `target`; renaming within a folder never copies.
fn beside(target: &Path) -> io::Result<(PathBuf, File)> {
    let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let process = std::process::id();
    for attempt in 0u32.. {
        let mut own = std::ffi::OsString::from(".");
        own.push(name);
        own.push(format!(".{process}.{attempt}"));
        let path = target.with_file_name(own);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && attempt < 100 => {}
            other => return other.map(|file| (path, file)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
