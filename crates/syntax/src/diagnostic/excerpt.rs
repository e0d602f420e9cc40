//! What a terminal is shown of a source file: long lines cut around the place in question, and
//! nothing that would steer the terminal.

use std::ops::Range;

use codespan_reporting::diagnostic as codespan;
use codespan_reporting::files::{Error, Files};

use super::{Diagnostic, Severity};
use crate::source::{Sources, floor_boundary};

/// Lines longer than this many bytes are cut.
const LONGEST_LINE: usize = 160;
/// Of a cut line, this many bytes before the place are kept.
const KEPT_BEFORE: usize = 60;
const ELLIPSIS: &str = "…";

/// The files that one diagnostic names, as they are shown.
pub(super) struct Excerpts<'a> {
    sources: &'a Sources,
    files: Vec<(u32, Excerpt)>,
}

/// One file as it is shown: the same lines, the long ones cut.
struct Excerpt {
    text: String,
    lines: Vec<Line>,
}

/// A line as it is shown, and which bytes of the file it stands for.
struct Line {
    shown: Range<usize>,
    kept: Range<usize>,
    /// Bytes of the ellipsis in front.
    prefix: usize,
}

/// The diagnostic in the renderer's terms, with the excerpts that its labels point into.
///
/// A label whose file is not loaded becomes a note, so that its message is not lost.
pub(super) fn prepare<'a>(
    diagnostic: &Diagnostic,
    sources: &'a Sources,
) -> (Excerpts<'a>, codespan::Diagnostic<u32>) {
    let mut excerpts = Excerpts { sources, files: Vec::new() };
    let mut notes = Vec::new();
    let mut labels = Vec::new();
    for label in &diagnostic.labels {
        let file = label.span.file;
        if !sources.contains(file) {
            notes.extend((!label.message.is_empty()).then(|| label.message.clone()));
            continue;
        }
        if excerpts.excerpt(file).is_none() {
            excerpts.files.push((file, Excerpt::of(file, diagnostic, sources)));
        }
        let Some(excerpt) = excerpts.excerpt(file) else { continue };
        let line_of = |at: u32| sources.line_index(file, at as usize);
        let start = excerpt.place(line_of(label.span.start), label.span.start as usize);
        let end = excerpt.place(line_of(label.span.end), label.span.end as usize);
        let range = start..end.max(start);
        labels.push(if label.primary {
            codespan::Label::primary(file, range).with_message(&label.message)
        } else {
            codespan::Label::secondary(file, range).with_message(&label.message)
        });
    }
    notes.extend(diagnostic.notes.iter().cloned());
    let severity = match diagnostic.severity {
        Severity::Error => codespan::Severity::Error,
        Severity::Warning => codespan::Severity::Warning,
    };
    let shown = codespan::Diagnostic::new(severity)
        .with_message(&diagnostic.message)
        .with_labels(labels)
        .with_notes(notes);
    (excerpts, shown)
}

impl Excerpts<'_> {
    fn excerpt(&self, file: u32) -> Option<&Excerpt> {
        self.files.iter().find(|(id, _)| *id == file).map(|(_, excerpt)| excerpt)
    }
}

impl Excerpt {
    fn of(file: u32, diagnostic: &Diagnostic, sources: &Sources) -> Excerpt {
        // The primary places come first, so that a line with several is cut around one of them.
        let mut places: Vec<(usize, usize)> = Vec::new();
        for primary in [true, false] {
            for label in &diagnostic.labels {
                if label.span.file == file && label.primary == primary {
                    let start = label.span.start as usize;
                    let end = label.span.end as usize;
                    places.push((sources.line_index(file, start), start));
                    places.push((sources.line_index(file, end), end));
                }
            }
        }
        let source = sources.text(file);
        let mut text = String::with_capacity(source.len().min(1 << 20));
        let mut lines = Vec::new();
        for (index, range) in sources.line_ranges(file).enumerate() {
            let mut kept = range.clone();
            if range.len() > LONGEST_LINE {
                let place = places.iter().find(|(line, _)| *line == index);
                let anchor = place.map_or(range.start, |(_, at)| *at);
                let start = anchor.saturating_sub(KEPT_BEFORE).clamp(range.start, range.end);
                kept.start = floor_boundary(source, start);
                kept.end = floor_boundary(source, range.end.min(kept.start + LONGEST_LINE));
            }
            let start = text.len();
            let prefix = if kept.start > range.start { ELLIPSIS.len() } else { 0 };
            text.push_str(if prefix > 0 { ELLIPSIS } else { "" });
            let visible = source.get(kept.clone()).unwrap_or("");
            text.extend(visible.trim_end_matches('\r').chars().map(harmless));
            text.push_str(if kept.end < range.end { ELLIPSIS } else { "" });
            lines.push(Line { shown: start..text.len(), kept, prefix });
            text.push('\n');
        }
        Excerpt { text, lines }
    }

    /// Where byte `at` of the file, on the given line, is in the excerpt. A place that was cut
    /// away is at the nearer end of what was kept: on an ellipsis.
    fn place(&self, line: usize, at: usize) -> usize {
        let Some(line) = self.lines.get(line) else { return self.text.len() };
        if at < line.kept.start {
            return line.shown.start;
        }
        let place = line.shown.start + line.prefix + (at.min(line.kept.end) - line.kept.start);
        floor_boundary(&self.text, place.min(line.shown.end))
    }
}

/// Control and direction-changing characters replaced by visible ones of the same length, so that
/// byte positions stay what they were.
fn harmless(c: char) -> char {
    match c {
        '\t' => c,
        '\0'..='\u{1f}' | '\u{7f}' => '?',
        '\u{80}'..='\u{9f}' => '¿',
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        _ => c,
    }
}

impl<'a> Files<'a> for Excerpts<'_> {
    type FileId = u32;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, id: u32) -> Result<&'a str, Error> {
        Ok(self.sources.name(id))
    }

    fn source(&'a self, id: u32) -> Result<&'a str, Error> {
        self.excerpt(id).map(|e| e.text.as_str()).ok_or(Error::FileMissing)
    }

    fn line_index(&'a self, id: u32, at: usize) -> Result<usize, Error> {
        let lines = &self.excerpt(id).ok_or(Error::FileMissing)?.lines;
        Ok(lines.partition_point(|line| line.shown.start <= at).saturating_sub(1))
    }

    fn column_number(&'a self, id: u32, line: usize, at: usize) -> Result<usize, Error> {
        let excerpt = self.excerpt(id).ok_or(Error::FileMissing)?;
        let line = excerpt.lines.get(line).ok_or(Error::LineTooLarge { given: line, max: 0 })?;
        let at = line.kept.start + at.saturating_sub(line.shown.start + line.prefix);
        let span = lift_ir::Span::new(id, at as u32, at as u32);
        Ok(self.sources.line_column(span).1)
    }

    fn line_range(&'a self, id: u32, line: usize) -> Result<Range<usize>, Error> {
        let excerpt = self.excerpt(id).ok_or(Error::FileMissing)?;
        let max = excerpt.lines.len().saturating_sub(1);
        let found = excerpt.lines.get(line).ok_or(Error::LineTooLarge { given: line, max })?;
        Ok(found.shown.start..found.shown.end + 1)
    }
}
