//! Are the functions of `reduce` and `scan` what these patterns ask for?
//!
//! The interpreter folds from the left, but other orders are as good only where the function is
//! associative, for `reduce` commutative, and the start value its identity. Sampling cannot prove
//! that; it finds most mistakes, and shows them.

use lift_ir::{Call, Expr, FoldKind, Kind, Prim, Scalar, Span, Type};
use lift_nat::Var;

use crate::code::{Binding, Node};
use crate::compare::compare;
use crate::compile::{Compiler, MORE_STACK, RED_ZONE, Slots};
use crate::error::Eval;
use crate::eval::Machine;
use crate::inputs::SplitMix;
use crate::leaves::from_leaves;
use crate::meter::Meter;
use crate::number::{Element, ScalarValue, with_scalar};
use crate::run::eval_metered;
use crate::sizes::type_with;
use crate::value::Value;

/// A fold whose function breaks a law, with values that show it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Warning {
    pub span: Option<Span>,
    pub message: String,
}

const SAMPLES: usize = 64;
/// Evaluation steps for one fold; a function that takes more is not judged.
const STEPS: u64 = 1 << 20;

/// Every `reduce`, `scan`, `partial_reduce` and `reduce_by_index` in the expression whose function and start value
/// depend on nothing else, tried on small random values. Says nothing where evaluation fails.
pub fn check_reduce(expr: &Expr) -> Vec<Warning> {
    let mut warnings = Vec::new();
    visit(expr, &mut warnings);
    warnings
}

