//! Expressions: binary operators, signs, casts, and what follows an operand.

use lift_ir::{BinaryOp, Span, UnaryOp};

use super::{MAX_NESTING, Parser, primary};
use crate::ast::{Expr, ExprKind};
use crate::diagnostic::Diagnostic;
use crate::lexer::{Token, TokenKind};

/// What stands between two operands.
#[derive(Clone, Copy)]
enum Infix {
    Pipe,
    Binary(BinaryOp),
    /// `p in D`
    In,
    /// Not an operator of the language; reported already.
    Unknown,
}

impl Infix {
    /// Loosest first. All of them associate to the left.
    fn strength(self) -> u8 {
        match self {
            Infix::Pipe => 0,
            Infix::Binary(op) => op.strength(),
            Infix::In => BinaryOp::Lt.strength(),
            Infix::Unknown => u8::MAX,
        }
    }
}

/// An operand with the height of its tree.
struct Operand {
    expr: Expr,
    height: u32,
}

pub(super) fn binary_op(kind: TokenKind) -> Option<BinaryOp> {
    Some(match kind {
        TokenKind::OrOr => BinaryOp::Or,
        TokenKind::AndAnd => BinaryOp::And,
        TokenKind::EqualEqual => BinaryOp::Eq,
        TokenKind::NotEqual => BinaryOp::Ne,
        TokenKind::Less => BinaryOp::Lt,
        TokenKind::LessEqual => BinaryOp::Le,
        TokenKind::Greater => BinaryOp::Gt,
        TokenKind::GreaterEqual => BinaryOp::Ge,
        TokenKind::Or => BinaryOp::BitOr,
        TokenKind::Caret => BinaryOp::BitXor,
        TokenKind::And => BinaryOp::BitAnd,
        TokenKind::Shl => BinaryOp::Shl,
        TokenKind::Shr => BinaryOp::Shr,
        TokenKind::Plus => BinaryOp::Add,
        TokenKind::Minus => BinaryOp::Sub,
        TokenKind::Star => BinaryOp::Mul,
        TokenKind::Slash => BinaryOp::Div,
        TokenKind::Percent => BinaryOp::Rem,
        _ => return None,
    })
}

