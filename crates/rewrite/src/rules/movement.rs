//! Layout patterns that move past each other and past maps.

use crate::rule::Rule;
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "movement",
    about: "Layout patterns move past each other and past maps.",
    rules: &[
        &SPLIT_MAP,
        &TRANSPOSE_MAP,
        &MAP_TRANSPOSE,
        &TRANSPOSE_MAP_SPLIT,
        &MAP_TRANSPOSE_SPLIT,
        &JOIN_MAP_TRANSPOSE,
        &TRANSPOSE_JOIN,
        &JOIN_JOIN,
        &MAP_SPLIT,
    ],
};

static SPLIT_MAP: Rule = Rule::law(
    "split_map",
    "Chunks of a mapped array are mapped chunks.",
    "f: a -> b, xs: [a; n]",
    "split(m, map(f, xs))",
    "map(map(f), split(m, xs))",
)
.needs("n % m == 0");

static TRANSPOSE_MAP: Rule = Rule::law(
    "transpose_map",
    "The transposition of a mapped matrix is the mapped transposition.",
    "f: a -> b, xss: [[a; m]; n]",
    "transpose(map(map(f), xss))",
    "map(map(f), transpose(xss))",
);

static MAP_TRANSPOSE: Rule = Rule::law(
    "map_transpose",
    "A mapped transposition is the transposition of the mapped matrix.",
    "f: a -> b, xss: [[a; m]; n]",
    "map(map(f), transpose(xss))",
    "transpose(map(map(f), xss))",
);

static TRANSPOSE_MAP_SPLIT: Rule = Rule::law(
    "transpose_map_split",
    "Rows in chunks, transposed, are chunks of the transposition, each transposed.",
    "xss: [[a; k]; n]",
    "transpose(map(split(m), xss))",
    "map(transpose, split(m, transpose(xss)))",
)
.needs("k % m == 0");

static MAP_TRANSPOSE_SPLIT: Rule = Rule::law(
    "map_transpose_split",
    "Chunks of rows, each transposed, are columns in chunks.",
    "xss: [[a; k]; n]",
    "map(transpose, split(m, xss))",
    "transpose(map(split(m), transpose(xss)))",
)
.needs("n % m == 0");

static JOIN_MAP_TRANSPOSE: Rule = Rule::law(
    "join_map_transpose",
    "Transposed matrices one below the other are one matrix, transposed.",
    "x: [[[a; p]; q]; r]",
    "join(map(transpose, x))",
    "transpose(map(join, transpose(x)))",
);

static TRANSPOSE_JOIN: Rule = Rule::law(
    "transpose_join",
    "The transposition of joined matrices joins the rows of their transpositions.",
    "x: [[[a; p]; q]; r]",
    "transpose(join(x))",
    "map(join, transpose(map(transpose, x)))",
);

static JOIN_JOIN: Rule = Rule::law(
    "join_join",
    "Joining the outer levels first or the inner ones is the same.",
    "x: [[[a; p]; q]; r]",
    "join(join(x))",
    "join(map(join, x))",
);

static MAP_SPLIT: Rule = Rule::law(
    "map_split",
    "Mapped chunks are chunks of the mapped array.",
    "f: a -> b, xs: [a; n]",
    "map(map(f), split(m, xs))",
    "split(m, map(f, xs))",
)
.needs("n % m == 0");
