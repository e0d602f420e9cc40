//! Patterns that apply functions to elements: maps, folds, iteration.

use lift_ir::{Scalar, Type};

use super::Machine;
use crate::array::Array;
use crate::builder::Builder;
use crate::code::{Call, Function, Node};
use crate::error::{Eval, fault};
use crate::number::{Element, with_scalar};
use crate::value::Value;

impl Machine<'_> {
    /// `map(f, [x0, x1, …]) = [f(x0), f(x1), …]`, whatever its kind.
    pub(super) fn map(&mut self, node: &Node, call: &Call) -> Eval<Value> {
        let xs = self.array(call, 0)?;
        self.map_over(node, call, &xs)
    }

    /// `mapSeqSlide(size, step)(f, xs) = map(f, slide(size, step, xs))`
    pub(super) fn map_slide(&mut self, node: &Node, call: &Call) -> Eval<Value> {
        let windows = self.windows(call)?;
        self.map_over(node, call, &windows)
    }

    fn map_over(&mut self, node: &Node, call: &Call, xs: &Array) -> Eval<Value> {
        let f = &call.functions[0];
        self.tabulate(node, xs.len(), &f.body, |machine, i| {
            machine.bind_element(&f.params[0], xs, i);
        })
    }

    /// `generate(n, f) = [f(0), f(1), …, f(n - 1)]`
    pub(super) fn generate(&mut self, node: &Node, call: &Call) -> Eval<Value> {
        let (count, f) = (self.count(call, 0)?, &call.functions[0]);
        // Asked before anything is evaluated: what fits can also be counted by an i32.
        let mut scalars = Vec::new();
        node.ty.scalars(&mut |scalar| scalars.push(scalar));
        scalars.into_iter().try_for_each(|s| self.meter.array(s, [count]).map(|_| ()))?;
        self.tabulate(node, count, &f.body, |machine, i| {
            machine.bind_scalar(&f.params[0], i as i32);
        })
    }

    /// The array of the values of `body`, each after `bind` has been given its index.
    fn tabulate(
        &mut self,
        node: &Node,
        count: usize,
        body: &Node,
        mut bind: impl FnMut(&mut Self, usize),
    ) -> Eval<Value> {
        self.meter.step(count)?;
        if count == 0 {
            return self.empty(&node.ty);
        }
        if let Type::Scalar(scalar) = body.ty {
            return with_scalar!(scalar, T => {
                let mut out = self.meter.memory::<T>([count])?;
                for i in 0..count {
                    bind(self, i);
                    out.push(self.eval_as::<T>(body)?);
                }
                Ok(Value::Array(Array::packed(out, &[count])))
            });
        }
        bind(self, 0);
        let first = self.eval(body)?;
        let mut out = Builder::like(&first, count, &mut self.meter)?;
        out.push(&first)?;
        for i in 1..count {
            bind(self, i);
            out.push(&self.eval(body)?)?;
        }
        Ok(Value::Array(out.finish()))
    }

    /// The value of an array type whose length is zero.
    pub(super) fn empty(&mut self, ty: &Type) -> Eval<Value> {
        let ty = self.concrete(ty)?;
        let element = ty.as_array().map_or(&ty, |(element, _)| element);
        Ok(Value::Array(Builder::of_type(element, 0, &mut self.meter)?.finish()))
    }

    /// `reduce(z, f, [x0, x1, …]) = f(f(f(z, x0), x1), …)`
    pub(super) fn reduce(&mut self, call: &Call) -> Eval<Value> {
        let (f, start) = (&call.functions[0], &call.args[0]);
        if let Type::Scalar(scalar) = f.body.ty {
            return with_scalar!(scalar, T => {
                let mut total = self.eval_as::<T>(start)?;
                let xs = self.array(call, 1)?;
                self.meter.step(xs.len())?;
                for i in 0..xs.len() {
                    self.bind_scalar(&f.params[0], total);
                    self.bind_element(&f.params[1], &xs, i);
                    total = self.eval_as::<T>(&f.body)?;
                }
                Ok(Value::Scalar(total.scalar()))
            });
        }
        let mut total = self.eval(start)?;
        let xs = self.array(call, 1)?;
        self.meter.step(xs.len())?;
        for i in 0..xs.len() {
            total = self.fold(f, total, &xs, i)?;
        }
        Ok(total)
    }

    /// `f(total, xs[i])`
    pub(super) fn fold(&mut self, f: &Function, total: Value, xs: &Array, i: usize) -> Eval<Value> {
        self.bind(&f.params[0], total);
        self.bind_element(&f.params[1], xs, i);
        self.eval(&f.body)
    }

    /// `scan(z, f, [x0, x1, …]) = [f(z, x0), f(f(z, x0), x1), …]`
    pub(super) fn scan(&mut self, node: &Node, call: &Call) -> Eval<Value> {
        let mut total = self.eval(&call.args[0])?;
        let xs = self.array(call, 1)?;
        if xs.is_empty() {
            return self.empty(&node.ty);
        }
        self.meter.step(xs.len())?;
        let mut out = Builder::like(&total, xs.len(), &mut self.meter)?;
        for i in 0..xs.len() {
            total = self.fold(&call.functions[0], total, &xs, i)?;
            out.push(&total)?;
        }
        Ok(Value::Array(out.finish()))
    }

    /// Result `j` of `partial_reduce(m, z, f, xs)` is `reduce(z, f, [xs[j], xs[j + m], …])`.
    pub(super) fn partial_reduce(&mut self, call: &Call) -> Eval<Value> {
        let count = self.count(call, 0)?;
        let start = self.eval(&call.args[0])?;
        let xs = self.array(call, 1)?;
        super::layout::divisible(count, xs.len(), "partial_reduce")?;
        let mut out = Builder::like(&start, count, &mut self.meter)?;
        self.meter.step(xs.len())?;
        for j in 0..count {
            let mut total = start.clone();
            for i in (j..xs.len()).step_by(count) {
                total = self.fold(&call.functions[0], total, &xs, i)?;
            }
            out.push(&total)?;
        }
        Ok(Value::Array(out.finish()))
    }

    /// `iterate(k, f, x) = f(f(…f(x)…))`, k times. A function that changes the length has a size
    /// variable, which is the length of its argument at each application.
    pub(super) fn iterate(&mut self, call: &Call) -> Eval<Value> {
        let (times, f) = (self.size(&call.sizes[0])?, &call.functions[0]);
        let mut value = self.eval(&call.args[0])?;
        for _ in 0..times {
            self.meter.step(1)?;
            if let Some(var) = &f.size {
                self.lengths.push((var.clone(), value.len() as i128));
            }
            self.bind(&f.params[0], value);
            let next = self.eval(&f.body);
            if f.size.is_some() {
                self.lengths.pop();
            }
            value = next?;
        }
        Ok(value)
    }

    /// `iterate_index(k, f, x) = f(k - 1, … f(1, f(0, x)))`
    pub(super) fn iterate_index(&mut self, call: &Call) -> Eval<Value> {
        let (times, f) = (self.times(call)?, &call.functions[0]);
        let mut value = self.eval(&call.args[0])?;
        for i in 0..times {
            self.meter.step(1)?;
            self.bind_scalar(&f.params[0], i);
            self.bind(&f.params[1], value);
            value = self.eval(&f.body)?;
        }
        Ok(value)
    }

    /// `iterate_until(k, p, f, x) = (x, 0)` where k is 0 or `p(x)` holds; else the state of
    /// `iterate_until(k - 1, p, f, f(x))` with one more than its number.
    pub(super) fn iterate_until(&mut self, call: &Call) -> Eval<Value> {
        let (times, p, f) = (self.times(call)?, &call.functions[0], &call.functions[1]);
        let mut value = self.eval(&call.args[0])?;
        for i in 0..times {
            self.meter.step(1)?;
            self.bind(&p.params[0], value.clone());
            if self.eval_as::<bool>(&p.body)? {
                return Ok(Value::tuple(vec![value, Value::i32(i)]));
            }
            self.bind(&f.params[0], value);
            value = self.eval(&f.body)?;
        }
        Ok(Value::tuple(vec![value, Value::i32(times)]))
    }

    /// The state after each number from the first to the one before the last.
    pub(super) fn reduce_range(&mut self, call: &Call) -> Eval<Value> {
        let mut state = self.eval(&call.args[0])?;
        let (low, high) = (self.eval(&call.args[1])?, self.eval(&call.args[2])?);
        let (Some(from), Some(to)) = (low.to_integer(), high.to_integer()) else {
            return fault("the bounds of a range are integers");
        };
        let wide = call.args[1].ty == Type::Scalar(Scalar::I64);
        if to < from {
            return fault(format!("the range {from} .. {to} decreases"));
        }
        let (f, element) = (&call.functions[0], &call.functions[1]);
        for number in from..to {
            self.meter.step(1)?;
            // Between two numbers of the type there are only numbers of it.
            match wide {
                true => self.bind_scalar(&element.params[0], number as i64),
                false => self.bind_scalar(&element.params[0], number as i32),
            }
            let element = self.eval(&element.body)?;
            self.bind(&f.params[0], state);
            self.bind(&f.params[1], element);
            state = self.eval(&f.body)?;
        }
        Ok(state)
    }

    /// How often a function is applied whose applications an `i32` counts.
    fn times(&mut self, call: &Call) -> Eval<i32> {
        let times = self.size(&call.sizes[0])?;
        i32::try_from(times)
            .or_else(|_| fault(format!("{times} applications are more than an `i32` counts")))
    }

    /// `toLocal(f)(x, …) = f(x, …)`, and so for the other memories.
    pub(super) fn in_memory(&mut self, call: &Call) -> Eval<Value> {
        let f = &call.functions[0];
        let args: Eval<Vec<Value>> = call.args.iter().map(|a| self.eval(a)).collect();
        for (param, arg) in f.params.iter().zip(args?) {
            self.bind(param, arg);
        }
        self.eval(&f.body)
    }
}
