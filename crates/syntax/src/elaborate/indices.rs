//! Indices as sizes.
//!
//! An index is an `i32`, and its arithmetic wraps as that of any other. Where it is proved not to wrap, the value is also a
//! size: the number that the expression would be without end. Guards, orders and bounds of ranges are made of such sizes only,
//! for a fact about a number that wraps is about another one.

use lift_ir::{BinaryOp, Expr, Facts, Lambda, Nat, Pred, Scalar, Type, UnaryOp, size_fits};

use super::scope::{Binding, Declaration, Env};
use super::sizes::unwrapped;
use super::{Elaborator, Given, Hint, Result};
use crate::ast::{self, ExprKind, PatternKind};

/// The numbers that an `i32` has room for.
const LEAST: i128 = i32::MIN as i128;
const LARGEST: i128 = i32::MAX as i128;

/// What an expression of indices and sizes is without end.
struct Read {
    size: Nat,
    /// It is made of sizes and numbers alone, of which one is a size. As a value that is exact: a size that is no `i32` is an error.
    is_size: bool,
    /// It is known to be an `i32`.
    has_room: bool,
}

/// That an expression of indices may come to another number than it reads as.
pub(super) struct Wraps;

/// Sizes that are values of an expression: they have room, or the run ends with an error.
type Rooms = Vec<Pred>;

impl<'a> Elaborator<'a> {
    /// The number that a value is, where it is made of indices and sizes and proved not to wrap.
    pub(super) fn index_size(&self, ast: &'a ast::Expr, env: &Env<'a>) -> Option<Nat> {
        let mut rooms = Rooms::new();
        let read = self.read(ast, env, &mut rooms)?;
        self.has_room(&read, env, &rooms).then_some(read.size)
    }

    /// The number that an index of an array is, or one for which there is no element: what is computed modulo 2^32 is negative where
    /// the number is no `i32` but less than 2^32. `Err` where it is made of indices but may wrap further.
    pub(super) fn place_size(
        &self,
        ast: &'a ast::Expr,
        env: &Env<'a>,
    ) -> Option<std::result::Result<Nat, Wraps>> {
        let mut rooms = Rooms::new();
        let Some(read) = self.read(ast, env, &mut rooms) else {
            let is_made_of_indices = self.within(|s| s.size(ast, env)).is_ok();
            return is_made_of_indices.then_some(Err(Wraps));
        };
        let around =
            [(Nat::int(LEAST), &read.size), (&read.size - Nat::int(2 * LARGEST + 1), &Nat::ZERO)];
        let facts = self.facts_with(env, &rooms);
        let fits = || around.iter().all(|(low, high)| facts.at_most(low, high));
        let known = self.has_room(&read, env, &rooms) || fits();
        Some(if known { Ok(read.size) } else { Err(Wraps) })
    }

    /// The two sides of a comparison, where neither wraps, and what is known because they are values.
    fn compared(
        &self,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        env: &Env<'a>,
    ) -> Option<(Nat, Nat, Rooms)> {
        let mut rooms = Rooms::new();
        let (a, b) = (self.read(left, env, &mut rooms)?, self.read(right, env, &mut rooms)?);
        let known = self.has_room(&a, env, &rooms) && self.has_room(&b, env, &rooms);
        known.then_some((a.size, b.size, rooms))
    }

    /// What an expression of indices and sizes is without end. Sums, differences and products may wrap on the way: what they come
    /// to does not where the number has room.
    fn read(&self, ast: &'a ast::Expr, env: &Env<'a>, rooms: &mut Rooms) -> Option<Read> {
        self.step(ast.span).ok()?;
        stacker::maybe_grow(super::exprs::RED_ZONE, super::exprs::STACK, || {
            self.read_of(ast, env, rooms)
        })
    }

