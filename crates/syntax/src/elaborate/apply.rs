//! Applying a function to arguments.

use std::sync::Arc;

use lift_ir::{Expr, Kind, Param, Prim, Span, Type};

use super::errors::{Errors, Parts, all, error};
use super::functions::{Function, Head};
use super::scope::{Binding, Env, Home};
use super::zips::zipped_dimensions;
use super::{Elaborator, Given, Hint, Result};
use crate::ast::{self, PatternKind};
use crate::diagnostic::Diagnostic;

/// Values that were given a name because they are used under it: `let`s around the result.
pub(super) type Lets = Vec<(Param, Expr)>;

impl<'a> Elaborator<'a> {
    pub(super) fn apply(
        &self,
        function: &Function<'a>,
        more: Vec<Given<'a>>,
        span: Span,
        hint: Hint,
    ) -> Result<Expr> {
        self.step(span)?;
        let mut given = function.given.clone();
        given.extend(more);
        match &function.head {
            Head::Pattern(pattern) => self.pattern(pattern, given, span, hint),
            Head::Fn(f, home) => self.call_fn(f, *home, given, span),
            Head::Def(d, home) => match zipped_dimensions(&d.name.text) {
                Some(dimensions) if *home == Home::Prelude && given.len() > d.params.len() => {
                    self.zip_deep(dimensions, &given, span)
                }
                _ => self.call_def(d, *home, given, span),
            },
            Head::Extern(external) => {
                let params = external.params.iter();
                if external.params.len() != given.len() {
                    return Err(arity(&external.name, external.params.len(), given.len(), span));
                }
                let args =
                    all(params.zip(&given).map(|((_, ty), g)| self.value(g, Hint::Type(ty))))?;
                let parts = Parts::with_args(span, given.iter().map(Given::span));
                let prim = Prim::Extern(Arc::new((**external).clone()));
                self.build(prim, vec![], vec![], args, &parts)
            }
            Head::Section(op) => match given.as_slice() {
                [left, right] => self.binary(*op, left, right, span, hint),
                _ => Err(arity(&format!("({})", op.symbol()), 2, given.len(), span)),
            },
            Head::Compose(first, second) => {
                let value = self.apply_spread(first, given, Hint::None)?;
                self.apply_spread(second, vec![Given::Value(value, first.span)], hint)
            }
            Head::Domain(operation) => self.domain_operation(*operation, &given, span, hint),
            Head::Lambda(params, body, env) => {
                self.apply_lambda(params, body, env, given, span, hint)
            }
        }
    }

    fn apply_lambda(
        &self,
        params: &'a [ast::Pattern],
        body: &'a ast::Expr,
        env: &Env<'a>,
        mut given: Vec<Given<'a>>,
        span: Span,
        hint: Hint,
    ) -> Result<Expr> {
        bound_once(params)?;
        if given.len() < params.len() {
            return Err(arity("this function", params.len(), given.len(), span));
        }
        let rest = given.split_off(params.len());
        let values = all(given.iter().map(|g| self.value(g, Hint::None)))?;
        let (mut inner, mut lets) = (env.clone(), Lets::new());
        for (param, value) in params.iter().zip(values) {
            inner = self.bind_pattern(param, value, &inner, &mut lets)?;
        }
        let result = if rest.is_empty() {
            self.expr(body, &inner, hint)?
        } else {
            // `f(a)(b)` is `f(a, b)`: the body is the function of the rest.
            let function = self.function(body, &inner)?;
            self.apply(&function, rest, span, hint)?
        };
        Ok(self.close(lets, result))
    }

