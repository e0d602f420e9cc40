//! Maps: over global work-items, groups, local work-items, warps, lanes, and in order.

use lift_ir::{Expr, FoldKind, Lambda, MapKind, Param, Prim, Space, Type};

use crate::folds::has_few;
use crate::generator::{Generator, Goal, Production, array};
use crate::operators::Law;
use crate::scope::{Level, Scope};

pub(crate) const MAPS: &[(u32, Production)] = &[(1, map)];

fn map(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let (element, n) = array(goal.ty)?;
    let source = g.source(&n, goal.scope.level);
    let ty = g.cx.simplify_type(&Type::array(source, n));
    if !g.fits(&ty) {
        return None;
    }
    let [xs, body] = g.split(goal.fuel);
    let xs = g.make(&ty, &goal.scope.decided(false), xs)?;
    map_over(g, goal.scope, xs, &element, body)
}

/// A map of some random function over an array.
pub(crate) fn map_over(
    g: &mut Generator,
    scope: &Scope,
    xs: Expr,
    result: &Type,
    fuel: u32,
) -> Option<Expr> {
    let kinds = g.kinds(result, xs.ty(), scope);
    let (kind, level) = g.random.weighted(&kinds)?;
    let xs = match kind {
        MapKind::Lcl(_) if g.random.chance(12) => g.own_share(kind, xs, scope)?,
        _ => xs,
    };
    g.map_as(kind, xs, scope, |g, _| {
        let inner = scope.inside(kind, level);
        g.make(result, &inner.decided(g.is_decided(kind, scope)), fuel)
    })
}

/// What a warp computes: everything by a `mapLane`, over a view of what the warp has, or of what its
/// lanes stored.
pub(crate) fn by_lanes(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let (element, n) = array(goal.ty)?;
    let kind = MapKind::Lane(0);
    let [xs, body] = g.split(goal.fuel);
    let source = g.source(&n, Level::Item);
    let ty = Type::array(source, n.clone());
    if !g.fits(&ty) {
        return None;
    }
    let mut array = if xs > 0 && g.random.chance(50) {
        g.make(&ty, &goal.scope.decided(false), xs)?
    } else {
        g.leaf(&Goal { ty: &ty, ..*goal })?
    };
    if g.random.chance(30) {
        let permutation = g.permutation(&n)?;
        array = g.unary(Prim::Gather(permutation), vec![], array)?;
    }
    g.map_as(kind, array, goal.scope, |g, _| {
        let inner = goal.scope.inside(kind, Level::Item);
        g.make(&element, &inner.decided(g.is_decided(kind, goal.scope)), body)
    })
}

/// `reduceSeq` whose accumulator is an array that work-items share, or of which each keeps its own.
pub(crate) fn accumulated(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    if !g.config.low_level {
        return None;
    }
    let (element, n) = array(goal.ty)?;
    let (kind, space) = match goal.scope.level {
        Level::Host => (MapKind::Glb(0), Space::Global),
        Level::Group => {
            let kind = MapKind::Lcl(g.random.below(3) as u8);
            let spaces: &[Space] = if goal.scope.decided {
                &[Space::Private, Space::Private, Space::Local, Space::Global]
            } else {
                &[Space::Local, Space::Global]
            };
            (kind, g.random.pick(spaces)?)
        }
        Level::Warp | Level::Item | Level::Scalar => return None,
    };
    let scope = goal.scope.decided(false);
    let row = g.register_type();
    let rows = Type::array(Type::array(row.clone(), n.clone()), g.length());
    if !g.fits(&rows) {
        return None;
    }
    let [xs, body, last] = g.split(goal.fuel);
    let rows = g.make(&rows, &scope, xs)?;
    let (z, operator) = g.operator(&element, Law::Commutative)?;
    let z = g.unary(Prim::Repeat, vec![n], z)?;
    let z = g.copied(kind, space, z)?;
    let acc = z.ty().clone();
    let elements = rows.ty().as_array().map(|(row, _)| row.clone())?;
    let f = g.lambda(&[acc, elements], |g, params| {
        let [acc, row] = params else { return None };
        let pairs = g.call(Prim::Zip, vec![], vec![], vec![g.var(acc), g.var(row)])?;
        // Other work-items' accumulators are not to be read.
        let hidden = g.scope.split_off(g.scope.len() - 2);
        let made = g.plain_map(kind, pairs, |g, pair| {
            let acc = g.unary(Prim::Field(0), vec![], g.var(pair))?;
            let inner = scope.inside(kind, Level::Item);
            let value = g.make(&element, &inner, body)?;
            g.apply(&operator, [acc, value])
        });
        g.scope.extend(hidden);
        made
    })?;
    let folded = g.call(Prim::Reduce(FoldKind::Seq), vec![], vec![f], vec![z, rows])?;
    // What work-items keep for themselves is read in the way it was made.
    if space != Space::Private && (!goal.scope.decided || g.random.chance(20)) {
        return Some(folded);
    }
    let own = element.clone();
    g.map_as(kind, folded, goal.scope, |g, x| {
        if last == 0 {
            let x = g.var(x);
            return g.unary(Prim::Id, vec![], x);
        }
        let inner = goal.scope.inside(kind, Level::Item);
        g.make(&own, &inner.decided(false), last)
    })
}

