//! The one table of patterns: what each is called, what it takes, its type and its meaning.
//!
//! The parser resolves names with it, the printer finds names in it, and the language reference is
//! printed from it.

use crate::{Boundary, FoldKind, MapKind, Math, Permutation, Prim, Space};

/// One argument position of a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slot {
    Size,
    /// A function of so many parameters.
    Function(usize),
    Value,
    Permutation,
    Boundary,
    /// The dimension of a parallel map, from 0 on.
    Dimension,
    /// Any number of values, at least two.
    Values,
    /// The values that the function argument takes: as many as that function has parameters.
    FunctionArguments,
}

/// What a name stands for once its non-value arguments are known.
#[derive(Clone, Debug)]
pub enum Make {
    Prim(Prim),
    Dimension(fn(u8) -> Prim),
    Permutation(fn(Permutation) -> Prim),
    Boundary(fn(Boundary) -> Prim),
    /// `reorder_stride(s, xs)` is `gather(stride(s), xs)`.
    ReorderStride,
}

pub struct Pattern {
    pub name: &'static str,
    pub slots: &'static [Slot],
    pub make: Make,
    pub scheme: &'static str,
    pub meaning: &'static str,
}

const fn entry(
    name: &'static str,
    slots: &'static [Slot],
    make: Make,
    scheme: &'static str,
    meaning: &'static str,
) -> Pattern {
    Pattern { name, slots, make, scheme, meaning }
}

const fn math(
    function: Math,
    slots: &'static [Slot],
    scheme: &'static str,
    meaning: &'static str,
) -> Pattern {
    entry(function.name(), slots, P(Prim::Math(function)), scheme, meaning)
}

use Make::Prim as P;
use Slot::{Function, FunctionArguments, Size, Value, Values};

const MAP: &[Slot] = &[Function(1), Value];
const MAP_DIM: &[Slot] = &[Slot::Dimension, Function(1), Value];
const FOLD: &[Slot] = &[Value, Function(2), Value];
const FOLD_BY_INDEX: &[Slot] = &[Size, Value, Function(2), Value, Value];
const MAP_TYPE: &str = "(T -> U), [T; n] -> [U; n]";
const SEQ_FOLD_TYPE: &str = "U, (U, T -> U), [T; n] -> U";
const UNARY: &[Slot] = &[Value];
const BINARY: &[Slot] = &[Value, Value];
const TERNARY: &[Slot] = &[Value, Value, Value];
const TO: &[Slot] = &[Function(1), FunctionArguments];

