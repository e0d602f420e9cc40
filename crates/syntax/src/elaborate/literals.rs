//! Literals, and which of them still look for a type.

use lift_ir::{Expr, Literal, Prim, Scalar, Span, Type, UnaryOp, table};

use super::errors::error;
use super::scope::{Binding, Declaration, Env};
use super::{Elaborator, Hint, Result};
use crate::ast::{self, ExprKind, Limit};

/// How much of its type an expression fixes by itself; what fixes more is elaborated first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Firmness {
    /// Has a type of its own.
    Firm,
    /// Made of float literals without a suffix.
    Float,
    /// Made of integer literals without a suffix, or of sizes.
    Integer,
}

impl<'a> Elaborator<'a> {
    pub(super) fn int(
        &self,
        value: u64,
        suffix: ast::Suffix,
        span: Span,
        hint: Hint,
    ) -> Result<Expr> {
        let wanted = suffix.or(wanted_number(hint)).unwrap_or(Scalar::I32);
        // A hint from a fold's start only chooses among types of the literal's own kind.
        let wanted = match hint {
            Hint::Literals(s) if suffix.is_none() && !s.is_integer() => Scalar::I32,
            _ => wanted,
        };
        let literal = if wanted.is_float() {
            Literal::parse_float(wanted, &value.to_string())
        } else {
            Literal::int(wanted, i128::from(value))
        };
        match literal {
            Some(literal) => Ok(self.cx.literal(literal)),
            None => error(span, format!("{value} is not a value of `{wanted}`")),
        }
    }

    pub(super) fn float(
        &self,
        text: &str,
        suffix: ast::Suffix,
        span: Span,
        hint: Hint,
    ) -> Result<Expr> {
        let wanted = suffix.or(wanted_number(hint).filter(|s| s.is_float()));
        let wanted = wanted.unwrap_or(Scalar::F32);
        match Literal::parse_float(wanted, text) {
            Some(literal) if fits(text, literal) => Ok(self.cx.literal(literal)),
            _ => error(span, format!("`{text}` is not a value of `{wanted}`")),
        }
    }

    /// `T::min`, `T::max`
    pub(super) fn limit(&self, scalar: Scalar, limit: Limit, span: Span) -> Result<Expr> {
        let literal = match (scalar.integer_range(), limit) {
            (Some((low, _)), Limit::Min) => Literal::int(scalar, low),
            (Some((_, high)), Limit::Max) => Literal::int(scalar, high),
            (None, _) => {
                let largest = match scalar {
                    Scalar::F16 => 65504.0,
                    Scalar::F32 => f64::from(f32::MAX),
                    _ => f64::MAX,
                };
                Literal::float(scalar, if limit == Limit::Min { -largest } else { largest })
            }
        };
        match literal {
            Some(literal) => Ok(self.cx.literal(literal)),
            None => error(span, format!("`{scalar}` has no smallest or largest value")),
        }
    }

    /// `-1`, `-1.0`, `-inf` are literals, so that every value of a type can be written.
    pub(super) fn negated_literal(
        &self,
        inner: &'a ast::Expr,
        env: &Env<'a>,
        hint: Hint,
    ) -> Result<Option<Expr>> {
        let literal = match &inner.kind {
            ExprKind::Int(value, suffix) => {
                // One more than the largest value is the negative of the smallest one.
                let wanted = suffix.or(wanted_number(hint)).unwrap_or(Scalar::I32);
                if wanted.is_integer() && !matches!(hint, Hint::Literals(_)) {
                    let value = -i128::from(*value);
                    return match Literal::int(wanted, value) {
                        Some(literal) => Ok(Some(self.cx.literal(literal))),
                        None => error(inner.span, format!("{value} is not a value of `{wanted}`")),
                    };
                }
                self.int(*value, *suffix, inner.span, hint)?
            }
            ExprKind::Float(text, suffix) => self.float(text, *suffix, inner.span, hint)?,
            ExprKind::Name(name) if self.is_special(name, env) => {
                self.float(name, None, inner.span, hint)?
            }
            ExprKind::Cast(value, _) if matches!(&value.kind, ExprKind::Name(n) if self.is_special(n, env)) => {
                self.expr(inner, env, hint)?
            }
            _ => return Ok(None),
        };
        let lift_ir::Kind::Literal(literal) = literal.kind() else { return Ok(None) };
        let negated = match *literal {
            Literal::Int(scalar, value) => Literal::int(scalar, -value),
            Literal::F16(bits) => Some(Literal::F16(bits ^ 0x8000)),
            Literal::F32(bits) => Some(Literal::F32(bits ^ 0x8000_0000)),
            Literal::F64(bits) => Some(Literal::F64(bits ^ 0x8000_0000_0000_0000)),
            Literal::Bool(_) => None,
        };
        match negated {
            Some(literal) => Ok(Some(self.cx.literal(literal))),
            None => error(inner.span, "this number has no negative in its type"),
        }
    }

