//! Any text is checked without a panic, and errors are said.
//!
//!     cargo +nightly fuzz run check fuzz/corpus/check programs filetests

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let checked = lift_syntax::check_text("fuzz.lift", text);
    if checked.has_errors() {
        assert!(!checked.render(false).trim().is_empty(), "errors say nothing");
    }
});
