//! The programs shown in the documentation are programs.

#![allow(clippy::unwrap_used)]

use lift_syntax::check_text;

/// The fenced blocks of a page without a name that hold declarations, one after the other.
fn blocks(page: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let text = std::fs::read_to_string(path).unwrap();
    let fenced = text.split("```").skip(1).step_by(2);
    let programs = fenced.filter(|block| block.starts_with('\n') && block.contains("def "));
    programs.collect::<Vec<_>>().join("\n")
}

#[test]
fn every_block_checks() {
    for (page, definitions) in [("README.md", 1), ("docs/language.md", 2)] {
        let checked = check_text(page, &blocks(page));
        assert!(!checked.has_errors(), "{}", checked.render(false));
        assert_eq!(checked.program.defs.len(), definitions, "{page}");
    }
}
