//! What the target languages do not have in common.

use lift_ir::{AtomicOp, Literal, Math, Scalar};

use super::code::Code;
use super::text::Text;
use crate::{Access, Barrier, Expr, Loop, LoopKind, ValueType};

pub(super) trait Dialect: Sized {
    /// What stands before a helper function.
    const FUNCTION: &'static str;
    /// What stands before an array that nobody changes.
    const CONSTANT: &'static str;
    /// Signed integers wrap by themselves.
    const WRAPS: bool;
    /// What a vector is initialised with before its lanes are.
    const EMPTY: &'static str;
    /// The line before a loop whose iterations are side by side in the lanes of vectors.
    const LANES: Option<&'static str> = None;

    fn scalar(scalar: Scalar) -> &'static str;
    /// The name of a vector type, which is declared if it has to be.
    fn vector(code: &mut Code<'_, Self>, scalar: Scalar, width: u32) -> String;
    /// The type of indices, and the scalar type that is the same.
    fn index(wide: bool) -> (&'static str, Scalar);

    fn literal(code: &mut Code<'_, Self>, literal: Literal) -> Text;
    fn load(code: &mut Code<'_, Self>, access: &Access) -> Text;
    fn store(code: &mut Code<'_, Self>, access: &Access, value: &Expr) -> String;
    /// A change of an element as one step.
    fn atomic(code: &mut Code<'_, Self>, op: AtomicOp, access: &Access, value: &Expr) -> String;

    /// A function of numbers. Arguments are scalars of one type.
    fn math(code: &mut Code<'_, Self>, math: Math, scalar: Scalar, args: &[Expr]) -> Text;
    /// `a % b` of floats.
    fn remainder(code: &mut Code<'_, Self>, scalar: Scalar, a: &Expr, b: &Expr) -> Text;
    /// The function that is the scalar product of vectors of this type, if there is one.
    fn dot(ty: ValueType) -> Option<&'static str>;
    /// A conversion between different number types, or of `bool` to a number.
    fn convert(code: &mut Code<'_, Self>, from: Scalar, to: Scalar, value: &Expr) -> Text;

    /// An operation on lanes: unary, binary, mathematical or a cast, of which a vector comes.
    fn lanewise(code: &mut Code<'_, Self>, expr: &Expr) -> Text;
    fn pack(code: &mut Code<'_, Self>, scalar: Scalar, items: &[Expr]) -> Text;
    fn splat(code: &mut Code<'_, Self>, ty: ValueType, value: &Expr) -> Text;
    fn lane(vector: &Text, lane: u32) -> Text;

    /// An index whose making the target's compiler is not to look into.
    fn opaque(_: &mut Code<'_, Self>, index: Text) -> Text {
        index
    }

    /// A loop over groups or work-items.
    fn parallel(code: &mut Code<'_, Self>, l: &Loop);
    /// The number of a thread among those that share the iterations of a loop.
    fn thread_id(kind: LoopKind, wide: bool) -> String;
    /// The line before a loop to write out.
    fn unroll(extent: i128) -> Option<String>;
    fn barrier(barrier: Barrier) -> Option<&'static str>;
    /// What the work-item of a warp has whose number differs in a bit.
    fn shuffle(bit: u32, value: &Text) -> Text;
}
