//! What is checked at run time: indices that may be out of range. Divisors are in `division`.
//!
//! An index that is proved in range is used as it is. Any other is compared with the length where it
//! is used, in a type that holds both: out of range, element 0 is read in its place, or nothing where there may be
//! none, and the host is told which index it was. With [`unchecked`](crate::Options::unchecked) none is.

use std::rc::Rc;

use lift_ir::{BinaryOp, Literal, Nat, Pred, Range, Scalar, Space, Span, Type, UnaryOp};
use lift_kernel::{Buffer, Expr, Stmt, ValueType};

use super::emitter::Emitter;
use super::view::{ArrayView, Place, View};
use super::{Translator, lanes};
use crate::LowerError;
use crate::plan::{Check, Fault, Index, PlanBuffer, Role};

impl Translator {
    /// `xs[value]`, of elements of a type.
    pub(super) fn element(
        &mut self,
        value: Expr,
        xs: &ArrayView,
        ty: &Type,
        span: Option<Span>,
    ) -> Result<View, LowerError> {
        match value {
            Expr::Index(index, scalar) => {
                let index = self.out.simplify(&index);
                self.out.written.indices.push((index.clone(), span));
                let proved =
                    self.out.options.unchecked || self.out.proves(&inside(&index, &xs.length));
                if proved {
                    let (value, length) = (index.clone(), xs.length.clone());
                    self.out.written.values.push(Index { value, length, scalar, span });
                } else if !self.out.has_room(&index, scalar) {
                    return self.element_at_value(Expr::Index(index, scalar), xs, ty, span);
                }
                self.element_at(&index, xs, ty, span)
            }
            Expr::Literal(Literal::Int(_, i)) => self.element_at(&Nat::int(i), xs, ty, span),
            other => self.element_at_value(other, xs, ty, span),
        }
    }

    /// The element at an index, which is checked where it is not proved in range.
    pub(super) fn element_at(
        &mut self,
        index: &Nat,
        xs: &ArrayView,
        ty: &Type,
        span: Option<Span>,
    ) -> Result<View, LowerError> {
        let inside = inside(index, &xs.length);
        if self.out.options.unchecked || self.out.proves(&inside) {
            return xs.read(self, index);
        }
        let outside = Expr::Unary(UnaryOp::Not, Box::new(Expr::Test(inside.clone())));
        self.out.report(outside, &xs.length, span)?;
        if self.out.proves(&Pred::Lt(Nat::ZERO, xs.length.clone())) {
            return xs.read(self, &Nat::cond(inside, index.clone(), Nat::ZERO));
        }
        self.element_if(&inside, index, xs, ty)
    }

    /// As [`Translator::element_at`], of an index that is found out at run time.
    fn element_at_value(
        &mut self,
        value: Expr,
        xs: &ArrayView,
        ty: &Type,
        span: Option<Span>,
    ) -> Result<View, LowerError> {
        let scalar = value.ty().scalar;
        let Some(compared) = compared(scalar).filter(|_| !self.out.options.unchecked) else {
            let range = match scalar.integer_range() {
                Some((low, high)) => Range::between(Nat::int(low), Nat::int(high)),
                None => Range::any(),
            };
            let var = self.out.fresh_index("at", range);
            self.out.emit(Stmt::Index { var: var.clone(), value });
            return self.element_at(&Nat::var(&var), xs, ty, span);
        };
        let own = self.out.fresh_variable("at", ValueType::scalar(compared));
        let value = Expr::Cast(own.ty, Box::new(value));
        self.out.emit(Stmt::Declare { var: own.clone(), value: Some(value) });
        let binary = |op, a: Expr, b: Expr| Expr::Binary(op, Box::new(a), Box::new(b));
        let own = Expr::Var(own);
        let zero = Expr::Literal(Literal::Int(compared, 0));
        let inside = binary(
            BinaryOp::And,
            binary(BinaryOp::Le, zero.clone(), own.clone()),
            binary(BinaryOp::Lt, own.clone(), Expr::Index(xs.length.clone(), compared)),
        );
        self.out.report(Expr::Unary(UnaryOp::Not, Box::new(inside.clone())), &xs.length, span)?;
        // Not negative, and below the length unless that is 0.
        let var = self.out.fresh_index("at", Range::at_least(Nat::ZERO));
        let value = Expr::Select(Box::new(inside), Box::new(own), Box::new(zero));
        self.out.emit(Stmt::Index { var: var.clone(), value });
        let (index, within) = (Nat::var(&var), Pred::Lt(Nat::var(&var), xs.length.clone()));
        if self.out.proves(&Pred::Lt(Nat::ZERO, xs.length.clone())) {
            self.out.assume_of(&var, &within);
            return xs.read(self, &index);
        }
        self.element_if(&within, &index, xs, ty)
    }

