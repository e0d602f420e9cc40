//! Types of the functional language, and the memories values live in.

use std::fmt;
use std::sync::Arc;

use lift_nat::{Nat, Var};

use crate::Scalar;

/// `f32`, `f32x4`, `(T, U)`, `[T; n]`.
///
/// Equality here is of canonical form; types that are equal only by known facts about their sizes
/// are compared by [`crate::Context::same_type`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Type {
    Scalar(Scalar),
    /// A vector of as many scalars as the width says.
    Vector(Scalar, Nat),
    Tuple(Arc<[Type]>),
    Array(Arc<Type>, Nat),
}

impl Type {
    pub const BOOL: Type = Type::Scalar(Scalar::Bool);
    pub const I32: Type = Type::Scalar(Scalar::I32);
    pub const F32: Type = Type::Scalar(Scalar::F32);

    pub fn array(element: Type, length: impl Into<Nat>) -> Type {
        Type::Array(Arc::new(element), length.into())
    }

    pub fn vector(scalar: Scalar, width: impl Into<Nat>) -> Type {
        Type::Vector(scalar, width.into())
    }

    pub fn tuple(components: impl IntoIterator<Item = Type>) -> Type {
        Type::Tuple(components.into_iter().collect())
    }

    /// The element type and length of an array.
    pub fn as_array(&self) -> Option<(&Type, &Nat)> {
        match self {
            Type::Array(element, length) => Some((element, length)),
            Type::Scalar(_) | Type::Vector(..) | Type::Tuple(_) => None,
        }
    }

    /// The scalar of a scalar or vector.
    pub fn element_scalar(&self) -> Option<Scalar> {
        match self {
            Type::Scalar(s) | Type::Vector(s, _) => Some(*s),
            Type::Tuple(_) | Type::Array(..) => None,
        }
    }

    /// Scalars, vectors and tuples of them: what fits in registers whatever the sizes are.
    pub fn is_register(&self) -> bool {
        match self {
            Type::Scalar(_) | Type::Vector(..) => true,
            Type::Tuple(components) => components.iter().all(Type::is_register),
            Type::Array(..) => false,
        }
    }

    /// How many numbers a value has, where that is known.
    pub fn numbers(&self) -> Option<i128> {
        match self {
            Type::Scalar(_) => Some(1),
            Type::Vector(_, n) => n.as_int(),
            Type::Tuple(components) => {
                components.iter().try_fold(0i128, |sum, c| sum.checked_add(c.numbers()?))
            }
            Type::Array(element, n) => n.as_int()?.checked_mul(element.numbers()?),
        }
    }

    /// Calls `visit` on every scalar the type is made of, in order.
    pub fn scalars(&self, visit: &mut dyn FnMut(Scalar)) {
        match self {
            Type::Scalar(s) | Type::Vector(s, _) => visit(*s),
            Type::Tuple(components) => components.iter().for_each(|c| c.scalars(visit)),
            Type::Array(element, _) => element.scalars(visit),
        }
    }

    /// The same type with every size replaced.
    pub fn map_sizes(&self, replace: &dyn Fn(&Nat) -> Nat) -> Type {
        match self {
            Type::Scalar(s) => Type::Scalar(*s),
            Type::Vector(s, width) => Type::Vector(*s, replace(width)),
            Type::Tuple(components) => Type::tuple(components.iter().map(|c| c.map_sizes(replace))),
            Type::Array(element, length) => {
                Type::array(element.map_sizes(replace), replace(length))
            }
        }
    }

    pub fn mentions(&self, var: &Var) -> bool {
        match self {
            Type::Scalar(_) => false,
            Type::Vector(_, size) => size.mentions(var),
            Type::Tuple(components) => components.iter().any(|c| c.mentions(var)),
            Type::Array(element, size) => size.mentions(var) || element.mentions(var),
        }
    }
}

/// How the names of lengths begin that stand for a domain while a program is checked: `in upper[N]`.
pub const OVER: &str = "in ";

/// Prints as the user writes it.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Scalar(s) => write!(f, "{s}"),
            Type::Vector(s, width) if width.as_int().is_some() => write!(f, "{s}x{width}"),
            Type::Vector(s, width) => write!(f, "{s}x{{{width}}}"),
            Type::Tuple(components) => {
                f.write_str("(")?;
                for (i, component) in components.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{component}")?;
                }
                f.write_str(")")
            }
            Type::Array(element, length) => match length.as_var() {
                Some(var) if var.name().starts_with(OVER) => {
                    write!(f, "[{element} {}]", var.name())
                }
                _ => write!(f, "[{element}; {length}]"),
            },
        }
    }
}

/// The memory of an OpenCL device a value is stored in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Space {
    Global,
    Local,
    Private,
}