    fn read_of(&self, ast: &'a ast::Expr, env: &Env<'a>, rooms: &mut Rooms) -> Option<Read> {
        let value = |size: Nat| Read { size, is_size: false, has_room: false };
        match &ast.kind {
            ExprKind::Paren(inner) => self.read(inner, env, rooms),
            ExprKind::Int(number, None | Some(Scalar::I32)) => {
                Some(value(Nat::int(i128::from(*number))))
            }
            ExprKind::Name(name) => match env.get(name) {
                Some(Binding::Index(at, size)) => {
                    if *at.ty() != Type::Scalar(Scalar::I32) {
                        return None;
                    }
                    if size.as_var().is_none() {
                        // A name of what was proved not to wrap.
                        rooms.push(Pred::Le(Nat::int(LEAST), size.clone()));
                        rooms.push(Pred::Le(size.clone(), Nat::int(LARGEST)));
                    }
                    Some(Read { size: size.clone(), is_size: false, has_room: true })
                }
                Some(Binding::Size(size)) => self.sized_read(size.clone(), rooms),
                Some(_) => None,
                None => match self.module.find(env.home, name) {
                    Some((Declaration::Const(constant), home)) => {
                        self.read(&constant.value, &Env::new(home), rooms)
                    }
                    _ => None,
                },
            },
            ExprKind::Field(..) if self.is_size(ast, env) => {
                self.sized_read(self.size(ast, env).ok()?, rooms)
            }
            ExprKind::Unary(UnaryOp::Neg, inner) => {
                let inner = self.read(inner, env, rooms)?;
                Some(value(-inner.size))
            }
            ExprKind::Binary(op, left, right) => {
                let (a, b) = (self.read(left, env, rooms)?, self.read(right, env, rooms)?);
                let size = match op {
                    BinaryOp::Add => &a.size + &b.size,
                    BinaryOp::Sub => &a.size - &b.size,
                    BinaryOp::Mul => &a.size * &b.size,
                    BinaryOp::Div | BinaryOp::Rem => {
                        let divides = Pred::Ne(b.size.clone(), Nat::ZERO);
                        let known = self.has_room(&a, env, rooms)
                            && self.has_room(&b, env, rooms)
                            && self.facts_with(env, rooms).proves(&divides);
                        match (known, op) {
                            (false, _) => return None,
                            (true, BinaryOp::Div) => a.size.div(&b.size),
                            (true, _) => a.size.rem(&b.size),
                        }
                    }
                    _ => return None,
                };
                self.combined(size, &[a, b], rooms)
            }
            ExprKind::Call(head, args) => {
                let ExprKind::Name(name) = &head.kind else { return None };
                if !self.is_built_in(name, env) {
                    return None;
                }
                match (name.as_str(), args.as_slice()) {
                    ("min" | "max", [_, _]) | ("clamp", [_, _, _]) => {
                        let mut parts = Vec::new();
                        for part in args {
                            let part = self.read(part, env, rooms)?;
                            if !self.has_room(&part, env, rooms) {
                                return None;
                            }
                            parts.push(part);
                        }
                        let size = match parts.as_slice() {
                            [x, low, high] => Nat::min(&Nat::max(&x.size, &low.size), &high.size),
                            [a, b] if name == "min" => Nat::min(&a.size, &b.size),
                            [a, b] => Nat::max(&a.size, &b.size),
                            _ => return None,
                        };
                        self.combined(size, &parts, rooms)
                    }
                    ("len" | "count" | "ceil_div", _) if self.is_size(ast, env) => {
                        self.sized_read(self.size(ast, env).ok()?, rooms)
                    }
                    _ => None,
                }
            }
            ExprKind::If(condition, then, otherwise) => {
                let (yes, no) = self.known_in_branches(condition, env);
                let ExprKind::Binary(op, ..) = &unwrapped(condition).kind else { return None };
                let holds = yes.first().filter(|_| op.is_comparison())?.clone();
                // Only one of them is computed, so that the other's sizes have room is not known.
                let a = self.read(then, &env.knowing(yes), &mut rooms.clone())?;
                let b = self.read(otherwise, &env.knowing(no), &mut rooms.clone())?;
                Some(value(Nat::cond(holds, a.size, b.size)))
            }
            _ => None,
        }
    }

    /// Arithmetic on sizes and numbers is one size, unless a number in it is too large.
    fn combined(&self, size: Nat, parts: &[Read], rooms: &mut Rooms) -> Option<Read> {
        let number = |part: &Read| part.size.as_int().is_some();
        let of_sizes = parts.iter().all(|part| part.is_size || number(part))
            && parts.iter().any(|part| part.is_size);
        if of_sizes && size_fits(&size, Scalar::I32) {
            return self.sized_read(size, rooms);
        }
        Some(Read { size, is_size: false, has_room: false })
    }

