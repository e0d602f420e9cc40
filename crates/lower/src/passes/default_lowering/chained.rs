//! A map of what another folds, inside of a map.
//!
//! Before: `map(\x -> map(\v -> b, map(\y -> E[reduce(z, f, r)], ys)), xs)`
//! After: `map(\x -> map(\y -> let v = E[reduce(z, f, r)]; b, ys), xs)`, a nest whose points fold, so that it is seen that
//! several work-items should share the folds of a point.

use lift_ir::{Call, Context, Expr, Kind, Lambda, MapKind, Prim, TypeError};

use super::{groups, is_layout_only};

/// The map with one such chain made one map; nothing where there is none.
pub(super) fn fused(cx: &Context, call: &Call) -> Result<Option<Expr>, TypeError> {
    let Some(f) = call.functions.first() else { return Ok(None) };
    let Kind::Call(inner) = f.body.kind() else { return Ok(None) };
    if !is_computed_map(inner) {
        return Ok(None);
    }
    let body = match one(cx, inner)? {
        Some(body) => Some(body),
        None => fused(cx, inner)?,
    };
    let Some(body) = body else { return Ok(None) };
    let f = Lambda { body, ..f.clone() };
    cx.call(call.prim.clone(), vec![], vec![f], call.args.clone()).map(Some)
}

/// `map(f, map(g, ys))` as one map, where g folds many elements to a number.
fn one(cx: &Context, outer: &Call) -> Result<Option<Expr>, TypeError> {
    let ([array], true) = (outer.args.as_slice(), is_computed_map(outer)) else { return Ok(None) };
    let Kind::Call(inner) = array.kind() else { return Ok(None) };
    // Of a longer chain the innermost first.
    let array = one(cx, inner)?.unwrap_or_else(|| array.clone());
    let Kind::Call(inner) = array.kind() else { return Ok(None) };
    let (Some(f), Some(g)) = (outer.functions.first(), inner.functions.first()) else {
        return Ok(None);
    };
    let is_long = |folds: Vec<&Call>| folds.iter().any(|fold| groups::is_long(fold));
    let folds = is_computed_map(inner) && groups::folds(&g.body).is_some_and(is_long);
    let ([value], true) = (f.params.as_slice(), folds) else { return Ok(None) };
    let body = cx.let_in(value.clone(), g.body.clone(), f.body.clone())?;
    let g = Lambda { body, ..g.clone() };
    cx.call(Prim::Map(MapKind::Map), vec![], vec![g], inner.args.clone()).map(Some)
}

fn is_computed_map(call: &Call) -> bool {
    call.prim == Prim::Map(MapKind::Map) && !is_layout_only(call)
}
