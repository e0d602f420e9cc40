//! `rec t = [ e | p in D ]`: arrays whose elements read others of the same array.
//!
//! An order is found when the program is checked: a vector τ with τ·p > τ·q for every point q that the element at p
//! reads. The array is then made in steps, a step for each value of τ·p: all points of that value at once, the others
//! as they are.

use std::cell::RefCell;
use std::rc::Rc;

use lift_ir::{BinaryOp, Expr, Lambda, Literal, Nat, Pred, Prim, Scalar, Span, Type};

use super::domains::Used;
use super::errors::{Errors, Parts, all, error};
use super::iterations::index_names;
use super::scope::{Binding, Env};
use super::{Elaborator, Hint, Result};
use crate::ast::{self, ExprKind};
use crate::diagnostic::Diagnostic;

/// The components of an order are at most this far from 0.
const FARTHEST: i128 = 4;

/// Types that the elements may have where nothing is written: what the parts without the array say.
const CANDIDATES: [Scalar; 11] = [
    Scalar::I32,
    Scalar::F32,
    Scalar::I64,
    Scalar::F64,
    Scalar::U8,
    Scalar::U32,
    Scalar::U64,
    Scalar::I8,
    Scalar::I16,
    Scalar::U16,
    Scalar::F16,
];

/// The array that is being made, where its elements are described.
pub(super) struct Recurrence {
    /// As far as it is made.
    array: Expr,
    domain: Used,
    /// The indices of the point that is described.
    point: Vec<Nat>,
    /// How far each read is behind the point, and where it stands.
    reads: RefCell<Vec<(Vec<Nat>, Span)>>,
}

impl<'a> Elaborator<'a> {
    pub(super) fn recurrence(
        &self,
        rec: &'a ast::Rec,
        span: Span,
        env: &Env<'a>,
        hint: Hint,
    ) -> Result<Expr> {
        let candidates: Vec<Type> = match &rec.element {
            Some(ty) => vec![self.ty(ty, env)?],
            None => CANDIDATES.iter().map(|s| Type::Scalar(*s)).collect(),
        };
        let mut failed: Vec<Errors> = Vec::new();
        let mut found = None;
        for ty in candidates {
            match self.made_in_steps(rec, ty, span, env) {
                Ok(made) => {
                    found = Some(made);
                    break;
                }
                Err(Failure::Final(errors)) => return Err(errors),
                Err(Failure::Type(errors)) => failed.push(errors),
            }
        }
        let Some(array) = found else {
            let at = failed.len().min(2).saturating_sub(1);
            return Err(failed.into_iter().nth(at).unwrap_or(Errors(Vec::new())));
        };
        let param = self.cx.fresh(&rec.name.text, array.ty().clone());
        let inner = env.bind(&rec.name.text, Binding::Value(self.cx.var(&param)));
        let body = self.expr(&rec.body, &inner, hint)?;
        Ok(self.named(param, array, body))
    }

