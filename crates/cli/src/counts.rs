//! How much work a program does at fixed sizes.

use lift_ir::{Def, Math, Nat};
use lift_kernel::{Expr, Stmt};
use lift_lower::{Options, Plan, Role, Simplify, Step, Target, lower};

/// Bytes of the arrays that go in and come out, each counted once.
pub fn bytes(plan: &Plan) -> Option<f64> {
    let outside = plan.buffers.iter().filter(|b| !matches!(b.role, Role::Temporary | Role::Status));
    outside.map(|b| Some(number(&b.buffer.total())? * b.buffer.scalar.bytes() as f64)).sum()
}

/// Floating-point operations of all launches: of the two sides of a choice, the longer. Nothing
/// where the kernels do not tell, as where a loop's length depends on another loop or code is
/// foreign.
///
/// Counted are the kernels in which work-items are loops, whatever the device: their lengths say how
/// many there are.
pub fn flops(def: &Def, options: &Options) -> Option<f64> {
    let simplify = Simplify { control: false, ..options.simplify };
    let plain = Options { target: Target::Loops, simplify, ..options.clone() };
    let plan = lower(def, &plain).ok()?;
    let kernels: Vec<Option<f64>> = plan.kernels.iter().map(|k| block(&k.body)).collect();
    steps(&plan.steps, &kernels)
}

fn steps(steps_: &[Step], kernels: &[Option<f64>]) -> Option<f64> {
    let one = |step: &Step| match step {
        Step::Launch(index) => kernels.get(*index).copied().flatten(),
        Step::Loop { count, body, .. } => Some(number(count)? * steps(body, kernels)?),
    };
    steps_.iter().map(one).sum()
}

fn number(size: &Nat) -> Option<f64> {
    size.as_int().map(|n| n as f64)
}

fn block(statements: &[Stmt]) -> Option<f64> {
    statements.iter().map(statement).sum()
}

fn statement(statement: &Stmt) -> Option<f64> {
    match statement {
        Stmt::Comment(_) | Stmt::Barrier(_) | Stmt::Place { .. } => Some(0.0),
        Stmt::Declare { value, .. } => value.as_ref().map_or(Some(0.0), expr),
        Stmt::Assign { value, .. } | Stmt::Index { value, .. } | Stmt::Store { value, .. } => {
            expr(value)
        }
        Stmt::Loop(l) => Some(match block(&l.body)? {
            // Loops that only move data need no length.
            0.0 => 0.0,
            body => number(&l.extent)? * body,
        }),
        Stmt::If { condition, then, otherwise } => {
            Some(expr(condition)? + block(then)?.max(block(otherwise)?))
        }
    }
}

fn exprs<'e>(all: impl IntoIterator<Item = &'e Expr>) -> Option<f64> {
    all.into_iter().map(expr).sum()
}

fn expr(e: &Expr) -> Option<f64> {
    let width = f64::from(e.ty().width);
    // Comparisons have a result that is no number; what counts is what they compare.
    let own = |operand: &Expr| if operand.ty().scalar.is_float() { width } else { 0.0 };
    match e {
        Expr::Literal(_) | Expr::Var(_) | Expr::Index(..) | Expr::Test(_) | Expr::Load(..) => {
            Some(0.0)
        }

        Expr::Unary(_, a) => Some(own(a) + expr(a)?),
        Expr::Binary(_, a, b) => Some(own(a) + expr(a)? + expr(b)?),
        Expr::Math(function, args) => Some(
            match (function, args.first()) {
                (Math::Dot, Some(a)) => 2.0 * f64::from(a.ty().width) - 1.0,
                (Math::Fma, Some(a)) => 2.0 * own(a),
                (_, Some(a)) => own(a),
                (_, None) => 0.0,
            } + exprs(args)?,
        ),
        Expr::Select(condition, then, otherwise) => {
            Some(expr(condition)? + expr(then)?.max(expr(otherwise)?))
        }
        Expr::Cast(_, a) | Expr::Splat(_, a) | Expr::Lane(a, _) => expr(a),
        Expr::Vector(_, items) => exprs(items),
        Expr::Extern(..) => None,
    }
}