impl Parser<'_> {
    /// An expression as long as possible.
    ///
    /// Operators wait on a stack until a looser one follows, so that only brackets and the like,
    /// and not chains of operators, deepen the recursion.
    pub(super) fn expr(&mut self) -> Expr {
        let failed = self.error_expr();
        self.nested(failed, |p| {
            let first = p.operand();
            match p.infix() {
                Some(infix) => p.chain(first, infix),
                None => first,
            }
        })
    }

    /// An expression in a place with an end of its own, where `==` is an operator even in a test.
    pub(super) fn enclosed_expr(&mut self) -> Expr {
        let outer = std::mem::take(&mut self.stop_at_equal);
        let expr = self.expr();
        self.stop_at_equal = outer;
        expr
    }

    pub(super) fn error_expr(&self) -> Expr {
        Expr { kind: ExprKind::Error, span: self.here() }
    }

    fn chain(&mut self, first: Expr, infix: Infix) -> Expr {
        let mut last = Operand { expr: first, height: self.height };
        // Operands with the operator behind each, looser ones below tighter ones.
        let mut waiting: Vec<(Operand, Infix)> = Vec::new();
        let mut next = Some(infix);
        while let Some(infix) = next {
            while let Some((left, above)) =
                waiting.pop_if(|(_, above)| above.strength() >= infix.strength())
            {
                last = self.join(left, above, last);
            }
            waiting.push((last, infix));
            self.height = 0;
            let expr = match infix {
                Infix::In => self.domain(),
                Infix::Pipe | Infix::Binary(_) | Infix::Unknown => self.operand(),
            };
            last = Operand { expr, height: self.height };
            next = self.infix();
        }
        while let Some((left, infix)) = waiting.pop() {
            last = self.join(left, infix, last);
        }
        self.height = last.height;
        last.expr
    }

    fn join(&mut self, left: Operand, infix: Infix, right: Operand) -> Operand {
        self.height = left.height.max(right.height);
        self.grow();
        let span = left.expr.span.to(right.expr.span);
        self.refuse_chain(&left.expr, infix, span);
        let (left, right) = (Box::new(left.expr), Box::new(right.expr));
        let kind = match infix {
            Infix::Pipe => ExprKind::Pipe(left, right),
            Infix::Binary(op) => ExprKind::Binary(op, left, right),
            Infix::In => ExprKind::In(left, right),
            Infix::Unknown => ExprKind::Error,
        };
        Operand { expr: Expr { kind, span }, height: self.height }
    }

    /// Takes the operator that is next, if there is one.
    fn infix(&mut self) -> Option<Infix> {
        let kind = self.kind();
        if kind == TokenKind::EqualEqual && self.stop_at_equal {
            return None;
        }
        if kind == TokenKind::Or && self.bar {
            return None;
        }
        let infix = match kind {
            TokenKind::Name if self.at_membership() => Infix::In,
            TokenKind::PipeRight => Infix::Pipe,
            TokenKind::StarStar => {
                self.report(|p| {
                    Diagnostic::error(format!("{} is not an operator", p.found()))
                        .at(p.here(), "not an operator")
                        .help("a power is written `pow(x, y)`")
                });
                Infix::Binary(BinaryOp::Mul)
            }
            TokenKind::Unknown => {
                self.bump();
                return primary::starts_expr(self).then_some(Infix::Unknown);
            }
            _ => Infix::Binary(binary_op(kind)?),
        };
        self.bump();
        Some(infix)
    }

    /// `p in D` is no operand of another comparison.
    fn refuse_chain(&mut self, left: &Expr, infix: Infix, span: Span) {
        let compares = match infix {
            Infix::In => true,
            Infix::Binary(op) => op.is_comparison(),
            Infix::Pipe | Infix::Unknown => false,
        };
        let compared = match &left.kind {
            ExprKind::In(..) => true,
            ExprKind::Binary(op, ..) => op.is_comparison() && matches!(infix, Infix::In),
            _ => false,
        };
        if compares && compared {
            self.diagnostics.push(
                Diagnostic::error("`in` does not chain with other comparisons")
                    .at(span, "")
                    .help("put one of them in parentheses"),
            );
        }
    }

    /// Signs, then an operand with its casts: `-x as f32` is `-(x as f32)`.
    fn operand(&mut self) -> Expr {
        let mut signs: Vec<(UnaryOp, Token)> = Vec::new();
        loop {
            let op = match self.kind() {
                TokenKind::Minus => UnaryOp::Neg,
                TokenKind::Bang => UnaryOp::Not,
                TokenKind::Tilde => UnaryOp::BitNot,
                _ => break,
            };
            if self.nesting + signs.len() as u32 > MAX_NESTING {
                self.too_deep(&MAX_NESTING.to_string());
                break;
            }
            signs.push((op, self.bump()));
        }
        // The signs are levels to what they stand in front of.
        let levels = signs.len() as u32;
        self.nesting += levels;
        let mut expr = self.postfix();
        while self.eat(TokenKind::As) {
            let ty = self.type_without_arrow();
            self.grow();
            let span = expr.span.to(ty.span);
            expr = Expr { kind: ExprKind::Cast(Box::new(expr), ty), span };
        }
        self.nesting -= levels;
        for (op, token) in signs.into_iter().rev() {
            self.grow();
            let span = self.span(token).to(expr.span);
            expr = Expr { kind: ExprKind::Unary(op, Box::new(expr)), span };
        }
        expr
    }

    /// A primary expression with the calls, projections and indices behind it.
    fn postfix(&mut self) -> Expr {
        let mut expr = self.primary();
        let start = expr.span.start;
        loop {
            let kind = match self.kind() {
                TokenKind::LeftParen => {
                    let arguments = self.arguments();
                    ExprKind::Call(Box::new(expr), arguments)
                }
                TokenKind::LeftBracket => ExprKind::Index(Box::new(expr), self.indices()),
                TokenKind::Dot => match self.projection() {
                    Some(field) => ExprKind::Field(Box::new(expr), field),
                    None => ExprKind::Error,
                },
                _ => return expr,
            };
            self.grow();
            expr = Expr { kind, span: self.since(start) };
        }
    }

    /// `(a, b)` behind a function. Requires: the next token is `(`.
    pub(super) fn arguments(&mut self) -> Vec<Expr> {
        self.list(primary::starts_expr, |p| Some(p.expr()))
    }

    /// `.0`; none if what follows the dot is not a number, which is reported.
    fn projection(&mut self) -> Option<u32> {
        self.bump();
        let token = self.token();
        let field = match self.kind() {
            TokenKind::Int => self.token_text(token).parse().ok(),
            _ => None,
        };
        if field.is_none() {
            let help = match self.kind() {
                TokenKind::Name => {
                    format!("a function is applied as in `{}(x)`", self.token_text(token))
                }
                _ => "the parts of a tuple are `.0`, `.1` and so on".to_string(),
            };
            self.expected("the place of a tuple's part", Some(help));
        }
        if matches!(self.kind(), TokenKind::Int | TokenKind::Name) {
            self.bump();
        }
        field
    }
}
