//! Every part of a program with what is bound around it.

use lift_ir::{Expr, Kind, Param, Place, Var};

#[derive(Clone)]
pub(super) struct Spot {
    pub place: Place,
    pub expr: Expr,
    /// The variables bound around it, outermost first.
    pub scope: Vec<Param>,
    /// The size variables bound around it.
    pub sizes: Vec<Var>,
}

/// All parts, parents before children, level by level.
pub(super) fn spots(body: &Expr) -> Vec<Spot> {
    let root =
        Spot { place: Place::root(), expr: body.clone(), scope: Vec::new(), sizes: Vec::new() };
    let mut found = vec![root];
    let mut next = 0;
    while let Some(spot) = found.get(next).cloned() {
        found.extend(children(&spot));
        next += 1;
    }
    found
}

fn children(spot: &Spot) -> Vec<Spot> {
    let child = |index: usize, expr: &Expr| Spot {
        place: spot.place.child(index as u32),
        expr: expr.clone(),
        scope: spot.scope.clone(),
        sizes: spot.sizes.clone(),
    };
    match spot.expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => Vec::new(),
        Kind::Let { param, value, body } => {
            let mut inner = child(1, body);
            inner.scope.push(param.clone());
            vec![child(0, value), inner]
        }
        Kind::Call(call) => {
            let bodies = call.functions.iter().enumerate().map(|(i, f)| {
                let mut inner = child(i, &f.body);
                inner.scope.extend(f.params.iter().cloned());
                inner.sizes.extend(f.size.clone());
                inner
            });
            let args = call.args.iter().enumerate();
            bodies.chain(args.map(|(i, a)| child(call.functions.len() + i, a))).collect()
        }
    }
}
