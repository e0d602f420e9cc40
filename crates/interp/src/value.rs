//! Values of programs.

use std::sync::Arc;

use half::f16;
use lift_ir::{Literal, Scalar, Type};

use crate::array::Array;
use crate::buffer::Buffer;
use crate::builder::Builder;
use crate::error::{Eval, RunError};
use crate::meter::Meter;
use crate::number::{Element, ScalarValue};
use crate::strided::Strided;

/// What an expression evaluates to. Clones share arrays, tuples and vectors.
///
/// Two values are equal when they have one type and equal scalars; `nan` equals `nan`.
#[derive(Clone, Debug)]
pub enum Value {
    Scalar(ScalarValue),
    Vector(Vector),
    Tuple(Arc<[Value]>),
    Array(Array),
}

/// A vector: scalars of one type.
#[derive(Clone, Debug)]
pub struct Vector(Arc<[ScalarValue]>);

/// The widths vectors come in.
pub const WIDTHS: [usize; 5] = [2, 3, 4, 8, 16];

impl Vector {
    /// Nothing unless there are 2, 3, 4, 8 or 16 lanes of one type.
    pub fn new(lanes: impl IntoIterator<Item = ScalarValue>) -> Option<Vector> {
        let lanes: Arc<[ScalarValue]> = lanes.into_iter().collect();
        let scalar = lanes.first()?.scalar();
        let fits = WIDTHS.contains(&lanes.len()) && lanes.iter().all(|x| x.scalar() == scalar);
        fits.then_some(Vector(lanes))
    }

    pub fn lanes(&self) -> &[ScalarValue] {
        &self.0
    }

    pub fn scalar(&self) -> Scalar {
        self.0.first().map_or(Scalar::Bool, |x| x.scalar())
    }

    /// All of a buffer of as many lanes as a vector has.
    pub(crate) fn of_buffer(buffer: &Buffer) -> Option<Vector> {
        Vector::new((0..buffer.len()).map(|i| buffer.at(i)))
    }

    /// Vector `i` of an array of vectors.
    pub(crate) fn of_row(view: &Strided, i: usize) -> Vector {
        let (start, lanes) = (view.start(i), view.dims[1]);
        let at = |lane: usize| view.buffer.at((start + lane as isize * lanes.stride) as usize);
        Vector((0..lanes.len).map(at).collect())
    }
}

macro_rules! constructors {
    ($($name:ident($ty:ty);)*) => {
        impl Value {
            $(pub fn $name(value: $ty) -> Value {
                Value::Scalar(value.into())
            })*
        }
        $(
            impl From<$ty> for Value {
                fn from(value: $ty) -> Value {
                    Value::Scalar(value.into())
                }
            }

            impl From<Vec<$ty>> for Value {
                fn from(elements: Vec<$ty>) -> Value {
                    let length = elements.len();
                    Value::Array(Array::packed(elements, &[length]))
                }
            }
        )*
    };
}

constructors! {
    bool(bool);
    i8(i8);
    i16(i16);
    i32(i32);
    i64(i64);
    u8(u8);
    u16(u16);
    u32(u32);
    u64(u64);
    f16(f16);
    f32(f32);
    f64(f64);
}

impl From<Literal> for Value {
    fn from(literal: Literal) -> Value {
        Value::Scalar(literal.into())
    }
}

impl Value {
    pub fn tuple(components: Vec<Value>) -> Value {
        Value::Tuple(components.into())
    }

    /// Nothing unless there are 2, 3, 4, 8 or 16 lanes of one type.
    pub fn vector(lanes: impl IntoIterator<Item = ScalarValue>) -> Option<Value> {
        Vector::new(lanes).map(Value::Vector)
    }

    /// An array of one or more elements of one type; see [`Value::empty`] for none.
    pub fn array(elements: Vec<Value>) -> Result<Value, RunError> {
        let Some(first) = elements.first() else {
            return Err(RunError::new("an array without elements needs an element type"));
        };
        let mut meter = Meter::default();
        let mut builder = Builder::like(first, elements.len(), &mut meter).map_err(|e| *e)?;
        for element in &elements {
            builder.push(element).map_err(|_| {
                let (first, other) = (first.ty(), element.ty());
                RunError::new(format!(
                    "the elements of an array have one type, found `{first}` and `{other}`"
                ))
            })?;
        }
        Ok(Value::Array(builder.finish()))
    }

