//! Functions: what may stand in a pattern's function position, before it is applied.

use std::rc::Rc;

use lift_ir::table::{self, Slot};
use lift_ir::{BinaryOp, Extern, Lambda, Param, Span, Type};

use super::errors::{Errors, Parts, error};
use super::iterations::Operation;
use super::scope::{Binding, Declaration, Env, Home};
use super::{Elaborator, Given, Hint, Result};
use crate::ast::{self, ExprKind, PatternKind};
use crate::diagnostic::Diagnostic;

/// A function and the arguments it already has.
#[derive(Clone)]
pub(super) struct Function<'a> {
    pub head: Head<'a>,
    pub given: Vec<Given<'a>>,
    pub span: Span,
}

#[derive(Clone)]
pub(super) enum Head<'a> {
    Pattern(&'static table::Pattern),
    Fn(&'a ast::Fn, Home),
    Def(&'a ast::Def, Home),
    Extern(Rc<Extern>),
    Lambda(&'a [ast::Pattern], &'a ast::Expr, Env<'a>),
    Section(BinaryOp),
    /// One of those whose first argument is a domain, or `flat`.
    Domain(Operation),
    Compose(Rc<Function<'a>>, Rc<Function<'a>>),
}

impl<'a> Elaborator<'a> {
    /// The function an expression stands for; `None` where it is a value.
    pub(super) fn resolve(
        &self,
        ast: &'a ast::Expr,
        env: &Env<'a>,
    ) -> Result<Option<Function<'a>>> {
        self.step(ast.span)?;
        let head = match &ast.kind {
            ExprKind::Paren(inner) => return self.resolve(inner, env),
            ExprKind::Lambda(params, body) => Head::Lambda(params, body, env.clone()),
            ExprKind::Section(op) => Head::Section(*op),
            ExprKind::Binary(BinaryOp::Shr, first, second) => {
                let first = self.function(first, env)?;
                let second = self.function(second, env)?;
                Head::Compose(Rc::new(first), Rc::new(second))
            }
            ExprKind::Name(name) => match self.named_function(name, ast.span, env)? {
                Some(function) => return Ok(Some(function)),
                None => return Ok(None),
            },
            ExprKind::Call(head, args) => {
                let Some(mut function) = self.resolve(head, env)? else { return Ok(None) };
                function.given.extend(args.iter().map(|a| Given::Ast(a, env.clone())));
                function.span = ast.span;
                return Ok(Some(function));
            }
            _ => return Ok(None),
        };
        Ok(Some(Function { head, given: Vec::new(), span: ast.span }))
    }

    fn named_function(
        &self,
        name: &'a str,
        span: Span,
        env: &Env<'a>,
    ) -> Result<Option<Function<'a>>> {
        match env.get(name) {
            Some(Binding::Function(function)) => {
                return Ok(Some(Function { span, ..(**function).clone() }));
            }
            Some(_) => return Ok(None),
            None => {}
        }
        let head = match self.module.find(env.home, name) {
            Some((Declaration::Fn(f), home)) => Head::Fn(f, home),
            Some((Declaration::Def(d), home)) => Head::Def(d, home),
            Some((Declaration::Extern(e), home)) => Head::Extern(self.external(e, home)?),
            Some((Declaration::Const(_), _)) => return Ok(None),
            None => match table::pattern(name) {
                Some(pattern) => Head::Pattern(pattern),
                None if let Some(operation) = Operation::named(name) => Head::Domain(operation),
                None if matches!(name, "len" | "ceil_div" | "inf" | "nan") => {
                    return Ok(None);
                }
                None => return self.unknown(name, span, env),
            },
        };
        Ok(Some(Function { head, given: Vec::new(), span }))
    }

    /// As [`Elaborator::resolve`], where only a function will do.
    pub(super) fn function(&self, ast: &'a ast::Expr, env: &Env<'a>) -> Result<Function<'a>> {
        match self.resolve(ast, env)? {
            Some(function) => Ok(function),
            None => {
                let found = match self.expr(ast, env, Hint::None) {
                    Ok(value) => format!(", found a value of type `{}`", value.ty()),
                    Err(errors) => return Err(errors),
                };
                error(ast.span, format!("a function is expected here{found}"))
            }
        }
    }

    /// How many arguments a function still takes: at least, and exactly if it is known.
    pub(super) fn remaining(&self, function: &Function<'a>) -> (usize, bool) {
        let (total, exact) = match &function.head {
            Head::Pattern(pattern) => return self.pattern_remaining(pattern, &function.given),
            Head::Fn(f, _) => (f.params.len(), true),
            Head::Def(d, _) => (d.params.len(), true),
            Head::Extern(e) => (e.params.len(), true),
            Head::Lambda(params, body, env) => match &super::sizes::unwrapped(body).kind {
                // `\x -> \y -> e` is `\x y -> e`.
                ExprKind::Lambda(inner, inner_body) => {
                    let inner = Function {
                        head: Head::Lambda(inner, inner_body, env.clone()),
                        given: Vec::new(),
                        span: function.span,
                    };
                    (params.len() + self.remaining(&inner).0, true)
                }
                _ => (params.len(), true),
            },
            Head::Section(_) => (2, true),
            Head::Domain(operation) => (operation.arguments(), true),
            Head::Compose(first, _) => self.remaining(first),
        };
        (total.saturating_sub(function.given.len()), exact)
    }

    fn pattern_remaining(&self, pattern: &table::Pattern, given: &[Given<'a>]) -> (usize, bool) {
        let last = pattern.slots.last();
        let fixed = pattern.slots.len();
        match last {
            Some(Slot::Values) => (2usize.saturating_sub(given.len()).max(1), false),
            Some(Slot::FunctionArguments) => {
                let inner = given.get(fixed - 2).and_then(|g| self.given_function(g).ok());
                let inner = inner.map_or(1, |f| self.remaining(&f).0);
                ((fixed - 1 + inner).saturating_sub(given.len()), true)
            }
            _ => (fixed.saturating_sub(given.len()), true),
        }
    }

    /// The function given as an argument.
    pub(super) fn given_function(&self, given: &Given<'a>) -> Result<Function<'a>> {
        match given {
            Given::Ast(ast, env) => self.function(ast, env),
            Given::Value(value, span) => {
                error(*span, format!("a function is expected here, found `{}`", value.ty()))
            }
        }
    }

    /// The given function as a lambda of parameters of the given types.
    pub(super) fn lambda(
        &self,
        given: &Given<'a>,
        types: &[Type],
        names: &[&str],
        hint: Hint,
    ) -> Result<Lambda> {
        let function = self.given_function(given)?;
        let params = self.fresh_params(&function, types, names);
        let values = params.iter().map(|p| Given::Value(self.cx.var(p), function.span)).collect();
        let body = self.apply_spread(&function, values, hint)?;
        Ok(Lambda { size: None, params, body })
    }

    /// Applies a function to what a pattern supplies; a single tuple is taken apart for a function of
    /// as many parameters.
    pub(super) fn apply_spread(
        &self,
        function: &Function<'a>,
        values: Vec<Given<'a>>,
        hint: Hint,
    ) -> Result<lift_ir::Expr> {
        let (count, exact) = self.remaining(function);
        if let [Given::Value(value, span)] = values.as_slice()
            && let Type::Tuple(components) = value.ty()
            && count == components.len()
        {
            let mut spread = Vec::new();
            for index in 0..components.len() {
                let field = self.field(value.clone(), index as u32, *span)?;
                spread.push(Given::Value(field, *span));
            }
            return self.apply(function, spread, function.span, hint);
        }
        let fits = if exact { count == values.len() } else { count <= values.len() };
        if !fits {
            return Err(self.supplied(function, &values, count));
        }
        self.apply(function, values, function.span, hint)
    }

    fn supplied(&self, function: &Function<'a>, values: &[Given<'a>], takes: usize) -> Errors {
        let types: Vec<String> = values
            .iter()
            .map(|v| match v {
                Given::Value(value, _) => format!("`{}`", value.ty()),
                Given::Ast(..) => "an argument".to_string(),
            })
            .collect();
        let plural = if takes == 1 { "" } else { "s" };
        let text = if takes == 0 {
            "a function is expected here, but this has all of its arguments".to_string()
        } else {
            format!(
                "this function takes {takes} argument{plural}, but is given {}: {}",
                values.len(),
                types.join(", ")
            )
        };
        Errors::one(Diagnostic::error(text).at(function.span, ""))
    }

    /// Parameters named as the function names them, else as the pattern suggests.
    pub(super) fn fresh_params(
        &self,
        function: &Function<'a>,
        types: &[Type],
        names: &[&str],
    ) -> Vec<Param> {
        let skip = function.given.len();
        types
            .iter()
            .enumerate()
            .map(|(i, ty)| {
                let own = match &function.head {
                    Head::Lambda(params, ..) => match params.get(i + skip).map(|p| &p.kind) {
                        Some(PatternKind::Name(name)) if params.len() == types.len() + skip => {
                            Some(name.as_str())
                        }
                        _ => None,
                    },
                    Head::Fn(f, _) if f.params.len() == types.len() + skip => {
                        f.params.get(i + skip).map(|p| p.name.text.as_str())
                    }
                    _ => None,
                };
                let name = own.or(names.get(i).copied()).unwrap_or("x");
                self.cx.fresh(name, ty.clone())
            })
            .collect()
    }

    fn external(&self, ast: &'a ast::Extern, home: Home) -> Result<Rc<Extern>> {
        if let Some(known) = self.externs.borrow().iter().find(|e| e.name == ast.name.text) {
            return Ok(known.clone());
        }
        let env = Env::new(home);
        let mut params = Vec::new();
        for param in &ast.params {
            params.push((param.name.text.clone(), self.ty(&param.ty, &env)?));
        }
        let external = Rc::new(Extern {
            name: ast.name.text.clone(),
            targets: ast.targets.split(',').map(|t| t.trim().to_string()).collect(),
            params,
            ret: self.ty(&ast.ret, &env)?,
            code: ast.code.clone(),
        });
        self.externs.borrow_mut().push(external.clone());
        Ok(external)
    }

    /// A component of a tuple.
    pub(super) fn field(
        &self,
        tuple: lift_ir::Expr,
        index: u32,
        span: Span,
    ) -> Result<lift_ir::Expr> {
        let made = self.cx.call(lift_ir::Prim::Field(index), vec![], vec![], vec![tuple]);
        let parts = Parts::with_args(span, [span]);
        made.map(|e| e.with_span(span)).map_err(|e| parts.blame(e))
    }
}
