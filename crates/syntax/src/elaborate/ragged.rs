//! Arrays over ranges whose bounds are values: `[ e | k in a .. b ]`, and iterations as long as an outer index says.
//!
//! Such an array has no length that a type could name, so it is never made: whoever folds it goes through the range. One
//! over a domain of several indices is folded by nested ranges ([`points`]).

mod points;

use std::rc::Rc;

use lift_domain::{Constraint, Domain};
use lift_ir::{Expr, FoldKind, Lambda, Math, Nat, Pred, Prim, Scalar, Span, Type, Var, table};

use super::apply::Lets;
use super::domains::Used;
use super::errors::{Errors, Parts, all, error};
use super::functions::{Function, Head};
use super::iterations::index_names;
use super::literals::has_open_literal;
use super::scope::{Binding, Env};
use super::{Elaborator, Given, Hint, Result};
use crate::ast::{self, ExprKind, PatternKind};
use crate::diagnostic::Diagnostic;

/// The first number of a range and the one behind the last, where they are sizes.
type Bounds = (Option<Nat>, Option<Nat>);

/// An array over a range, or over the points of a domain that depends on an outer index.
#[derive(Clone)]
pub(super) struct Ragged<'a> {
    over: Over,
    element: Element<'a>,
}

#[derive(Clone)]
enum Over {
    Range {
        /// The first number and the one behind the last.
        bounds: (Expr, Expr),
        /// The same without names for what is computed once, by which ranges are compared.
        written: (Expr, Expr),
        /// The same as sizes, where indices say them.
        sizes: Bounds,
        /// Where the range starts, outer indices are compared: the run may end there.
        is_checked: bool,
    },
    Points(Points),
}

/// The points of a domain that depends on an outer index.
#[derive(Clone)]
struct Points {
    used: Rc<Used>,
    span: Span,
    /// The array is nested, as those over boxes of several indices are, and its rows are not joined.
    is_nested: bool,
}

