//! How much a program asks for, at given sizes: operations and bytes, whatever a compiler makes of it.
//!
//! A program is evaluated as it is written, once: `let` computes its value once, a pattern applies its function once an
//! element, and of the two sides of an `if` the longer counts. Kernels may compute more than once what is read twice;
//! that makes them no faster.

use std::collections::HashMap;

use lift_ir::{Call, Def, Expr, Kind, Lambda, Math, Nat, Prim, Scalar, Type, Var};

use crate::sizes::Sizes;

/// Scalar operations: arithmetic, comparisons and functions. What computes an index, a length or a place is none.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Work {
    pub float: f64,
    pub integer: f64,
}

/// What a run of the definition does. Nothing where it cannot be told: code is foreign, or a size has no value.
pub fn work(def: &Def, sizes: &Sizes) -> Option<Work> {
    Counter::new(def, sizes).expr(&def.body)
}

/// Bytes of the arrays among the arguments and of the result, each counted once. Scalars are handed over, not read.
pub fn bytes(def: &Def, sizes: &Sizes) -> Option<f64> {
    let counter = Counter::new(def, sizes);
    let arrays = def.params.iter().map(|p| p.ty()).filter(|ty| !ty.is_register());
    let types = arrays.chain([&def.ret]);
    types.map(|ty| counter.bytes_of(ty)).sum()
}

impl Work {
    fn times(self, n: f64) -> Work {
        Work { float: n * self.float, integer: n * self.integer }
    }

    fn and(self, other: Work) -> Work {
        Work { float: self.float + other.float, integer: self.integer + other.integer }
    }

    fn or(self, other: Work) -> Work {
        Work { float: self.float.max(other.float), integer: self.integer.max(other.integer) }
    }

    fn of(scalar: Scalar, count: f64) -> Work {
        match scalar {
            Scalar::Bool => Work::default(),
            _ if scalar.is_float() => Work { float: count, integer: 0.0 },
            _ => Work { float: 0.0, integer: count },
        }
    }
}

struct Counter<'d> {
    def: &'d Def,
    sizes: &'d Sizes,
    /// Sizes that an `iterate` binds, innermost last.
    bound: Vec<(Var, i128)>,
    /// Expressions are shared, so that what is written out in full may be far longer: each node is counted once. What it
    /// costs depends on the sizes that are bound.
    known: HashMap<*const Kind, Option<Work>>,
}

