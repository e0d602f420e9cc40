//! What is evaluated only under conditions, and what holds there.
//!
//! What is not evaluated cannot fail: a check stands in the branch of what it checks. Under `vectorize` lanes
//! choose branches one by one, so all branches are gone through, and a check counts in the lanes that choose its
//! branch.

use lift_ir::{BinaryOp, Call, Expr as Functional, Literal, Nat, Pred, Scalar, Type, UnaryOp};
use lift_kernel::{Expr, Stmt, Variable};

use super::emitter::Emitter;
use super::intervals::Intervals;
use super::scalars::Apart;
use super::view::{View, broken};
use super::{Env, Translator};
use crate::LowerError;
use crate::plan::Index;

/// The conditions around the current place, outermost first.
#[derive(Default)]
pub(super) struct Reached {
    /// Integers that are not zero here; of vectors, in the lanes that are evaluated.
    nonzero: Vec<Expr>,
    /// By lane, whether it is evaluated.
    lanes: Vec<Expr>,
    /// Conditions that have a name in the program.
    named: Vec<(Variable, Expr)>,
    /// Bounds of integers.
    pub(super) intervals: Intervals,
}

impl Reached {
    pub(super) fn knows_nonzero(&self, value: &Expr) -> bool {
        self.nonzero.contains(value)
    }

    /// A variable of the program's is a condition, and is not assigned again.
    pub(super) fn name(&mut self, var: &Variable, condition: &Expr) {
        self.named.push((var.clone(), condition.clone()));
    }

    /// A condition with those in it that have names written out.
    fn written_out(&self, condition: &Expr) -> Expr {
        match condition {
            Expr::Var(var) => match self.named.iter().find(|(named, _)| named == var) {
                Some((_, meant)) => self.written_out(meant),
                None => condition.clone(),
            },
            Expr::Unary(UnaryOp::Not, inner) => not(self.written_out(inner)),
            Expr::Binary(op, a, b) if op.is_logical() => {
                Expr::Binary(*op, Box::new(self.written_out(a)), Box::new(self.written_out(b)))
            }
            _ => condition.clone(),
        }
    }
}

impl Translator {
    /// A value and its statements, evaluated where a condition holds, or where it does not.
    pub(super) fn where_condition(
        &mut self,
        condition: &Expr,
        holds: bool,
        value: impl FnOnce(&mut Translator) -> Result<View, LowerError>,
    ) -> Result<Apart, LowerError> {
        let (nonzero, lanes) = (self.out.reached.nonzero.len(), self.out.reached.lanes.len());
        let compared = self.out.reached.intervals.depth();
        let meant = self.out.reached.written_out(condition);
        nonzero_where(&meant, holds, &mut self.out.reached.nonzero);
        if condition.ty().width > 1 {
            self.out.reached.lanes.push(match holds {
                true => condition.clone(),
                false => not(condition.clone()),
            });
        }
        self.out.learn(&meant, holds);
        let known = self.out.facts_where(&meant, holds);
        let result = self.apart(|t| {
            known.iter().for_each(|fact| t.out.facts.assume(fact));
            value(t)
        });
        self.out.reached.nonzero.truncate(nonzero);
        self.out.reached.lanes.truncate(lanes);
        self.out.reached.intervals.leave(compared);
        result
    }

    /// `a && b` and `a || b` of scalars: b is evaluated where a does not decide.
    pub(super) fn short_circuit(
        &mut self,
        op: BinaryOp,
        call: &Call,
        env: &Env,
    ) -> Result<View, LowerError> {
        let [left, right] = call.args.as_slice() else { return Err(broken("two operands")) };
        let left = self.eval(left, env)?.into_value()?;
        let goes_on = op == BinaryOp::And;
        let (stmts, right) = self.where_condition(&left, goes_on, |t| t.eval(right, env))?;
        if stmts.is_empty() || left.ty().width > 1 {
            stmts.into_iter().for_each(|s| self.out.emit(s));
            let right = Box::new(right.into_value()?);
            return Ok(View::Value(Expr::Binary(op, Box::new(left), right)));
        }
        let decided = (Vec::new(), View::Value(Expr::Literal(Literal::Bool(!goes_on))));
        let right = (stmts, right);
        let (then, otherwise) = if goes_on { (right, decided) } else { (decided, right) };
        self.one_of(left, &Type::BOOL, then, otherwise)
    }
}

