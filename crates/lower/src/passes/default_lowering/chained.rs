//! A map of what another folds, inside of a map.
//!
//! Before: `map(\x -> map(\v -> b, map(\y -> E[reduce(z, f, r)], ys)), xs)`
//! After: `map(\x -> map(\y -> let v = E[reduce(z, f, r)]; b, ys), xs)`, a nest whose points fold, so that it is seen that
//! several work-items should share the folds of a point. The same where the other is zipped with more arrays, or reordered.

use lift_ir::{Build, Call, Context, Expr, Kind, Lambda, MapKind, Param, Prim, TypeError};

use super::{groups, is_layout_only};
use crate::replace::with_components;

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

/// `map(f, map(g, ys))` as one map, where g folds many elements to a number; so `map(f, zip(map(g, ys), zs))`.
fn one(cx: &Context, outer: &Call) -> Result<Option<Expr>, TypeError> {
    let ([array], true) = (outer.args.as_slice(), is_computed_map(outer)) else { return Ok(None) };
    let Some(f) = outer.functions.first() else { return Ok(None) };
    let [value] = f.params.as_slice() else { return Ok(None) };
    let (g, ys) = match array.as_call() {
        Some(zip) if zip.prim == Prim::Zip => match beside(cx, f, value, zip)? {
            Some(both) => both,
            None => return Ok(None),
        },
        _ => match folding(cx, array)? {
            Some((g, ys)) => {
                let body = cx.let_in(value.clone(), g.body, f.body.clone())?;
                (Lambda { body, ..g }, ys)
            }
            None => return Ok(None),
        },
    };
    cx.call(Prim::Map(MapKind::Map), vec![], vec![g], vec![ys]).map(Some)
}

/// What a map of several arrays does, of which some are folds of rows: the same of these rows.
fn beside(
    cx: &Context,
    f: &Lambda,
    value: &Param,
    zip: &Call,
) -> Result<Option<(Lambda, Expr)>, TypeError> {
    let found = zip.args.iter().map(|array| folding(cx, array));
    let found = found.collect::<Result<Vec<_>, TypeError>>()?;
    if found.iter().all(Option::is_none) {
        return Ok(None);
    }
    let b = Build::new(cx);
    let arrays = found.iter().zip(&zip.args);
    let ys = b.zip(arrays.map(|(made, array)| made.as_ref().map_or(array, |(_, ys)| ys)))?;
    let Some((element, _)) = ys.ty().as_array() else { return Ok(None) };
    let rows = cx.fresh(value.name(), element.clone());
    let (mut numbers, mut components) = (Vec::new(), Vec::new());
    for (k, made) in found.into_iter().enumerate() {
        let own = b.field(cx.var(&rows), k as u32)?;
        let Some((g, _)) = made else {
            components.push(own);
            continue;
        };
        let [row] = g.params.as_slice() else { return Ok(None) };
        let number = cx.fresh(value.name(), g.body.ty().clone());
        components.push(cx.var(&number));
        numbers.push((number, cx.substitute(&g.body, &[(row.clone(), own)])));
    }
    let mut body = with_components(cx, &f.body, value, &components)?;
    for (number, folded) in numbers.into_iter().rev() {
        body = cx.let_in(number, folded, body)?;
    }
    Ok(Some((Lambda { size: None, params: vec![rows], body }, ys)))
}

/// What an array of folds makes of the rows of another, and these rows.
fn folding(cx: &Context, array: &Expr) -> Result<Option<(Lambda, Expr)>, TypeError> {
    let Kind::Call(call) = array.kind() else { return Ok(None) };
    // Of a longer chain the innermost first.
    let chained = one(cx, call)?;
    let call = chained.as_ref().and_then(Expr::as_call).unwrap_or(call);
    let [xs] = call.args.as_slice() else { return Ok(None) };
    // Rows in another order have their folds in that order.
    if matches!(call.prim, Prim::Gather(_) | Prim::Take | Prim::Drop) {
        let Some((g, rows)) = folding(cx, xs)? else { return Ok(None) };
        let rows =
            cx.call(call.prim.clone(), call.sizes.clone(), call.functions.clone(), vec![rows])?;
        return Ok(Some((g, rows)));
    }
    let is_long = |folds: Vec<&Call>| folds.iter().any(|fold| groups::is_long(fold));
    let folds = |g: &&Lambda| is_computed_map(call) && groups::folds(&g.body).is_some_and(is_long);
    Ok(call.functions.first().filter(folds).map(|g| (g.clone(), xs.clone())))
}

fn is_computed_map(call: &Call) -> bool {
    call.prim == Prim::Map(MapKind::Map) && !is_layout_only(call)
}