impl<'d> Counter<'d> {
    fn new(def: &'d Def, sizes: &'d Sizes) -> Counter<'d> {
        Counter { def, sizes, bound: Vec::new(), known: HashMap::new() }
    }

    fn size(&self, size: &Nat) -> Option<f64> {
        Some(self.integer(size)? as f64)
    }

    fn integer(&self, size: &Nat) -> Option<i128> {
        let value = |var: &Var| {
            let bound = self.bound.iter().rev().find(|(v, _)| v == var).map(|(_, n)| *n);
            let default = || {
                let parameter = self.def.parameters.iter().find(|p| p.var == *var)?;
                parameter.default.as_ref()?.as_int()
            };
            bound.or_else(|| self.sizes.get(var.name())).or_else(default)
        };
        size.eval(&value).ok()
    }

    /// How many elements an array has.
    fn length(&self, array: &Expr) -> Option<f64> {
        self.size(array.ty().as_array()?.1)
    }

    fn bytes_of(&self, ty: &Type) -> Option<f64> {
        match ty {
            Type::Scalar(scalar) => Some(scalar.bytes() as f64),
            Type::Vector(scalar, width) => Some(self.size(width)? * scalar.bytes() as f64),
            Type::Tuple(components) => components.iter().map(|c| self.bytes_of(c)).sum(),
            Type::Array(element, length) => Some(self.size(length)? * self.bytes_of(element)?),
        }
    }

    fn expr(&mut self, expr: &Expr) -> Option<Work> {
        let node = std::ptr::from_ref(expr.kind());
        if let Some(known) = self.known.get(&node) {
            return *known;
        }
        let work = match expr.kind() {
            Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => Some(Work::default()),
            Kind::Let { value, body, .. } => self.all([value, body]),
            Kind::Call(call) => self.call(call, expr.ty()),
        };
        self.known.insert(node, work);
        work
    }

    fn all<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) -> Option<Work> {
        exprs.into_iter().try_fold(Work::default(), |sum, expr| Some(sum.and(self.expr(expr)?)))
    }

    fn call(&mut self, call: &Call, ty: &Type) -> Option<Work> {
        let (function, last) = (call.functions.first(), call.args.last());
        let own = match &call.prim {
            Prim::Map(_)
            | Prim::Reduce(_)
            | Prim::Scan(_)
            | Prim::PartialReduce
            | Prim::ReduceByIndex(_) => self.expr(&function?.body)?.times(self.length(last?)?),
            Prim::MapSeqSlide => self.expr(&function?.body)?.times(self.size(ty.as_array()?.1)?),
            Prim::Generate | Prim::Vectorize => {
                self.expr(&function?.body)?.times(self.size(call.sizes.first()?)?)
            }
            Prim::To(_) => self.expr(&function?.body)?,
            Prim::Iterate | Prim::IterateIndex => {
                self.iterate(call.sizes.first()?, function?, last?)?
            }
            // How often is seen when it runs.
            Prim::IterateUntil | Prim::ReduceRange(_) => return None,
            Prim::If => {
                let [condition, then, otherwise] = call.args.as_slice() else { return None };
                let sides = self.expr(then)?.or(self.expr(otherwise)?);
                return Some(self.expr(condition)?.and(sides));
            }
            // What computes the index is no work on the data.
            Prim::At => return self.expr(last?),
            Prim::Rank(_) | Prim::Point(_) => return Some(Work::default()),
            // A comparison has a result that is no number; what counts is what it compares.
            Prim::Unary(_) | Prim::Binary(_) => self.lanes(call, 1.0)?,
            Prim::Math(Math::Fma) => self.lanes(call, 2.0)?,
            Prim::Math(Math::Dot) => {
                let products = self.lanes(call, 2.0)?;
                let one_less = Work::of(call.args.first()?.ty().element_scalar()?, -1.0);
                products.and(one_less)
            }
            Prim::Math(_) => self.lanes(call, 1.0)?,
            Prim::Extern(_) => return None,
            Prim::Zip
            | Prim::Unzip
            | Prim::Split
            | Prim::Join
            | Prim::Transpose
            | Prim::Gather(_)
            | Prim::Scatter(_)
            | Prim::Slide
            | Prim::Pad(_)
            | Prim::PadValue
            | Prim::Take
            | Prim::Drop
            | Prim::Concat
            | Prim::Head
            | Prim::Repeat
            | Prim::Id
            | Prim::Update
            | Prim::AsVector
            | Prim::AsScalar
            | Prim::Tuple
            | Prim::Field(_)
            | Prim::Array
            | Prim::Vector
            | Prim::Splat
            | Prim::Lane
            | Prim::Cast(_) => Work::default(),
        };
        Some(own.and(self.all(&call.args)?))
    }

    /// So many operations on each lane of the operands, where a scalar stands for a vector of it. Of a choice by
    /// `select` what is chosen from counts.
    fn lanes(&self, call: &Call, count: f64) -> Option<Work> {
        let mut lanes: f64 = 1.0;
        for operand in &call.args {
            lanes = match operand.ty() {
                Type::Vector(_, width) => lanes.max(self.size(width)?),
                Type::Scalar(_) => lanes,
                Type::Tuple(_) | Type::Array(..) => return None,
            };
        }
        Some(Work::of(call.args.last()?.ty().element_scalar()?, count * lanes))
    }

    /// Where the function changes the length, it costs something else each time.
    fn iterate(&mut self, count: &Nat, function: &Lambda, array: &Expr) -> Option<Work> {
        let Some(var) = &function.size else {
            return Some(self.expr(&function.body)?.times(self.size(count)?));
        };
        let mut length = self.integer(array.ty().as_array()?.1)?;
        let mut sum = Work::default();
        for _ in 0..self.integer(count)? {
            self.bound.push((var.clone(), length));
            let outside = std::mem::take(&mut self.known);
            let work = self.expr(&function.body);
            let next = function.body.ty().as_array().and_then(|(_, n)| self.integer(n));
            self.known = outside;
            self.bound.pop();
            sum = sum.and(work?);
            length = next?;
        }
        Some(sum)
    }
}
