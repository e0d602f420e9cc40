//! Integers divided by what may be zero.
//!
//! A divisor that is proved to be other than zero is used as it is. Any other is compared with zero where it is
//! used: 1 takes the place of zero, and the host is told where that was. With
//! [`unchecked`](crate::Options::unchecked) it is not told; division by zero, which stops some processors, is not
//! done then either. So it is with what boundary functions divide by; those that reorder are looked at before anything
//! runs.

use lift_ir::{BinaryOp, Literal, Math, Nat, Pred, Span, UnaryOp};
use lift_kernel::{Expr, Stmt};

use super::control::is_simple;
use super::emitter::Emitter;
use crate::LowerError;
use crate::plan::Fault;

impl Emitter {
    /// What stands for the divisor `b` of `a / b` or `a % b`.
    pub(super) fn divisor(
        &mut self,
        op: BinaryOp,
        value: Expr,
        span: Option<Span>,
    ) -> Result<Expr, LowerError> {
        let fault = match op {
            BinaryOp::Div => Fault::Division,
            BinaryOp::Rem => Fault::Remainder,
            _ => return Ok(value),
        };
        let ty = value.ty();
        if !ty.scalar.is_integer() || self.is_nonzero(&value) {
            return Ok(value);
        }
        // In lanes that are not evaluated it may be zero still, and so may a size that has no room in its type:
        // as a value, such a size is an error already.
        let assumed = self.reached.knows_nonzero(&value);
        if assumed && ty.width == 1 {
            return Ok(value);
        }
        let is_size = |index| self.proves(&Pred::Ne(index, Nat::ZERO));
        let known = assumed || matches!(&value, Expr::Index(n, _) if is_size(n.clone()));
        let value = if is_simple(&value) { value } else { self.held("divisor", value) };
        let number = |v| Box::new(Expr::Literal(Literal::Int(ty.scalar, v)));
        let is_zero = Expr::Binary(BinaryOp::Eq, Box::new(value.clone()), number(0));
        if !known && !self.options.unchecked {
            self.fail_where(is_zero.clone(), span, fault)?;
        }
        Ok(match ty.width {
            1 => Expr::Select(Box::new(is_zero), number(1), Box::new(value)),
            _ => Expr::Math(Math::Select, vec![is_zero, *number(1), value]),
        })
    }

    /// An index that is defined whatever it divides by. It counts where a condition does not hold.
    pub(super) fn defined(
        &mut self,
        index: Nat,
        unless: &Pred,
        span: Option<Span>,
    ) -> Result<Nat, LowerError> {
        let mut open = Vec::new();
        index.each_divisor(&mut |d| open.push(d.clone()));
        open.retain(|d| !self.proves(&Pred::Ne(d.clone(), Nat::ZERO)));
        let is_zero = |d: &Nat| Pred::Eq(d.clone(), Nat::ZERO);
        let facts = self.facts.clone();
        let mut divisor = |d: &Nat| match open.contains(d) {
            false => d.clone(),
            true if facts.at_most(&Nat::ZERO, d) => Nat::max(d, &Nat::ONE),
            true => Nat::cond(is_zero(d), Nat::ONE, d.clone()),
        };
        let checked = if self.options.unchecked { &[] } else { open.as_slice() };
        for d in checked {
            let counts = Expr::Unary(UnaryOp::Not, Box::new(Expr::Test(unless.clone())));
            let zero = Expr::Test(is_zero(&d.with_divisors(&mut divisor)));
            let failed = Expr::Binary(BinaryOp::And, Box::new(counts), Box::new(zero));
            self.fail_where(failed, span, Fault::Division)?;
        }
        Ok(index.with_divisors(&mut divisor))
    }

    /// A value in a variable.
    fn held(&mut self, name: &str, value: Expr) -> Expr {
        let var = self.fresh_variable(name, value.ty());
        self.emit(Stmt::Declare { var: var.clone(), value: Some(value) });
        Expr::Var(var)
    }

    /// Whether an integer is other than zero, in every lane, whatever its variables are.
    fn is_nonzero(&self, value: &Expr) -> bool {
        match value {
            Expr::Literal(Literal::Int(_, v)) => *v != 0,
            Expr::Index(index, scalar) => {
                let (low, high) = scalar.integer_range().unwrap_or((0, 0));
                self.facts.lower(index).is_some_and(|n| n >= low)
                    && self.facts.upper(index).is_some_and(|n| n <= high)
                    && self.proves(&Pred::Ne(index.clone(), Nat::ZERO))
            }
            Expr::Splat(_, lane) => self.is_nonzero(lane),
            Expr::Vector(_, lanes) => lanes.iter().all(|lane| self.is_nonzero(lane)),
            Expr::Select(_, a, b) => self.is_nonzero(a) && self.is_nonzero(b),
            Expr::Binary(BinaryOp::BitOr, a, b) => self.is_nonzero(a) || self.is_nonzero(b),
            Expr::Math(Math::Max, args) => args.iter().any(is_positive),
            Expr::Math(Math::Select, args) => args.iter().skip(1).all(|a| self.is_nonzero(a)),
            Expr::Literal(_)
            | Expr::Var(_)
            | Expr::Test(_)
            | Expr::Load(..)
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Math(..)
            | Expr::Cast(..)
            | Expr::Lane(..)
            | Expr::Extern(..)
            | Expr::Shuffle(..) => false,
        }
    }
}

fn is_positive(value: &Expr) -> bool {
    match value {
        Expr::Literal(Literal::Int(_, v)) => *v > 0,
        Expr::Splat(_, lane) => is_positive(lane),
        _ => false,
    }
}
