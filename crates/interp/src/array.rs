//! Arrays of anything: one view a scalar component.
//!
//! An array of tuples is kept as one array a component, as it is stored outside, so that `zip` and
//! `unzip` cost nothing and layout patterns act on every component alike.

use std::sync::Arc;

use lift_ir::Type;

use crate::error::Eval;
use crate::meter::Meter;
use crate::number::Element;
use crate::strided::Strided;
use crate::value::{Value, Vector};

/// An array; clones share the elements.
#[derive(Clone, Debug)]
pub struct Array(Arc<Columns>);

#[derive(Clone, Debug)]
pub(crate) enum Columns {
    /// Scalars or vectors under one or more dimensions.
    Leaf(Strided),
    /// Tuples under `rank` dimensions, which every component begins with.
    Tuple { rank: usize, components: Vec<Array> },
}

impl Array {
    pub(crate) fn leaf(view: Strided) -> Array {
        Array(Arc::new(Columns::Leaf(view)))
    }

    /// `out[i]…[k] = (a[i]…[k], b[i]…[k], …)`, `rank` indices.
    /// Requires: the components agree in their first `rank` lengths.
    pub(crate) fn zipped(rank: usize, components: Vec<Array>) -> Array {
        Array(Arc::new(Columns::Tuple { rank, components }))
    }

    /// The elements in order. Requires: the product of `lengths` is their number.
    pub(crate) fn packed<T: Element>(elements: Vec<T>, lengths: &[usize]) -> Array {
        Array::leaf(Strided::packed(T::buffer(elements), lengths, false))
    }

    pub(crate) fn columns(&self) -> &Columns {
        &self.0
    }