    /// The array of no elements of a type whose sizes are constants.
    pub fn empty(element: &Type) -> Result<Value, RunError> {
        let builder = Builder::of_type(element, 0, &mut Meter::default());
        Ok(Value::Array(builder.map_err(|e| *e)?.finish()))
    }

    /// The elements row by row under these lengths; nothing where the numbers differ.
    pub fn shaped<T: Element>(elements: Vec<T>, lengths: &[usize]) -> Option<Value> {
        Value::shaped_buffer(T::buffer(elements), lengths)
    }

    /// As [`Value::shaped`]; no lengths make a scalar.
    pub(crate) fn shaped_buffer(buffer: Buffer, lengths: &[usize]) -> Option<Value> {
        let count = lengths.iter().try_fold(1usize, |n, length| n.checked_mul(*length))?;
        if count != buffer.len() {
            return None;
        }
        Some(match lengths {
            [] => Value::Scalar(buffer.at(0)),
            _ => Value::Array(Array::leaf(Strided::packed(buffer, lengths, false))),
        })
    }

    /// The type, its sizes constants.
    pub fn ty(&self) -> Type {
        match self {
            Value::Scalar(x) => Type::Scalar(x.scalar()),
            Value::Vector(v) => Type::vector(v.scalar(), v.lanes().len()),
            Value::Tuple(components) => Type::tuple(components.iter().map(Value::ty)),
            Value::Array(array) => array.ty(),
        }
    }

    /// The number of elements, components or lanes; a scalar has none.
    pub fn len(&self) -> usize {
        match self {
            Value::Scalar(_) => 0,
            Value::Vector(v) => v.lanes().len(),
            Value::Tuple(components) => components.len(),
            Value::Array(array) => array.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element, component or lane at `i`.
    pub fn get(&self, i: usize) -> Option<Value> {
        match self {
            Value::Scalar(_) => None,
            Value::Vector(v) => v.lanes().get(i).map(|x| Value::Scalar(*x)),
            Value::Tuple(components) => components.get(i).cloned(),
            Value::Array(array) => array.get(i),
        }
    }

    pub fn as_scalar(&self) -> Option<ScalarValue> {
        match self {
            Value::Scalar(x) => Some(*x),
            Value::Vector(_) | Value::Tuple(_) | Value::Array(_) => None,
        }
    }

    pub fn as_array(&self) -> Option<&Array> {
        match self {
            Value::Array(array) => Some(array),
            Value::Scalar(_) | Value::Vector(_) | Value::Tuple(_) => None,
        }
    }

    /// The value of a scalar as the nearest `f64`.
    pub fn to_f64(&self) -> Option<f64> {
        self.as_scalar().map(ScalarValue::to_f64)
    }

    /// The value of an integer or `bool`.
    pub fn to_integer(&self) -> Option<i128> {
        self.as_scalar().and_then(ScalarValue::to_integer)
    }

    /// The scalars of every component, row by row, as they are stored outside: one buffer a
    /// scalar, vector or array of them, in the order of the components.
    pub fn buffers(&self) -> Result<Vec<Buffer>, RunError> {
        let mut out = Vec::new();
        self.collect_buffers(&mut out).map_err(|e| *e)?;
        Ok(out)
    }

    fn collect_buffers(&self, out: &mut Vec<Buffer>) -> Eval<()> {
        let mut meter = Meter::default();
        match self {
            Value::Scalar(_) | Value::Vector(_) => {
                // A scalar or vector is stored as an array of one.
                let mut one = Builder::like(self, 1, &mut meter)?;
                one.push(self)?;
                Value::Array(one.finish()).collect_buffers(out)
            }
            Value::Tuple(components) => components.iter().try_for_each(|c| c.collect_buffers(out)),
            Value::Array(array) => array.leaves(&mut |view| {
                out.push(view.packed_buffer(&mut meter)?);
                Ok(())
            }),
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        crate::compare(self, other, false).is_ok()
    }
}
