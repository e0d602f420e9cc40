//! Elements of arrays.

use lift_ir::{BinaryOp, Expr, Math, Nat, Pred, Prim, Scalar, Type};

use crate::generator::{Generator, Goal, Production};
use crate::scope::Level;

/// For every type.
pub(crate) const ELEMENTS: &[(u32, Production)] = &[(6, at), (2, head)];

fn at(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let [index, array] = g.split(goal.fuel);
    let (xs, n) = g.array_of(goal, array)?;
    let index = g.index(goal, &n, index)?;
    g.call(Prim::At, vec![], vec![], vec![index, xs])
}

fn head(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let (xs, _) = g.array_of(goal, goal.fuel)?;
    g.unary(Prim::Head, vec![], xs)
}

impl Generator<'_> {
    fn array_of(&mut self, goal: &Goal, fuel: u32) -> Option<(Expr, Nat)> {
        if matches!(goal.scope.level, Level::Scalar | Level::Warp) {
            return None;
        }
        let n = self.length();
        let ty = Type::array(goal.ty.clone(), n.clone());
        if !self.fits(&ty) || !self.has_some(&n) {
            return None;
        }
        Some((self.make(&ty, &goal.scope.decided(false), fuel)?, n))
    }

    /// An index into an array of length `n`: a constant, a variable known to be in range, or
    /// anything brought into range.
    fn index(&mut self, goal: &Goal, n: &Nat, fuel: u32) -> Option<Expr> {
        let last = n - &Nat::int(1);
        match self.random.below(5) {
            0 => {
                let index = Nat::int(self.random.between(0, 3).into());
                let inside = self.cx.proves(&Pred::Lt(index.clone(), n.clone()));
                self.size_value(if inside { &index } else { &last })
            }
            1 => {
                let scalar = self.integer();
                let value = self.make(&Type::Scalar(scalar), &goal.scope.decided(false), fuel)?;
                let (low, high) = (self.number(scalar, 0), self.size_as(&last, scalar)?);
                self.call(Prim::Math(Math::Clamp), vec![], vec![], vec![value, low, high])
            }
            kind => {
                // Of 64 bits, some indices are multiples of large numbers, which may wrap.
                let scalar = if kind == 2 { Scalar::I64 } else { Scalar::I32 };
                let mut value =
                    self.make(&Type::Scalar(scalar), &goal.scope.decided(false), fuel)?;
                if kind == 2 {
                    let far = self.number(scalar, 12_884_901_889);
                    value =
                        self.call(Prim::Binary(BinaryOp::Mul), vec![], vec![], vec![value, far])?;
                }
                let n = self.size_as(n, scalar)?;
                let rest = |a: Expr| {
                    self.call(Prim::Binary(BinaryOp::Rem), vec![], vec![], vec![a, n.clone()])
                };
                let within = rest(value)?;
                let sum =
                    self.call(Prim::Binary(BinaryOp::Add), vec![], vec![], vec![within, n.clone()]);
                rest(sum?)
            }
        }
    }

    fn size_as(&self, size: &Nat, scalar: Scalar) -> Option<Expr> {
        match scalar {
            Scalar::I32 | Scalar::I64 => self.cx.size(size, scalar).ok(),
            _ => {
                let value = self.size_value(size)?;
                match size.as_int() {
                    Some(value) => Some(self.number(scalar, value)),
                    None => self.unary(Prim::Cast(scalar), vec![], value),
                }
            }
        }
    }
}
