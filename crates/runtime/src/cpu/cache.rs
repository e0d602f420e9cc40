//! Compiled kernels on disk, by content.
//!
//! A library's file name is a hash of all it depends on. It is made in a folder of its own, sealed and renamed into
//! place: processes that compile the same text at the same time overwrite each other with the same code.
//!
//! An entry is loaded where its seal fits its name and nobody else can have written it; any other is made again.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::compiler::Compiler;
use super::guard::Guard;
use super::library::Library;
use super::{entry, machine, sealed, trust};
use crate::{CompileOptions, RuntimeError};

pub struct Cache {
    folder: PathBuf,
    /// Part of every entry's name.
    instruction_set: String,
}

/// What is not in the cache any more.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cleared {
    pub folder: PathBuf,
    pub files: usize,
    pub bytes: u64,
}

/// Removes the kernels that were compiled for `cpu`. They are compiled again when they are needed.
pub fn clear_cache() -> Result<Cleared, RuntimeError> {
    Cache::from_environment()?.clear()
}

impl Cache {
    /// `$XDG_CACHE_HOME/lift/c`, else `~/.cache/lift/c`, else a folder for this user among the
    /// temporary files: the first of these that is this user's alone.
    pub fn from_environment() -> Result<Cache, RuntimeError> {
        let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
        let home = absolute("HOME").map(|home| home.join(".cache"));
        let preferred = absolute("XDG_CACHE_HOME").or(home).map(|base| base.join("lift/c"));
        if let Some(Ok(cache)) = preferred.map(Cache::at) {
            return Ok(cache);
        }
        let user =
            trust::user().map_err(|e| RuntimeError::failed("cpu", "asking who runs this", e))?;
        Cache::at(std::env::temp_dir().join(format!("lift-{user}")))
    }

    /// Requires a folder, made if need be, that this user alone owns and can write: code is loaded from it.
    pub fn at(folder: PathBuf) -> Result<Cache, RuntimeError> {
        let ready = || {
            DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
            trust::check_folder(&folder)?;
            // Whether files can be made is known only by making one.
            let probe = unique(&folder);
            fs::create_dir(&probe)?;
            fs::remove_dir(&probe)
        };
        ready().map_err(|error| {
            let action = format!("using {} for compiled kernels", folder.display());
            RuntimeError::failed("cpu", &action, error)
        })?;
        Ok(Cache { folder, instruction_set: machine::instruction_set() })
    }

    /// Removes all libraries, and says how many files that were and how many bytes. Whoever has loaded one keeps it, and
    /// what is being compiled at the moment is left alone.
    pub fn clear(&self) -> Result<Cleared, RuntimeError> {
        let mut cleared = Cleared { folder: self.folder.clone(), files: 0, bytes: 0 };
        let removed = (|| {
            for entry in fs::read_dir(&self.folder)? {
                let path = entry?.path();
                if path.extension().is_none_or(|end| end != "so") || !path.is_file() {
                    continue;
                }
                let bytes = fs::metadata(&path).map_or(0, |file| file.len());
                match fs::remove_file(&path) {
                    // Somebody else clears it too.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    removed => removed?,
                }
                cleared.files += 1;
                cleared.bytes += bytes;
            }
            Ok(())
        })();
        removed.map_err(|error: io::Error| {
            let action = format!("removing compiled kernels from {}", self.folder.display());
            RuntimeError::failed("cpu", &action, error)
        })?;
        Ok(cleared)
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
        let key = self.key(compiler, text, options);
        let path = self.folder.join(format!("{key}.so"));
        if sealed::is_intact(&path, &key)
            && let Ok(library) = Library::open(&path, &symbol)
        {
            return Ok(library);
        }
        self.compile(compiler, text, name, options, (&path, &key))?;
        Library::open(&path, &symbol).map_err(|message| {
            RuntimeError::failed("cpu", &format!("loading the kernel `{name}`"), message)
        })
    }

