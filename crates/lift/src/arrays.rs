//! Arrays of the `ndarray` crate as values, and back.

use lift_interp::{Element, Value};
use lift_ir::Type;
use ndarray::{Array, ArrayD, ArrayRef, Dimension, IxDyn, ShapeError};

use crate::Error;

/// A value of an array of any number of dimensions; without dimensions, a scalar.
///
/// Elements that are stored row by row are copied as they lie, others are put in that order.
///
/// ```
/// use ndarray::array;
///
/// let matrix = array![[1.0f32, 2.0], [3.0, 4.0]];
/// assert_eq!(lift::value_of(&matrix).to_string(), "[[1.0, 2.0], [3.0, 4.0]]");
/// assert_eq!(lift::value_of(&matrix.t()).to_string(), "[[1.0, 3.0], [2.0, 4.0]]");
/// ```
pub fn value_of<T: Element, D: Dimension>(array: &ArrayRef<T, D>) -> Value {
    let elements = match array.as_slice() {
        Some(elements) => elements.to_vec(),
        None => array.iter().copied().collect(),
    };
    shaped(elements, array.shape())
}

/// As [`value_of`], without a copy where the elements are stored row by row.
pub fn value_from<T: Element, D: Dimension>(array: Array<T, D>) -> Value {
    if !array.is_standard_layout() {
        return value_of(&array);
    }
    let shape = array.shape().to_vec();
    let count = array.len();
    match array.into_raw_vec_and_offset() {
        (elements, None | Some(0)) if elements.len() == count => shaped(elements, &shape),
        // A part of a larger array.
        (elements, offset) => {
            let own = elements.into_iter().skip(offset.unwrap_or(0)).take(count);
            shaped(own.collect(), &shape)
        }
    }
}

fn shaped<T: Element>(elements: Vec<T>, lengths: &[usize]) -> Value {
    let Some(value) = Value::shaped(elements, lengths) else {
        unreachable!("an array has as many elements as its shape says")
    };
    value
}

/// The array of a value, which is a scalar or an array of scalars of type `T` under `D` dimensions.
///
/// ```
/// use lift::Value;
/// use ndarray::{Array1, Array2, array};
///
/// let value = Value::from(vec![1i32, 2, 3]);
/// let numbers: Array1<i32> = lift::array_of(&value)?;
/// assert_eq!(numbers, array![1, 2, 3]);
/// let error = lift::array_of::<i32, ndarray::Ix2>(&value).unwrap_err();
/// assert_eq!(error.to_string(), "an array of `i32` in 2 dimensions is wanted, found `[i32; 3]`");
/// # Ok::<(), lift::Error>(())
/// ```
pub fn array_of<T: Element, D: Dimension>(value: &Value) -> Result<Array<T, D>, Error> {
    let wrong = || {
        let (scalar, ty) = (T::SCALAR, value.ty());
        let dimensions = match D::NDIM {
            None => String::new(),
            Some(1) => " in 1 dimension".to_string(),
            Some(n) => format!(" in {n} dimensions"),
        };
        Error::arguments(format!("an array of `{scalar}`{dimensions} is wanted, found `{ty}`"))
    };
    let shape = shape::<T>(&value.ty()).ok_or_else(wrong)?;
    let buffers = value.buffers()?;
    let elements = buffers.first().and_then(T::slice).ok_or_else(wrong)?;
    let array = ArrayD::from_shape_vec(IxDyn(&shape), elements.to_vec());
    let fitted = |array: ArrayD<T>| array.into_dimensionality::<D>();
    array.and_then(fitted).map_err(|_: ShapeError| wrong())
}

