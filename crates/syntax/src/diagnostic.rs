//! What users are told: a message, the places it is about, and remedies.

use codespan_reporting::diagnostic as codespan;
use codespan_reporting::term::{self, termcolor};
use lift_ir::Span;

use crate::source::Sources;

mod excerpt;

/// The most diagnostics that [`render`] prints in full; the rest are counted.
const MOST_RENDERED: usize = 100;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    Error,
    Warning,
}

/// One complaint. Without labels it is about no place in particular.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    pub severity: Severity,
    pub message: String,
    pub labels: Vec<Label>,
    /// Lines below the source, printed as `= …`.
    pub notes: Vec<String>,
}

/// A place with what is to be said about it; the message may be empty.
#[derive(Clone, Debug)]
pub struct Label {
    pub span: Span,
    pub message: String,
    /// The place itself, as opposed to one that helps to understand it.
    pub primary: bool,
}

impl Diagnostic {
    pub fn error(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, message.into())
    }

    pub fn warning(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, message.into())
    }

    fn new(severity: Severity, message: String) -> Diagnostic {
        Diagnostic { severity, message, labels: Vec::new(), notes: Vec::new() }
    }

    /// Adds the place that this is about.
    pub fn at(mut self, span: Span, message: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, message: message.into(), primary: true });
        self
    }

    /// Adds a place that explains.
    pub fn also(mut self, span: Span, message: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, message: message.into(), primary: false });
        self
    }

    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }

    /// Adds a remedy, printed as `= help: …`.
    pub fn help(self, text: impl AsRef<str>) -> Diagnostic {
        self.note(format!("help: {}", text.as_ref()))
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The first primary place, or else the first one.
    pub fn span(&self) -> Option<Span> {
        self.labels.iter().find(|l| l.primary).or(self.labels.first()).map(|l| l.span)
    }
}

/// All diagnostics as text, ordered by position; those about no place come last.
pub fn render(diagnostics: &[Diagnostic], sources: &Sources, color: bool) -> String {
    let mut ordered: Vec<&Diagnostic> = diagnostics.iter().collect();
    ordered.sort_by_key(|d| d.span().map_or((u32::MAX, u32::MAX), |s| (s.file, s.start)));
    let config = term::Config::default();
    let mut writer = if color { termcolor::Buffer::ansi() } else { termcolor::Buffer::no_color() };
    let styles = term::Styles::default();
    for diagnostic in ordered.iter().take(MOST_RENDERED) {
        let (excerpts, shown) = excerpt::prepare(diagnostic, sources);
        let mut styled = term::StylesWriter::new(&mut writer, &styles);
        // Writing to memory cannot fail, and labels were fitted to their excerpts; should one
        // still not fit, the message alone must reach the user.
        if term::emit_to_write_style(&mut styled, &config, &excerpts, &shown).is_err() {
            let bare = codespan::Diagnostic { labels: Vec::new(), ..shown };
            let mut styled = term::StylesWriter::new(&mut writer, &styles);
            term::emit_to_write_style(&mut styled, &config, &excerpts, &bare).ok();
        }
    }
    let mut text = String::from_utf8_lossy(writer.as_slice()).into_owned();
    if let Some(left @ 1..) = ordered.len().checked_sub(MOST_RENDERED) {
        text.push_str(&format!("… and {left} more\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(text: &str) -> Sources {
        let mut sources = Sources::new();
        sources.add("a.lift", text);
        sources
    }

    #[test]
    fn an_error_names_the_place_and_shows_the_line() {
        let text = render(
            &[Diagnostic::error("unknown name `z`")
                .at(Span::new(0, 10, 11), "not found")
                .also(Span::new(0, 0, 3), "in this item")
                .help("did you mean `x`?")],
            &sources("def\n  x + z"),
            false,
        );
        assert!(text.contains("error: unknown name `z`"), "{text}");
        assert!(text.contains("a.lift:2:7"), "{text}");
        assert!(text.contains("2 │   x + z"), "{text}");
        assert!(text.contains("^ not found"), "{text}");
        assert!(text.contains("--- in this item"), "{text}");
        assert!(text.contains("= help: did you mean `x`?"), "{text}");
    }

    #[test]
    fn several_come_in_order_of_position() {
        let error = |m: &str, at| Diagnostic::error(m).at(Span::new(0, at, at + 1), "");
        let text = render(
            &[Diagnostic::error("nowhere"), error("second", 2), error("first", 0)],
            &sources("a b"),
            false,
        );
        let place = |m| text.find(m).unwrap();
        assert!(place("first") < place("second"));
        assert!(place("second") < place("nowhere"));
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let line = format!("{}(x{}", "é ".repeat(100_000), " + y".repeat(100_000));
        let at = line.find('(').unwrap() as u32;
        let end = line.len() as u32;
        let text = render(
            &[Diagnostic::error("m")
                .at(Span::new(0, at, at + 1), "here")
                .also(Span::new(0, end, end), "far")],
            &sources(&line),
            false,
        );
        assert!(text.contains("a.lift:1:200001"), "{text}");
        assert!(text.len() < 2000, "{}", text.len());
        let lines: Vec<&str> = text.lines().collect();
        let shown = lines.iter().position(|line| line.contains("(x")).unwrap();
        let expected = format!("1 │ …{}(x{} +…", "é ".repeat(20), " + y".repeat(24));
        assert_eq!(lines[shown], expected);
        let column = |line: &str, c| line.chars().position(|found| found == c);
        assert_eq!(column(lines[shown + 1], '^'), column(lines[shown], '('), "{text}");
    }

    #[test]
    fn a_place_outside_every_file_and_control_characters_do_no_harm() {
        let text = render(
            &[Diagnostic::error("m").at(Span::new(9, 3, 4), "where").at(Span::new(0, 0, 99), "b")],
            &sources("a\u{1b}[31m\0\u{202e}b"),
            false,
        );
        assert!(text.contains("error: m") && text.contains("where"), "{text}");
        assert!(!text.contains(['\u{1b}', '\0', '\u{202e}']), "{text:?}");
    }

    #[test]
    fn a_flood_of_errors_is_counted() {
        let all = vec![Diagnostic::error("m").at(Span::new(0, 0, 1), ""); 150];
        let text = render(&all, &sources("a"), false);
        assert_eq!(text.matches("error: m").count(), MOST_RENDERED);
        assert!(text.ends_with("… and 50 more\n"), "{text}");
    }
}
