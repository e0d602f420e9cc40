//! Expressions made ready to run: variables are slots, known sizes are numbers.
//!
//! Scalars have slots of their own, which hold bits: they are what inner loops read and write.

use lift_ir::{BinaryOp, Prim, Scalar, Span, Type};
use lift_nat::{Nat, Var};

use crate::value::Value;

pub(crate) struct Node {
    pub op: Op,
    pub ty: Type,
    pub span: Option<Span>,
}

pub(crate) enum Op {
    Slot(usize),
    /// A slot for scalars.
    Scalar(usize, Scalar),
    Constant(Value),
    Size(Size, Scalar),
    Let {
        binding: Binding,
        value: Box<Node>,
        body: Box<Node>,
    },
    /// An operator on two scalars of this type.
    Binary(BinaryOp, Scalar, Box<[Node; 2]>),
    /// Any other pattern or operation.
    Call(Call),
    /// Stands above every so many levels and makes sure of stack for those below.
    Grow(Box<Node>),
}

pub(crate) struct Call {
    pub prim: Prim,
    pub sizes: Vec<Size>,
    pub functions: Vec<Function>,
    pub args: Vec<Node>,
}

pub(crate) enum Size {
    Known(i128),
    /// Depends on the length in an `iterate`, or has no value; found out when it is needed.
    Open(Nat),
}

pub(crate) struct Function {
    /// Bound to the current length by `iterate`.
    pub size: Option<Var>,
    pub params: Vec<Binding>,
    pub body: Node,
}

/// Where a parameter's value goes.
#[derive(Clone, Debug)]
pub(crate) enum Binding {
    /// Nobody asks for it.
    Ignore,
    Slot(usize),
    /// A slot for scalars.
    Scalar(usize),
    /// A tuple of which only components are used: it is never put together.
    Tuple(Vec<Binding>),
}
