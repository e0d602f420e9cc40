//! Points of random domains, and folds over ranges.

use std::sync::Arc;

use lift_domain::{Constraint, Domain};
use lift_ir::{BinaryOp, Expr, FoldKind, Nat, Prim, Scalar, Type};

use crate::generator::{Generator, Goal, array};
use crate::operators::Law;

/// The points of a domain, at most.
const MOST: i128 = 60;

/// The numbers of a range, at most.
const LONGEST: i128 = 9;

/// `generate(count(D), \r -> let p = point(D, r); e)`, seen as an array of the length that is wanted.
pub(crate) fn points(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let (element, _) = array(goal.ty)?;
    let (domain, count) = g.domain()?;
    let scope = g.reader(goal.scope);
    let fuel = goal.fuel;
    let f = g.lambda(&[Type::I32], |g, params| {
        let number = g.var(params.first()?);
        let found = g.unary(Prim::Point(Arc::new(domain)), vec![], number)?;
        let point = g.cx.fresh("p", found.ty().clone());
        g.add_variable(&point);
        let body = g.make(&element, &scope, fuel)?;
        g.cx.let_in(point, found, body).ok()
    })?;
    let made = g.call(Prim::Generate, vec![Nat::int(count)], vec![f], vec![])?;
    g.convert(made, goal.ty)
}

/// `reduce(z, f, [ e | k in a .. b ])`, where b is data.
pub(crate) fn over_range(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    if !goal.ty.is_register() {
        return None;
    }
    let (z, f) = g.operator(goal.ty, Law::Commutative)?;
    let [bound, body] = g.split(goal.fuel);
    let scalar = if g.random.chance(25) { Scalar::I64 } else { Scalar::I32 };
    let ty = Type::Scalar(scalar);
    let data = g.make(&ty, &goal.scope.decided(false), bound)?;
    let number = |g: &Generator, n: i128| g.number(scalar, n);
    let binary = |g: &Generator, op, a, b| g.call(Prim::Binary(op), vec![], vec![], vec![a, b]);
    // Not negative, and few.
    let most = number(g, LONGEST);
    let rest = binary(g, BinaryOp::Rem, data, most.clone())?;
    let sum = binary(g, BinaryOp::Add, rest, most.clone())?;
    let length = binary(g, BinaryOp::Rem, sum, most)?;
    let start = i128::from(g.random.between(-3, 3));
    let low = number(g, start);
    let high = binary(g, BinaryOp::Add, length, low.clone())?;
    let scope = g.inner(goal.scope);
    let element = g.lambda(&[ty], |g, _| g.make(goal.ty, &scope, body))?;
    g.call(Prim::ReduceRange(FoldKind::Any), vec![], vec![f, element], vec![z, low, high])
}

impl Generator<'_> {
    /// A domain of some points, with how many it has.
    fn domain(&mut self) -> Option<(Domain, i128)> {
        let dimensions = self.random.between(1, 3) as usize;
        let mut constraints = Vec::new();
        for k in 0..dimensions {
            let extent = Nat::int(self.random.between(2, 6).into());
            constraints.push(Constraint::less(&Domain::index(k), &extent));
        }
        for _ in 0..self.random.between(1, 2) {
            let mut value = Nat::int(self.random.between(-2, 4).into());
            for k in 0..dimensions {
                let factor = i128::from(self.random.between(-2, 2));
                value = value + Domain::index(k) * Nat::int(factor);
            }
            constraints.push(Constraint::at_most(&Nat::ZERO, &value));
        }
        let domain = Domain::new(dimensions, constraints);
        if domain.extents().is_some() {
            return None;
        }
        let count = domain.levels()?.count().as_int()?;
        (1..=MOST).contains(&count).then_some((domain, count))
    }
}
