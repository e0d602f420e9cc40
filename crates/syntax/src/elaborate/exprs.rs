//! Expressions as values.

use std::rc::Rc;

use lift_ir::{
    BinaryOp, Expr, Kind, Lambda, Literal, Nat, Pred, Prim, Scalar, Span, Type, UnaryOp,
};

use super::apply::{Lets, bound_once};
use super::errors::{Errors, Parts, all, both, error};
use super::functions::Function;
use super::scope::{Binding, Declaration, Env};
use super::{Elaborator, Given, Hint, Result};
use crate::ast::{self, ExprKind, PatternKind, TypeKind};
use crate::diagnostic::Diagnostic;

/// Elaboration follows the nesting of the program; the stack grows with it.
pub(super) const RED_ZONE: usize = 256 * 1024;
pub(super) const STACK: usize = 4 * 1024 * 1024;

pub(super) const NO_VALUE: &str =
    "a value is expected, found a function: functions stand only where patterns take them";

impl<'a> Elaborator<'a> {
    pub(super) fn expr(&self, ast: &'a ast::Expr, env: &Env<'a>, hint: Hint) -> Result<Expr> {
        self.step(ast.span)?;
        let made = stacker::maybe_grow(RED_ZONE, STACK, || self.unplaced(ast, env, hint))?;
        // What a name or a size stands for keeps its own place, if it has one.
        Ok(if made.span().is_none() { made.with_span(ast.span) } else { made })
    }

