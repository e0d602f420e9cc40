//! Calls of the user's functions and definitions: expanded where they stand.

use std::collections::HashMap;
use std::rc::Rc;

use lift_ir::{Expr, Nat, Pred, Range, Span, Type, Var};

use super::apply::{Lets, arity};
use super::errors::{Errors, all, error};
use super::literals::Firmness;
use super::scope::{Binding, Env, Home};
use super::types::Instance;
use super::{Elaborator, Given, Hint, Result};
use crate::ast::{self, TypeKind};
use crate::diagnostic::Diagnostic;

/// A definition at a call: its variables known, its arguments elaborated.
pub(super) struct Instantiated<'a> {
    /// Sizes, types, functions and rules, but not values.
    pub env: Env<'a>,
    /// The values, by parameter.
    pub values: Vec<(&'a ast::Param, Expr)>,
    instance: Instance<'a>,
}

impl<'a> Elaborator<'a> {
    pub(super) fn call_fn(
        &self,
        f: &'a ast::Fn,
        home: Home,
        given: Vec<Given<'a>>,
        span: Span,
    ) -> Result<Expr> {
        self.expand(span)?;
        if f.params.len() != given.len() {
            let errors = arity(&f.name.text, f.params.len(), given.len(), span);
            return Err(declared_here(errors, f.name.span));
        }
        let outer = Env::new(home);
        let args = all(f.params.iter().zip(&given).map(|(param, given)| {
            let ty = self.ty(&param.ty, &outer)?;
            let value = self.value(given, Hint::Type(&ty))?;
            self.expect_param(&f.name.text, param, &ty, &value, given.span())?;
            Ok(value)
        }))?;
        let (mut env, mut lets) = (outer, Lets::new());
        for (param, value) in f.params.iter().zip(args) {
            let shared = self.shared(&param.name.text, value, &mut lets);
            env = env.bind(&param.name.text, Binding::Value(shared));
        }
        let body = self.fn_body(f, &env)?;
        Ok(self.close(lets, body))
    }

    /// The body of a function, of the type it declares.
    pub(super) fn fn_body(&self, f: &'a ast::Fn, env: &Env<'a>) -> Result<Expr> {
        let ret = f.ret.as_ref().map(|ty| self.ty(ty, env)).transpose()?;
        let body = self.expr(&f.body, env, Hint::of(ret.as_ref()))?;
        self.expect_result(&f.name.text, ret.as_ref(), &body, f.body.span)?;
        Ok(body)
    }

    pub(super) fn expect_result(
        &self,
        name: &str,
        declared: Option<&Type>,
        body: &Expr,
        span: Span,
    ) -> Result<()> {
        match declared {
            Some(ty) if !self.cx.same_type(ty, body.ty()) => {
                let text = format!("`{name}` returns `{ty}`, but its body is `{}`", body.ty());
                error(span, text)
            }
            _ => Ok(()),
        }
    }

    fn expect_param(
        &self,
        name: &str,
        param: &ast::Param,
        wanted: &Type,
        value: &Expr,
        span: Span,
    ) -> Result<()> {
        if self.cx.same_type(wanted, value.ty()) {
            return Ok(());
        }
        let text =
            format!("`{name}` takes `{wanted}` for `{}`, found `{}`", param.name.text, value.ty());
        error(span, text)
    }

    pub(super) fn call_def(
        &self,
        def: &'a ast::Def,
        home: Home,
        given: Vec<Given<'a>>,
        span: Span,
    ) -> Result<Expr> {
        self.expand(span)?;
        let Instantiated { mut env, values, mut instance } =
            self.instantiate(def, home, &given, span)?;
        let mut lets = Lets::new();
        for (param, value) in values {
            let shared = self.shared(&param.name.text, value, &mut lets);
            env = env.bind(&param.name.text, Binding::Value(shared));
        }
        let body = self.def_body(def, &env, &mut instance);
        let body = body.map_err(|errors| inside_call(errors, def, home, span))?;
        Ok(self.close(lets, body))
    }

