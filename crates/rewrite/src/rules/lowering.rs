//! High-level patterns become low-level ones, which mean the same.
//!
//! Which of them may stand where is checked when the program is complete.

use crate::rule::Rule;
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "lowering",
    about: "High-level patterns become low-level ones, which mean the same.",
    rules: &[
        &MAP_TO_GLB,
        &MAP_TO_WRG,
        &MAP_TO_LCL,
        &MAP_TO_WARP,
        &MAP_TO_LANE,
        &MAP_TO_SEQ,
        &MAP_TO_SEQ_UNROLL,
        &REDUCE_TO_SEQ,
        &REDUCE_TO_SEQ_UNROLL,
        &SCAN_TO_SEQ,
        &MAP_SLIDE_TO_SEQ,
    ],
};

static MAP_TO_GLB: Rule = Rule::law(
    "map_to_glb",
    "A map runs over global work-items of dimension d.",
    "f: a -> b, xs: [a; n]",
    "map(f, xs)",
    "mapGlb(d)(f, xs)",
)
.needs("d <= 2");

static MAP_TO_WRG: Rule = Rule::law(
    "map_to_wrg",
    "A map runs over work-groups of dimension d.",
    "f: a -> b, xs: [a; n]",
    "map(f, xs)",
    "mapWrg(d)(f, xs)",
)
.needs("d <= 2");

static MAP_TO_LCL: Rule = Rule::law(
    "map_to_lcl",
    "A map runs over the work-items of a group, in dimension d.",
    "f: a -> b, xs: [a; n]",
    "map(f, xs)",
    "mapLcl(d)(f, xs)",
)
.needs("d <= 2");

static MAP_TO_WARP: Rule = Rule::law(
    "map_to_warp",
    "A map runs over the warps of a group.",
    "f: a -> b, xs: [a; n]",
    "map(f, xs)",
    "mapWarp(0)(f, xs)",
);

static MAP_TO_LANE: Rule = Rule::law(
    "map_to_lane",
    "A map runs over the lanes of a warp.",
    "f: a -> b, xs: [a; n]",
    "map(f, xs)",
    "mapLane(0)(f, xs)",
);

static MAP_TO_SEQ: Rule = Rule::law(
    "map_to_seq",
    "A map runs one element after the other.",
    "f: a -> b, xs: [a; n]",
    "map(f, xs)",
    "mapSeq(f, xs)",
);

static MAP_TO_SEQ_UNROLL: Rule = Rule::law(
    "map_to_seq_unroll",
    "A map runs one element after the other, unrolled.",
    "f: a -> b, xs: [a; n]",
    "map(f, xs)",
    "mapSeqUnroll(f, xs)",
);

static REDUCE_TO_SEQ: Rule = Rule::law(
    "reduce_to_seq",
    "A fold runs from the left.",
    "z: a, f: (a, a) -> a, xs: [a; n]",
    "reduce(z, f, xs)",
    "reduceSeq(z, f, xs)",
);

static REDUCE_TO_SEQ_UNROLL: Rule = Rule::law(
    "reduce_to_seq_unroll",
    "A fold runs from the left, unrolled.",
    "z: a, f: (a, a) -> a, xs: [a; n]",
    "reduce(z, f, xs)",
    "reduceSeqUnroll(z, f, xs)",
);

static SCAN_TO_SEQ: Rule = Rule::law(
    "scan_to_seq",
    "Prefix folds run from the left.",
    "z: a, f: (a, a) -> a, xs: [a; n]",
    "scan(z, f, xs)",
    "scanSeq(z, f, xs)",
);

static MAP_SLIDE_TO_SEQ: Rule = Rule::law(
    "map_slide_to_seq",
    "A map over windows runs one window after the other, the window kept in registers.",
    "f: [a; w] -> b, xs: [a; n]",
    "map(f, slide(w, s, xs))",
    "mapSeqSlide(w, s)(f, xs)",
)
.needs("w <= n, (n - w) % s == 0");
