//! Scalars, vectors and tuples computed in registers.

use std::sync::Arc;

use lift_ir::{
    BinaryOp, Call, Expr as Functional, Extern, Literal, Math, Nat, Pred, Prim, Scalar, Type,
};
use lift_kernel::{Expr, Stmt, ValueType};

use super::conditions::{as_index, decided, is_lazy};
use super::emitter::Emitter;
use super::view::{View, Writer, broken};
use super::{Env, Translator, lanes, value_type};
use crate::LowerError;

/// The statements that a value takes, and the value.
pub(super) type Apart = (Vec<Stmt>, View);

impl Translator {
    /// The value of a computation that fits in registers; statements it needs come first.
    pub(super) fn register(
        &mut self,
        expr: &Functional,
        call: &Call,
        env: &Env,
    ) -> Result<View, LowerError> {
        match &call.prim {
            Prim::Binary(op) if is_lazy(*op, expr) => self.short_circuit(*op, call, env),
            Prim::Binary(op) => {
                let (a, b) = (self.operand(call, 0, env)?, self.operand(call, 1, env)?);
                if let Some(index) = self.out.index_division(*op, &a, &b) {
                    return Ok(View::Value(index));
                }
                let b = self.out.divisor(*op, b, expr.span())?;
                if let Some(index) = self.out.index_arithmetic(*op, &a, &b) {
                    return Ok(View::Value(index));
                }
                Ok(View::Value(Expr::Binary(*op, Box::new(a), Box::new(b))))
            }
            Prim::Unary(op) => {
                Ok(View::Value(Expr::Unary(*op, Box::new(self.operand(call, 0, env)?))))
            }
            Prim::Math(math) => {
                let args: Result<Vec<Expr>, LowerError> =
                    call.args.iter().map(|a| self.eval(a, env)?.into_value()).collect();
                let args = args?;
                if let Some(index) = self.out.index_extremum(*math, &args) {
                    return Ok(View::Value(index));
                }
                Ok(View::Value(Expr::Math(*math, args)))
            }
            Prim::Cast(scalar) => {
                let value = self.operand(call, 0, env)?;
                if let Some(index) = self.out.index_cast(*scalar, &value) {
                    return Ok(View::Value(index));
                }
                if let Some(number) = as_float(*scalar, &value) {
                    return Ok(View::Value(Expr::Literal(number)));
                }
                let ty = ValueType { scalar: *scalar, width: value.ty().width };
                Ok(View::Value(Expr::Cast(ty, Box::new(value))))
            }
            Prim::Vector => {
                let parts: Result<Vec<Expr>, LowerError> =
                    call.args.iter().map(|a| self.eval(a, env)?.into_value()).collect();
                let scalar = expr.ty().element_scalar().unwrap_or(Scalar::F32);
                Ok(View::Value(Expr::Vector(scalar, parts?)))
            }
            Prim::Splat => {
                let width = call.sizes.first().map(lanes).transpose()?.unwrap_or(1);
                let value = self.operand(call, 0, env)?;
                Ok(View::Value(Expr::Splat(width, Box::new(value))))
            }
            Prim::Lane => {
                let lane = call.sizes.first().and_then(|n| n.as_int()).unwrap_or(0);
                let vector = self.operand(call, 0, env)?;
                Ok(View::Value(super::layout::lane_of(&vector, lane as u32)))
            }
            Prim::If => self.conditional(expr, call, env),
            Prim::Extern(function) => {
                let args: Result<Vec<Expr>, LowerError> =
                    call.args.iter().map(|a| self.eval(a, env)?.into_value()).collect();
                self.external(function, args?)
            }
            Prim::Rank(domain) => self.rank(domain, call, env, expr.span()),
            Prim::Point(domain) => self.point(domain, call, env, expr.span()),
            Prim::Id => self.argument(call, 0, env),
            Prim::To(_) | Prim::Vectorize => {
                // On vectors a scalar function means the same, lane by lane.
                let Some(f) = call.functions.first() else { return Err(broken("a function")) };
                let args: Result<Vec<View>, LowerError> =
                    call.args.iter().map(|a| self.eval(a, env)).collect();
                let inner = self.enter(f, args?, env);
                let value = self.eval(&f.body, &inner)?;
                match &call.prim {
                    Prim::Vectorize => self.out.widened(value, expr.ty()),
                    _ => Ok(value),
                }
            }
            Prim::Reduce(_)
            | Prim::ReduceRange(_)
            | Prim::Iterate
            | Prim::IterateIndex
            | Prim::IterateUntil => {
                let (view, writer) = self.out.registers("acc", expr.ty())?;
                self.assign(expr, env, &writer)?;
                Ok(view)
            }
            _ => Err(broken("a scalar computation")),
        }
    }