    /// The body of a definition, of the type it declares. A type variable that only the functions
    /// it is given determine is found from the body itself.
    fn def_body(
        &self,
        def: &'a ast::Def,
        env: &Env<'a>,
        instance: &mut Instance<'a>,
    ) -> Result<Expr> {
        let open = instance.types.values().any(Option::is_none);
        let Some(written) = def.ret.as_ref().filter(|_| open) else {
            let ret = def.ret.as_ref().map(|ty| self.ty(ty, env)).transpose()?;
            let body = self.expr(&def.body, env, Hint::of(ret.as_ref()))?;
            self.expect_result(&def.name.text, ret.as_ref(), &body, def.body.span)?;
            return Ok(body);
        };
        let body = self.expr(&def.body, env, Hint::None)?;
        instance.deferred.clear();
        let mut fits = self.matches(written, body.ty(), def.body.span, instance);
        for deferred in &instance.deferred {
            fits &= self.cx.same_size(&self.written_size(deferred.written, env)?, &deferred.actual);
        }
        if !fits {
            let text = format!("the body of `{}` is `{}`", def.name.text, body.ty());
            return Err(Errors::one(
                Diagnostic::error(text)
                    .at(def.body.span, "")
                    .also(written.span, "which is not of this type"),
            ));
        }
        Ok(body)
    }

    /// Finds the variables of a definition from the arguments, and checks its `where` clauses.
    pub(super) fn instantiate(
        &self,
        def: &'a ast::Def,
        home: Home,
        given: &[Given<'a>],
        span: Span,
    ) -> Result<Instantiated<'a>> {
        let name = &def.name.text;
        if def.params.len() != given.len() {
            let errors = arity(name, def.params.len(), given.len(), span);
            return Err(match home {
                Home::User => declared_here(errors, def.name.span),
                Home::Prelude => errors,
            });
        }
        let mut instance =
            Instance { home, sizes: HashMap::new(), types: HashMap::new(), deferred: Vec::new() };
        for generic in &def.generics {
            if generic.is_type {
                instance.types.insert(&generic.name.text, None);
            } else {
                instance.sizes.insert(&generic.name.text, None);
            }
        }
        let mut env = Env::new(home);
        let mut order: Vec<(Firmness, usize)> = Vec::new();
        for (index, (param, given)) in def.params.iter().zip(given).enumerate() {
            match self.static_binding(&param.ty, given)? {
                Some(binding) => env = env.bind(&param.name.text, binding),
                None => order.push((self.given_firmness(given), index)),
            }
        }
        // Arguments that fix their own type come first; literals then take what those fixed.
        order.sort_by_key(|(firmness, index)| (*firmness, *index));
        let mut values: Vec<(usize, Expr)> = Vec::new();
        for (_, index) in order {
            let (param, given) = (&def.params[index], &given[index]);
            let hint = self.hint_type(&param.ty, &env, &instance);
            let value = self.value(given, Hint::of(hint.as_ref()))?;
            if !self.matches(&param.ty, value.ty(), given.span(), &mut instance) {
                return Err(self.mismatch(def, param, &env, &instance, &value, given.span()));
            }
            values.push((index, value));
        }
        self.settle(def, &mut env, &mut instance, span)?;
        self.check_wheres(def, &env, span)?;
        values.sort_by_key(|(index, _)| *index);
        let values = values.into_iter().map(|(index, value)| (&def.params[index], value)).collect();
        Ok(Instantiated { env, values, instance })
    }

