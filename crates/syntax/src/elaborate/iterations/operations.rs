//! Operations that are called by name with a domain: `view`, `put`, `over`, `flat`, `tabulate`, `rank`, `point`.

use std::sync::Arc;

use lift_domain::Domain;
use lift_ir::{BinaryOp, Expr, Nat, Pred, Prim, Scalar, Span, Var};

use super::super::apply::{Lets, arity};
use super::super::domains::{Used, shown};
use super::super::errors::{Parts, all, both, error};
use super::super::projections::solved;
use super::super::{Elaborator, Given, Hint, Result};
use super::wrong_indices;

/// What is written like a call and takes a domain first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::elaborate) enum Operation {
    View,
    Put,
    Over,
    Flat,
    Count,
    Rank,
    Point,
    Tabulate,
}

impl Operation {
    pub(in crate::elaborate) fn named(name: &str) -> Option<Operation> {
        Some(match name {
            "view" => Operation::View,
            "put" => Operation::Put,
            "over" => Operation::Over,
            "flat" => Operation::Flat,
            "count" => Operation::Count,
            "rank" => Operation::Rank,
            "point" => Operation::Point,
            "tabulate" => Operation::Tabulate,
            _ => return None,
        })
    }

    pub(in crate::elaborate) fn arguments(self) -> usize {
        match self {
            Operation::Flat | Operation::Count => 1,
            Operation::Put => 3,
            Operation::View
            | Operation::Over
            | Operation::Rank
            | Operation::Point
            | Operation::Tabulate => 2,
        }
    }
}

/// Whether the first argument of what is called so is a domain.
pub(in crate::elaborate) fn takes_domain(name: &str) -> bool {
    Operation::named(name).is_some_and(|o| o != Operation::Flat)
}

