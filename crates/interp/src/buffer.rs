//! Typed memory that arrays are views of.

use std::sync::Arc;

use lift_ir::Scalar;

use crate::number::{Element, ScalarValue, each_scalar, with_scalar};

/// Scalars of one type, shared by all views of them.
#[derive(Clone, Debug)]
pub enum Buffer {
    Bool(Arc<Vec<bool>>),
    I8(Arc<Vec<i8>>),
    I16(Arc<Vec<i16>>),
    I32(Arc<Vec<i32>>),
    I64(Arc<Vec<i64>>),
    U8(Arc<Vec<u8>>),
    U16(Arc<Vec<u16>>),
    U32(Arc<Vec<u32>>),
    U64(Arc<Vec<u64>>),
    F16(Arc<Vec<half::f16>>),
    F32(Arc<Vec<f32>>),
    F64(Arc<Vec<f64>>),
}

impl Buffer {
    pub fn scalar(&self) -> Scalar {
        fn of<T: Element>(_: &[T]) -> Scalar {
            T::SCALAR
        }
        each_scalar!(self, Buffer(xs) => of(xs))
    }

    pub fn len(&self) -> usize {
        each_scalar!(self, Buffer(xs) => xs.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Requires: `index < self.len()`.
    #[inline]
    pub fn at(&self, index: usize) -> ScalarValue {
        each_scalar!(self, Buffer(xs) => xs[index].scalar())
    }

    /// As [`Buffer::at`], as [`Element::raw`].
    #[inline]
    pub(crate) fn raw(&self, index: usize) -> u64 {
        each_scalar!(self, Buffer(xs) => xs[index].raw())
    }

    /// The elements, if they are of type `T`.
    pub fn as_slice<T: Element>(&self) -> Option<&[T]> {
        T::slice(self)
    }

    pub fn empty(scalar: Scalar) -> Buffer {
        with_scalar!(scalar, T => T::buffer(Vec::new()))
    }
}