impl Generator<'_> {
    /// The maps that may stand in a scope and have such results, and who runs their functions.
    fn kinds(&mut self, result: &Type, xs: &Type, scope: &Scope) -> Vec<(u32, (MapKind, Level))> {
        if !self.config.low_level || scope.level == Level::Scalar {
            return vec![(1, (MapKind::Map, Level::Item))];
        }
        let nested = u32::from(result.as_array().is_some());
        let few = u32::from(has_few(xs));
        let d = self.random.below(3) as u8;
        let free = |kind| u32::from(scope.decided && scope.is_free(kind));
        match scope.level {
            Level::Host => vec![
                (4, (MapKind::Map, Level::Item)),
                (7, (MapKind::Glb(d), Level::Item)),
                (6 + 6 * nested, (MapKind::Wrg(d), Level::Group)),
                (2, (MapKind::Seq, Level::Item)),
                (nested, (MapKind::Seq, Level::Host)),
                (few, (MapKind::SeqUnroll, Level::Item)),
            ],
            Level::Group => vec![
                (12, (MapKind::Lcl(d), Level::Item)),
                (10 * nested, (MapKind::Warp(0), Level::Warp)),
                (2 * nested * free(MapKind::Wrg(d)), (MapKind::Wrg(d), Level::Group)),
                (nested, (MapKind::Seq, Level::Group)),
                (1, (MapKind::Seq, Level::Item)),
                (few, (MapKind::SeqUnroll, Level::Item)),
                (2, (MapKind::Map, Level::Item)),
                (nested, (MapKind::Map, Level::Group)),
            ],
            Level::Item | Level::Warp | Level::Scalar => {
                let around =
                    |wanted: fn(&MapKind) -> bool| u32::from(scope.nest.iter().any(wanted));
                let grid = around(|k| matches!(k, MapKind::Glb(_)));
                let group = around(|k| matches!(k, MapKind::Lcl(_)));
                vec![
                    (5, (MapKind::Seq, Level::Item)),
                    (4, (MapKind::Map, Level::Item)),
                    (2 * few, (MapKind::SeqUnroll, Level::Item)),
                    (8 * grid * free(MapKind::Glb(d)), (MapKind::Glb(d), Level::Item)),
                    (8 * group * free(MapKind::Lcl(d)), (MapKind::Lcl(d), Level::Item)),
                ]
            }
        }
    }

    /// Whether the results of a map's function have a memory without being told.
    fn is_decided(&self, kind: MapKind, scope: &Scope) -> bool {
        scope.decided || needs_memory(kind)
    }

    /// A map, its results in a memory that is named where it must be.
    fn map_as(
        &mut self,
        kind: MapKind,
        xs: Expr,
        scope: &Scope,
        body: impl FnOnce(&mut Self, &Param) -> Option<Expr>,
    ) -> Option<Expr> {
        let named = if needs_memory(kind) && !scope.decided {
            self.random.weighted(&[(6, Space::Local), (2, Space::Global)])
        } else if kind.dimension().is_some() && scope.decided && self.random.chance(30) {
            Some(Space::Global)
        } else {
            None
        };
        let Some(space) = named else { return self.plain_map(kind, xs, body) };
        // `mapLcl(toLocal(f))` or `toLocal(mapLcl(f))`.
        if self.random.chance(75) {
            return self.plain_map(kind, xs, |g, x| {
                let x = g.var(x);
                g.to(space, x, body)
            });
        }
        self.to(space, xs, |g, xs| {
            let xs = g.var(xs);
            g.plain_map(kind, xs, body)
        })
    }

    fn plain_map(
        &mut self,
        kind: MapKind,
        xs: Expr,
        body: impl FnOnce(&mut Self, &Param) -> Option<Expr>,
    ) -> Option<Expr> {
        let (element, _) = array(xs.ty())?;
        let f = self.lambda(&[element], |g, params| body(g, params.first()?))?;
        self.call(Prim::Map(kind), vec![], vec![f], vec![xs])
    }

    fn to(
        &mut self,
        space: Space,
        x: Expr,
        body: impl FnOnce(&mut Self, &Param) -> Option<Expr>,
    ) -> Option<Expr> {
        let ty = x.ty().clone();
        let f: Lambda = self.lambda(&[ty], |g, params| body(g, params.first()?))?;
        self.call(Prim::To(space), vec![], vec![f], vec![x])
    }

    /// Every element copied to a memory.
    fn copied(&mut self, kind: MapKind, space: Space, xs: Expr) -> Option<Expr> {
        self.plain_map(kind, xs, |g, x| {
            let x = g.var(x);
            g.to(space, x, |g, y| g.unary(Prim::Id, vec![], g.var(y)))
        })
    }

    /// The same array, each work-item having its share in private memory.
    fn own_share(&mut self, kind: MapKind, xs: Expr, scope: &Scope) -> Option<Expr> {
        let (element, _) = array(xs.ty())?;
        if !element.is_register() || !scope.is_grouped() {
            return Some(xs);
        }
        self.copied(kind, Space::Private, xs)
    }
}

/// Maps whose results other work-items see.
fn needs_memory(kind: MapKind) -> bool {
    matches!(kind, MapKind::Lcl(_) | MapKind::Lane(_))
}
