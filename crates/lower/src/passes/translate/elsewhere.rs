//! Reads that go elsewhere: through a permutation, or beyond an array through a boundary.
//!
//! A permutation stays in range: it is proved to be one, or the plan requires it. What a boundary function gives is
//! proved in range or checked.

use lift_ir::{Boundary, Call, Nat, Permutation, Pred, Span, Type};

use super::checks::inside;
use super::emitter::Emitter;
use super::layout::one;
use super::view::{ArrayView, View};
use super::{Env, Translator};
use crate::LowerError;

/// An index with larger numbers in it is named.
const NAMED_ABOVE: u128 = 1 << 31;

impl Translator {
    /// The view of an array in another order.
    pub(super) fn reordered(
        &mut self,
        call: &Call,
        env: &Env,
        p: Permutation,
    ) -> Result<View, LowerError> {
        let xs = self.argument(call, 0, env)?.into_array()?;
        let (length, span) = (xs.length.clone(), self.out.here);
        Ok(View::array(&length, move |t, i| {
            let source = t.out.index(&p.apply(i, &xs.length));
            if let Permutation::Index(..) = p {
                t.out.written.indices.push((source.clone(), span));
            }
            let source = t.out.in_range(source, &xs.length);
            xs.read(t, &source)
        }))
    }

    /// The element that a read at `index` gives.
    pub(super) fn bounded(
        &mut self,
        boundary: &Boundary,
        index: &Nat,
        xs: &ArrayView,
        ty: &Type,
        span: Option<Span>,
    ) -> Result<View, LowerError> {
        let length = &xs.length;
        let inside = inside(index, length);
        if self.out.proves(&inside) {
            return xs.read(self, index);
        }
        let last = length - one();
        let moved = match boundary {
            Boundary::Clamp => Nat::max(&Nat::int(0), &Nat::min(index, &last)),
            Boundary::Mirror => {
                let below = -index.clone() - one();
                let above = length * Nat::int(2) - one() - index;
                let low = Pred::Lt(index.clone(), Nat::int(0));
                let high = Pred::Lt(last, index.clone());
                Nat::cond(low, below, Nat::cond(high, above, index.clone()))
            }
            Boundary::Wrap => (index.rem(length) + length).rem(length),
            Boundary::Index(var, body) => {
                let outside = body.substitute(&|v| (v == var).then(|| index.clone()));
                let outside = self.out.defined(outside, &inside, span)?;
                let moved = self.out.index(&Nat::cond(inside, index.clone(), outside.clone()));
                self.out.written.indices.push((moved.clone(), span));
                if self.out.stays_inside(&outside, index, length) {
                    let moved = self.out.in_range(moved, length);
                    return xs.read(self, &moved);
                }
                return self.element_at(&moved, xs, ty, span);
            }
        };
        let moved = self.out.index(&moved);
        xs.read(self, &moved)
    }
}

impl Emitter {
    /// An index that is known to be in range, as a variable where the numbers on the way to it are large: what
    /// is made of it then starts anew.
    fn in_range(&mut self, index: Nat, length: &Nat) -> Nat {
        if !self.in_kernel() || index.largest_constant() <= NAMED_ABOVE {
            return index;
        }
        self.named_index(index, length)
    }

    /// Whether a boundary function gives an index in range wherever it is asked: before the array, and after it.
    fn stays_inside(&self, given: &Nat, index: &Nat, length: &Nat) -> bool {
        let sides = [Pred::Lt(index.clone(), Nat::ZERO), Pred::Le(length.clone(), index.clone())];
        sides.iter().all(|side| {
            if self.facts.refutes(side) {
                return true;
            }
            let mut facts = self.facts.clone();
            facts.assume(side);
            facts.proves(&inside(given, length))
        })
    }
}
