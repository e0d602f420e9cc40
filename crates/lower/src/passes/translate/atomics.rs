//! `reduceByIndexGlb`: folds whose results are chosen by data, each of which all work-items change.
//!
//! Before: `reduceByIndexGlb(k, z, f, is, xs)`, where f is `\acc x -> acc op e(x)`.
//! After: a kernel that has k results start as z, and one whose work-items go through the elements: where
//! `0 <= is[i] && is[i] < k`, result `is[i]` becomes `op` of itself and `e(xs[i])`, as one step. An index outside is no error, and
//! its element is not read.

use lift_ir::{
    AtomicFold, Call, Expr as Functional, FoldKind, Lambda, MapKind, Nat, Prim, Space, Type,
};
use lift_kernel::Stmt;

use super::assign::function;
use super::by_index::is_plain;
use super::view::{ArrayView, Leaf, View, Writer, broken};
use super::{Env, Translator};
use crate::LowerError;

/// A fold by index whose parts can be read.
struct Together {
    count: Nat,
    z: Functional,
    f: Lambda,
    indices: ArrayView,
    xs: ArrayView,
    env: Env,
}

impl Translator {
    pub(super) fn reduce_by_index_together(
        &mut self,
        call: &Call,
        env: &Env,
        out: &Writer,
    ) -> Result<(), LowerError> {
        let ([count], [z, indices, xs]) = (call.sizes.as_slice(), call.args.as_slice()) else {
            return Err(broken("a count, a start, indices and elements"));
        };
        let f = function(call)?.clone();
        if self.out.in_kernel() {
            let text = "`reduceByIndexGlb` takes all work-items of the device, and stands where one is computing";
            return Err(LowerError::at(None, text));
        }
        self.has_steps(&f)?;
        // What is folded is computed by kernels of its own.
        let indices = self.eval(indices, env)?.into_array()?;
        let xs = self.eval(xs, env)?.into_array()?;
        let (z, env) = self.outside(z, env)?;
        let count = self.out.simplify(count);
        let fold = Together { count, z, f, indices, xs, env };
        if is_plain(out)? {
            return self.fold_together(&fold, out);
        }
        let ty = Type::array(fold.z.ty().clone(), fold.count.clone());
        let own = self.out.allocate("acc", &ty, Space::Global, 0)?;
        self.fold_together(&fold, &own.writer())?;
        self.copy_view(own.view(), out)
    }

    /// Whether the device changes all numbers of a state in one step each.
    fn has_steps(&self, f: &Lambda) -> Result<(), LowerError> {
        let Some(fold) = AtomicFold::of(f) else {
            return Err(broken("an operation of a state and a value"));
        };
        match fold.steps.iter().find(|step| !self.out.options.changes_at_once(step.scalar)) {
            None => Ok(()),
            Some(step) => {
                let text = format!(
                    "`reduceByIndexGlb` changes a state in one step, which this device has for 32 bits: `{}` has 64",
                    step.scalar
                );
                Err(LowerError::at(f.body.span(), text))
            }
        }
    }

    fn fold_together(&mut self, fold: &Together, out: &Writer) -> Result<(), LowerError> {
        let Together { count, z, f, indices, xs, env } = fold;
        self.kernel(|t| {
            t.map_loop(MapKind::Glb(0), count, |t, j| {
                let start = t.eval(z, env)?;
                t.store(start, &out.at(j)?)
            })
        })?;
        self.kernel(|t| {
            t.out.comment(&Prim::ReduceByIndex(FoldKind::Glb));
            t.map_loop(MapKind::Glb(0), &xs.length, |t, i| {
                let index = indices.read(t, i)?.into_value()?;
                t.where_inside(index, count, |t, place| {
                    let x = xs.read(t, i)?;
                    t.change(f, x, env, &out.at(place)?)
                })
            })
        })
    }

    /// `acc = f(acc, x)`, each number of the state as one step.
    fn change(&mut self, f: &Lambda, x: View, env: &Env, place: &Writer) -> Result<(), LowerError> {
        let (Some(fold), [_, element]) = (AtomicFold::of(f), f.params.as_slice()) else {
            return Err(broken("an operation of a state and a value"));
        };
        // The state is not read, so it has no value here.
        let of_element = Lambda { params: vec![element.clone()], ..f.clone() };
        let mut env = self.enter(&of_element, vec![x], env);
        for (param, value) in fold.named {
            let value = self.shared(param.name(), value, &env)?;
            env = env.bind(param, value);
        }
        for (at, step) in fold.steps.iter().enumerate() {
            let value = self.eval(step.value, &env)?.into_value()?;
            let place = match place {
                Writer::Tuple(_) => place.component(at)?,
                Writer::Leaf(_) | Writer::Array(..) => place.clone(),
            };
            let Writer::Leaf(Leaf::Place(place)) = place else { return Err(broken("a place")) };
            let access = place.access(&self.out);
            self.out.emit(Stmt::Atomic { op: step.op, access, value });
        }
        Ok(())
    }
}
