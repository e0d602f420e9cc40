//! The strategies that are always there, written as strategies.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

use lift_syntax::ast;
use lift_syntax::parser::parse_strategies;

/// The files of the library: what each is about, and its text.
pub const FILES: &[(&str, &str)] = &[
    ("nests", include_str!("../../strategies/nests.strategy")),
    ("lowering", include_str!("../../strategies/lowering.strategy")),
    ("contractions", include_str!("../../strategies/contractions.strategy")),
    ("copies", include_str!("../../strategies/copies.strategy")),
    ("reductions", include_str!("../../strategies/reductions.strategy")),
    ("stencils", include_str!("../../strategies/stencils.strategy")),
];

/// The texts of the library, by theme.
pub fn library() -> &'static [(&'static str, &'static str)] {
    FILES
}

/// A strategy of the library as it is listed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listed {
    /// The file it stands in.
    pub theme: &'static str,
    pub name: String,
    /// The names of its arguments.
    pub arguments: Vec<String>,
    /// The comment above it, on one line.
    pub about: String,
}

/// `tile(m, k)`
impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match self.arguments.as_slice() {
            [] => Ok(()),
            arguments => write!(f, "({})", arguments.join(", ")),
        }
    }
}

/// Every strategy of the library, in the order of the files.
pub fn listed() -> Vec<Listed> {
    let mut all = Vec::new();
    for &(theme, text) in FILES {
        for definition in parse_strategies(0, text).0 {
            all.push(Listed {
                theme,
                name: definition.name.text,
                arguments: definition.names.into_iter().map(|name| name.text).collect(),
                about: comment_before(text, definition.span.start as usize),
            });
        }
    }
    all
}

/// The comment lines right above an offset, joined.
fn comment_before(text: &str, offset: usize) -> String {
    let above = text.get(..offset).unwrap_or("").trim_end_matches([' ', '\t']);
    let lines = above.strip_suffix('\n').unwrap_or("").lines().rev();
    let mut comment: Vec<&str> =
        lines.map_while(|line| line.trim().strip_prefix("//")).map(str::trim).collect();
    comment.reverse();
    comment.join(" ")
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
    fn every_strategy_is_listed_with_its_comment() {
        let tile = listed().into_iter().find(|s| s.name == "tile").expect("is there");
        assert_eq!((tile.theme, tile.to_string().as_str()), ("nests", "tile(m, k)"));
        assert_eq!(tile.about, "A nest of two maps runs tile by tile, m times k elements each.");
        assert!(listed().iter().all(|s| s.about.ends_with('.')), "{:?}", listed());
    }

    #[test]
    fn every_file_can_be_read() {
        for (theme, text) in FILES {
            let (_, mistakes) = parse_strategies(0, text);
            assert!(mistakes.is_empty(), "{theme}: {mistakes:?}");
        }
    }
}
