//! Domains and iterations over them: `domain` items, `[ e | p in D ]`, `p in D`, `{ (i, j) | … }`, `rec`.
//!
//! None of their words is a keyword: each is looked for where it can stand.

use lift_ir::Span;

use super::{Parser, binding, primary};
use crate::ast::{Domain, Expr, ExprKind, Points, Rec, Set};
use crate::diagnostic::Diagnostic;
use crate::lexer::TokenKind;

const ITERATION: &str = "an iteration is written `[ e | (x, y) in D ]`";

impl Parser<'_> {
    /// Whether `domain name` is next. Two names in a row are nothing else.
    pub(super) fn at_domain_item(&self) -> bool {
        self.at_word("domain") && self.ahead(1) == TokenKind::Name
    }

    /// `domain trace[n] : line[n](j) = { grid[n, n](a, b) | a == j, b == j };`
    pub(super) fn domain_item(&mut self, start: u32) -> Option<Domain> {
        self.bump();
        let name = self.name("the name of a domain")?;
        let sizes = match self.at(TokenKind::LeftBracket) {
            true => self.list(|p| p.at(TokenKind::Name), |p| p.name("a size variable")),
            false => Vec::new(),
        };
        let address = self.eat(TokenKind::Colon).then(|| self.points());
        self.equal_sign("and the points of the domain");
        if !self.at(TokenKind::LeftBrace) {
            let help = "a domain is written `domain upper[n] = { (a, b) | a < b, b < n };`";
            self.expected("`{` and the points of the domain", Some(help.to_string()));
            return None;
        }
        let set = self.set();
        self.end_of_item();
        Some(Domain { name, sizes, address, set, span: self.since(start) })
    }

    /// A domain behind `in`: `grid[h, w]` or `{ (i, j) | … }`.
    pub(super) fn domain(&mut self) -> Expr {
        let start = self.token().start;
        let kind = match self.kind() {
            TokenKind::LeftBrace => ExprKind::Set(Box::new(self.set())),
            TokenKind::Name => {
                let token = self.bump();
                let name = Expr {
                    kind: ExprKind::Name(self.token_text(token).to_string()),
                    span: self.span(token),
                };
                if !self.at(TokenKind::LeftBracket) {
                    return name;
                }
                ExprKind::Index(Box::new(name), self.indices())
            }
            _ => {
                let help = "a domain is written `line[n]` or `{ (i, j) | i < j, j < n }`";
                self.expected("a domain", Some(help.to_string()));
                ExprKind::Error
            }
        };
        self.grow();
        Expr { kind, span: self.since(start) }
    }

    /// `[x, y]`, at least one. Requires: the next token is `[`.
    pub(super) fn indices(&mut self) -> Vec<Expr> {
        let list = self.open_list(primary::starts_expr);
        let mut indices = vec![self.expr()];
        while self.eat(TokenKind::Comma) && self.more() {
            indices.push(self.expr());
        }
        self.close_list(list);
        indices
    }

    /// Whether braces with a bar in them are next: no other braces are expressions.
    pub(super) fn at_set(&self) -> bool {
        let mut depth = 0u32;
        for offset in 0.. {
            let kind = self.ahead(offset);
            if kind.closer().is_some() {
                depth += 1;
            } else if kind.is_closer() {
                depth -= 1;
            }
            let ends = depth == 0 || kind == TokenKind::End || kind.starts_item();
            if ends || kind == TokenKind::Semicolon {
                return false;
            }
            if depth == 1 && kind == TokenKind::Or {
                return true;
            }
        }
        false
    }

    /// `{ grid[n, n](a, b) | a < b }`. Requires: the next token is `{`.
    pub(super) fn set(&mut self) -> Set {
        let start = self.token().start;
        let mut list = self.open_list(primary::starts_expr);
        self.bar = true;
        let points = self.points();
        let mut constraints = Vec::new();
        if self.expect(TokenKind::Or, "and the constraints of the points") {
            while self.more() {
                constraints.push(self.expr());
                if !self.separator(&mut list) {
                    break;
                }
            }
        }
        self.close_list(list);
        Set { points, constraints, span: self.since(start) }
    }

    /// `grid[n, n](a, b)` or `(a, b)`
    fn points(&mut self) -> Points {
        let start = self.token().start;
        let domain = self.at(TokenKind::Name).then(|| Box::new(self.nested_domain()));
        let indices = match self.at(TokenKind::LeftParen) {
            true => self.list(|p| p.at(TokenKind::Name), |p| p.name("the name of an index")),
            false => {
                let help = "the points of a domain are written `(i, j)` or `grid[n, n](i, j)`";
                self.expected("`(` and the names of the indices", Some(help.to_string()));
                Vec::new()
            }
        };
        Points { domain, indices, span: self.since(start) }
    }

    fn nested_domain(&mut self) -> Expr {
        let failed = self.error_expr();
        self.nested(failed, |p| p.domain())
    }

    /// `[a, b]`, or `[ e | p in D ]`. Requires: the next token is `[`.
    pub(super) fn bracketed(&mut self) -> ExprKind {
        let mut list = self.open_list(primary::starts_expr);
        self.bar = true;
        let mut elements = Vec::new();
        while self.more() {
            elements.push(self.expr());
            if self.at(TokenKind::Or) {
                let kind = match (elements.pop(), elements.is_empty()) {
                    (Some(value), true) => self.iteration(value),
                    _ => {
                        let help = "a bit-or directly inside brackets stands in parentheses: `[(a | b), c]`";
                        self.expected("`,` or `]`", Some(help.to_string()));
                        self.skip_to_boundary();
                        ExprKind::Error
                    }
                };
                if matches!(kind, ExprKind::Error) {
                    while self.more() {
                        self.skip_to_boundary();
                        if !self.eat(TokenKind::Comma) {
                            break;
                        }
                    }
                }
                self.close_list(list);
                return kind;
            }
            if !self.separator(&mut list) {
                break;
            }
        }
        self.close_list(list);
        ExprKind::Array(elements)
    }

    /// `| p in D` behind the element. Requires: the bar is next.
    fn iteration(&mut self, value: Expr) -> ExprKind {
        self.bump();
        if !binding::starts_pattern(self) {
            self.expected("the names of the indices", Some(ITERATION.to_string()));
            return ExprKind::Error;
        }
        let pattern = self.pattern();
        if !self.at_word("in") {
            let help = format!(
                "{ITERATION}; a bit-or directly inside brackets stands in parentheses: `[(a | b)]`"
            );
            self.expected("`in` and a domain", Some(help));
            return ExprKind::Error;
        }
        self.bump();
        let domain = match self.kind() {
            TokenKind::LeftBrace => self.domain(),
            _ => self.expr(),
        };
        let domain = match self.eat(TokenKind::DotDot) {
            true => {
                let end = self.expr();
                let span = domain.span.to(end.span);
                self.grow();
                Expr { kind: ExprKind::Range(Box::new(domain), Box::new(end)), span }
            }
            false => domain,
        };
        if self.at(TokenKind::Comma) {
            self.report(|p| {
                Diagnostic::error("there are no conditions behind the domain of an iteration")
                    .at(p.here(), "not expected here")
                    .help("choose a value by `[ if c then e else z | i in D ]`, or iterate over the points that meet it: `[ e | (i) in { D(i) | c } ]`")
            });
            return ExprKind::Error;
        }
        ExprKind::Each(Box::new(value), pattern, Box::new(domain))
    }

    /// Whether `in` and a domain are next, behind an operand. In `let x = 1 in x` it is another language's.
    pub(super) fn at_membership(&self) -> bool {
        if !self.at_word("in") {
            return false;
        }
        match self.ahead(1) {
            TokenKind::LeftBrace => true,
            TokenKind::Name if self.let_value && self.ahead(2) != TokenKind::LeftBracket => {
                let next = self.ahead(3);
                let ends = next == TokenKind::End || next.starts_item();
                self.ahead(2) == TokenKind::Semicolon && !ends
            }
            kind => kind == TokenKind::Name,
        }
    }

    /// Whether `rec name =` or `rec name:` is next.
    pub(super) fn at_rec(&self) -> bool {
        self.at_word("rec")
            && self.ahead(1) == TokenKind::Name
            && matches!(self.ahead(2), TokenKind::Equal | TokenKind::Colon)
    }

    /// `rec t: i64 = [ … ]; body`
    pub(super) fn rec(&mut self) -> Expr {
        let start = self.bump().start;
        let failed = self.error_expr();
        self.nested(failed, |p| {
            let Some(name) = p.name("the name of the array") else { return p.error_expr() };
            let element = p.eat(TokenKind::Colon).then(|| p.type_without_arrow());
            p.equal_sign("and the iteration of this `rec`");
            let value = p.enclosed_expr();
            p.end_of_let();
            let body = p.expr();
            p.grow();
            let span = Span::new(p.file, start, body.span.end.max(start));
            let rec = Rec { name, element, value, body };
            Expr { kind: ExprKind::Rec(Box::new(rec)), span }
        })
    }
}
