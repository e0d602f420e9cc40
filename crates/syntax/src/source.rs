//! The table of loaded source files, which turns spans back into names, lines and columns.

use lift_ir::Span;

/// Every file read so far. A [`Span`] names its file by its place in this table.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<Source>,
}

#[derive(Clone, Debug)]
struct Source {
    name: String,
    text: String,
    /// Where each line starts; the first is 0.
    line_starts: Vec<usize>,
}

impl Sources {
    pub fn new() -> Sources {
        Sources::default()
    }

    /// Adds a file under the name that users are shown, and returns its number in spans.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> u32 {
        let text = text.into();
        let line_starts =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        self.files.push(Source { name: name.into(), text, line_starts });
        (self.files.len() - 1) as u32
    }

    /// Whether `file` is in the table. Spans of built-in things need not be.
    pub fn contains(&self, file: u32) -> bool {
        self.source(file).is_some()
    }

    /// The name of a file, or a stand-in for one that is not in the table.
    pub fn name(&self, file: u32) -> &str {
        self.source(file).map_or("<unknown>", |s| &s.name)
    }

    /// The text of a file, empty for one that is not in the table.
    pub fn text(&self, file: u32) -> &str {
        self.source(file).map_or("", |s| &s.text)
    }

    /// Line and column where a span starts, both counted from 1; the column counts characters.
    pub fn line_column(&self, span: Span) -> (usize, usize) {
        let Some(source) = self.source(span.file) else { return (1, 1) };
        let line = self.line_index(span.file, span.start as usize);
        let start = source.line_starts.get(line).copied().unwrap_or(0);
        let end = floor_boundary(&source.text, span.start as usize).max(start);
        let column = source.text.get(start..end).map_or(0, |before| before.chars().count());
        (line + 1, column + 1)
    }

    /// The text that a span covers; empty where the span does not fit its file.
    pub fn snippet(&self, span: Span) -> &str {
        self.text(span.file).get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// The line, counted from 0, that holds byte `at`.
    pub(crate) fn line_index(&self, file: u32, at: usize) -> usize {
        let Some(source) = self.source(file) else { return 0 };
        source.line_starts.partition_point(|start| *start <= at).saturating_sub(1)
    }

    /// The byte ranges of the lines of a file, each without the line feed that ends it.
    pub(crate) fn line_ranges(&self, file: u32) -> impl Iterator<Item = std::ops::Range<usize>> {
        let (starts, length) =
            self.source(file).map_or((&[][..], 0), |s| (s.line_starts.as_slice(), s.text.len()));
        starts.iter().enumerate().map(move |(line, start)| {
            *start..starts.get(line + 1).map_or(length, |next| next.saturating_sub(1))
        })
    }

    fn source(&self, file: u32) -> Option<&Source> {
        self.files.get(file as usize)
    }
}

/// The largest character boundary of `text` that is not behind `at`.
pub(crate) fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one() {
        let mut sources = Sources::new();
        let file = sources.add("a.lift", "ab\n\nµx\n");
        let at = |start| sources.line_column(Span::new(file, start, start));
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(2), (1, 3));
        assert_eq!(at(3), (2, 1));
        assert_eq!(at(6), (3, 2), "µ is two bytes and one column");
        assert_eq!(at(8), (4, 1));
    }

    #[test]
    fn places_outside_every_file_are_answered() {
        let mut sources = Sources::new();
        let file = sources.add("a.lift", "x");
        assert_eq!(sources.line_column(Span::new(file, 99, 100)), (1, 2));
        assert_eq!(sources.line_column(Span::new(7, 0, 0)), (1, 1));
        assert_eq!(sources.snippet(Span::new(file, 0, 9)), "");
    }
}