    /// Under `vectorize` target code for scalars is called for each lane.
    fn external(&mut self, function: &Arc<Extern>, args: Vec<Expr>) -> Result<View, LowerError> {
        let is_wide = |(arg, (_, ty)): (&Expr, &(String, Type))| {
            arg.ty().width > 1 && matches!(ty, Type::Scalar(_))
        };
        let Type::Scalar(scalar) = function.ret else {
            return Ok(View::Value(Expr::Extern(function.clone(), args)));
        };
        let width = args.iter().zip(&function.params).filter(|pair| is_wide(*pair));
        let Some(width) = width.map(|(arg, _)| arg.ty().width).max() else {
            return Ok(View::Value(Expr::Extern(function.clone(), args)));
        };
        // Every call reads the arguments, which are computed once.
        let args: Vec<Expr> = args.into_iter().map(|arg| self.out.in_variable(arg)).collect();
        let lane = |lane: u32| {
            let parts = args.iter().map(|arg| match arg.ty().width {
                1 => arg.clone(),
                _ => super::layout::lane_of(arg, lane),
            });
            Expr::Extern(function.clone(), parts.collect())
        };
        Ok(View::Value(Expr::Vector(scalar, (0..width).map(lane).collect())))
    }

    fn operand(&mut self, call: &Call, index: usize, env: &Env) -> Result<Expr, LowerError> {
        self.argument(call, index, env)?.into_value()
    }

    /// One branch is evaluated: as an expression where that takes no statements.
    fn conditional(
        &mut self,
        expr: &Functional,
        call: &Call,
        env: &Env,
    ) -> Result<View, LowerError> {
        let [condition, then, otherwise] = call.args.as_slice() else {
            return Err(broken("a condition and two branches"));
        };
        let condition = self.eval(condition, env)?.into_value()?;
        if let Some(holds) = decided(&condition) {
            return self.eval(if holds { then } else { otherwise }, env);
        }
        let (then, otherwise) = (then.clone(), otherwise.clone());
        self.branch(condition, expr.ty(), |t| t.eval(&then, env), |t| t.eval(&otherwise, env))
    }

    /// One of two values that fit in registers. Statements that a value takes are done only where it is
    /// chosen.
    pub(super) fn branch(
        &mut self,
        condition: Expr,
        ty: &Type,
        then: impl FnOnce(&mut Translator) -> Result<View, LowerError>,
        otherwise: impl FnOnce(&mut Translator) -> Result<View, LowerError>,
    ) -> Result<View, LowerError> {
        let then = self.where_condition(&condition, true, then)?;
        let otherwise = self.where_condition(&condition, false, otherwise)?;
        self.one_of(condition, ty, then, otherwise)
    }

    /// As [`Translator::branch`] of values whose statements are there.
    pub(super) fn one_of(
        &mut self,
        condition: Expr,
        ty: &Type,
        (first, a): Apart,
        (second, b): Apart,
    ) -> Result<View, LowerError> {
        // Under `vectorize` one branch may be a vector and the other the same in every lane.
        let (a, b) = same_width(a, b);
        if condition.ty().width > 1 {
            first.into_iter().chain(second).for_each(|s| self.out.emit(s));
            return select(&condition, a, b, &|c, a, b| Expr::Math(Math::Select, vec![c, a, b]));
        }
        if first.is_empty() && second.is_empty() && matches!(a, View::Value(_)) {
            if let Some(index) = self.out.index_choice(&condition, &a, &b) {
                return Ok(View::Value(index));
            }
            return select(&condition, a, b, &|c, a, b| {
                Expr::Select(Box::new(c), Box::new(a), Box::new(b))
            });
        }
        let ty = match &a {
            View::Value(a) if a.ty().width > 1 => {
                &Type::Vector(a.ty().scalar, Nat::int(i128::from(a.ty().width)))
            }
            _ => ty,
        };
        let (view, writer) = self.out.registers("chosen", ty)?;
        let then = self.collect(|t| {
            first.into_iter().for_each(|s| t.out.emit(s));
            t.store(a, &writer)
        })?;
        let otherwise = self.collect(|t| {
            second.into_iter().for_each(|s| t.out.emit(s));
            t.store(b, &writer)
        })?;
        self.out.emit(Stmt::If { condition, then, otherwise });
        Ok(view)
    }

    /// A value, and the statements it takes.
    pub(super) fn apart(
        &mut self,
        value: impl FnOnce(&mut Translator) -> Result<View, LowerError>,
    ) -> Result<Apart, LowerError> {
        let mut found = None;
        let stmts = self.collect(|t| {
            found = Some(value(t)?);
            Ok(())
        })?;
        Ok((stmts, found.ok_or_else(|| broken("a value"))?))
    }
}