    /// `inf` and `nan`, unless something else is called so.
    pub(super) fn is_special(&self, name: &str, env: &Env<'a>) -> bool {
        matches!(name, "inf" | "nan")
            && env.get(name).is_none()
            && self.module.find(env.home, name).is_none()
    }

    pub(super) fn firmness(&self, ast: &ast::Expr, env: &Env<'a>) -> Firmness {
        use Firmness::{Firm, Float, Integer};
        match &ast.kind {
            ExprKind::Int(_, None) => Integer,
            ExprKind::Float(_, None) => Float,
            ExprKind::Paren(inner) | ExprKind::Unary(UnaryOp::Neg | UnaryOp::BitNot, inner) => {
                self.firmness(inner, env)
            }
            ExprKind::Name(name) if self.is_special(name, env) => Float,
            ExprKind::Name(name) => match env.get(name) {
                Some(Binding::Size(_)) => Integer,
                Some(_) => Firm,
                None => match self.module.find(env.home, name) {
                    Some((Declaration::Const(constant), home)) => {
                        self.firmness(&constant.value, &Env::new(home))
                    }
                    _ => Firm,
                },
            },
            ExprKind::Binary(op, left, right) if op.is_arithmetic() || op.is_bitwise() => {
                self.firmness(left, env).min(self.firmness(right, env))
            }
            ExprKind::If(_, then, otherwise) => {
                self.firmness(then, env).min(self.firmness(otherwise, env))
            }
            ExprKind::Tuple(items) | ExprKind::Array(items) => {
                items.iter().map(|i| self.firmness(i, env)).min().unwrap_or(Firm)
            }
            ExprKind::Call(head, args) => match &head.kind {
                _ if self.is_size(ast, env) => Integer,
                ExprKind::Name(name) if env.get(name).is_none() => {
                    let numeric = table::pattern(name).is_some_and(|p| {
                        let table::Make::Prim(Prim::Math(math)) = &p.make else { return false };
                        math.keeps_type()
                    });
                    if !numeric || self.module.find(env.home, name).is_some() {
                        return Firm;
                    }
                    args.iter().map(|a| self.firmness(a, env)).min().unwrap_or(Firm)
                }
                _ => Firm,
            },
            ExprKind::Field(..) if self.is_size(ast, env) => Integer,
            _ => Firm,
        }
    }

