//! Evaluation of code.

mod apply;
mod by_index;
mod layout;
mod make;
mod points;
mod scalars;

use std::collections::HashMap;
use std::sync::Arc;

use lift_ir::{BinaryOp, Prim, Scalar, Type};
use lift_nat::{Nat, Var};

use crate::array::{Array, Columns};
use crate::code::{Binding, Call, Node, Op, Size};
use crate::compile::{MORE_STACK, RED_ZONE, Slots};
use crate::error::{Eval, RunError, fault};
use crate::meter::Meter;
use crate::number::{Element, ScalarValue, with_scalar};
use crate::sizes::type_with;
use crate::value::Value;

/// Runs code: the values of its variables, and what the run may still use.
pub(crate) struct Machine<'a> {
    slots: Vec<Value>,
    /// Scalars as [`Element::raw`].
    scalars: Vec<u64>,
    /// Sizes that stay the same for the whole run.
    sizes: &'a dyn Fn(&Var) -> Option<i128>,
    /// Lengths bound by the `iterate`s around, innermost last.
    lengths: Vec<(Var, i128)>,
    /// Index functions that are known to be permutations, by the call that holds them.
    permutations: HashMap<(usize, usize, Vec<i128>), Arc<Vec<usize>>>,
    /// The points of domains, by domain and its sizes.
    points: HashMap<(usize, Vec<i128>), points::Points>,
    pub(crate) meter: Meter,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(
        slots: Slots,
        sizes: &'a dyn Fn(&Var) -> Option<i128>,
        meter: Meter,
    ) -> Machine<'a> {
        Machine {
            slots: vec![Value::bool(false); slots.values],
            scalars: vec![0; slots.scalars],
            sizes,
            lengths: Vec::new(),
            permutations: HashMap::new(),
            points: HashMap::new(),
            meter,
        }
    }

    pub(crate) fn eval(&mut self, node: &Node) -> Eval<Value> {
        match &node.op {
            Op::Slot(slot) => Ok(self.slots[*slot].clone()),
            Op::Scalar(slot, scalar) => {
                Ok(Value::Scalar(ScalarValue::from_raw(*scalar, self.scalars[*slot])))
            }
            Op::Constant(value) => Ok(value.clone()),
            Op::Grow(inner) => stacker::maybe_grow(RED_ZONE, MORE_STACK, || self.eval(inner)),
            Op::Binary(op, scalar, args) => self.binary(node, *op, *scalar, args),
            Op::Size(size, scalar) => {
                self.size_value(size, *scalar).map_err(|e| Box::new(e.at(node.span)))
            }
            Op::Let { binding, value, body } => {
                let value = self.eval(value)?;
                self.bind(binding, value);
                self.eval(body)
            }
            Op::Call(call) => self.call(node, call).map_err(|e| Box::new(e.at(node.span))),
        }
    }

    /// The value of a scalar expression of type `T`, without the wrapping.
    pub(crate) fn eval_as<T: Element>(&mut self, node: &Node) -> Eval<T> {
        match &node.op {
            Op::Scalar(slot, _) => Ok(T::from_raw(self.scalars[*slot])),
            Op::Constant(value) => unwrapped(value),
            // What is no `bool` is arithmetic, on operands of its own type.
            Op::Binary(op, _, args) if T::SCALAR != Scalar::Bool => {
                let a = self.operand::<T>(&args[0])?;
                let b = self.operand::<T>(&args[1])?;
                T::arithmetic(*op, a, b).map_err(|e| at(node, e))
            }
            Op::Slot(_)
            | Op::Binary(..)
            | Op::Size(..)
            | Op::Let { .. }
            | Op::Call(_)
            | Op::Grow(_) => {
                let value = self.eval(node)?;
                unwrapped(&value)
            }
        }
    }

    /// As [`Machine::eval_as`], without a call for a variable.
    #[inline(always)]
    fn operand<T: Element>(&mut self, node: &Node) -> Eval<T> {
        match &node.op {
            Op::Scalar(slot, _) => Ok(T::from_raw(self.scalars[*slot])),
            _ => self.eval_as(node),
        }
    }

    /// `&&` and `||` evaluate the right side only where the left does not decide.
    fn binary(
        &mut self,
        node: &Node,
        op: BinaryOp,
        scalar: Scalar,
        args: &[Node; 2],
    ) -> Eval<Value> {
        match op {
            BinaryOp::And => {
                let both = self.eval_as::<bool>(&args[0])? && self.eval_as::<bool>(&args[1])?;
                Ok(Value::bool(both))
            }
            BinaryOp::Or => {
                let either = self.eval_as::<bool>(&args[0])? || self.eval_as::<bool>(&args[1])?;
                Ok(Value::bool(either))
            }
            BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::BitAnd
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem => with_scalar!(scalar, T => {
                let a = self.eval_as::<T>(&args[0])?;
                let b = self.eval_as::<T>(&args[1])?;
                match op.holds(a, b) {
                    Some(truth) => Ok(Value::bool(truth)),
                    None => match T::arithmetic(op, a, b) {
                        Ok(value) => Ok(Value::Scalar(value.scalar())),
                        Err(e) => Err(at(node, e)),
                    },
                }
            }),
        }
    }

    fn call(&mut self, node: &Node, call: &Call) -> Eval<Value> {
        match &call.prim {
            Prim::Map(_) => self.map(node, call),
            Prim::Reduce(_) => self.reduce(call),
            Prim::Scan(_) => self.scan(node, call),
            Prim::MapSeqSlide => self.map_slide(node, call),
            Prim::PartialReduce => self.partial_reduce(call),
            Prim::ReduceByIndex(_) => self.reduce_by_index(node, call),
            Prim::Update => self.update(call),
            Prim::ReduceRange(_) => self.reduce_range(call),
            Prim::Iterate => self.iterate(call),
            Prim::IterateIndex => self.iterate_index(call),
            Prim::IterateUntil => self.iterate_until(call),
            Prim::Zip => self.zip(call),
            Prim::Unzip => self.unzip(call),
            Prim::Split => self.split(call),
            Prim::Join => self.join(call),
            Prim::Transpose => Ok(Value::Array(self.array(call, 0)?.transposed())),
            Prim::Gather(p) => self.gather(call, p),
            Prim::Scatter(p) => self.scatter(call, p),
            Prim::Slide => self.slide(call),
            Prim::Pad(boundary) => self.pad(call, boundary),
            Prim::PadValue => self.pad_value(call),
            Prim::Take => self.take(call),
            Prim::Drop => self.drop_first(call),
            Prim::Concat => self.concat(call),
            Prim::Head => self.head(call),
            Prim::At => self.at(call),
            Prim::Rank(domain) => self.rank(call, domain),
            Prim::Point(domain) => self.point(call, domain),
            Prim::Generate => self.generate(node, call),
            Prim::Repeat => self.repeat(call),
            Prim::Array => self.array_literal(call),
            Prim::Tuple => {
                let components: Eval<Vec<Value>> = call.args.iter().map(|a| self.eval(a)).collect();
                Ok(Value::tuple(components?))
            }
            Prim::Field(index) => self.field(call, *index),
            Prim::Id => self.eval(&call.args[0]),
            Prim::To(_) => self.in_memory(call),
            Prim::AsVector => self.as_vector(call),
            Prim::AsScalar => self.as_scalar(call),
            Prim::Vectorize => self.vectorize(call),
            Prim::Vector => self.vector_literal(call),
            Prim::Splat => self.splat(call),
            Prim::Lane => self.lane(call),
            Prim::If => {
                let branch = if self.eval_as::<bool>(&call.args[0])? { 1 } else { 2 };
                self.eval(&call.args[branch])
            }
            Prim::Cast(scalar) => self.cast(call, *scalar),
            Prim::Unary(op) => self.unary(call, *op),
            Prim::Binary(op) => self.elementwise_binary(call, *op),
            Prim::Math(math) => self.math(call, *math),
            Prim::Extern(function) => fault(format!(
                "the extern function `{}` has no meaning to the interpreter",
                function.name
            )),
        }
    }

    /// An argument that is an array.
    fn array(&mut self, call: &Call, index: usize) -> Eval<Array> {
        match self.eval(&call.args[index])? {
            Value::Array(array) => Ok(array),
            other => fault(format!("expected an array, found `{}`", other.ty())),
        }
    }

    pub(crate) fn bind(&mut self, binding: &Binding, value: Value) {
        match (binding, &value) {
            (Binding::Ignore, _) => {}
            (Binding::Scalar(slot), Value::Scalar(x)) => self.scalars[*slot] = x.raw(),
            (Binding::Slot(slot), _) => self.slots[*slot] = value,
            (Binding::Tuple(bindings), Value::Tuple(components)) => {
                for (binding, component) in bindings.iter().zip(components.iter()) {
                    self.bind(binding, component.clone());
                }
            }
            (Binding::Tuple(_) | Binding::Scalar(_), _) => {
                unreachable!("a binding is made for the type of what is bound")
            }
        }
    }

    /// Binds element `i`, component by component where the tuple is not asked for.
    #[inline]
    fn bind_element(&mut self, binding: &Binding, array: &Array, i: usize) {
        match (binding, array.columns()) {
            (Binding::Ignore, _) => {}
            (Binding::Scalar(slot), Columns::Leaf(view)) => {
                self.scalars[*slot] = view.buffer.raw(view.start(i) as usize);
            }
            (Binding::Slot(slot), _) => self.slots[*slot] = array.element(i),
            (Binding::Tuple(bindings), Columns::Tuple { rank: 1, components }) => {
                for (binding, component) in bindings.iter().zip(components) {
                    self.bind_element(binding, component, i);
                }
            }
            (Binding::Scalar(_) | Binding::Tuple(_), Columns::Leaf(_) | Columns::Tuple { .. }) => {
                self.bind(binding, array.element(i));
            }
        }
    }

    fn bind_scalar<T: Element>(&mut self, binding: &Binding, value: T) {
        match binding {
            Binding::Scalar(slot) => self.scalars[*slot] = value.raw(),
            Binding::Ignore | Binding::Slot(_) | Binding::Tuple(_) => {
                self.bind(binding, Value::Scalar(value.scalar()));
            }
        }
    }

    /// The value of a size variable here.
    fn size_of(&self, var: &Var) -> Option<i128> {
        let bound = self.lengths.iter().rev().find(|(v, _)| v == var);
        bound.map(|(_, value)| *value).or_else(|| (self.sizes)(var))
    }

    fn nat(&self, size: &Nat) -> Eval<i128> {
        size.eval(&|v| self.size_of(v))
            .map_err(|e| Box::new(RunError::new(format!("the size `{size}` has no value: {e}"))))
    }

    fn size(&self, size: &Size) -> Eval<i128> {
        match size {
            Size::Known(value) => Ok(*value),
            Size::Open(size) => self.nat(size),
        }
    }

    /// A size argument that counts elements.
    fn count(&self, call: &Call, index: usize) -> Eval<usize> {
        let size = self.size(&call.sizes[index])?;
        match usize::try_from(size) {
            Ok(count) if isize::try_from(count).is_ok() => Ok(count),
            _ => fault(format!("{size} is not a number of elements")),
        }
    }

    fn size_value(&self, size: &Size, scalar: Scalar) -> Eval<Value> {
        let value = self.size(size)?;
        match scalar.integer_range() {
            Some((low, high)) if (low..=high).contains(&value) => {
                Ok(Value::Scalar(ScalarValue::from_integer(scalar, value)))
            }
            _ => fault(format!("the size {value} is not a value of `{scalar}`")),
        }
    }

    /// A type with its sizes as they are here.
    fn concrete(&self, ty: &Type) -> Eval<Type> {
        type_with(ty, &|size| self.nat(size))
    }
}

fn at(node: &Node, message: &str) -> Box<RunError> {
    Box::new(RunError::new(message).at(node.span))
}

#[inline]
fn unwrapped<T: Element>(value: &Value) -> Eval<T> {
    match value {
        Value::Scalar(x) => match T::from_scalar(*x) {
            Some(x) => Ok(x),
            None => not_a::<T>(value),
        },
        Value::Vector(_) | Value::Tuple(_) | Value::Array(_) => not_a::<T>(value),
    }
}

#[cold]
fn not_a<T: Element>(value: &Value) -> Eval<T> {
    fault(format!("expected `{}`, found `{}`", T::SCALAR, value.ty()))
}