    /// What an entry is kept under.
    fn key(&self, compiler: &Compiler, text: &str, options: &CompileOptions) -> String {
        let facts = [&compiler.fingerprint(options), &self.instruction_set, text];
        format!("{:032x}", sealed::digest(&facts.map(str::as_bytes)))
    }

    fn compile(
        &self,
        compiler: &Compiler,
        text: &str,
        name: &str,
        options: &CompileOptions,
        (path, key): (&Path, &str),
    ) -> Result<(), RuntimeError> {
        static SWEPT: Once = Once::new();
        SWEPT.call_once(|| sweep(&self.folder));
        let work = unique(&self.folder);
        let failed = |error: io::Error| {
            let action = format!("writing the kernel `{name}` to {}", self.folder.display());
            RuntimeError::failed("cpu", &action, error)
        };
        fs::create_dir(&work).map_err(failed)?;
        let mut guard = Guard::over(&work);
        let source = work.join(format!("{}.c", file_name(name)));
        let [library, whole] = ["library.so", "sealed.so"].map(|file| work.join(file));
        let result = (|| {
            fs::write(&source, text).map_err(failed)?;
            if let Err(log) = compiler.compile(&source, &library, options, &mut guard)? {
                let log = log.replace(&format!("{}/", work.display()), "");
                return Err(RuntimeError::compile("cpu", compiler.name(), name, &log, text));
            }
            sealed::write(&library, &whole, key).map_err(failed)?;
            fs::rename(&whole, path).map_err(failed)
        })();
        // What cannot be removed is left: it costs space and nothing else.
        let _ = fs::remove_dir_all(&work);
        result
    }
}

/// Names of kernels may be longer than those of files.
fn file_name(kernel: &str) -> &str {
    const LONGEST: usize = 100;
    kernel.char_indices().nth(LONGEST).map_or(kernel, |(at, _)| &kernel[..at])
}

/// What the folders begin with in which libraries are made; the number of the process and a count follow.
const WORK: &str = "work.";

/// A path that no other process or thread uses.
fn unique(folder: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    folder.join(format!("{WORK}{}.{count}", std::process::id()))
}

/// A folder of a process that nobody here knows is left over, unless a machine that shares the cache has it.
const LEFT_OVER: Duration = Duration::from_secs(3600);

/// Removes what processes left that ended together with those that watched over them, as when the machine stops.
fn sweep(folder: &Path) {
    let is_left_over = |path: &Path| {
        let process = path.file_name()?.to_str()?.strip_prefix(WORK)?.split('.').next()?;
        let is_gone = !Path::new("/proc").join(process.parse::<u32>().ok()?.to_string()).exists();
        let age = fs::symlink_metadata(path).ok()?.modified().ok()?.elapsed().ok()?;
        (is_gone && age > LEFT_OVER).then_some(())
    };
    // Whatever goes wrong costs space and nothing else.
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    for path in entries.map(|entry| entry.path()).filter(|path| is_left_over(path).is_some()) {
        let _ = fs::remove_dir_all(path);
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn only_old_folders_of_processes_that_are_gone_are_swept() {
        let folder = std::env::temp_dir().join(format!("lift-sweep-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let own = std::process::id().to_string();
        // No process has a number beyond 2^22.
        let gone = "4194305";
        let names = [
            (format!("work.{own}.0"), true),
            (format!("work.{gone}.0"), true),
            (format!("work.{gone}.1"), false),
            ("work.x".to_string(), true),
            (format!("{gone}.so"), true),
        ];
        let old = SystemTime::now() - 2 * LEFT_OVER;
        for (name, is_old) in &names {
            let path = folder.join(name);
            fs::create_dir(&path).unwrap();
            if *is_old {
                fs::File::open(&path).unwrap().set_modified(old).unwrap();
            }
        }
        sweep(&folder);
        let left: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
        let left: Vec<&str> = left.into_iter().filter(|name| folder.join(name).exists()).collect();
        let expected = [&names[0].0, &names[2].0, &names[3].0, &names[4].0].map(String::as_str);
        assert_eq!(left, expected);
        fs::remove_dir_all(&folder).unwrap();
    }
}
