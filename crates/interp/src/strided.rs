//! Views: an array of any rank as an offset into a buffer and a stride for every dimension.
//!
//! Layout patterns change the view and leave the buffer alone wherever strides can say it.

use smallvec::SmallVec;

use crate::buffer::Buffer;
use crate::error::Eval;
use crate::meter::Meter;
use crate::number::{Element, with_scalar};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Dim {
    pub len: usize,
    pub stride: isize,
}

pub(crate) type Dims = SmallVec<[Dim; 4]>;

/// An array of scalars, or of vectors, whose lanes are then the last dimension.
#[derive(Clone, Debug)]
pub(crate) struct Strided {
    pub buffer: Buffer,
    pub offset: isize,
    /// Outermost first.
    pub dims: Dims,
    pub vector: bool,
}

impl Strided {
    /// All of a buffer, row by row. Requires: the product of `lengths` is its length.
    pub(crate) fn packed(buffer: Buffer, lengths: &[usize], vector: bool) -> Strided {
        Strided { buffer, offset: 0, dims: row_major(lengths), vector }
    }

    /// The number of array dimensions; lanes do not count.
    pub(crate) fn rank(&self) -> usize {
        self.dims.len() - usize::from(self.vector)
    }

    pub(crate) fn len(&self) -> usize {
        self.dims.first().map_or(0, |d| d.len)
    }

    pub(crate) fn lengths(&self) -> impl Iterator<Item = usize> + '_ {
        self.dims.iter().map(|d| d.len)
    }

    /// Where element `i` of the outermost dimension begins.
    #[inline]
    pub(crate) fn start(&self, i: usize) -> isize {
        self.offset + i as isize * self.dims[0].stride
    }

    pub(crate) fn row(&self, i: usize) -> Strided {
        let dims = Dims::from_slice(&self.dims[1..]);
        Strided { buffer: self.buffer.clone(), offset: self.start(i), dims, vector: self.vector }
    }

    fn with(&self, offset: isize, outer: &[Dim], inner: &[Dim]) -> Strided {
        let mut dims = Dims::from_slice(outer);
        dims.extend_from_slice(inner);
        Strided { buffer: self.buffer.clone(), offset, dims, vector: self.vector }
    }

    /// `out[i][j] = self[i * step + j]`, windows of `size`. Requires: they lie inside.
    pub(crate) fn windows(&self, count: usize, size: usize, step: usize) -> Strided {
        let stride = self.dims[0].stride;
        let outer = Dim { len: count, stride: stride * step as isize };
        self.with(self.offset, &[outer, Dim { len: size, stride }], &self.dims[1..])
    }

    /// `out[i] = self[first + i]`
    pub(crate) fn range(&self, first: usize, len: usize) -> Strided {
        let stride = self.dims[0].stride;
        self.with(self.start(first), &[Dim { len, stride }], &self.dims[1..])
    }

    /// `out[i] = self[n - 1 - i]`
    pub(crate) fn reversed(&self) -> Strided {
        let Dim { len, stride } = self.dims[0];
        self.with(
            self.start(len.saturating_sub(1)),
            &[Dim { len, stride: -stride }],
            &self.dims[1..],
        )
    }

    /// `out[i][j] = self[j][i]`
    pub(crate) fn transposed(&self) -> Strided {
        let mut out = self.clone();
        out.dims.swap(0, 1);
        out
    }

    /// `out[i] = self` for `i` below `len`.
    pub(crate) fn repeated(&self, len: usize) -> Strided {
        self.with(self.offset, &[Dim { len, stride: 0 }], &self.dims)
    }

    /// `out[i * m + j] = self[i][j]`; copies where no stride says it.
    pub(crate) fn joined(&self, meter: &mut Meter) -> Eval<Strided> {
        let (outer, inner) = (self.dims[0], self.dims[1]);
        let steps = inner.stride.checked_mul(inner.len as isize);
        if outer.len <= 1 || inner.len == 0 || steps == Some(outer.stride) {
            // An empty result has no stride to get wrong.
            let len = outer.len.saturating_mul(inner.len);
            let merged = Dim { len, stride: inner.stride };
            return Ok(self.with(self.offset, &[merged], &self.dims[2..]));
        }
        self.copied(meter)?.joined(meter)
    }

    /// `out[i] = self[indices[i]]`, copied. Requires: indices in range.
    pub(crate) fn selected(&self, indices: &[usize], meter: &mut Meter) -> Eval<Strided> {
        let lengths: SmallVec<[usize; 4]> =
            std::iter::once(indices.len()).chain(self.lengths().skip(1)).collect();
        let buffer = with_scalar!(self.buffer.scalar(), T => {
            let mut out = meter.memory::<T>(lengths.iter().copied())?;
            if let Some(elements) = T::slice(&self.buffer) {
                for i in indices {
                    copy(elements, self.start(*i), &self.dims[1..], &mut out);
                }
            }
            T::buffer(out)
        });
        Ok(Strided::packed(buffer, &lengths, self.vector))
    }

    /// The same array, row by row in a buffer of its own.
    pub(crate) fn copied(&self, meter: &mut Meter) -> Eval<Strided> {
        let buffer = with_scalar!(self.buffer.scalar(), T => {
            let mut out = meter.memory::<T>(self.lengths())?;
            self.append_to(&mut out);
            T::buffer(out)
        });
        let lengths: SmallVec<[usize; 4]> = self.lengths().collect();
        Ok(Strided::packed(buffer, &lengths, self.vector))
    }

    /// The elements row by row; the buffer itself where it is just that.
    pub(crate) fn packed_buffer(&self, meter: &mut Meter) -> Eval<Buffer> {
        let lengths: SmallVec<[usize; 4]> = self.lengths().collect();
        let whole = lengths.iter().try_fold(1usize, |n, l| n.checked_mul(*l));
        if self.offset == 0 && whole == Some(self.buffer.len()) && self.dims == row_major(&lengths)
        {
            return Ok(self.buffer.clone());
        }
        Ok(self.copied(meter)?.buffer)
    }

    /// Appends the elements row by row; says whether they are of type `T`.
    pub(crate) fn append_to<T: Element>(&self, out: &mut Vec<T>) -> bool {
        let Some(elements) = T::slice(&self.buffer) else { return false };
        copy(elements, self.offset, &self.dims, out);
        true
    }
}

/// Dimensions of a buffer that is read from front to back.
fn row_major(lengths: &[usize]) -> Dims {
    let mut dims: Dims = lengths.iter().map(|len| Dim { len: *len, stride: 1 }).collect();
    let mut stride = 1isize;
    for dim in dims.iter_mut().rev() {
        dim.stride = stride;
        // Saturation is met only by empty arrays, which are never read.
        stride = stride.saturating_mul(dim.len as isize);
    }
    dims
}

fn copy<T: Copy>(elements: &[T], offset: isize, dims: &[Dim], out: &mut Vec<T>) {
    match dims {
        [] => out.push(elements[offset as usize]),
        [Dim { len: 0, .. }, ..] => {}
        [Dim { len, stride: 1 }] => {
            out.extend_from_slice(&elements[offset as usize..offset as usize + len]);
        }
        [Dim { len, stride }, inner @ ..] => {
            for i in 0..*len {
                copy(elements, offset + i as isize * stride, inner, out);
            }
        }
    }
}
