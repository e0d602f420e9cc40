//! Folds and updates whose results are chosen by indices.

use lift_ir::{AtomicFold, BinaryOp, Expr, FoldKind, MapKind, Prim, Scalar, Type};

use crate::generator::{Generator, Goal, array};
use crate::operators::Law;
use crate::scope::Level;

/// `reduce_by_index`
pub(crate) fn by_index(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let (element, k) = array(goal.ty)?;
    let (z, f) = g.operator(&element, Law::Commutative)?;
    let [indices, xs] = g.split(goal.fuel);
    let (is, xs) = g.indexed(goal, &element, indices, xs)?;
    g.call(Prim::ReduceByIndex(FoldKind::Any), vec![k], vec![f], vec![z, is, xs])
}

/// `reduceByIndexGlb`, of numbers that every device changes in one step.
pub(crate) fn by_index_together(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    if !g.config.low_level || goal.scope.level != Level::Host || !goal.scope.nest.is_empty() {
        return None;
    }
    let (element, k) = array(goal.ty)?;
    let (z, f) = g.operator(&element, Law::Commutative)?;
    let steps = AtomicFold::of(&f)?.steps;
    if steps.iter().any(|step| step.scalar.bytes() > 4) {
        return None;
    }
    let [indices, xs] = g.split(goal.fuel);
    let (is, xs) = g.indexed(goal, &element, indices, xs)?;
    g.call(Prim::ReduceByIndex(FoldKind::Glb), vec![k], vec![f], vec![z, is, xs])
}

/// `reduceByIndexSeq`, with any function.
pub(crate) fn by_index_in_order(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    if !g.config.low_level {
        return None;
    }
    let (result, k) = array(goal.ty)?;
    let element = g.register_type();
    let [z, body, indices, xs] = g.split(goal.fuel);
    let (is, xs) = g.indexed(goal, &element, indices, xs)?;
    let z = g.make(&result, &goal.scope.decided(false), z)?;
    // Its function runs only where an index says so, so there is nothing parallel in it.
    let scope = g.reader(goal.scope);
    let f = g.step(&result, &element, &scope, body)?;
    g.call(Prim::ReduceByIndex(FoldKind::Seq), vec![k], vec![f], vec![z, is, xs])
}

/// `update` at indices that differ, some of which are outside.
pub(crate) fn update(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let (element, _) = array(goal.ty)?;
    if goal.scope.level == Level::Scalar || !element.is_register() {
        return None;
    }
    let n = g.length();
    let new = Type::array(element, n.clone());
    if !g.fits(&new) {
        return None;
    }
    let [ys, xs] = g.split(goal.fuel);
    let scope = goal.scope.decided(false);
    let (ys, xs) = (g.make(goal.ty, &scope, ys)?, g.make(&new, &scope, xs)?);
    let (step, first) = (g.random.between(1, 3), g.random.between(-2, 4));
    let step = g.number(Scalar::I32, step.into());
    let first = g.number(Scalar::I32, first.into());
    let index = g.lambda(&[Type::I32], |g, params| {
        let i = g.var(params.first()?);
        let i = g.call(Prim::Binary(BinaryOp::Mul), vec![], vec![], vec![i, step])?;
        g.call(Prim::Binary(BinaryOp::Add), vec![], vec![], vec![i, first])
    })?;
    let is = g.call(Prim::Generate, vec![n], vec![index], vec![])?;
    g.call(Prim::Update, vec![], vec![], vec![ys, is, xs])
}

impl Generator<'_> {
    /// Indices, of which some are in range, and as many elements.
    fn indexed(
        &mut self,
        goal: &Goal,
        element: &Type,
        indices: u32,
        elements: u32,
    ) -> Option<(Expr, Expr)> {
        if goal.scope.level == Level::Scalar {
            return None;
        }
        let n = self.length();
        let scalar = if self.random.chance(25) { Scalar::I64 } else { Scalar::I32 };
        let index = Type::Scalar(scalar);
        let (many, xs) = (Type::array(index.clone(), n.clone()), Type::array(element.clone(), n));
        if !self.fits(&xs) {
            return None;
        }
        let scope = goal.scope.decided(false);
        let is = self.make(&many, &scope, indices)?;
        let xs = self.make(&xs, &scope, elements)?;
        let most = self.random.between(0, 7);
        let most = self.number(scalar, most.into());
        let rest = self.lambda(&[index], |g, params| {
            let i = g.var(params.first()?);
            g.call(Prim::Binary(BinaryOp::BitAnd), vec![], vec![], vec![i, most])
        })?;
        let map = Prim::Map(MapKind::Map);
        Some((self.call(map, vec![], vec![rest], vec![is])?, xs))
    }
}
