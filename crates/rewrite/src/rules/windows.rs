//! Windows: moved, and made in tiles.

use crate::rule::Rule;
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "windows",
    about: "Windows move past maps and transpositions, and are made tile by tile.",
    rules: &[
        &SLIDE_MAP,
        &MAP_SLIDE,
        &TRANSPOSE_MAP_SLIDE,
        &MAP_TRANSPOSE_SLIDE,
        &MAP_SLIDE_COLUMNS,
        &SLIDE_COLUMNS,
        &SLIDE_TILING,
        &SLIDE_TILING_PADDED,
        &SLIDE_TILING_2D,
        &SLIDE_TILING_2D_PADDED,
        &SLIDE_TILING_3D,
    ],
};

static SLIDE_MAP: Rule = Rule::law(
    "slide_map",
    "Windows of a mapped array are mapped windows; elements in several windows are computed for each.",
    "f: a -> b, xs: [a; n]",
    "slide(w, s, map(f, xs))",
    "map(map(f), slide(w, s, xs))",
)
.needs("w <= n, (n - w) % s == 0");

static MAP_SLIDE: Rule = Rule::law(
    "map_slide",
    "Mapped windows are windows of the mapped array; each element is computed once.",
    "f: a -> b, xs: [a; n]",
    "map(map(f), slide(w, s, xs))",
    "slide(w, s, map(f, xs))",
)
.needs("w <= n, (n - w) % s == 0");

static TRANSPOSE_MAP_SLIDE: Rule = Rule::law(
    "transpose_map_slide",
    "Windows of every row, transposed, are windows of the transposition, each transposed.",
    "xss: [[a; k]; n]",
    "transpose(map(slide(w, s), xss))",
    "map(transpose, slide(w, s, transpose(xss)))",
)
.needs("w <= k, (k - w) % s == 0");

static MAP_TRANSPOSE_SLIDE: Rule = Rule::law(
    "map_transpose_slide",
    "Windows of rows, each transposed, are windows of every column.",
    "xss: [[a; k]; n]",
    "map(transpose, slide(w, s, xss))",
    "transpose(map(slide(w, s), transpose(xss)))",
)
.needs("w <= n, (n - w) % s == 0");

static SLIDE_TILING: Rule = Rule::law(
    "slide_tiling",
    "Windows are made tile by tile; neighbouring tiles overlap.",
    "xs: [a; n]",
    "slide(w, s, xs)",
    "join(map(slide(w, s), slide(v + w - s, v, xs)))",
)
.needs("w <= n, (n - w) % s == 0, v % s == 0, v + w - s <= n, (n - v - w + s) % v == 0");

static SLIDE_TILING_PADDED: Rule = Rule::law(
    "slide_tiling_padded",
    "Windows are made tile by tile, for any length: the array is padded to whole tiles and the surplus windows are dropped.",
    "xs: [a; n]",
    "slide(w, s, xs)",
    "take((n - w + s) / s, join(map(slide(w, s), slide(v + w - s, v, \
     pad(0, ceil_div(n - w + s, v) * v + w - s - n, clamp, xs)))))",
)
.needs("w <= n, (n - w) % s == 0, v % s == 0, v > 0");

static SLIDE_TILING_2D: Rule = Rule::law(
    "slide_tiling_2d",
    "Windows of a matrix are made tile by tile; neighbouring tiles overlap.",
    "xss: [[a; k]; n]",
    "map(transpose, slide(w0, s0, map(slide(w1, s1), xss)))",
    "map(join, join(map(transpose, map(map(\\t -> \
     map(transpose, slide(w0, s0, map(slide(w1, s1), t)))), \
     map(transpose, slide(v0 + w0 - s0, v0, map(slide(v1 + w1 - s1, v1), xss)))))))",
)
.needs(
    "w0 <= n, (n - w0) % s0 == 0, v0 % s0 == 0, \
     v0 + w0 - s0 <= n, (n - v0 - w0 + s0) % v0 == 0, \
     w1 <= k, (k - w1) % s1 == 0, v1 % s1 == 0, \
     v1 + w1 - s1 <= k, (k - v1 - w1 + s1) % v1 == 0",
);

static SLIDE_TILING_2D_PADDED: Rule = Rule::law(
    "slide_tiling_2d_padded",
    "Windows of a matrix are made tile by tile, for any size: rows and columns are padded to whole tiles.",
    "xss: [[a; k]; n]",
    "map(transpose, slide(w0, s0, map(slide(w1, s1), xss)))",
    "map(take((k - w1 + s1) / s1), take((n - w0 + s0) / s0, \
     map(join, join(map(transpose, map(map(\\t -> \
     map(transpose, slide(w0, s0, map(slide(w1, s1), t)))), \
     map(transpose, slide(v0 + w0 - s0, v0, map(slide(v1 + w1 - s1, v1), \
     pad(0, ceil_div(n - w0 + s0, v0) * v0 + w0 - s0 - n, clamp, \
     map(pad(0, ceil_div(k - w1 + s1, v1) * v1 + w1 - s1 - k, clamp), xss)))))))))))",
)
.needs(
    "w0 <= n, (n - w0) % s0 == 0, v0 % s0 == 0, v0 > 0, \
     w1 <= k, (k - w1) % s1 == 0, v1 % s1 == 0, v1 > 0",
);

static SLIDE_TILING_3D: Rule = Rule::law(
    "slide_tiling_3d",
    "Windows of a volume are made tile by tile; neighbouring tiles overlap.",
    "x: [[[a; l]; k]; n]",
    "map(map(transpose), map(transpose, slide(w0, s0, map(\\p -> \
     map(transpose, slide(w1, s1, map(slide(w2, s2), p))), x))))",
    "map(\\y -> map(join, join(map(transpose, y))), \
     join(map(\\y -> transpose(map(transpose, y)), map(map(map(\\t -> \
     map(map(transpose), map(transpose, slide(w0, s0, map(\\p -> \
     map(transpose, slide(w1, s1, map(slide(w2, s2), p))), t)))))), \
     map(map(transpose), map(transpose, slide(v0 + w0 - s0, v0, map(\\p -> \
     map(transpose, slide(v1 + w1 - s1, v1, map(slide(v2 + w2 - s2, v2), p))), x))))))))",
)
.needs(
    "w0 <= n, (n - w0) % s0 == 0, v0 % s0 == 0, \
     v0 + w0 - s0 <= n, (n - v0 - w0 + s0) % v0 == 0, \
     w1 <= k, (k - w1) % s1 == 0, v1 % s1 == 0, \
     v1 + w1 - s1 <= k, (k - v1 - w1 + s1) % v1 == 0, \
     w2 <= l, (l - w2) % s2 == 0, v2 % s2 == 0, \
     v2 + w2 - s2 <= l, (l - v2 - w2 + s2) % v2 == 0",
);

static MAP_SLIDE_COLUMNS: Rule = Rule::law(
    "map_slide_columns",
    "Windows of every row are windows of the columns.",
    "xss: [[a; k]; n]",
    "map(slide(w, s), xss)",
    "transpose(map(transpose, slide(w, s, transpose(xss))))",
)
.needs("w <= k, (k - w) % s == 0");

static SLIDE_COLUMNS: Rule = Rule::law(
    "slide_columns",
    "Windows of rows are windows of every column.",
    "xss: [[a; k]; n]",
    "slide(w, s, xss)",
    "map(transpose, transpose(map(slide(w, s), transpose(xss))))",
)
.needs("w <= n, (n - w) % s == 0");
