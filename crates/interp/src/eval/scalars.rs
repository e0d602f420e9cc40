//! Operations on scalars, elementwise on vectors.

use lift_ir::{BinaryOp, Math, Scalar, UnaryOp};

use super::Machine;
use super::make::vector;
use crate::code::{Call, Node};
use crate::error::{Eval, fault};
use crate::functions;
use crate::number::ScalarValue;
use crate::ops;
use crate::value::Value;

const NOT_APPLICABLE: &str = "the operation does not apply to these types";

impl Machine<'_> {
    pub(super) fn scalar(&mut self, node: &Node) -> Eval<ScalarValue> {
        match self.eval(node)? {
            Value::Scalar(x) => Ok(x),
            other => fault(format!("expected a scalar, found `{}`", other.ty())),
        }
    }

    pub(super) fn cast(&mut self, call: &Call, scalar: Scalar) -> Eval<Value> {
        self.elementwise(call, |args| Ok(ops::cast(args[0], scalar)))
    }

    pub(super) fn unary(&mut self, call: &Call, op: UnaryOp) -> Eval<Value> {
        self.elementwise(call, |args| ops::unary(op, args[0]).ok_or(NOT_APPLICABLE))
    }

    /// Of two scalars see [`Machine::binary`]; here one is a vector, and both are evaluated.
    pub(super) fn elementwise_binary(&mut self, call: &Call, op: BinaryOp) -> Eval<Value> {
        self.elementwise(call, |args| ops::binary(op, args[0], args[1]))
    }

    pub(super) fn math(&mut self, call: &Call, math: Math) -> Eval<Value> {
        if math == Math::Dot {
            return self.dot(call);
        }
        self.elementwise(call, |args| functions::math(math, args).ok_or(NOT_APPLICABLE))
    }

    /// `dot(v, w) = v[0] * w[0] + v[1] * w[1] + …`, from the left.
    fn dot(&mut self, call: &Call) -> Eval<Value> {
        let (v, w) = (self.eval(&call.args[0])?, self.eval(&call.args[1])?);
        let (Value::Vector(v), Value::Vector(w)) = (&v, &w) else { return fault(NOT_APPLICABLE) };
        let mut total = None;
        for (a, b) in v.lanes().iter().zip(w.lanes()) {
            let product = ops::binary(BinaryOp::Mul, *a, *b).or_else(fault)?;
            total = Some(match total {
                None => product,
                Some(total) => ops::binary(BinaryOp::Add, total, product).or_else(fault)?,
            });
        }
        total.map_or_else(|| fault(NOT_APPLICABLE), |total| Ok(Value::Scalar(total)))
    }

    /// `f` of scalars; lane by lane where an argument is a vector, scalars then broadcast.
    fn elementwise(
        &mut self,
        call: &Call,
        f: impl Fn(&[ScalarValue]) -> Result<ScalarValue, &'static str>,
    ) -> Eval<Value> {
        let mut args = [const { Value::Scalar(ScalarValue::Bool(false)) }; 3];
        let Some(args) = args.get_mut(..call.args.len()) else { return fault(NOT_APPLICABLE) };
        let mut width = None;
        for (arg, node) in args.iter_mut().zip(&call.args) {
            *arg = self.eval(node)?;
            if let Value::Vector(v) = arg {
                width = Some(v.lanes().len());
            }
        }
        let mut scalars = [ScalarValue::Bool(false); 3];
        let scalars = &mut scalars[..args.len()];
        let mut at = |lane: usize| {
            for (scalar, arg) in scalars.iter_mut().zip(args.iter()) {
                *scalar = match arg {
                    Value::Scalar(x) => *x,
                    Value::Vector(v) => match v.lanes().get(lane) {
                        Some(x) => *x,
                        None => return fault("vectors of different widths"),
                    },
                    Value::Tuple(_) | Value::Array(_) => return fault(NOT_APPLICABLE),
                };
            }
            f(scalars).or_else(fault)
        };
        match width {
            None => at(0).map(Value::Scalar),
            Some(width) => vector((0..width).map(at).collect::<Eval<Vec<_>>>()?),
        }
    }
}
