//! What domains mean where they are used: sets of points, and which points of another set they stand for.

use std::collections::BTreeSet;

use lift_domain::{Constraint, Domain, MAX_DIMENSIONS};
use lift_ir::{BinaryOp, Nat, Pred, Range, Span, Type, Var};

use super::errors::{Errors, all, error};
use super::scope::{Binding, Declarations, Env, Home};
use super::types::{Deferred, Instance, Written};
use super::{Elaborator, Result};
use crate::ast::{self, ExprKind};
use crate::diagnostic::Diagnostic;
use crate::suggest::did_you_mean;

/// A domain where it is used.
#[derive(Clone)]
pub(super) struct Used {
    /// As the user writes it.
    pub text: String,
    /// Its name and sizes, where it has a name.
    pub named: Option<(String, Vec<Nat>)>,
    /// The points it is addressed by.
    pub points: Domain,
    /// Of a projection: the domain below that is none, and the point of it that each point means.
    pub meaning: Option<(Domain, Vec<Nat>)>,
    /// The declaration is no box, whatever its sizes are here.
    pub is_packed: bool,
    /// What outer indices have to meet wherever it is used, which is checked when the program runs.
    pub checked: Vec<Pred>,
}

impl Used {
    /// How long it is in each dimension, where it is a box. That is said by the declaration, not by sizes for which a
    /// triangle is one point.
    pub(super) fn extents(&self) -> Option<Vec<Nat>> {
        if self.is_packed { None } else { self.points.extents() }
    }

    /// Something more has to hold wherever it is used.
    fn check_first(&mut self, pred: Pred) {
        if !self.checked.contains(&pred) {
            self.checked.insert(0, pred);
        }
    }

    /// The domain that an array seen through this one has to hold, and the point of it for each point.
    pub(super) fn root(&self) -> (Domain, Vec<Nat>) {
        self.meaning.clone().unwrap_or_else(|| (self.points.clone(), self.points.point()))
    }
}

/// One error a circle of domains that are made of each other.
pub(super) fn circles(declarations: &Declarations) -> Vec<Diagnostic> {
    let mut names: Vec<&str> = declarations.domains.keys().copied().collect();
    names.sort_unstable();
    let mut found: Vec<Diagnostic> = Vec::new();
    let mut done: BTreeSet<&str> = BTreeSet::new();
    for name in names {
        // A domain is made of at most two others, so paths are walked one by one.
        let mut open = vec![vec![name]];
        while let Some(path) = open.pop() {
            let Some(domain) = path.last().and_then(|n| declarations.domains.get(n)) else {
                continue;
            };
            for (parent, span) in parents(domain) {
                if parent == name && !done.contains(name) {
                    done.extend(path.iter());
                    let text = format!("the domain `{name}` is made of itself");
                    let error = Diagnostic::error(text).at(span, "");
                    found.push(error.help(
                        "a domain is a subset or a projection of one declared apart from it",
                    ));
                } else if !path.contains(&parent) && path.len() < 64 {
                    open.push(path.iter().copied().chain([parent]).collect());
                }
            }
        }
    }
    found
}

/// The domains that one is made of.
fn parents(domain: &ast::Domain) -> Vec<(&str, Span)> {
    let points = domain.address.iter().chain([&domain.set.points]);
    points.filter_map(|p| p.domain.as_ref()).filter_map(|d| Some((head(d)?, d.span))).collect()
}

/// The name of a domain that has one.
fn head(ast: &ast::Expr) -> Option<&str> {
    match &ast.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Index(inner, _) => head(inner),
        _ => None,
    }
}

impl<'a> Elaborator<'a> {
    /// Whether a name is a built-in that nobody has declared.
    pub(super) fn is_built_in(&self, name: &str, env: &Env<'a>) -> bool {
        env.get(name).is_none() && self.module.find(env.home, name).is_none()
    }