/// Every pattern and built-in function of the language, high level first.
pub static PATTERNS: &[Pattern] = &[
    entry("map", MAP, P(Prim::Map(MapKind::Map)), MAP_TYPE, "f of every element"),
    entry(
        "reduce",
        FOLD,
        P(Prim::Reduce(FoldKind::Any)),
        "T, (T, T -> T), [T; n] -> T",
        "the fold with f, associative and commutative, whose identity is z",
    ),
    entry(
        "scan",
        FOLD,
        P(Prim::Scan(FoldKind::Any)),
        "T, (T, T -> T), [T; n] -> [T; n]",
        "the folds of all prefixes with an associative f",
    ),
    entry(
        "zip",
        &[Values],
        P(Prim::Zip),
        "[T; n], [U; n], … -> [(T, U, …); n]",
        "element by element",
    ),
    entry("unzip", UNARY, P(Prim::Unzip), "[(T, U, …); n] -> ([T; n], [U; n], …)", "undoes zip"),
    entry(
        "split",
        &[Size, Value],
        P(Prim::Split),
        "m, [T; n] -> [[T; m]; n / m] where n % m == 0",
        "chunks of m",
    ),
    entry("join", UNARY, P(Prim::Join), "[[T; m]; n] -> [T; n * m]", "the rows end to end"),
    entry(
        "transpose",
        UNARY,
        P(Prim::Transpose),
        "[[T; m]; n] -> [[T; n]; m]",
        "rows become columns",
    ),
    entry(
        "gather",
        &[Slot::Permutation, Value],
        Make::Permutation(Prim::Gather),
        "p, [T; n] -> [T; n]",
        "y[i] = x[p(i)]",
    ),
    entry(
        "scatter",
        &[Slot::Permutation, Value],
        Make::Permutation(Prim::Scatter),
        "p, [T; n] -> [T; n]",
        "y[p(i)] = x[i]",
    ),
    entry(
        "reorder_stride",
        &[Size, Value],
        Make::ReorderStride,
        "s, [T; n] -> [T; n] where n % s == 0",
        "gather(stride(s), xs)",
    ),
    entry(
        "slide",
        &[Size, Size, Value],
        P(Prim::Slide),
        "w, s, [T; n] -> [[T; w]; (n - w + s) / s] where w <= n, (n - w) % s == 0",
        "windows of w, s apart",
    ),
    entry(
        "pad",
        &[Size, Size, Slot::Boundary, Value],
        Make::Boundary(Prim::Pad),
        "l, r, b, [T; n] -> [T; l + n + r]",
        "l and r more elements, read where b says",
    ),
    entry(
        "pad_value",
        &[Size, Size, Value, Value],
        P(Prim::PadValue),
        "l, r, T, [T; n] -> [T; l + n + r]",
        "l and r more elements, all the given value",
    ),
    entry("take", &[Size, Value], P(Prim::Take), "m, [T; n] -> [T; m] where m <= n", "the first m"),
    entry(
        "drop",
        &[Size, Value],
        P(Prim::Drop),
        "m, [T; n] -> [T; n - m] where m <= n",
        "all but the first m",
    ),
    entry(
        "concat",
        BINARY,
        P(Prim::Concat),
        "[T; n], [T; m] -> [T; n + m]",
        "one behind the other",
    ),
    entry("head", UNARY, P(Prim::Head), "[T; n] -> T", "the first element"),
    entry(
        "generate",
        &[Size, Function(1)],
        P(Prim::Generate),
        "n, (i32 -> T) -> [T; n]",
        "f of every index",
    ),
    entry("repeat", &[Size, Value], P(Prim::Repeat), "n, T -> [T; n]", "the same value n times"),
    entry("at", BINARY, P(Prim::At), "i, [T; n] -> T", "the element at index i"),
    entry(
        "iterate",
        &[Size, Function(1), Value],
        P(Prim::Iterate),
        "k, ([T; n] -> [T; n']), [T; n] -> [T; n'']",
        "k applications of f; also to a state of any type that f keeps",
    ),
    entry(
        "iterate_index",
        &[Size, Function(2), Value],
        P(Prim::IterateIndex),
        "k, (i32, T -> T), T -> T",
        "k applications of f, which is given their number, from 0",
    ),
    entry(
        "iterate_until",
        &[Size, Function(1), Function(1), Value],
        P(Prim::IterateUntil),
        "k, (T -> bool), (T -> T), T -> (T, i32)",
        "f applied until p holds, at most k times; the last state, and how often",
    ),
    entry("id", UNARY, P(Prim::Id), "T -> T", "a copy"),
    entry(
        "update",
        TERNARY,
        P(Prim::Update),
        "[T; k], [i32; n], [T; n] -> [T; k]",
        "each element at its index, outside: nowhere; indices differ, and no element is made from one that is replaced",
    ),
    entry(
        "as_vector",
        &[Size, Value],
        P(Prim::AsVector),
        "m, [S; n] -> [Sxm; n / m] where n % m == 0",
        "m scalars become a vector",
    ),
    entry("as_scalar", UNARY, P(Prim::AsScalar), "[Sxm; n] -> [S; n * m]", "undoes as_vector"),
    entry(
        "vectorize",
        &[Size, Function(1), FunctionArguments],
        P(Prim::Vectorize),
        "m, (S, … -> R), Sxm, … -> Rxm",
        "f on every lane",
    ),
    entry(
        "partial_reduce",
        &[Size, Value, Function(2), Value],
        P(Prim::PartialReduce),
        "m, T, (T, T -> T), [T; n] -> [T; m] where n % m == 0",
        "element i folded into result i % m",
    ),
    entry(
        "reduce_by_index",
        FOLD_BY_INDEX,
        P(Prim::ReduceByIndex(FoldKind::Any)),
        "k, T, (T, T -> T), [i32; n], [T; n] -> [T; k]",
        "result j: the fold, as by reduce, of the elements whose index is j; others count nowhere",
    ),
    entry(
        "mapGlb",
        MAP_DIM,
        Make::Dimension(|d| Prim::Map(MapKind::Glb(d))),
        MAP_TYPE,
        "over global work-items",
    ),
    entry(
        "mapWrg",
        MAP_DIM,
        Make::Dimension(|d| Prim::Map(MapKind::Wrg(d))),
        MAP_TYPE,
        "over work-groups",
    ),
    entry(
        "mapLcl",
        MAP_DIM,
        Make::Dimension(|d| Prim::Map(MapKind::Lcl(d))),
        MAP_TYPE,
        "over the work-items of a group",
    ),
    entry(
        "mapWarp",
        MAP_DIM,
        Make::Dimension(|d| Prim::Map(MapKind::Warp(d))),
        MAP_TYPE,
        "over the warps of a group",
    ),
    entry(
        "mapLane",
        MAP_DIM,
        Make::Dimension(|d| Prim::Map(MapKind::Lane(d))),
        MAP_TYPE,
        "over the lanes of a warp",
    ),
    entry("mapSeq", MAP, P(Prim::Map(MapKind::Seq)), MAP_TYPE, "one after the other"),
    entry(
        "mapSeqUnroll",
        MAP,
        P(Prim::Map(MapKind::SeqUnroll)),
        MAP_TYPE,
        "one after the other, written out",
    ),
    entry(
        "reduceSeq",
        FOLD,
        P(Prim::Reduce(FoldKind::Seq)),
        SEQ_FOLD_TYPE,
        "the fold from the left",
    ),
    entry(
        "reduceSeqUnroll",
        FOLD,
        P(Prim::Reduce(FoldKind::SeqUnroll)),
        SEQ_FOLD_TYPE,
        "the fold from the left, written out",
    ),
    entry(
        "scanSeq",
        FOLD,
        P(Prim::Scan(FoldKind::Seq)),
        "U, (U, T -> U), [T; n] -> [U; n]",
        "the folds of all prefixes, from the left",
    ),
    entry(
        "reduceByIndexSeq",
        FOLD_BY_INDEX,
        P(Prim::ReduceByIndex(FoldKind::Seq)),
        "k, U, (U, T -> U), [i32; n], [T; n] -> [U; k]",
        "result j: the fold, from the left, of the elements whose index is j",
    ),
    entry(
        "reduceByIndexGlb",
        FOLD_BY_INDEX,
        P(Prim::ReduceByIndex(FoldKind::Glb)),
        "k, U, (U, T -> U), [i32; n], [T; n] -> [U; k]",
        "the same over global work-items, in any order; f is `+`, `min`, `max`, `&`, `|` or `^` of the state and a value",
    ),
    entry(
        "mapSeqSlide",
        &[Size, Size, Function(1), Value],
        P(Prim::MapSeqSlide),
        "w, s, ([T; w] -> U), [T; n] -> [U; (n - w + s) / s]",
        "map(f, slide(w, s, xs)), the window kept in registers",
    ),
    entry(
        "toGlobal",
        TO,
        P(Prim::To(Space::Global)),
        "(T, … -> U), T, … -> U",
        "f, its result in global memory",
    ),
    entry(
        "toLocal",
        TO,
        P(Prim::To(Space::Local)),
        "(T, … -> U), T, … -> U",
        "f, its result in local memory",
    ),
    entry(
        "toPrivate",
        TO,
        P(Prim::To(Space::Private)),
        "(T, … -> U), T, … -> U",
        "f, its result in private memory",
    ),
    math(Math::Abs, UNARY, "S -> S", "the absolute value"),
    math(Math::Sign, UNARY, "S -> S", "-1, 0 or 1; of a zero that zero"),
    math(Math::Min, BINARY, "S, S -> S", "the smaller; nan if one is"),
    math(Math::Max, BINARY, "S, S -> S", "the larger; nan if one is"),
    math(Math::Clamp, TERNARY, "S, S, S -> S", "min(max(x, lo), hi)"),
    math(Math::Floor, UNARY, "F -> F", "the next integer below"),
    math(Math::Ceil, UNARY, "F -> F", "the next integer above"),
    math(Math::Round, UNARY, "F -> F", "the nearest integer, half to even"),
    math(Math::Trunc, UNARY, "F -> F", "the next integer towards zero"),
    math(Math::Copysign, BINARY, "F, F -> F", "x with the sign of y"),
    math(Math::Sqrt, UNARY, "F -> F", "the square root"),
    math(Math::Rsqrt, UNARY, "F -> F", "one over the square root"),
    math(Math::Cbrt, UNARY, "F -> F", "the cube root"),
    math(Math::Hypot, BINARY, "F, F -> F", "sqrt(x * x + y * y)"),
    math(Math::Exp, UNARY, "F -> F", "e to the power"),
    math(Math::Exp2, UNARY, "F -> F", "2 to the power"),
    math(Math::Expm1, UNARY, "F -> F", "exp(x) - 1"),
    math(Math::Log, UNARY, "F -> F", "the natural logarithm"),
    math(Math::Log2, UNARY, "F -> F", "the logarithm to base 2"),
    math(Math::Log10, UNARY, "F -> F", "the logarithm to base 10"),
    math(Math::Log1p, UNARY, "F -> F", "log(1 + x)"),
    math(Math::Sin, UNARY, "F -> F", "the sine"),
    math(Math::Cos, UNARY, "F -> F", "the cosine"),
    math(Math::Tan, UNARY, "F -> F", "the tangent"),
    math(Math::Asin, UNARY, "F -> F", "the inverse of the sine"),
    math(Math::Acos, UNARY, "F -> F", "the inverse of the cosine"),
    math(Math::Atan, UNARY, "F -> F", "the inverse of the tangent"),
    math(Math::Atan2, BINARY, "F, F -> F", "the angle of the point (x, y), given y and x"),
    math(Math::Sinh, UNARY, "F -> F", "the hyperbolic sine"),
    math(Math::Cosh, UNARY, "F -> F", "the hyperbolic cosine"),
    math(Math::Tanh, UNARY, "F -> F", "the hyperbolic tangent"),
    math(Math::Asinh, UNARY, "F -> F", "the inverse of sinh"),
    math(Math::Acosh, UNARY, "F -> F", "the inverse of cosh"),
    math(Math::Atanh, UNARY, "F -> F", "the inverse of tanh"),
    math(Math::Erf, UNARY, "F -> F", "the error function"),
    math(Math::Erfc, UNARY, "F -> F", "1 - erf(x)"),
    math(Math::Pow, BINARY, "F, F -> F", "x to the power y"),
    math(Math::Fma, TERNARY, "F, F, F -> F", "a * b + c, rounded once"),
    math(Math::IsNan, UNARY, "F -> bool", "whether it is nan"),
    math(Math::IsInf, UNARY, "F -> bool", "whether it is inf or -inf"),
    math(Math::Popcount, UNARY, "I -> I", "how many bits are 1"),
    math(Math::Clz, UNARY, "I -> I", "the zeros above the highest 1"),
    math(Math::Ctz, UNARY, "I -> I", "the zeros below the lowest 1"),
    math(Math::ToBits, UNARY, "f32 -> u32", "the bits of a float, as an unsigned integer"),
    math(Math::FromBits, UNARY, "u32 -> f32", "the float of such bits"),
    math(Math::Select, TERNARY, "bool, S, S -> S", "a where c holds, else b"),
    math(Math::Dot, BINARY, "Sxm, Sxm -> S", "the sum of the products of the lanes"),
];

