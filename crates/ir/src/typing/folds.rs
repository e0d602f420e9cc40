//! Patterns that apply functions to elements: maps, folds, iteration.

use super::Rule;
use crate::{FoldKind, MapKind, Part, Scalar, Type, TypeError};

impl Rule<'_> {
    /// `(T -> U), [T; n] -> [U; n]`
    pub(super) fn map(&self, kind: MapKind) -> Result<Type, TypeError> {
        let largest = match kind {
            // Devices of threads have three dimensions, loops of a processor more.
            MapKind::Glb(_) => 5,
            MapKind::Wrg(_) | MapKind::Lcl(_) => 2,
            MapKind::Warp(_) | MapKind::Lane(_) => 0,
            MapKind::Map | MapKind::Seq | MapKind::SeqUnroll => 0,
        };
        if kind.dimension().is_some_and(|d| d > largest) {
            let allowed = match largest {
                0 => "0",
                2 => "0, 1 or 2",
                _ => "0 to 5",
            };
            let text = format!("the dimension of `{}` is {allowed}", self.name());
            return Err(TypeError::new(Part::Whole, text));
        }
        let (element, length) = self.array(0)?;
        Ok(Type::array(self.function(0, &[element])?.clone(), length.clone()))
    }

    /// `T, (T, T -> T), [T; n] -> T`; from the left `U, (U, T -> U), [T; n] -> U`
    pub(super) fn reduce(&self, kind: FoldKind) -> Result<Type, TypeError> {
        let (element, _) = self.array(1)?;
        self.fold(kind, element)
    }

    /// `T, (T, T -> T), [T; n] -> [T; n]`; from the left `U, (U, T -> U), [T; n] -> [U; n]`
    pub(super) fn scan(&self, kind: FoldKind) -> Result<Type, TypeError> {
        let (element, length) = self.array(1)?;
        Ok(Type::array(self.fold(kind, element)?, length.clone()))
    }

    /// `m, T, (T, T -> T), [T; n] -> [T; m] where n % m == 0`
    pub(super) fn partial_reduce(&self) -> Result<Type, TypeError> {
        let count = self.positive(0)?;
        let (element, length) = self.array(1)?;
        self.divides(Part::Size(0), count, length)?;
        Ok(Type::array(self.fold(FoldKind::Any, element)?, count.clone()))
    }

    /// `k, T, (T, T -> T), [i32; n], [T; n] -> [T; k]`; from the left
    /// `k, U, (U, T -> U), [i32; n], [T; n] -> [U; k]`. Indices may also be `i64`.
    pub(super) fn reduce_by_index(&self, kind: FoldKind) -> Result<Type, TypeError> {
        let count = self.natural(0)?;
        let element = self.indexed()?;
        Ok(Type::array(self.fold(kind, &element)?, count.clone()))
    }

    /// `[T; k], [i32; n], [T; n] -> [T; k]`, where T fits in registers
    pub(super) fn update(&self) -> Result<Type, TypeError> {
        let (own, _) = self.array(0)?;
        let element = self.indexed()?;
        if !self.cx.same_type(own, &element) {
            let text = format!("elements of `{own}` are replaced by `{element}`");
            return Err(TypeError::new(Part::Argument(2), text));
        }
        if !element.is_register() {
            let text =
                format!("`update` replaces scalars, vectors and tuples of them, not `{element}`");
            return Err(TypeError::new(Part::Argument(2), text));
        }
        self.value(0).cloned()
    }

    /// The type of the elements that are the third argument, where the second has an index for each.
    fn indexed(&self) -> Result<Type, TypeError> {
        let (index, indices) = self.array(1)?;
        if !matches!(index, Type::Scalar(Scalar::I32 | Scalar::I64)) {
            let text =
                format!("the indices of `{}` are `i32` or `i64`, found `{index}`", self.name());
            let error = TypeError::new(Part::Argument(1), text);
            return Err(match index {
                Type::Scalar(s) if s.is_integer() => {
                    error.help("convert them: `map(\\i -> i as i32)`")
                }
                _ => error,
            });
        }
        let (element, length) = self.array(2)?;
        if !self.cx.same_size(indices, length) {
            let text = format!(
                "`{}` takes an index for each element: there are {indices} indices and {length} elements",
                self.name()
            );
            return Err(TypeError::new(Part::Argument(1), text));
        }
        Ok(element.clone())
    }

    /// `U, (U, T -> U), (i32 -> T), i32, i32 -> U`, where U fits in registers, and is T where the order is open. Numbers may
    /// also be `i64`.
    pub(super) fn reduce_range(&self, kind: FoldKind) -> Result<Type, TypeError> {
        let (start, low, high) = (self.value(0)?, self.value(1)?, self.value(2)?);
        if !start.is_register() {
            let text = format!("a fold over a range has a state without arrays, found `{start}`");
            return Err(TypeError::new(Part::Argument(0), text));
        }
        if !matches!(low, Type::Scalar(Scalar::I32 | Scalar::I64)) {
            let text = format!("the bounds of a range are `i32` or `i64`, found `{low}`");
            return Err(TypeError::new(Part::Argument(1), text));
        }
        self.expect(Part::Argument(2), low, high)?;
        let element = self.function(1, &[low])?;
        self.fold(kind, element)
    }

    fn fold(&self, kind: FoldKind, element: &Type) -> Result<Type, TypeError> {
        let start = self.value(0)?;
        if kind == FoldKind::Any && !self.cx.same_type(start, element) {
            let text = format!(
                "`{}` starts from a value of the element type `{element}`, found `{start}`",
                self.name()
            );
            return Err(TypeError::new(Part::Argument(0), text));
        }
        let result = self.function(0, &[start, element])?;
        if !self.cx.same_type(start, result) {
            let text = format!(
                "the function of `{}` must return `{start}`, found `{result}`",
                self.name()
            );
            return Err(TypeError::new(Part::Function(0), text));
        }
        Ok(start.clone())
    }

    /// `w, s, ([T; w] -> U), [T; n] -> [U; (n - w + s) / s]`
    pub(super) fn map_seq_slide(&self) -> Result<Type, TypeError> {
        let (window, count) = self.windows()?;
        Ok(Type::array(self.function(0, &[&window])?.clone(), count))
    }

    /// `k, (T -> T), T -> T`, or for a function that changes the length
    /// `k, ([T; l] -> [T; h(l)]), [T; n] -> [T; h(h(…n…))]`
    pub(super) fn iterate(&self) -> Result<Type, TypeError> {
        let times = self.natural(0)?;
        let lambda = self.lambda(0)?;
        let Some(var) = &lambda.size else {
            let start = self.value(0)?;
            let result = self.function(0, &[start])?;
            self.expect(Part::Function(0), start, result)?;
            return Ok(start.clone());
        };
        let (element, length) = self.array(0)?;
        let Some(times) = times.as_int() else {
            return Err(TypeError::new(
                Part::Size(0),
                format!("the function changes the length, so `{times}` must be a constant"),
            ));
        };
        let given = Type::array(element.clone(), var);
        let result = self.function(0, &[&given])?;
        let Some((result, next)) = result.as_array() else {
            return Err(TypeError::new(
                Part::Function(0),
                format!("expected an array of `{element}`, found `{result}`"),
            ));
        };
        self.expect(Part::Function(0), element, result)?;
        let mut length = length.clone();
        for _ in 0..times {
            length = self.cx.simplify(&next.substitute(&|v| (v == var).then(|| length.clone())));
        }
        Ok(Type::array(element.clone(), length))
    }

    /// `k, (i32, T -> T), T -> T`
    pub(super) fn iterate_index(&self) -> Result<Type, TypeError> {
        self.natural(0)?;
        let start = self.value(0)?;
        let result = self.function(0, &[&Type::I32, start])?;
        self.expect(Part::Function(0), start, result)?;
        Ok(start.clone())
    }

    /// `k, (T -> bool), (T -> T), T -> (T, i32)`
    pub(super) fn iterate_until(&self) -> Result<Type, TypeError> {
        self.natural(0)?;
        let start = self.value(0)?;
        let holds = self.function(0, &[start])?;
        self.expect(Part::Function(0), &Type::BOOL, holds)?;
        let result = self.function(1, &[start])?;
        self.expect(Part::Function(1), start, result)?;
        Ok(Type::tuple([start.clone(), Type::I32]))
    }

    /// `(T, … -> U), T, … -> U`
    pub(super) fn to_memory(&self) -> Result<Type, TypeError> {
        let given: Vec<&Type> = self.call.args.iter().map(|a| a.ty()).collect();
        Ok(self.function(0, &given)?.clone())
    }
}
