//! From expressions to code.
//!
//! Every binder gets slots of its own: functions are not values and there is no recursion, so no
//! binder is live twice at a time.

use std::collections::HashMap;

use lift_ir::{Expr, Kind, Lambda, Param, Prim, Scalar, Type};
use lift_nat::{Nat, Var};

use crate::code::{Binding, Call, Function, Node, Op, Size};
use crate::value::Value;

/// Levels of code between two checks of the stack.
const LEVELS: u32 = 16;
/// Stack that so many levels need at most, in the least optimised build, and how much more is
/// taken when there is less.
pub(crate) const RED_ZONE: usize = 256 * 1024;
pub(crate) const MORE_STACK: usize = 2 * 1024 * 1024;

pub(crate) struct Compiler<'a> {
    /// Values of size variables that stay the same for the whole run.
    sizes: &'a dyn Fn(&Var) -> Option<i128>,
    bindings: HashMap<u32, Binding>,
    slots: Slots,
}

/// How many slots of each kind there are.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Slots {
    pub values: usize,
    pub scalars: usize,
}

impl<'a> Compiler<'a> {
    pub(crate) fn new(sizes: &'a dyn Fn(&Var) -> Option<i128>) -> Compiler<'a> {
        Compiler { sizes, bindings: HashMap::new(), slots: Slots::default() }
    }

    pub(crate) fn slots(&self) -> Slots {
        self.slots
    }

    /// A variable bound outside the expression.
    pub(crate) fn bind_whole(&mut self, param: &Param) -> Binding {
        let binding = self.slot(param.ty());
        self.bindings.insert(param.id(), binding.clone());
        binding
    }

    /// Code for an expression, or the name of a variable that nothing binds.
    pub(crate) fn program(&mut self, expr: &Expr) -> Result<Node, String> {
        self.node(expr, 0)
    }

    fn slot(&mut self, ty: &Type) -> Binding {
        match ty {
            Type::Scalar(_) => {
                self.slots.scalars += 1;
                Binding::Scalar(self.slots.scalars - 1)
            }
            Type::Vector(..) | Type::Tuple(_) | Type::Array(..) => {
                self.slots.values += 1;
                Binding::Slot(self.slots.values - 1)
            }
        }
    }

    fn node(&mut self, expr: &Expr, level: u32) -> Result<Node, String> {
        if !level.is_multiple_of(LEVELS) {
            return self.bare_node(expr, level);
        }
        let inner = stacker::maybe_grow(RED_ZONE, MORE_STACK, || self.bare_node(expr, level))?;
        if matches!(inner.op, Op::Slot(_) | Op::Scalar(..) | Op::Constant(_)) {
            return Ok(inner);
        }
        let (ty, span) = (inner.ty.clone(), inner.span);
        Ok(Node { op: Op::Grow(Box::new(inner)), ty, span })
    }

    fn bare_node(&mut self, expr: &Expr, level: u32) -> Result<Node, String> {
        let op = match expr.kind() {
            Kind::Var(param) => self.variable(param)?,
            Kind::Literal(literal) => Op::Constant(Value::from(*literal)),
            Kind::Size(size, scalar) => Op::Size(self.size(size), *scalar),
            Kind::Let { param, value, body } => {
                let value = self.node(value, level + 1)?;
                let alias = match value.op {
                    Op::Slot(slot) => Some(Binding::Slot(slot)),
                    Op::Scalar(slot, _) => Some(Binding::Scalar(slot)),
                    _ => None,
                };
                let outer = self.bindings.get(&param.id()).cloned();
                if let Some(alias) = alias {
                    self.bindings.insert(param.id(), alias);
                    let body = self.node(body, level + 1);
                    self.restore(param, outer);
                    return body;
                }
                let binding = self.bind(param, body);
                let body = self.node(body, level + 1)?;
                self.restore(param, outer);
                Op::Let { binding, value: Box::new(value), body: Box::new(body) }
            }
            Kind::Call(call) => self.call(call, expr.ty(), level)?,
        };
        Ok(Node { op, ty: expr.ty().clone(), span: expr.span() })
    }

    fn variable(&self, param: &Param) -> Result<Op, String> {
        // A binding is taken apart only where the whole is never used.
        let binding = self.bindings.get(&param.id());
        binding.and_then(|b| read(b, param.ty())).ok_or_else(|| param.name().to_string())
    }

    fn call(&mut self, call: &lift_ir::Call, ty: &Type, level: u32) -> Result<Op, String> {
        if let Some((param, path)) = projection(call)
            && let Some(component) = self.component(param, &path)
            && let Some(read) = read(component, ty)
        {
            return Ok(read);
        }
        if let (Prim::Binary(op), [left, right]) = (&call.prim, call.args.as_slice())
            && let (Some(scalar), Some(_)) = (scalar_of(left), scalar_of(right))
        {
            let args = [self.node(left, level + 1)?, self.node(right, level + 1)?];
            return Ok(Op::Binary(*op, scalar, Box::new(args)));
        }
        let functions: Result<Vec<Function>, String> =
            call.functions.iter().map(|f| self.function(f, level + 1)).collect();
        let args: Result<Vec<Node>, String> =
            call.args.iter().map(|a| self.node(a, level + 1)).collect();
        Ok(Op::Call(Call {
            prim: call.prim.clone(),
            sizes: call.sizes.iter().map(|n| self.size(n)).collect(),
            functions: functions?,
            args: args?,
        }))
    }

    fn function(&mut self, lambda: &Lambda, level: u32) -> Result<Function, String> {
        let outer: Vec<Option<Binding>> =
            lambda.params.iter().map(|p| self.bindings.get(&p.id()).cloned()).collect();
        let params = lambda.params.iter().map(|p| self.bind(p, &lambda.body)).collect();
        let body = self.node(&lambda.body, level)?;
        for (param, outer) in lambda.params.iter().zip(outer) {
            self.restore(param, outer);
        }
        Ok(Function { size: lambda.size.clone(), params, body })
    }

    /// Ends the scope of a variable: copies of an expression may bind one that is bound around it.
    fn restore(&mut self, param: &Param, outer: Option<Binding>) {
        match outer {
            Some(outer) => self.bindings.insert(param.id(), outer),
            None => self.bindings.remove(&param.id()),
        };
    }

    fn size(&self, size: &Nat) -> Size {
        match size.eval(self.sizes) {
            Ok(value) => Size::Known(value),
            Err(_) => Size::Open(size.clone()),
        }
    }

    /// Slots for a parameter, as its scope uses it.
    fn bind(&mut self, param: &Param, scope: &Expr) -> Binding {
        let mut uses = Vec::new();
        collect_uses(param, scope, &mut uses);
        let binding = self.binding(param.ty(), &mut Vec::new(), &uses);
        self.bindings.insert(param.id(), binding.clone());
        binding
    }

    fn binding(&mut self, ty: &Type, path: &mut Vec<u32>, uses: &[Vec<u32>]) -> Binding {
        if !uses.iter().any(|u| u.starts_with(path)) {
            return Binding::Ignore;
        }
        match ty {
            Type::Tuple(components) if !uses.contains(path) => {
                let mut bindings = Vec::with_capacity(components.len());
                for (index, component) in (0..).zip(components.iter()) {
                    path.push(index);
                    bindings.push(self.binding(component, path, uses));
                    path.pop();
                }
                Binding::Tuple(bindings)
            }
            Type::Scalar(_) | Type::Vector(..) | Type::Tuple(_) | Type::Array(..) => self.slot(ty),
        }
    }

    /// Where a component of a variable is kept, if it is kept by itself.
    fn component(&self, param: &Param, path: &[u32]) -> Option<&Binding> {
        let mut binding = self.bindings.get(&param.id())?;
        for index in path {
            match binding {
                Binding::Tuple(components) => binding = components.get(*index as usize)?,
                Binding::Slot(_) | Binding::Scalar(_) | Binding::Ignore => return None,
            }
        }
        Some(binding)
    }
}

/// The code that reads what is kept in one slot.
fn read(binding: &Binding, ty: &Type) -> Option<Op> {
    match (binding, ty) {
        (Binding::Slot(slot), _) => Some(Op::Slot(*slot)),
        (Binding::Scalar(slot), Type::Scalar(scalar)) => Some(Op::Scalar(*slot, *scalar)),
        (Binding::Scalar(_) | Binding::Tuple(_) | Binding::Ignore, _) => None,
    }
}

fn scalar_of(expr: &Expr) -> Option<Scalar> {
    match expr.ty() {
        Type::Scalar(scalar) => Some(*scalar),
        Type::Vector(..) | Type::Tuple(_) | Type::Array(..) => None,
    }
}

/// `p.0.1` as the variable `p` and the path `[0, 1]`.
fn projection(call: &lift_ir::Call) -> Option<(&Param, Vec<u32>)> {
    let (Prim::Field(index), [tuple]) = (&call.prim, call.args.as_slice()) else { return None };
    let (param, mut path) = match tuple.kind() {
        Kind::Var(param) => (param, Vec::new()),
        Kind::Call(inner) => projection(inner)?,
        Kind::Literal(_) | Kind::Size(..) | Kind::Let { .. } => return None,
    };
    path.push(*index);
    Some((param, path))
}

/// The components of a variable that an expression asks for; the empty path is all of it.
fn collect_uses(param: &Param, expr: &Expr, uses: &mut Vec<Vec<u32>>) {
    if !expr.mentions(param) {
        return;
    }
    if let Kind::Call(call) = expr.kind()
        && let Some((found, path)) = projection(call)
        && found == param
    {
        if !uses.contains(&path) {
            uses.push(path);
        }
        return;
    }
    if expr.as_var().is_some() && !uses.contains(&Vec::new()) {
        uses.push(Vec::new());
    }
    // Deep expressions are deep here, too.
    stacker::maybe_grow(RED_ZONE, MORE_STACK, || {
        expr.children().into_iter().for_each(|child| collect_uses(param, child, uses));
    });
}
