//! `reduceByIndexSeq`: folds whose results are chosen by data.
//!
//! Before: `reduceByIndexSeq(k, z, f, is, xs)`.
//! After: k results that start as z, in the place where they are wanted, and a loop over the elements: where
//! `0 <= is[i] && is[i] < k`, result `is[i]` becomes `f` of itself and `xs[i]`. An index outside is no error, and its element is not
//! read.

use lift_ir::{
    BinaryOp, Call, Expr as Functional, Kind, Lambda, Literal, Nat, Prim, Range, Scalar, Type,
};
use lift_kernel::{Expr, LoopKind, Stmt, ValueType};

use super::assign::function;
use super::folds::updates_in_place;
use super::view::{ArrayView, Leaf, Writer, broken};
use super::{Env, Translator};
use crate::LowerError;

/// A fold by index whose parts can be read.
struct ByIndex {
    count: Nat,
    z: Functional,
    f: Lambda,
    indices: ArrayView,
    xs: ArrayView,
    env: Env,
}

impl Translator {
    pub(super) fn reduce_by_index(
        &mut self,
        call: &Call,
        env: &Env,
        out: &Writer,
    ) -> Result<(), LowerError> {
        let ([count], [z, indices, xs]) = (call.sizes.as_slice(), call.args.as_slice()) else {
            return Err(broken("a count, a start, indices and elements"));
        };
        let f = function(call)?.clone();
        if runs_in_parallel(&f.body) {
            let text = "the function of `reduceByIndexSeq` has a parallel map in it, but it runs only where an index says so: use `mapSeq`";
            return Err(LowerError::at(f.body.span(), text));
        }
        // Outside kernels, what is folded is computed by kernels of its own.
        let indices = self.eval(indices, env)?.into_array()?;
        let xs = self.eval(xs, env)?.into_array()?;
        let (z, env) = self.outside(z, env)?;
        let count = self.out.simplify(count);
        let fold = ByIndex { count, z, f, indices, xs, env };
        let (out, pattern) = (out.clone(), call.prim.clone());
        self.kernel(move |t| {
            t.out.comment(&pattern);
            if is_plain(&out)? {
                return t.fold_by_index(&fold, &out);
            }
            let ty = Type::array(fold.z.ty().clone(), fold.count.clone());
            let own = t.out.allocate("acc", &ty, t.out.default_space(&ty), 0)?;
            t.fold_by_index(&fold, &own.writer())?;
            t.store(own.view(), &out)
        })
    }

    fn fold_by_index(&mut self, fold: &ByIndex, out: &Writer) -> Result<(), LowerError> {
        let param = fold.f.params.first().ok_or_else(|| broken("an accumulator"))?;
        let start = self.eval(&fold.z, &fold.env)?;
        let start = self.out.named(param, start);
        self.repeat(LoopKind::Seq, &fold.count, |t, j| t.store(start, &out.at(j)?))?;
        let ty = fold.z.ty();
        let scratch = match ty.is_register() || updates_in_place(&fold.f.body, param, None) {
            true => None,
            false => Some(self.out.allocate("next", ty, self.out.default_space(ty), 0)?),
        };
        self.repeat(LoopKind::Seq, &fold.xs.length, |t, i| {
            let index = fold.indices.read(t, i)?.into_value()?;
            t.where_inside(index, &fold.count, |t, place| {
                let place = out.at(place)?;
                let (state, x) = (t.out.read_back(&place)?, fold.xs.read(t, i)?);
                let inner = t.enter(&fold.f, vec![state, x], &fold.env);
                match &scratch {
                    Some(next) => {
                        t.assign(&fold.f.body, &inner, &next.writer())?;
                        t.store(next.view(), &place)
                    }
                    None if ty.is_register() => t.update(Some(param), &fold.f, &inner, &place),
                    None => t.assign(&fold.f.body, &inner, &place),
                }
            })
        })
    }

    /// Statements that run where a value is at least 0 and below a length, made from it as an index. It is compared in a type
    /// that holds both, before it becomes one.
    pub(super) fn where_inside(
        &mut self,
        value: Expr,
        length: &Nat,
        body: impl FnOnce(&mut Translator, &Nat) -> Result<(), LowerError>,
    ) -> Result<(), LowerError> {
        if let Some((value, _)) = self.out.within(&value, length) {
            let place = self.out.fresh_index("place", Range::below(length.clone()));
            self.out.emit(Stmt::Index { var: place.clone(), value });
            return body(self, &Nat::var(&place));
        }
        let small = self.out.facts.at_most(length, &Nat::int(i32::MAX.into()));
        let scalar = if small { value.ty().scalar } else { Scalar::I64 };
        let own = self.out.fresh_variable("at", ValueType::scalar(scalar));
        let value = match value.ty() == own.ty {
            true => value,
            false => Expr::Cast(own.ty, Box::new(value)),
        };
        self.out.emit(Stmt::Declare { var: own.clone(), value: Some(value) });
        let own = Expr::Var(own);
        let binary = |op, a: Expr, b: Expr| Expr::Binary(op, Box::new(a), Box::new(b));
        let zero = Expr::Literal(Literal::Int(scalar, 0));
        let end = match length.as_int() {
            Some(length) => Expr::Literal(Literal::Int(scalar, length)),
            None => Expr::Index(length.clone(), scalar),
        };
        let condition = binary(
            BinaryOp::And,
            binary(BinaryOp::Le, zero, own.clone()),
            binary(BinaryOp::Lt, own.clone(), end),
        );
        let then = self.collect(|t| {
            let place = t.out.fresh_index("place", Range::below(length.clone()));
            t.out.emit(Stmt::Index { var: place.clone(), value: own });
            body(t, &Nat::var(&place))
        })?;
        self.out.emit(Stmt::If { condition, then, otherwise: Vec::new() });
        Ok(())
    }
}

/// Whether what is written can be read again.
pub(super) fn is_plain(writer: &Writer) -> Result<bool, LowerError> {
    match writer {
        Writer::Leaf(Leaf::Place(_) | Leaf::Variable(_)) => Ok(true),
        Writer::Leaf(Leaf::Guarded(..) | Leaf::Lanes(_)) => Ok(false),
        Writer::Tuple(items) => items.iter().try_fold(true, |all, item| Ok(all && is_plain(item)?)),
        Writer::Array(_, at) => is_plain(&at(&Nat::ZERO)?),
    }
}

fn runs_in_parallel(expr: &Functional) -> bool {
    let is_parallel = |part: &Functional| match part.kind() {
        Kind::Call(Call { prim: Prim::Map(kind), .. }) => kind.dimension().is_some(),
        Kind::Call(_) | Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) | Kind::Let { .. } => {
            false
        }
    };
    expr.has(is_parallel)
}
