//! Types as written, and matching them against the types of arguments.

use std::collections::HashMap;

use lift_ir::{Nat, Span, Type, Var};

use super::errors::{Errors, all, both, error};
use super::scope::{Binding, Env, Home};
use super::{Elaborator, Result};
use crate::ast::{self, ExprKind, TypeKind};
use crate::diagnostic::Diagnostic;

/// What is known so far of a definition's size and type variables at a call.
pub(super) struct Instance<'a> {
    /// Whose domains its types name.
    pub home: Home,
    pub sizes: HashMap<&'a str, Option<Nat>>,
    pub types: HashMap<&'a str, Option<Type>>,
    /// Sizes that are not bare variables: compared once all variables are known.
    pub deferred: Vec<Deferred<'a>>,
}

pub(super) struct Deferred<'a> {
    pub written: Written<'a>,
    pub actual: Nat,
    pub span: Span,
}

/// A length as a type says it.
#[derive(Clone, Copy)]
pub(super) enum Written<'a> {
    Size(&'a ast::Expr),
    /// One of the lengths of an array over a domain, outermost first.
    Length(&'a ast::Expr, usize),
}

impl<'a> Elaborator<'a> {
    pub(super) fn written_size(&self, written: Written<'a>, env: &Env<'a>) -> Result<Nat> {
        match written {
            Written::Size(ast) => self.size(ast, env),
            Written::Length(domain, at) => {
                let used = self.domain(domain, env)?;
                let lengths = self.lengths(&used, domain.span)?;
                Ok(lengths.get(at).cloned().unwrap_or(Nat::ONE))
            }
        }
    }

    pub(super) fn ty(&self, ast: &'a ast::Type, env: &Env<'a>) -> Result<Type> {
        match &ast.kind {
            TypeKind::Scalar(s) => Ok(Type::Scalar(*s)),
            TypeKind::Vector(s, width) => {
                let size = self.size(width, env)?;
                match size.as_int() {
                    Some(w) if ![2, 3, 4, 8, 16].contains(&w) => {
                        error(ast.span, format!("a vector has 2, 3, 4, 8 or 16 lanes, not {w}"))
                    }
                    _ => Ok(Type::Vector(*s, self.cx.simplify(&size))),
                }
            }
            TypeKind::Name(name) => match env.get(name) {
                Some(Binding::Type(ty)) => Ok(ty.clone()),
                _ => {
                    let scalars = lift_ir::Scalar::ALL.map(|s| s.name());
                    let mut error =
                        Diagnostic::error(format!("`{name}` is not a type")).at(ast.span, "");
                    let help = crate::suggest::did_you_mean(name, scalars)
                        .unwrap_or_else(|| format!("the scalar types are {}", scalars.join(", ")));
                    error = error.help(help);
                    Err(Errors::one(error))
                }
            },
            TypeKind::Tuple(items) => Ok(Type::tuple(all(items.iter().map(|t| self.ty(t, env)))?)),
            TypeKind::Array(element, length) => {
                let (element, size) = both(self.ty(element, env), self.size(length, env))?;
                let size = self.cx.simplify(&size);
                if size.as_int().is_some_and(|n| n < 0) {
                    return error(length.span, format!("the length of an array is {size}"));
                }
                Ok(Type::array(element, size))
            }
            TypeKind::Over(element, domain) => {
                let (element, domain) = both(self.ty(element, env), self.domain(domain, env))?;
                self.type_over(element, &domain, ast.span)
            }
            TypeKind::Function(..) => error(
                ast.span,
                "functions are not values: only a parameter of a `def` may have this type",
            ),
            TypeKind::Nat | TypeKind::Boundary | TypeKind::Permutation => {
                error(ast.span, "only a parameter of a `def` may have this type")
            }
            TypeKind::Error => Err(Errors(Vec::new())),
        }
    }

    /// Finds the variables of a written type by comparing it with an actual one.
    /// False where the shapes differ; sizes that are no bare variables are left for later.
    pub(super) fn matches(
        &self,
        written: &'a ast::Type,
        actual: &Type,
        span: Span,
        instance: &mut Instance<'a>,
    ) -> bool {
        match (&written.kind, actual) {
            (TypeKind::Scalar(s), Type::Scalar(t)) => s == t,
            (TypeKind::Vector(s, width), Type::Vector(t, n)) => {
                s == t && self.size_matches(width, n, span, instance)
            }
            (TypeKind::Tuple(items), Type::Tuple(components)) => {
                items.len() == components.len()
                    && items
                        .iter()
                        .zip(components.iter())
                        .all(|(item, component)| self.matches(item, component, span, instance))
            }
            (TypeKind::Array(element, length), Type::Array(actual, n)) => {
                self.size_matches(length, n, span, instance)
                    && self.matches(element, actual, span, instance)
            }
            (TypeKind::Over(element, domain), _) => {
                self.domain_matches(element, domain, actual, span, instance)
            }
            (TypeKind::Name(name), _) => match instance.types.get_mut(name.as_str()) {
                Some(Some(known)) => self.cx.same_type(known, actual),
                Some(unknown) => {
                    *unknown = Some(actual.clone());
                    true
                }
                None => false,
            },
            _ => false,
        }
    }

    pub(super) fn size_matches(
        &self,
        written: &'a ast::Expr,
        actual: &Nat,
        span: Span,
        instance: &mut Instance<'a>,
    ) -> bool {
        if let ExprKind::Name(name) = &written.kind
            && let Some(known) = instance.sizes.get_mut(name.as_str())
        {
            return match known {
                Some(known) => self.cx.same_size(known, actual),
                unknown => {
                    *unknown = Some(actual.clone());
                    true
                }
            };
        }
        let written = Written::Size(written);
        instance.deferred.push(Deferred { written, actual: actual.clone(), span });
        true
    }

    /// The value of `var` for which `written == actual`, where `written` is linear in it.
    pub(super) fn solve(&self, written: &Nat, var: &Var, actual: &Nat) -> Option<Nat> {
        let at = |value: i128| written.substitute(&|v| (v == var).then(|| Nat::int(value)));
        let offset = at(0);
        let slope = at(1) - &offset;
        let line = &slope * &Nat::var(var) + &offset;
        if slope.mentions(var) || !self.cx.same_size(&line, written) {
            return None;
        }
        let rest = self.cx.simplify(&(actual - &offset));
        let divides = lift_ir::Pred::Divides { divisor: slope.clone(), of: rest.clone() };
        self.cx.proves(&divides).then(|| self.cx.simplify(&rest.exact_div(&slope)))
    }
}