/// The lengths of an array of scalars of type `T`; nothing where there are vectors or tuples.
fn shape<T: Element>(ty: &Type) -> Option<Vec<usize>> {
    let (mut element, mut lengths) = (ty, Vec::new());
    while let Type::Array(inner, length) = element {
        lengths.push(usize::try_from(length.as_int()?).ok()?);
        element = inner;
    }
    match element {
        Type::Scalar(scalar) if *scalar == T::SCALAR => Some(lengths),
        Type::Scalar(_) | Type::Vector(..) | Type::Tuple(_) | Type::Array(..) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;
    use ndarray::{Array1, Array2, Array3, array, s};

    /// An array of two dimensions goes there and back, borrowed and owned, whole and in part.
    fn round_trip<T: Element + std::fmt::Debug>(make: impl Fn(u8) -> T) {
        let array = Array2::from_shape_fn((3, 4), |(i, j)| make((4 * i + j) as u8));
        let back = |value: &Value| array_of::<T, ndarray::Ix2>(value).ok();
        assert_eq!(back(&value_of(&array)).as_ref(), Some(&array));
        assert_eq!(back(&value_from(array.clone())).as_ref(), Some(&array));
        let part = array.slice(s![1.., ..;2]);
        assert_eq!(back(&value_of(&part)), Some(part.to_owned()));
        let dynamic = array_of::<T, IxDyn>(&value_of(&array)).ok();
        assert_eq!(dynamic, Some(array.into_dyn()));
    }

    #[test]
    fn every_scalar_goes_there_and_back() {
        round_trip(|i| i % 3 == 0);
        round_trip(|i| i as i8 - 5);
        round_trip(|i| i16::from(i) - 300);
        round_trip(|i| i32::from(i) - 70_000);
        round_trip(|i| i64::from(i) - (1 << 40));
        round_trip(|i| i);
        round_trip(|i| u16::from(i) + 300);
        round_trip(|i| u32::from(i) + 70_000);
        round_trip(|i| u64::from(i) + (1 << 40));
        round_trip(|i| f16::from_f32(f32::from(i) / 4.0));
        round_trip(|i| f32::from(i) / 8.0);
        round_trip(|i| f64::from(i) / 16.0);
    }

    #[test]
    fn an_owned_part_of_an_array_is_that_part() {
        let mut rows = array![[1, 2], [3, 4], [5, 6]];
        rows.slice_collapse(s![1..2, ..]);
        assert_eq!(value_from(rows).to_string(), "[[3, 4]]");
        let mut columns = array![[1, 2, 3], [4, 5, 6]];
        columns.swap_axes(0, 1);
        assert_eq!(value_from(columns).to_string(), "[[1, 4], [2, 5], [3, 6]]");
        let mut reversed = array![1, 2, 3];
        reversed.invert_axis(ndarray::Axis(0));
        assert_eq!(value_from(reversed).to_string(), "[3, 2, 1]");
    }

    #[test]
    fn scalars_have_no_dimensions() {
        let scalar = ndarray::arr0(2.5f64);
        assert_eq!(value_of(&scalar).to_string(), "2.5f64");
        let back = array_of::<f64, ndarray::Ix0>(&Value::f64(2.5)).ok();
        assert_eq!(back, Some(scalar));
    }

    #[test]
    fn arrays_without_elements_keep_their_shape() {
        let none = Array3::<u8>::zeros((2, 0, 3));
        let back = array_of::<u8, ndarray::Ix3>(&value_of(&none)).ok();
        assert_eq!(back, Some(none));
    }

    fn refused<T: Element, D: Dimension>(value: &Value) -> String {
        array_of::<T, D>(value).map(|array| array.len()).expect_err("it does not fit").to_string()
    }

    #[test]
    fn what_does_not_fit_says_both_types() {
        let floats = Value::from(vec![1.0f32]);
        assert_eq!(
            refused::<f64, ndarray::Ix1>(&floats),
            "an array of `f64` in 1 dimension is wanted, found `[f32; 1]`"
        );
        assert_eq!(
            refused::<f32, ndarray::Ix3>(&floats),
            "an array of `f32` in 3 dimensions is wanted, found `[f32; 1]`"
        );
        let pair = Value::tuple(vec![floats.clone(), floats]);
        assert_eq!(
            refused::<f32, IxDyn>(&pair),
            "an array of `f32` is wanted, found `([f32; 1], [f32; 1])`"
        );
        let vector = Value::vector([1.0f32, 2.0].map(Into::into));
        let vector = vector.expect("two lanes");
        assert!(refused::<f32, ndarray::Ix1>(&vector).ends_with("found `f32x2`"));
    }

    #[test]
    fn views_of_values_are_put_in_order() {
        let value = value_of(&array![[1, 2, 3], [4, 5, 6]].t());
        let rows: Vec<Array1<i32>> =
            (0..value.len()).filter_map(|i| array_of(&value.get(i)?).ok()).collect();
        assert_eq!(rows, [array![1, 4], array![2, 5], array![3, 6]]);
    }
}
