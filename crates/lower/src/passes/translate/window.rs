//! `mapSeqSlide`: a window that moves along an array, kept in registers.
//!
//! Each step reads only the elements that are new and moves the others down.

use lift_ir::{Call, Lambda, Nat, Type};
use lift_kernel::LoopKind;

use super::assign::function;
use super::storage::{Storage, constant_bytes};
use super::view::{ArrayView, View, Writer, broken};
use super::{Env, Translator};
use crate::LowerError;

/// Windows with more elements are read anew at each step.
const MAX_WINDOW: i128 = 64;

impl Translator {
    pub(super) fn slide_window(
        &mut self,
        call: &Call,
        xs: ArrayView,
        env: &Env,
        out: &Writer,
    ) -> Result<(), LowerError> {
        let f = function(call)?.clone();
        let [size, step] = call.sizes.as_slice() else { return Err(broken("a size and a step")) };
        let (size, step) = (self.out.simplify(size), self.out.simplify(step));
        let count = self.out.simplify(&(&xs.length - &size + &step).exact_div(&step));
        let element = call.args.first().and_then(|a| a.ty().as_array()).map(|(e, _)| e.clone());
        let element = element.ok_or_else(|| broken("an array"))?;
        let (env, out, pattern) = (env.clone(), out.clone(), call.prim.clone());
        self.kernel(move |t| {
            t.out.comment(&pattern);
            let window = Window { size, step, count, element };
            if t.out.in_item() && window.is_small() {
                t.rotate(&window, &f, &xs, &env, &out)
            } else {
                t.read_anew(&window, &f, &xs, &env, &out)
            }
        })
    }

    fn rotate(
        &mut self,
        window: &Window,
        f: &Lambda,
        xs: &ArrayView,
        env: &Env,
        out: &Writer,
    ) -> Result<(), LowerError> {
        let ty = Type::array(window.element.clone(), window.size.clone());
        let held = self.out.allocate("window", &ty, lift_ir::Space::Private, 0)?;
        let kept = self.out.simplify(&(&window.size - &window.step));
        self.fill(&held, &kept, &Nat::ZERO, &Nat::ZERO, xs)?;
        self.repeat(LoopKind::Seq, &window.count, |t, i| {
            let start = i * &window.step;
            t.fill(&held, &window.step, &kept, &(&start + &kept), xs)?;
            let inner = t.enter(f, vec![held.view()], env);
            t.assign(&f.body, &inner, &out.at(i)?)?;
            t.repeat(LoopKind::Seq, &kept, |t, j| {
                let next = held.view().into_array()?.read(t, &(j + &window.step))?;
                t.store(next, &held.writer().at(j)?)
            })
        })
    }

    /// Reads `count` elements of an array into a window.
    fn fill(
        &mut self,
        held: &Storage,
        count: &Nat,
        to: &Nat,
        from: &Nat,
        xs: &ArrayView,
    ) -> Result<(), LowerError> {
        self.repeat(LoopKind::Seq, count, |t, j| {
            let x = xs.read(t, &(from + j))?;
            t.store(x, &held.writer().at(&(to + j))?)
        })
    }

    fn read_anew(
        &mut self,
        window: &Window,
        f: &Lambda,
        xs: &ArrayView,
        env: &Env,
        out: &Writer,
    ) -> Result<(), LowerError> {
        self.repeat(LoopKind::Seq, &window.count, |t, i| {
            let (start, xs) = (i * &window.step, xs.clone());
            let view = View::array(&window.size, move |t, j| xs.read(t, &(&start + j)));
            let inner = t.enter(f, vec![view], env);
            t.assign(&f.body, &inner, &out.at(i)?)
        })
    }
}

struct Window {
    size: Nat,
    step: Nat,
    count: Nat,
    element: Type,
}

impl Window {
    /// Whether it fits registers and keeps something from step to step.
    fn is_small(&self) -> bool {
        let (Some(size), Some(step)) = (self.size.as_int(), self.step.as_int()) else {
            return false;
        };
        step < size
            && size * elements(&self.element) <= MAX_WINDOW
            && constant_bytes(&self.element).is_some()
    }
}

/// How many scalars or vectors there are in a type; many where that is not known.
fn elements(ty: &Type) -> i128 {
    match ty {
        Type::Scalar(_) | Type::Vector(..) => 1,
        Type::Tuple(items) => items.iter().map(elements).sum(),
        Type::Array(element, n) => {
            n.as_int().map_or(MAX_WINDOW + 1, |n| n.saturating_mul(elements(element)))
        }
    }
}
