//! Scalars become vectors. The width is 2, 3, 4, 8 or 16.

use crate::rule::Rule;
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "vectors",
    about: "Scalars become vectors, of width 2, 3, 4, 8 or 16.",
    rules: &[
        &VECTORIZE_MAP,
        &VECTORIZE_ZIP_MAP,
        &VECTORIZE_REDUCE,
        &VECTORIZE_PRODUCT,
        &DOT_BUILTIN,
        &DOT_BUILTIN_MAP,
    ],
};

/// A map over scalars is a map over vectors of m.
static VECTORIZE_MAP: Rule = Rule::law(
    "vectorize_map",
    "f: s -> t, xs: [s; n]",
    "map(f, xs)",
    "as_scalar(map(vectorize(m, f), as_vector(m, xs)))",
)
.needs("n % m == 0");

/// The same for a function of pairs.
static VECTORIZE_ZIP_MAP: Rule = Rule::law(
    "vectorize_zip_map",
    "f: (s, t) -> u, xs: [s; n], ys: [t; n]",
    "map(\\p -> f(p.0, p.1), zip(xs, ys))",
    "as_scalar(map(\\p -> vectorize(m, f, p.0, p.1), zip(as_vector(m, xs), as_vector(m, ys))))",
)
.needs("n % m == 0");

/// A fold of scalars folds vectors lane by lane, then the lanes.
static VECTORIZE_REDUCE: Rule = Rule::law(
    "vectorize_reduce",
    "z: s, f: (s, s) -> s, xs: [s; n]",
    "reduce(z, f, xs)",
    "reduce(z, f, as_scalar([reduce(splat(m, z), vectorize(m, f), as_vector(m, xs))]))",
)
.needs("n % m == 0");

/// The product of vectors is the product of their lanes.
static VECTORIZE_PRODUCT: Rule =
    Rule::law("vectorize_product", "x: s_m, y: s_m", "vectorize(m, \\a b -> a * b, x, y)", "x * y");

/// Products of lanes that are added up are dot products.
static DOT_BUILTIN: Rule = Rule::law(
    "dot_builtin",
    "z: s, xs: [s_m; n], ys: [s_m; n]",
    "reduceSeq(z, (+), as_scalar(mapSeq(\\(a, b) -> a * b, zip(xs, ys))))",
    "reduceSeq(z, (+), mapSeq(\\(a, b) -> dot(a, b), zip(xs, ys)))",
)
.needs("m <= 4");

/// The same for a map whose kind is not decided yet.
static DOT_BUILTIN_MAP: Rule = Rule::law(
    "dot_builtin_map",
    "z: s, xs: [s_m; n], ys: [s_m; n]",
    "reduceSeq(z, (+), as_scalar(map(\\(a, b) -> a * b, zip(xs, ys))))",
    "reduceSeq(z, (+), map(\\(a, b) -> dot(a, b), zip(xs, ys)))",
)
.needs("m <= 4");
