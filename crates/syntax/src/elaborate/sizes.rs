//! Size expressions and the facts of `where` clauses.

use lift_ir::{BinaryOp, Nat, Pred, Span, UnaryOp};

use super::errors::{Errors, both, error};
use super::scope::{Binding, Declaration, Env};
use super::{Elaborator, Given, Hint, Result};
use crate::ast::{Expr, ExprKind, PatternKind};
use crate::diagnostic::Diagnostic;

/// No array is longer, and what is printed can be read again.
const MAX_CONSTANT: u128 = i64::MAX as u128;

impl<'a> Elaborator<'a> {
    pub(super) fn size(&self, ast: &'a Expr, env: &Env<'a>) -> Result<Nat> {
        self.step(ast.span)?;
        let grow = |f: &dyn Fn() -> Result<Nat>| {
            stacker::maybe_grow(super::exprs::RED_ZONE, super::exprs::STACK, f)
        };
        let size = grow(&|| self.size_of(ast, env))?;
        if size.largest_constant() > MAX_CONSTANT {
            return error(ast.span, "this size is too large");
        }
        Ok(size)
    }

    fn size_of(&self, ast: &'a Expr, env: &Env<'a>) -> Result<Nat> {
        match &ast.kind {
            ExprKind::Int(value, suffix) if suffix.is_none_or(|s| s.is_integer()) => {
                Ok(Nat::int(i128::from(*value)))
            }
            ExprKind::Paren(inner) => self.size(inner, env),
            ExprKind::Name(name) => self.named_size(name, ast.span, env),
            ExprKind::Field(..) => match self.size_binding(ast, env) {
                Some(Binding::Size(size)) => Ok(size),
                _ => not_a_size(ast.span),
            },
            ExprKind::Unary(UnaryOp::Neg, inner) => Ok(-self.size(inner, env)?),
            ExprKind::Unary(UnaryOp::BitNot, _) => no_operator(ast.span, "~", None),
            ExprKind::Binary(op, left, right) if op.is_bitwise() => {
                no_operator(ast.span, op.symbol(), instead(*op, left, right))
            }
            ExprKind::Binary(op, left, right) => {
                let (a, b) = both(self.size(left, env), self.size(right, env))?;
                match op {
                    BinaryOp::Add => Ok(a + b),
                    BinaryOp::Sub => Ok(a - b),
                    BinaryOp::Mul => Ok(a * b),
                    BinaryOp::Div | BinaryOp::Rem if b.as_int() == Some(0) => {
                        error(right.span, "a size is divided by zero")
                    }
                    BinaryOp::Div => Ok(a.div(&b)),
                    BinaryOp::Rem => Ok(a.rem(&b)),
                    _ => not_a_size(ast.span),
                }
            }
            ExprKind::If(condition, then, otherwise) => {
                let condition = self.predicate(condition, env)?;
                let (a, b) = both(self.size(then, env), self.size(otherwise, env))?;
                Ok(Nat::cond(condition, a, b))
            }
            ExprKind::Call(head, args) => self.size_call(ast.span, head, args, env),
            ExprKind::Error => Err(Errors(Vec::new())),
            ExprKind::Float(..) => error(ast.span, "a size is a natural number, found a fraction"),
            ExprKind::Lambda(..) | ExprKind::Section(_) => {
                error(ast.span, "a size is expected here, found a function")
            }
            ExprKind::Tuple(_) => error(ast.span, "one size is expected here, found a tuple"),
            ExprKind::Array(_) => error(ast.span, "a size is expected here, found an array"),
            _ => not_a_size(ast.span),
        }
    }

    fn named_size(&self, name: &str, span: Span, env: &Env<'a>) -> Result<Nat> {
        match env.get(name) {
            Some(Binding::Size(size)) => return Ok(size.clone()),
            Some(Binding::Index(_, size)) if self.in_domain.get() => return Ok(size.clone()),
            Some(Binding::Index(..)) => {
                return Err(Errors::one(
                    Diagnostic::error(format!("a size is expected, but `{name}` is an index"))
                        .at(span, "")
                        .note("of sizes, only those of a domain may depend on an index"),
                ));
            }
            Some(Binding::Value(_)) => {
                return Err(Errors::one(
                    Diagnostic::error(format!("a size is expected, but `{name}` is a value"))
                        .at(span, "")
                        .note("sizes are made of size variables, constants and `len(xs)`"),
                ));
            }
            Some(_) => return not_a_size(span),
            None => {}
        }
        match self.module.find(env.home, name) {
            Some((Declaration::Const(constant), home)) => {
                self.size(&constant.value, &Env::new(home)).map_err(|_| {
                    Errors::at(
                        span,
                        format!("a size is expected, but the constant `{name}` is none"),
                    )
                })
            }
            Some(_) => not_a_size(span),
            None if lift_ir::table::pattern(name).is_some() => not_a_size(span),
            None => self.unknown_size(name, span, env),
        }
    }

