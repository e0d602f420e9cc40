//! What the operations of an expression cost, without those inside.

use lift_ir::{BinaryOp, Math, UnaryOp};
use lift_kernel::{Expr, ValueType};

/// Operations by kind; of vectors, one for each lane.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(super) struct Operations {
    /// Additions, multiplications, comparisons and so on of floating-point numbers. `fma` is two.
    pub flops: f64,
    /// Of those, divisions, roots, exponentials and trigonometry.
    pub special: f64,
    /// On integers and truth values; not those of indices.
    pub integer: f64,
}

pub(super) fn of(expr: &Expr) -> Operations {
    match expr {
        Expr::Unary(UnaryOp::Neg | UnaryOp::Not | UnaryOp::BitNot, value) => {
            arithmetic(value.ty(), 1, false)
        }
        Expr::Binary(op, a, b) => {
            let width = a.ty().width.max(b.ty().width);
            let division = matches!(op, BinaryOp::Div | BinaryOp::Rem);
            arithmetic(ValueType { scalar: a.ty().scalar, width }, 1, division)
        }
        Expr::Math(math, args) => {
            let Some(first) = args.last().map(Expr::ty) else { return Operations::default() };
            let width = args.iter().map(|a| a.ty().width).max().unwrap_or(1);
            let ty = ValueType { scalar: first.scalar, width };
            match math {
                Math::Clamp | Math::Fma => arithmetic(ty, 2, false),
                Math::Dot => {
                    arithmetic(ValueType { width: (2 * width).saturating_sub(1), ..ty }, 1, false)
                }
                // Bits are looked at as they are.
                Math::Select | Math::ToBits | Math::FromBits => Operations::default(),
                _ => arithmetic(ty, 1, math.is_approximate()),
            }
        }
        // What target code does is not known; it is called for a reason.
        Expr::Extern(_, args) => {
            let width = args.iter().map(|a| a.ty().width).max().unwrap_or(1);
            arithmetic(ValueType { scalar: expr.ty().scalar, width }, 1, false)
        }
        Expr::Literal(_)
        | Expr::Shuffle(..)
        | Expr::Var(_)
        | Expr::Index(..)
        | Expr::Test(_)
        | Expr::Load(..)
        | Expr::Cast(..)
        | Expr::Select(..)
        | Expr::Vector(..)
        | Expr::Splat(..)
        | Expr::Lane(..) => Operations::default(),
    }
}

fn arithmetic(ty: ValueType, each: u32, special: bool) -> Operations {
    let count = f64::from(each) * f64::from(ty.width);
    match ty.scalar.is_float() {
        true => {
            Operations { flops: count, special: if special { count } else { 0.0 }, integer: 0.0 }
        }
        false => Operations { integer: count, ..Operations::default() },
    }
}