/// What the array has at a number of the range, or at a point.
#[derive(Clone)]
enum Element<'a> {
    Of {
        value: &'a ast::Expr,
        names: Vec<Option<&'a str>>,
        env: Env<'a>,
    },
    /// `tabulate(D, f)`
    Applied(Function<'a>),
    /// `view(D, m)`: the array, the domain that it is over, and the point of it that each point means.
    Seen {
        array: Expr,
        held: Rc<Used>,
        meant: Vec<Nat>,
    },
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
                let Some(written) = self.bounds(domain, env)? else {
                    let Some(points) = self.varying_points(domain, env)? else { return Ok(None) };
                    let names = index_names(pattern, &points.used)?;
                    let element = Element::Of { value, names, env: env.clone() };
                    return Ok(Some(Ragged { over: Over::Points(points), element }));
                };
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
                let element = Element::Of { value, names: vec![name], env: env.clone() };
                let (sizes, is_checked) = self.bound_sizes(domain, env)?;
                let over = Over::Range { bounds, written, sizes, is_checked };
                Ok(Some(Ragged { over, element }))
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
            ExprKind::Call(..) => {
                if !self.may_be_ragged(ast, env) {
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
                _ => self.is_varying(domain, env),
            },
            ExprKind::Pipe(value, _) => self.may_be_ragged(value, env),
            ExprKind::Call(head, arguments) => match (&head.kind, arguments.first()) {
                (ExprKind::Name(name), Some(domain)) if name == "view" || name == "tabulate" => {
                    self.is_varying(domain, env)
                }
                _ => arguments.iter().any(|a| self.may_be_ragged(a, env)),
            },
            _ => false,
        }
    }

    /// `map(f, xs)` and `zip(xs, ys)` of arrays over ranges, and `view`, `tabulate` and `flat`.
    fn ragged_call(
        &self,
        function: &Function<'a>,
        given: &[Given<'a>],
        lets: &mut Lets,
    ) -> Result<Option<Ragged<'a>>> {
        let pattern = match &function.head {
            Head::Pattern(pattern) => pattern,
            Head::Domain(operation) => return self.ragged_operation(*operation, given, lets),
            _ => return Ok(None),
        };
        match (&pattern.make, given) {
            (table::Make::Prim(Prim::Map(_)), [f, xs]) => {
                let Some(ragged) = self.ragged(xs, lets)? else { return Ok(None) };
                ragged.expect_elements("map")?;
                let f = self.given_function(f)?;
                let over = ragged.over.clone();
                Ok(Some(Ragged { over, element: Element::Mapped(f, Rc::new(ragged)) }))
            }
            (table::Make::Prim(Prim::Zip), arrays) => {
                let mut parts = Vec::new();
                for array in arrays {
                    match self.ragged(array, lets)? {
                        Some(ragged) => {
                            ragged.expect_elements("zip")?;
                            parts.push(ragged);
                        }
                        None => {
                            let text =
                                "an array over a range is zipped with others of the same range";
                            return error(array.span(), text);
                        }
                    }
                }
                // A range that decreases is an error, so one that is written says how far to go.
                let written = parts.iter().find(|part| matches!(part.over, Over::Range { .. }));
                let Some(first) = written.or(parts.first()) else { return Ok(None) };
                let over = first.over.clone();
                match parts.iter().all(|part| self.same_range(&over, &part.over)) {
                    true => Ok(Some(Ragged { over, element: Element::Zipped(parts) })),
                    false => error(function.span, "these ranges are not known to be the same"),
                }
            }
            _ => Ok(None),
        }
    }

    fn same_range(&self, one: &Over, other: &Over) -> bool {
        if let (Over::Range { written: a, .. }, Over::Range { written: b, .. }) = (one, other)
            && a.0.alpha_eq(&b.0)
            && a.1.alpha_eq(&b.1)
        {
            return true;
        }
        if let (Over::Points(a), Over::Points(b)) = (one, other) {
            return a.used.points.same_points(&b.used.points, &self.facts_here());
        }
        let facts = self.facts_here();
        match (self.interval(one), self.interval(other)) {
            (Some(a), Some(b)) => facts.equal(&a.0, &b.0) && facts.equal(&a.1, &b.1),
            _ => false,
        }
    }

    /// The first number and the one behind the last, where indices say them and nothing else is asked.
    fn interval(&self, over: &Over) -> Option<(Nat, Nat)> {
        match over {
            Over::Range { bounds, sizes: (Some(low), Some(high)), is_checked: false, .. } => {
                let is_index = *bounds.0.ty() == Type::Scalar(Scalar::I32);
                is_index.then(|| (low.clone(), high.clone()))
            }
            Over::Range { .. } => None,
            Over::Points(points) if points.used.checked.is_empty() => {
                let (from, to) = self.varying(&points.used.points)?;
                ends(from, to)
            }
            Over::Points(_) => None,
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
        self.extreme_of(math, values, span)
    }

    fn extreme_of(&self, math: Math, values: Vec<Expr>, span: Span) -> Result<Expr> {
        let both = |a: Expr, b: Expr| self.call(Prim::Math(math), vec![a, b], span);
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

    /// The bounds of a range as sizes, each where it is made of sizes and indices and proved not to wrap, and whether a domain
    /// compares outer indices.
    fn bound_sizes(&self, domain: &'a ast::Expr, env: &Env<'a>) -> Result<(Bounds, bool)> {
        if let ExprKind::Range(from, to) = &domain.kind {
            return Ok(((self.index_size(from, env), self.index_size(to, env)), false));
        }
        let used = self.domain(domain, env)?;
        let is_checked = !used.checked.is_empty();
        let unknown = ((None, None), is_checked);
        let Some((from, to)) = self.varying(&used.points) else { return Ok(unknown) };
        let facts = self.facts_with(env, &[]);
        let has_room = |n: &Nat| self.is_index(n, &facts);
        Ok(match ends(from, to) {
            Some((low, high)) => {
                ((Some(low).filter(has_room), Some(high).filter(has_room)), is_checked)
            }
            None => unknown,
        })
    }

    fn ragged_element(&self, ragged: &Ragged<'a>, point: &[Expr], span: Span) -> Result<Expr> {
        match (&ragged.element, &ragged.over, point) {
            (Element::Of { value, names, env }, Over::Range { sizes, .. }, [at]) => {
                let name = names.first().copied().flatten();
                let var = self.cx.fresh_inside(name.unwrap_or("k"), &[]);
                if let Some(low) = &sizes.0 {
                    self.cx.assume_inside(&Pred::Le(low.clone(), Nat::var(&var)));
                }
                if let Some(high) = &sizes.1 {
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
            (Element::Of { value, names, env }, Over::Points(points), _) => {
                let params = self.index_params(names);
                let indices = self.declare_point(&points.used.points, &params, Some(point));
                let bind = |env: Env<'a>, (name, (value, size)): (&Option<&'a str>, _)| match name {
                    Some(name) => env.bind(name, Binding::Index(value, size)),
                    None => env,
                };
                let inner = names.iter().zip(indices).fold(env.clone(), bind);
                let made = self.expr(value, &inner, Hint::None);
                self.forget_indices(params.len());
                made
            }
            (Element::Of { .. }, Over::Range { .. }, _) => error(span, "a range has one index"),
            (Element::Applied(f), ..) => {
                let point = match point {
                    [only] => only.clone(),
                    _ => {
                        let parts = Parts::of(span);
                        self.build(Prim::Tuple, vec![], vec![], point.to_vec(), &parts)?
                    }
                };
                self.apply_spread(f, vec![Given::Value(point, f.span)], Hint::None)
            }
            (Element::Seen { array, held, meant }, ..) => {
                let meant = meant.iter().map(|i| self.affine_value(i, point, Scalar::I32, span));
                self.element_of_domain(array.clone(), held, all(meant)?, span)
            }
            (Element::Mapped(f, of), ..) => {
                let x = self.ragged_element(of, point, span)?;
                self.apply_spread(f, vec![Given::Value(x, span)], Hint::None)
            }
            (Element::Zipped(parts), ..) => {
                let parts = all(parts.iter().map(|p| self.ragged_element(p, point, span)))?;
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
        let (low, high) = match &ragged.over {
            Over::Range { bounds, .. } => bounds.clone(),
            Over::Points(points) => {
                ragged.expect_elements("reduce")?;
                return self.reduce_points(kind, (start, f), points, ragged, span, hint);
            }
        };
        let name = ragged.element.index_names().first().copied().flatten().unwrap_or("k");
        let number = self.cx.fresh(name, low.ty().clone());
        let element = self.ragged_element(ragged, &[self.cx.var(&number)], span)?;
        let z = self.ragged_start(kind, start, element.ty(), hint)?;
        let types = [z.ty().clone(), element.ty().clone()];
        let fold = self.lambda(f, &types, &["acc", "x"], Hint::Type(z.ty()))?;
        let element = Lambda { size: None, params: vec![number], body: element };
        let args = vec![z, low, high];
        let prim = Prim::ReduceRange(counted(kind));
        self.build(prim, vec![], vec![fold, element], args, &Parts::of(span))
    }

    /// The value that a fold of elements of a type starts from.
    fn ragged_start(
        &self,
        kind: FoldKind,
        start: &Given<'a>,
        wanted: &Type,
        hint: Hint,
    ) -> Result<Expr> {
        let open = matches!(start, Given::Ast(ast, _) if has_open_literal(ast));
        let z = match kind {
            FoldKind::Any => self.value(start, Hint::Type(wanted))?,
            _ if open && matches!(hint, Hint::None) => self.value(start, Hint::Type(wanted))?,
            _ => self.value(start, hint)?,
        };
        if kind == FoldKind::Any && !self.cx.same_type(z.ty(), wanted) {
            let text = format!(
                "`reduce` starts from a value of the element type `{wanted}`, found `{}`",
                z.ty()
            );
            return error(start.span(), text);
        }
        Ok(z)
    }
}

/// The largest of the values that an index starts from, and the smallest of those that it ends before.
fn ends(from: Vec<Nat>, to: Vec<Nat>) -> Option<(Nat, Nat)> {
    let low = from.into_iter().reduce(|a, b| Nat::max(&a, &b))?;
    Some((low, to.into_iter().reduce(|a, b| Nat::min(&a, &b))?))
}

/// How often is known only when it runs, so nothing is written out.
fn counted(kind: FoldKind) -> FoldKind {
    if kind == FoldKind::SeqUnroll { FoldKind::Seq } else { kind }
}

impl Ragged<'_> {
    /// What takes elements takes no rows of an array that is nested.
    fn expect_elements(&self, name: &str) -> Result<()> {
        let Over::Points(Points { used, span, is_nested: true }) = &self.over else {
            return Ok(());
        };
        Err(Errors::one(
            Diagnostic::error(format!(
                "`{name}` would have rows whose length depends on an outer index"
            ))
            .at(*span, format!("`{}` is a box, so an array over it is nested", used.text))
            .help("join its rows: `flat([ e | p in D ])`"),
        ))
    }
}

impl Element<'_> {
    /// What the program calls the indices.
    fn index_names(&self) -> Vec<Option<&str>> {
        match self {
            Element::Of { names, .. } => names.clone(),
            Element::Mapped(_, of) => of.element.index_names(),
            Element::Zipped(parts) => {
                parts.first().map_or_else(Vec::new, |part| part.element.index_names())
            }
            Element::Applied(_) | Element::Seen { .. } => Vec::new(),
        }
    }
}

/// An array over a range stands where it would have to be made.
pub(super) fn escaping(span: Span) -> Errors {
    Errors::one(
        Diagnostic::error("an array over `a .. b` is not stored or returned")
            .at(span, "its length is known only when the program runs")
            .help("fold it: `reduce(0.0, (+), [ e | k in a .. b ])`; `map` and `zip` may stand in between. Numbers below a size are `line[n]`"),
    )
}