impl Emitter {
    /// A value in a variable, unless it is one.
    fn in_variable(&mut self, value: Expr) -> Expr {
        if super::control::is_simple(&value) {
            return value;
        }
        let var = self.fresh_variable("arg", value.ty());
        self.emit(Stmt::Declare { var: var.clone(), value: Some(value) });
        Expr::Var(var)
    }

    /// Arithmetic on indices is an index, so that it can be simplified and proved in range. Sums and
    /// products are the same whether they wrap at each step or at the end.
    fn index_arithmetic(&self, op: BinaryOp, a: &Expr, b: &Expr) -> Option<Expr> {
        let ((x, s), (y, t)) = (as_index(a)?, as_index(b)?);
        let of_number = x.as_int().is_some() || y.as_int().is_some();
        let size = match op {
            BinaryOp::Add => x + y,
            BinaryOp::Sub => x - y,
            BinaryOp::Mul => x * y,
            _ => return None,
        };
        let size = self.simplify(&size);
        let is_near = op != BinaryOp::Mul || of_number || self.is_near(&size, s);
        (s == t && is_near && lift_ir::size_fits(&size, s)).then_some(Expr::Index(size, s))
    }

    /// Quotients and remainders of indices are indices where no operand wraps and the divisor is not zero.
    fn index_division(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Option<Expr> {
        let ((x, s), (y, t)) = (as_index(a)?, as_index(b)?);
        if s != t {
            return None;
        }
        let size = match op {
            BinaryOp::BitAnd => self.index_bits(&x, &y, s)?,
            BinaryOp::Div | BinaryOp::Rem => {
                let whole = self.proves(&Pred::Ne(y.clone(), Nat::ZERO));
                if !whole || !self.is_exact(&y, s) || !self.is_exact(&x, s) {
                    return None;
                }
                if op == BinaryOp::Div { x.div(&y) } else { x.rem(&y) }
            }
            _ => return None,
        };
        let size = self.simplify(&size);
        lift_ir::size_fits(&size, s).then_some(Expr::Index(size, s))
    }

    /// The least or the greatest of indices that do not wrap is an index.
    fn index_extremum(&mut self, math: Math, args: &[Expr]) -> Option<Expr> {
        if !matches!(math, Math::Min | Math::Max | Math::Clamp | Math::Abs) {
            return None;
        }
        let indices: Vec<(Nat, Scalar)> = args.iter().map(as_index).collect::<Option<_>>()?;
        let (_, scalar) = *indices.first()?;
        if !indices.iter().all(|(n, s)| *s == scalar && self.is_exact_here(n, scalar)) {
            return None;
        }
        let size = match (math, indices.as_slice()) {
            (Math::Min, [(a, _), (b, _)]) => Nat::min(a, b),
            (Math::Max, [(a, _), (b, _)]) => Nat::max(a, b),
            (Math::Clamp, [(x, _), (low, _), (high, _)]) => Nat::min(&Nat::max(x, low), high),
            (Math::Abs, [(x, _)]) => {
                let (_, largest) = scalar.integer_range()?;
                let has_room = self.proves(&Pred::Le(-x, Nat::int(largest)));
                has_room.then(|| Nat::max(x, &-x))?
            }
            _ => return None,
        };
        let size = self.simplify(&size);
        lift_ir::size_fits(&size, scalar).then_some(Expr::Index(size, scalar))
    }

    /// Whether an index does not wrap. Of one up to a size, such as `i + 1`, that is required of whoever gives the size; of what sizes
    /// make up otherwise it is not, for it may stand where nothing is evaluated.
    fn is_exact_here(&mut self, index: &Nat, scalar: Scalar) -> bool {
        let end = self.sizes.iter().map(Nat::var).find(|n| self.facts.at_most(index, n));
        let Some(end) = end else { return self.has_room(index, scalar) };
        self.is_exact(index, scalar) || self.is_exact(&end, scalar) && self.is_exact(index, scalar)
    }

    /// One of two indices that do not wrap, as a condition on indices says. Two numbers are a value.
    fn index_choice(&mut self, condition: &Expr, a: &View, b: &View) -> Option<Expr> {
        let (View::Value(a), View::Value(b)) = (a, b) else { return None };
        let ((x, s), (y, t)) = (as_index(a)?, as_index(b)?);
        let is_choice = s == t && x != y && (x.as_int().is_none() || y.as_int().is_none());
        if !is_choice || !self.is_exact_here(&x, s) || !self.is_exact_here(&y, s) {
            return None;
        }
        let holds = self.condition_on_indices(condition)?;
        let size = self.simplify(&Nat::cond(holds, x, y));
        lift_ir::size_fits(&size, s).then_some(Expr::Index(size, s))
    }

    /// The lowest bits of an index that is not negative are a remainder. They are the same where it wraps, but arithmetic that may
    /// wrap is left to values, which are narrow.
    fn index_bits(&mut self, x: &Nat, y: &Nat, scalar: Scalar) -> Option<Nat> {
        let (number, count) = lift_ir::lowest_bits(x, y)?;
        let natural = self.proves(&Pred::Le(Nat::ZERO, number.clone()));
        let narrow = number.as_var().is_some() || self.is_exact(&number, scalar);
        (natural && narrow).then(|| number.rem(&count))
    }

    /// An index in another type is the same index where it does not wrap in its own, and has room in that one.
    fn index_cast(&mut self, to: Scalar, value: &Expr) -> Option<Expr> {
        let Expr::Index(index, from) = value else { return None };
        let has_room = match (*from, to) {
            (Scalar::I32, Scalar::I64) => true,
            (Scalar::I64, Scalar::I32) => {
                let (low, high) = to.integer_range()?;
                self.proves(&Pred::Le(Nat::int(low), index.clone()))
                    && self.proves(&Pred::Le(index.clone(), Nat::int(high)))
            }
            _ => false,
        };
        (has_room && self.is_exact(index, *from)).then(|| Expr::Index(index.clone(), to))
    }

    /// A result that does not depend on the vectors is the same in every lane.
    fn widened(&mut self, value: View, ty: &Type) -> Result<View, LowerError> {
        match (value, ty) {
            (View::Value(value), Type::Vector(_, width)) if value.ty().width == 1 => {
                Ok(View::Value(Expr::Splat(lanes(width)?, Box::new(value))))
            }
            (View::Tuple(parts), Type::Tuple(types)) => {
                let parts: Result<Vec<View>, LowerError> =
                    parts.into_iter().zip(types.iter()).map(|(p, t)| self.widened(p, t)).collect();
                Ok(View::Tuple(parts?))
            }
            (value, _) => Ok(value),
        }
    }

    /// Variables for a value: uninitialised, to be read and written.
    pub(super) fn registers(
        &mut self,
        name: &str,
        ty: &Type,
    ) -> Result<(View, Writer), LowerError> {
        let value = match ty {
            Type::Scalar(scalar) => ValueType::scalar(*scalar),
            Type::Vector(scalar, width) => value_type(*scalar, width)?,
            Type::Tuple(items) => {
                let (mut views, mut writers) = (Vec::new(), Vec::new());
                for item in items.iter() {
                    let (view, writer) = self.registers(name, item)?;
                    views.push(view);
                    writers.push(writer);
                }
                return Ok((View::Tuple(views), Writer::Tuple(writers)));
            }
            Type::Array(..) => return Err(broken("a value that fits in registers")),
        };
        let var = self.fresh_variable(name, value);
        self.emit(Stmt::Declare { var: var.clone(), value: None });
        Ok((View::Value(Expr::Var(var.clone())), Writer::Leaf(super::view::Leaf::Variable(var))))
    }
}

/// Two values of one shape, the narrower one in as many lanes as the other has.
fn same_width(a: View, b: View) -> (View, View) {
    match (a, b) {
        (View::Value(a), View::Value(b)) => {
            let (wide, narrow) = (a.ty().width.max(b.ty().width), a.ty().width.min(b.ty().width));
            let widened = |e: Expr| match e.ty().width {
                1 if narrow < wide => Expr::Splat(wide, Box::new(e)),
                _ => e,
            };
            (View::Value(widened(a)), View::Value(widened(b)))
        }
        (View::Tuple(a), View::Tuple(b)) => {
            let (a, b) = a.into_iter().zip(b).map(|(a, b)| same_width(a, b)).unzip();
            (View::Tuple(a), View::Tuple(b))
        }
        other => other,
    }
}

fn select(
    condition: &Expr,
    a: View,
    b: View,
    make: &dyn Fn(Expr, Expr, Expr) -> Expr,
) -> Result<View, LowerError> {
    match (a, b) {
        (View::Value(a), View::Value(b)) => Ok(View::Value(make(condition.clone(), a, b))),
        (View::Tuple(a), View::Tuple(b)) => {
            let parts: Result<Vec<View>, LowerError> =
                a.into_iter().zip(b).map(|(a, b)| select(condition, a, b, make)).collect();
            Ok(View::Tuple(parts?))
        }
        _ => Err(broken("two branches of one shape")),
    }
}

/// A whole number as a float, where it is known, and nothing is rounded: compilers reckon with a literal.
fn as_float(scalar: Scalar, value: &Expr) -> Option<Literal> {
    let number = match value {
        Expr::Literal(Literal::Int(_, number)) => *number,
        Expr::Index(nat, _) => nat.as_int()?,
        _ => return None,
    };
    let exact: i128 = match scalar {
        Scalar::F32 => 1 << 24,
        Scalar::F64 => 1 << 53,
        _ => return None,
    };
    let is_exact = (-exact..=exact).contains(&number);
    is_exact.then(|| Literal::float(scalar, number as f64)).flatten()
}