    /// The array with elements of a type.
    fn made_in_steps(
        &self,
        rec: &'a ast::Rec,
        element: Type,
        span: Span,
        env: &Env<'a>,
    ) -> std::result::Result<Expr, Failure> {
        let ExprKind::Each(value, pattern, domain) = &super::sizes::unwrapped(&rec.value).kind
        else {
            let text = "the right side of `rec` is an iteration over a domain";
            return Err(Failure::Final(Errors::at(rec.value.span, text)));
        };
        if let ExprKind::Range(..) = &domain.kind {
            let text = "the right side of `rec` is an iteration over a domain, not over `a .. b`";
            return Err(Failure::Final(Errors::at(domain.span, text)));
        }
        let used = self.domain(domain, env).map_err(Failure::Final)?;
        let names = index_names(pattern, &used).map_err(Failure::Final)?;
        let Some(zero) = zero(&element) else {
            let text = format!("the elements of a `rec` are scalars so far, found `{element}`");
            return Err(Failure::Final(Errors::at(rec.name.span, text)));
        };
        let ty = self.type_over(element.clone(), &used, domain.span).map_err(Failure::Final)?;
        let Some(extents) = used.points.bounding_box() else {
            let text = format!("`{}` has no box around it that is known", used.text);
            return Err(Failure::Final(Errors::at(domain.span, text)));
        };
        let state = self.cx.fresh(&rec.name.text, ty.clone());
        let step = self.cx.fresh("step", Type::I32);
        let mut order: Option<Vec<i128>> = None;
        let mut failure = None;
        let made = self.tabulate(&used, &names, domain.span, span, Hint::None, &mut |point, _| {
            let recurrence = Rc::new(Recurrence {
                array: self.cx.var(&state),
                domain: used.clone(),
                point: point.iter().map(|(_, size)| size.clone()).collect(),
                reads: RefCell::default(),
            });
            let mut inner = env.bind(&rec.name.text, Binding::Rec(recurrence.clone()));
            for (name, (value, size)) in names.iter().zip(point) {
                if let Some(name) = name {
                    inner = inner.bind(name, Binding::Index(value.clone(), size.clone()));
                }
            }
            let new = self.expr(value, &inner, Hint::Type(&element))?;
            if !self.cx.same_type(new.ty(), &element) {
                let text = format!("the elements are `{}`, not `{element}`", new.ty());
                return error(value.span, text);
            }
            let reads = recurrence.reads.borrow();
            let found = match self.order(&reads, point.len()) {
                Some(found) => found,
                None => {
                    failure = Some(self.no_order(&rec.name.text, &reads, point.len()));
                    return Err(Errors(Vec::new()));
                }
            };
            let values: Vec<Expr> = point.iter().map(|(value, _)| value.clone()).collect();
            let here = self.point_of(&recurrence, values.clone(), span)?;
            let now = self.is_now(&found, &extents, &values, &self.cx.var(&step), span)?;
            order = Some(found);
            let branches = vec![now, new, here];
            self.build(Prim::If, vec![], vec![], branches, &Parts::of(span))
        });
        if let Some(errors) = failure {
            return Err(Failure::Final(errors));
        }
        let made = made.map_err(Failure::Type)?;
        let order = order.unwrap_or_default();
        let steps = steps(&order, &extents);
        let f = Lambda { size: None, params: vec![step, state], body: made };
        let start = self.repeated(&ty, zero, span).map_err(Failure::Final)?;
        let parts = Parts { sizes: vec![domain.span], ..Parts::of(span) };
        self.build(Prim::IterateIndex, vec![steps], vec![f], vec![start], &parts)
            .map_err(Failure::Final)
    }

    /// `t[q]` inside the description of t.
    pub(super) fn read_of_recurrence(
        &self,
        recurrence: &Rc<Recurrence>,
        indices: &'a [ast::Expr],
        span: Span,
        env: &Env<'a>,
    ) -> Result<Expr> {
        if indices.len() != recurrence.point.len() {
            let text = format!(
                "`{}` has {} indices, found {}",
                recurrence.domain.text,
                recurrence.point.len(),
                indices.len()
            );
            return error(span, text);
        }
        let mut behind = Vec::new();
        for (index, own) in indices.iter().zip(&recurrence.point) {
            let Ok(size) = self.within(|s| s.size(index, env)) else {
                let text = "where a `rec` reads its own array has to follow from the indices";
                return Err(Errors::one(
                    Diagnostic::error(text)
                        .at(index.span, "")
                        .note("points that come from data have no order that is known"),
                ));
            };
            behind.push(own - &size);
        }
        recurrence.reads.borrow_mut().push((behind, span));
        let values = all(indices.iter().map(|i| self.expr(i, env, Hint::None)))?;
        self.point_of(recurrence, values, span)
    }

    fn point_of(&self, of: &Recurrence, point: Vec<Expr>, span: Span) -> Result<Expr> {
        if of.domain.points.extents().is_none() {
            return self.at_point(of.array.clone(), &of.domain, point, span);
        }
        let mut found = of.array.clone();
        for index in point {
            found = self.element(index, found, span, [span, span])?;
        }
        Ok(found)
    }

