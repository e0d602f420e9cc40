//! Looking at tokens, taking them, and complaining about them.

use lift_ir::Span;

use super::Parser;
use crate::ast::Name;
use crate::diagnostic::Diagnostic;
use crate::lexer::{Token, TokenKind};

/// Names longer than this are cut in messages.
const LONGEST_QUOTE: usize = 40;

impl<'a> Parser<'a> {
    pub(super) fn kind(&self) -> TokenKind {
        self.ahead(0)
    }

    /// The kind of the token `offset` places ahead.
    pub(super) fn ahead(&self, offset: usize) -> TokenKind {
        if self.abandoned {
            return TokenKind::End;
        }
        self.tokens.get(self.position + offset).map_or(TokenKind::End, |t| t.kind)
    }

    /// The next token, whatever it is.
    pub(super) fn token(&self) -> Token {
        let end = self.text.len() as u32;
        let past = Token { kind: TokenKind::End, start: end, end };
        self.tokens.get(self.position).copied().unwrap_or(past)
    }

    pub(super) fn at(&self, kind: TokenKind) -> bool {
        self.kind() == kind
    }

    /// Whether the next token is a name spelled so: the contextual keywords are no tokens.
    pub(super) fn at_word(&self, word: &str) -> bool {
        self.at(TokenKind::Name) && self.token_text(self.token()) == word
    }

    /// Takes the next token. At the end of the text nothing moves.
    pub(super) fn bump(&mut self) -> Token {
        let token = self.token();
        if self.kind() != TokenKind::End {
            self.position += 1;
            self.previous_end = token.end;
        }
        token
    }

    pub(super) fn eat(&mut self, kind: TokenKind) -> bool {
        let here = self.at(kind);
        if here {
            self.bump();
        }
        here
    }

    /// Takes a token that must be there; without it, complains that it was expected `context`.
    pub(super) fn expect(&mut self, kind: TokenKind, context: &str) -> bool {
        let here = self.eat(kind);
        if !here {
            let wanted = kind.spelling().unwrap_or("token");
            self.expected(&format!("`{wanted}` {context}"), None);
        }
        here
    }

    /// Where one token too many stands in front of `kind`, skips both.
    pub(super) fn skip_one_before(&mut self, kind: TokenKind) -> bool {
        let here = self.ahead(1) == kind;
        if here {
            self.bump();
            self.bump();
        }
        here
    }

    /// Reports that the next token is not what was expected.
    pub(super) fn expected(&mut self, what: &str, help: Option<String>) {
        self.report(|p| {
            Diagnostic::error(format!("expected {what}, found {}", p.found()))
                .at(p.here(), "not expected here")
                .help_if(help)
        });
    }

    /// Adds a diagnostic about the next token, unless there is one about it already.
    pub(super) fn report(&mut self, diagnostic: impl FnOnce(&Self) -> Diagnostic) {
        let unknown = |at: Option<usize>| {
            at.and_then(|at| self.tokens.get(at)).is_some_and(|t| t.kind == TokenKind::Unknown)
        };
        let known = self.abandoned
            || self.last_error == Some(self.position)
            || unknown(Some(self.position))
            || unknown(self.position.checked_sub(1));
        if !known {
            let diagnostic = diagnostic(self);
            self.diagnostics.push(diagnostic);
        }
        self.last_error = Some(self.position);
    }

    pub(super) fn token_text(&self, token: Token) -> &'a str {
        self.text.get(token.start as usize..token.end as usize).unwrap_or("")
    }

    /// The next token in words.
    pub(super) fn found(&self) -> String {
        let token = self.token();
        let text = self.token_text(token);
        match token.kind {
            TokenKind::End => "the end of the text".to_string(),
            TokenKind::Text => "a string".to_string(),
            TokenKind::Int | TokenKind::Float => format!("the number {}", quoted(text)),
            _ if text.starts_with(|c: char| c.is_ascii_lowercase())
                && token.kind != TokenKind::Name =>
            {
                format!("the keyword `{text}`")
            }
            _ => quoted(text),
        }
    }

    pub(super) fn span(&self, token: Token) -> Span {
        Span::new(self.file, token.start, token.end)
    }

    /// The place of the next token.
    pub(super) fn here(&self) -> Span {
        self.span(self.token())
    }

    /// The empty place right behind the last token.
    pub(super) fn behind(&self) -> Span {
        Span::new(self.file, self.previous_end, self.previous_end)
    }

    /// From `start` to the end of the last token.
    pub(super) fn since(&self, start: u32) -> Span {
        Span::new(self.file, start, self.previous_end.max(start))
    }

    /// Whether a line ends between the last token and the next one.
    pub(super) fn on_next_line(&self) -> bool {
        let between = self.text.get(self.previous_end as usize..self.token().start as usize);
        between.is_some_and(|text| text.contains('\n'))
    }

    pub(super) fn name_of(&self, token: Token) -> Name {
        Name { text: self.token_text(token).to_string(), span: self.span(token) }
    }

    /// Skips to the next comma, semicolon, unmatched closing bracket or item; brackets that open
    /// on the way are skipped with what they hold.
    pub(super) fn skip_to_boundary(&mut self) {
        self.skip_to(TokenKind::Semicolon);
    }

    /// The same, stopping at `stop` too.
    pub(super) fn skip_to(&mut self, stop: TokenKind) {
        let mut depth = 0usize;
        loop {
            let kind = self.kind();
            let boundary = [TokenKind::Comma, TokenKind::Semicolon, stop].contains(&kind);
            if kind == TokenKind::End || kind.starts_item() || (depth == 0 && boundary) {
                break;
            }
            if kind.is_closer() {
                if depth == 0 {
                    break;
                }
                depth -= 1;
            } else if kind.closer().is_some() {
                depth += 1;
            }
            self.bump();
        }
        // What stopped the search is no new mistake.
        self.last_error = Some(self.position);
    }
}

impl Diagnostic {
    /// Adds a remedy where there is one.
    pub fn help_if(self, text: Option<String>) -> Diagnostic {
        match text {
            Some(text) => self.help(text),
            None => self,
        }
    }
}

/// A piece of the source between backquotes, cut if long.
pub(super) fn quoted(text: &str) -> String {
    match text.char_indices().nth(LONGEST_QUOTE) {
        Some((end, _)) => format!("`{}…`", text.get(..end).unwrap_or("")),
        None => format!("`{text}`"),
    }
}
