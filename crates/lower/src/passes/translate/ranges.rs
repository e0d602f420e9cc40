//! Folds over ranges whose bounds are found at run time.
//!
//! A range is a loop of one work-item. Bounds that decrease are an error, and nothing is folded. Where every element reads
//! an array at its number, the first and the last are compared with the length, in place of each ([`Walk`]).

use lift_ir::{BinaryOp, Call, Literal, Nat, Pred, Range, Scalar, Span, UnaryOp};
use lift_kernel::{Expr, LoopKind, Stmt};

use super::assign::function;
use super::conditions::as_index;
use super::folds::Fold;
use super::points::below;
use super::view::{View, Writer, broken};
use super::walk::Walk;
use super::{Env, Translator};
use crate::LowerError;
use crate::plan::Fault;

/// The bounds of a range are at most this far from 0.
const FARTHEST: i128 = 1 << 61;

impl Translator {
    pub(super) fn reduce_range(
        &mut self,
        call: &Call,
        env: &Env,
        out: &Writer,
    ) -> Result<(), LowerError> {
        let [z, low, high] = call.args.as_slice() else { return Err(broken("two bounds")) };
        let f = function(call)?.clone();
        let element = call.functions.get(1).ok_or_else(|| broken("elements of a range"))?.clone();
        let span = low.span().or(self.out.here);
        let (z, env) = self.outside(z, env)?;
        let (low, env) = self.outside(low, &env)?;
        let (high, env) = self.outside(high, &env)?;
        let out = out.clone();
        self.kernel(move |t| {
            let (low, high) =
                (t.eval(&low, &env)?.into_value()?, t.eval(&high, &env)?.into_value()?);
            let scalar = low.ty().scalar;
            let (low, high) = (t.bound_of_range(low, span)?, t.bound_of_range(high, span)?);
            let mut extent = t.out.simplify(&(&high - &low));
            if !t.out.proves(&Pred::Le(low.clone(), high.clone())) {
                let decreases = Expr::Test(Pred::Lt(high.clone(), low.clone()));
                if !t.out.options.unchecked {
                    let told = [&low, &high].into_iter().filter(|_| scalar == Scalar::I32);
                    let told = told.map(|bound| Expr::Index(bound.clone(), Scalar::I32));
                    t.out.fail_telling(decreases, span, Fault::Range, told.collect())?;
                }
                let most = match scalar {
                    Scalar::I32 => 1 << 32,
                    _ => 2 * FARTHEST,
                };
                let range = Range::between(Nat::ZERO, Nat::int(most));
                let count = t.out.fresh_index("count", range);
                let value = Expr::Index(Nat::max(&extent, &Nat::ZERO), Scalar::I64);
                t.out.emit(Stmt::Index { var: count.clone(), value });
                extent = Nat::var(&count);
            }
            // Of bounds of 64 bits, the sum of one and a count might not fit.
            let walk = match scalar {
                Scalar::I32 => Walk::of(t, &element, scalar, &env)?,
                _ => None,
            };
            let inside = walk.as_ref().map(|walk| walk.checked(t, &low, &extent)).transpose()?;
            let extent = inside.unwrap_or(extent);
            let outer = env.clone();
            let elements = View::array(&extent, move |t, i| {
                let number = &low + i;
                match &walk {
                    Some(walk) => walk.element(t, number, &outer),
                    None => {
                        let number = View::Value(Expr::Index(number, scalar));
                        let inner = t.enter(&element, vec![number], &outer);
                        t.eval(&element.body, &inner)
                    }
                }
            });
            let elements = elements.into_array()?;
            let fold = Fold { z: &z, f: &f, xs: &elements, env: &env };
            t.fold_registers(LoopKind::Seq, false, &fold, &out)
        })
    }

    /// A bound as an index. So far out that arithmetic with it might not fit in 64 bits, it is an error.
    fn bound_of_range(&mut self, bound: Expr, span: Option<Span>) -> Result<Nat, LowerError> {
        if bound.ty().scalar != Scalar::I64 || as_index(&bound).is_some() {
            return Ok(self.out.index_of_value(bound));
        }
        let own = self.out.fresh_variable("bound", bound.ty());
        self.out.emit(Stmt::Declare { var: own.clone(), value: Some(bound) });
        let own = Expr::Var(own);
        let number = |n: i128| Box::new(Expr::Literal(Literal::Int(Scalar::I64, n)));
        let binary = |op, a: Box<Expr>, b: Box<Expr>| Box::new(Expr::Binary(op, a, b));
        let not_below = binary(BinaryOp::Le, number(-FARTHEST), Box::new(own.clone()));
        let not_above = binary(BinaryOp::Le, Box::new(own.clone()), number(FARTHEST));
        let near = binary(BinaryOp::And, not_below, not_above);
        if !self.out.options.unchecked {
            let far = Expr::Unary(UnaryOp::Not, near);
            self.out.fail_where(far, span, Fault::Bound)?;
        }
        // A part that is not negative without one that is not either, each of which says how far it reaches.
        let minus = binary(BinaryOp::Sub, number(0), Box::new(own.clone()));
        let mut part = |value: Expr| {
            let var = self.out.fresh_index("part", Range::below(Nat::int(FARTHEST + 1)));
            let value = below(value, Nat::int(FARTHEST + 1));
            self.out.emit(Stmt::Index { var: var.clone(), value });
            Nat::var(&var)
        };
        Ok(part(own) - part(*minus))
    }
}
