//! Iterations over domains as such: one behind the other, and over domains that are boxes.

use lift_ir::{Expr, Lambda, MapKind, Param, Prim, Scalar, Type};

use super::{Points, call, points};
use crate::inline::renamed_function;
use crate::refusal::Refusal;
use crate::rule::{Rule, Site};

pub(super) static DOMAIN_MAP_FUSION: Rule = Rule::function(
    "domain_map_fusion",
    "A map of an iteration over a domain is one iteration.",
    "f: a -> b, g: (i32, i32) -> a",
    "map(f, generate(n * (n + 1) / 2, \\r -> let p = point({ (i, j) | j <= i, i < n }, r); g(p.0, p.1)))",
    "generate(n * (n + 1) / 2, \\r -> let p = point({ (i, j) | j <= i, i < n }, r); f(g(p.0, p.1)))",
    map_fusion,
);

pub(super) static DOMAIN_IS_BOX: Rule = Rule::function(
    "domain_is_box",
    "An iteration over a domain that is a box is a nest of `generate`.",
    "f: (i32, i32) -> a",
    "generate(n * m, \\r -> let p = point({ (i, j) | i < n, j < m }, r); f(p.0, p.1))",
    "join(generate(n, \\i -> generate(m, \\j -> f(i, j))))",
    is_box,
);

fn map_fusion(site: &Site) -> Result<Expr, Refusal> {
    let no = || Refusal::Other("expected a map of an iteration over a domain".to_string());
    let map = site.expr.as_call().filter(|call| call.prim == Prim::Map(MapKind::Map));
    let map = map.ok_or_else(no)?;
    let ([f], [xs]) = (map.functions.as_slice(), map.args.as_slice()) else { return Err(no()) };
    let [x] = f.params.as_slice() else { return Err(no()) };
    let cx = site.cx;
    let iteration = points(xs)?;
    let found = iteration.found(cx, iteration.domain)?;
    let Points { count, number, point, body, .. } = iteration;
    let made = cx.let_in(x.clone(), body.clone(), f.body.clone())?;
    let body = cx.let_in(point.clone(), found, made)?;
    let all = Lambda { size: None, params: vec![number.clone()], body };
    Ok(cx.call(Prim::Generate, vec![count.clone()], vec![all], vec![])?)
}

fn is_box(site: &Site) -> Result<Expr, Refusal> {
    let (cx, points) = (site.cx, points(site.expr)?);
    let Some(extents) = points.domain.extents() else {
        return Err(Refusal::Other(format!("`{}` is no box", points.domain)));
    };
    let indices: Vec<Param> =
        extents.iter().map(|_| cx.fresh("i", Type::Scalar(Scalar::I32))).collect();
    let values: Vec<Expr> = indices.iter().map(|i| cx.var(i)).collect();
    let point = match values.as_slice() {
        [only] => only.clone(),
        many => call(cx, Prim::Tuple, many.to_vec())?,
    };
    let mut made = cx.let_in(points.point.clone(), point, points.body.clone())?;
    for (index, extent) in indices.iter().zip(&extents).rev() {
        let f = Lambda { size: None, params: vec![index.clone()], body: made };
        let f = renamed_function(cx, &f)?;
        made = cx.call(Prim::Generate, vec![extent.clone()], vec![f], vec![])?;
    }
    (1..extents.len()).try_fold(made, |array, _| Ok(call(cx, Prim::Join, vec![array])?))
}
