//! Whole texts, compared with `tests/golden`. `BLESS=1` rewrites the files.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;

use common::*;
use lift_kernel::{Kernel, cuda, opencl, validate};

#[test]
fn texts_are_as_recorded() {
    let mut wrong = Vec::new();
    for kernel in [saxpy_1024(), partial_sum(), held_rows()] {
        let threaded = threaded(&kernel);
        let threads = validate(&threaded).unwrap();
        let texts = [("cl", opencl(&threads)), ("cu", cuda(&threads)), ("c", in_c(&kernel))];
        for (ending, text) in texts {
            wrong.extend(compare(&kernel, ending, &text));
        }
    }
    assert!(wrong.is_empty(), "{}\nBLESS=1 accepts the new texts", wrong.join("\n"));
}

fn compare(kernel: &Kernel, ending: &str, text: &str) -> Option<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(format!("{}.{ending}", kernel.name));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, text).unwrap();
        return None;
    }
    let recorded = std::fs::read_to_string(&file).unwrap_or_default();
    (recorded != text).then(|| format!("{} is not\n{text}", file.display()))
}

/// Printing is a function of the kernel alone.
#[test]
fn the_same_kernel_has_the_same_text() {
    for kernel in all_operations() {
        let (first, second) = (validate(&kernel).unwrap(), validate(&kernel).unwrap());
        assert_eq!(in_c(&kernel), in_c(&kernel));
        assert_eq!(opencl(&first), opencl(&second));
        assert_eq!(cuda(&first), cuda(&second));
    }
}