    /// A domain as written: `grid[h, w]` or `{ (i, j) | … }`.
    pub(super) fn domain(&self, ast: &'a ast::Expr, env: &Env<'a>) -> Result<Used> {
        self.step(ast.span)?;
        match &ast.kind {
            ExprKind::Paren(inner) => self.domain(inner, env),
            ExprKind::Name(name) => self.named_domain(name, &[], ast.span, env),
            ExprKind::Index(inner, sizes) => match &inner.kind {
                ExprKind::Name(name) => self.named_domain(name, sizes, ast.span, env),
                _ => not_a_domain(ast.span),
            },
            ExprKind::Set(set) => {
                let points = self.within(|s| s.set(set, env))?;
                let text = points.points.substitute(&plain_var).to_string();
                Ok(Used { text, ..points })
            }
            ExprKind::Range(..) => error(ast.span, "a domain is expected, found a range `a .. b`"),
            ExprKind::Error => Err(Errors(Vec::new())),
            _ => not_a_domain(ast.span),
        }
    }

    fn named_domain(
        &self,
        name: &str,
        sizes: &'a [ast::Expr],
        span: Span,
        env: &Env<'a>,
    ) -> Result<Used> {
        let Some((declared, home)) = self.module.domain(env.home, name) else {
            let known = self.module.user.domains.keys().chain(self.module.prelude.domains.keys());
            let help = match env.get(name) {
                Some(Binding::Size(_)) => {
                    Some(format!("the numbers below `{name}` are `line[{name}]`"))
                }
                _ => did_you_mean(name, known.copied()),
            };
            let declare =
                || format!("declare it: `domain {name}[n] = {{ (i, j) | i < j, j < n }};`");
            let help = help.or_else(|| Some(declare()));
            let error = Diagnostic::error(format!("no domain is called `{name}`")).at(span, "");
            return Err(Errors::one(error.help_if(help)));
        };
        if declared.sizes.len() != sizes.len() {
            let plural = if declared.sizes.len() == 1 { "" } else { "s" };
            let wanted = declared.sizes.len();
            let text = format!("`{name}` takes {wanted} size{plural}, found {}", sizes.len());
            return error(span, text);
        }
        let mut negative = Vec::new();
        let values = all(sizes.iter().map(|size| {
            let value = self.within(|s| s.size(size, env))?;
            negative.extend(self.require_natural(&value, size.span)?);
            Ok(value)
        }))?;
        let mut inner = Env::new(home);
        for (size, value) in declared.sizes.iter().zip(&values) {
            inner = inner.bind(&size.text, Binding::Size(value.clone()));
        }
        let mut used = match self.declared(declared, &inner, span) {
            Ok(used) => used,
            // What is wrong with a declaration whatever the sizes are is said once, where it stands.
            Err(_) if home == Home::User && self.open(declared, home, span).is_err() => {
                return Err(Errors(Vec::new()));
            }
            Err(errors) => return Err(errors),
        };
        // A size is asked for before what is made of it.
        for natural in negative.into_iter().rev() {
            used.check_first(natural);
        }
        used.is_packed |= used.extents().is_some() && !self.is_declared_box(declared, home, span);
        let list: Vec<String> =
            values.iter().map(|v| plain(&self.cx.simplify(v)).to_string()).collect();
        let text = match list.is_empty() {
            true => name.to_string(),
            false => format!("{name}[{}]", list.join(", ")),
        };
        Ok(Used { text, named: Some((name.to_string(), values)), ..used })
    }

    /// Whether a domain is a box for all sizes.
    fn is_declared_box(&self, declared: &'a ast::Domain, home: Home, span: Span) -> bool {
        self.open(declared, home, span).is_ok_and(|open| open.extents().is_some())
    }

    /// A declared domain by itself, with stand-ins for its sizes.
    fn open(&self, declared: &'a ast::Domain, home: Home, span: Span) -> Result<Used> {
        let mut env = Env::new(home);
        for size in &declared.sizes {
            let var = self.cx.fresh_index(&size.text, Range::at_least(Nat::ZERO));
            env = env.bind(&size.text, Binding::Size(Nat::var(&var)));
        }
        self.supposing(|s| s.declared(declared, &env, span))
    }

    /// Indices are sizes while this runs.
    pub(super) fn within<T>(&self, run: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        let outer = self.in_domain.replace(true);
        let result = run(self);
        self.in_domain.set(outer);
        result
    }

    /// Whether a bound on sizes may hold; it is then required of whoever gives them, unless the sizes are only stand-ins.
    pub(super) fn required(&self, pred: &Pred) -> bool {
        match self.supposed.get() {
            true => !self.cx.refutes(pred),
            false => self.cx.require(pred).is_ok(),
        }
    }

