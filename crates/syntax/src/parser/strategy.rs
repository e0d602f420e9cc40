//! Strategy files: definitions whose bodies are written in the grammar of expressions.

use super::Parser;
use crate::ast::Strategy;
use crate::diagnostic::Diagnostic;
use crate::lexer::TokenKind;

/// The definitions of a strategy file, and what is wrong with it.
pub fn parse_strategies(file: u32, text: &str) -> (Vec<Strategy>, Vec<Diagnostic>) {
    let mut parser = Parser::strategies(file, text);
    let mut found = Vec::new();
    while !parser.at(TokenKind::End) {
        parser.errors_before = parser.diagnostics.len();
        let before = parser.position;
        match parser.strategy() {
            Some(strategy) => found.push(strategy),
            None => parser.abandoned = true,
        }
        let abandoned = std::mem::take(&mut parser.abandoned);
        // The items of programs are no strategies, but recovery stops at them: it has to begin behind this one.
        if parser.position == before {
            parser.bump();
        }
        if abandoned {
            parser.next_item();
        }
    }
    (found, parser.finish().1)
}

/// A text that is one strategy.
pub fn parse_strategy_expr(file: u32, text: &str) -> (crate::ast::Expr, Vec<Diagnostic>) {
    Parser::strategies(file, text).whole_expr()
}

impl<'a> Parser<'a> {
    /// In strategies `where(…)` is a call like others, unless it stands before `launch` or the body, and `let` is
    /// the name of what a condition looks for.
    fn strategies(file: u32, text: &'a str) -> Parser<'a> {
        let mut parser = Parser::new(file, text);
        let mut before = TokenKind::Equal;
        for index in 0..parser.tokens.len() {
            let next = parser.tokens.get(index + 1).map(|t| t.kind);
            let Some(token) = parser.tokens.get_mut(index) else { continue };
            use TokenKind::{Comma, Equal, LeftParen, Shr};
            let starts = matches!(before, Comma | Shr | Equal | LeftParen);
            before = token.kind;
            let is_call = token.kind == TokenKind::Where && starts && next == Some(LeftParen);
            if is_call || token.kind == TokenKind::Let {
                token.kind = TokenKind::Name;
            }
        }
        parser
    }

    /// `strategy tile[; T = 16](m, k) where … launch … = …;`
    fn strategy(&mut self) -> Option<Strategy> {
        let start = self.token().start;
        if !self.at_word("strategy") {
            self.expected("`strategy` and a name", None);
            return None;
        }
        self.bump();
        let name = self.name("the name of a strategy")?;
        let (generics, parameters) = self.generics();
        if let Some(generic) = generics.first() {
            let span = generic.name.span;
            self.report(|_| {
                Diagnostic::error("new parameters of the program stand behind `;`")
                    .at(span, "not a parameter")
                    .help("write `[; T = 16]`")
            });
        }
        let names = match self.at(TokenKind::LeftParen) {
            true => self.list(|p| p.at(TokenKind::Name), |p| p.name("the name of an argument")),
            false => Vec::new(),
        };
        let wheres = self.wheres();
        let launches = self.launches();
        let body = self.body();
        self.end_of_item();
        let span = self.since(start);
        Some(Strategy { name, parameters, names, wheres, launches, body, span })
    }
}
