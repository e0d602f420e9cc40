//! A definition of a program, and the forms of it that were compiled for certain sizes and devices.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lift::DeviceInfo;
use lift::tune::Database;
use lift_interp::{Sizes, solve_sizes};
use lift_ir::{Def, Type};
use lift_syntax::Checked;
use pyo3::prelude::*;

use crate::arguments::Value;
use crate::error::{diagnosed, error};
use crate::native::Native;
use crate::shapes::{Leaf, leaves};
use crate::streams::{Ready, Shared};

/// A definition, and what has been compiled of it.
pub struct Definition {
    checked: Arc<Checked>,
    index: usize,
    /// What it is known by to the threads of devices.
    pub identity: u64,
    /// The arrays of its result.
    pub results: Vec<Leaf>,
    allow_extern: bool,
    /// Compiled for `cpu`, by the lengths of all arrays and the sizes given.
    native: Mutex<HashMap<Key, Arc<Native>>>,
    /// Compiled for arrays on GPUs, by the number of the GPU too.
    on_device: Mutex<HashMap<(i32, Key), Arc<Ready>>>,
    /// Of the form that was found or compiled last.
    derivation: Mutex<Option<String>>,
    /// Held while one is compiled, so that each is compiled once.
    compiling: Mutex<()>,
}

/// What a program is compiled for.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Key {
    lengths: Vec<usize>,
    given: Vec<(String, i128)>,
}

impl Key {
    pub fn of(values: &[Value], sizes: &Sizes) -> Key {
        let mut lengths = Vec::new();
        for value in values {
            if let Value::Arrays(arrays) = value {
                arrays.iter().for_each(|array| lengths.extend_from_slice(&array.shape));
            }
        }
        let given = sizes.iter().map(|(name, value)| (name.to_string(), value)).collect();
        Key { lengths, given }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Definition {
    pub fn new(checked: Arc<Checked>, index: usize, allow_extern: bool) -> Definition {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let results = leaves(&checked.program.defs[index].ret);
        Definition {
            checked,
            index,
            identity: NEXT.fetch_add(1, Ordering::Relaxed),
            results,
            allow_extern,
            native: Mutex::default(),
            on_device: Mutex::default(),
            derivation: Mutex::default(),
            compiling: Mutex::default(),
        }
    }

    pub fn def(&self) -> &Def {
        &self.checked.program.defs[self.index]
    }

    pub fn diagnosed(&self, failed: lift::Error) -> String {
        diagnosed(failed, &self.checked.sources)
    }

    pub fn permitted(&self) -> PyResult<()> {
        match self.def().uses_extern() {
            Some(function) if !self.allow_extern => Err(error(format!(
                "`{}` uses the extern function `{function}`, whose code is not checked; where it is trusted, give \
                 `allow_extern=True`",
                self.def().name
            ))),
            _ => Ok(()),
        }
    }

    /// The sizes of a call, by what its arrays are.
    pub fn sizes(&self, types: &[Type], given: &Sizes) -> Result<Sizes, String> {
        solve_sizes(self.def(), types, given).map_err(|failed| self.diagnosed(failed.into()))
    }

    /// Compiles for `cpu`, unless another thread just did.
    pub fn compiled(
        &self,
        key: &Key,
        types: &[Type],
        given: &Sizes,
    ) -> Result<Arc<Native>, String> {
        let _alone = locked(&self.compiling);
        if let Some(native) = locked(&self.native).get(key) {
            return Ok(Arc::clone(native));
        }
        let sizes = self.sizes(types, given)?;
        let form = |device: &DeviceInfo| self.form(&sizes, device);
        let native = Native::new(self.def(), &sizes, form);
        let native = Arc::new(native.map_err(|failed| self.diagnosed(failed))?);
        locked(&self.native).insert(key.clone(), Arc::clone(&native));
        Ok(native)
    }

    /// Compiles for arrays on a GPU, unless another thread just did.
    pub fn ready(
        &self,
        device: &Shared,
        key: &(i32, Key),
        types: &[Type],
        given: &Sizes,
    ) -> Result<Arc<Ready>, String> {
        let _alone = locked(&self.compiling);
        if let Some(ready) = locked(&self.on_device).get(key) {
            return Ok(Arc::clone(ready));
        }
        let sizes = self.sizes(types, given)?;
        let form = |device: &DeviceInfo| self.form(&sizes, device);
        let ready = device.ready(self.def(), types, &sizes, form);
        let ready = Arc::new(ready.map_err(|failed| self.diagnosed(failed))?);
        locked(&self.on_device).insert(key.clone(), Arc::clone(&ready));
        Ok(ready)
    }

    /// The stored form for these sizes where there is one, otherwise the program as it is written. What cannot be read or
    /// trusted is not taken.
    pub fn form(&self, sizes: &Sizes, device: &DeviceInfo) -> Def {
        let best = || {
            let path = Database::usual_path().filter(|path| path.exists())?;
            let best = Database::open(path).ok()?.best(self.def(), sizes, device, false).ok()??;
            best.def.uses_extern().is_none().then_some(best)
        };
        let best = best();
        self.found(best.as_ref().map(|best| best.derivation.clone()).filter(|d| !d.is_empty()));
        best.map_or_else(|| self.def().clone(), |best| best.def)
    }

    /// What is compiled for `cpu` already.
    pub fn known(&self, key: &Key) -> Option<Arc<Native>> {
        locked(&self.native).get(key).cloned()
    }

    /// What is compiled for arrays on a GPU already.
    pub fn known_on(&self, key: &(i32, Key)) -> Option<Arc<Ready>> {
        locked(&self.on_device).get(key).cloned()
    }

    pub fn derivation(&self) -> Option<String> {
        locked(&self.derivation).clone()
    }

    pub fn found(&self, derivation: Option<String>) {
        *locked(&self.derivation) = derivation;
    }

    pub fn forget(&self) {
        locked(&self.native).clear();
        locked(&self.on_device).clear();
    }
}
