//! Arrays made element by element.

use std::sync::Arc;

use lift_ir::{Scalar, Type};
use smallvec::SmallVec;

use crate::array::{Array, Columns};
use crate::buffer::Buffer;
use crate::error::{Eval, fault};
use crate::meter::Meter;
use crate::number::{Element, ScalarValue, each_scalar, with_scalar};
use crate::strided::Strided;
use crate::value::Value;

/// An array under construction; memory for all of its elements is asked for at the start.
pub(crate) struct Builder {
    cells: Cells,
    count: usize,
}

type Lengths = SmallVec<[usize; 4]>;

enum Cells {
    /// `shape` is that of one element; with `vector` it ends with the lanes.
    Leaf { buffer: Buffer, shape: Lengths, vector: bool },
    /// Each element is a tuple under `rank` dimensions.
    Tuple { rank: usize, components: Vec<Cells> },
}

const SHAPES_DIFFER: &str = "the elements of an array differ in shape";

impl Builder {
    /// For `count` elements that are like `value`.
    pub(crate) fn like(value: &Value, count: usize, meter: &mut Meter) -> Eval<Builder> {
        Ok(Builder { cells: Cells::like(value, count, meter)?, count: 0 })
    }

    /// For `count` elements of a type whose sizes are constants.
    pub(crate) fn of_type(ty: &Type, count: usize, meter: &mut Meter) -> Eval<Builder> {
        Ok(Builder { cells: Cells::of_type(ty, Lengths::new(), count, meter)?, count: 0 })
    }

    /// Fails where [`Builder::like`] would; allocates nothing.
    pub(crate) fn reserve(value: &Value, count: usize, meter: &mut Meter) -> Eval<()> {
        match value {
            Value::Scalar(x) => meter.array(x.scalar(), [count]).map(|_| ()),
            Value::Vector(v) => meter.array(v.scalar(), [count, v.lanes().len()]).map(|_| ()),
            Value::Tuple(components) => {
                components.iter().try_for_each(|c| Builder::reserve(c, count, meter))
            }
            Value::Array(array) => array.leaves(&mut |view| {
                meter.array(view.buffer.scalar(), view.lengths().chain([count])).map(|_| ())
            }),
        }
    }

    pub(crate) fn push(&mut self, value: &Value) -> Eval<()> {
        self.count += 1;
        self.cells.push(value)
    }

    /// Pushes every element of an array.
    pub(crate) fn extend(&mut self, array: &Array) -> Eval<()> {
        self.count += array.len();
        self.cells.append(array, 1)
    }

    pub(crate) fn finish(self) -> Array {
        self.cells.finish(self.count)
    }
}

impl Cells {
    fn leaf(
        scalar: Scalar,
        shape: Lengths,
        vector: bool,
        count: usize,
        meter: &mut Meter,
    ) -> Eval<Cells> {
        let lengths = shape.iter().copied().chain([count]);
        let buffer = with_scalar!(scalar, T => T::buffer(meter.memory::<T>(lengths)?));
        Ok(Cells::Leaf { buffer, shape, vector })
    }

    fn like(value: &Value, count: usize, meter: &mut Meter) -> Eval<Cells> {
        match value {
            Value::Scalar(x) => Cells::leaf(x.scalar(), Lengths::new(), false, count, meter),
            Value::Vector(v) => {
                let shape = std::iter::once(v.lanes().len()).collect();
                Cells::leaf(v.scalar(), shape, true, count, meter)
            }
            Value::Tuple(components) => {
                let components: Eval<Vec<Cells>> =
                    components.iter().map(|c| Cells::like(c, count, meter)).collect();
                Ok(Cells::Tuple { rank: 0, components: components? })
            }
            Value::Array(array) => Cells::like_array(array, count, meter),
        }
    }

    fn like_array(array: &Array, count: usize, meter: &mut Meter) -> Eval<Cells> {
        match array.columns() {
            Columns::Leaf(view) => {
                let shape = view.lengths().collect();
                Cells::leaf(view.buffer.scalar(), shape, view.vector, count, meter)
            }
            Columns::Tuple { rank, components } => {
                let components: Eval<Vec<Cells>> =
                    components.iter().map(|c| Cells::like_array(c, count, meter)).collect();
                Ok(Cells::Tuple { rank: *rank, components: components? })
            }
        }
    }

