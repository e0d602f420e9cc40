//! The table of patterns in docs/language.md is the table in the code.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use lift_ir::table::{PATTERNS, Slot};

const OPEN: &str =
    "<!-- patterns: written by `BLESS=1 cargo test -p lift-lang-ir --test reference` -->\n";
const CLOSE: &str = "<!-- end of patterns -->";

fn table() -> String {
    let mut text = String::from("| pattern | type | meaning |\n|---|---|---|\n");
    for pattern in PATTERNS {
        let dimension = if pattern.slots.contains(&Slot::Dimension) { "(d)" } else { "" };
        let scheme = pattern.scheme.replace('|', "\\|");
        text += &format!("| `{}{dimension}` | `{scheme}` | {} |\n", pattern.name, pattern.meaning);
    }
    text
}

#[test]
fn the_language_reference_lists_every_pattern() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/language.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(OPEN).expect("the opening marker stands in the page");
    let (_, after) = rest.split_once(CLOSE).expect("the closing marker stands in the page");
    let wanted = format!("{before}{OPEN}{}{CLOSE}{after}", table());
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &wanted).unwrap();
    } else {
        assert!(text == wanted, "docs/language.md is out of date; run with BLESS=1");
    }
}
