//! The strategies that are always there, written as strategies.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

use lift_syntax::ast;
use lift_syntax::diagnostic::Diagnostic;
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
pub fn listed() -> Result<Vec<Listed>, Unreadable> {
    let mut all = Vec::new();
    for &(theme, text) in FILES {
        for definition in read(theme, text)? {
            all.push(Listed {
                theme,
                name: definition.name.text,
                arguments: definition.names.into_iter().map(|name| name.text).collect(),
                about: comment_before(text, definition.span.start as usize),
            });
        }
    }
    Ok(all)
}

/// A strategy that comes with this program cannot be read: nothing that needs it goes on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unreadable {
    /// What it is called.
    pub name: String,
    /// The first mistake in it.
    pub mistake: String,
}

impl Unreadable {
    pub fn new(name: &str, mistakes: &[Diagnostic]) -> Unreadable {
        let mistake = mistakes.first().map(|mistake| mistake.message.clone()).unwrap_or_default();
        Unreadable { name: name.to_string(), mistake }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unreadable { name, mistake } = self;
        write!(f, "the built-in strategy `{name}` cannot be read: {mistake}")
    }
}

impl std::error::Error for Unreadable {}

/// The strategies of one file.
fn read(theme: &str, text: &str) -> Result<Vec<ast::Strategy>, Unreadable> {
    match parse_strategies(0, text) {
        (definitions, mistakes) if mistakes.is_empty() => Ok(definitions),
        (_, mistakes) => Err(Unreadable::new(theme, &mistakes)),
    }
}

/// The strategies of several files, in order.
fn read_all(files: &[(&str, &str)]) -> Result<Vec<ast::Strategy>, Unreadable> {
    let mut all = Vec::new();
    for (theme, text) in files {
        all.extend(read(theme, text)?);
    }
    Ok(all)
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

/// Every strategy of the library by name.
pub(super) fn definitions() -> Result<BTreeMap<&'static str, &'static ast::Strategy>, Diagnostic> {
    static READ: OnceLock<Result<Vec<ast::Strategy>, Unreadable>> = OnceLock::new();
    let read = READ.get_or_init(|| read_all(FILES)).as_ref();
    let read = read.map_err(|unreadable| Diagnostic::error(unreadable.to_string()))?;
    Ok(read.iter().map(|definition| (definition.name.text.as_str(), definition)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_is_listed_with_its_comment() {
        let listed = listed().expect("can be read");
        let tile = listed.iter().find(|s| s.name == "tile").expect("is there");
        assert_eq!((tile.theme, tile.to_string().as_str()), ("nests", "tile(m, k)"));
        assert_eq!(tile.about, "A nest of two maps runs tile by tile, m times k elements each.");
        assert!(listed.iter().all(|s| s.about.ends_with('.')), "{listed:?}");
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named_with_its_mistake() {
        let good = ("good", "// Nothing.\nstrategy nothing = id;");
        assert_eq!(read_all(&[good]).expect("can be read").len(), 1);
        let error = read_all(&[good, ("bad", "strategy = id;")]).expect_err("has no name");
        assert_eq!(error.name, "bad");
        let said = error.to_string();
        assert!(said.starts_with("the built-in strategy `bad` cannot be read: expected"), "{said}");
    }
}
