//! Points of domains and their numbers, by going through all points in order.

use std::sync::Arc;

use lift_domain::{Domain, Level};
use lift_ir::Scalar;
use lift_nat::Var;

use super::Machine;
use crate::code::Call;
use crate::error::{Eval, RunError, fault};
use crate::number::ScalarValue;
use crate::value::Value;

/// The points of a domain for the sizes at hand, in lexicographic order.
pub(super) type Points = Arc<Vec<Vec<i64>>>;

impl Machine<'_> {
    /// The number of a point.
    pub(super) fn rank(&mut self, call: &Call, domain: &Arc<Domain>) -> Eval<Value> {
        let mut point = Vec::new();
        for arg in &call.args {
            let index = self.eval(arg)?;
            match index.to_integer() {
                Some(index) => point.push(index),
                None => return fault(format!("an index is an integer, found `{}`", index.ty())),
            }
        }
        let small: Vec<i64> = point.iter().filter_map(|x| i64::try_from(*x).ok()).collect();
        let points = self.points(domain)?;
        match points.binary_search(&small) {
            Ok(number) if small.len() == point.len() => {
                Ok(Value::Scalar(ScalarValue::I32(number as i32)))
            }
            _ => fault(format!("the point {} is outside `{domain}`", written(&point))),
        }
    }

    /// The point of a number.
    pub(super) fn point(&mut self, call: &Call, domain: &Arc<Domain>) -> Eval<Value> {
        let number = match call.args.first() {
            Some(number) => self.eval(number)?,
            None => return fault("`point` takes a number"),
        };
        let points = self.points(domain)?;
        let is_wide = matches!(number, Value::Scalar(ScalarValue::I64(_)));
        let number = number.to_integer().unwrap_or(-1);
        let Some(point) = usize::try_from(number).ok().and_then(|n| points.get(n)) else {
            let text =
                format!("number {number} is not one of the {} points of `{domain}`", points.len());
            return fault(text);
        };
        let mut indices: Vec<Value> = Vec::new();
        for x in point {
            match i32::try_from(*x) {
                _ if is_wide => indices.push(Value::Scalar(ScalarValue::I64(*x))),
                Ok(x) => indices.push(Value::Scalar(ScalarValue::I32(x))),
                Err(_) => {
                    let point = written(point);
                    let text =
                        format!("an index of the point {point} of `{domain}` has no room in `i32`");
                    return fault(text);
                }
            }
        }
        match indices.pop() {
            Some(only) if indices.is_empty() => Ok(only),
            last => Ok(Value::tuple(indices.into_iter().chain(last).collect())),
        }
    }

    fn points(&mut self, domain: &Arc<Domain>) -> Eval<Points> {
        let mut sizes = Vec::new();
        for var in domain.sizes() {
            match self.size_of(&var) {
                Some(value) => sizes.push(value),
                None => return fault(format!("the size `{var}` has no value")),
            }
        }
        let key = (Arc::as_ptr(domain).addr(), sizes);
        if let Some(known) = self.points.get(&key) {
            return Ok(known.clone());
        }
        let Some(levels) = domain.levels() else {
            return fault(format!("no formula counts the points of `{domain}`"));
        };
        let mut found = Vec::new();
        self.extend_points(domain, levels.levels(), &mut Vec::new(), &mut found)?;
        let found = Arc::new(found);
        self.points.insert(key, found.clone());
        Ok(found)
    }

    /// Adds the points that begin with some indices.
    fn extend_points(
        &mut self,
        domain: &Domain,
        levels: &[Level],
        first: &mut Vec<i128>,
        found: &mut Vec<Vec<i64>>,
    ) -> Eval<()> {
        let here = |m: &Self, v: &Var| match (0..first.len()).find(|k| Domain::index_var(*k) == *v)
        {
            Some(k) => first.get(k).copied(),
            None => m.size_of(v),
        };
        let Some(level) = levels.get(first.len()) else {
            // The ranges hold the points, and nothing else.
            let inside = domain.contains(first, &|v| here(self, v));
            let inside = inside.map_err(|e| Box::new(RunError::new(e.to_string())))?;
            if inside {
                self.meter.array(Scalar::I64, [first.len()])?;
                found.push(first.iter().filter_map(|x| i64::try_from(*x).ok()).collect());
            }
            return Ok(());
        };
        let value = |n: &lift_nat::Nat| {
            n.eval(&|v| here(self, v)).map_err(|e| Box::new(RunError::new(e.to_string())))
        };
        let (low, high) = (value(&level.low)?, value(&level.high)?);
        let mut next = low;
        while next <= high {
            self.meter.step(1)?;
            first.push(next);
            self.extend_points(domain, levels, first, found)?;
            first.pop();
            next += 1;
        }
        Ok(())
    }
}

/// `(1, 2)`
fn written(point: &[impl ToString]) -> String {
    let list: Vec<String> = point.iter().map(ToString::to_string).collect();
    format!("({})", list.join(", "))
}