    /// The vector with τ·p > τ·q for each read: of those with the smallest sum of absolute values, the lexicographically
    /// greatest.
    fn order(&self, reads: &[(Vec<Nat>, Span)], dimensions: usize) -> Option<Vec<i128>> {
        let mut vectors = vec![Vec::new()];
        for _ in 0..dimensions {
            let longer = vectors.iter().flat_map(|v: &Vec<i128>| {
                (-FARTHEST..=FARTHEST).map(move |c| v.iter().copied().chain([c]).collect())
            });
            vectors = longer.collect();
        }
        vectors.sort_by_key(|v| {
            let size: i128 = v.iter().map(|c| c.abs()).sum();
            let reversed: Vec<i128> = v.iter().map(|c| -c).collect();
            (size, reversed)
        });
        let fits = |v: &Vec<i128>| {
            reads.iter().all(|(behind, _)| {
                let terms = v.iter().zip(behind).map(|(c, d)| Nat::int(*c) * d);
                let distance = terms.fold(Nat::ZERO, |sum, term| sum + term);
                self.cx.proves(&Pred::Le(Nat::ONE, distance))
            })
        };
        vectors.into_iter().find(fits)
    }

    /// Which reads exclude each other.
    fn no_order(&self, name: &str, reads: &[(Vec<Nat>, Span)], dimensions: usize) -> Errors {
        let alone = reads.iter().find(|r| self.order(&[(*r).clone()], dimensions).is_none());
        if let Some((_, span)) = alone {
            let text = format!("`{name}` has no order in which this is there before it is read");
            return Errors::one(Diagnostic::error(text).at(*span, "not known to be another point"));
        }
        for (at, first) in reads.iter().enumerate() {
            for second in reads.iter().skip(at + 1) {
                if self.order(&[first.clone(), second.clone()], dimensions).is_none() {
                    let text = format!("`{name}` has no order in which both of these are there");
                    return Errors::one(
                        Diagnostic::error(text).at(first.1, "read here").also(second.1, "and here"),
                    );
                }
            }
        }
        let text = format!("`{name}` has no order in which all that is read is there");
        let spans = reads.first().map(|(_, span)| *span);
        Errors(
            spans
                .into_iter()
                .map(|span| Diagnostic::error(text.clone()).at(span, "read here"))
                .collect(),
        )
    }

    /// Whether a point belongs to a step.
    fn is_now(
        &self,
        order: &[i128],
        extents: &[Nat],
        point: &[Expr],
        step: &Expr,
        span: Span,
    ) -> Result<Expr> {
        let terms = order.iter().enumerate();
        let place =
            terms.fold(Nat::ZERO, |sum, (k, c)| sum + Nat::int(*c) * lift_domain::Domain::index(k));
        let place =
            self.affine_value(&(place - first(order, extents)), point, Scalar::I32, span)?;
        let same = Prim::Binary(BinaryOp::Eq);
        self.build(same, vec![], vec![], vec![place, step.clone()], &Parts::of(span))
    }

    /// An array of a type that holds one value.
    fn repeated(&self, ty: &Type, value: Literal, span: Span) -> Result<Expr> {
        match ty.as_array() {
            None => Ok(self.cx.literal(value)),
            Some((element, length)) => {
                let element = self.repeated(element, value, span)?;
                let sizes = vec![length.clone()];
                self.build(Prim::Repeat, sizes, vec![], vec![element], &Parts::of(span))
            }
        }
    }
}

/// Why an array could not be made.
enum Failure {
    /// Another type of its elements may do.
    Type(Errors),
    Final(Errors),
}

/// The least value of τ·p in a box.
fn first(order: &[i128], extents: &[Nat]) -> Nat {
    bound(order, extents, |c| c < 0)
}

/// How many values τ·p has in a box, at most.
fn steps(order: &[i128], extents: &[Nat]) -> Nat {
    bound(order, extents, |c| c > 0) - first(order, extents) + Nat::ONE
}

fn bound(order: &[i128], extents: &[Nat], counts: impl Fn(i128) -> bool) -> Nat {
    let terms = order.iter().zip(extents).filter(|(c, _)| counts(**c));
    terms.fold(Nat::ZERO, |sum, (c, n)| sum + Nat::int(*c) * (n - Nat::ONE))
}

fn zero(ty: &Type) -> Option<Literal> {
    let Type::Scalar(scalar) = ty else { return None };
    match scalar.is_integer() {
        true => Literal::int(*scalar, 0),
        false => Literal::parse_float(*scalar, "0"),
    }
}
