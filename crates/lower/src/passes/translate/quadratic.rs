//! The row of a triangle that a number falls into, by a square root.
//!
//! Of a triangle, `x (x + 1) / 2` points come before row x: twice that, less twice the number, is a quadratic polynomial of
//! x whose root is looked for. Its discriminant is an integer. The root of that is taken in floats, where it is off by
//! less than 1 as long as it is small; so the row is off by one at most, and steps make it exact.

use lift_domain::{Level, Quadratic};
use lift_ir::{BinaryOp, Math, Nat, Pred, Range, Scalar, Var};
use lift_kernel::{Expr, Stmt, ValueType};

use super::emitter::Emitter;
use super::points::{below, placed};
use crate::LowerError;

/// Square roots up to here are off by less than 1 in floats, of which 24 bits are exact.
const LARGEST_ROOT: i128 = 1 << 22;

/// Steps from the row that was found, in each direction.
const STEPS: u32 = 2;

impl Emitter {
    /// The last value of an index before which there are not more points than a number, those before it given; `None`
    /// where no square root says it.
    pub(super) fn index_by_root(
        &mut self,
        level: &Level,
        before: &[Nat],
        number: &Nat,
    ) -> Result<Option<Expr>, LowerError> {
        let Some(Quadratic { bend, slope, first }) = &level.quadratic else { return Ok(None) };
        let (slope, first) = (placed(slope, before), placed(first, before));
        let (low, high) = (placed(&level.low, before), placed(&level.high, before));
        // The root of the discriminant at x is |2 bend x + slope|.
        let ends = [&low, &high].map(|x| x * Nat::int(2 * bend) + &slope);
        let is_small = |end: &Nat| {
            let bounds =
                [(-Nat::int(LARGEST_ROOT), end.clone()), (end.clone(), Nat::int(LARGEST_ROOT))];
            bounds.into_iter().all(|(a, b)| self.proves(&Pred::Le(a, b)))
        };
        if bend.abs() > LARGEST_ROOT || !ends.iter().all(is_small) {
            return Ok(None);
        }
        let long = ValueType::scalar(Scalar::I64);
        let number = self.index_variable("number", number);
        let rest = first - Nat::var(&number) * Nat::int(2);
        let discriminant = &slope * &slope - rest * Nat::int(4 * bend);
        let float = ValueType::scalar(Scalar::F32);
        let of = Expr::Cast(float, Box::new(Expr::Index(discriminant, Scalar::I64)));
        let root = Expr::Cast(long, Box::new(Expr::Math(Math::Sqrt, vec![of])));
        let root = self.root_variable(root);
        let guess = (Nat::var(&root) - &slope).div(&Nat::int(2 * bend));
        let guess = Nat::max(&low, &Nat::min(&guess, &high));
        let found = self.fresh_variable("row", long);
        let value = Some(Expr::Index(guess, Scalar::I64));
        self.emit(Stmt::Declare { var: found.clone(), value });
        for by in [1, -1].into_iter().flat_map(|by| std::iter::repeat_n(by, STEPS as usize)) {
            let here = self.fresh_index("row", Range::between(low.clone(), high.clone()));
            let value = below(Expr::Var(found.clone()), &high + Nat::ONE);
            self.emit(Stmt::Index { var: here.clone(), value });
            let here = Nat::var(&here);
            let points = |x: Nat| {
                let point: Vec<Nat> = before.iter().cloned().chain([x]).collect();
                placed(&level.before, &point)
            };
            let number = Nat::var(&number);
            let (inside, further) = match by {
                1 => {
                    let next = &here + Nat::ONE;
                    (Pred::Le(next.clone(), high.clone()), Pred::Le(points(next), number))
                }
                _ => (Pred::Lt(low.clone(), here.clone()), Pred::Lt(number, points(here.clone()))),
            };
            let inside = Box::new(Expr::Test(inside));
            let condition = Expr::Binary(BinaryOp::And, inside, Box::new(Expr::Test(further)));
            let value = Expr::Index(here + Nat::int(by), Scalar::I64);
            let then = vec![Stmt::Assign { var: found.clone(), value }];
            self.emit(Stmt::If { condition, then, otherwise: Vec::new() });
        }
        Ok(Some(Expr::Var(found)))
    }

    fn index_variable(&mut self, name: &str, value: &Nat) -> Var {
        let var = self.fresh_index(name, Range::at_least(Nat::ZERO));
        let value = Expr::Index(value.clone(), Scalar::I64);
        self.emit(Stmt::Index { var: var.clone(), value });
        var
    }

    /// A root as an index, which says how far it reaches.
    fn root_variable(&mut self, root: Expr) -> Var {
        let own = self.fresh_variable("root", root.ty());
        self.emit(Stmt::Declare { var: own.clone(), value: Some(root) });
        let most = Nat::int(2 * LARGEST_ROOT);
        let var = self.fresh_index("root", Range::below(most.clone()));
        self.emit(Stmt::Index { var: var.clone(), value: below(Expr::Var(own), most) });
        var
    }
}
