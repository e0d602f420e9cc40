//! Arrays over ranges whose bounds are values: `[ e | k in a .. b ]`, and iterations as long as an outer index says.
//!
//! Such an array has no length that a type could name, so it is never made: whoever folds it goes through the range.

use std::rc::Rc;

use lift_domain::{Constraint, Domain};
use lift_ir::{Expr, FoldKind, Lambda, Math, Nat, Pred, Prim, Scalar, Span, Type, Var, table};

use super::apply::Lets;
use super::errors::{Errors, Parts, all, error};
use super::functions::{Function, Head};
use super::literals::has_open_literal;
use super::scope::{Binding, Env};
use super::{Elaborator, Given, Hint, Result};
use crate::ast::{self, ExprKind, PatternKind};
use crate::diagnostic::Diagnostic;

/// An array over a range.
#[derive(Clone)]
pub(super) struct Ragged<'a> {
    /// The first number and the one behind the last.
    bounds: (Expr, Expr),
    /// The same without names for what is computed once, by which ranges are compared.
    written: (Expr, Expr),
    /// The same as sizes, where indices say them.
    sizes: Option<(Nat, Nat)>,
    element: Element<'a>,
}

/// What the array has at a number of the range.
#[derive(Clone)]
enum Element<'a> {
    Of { value: &'a ast::Expr, name: Option<&'a str>, env: Env<'a> },
    Mapped(Function<'a>, Rc<Ragged<'a>>),
    Zipped(Vec<Ragged<'a>>),
}

impl<'a> Elaborator<'a> {
    /// The array over a range that an argument is, if it is one. Bounds are computed once.
    pub(super) fn ragged(&self, given: &Given<'a>, lets: &mut Lets) -> Result<Option<Ragged<'a>>> {
        let Given::Ast(ast, env) = given else { return Ok(None) };
        match &ast.kind {
            ExprKind::Paren(inner) => self.ragged(&Given::Ast(inner, env.clone()), lets),
            ExprKind::Name(name) => match env.get(name) {
                Some(Binding::Ragged(ragged)) => Ok(Some((**ragged).clone())),
                _ => Ok(None),
            },
            ExprKind::Each(value, pattern, domain) => {
                let Some(written) = self.bounds(domain, env)? else { return Ok(None) };
                let low = self.shared("start", written.0.clone(), lets);
                let high = self.shared("end", written.1.clone(), lets);
                let bounds = (low, high);
                let name = match &pattern.kind {
                    PatternKind::Name(name) => Some(name.as_str()),
                    PatternKind::Wildcard => None,
                    PatternKind::Tuple(_) => {
                        return error(pattern.span, "a range has one index");
                    }
                };
                let element = Element::Of { value, name, env: env.clone() };
                let sizes = self.bound_sizes(domain, env);
                Ok(Some(Ragged { bounds, written, sizes, element }))
            }
            ExprKind::Pipe(value, function) => {
                if !self.may_be_ragged(value, env) {
                    return Ok(None);
                }
                let function = self.function(function, env)?;
                let mut given = function.given.clone();
                given.push(Given::Ast(value, env.clone()));
                self.ragged_call(&function, &given, lets)
            }
            ExprKind::Call(_, arguments) => {
                if !arguments.iter().any(|a| self.may_be_ragged(a, env)) {
                    return Ok(None);
                }
                match self.resolve(ast, env)? {
                    Some(function) => self.ragged_call(&function, &function.given, lets),
                    None => Ok(None),
                }
            }
            _ => Ok(None),
        }
    }

    /// Whether an expression reads as an array over a range.
    fn may_be_ragged(&self, ast: &'a ast::Expr, env: &Env<'a>) -> bool {
        match &ast.kind {
            ExprKind::Paren(inner) => self.may_be_ragged(inner, env),
            ExprKind::Name(name) => matches!(env.get(name), Some(Binding::Ragged(_))),
            ExprKind::Each(_, _, domain) => match &domain.kind {
                ExprKind::Range(..) => true,
                _ => self.domain(domain, env).is_ok_and(|d| self.varying(&d.points).is_some()),
            },
            ExprKind::Pipe(value, _) => self.may_be_ragged(value, env),
            ExprKind::Call(_, arguments) => arguments.iter().any(|a| self.may_be_ragged(a, env)),
            _ => false,
        }
    }

    /// `map(f, xs)` and `zip(xs, ys)` of arrays over ranges.
    fn ragged_call(
        &self,
        function: &Function<'a>,
        given: &[Given<'a>],
        lets: &mut Lets,
    ) -> Result<Option<Ragged<'a>>> {
        let Head::Pattern(pattern) = &function.head else { return Ok(None) };
        match (&pattern.make, given) {
            (table::Make::Prim(Prim::Map(_)), [f, xs]) => {
                let Some(ragged) = self.ragged(xs, lets)? else { return Ok(None) };
                let f = self.given_function(f)?;
                let (bounds, written) = (ragged.bounds.clone(), ragged.written.clone());
                Ok(Some(Ragged {
                    bounds,
                    written,
                    sizes: None,
                    element: Element::Mapped(f, Rc::new(ragged)),
                }))
            }
            (table::Make::Prim(Prim::Zip), arrays) => {
                let mut parts = Vec::new();
                for array in arrays {
                    match self.ragged(array, lets)? {
                        Some(ragged) => parts.push(ragged),
                        None => {
                            let text =
                                "an array over a range is zipped with others of the same range";
                            return error(array.span(), text);
                        }
                    }
                }
                let Some(first) = parts.first() else { return Ok(None) };
                let (bounds, written) = (first.bounds.clone(), first.written.clone());
                let same = |p: &Ragged| {
                    p.written.0.alpha_eq(&written.0) && p.written.1.alpha_eq(&written.1)
                };
                match parts.iter().all(same) {
                    true => {
                        let element = Element::Zipped(parts);
                        Ok(Some(Ragged { bounds, written, sizes: None, element }))
                    }
                    false => error(function.span, "these ranges are not known to be the same"),
                }
            }
            _ => Ok(None),
        }
    }

    /// The values that an iteration over one index starts from and ends before, of which the largest and the smallest count, where
    /// they depend on an outer index.
    fn varying(&self, points: &Domain) -> Option<(Vec<Nat>, Vec<Nat>)> {
        let outer = |v: &Var| self.mentions_index(&Nat::var(v));
        if points.dimensions() != 1 || !points.sizes().iter().any(outer) {
            return None;
        }
        let (mut from, mut to) = (Vec::new(), Vec::new());
        for constraint in points.constraints() {
            let Constraint::AtLeast(value) = constraint else { return None };
            // c * x + rest >= 0
            let (factors, rest) = lift_domain::affine(value, 1).ok()?;
            match factors.first()? {
                0 => {}
                1 => from.push(-rest),
                -1 => to.push(rest + Nat::ONE),
                _ => return None,
            }
        }
        if !from.iter().any(|low| self.cx.proves(&Pred::Le(Nat::ZERO, low.clone()))) {
            from.push(Nat::ZERO);
        }
        Some((from, to))
    }

    /// The largest or the smallest of some sizes, as a value.
    fn extreme(&self, math: Math, sizes: &[Nat], span: Span) -> Result<Expr> {
        let values = all(sizes.iter().map(|n| self.affine_value(n, &[], Scalar::I32, span)))?;
        let both = |a: Expr, b: Expr| {
            self.build(Prim::Math(math), vec![], vec![], vec![a, b], &Parts::of(span))
        };
        let mut values = values.into_iter();
        match values.next() {
            Some(first) => values.try_fold(first, both),
            None => self.size_as(&Nat::ZERO, Scalar::I32, span),
        }
    }

    /// The bounds of a range, or of a line that is as long as an outer index says.
    fn bounds(&self, domain: &'a ast::Expr, env: &Env<'a>) -> Result<Option<(Expr, Expr)>> {
        let ExprKind::Range(from, to) = &domain.kind else {
            let used = self.domain(domain, env)?;
            let Some((from, to)) = self.varying(&used.points) else { return Ok(None) };
            let low = self.extreme(Math::Max, &from, domain.span)?;
            let low = self.checked(&used, low, domain.span)?;
            let mut high = self.extreme(Math::Min, &to, domain.span)?;
            let grows = |a: &Nat, b: &Nat| self.cx.proves(&Pred::Le(a.clone(), b.clone()));
            if !from.iter().all(|a| to.iter().all(|b| grows(a, b))) {
                // No value is as from the start up to it.
                let args = vec![low.clone(), high];
                let max = Prim::Math(Math::Max);
                high = self.build(max, vec![], vec![], args, &Parts::of(domain.span))?;
            }
            return Ok(Some((low, high)));
        };
        let given = |e: &'a ast::Expr| Given::Ast(e, env.clone());
        let both = self.agreeing(&[(&given(from), Hint::None), (&given(to), Hint::None)], false)?;
        let [low, high] = both.as_slice() else { return Ok(None) };
        for (bound, ast) in [(low, from), (high, to)] {
            if !matches!(bound.ty(), Type::Scalar(Scalar::I32 | Scalar::I64)) {
                let text =
                    format!("the bounds of a range are `i32` or `i64`, found `{}`", bound.ty());
                return error(ast.span, text);
            }
        }
        Ok(Some((low.clone(), high.clone())))
    }

    /// The bounds of a range as sizes, where they are made of sizes and indices.
    fn bound_sizes(&self, domain: &'a ast::Expr, env: &Env<'a>) -> Option<(Nat, Nat)> {
        match &domain.kind {
            ExprKind::Range(from, to) => {
                let size = |ast: &'a ast::Expr| self.within(|s| s.size(ast, env)).ok();
                Some((size(from)?, size(to)?))
            }
            _ => {
                let used = self.domain(domain, env).ok()?;
                let (from, to) = self.varying(&used.points)?;
                let low = from.into_iter().reduce(|a, b| Nat::max(&a, &b))?;
                Some((low, to.into_iter().reduce(|a, b| Nat::min(&a, &b))?))
            }
        }
    }

    fn ragged_element(&self, ragged: &Ragged<'a>, at: &Expr, span: Span) -> Result<Expr> {
        match &ragged.element {
            Element::Of { value, name, env } => {
                let var = self.cx.fresh_inside(name.unwrap_or("k"), &[]);
                if let Some((low, high)) = &ragged.sizes {
                    self.cx.assume_inside(&Pred::Le(low.clone(), Nat::var(&var)));
                    self.cx.assume_inside(&Pred::Lt(Nat::var(&var), high.clone()));
                }
                self.indices.borrow_mut().push((var.clone(), at.clone()));
                let inner = match name {
                    Some(name) => env.bind(name, Binding::Index(at.clone(), Nat::var(&var))),
                    None => env.clone(),
                };
                let made = self.expr(value, &inner, Hint::None);
                self.indices.borrow_mut().pop();
                made
            }
            Element::Mapped(f, of) => {
                let x = self.ragged_element(of, at, span)?;
                self.apply_spread(f, vec![Given::Value(x, span)], Hint::None)
            }
            Element::Zipped(parts) => {
                let parts = all(parts.iter().map(|p| self.ragged_element(p, at, span)))?;
                self.build(Prim::Tuple, vec![], vec![], parts, &Parts::of(span))
            }
        }
    }

    /// `reduce(z, f, xs)` over a range.
    pub(super) fn reduce_ragged(
        &self,
        kind: FoldKind,
        start: &Given<'a>,
        f: &Given<'a>,
        ragged: &Ragged<'a>,
        span: Span,
        hint: Hint,
    ) -> Result<Expr> {
        let (low, high) = ragged.bounds.clone();
        let number = self.cx.fresh(ragged.element.index_name(), low.ty().clone());
        let element = self.ragged_element(ragged, &self.cx.var(&number), span)?;
        let open = matches!(start, Given::Ast(ast, _) if has_open_literal(ast));
        let wanted = element.ty().clone();
        let z = match kind {
            FoldKind::Any => self.value(start, Hint::Type(&wanted))?,
            _ if open && matches!(hint, Hint::None) => self.value(start, Hint::Type(&wanted))?,
            _ => self.value(start, hint)?,
        };
        if kind == FoldKind::Any && !self.cx.same_type(z.ty(), &wanted) {
            let text = format!(
                "`reduce` starts from a value of the element type `{wanted}`, found `{}`",
                z.ty()
            );
            return error(start.span(), text);
        }
        let types = [z.ty().clone(), wanted];
        let fold = self.lambda(f, &types, &["acc", "x"], Hint::Type(z.ty()))?;
        let element = Lambda { size: None, params: vec![number], body: element };
        let args = vec![z, low, high];
        // How often is known only when it runs, so nothing is written out.
        let kind = if kind == FoldKind::SeqUnroll { FoldKind::Seq } else { kind };
        self.build(Prim::ReduceRange(kind), vec![], vec![fold, element], args, &Parts::of(span))
    }
}

impl Element<'_> {
    /// What the program calls the index.
    fn index_name(&self) -> &str {
        match self {
            Element::Of { name, .. } => name.unwrap_or("k"),
            Element::Mapped(_, of) => of.element.index_name(),
            Element::Zipped(parts) => parts.first().map_or("k", |part| part.element.index_name()),
        }
    }
}

/// An array over a range stands where it would have to be made.
pub(super) fn escaping(span: Span) -> Errors {
    Errors::one(
        Diagnostic::error("an array over `a .. b` is not stored or returned")
            .at(span, "its length is known only when the program runs")
            .help("fold it: `reduce(0.0, (+), [ e | k in a .. b ])`; `map` and `zip` may stand in between"),
    )
}