/// The pattern of a name.
pub fn pattern(name: &str) -> Option<&'static Pattern> {
    PATTERNS.iter().find(|p| p.name == name)
}

/// The name a pattern is written with; `None` for what has its own syntax.
pub fn name_of(prim: &Prim) -> Option<&'static str> {
    PATTERNS.iter().find(|p| p.makes(prim)).map(|p| p.name)
}

impl Pattern {
    /// The name is called with this in mind when `prim` is printed.
    fn makes(&self, prim: &Prim) -> bool {
        match (&self.make, prim) {
            (Make::Prim(own), _) => own == prim,
            (Make::Dimension(make), Prim::Map(kind)) => {
                kind.dimension().is_some_and(|d| make(d) == *prim)
            }
            (Make::Permutation(make), Prim::Gather(p) | Prim::Scatter(p)) => {
                make(p.clone()) == *prim
            }
            (Make::Boundary(make), Prim::Pad(b)) => make(b.clone()) == *prim,
            (Make::Dimension(_) | Make::Permutation(_) | Make::Boundary(_), _) => false,
            (Make::ReorderStride, _) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found_again() {
        for p in PATTERNS {
            assert_eq!(PATTERNS.iter().filter(|q| q.name == p.name).count(), 1, "{}", p.name);
            if let Make::Prim(prim) = &p.make {
                assert_eq!(name_of(prim), Some(p.name));
            }
        }
        assert_eq!(name_of(&Prim::Map(MapKind::Lcl(2))), Some("mapLcl"));
        assert_eq!(name_of(&Prim::Gather(Permutation::Reverse)), Some("gather"));
        assert_eq!(name_of(&Prim::Tuple), None);
    }
}
