//! What tuning has found, as it is kept and used.

use std::path::{Path, PathBuf};

use lift_execute::Compiled;
use lift_explore::key::{canonical_size, canonical_text};
use lift_interp::Sizes;
use lift_ir::Def;
use lift_lower::Options;
use lift_runtime::{CompileOptions, Device, DeviceInfo};
use lift_store::{ProblemKey, Store};

use super::TuneError;
use super::fitted::{fitted, is_chosen};

/// The results of tuning: which program is best for which problem.
pub struct Database {
    store: Store,
}

impl Database {
    /// Opens a file, which need not be writable, and makes it where there is none.
    pub fn open(path: impl AsRef<Path>) -> Result<Database, TuneError> {
        Ok(Database { store: Store::open_to_read(path)? })
    }

    /// The file of the user: `lift/tune.db` in the folder for data. Nothing where there is no such folder.
    pub fn usual_path() -> Option<PathBuf> {
        let folder =
            |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let data =
            folder("XDG_DATA_HOME").or_else(|| Some(folder("HOME")?.join(".local/share")))?;
        Some(data.join("lift/tune.db"))
    }

    /// The fastest form of a program that is known for these sizes on this device. It may use extern functions,
    /// which are for the caller to permit: the file says what it likes.
    ///
    /// Fails where the form was altered since it was measured, or cannot be read ([`TuneError::is_of_the_form`]).
    pub fn best(
        &self,
        def: &Def,
        sizes: &Sizes,
        device: &DeviceInfo,
        fast_math: bool,
    ) -> Result<Option<Best>, TuneError> {
        let key = key(def, sizes, device, fast_math);
        let Some(problem) = self.store.find_problem(&key)? else { return Ok(None) };
        let best = self.store.best(problem)?;
        best.map(|best| Best::read(best, def, sizes)).transpose()
    }

    /// The fastest form there is for the sizes of the options, compiled; where there is none that can be trusted, or
    /// thread counts are given, the program itself.
    pub fn compile(
        &self,
        def: &Def,
        options: &Options,
        device: &mut dyn Device,
    ) -> Result<Compiled, TuneError> {
        let sizes: Sizes = options.sizes.iter().map(|(name, value)| (name, *value)).collect();
        let best = match (&options.local, &options.global) {
            (None, None) => match self.best(def, &sizes, device.info(), false) {
                Err(error) if error.is_of_the_form() => None,
                best => best?,
            },
            _ => None,
        };
        // Whoever allows extern functions of the program has not seen those of the file.
        let best = best.filter(|best| best.def.uses_extern().is_none());
        let chosen = best.as_ref().map_or(def, |best| &best.def);
        Ok(Compiled::with(chosen, options, &CompileOptions::default(), device)?)
    }
}

/// A low-level program and how long it takes.
#[derive(Clone, Debug)]
pub struct Best {
    /// The same for the same text.
    pub id: String,
    /// In place of the program that was tuned: it takes the same arguments and sizes.
    pub def: Def,
    /// As it is stored.
    pub text: String,
    /// The median of its runs.
    pub ms: f64,
    /// The programs on the way and the rules between them; empty for the program itself.
    pub derivation: String,
    /// `T=16,R=4`
    pub parameters: String,
    /// Work-items of all groups and of one, kernel by kernel.
    pub global: String,
    pub local: String,
}

impl Best {
    pub(super) fn read(
        best: lift_store::Best,
        def: &Def,
        sizes: &Sizes,
    ) -> Result<Best, TuneError> {
        let lift_store::Best { candidate, median, .. } = best;
        let checked = lift_syntax::check_text("stored program", &candidate.text);
        let found = checked.program.entry().filter(|_| !checked.has_errors());
        let Some(def) = found.and_then(|stored| fitted(stored, def, sizes)) else {
            return Err(TuneError::Unreadable(candidate.hash));
        };
        Ok(Best {
            id: candidate.hash,
            def,
            text: candidate.text,
            ms: median,
            derivation: candidate.derivation.to_string(),
            parameters: candidate.parameters,
            global: candidate.global,
            local: candidate.local,
        })
    }

    /// The rules that led here, one a line: `split_join at root, m = 8`.
    pub fn rules(&self) -> Vec<&str> {
        self.derivation.lines().filter_map(rule).collect()
    }
}

/// What a line between two programs of a derivation says: `// 1: split_join at root, m = 8`.
fn rule(line: &str) -> Option<&str> {
    let (number, rule) = line.strip_prefix("// ")?.split_once(": ")?;
    number.parse::<usize>().ok().map(|_| rule)
}

/// What results are kept under: the program, its sizes and the parameters that are chosen under names that do not
/// depend on those in the text, and the device.
pub fn key(def: &Def, sizes: &Sizes, device: &DeviceInfo, fast_math: bool) -> ProblemKey {
    let own = def.sizes.iter().map(|size| (size, true));
    let all = own.chain(def.parameters.iter().map(|p| (&p.var, is_chosen(def, p, sizes))));
    let sizes =
        all.enumerate().filter(|(_, (_, counts))| *counts).filter_map(|(index, (var, _))| {
            Some((canonical_size(index), u64::try_from(sizes.get(var.name())?).ok()?))
        });
    let flags = if fast_math { "fast-math" } else { "" };
    ProblemKey {
        program: canonical_text(def),
        name: def.name.clone(),
        sizes: sizes.collect(),
        device: lift_store::Device {
            fingerprint: lift_explore::machine::fingerprint(device),
            name: device.name.clone(),
            kind: device.way().to_string(),
        },
        flags: flags.to_string(),
    }
}
