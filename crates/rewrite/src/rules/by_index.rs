//! Folds whose results are chosen by data: fused with what feeds them, cut into chunks.

use lift_ir::{AtomicFold, Expr, FoldKind, Prim};

use crate::matching::{form, name_of_prim};
use crate::refusal::Refusal;
use crate::rule::{Rule, Site};
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "folds_by_index",
    about: "Folds whose results are chosen by data are fused with what feeds them, or cut into chunks.",
    rules: &[
        &REDUCE_BY_INDEX_TO_SEQ,
        &REDUCE_BY_INDEX_TO_GLB,
        &REDUCE_BY_INDEX_MAP_FUSION,
        &SPLIT_REDUCE_BY_INDEX,
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