    fn sized_read(&self, size: Nat, rooms: &mut Rooms) -> Option<Read> {
        if self.mentions_index(&size) || size.is_overflow() {
            return None;
        }
        if size.as_int().is_none() {
            rooms.push(Pred::Le(size.clone(), Nat::int(LARGEST)));
        }
        Some(Read { size, is_size: true, has_room: true })
    }

    /// Whether a number is an `i32` for certain.
    fn has_room(&self, read: &Read, env: &Env<'a>, rooms: &[Pred]) -> bool {
        if let Some(number) = read.size.as_int() {
            return (LEAST..=LARGEST).contains(&number);
        }
        read.has_room || self.is_index(&read.size, &self.facts_with(env, rooms))
    }

    /// Whether a number is proved to be an `i32`.
    pub(super) fn is_index(&self, size: &Nat, facts: &Facts) -> bool {
        facts.at_most(&Nat::int(LEAST), size) && facts.at_most(size, &Nat::int(LARGEST))
    }

    /// What is known here, of indices too: each is an `i32`, and one below a size that is not known yet is not the largest of them, for
    /// an array of 2^31 elements is the only one that has it.
    pub(super) fn facts_with(&self, env: &Env<'a>, rooms: &[Pred]) -> Facts {
        let known: Vec<Pred> = env.known().iter().chain(rooms).cloned().collect();
        let mut facts = self.facts_in(&known);
        for (var, value) in self.indices.borrow().iter() {
            if *value.ty() != Type::Scalar(Scalar::I32) {
                continue;
            }
            let index = Nat::var(var);
            let is_wide = self.wide_index(&index).is_some();
            let largest = match is_wide || facts.upper(&index).is_some() {
                true => LARGEST,
                false => LARGEST - 1,
            };
            facts.assume(&Pred::Le(index, Nat::int(largest)));
        }
        facts
    }

    /// What is known in a branch.
    fn facts_in(&self, branch: &[Pred]) -> Facts {
        let mut facts = self.facts_here();
        branch.iter().for_each(|pred| facts.assume(pred));
        facts
    }

    /// What a condition says of indices where it holds, and where it does not: of comparisons between them, of points that are in a
    /// domain, and of what is made of such by `&&`, `||` and `!`.
    pub(super) fn known_in_branches(
        &self,
        condition: &'a ast::Expr,
        env: &Env<'a>,
    ) -> (Vec<Pred>, Vec<Pred>) {
        let nothing = (Vec::new(), Vec::new());
        if self.in_recurrence.get() == 0 {
            return nothing;
        }
        let (op, left, right) = match &unwrapped(condition).kind {
            ExprKind::Binary(op, left, right) => (op, left, right),
            ExprKind::Unary(UnaryOp::Not, inner) => {
                let (yes, no) = self.known_in_branches(inner, env);
                return (no, yes);
            }
            ExprKind::In(point, domain) => {
                return (self.known_inside(point, domain, env).unwrap_or_default(), Vec::new());
            }
            _ => return nothing,
        };
        match op {
            BinaryOp::And => {
                let first = self.known_in_branches(left, env).0;
                let second = self.known_in_branches(right, &env.knowing(first.clone())).0;
                return ([first, second].concat(), Vec::new());
            }
            BinaryOp::Or => {
                let first = self.known_in_branches(left, env).1;
                let second = self.known_in_branches(right, &env.knowing(first.clone())).1;
                return (Vec::new(), [first, second].concat());
            }
            _ => {}
        }
        if !op.is_comparison() {
            return nothing;
        }
        let Some((a, b, rooms)) = self.compared(left, right, env) else { return nothing };
        let lt = |a: &Nat, b: &Nat| Pred::Lt(a.clone(), b.clone());
        let le = |a: &Nat, b: &Nat| Pred::Le(a.clone(), b.clone());
        let (yes, no) = match op {
            BinaryOp::Eq => (Pred::Eq(a.clone(), b.clone()), Pred::Ne(a, b)),
            BinaryOp::Ne => (Pred::Ne(a.clone(), b.clone()), Pred::Eq(a, b)),
            BinaryOp::Lt => (lt(&a, &b), le(&b, &a)),
            BinaryOp::Le => (le(&a, &b), lt(&b, &a)),
            BinaryOp::Gt => (lt(&b, &a), le(&a, &b)),
            BinaryOp::Ge => (le(&b, &a), lt(&a, &b)),
            _ => return nothing,
        };
        let with_rooms = |pred: Pred| std::iter::once(pred).chain(rooms.iter().cloned()).collect();
        (with_rooms(yes), with_rooms(no))
    }

