//! Arrays, tuples and vectors from their parts, and back.

use super::Machine;
use super::layout::divisible;
use crate::array::Array;
use crate::builder::Builder;
use crate::code::Call;
use crate::error::{Eval, fault};
use crate::number::ScalarValue;
use crate::value::{Value, Vector, WIDTHS};

impl Machine<'_> {
    /// `repeat(n, v)[i] = v`
    pub(super) fn repeat(&mut self, call: &Call) -> Eval<Value> {
        let count = self.count(call, 0)?;
        let value = self.eval(&call.args[0])?;
        // Not stored as many times, but no array may be larger than it could be stored.
        Builder::reserve(&value, count, &mut self.meter)?;
        if let Value::Array(row) = &value {
            return Ok(Value::Array(row.repeated(count)?));
        }
        let mut one = Builder::like(&value, 1, &mut self.meter)?;
        one.push(&value)?;
        Ok(Value::Array(one.finish().stretched(count)))
    }

    /// `[a, b, …]`
    pub(super) fn array_literal(&mut self, call: &Call) -> Eval<Value> {
        let elements: Eval<Vec<Value>> = call.args.iter().map(|a| self.eval(a)).collect();
        let elements = elements?;
        let Some(first) = elements.first() else {
            return fault("an array without elements needs an element type");
        };
        let mut out = Builder::like(first, elements.len(), &mut self.meter)?;
        elements.iter().try_for_each(|e| out.push(e))?;
        Ok(Value::Array(out.finish()))
    }

    /// `(a, b, …).0 = a`
    pub(super) fn field(&mut self, call: &Call, index: u32) -> Eval<Value> {
        let tuple = self.eval(&call.args[0])?;
        match &tuple {
            Value::Tuple(components) => Ok(components[index as usize].clone()),
            other => fault(format!("`.{index}` of a value of type `{}`", other.ty())),
        }
    }

    /// `as_vector(m, xs)[i] = Sxm(xs[i * m], …, xs[i * m + m - 1])`
    pub(super) fn as_vector(&mut self, call: &Call) -> Eval<Value> {
        let (width, xs) = (self.width(call, 0)?, self.array(call, 0)?);
        divisible(width, xs.len(), "as_vector")?;
        Ok(Value::Array(xs.vectors(width)?))
    }

    /// `as_scalar(as_vector(m, xs)) = xs`
    pub(super) fn as_scalar(&mut self, call: &Call) -> Eval<Value> {
        let vectors = self.array(call, 0)?;
        Ok(Value::Array(vectors.scalars(&mut self.meter)?))
    }

    /// A size argument that is a number of lanes.
    pub(super) fn width(&self, call: &Call, index: usize) -> Eval<usize> {
        let width = self.size(&call.sizes[index])?;
        match usize::try_from(width) {
            Ok(width) if WIDTHS.contains(&width) => Ok(width),
            _ => fault(format!("a vector has 2, 3, 4, 8 or 16 lanes, not {width}")),
        }
    }

    /// `Sxm(a, b, …)`
    pub(super) fn vector_literal(&mut self, call: &Call) -> Eval<Value> {
        let mut lanes = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            lanes.push(self.scalar(arg)?);
        }
        vector(lanes)
    }

    /// `Sxm(a) = Sxm(a, a, …)`
    pub(super) fn splat(&mut self, call: &Call) -> Eval<Value> {
        let width = self.width(call, 0)?;
        let lane = self.scalar(&call.args[0])?;
        vector(vec![lane; width])
    }

    /// `Sxm(a, b, …)[0] = a`
    pub(super) fn lane(&mut self, call: &Call) -> Eval<Value> {
        let index = self.count(call, 0)?;
        let vector = self.eval(&call.args[0])?;
        match (&vector, vector.get(index)) {
            (Value::Vector(_), Some(lane)) => Ok(lane),
            _ => fault(format!("lane {index} of a value of type `{}`", vector.ty())),
        }
    }

    /// `vectorize(m, f)(v, …)[i] = f(v[i], …)`, through tuples.
    pub(super) fn vectorize(&mut self, call: &Call) -> Eval<Value> {
        let (width, f) = (self.width(call, 0)?, &call.functions[0]);
        let args: Eval<Vec<Value>> = call.args.iter().map(|a| self.eval(a)).collect();
        let args = args?;
        let mut results = Vec::with_capacity(width);
        for lane in 0..width {
            self.meter.step(1)?;
            for (param, arg) in f.params.iter().zip(&args) {
                let narrow = narrowed(arg, lane)?;
                self.bind(param, narrow);
            }
            results.push(self.eval(&f.body)?);
        }
        widened(&results)
    }
}

pub(super) fn vector(lanes: Vec<ScalarValue>) -> Eval<Value> {
    match Vector::new(lanes) {
        Some(vector) => Ok(Value::Vector(vector)),
        None => fault("a vector has 2, 3, 4, 8 or 16 lanes of one scalar type"),
    }
}

/// Lane `i` of a vector, or of every vector in a tuple.
fn narrowed(value: &Value, lane: usize) -> Eval<Value> {
    match value {
        Value::Vector(v) if lane < v.lanes().len() => Ok(Value::Scalar(v.lanes()[lane])),
        Value::Tuple(components) => {
            let narrow: Eval<Vec<Value>> = components.iter().map(|c| narrowed(c, lane)).collect();
            Ok(Value::tuple(narrow?))
        }
        Value::Vector(_) | Value::Scalar(_) | Value::Array(_) => {
            fault(format!("`vectorize` takes vectors, found `{}`", value.ty()))
        }
    }
}

/// The vector whose lanes these are, or the tuple of such vectors.
fn widened(lanes: &[Value]) -> Eval<Value> {
    match lanes.first() {
        Some(Value::Tuple(components)) => {
            let wide: Eval<Vec<Value>> = (0..components.len())
                .map(|index| {
                    let lanes: Vec<Value> = lanes.iter().filter_map(|l| l.get(index)).collect();
                    widened(&lanes)
                })
                .collect();
            Ok(Value::tuple(wide?))
        }
        _ => vector(lanes.iter().filter_map(Value::as_scalar).collect()),
    }
}

impl Array {
    /// `out[i] = self[0]` for `i` below `len`. Requires: one element.
    fn stretched(&self, len: usize) -> Array {
        self.viewed(&|view| {
            let mut view = view.clone();
            view.dims[0] = crate::strided::Dim { len, stride: 0 };
            view
        })
    }
}
