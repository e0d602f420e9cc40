//! Arrays of which each work-item keeps its share are read by the maps that made them.

use lift_ir::{Call, Expr, Kind, MapKind, Prim, Space};

/// Whether every array that a `mapLcl` keeps in private memory is the argument of a `mapLcl` of the
/// same dimension, alone or in a `zip`, or what a fold starts from.
pub(super) fn are_read_alike(body: &Expr) -> bool {
    share_of(body).is_none() && body.places().iter().all(|(_, part)| parts_are_read_alike(part))
}

fn parts_are_read_alike(expr: &Expr) -> bool {
    match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => true,
        Kind::Let { value, body, .. } => share_of(value).is_none() && share_of(body).is_none(),
        Kind::Call(call) => {
            let taken = |index: usize, arg: &Expr| match (share_of(arg), &call.prim) {
                (None, _) | (_, Prim::Zip) => true,
                (Some(made), Prim::Map(kind)) => *kind == made,
                (Some(_), Prim::Reduce(_)) => index == 0,
                (Some(_), _) => false,
            };
            let mut args = call.args.iter().enumerate();
            let folds = matches!(call.prim, Prim::Reduce(_));
            let mut bodies = call.functions.iter().map(|f| &f.body);
            args.all(|(index, arg)| taken(index, arg))
                && (folds || bodies.all(|body| share_of(body).is_none()))
        }
    }
}

/// The map that made an array whose elements stay with their work-items.
fn share_of(expr: &Expr) -> Option<MapKind> {
    let Call { prim, functions, args, .. } = expr.as_call()?;
    match prim {
        Prim::Map(kind @ (MapKind::Lcl(_) | MapKind::Lane(_))) => {
            functions.iter().any(|f| is_private(&f.body)).then_some(*kind)
        }
        Prim::To(Space::Private) => functions.iter().find_map(|f| match f.body.as_call() {
            Some(Call { prim: Prim::Map(kind @ (MapKind::Lcl(_) | MapKind::Lane(_))), .. }) => {
                Some(*kind)
            }
            _ => None,
        }),
        Prim::Reduce(_) => share_of(args.first()?),
        Prim::Zip => args.iter().find_map(share_of),
        _ => None,
    }
}

fn is_private(body: &Expr) -> bool {
    matches!(body.as_call(), Some(Call { prim: Prim::To(Space::Private), .. }))
}