impl<'a> Elaborator<'a> {
    /// `view(D, m)` and its like.
    pub(in crate::elaborate) fn domain_operation(
        &self,
        operation: Operation,
        given: &[Given<'a>],
        span: Span,
        hint: Hint,
    ) -> Result<Expr> {
        if given.len() != operation.arguments() {
            let name = format!("{operation:?}").to_lowercase();
            return Err(arity(&name, operation.arguments(), given.len(), span));
        }
        match (operation, given) {
            (Operation::Flat, [array]) => {
                let array = self.value(array, Hint::None)?;
                self.flat(array, span)
            }
            (Operation::View, [domain, array]) => {
                let (used, at) = self.given_domain(domain)?;
                let array = self.value(array, Hint::None)?;
                self.view(&used, array, at, span, hint)
            }
            (Operation::Put, [domain, elements, array]) => {
                let (used, at) = self.given_domain(domain)?;
                let (elements, array) =
                    both(self.value(elements, Hint::None), self.value(array, Hint::None))?;
                self.put(&used, elements, array, at, span)
            }
            (Operation::Over, [domain, array]) => {
                let (used, _) = self.given_domain(domain)?;
                let array = self.value(array, hint)?;
                self.over(&used, array, span)
            }
            (Operation::Tabulate, [domain, function]) => {
                let (used, at) = self.given_domain(domain)?;
                let function = self.given_function(function)?;
                let names = vec![None; used.points.dimensions()];
                self.tabulate(&used, &names, at, span, hint, &mut |point, hint| {
                    let values: Vec<Expr> = point.iter().map(|(v, _)| v.clone()).collect();
                    let point = match values.as_slice() {
                        [only] => only.clone(),
                        _ => self.call(Prim::Tuple, values, span)?,
                    };
                    let point = Given::Value(point, function.span);
                    self.apply_spread(&function, vec![point], hint)
                })
            }
            (Operation::Count, [domain]) => {
                let (used, _) = self.given_domain(domain)?;
                let count = self.counted(&used, span)?;
                let count = self.size_as(&count, Scalar::I32, span)?;
                self.checked(&used, count, span)
            }
            (Operation::Rank, [domain, point]) => {
                let (used, _) = self.given_domain(domain)?;
                let mut lets = Lets::new();
                let point = match point {
                    Given::Ast(point, env) => self.point_values(point, &used, env, &mut lets)?,
                    Given::Value(point, at) => {
                        self.components(point.clone(), &used, *at, &mut lets)?
                    }
                };
                let rank = self.rank(&used, point, span)?;
                Ok(self.close(lets, rank))
            }
            (Operation::Point, [domain, number]) => {
                let (used, _) = self.given_domain(domain)?;
                let number = self.value(number, Hint::None)?;
                let number = self.checked(&used, number, span)?;
                match self.is_outer(&used) {
                    true => self.outer_point(&used, number, span),
                    false => self.call(Prim::Point(Arc::new(used.points)), vec![number], span),
                }
            }
            // As many are given as it takes.
            _ => Err(arity(
                &format!("{operation:?}").to_lowercase(),
                operation.arguments(),
                given.len(),
                span,
            )),
        }
    }

    /// `rank(D, p)`. Where D depends on an outer index, it is its formula, as a value.
    fn rank(&self, used: &Used, point: Vec<Expr>, span: Span) -> Result<Expr> {
        if !self.is_outer(used) {
            let rank = self.call(Prim::Rank(Arc::new(used.points.clone())), point, span)?;
            return self.checked(used, rank, span);
        }
        let Some(levels) = used.points.levels() else {
            return error(span, format!("no formula counts the points of `{}`", used.text));
        };
        let mut lets = Lets::new();
        let point: Vec<Expr> =
            point.into_iter().map(|value| self.shared("x", value, &mut lets)).collect();
        let rank = levels.rank(&used.points.point());
        let rank = self.value_at(&rank, &point, Scalar::I32, span)?;
        let rank = self.ensured(used.points.clone(), point, rank, span)?;
        let rank = self.checked(used, rank, span)?;
        Ok(self.close(lets, rank))
    }

    /// Whether a domain depends on an outer index.
    pub(in crate::elaborate) fn is_outer(&self, used: &Used) -> bool {
        used.points.sizes().iter().any(|v| self.mentions_index(&Nat::var(v)))
    }

    pub(in crate::elaborate) fn given_domain(&self, given: &Given<'a>) -> Result<(Used, Span)> {
        match given {
            Given::Ast(ast, env) => Ok((self.domain(ast, env)?, ast.span)),
            Given::Value(_, span) => error(*span, "a domain is expected here"),
        }
    }

    /// The elements of a nested array one after the other.
    fn flat(&self, array: Expr, span: Span) -> Result<Expr> {
        if array.ty().as_array().is_none() {
            return error(span, format!("`flat` takes an array, found `{}`", array.ty()));
        }
        if let Some(domain) = self.packed_domain(array.ty()) {
            let count = self.counted(&domain, span)?;
            return Ok(self.cx.renamed(array, &count));
        }
        let mut found = array;
        while found.ty().as_array().is_some_and(|(element, _)| element.as_array().is_some()) {
            found = self.call(Prim::Join, vec![found], span)?;
        }
        Ok(found)
    }

    /// An array of as many elements as a domain has points, as the array over it.
    pub(in crate::elaborate) fn over(&self, used: &Used, array: Expr, span: Span) -> Result<Expr> {
        let lengths = self.lengths(used, span)?;
        let count = self.counted(used, span)?;
        match array.ty().as_array() {
            Some((_, length)) if self.cx.same_size(length, &count) => {}
            _ => {
                let text = format!(
                    "`{}` has `{}` points, which is not proved of the length of `{}`",
                    used.text,
                    self.cx.simplify(&count),
                    array.ty()
                );
                return error(span, text);
            }
        }
        if used.extents().is_none() {
            let length = lengths.first().cloned().unwrap_or(count);
            return Ok(self.cx.renamed(array, &length));
        }
        let mut found = array;
        for length in lengths.iter().skip(1).rev() {
            let parts = Parts::of(span);
            found = self.build(Prim::Split, vec![length.clone()], vec![], vec![found], &parts)?;
        }
        Ok(found)
    }

    /// An array seen through a domain: the element at the point that each point means.
    fn view(
        &self,
        used: &Used,
        array: Expr,
        domain_span: Span,
        span: Span,
        hint: Hint,
    ) -> Result<Expr> {
        let (_, meant) = used.root();
        let held = self.held(used, &array, domain_span, span)?;
        let mut lets = Lets::new();
        let array = self.shared("seen", array, &mut lets);
        let names = vec![None; used.points.dimensions()];
        let is_low = used.points.starts_low() && held.points.starts_low();
        let scalar = if is_low { Scalar::I32 } else { Scalar::I64 };
        let made = self.tabulate(used, &names, domain_span, span, hint, &mut |point, _| {
            let point = match is_low {
                true => point.iter().map(|(value, _)| value.clone()).collect(),
                false => self.exact_point(point, span)?,
            };
            let meant = meant.iter().map(|i| self.affine_value(i, &point, scalar, span));
            self.element_of_domain(array.clone(), &held, all(meant)?, span)
        })?;
        Ok(self.close(lets, made))
    }

    /// The domain that an array is over, which holds all points that those of another one mean.
    pub(in crate::elaborate) fn held(
        &self,
        used: &Used,
        array: &Expr,
        domain_span: Span,
        span: Span,
    ) -> Result<Used> {
        let (root, meant) = used.root();
        let held = match self.packed_domain(array.ty()) {
            Some(domain) if domain.points.dimensions() != root.dimensions() => {
                return Err(wrong_indices(&domain, root.dimensions(), domain_span));
            }
            Some(domain) => domain,
            None => {
                let mut lengths = Vec::new();
                let mut ty = array.ty();
                while let (Some((element, length)), true) =
                    (ty.as_array(), lengths.len() < root.dimensions())
                {
                    lengths.push(length.clone());
                    ty = element;
                }
                if lengths.len() < root.dimensions() {
                    let text = format!(
                        "`{}` is a view of arrays with {} indices, found `{}`",
                        used.text,
                        root.dimensions(),
                        array.ty()
                    );
                    return error(span, text);
                }
                let points = Domain::of_extents(&lengths);
                Used {
                    text: array.ty().to_string(),
                    named: None,
                    points,
                    meaning: None,
                    is_packed: false,
                    checked: Vec::new(),
                }
            }
        };
        let open = held.points.open_condition(&meant, &used.points, &self.facts_here());
        match open {
            None => Ok(held),
            Some(open) => {
                let text = format!(
                    "`{}` may have points outside `{}`: `{}` is not proved",
                    used.text,
                    held.text,
                    shown(&open)
                );
                error(domain_span, text)
            }
        }
    }

    /// The element at a point of an array over a domain.
    pub(in crate::elaborate) fn element_of_domain(
        &self,
        array: Expr,
        domain: &Used,
        point: Vec<Expr>,
        span: Span,
    ) -> Result<Expr> {
        if domain.extents().is_none() {
            return self.at_point(array, domain, point, span);
        }
        point
            .into_iter()
            .try_fold(array, |found, index| self.element(index, found, span, [span, span]))
    }

    /// An array with other elements at the points that those of a domain mean.
    ///
    /// `put(D, a, m)[q]` is `a[p]` where the point p of D means q, and else `m[q]`.
    fn put(
        &self,
        used: &Used,
        elements: Expr,
        array: Expr,
        domain_span: Span,
        span: Span,
    ) -> Result<Expr> {
        let (root, meant) = used.root();
        let held = self.held(used, &array, domain_span, span)?;
        let (outer, own) = (root.dimensions(), used.points.dimensions());
        // q - meant(p) = 0, the indices of q first.
        let behind = |n: &Nat| {
            let shift = |v: &Var| (0..own).find(|k| Domain::index_var(*k) == *v);
            n.substitute(&|v| shift(v).map(|k| Domain::index(outer + k)))
        };
        let equations = meant.iter().enumerate().map(|(k, n)| behind(n) - Domain::index(k));
        let extents = used.points.bounding_box().unwrap_or_default();
        let extents: Vec<Option<i128>> = match extents.is_empty() {
            true => vec![None; own],
            false => extents.iter().map(|n| self.cx.simplify(n).as_int()).collect(),
        };
        let Some((point, left)) = solved(equations.collect(), outer, own, &extents) else {
            let text = format!(
                "two points of `{}` may mean the same one: its indices do not follow from those they mean",
                used.text
            );
            return error(domain_span, text);
        };
        let mut element = array.ty();
        for _ in 0..outer {
            element = element.as_array().map_or(element, |(inner, _)| inner);
            if held.extents().is_none() {
                break;
            }
        }
        let wanted = self.type_over(element.clone(), used, domain_span)?;
        if !self.cx.same_type(&wanted, elements.ty()) {
            let text = format!("`put` takes `{wanted}` here, found `{}`", elements.ty());
            return error(span, text);
        }
        let mut lets = Lets::new();
        let array = self.shared("seen", array, &mut lets);
        let elements = self.shared("new", elements, &mut lets);
        let names = vec![None; outer];
        let made = self.tabulate(&held, &names, domain_span, span, Hint::None, &mut |at, _| {
            // As outer indices, of which the facts of their domain are known.
            let known = |v: &Var| {
                let k = (0..outer).find(|k| Domain::index_var(*k) == *v)?;
                at.get(k).map(|(_, size)| size.clone())
            };
            let point = point.iter().map(|n| n.substitute(&known));
            let point = all(point.map(|n| self.affine_value(&n, &[], Scalar::I32, span)))?;
            let at: Vec<Expr> = at.iter().map(|(value, _)| value.clone()).collect();
            let wide = self.widened(&at, span)?;
            let mut inside = self.inside(&used.points, &point, span)?;
            for rest in &left {
                for zero in [rest.clone(), -rest] {
                    let test = self.test(&Pred::Le(Nat::ZERO, zero), &wide, span)?;
                    inside = self.call(Prim::Binary(BinaryOp::And), vec![inside, test], span)?;
                }
            }
            let new = self.element_of_domain(elements.clone(), used, point, span)?;
            let old = self.element_of_domain(array.clone(), &held, at, span)?;
            self.call(Prim::If, vec![inside, new, old], span)
        })?;
        Ok(self.close(lets, made))
    }
}
