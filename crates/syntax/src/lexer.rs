//! Text to tokens.
//!
//! Comments are kept apart, for the formatter. Whatever is wrong with the characters themselves is
//! reported here, and the parser stays silent at the token that stands for it.

use lift_ir::Span;

use crate::diagnostic::Diagnostic;

mod literal;
mod token;

pub(crate) use literal::{quote, split_suffix, unescape};
pub(crate) use token::{Token, TokenKind};

/// `// …`, without the end of its line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Comment {
    pub span: Span,
    pub text: String,
}

pub(crate) struct Lexed {
    /// Ends with one [`TokenKind::End`].
    pub tokens: Vec<Token>,
    pub comments: Vec<Comment>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Requires: `text` is shorter than 4 GiB, so that every place fits a span.
pub(crate) fn lex(file: u32, text: &str) -> Lexed {
    let lexed = Lexed { tokens: Vec::new(), comments: Vec::new(), diagnostics: Vec::new() };
    let mut lexer = Lexer { file, text, at: 0, lexed, block_comments_close: true };
    while lexer.token() {}
    lexer.push(TokenKind::End, text.len());
    lexer.lexed
}

struct Lexer<'a> {
    file: u32,
    text: &'a str,
    at: usize,
    lexed: Lexed,
    /// False once a search for `*/` has come to the end of the file, so that none is made twice.
    block_comments_close: bool,
}

impl Lexer<'_> {
    /// Reads one token, comment or stretch of white space; false at the end of the text.
    fn token(&mut self) -> bool {
        let rest = self.text.get(self.at..).unwrap_or("");
        let Some(first) = rest.chars().next() else { return false };
        match first {
            // A byte order mark is white space too: editors put it in front unasked.
            ' ' | '\t' | '\r' | '\n' | '\x0c' | '\u{feff}' => self.at += first.len_utf8(),
            '/' if rest.starts_with("//") => self.comment(rest),
            '/' if rest.starts_with("/*") => self.block_comment(rest),
            '"' => self.string(rest),
            '0'..='9' => {
                // In `x.0.1` the digits behind a dot are a place in a tuple, not a fraction.
                let projection = self.lexed.tokens.last().is_some_and(|t| t.kind == TokenKind::Dot);
                let (kind, length) = literal::number(rest, projection);
                self.take(kind, length);
            }
            'λ' => self.unknown(rest),
            _ if first == '_' || first.is_alphabetic() => self.word(rest),
            _ => match token::symbol(rest) {
                Some((kind, spelling)) => self.take(kind, spelling.len()),
                None => self.unknown(rest),
            },
        }
        true
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        let token = Token { kind, start: start as u32, end: self.at as u32 };
        self.lexed.tokens.push(token);
    }

    fn take(&mut self, kind: TokenKind, length: usize) {
        let start = self.at;
        self.at += length;
        self.push(kind, start);
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start as u32, end as u32)
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.lexed.diagnostics.push(diagnostic);
    }

    fn comment(&mut self, rest: &str) {
        let line = rest.split('\n').next().unwrap_or(rest);
        let text = line.trim_end();
        let span = self.span(self.at, self.at + text.len());
        self.lexed.comments.push(Comment { span, text: text.to_string() });
        self.at += line.len();
    }

    fn block_comment(&mut self, rest: &str) {
        let closed = if self.block_comments_close { rest.find("*/") } else { None };
        self.block_comments_close &= closed.is_some();
        let length = match closed {
            Some(end) => end + 2,
            None => rest.split('\n').next().unwrap_or(rest).len(),
        };
        let span = self.span(self.at, self.at + 2);
        self.report(
            Diagnostic::error("`/*` does not start a comment")
                .at(span, "no block comments")
                .help("comments start with `//` and end with the line"),
        );
        self.at += length;
    }

    fn word(&mut self, rest: &str) {
        let length = rest.find(|c: char| !(c == '_' || c.is_alphanumeric())).unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or("");
        if !word.is_ascii() {
            let span = self.span(self.at, self.at + length);
            self.report(
                Diagnostic::error("a name may hold ASCII letters, digits and `_` only")
                    .at(span, "other letters in here"),
            );
        }
        self.take(token::keyword(word).unwrap_or(TokenKind::Name), length);
    }

    /// A string ends on the line it starts on, so that a forgotten quote harms one line only.
    fn string(&mut self, rest: &str) {
        let (length, problem) = literal::string(rest);
        let start = self.at;
        match problem {
            Some(literal::StringProblem::Open) => {
                let span = self.span(start, start + length);
                self.report(
                    Diagnostic::error("this string is not closed")
                        .at(span, "no `\"` before the end of the line")
                        .help("a line feed within a string is written `\\n`"),
                );
            }
            Some(literal::StringProblem::Escape { at, length }) => {
                let span = self.span(start + at, start + at + length);
                self.report(
                    Diagnostic::error("unknown escape in a string")
                        .at(span, "not known")
                        .help("known are `\\n`, `\\t`, `\\\"` and `\\\\`"),
                );
            }
            None => {}
        }
        self.take(TokenKind::Text, length);
    }

    fn unknown(&mut self, rest: &str) {
        let length = rest
            .char_indices()
            .find(|(at, c)| *at > 0 && known_start(*c, rest.get(*at..).unwrap_or("")))
            .map_or(rest.len(), |(at, _)| at);
        let run = rest.get(..length).unwrap_or("");
        let shown: String = run.chars().take(16).flat_map(char::escape_debug).collect();
        let more = if run.chars().nth(16).is_some() { "…" } else { "" };
        let message = if run.chars().nth(1).is_some() {
            format!("unknown characters `{shown}{more}`")
        } else {
            format!("unknown character `{shown}`")
        };
        let mut diagnostic =
            Diagnostic::error(message).at(self.span(self.at, self.at + length), "not understood");
        if let Some(help) = rest.chars().next().and_then(remedy) {
            diagnostic = diagnostic.help(help);
        }
        self.report(diagnostic);
        self.take(TokenKind::Unknown, length);
    }
}

