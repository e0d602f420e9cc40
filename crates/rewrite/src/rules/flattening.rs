//! Nested zips become flat.

use lift_ir::{Call, Expr, FoldKind, Lambda, MapKind, Param, Prim, Type, TypeError};

use crate::inline;
use crate::matching::{form, name_of_prim};
use crate::refusal::Refusal;
use crate::rule::{Rule, Site};
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "flattening",
    about: "Nested zips become one, and what uses them takes its components from there.",
    rules: &[&FLATTEN_ZIP_MAP, &FLATTEN_ZIP_MAP_SEQ, &FLATTEN_ZIP_REDUCE_SEQ],
};

static FLATTEN_ZIP_MAP: Rule = Rule::function(
    "flatten_zip_map",
    "A map over zips in zips is a map over one zip, at whatever depth and on whichever side.",
    "f: ((a, b), c) -> d, xs: [a; n], ys: [b; n], zs: [c; n]",
    "map(\\p -> f(p.0, p.1), zip(zip(xs, ys), zs))",
    "map(\\q -> f((q.0, q.1), q.2), zip(xs, ys, zs))",
    |site| flattened(site, &Prim::Map(MapKind::Map)),
);

static FLATTEN_ZIP_MAP_SEQ: Rule = Rule::function(
    "flatten_zip_map_seq",
    "A loop over zips in zips is a loop over one zip.",
    "f: (a, (b, c)) -> d, xs: [a; n], ys: [b; n], zs: [c; n]",
    "mapSeq(\\p -> f(p.0, p.1), zip(xs, zip(ys, zs)))",
    "mapSeq(\\q -> f(q.0, (q.1, q.2)), zip(xs, ys, zs))",
    |site| flattened(site, &Prim::Map(MapKind::Seq)),
);

static FLATTEN_ZIP_REDUCE_SEQ: Rule = Rule::function(
    "flatten_zip_reduce_seq",
    "A fold from the left of zips in zips is a fold of one zip.",
    "z: e, f: (e, ((a, b), (c, d))) -> e, ws: [a; n], xs: [b; n], ys: [c; n], zs: [d; n]",
    "reduceSeq(z, f, zip(zip(ws, xs), zip(ys, zs)))",
    "reduceSeq(z, \\acc q -> f(acc, ((q.0, q.1), (q.2, q.3))), zip(ws, xs, ys, zs))",
    |site| flattened(site, &Prim::Reduce(FoldKind::Seq)),
);

/// The pattern over the flat zip. Its last argument is the array, the last parameter of its
/// function the element.
fn flattened(site: &Site, expected: &Prim) -> Result<Expr, Refusal> {
    let call = site.expr.as_call().filter(|call| plain(&call.prim) == *expected);
    let Some(Call { prim, sizes, functions, args }) = call else {
        return Err(form(name_of_prim(expected), site.expr));
    };
    let ([lambda], Some((zipped, before))) = (functions.as_slice(), args.split_last()) else {
        return Err(Refusal::Other("expected a function and an array".to_string()));
    };
    let Some((element, others)) = lambda.params.split_last() else {
        return Err(Refusal::Other("expected a function of the element".to_string()));
    };
    let mut arrays = Vec::new();
    leaves(zipped, &mut arrays);
    let outer = zipped.as_call().map_or(0, |call| call.args.len());
    if !is_zip(zipped) || arrays.len() == outer {
        return Err(Refusal::Other("there is no `zip` in a `zip`".to_string()));
    }
    let flat = site.cx.call(Prim::Zip, vec![], vec![], arrays)?;
    let given = flat.ty().as_array().map_or(Type::I32, |(element, _)| element.clone());
    let q = site.cx.fresh(element.name(), given);
    let value = nested(site, zipped, &q, &mut 0)?;
    let kept = others.iter().map(|p| site.cx.var(p)).chain([value]);
    let body = inline::apply(site.cx, lambda, &kept.collect::<Vec<Expr>>())?;
    let params = others.iter().cloned().chain([q]).collect::<Vec<Param>>();
    let function = Lambda { size: None, params, body };
    let args = before.iter().cloned().chain([flat]).collect();
    Ok(site.cx.call(prim.clone(), sizes.clone(), vec![function], args)?)
}

/// A loop that is written out is a loop.
fn plain(prim: &Prim) -> Prim {
    match prim {
        Prim::Map(MapKind::SeqUnroll) => Prim::Map(MapKind::Seq),
        Prim::Reduce(FoldKind::SeqUnroll) => Prim::Reduce(FoldKind::Seq),
        other => other.clone(),
    }
}

fn is_zip(expr: &Expr) -> bool {
    expr.as_call().is_some_and(|call| matches!(call.prim, Prim::Zip))
}

/// The arrays that are zipped, from left to right.
fn leaves(expr: &Expr, found: &mut Vec<Expr>) {
    match expr.as_call() {
        Some(call) if matches!(call.prim, Prim::Zip) => {
            call.args.iter().for_each(|a| leaves(a, found));
        }
        _ => found.push(expr.clone()),
    }
}

/// The element of the nested zip, from the components of the flat one.
fn nested(site: &Site, expr: &Expr, flat: &Param, next: &mut u32) -> Result<Expr, TypeError> {
    match expr.as_call() {
        Some(call) if matches!(call.prim, Prim::Zip) => {
            let parts = call.args.iter().map(|a| nested(site, a, flat, next));
            let parts = parts.collect::<Result<_, _>>()?;
            site.cx.call(Prim::Tuple, vec![], vec![], parts)
        }
        _ => {
            let field = Prim::Field(*next);
            *next += 1;
            site.cx.call(field, vec![], vec![], vec![site.cx.var(flat)])
        }
    }
}
