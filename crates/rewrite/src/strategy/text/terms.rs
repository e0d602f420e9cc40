//! What strategies are written in terms of besides strategies: sizes, comparisons and conditions.

use lift_ir::{BinaryOp, Nat, Pred, UnaryOp, Var, table};
use lift_syntax::ast::{Expr, ExprKind};

use super::{Read, Reader, Scope, mistake};
use crate::strategy::Condition;
use lift_syntax::suggest::nearest;

const CONDITIONS: &str = "write the name of a pattern, `contains(p)`, `holds(p, c)`, `of(p, c)`, a comparison with `length` or `inner`, or combine them by `&&`, `||`, `!`";

impl<'a> Reader<'a> {
    /// A size in terms of names of the program.
    pub(in crate::strategy) fn size(&self, expr: &'a Expr, scope: &Scope<'a>) -> Read<Nat> {
        let no = || Err(mistake(expr, "expected a size"));
        match &expr.kind {
            ExprKind::Paren(inner) => self.size(inner, scope),
            ExprKind::Int(value, None) => Ok(Nat::int(i128::from(*value))),
            ExprKind::Name(name) => match scope.lookup(name) {
                Some((bound, outer)) => self.size(bound, &outer),
                None => match self.meaning(name) {
                    Some(what) => {
                        Err(mistake(expr, format!("expected a size, and `{name}` is {what}")))
                    }
                    None => Ok(Nat::var(&Var::named(name))),
                },
            },
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.size(a, scope)?, self.size(b, scope)?);
                match op {
                    BinaryOp::Add => Ok(a + b),
                    BinaryOp::Sub => Ok(a - b),
                    BinaryOp::Mul => Ok(a * b),
                    BinaryOp::Div => Ok(a.div(&b)),
                    BinaryOp::Rem => Ok(a.rem(&b)),
                    _ => no(),
                }
            }
            ExprKind::Call(head, args) => match (&head.kind, args.as_slice()) {
                (ExprKind::Name(name), [a, b]) => {
                    let (a, b) = (self.size(a, scope)?, self.size(b, scope)?);
                    match name.as_str() {
                        "min" => Ok(Nat::min(&a, &b)),
                        "max" => Ok(Nat::max(&a, &b)),
                        "ceil_div" => Ok(a.ceil_div(&b)),
                        _ => no(),
                    }
                }
                _ => no(),
            },
            _ => no(),
        }
    }

    /// A comparison of sizes.
    pub(in crate::strategy) fn predicate(&self, expr: &'a Expr, scope: &Scope<'a>) -> Read<Pred> {
        match &expr.kind {
            ExprKind::Paren(inner) => self.predicate(inner, scope),
            ExprKind::Binary(BinaryOp::And, a, b) => {
                Ok(Pred::And(vec![self.predicate(a, scope)?, self.predicate(b, scope)?]))
            }
            ExprKind::Binary(op, a, b) => {
                if let (
                    BinaryOp::Eq,
                    ExprKind::Binary(BinaryOp::Rem, of, by),
                    ExprKind::Int(0, _),
                ) = (op, &a.kind, &b.kind)
                {
                    return Ok(Pred::divides(self.size(by, scope)?, self.size(of, scope)?));
                }
                let (a, b) = (self.size(a, scope)?, self.size(b, scope)?);
                match op {
                    BinaryOp::Eq => Ok(Pred::Eq(a, b)),
                    BinaryOp::Ne => Ok(Pred::Ne(a, b)),
                    BinaryOp::Lt => Ok(Pred::Lt(a, b)),
                    BinaryOp::Le => Ok(Pred::Le(a, b)),
                    BinaryOp::Gt => Ok(Pred::Lt(b, a)),
                    BinaryOp::Ge => Ok(Pred::Le(b, a)),
                    _ => Err(mistake(expr, "expected a comparison of sizes")),
                }
            }
            _ => Err(mistake(expr, "expected a comparison of sizes")),
        }
    }

    pub(super) fn condition(&self, expr: &'a Expr, scope: &Scope<'a>) -> Read<Condition> {
        match &expr.kind {
            ExprKind::Paren(inner) => self.condition(inner, scope),
            ExprKind::Name(name) => match scope.lookup(name) {
                Some((bound, outer)) => self.condition(bound, &outer),
                None => pattern_name(name, expr).map(Condition::Is),
            },
            ExprKind::Unary(UnaryOp::Not, inner) => {
                Ok(Condition::Not(Box::new(self.condition(inner, scope)?)))
            }
            ExprKind::Binary(BinaryOp::And, a, b) => {
                Ok(Condition::All(vec![self.condition(a, scope)?, self.condition(b, scope)?]))
            }
            ExprKind::Binary(BinaryOp::Or, a, b) => {
                Ok(Condition::Any(vec![self.condition(a, scope)?, self.condition(b, scope)?]))
            }
            ExprKind::Call(head, args) => match (&head.kind, args.as_slice()) {
                (ExprKind::Name(name), [inner]) if name == "contains" => {
                    Ok(Condition::Contains(self.pattern(inner, scope)?))
                }
                (ExprKind::Name(name), [outer, inner]) if name == "holds" => {
                    let inner = Box::new(self.condition(inner, scope)?);
                    Ok(Condition::Holds(self.pattern(outer, scope)?, inner))
                }
                (ExprKind::Name(name), [outer, inner]) if name == "of" => {
                    let inner = Box::new(self.condition(inner, scope)?);
                    Ok(Condition::Of(self.pattern(outer, scope)?, inner))
                }
                _ => Err(mistake(expr, "expected a condition").help(CONDITIONS)),
            },
            ExprKind::Binary(..) => self.predicate(expr, scope).map(Condition::Proves),
            _ => Err(mistake(expr, "expected a condition").help(CONDITIONS)),
        }
    }

    pub(super) fn pattern(&self, expr: &'a Expr, scope: &Scope<'a>) -> Read<String> {
        match self.condition(expr, scope)? {
            Condition::Is(name) => Ok(name),
            _ => Err(mistake(expr, "expected the name of a pattern")),
        }
    }
}

fn pattern_name(name: &str, expr: &Expr) -> Read<String> {
    if table::pattern(name).is_some() || matches!(name, "let" | "value" | "layout") {
        return Ok(name.to_string());
    }
    let meant = nearest(name, table::PATTERNS.iter().map(|p| p.name));
    let text = format!("there is no pattern `{name}`");
    Err(mistake(expr, text).help_if(meant.map(|m| format!("did you mean `{m}`?"))))
}
