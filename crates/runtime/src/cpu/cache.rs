//! Compiled kernels on disk, by content.
//!
//! A library's file name is a hash of all it depends on, so an entry is never wrong, only absent. It is
//! made in a folder of its own and renamed into place: processes that compile the same text at the
//! same time overwrite each other with the same code.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::compiler::Compiler;
use super::library::Library;
use super::{entry, machine};
use crate::{CompileOptions, RuntimeError};

pub struct Cache {
    folder: PathBuf,
    /// Part of every entry's name.
    instruction_set: String,
}

impl Cache {
    /// `$XDG_CACHE_HOME/lift/c`, else `~/.cache/lift/c`, else a folder for this user among the
    /// temporary files.
    pub fn from_environment() -> Result<Cache, RuntimeError> {
        let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
        let home = absolute("HOME").map(|home| home.join(".cache"));
        let preferred = absolute("XDG_CACHE_HOME").or(home).map(|base| base.join("lift/c"));
        if let Some(Ok(cache)) = preferred.map(Cache::at) {
            return Ok(cache);
        }
        let user = user().map_err(|e| RuntimeError::failed("cpu", "asking who runs this", e))?;
        Cache::at(std::env::temp_dir().join(format!("lift-{user}")))
    }

    /// Requires a folder, made if need be, that this user alone owns and can write: code is loaded
    /// from it.
    pub fn at(folder: PathBuf) -> Result<Cache, RuntimeError> {
        let ready = || {
            DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
            if fs::metadata(&folder)?.uid() != user()? {
                return Err(io::Error::other("it belongs to another user"));
            }
            // Whether files can be made is known only by making one.
            let probe = unique(&folder, "probe");
            fs::create_dir(&probe)?;
            fs::remove_dir(&probe)
        };
        ready().map_err(|error| {
            let action = format!("using {} for compiled kernels", folder.display());
            RuntimeError::failed("cpu", &action, error)
        })?;
        Ok(Cache { folder, instruction_set: machine::instruction_set() })
    }

    /// The library of a text that ends in an entry for the kernel `name`; compiled where it is not there.
    pub fn library(
        &self,
        compiler: &Compiler,
        text: &str,
        name: &str,
        options: &CompileOptions,
    ) -> Result<Library, RuntimeError> {
        let symbol = entry::name_of(name);
        let path = self.path(compiler, text, options);
        // What a crash of the machine left half-written does not load, and is made again.
        if path.exists()
            && let Ok(library) = Library::open(&path, &symbol)
        {
            return Ok(library);
        }
        self.compile(compiler, text, name, options, &path)?;
        Library::open(&path, &symbol).map_err(|message| {
            RuntimeError::failed("cpu", &format!("loading the kernel `{name}`"), message)
        })
    }

    fn path(&self, compiler: &Compiler, text: &str, options: &CompileOptions) -> PathBuf {
        let facts = [&compiler.fingerprint(options), &self.instruction_set, text];
        self.folder.join(format!("{:032x}.so", hash(&facts)))
    }

    fn compile(
        &self,
        compiler: &Compiler,
        text: &str,
        name: &str,
        options: &CompileOptions,
        path: &Path,
    ) -> Result<(), RuntimeError> {
        let work = unique(&self.folder, name);
        let failed = |error: io::Error| {
            let action = format!("writing the kernel `{name}` to {}", self.folder.display());
            RuntimeError::failed("cpu", &action, error)
        };
        fs::create_dir(&work).map_err(failed)?;
        let source = work.join(format!("{name}.c"));
        let library = work.join(format!("{name}.so"));
        let result = (|| {
            fs::write(&source, text).map_err(failed)?;
            if let Err(log) = compiler.compile(&source, &library, options)? {
                let log = log.replace(&format!("{}/", work.display()), "");
                return Err(RuntimeError::compile("cpu", compiler.name(), name, &log, text));
            }
            fs::rename(&library, path).map_err(failed)
        })();
        // What cannot be removed is left: it costs space and nothing else.
        let _ = fs::remove_dir_all(&work);
        result
    }
}

/// A path that no other process or thread uses.
fn unique(folder: &Path, name: &str) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    folder.join(format!("{name}.{}.{count}", std::process::id()))
}

fn user() -> io::Result<u32> {
    Ok(fs::metadata("/proc/self")?.uid())
}

/// FNV-1a in 128 bits, of the texts and their lengths. Stable over releases, unlike the standard hash.
fn hash(texts: &[&str]) -> u128 {
    const START: u128 = 0x6c62272e07bb014262b821756295c58d;
    const PRIME: u128 = 0x0000000001000000000000000000013b;
    let lengths = texts.iter().flat_map(|text| (text.len() as u64).to_le_bytes());
    let bytes = lengths.chain(texts.iter().flat_map(|text| text.bytes()));
    bytes.fold(START, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn the_hash_tells_texts_and_their_borders_apart() {
        assert_ne!(hash(&["ab", "c"]), hash(&["a", "bc"]));
        assert_ne!(hash(&["a"]), hash(&["b"]));
        assert_eq!(hash(&["a", "b"]), hash(&["a", "b"]));
    }
}