    /// What `p in D` says of the indices that p is made of. It is asked in 64 bits, so of p alone it has to be known that it is
    /// the point it reads as.
    fn known_inside(
        &self,
        point: &'a ast::Expr,
        domain: &'a ast::Expr,
        env: &Env<'a>,
    ) -> Option<Vec<Pred>> {
        let used = self.domain(domain, env).ok()?;
        let point = unwrapped(point);
        let items = match &point.kind {
            ExprKind::Tuple(items) => items.as_slice(),
            _ => std::slice::from_ref(point),
        };
        if items.len() != used.points.dimensions() {
            return None;
        }
        let sizes: Option<Vec<Nat>> = items.iter().map(|i| self.index_size(i, env)).collect();
        Some(used.points.conditions(&sizes?).into_iter().chain(used.checked).collect())
    }

    /// What stands in sizes for a value that is an index of an iteration around.
    pub(super) fn size_of_index(&self, value: &Expr) -> Option<Nat> {
        let indices = self.indices.borrow();
        let (var, _) = indices.iter().rev().find(|(_, index)| index.alpha_eq(value))?;
        Some(Nat::var(var))
    }

    /// The function of the indices below a length, which `generate` takes.
    pub(super) fn index_lambda(
        &self,
        given: &Given<'a>,
        length: Option<&Nat>,
        hint: Hint,
    ) -> Result<Lambda> {
        let function = self.given_function(given)?;
        let params = self.fresh_params(&function, &[Type::I32], &["i"]);
        for param in &params {
            let var = self.cx.fresh_inside(param.name(), &[]);
            self.cx.assume_inside(&Pred::Le(Nat::ZERO, Nat::var(&var)));
            if let Some(length) = length {
                self.cx.assume_inside(&Pred::Lt(Nat::var(&var), length.clone()));
            }
            self.indices.borrow_mut().push((var, self.cx.var(param)));
        }
        let values = params.iter().map(|p| Given::Value(self.cx.var(p), function.span)).collect();
        let body = self.apply_spread(&function, values, hint);
        self.forget_indices(params.len());
        Ok(Lambda { size: None, params, body: body? })
    }

    /// The names of a pattern that are bound to indices, with the sizes that these are.
    pub(super) fn bound_indices(
        &self,
        pattern: &'a ast::Pattern,
        value: &'a ast::Expr,
        env: &Env<'a>,
    ) -> Vec<(&'a str, Nat)> {
        if self.indices.borrow().is_empty() {
            return Vec::new();
        }
        match (&pattern.kind, &unwrapped(value).kind) {
            (PatternKind::Name(name), _) => {
                self.index_size(value, env).map(|size| (name.as_str(), size)).into_iter().collect()
            }
            (PatternKind::Tuple(patterns), ExprKind::Tuple(items))
                if patterns.len() == items.len() =>
            {
                let each = patterns.iter().zip(items);
                each.flat_map(|(pattern, item)| self.bound_indices(pattern, item, env)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The same names bound to values, where sizes are known of them.
    pub(super) fn bind_indices(&self, env: Env<'a>, found: Vec<(&'a str, Nat)>) -> Env<'a> {
        found.into_iter().fold(env, |env, (name, size)| match env.get(name) {
            Some(Binding::Value(value)) if *value.ty() == Type::Scalar(Scalar::I32) => {
                let value = value.clone();
                env.bind(name, Binding::Index(value, size))
            }
            _ => env,
        })
    }
}
