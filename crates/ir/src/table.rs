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
    /// The dimension of a parallel map: 0, 1 or 2.
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

use Make::Prim as P;
use Slot::{Function, FunctionArguments, Size, Value, Values};

const MAP: &[Slot] = &[Function(1), Value];
const MAP_DIM: &[Slot] = &[Slot::Dimension, Function(1), Value];
const FOLD: &[Slot] = &[Value, Function(2), Value];
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
    entry("abs", UNARY, P(Prim::Math(Math::Abs)), "S -> S", "the absolute value"),
    entry("min", BINARY, P(Prim::Math(Math::Min)), "S, S -> S", "the smaller"),
    entry("max", BINARY, P(Prim::Math(Math::Max)), "S, S -> S", "the larger"),
    entry("clamp", TERNARY, P(Prim::Math(Math::Clamp)), "S, S, S -> S", "x kept between lo and hi"),
    entry("floor", UNARY, P(Prim::Math(Math::Floor)), "F -> F", "the next integer below"),
    entry("ceil", UNARY, P(Prim::Math(Math::Ceil)), "F -> F", "the next integer above"),
    entry(
        "round",
        UNARY,
        P(Prim::Math(Math::Round)),
        "F -> F",
        "the nearest integer, half to even",
    ),
    entry("sqrt", UNARY, P(Prim::Math(Math::Sqrt)), "F -> F", "the square root"),
    entry("rsqrt", UNARY, P(Prim::Math(Math::Rsqrt)), "F -> F", "one over the square root"),
    entry("exp", UNARY, P(Prim::Math(Math::Exp)), "F -> F", "e to the power"),
    entry("log", UNARY, P(Prim::Math(Math::Log)), "F -> F", "the natural logarithm"),
    entry("sin", UNARY, P(Prim::Math(Math::Sin)), "F -> F", "the sine"),
    entry("cos", UNARY, P(Prim::Math(Math::Cos)), "F -> F", "the cosine"),
    entry("tan", UNARY, P(Prim::Math(Math::Tan)), "F -> F", "the tangent"),
    entry("tanh", UNARY, P(Prim::Math(Math::Tanh)), "F -> F", "the hyperbolic tangent"),
    entry("pow", BINARY, P(Prim::Math(Math::Pow)), "F, F -> F", "x to the power y"),
    entry("fma", TERNARY, P(Prim::Math(Math::Fma)), "F, F, F -> F", "a * b + c, rounded once"),
    entry(
        "select",
        TERNARY,
        P(Prim::Math(Math::Select)),
        "bool, S, S -> S",
        "a where c holds, else b",
    ),
    entry(
        "dot",
        BINARY,
        P(Prim::Math(Math::Dot)),
        "Sxm, Sxm -> S",
        "the sum of the products of the lanes",
    ),
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
