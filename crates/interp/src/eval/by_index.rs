//! Folds and updates whose results are chosen by data.

use super::Machine;
use crate::builder::Builder;
use crate::code::{Call, Node};
use crate::error::{Eval, fault};
use crate::number::ScalarValue;
use crate::value::Value;

impl Machine<'_> {
    /// Result `j` of `reduce_by_index(k, z, f, is, xs)` is the fold from z, from the left, of those `xs[i]` with
    /// `is[i] == j`.
    pub(super) fn reduce_by_index(&mut self, node: &Node, call: &Call) -> Eval<Value> {
        let count = self.count(call, 0)?;
        let start = self.eval(&call.args[0])?;
        let (indices, xs) = (self.array(call, 1)?, self.array(call, 2)?);
        if indices.len() != xs.len() {
            return fault(format!("{} indices for {} elements", indices.len(), xs.len()));
        }
        self.meter.step(xs.len())?;
        if count == 0 {
            return self.empty(&node.ty);
        }
        let mut out = Builder::like(&start, count, &mut self.meter)?;
        let mut totals = vec![start; count];
        for i in 0..xs.len() {
            let Some(place) = place(&indices.element(i)).filter(|place| *place < count) else {
                continue;
            };
            let before = std::mem::replace(&mut totals[place], Value::bool(false));
            totals[place] = self.fold(&call.functions[0], before, &xs, i)?;
        }
        totals.iter().try_for_each(|total| out.push(total))?;
        Ok(Value::Array(out.finish()))
    }
}

impl Machine<'_> {
    /// `update(ys, is, xs)` is ys with `xs[i]` at index `is[i]`.
    pub(super) fn update(&mut self, call: &Call) -> Eval<Value> {
        let (ys, indices, xs) = (self.array(call, 0)?, self.array(call, 1)?, self.array(call, 2)?);
        if indices.len() != xs.len() {
            return fault(format!("{} indices for {} elements", indices.len(), xs.len()));
        }
        self.meter.step(ys.len() + xs.len())?;
        let mut replaced: Vec<Option<usize>> = vec![None; ys.len()];
        for i in 0..xs.len() {
            let place = place(&indices.element(i));
            match place.and_then(|place| replaced.get_mut(place)) {
                Some(Some(_)) => {
                    let index = indices.element(i);
                    return fault(format!("`update` has two elements for index {index}"));
                }
                Some(by) => *by = Some(i),
                None => {}
            }
        }
        if ys.is_empty() {
            return Ok(Value::Array(ys));
        }
        let mut out = Builder::like(&ys.element(0), ys.len(), &mut self.meter)?;
        for (j, by) in replaced.iter().enumerate() {
            out.push(&by.map_or_else(|| ys.element(j), |i| xs.element(i)))?;
        }
        Ok(Value::Array(out.finish()))
    }
}

/// An index as a number of a place, if it can be one.
fn place(index: &Value) -> Option<usize> {
    match index {
        Value::Scalar(ScalarValue::I32(i)) => usize::try_from(*i).ok(),
        Value::Scalar(ScalarValue::I64(i)) => usize::try_from(*i).ok(),
        _ => None,
    }
}