    pub fn len(&self) -> usize {
        match self.columns() {
            Columns::Leaf(view) => view.len(),
            Columns::Tuple { components, .. } => components.first().map_or(0, Array::len),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at `i`, if there is one.
    pub fn get(&self, i: usize) -> Option<Value> {
        (i < self.len()).then(|| self.element(i))
    }

    pub fn elements(&self) -> impl Iterator<Item = Value> + '_ {
        (0..self.len()).map(|i| self.element(i))
    }

    /// The element at `i`. Requires: `i < self.len()`.
    #[inline]
    pub(crate) fn element(&self, i: usize) -> Value {
        match self.columns() {
            Columns::Leaf(view) if view.dims.len() == 1 => {
                Value::Scalar(view.buffer.at(view.start(i) as usize))
            }
            Columns::Leaf(view) if view.rank() == 1 => Value::Vector(Vector::of_row(view, i)),
            Columns::Tuple { rank: 1, components } => {
                Value::Tuple(components.iter().map(|c| c.element(i)).collect())
            }
            Columns::Leaf(_) | Columns::Tuple { .. } => Value::Array(self.row(i)),
        }
    }

    /// The element at `i` of an array of arrays.
    fn row(&self, i: usize) -> Array {
        match self.columns() {
            Columns::Leaf(view) => Array::leaf(view.row(i)),
            Columns::Tuple { rank, components } => {
                Array::zipped(rank - 1, components.iter().map(|c| c.row(i)).collect())
            }
        }
    }

    /// The array under another view; `rank` is that of a tuple of the given rank afterwards.
    fn reviewed(
        &self,
        rank: &dyn Fn(usize) -> usize,
        view: &mut dyn FnMut(&Strided) -> Eval<Strided>,
    ) -> Eval<Array> {
        match self.columns() {
            Columns::Leaf(leaf) => Ok(Array::leaf(view(leaf)?)),
            Columns::Tuple { rank: old, components } => {
                let new: Eval<Vec<Array>> =
                    components.iter().map(|c| c.reviewed(rank, view)).collect();
                Ok(Array::zipped(rank(*old), new?))
            }
        }
    }

    /// As [`Array::reviewed`], where the number of dimensions stays.
    pub(crate) fn viewed(&self, view: &dyn Fn(&Strided) -> Strided) -> Array {
        match self.columns() {
            Columns::Leaf(leaf) => Array::leaf(view(leaf)),
            Columns::Tuple { rank, components } => {
                let new = components.iter().map(|c| c.viewed(view));
                Array::zipped(*rank, new.collect())
            }
        }
    }

    /// `out[i][j] = self[i * step + j]`. Requires: all windows lie inside.
    pub(crate) fn windows(&self, count: usize, size: usize, step: usize) -> Eval<Array> {
        self.reviewed(&|r| r + 1, &mut |v| Ok(v.windows(count, size, step)))
    }

    /// `out[i * m + j] = self[i][j]`
    pub(crate) fn joined(&self, meter: &mut Meter) -> Eval<Array> {
        self.reviewed(&|r| r - 1, &mut |v| v.joined(meter))
    }

    /// `out[i][j] = self[j][i]`
    pub(crate) fn transposed(&self) -> Array {
        self.viewed(&Strided::transposed)
    }

    /// `out[i] = self[n - 1 - i]`
    pub(crate) fn reversed(&self) -> Array {
        self.viewed(&Strided::reversed)
    }

    /// `out[i] = self[first + i]`. Requires: the range lies inside.
    pub(crate) fn range(&self, first: usize, len: usize) -> Array {
        self.viewed(&|v| v.range(first, len))
    }

    /// `out[i] = self[indices[i]]`. Requires: indices in range.
    pub(crate) fn selected(&self, indices: &[usize], meter: &mut Meter) -> Eval<Array> {
        self.reviewed(&|r| r, &mut |v| v.selected(indices, meter))
    }

    /// `out[i] = self` for `i` below `len`.
    pub(crate) fn repeated(&self, len: usize) -> Eval<Array> {
        self.reviewed(&|r| r + 1, &mut |v| Ok(v.repeated(len)))
    }

    /// `as_vector`: `[S; n] -> [Sxm; n / m]`. Requires: `width` divides the length.
    pub(crate) fn vectors(&self, width: usize) -> Eval<Array> {
        self.reviewed(&|r| r, &mut |v| {
            let mut chunks = v.windows(v.len() / width.max(1), width, width);
            chunks.vector = true;
            Ok(chunks)
        })
    }

    /// `as_scalar`: `[Sxm; n] -> [S; n * m]`.
    pub(crate) fn scalars(&self, meter: &mut Meter) -> Eval<Array> {
        self.reviewed(&|r| r, &mut |v| {
            let mut lanes = v.clone();
            lanes.vector = false;
            lanes.joined(meter)
        })
    }

    /// Visits the view of every component in order.
    pub(crate) fn leaves(&self, visit: &mut dyn FnMut(&Strided) -> Eval<()>) -> Eval<()> {
        match self.columns() {
            Columns::Leaf(view) => visit(view),
            Columns::Tuple { components, .. } => {
                components.iter().try_for_each(|c| c.leaves(visit))
            }
        }
    }

    /// Length of every dimension above `rank`, outermost first.
    pub(crate) fn outer_lengths(&self, rank: usize) -> Vec<usize> {
        match self.columns() {
            Columns::Leaf(view) => view.lengths().take(rank).collect(),
            Columns::Tuple { components, .. } => {
                components.first().map_or_else(Vec::new, |c| c.outer_lengths(rank))
            }
        }
    }

    pub fn ty(&self) -> Type {
        self.type_below(0)
    }

    /// The type of what lies under the outermost `rank` dimensions.
    fn type_below(&self, rank: usize) -> Type {
        let (element, own) = match self.columns() {
            Columns::Leaf(view) => {
                let scalar = view.buffer.scalar();
                let element = match view.dims.last() {
                    Some(lanes) if view.vector => Type::vector(scalar, lanes.len),
                    _ => Type::Scalar(scalar),
                };
                (element, view.rank())
            }
            Columns::Tuple { rank: own, components } => {
                (Type::tuple(components.iter().map(|c| c.type_below(*own))), *own)
            }
        };
        let lengths = self.outer_lengths(own);
        lengths.iter().skip(rank).rev().fold(element, |ty, len| Type::array(ty, *len))
    }
}
