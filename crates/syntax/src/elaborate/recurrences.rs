//! `rec t = [ e | p in D ]`: arrays whose elements read others of the same array.
//!
//! An order is found when the program is checked: a vector τ with τ·p > τ·q for every point q that the element at p
//! reads. The array is then made in steps, a step for each value of τ·p, in which the elements at all points of that value are put in
//! their places at once.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use lift_domain::Domain;
use lift_ir::{
    BinaryOp, Expr, Facts, Lambda, Literal, Nat, Order, Param, Pred, Prim, Scalar, Span, Type,
};

use super::apply::Lets;
use super::domains::Used;
use super::errors::{Errors, Parts, all, error};
use super::indices::Wraps;
use super::iterations::{index_names, wrong_indices};
use super::recurrence_elements::leaves;
use super::scope::{Binding, Env};
use super::{Elaborator, Hint, Result};
use crate::ast::{self, ExprKind};
use crate::diagnostic::Diagnostic;

/// The components of an order are at most this far from 0.
const FARTHEST: i128 = 4;

/// Types that the elements may have where nothing is written, and the parts that do not read the array say none that fits.
const CANDIDATES: [Scalar; 12] = [
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
    Scalar::Bool,
];

/// The array that is being made, where its elements are described.
pub(super) struct Recurrence {
    /// As far as it is made.
    array: Expr,
    domain: Used,
    /// The indices of the point that is described.
    point: Vec<Nat>,
    reads: RefCell<Vec<Read>>,
}

/// `t[q]` in the description of the element at p.
#[derive(Clone)]
struct Read {
    /// p - q
    behind: Vec<Nat>,
    /// What is known where it stands: what the branches around it say too.
    facts: Facts,
    span: Span,
}