    /// `outer` are the lengths of an element above `ty`.
    fn of_type(ty: &Type, mut outer: Lengths, count: usize, meter: &mut Meter) -> Eval<Cells> {
        match ty {
            Type::Scalar(scalar) => Cells::leaf(*scalar, outer, false, count, meter),
            Type::Vector(scalar, width) => {
                outer.push(constant(width)?);
                Cells::leaf(*scalar, outer, true, count, meter)
            }
            Type::Tuple(components) => {
                let rank = outer.len();
                let components: Eval<Vec<Cells>> = components
                    .iter()
                    .map(|c| Cells::of_type(c, outer.clone(), count, meter))
                    .collect();
                Ok(Cells::Tuple { rank, components: components? })
            }
            Type::Array(element, length) => {
                outer.push(constant(length)?);
                Cells::of_type(element, outer, count, meter)
            }
        }
    }

    fn push(&mut self, value: &Value) -> Eval<()> {
        match (self, value) {
            (Cells::Leaf { buffer, shape, vector: false }, Value::Scalar(x))
                if shape.is_empty() =>
            {
                push_scalar(buffer, *x)
            }
            (Cells::Leaf { buffer, shape, vector: true }, Value::Vector(v))
                if shape.as_slice() == [v.lanes().len()] =>
            {
                v.lanes().iter().try_for_each(|x| push_scalar(buffer, *x))
            }
            (Cells::Tuple { rank: 0, components }, Value::Tuple(values))
                if components.len() == values.len() =>
            {
                components.iter_mut().zip(values.iter()).try_for_each(|(c, v)| c.push(v))
            }
            (cells, Value::Array(array)) => cells.append(array, 0),
            (Cells::Leaf { .. } | Cells::Tuple { .. }, _) => fault(SHAPES_DIFFER),
        }
    }

    /// Appends an element, or with `extra` 1 an array of elements.
    fn append(&mut self, array: &Array, extra: usize) -> Eval<()> {
        match (self, array.columns()) {
            (Cells::Leaf { buffer, shape, vector }, Columns::Leaf(view)) => {
                if *vector != view.vector || !view.lengths().skip(extra).eq(shape.iter().copied()) {
                    return fault(SHAPES_DIFFER);
                }
                append_view(buffer, view)
            }
            (
                Cells::Tuple { rank, components },
                Columns::Tuple { rank: own, components: arrays },
            ) if *rank + extra == *own && components.len() == arrays.len() => {
                components.iter_mut().zip(arrays).try_for_each(|(c, a)| c.append(a, extra))
            }
            (Cells::Leaf { .. } | Cells::Tuple { .. }, _) => fault(SHAPES_DIFFER),
        }
    }

    fn finish(self, count: usize) -> Array {
        match self {
            Cells::Leaf { buffer, mut shape, vector } => {
                shape.insert(0, count);
                Array::leaf(Strided::packed(buffer, &shape, vector))
            }
            Cells::Tuple { rank, components } => {
                Array::zipped(rank + 1, components.into_iter().map(|c| c.finish(count)).collect())
            }
        }
    }
}

fn constant(size: &lift_nat::Nat) -> Eval<usize> {
    match size.as_int().and_then(|n| usize::try_from(n).ok()) {
        Some(n) => Ok(n),
        None => fault(format!("`{size}` is not a length")),
    }
}

fn push_scalar(buffer: &mut Buffer, value: ScalarValue) -> Eval<()> {
    fn push<T: Element>(out: &mut Arc<Vec<T>>, value: ScalarValue) -> bool {
        let element = T::from_scalar(value);
        // A builder's buffer is its own, so nothing is copied here.
        element.map(|x| Arc::make_mut(out).push(x)).is_some()
    }
    if each_scalar!(buffer, Buffer(out) => push(out, value)) {
        Ok(())
    } else {
        fault(SHAPES_DIFFER)
    }
}

fn append_view(buffer: &mut Buffer, view: &Strided) -> Eval<()> {
    if each_scalar!(buffer, Buffer(out) => view.append_to(Arc::make_mut(out))) {
        Ok(())
    } else {
        fault(SHAPES_DIFFER)
    }
}
