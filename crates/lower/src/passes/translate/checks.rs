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

/// How many values a check that fails leaves behind its number.
const TOLD: usize = 3;

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
        self.out.report(outside, Some(index), &xs.length, span)?;
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
        if let Some((value, known)) = self.out.within(&value, &xs.length) {
            let range = Range::between(Nat::int(known.low), Nat::int(known.high));
            let var = self.out.fresh_index("at", range);
            self.out.assume_of(&var, &Pred::Lt(Nat::var(&var), xs.length.clone()));
            self.out.emit(Stmt::Index { var: var.clone(), value });
            return xs.read(self, &Nat::var(&var));
        }
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
        let outside = Expr::Unary(UnaryOp::Not, Box::new(inside.clone()));
        self.out.report(outside, None, &xs.length, span)?;
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
    pub(super) fn has_room(&self, index: &Nat, scalar: Scalar) -> bool {
        let Some((low, high)) = scalar.integer_range() else { return false };
        self.facts.at_most(&Nat::int(low), index) && self.facts.at_most(index, &Nat::int(high))
    }

    /// Says that an index is outside, and which one where it is known and certainly an `i32`.
    fn report(
        &mut self,
        outside: Expr,
        index: Option<&Nat>,
        length: &Nat,
        span: Option<Span>,
    ) -> Result<(), LowerError> {
        let fault = Fault::Index { length: length.clone() };
        let told = index.filter(|index| self.has_room(index, Scalar::I32));
        let told = told.map(|index| Expr::Index(index.clone(), Scalar::I32));
        self.fail_telling(outside, span, fault, told.into_iter().collect())
    }

    /// Leaves the number of a check in the status where it fails: where a condition holds, in a lane that is
    /// evaluated.
    pub(super) fn fail_where(
        &mut self,
        failed: Expr,
        span: Option<Span>,
        fault: Fault,
    ) -> Result<(), LowerError> {
        self.fail_telling(failed, span, fault, Vec::new())
    }

    /// As [`Emitter::fail_where`], with values behind the number: `i32`s, of which the first three have room. All is one store,
    /// so what several work-items leave is not mixed.
    pub(super) fn fail_telling(
        &mut self,
        failed: Expr,
        span: Option<Span>,
        fault: Fault,
        mut values: Vec<Expr>,
    ) -> Result<(), LowerError> {
        let failed = self.in_any_lane(failed);
        values.truncate(TOLD);
        self.checks.push(Check { span, fault, told: values.len() });
        let number = Expr::Literal(Literal::Int(Scalar::I32, self.checks.len() as i128));
        let width = (1 + values.len()).next_power_of_two();
        let value = match values.is_empty() {
            true => number,
            false => {
                let nothing = Expr::Literal(Literal::Int(Scalar::I32, 0));
                let mut words: Vec<Expr> = [number].into_iter().chain(values).collect();
                words.resize(width, nothing);
                Expr::Vector(Scalar::I32, words)
            }
        };
        let access = self.status_place(width as u32).access(self);
        let then = vec![Stmt::Store { access, value }];
        self.emit(Stmt::If { condition: failed, then, otherwise: Vec::new() });
        Ok(())
    }

    fn status_place(&mut self, width: u32) -> Place {
        let known = self.buffers.iter_mut().find(|b| b.role == Role::Status);
        let align = Scalar::I32.bytes() as u32 * width;
        let known = known.map(|status| {
            // As long as what any check leaves there.
            if status.buffer.align < align {
                status.buffer.align = align;
                status.buffer.length = Nat::int(i128::from(width));
            }
            status.buffer.id
        });
        let buffer = known.unwrap_or_else(|| {
            let id = self.fresh_buffer();
            let buffer = Buffer {
                id,
                name: self.buffer_name("status"),
                scalar: Scalar::I32,
                length: Nat::int(i128::from(width)),
                stages: 1,
                space: Space::Global,
                items: Vec::new(),
                align,
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
            width,
        }
    }
}

pub(super) fn inside(index: &Nat, length: &Nat) -> Pred {
    Pred::And(vec![Pred::Le(Nat::ZERO, index.clone()), Pred::Lt(index.clone(), length.clone())])
}

/// The type in which values of a type are compared with a length, where the type of indices may have no room for
/// them.
pub(super) fn compared(scalar: Scalar) -> Option<Scalar> {
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
        Type::Scalar(scalar) => View::Value(Expr::Literal(Literal::zero(*scalar))),
        Type::Vector(scalar, width) => {
            View::Value(Expr::Splat(lanes(width)?, Box::new(Expr::Literal(Literal::zero(*scalar)))))
        }
        Type::Tuple(items) => View::Tuple(items.iter().map(zeros).collect::<Result<_, _>>()?),
        Type::Array(element, length) => {
            let element = zeros(element)?;
            View::array(length, move |_, _| Ok(element.clone()))
        }
    })
}