    /// Sizes are stand-ins for ones that are not known yet while this runs: nothing is required of them.
    pub(super) fn supposing<T>(&self, run: impl FnOnce(&Self) -> T) -> T {
        let outer = self.supposed.replace(true);
        let result = run(self);
        self.supposed.set(outer);
        result
    }

    /// The size of a domain may be 0; that it is not negative is proved, or required of whoever gives the sizes. Where it
    /// depends on an outer index and is not proved, it is checked when the program runs: what is.
    fn require_natural(&self, size: &Nat, span: Span) -> Result<Option<Pred>> {
        let natural = Pred::Le(Nat::ZERO, size.clone());
        if self.mentions_index(size) {
            return Ok((!self.facts_here().proves(&natural)).then_some(natural));
        }
        if self.required(&natural) {
            return Ok(None);
        }
        error(span, format!("the size of a domain is never negative, found `{size}`"))
    }

    /// A declared domain, its sizes bound in `env`.
    pub(super) fn declared(
        &self,
        domain: &'a ast::Domain,
        env: &Env<'a>,
        span: Span,
    ) -> Result<Used> {
        self.expand(span)?;
        let Some(address) = &domain.address else {
            return self.within(|s| s.set(&domain.set, env));
        };
        let Some(addressed) = &address.domain else {
            let text =
                "a projection is addressed by a domain, as in `domain trace[n] : line[n](j) = …`";
            return error(address.span, text);
        };
        let by = self.domain(addressed, env)?;
        self.expect_indices(&by, address)?;
        self.within(|s| s.projection(domain, by, address, env))
    }

    pub(super) fn expect_indices(&self, of: &Used, points: &ast::Points) -> Result<()> {
        let (wanted, found) = (of.points.dimensions(), points.indices.len());
        if wanted == found {
            return Ok(());
        }
        let plural = if wanted == 1 { "index" } else { "indices" };
        error(points.span, format!("`{}` has {wanted} {plural}, found {found}", of.text))
    }

    /// The points that meet constraints.
    fn set(&self, set: &'a ast::Set, env: &Env<'a>) -> Result<Used> {
        let dimensions = set.points.indices.len();
        if !(1..=MAX_DIMENSIONS).contains(&dimensions) {
            let text = format!("a domain has 1 to {MAX_DIMENSIONS} indices, found {dimensions}");
            return error(set.points.span, text);
        }
        let parent = set.points.domain.as_ref().map(|d| self.domain(d, env)).transpose()?;
        let (mut constraints, mut checked) = (Vec::new(), Vec::new());
        let mut parent_packed = false;
        let mut meaning = None;
        if let Some(parent) = parent {
            self.expect_indices(&parent, &set.points)?;
            constraints.extend(parent.points.constraints().iter().cloned());
            meaning = parent.meaning;
            checked = parent.checked;
            parent_packed = parent.is_packed;
        }
        let mut inner = env.clone();
        for (k, name) in set.points.indices.iter().enumerate() {
            if set.points.indices.iter().take(k).any(|n| n.text == name.text) {
                return error(name.span, format!("`{}` is bound twice", name.text));
            }
            inner = inner.bind(&name.text, Binding::Size(Domain::index(k)));
        }
        for ast in &set.constraints {
            for constraint in self.constraint(ast, &inner)? {
                match self.on_sizes_alone(&constraint, dimensions, ast.span)? {
                    true => constraints.push(constraint),
                    false => checked.push(constraint.pred()),
                }
            }
        }
        let points = Domain::new(dimensions, constraints);
        for ast in &set.constraints {
            self.expect_affine(ast, &inner, dimensions)?;
        }
        if let Some(index) = points.unbounded() {
            let name = set.points.indices.get(index).map_or("", |n| n.text.as_str());
            let span = set.points.indices.get(index).map_or(set.span, |n| n.span);
            let text = format!("the domain is not bounded: `{name}` has no upper bound");
            let help = format!("add one, such as `{name} < n`");
            return Err(Errors::one(Diagnostic::error(text).at(span, "").help(help)));
        }
        for ast in &set.constraints {
            self.natural_remainder(&points, ast, &inner)?;
        }
        let is_packed = parent_packed;
        Ok(Used { text: String::new(), named: None, points, meaning, is_packed, checked })
    }

