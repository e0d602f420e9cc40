//! `update`: an array with some elements replaced.
//!
//! Before: `update(ys, is, xs)`.
//! After: ys in the place where the result is wanted, and a loop over the indices, parallel outside of kernels: where
//! `0 <= is[i] && is[i] < k`, element `is[i]` becomes `xs[i]`. What is repeated, `iterate(n, \t -> update(t, is, xs))`, needs no copy: the
//! elements that are read are not those that are replaced.

use lift_ir::{Call, Expr as Functional, Lambda, MapKind, Nat, Prim, Scalar, Space};
use lift_kernel::LoopKind;

use super::view::{Writer, broken};
use super::{Env, Translator};
use crate::LowerError;
use crate::passes::default_lowering::is_grid_wide;

/// The indices and elements of an update of the state itself.
pub(super) struct Step {
    indices: Functional,
    elements: Functional,
}

impl Step {
    /// The step of an iteration that updates its state.
    pub(super) fn of(f: &Lambda) -> Option<Step> {
        let call = f.body.as_call().filter(|call| call.prim == Prim::Update)?;
        let [state, indices, elements] = call.args.as_slice() else { return None };
        let own = f.params.last()?;
        let is_state = f.size.is_none() && state.as_var() == Some(own);
        is_state.then(|| Step { indices: indices.clone(), elements: elements.clone() })
    }
}

impl Translator {
    pub(super) fn update_copy(
        &mut self,
        call: &Call,
        env: &Env,
        out: &Writer,
    ) -> Result<(), LowerError> {
        let [ys, indices, elements] = call.args.as_slice() else {
            return Err(broken("an array, indices and elements"));
        };
        self.assign(ys, env, out)?;
        let step = Step { indices: indices.clone(), elements: elements.clone() };
        self.replace_elements(&step, env, out)
    }

    /// Puts elements at their indices.
    fn replace_elements(&mut self, step: &Step, env: &Env, out: &Writer) -> Result<(), LowerError> {
        let Writer::Array(length, _) = out else { return Err(broken("an array to write")) };
        let (indices, env) = self.before_update(&step.indices, env)?;
        let (elements, env) = self.before_update(&step.elements, &env)?;
        let kind = if self.out.in_kernel() { MapKind::Seq } else { MapKind::Glb(0) };
        let (length, out) = (length.clone(), out.clone());
        self.kernel(move |t| {
            t.out.comment(&Prim::Update);
            let indices = t.eval(&indices, &env)?.into_array()?;
            let elements = t.eval(&elements, &env)?.into_array()?;
            t.map_loop(kind, &indices.length.clone(), |t, i| {
                let index = indices.read(t, i)?.into_value()?;
                t.where_inside(index, &length, |t, place| {
                    let element = elements.read(t, i)?;
                    t.store(element, &out.at(place)?)
                })
            })
        })
    }

    /// What the whole grid makes is computed before; anything else where it is put.
    fn before_update(
        &mut self,
        expr: &Functional,
        env: &Env,
    ) -> Result<(Functional, Env), LowerError> {
        match is_grid_wide(expr) {
            true => self.outside(expr, env),
            false => Ok((expr.clone(), env.clone())),
        }
    }

    /// `iterate(n, \t -> update(t, is, xs), ys)`, in one array.
    pub(super) fn updated_again(
        &mut self,
        (times, f, step): (&Nat, &Lambda, &Step),
        start: &Functional,
        env: &Env,
        out: &Writer,
    ) -> Result<(), LowerError> {
        if f.params.len() > 1 {
            // Their numbers are `i32`, or the sizes are an error.
            self.out.is_exact(times, Scalar::I32);
        }
        if !self.out.in_kernel() {
            let state = self.out.allocate("state", start.ty(), Space::Global, 0)?;
            self.assign(start, env, &state.writer())?;
            self.host_loop(times, Vec::new(), None, |t, i| {
                let inner = t.enter_step(f, i, state.view(), env);
                t.replace_elements(step, &inner, &state.writer())
            })?;
            return self.copy_view(state.view(), out);
        }
        let state =
            self.out.allocate("state", start.ty(), self.out.default_space(start.ty()), 0)?;
        self.assign(start, env, &state.writer())?;
        self.repeat(LoopKind::Seq, times, |t, i| {
            let inner = t.enter_step(f, i, state.view(), env);
            t.replace_elements(step, &inner, &state.writer())
        })?;
        self.store(state.view(), out)
    }
}
