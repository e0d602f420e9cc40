//! The patterns and scalar operations that expressions are made of.
//!
//! What a pattern is called, takes and means stands once, in [`crate::table`].

use std::sync::Arc;

use lift_domain::Domain;
use lift_nat::{Nat, Var};

use crate::{BinaryOp, Math, Scalar, Space, Type, UnaryOp};

/// What a [`crate::Call`] applies: always to all of its sizes, functions and arguments.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Prim {
    Map(MapKind),
    Reduce(FoldKind),
    Scan(FoldKind),
    /// Sizes: window, step.
    MapSeqSlide,
    /// Sizes: the number of results.
    PartialReduce,
    /// Sizes: the number of results. Arguments: the start, the index of each element, the elements.
    ReduceByIndex(FoldKind),
    /// Arguments: the start, the first number, the one behind the last. Functions: the fold's, of the state and an element, and
    /// what makes an element of a number. That numbers decrease is an error.
    ReduceRange(FoldKind),
    Zip,
    Unzip,
    /// Sizes: the chunk.
    Split,
    Join,
    Transpose,
    Gather(Permutation),
    Scatter(Permutation),
    /// Sizes: window, step.
    Slide,
    /// Sizes: left, right.
    Pad(Boundary),
    /// Sizes: left, right. Arguments: the value, the array.
    PadValue,
    /// Sizes: how many.
    Take,
    /// Sizes: how many.
    Drop,
    Concat,
    Head,
    /// Sizes: the length. The function is of the index, an `i32`.
    Generate,
    /// Sizes: the length.
    Repeat,
    /// Arguments: the index, the array.
    At,
    /// Arguments: the indices of a point. The number of the point in the order of the domain, an `i32`; a point outside
    /// is an error.
    Rank(Arc<Domain>),
    /// Arguments: a number. The point of that number: an `i32`, or a tuple of them.
    Point(Arc<Domain>),
    /// Sizes: how often. Where the function changes the length it binds a size variable, the
    /// length at the current application; see [`crate::Lambda::size`].
    Iterate,
    /// Sizes: how often. The function is of the number of the application, an `i32`, and of the state.
    IterateIndex,
    /// Sizes: how often at most. Functions: whether a state is the last, and the step.
    IterateUntil,
    Id,
    /// Arguments: an array, indices, and as many elements. The array with each element at its index; one outside goes nowhere. No
    /// two indices are the same, and the elements are not made from those that they replace, so that they can be put there in any
    /// order.
    Update,
    /// Sizes: the width.
    AsVector,
    AsScalar,
    /// Sizes: the width. The function is on scalars, the arguments are vectors.
    Vectorize,
    /// The function's result is stored in this memory.
    To(Space),
    Tuple,
    Field(u32),
    /// An array of its arguments.
    Array,
    /// A vector of its arguments.
    Vector,
    /// Sizes: the width.
    Splat,
    /// Sizes: the index.
    Lane,
    If,
    /// Elementwise on vectors.
    Cast(Scalar),
    Unary(UnaryOp),
    Binary(BinaryOp),
    Math(Math),
    Extern(Arc<Extern>),
}

/// How a map runs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MapKind {
    /// Not decided yet.
    Map,
    Glb(u8),
    Wrg(u8),
    Lcl(u8),
    Warp(u8),
    Lane(u8),
    Seq,
    SeqUnroll,
}

/// How a fold runs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FoldKind {
    /// Not decided yet: the operator is associative, and for `reduce` commutative.
    Any,
    Seq,
    SeqUnroll,
    /// By all work-items of the device: each state is changed as one step. Only `reduce_by_index` has it.
    Glb,
}

/// A reordering of the indices `0 .. n`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Permutation {
    /// `i ↦ n - 1 - i`
    Reverse,
    /// `i ↦ i / (n/s) + s * (i % (n/s))`
    Stride(Nat),
    /// `i ↦ (i + k) % n`
    Shift(Nat),
    /// An index function given as a size expression of the bound variable.
    Index(Var, Nat),
}

