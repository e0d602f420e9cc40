//! Folds, scans and iteration.

use lift_ir::{Expr, FoldKind, Lambda, Nat, Prim, Type};

use crate::by_index::{by_index, by_index_in_order, by_index_together, update};
use crate::domains::over_range;
use crate::generator::{Generator, Goal, Production, Size, array};
use crate::maps::{self, accumulated};
use crate::operators::Law;
use crate::registers::{copy, iteration, repeated, sharing, stored};
use crate::scope::{Level, Scope};

/// For every type.
pub(crate) const FOLDS: &[(u32, Production)] = &[(5, reduce), (6, in_order), (2, over_range)];

/// For arrays.
pub(crate) const ARRAYS: &[(u32, Production)] = &[
    (3, scan),
    (3, scan_in_order),
    (3, partial_reduce),
    (3, by_index),
    (3, by_index_in_order),
    (3, by_index_together),
    (2, update),
    (3, sliding),
    (2, iteration),
    (4, changing),
    (1, copy),
    (2, stored),
    (3, sharing),
    (1, in_order),
    (1, reduce),
    (4, accumulated),
];

fn reduce(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let (z, f) = g.operator(goal.ty, Law::Commutative)?;
    let xs = g.folded(goal, goal.ty, goal.fuel)?;
    g.call(Prim::Reduce(FoldKind::Any), vec![], vec![f], vec![z, xs])
}

/// From the left, with any function.
fn in_order(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    if !g.config.low_level {
        return None;
    }
    // Where a whole group folds arrays, the accumulator needs a memory: that is `accumulated`.
    if goal.scope.level == Level::Group && !goal.ty.is_register() {
        return None;
    }
    let [z, body, xs] = g.split(goal.fuel);
    let element = g.register_type();
    let xs = g.folded(goal, &element, xs)?;
    let z = g.make(goal.ty, &goal.scope.decided(false), z)?;
    let scope = g.inner(goal.scope);
    let f = g.step(goal.ty, &element, &scope, body)?;
    let unrolled = g.random.chance(25) && has_few(xs.ty());
    let kind = if unrolled { FoldKind::SeqUnroll } else { FoldKind::Seq };
    g.call(Prim::Reduce(kind), vec![], vec![f], vec![z, xs])
}

fn scan(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let (element, _) = array(goal.ty)?;
    let (z, f) = g.operator(&element, Law::Associative)?;
    let xs = g.make(goal.ty, &goal.scope.decided(false), goal.fuel)?;
    g.call(Prim::Scan(FoldKind::Any), vec![], vec![f], vec![z, xs])
}

fn scan_in_order(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    if !g.config.low_level {
        return None;
    }
    let (result, n) = array(goal.ty)?;
    let [z, body, xs] = g.split(goal.fuel);
    let element = g.register_type();
    let scope = goal.scope.decided(false);
    let xs = g.make(&Type::array(element.clone(), n), &scope, xs)?;
    let z = g.make(&result, &scope, z)?;
    let inner = g.inner(goal.scope);
    let f = g.step(&result, &element, &inner, body)?;
    g.call(Prim::Scan(FoldKind::Seq), vec![], vec![f], vec![z, xs])
}

fn partial_reduce(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let (element, m) = array(goal.ty).filter(|(_, m)| g.has_some(m))?;
    let (z, f) = g.operator(&element, Law::Commutative)?;
    let rows = Nat::int(g.random.between(1, 4).into());
    let ty = g.cx.simplify_type(&Type::array(element, &m * rows));
    if !g.fits(&ty) {
        return None;
    }
    let xs = g.make(&ty, &goal.scope.decided(false), goal.fuel)?;
    g.call(Prim::PartialReduce, vec![m], vec![f], vec![z, xs])
}

/// `mapSeqSlide`
fn sliding(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    if !g.config.low_level {
        return None;
    }
    let (result, n) = array(goal.ty).filter(|(_, n)| g.has_some(n))?;
    let window = Nat::int(g.random.between(1, 4).into());
    let step = Nat::int(g.random.between(1, 2).into());
    let element = g.register_type();
    let length = (n - Nat::int(1)) * &step + &window;
    let ty = g.cx.simplify_type(&Type::array(element.clone(), length));
    let [xs, body] = g.split(goal.fuel);
    let xs = g.make(&ty, &goal.scope.decided(false), xs)?;
    let scope = g.inner(goal.scope);
    let window_type = Type::array(element, window.clone());
    let f = g.lambda(&[window_type], |g, _| g.make(&result, &scope, body.max(2)))?;
    g.call(Prim::MapSeqSlide, vec![window, step], vec![f], vec![xs])
}

/// How a function changes the length of what it is iterated on.
#[derive(Clone, Copy)]
enum Change {
    /// Neighbours become one.
    Halved,
    /// Windows of two.
    OneLess,
    /// The front beside the back.
    Folded,
    Doubled,
}

