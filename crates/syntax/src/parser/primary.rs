//! Expressions that start with a token of their own: literals, names, brackets, lambda, `let`
//! and `if`.

use lift_ir::{Scalar, Span};

use super::expr::binary_op;
use super::{Parser, binding, hint};
use crate::ast::{Expr, ExprKind, Limit, Pattern};
use crate::diagnostic::Diagnostic;
use crate::lexer::{TokenKind, split_suffix};

pub(super) fn starts_expr(p: &Parser) -> bool {
    starts_expr_kind(p.kind())
}

pub(super) fn starts_expr_kind(kind: TokenKind) -> bool {
    use TokenKind::*;
    matches!(
        kind,
        Name | Int
            | Float
            | Text
            | True
            | False
            | Let
            | If
            | LeftParen
            | LeftBracket
            | Backslash
            | Minus
            | Bang
            | Tilde
    )
}

impl Parser<'_> {
    pub(super) fn primary(&mut self) -> Expr {
        while self.at(TokenKind::Unknown) {
            self.bump();
        }
        let start = self.token().start;
        let kind = match self.kind() {
            TokenKind::Int | TokenKind::Float => self.number(),
            TokenKind::True | TokenKind::False => {
                ExprKind::Bool(self.bump().kind == TokenKind::True)
            }
            TokenKind::Name if self.at_rec() => return self.rec(),
            TokenKind::Name => self.named(),
            TokenKind::LeftParen => self.parenthesised(),
            TokenKind::LeftBracket => self.bracketed(),
            TokenKind::LeftBrace if self.at_set() => ExprKind::Set(Box::new(self.set())),
            TokenKind::Backslash => self.lambda(),
            TokenKind::Let => return self.lets(),
            TokenKind::If => self.conditional(),
            TokenKind::Text => {
                let help = "strings are for `import` and `extern` only".to_string();
                self.expected("an expression", Some(help));
                self.bump();
                ExprKind::Error
            }
            kind => {
                // A faulty item may well seem to end too early.
                if self.faulty() && (kind == TokenKind::End || kind.starts_item()) {
                    self.last_error = Some(self.position);
                }
                self.expected("an expression", hint::in_place_of_expr(self));
                let failed = self.error_expr();
                // The signs of another language's lambda, block or reference make no sense of what
                // follows them.
                if matches!(kind, TokenKind::Or | TokenKind::And | TokenKind::LeftBrace) {
                    self.skip_to_boundary();
                } else if binary_op(kind).is_some() && !starts_expr_kind(self.ahead(1)) {
                    // An operator with nothing on either side was meant as a function.
                    self.bump();
                }
                return failed;
            }
        };
        self.grow();
        Expr { kind, span: self.since(start) }
    }

    fn number(&mut self) -> ExprKind {
        let token = self.token();
        let (digits, suffix) = split_suffix(self.token_text(token));
        let scalar = Scalar::from_name(suffix).filter(|s| s.is_number());
        let wrong = |p: &mut Self, message: String, help: Option<String>| {
            let span = Span::new(p.file, token.start + digits.len() as u32, token.end);
            p.report(|_| Diagnostic::error(message).at(span, "not a suffix here").help_if(help));
            ExprKind::Error
        };
        let kind = if !suffix.is_empty() && scalar.is_none() {
            let message = format!("unknown suffix {} of a number", super::cursor::quoted(suffix));
            wrong(self, message, Some(hint::suffix(suffix).to_string()))
        } else if token.kind == TokenKind::Float || scalar.is_some_and(Scalar::is_float) {
            match scalar.filter(|s| s.is_integer()) {
                Some(s) => wrong(self, format!("`{s}` holds no fractions or exponents"), None),
                None => ExprKind::Float(digits.to_string(), scalar),
            }
        } else if let Ok(value) = digits.parse() {
            ExprKind::Int(value, scalar)
        } else {
            let help = format!("the largest integer is {}", u64::MAX);
            self.report(|p| {
                Diagnostic::error("this number is too large").at(p.here(), "too large").help(help)
            });
            ExprKind::Error
        };
        self.bump();
        kind
    }

    /// A name, or what starts with the name of a type: `f32::max`, `f32x4(…)`.
    fn named(&mut self) -> ExprKind {
        let token = self.token();
        let text = self.token_text(token);
        if let Some((scalar, width)) = self.vector_name() {
            if self.at(TokenKind::LeftParen) {
                return ExprKind::Vector(scalar, Box::new(width), self.arguments());
            }
            let help = format!("as a function it is `\\x -> {text}(x)`");
            self.expected("`(` and the lanes of the vector", Some(help));
            return ExprKind::Error;
        }
        let scalar = Scalar::from_name(text);
        if self.ahead(1) == TokenKind::ColonColon {
            return self.limit(scalar);
        }
        if text == "_" || scalar.is_some() {
            self.report(|p| {
                let what = if scalar.is_some() { "the type " } else { "" };
                Diagnostic::error(format!("expected an expression, found {what}`{text}`"))
                    .at(p.here(), "not a value")
                    .help_if(hint::type_as_value(p, text))
            });
            self.bump();
            return ExprKind::Error;
        }
        self.bump();
        ExprKind::Name(text.to_string())
    }

    /// `f32::min`. Requires: a name and `::` are next.
    fn limit(&mut self, scalar: Option<Scalar>) -> ExprKind {
        if scalar.is_none() {
            let help = "there are `f32::min`, `f32::max` and so for every scalar type".to_string();
            self.expected("the name of a scalar type in front of `::`", Some(help));
        }
        self.bump();
        self.bump();
        let limit = match self.kind() {
            TokenKind::Name if self.at_word("min") => Some(Limit::Min),
            TokenKind::Name if self.at_word("max") => Some(Limit::Max),
            _ => None,
        };
        if limit.is_none() {
            self.expected("`min` or `max`", None);
        }
        if self.at(TokenKind::Name) {
            self.bump();
        }
        match (scalar, limit) {
            (Some(scalar), Some(limit)) => ExprKind::Limit(scalar, limit),
            _ => ExprKind::Error,
        }
    }

    /// `(+)`, `(e)` or `(a, b)`.
    fn parenthesised(&mut self) -> ExprKind {
        if self.ahead(2) == TokenKind::RightParen
            && let Some(op) = binary_op(self.ahead(1))
        {
            self.bump();
            self.bump();
            self.bump();
            return ExprKind::Section(op);
        }
        if self.ahead(1) == TokenKind::RightParen {
            let open = self.bump();
            let span = self.span(open).to(self.here());
            self.report(|_| {
                Diagnostic::error("`()` is not a value")
                    .at(span, "nothing between the parentheses")
                    .help(
                        "there is no empty tuple; a function without arguments is called as `f()`",
                    )
            });
            self.bump();
            return ExprKind::Error;
        }
        let mut parts = self.arguments();
        match parts.pop() {
            Some(only) if parts.is_empty() => ExprKind::Paren(Box::new(only)),
            Some(last) => {
                parts.push(last);
                ExprKind::Tuple(parts)
            }
            None => ExprKind::Error,
        }
    }

    /// `\x (a, b) -> e`
    fn lambda(&mut self) -> ExprKind {
        self.bump();
        let parameters = self.lambda_parameters();
        match self.kind() {
            TokenKind::Arrow => {
                self.bump();
            }
            // Signs that other languages have in this place.
            TokenKind::FatArrow | TokenKind::Dot | TokenKind::Equal => {
                let help = "a lambda is written `\\x -> body`".to_string();
                self.expected("`->`", Some(help));
                self.bump();
            }
            _ => {
                let help = "a lambda is written `\\x -> body`".to_string();
                self.expected("`->` and the body of the lambda", Some(help));
                self.skip_to_boundary();
                return ExprKind::Lambda(parameters, Box::new(self.error_expr()));
            }
        }
        let body = self.expr();
        ExprKind::Lambda(parameters, Box::new(body))
    }

    fn lambda_parameters(&mut self) -> Vec<Pattern> {
        let mut parameters = Vec::new();
        if !binding::starts_pattern(self) {
            self.expected("the parameters of a lambda", None);
        }
        while binding::starts_pattern(self) {
            parameters.push(self.pattern());
            self.unwanted_type();
            if self.at(TokenKind::Comma) && self.arrow_follows_names() {
                let help = "parameters are separated by spaces, as in `\\x y -> body`".to_string();
                self.expected("`->`", Some(help));
                self.bump();
                // What else is amiss with this lambda follows from the comma.
                self.last_error = Some(self.position);
            }
        }
        parameters
    }

    /// Whether nothing but a few more parameters stands between here and an arrow.
    fn arrow_follows_names(&self) -> bool {
        use TokenKind::{Arrow, Comma, FatArrow, LeftParen, Name, RightParen};
        let mut ahead = (1..32).map(|offset| self.ahead(offset));
        let end = ahead.find(|kind| !matches!(kind, Name | Comma | LeftParen | RightParen));
        matches!(end, Some(Arrow | FatArrow))
    }

    /// `let p = e; let q = f; body`, a loop so that many of them do not nest.
    fn lets(&mut self) -> Expr {
        let mut bindings = Vec::new();
        while self.at(TokenKind::Let) {
            let start = self.bump().start;
            let pattern = self.pattern();
            self.unwanted_type();
            self.equal_sign("and the value of this `let`");
            let outer = std::mem::replace(&mut self.let_value, true);
            let value = self.enclosed_expr();
            self.let_value = outer;
            bindings.push((start, pattern, value));
            self.end_of_let();
        }
        let mut body = self.expr();
        for (start, pattern, value) in bindings.into_iter().rev() {
            self.grow();
            let span = Span::new(self.file, start, body.span.end.max(start));
            body = Expr { kind: ExprKind::Let(pattern, Box::new(value), Box::new(body)), span };
        }
        body
    }

    /// Takes the `;` of a `let`. Without one, the body may still follow.
    pub(super) fn end_of_let(&mut self) {
        if self.eat(TokenKind::Semicolon) {
            return;
        }
        if self.at_word("in") {
            self.expected("`;`", Some("a `let` is written `let x = value; body`".to_string()));
            self.bump();
            return;
        }
        let next_line = self.on_next_line();
        let help = hint::in_place_of_operator(self)
            .or(Some("a `let` is written `let x = value; body`".to_string()));
        self.report(|p| {
            Diagnostic::error(format!("expected `;` behind this `let`, found {}", p.found()))
                .at(p.behind(), "expected `;`")
                .help_if(help)
        });
        // On the next line the body may follow; on the same one there is more wrong than the `;`.
        if !(next_line && starts_expr(self)) {
            self.skip_to_boundary();
            self.eat(TokenKind::Semicolon);
        }
    }

    /// Takes `=`, or complains and takes what may have been meant.
    pub(super) fn equal_sign(&mut self, context: &str) -> bool {
        let here = self.expect(TokenKind::Equal, context);
        let meant = [TokenKind::ColonEqual, TokenKind::FatArrow, TokenKind::EqualEqual];
        here || meant.into_iter().any(|kind| self.eat(kind))
            || self.skip_one_before(TokenKind::Equal)
    }

    /// `if c then a else b`
    fn conditional(&mut self) -> ExprKind {
        let start = self.here();
        self.bump();
        let condition = self.enclosed_expr();
        if !self.keyword_of_if(TokenKind::Then, start) {
            return ExprKind::Error;
        }
        let yes = self.enclosed_expr();
        if !self.keyword_of_if(TokenKind::Else, start) {
            return ExprKind::Error;
        }
        let no = self.expr();
        ExprKind::If(Box::new(condition), Box::new(yes), Box::new(no))
    }

    /// Takes `then` or `else`. Where something else stands, what follows the next one is still
    /// read.
    fn keyword_of_if(&mut self, kind: TokenKind, start: Span) -> bool {
        if self.eat(kind) {
            return true;
        }
        let help = hint::in_place_of_operator(self)
            .unwrap_or("every `if` has the form `if c then a else b`".to_string());
        let word = kind.spelling().unwrap_or("then");
        self.report(|p| {
            Diagnostic::error(format!("expected `{word}`, found {}", p.found()))
                .at(p.here(), format!("expected `{word}`"))
                .also(start, "for this `if`")
                .help(help)
        });
        self.skip_to(kind);
        self.eat(kind)
    }
}
