//! Bracketed lists: elements between commas, and what happens when a bracket is missing.

use lift_ir::Span;

use super::Parser;
use crate::diagnostic::Diagnostic;
use crate::lexer::TokenKind;

/// Tells from the next tokens whether an element starts.
pub(super) type Starts = fn(&Parser) -> bool;

/// A list whose opening bracket has been taken.
pub(super) struct List {
    opener: Span,
    open: TokenKind,
    /// To know a forgotten comma.
    starts: Starts,
    /// Set once something in the list was wrong; the closing bracket is not complained about then.
    reported: bool,
    /// What `==`, `|` and `in` meant outside.
    stop_at_equal: bool,
    bar: bool,
    let_value: bool,
}

impl Parser<'_> {
    /// A whole list of elements. Requires: the next token is an opening bracket.
    pub(super) fn list<T>(
        &mut self,
        starts: Starts,
        mut element: impl FnMut(&mut Self) -> Option<T>,
    ) -> Vec<T> {
        let mut elements = Vec::new();
        let mut list = self.open_list(starts);
        while self.more() {
            elements.extend(element(self));
            if !self.separator(&mut list) {
                break;
            }
        }
        self.close_list(list);
        elements
    }

    pub(super) fn open_list(&mut self, starts: Starts) -> List {
        let token = self.bump();
        self.open.push(token.kind);
        let stop_at_equal = std::mem::take(&mut self.stop_at_equal);
        let (bar, let_value) = (std::mem::take(&mut self.bar), std::mem::take(&mut self.let_value));
        let opener = self.span(token);
        List { opener, open: token.kind, starts, reported: false, stop_at_equal, bar, let_value }
    }

    /// Whether there may be another element.
    pub(super) fn more(&self) -> bool {
        let kind = self.kind();
        !(kind.is_closer()
            || kind.starts_item()
            || matches!(kind, TokenKind::End | TokenKind::Semicolon))
    }

    /// Takes the comma behind an element; false at the end of the list.
    pub(super) fn separator(&mut self, list: &mut List) -> bool {
        if self.eat(TokenKind::Comma) {
            return true;
        }
        let one_too_many = self.stray_closer(list.open)
            && (self.ahead(1) == TokenKind::Comma || Some(self.ahead(1)) == list.open.closer());
        if !self.more() && !one_too_many {
            return false;
        }
        let closer = spelling(list.open);
        if !list.reported {
            let help = super::hint::in_place_of_operator(self);
            self.report(|p| {
                Diagnostic::error(format!("expected `,` or `{closer}`, found {}", p.found()))
                    .at(p.here(), "not expected here")
                    .also(list.opener, "in the list that starts here")
                    .help_if(help)
            });
        }
        list.reported = true;
        if one_too_many {
            self.bump();
            return self.eat(TokenKind::Comma);
        }
        // A token that starts an element and has not stopped one before follows a forgotten comma.
        if (list.starts)(self) && self.progressed() {
            return true;
        }
        self.skip_to_boundary();
        self.eat(TokenKind::Comma)
    }

    pub(super) fn close_list(&mut self, list: List) {
        self.stop_at_equal = list.stop_at_equal;
        (self.bar, self.let_value) = (list.bar, list.let_value);
        self.open.pop();
        let Some(closer) = list.open.closer() else { return };
        if self.eat(closer) {
            return;
        }
        if !list.reported {
            let (open, close) = (list.open.spelling().unwrap_or("("), spelling(list.open));
            self.report(|p| {
                Diagnostic::error(format!(
                    "expected `{close}` to close this `{open}`, found {}",
                    p.found()
                ))
                .at(p.here(), format!("expected `{close}`"))
                .also(list.opener, "opened here")
            });
        }
        while self.more() {
            self.skip_to_boundary();
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        // A bracket of another shape was meant as this one, or is one too many.
        if self.stray_closer(list.open) {
            self.bump();
        }
        self.eat(closer);
    }

    /// Whether a closing bracket is next that fits neither `open` nor any bracket around it.
    fn stray_closer(&self, open: TokenKind) -> bool {
        let kind = self.kind();
        let waits = |open: &TokenKind| open.closer() == Some(kind);
        kind.is_closer() && !waits(&open) && !self.open.iter().any(waits)
    }

    /// Whether the parser has moved since it last guessed that a comma was forgotten.
    fn progressed(&mut self) -> bool {
        let moved = self.last_guess != Some(self.position);
        self.last_guess = Some(self.position);
        moved
    }
}

fn spelling(open: TokenKind) -> &'static str {
    open.closer().and_then(TokenKind::spelling).unwrap_or(")")
}