    /// What a constraint says of sizes alone has to hold wherever the domain is used. Whether it is known to: what it says of
    /// outer indices alone is not.
    fn on_sizes_alone(
        &self,
        constraint: &Constraint,
        dimensions: usize,
        span: Span,
    ) -> Result<bool> {
        let pred = constraint.pred();
        let of_index = (0..dimensions).any(|k| pred.mentions(&Domain::index_var(k)));
        if of_index || self.cx.proves(&pred) {
            return Ok(true);
        }
        if pred.vars().iter().any(|v| self.mentions_index(&Nat::var(v))) {
            return Ok(false);
        }
        let held = match &pred {
            Pred::Lt(..) | Pred::Le(..) => self.required(&pred),
            Pred::Eq(..) | Pred::Ne(..) | Pred::Divides { .. } | Pred::And(_) => {
                self.cx.proves(&pred)
            }
        };
        match held {
            true => Ok(true),
            false => error(span, format!("`{pred}` does not hold for these sizes")),
        }
    }

    /// `affine % c == r` counts from 0 only where the affine part is not negative.
    fn natural_remainder(&self, points: &Domain, ast: &'a ast::Expr, env: &Env<'a>) -> Result<()> {
        let ExprKind::Binary(BinaryOp::Eq, left, rest) = &ast.kind else { return Ok(()) };
        let ExprKind::Binary(BinaryOp::Rem, of, _) = &super::sizes::unwrapped(left).kind else {
            return Ok(());
        };
        let (of, rest) = (self.size(of, env)?, self.size(rest, env)?);
        let mut facts = self.cx.facts();
        points.conditions(&points.point()).iter().for_each(|c| facts.assume(c));
        if rest == Nat::ZERO || facts.proves(&Pred::Le(Nat::ZERO, of)) {
            return Ok(());
        }
        let text = "what a remainder is taken of may be negative here";
        let error = Diagnostic::error(text).at(ast.span, "").help("add a multiple of the divisor");
        Err(Errors::one(error))
    }

    fn expect_affine(&self, ast: &'a ast::Expr, env: &Env<'a>, dimensions: usize) -> Result<()> {
        for constraint in self.constraint(ast, env)? {
            let single = Domain::new(dimensions, vec![constraint]);
            if single.not_affine().is_some() {
                let text = "this constraint is not affine in the indices";
                return Err(Errors::one(
                    Diagnostic::error(text)
                        .at(ast.span, "")
                        .note("an index may be added, subtracted and multiplied by a number"),
                ));
            }
        }
        Ok(())
    }

    /// `a < b <= c`, or `a % c == r`
    fn constraint(&self, ast: &'a ast::Expr, env: &Env<'a>) -> Result<Vec<Constraint>> {
        let ExprKind::Binary(op, left, right) = &ast.kind else {
            return not_a_constraint(ast.span);
        };
        if *op == BinaryOp::Eq
            && let ExprKind::Binary(BinaryOp::Rem, of, divisor) =
                &super::sizes::unwrapped(left).kind
        {
            return Ok(vec![self.remainder(of, divisor, right, env)?]);
        }
        let mut found = Vec::new();
        // In a chain the operand on the left is a comparison, whose right side is compared again.
        let mut first: &'a ast::Expr = left;
        if let ExprKind::Binary(inner, _, middle) = &left.kind
            && inner.is_comparison()
        {
            found.extend(self.constraint(left, env)?);
            first = middle;
        }
        let (a, b) = (self.size(first, env)?, self.size(right, env)?);
        match op {
            BinaryOp::Lt => found.push(Constraint::less(&a, &b)),
            BinaryOp::Le => found.push(Constraint::at_most(&a, &b)),
            BinaryOp::Gt => found.push(Constraint::less(&b, &a)),
            BinaryOp::Ge => found.push(Constraint::at_most(&b, &a)),
            BinaryOp::Eq => {
                found.push(Constraint::at_most(&a, &b));
                found.push(Constraint::at_most(&b, &a));
            }
            _ => return not_a_constraint(ast.span),
        }
        Ok(found)
    }

