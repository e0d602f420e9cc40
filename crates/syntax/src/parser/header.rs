//! What stands between the name of an item and its body: variables, parameters, the result type,
//! `where` and `launch`.

use std::collections::BTreeMap;

use lift_ir::{LaunchClause, Scalar};

use super::{Parser, types};
use crate::ast::{Expr, ExprKind, Generic, Launch, Param, Parameter, Type, TypeKind};
use crate::diagnostic::Diagnostic;
use crate::lexer::TokenKind;

impl Parser<'_> {
    /// `[M, N, T: type; K = 16]`, which may be missing.
    pub(super) fn generics(&mut self) -> (Vec<Generic>, Vec<Parameter>) {
        let (mut generics, mut parameters) = (Vec::new(), Vec::new());
        if !self.at(TokenKind::LeftBracket) {
            return (generics, parameters);
        }
        let mut list = self.open_list(|p| p.at(TokenKind::Name));
        let mut behind = self.eat(TokenKind::Semicolon);
        while self.more() {
            if behind {
                parameters.extend(self.parameter());
            } else {
                generics.extend(self.generic());
                if self.eat(TokenKind::Semicolon) {
                    behind = true;
                    continue;
                }
            }
            if !self.separator(&mut list) {
                break;
            }
            behind |= self.eat(TokenKind::Semicolon);
        }
        self.close_list(list);
        (generics, parameters)
    }

    fn generic(&mut self) -> Option<Generic> {
        let name = self.name("a size or type variable")?;
        let is_type = self.eat(TokenKind::Colon);
        if is_type {
            if self.at_word("type") {
                self.bump();
            } else {
                let help = "a size variable is its name alone, a type variable `T: type`";
                self.expected("`type`", Some(help.to_string()));
                self.type_without_arrow();
            }
        }
        Some(Generic { name, is_type })
    }

    fn parameter(&mut self) -> Option<Parameter> {
        let name = self.name("the name of a parameter")?;
        let default = self.eat(TokenKind::Equal).then(|| self.expr());
        Some(Parameter { name, default })
    }

    /// `(x: f32, y: [f32; N])`
    pub(super) fn params(&mut self) -> Vec<Param> {
        if !self.at(TokenKind::LeftParen) {
            self.expected("`(` and the parameters", None);
            use TokenKind::{Arrow, Colon, Equal, Launch, LeftParen, Where};
            if self.ahead(1) == LeftParen {
                self.bump();
            } else {
                let goes_on = matches!(self.kind(), Arrow | Colon | Equal | Launch | Where);
                self.abandoned |= !goes_on;
                return Vec::new();
            }
        }
        let starts = |p: &Parser| p.at(TokenKind::Name) && p.ahead(1) == TokenKind::Colon;
        self.list(starts, |p| {
            let name = p.name("the name of a parameter")?;
            if !p.eat(TokenKind::Colon) {
                let help = "every parameter is written `name: type`".to_string();
                p.expected("`:` and the type of the parameter", Some(help));
                if !p.skip_one_before(TokenKind::Colon) && !types::starts_type(p) {
                    let span = p.behind();
                    return Some(Param { name, ty: Type { kind: TypeKind::Error, span } });
                }
            }
            let ty = p.ty();
            Some(Param { name, ty })
        })
    }

    /// `-> T`, which may be missing.
    pub(super) fn result_type(&mut self) -> Option<Type> {
        if matches!(self.kind(), TokenKind::Colon | TokenKind::FatArrow) {
            self.expected("`->` or `=`", Some("the result type follows `->`".to_string()));
            self.bump();
            return Some(self.ty());
        }
        let text = self.token_text(self.token());
        let scalar = self.at(TokenKind::Name) && Scalar::from_name(text).is_some();
        if scalar || self.at(TokenKind::LeftBracket) {
            self.expected("`->` or `=`", Some("the result type follows `->`".to_string()));
            return Some(self.ty());
        }
        self.eat(TokenKind::Arrow).then(|| self.ty())
    }

    /// `where a && b, c`, which may be missing.
    pub(super) fn wheres(&mut self) -> Vec<Expr> {
        let mut clauses = Vec::new();
        if !self.eat(TokenKind::Where) {
            return clauses;
        }
        loop {
            let mut clause = self.expr();
            if self.at(TokenKind::Equal) && !compares(&clause) {
                clause = self.assignment_for_equality(clause);
            }
            clauses.push(clause);
            if !self.eat(TokenKind::Comma) {
                return clauses;
            }
        }
    }

    /// In `where N % 4 = 0`, the sign before the body cannot be meant: nothing was compared.
    fn assignment_for_equality(&mut self, clause: Expr) -> Expr {
        self.report(|p| {
            Diagnostic::error("expected a comparison in this `where` clause, found `=`")
                .at(p.here(), "not a comparison")
                .also(clause.span, "this is compared with nothing")
                .help("equality is written `==`")
        });
        self.bump();
        self.expr();
        let goes_on = [TokenKind::Equal, TokenKind::Launch, TokenKind::Comma];
        self.abandoned |= !goes_on.contains(&self.kind());
        Expr { kind: ExprKind::Error, span: clause.span }
    }

    /// `launch local(64) global(N) padding(1)`, once a kernel.
    pub(super) fn launches(&mut self) -> Vec<Launch> {
        let mut launches = Vec::new();
        while self.at(TokenKind::Launch) {
            let start = self.bump().start;
            let mut clauses = BTreeMap::new();
            while self.at(TokenKind::Name)
                && let Some(clause) = LaunchClause::named(self.token_text(self.token()))
            {
                if clauses.contains_key(&clause) {
                    self.expected(&format!("one `{}` a `launch`", clause.name()), None);
                }
                self.bump();
                if !self.at(TokenKind::LeftParen) {
                    self.expected("`(` and numbers", None);
                    break;
                }
                clauses.insert(clause, self.arguments());
            }
            if clauses.is_empty() {
                let known = LaunchClause::ALL.map(|clause| format!("`{}(…)`", clause.name()));
                self.expected(&format!("{} behind `launch`", either(&known)), None);
            }
            launches.push(Launch { clauses, span: self.since(start) });
        }
        launches
    }
}

/// `a, b or c`
fn either(words: &[String]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => words.concat(),
    }
}

/// Whether an expression can be a fact. What could not be parsed is no reason to complain.
fn compares(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Binary(op, ..) => op.is_comparison() || op.is_logical(),
        ExprKind::Paren(inner) => compares(inner),
        ExprKind::Bool(_) | ExprKind::Error => true,
        _ => false,
    }
}