fn visit(expr: &Expr, warnings: &mut Vec<Warning>) {
    if let Kind::Call(call) = expr.kind()
        && let Some(fold) = Fold::of(call)
    {
        for message in fold.broken_laws() {
            let warning = Warning { span: expr.span(), message };
            // A definition expanded twice is one definition to its author.
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
    }
    stacker::maybe_grow(RED_ZONE, MORE_STACK, || {
        expr.children().into_iter().for_each(|child| visit(child, warnings));
    });
}

/// A fold's function ready to be applied, and its start value.
struct Fold {
    name: &'static str,
    commutes: bool,
    ty: Type,
    start: Value,
    bindings: [Binding; 2],
    code: Node,
    slots: Slots,
}

fn no_sizes(_: &Var) -> Option<i128> {
    None
}

impl Fold {
    fn of(call: &Call) -> Option<Fold> {
        let (name, commutes) = match call.prim {
            Prim::Reduce(FoldKind::Any) => ("reduce", true),
            Prim::PartialReduce => ("partial_reduce", true),
            Prim::ReduceByIndex(FoldKind::Any) => ("reduce_by_index", true),
            Prim::Scan(FoldKind::Any) => ("scan", false),
            // The others say in which order they fold, or do not fold.
            Prim::Reduce(FoldKind::Seq | FoldKind::SeqUnroll)
            | Prim::Scan(FoldKind::Seq | FoldKind::SeqUnroll)
            | Prim::ReduceByIndex(FoldKind::Seq | FoldKind::SeqUnroll)
            | Prim::Map(_)
            | Prim::MapSeqSlide
            | Prim::Zip
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
            | Prim::Generate
            | Prim::Repeat
            | Prim::At
            | Prim::ReduceRange
            | Prim::Rank(_)
            | Prim::Point(_)
            | Prim::Iterate
            | Prim::IterateIndex
            | Prim::IterateUntil
            | Prim::Id
            | Prim::AsVector
            | Prim::AsScalar
            | Prim::Vectorize
            | Prim::To(_)
            | Prim::Tuple
            | Prim::Field(_)
            | Prim::Array
            | Prim::Vector
            | Prim::Splat
            | Prim::Lane
            | Prim::If
            | Prim::Cast(_)
            | Prim::Unary(_)
            | Prim::Binary(_)
            | Prim::Math(_)
            | Prim::Extern(_) => return None,
        };
        let ([f], Some(start)) = (call.functions.as_slice(), call.args.first()) else {
            return None;
        };
        let [left, right] = f.params.as_slice() else { return None };
        let bound = |id: &u32| *id == left.id() || *id == right.id();
        if !start.free_variables().is_empty() || !f.body.free_variables().iter().all(bound) {
            return None;
        }
        let ty = type_with(left.ty(), &|size| {
            size.as_int().map_or_else(|| crate::error::fault("a size is not known"), Ok)
        });
        let mut compiler = Compiler::new(&no_sizes);
        let bindings = [compiler.bind_whole(left), compiler.bind_whole(right)];
        let code = compiler.program(&f.body).ok()?;
        Some(Fold {
            name,
            commutes,
            ty: ty.ok()?,
            start: eval_metered(start, Meter::with_steps(STEPS)).ok()?,
            bindings,
            code,
            slots: compiler.slots(),
        })
    }

    /// The first counterexample to each law; nothing where the function fails on some value.
    fn broken_laws(&self) -> Vec<String> {
        self.try_laws().unwrap_or_default()
    }

    fn try_laws(&self) -> Eval<Vec<String>> {
        let mut machine = Machine::new(self.slots, &no_sizes, Meter::with_steps(STEPS));
        let mut f = |a: &Value, b: &Value| {
            machine.bind(&self.bindings[0], a.clone());
            machine.bind(&self.bindings[1], b.clone());
            machine.eval(&self.code)
        };
        let (mut random, z, name) = (SplitMix::new(1), &self.start, self.name);
        let (mut associative, mut commutative, mut identity) = (None, None, None);
        for _ in 0..SAMPLES {
            let [a, b, c] = [
                sample(&self.ty, &mut random)?,
                sample(&self.ty, &mut random)?,
                sample(&self.ty, &mut random)?,
            ];
            let (ab, bc) = (f(&a, &b)?, f(&b, &c)?);
            let (left, right) = (f(&ab, &c)?, f(&a, &bc)?);
            if associative.is_none() && differ(&left, &right) {
                associative = Some(format!(
                    "the function of `{name}` is not associative: \
                     f(f(a, b), c) = {left} but f(a, f(b, c)) = {right} \
                     for a = {a}, b = {b}, c = {c}"
                ));
            }
            let ba = f(&b, &a)?;
            if self.commutes && commutative.is_none() && differ(&ab, &ba) {
                commutative = Some(format!(
                    "the function of `{name}` is not commutative: \
                     f(a, b) = {ab} but f(b, a) = {ba} for a = {a}, b = {b}"
                ));
            }
            let (left, right) = (f(z, &a)?, f(&a, z)?);
            if identity.is_none() && differ(&left, &a) {
                identity = Some(format!(
                    "the start value {z} of `{name}` is not an identity of its function: \
                     f({z}, {a}) = {left}"
                ));
            } else if identity.is_none() && differ(&right, &a) {
                identity = Some(format!(
                    "the start value {z} of `{name}` is not an identity of its function: \
                     f({a}, {z}) = {right}"
                ));
            }
        }
        Ok([associative, commutative, identity].into_iter().flatten().collect())
    }
}

/// Differences count between finite values only: what overflows or divides by zero shows nothing.
fn differ(a: &Value, b: &Value) -> bool {
    finite(a) && finite(b) && compare(a, b, true).is_err()
}

fn finite(value: &Value) -> bool {
    match value {
        Value::Scalar(x) => x.to_f64().is_finite(),
        _ => (0..value.len()).all(|i| value.get(i).is_some_and(|part| finite(&part))),
    }
}

/// Small values, so that sums and products of a few floats are exact.
fn sample(ty: &Type, random: &mut SplitMix) -> Eval<Value> {
    from_leaves(ty, &mut |scalar, count| {
        if count as u64 > STEPS / SAMPLES as u64 {
            return crate::error::fault("too large to sample");
        }
        let mut next = || match scalar {
            Scalar::F16 | Scalar::F32 | Scalar::F64 => {
                crate::ops::float_to((random.below(17) as f64 - 8.0) / 2.0, scalar)
            }
            Scalar::Bool | Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => {
                ScalarValue::from_integer(scalar, i128::from(random.below(10)) / 2)
            }
            Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => {
                ScalarValue::from_integer(scalar, i128::from(random.below(11)) - 5)
            }
        };
        Ok(with_scalar!(scalar, T => {
            T::buffer((0..count).map(|_| T::from_scalar(next()).unwrap_or_default()).collect())
        }))
    })
}
