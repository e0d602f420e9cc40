//! Layout patterns that move past each other and past maps.

use crate::rule::Rule;

pub(super) static RULES: &[&Rule] = &[
    &SPLIT_MAP,
    &SLIDE_MAP,
    &MAP_SLIDE,
    &TRANSPOSE_MAP,
    &TRANSPOSE_MAP_SPLIT,
    &MAP_TRANSPOSE_SPLIT,
    &JOIN_MAP_TRANSPOSE,
    &TRANSPOSE_JOIN,
    &JOIN_JOIN,
    &SLIDE_TILING,
    &MAP_SPLIT,
    &TRANSPOSE_MAP_SLIDE,
    &MAP_TRANSPOSE_SLIDE,
];

/// Chunks of a mapped array are mapped chunks.
static SPLIT_MAP: Rule = Rule::law(
    "split_map",
    "f: a -> b, xs: [a; n]",
    "split(m, map(f, xs))",
    "map(map(f), split(m, xs))",
)
.needs("n % m == 0");

/// Windows of a mapped array are mapped windows; elements in several windows are computed for each.
static SLIDE_MAP: Rule = Rule::law(
    "slide_map",
    "f: a -> b, xs: [a; n]",
    "slide(w, s, map(f, xs))",
    "map(map(f), slide(w, s, xs))",
)
.needs("w <= n, (n - w) % s == 0");

/// Mapped windows are windows of the mapped array; each element is computed once.
static MAP_SLIDE: Rule = Rule::law(
    "map_slide",
    "f: a -> b, xs: [a; n]",
    "map(map(f), slide(w, s, xs))",
    "slide(w, s, map(f, xs))",
)
.needs("w <= n, (n - w) % s == 0");

/// The transposition of a mapped matrix is the mapped transposition.
static TRANSPOSE_MAP: Rule = Rule::law(
    "transpose_map",
    "f: a -> b, xss: [[a; m]; n]",
    "transpose(map(map(f), xss))",
    "map(map(f), transpose(xss))",
);

/// Rows in chunks, transposed, are chunks of the transposition, each transposed.
static TRANSPOSE_MAP_SPLIT: Rule = Rule::law(
    "transpose_map_split",
    "xss: [[a; k]; n]",
    "transpose(map(split(m), xss))",
    "map(transpose, split(m, transpose(xss)))",
)
.needs("k % m == 0");

/// Chunks of rows, each transposed, are columns in chunks.
static MAP_TRANSPOSE_SPLIT: Rule = Rule::law(
    "map_transpose_split",
    "xss: [[a; k]; n]",
    "map(transpose, split(m, xss))",
    "transpose(map(split(m), transpose(xss)))",
)
.needs("n % m == 0");

/// Transposed matrices one below the other are one matrix, transposed.
static JOIN_MAP_TRANSPOSE: Rule = Rule::law(
    "join_map_transpose",
    "x: [[[a; p]; q]; r]",
    "join(map(transpose, x))",
    "transpose(map(join, transpose(x)))",
);

/// The transposition of joined matrices joins the rows of their transpositions.
static TRANSPOSE_JOIN: Rule = Rule::law(
    "transpose_join",
    "x: [[[a; p]; q]; r]",
    "transpose(join(x))",
    "map(join, transpose(map(transpose, x)))",
);

/// Joining the outer levels first or the inner ones is the same.
static JOIN_JOIN: Rule =
    Rule::law("join_join", "x: [[[a; p]; q]; r]", "join(join(x))", "join(map(join, x))");

/// Windows are made tile by tile; neighbouring tiles overlap.
static SLIDE_TILING: Rule = Rule::law(
    "slide_tiling",
    "xs: [a; n]",
    "slide(w, s, xs)",
    "join(map(slide(w, s), slide(v + w - s, v, xs)))",
)
.needs("w <= n, (n - w) % s == 0, v % s == 0, v + w - s <= n, (n - v - w + s) % v == 0");

/// Mapped chunks are chunks of the mapped array.
static MAP_SPLIT: Rule = Rule::law(
    "map_split",
    "f: a -> b, xs: [a; n]",
    "map(map(f), split(m, xs))",
    "split(m, map(f, xs))",
)
.needs("n % m == 0");

/// Windows of every row, transposed, are windows of the transposition, each transposed.
static TRANSPOSE_MAP_SLIDE: Rule = Rule::law(
    "transpose_map_slide",
    "xss: [[a; k]; n]",
    "transpose(map(slide(w, s), xss))",
    "map(transpose, slide(w, s, transpose(xss)))",
)
.needs("w <= k, (k - w) % s == 0");

/// Windows of rows, each transposed, are windows of every column.
static MAP_TRANSPOSE_SLIDE: Rule = Rule::law(
    "map_transpose_slide",
    "xss: [[a; k]; n]",
    "map(transpose, slide(w, s, xss))",
    "transpose(map(slide(w, s), transpose(xss)))",
)
.needs("w <= n, (n - w) % s == 0");
