//! Functional program to kernels: values become views, patterns become loops.
//!
//! Before: an expression in which every pattern says how it runs.
//! After: kernels with loops, loads and stores, cut where a result is needed by all work-groups.
//!
//! Two functions carry the translation. [`Translator::eval`] gives a view of a value to read,
//! storing it first where it must be computed; [`Translator::assign`] computes a value straight into
//! a place to write, so that a result is never stored twice. Layout patterns only change indices,
//! on either side. Statements, buffers and steps are put together by an [`Emitter`], which knows where the next
//! statement goes and what holds there.

mod assign;
mod atomics;
mod boxes;
mod by_index;
mod by_rows;
mod checks;
mod conditions;
mod control;
mod division;
mod elsewhere;
mod emitter;
mod eval;
mod folds;
mod intervals;
mod iterate;
mod lanes;
mod layout;
mod open_kernel;
mod points;
mod products;
mod quadratic;
mod ranges;
mod scalars;
pub(crate) mod shuffles;
mod storage;
mod stores;
mod until;
mod update;
mod view;
mod walk;
mod warps;
mod window;

pub(crate) use boxes::{is_made_in_box, nest_to_see, seen_through, with_nested};
pub(crate) use by_rows::{Walked, has_only_points};
pub(crate) use storage::constant_bytes;

use std::rc::Rc;

use lift_ir::{Context, Def, Nat, Param, Scalar, Span, Type, Var};
use lift_kernel::{BufferId, ValueType};

use crate::plan::{Condition, Plan, Requirement, Role};
use crate::{LowerError, Options};
use emitter::Emitter;
use view::View;

/// Requires: the host makes sure of what is `required` of the sizes.
pub(crate) fn translate(
    def: &Def,
    options: &Options,
    required: &[Requirement],
) -> Result<Plan, LowerError> {
    let mut t = Translator::new(def, options);
    for requirement in required {
        if let Condition::Holds(pred) = &requirement.condition {
            t.out.facts.assume(pred);
        }
    }
    let mut env = Env::default();
    for (index, param) in def.params.iter().enumerate() {
        let view = t.parameter(index, param)?;
        env = env.bind(param, view);
    }
    let output = t.out.output(&def.ret)?;
    t.assign(&def.body, &env, &output)?;
    Ok(t.out.finish())
}

/// The expressions that are translated at most. A kernel of so many keeps a C compiler busy for a minute.
const MOST_EVALUATED: u32 = 1 << 15;

fn too_long(span: Option<Span>) -> LowerError {
    let text = "the kernels of this program become too long: what is computed on reading is written out at each place that reads it; store a part of it (`|> id`), or write it as a loop (`iterate`, `reduceSeq`)";
    LowerError::at(span, text)
}

/// What variables stand for; closures keep the bindings of where they were made.
#[derive(Clone, Default)]
pub(crate) struct Env(Option<Rc<Bound>>);

struct Bound {
    param: u32,
    view: View,
    outer: Option<Rc<Bound>>,
}

impl Env {
    fn bind(&self, param: &Param, view: View) -> Env {
        Env(Some(Rc::new(Bound { param: param.id(), view, outer: self.0.clone() })))
    }

    fn get(&self, param: &Param) -> Option<&View> {
        let mut here = self.0.as_deref();
        while let Some(bound) = here {
            if bound.param == param.id() {
                return Some(&bound.view);
            }
            here = bound.outer.as_deref();
        }
        None
    }
}

/// Gives kernels to a functional program, expression by expression.
pub(crate) struct Translator {
    /// Rebuilds expressions whose parts were computed apart.
    cx: Context,
    out: Emitter,
    /// What the next intermediate value is called.
    naming: String,
    /// How many expressions were translated so far, those that are written out again counted again.
    evaluated: u32,
    /// The points that the loops around are at.
    visited: Vec<by_rows::Visited>,
}

impl Translator {
    fn new(def: &Def, options: &Options) -> Translator {
        Translator {
            cx: def.context(),
            out: Emitter::new(def, options),
            naming: "tmp".to_string(),
            evaluated: 0,
            visited: Vec::new(),
        }
    }

    /// The buffers or variable of an argument of the program.
    fn parameter(&mut self, index: usize, param: &Param) -> Result<View, LowerError> {
        match param.ty() {
            Type::Scalar(scalar) => {
                let ty = ValueType::scalar(*scalar);
                let var = self.out.fresh_variable(param.name(), ty);
                self.out.scalars.push((index, var.clone()));
                Ok(View::Value(lift_kernel::Expr::Var(var)))
            }
            ty => {
                let role = |leaf| Role::Input { param: index, leaf };
                let storage = self.out.global(param.name(), ty, role)?;
                Ok(storage.view())
            }
        }
    }

    /// Translates an expression; an error in it that names no place is at the expression's.
    fn at_span<T>(
        &mut self,
        span: Option<Span>,
        translate: impl FnOnce(&mut Translator) -> Result<T, LowerError>,
    ) -> Result<T, LowerError> {
        self.evaluated += 1;
        if self.evaluated > MOST_EVALUATED {
            return Err(too_long(span));
        }
        let around = self.out.here;
        self.out.here = span.or(around);
        let result = translate(self);
        self.out.here = around;
        result.map_err(|e| LowerError { span: e.span.or(span), ..e })
    }

    /// Runs `fill` with statements going to a new kernel, launched here.
    fn kernel(
        &mut self,
        fill: impl FnOnce(&mut Translator) -> Result<(), LowerError>,
    ) -> Result<(), LowerError> {
        if self.out.in_kernel() {
            return fill(self);
        }
        // What is known in its body is known there only.
        let outside = self.out.facts.clone();
        self.out.open_kernel()?;
        let result = fill(self);
        self.out.facts = outside;
        match result {
            Ok(()) => self.out.close_kernel(),
            Err(error) => {
                self.out.open = None;
                Err(error)
            }
        }
    }

    /// A loop of the host whose kernels are given the number of the iteration.
    fn host_loop(
        &mut self,
        count: &Nat,
        swap: Vec<(BufferId, BufferId)>,
        taken: Option<Var>,
        body: impl FnOnce(&mut Translator, &Nat) -> Result<(), LowerError>,
    ) -> Result<(), LowerError> {
        if self.out.simplify(count) == Nat::ZERO {
            return Ok(());
        }
        let open = self.out.open_host_loop(count);
        let result = body(self, &Nat::var(&open.counter));
        self.out.close_host_loop(open, swap, taken);
        result
    }
}

/// The lanes of a vector type; sizes of vectors are fixed by now.
fn lanes(width: &Nat) -> Result<u32, LowerError> {
    let known = width.as_int().and_then(|w| u32::try_from(w).ok());
    known.ok_or_else(|| LowerError::at(None, format!("the vector width `{width}` is not a number")))
}

fn value_type(scalar: Scalar, width: &Nat) -> Result<ValueType, LowerError> {
    Ok(ValueType::vector(scalar, lanes(width)?))
}
