//! Integers that are computed from indices alone, for all lanes at once.

use lift_ir::{BinaryOp, Literal, Math, Nat, UnaryOp, Var};
use lift_kernel::Expr;

use lift_nat::Lanes::Same;

use super::{LANES, Lanes, Mask, Walk};

impl<'k> Walk<'k> {
    pub(super) fn nat(&self, nat: &Nat) -> Option<Lanes> {
        nat.eval_lanes(&|v| self.value(v))
    }

    pub(super) fn value(&self, var: &Var) -> Option<Lanes> {
        match self.scope.iter().rev().find(|(v, _)| *v == var) {
            Some((_, lanes)) => lanes.clone(),
            None => (self.sizes)(var).map(Same),
        }
    }

    pub(super) fn truth(&self, expr: &Expr) -> Option<Mask> {
        match expr {
            Expr::Test(pred) => pred.eval_lanes(&|v| self.value(v)),
            Expr::Literal(Literal::Bool(value)) => Some([*value; LANES]),
            Expr::Unary(UnaryOp::Not, a) => Some(self.truth(a)?.map(|t| !t)),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let (a, b) = (self.truth(a)?, self.truth(b)?);
                let both = *op == BinaryOp::And;
                Some(std::array::from_fn(|k| if both { a[k] && b[k] } else { a[k] || b[k] }))
            }
            Expr::Binary(op, a, b) => {
                let holds: fn(i64, i64) -> bool = match op {
                    BinaryOp::Eq => |a, b| a == b,
                    BinaryOp::Ne => |a, b| a != b,
                    BinaryOp::Lt => |a, b| a < b,
                    BinaryOp::Le => |a, b| a <= b,
                    BinaryOp::Gt => |a, b| a > b,
                    BinaryOp::Ge => |a, b| a >= b,
                    _ => return None,
                };
                Some(self.integer(a)?.holds(&self.integer(b)?, holds))
            }
            _ => None,
        }
    }

    /// The values of an integer that is computed from indices alone.
    pub(super) fn integer(&self, expr: &Expr) -> Option<Lanes> {
        match expr {
            Expr::Index(nat, _) => self.nat(nat),
            Expr::Var(var) => self.scope.iter().rev().find(|(v, _)| **v == var.id)?.1.clone(),
            Expr::Literal(Literal::Int(_, value)) => Some(Same(i64::try_from(*value).ok()?)),
            Expr::Cast(ty, value) if ty.scalar.is_integer() && ty.width == 1 => self.integer(value),
            Expr::Unary(UnaryOp::Neg, a) => Some(self.integer(a)?.map(i64::wrapping_neg)),
            Expr::Binary(op, a, b) => {
                let shift = |n: i64| (n & 63) as u32;
                let of: &dyn Fn(i64, i64) -> i64 = match op {
                    BinaryOp::Add => &i64::wrapping_add,
                    BinaryOp::Sub => &i64::wrapping_sub,
                    BinaryOp::Mul => &i64::wrapping_mul,
                    BinaryOp::Div => &|a, b| a.checked_div(b).unwrap_or(0),
                    BinaryOp::Rem => &|a, b| a.checked_rem(b).unwrap_or(0),
                    BinaryOp::BitAnd => &|a, b| a & b,
                    BinaryOp::BitOr => &|a, b| a | b,
                    BinaryOp::BitXor => &|a, b| a ^ b,
                    BinaryOp::Shl => &|a, b| a.wrapping_shl(shift(b)),
                    BinaryOp::Shr => &|a, b| a.wrapping_shr(shift(b)),
                    _ => return None,
                };
                let narrow = a.ty().scalar.width() <= 32;
                let (a, b) = (self.integer(a)?, self.integer(b)?);
                Some(a.with(&b, |a, b| match narrow {
                    true => i64::from(of(a, b) as i32),
                    false => of(a, b),
                }))
            }
            Expr::Math(math @ (Math::Min | Math::Max), args) => {
                let [a, b] = args.as_slice() else { return None };
                let better = if *math == Math::Min { i64::min } else { i64::max };
                Some(self.integer(a)?.with(&self.integer(b)?, better))
            }
            Expr::Select(condition, a, b) => {
                let holds = self.truth(condition)?;
                Some(Lanes::chosen(&holds, &self.integer(a)?, &self.integer(b)?))
            }
            _ => None,
        }
    }
}
