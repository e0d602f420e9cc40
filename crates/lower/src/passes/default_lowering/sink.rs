//! Numbers computed in front of an inner map, computed in it.
//!
//! Before: `map(\x -> let s = e; map(\y -> b, ys), xs)`
//! After: `map(\x -> map(\y -> let s = e; b, ys), xs)`, a nest of maps, whose points are work-items.
//!
//! A thread computes a number sooner than it would wait for another's.

use lift_ir::{Call, Context, Expr, Kind, Lambda, MapKind, Param, Prim, TypeError};

use super::{is_layout_only, is_scalar_code};

/// The map as a nest, if it becomes one or a deeper one.
pub(super) fn sunk(cx: &Context, call: &Call) -> Result<Option<Expr>, TypeError> {
    let Some(f) = call.functions.first() else { return Ok(None) };
    let Some(body) = sunk_body(cx, &f.body)? else { return Ok(None) };
    let f = Lambda { body, ..f.clone() };
    cx.call(call.prim.clone(), vec![], vec![f], call.args.clone()).map(Some)
}

fn sunk_body(cx: &Context, body: &Expr) -> Result<Option<Expr>, TypeError> {
    let (mut lets, mut inner): (Vec<(&Param, &Expr)>, &Expr) = (Vec::new(), body);
    while let Kind::Let { param, value, body } = inner.kind() {
        lets.push((param, value));
        inner = body;
    }
    let Kind::Call(call) = inner.kind() else { return Ok(None) };
    let is_map = call.prim == Prim::Map(MapKind::Map) && !is_layout_only(call);
    let (true, Some(f)) = (is_map, call.functions.first()) else { return Ok(None) };
    let is_number =
        |value: &Expr| value.ty().is_register() && !value.has(|part| !is_scalar_code(part));
    let is_free = |param: &Param| call.args.iter().all(|arg| !arg.mentions(param));
    if !lets.iter().all(|(param, value)| is_number(value) && is_free(param)) {
        return Ok(None);
    }
    let deeper = sunk_body(cx, &f.body)?;
    if lets.is_empty() && deeper.is_none() {
        return Ok(None);
    }
    let own = deeper.unwrap_or_else(|| f.body.clone());
    let body = lets
        .into_iter()
        .rev()
        .try_fold(own, |body, (param, value)| cx.let_in(param.clone(), value.clone(), body))?;
    let f = Lambda { body, ..f.clone() };
    cx.call(call.prim.clone(), vec![], vec![f], call.args.clone()).map(Some)
}