    /// `min(a, b)`, `max(a, b)`, `ceil_div(a, b)`, `len(xs)`, `count(D)`, `sum(t < end <= most, of)`
    fn size_call(
        &self,
        span: Span,
        head: &'a Expr,
        args: &'a [Expr],
        env: &Env<'a>,
    ) -> Result<Nat> {
        let ExprKind::Name(name) = &head.kind else { return not_a_size(span) };
        match (name.as_str(), args) {
            ("len", [array]) => {
                let array = self.expr(array, env, Hint::None)?;
                match array.ty().as_array() {
                    Some((_, length)) => Ok(length.clone()),
                    None => error(span, format!("`len` takes an array, found `{}`", array.ty())),
                }
            }
            ("count", [domain]) => self.count(domain, env, span),
            ("sum", [bounds, of]) => match Bounds::of(bounds) {
                Some(bounds) => self.size_sum(&bounds, of, env),
                None => not_a_size(span),
            },
            ("min" | "max" | "ceil_div", [a, b]) => {
                let (divisor, (a, b)) = (b.span, both(self.size(a, env), self.size(b, env))?);
                match name.as_str() {
                    "min" => Ok(Nat::min(&a, &b)),
                    "max" => Ok(Nat::max(&a, &b)),
                    _ if b.as_int() == Some(0) => error(divisor, "a size is divided by zero"),
                    _ => Ok(a.ceil_div(&b)),
                }
            }
            _ => not_a_size(span),
        }
    }

    /// The sum of a size for all values of an index.
    fn size_sum(&self, bounds: &Bounds<'a>, of: &'a Expr, env: &Env<'a>) -> Result<Nat> {
        let (end, most) = both(self.size(bounds.end, env), self.size(bounds.most, env))?;
        if !self.cx.proves(&Pred::Le(end.clone(), most.clone())) {
            let text = format!("a sum ends at `{most}` at most, which `{end}` may exceed");
            return error(bounds.end.span, text);
        }
        let var = self.cx.fresh_index(bounds.index, lift_ir::Range::below(most.clone()));
        let inner = env.bind(bounds.index, Binding::Size(Nat::var(&var)));
        Ok(Nat::sum_over(&var, &end, &most, &self.size(of, &inner)?))
    }