impl Permutation {
    /// Where index `i` of `n` goes.
    pub fn apply(&self, i: &Nat, n: &Nat) -> Nat {
        match self {
            Permutation::Reverse => n - &Nat::int(1) - i,
            Permutation::Stride(s) => {
                let rows = n.exact_div(s);
                i.div(&rows) + s * i.rem(&rows)
            }
            Permutation::Shift(k) => (i + k).rem(n),
            Permutation::Index(var, body) => body.substitute(&|v| (v == var).then(|| i.clone())),
        }
    }
}

/// Where a read outside an array goes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Boundary {
    Clamp,
    Mirror,
    Wrap,
    /// An index function given as a size expression of the bound variable, which may be negative.
    Index(Var, Nat),
}

/// A function whose body is target code; it has no meaning to the interpreter.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Extern {
    pub name: String,
    pub targets: Vec<String>,
    pub params: Vec<(String, Type)>,
    pub ret: Type,
    pub code: String,
}

/// What patterns do with their arguments, for those who treat all of a family alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// A function of every element or window.
    Map,
    /// An operator between elements.
    Fold(FoldKind),
    /// A function again and again.
    Iteration,
    /// Another way to look at what is there: no element is computed.
    Layout,
    /// The same in another memory, or with some elements changed.
    Storage,
    /// Arithmetic and choices, of scalars and vectors.
    Scalar,
}

impl Prim {
    pub fn family(&self) -> Family {
        match self {
            Prim::Map(_) | Prim::MapSeqSlide => Family::Map,
            Prim::Reduce(kind)
            | Prim::Scan(kind)
            | Prim::ReduceByIndex(kind)
            | Prim::ReduceRange(kind) => Family::Fold(*kind),
            Prim::PartialReduce => Family::Fold(FoldKind::Any),
            Prim::Iterate | Prim::IterateIndex | Prim::IterateUntil => Family::Iteration,
            Prim::Zip
            | Prim::Unzip
            | Prim::Split
            | Prim::Join
            | Prim::Transpose
            | Prim::Gather(_)
            | Prim::Scatter(_)
            | Prim::Slide
            | Prim::Pad(_)
            | Prim::PadValue
            | Prim::Take
            | Prim::Drop
            | Prim::Concat
            | Prim::Head
            | Prim::Generate
            | Prim::Repeat
            | Prim::At
            | Prim::AsVector
            | Prim::AsScalar
            | Prim::Tuple
            | Prim::Field(_)
            | Prim::Array => Family::Layout,
            Prim::Id | Prim::Update | Prim::To(_) => Family::Storage,
            Prim::Vectorize
            | Prim::Vector
            | Prim::Splat
            | Prim::Lane
            | Prim::If
            | Prim::Cast(_)
            | Prim::Unary(_)
            | Prim::Binary(_)
            | Prim::Math(_)
            | Prim::Rank(_)
            | Prim::Point(_)
            | Prim::Extern(_) => Family::Scalar,
        }
    }

    pub fn is_layout(&self) -> bool {
        self.family() == Family::Layout
    }

    pub fn is_iteration(&self) -> bool {
        self.family() == Family::Iteration
    }
}

impl MapKind {
    /// The dimension of a parallel map.
    pub fn dimension(self) -> Option<u8> {
        match self {
            MapKind::Glb(d) | MapKind::Wrg(d) | MapKind::Lcl(d) => Some(d),
            MapKind::Warp(d) | MapKind::Lane(d) => Some(d),
            MapKind::Map | MapKind::Seq | MapKind::SeqUnroll => None,
        }
    }
}

/// `reverse`, `stride(8)`, `\i -> i`
impl std::fmt::Display for Permutation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Permutation::Reverse => f.write_str("reverse"),
            Permutation::Stride(step) => write!(f, "stride({step})"),
            Permutation::Shift(by) => write!(f, "shift({by})"),
            Permutation::Index(var, body) => write!(f, "\\{} -> {body}", var.name()),
        }
    }
}
