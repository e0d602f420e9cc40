//! Who can write to the cache: code is loaded from it, so nobody but this user and the system.
//!
//! A folder is trusted where this user owns it, nobody else may write to it, it is no link, and no folder above it
//! lets others put another in its place. A file is trusted where the same holds for the file.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Write permission of the group and of everyone.
const OTHERS_WRITE: u32 = 0o022;

/// In such a folder only the owner of a file may rename or remove it.
const STICKY: u32 = 0o1000;

/// The user of this process.
pub fn user() -> io::Result<u32> {
    Ok(fs::metadata("/proc/self")?.uid())
}

/// Refuses a folder to which others may write.
pub fn check_folder(folder: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(folder)?;
    if found.file_type().is_symlink() {
        return Err(io::Error::other("it is a link to another folder"));
    }
    if !found.is_dir() {
        return Err(io::Error::other("it is not a folder"));
    }
    check_own(&found, "it", user()?)?;
    for above in folder.canonicalize()?.ancestors().skip(1) {
        check_above(&fs::metadata(above)?, above)?;
    }
    Ok(())
}

/// Opens a file that nobody else can have written. What is no plain file is not even waited for.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::other("it is no plain file"));
    }
    check_own(&found, "it", user()?)?;
    Ok(file)
}

fn check_own(found: &Metadata, what: &str, user: u32) -> io::Result<()> {
    if found.uid() != user {
        return Err(io::Error::other(format!("{what} belongs to another user")));
    }
    if found.mode() & OTHERS_WRITE != 0 {
        return Err(io::Error::other(format!("others can write to {what}")));
    }
    Ok(())
}

/// A folder on the way may be the system's, or a place for everyone where each keeps what is theirs.
fn check_above(found: &Metadata, path: &Path) -> io::Result<()> {
    let what = path.display().to_string();
    if found.uid() != 0 && found.uid() != user()? {
        return Err(io::Error::other(format!("{what} belongs to another user")));
    }
    if found.mode() & OTHERS_WRITE != 0 && found.mode() & STICKY == 0 {
        return Err(io::Error::other(format!("others can write to {what}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::PathBuf;

    use super::*;

    /// A folder that is removed with the value.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let name = format!("lift-trust-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            fs::create_dir(&path).unwrap();
            allow(&path, 0o700);
            Folder(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn allow(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    fn refusal<T>(result: io::Result<T>) -> String {
        result.err().map_or_else(|| "trusted".to_string(), |error| error.to_string())
    }

    #[test]
    fn a_folder_others_can_write_to_is_refused() {
        let folder = Folder::new("folder");
        assert_eq!(refusal(check_folder(&folder.0)), "trusted");
        for mode in [0o777, 0o770, 0o707, 0o1777] {
            allow(&folder.0, mode);
            assert_eq!(refusal(check_folder(&folder.0)), "others can write to it", "{mode:o}");
        }
    }

    #[test]
    fn a_folder_in_one_that_others_can_write_to_is_refused() {
        let folder = Folder::new("above");
        let inner = folder.0.join("inner");
        fs::create_dir(&inner).unwrap();
        allow(&inner, 0o700);
        allow(&folder.0, 0o777);
        assert!(refusal(check_folder(&inner)).starts_with("others can write to /"));
        allow(&folder.0, 0o1777);
        assert_eq!(refusal(check_folder(&inner)), "trusted");
    }

    #[test]
    fn links_are_not_followed() {
        let folder = Folder::new("links");
        let (real, link) = (folder.0.join("real"), folder.0.join("link"));
        fs::create_dir(&real).unwrap();
        allow(&real, 0o700);
        symlink(&real, &link).unwrap();
        assert_eq!(refusal(check_folder(&link)), "it is a link to another folder");
        let (file, linked) = (real.join("file"), real.join("linked"));
        fs::write(&file, "").unwrap();
        allow(&file, 0o600);
        symlink(&file, &linked).unwrap();
        assert_eq!(refusal(open(&file)), "trusted");
        assert_ne!(refusal(open(&linked)), "trusted");
    }

    #[test]
    fn a_file_others_can_write_is_refused() {
        let folder = Folder::new("file");
        let file = folder.0.join("file");
        fs::write(&file, "").unwrap();
        for mode in [0o666, 0o620, 0o602] {
            allow(&file, mode);
            assert_eq!(refusal(open(&file)), "others can write to it", "{mode:o}");
        }
        assert_eq!(refusal(open(&folder.0)), "it is no plain file");
    }

    #[test]
    fn what_another_user_owns_is_refused() {
        let folder = Folder::new("owner");
        let found = fs::metadata(&folder.0).unwrap();
        let other = user().unwrap() + 1;
        assert_eq!(refusal(check_own(&found, "it", other)), "it belongs to another user");
    }
}
