//! Patterns that rearrange arrays.
//!
//! The checker has proved most of what is asked here; it is asked again because an answer must
//! never come from outside an array.

use std::sync::Arc;

use lift_ir::{Boundary, Permutation};
use lift_nat::{Nat, Var};

use super::Machine;
use crate::array::{Array, Columns};
use crate::builder::Builder;
use crate::code::Call;
use crate::error::{Eval, fault};
use crate::value::Value;

pub(super) fn divisible(divisor: usize, of: usize, name: &str) -> Eval<()> {
    if of.checked_rem(divisor) == Some(0) {
        return Ok(());
    }
    fault(format!("`{name}` needs `{of} % {divisor} == 0`, which does not hold"))
}

fn at_most(count: usize, length: usize, name: &str) -> Eval<()> {
    if count <= length {
        return Ok(());
    }
    fault(format!("`{name}` of {count} needs as many elements, found {length}"))
}

impl Machine<'_> {
    /// `zip(xs, ys)[i] = (xs[i], ys[i])`
    pub(super) fn zip(&mut self, call: &Call) -> Eval<Value> {
        let arrays: Eval<Vec<Array>> = (0..call.args.len()).map(|i| self.array(call, i)).collect();
        let arrays = arrays?;
        if let [first, rest @ ..] = arrays.as_slice()
            && let Some(other) = rest.iter().find(|a| a.len() != first.len())
        {
            let (n, m) = (first.len(), other.len());
            return fault(format!("`zip` needs equal lengths, found {n} and {m}"));
        }
        Ok(Value::Array(Array::zipped(1, arrays)))
    }

    /// `unzip(ps) = (map(.0, ps), map(.1, ps), …)`
    pub(super) fn unzip(&mut self, call: &Call) -> Eval<Value> {
        let pairs = self.array(call, 0)?;
        match pairs.columns() {
            Columns::Tuple { rank: 1, components } => {
                Ok(Value::tuple(components.iter().cloned().map(Value::Array).collect()))
            }
            Columns::Tuple { .. } | Columns::Leaf(_) => {
                fault(format!("`unzip` takes an array of tuples, found `{}`", pairs.ty()))
            }
        }
    }

    /// `split(m, xs)[i][j] = xs[i * m + j]`
    pub(super) fn split(&mut self, call: &Call) -> Eval<Value> {
        let (chunk, xs) = (self.count(call, 0)?, self.array(call, 0)?);
        divisible(chunk, xs.len(), "split")?;
        Ok(Value::Array(xs.windows(xs.len() / chunk, chunk, chunk)?))
    }

    /// `join(xss)[i * m + j] = xss[i][j]`
    pub(super) fn join(&mut self, call: &Call) -> Eval<Value> {
        let xss = self.array(call, 0)?;
        Ok(Value::Array(xss.joined(&mut self.meter)?))
    }

    /// `slide(size, step, xs)[i][j] = xs[i * step + j]`
    pub(super) fn slide(&mut self, call: &Call) -> Eval<Value> {
        Ok(Value::Array(self.windows(call)?))
    }

    pub(super) fn windows(&mut self, call: &Call) -> Eval<Array> {
        let (size, step) = (self.count(call, 0)?, self.count(call, 1)?);
        let xs = self.array(call, 0)?;
        at_most(size, xs.len(), "slide")?;
        divisible(step, xs.len() - size, "slide")?;
        xs.windows((xs.len() - size) / step + 1, size, step)
    }

    /// `take(m, xs)[i] = xs[i]`
    pub(super) fn take(&mut self, call: &Call) -> Eval<Value> {
        let (count, xs) = (self.count(call, 0)?, self.array(call, 0)?);
        at_most(count, xs.len(), "take")?;
        Ok(Value::Array(xs.range(0, count)))
    }

    /// `drop(m, xs)[i] = xs[m + i]`
    pub(super) fn drop_first(&mut self, call: &Call) -> Eval<Value> {
        let (count, xs) = (self.count(call, 0)?, self.array(call, 0)?);
        at_most(count, xs.len(), "drop")?;
        Ok(Value::Array(xs.range(count, xs.len() - count)))
    }

    /// `head(xs) = xs[0]`
    pub(super) fn head(&mut self, call: &Call) -> Eval<Value> {
        let xs = self.array(call, 0)?;
        xs.get(0).map_or_else(|| fault("`head` of an array without elements"), Ok)
    }

    /// `concat(xs, ys)`: the elements of `xs`, then those of `ys`.
    pub(super) fn concat(&mut self, call: &Call) -> Eval<Value> {
        let (xs, ys) = (self.array(call, 0)?, self.array(call, 1)?);
        let some = if xs.is_empty() { &ys } else { &xs };
        let Some(element) = some.get(0) else { return Ok(Value::Array(xs)) };
        let count = xs.len().saturating_add(ys.len());
        let mut out = Builder::like(&element, count, &mut self.meter)?;
        out.extend(&xs)?;
        out.extend(&ys)?;
        Ok(Value::Array(out.finish()))
    }

    /// `xs[i]`
    pub(super) fn at(&mut self, call: &Call) -> Eval<Value> {
        let index = self.eval(&call.args[0])?;
        let xs = self.array(call, 1)?;
        let Some(index) = index.to_integer() else {
            return fault(format!("an index is an integer, found `{}`", index.ty()));
        };
        match usize::try_from(index).ok().and_then(|i| xs.get(i)) {
            Some(element) => Ok(element),
            None => fault(format!("index {index} is outside an array of length {}", xs.len())),
        }
    }

    /// `gather(p, xs)[i] = xs[p(i)]`
    pub(super) fn gather(&mut self, call: &Call, p: &Permutation) -> Eval<Value> {
        let xs = self.array(call, 0)?;
        if let Permutation::Reverse = p {
            return Ok(Value::Array(xs.reversed()));
        }
        let images = self.images(call, p, xs.len(), "gather")?;
        Ok(Value::Array(xs.selected(&images, &mut self.meter)?))
    }

    /// `scatter(p, xs)[p(i)] = xs[i]`
    pub(super) fn scatter(&mut self, call: &Call, p: &Permutation) -> Eval<Value> {
        let xs = self.array(call, 0)?;
        if let Permutation::Reverse = p {
            return Ok(Value::Array(xs.reversed()));
        }
        let images = self.images(call, p, xs.len(), "scatter")?;
        let mut sources = vec![0; images.len()];
        for (source, image) in images.iter().enumerate() {
            sources[*image] = source;
        }
        Ok(Value::Array(xs.selected(&sources, &mut self.meter)?))
    }

    /// Where each index goes; that no two go to one place is tried out once for each length.
    fn images(
        &mut self,
        call: &Call,
        p: &Permutation,
        length: usize,
        name: &str,
    ) -> Eval<Arc<Vec<usize>>> {
        self.meter.step(length)?;
        // Code does not move while it runs, so its address tells calls apart.
        let call = std::ptr::from_ref(call).addr();
        let key = (call, length, self.lengths.iter().map(|(_, n)| *n).collect());
        if let Some(known) = self.permutations.get(&key) {
            return Ok(known.clone());
        }
        // The check takes two more words an index.
        self.indices(length, 3, name)?;
        let images = p.check(length as i128, &|v| self.size_of(v)).or_else(|reason| {
            fault(format!("`{name}` needs a permutation of {length} elements, but {reason}"))
        })?;
        let images = Arc::new(images);
        self.permutations.insert(key, images.clone());
        Ok(images)
    }

    /// Memory for as many indices, where there is enough for so many words each.
    fn indices(&mut self, count: usize, words: usize, name: &str) -> Eval<Vec<usize>> {
        let mut indices = Vec::new();
        let fits = self.meter.array(lift_ir::Scalar::U64, [count, words]).is_ok();
        if fits && indices.try_reserve_exact(count).is_ok() {
            return Ok(indices);
        }
        fault(format!("`{name}` of {count} elements takes too much memory"))
    }

    /// `pad(l, r, b, xs)[i] = xs[i - l]`, read where `b` says if `i - l` is outside.
    pub(super) fn pad(&mut self, call: &Call, boundary: &Boundary) -> Eval<Value> {
        let (left, right) = (self.count(call, 0)?, self.count(call, 1)?);
        let xs = self.array(call, 0)?;
        if left == 0 && right == 0 {
            return Ok(Value::Array(xs));
        }
        let n = xs.len();
        if n == 0 {
            return fault("`pad` of an array without elements has nothing to read");
        }
        let total = left.saturating_add(n).saturating_add(right);
        xs.leaves(&mut |view| {
            let lengths = view.lengths().skip(1).chain([total]);
            self.meter.array(view.buffer.scalar(), lengths).map(|_| ())
        })?;
        let mut indices = self.indices(total, 1, "pad")?;
        for i in -(left as i128)..(n + right) as i128 {
            let inside = usize::try_from(i).ok().filter(|i| *i < n);
            indices.push(match inside {
                Some(i) => i,
                None => self.outside(boundary, i, n)?,
            });
        }
        Ok(Value::Array(xs.selected(&indices, &mut self.meter)?))
    }

    /// The index that is read in place of `i`, which lies outside `0 .. n`.
    fn outside(&self, boundary: &Boundary, i: i128, n: usize) -> Eval<usize> {
        let length = n as i128;
        let index = match boundary {
            Boundary::Clamp => i.clamp(0, length - 1),
            Boundary::Wrap => i.rem_euclid(length),
            Boundary::Mirror => {
                let around = i.rem_euclid(2 * length);
                around.min(2 * length - 1 - around)
            }
            Boundary::Index(var, body) => self.nat_with(body, var, i)?,
        };
        match usize::try_from(index) {
            Ok(index) if index < n => Ok(index),
            _ => fault(format!(
                "the boundary function of `pad` sends {i} to {index}, outside 0 .. {n}"
            )),
        }
    }

    fn nat_with(&self, body: &Nat, var: &Var, value: i128) -> Eval<i128> {
        let sizes = |v: &Var| if v == var { Some(value) } else { self.size_of(v) };
        body.eval(&sizes).or_else(|e| {
            fault(format!("the boundary function of `pad` has no value at {value}: {e}"))
        })
    }

    /// `pad_value(l, r, v, xs)[i] = xs[i - l]`, or `v` if that is outside.
    pub(super) fn pad_value(&mut self, call: &Call) -> Eval<Value> {
        let (left, right) = (self.count(call, 0)?, self.count(call, 1)?);
        let (value, xs) = (self.eval(&call.args[0])?, self.array(call, 1)?);
        let total = left.saturating_add(xs.len()).saturating_add(right);
        let mut out = Builder::like(&value, total, &mut self.meter)?;
        for _ in 0..left {
            out.push(&value)?;
        }
        out.extend(&xs)?;
        for _ in 0..right {
            out.push(&value)?;
        }
        Ok(Value::Array(out.finish()))
    }
}