    /// The element at an index where it is there, zeros otherwise.
    fn element_if(
        &mut self,
        there: &Pred,
        index: &Nat,
        xs: &ArrayView,
        ty: &Type,
    ) -> Result<View, LowerError> {
        let nothing = zeros(ty)?;
        let (xs, index) = (xs.clone(), index.clone());
        let element = Rc::new(move |t: &mut Translator| xs.read(t, &index));
        self.choose_later(ty, there, element, Rc::new(move |_| Ok(nothing.clone())))
    }
}

impl Emitter {
    /// Whether an index is certainly a value of a type.
    fn has_room(&self, index: &Nat, scalar: Scalar) -> bool {
        let Some((low, high)) = scalar.integer_range() else { return false };
        self.facts.at_most(&Nat::int(low), index) && self.facts.at_most(index, &Nat::int(high))
    }

    fn report(
        &mut self,
        outside: Expr,
        length: &Nat,
        span: Option<Span>,
    ) -> Result<(), LowerError> {
        let fault = Fault::Index { length: length.clone() };
        self.fail_where(outside, Check { span, fault })
    }

    /// Leaves the number of a check in the status where it fails: where a condition holds, in a lane that is
    /// evaluated.
    pub(super) fn fail_where(&mut self, failed: Expr, check: Check) -> Result<(), LowerError> {
        let failed = self.in_any_lane(failed);
        self.checks.push(check);
        let number = Literal::Int(Scalar::I32, self.checks.len() as i128);
        let access = self.status_place().access(self);
        let then = vec![Stmt::Store { access, value: Expr::Literal(number) }];
        self.emit(Stmt::If { condition: failed, then, otherwise: Vec::new() });
        Ok(())
    }

    fn status_place(&mut self) -> Place {
        let known = self.buffers.iter().find(|b| b.role == Role::Status).map(|b| b.buffer.id);
        let buffer = known.unwrap_or_else(|| {
            let id = self.fresh_buffer();
            let buffer = Buffer {
                id,
                name: self.buffer_name("status"),
                scalar: Scalar::I32,
                length: Nat::int(1),
                stages: 1,
                space: Space::Global,
                items: Vec::new(),
                align: Scalar::I32.bytes() as u32,
                heap: false,
            };
            self.buffers.push(PlanBuffer { buffer, role: Role::Status });
            id
        });
        Place {
            buffer,
            index: Nat::int(0),
            stage: Nat::ZERO,
            items: Vec::new(),
            scalar: Scalar::I32,
            width: 1,
        }
    }
}

pub(super) fn inside(index: &Nat, length: &Nat) -> Pred {
    Pred::And(vec![Pred::Le(Nat::ZERO, index.clone()), Pred::Lt(index.clone(), length.clone())])
}

/// The type in which values of a type are compared with a length, where the type of indices may have no room for
/// them.
fn compared(scalar: Scalar) -> Option<Scalar> {
    match scalar {
        Scalar::U64 => Some(Scalar::U64),
        Scalar::I64 | Scalar::U32 => Some(Scalar::I64),
        Scalar::Bool
        | Scalar::I8
        | Scalar::I16
        | Scalar::I32
        | Scalar::U8
        | Scalar::U16
        | Scalar::F16
        | Scalar::F32
        | Scalar::F64 => None,
    }
}

/// The value of a type that is zero throughout.
fn zeros(ty: &Type) -> Result<View, LowerError> {
    Ok(match ty {
        Type::Scalar(scalar) => View::Value(Expr::Literal(zero(*scalar))),
        Type::Vector(scalar, width) => {
            View::Value(Expr::Splat(lanes(width)?, Box::new(Expr::Literal(zero(*scalar)))))
        }
        Type::Tuple(items) => View::Tuple(items.iter().map(zeros).collect::<Result<_, _>>()?),
        Type::Array(element, length) => {
            let element = zeros(element)?;
            View::array(length, move |_, _| Ok(element.clone()))
        }
    })
}

fn zero(scalar: Scalar) -> Literal {
    match scalar {
        Scalar::Bool => Literal::Bool(false),
        _ => Literal::float(scalar, 0.0).unwrap_or(Literal::Int(scalar, 0)),
    }
}
