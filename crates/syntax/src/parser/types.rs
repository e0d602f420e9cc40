//! Types as they are written.

use lift_ir::{Scalar, Span};

use super::{Parser, hint, primary};
use crate::ast::{Expr, ExprKind, Type, TypeKind};
use crate::lexer::{Token, TokenKind};

pub(super) fn starts_type(p: &Parser) -> bool {
    matches!(p.kind(), TokenKind::Name | TokenKind::LeftParen | TokenKind::LeftBracket)
}

/// `f32x4` as its scalar and `4`. The digits are missing in `f32x`, which is part of `f32x{m}`.
pub(super) fn vector(text: &str) -> Option<(Scalar, &str)> {
    let (scalar, digits) = text.split_once('x')?;
    let scalar = Scalar::from_name(scalar)?;
    digits.bytes().all(|b| b.is_ascii_digit()).then_some((scalar, digits))
}

impl Parser<'_> {
    /// A type, function types included.
    pub(super) fn ty(&mut self) -> Type {
        self.type_of(true)
    }

    pub(super) fn type_without_arrow(&mut self) -> Type {
        self.type_of(false)
    }

    fn type_of(&mut self, arrow: bool) -> Type {
        let start = self.token().start;
        let failed = Type { kind: TypeKind::Error, span: self.here() };
        self.nested(failed, |p| {
            let mut parts = p.type_atom();
            if arrow && p.at(TokenKind::Arrow) {
                p.bump();
                let result = p.ty();
                p.grow();
                let kind = TypeKind::Function(parts, Box::new(result));
                return Type { kind, span: p.since(start) };
            }
            p.grow();
            match parts.pop() {
                // Brackets around one type mean nothing, but belong to its place.
                Some(only) if parts.is_empty() => Type { kind: only.kind, span: p.since(start) },
                Some(last) => {
                    parts.push(last);
                    Type { kind: TypeKind::Tuple(parts), span: p.since(start) }
                }
                None => Type { kind: TypeKind::Error, span: p.since(start) },
            }
        })
    }

    /// One type, or the types between parentheses: a tuple, or the parameters of a function.
    fn type_atom(&mut self) -> Vec<Type> {
        let token = self.token();
        let kind = match self.kind() {
            TokenKind::Name => self.named_type(),
            TokenKind::LeftBracket => self.array_type(),
            TokenKind::LeftParen if self.ahead(1) == TokenKind::RightParen => {
                self.bump();
                self.expected("a type", Some("there is no empty tuple".to_string()));
                self.bump();
                TypeKind::Error
            }
            TokenKind::LeftParen => return self.list(starts_type, |p| Some(p.ty())),
            _ => {
                self.expected("a type", hint::in_place_of_type(self));
                return vec![Type { kind: TypeKind::Error, span: self.here() }];
            }
        };
        vec![Type { kind, span: self.since(token.start) }]
    }

    fn named_type(&mut self) -> TypeKind {
        let token = self.token();
        let text = self.token_text(token);
        if let Some((scalar, width)) = self.vector_name() {
            return TypeKind::Vector(scalar, Box::new(width));
        }
        self.bump();
        match text {
            "nat" => TypeKind::Nat,
            "boundary" => TypeKind::Boundary,
            "permutation" => TypeKind::Permutation,
            _ => match Scalar::from_name(text) {
                Some(scalar) => TypeKind::Scalar(scalar),
                None => TypeKind::Name(text.to_string()),
            },
        }
    }

    fn array_type(&mut self) -> TypeKind {
        let list = self.open_list(starts_type);
        let element = self.ty();
        if self.at_word("in") {
            self.bump();
            let domain = self.domain();
            self.close_list(list);
            return TypeKind::Over(Box::new(element), Box::new(domain));
        }
        let size = if self.eat(TokenKind::Semicolon) {
            self.expr()
        } else {
            let help = "an array type is written `[element; size]`".to_string();
            self.expected("`;` and the size of the array", Some(help));
            self.skip_to_boundary();
            if self.eat(TokenKind::Comma) || self.eat(TokenKind::Semicolon) {
                self.expr()
            } else {
                Expr { kind: ExprKind::Error, span: self.here() }
            }
        };
        self.close_list(list);
        TypeKind::Array(Box::new(element), Box::new(size))
    }

    /// Takes `f32x4` or `f32x{m}` if it is next: the scalar and the width.
    pub(super) fn vector_name(&mut self) -> Option<(Scalar, Expr)> {
        let token = self.token();
        let (scalar, digits) = vector(self.token_text(token))?;
        if digits.is_empty() {
            if self.ahead(1) != TokenKind::LeftBrace {
                return None;
            }
            self.bump();
            let list = self.open_list(primary::starts_expr);
            let width = self.expr();
            self.close_list(list);
            return Some((scalar, width));
        }
        let width = self.vector_width(token, digits);
        self.bump();
        Some((scalar, width))
    }

    fn vector_width(&mut self, token: Token, digits: &str) -> Expr {
        let span = Span::new(self.file, token.end - digits.len() as u32, token.end);
        let kind = match digits.parse() {
            Ok(width) => ExprKind::Int(width, None),
            Err(_) => {
                self.expected("a vector type", Some("widths are 2, 3, 4, 8 and 16".to_string()));
                ExprKind::Error
            }
        };
        Expr { kind, span }
    }
}
