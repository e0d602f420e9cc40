//! Folds whose results are chosen by data: fused with what feeds them, cut into chunks.

use lift_ir::{AtomicFold, Expr, FoldKind, Prim};

use crate::matching::{form, name_of_prim};
use crate::refusal::Refusal;
use crate::rule::{Rule, Site};
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "folds_by_index",
    about: "Folds whose results are chosen by data are fused with what feeds them, cut into chunks, or done for each number of a row.",
    rules: &[
        &REDUCE_BY_INDEX_TO_SEQ,
        &REDUCE_BY_INDEX_TO_GLB,
        &REDUCE_BY_INDEX_MAP_FUSION,
        &SPLIT_REDUCE_BY_INDEX,
        &REDUCE_BY_INDEX_OF_COLUMNS,
        &REDUCE_BY_INDEX_OF_JOINED_ROWS,
        &MAP_REDUCE_BY_INDEX_JOINED,
    ],
};

static REDUCE_BY_INDEX_TO_SEQ: Rule = Rule::law(
    "reduce_by_index_to_seq",
    "A fold by index goes from the left.",
    "z: a, f: (a, a) -> a, is: [i32; n], xs: [a; n]",
    "reduce_by_index(k, z, f, is, xs)",
    "reduceByIndexSeq(k, z, f, is, xs)",
);

static REDUCE_BY_INDEX_TO_GLB: Rule = Rule::function(
    "reduce_by_index_to_glb",
    "All work-items change the results of a fold by index, where each number changes by one operation.",
    "z: a, f: (a, a) -> a, is: [i32; n], xs: [a; n]",
    "reduce_by_index(k, z, f, is, xs)",
    "reduceByIndexGlb(k, z, f, is, xs)",
    changed_together,
);

fn changed_together(site: &Site) -> Result<Expr, Refusal> {
    let any = Prim::ReduceByIndex(FoldKind::Any);
    let Some(call) = site.expr.as_call().filter(|call| call.prim == any) else {
        return Err(form(name_of_prim(&any), site.expr));
    };
    if call.functions.first().and_then(AtomicFold::of).is_none() {
        let text = "expected a function that is one operation of its state and a value";
        return Err(Refusal::Other(text.to_string()));
    }
    let (sizes, functions) = (call.sizes.clone(), call.functions.clone());
    let glb = Prim::ReduceByIndex(FoldKind::Glb);
    site.cx.call(glb, sizes, functions, call.args.clone()).map_err(Refusal::Type)
}

static REDUCE_BY_INDEX_MAP_FUSION: Rule = Rule::law(
    "reduce_by_index_map_fusion",
    "A map that feeds a fold by index becomes part of it.",
    "z: c, f: (c, b) -> c, g: a -> b, is: [i32; n], xs: [a; n]",
    "reduceByIndexSeq(k, z, f, is, map(g, xs))",
    "reduceByIndexSeq(k, z, \\acc x -> f(acc, g(x)), is, xs)",
);

static SPLIT_REDUCE_BY_INDEX: Rule = Rule::law(
    "split_reduce_by_index",
    "Chunks have results of their own, which are folded place by place.",
    "z: a, f: (a, a) -> a, is: [i32; n], xs: [a; n]",
    "reduce_by_index(k, z, f, is, xs)",
    "map(reduce(z, f), transpose(map(\\p -> reduce_by_index(k, z, f, p.0, p.1), zip(split(m, is), split(m, xs)))))",
)
.needs("n % m == 0");

static REDUCE_BY_INDEX_OF_COLUMNS: Rule = Rule::law(
    "reduce_by_index_of_columns",
    "Rows that are folded place by place, where data choose, are columns that are folded each for itself.",
    "z: a, f: (a, a) -> a, is: [i32; n], xss: [[a; d]; n]",
    "reduce_by_index(k, repeat(d, z), \\u v -> map(\\r -> f(r.0, r.1), zip(u, v)), is, xss)",
    "transpose(map(\\xs -> reduce_by_index(k, z, f, is, xs), transpose(xss)))",
);

/// An index outside stays outside: before all places of row 0, or behind those of row k - 1.
static REDUCE_BY_INDEX_OF_JOINED_ROWS: Rule = Rule::law(
    "reduce_by_index_of_joined_rows",
    "Rows that are folded place by place, where data choose, are numbers that are folded each at a place of its own.",
    "z: a, f: (a, a) -> a, is: [i32; n], xss: [[a; d]; n]",
    "reduce_by_index(k, repeat(d, z), \\u v -> map(\\r -> f(r.0, r.1), zip(u, v)), is, xss)",
    "split(d, reduce_by_index(k * d, z, f, join(map(\\i -> generate(d, \\j -> \
     clamp(i as i64, 0i64 - 1i64, k as i64) * (d as i64) + (j as i64)), is)), join(xss)))",
);

static MAP_REDUCE_BY_INDEX_JOINED: Rule = Rule::law(
    "map_reduce_by_index_joined",
    "Folds by index of several rows are one, each with results of its own.",
    "z: a, f: (a, a) -> a, iss: [[i32; n]; m], xss: [[a; n]; m]",
    "map(\\p -> reduce_by_index(k, z, f, p.0, p.1), zip(iss, xss))",
    "split(k, reduce_by_index(m * k, z, f, join(map(\\p -> map(\\i -> \
     if 0 <= i && (i as i64) < (k as i64) then (p.0 as i64) * (k as i64) + (i as i64) else 0i64 - 1i64, p.1), \
     zip(generate(m, \\r -> r), iss))), join(xss)))",
);
