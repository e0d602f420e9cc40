//! One way to call every kernel.
//!
//! The runtime cannot make a call with arguments it learns of at run time, but the C compiler can:
//! it is given a second function that takes an array of pointers to the arguments.

use std::ffi::c_void;
use std::fmt::Write;

use crate::ArgType;

/// The text with a function `NAME__entry(void **)` after it that calls `NAME`.
pub fn with_entry(source: &str, name: &str, params: &[ArgType]) -> String {
    let mut text = source.to_string();
    let argument = |(at, param): (usize, &ArgType)| format!("*({} *)args[{at}]", param.c_name());
    let arguments = params.iter().enumerate().map(argument).collect::<Vec<_>>().join(", ");
    let entry = name_of(name);
    let _ = write!(text, "\n\nvoid {entry}(void **args) {{ (void)args; {name}({arguments}); }}\n");
    text
}

pub fn name_of(kernel: &str) -> String {
    format!("{kernel}__entry")
}

/// One argument, aligned for every scalar type.
#[repr(C, align(8))]
pub struct Value([u8; 8]);

impl Value {
    pub fn pointer(pointer: *mut u8) -> Value {
        Value::scalar(&(pointer as usize).to_ne_bytes())
    }

    /// Requires: at most 8 bytes.
    pub fn scalar(bytes: &[u8]) -> Value {
        let mut value = [0; 8];
        value[..bytes.len()].copy_from_slice(bytes);
        Value(value)
    }

    pub fn address(&self) -> *const c_void {
        (&raw const self.0).cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_passes_every_argument_by_its_type() {
        let text = with_entry("void k(float *x, int n) {}", "k", &[ArgType::Pointer, ArgType::I32]);
        assert_eq!(
            text,
            "void k(float *x, int n) {}\n\nvoid k__entry(void **args) \
             { (void)args; k(*(void * *)args[0], *(int *)args[1]); }\n"
        );
    }
}
