//! A function in C, compiled and kept as kernels are, for callers that have memory of their own.

#![allow(unsafe_code)]

use std::ffi::c_void;

use super::cache::Cache;
use super::compiler::Compiler;
use super::entry::{self, Value};
use super::library::Library;
use crate::{ArgType, CompileOptions, RuntimeError};

/// Called from any thread, any number at once, as far as the text allows it.
pub struct CFunction {
    library: Library,
    params: Vec<ArgType>,
}

/// One argument of a call.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum CArg {
    Pointer(*mut c_void),
    /// A scalar, in the host's byte order at the start.
    Bits([u8; 8]),
}

impl From<u64> for CArg {
    fn from(value: u64) -> CArg {
        CArg::Bits(value.to_ne_bytes())
    }
}

impl CFunction {
    /// Compiles `source`, which defines the function `name`.
    pub fn compile(
        source: &str,
        name: &str,
        params: &[ArgType],
        options: &CompileOptions,
    ) -> Result<CFunction, RuntimeError> {
        let (compiler, cache) = (Compiler::from_environment()?, Cache::from_environment()?);
        let text = entry::with_entry(source, name, params);
        let library = cache.library(&compiler, &text, name, options)?;
        Ok(CFunction { library, params: params.to_vec() })
    }

    /// # Safety
    ///
    /// There is an argument for each parameter, pointers for pointers and scalars for scalars, and the pointers are to
    /// what the text reads and writes by them.
    pub unsafe fn call(&self, args: &[CArg]) {
        assert_eq!(args.len(), self.params.len(), "a call has an argument for each parameter");
        let value = |arg: &CArg| match arg {
            CArg::Pointer(pointer) => Value::pointer(pointer.cast()),
            CArg::Bits(bits) => Value::scalar(bits),
        };
        let values: Vec<Value> = args.iter().map(value).collect();
        self.library.call(&values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_works_on_the_callers_memory() {
        let text = "void add(const float *x, float y, unsigned long n, float *out) {
            for (unsigned long i = 0; i < n; ++i) out[i] = x[i] + y; }";
        let params = [ArgType::Pointer, ArgType::F32, ArgType::U64, ArgType::Pointer];
        let add = CFunction::compile(text, "add", &params, &CompileOptions::default());
        let add = add.expect("it compiles");
        let (x, mut out) = ([1.0f32, 2.0, 3.0], [0.0f32; 3]);
        let mut y = [0; 8];
        y[..4].copy_from_slice(&0.5f32.to_ne_bytes());
        let args = [
            CArg::Pointer(x.as_ptr().cast_mut().cast()),
            CArg::Bits(y),
            CArg::from(3u64),
            CArg::Pointer(out.as_mut_ptr().cast()),
        ];
        // SAFETY: The arrays have three elements each.
        unsafe { add.call(&args) };
        assert_eq!(out, [1.5, 2.5, 3.5]);
    }
}