impl Emitter {
    /// What is known of indices where a condition holds, or where it does not.
    fn facts_where(&mut self, condition: &Expr, holds: bool) -> Vec<Pred> {
        let mut found = Vec::new();
        self.add_facts(condition, holds, &mut found);
        found
    }

    fn add_facts(&mut self, condition: &Expr, holds: bool, found: &mut Vec<Pred>) {
        match condition {
            Expr::Unary(UnaryOp::Not, inner) => self.add_facts(inner, !holds, found),
            Expr::Test(pred) if holds => found.push(pred.clone()),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b)
                if holds == (*op == BinaryOp::And) =>
            {
                // Each may say of the other that nothing wraps in it.
                let outer = self.facts.clone();
                for part in [a, b, a] {
                    let from = found.len();
                    self.add_facts(part, holds, found);
                    found.iter().skip(from).for_each(|fact| self.facts.assume(fact));
                }
                self.facts = outer;
            }
            Expr::Binary(op, a, b) if op.is_comparison() => {
                let op = if holds { *op } else { opposite(*op) };
                match self.comparison(op, a, b) {
                    Some(fact) => found.push(fact),
                    None => found.extend(self.not_wrapped(op, a, b)),
                }
            }
            _ => {}
        }
    }

    /// What a comparison of indices that do not wrap says.
    fn comparison(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Option<Pred> {
        let ((x, s), (y, t)) = (as_index(a)?, as_index(b)?);
        if !self.is_exact(&y, t) || !self.is_exact(&x, s) {
            return None;
        }
        Some(match op {
            BinaryOp::Eq => Pred::Eq(x, y),
            BinaryOp::Ne => Pred::Ne(x, y),
            BinaryOp::Lt => Pred::Lt(x, y),
            BinaryOp::Le => Pred::Le(x, y),
            BinaryOp::Gt => Pred::Lt(y, x),
            _ => Pred::Le(y, x),
        })
    }

    /// What says that an index of 32 bits is natural says that it does not wrap, where it could only once: beyond the largest
    /// number there are negative ones.
    fn not_wrapped(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Option<Pred> {
        let ((x, s), (y, t)) = (as_index(a)?, as_index(b)?);
        let (low, high, least) = match op {
            BinaryOp::Lt | BinaryOp::Le => ((x, s), (y, t), op),
            BinaryOp::Gt => ((y, t), (x, s), BinaryOp::Lt),
            BinaryOp::Ge => ((y, t), (x, s), BinaryOp::Le),
            _ => return None,
        };
        let ((low, _), (high, scalar)) = (low, high);
        let least = if least == BinaryOp::Lt { &low + Nat::ONE } else { low.clone() };
        let around = Pred::And(vec![
            Pred::Le(Nat::int(i128::from(i32::MIN)), high.clone()),
            Pred::Lt(high.clone(), Nat::int(1 << 32)),
            Pred::Le(Nat::ZERO, least.clone()),
        ]);
        let is_told = scalar == Scalar::I32 && self.is_exact(&low, scalar) && self.proves(&around);
        is_told.then(|| {
            let held = Pred::Le(high.clone(), Nat::int(i128::from(i32::MAX)));
            Pred::And(vec![Pred::Le(least, high), held])
        })
    }

    /// A condition that is one on indices alone.
    pub(super) fn condition_on_indices(&mut self, condition: &Expr) -> Option<Pred> {
        match self.reached.written_out(condition) {
            Expr::Test(pred) => Some(pred),
            Expr::Binary(BinaryOp::And, a, b) => {
                let (a, b) = (self.condition_on_indices(&a)?, self.condition_on_indices(&b)?);
                Some(Pred::And(vec![a, b]))
            }
            Expr::Binary(op, a, b) if op.is_comparison() => self.comparison(op, &a, &b),
            _ => None,
        }
    }

    /// Whether an index, computed in a type, is there what it is without end. Of a size that is used as a value that is
    /// required of whoever gives the sizes: it is an error otherwise.
    pub(super) fn is_exact(&mut self, index: &Nat, scalar: Scalar) -> bool {
        let Some((low, high)) = scalar.integer_range() else { return false };
        let fits = Pred::And(vec![
            Pred::Le(Nat::int(low), index.clone()),
            Pred::Le(index.clone(), Nat::int(high)),
        ]);
        if self.proves(&fits) {
            return true;
        }
        let of_sizes = !index.any_var(&mut |v| !self.sizes.contains(v));
        let natural = self.proves(&Pred::Le(Nat::ZERO, index.clone()));
        if of_sizes && natural {
            let (value, length) = (index.clone(), index + Nat::ONE);
            self.written.values.push(Index { value, length, scalar, span: self.here });
            self.facts.assume(&fits);
            return true;
        }
        // 64 bits hold whatever is no product with a large number.
        if scalar == Scalar::I64 && index.largest_constant() <= 1 << 31 {
            self.written.indices.push((index.clone(), self.here));
            return true;
        }
        false
    }

    /// Whether something holds in one of the lanes that are evaluated here.
    pub(super) fn in_any_lane(&mut self, holds: Expr) -> Expr {
        let holds = self.reached.lanes.iter().fold(holds, |all, lane| and(all, lane.clone()));
        let ty = holds.ty();
        if ty.width == 1 {
            return holds;
        }
        let var = self.fresh_variable("failed", ty);
        self.emit(Stmt::Declare { var: var.clone(), value: Some(holds) });
        let lane = |i: u32| Expr::Lane(Box::new(Expr::Var(var.clone())), i);
        (1..ty.width)
            .fold(lane(0), |any, i| Expr::Binary(BinaryOp::Or, Box::new(any), Box::new(lane(i))))
    }
}

/// Whether an operator leaves out its right side where the left one decides.
pub(super) fn is_lazy(op: BinaryOp, expr: &Functional) -> bool {
    op.is_logical() && *expr.ty() == Type::BOOL
}

/// An index, or a number.
pub(super) fn as_index(value: &Expr) -> Option<(Nat, Scalar)> {
    match value {
        Expr::Index(n, scalar) => Some((n.clone(), *scalar)),
        Expr::Literal(Literal::Int(scalar, n)) => Some((Nat::int(*n), *scalar)),
        _ => None,
    }
}

fn not(condition: Expr) -> Expr {
    Expr::Unary(UnaryOp::Not, Box::new(condition))
}

fn and(a: Expr, b: Expr) -> Expr {
    Expr::Binary(BinaryOp::And, Box::new(a), Box::new(b))
}

/// The integers that are not zero where a condition holds, or where it does not.
fn nonzero_where(condition: &Expr, holds: bool, found: &mut Vec<Expr>) {
    match condition {
        Expr::Unary(UnaryOp::Not, inner) => nonzero_where(inner, !holds, found),
        Expr::Binary(BinaryOp::And, a, b) if holds => {
            nonzero_where(a, holds, found);
            nonzero_where(b, holds, found);
        }
        Expr::Binary(BinaryOp::Or, a, b) if !holds => {
            nonzero_where(a, holds, found);
            nonzero_where(b, holds, found);
        }
        Expr::Binary(op, a, b) if op.is_comparison() && a.ty().scalar.is_integer() => {
            let op = if holds { *op } else { opposite(*op) };
            match (a.as_ref(), b.as_ref()) {
                (value, Expr::Literal(Literal::Int(_, bound))) if excludes_zero(op, *bound) => {
                    found.push(value.clone());
                }
                (Expr::Literal(Literal::Int(_, bound)), value)
                    if excludes_zero(mirrored(op), *bound) =>
                {
                    found.push(value.clone());
                }
                _ => {}
            }
        }
        _ => {}
    }
}

/// Whether `0 op bound` is false, so that what `op bound` holds of is not 0.
fn excludes_zero(op: BinaryOp, bound: i128) -> bool {
    match op {
        BinaryOp::Eq => bound != 0,
        BinaryOp::Ne => bound == 0,
        BinaryOp::Lt => bound <= 0,
        BinaryOp::Le => bound < 0,
        BinaryOp::Gt => bound >= 0,
        BinaryOp::Ge => bound > 0,
        _ => false,
    }
}

/// `!(a op b)` of integers.
pub(super) fn opposite(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Eq => BinaryOp::Ne,
        BinaryOp::Ne => BinaryOp::Eq,
        BinaryOp::Lt => BinaryOp::Ge,
        BinaryOp::Le => BinaryOp::Gt,
        BinaryOp::Gt => BinaryOp::Le,
        BinaryOp::Ge => BinaryOp::Lt,
        other => other,
    }
}

/// `b op' a` for `a op b`.
pub(super) fn mirrored(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::Ge => BinaryOp::Le,
        other => other,
    }
}

/// Whether a comparison of two numbers that are written out holds.
pub(super) fn decided(condition: &Expr) -> Option<bool> {
    let Expr::Binary(op, a, b) = condition else { return None };
    let number = |e: &Expr| match e {
        Expr::Literal(literal) => literal.as_f64(),
        _ => None,
    };
    op.holds(number(a)?, number(b)?)
}
