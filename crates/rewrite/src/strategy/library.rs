//! The strategies that are always there, written as strategies.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use lift_syntax::ast;
use lift_syntax::parser::parse_strategies;

/// The files of the library: what each is about, and its text.
pub const FILES: &[(&str, &str)] = &[
    ("nests", include_str!("../../strategies/nests.strategy")),
    ("lowering", include_str!("../../strategies/lowering.strategy")),
    ("reductions", include_str!("../../strategies/reductions.strategy")),
    ("stencils", include_str!("../../strategies/stencils.strategy")),
];

/// The texts of the library, by theme.
pub fn library() -> &'static [(&'static str, &'static str)] {
    FILES
}

/// Every strategy of the library by name. Its own tests see to it that all files can be read.
pub(super) fn definitions() -> BTreeMap<&'static str, &'static ast::Strategy> {
    static READ: OnceLock<Vec<ast::Strategy>> = OnceLock::new();
    let read = READ
        .get_or_init(|| FILES.iter().flat_map(|(_, text)| parse_strategies(0, text).0).collect());
    read.iter().map(|definition| (definition.name.text.as_str(), definition)).collect()
}

#[cfg(test)]
mod tests {
    use lift_syntax::parser::parse_strategies;

    use super::*;

    #[test]
    fn every_file_can_be_read() {
        for (theme, text) in FILES {
            let (_, mistakes) = parse_strategies(0, text);
            assert!(mistakes.is_empty(), "{theme}: {mistakes:?}");
        }
    }
}