/// Whether a known token, or white space, starts with `c`, the first character of `rest`.
fn known_start(c: char, rest: &str) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n' | '\x0c' | '\u{feff}' | '/' | '"' | '_')
        || c.is_ascii_digit()
        || (c.is_alphabetic() && c != 'λ')
        || token::symbol(rest).is_some()
}

/// What to write instead of a character that people take from other notations.
fn remedy(c: char) -> Option<&'static str> {
    Some(match c {
        '→' => "the arrow is written `->`",
        'λ' => "a lambda is written `\\x -> body`",
        '≤' => "write `<=`",
        '≥' => "write `>=`",
        '≠' => "write `!=`",
        '×' | '·' => "multiplication is written `*`",
        '−' | '–' | '—' => "minus is written `-`",
        '“' | '”' | '\'' | '‘' | '’' => "a string is written between `\"` quotes",
        '#' => "comments start with `//`",
        '\u{a0}' => "this is a space that cannot be broken: write a plain one",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        let lexed = lex(0, text);
        assert!(lexed.diagnostics.is_empty(), "{:?}", lexed.diagnostics);
        lexed.tokens.iter().map(|t| &text[t.start as usize..t.end as usize]).collect()
    }

    fn messages(text: &str) -> Vec<String> {
        lex(0, text).diagnostics.into_iter().map(|d| d.message).collect()
    }

    #[test]
    fn numbers_and_projections() {
        assert_eq!(texts("x.0.1"), ["x", ".", "0", ".", "1", ""]);
        assert_eq!(texts("1.5f64 1u8 1e-3 1.0"), ["1.5f64", "1u8", "1e-3", "1.0", ""]);
        assert_eq!(texts("1.x"), ["1", ".", "x", ""]);
        assert_eq!(texts("2.0.0"), ["2.0", ".", "0", ""]);
    }

    #[test]
    fn the_longest_symbol_wins() {
        assert_eq!(texts("a|>b>>c||d"), ["a", "|>", "b", ">>", "c", "||", "d", ""]);
        assert_eq!(
            texts("f32::min<=\\x->-x"),
            ["f32", "::", "min", "<=", "\\", "x", "->", "-", "x", ""]
        );
    }

    #[test]
    fn comments_are_kept_apart() {
        let lexed = lex(0, "x // one  \r\n// two");
        let comments: Vec<_> = lexed.comments.iter().map(|c| c.text.as_str()).collect();
        assert_eq!(comments, ["// one", "// two"]);
        assert_eq!(lexed.tokens.len(), 2);
    }

    #[test]
    fn unknown_characters_are_reported_once_a_run() {
        assert_eq!(messages("a @@$ b @"), ["unknown characters `@@$`", "unknown character `@`"]);
        assert_eq!(messages("\0"), ["unknown character `\\0`"]);
        assert_eq!(messages("größe").len(), 1);
    }

    #[test]
    fn strings() {
        assert_eq!(texts(r#""a\"b" x"#), [r#""a\"b""#, "x", ""]);
        assert_eq!(messages("\"abc\nx"), ["this string is not closed"]);
        assert_eq!(messages(r#""\q""#), ["unknown escape in a string"]);
    }

    #[test]
    fn block_comments_are_pointed_out_and_skipped() {
        assert_eq!(messages("a /* b\n c */ d").len(), 1);
        let many = "/* ".repeat(100_000);
        assert_eq!(messages(&many).len(), 1, "the rest of the line is taken as the comment");
    }
}
