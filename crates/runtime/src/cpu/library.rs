//! A compiled kernel in this process.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::path::Path;

use libloading::os::unix::{Library as Loaded, RTLD_LOCAL, RTLD_NOW};

use super::entry::Value;

pub struct Library {
    entry: unsafe extern "C" fn(*const *const c_void),
    /// Keeps `entry` callable.
    _loaded: Loaded,
}

impl Library {
    pub fn open(path: &Path, symbol: &str) -> Result<Library, String> {
        // SAFETY: The file is one the cache made from a kernel's text: it has no initialisers of its
        // own, and those of the OpenMP library it names expect to run whenever they are loaded.
        let loaded = unsafe { Loaded::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
        let loaded = loaded.map_err(|error| error.to_string())?;
        keep_openmp();
        // SAFETY: The symbol is the function that `entry::with_entry` wrote, of this type.
        let entry = unsafe { loaded.get(symbol.as_bytes()) };
        let entry = *entry.map_err(|error| error.to_string())?;
        Ok(Library { entry, _loaded: loaded })
    }

    /// Runs the kernel.
    ///
    /// Requires: the values are what the kernel's parameters demand, which `check::args` has seen to.
    pub fn call(&self, values: &[Value]) {
        let pointers: Vec<*const c_void> = values.iter().map(Value::address).collect();
        // SAFETY: The entry reads as many pointers as the kernel has parameters, each to a value of the
        // parameter's size, and all outlive the call. That the kernel stays within its buffers is the
        // promise of whoever wrote its text, as on every device.
        unsafe { (self.entry)(pointers.as_ptr()) }
    }
}

/// Keeps the OpenMP library loaded when the last kernel that uses it is not: its threads outlive the
/// kernels, waiting in its code.
fn keep_openmp() {
    const FLAGS: i32 = RTLD_NOW | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
    for name in ["libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so"] {
        // SAFETY: Nothing is loaded: a library that is there already gets a flag more.
        let _ = unsafe { Loaded::open(Some(name), FLAGS) };
    }
}