    /// What is not a value: a size, function, permutation or boundary.
    fn static_binding(&self, ty: &ast::Type, given: &Given<'a>) -> Result<Option<Binding<'a>>> {
        match (&ty.kind, given) {
            (TypeKind::Nat, _) => match self.size_tuple(given)? {
                size @ Binding::Size(_) => Ok(Some(size)),
                _ => error(given.span(), "one size is expected, found a tuple of them"),
            },
            (TypeKind::Tuple(items), _) if holds_sizes(items) => {
                let found = self.size_tuple(given)?;
                match &found {
                    Binding::Sizes(sizes) if sizes.len() == items.len() => Ok(Some(found)),
                    _ => {
                        error(given.span(), format!("a tuple of {} sizes is expected", items.len()))
                    }
                }
            }
            (TypeKind::Function(..), _) => {
                Ok(Some(Binding::Function(Rc::new(self.given_function(given)?))))
            }
            (TypeKind::Boundary | TypeKind::Permutation, Given::Ast(ast, env)) => {
                Ok(Some(Binding::Rule(ast, env.clone())))
            }
            _ => Ok(None),
        }
    }

    fn given_firmness(&self, given: &Given<'a>) -> Firmness {
        match given {
            Given::Ast(ast, env) => self.firmness(ast, env),
            Given::Value(..) => Firmness::Firm,
        }
    }

    /// The type of a parameter with unknown sizes left open, to give literals their type; `None`
    /// where it mentions a type that is not known yet.
    pub(super) fn hint_type(
        &self,
        ty: &'a ast::Type,
        env: &Env<'a>,
        instance: &Instance<'a>,
    ) -> Option<Type> {
        let mut env = env.clone();
        for (name, size) in &instance.sizes {
            let size = size.clone().unwrap_or_else(|| Nat::var(&Var::named(name)));
            env = env.bind(name, Binding::Size(size));
        }
        for (name, ty) in &instance.types {
            if let Some(ty) = ty {
                env = env.bind(name, Binding::Type(ty.clone()));
            }
        }
        self.supposing(|s| s.ty(ty, &env)).ok()
    }

    fn mismatch(
        &self,
        def: &'a ast::Def,
        param: &'a ast::Param,
        env: &Env<'a>,
        instance: &Instance<'a>,
        value: &Expr,
        span: Span,
    ) -> Errors {
        let wanted = self.hint_type(&param.ty, env, instance);
        let wanted = wanted.map_or_else(|| written(&param.ty), |ty| ty.to_string());
        let text = format!(
            "`{}` takes `{wanted}` for `{}`, found `{}`",
            def.name.text,
            param.name.text,
            value.ty()
        );
        Errors::one(Diagnostic::error(text).at(span, ""))
    }

    /// Binds every size and type variable, solving what the arguments left open.
    fn settle(
        &self,
        def: &'a ast::Def,
        env: &mut Env<'a>,
        instance: &mut Instance<'a>,
        span: Span,
    ) -> Result<()> {
        for generic in &def.generics {
            let name = generic.name.text.as_str();
            if let Some(Some(ty)) = instance.types.get(name) {
                *env = env.bind(name, Binding::Type(ty.clone()));
            }
            if let Some(Some(size)) = instance.sizes.get(name) {
                *env = env.bind(name, Binding::Size(size.clone()));
            }
        }
        for generic in def.generics.iter().filter(|g| !g.is_type) {
            let name = generic.name.text.as_str();
            if env.get(name).is_none() {
                let found = self.solve_deferred(name, env, instance);
                let Some(size) = found else {
                    return Err(self.unsolved(def, name, env, instance, span));
                };
                *env = env.bind(name, Binding::Size(size));
            }
        }
        for parameter in &def.parameters {
            let Some(default) = &parameter.default else {
                let text = format!(
                    "the parameter `{}` of `{}` has no default, so it cannot be called from a program",
                    parameter.name.text, def.name.text
                );
                return error(span, text);
            };
            let size = self.size(default, env)?;
            *env = env.bind(&parameter.name.text, Binding::Size(size));
        }
        for deferred in &instance.deferred {
            let written = self.written_size(deferred.written, env)?;
            if !self.cx.same_size(&written, &deferred.actual) {
                let text = format!(
                    "`{}` needs a length of `{}` here, found `{}`",
                    def.name.text,
                    self.cx.simplify(&written),
                    deferred.actual
                );
                return error(deferred.span, text);
            }
        }
        Ok(())
    }

    /// Why a size variable has no value at a call.
    fn unsolved(
        &self,
        def: &ast::Def,
        name: &'a str,
        env: &Env<'a>,
        instance: &Instance<'a>,
        span: Span,
    ) -> Errors {
        let inner = env.bind(name, Binding::Size(Nat::var(&Var::named(name))));
        for deferred in &instance.deferred {
            if let Ok(size) = self.supposing(|s| s.written_size(deferred.written, &inner))
                && size.mentions(&Var::named(name))
            {
                let text = format!(
                    "`{}` needs a length of `{size}` here, and no `{name}` makes that `{}`",
                    def.name.text, deferred.actual
                );
                return Errors::at(deferred.span, text);
            }
        }
        let text =
            format!("the size `{name}` of `{}` does not follow from the arguments", def.name.text);
        Errors::at(span, text)
    }

    /// The one unknown of a compound length such as `2 * N`.
    fn solve_deferred(&self, name: &'a str, env: &Env<'a>, instance: &Instance<'a>) -> Option<Nat> {
        instance.deferred.iter().find_map(|deferred| {
            let var = self.cx.fresh_index(name, Range::at_least(Nat::int(1)));
            let inner = env.bind(name, Binding::Size(Nat::var(&var)));
            let written = self.supposing(|s| s.written_size(deferred.written, &inner)).ok()?;
            if !written.mentions(&var) {
                return None;
            }
            self.solve(&written, &var, &deferred.actual)
        })
    }

    fn check_wheres(&self, def: &'a ast::Def, env: &Env<'a>, span: Span) -> Result<()> {
        for clause in &def.wheres {
            for pred in conjuncts(self.predicate(clause, env)?) {
                let held = match &pred {
                    // Bounds are passed on to whoever calls the caller.
                    Pred::Lt(..) | Pred::Le(..) => self.cx.require(&pred).is_ok(),
                    Pred::Eq(..) | Pred::Ne(..) | Pred::Divides { .. } | Pred::And(_) => {
                        self.cx.proves(&pred)
                    }
                };
                if !held {
                    let verb = if pred.vars().is_empty() || self.cx.refutes(&pred) {
                        "does not hold"
                    } else {
                        "cannot be proved"
                    };
                    let text = format!("`{}` needs `{pred}`, which {verb}", def.name.text);
                    let mut diagnostic = Diagnostic::error(text).at(span, "in this call");
                    diagnostic = diagnostic.also(clause.span, "required here");
                    if verb == "cannot be proved" {
                        diagnostic = diagnostic.help(format!("state it: `where {pred}`"));
                    }
                    return Err(Errors::one(diagnostic));
                }
            }
        }
        Ok(())
    }
}

fn declared_here(errors: Errors, name: Span) -> Errors {
    Errors(errors.0.into_iter().map(|d| d.also(name, "declared here")).collect())
}

pub(super) fn conjuncts(pred: Pred) -> Vec<Pred> {
    match pred {
        Pred::And(preds) => preds.into_iter().flat_map(conjuncts).collect(),
        other => vec![other],
    }
}

/// A type as it was written, its sizes left out where they are more than a name or a number.
fn written(ty: &ast::Type) -> String {
    let size = |e: &ast::Expr| match &e.kind {
        ast::ExprKind::Name(name) => name.clone(),
        ast::ExprKind::Int(value, _) => value.to_string(),
        _ => "…".to_string(),
    };
    let list = |types: &[ast::Type]| types.iter().map(written).collect::<Vec<_>>().join(", ");
    match &ty.kind {
        TypeKind::Scalar(s) => s.to_string(),
        TypeKind::Vector(s, width) => format!("{s}x{{{}}}", size(width)),
        TypeKind::Name(name) => name.clone(),
        TypeKind::Tuple(items) => format!("({})", list(items)),
        TypeKind::Array(element, length) => format!("[{}; {}]", written(element), size(length)),
        TypeKind::Over(element, _) => format!("[{} in …]", written(element)),
        TypeKind::Function(params, ret) => format!("({}) -> {}", list(params), written(ret)),
        TypeKind::Nat => "nat".to_string(),
        TypeKind::Boundary => "boundary".to_string(),
        TypeKind::Permutation => "permutation".to_string(),
        TypeKind::Error => "…".to_string(),
    }
}

fn holds_sizes(items: &[ast::Type]) -> bool {
    items.iter().any(|t| match &t.kind {
        TypeKind::Nat => true,
        TypeKind::Tuple(inner) => holds_sizes(inner),
        _ => false,
    })
}

/// Whether a definition is expanded where it is called and cannot run by itself.
pub(super) fn is_generic(def: &ast::Def) -> bool {
    def.generics.iter().any(|g| g.is_type)
        || def.params.iter().any(|p| match &p.ty.kind {
            TypeKind::Function(..) | TypeKind::Nat | TypeKind::Boundary | TypeKind::Permutation => {
                true
            }
            TypeKind::Tuple(items) => holds_sizes(items),
            _ => false,
        })
}

/// An error in the body of a called definition also says which call led there; one in the prelude is
/// shown at the call, as nobody edits the prelude.
fn inside_call(mut errors: Errors, def: &ast::Def, home: Home, span: Span) -> Errors {
    for diagnostic in &mut errors.0 {
        let inside = diagnostic.span().is_some_and(|s| {
            s.file == def.span.file && def.span.start <= s.start && s.end <= def.span.end
        });
        if !inside {
            continue;
        }
        if home == Home::Prelude {
            for label in &mut diagnostic.labels {
                label.span = span;
            }
            diagnostic.notes.push(format!("in the prelude's `{}`", def.name.text));
        } else {
            let call = std::mem::replace(diagnostic, Diagnostic::error(""));
            *diagnostic = call.also(span, format!("in this call of `{}`", def.name.text));
        }
    }
    errors
}
