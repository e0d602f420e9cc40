//! Patterns that rearrange, make and index arrays.

use lift_nat::{Nat, Pred};

use super::Rule;
use super::scalars::tuple_of;
use crate::{Boundary, Part, Type, TypeError};

/// The indices of `generate` are below this: they are `i32`.
pub const MAX_GENERATED: i128 = 1 << 31;

/// Refuses a number of elements that has indices beyond `i32`.
pub(super) fn generated(length: &Nat) -> Result<(), String> {
    if length.as_int().is_some_and(|n| n > MAX_GENERATED) {
        return Err(format!(
            "`generate` makes at most {MAX_GENERATED} elements, for its indices are `i32`, found {length}"
        ));
    }
    Ok(())
}

impl Rule<'_> {
    /// `[T; n], [U; n], … -> [(T, U, …); n]`
    pub(super) fn zip(&self) -> Result<Type, TypeError> {
        if self.call.args.len() < 2 {
            return Err(TypeError::new(Part::Whole, "`zip` needs at least two arrays"));
        }
        let (_, length) = self.array(0)?;
        let mut components = Vec::new();
        for index in 0..self.call.args.len() {
            let (element, own) = self.array(index)?;
            if !self.cx.same_size(own, length) {
                return Err(TypeError::new(
                    Part::Argument(index),
                    format!("`zip` needs equal lengths, found `{length}` and `{own}`"),
                ));
            }
            components.push(element.clone());
        }
        Ok(Type::array(tuple_of(components)?, length.clone()))
    }

    /// `[(T, U, …); n] -> ([T; n], [U; n], …)`
    pub(super) fn unzip(&self) -> Result<Type, TypeError> {
        let (element, length) = self.array(0)?;
        match element {
            Type::Tuple(components) => {
                Ok(Type::tuple(components.iter().map(|c| Type::array(c.clone(), length.clone()))))
            }
            _ => Err(TypeError::new(
                Part::Argument(0),
                format!("`unzip` takes an array of tuples, found `[{element}; {length}]`"),
            )),
        }
    }

    /// `m, [T; n] -> [[T; m]; n / m] where n % m == 0`
    pub(super) fn split(&self) -> Result<Type, TypeError> {
        let chunk = self.positive(0)?;
        let (element, length) = self.array(0)?;
        self.divides(Part::Size(0), chunk, length)?;
        Ok(Type::array(Type::array(element.clone(), chunk.clone()), length.exact_div(chunk)))
    }

    /// `[[T; m]; n] -> [T; n * m]`
    pub(super) fn join(&self) -> Result<Type, TypeError> {
        let (element, inner, outer) = self.matrix(0)?;
        Ok(Type::array(element.clone(), outer * inner))
    }

    /// `[[T; m]; n] -> [[T; n]; m]`
    pub(super) fn transpose(&self) -> Result<Type, TypeError> {
        let (element, inner, outer) = self.matrix(0)?;
        Ok(Type::array(Type::array(element.clone(), outer.clone()), inner.clone()))
    }

    /// `w, s, [T; n] -> [[T; w]; (n - w + s) / s] where w <= n, (n - w) % s == 0`
    pub(super) fn slide(&self) -> Result<Type, TypeError> {
        let (window, count) = self.windows()?;
        Ok(Type::array(window, count))
    }

    /// The type of a window and how many there are; the sizes are window and step.
    pub(super) fn windows(&self) -> Result<(Type, Nat), TypeError> {
        let (window, step) = (self.positive(0)?, self.positive(1)?);
        let (element, length) = self.array(0)?;
        self.require(Part::Size(0), Pred::Le(window.clone(), length.clone()))?;
        let rest = length - window;
        if step.as_int() != Some(1) {
            self.divides(Part::Size(1), step, &self.cx.simplify(&rest))?;
        }
        let count = (rest + step).exact_div(step);
        Ok((Type::array(element.clone(), window.clone()), count))
    }

    /// `l, r, b, [T; n] -> [T; l + n + r] where l + r == 0 or 1 <= n`
    pub(super) fn pad(&self, boundary: &Boundary) -> Result<Type, TypeError> {
        let (left, right) = (self.natural(0)?, self.natural(1)?);
        let (element, length) = self.array(0)?;
        match boundary {
            Boundary::Mirror => {
                self.require(Part::Size(0), Pred::Le(left.clone(), length.clone()))?;
                self.require(Part::Size(1), Pred::Le(right.clone(), length.clone()))?;
            }
            Boundary::Clamp | Boundary::Wrap | Boundary::Index(..) => {
                // Nothing is read from an array that gets nothing more, so it may be empty.
                let more = self.cx.simplify(&(left + right));
                let some = self.cx.proves(&Pred::Le(Nat::ONE, more.clone()));
                let needed = if some { Nat::ONE } else { Nat::min(&Nat::ONE, &more) };
                self.require(Part::Argument(0), Pred::Le(needed, length.clone()))?;
            }
        }
        Ok(Type::array(element.clone(), left + length + right))
    }

    /// `l, r, T, [T; n] -> [T; l + n + r]`
    pub(super) fn pad_value(&self) -> Result<Type, TypeError> {
        let (left, right) = (self.natural(0)?, self.natural(1)?);
        let (element, length) = self.array(1)?;
        self.expect(Part::Argument(0), element, self.value(0)?)?;
        Ok(Type::array(element.clone(), left + length + right))
    }

    /// `m, [T; n] -> [T; m] where m <= n`
    pub(super) fn take(&self) -> Result<Type, TypeError> {
        let count = self.natural(0)?;
        let (element, length) = self.array(0)?;
        self.require(Part::Size(0), Pred::Le(count.clone(), length.clone()))?;
        Ok(Type::array(element.clone(), count.clone()))
    }

    /// `m, [T; n] -> [T; n - m] where m <= n`
    pub(super) fn drop(&self) -> Result<Type, TypeError> {
        let count = self.natural(0)?;
        let (element, length) = self.array(0)?;
        self.require(Part::Size(0), Pred::Le(count.clone(), length.clone()))?;
        Ok(Type::array(element.clone(), length - count))
    }

    /// `[T; n], [T; m] -> [T; n + m]`
    pub(super) fn concat(&self) -> Result<Type, TypeError> {
        let ((element, first), (other, second)) = (self.array(0)?, self.array(1)?);
        self.expect(Part::Argument(1), element, other)?;
        Ok(Type::array(element.clone(), first + second))
    }

    /// `[T; n] -> T`
    pub(super) fn head(&self) -> Result<Type, TypeError> {
        let (element, length) = self.array(0)?;
        self.require(Part::Argument(0), Pred::Le(Nat::int(1), length.clone()))?;
        Ok(element.clone())
    }

    /// `n, (i32 -> T) -> [T; n] where n <= 2^31`, which is checked when the size is known
    pub(super) fn generate(&self) -> Result<Type, TypeError> {
        let length = self.natural(0)?;
        generated(length).map_err(|text| TypeError::new(Part::Size(0), text))?;
        Ok(Type::array(self.function(0, &[&Type::I32])?.clone(), length.clone()))
    }

    /// `n, T -> [T; n]`
    pub(super) fn repeat(&self) -> Result<Type, TypeError> {
        Ok(Type::array(self.value(0)?.clone(), self.natural(0)?.clone()))
    }

    /// `i, [T; n] -> T`
    pub(super) fn at(&self) -> Result<Type, TypeError> {
        let (index, (element, _)) = (self.value(0)?, self.array(1)?);
        match index {
            Type::Scalar(s) if s.is_integer() => Ok(element.clone()),
            _ => Err(TypeError::new(
                Part::Argument(0),
                format!("an index is an integer, found `{index}`"),
            )),
        }
    }

    /// `T, T, … -> [T; n]`
    pub(super) fn array_literal(&self) -> Result<Type, TypeError> {
        let first = self.value(0)?;
        for (index, arg) in self.call.args.iter().enumerate().skip(1) {
            self.expect(Part::Argument(index), first, arg.ty())?;
        }
        Ok(Type::array(first.clone(), self.call.args.len()))
    }

    /// `m, [S; n] -> [Sxm; n / m] where n % m == 0`
    pub(super) fn as_vector(&self) -> Result<Type, TypeError> {
        let (width, (element, length)) = (self.width(0)?, self.array(0)?);
        let Type::Scalar(scalar) = element else {
            return Err(TypeError::new(
                Part::Argument(0),
                format!("`as_vector` takes an array of scalars, found `[{element}; {length}]`"),
            ));
        };
        self.divides(Part::Size(0), width, length)?;
        Ok(Type::array(Type::vector(*scalar, width.clone()), length.exact_div(width)))
    }

    /// `[Sxm; n] -> [S; n * m]`
    pub(super) fn as_scalar(&self) -> Result<Type, TypeError> {
        let (element, length) = self.array(0)?;
        match element {
            Type::Vector(scalar, width) => Ok(Type::array(Type::Scalar(*scalar), length * width)),
            _ => Err(TypeError::new(
                Part::Argument(0),
                format!("`as_scalar` takes an array of vectors, found `[{element}; {length}]`"),
            )),
        }
    }
}