    /// The function behind a `|>`, which binds loosest: `x |> f / y` would apply the quotient.
    fn stage(&self, ast: &'a ast::Expr, env: &Env<'a>) -> Result<Function<'a>> {
        self.function(ast, env).map_err(|errors| match &ast.kind {
            ExprKind::Binary(op, ..) if *op != BinaryOp::Shr => {
                let text = format!("`|>` binds loosest: write `(x |> f) {} y`", op.symbol());
                errors.help_where_none(&text)
            }
            _ => errors,
        })
    }

    fn unplaced(&self, ast: &'a ast::Expr, env: &Env<'a>, hint: Hint) -> Result<Expr> {
        let span = ast.span;
        let given = |e: &'a ast::Expr| Given::Ast(e, env.clone());
        match &ast.kind {
            ExprKind::Int(value, suffix) => self.int(*value, *suffix, span, hint),
            ExprKind::Float(text, suffix) => self.float(text, *suffix, span, hint),
            ExprKind::Bool(value) => Ok(self.cx.literal(Literal::Bool(*value))),
            ExprKind::Limit(scalar, limit) => self.limit(*scalar, *limit, span),
            ExprKind::Name(name) => self.name(name, ast, env, hint),
            ExprKind::Paren(inner) => self.expr(inner, env, hint),
            ExprKind::Vector(scalar, width, items) => self.vector(*scalar, width, items, span, env),
            ExprKind::Tuple(items) => {
                let values = items.iter().enumerate();
                let values = all(values.map(|(i, e)| self.expr(e, env, hint.component(i))))?;
                self.build_from(Prim::Tuple, values, items, span)
            }
            ExprKind::Array(items) => {
                if items.is_empty() {
                    return error(span, "an array has at least one element");
                }
                let asts: Vec<Given> = items.iter().map(given).collect();
                let asts: Vec<_> = asts.iter().map(|g| (g, hint.element())).collect();
                let values = self.agreeing(&asts, false)?;
                self.build_from(Prim::Array, values, items, span)
            }
            ExprKind::Unary(op, inner) => {
                if *op == UnaryOp::Neg
                    && let Some(literal) = self.negated_literal(inner, env, hint)?
                {
                    return Ok(literal);
                }
                let value = self.expr(inner, env, hint)?;
                if let (UnaryOp::Neg, Kind::Size(size, scalar)) = (op, value.kind()) {
                    return self.sized(&-size.clone(), *scalar, span);
                }
                self.build(
                    Prim::Unary(*op),
                    vec![],
                    vec![],
                    vec![value],
                    &Parts::with_args(span, [inner.span]),
                )
            }
            ExprKind::Binary(..) if self.is_size_value(ast, env, hint) => {
                self.size_value(ast, env, hint)
            }
            ExprKind::Binary(op, left, right) => {
                self.functions_as_operands(*op, left, right, span, env)?;
                self.binary(*op, &given(left), &given(right), span, hint)
            }
            ExprKind::Cast(inner, ty) => self.cast(inner, ty, span, env),
            ExprKind::Field(..) if self.is_size(ast, env) => self.size_value(ast, env, hint),
            ExprKind::Field(inner, index) => {
                let tuple = self.expr(inner, env, Hint::None)?;
                self.field(tuple, *index, span)
            }
            ExprKind::Index(array, indices) => self.index(array, indices, span, env),
            ExprKind::Each(value, pattern, domain) => {
                self.iteration(value, pattern, domain, span, env, hint)
            }
            ExprKind::In(point, domain) => self.membership(point, domain, span, env),
            ExprKind::Set(_) => error(span, "a value is expected, found a domain"),
            ExprKind::Range(..) => error(span, "a range `a .. b` stands only behind `in`"),
            ExprKind::Rec(rec) => self.recurrence(rec, span, env, hint),
            ExprKind::Let(pattern, value, body) => {
                bound_once(std::slice::from_ref(pattern))?;
                let mut lets = Lets::new();
                if let PatternKind::Name(name) = &pattern.kind
                    && let Some(ragged) = self.ragged(&given(value), &mut lets)?
                {
                    let inner = env.bind(name, Binding::Ragged(Rc::new(ragged)));
                    let body = self.expr(body, &inner, hint)?;
                    return Ok(self.close(lets, body));
                }
                let indices = self.bound_indices(pattern, value, env);
                let value = self.expr(value, env, Hint::None)?;
                let inner = match &pattern.kind {
                    // The user's own name is kept, whatever it stands for.
                    PatternKind::Name(name) => {
                        let param = self.cx.fresh(name, value.ty().clone());
                        let var = self.cx.var(&param);
                        lets.push((param, value));
                        env.bind(name, Binding::Value(var))
                    }
                    PatternKind::Wildcard | PatternKind::Tuple(_) => {
                        self.bind_pattern(pattern, value, env, &mut lets)?
                    }
                };
                let inner = self.bind_indices(inner, indices);
                let body = self.expr(body, &inner, hint)?;
                let named = |body, (param, value)| self.named(param, value, body);
                Ok(lets.into_iter().rev().fold(body, named))
            }
            ExprKind::If(condition, then, otherwise) => {
                let (yes, no) = self.known_in_branches(condition, env);
                let then_given = Given::Ast(then, env.knowing(yes));
                let otherwise_given = Given::Ast(otherwise, env.knowing(no));
                let branches = [(&then_given, hint), (&otherwise_given, hint)];
                let spans = [condition.span, then.span, otherwise.span];
                let agreeing = || self.conditionally(|| self.agreeing(&branches, false));
                let (condition, branches) =
                    both(self.expr(condition, env, Hint::None), agreeing())?;
                let args = std::iter::once(condition).chain(branches).collect();
                self.build(Prim::If, vec![], vec![], args, &Parts::with_args(span, spans))
            }
            ExprKind::Pipe(value, function) => {
                let function = self.stage(function, env)?;
                // The stage is what an error is about, not everything that flows into it.
                self.apply(&function, vec![given(value)], function.span, hint)
            }
            ExprKind::Call(head, _) => {
                // `len` and `ceil_div` are of sizes only; `min` and `max` are of values too.
                let only_size = matches!(&head.kind, ExprKind::Name(n) if n == "len" || n == "ceil_div" || n == "count");
                if (only_size && self.is_size(ast, env)) || self.is_size_value(ast, env, hint) {
                    return self.size_value(ast, env, hint);
                }
                match self.resolve(ast, env)? {
                    Some(function) => self.apply(&function, Vec::new(), span, hint),
                    None => {
                        let value = self.expr(head, env, Hint::None)?;
                        let text =
                            format!("a value of type `{}` is applied like a function", value.ty());
                        Err(Errors::one(Diagnostic::error(text).at(head.span, "")))
                    }
                }
            }
            ExprKind::Lambda(..) | ExprKind::Section(_) => error(span, NO_VALUE),
            ExprKind::Error => Err(Errors(Vec::new())),
        }
    }

    fn name(&self, name: &'a str, ast: &'a ast::Expr, env: &Env<'a>, hint: Hint) -> Result<Expr> {
        let span = ast.span;
        match env.get(name) {
            Some(Binding::Value(value)) => return Ok(value.clone().with_span(span)),
            Some(Binding::Index(value, size)) => {
                let exact = self.wide_index(size).filter(|_| self.is_exact.get());
                return Ok(exact.unwrap_or_else(|| value.clone()).with_span(span));
            }
            Some(Binding::Size(_)) => return self.size_value(ast, env, hint),
            Some(Binding::Sizes(_)) => {
                return error(span, format!("`{name}` is a tuple of sizes, not a value"));
            }
            Some(Binding::Type(_)) => {
                return error(span, format!("`{name}` is a type, not a value"));
            }
            Some(Binding::Function(_)) => {
                return error(span, format!("a value is expected, but `{name}` is a function"));
            }
            Some(Binding::Rec(_)) => {
                let text =
                    format!("inside its own `rec`, `{name}` is read at points: `{name}[i - 1]`");
                return error(span, text);
            }
            Some(Binding::Ragged(_)) => return Err(super::ragged::escaping(span)),
            Some(Binding::Rule(..)) => return error(span, format!("`{name}` is not a value")),
            None => {}
        }
        if self.is_special(name, env) {
            return self.float(name, None, span, hint);
        }
        match self.module.find(env.home, name) {
            Some((Declaration::Const(constant), home)) => {
                self.expr(&constant.value, &Env::new(home), hint).map(|e| e.with_span(span))
            }
            Some(_) => error(span, format!("a value is expected, but `{name}` is a function")),
            None if lift_ir::table::pattern(name).is_some() => {
                error(span, format!("a value is expected, but `{name}` is a pattern"))
            }
            None => self.unknown(name, span, env),
        }
    }

    /// A size used as a value: `i64` where that is wanted, else `i32`.
    fn size_value(&self, ast: &'a ast::Expr, env: &Env<'a>, hint: Hint) -> Result<Expr> {
        let size = self.size(ast, env)?;
        let scalar = size_scalar(hint);
        if let Some(value) = size.as_int().and_then(|v| u64::try_from(v).ok()) {
            return self.int(value, None, ast.span, Hint::Type(&Type::Scalar(scalar)));
        }
        self.sized(&size, scalar, ast.span)
    }

    /// Whether arithmetic is on sizes alone and does not overflow.
    fn is_size_value(&self, ast: &'a ast::Expr, env: &Env<'a>, hint: Hint) -> bool {
        let fits = |size: Nat| lift_ir::size_fits(&size, size_scalar(hint));
        self.is_size(ast, env)
            && (!size_scalar(hint).is_integer() || self.size(ast, env).is_ok_and(fits))
    }

    fn sized(&self, size: &Nat, scalar: Scalar, span: Span) -> Result<Expr> {
        let made = self.cx.size(size, scalar).map(|e| e.with_span(span));
        made.map_err(|e| Parts::of(span).blame(e))
    }

    fn vector(
        &self,
        scalar: Scalar,
        width: &'a ast::Expr,
        items: &'a [ast::Expr],
        span: Span,
        env: &Env<'a>,
    ) -> Result<Expr> {
        let size = self.size(width, env)?;
        let ty = Type::Scalar(scalar);
        let values = all(items.iter().map(|e| self.expr(e, env, Hint::Type(&ty))))?;
        for (value, item) in values.iter().zip(items) {
            if *value.ty() != ty {
                return error(item.span, format!("expected `{ty}`, found `{}`", value.ty()));
            }
        }
        if items.len() == 1 {
            let parts =
                Parts { sizes: vec![width.span], ..Parts::with_args(span, [items[0].span]) };
            return self.build(Prim::Splat, vec![size], vec![], values, &parts);
        }
        if size.as_int() != Some(items.len() as i128) {
            let text = format!("`{scalar}x{size}` has {size} lanes, found {}", items.len());
            return error(span, text);
        }
        self.build_from(Prim::Vector, values, items, span)
    }

    /// `e as T`
    fn cast(
        &self,
        inner: &'a ast::Expr,
        ty: &'a ast::Type,
        span: Span,
        env: &Env<'a>,
    ) -> Result<Expr> {
        let target = self.ty(ty, env)?;
        let Some(scalar) = target.element_scalar() else {
            return error(
                ty.span,
                format!("`as` converts to a scalar or vector, not to `{target}`"),
            );
        };
        let value = match &inner.kind {
            // A conversion of these is the literal of that type.
            ExprKind::Name(name) if scalar.is_float() && self.is_special(name, env) => {
                return self.float(name, Some(scalar), span, Hint::None);
            }
            _ if self.is_size(inner, env) => {
                let size = self.size(inner, env)?;
                match scalar {
                    Scalar::I32 | Scalar::I64 => return self.sized(&size, scalar, span),
                    _ => self.sized(&size, Scalar::I64, inner.span)?,
                }
            }
            _ => self.expr(inner, env, Hint::None)?,
        };
        let made = self.build(
            Prim::Cast(scalar),
            vec![],
            vec![],
            vec![value],
            &Parts::with_args(span, [inner.span]),
        )?;
        if matches!(ty.kind, TypeKind::Scalar(_)) && matches!(made.ty(), Type::Vector(..)) {
            let text = format!("a vector is converted to a vector, not to `{target}`");
            return error(ty.span, text);
        }
        if !self.cx.same_type(made.ty(), &target) {
            return error(span, format!("`as` yields `{}` here, not `{target}`", made.ty()));
        }
        Ok(made)
    }

    /// `xs[i]`, or a lane `v[i]`
    fn index(
        &self,
        array: &'a ast::Expr,
        indices: &'a [ast::Expr],
        span: Span,
        env: &Env<'a>,
    ) -> Result<Expr> {
        if let ExprKind::Name(name) = &array.kind
            && let Some(Binding::Rec(recurrence)) = env.get(name)
        {
            return self.read_of_recurrence(recurrence, indices, span, env);
        }
        let value = self.expr(array, env, Hint::None)?;
        let packed = self.packed_domain(value.ty()).is_some();
        let ([index], false) = (indices, packed) else {
            return self.element_of(value, array.span, indices, span, env);
        };
        if matches!(value.ty(), Type::Vector(..)) {
            let lane = self.size(index, env).map_err(|_| {
                Errors::at(index.span, "the lane of a vector is a constant, found an expression")
            })?;
            let parts = Parts { sizes: vec![index.span], ..Parts::with_args(span, [array.span]) };
            return self.build(Prim::Lane, vec![lane], vec![], vec![value], &parts);
        }
        let at = self.array_index(index, env)?;
        self.element(at, value, span, [index.span, array.span])
    }

    /// `at(i, xs)`, refused where the index is outside for every size.
    pub(super) fn element(
        &self,
        index: Expr,
        array: Expr,
        span: Span,
        spans: [Span; 2],
    ) -> Result<Expr> {
        let known = match index.kind() {
            Kind::Size(size, _) => Some(size.clone()),
            Kind::Literal(Literal::Int(_, value)) => Some(Nat::int(*value)),
            _ => None,
        };
        if let (Some(i), Some((_, n))) = (known, array.ty().as_array()) {
            let low = Pred::Le(Nat::int(0), i.clone());
            let outside = self.cx.refutes(&low) || self.cx.refutes(&Pred::Lt(i.clone(), n.clone()));
            if outside && self.is_reached() {
                let text = format!("index `{i}` is outside an array of length `{n}`");
                return error(spans[0], text);
            }
        }
        self.build(Prim::At, vec![], vec![], vec![index, array], &Parts::with_args(span, spans))
    }

    /// Two signs join functions in other places, or in other languages: `f >> g` composes where a function is
    /// expected, and `|` is not `|>`.
    fn functions_as_operands(
        &self,
        op: BinaryOp,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        span: Span,
        env: &Env<'a>,
    ) -> Result<()> {
        let is_function = |ast: &'a ast::Expr| {
            let found = self.resolve(ast, env);
            found.is_ok_and(|f| f.is_some_and(|f| self.remaining(&f).0 > 0))
        };
        match op {
            BinaryOp::Shr if is_function(left) && is_function(right) => error(span, NO_VALUE),
            BinaryOp::BitOr if is_function(right) => {
                let text = "`|` takes integers, found a function on its right";
                let error = Diagnostic::error(text).at(right.span, "a function");
                Err(Errors::one(error.help("a value is piped into a function by `|>`")))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn binary(
        &self,
        op: BinaryOp,
        left: &Given<'a>,
        right: &Given<'a>,
        span: Span,
        hint: Hint,
    ) -> Result<Expr> {
        let hint = if op.is_comparison() { Hint::None } else { hint };
        let args = match op {
            BinaryOp::And | BinaryOp::Or => {
                let right = self.asked_behind(op, left, right);
                let right = || self.conditionally(|| self.value(&right, hint));
                all([self.value(left, hint), right()])?
            }
            _ => self.agreeing(&[(left, hint), (right, hint)], true)?,
        };
        let parts = Parts::with_args(span, [left.span(), right.span()]);
        self.build(Prim::Binary(op), vec![], vec![], args, &parts)
    }

    /// The right side of `&&` or `||`, with what is known where it is asked: that the left one holds, or does not.
    fn asked_behind(&self, op: BinaryOp, left: &Given<'a>, right: &Given<'a>) -> Given<'a> {
        let (Given::Ast(left, env), Given::Ast(right, right_env)) = (left, right) else {
            return right.clone();
        };
        let (holds, fails) = self.known_in_branches(left, env);
        let known = if op == BinaryOp::And { holds } else { fails };
        Given::Ast(right, right_env.knowing(known))
    }

    pub(super) fn build_from(
        &self,
        prim: Prim,
        values: Vec<Expr>,
        asts: &[ast::Expr],
        span: Span,
    ) -> Result<Expr> {
        let parts = Parts::with_args(span, asts.iter().map(|a| a.span));
        self.build(prim, vec![], vec![], values, &parts)
    }

    /// The checked constructor, its errors put where they belong.
    pub(super) fn build(
        &self,
        prim: Prim,
        sizes: Vec<Nat>,
        functions: Vec<Lambda>,
        args: Vec<Expr>,
        parts: &Parts,
    ) -> Result<Expr> {
        match self.cx.call(prim, sizes, functions, args) {
            Ok(made) if made.weight() > super::MAX_WEIGHT => Err(super::too_large(parts.whole)),
            Ok(made) => Ok(made.with_span(parts.whole)),
            Err(fault) => Err(parts.blame(fault)),
        }
    }
}

/// The type a size takes as a value.
fn size_scalar(hint: Hint) -> Scalar {
    match hint {
        Hint::Type(ty) => match ty.element_scalar() {
            Some(s) if s.is_number() => s,
            _ => Scalar::I32,
        },
        Hint::Literals(Scalar::I64) => Scalar::I64,
        Hint::Literals(_) | Hint::None => Scalar::I32,
    }
}
