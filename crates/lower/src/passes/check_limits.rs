//! Arrays that a work-item holds have a size that is a number.
//!
//! Requires: work-items are threads, so a private array is what one thread holds.
//! Ensures: its length is a number. One position a thread is one whatever the number of positions; several
//! of them are so many only where sizes are given.

use std::collections::BTreeMap;

use lift_ir::{Nat, Space, Span};
use lift_kernel::{BufferId, Kernel};

use crate::LowerError;

pub(crate) fn check(kernel: &Kernel, spans: &BTreeMap<BufferId, Span>) -> Result<(), LowerError> {
    match kernel.privates.iter().find(|b| b.length.as_int().is_none()) {
        Some(b) => Err(open_size(spans.get(&b.id).copied(), &b.length, b.space)),
        None => Ok(()),
    }
}

/// The error of an array whose length is not known where it is kept.
pub(crate) fn open_size(span: Option<Span>, length: &Nat, space: Space) -> LowerError {
    let memory = match space {
        Space::Local => "local",
        Space::Private => "private",
        Space::Global => "global",
    };
    let text = format!(
        "an array of `{length}` elements is kept in {memory} memory, whose size must be known: give the sizes, as in `--size N=1024`"
    );
    LowerError::at(span, text)
}
