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

/// Over global work-items of dimension d.
static MAP_TO_GLB: Rule =
    Rule::law("map_to_glb", "f: a -> b, xs: [a; n]", "map(f, xs)", "mapGlb(d)(f, xs)")
        .needs("d <= 2");

/// Over work-groups of dimension d.
static MAP_TO_WRG: Rule =
    Rule::law("map_to_wrg", "f: a -> b, xs: [a; n]", "map(f, xs)", "mapWrg(d)(f, xs)")
        .needs("d <= 2");

/// Over the work-items of a group, in dimension d.
static MAP_TO_LCL: Rule =
    Rule::law("map_to_lcl", "f: a -> b, xs: [a; n]", "map(f, xs)", "mapLcl(d)(f, xs)")
        .needs("d <= 2");

/// Over the warps of a group.
static MAP_TO_WARP: Rule =
    Rule::law("map_to_warp", "f: a -> b, xs: [a; n]", "map(f, xs)", "mapWarp(0)(f, xs)");

/// Over the lanes of a warp.
static MAP_TO_LANE: Rule =
    Rule::law("map_to_lane", "f: a -> b, xs: [a; n]", "map(f, xs)", "mapLane(0)(f, xs)");

/// One after the other.
static MAP_TO_SEQ: Rule =
    Rule::law("map_to_seq", "f: a -> b, xs: [a; n]", "map(f, xs)", "mapSeq(f, xs)");

/// One after the other, written out.
static MAP_TO_SEQ_UNROLL: Rule =
    Rule::law("map_to_seq_unroll", "f: a -> b, xs: [a; n]", "map(f, xs)", "mapSeqUnroll(f, xs)");

/// A fold from the left.
static REDUCE_TO_SEQ: Rule = Rule::law(
    "reduce_to_seq",
    "z: a, f: (a, a) -> a, xs: [a; n]",
    "reduce(z, f, xs)",
    "reduceSeq(z, f, xs)",
);

/// A fold from the left, written out.
static REDUCE_TO_SEQ_UNROLL: Rule = Rule::law(
    "reduce_to_seq_unroll",
    "z: a, f: (a, a) -> a, xs: [a; n]",
    "reduce(z, f, xs)",
    "reduceSeqUnroll(z, f, xs)",
);

/// Prefix folds from the left.
static SCAN_TO_SEQ: Rule = Rule::law(
    "scan_to_seq",
    "z: a, f: (a, a) -> a, xs: [a; n]",
    "scan(z, f, xs)",
    "scanSeq(z, f, xs)",
);

/// A map over windows, the window kept in registers.
static MAP_SLIDE_TO_SEQ: Rule = Rule::law(
    "map_slide_to_seq",
    "f: [a; w] -> b, xs: [a; n]",
    "map(f, slide(w, s, xs))",
    "mapSeqSlide(w, s)(f, xs)",
)
.needs("w <= n, (n - w) % s == 0");
