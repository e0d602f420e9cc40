//! Numbers that come from data. Nobody knows them before, but a program that tests one says how large it may be.

use lift_ir::{BinaryOp, Pred, UnaryOp, Var};
use lift_kernel::Expr;

use super::{Lanes, Walk};

impl<'k> Walk<'k> {
    /// Whether a condition that data decides is taken to hold: where it says that a number is in a range, it does, and the number
    /// is anywhere in that range from here on. Nothing of other conditions.
    pub(super) fn in_range(&mut self, condition: &'k Expr) -> Option<bool> {
        match condition {
            Expr::Test(pred) => {
                self.tested_range(pred);
                Some(true)
            }
            Expr::Unary(UnaryOp::Not, inside) => self.in_range(inside).map(|holds| !holds),
            Expr::Binary(BinaryOp::And, least, most) => {
                let var = match &**least {
                    Expr::Binary(BinaryOp::Le, zero, v) => {
                        self.integer(zero).filter(|z| z.first() == 0).and(variable(v))
                    }
                    Expr::Binary(BinaryOp::Ge, v, zero) => {
                        self.integer(zero).filter(|z| z.first() == 0).and(variable(v))
                    }
                    _ => None,
                }?;
                let Expr::Binary(BinaryOp::Lt, v, below) = &**most else { return None };
                let below = self.integer(below).filter(|_| variable(v) == Some(var))?.first();
                let lanes = self.below(below);
                self.scope.push((var, Some(lanes)));
                Some(true)
            }
            _ => None,
        }
    }

    /// Gives the indices that a test is about numbers in their range.
    fn tested_range(&mut self, pred: &Pred) {
        let Pred::And(parts) = pred else { return };
        for part in parts {
            let Pred::Lt(index, below) = part else { continue };
            let Some(var) = index.as_var() else { continue };
            let Some(below) = self.nat(below).map(|b| b.first()) else { continue };
            let place = self.scope.iter().rposition(|(v, lanes)| *v == var && lanes.is_none());
            if let Some(place) = place {
                let lanes = self.below(below);
                self.scope[place].1 = Some(lanes);
            }
        }
    }

    fn below(&mut self, below: i64) -> Lanes {
        self.seen.assumed.insert(format!("an index below {below} is anywhere, by data"));
        self.anywhere(below.max(1))
    }
}

fn variable(expr: &Expr) -> Option<&Var> {
    match expr {
        Expr::Var(v) => Some(&v.id),
        Expr::Cast(ty, inside) if ty.scalar.is_integer() => variable(inside),
        _ => None,
    }
}
