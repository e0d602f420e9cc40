//! The expected result, from the worker that computed it to those that come later.

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;

use rustix::fs::{MemfdFlags, memfd_create};

use super::messages::Expected;

/// A file in memory that is gone with this process, however that ends.
pub(super) struct Kept {
    file: OwnedFd,
    is_there: bool,
}

impl Kept {
    /// Nothing where the system has none to give: then every worker computes the result for itself.
    pub fn new() -> Option<Kept> {
        let file = memfd_create("lift-expected", MemfdFlags::CLOEXEC).ok()?;
        Some(Kept { file, is_there: false })
    }

    /// What the next worker does.
    pub fn expected(&self) -> Expected {
        match self.is_there {
            true => Expected::Read(self.path()),
            false => Expected::Kept(self.path()),
        }
    }

    /// A worker has written the result.
    pub fn is_written(&mut self) {
        self.is_there = true;
    }

    /// The name by which other processes of this user know the file.
    fn path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd()).into()
    }
}