/// An iteration whose function changes the length.
fn changing(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let (element, n) = array(goal.ty)?;
    let change =
        g.random.pick(&[Change::Halved, Change::OneLess, Change::Folded, Change::Doubled])?;
    let times = i128::from(g.random.between(1, 3));
    let lengths = g.lengths(change, times, &n)?;
    let start = Type::array(element.clone(), lengths.first()?.clone());
    if !g.fits(&start) {
        return None;
    }
    let [xs, body] = g.split(goal.fuel);
    let xs = g.make(&start, &goal.scope.decided(false), xs)?;
    let value = g.value(lengths.first()?)?;
    let var = g.cx.fresh_size_among("n", lengths);
    g.sizes.push(Size { var: var.clone(), value, bound: true });
    let given = Type::array(element.clone(), &var);
    let f = g.lambda(&[given], |g, params| {
        let xs = g.var(params.first()?);
        // The variable itself stays out of reach: its length is another at each application.
        let hidden = g.scope.pop()?;
        let made = g.changed(change, &element, xs, &repeated(goal.scope), body);
        g.scope.push(hidden);
        made
    });
    g.sizes.pop();
    let f = Lambda { size: Some(var), ..f? };
    g.call(Prim::Iterate, vec![Nat::int(times)], vec![f], vec![xs])
}

impl Generator<'_> {
    /// An array of some length whose elements are folded.
    fn folded(&mut self, goal: &Goal, element: &Type, fuel: u32) -> Option<Expr> {
        if goal.scope.level == Level::Scalar {
            return None;
        }
        let n = self.length();
        let ty = Type::array(element.clone(), n);
        if !self.fits(&ty) {
            return None;
        }
        self.make(&ty, &goal.scope.decided(false), fuel)
    }

    /// `acc, x -> acc`. Floats only go through operators that keep them in bounds.
    pub(crate) fn step(
        &mut self,
        acc: &Type,
        element: &Type,
        scope: &Scope,
        fuel: u32,
    ) -> Option<Lambda> {
        let mut floats = false;
        acc.scalars(&mut |s| floats |= s.is_float());
        let operator = if floats { Some(self.operator(acc, Law::Commutative)?.1) } else { None };
        self.lambda(&[acc.clone(), element.clone()], |g, params| {
            let value = g.make(acc, scope, fuel.max(1))?;
            match (operator, params.first()) {
                (Some(operator), Some(acc)) => g.apply(&operator, [g.var(acc), value]),
                _ => Some(value),
            }
        })
    }

    /// The scope of a function that runs in order.
    pub(crate) fn inner(&mut self, scope: &Scope) -> Scope {
        let level = match scope.level {
            Level::Host => Level::Item,
            Level::Group if self.random.chance(20) => Level::Group,
            Level::Group | Level::Warp | Level::Item => Level::Item,
            Level::Scalar => Level::Scalar,
        };
        scope.at(level).decided(false)
    }

    /// The scope of a function that is applied where an element is read.
    pub(crate) fn reader(&self, scope: &Scope) -> Scope {
        match scope.level {
            Level::Scalar => scope.clone(),
            Level::Host | Level::Group | Level::Warp | Level::Item => {
                scope.at(Level::Item).decided(false)
            }
        }
    }

    /// The lengths before each application, where the last application gives `n`.
    fn lengths(&self, change: Change, times: i128, n: &Nat) -> Option<Vec<Nat>> {
        let before = |left: i128| match change {
            Change::Halved | Change::Folded => Some(n * &Nat::int(1 << left)),
            Change::OneLess => Some(n + &Nat::int(left)),
            Change::Doubled => {
                let divisor = Nat::int(1 << left);
                self.divides(&divisor, n).then(|| n.exact_div(&divisor))
            }
        };
        (1..=times).rev().map(|left| before(left).map(|n| self.cx.simplify(&n))).collect()
    }

    /// `xs` with its length changed and its elements computed.
    fn changed(
        &mut self,
        change: Change,
        element: &Type,
        xs: Expr,
        scope: &Scope,
        fuel: u32,
    ) -> Option<Expr> {
        let (_, n) = array(xs.ty())?;
        let (one, two) = (Nat::int(1), Nat::int(2));
        let parts = match change {
            Change::Halved => self.unary(Prim::Split, vec![two], xs)?,
            Change::OneLess => self.unary(Prim::Slide, vec![two, one], xs)?,
            Change::Folded => {
                let half = n.div(&two);
                let front = self.unary(Prim::Take, vec![half.clone()], xs.clone())?;
                let back = self.unary(Prim::Drop, vec![half], xs)?;
                self.call(Prim::Zip, vec![], vec![], vec![front, back])?
            }
            Change::Doubled => self.call(Prim::Concat, vec![], vec![], vec![xs.clone(), xs])?,
        };
        let element = element.clone();
        maps::map_over(self, scope, parts, &element, fuel.max(2))
    }
}

/// Few enough elements to be written out.
pub(crate) fn has_few(array: &Type) -> bool {
    array.as_array().and_then(|(_, n)| n.as_int()).is_some_and(|n| n <= 8)
}
