//! What binds names: the names of items and parameters, and patterns.

use lift_ir::Scalar;

use super::{Parser, hint, types};
use crate::ast::{Name, Pattern, PatternKind};
use crate::diagnostic::Diagnostic;
use crate::lexer::TokenKind;

pub(super) fn starts_pattern(p: &Parser) -> bool {
    matches!(p.kind(), TokenKind::Name | TokenKind::LeftParen)
}

impl Parser<'_> {
    /// A name that is being declared; `what` says of what.
    pub(super) fn name(&mut self, what: &str) -> Option<Name> {
        if !self.at(TokenKind::Name) {
            self.expected(what, None);
            return None;
        }
        let token = self.token();
        let text = self.token_text(token);
        if text == "_" {
            self.expected(what, None);
            self.bump();
            return None;
        }
        if Scalar::from_name(text).is_some() || types::vector(text).is_some_and(|v| !v.1.is_empty())
        {
            self.report(|p| {
                Diagnostic::error(format!("expected {what}, found the type `{text}`"))
                    .at(p.here(), "the name of a type")
                    .help_if(hint::type_before_name(p))
            });
            return None;
        }
        self.bump();
        Some(self.name_of(token))
    }

    /// `x`, `_` or `(a, (b, _))`. What is none of these is reported and reads as `_`.
    pub(super) fn pattern(&mut self) -> Pattern {
        let start = self.token().start;
        let hole = Pattern { kind: PatternKind::Wildcard, span: self.here() };
        self.nested(hole, |p| {
            let kind = match p.kind() {
                TokenKind::LeftParen => p.tuple_pattern(),
                TokenKind::Name if p.at_word("_") => {
                    p.bump();
                    PatternKind::Wildcard
                }
                _ => match p.name("a name or `_`") {
                    Some(name) => PatternKind::Name(name.text),
                    None => {
                        // A name that cannot be bound stands for one that can.
                        p.eat(TokenKind::Name);
                        PatternKind::Wildcard
                    }
                },
            };
            p.grow();
            Pattern { kind, span: p.since(start) }
        })
    }

    fn tuple_pattern(&mut self) -> PatternKind {
        if self.ahead(1) == TokenKind::RightParen {
            self.bump();
            self.expected("a name or `_`", Some("there is no empty tuple".to_string()));
            self.bump();
            return PatternKind::Wildcard;
        }
        let mut parts = self.list(starts_pattern, |p| {
            let part = p.pattern();
            p.unwanted_type();
            Some(part)
        });
        match parts.pop() {
            Some(only) if parts.is_empty() => only.kind,
            Some(last) => {
                parts.push(last);
                PatternKind::Tuple(parts)
            }
            None => PatternKind::Wildcard,
        }
    }

    /// Reports and skips `: type` behind a name whose type is found by itself.
    pub(super) fn unwanted_type(&mut self) {
        if !self.at(TokenKind::Colon) {
            return;
        }
        self.report(|p| {
            Diagnostic::error("the types of lambda parameters and of `let` are not written")
                .at(p.here(), "not expected here")
                .help("leave out the `:` and the type: it is found by itself")
        });
        self.bump();
        self.type_without_arrow();
    }
}