    /// Elaborates expressions that must agree in type: those that fix it first, the others then
    /// take it. `scalar_only` where a vector's scalar is what the others take (broadcasting).
    pub(super) fn agreeing(
        &self,
        asts: &[(&super::Given<'a>, Hint)],
        scalar_only: bool,
    ) -> Result<Vec<Expr>> {
        if !scalar_only && let Some(made) = self.agreeing_tuples(asts) {
            return made;
        }
        let mut order: Vec<(Firmness, usize)> = asts
            .iter()
            .enumerate()
            .map(|(i, (given, _))| match given {
                super::Given::Ast(ast, env) => (self.firmness(ast, env), i),
                super::Given::Value(..) => (Firmness::Firm, i),
            })
            .collect();
        order.sort_by_key(|(firmness, i)| (*firmness, *i));
        let mut fixed: Option<Type> = None;
        let mut results: Vec<Option<Result<Expr>>> = asts.iter().map(|_| None).collect();
        for (firmness, i) in order {
            let (given, outer) = asts[i];
            let hint = match &fixed {
                Some(ty) => Hint::Type(ty),
                None => outer,
            };
            let result = self.value(given, hint);
            if let Ok(expr) = &result
                && fixed.is_none()
                && (firmness == Firmness::Firm || matches!(outer, Hint::None))
            {
                fixed = match (scalar_only, expr.ty().element_scalar()) {
                    (true, Some(scalar)) => Some(Type::Scalar(scalar)),
                    (true, None) => None,
                    (false, _) => Some(expr.ty().clone()),
                };
            }
            results[i] = Some(result);
        }
        super::errors::all(results.into_iter().flatten())
    }

    /// The same of tuples that are written out, component by component: in `(x, 0.0)` and `(0.0, y)` each number takes
    /// the type of the other component.
    fn agreeing_tuples(&self, asts: &[(&super::Given<'a>, Hint)]) -> Option<Result<Vec<Expr>>> {
        let mut tuples = Vec::new();
        for (given, hint) in asts {
            let super::Given::Ast(ast, env) = given else { return None };
            let ExprKind::Tuple(items) = &super::sizes::unwrapped(ast).kind else { return None };
            tuples.push((items, env, *hint, ast.span));
        }
        let (first, ..) = tuples.first()?;
        if tuples.len() < 2 || tuples.iter().any(|(items, ..)| items.len() != first.len()) {
            return None;
        }
        let columns = (0..first.len()).map(|i| {
            let column = tuples.iter().filter_map(|(items, env, hint, _)| {
                Some((super::Given::Ast(items.get(i)?, (*env).clone()), hint.component(i)))
            });
            let column: Vec<_> = column.collect();
            let column: Vec<_> = column.iter().map(|(given, hint)| (given, *hint)).collect();
            self.agreeing(&column, false)
        });
        let columns = match super::errors::all(columns) {
            Ok(columns) => columns,
            Err(errors) => return Some(Err(errors)),
        };
        let made = tuples.iter().enumerate().map(|(row, (items, _, _, span))| {
            let values = columns.iter().filter_map(|column| column.get(row).cloned()).collect();
            self.build_from(Prim::Tuple, values, items, *span)
        });
        Some(super::errors::all(made))
    }
}

/// Whether a number became infinite only where it was written so.
fn fits(text: &str, literal: Literal) -> bool {
    text == "inf" || literal.as_f64().is_none_or(|v| !v.is_infinite())
}

/// The scalar a number literal should take.
fn wanted_number(hint: Hint) -> Option<Scalar> {
    match hint {
        Hint::None => None,
        Hint::Type(ty) => ty.element_scalar().filter(|s| s.is_number()),
        Hint::Literals(scalar) => Some(scalar).filter(|s| s.is_number()),
    }
}

/// Whether literals without a suffix occur: their type may have to be found by trying.
pub(super) fn has_open_literal(ast: &ast::Expr) -> bool {
    match &ast.kind {
        ExprKind::Int(_, None) | ExprKind::Float(_, None) => true,
        ExprKind::Name(name) => matches!(name.as_str(), "inf" | "nan"),
        ExprKind::Paren(inner) | ExprKind::Unary(_, inner) => has_open_literal(inner),
        ExprKind::Binary(_, a, b) | ExprKind::Pipe(a, b) => {
            has_open_literal(a) || has_open_literal(b)
        }
        ExprKind::Lambda(_, body) => has_open_literal(body),
        ExprKind::Tuple(items) | ExprKind::Array(items) | ExprKind::Vector(_, _, items) => {
            items.iter().any(has_open_literal)
        }
        ExprKind::Call(_, args) => args.iter().any(has_open_literal),
        _ => false,
    }
}