    /// A size or tuple of sizes: what a parameter of type `nat` or `(nat, nat)` is given.
    pub(super) fn size_tuple(&self, given: &Given<'a>) -> Result<Binding<'a>> {
        let Given::Ast(ast, env) = given else { return not_a_size(given.span()) };
        if let Some(binding) = self.size_binding(ast, env) {
            return Ok(binding);
        }
        match &ast.kind {
            ExprKind::Tuple(items) => {
                let items = items.iter().map(|i| self.size_tuple(&Given::Ast(i, env.clone())));
                Ok(Binding::Sizes(super::errors::all(items)?))
            }
            ExprKind::Paren(inner) => self.size_tuple(&Given::Ast(inner, env.clone())),
            _ => Ok(Binding::Size(self.size(ast, env)?)),
        }
    }

    /// A name bound to sizes, or a component of one.
    fn size_binding(&self, ast: &Expr, env: &Env<'a>) -> Option<Binding<'a>> {
        match &ast.kind {
            ExprKind::Name(name) => match env.get(name)? {
                binding @ (Binding::Size(_) | Binding::Sizes(_)) => Some(binding.clone()),
                _ => None,
            },
            ExprKind::Paren(inner) => self.size_binding(inner, env),
            ExprKind::Field(inner, index) => match self.size_binding(inner, env)? {
                Binding::Sizes(items) => items.get(*index as usize).cloned(),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether an expression is made of sizes, at least one of them not a plain number. What may divide by zero
    /// is a value: only a value that is not evaluated cannot fail.
    pub(super) fn is_size(&self, ast: &'a Expr, env: &Env<'a>) -> bool {
        self.size_shape(ast, env) == Some(true)
    }

    /// `None`: not a size; otherwise whether it mentions a size variable.
    fn size_shape(&self, ast: &'a Expr, env: &Env<'a>) -> Option<bool> {
        match &ast.kind {
            ExprKind::Int(_, None) => Some(false),
            ExprKind::Paren(inner) | ExprKind::Unary(UnaryOp::Neg, inner) => {
                self.size_shape(inner, env)
            }
            ExprKind::Name(name) => match env.get(name) {
                Some(Binding::Size(size)) => Some(size.as_int().is_none()),
                Some(_) => None,
                None => match self.module.find(env.home, name) {
                    Some((Declaration::Const(constant), home)) => {
                        self.size_shape(&constant.value, &Env::new(home))
                    }
                    _ => None,
                },
            },
            ExprKind::Field(..) => match self.size_binding(ast, env)? {
                Binding::Size(_) => Some(true),
                _ => None,
            },
            ExprKind::Binary(op, left, right) if op.strength() >= BinaryOp::Add.strength() => {
                let shape = self.size_shape(left, env)? | self.size_shape(right, env)?;
                let divides = matches!(op, BinaryOp::Div | BinaryOp::Rem);
                let nonzero = |n: Nat| self.cx.proves(&Pred::Ne(n, Nat::ZERO));
                (!divides || self.size(right, env).is_ok_and(nonzero)).then_some(shape)
            }
            ExprKind::Call(head, args) => match &head.kind {
                ExprKind::Name(name) if env.get(name).is_none() || name == "len" => {
                    match (name.as_str(), args.as_slice()) {
                        ("len", [_]) => Some(true),
                        // Where it depends on an outer index, it is a value, but for sizes of domains.
                        ("count", [domain]) if self.is_built_in(name, env) => {
                            let used = || self.supposing(|s| s.domain(domain, env));
                            let is_outer = || used().is_ok_and(|used| self.is_outer(&used));
                            (self.in_domain.get() || !is_outer()).then_some(true)
                        }
                        ("ceil_div", [a, b]) => {
                            self.size_shape(a, env)?;
                            self.size_shape(b, env)?;
                            Some(true)
                        }
                        ("sum", [bounds, _]) if self.is_built_in(name, env) => {
                            Bounds::of(bounds).map(|_| true)
                        }
                        ("min" | "max", [a, b]) => {
                            Some(self.size_shape(a, env)? | self.size_shape(b, env)?)
                        }
                        _ => None,
                    }
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// A `where` clause or the condition of a size.
    pub(super) fn predicate(&self, ast: &'a Expr, env: &Env<'a>) -> Result<Pred> {
        match &ast.kind {
            ExprKind::Paren(inner) => self.predicate(inner, env),
            ExprKind::Binary(BinaryOp::And, left, right) => {
                let (a, b) = both(self.predicate(left, env), self.predicate(right, env))?;
                Ok(Pred::And([a, b].into_iter().flat_map(parts).collect()))
            }
            ExprKind::Binary(op, left, right) if op.is_comparison() => {
                if let Some(divisible) = self.divisibility(*op, left, right, env)? {
                    return Ok(divisible);
                }
                let (a, b) = both(self.size(left, env), self.size(right, env))?;
                Ok(match op {
                    BinaryOp::Eq => Pred::Eq(a, b),
                    BinaryOp::Ne => Pred::Ne(a, b),
                    BinaryOp::Lt => Pred::Lt(a, b),
                    BinaryOp::Le => Pred::Le(a, b),
                    BinaryOp::Gt => Pred::Lt(b, a),
                    _ => Pred::Le(b, a),
                })
            }
            _ => error(
                ast.span,
                "a condition on sizes is expected, such as `N % 4 == 0` or `K <= N`",
            ),
        }
    }

    /// `a % b == 0`
    fn divisibility(
        &self,
        op: BinaryOp,
        left: &'a Expr,
        right: &'a Expr,
        env: &Env<'a>,
    ) -> Result<Option<Pred>> {
        let zero = |e: &Expr| matches!(unwrapped(e).kind, ExprKind::Int(0, None));
        let rest = match (op, zero(left), zero(right)) {
            (BinaryOp::Eq, false, true) => unwrapped(left),
            (BinaryOp::Eq, true, false) => unwrapped(right),
            _ => return Ok(None),
        };
        let ExprKind::Binary(BinaryOp::Rem, of, divisor) = &rest.kind else { return Ok(None) };
        let (of, divisor) = both(self.size(of, env), self.size(divisor, env))?;
        Ok(Some(Pred::Divides { divisor, of }))
    }

    /// An index function `\i -> …` or `\i len -> …` over sizes: its variable and its value.
    /// `len` is the length even where it is not a parameter.
    pub(super) fn index_function(
        &self,
        ast: &'a Expr,
        env: &Env<'a>,
        params: usize,
        length: &Nat,
        range: lift_ir::Range,
    ) -> Result<Option<(lift_ir::Var, Nat)>> {
        let ExprKind::Lambda(patterns, body) = &unwrapped(ast).kind else { return Ok(None) };
        if patterns.len() != params && patterns.len() != 1 {
            let text = format!("an index function has {params} parameters here");
            return error(ast.span, text);
        }
        let mut names = Vec::new();
        for pattern in patterns {
            match &pattern.kind {
                PatternKind::Name(name) => names.push(name.as_str()),
                PatternKind::Wildcard => names.push("_"),
                PatternKind::Tuple(_) => {
                    return error(pattern.span, "an index is a number, not a tuple");
                }
            }
        }
        let name = names.first().copied().unwrap_or("i");
        let var = self.cx.fresh_index(name, range);
        let mut inner = env.bind("len", Binding::Size(length.clone()));
        if let Some(len) = names.get(1) {
            inner = inner.bind(len, Binding::Size(length.clone()));
        }
        inner = inner.bind(name, Binding::Size(Nat::var(&var)));
        let body = self.size(body, &inner)?;
        Ok(Some((var, body)))
    }
}

/// `t < end <= most`: the values of the index of a sum, and the greatest end that is ever asked for.
struct Bounds<'a> {
    index: &'a str,
    end: &'a Expr,
    most: &'a Expr,
}

impl<'a> Bounds<'a> {
    fn of(ast: &'a Expr) -> Option<Bounds<'a>> {
        let ExprKind::Binary(BinaryOp::Le, below, most) = &ast.kind else { return None };
        let ExprKind::Binary(BinaryOp::Lt, index, end) = &below.kind else { return None };
        let ExprKind::Name(index) = &index.kind else { return None };
        Some(Bounds { index, end, most })
    }
}

/// The conditions that hold together where one does.
fn parts(pred: Pred) -> Vec<Pred> {
    match pred {
        Pred::And(parts) => parts,
        other => vec![other],
    }
}

pub(super) fn unwrapped(ast: &Expr) -> &Expr {
    match &ast.kind {
        ExprKind::Paren(inner) => unwrapped(inner),
        _ => ast,
    }
}

/// Sizes have no bits.
fn no_operator<T>(span: Span, symbol: &str, help: Option<String>) -> Result<T> {
    let text = format!("`{symbol}` is not an operator of sizes");
    let note = "sizes are made of `+ - * / %`, `min`, `max`, `ceil_div` and `len`";
    Err(Errors::one(Diagnostic::error(text).at(span, "").note(note).help_if(help)))
}

/// How sizes say what was meant by an operator on bits.
fn instead(op: BinaryOp, left: &Expr, right: &Expr) -> Option<String> {
    let (ExprKind::Name(size), power) = (&unwrapped(left).kind, &unwrapped(right).kind) else {
        return None;
    };
    match (op, power) {
        (BinaryOp::BitXor, ExprKind::Int(power @ 2..=4, None)) => {
            let factors = vec![size.as_str(); *power as usize];
            Some(format!("a power is a product: `{}`", factors.join(" * ")))
        }
        (BinaryOp::BitXor, _) => Some(format!("a power is a product: `{size} * {size}`")),
        (BinaryOp::Shl, ExprKind::Int(by @ 0..=62, None)) => {
            Some(format!("write `{size} * {}`", 1u64 << by))
        }
        (BinaryOp::Shr, ExprKind::Int(by @ 0..=62, None)) => {
            Some(format!("write `{size} / {}`", 1u64 << by))
        }
        _ => None,
    }
}

fn not_a_size<T>(span: Span) -> Result<T> {
    error(span, "a size is expected here")
}