impl<'a> Elaborator<'a> {
    pub(super) fn recurrence(
        &self,
        rec: &'a ast::Rec,
        span: Span,
        env: &Env<'a>,
        hint: Hint,
    ) -> Result<Expr> {
        let said = match &rec.element {
            Some(ty) => Some(self.ty(ty, env)?),
            None => self.element_type(rec, env),
        };
        let others = CANDIDATES.iter().map(|s| Type::Scalar(*s));
        let others = others.filter(|ty| rec.element.is_none() && said.as_ref() != Some(ty));
        let mut failed: Vec<Errors> = Vec::new();
        let mut found = None;
        for ty in said.iter().cloned().chain(others) {
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
            return Err(match said {
                Some(_) => failed.into_iter().next().unwrap_or(Errors(Vec::new())),
                None => no_type(&rec.name, failed),
            });
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
        let (leaf, inner) = leaves(&element);
        let Some(zero) = self.zero(&leaf, span) else {
            let text = format!(
                "the elements of a `rec` are scalars, vectors, tuples of them or arrays of these, found `{element}`"
            );
            return Err(Failure::Final(Errors::at(rec.name.span, text)));
        };
        let Some(extents) = used.points.bounding_box() else {
            let text = format!("`{}` has no box around it that is known", used.text);
            return Err(Failure::Final(Errors::at(domain.span, text)));
        };
        let lengths = self.lengths(&used, domain.span).map_err(Failure::Final)?;
        let count = lengths.iter().fold(Nat::ONE, |product, n| product * n);
        let each = inner.iter().fold(Nat::ONE, |product, n| product * n);
        let all = count * &each;
        let state = self.cx.fresh(&rec.name.text, Type::array(leaf, all.clone()));
        let array = self.in_rows(self.cx.var(&state), &inner, span).map_err(Failure::Final)?;
        let array = self.shaped(&used, array, span).map_err(Failure::Final)?;
        let point = self.index_params(&names);
        let (new, reads) = self
            .described(rec, value, (&used, array), &element, (&names, &point), env)
            .map_err(Failure::Type)?;
        let Some(order) = self.order(&reads, point.len()) else {
            return Err(Failure::Final(self.no_order(&rec.name.text, &reads, point.len())));
        };
        self.note_order(&rec.name.text, &names, &order);
        let front = Front { used: &used, order: &order, extents: &extents, inner: &inner, span };
        let made = self.in_fronts(&front, (&state, &point), new, zero, all);
        made.map_err(Failure::Final)
    }

    /// Keeps an order for those who ask.
    fn note_order(&self, array: &str, names: &[Option<&'a str>], order: &[i128]) {
        let indices = names.iter().map(|name| name.unwrap_or("_").to_string()).collect();
        let found = Order { array: array.to_string(), indices, by: order.to_vec() };
        let mut orders = self.orders.borrow_mut();
        if !orders.contains(&found) {
            orders.push(found);
        }
    }

    /// The element at a point, given as variables, and the reads in it.
    fn described(
        &self,
        rec: &'a ast::Rec,
        value: &'a ast::Expr,
        (used, array): (&Used, Expr),
        element: &Type,
        (names, params): (&[Option<&'a str>], &[Param]),
        env: &Env<'a>,
    ) -> Result<(Expr, Vec<Read>)> {
        let point = self.declare_point(&used.points, params, None);
        let recurrence = Rc::new(Recurrence {
            array,
            domain: used.clone(),
            point: point.iter().map(|(_, size)| size.clone()).collect(),
            reads: RefCell::default(),
        });
        let mut inner = env.bind(&rec.name.text, Binding::Rec(recurrence.clone()));
        for (name, (value, size)) in names.iter().zip(&point) {
            if let Some(name) = name {
                inner = inner.bind(name, Binding::Index(value.clone(), size.clone()));
            }
        }
        let depth = self.in_recurrence.get();
        self.in_recurrence.set(depth + 1);
        let new = self.expr(value, &inner, Hint::Type(element));
        self.in_recurrence.set(depth);
        self.forget_indices(params.len());
        let new = new?;
        if !self.cx.same_type(new.ty(), element) {
            return error(value.span, format!("the elements are `{}`, not `{element}`", new.ty()));
        }
        let reads = recurrence.reads.take();
        Ok((new, reads))
    }

    /// `iterate_index(steps, \step t -> update(t, is, xs), zeros)`, where the elements xs are those at the points of a step, and is their
    /// numbers.
    fn in_fronts(
        &self,
        front: &Front,
        (state, params): (&Param, &[Param]),
        new: Expr,
        zero: Expr,
        count: Nat,
    ) -> Result<Expr> {
        let (step, span) = (self.cx.fresh("step", Type::I32), front.span);
        let nowhere = self.cx.literal(Literal::Int(Scalar::I64, -1));
        let indices = self.front(front, &step, &|point, inside| {
            let number = self.number(front.used, point, span)?;
            self.each_inner(front, &|at| {
                let number = self.number_inside(front, number.clone(), at)?;
                let choice = vec![inside.clone(), number, nowhere.clone()];
                self.build(Prim::If, vec![], vec![], choice, &Parts::of(span))
            })
        })?;
        let elements = self.front(front, &step, &|point, inside| {
            let made = self.each_inner(front, &|at| {
                let own = self.leaf_of(front, new.clone(), at)?;
                let choice = vec![inside.clone(), own, zero.clone()];
                self.build(Prim::If, vec![], vec![], choice, &Parts::of(span))
            })?;
            let values = params.iter().zip(point).rev();
            Ok(values.fold(made, |made, (param, x)| self.named(param.clone(), x.clone(), made)))
        })?;
        let args = vec![self.cx.var(state), indices, elements];
        let body = self.build(Prim::Update, vec![], vec![], args, &Parts::of(span))?;
        let f = Lambda { size: None, params: vec![step, state.clone()], body };
        let start = self.build(Prim::Repeat, vec![count], vec![], vec![zero], &Parts::of(span))?;
        let steps = vec![steps(front.order, front.extents)];
        let made = self.build(Prim::IterateIndex, steps, vec![f], vec![start], &Parts::of(span))?;
        self.shaped(front.used, self.in_rows(made, front.inner, span)?, span)
    }

    /// What `make` says of the points of a step, and of others around them, as one array: it is given a point, and whether that is one
    /// of the domain. One index follows from the others: `τ·p = step`.
    fn front(&self, front: &Front, step: &Param, make: &AtPoint) -> Result<Expr> {
        let span = front.span;
        let of_size = |c: &i128| if *c == 0 { i128::MAX } else { c.abs() };
        let solved = front.order.iter().enumerate().min_by_key(|(_, c)| of_size(c));
        let (solved, by) = solved.map_or((0, 1), |(k, c)| (k, *c));
        let others = || (0..front.order.len()).filter(|k| *k != solved);
        let given: Vec<Param> = others().map(|_| self.cx.fresh("x", Type::I32)).collect();
        // by * x = step + first - order · others
        let mut lets = Lets::new();
        let mut rest = Domain::index(0) + first(front.order, front.extents);
        for (at, k) in others().enumerate() {
            let c = front.order.get(k).copied().unwrap_or(0);
            rest = rest - Domain::index(at + 1) * Nat::int(c);
        }
        let values: Vec<Expr> = [step].into_iter().chain(&given).map(|p| self.cx.var(p)).collect();
        let sign = Nat::int(by.signum());
        let own = self.affine_value(&(rest.clone() * sign), &values, Scalar::I32, span)?;
        let own = match by.abs() {
            1 => own,
            by => {
                let by = self.size_as(&Nat::int(by), Scalar::I32, span)?;
                let quotient = Prim::Binary(BinaryOp::Div);
                self.build(quotient, vec![], vec![], vec![own, by], &Parts::of(span))?
            }
        };
        let mut point: Vec<Expr> = given.iter().map(|p| self.cx.var(p)).collect();
        point.insert(solved, self.shared("x", own, &mut lets));
        let mut inside = self.inside(&front.used.points, &point, span)?;
        if by.abs() > 1 {
            let wide = self.widened(&values, span)?;
            let exact = self.test(&Pred::divides(Nat::int(by.abs()), rest), &wide, span)?;
            let and = Prim::Binary(BinaryOp::And);
            inside = self.build(and, vec![], vec![], vec![exact, inside], &Parts::of(span))?;
        }
        let mut made = self.close(lets, make(&point, inside)?);
        let mut widths: Vec<(Nat, Param)> =
            others().filter_map(|k| front.extents.get(k).cloned()).zip(given).collect();
        if widths.is_empty() {
            widths.push((Nat::ONE, self.cx.fresh("x", Type::I32)));
        }
        let levels = widths.len() + usize::from(!front.inner.is_empty());
        for (width, param) in widths.into_iter().rev() {
            let f = Lambda { size: None, params: vec![param], body: made };
            made = self.build(Prim::Generate, vec![width], vec![f], vec![], &Parts::of(span))?;
        }
        (1..levels).try_fold(made, |made, _| {
            self.build(Prim::Join, vec![], vec![], vec![made], &Parts::of(span))
        })
    }

    /// The elements of a domain in order as an array over it.
    fn shaped(&self, used: &Used, flat: Expr, span: Span) -> Result<Expr> {
        match used.extents() {
            Some(_) => self.over(used, flat, span),
            None => Ok(flat),
        }
    }

    /// The number of a point among those of a domain, or in a box.
    fn number(&self, used: &Used, point: &[Expr], span: Span) -> Result<Expr> {
        let Some(extents) = used.extents() else {
            let prim = Prim::Rank(Arc::new(used.points.clone()));
            let rank = self.build(prim, vec![], vec![], point.to_vec(), &Parts::of(span))?;
            return Ok(self.widened(&[rank], span)?.remove(0));
        };
        let mut number: Option<Expr> = None;
        for (x, extent) in self.widened(point, span)?.into_iter().zip(&extents) {
            number = Some(match number {
                None => x,
                Some(rows) => {
                    let extent = self.size_as(extent, Scalar::I64, span)?;
                    let times = Prim::Binary(BinaryOp::Mul);
                    let start =
                        self.build(times, vec![], vec![], vec![rows, extent], &Parts::of(span))?;
                    let plus = Prim::Binary(BinaryOp::Add);
                    self.build(plus, vec![], vec![], vec![start, x], &Parts::of(span))?
                }
            });
        }
        number.map_or_else(|| error(span, "a point has an index"), Ok)
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
            return Err(wrong_indices(&recurrence.domain, indices.len(), span));
        }
        let mut behind = Vec::new();
        for (index, own) in indices.iter().zip(&recurrence.point) {
            let (text, note) = match self.place_size(index, env) {
                Some(Ok(size)) => {
                    behind.push(own - &size);
                    continue;
                }
                Some(Err(Wraps)) => (
                    "where this reads is not known: the index may have no room in an `i32`",
                    "the arithmetic of indices wraps, and what has wrapped is another point",
                ),
                None => (
                    "where a `rec` reads its own array has to follow from the indices",
                    "points that come from data have no order that is known",
                ),
            };
            return Err(Errors::one(Diagnostic::error(text).at(index.span, "").note(note)));
        }
        let facts = self.facts_with(env, &[]);
        recurrence.reads.borrow_mut().push(Read { behind, facts, span });
        let values = all(indices.iter().map(|i| self.expr(i, env, Hint::None)))?;
        self.element_of_domain(recurrence.array.clone(), &recurrence.domain, values, span)
    }

    /// The vector with τ·p > τ·q for each read: of those with the smallest sum of absolute values, the lexicographically
    /// greatest.
    fn order(&self, reads: &[Read], dimensions: usize) -> Option<Vec<i128>> {
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
            reads.iter().all(|read| {
                let terms = v.iter().zip(&read.behind).map(|(c, d)| Nat::int(*c) * d);
                let distance = terms.fold(Nat::ZERO, |sum, term| sum + term);
                read.facts.proves(&Pred::Le(Nat::ONE, distance))
            })
        };
        vectors.into_iter().find(fits)
    }

    /// Which reads exclude each other.
    fn no_order(&self, name: &str, reads: &[Read], dimensions: usize) -> Errors {
        let alone = reads.iter().find(|r| self.order(&[(*r).clone()], dimensions).is_none());
        if let Some(Read { span, .. }) = alone {
            let text = format!("`{name}` has no order in which this is there before it is read");
            return Errors::one(Diagnostic::error(text).at(*span, "not known to be another point"));
        }
        for (at, first) in reads.iter().enumerate() {
            for second in reads.iter().skip(at + 1) {
                if self.order(&[first.clone(), second.clone()], dimensions).is_none() {
                    let text = format!("`{name}` has no order in which both of these are there");
                    return Errors::one(
                        Diagnostic::error(text)
                            .at(first.span, "read here")
                            .also(second.span, "and here"),
                    );
                }
            }
        }
        let text = format!("`{name}` has no order in which all that is read is there");
        let spans = reads.first().map(|read| read.span);
        Errors(
            spans
                .into_iter()
                .map(|span| Diagnostic::error(text.clone()).at(span, "read here"))
                .collect(),
        )
    }

    /// A value to start from, of a type that fits in registers.
    fn zero(&self, ty: &Type, span: Span) -> Option<Expr> {
        let (prim, parts) = match ty {
            Type::Scalar(scalar) => return Some(self.cx.literal(Literal::zero(*scalar))),
            Type::Vector(scalar, width) => {
                let zero = self.zero(&Type::Scalar(*scalar), span)?;
                (Prim::Vector, vec![zero; usize::try_from(width.as_int()?).ok()?])
            }
            Type::Tuple(items) => {
                let items: Option<Vec<Expr>> = items.iter().map(|t| self.zero(t, span)).collect();
                (Prim::Tuple, items?)
            }
            Type::Array(..) => return None,
        };
        self.build(prim, vec![], vec![], parts, &Parts::of(span)).ok()
    }
}

/// A value made of a point, and of whether that is one of the domain.
type AtPoint<'f> = dyn Fn(&[Expr], Expr) -> Result<Expr> + 'f;

/// The points of a domain that belong to one step, for which τ·p is the same.
pub(super) struct Front<'f> {
    used: &'f Used,
    order: &'f [i128],
    extents: &'f [Nat],
    pub span: Span,
    /// The lengths of elements that are arrays, outermost first.
    pub inner: &'f [Nat],
}

/// Why an array could not be made.
enum Failure {
    /// Another type of its elements may do.
    Type(Errors),
    Final(Errors),
}

/// Nothing says what the elements are. What is wrong whatever they are is the better news.
fn no_type(array: &ast::Name, failed: Vec<Errors>) -> Errors {
    let messages = |errors: &Errors| -> Vec<String> {
        errors.0.iter().map(|diagnostic| diagnostic.message.clone()).collect()
    };
    let same = |pair: &[Errors]| match pair {
        [a, b] => messages(a) == messages(b),
        _ => true,
    };
    if failed.windows(2).all(same)
        && let Some(first) = failed.into_iter().next()
    {
        return first;
    }
    let name = &array.text;
    let text = format!("nothing says which type the elements of `{name}` have");
    let help = format!("write it: `rec {name}: i64 = …`");
    Errors::one(Diagnostic::error(text).at(array.span, "").help(help))
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
