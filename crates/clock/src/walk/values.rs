//! Integers that are computed from indices alone, for all lanes at once.

use lift_ir::{BinaryOp, Literal, Math, Nat, UnaryOp, Var};
use lift_kernel::Expr;

use super::{LANES, Lanes, Mask, Walk};

impl<'k> Walk<'k> {
    pub(super) fn nat(&self, nat: &Nat) -> Option<Lanes> {
        nat.eval_lanes(&|v| self.value(v))
    }

    pub(super) fn value(&self, var: &Var) -> Option<Lanes> {
        match self.scope.iter().rev().find(|(v, _)| *v == var) {
            Some((_, lanes)) => *lanes,
            None => (self.sizes)(var).map(|n| [n; LANES]),
        }
    }

    pub(super) fn truth(&self, expr: &Expr) -> Option<Mask> {
        match expr {
            Expr::Test(pred) => pred.eval_lanes(&|v| self.value(v)),
            Expr::Literal(Literal::Bool(value)) => Some([*value; LANES]),
            Expr::Unary(UnaryOp::Not, a) => Some(self.truth(a)?.map(|t| !t)),
            Expr::Binary(op, a, b) => {
                let (a, b) = match op {
                    BinaryOp::And | BinaryOp::Or => {
                        (self.truth(a)?.map(i64::from), self.truth(b)?.map(i64::from))
                    }
                    _ => (self.integer(a)?, self.integer(b)?),
                };
                let holds = |k: usize| {
                    Some(match op {
                        BinaryOp::And => a[k] != 0 && b[k] != 0,
                        BinaryOp::Or => a[k] != 0 || b[k] != 0,
                        BinaryOp::Eq => a[k] == b[k],
                        BinaryOp::Ne => a[k] != b[k],
                        BinaryOp::Lt => a[k] < b[k],
                        BinaryOp::Le => a[k] <= b[k],
                        BinaryOp::Gt => a[k] > b[k],
                        BinaryOp::Ge => a[k] >= b[k],
                        _ => return None,
                    })
                };
                let mut mask = [false; LANES];
                for (k, m) in mask.iter_mut().enumerate() {
                    *m = holds(k)?;
                }
                Some(mask)
            }
            _ => None,
        }
    }

    /// The values of an integer that is computed from indices alone.
    pub(super) fn integer(&self, expr: &Expr) -> Option<Lanes> {
        match expr {
            Expr::Index(nat, _) => self.nat(nat),
            Expr::Var(var) => self.scope.iter().rev().find(|(v, _)| **v == var.id)?.1,
            Expr::Literal(Literal::Int(_, value)) => Some([i64::try_from(*value).ok()?; LANES]),
            Expr::Cast(ty, value) if ty.scalar.is_integer() && ty.width == 1 => self.integer(value),
            Expr::Unary(UnaryOp::Neg, a) => Some(self.integer(a)?.map(i64::wrapping_neg)),
            Expr::Binary(op, a, b) => {
                let narrow = a.ty().scalar.width() <= 32;
                let (a, b) = (self.integer(a)?, self.integer(b)?);
                let shift = |n: i64| (n & 63) as u32;
                let of = |a: i64, b: i64| {
                    Some(match op {
                        BinaryOp::Add => a.wrapping_add(b),
                        BinaryOp::Sub => a.wrapping_sub(b),
                        BinaryOp::Mul => a.wrapping_mul(b),
                        BinaryOp::Div => a.checked_div(b).unwrap_or(0),
                        BinaryOp::Rem => a.checked_rem(b).unwrap_or(0),
                        BinaryOp::BitAnd => a & b,
                        BinaryOp::BitOr => a | b,
                        BinaryOp::BitXor => a ^ b,
                        BinaryOp::Shl => a.wrapping_shl(shift(b)),
                        BinaryOp::Shr => a.wrapping_shr(shift(b)),
                        _ => return None,
                    })
                };
                let mut lanes = [0; LANES];
                for (k, lane) in lanes.iter_mut().enumerate() {
                    let wide = of(a[k], b[k])?;
                    *lane = if narrow { i64::from(wide as i32) } else { wide };
                }
                Some(lanes)
            }
            Expr::Math(math @ (Math::Min | Math::Max), args) => {
                let [a, b] = args.as_slice() else { return None };
                let (a, b) = (self.integer(a)?, self.integer(b)?);
                let better = if *math == Math::Min { i64::min } else { i64::max };
                Some(std::array::from_fn(|k| better(a[k], b[k])))
            }
            Expr::Select(condition, a, b) => {
                let holds = self.truth(condition)?;
                let (a, b) = (self.integer(a)?, self.integer(b)?);
                Some(std::array::from_fn(|k| if holds[k] { a[k] } else { b[k] }))
            }
            _ => None,
        }
    }
}
