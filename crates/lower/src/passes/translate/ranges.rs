//! Folds over ranges whose bounds are found at run time.
//!
//! A range is a loop of one work-item. Bounds that decrease are an error, and nothing is folded.

use lift_ir::{Call, Nat, Pred, Range};
use lift_kernel::{Expr, LoopKind, Stmt};

use super::assign::function;
use super::folds::Fold;
use super::view::{View, Writer, broken};
use super::{Env, Translator};
use crate::LowerError;
use crate::plan::{Check, Fault};

impl Translator {
    pub(super) fn reduce_range(
        &mut self,
        call: &Call,
        env: &Env,
        out: &Writer,
    ) -> Result<(), LowerError> {
        let [z, low, high] = call.args.as_slice() else { return Err(broken("two bounds")) };
        let f = function(call)?.clone();
        let span = low.span().or(self.here);
        let (z, env) = self.outside(z, env)?;
        let (low, env) = self.outside(low, &env)?;
        let (high, env) = self.outside(high, &env)?;
        let out = out.clone();
        self.kernel(move |t| {
            let (low, high) =
                (t.eval(&low, &env)?.into_value()?, t.eval(&high, &env)?.into_value()?);
            let scalar = low.ty().scalar;
            let (low, high) = (t.index_of_value(low), t.index_of_value(high));
            let mut extent = t.simplify(&(&high - &low));
            if !t.proves(&Pred::Le(low.clone(), high.clone())) {
                let decreases = Expr::Test(Pred::Lt(high, low.clone()));
                if !t.options.unchecked {
                    t.fail_where(decreases, Check { span, fault: Fault::Range })?;
                }
                let count = t.fresh_index("count", Range::at_least(Nat::ZERO));
                let value = Expr::Index(Nat::max(&extent, &Nat::ZERO), lift_ir::Scalar::I64);
                t.emit(Stmt::Index { var: count.clone(), value });
                extent = Nat::var(&count);
            }
            let numbers =
                View::array(&extent, move |_, i| Ok(View::Value(Expr::Index(&low + i, scalar))));
            let numbers = numbers.into_array()?;
            let fold = Fold { z: &z, f: &f, xs: &numbers, env: &env };
            t.fold_registers(LoopKind::Seq, false, &fold, &out)
        })
    }
}
