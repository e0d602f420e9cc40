//! `gather` and `scatter`: reorderings must be permutations.

use lift_nat::{Nat, Pred, Var};

use super::Rule;
use crate::{Part, Permutation, Type, TypeError};

/// Index functions are tried on every index up to this length when a program is checked; beyond it,
/// and where the length is not known, before it runs.
pub const MAX_CHECKED: i128 = 1 << 16;

impl Rule<'_> {
    /// `p, [T; n] -> [T; n]`
    pub(super) fn reorder(&self, permutation: &Permutation) -> Result<Type, TypeError> {
        let (element, length) = self.array(0)?;
        match permutation {
            Permutation::Reverse | Permutation::Shift(_) => {}
            Permutation::Stride(stride) => {
                self.require(Part::Whole, Pred::Le(Nat::int(1), stride.clone()))?;
                self.divides(Part::Whole, stride, length)?;
            }
            Permutation::Index(var, body) => {
                if let Some(n) = length.as_int()
                    && n <= MAX_CHECKED
                    && body.vars().iter().all(|v| v == var)
                {
                    permutation.check(n, &|_| None).map_err(|fault| {
                        let text = format!("`{}` needs a permutation, but {fault}", self.name());
                        TypeError::new(Part::Whole, text)
                    })?;
                }
            }
        }
        Ok(Type::array(element.clone(), length.clone()))
    }
}

impl Permutation {
    /// The image of every index `0 .. n`, or why this is not a permutation of them.
    pub fn check(
        &self,
        n: i128,
        sizes: &dyn Fn(&Var) -> Option<i128>,
    ) -> Result<Vec<usize>, String> {
        // The length is small enough to index memory, or the array would not exist.
        let count = usize::try_from(n).map_err(|_| format!("{n} is not a length"))?;
        let mut seen: Vec<Option<usize>> = vec![None; count];
        let mut images = Vec::with_capacity(count);
        // No size has this number, so none is captured.
        let index = Var::with_id("i", u32::MAX);
        let image_of = self.apply(&Nat::var(&index), &Nat::int(n));
        for i in 0..count {
            let image = image_of
                .eval(&|v| if *v == index { Some(i as i128) } else { sizes(v) })
                .map_err(|e| format!("its value at {i} is undefined: {e}"))?;
            let Some(slot) = usize::try_from(image).ok().and_then(|at| seen.get_mut(at)) else {
                return Err(format!("{i} goes to {image}, outside 0 .. {n}"));
            };
            if let Some(other) = slot {
                return Err(format!("{other} and {i} both go to {image}"));
            }
            *slot = Some(i);
            images.push(image as usize);
        }
        Ok(images)
    }
}