    fn remainder(
        &self,
        of: &'a ast::Expr,
        divisor: &'a ast::Expr,
        rest: &'a ast::Expr,
        env: &Env<'a>,
    ) -> Result<Constraint> {
        let value = self.size(of, env)?;
        let number = |ast: &'a ast::Expr| Ok(self.size(ast, env)?.as_int());
        match (number(divisor)?, number(rest)?) {
            (Some(divisor), Some(rest)) if 0 <= rest && rest < divisor => {
                Ok(Constraint::Multiple { of: value - Nat::int(rest), divisor })
            }
            _ => error(
                divisor.span.to(rest.span),
                "a remainder in a constraint is of a number c, and equal to one from 0 to c - 1",
            ),
        }
    }

    /// The type of an array over a domain: nested over a box.
    pub(super) fn type_over(&self, element: Type, domain: &Used, span: Span) -> Result<Type> {
        let lengths = self.lengths(domain, span)?;
        Ok(lengths.into_iter().rev().fold(element, Type::array))
    }

    /// Whether a type is that of an array over a domain as written, some of whose sizes may not be known yet.
    pub(super) fn domain_matches(
        &self,
        element: &'a ast::Type,
        domain: &'a ast::Expr,
        actual: &Type,
        span: Span,
        instance: &mut Instance<'a>,
    ) -> bool {
        let mut env = Env::new(instance.home);
        for (name, size) in &instance.sizes {
            let open = || Nat::var(&Var::named(name));
            env = env.bind(name, Binding::Size(size.clone().unwrap_or_else(open)));
        }
        let lengths = self.supposing(|s| s.domain(domain, &env).and_then(|d| s.lengths(&d, span)));
        let Ok(lengths) = lengths else {
            return false;
        };
        // Sizes of a domain of the same name are the same; others do not follow.
        if let (ExprKind::Index(_, written), Some(found)) =
            (&domain.kind, self.packed_domain(actual))
            && let Some((name, sizes)) = found.named
            && head(domain) == Some(name.as_str())
        {
            for (written, size) in written.iter().zip(&sizes) {
                self.size_matches(written, size, span, instance);
            }
        }
        let mut actual = actual;
        for (at, length) in lengths.iter().enumerate() {
            let Type::Array(inner, found) = actual else { return false };
            let unknown = length.as_var().and_then(|v| instance.sizes.get_mut(v.name()));
            match unknown {
                Some(open @ None) => *open = Some(found.clone()),
                _ => {
                    let written = Written::Length(domain, at);
                    instance.deferred.push(Deferred { written, actual: found.clone(), span });
                }
            }
            actual = inner;
        }
        self.matches(element, actual, span, instance)
    }
}

/// A condition with the indices called as in the text of domains.
pub(super) fn shown(pred: &Pred) -> String {
    let names = ["i", "j", "k", "l"];
    let named = pred.substitute(&|v| {
        let index = (0..names.len()).find(|k| Domain::index_var(*k) == *v);
        match index.and_then(|k| names.get(k)) {
            Some(name) => Some(Nat::var(&Var::named(name))),
            None => plain_var(v),
        }
    });
    named.to_string()
}

/// A size as its author wrote it: variables that are told apart by numbers have their names alone.
pub(super) fn plain(size: &Nat) -> Nat {
    size.substitute(&plain_var)
}

fn plain_var(var: &Var) -> Option<Nat> {
    let is_index = (0..MAX_DIMENSIONS).any(|k| Domain::index_var(k) == *var);
    (var.id() != 0 && !is_index).then(|| Nat::var(&Var::named(var.name())))
}

fn not_a_domain<T>(span: Span) -> Result<T> {
    let help = "a domain is written `line[n]` or `{ (i, j) | i < j, j < n }`";
    Err(Errors::one(Diagnostic::error("a domain is expected here").at(span, "").help(help)))
}

fn not_a_constraint<T>(span: Span) -> Result<T> {
    let help = "the points of a domain are compared by `<`, `<=`, `>`, `>=`, `==`, or `e % c == r`";
    Err(Errors::one(Diagnostic::error("a constraint is expected here").at(span, "").help(help)))
}