    /// Binds the names of a pattern to a value and its components. Whatever is more than an atom is
    /// computed once, under a name of its own.
    pub(super) fn bind_pattern(
        &self,
        pattern: &'a ast::Pattern,
        value: Expr,
        env: &Env<'a>,
        lets: &mut Lets,
    ) -> Result<Env<'a>> {
        match &pattern.kind {
            PatternKind::Wildcard => Ok(env.clone()),
            PatternKind::Name(name) => Ok(match self.size_of_index(&value) {
                Some(size) => env.bind(name, Binding::Index(value, size)),
                None => env.bind(name, Binding::Value(self.shared(name, value, lets))),
            }),
            PatternKind::Tuple(items) => {
                let found = match value.ty() {
                    Type::Tuple(components) if components.len() == items.len() => None,
                    ty => Some(ty.clone()),
                };
                if let Some(ty) = found {
                    let text =
                        format!("a tuple of {} components is expected, found `{ty}`", items.len());
                    return error(pattern.span, text);
                }
                let tuple = self.shared("t", value, lets);
                let mut inner = env.clone();
                for (index, item) in items.iter().enumerate() {
                    let component = self.field(tuple.clone(), index as u32, item.span)?;
                    inner = self.bind_pattern(item, component, &inner, lets)?;
                }
                Ok(inner)
            }
        }
    }

    /// The value itself if it is an atom, else a variable that stands for it.
    pub(super) fn shared(&self, name: &str, value: Expr, lets: &mut Lets) -> Expr {
        if value.is_atom() {
            return value;
        }
        let param = self.cx.fresh(name, value.ty().clone());
        let var = self.cx.var(&param);
        lets.push((param, value));
        var
    }

    /// Puts the named values around a result. A value used once, where it stands, needs no name.
    pub(super) fn close(&self, lets: Lets, result: Expr) -> Expr {
        lets.into_iter().rev().fold(result, |body, (param, value)| {
            if uses(&body, &param, false) <= 1 {
                return self.cx.substitute(&body, &[(param, value)]);
            }
            self.named(param, value, body)
        })
    }

    /// `let param = value; body`
    pub(super) fn named(&self, param: Param, value: Expr, body: Expr) -> Expr {
        let span = body.span();
        match self.cx.let_in(param, value, body) {
            Ok(made) => span.map_or(made.clone(), |span| made.with_span(span)),
            Err(error) => unreachable!("a variable is made with the type of its value: {error}"),
        }
    }

    /// The value an argument stands for.
    pub(super) fn value(&self, given: &Given<'a>, hint: Hint) -> Result<Expr> {
        match given {
            Given::Ast(ast, env) => self.expr(ast, env, hint),
            Given::Value(value, _) => Ok(value.clone()),
        }
    }
}

/// A name is bound once in one list of parameters.
pub(super) fn bound_once(patterns: &[ast::Pattern]) -> Result<()> {
    fn collect<'p>(pattern: &'p ast::Pattern, seen: &mut Vec<(&'p str, Span)>) -> Result<()> {
        match &pattern.kind {
            PatternKind::Wildcard => Ok(()),
            PatternKind::Name(name) => {
                if let Some((_, first)) = seen.iter().find(|(n, _)| n == name) {
                    return Err(Errors::one(
                        Diagnostic::error(format!("`{name}` is bound twice"))
                            .at(pattern.span, "bound again here")
                            .also(*first, "first bound here"),
                    ));
                }
                seen.push((name, pattern.span));
                Ok(())
            }
            PatternKind::Tuple(items) => items.iter().try_for_each(|p| collect(p, seen)),
        }
    }
    let mut seen = Vec::new();
    patterns.iter().try_for_each(|p| collect(p, &mut seen))
}

/// How often a variable is used; once under a lambda counts as often.
fn uses(expr: &Expr, param: &Param, under: bool) -> u32 {
    if !expr.mentions(param) {
        return 0;
    }
    match expr.kind() {
        Kind::Var(_) => 1 + u32::from(under),
        Kind::Literal(_) | Kind::Size(..) => 0,
        Kind::Let { value, body, .. } => {
            uses(value, param, under).saturating_add(uses(body, param, under))
        }
        Kind::Call(call) => {
            let inside = call.functions.iter().map(|f| uses(&f.body, param, true));
            let beside = call.args.iter().map(|a| uses(a, param, under));
            inside.chain(beside).fold(0, u32::saturating_add)
        }
    }
}

pub(super) fn arity(name: &str, takes: usize, found: usize, span: Span) -> Errors {
    let plural = if takes == 1 { "" } else { "s" };
    let name = if name.contains(' ') { name.to_string() } else { format!("`{name}`") };
    Errors::one(
        Diagnostic::error(format!("{name} takes {takes} argument{plural}, found {found}"))
            .at(span, ""),
    )
}
