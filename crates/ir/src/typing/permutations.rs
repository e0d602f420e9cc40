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
            Permutation::Reverse => {}
            Permutation::Shift(by) => {
                self.require(Part::Whole, Pred::Le(Nat::ZERO, by.clone()))?;
            }
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
    /// Why this is no permutation of `0 .. n`, if it is none.
    ///
    /// `i -> (a * i + b) % n` is one where `a` and `n` have no common factor, and none of the values is
    /// negative; any other function is tried out.
    pub fn refuse(&self, n: i128, sizes: &dyn Fn(&Var) -> Option<i128>) -> Result<(), String> {
        if let Permutation::Index(var, body) = self
            && let Some((a, b)) = line_modulo(var, body, n, sizes)
            && a >= 0
            && b >= 0
            && greatest_common_divisor(a, n) == 1
        {
            return Ok(());
        }
        self.check(n, sizes).map(|_| ())
    }

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

/// `(a, b)` where the body is `(a * i + b) % n`.
fn line_modulo(
    var: &Var,
    body: &Nat,
    n: i128,
    sizes: &dyn Fn(&Var) -> Option<i128>,
) -> Option<(i128, i128)> {
    let body = body.substitute(&|v| if v == var { None } else { sizes(v).map(Nat::int) });
    let (of, by) = body.as_remainder()?;
    let at = |i: i128| of.eval(&|v| (v == var).then_some(i)).ok();
    let b = at(0)?;
    let a = at(1)?.checked_sub(b)?;
    let is_line = of == Nat::int(a) * Nat::var(var) + Nat::int(b);
    (is_line && by.as_int() == Some(n)).then_some((a, b))
}

fn greatest_common_divisor(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a.checked_rem(b).unwrap_or(0));
    }
    a
}
