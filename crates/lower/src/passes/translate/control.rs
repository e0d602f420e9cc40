//! Loops, bindings and choices.

use std::rc::Rc;

use lift_ir::{Expr as Functional, Kind, Lambda, MapKind, Nat, Param, Pred, Prim, Scalar, Type};
use lift_kernel::{Expr, Loop, LoopKind, Stmt, ValueType};

use super::emitter::Emitter;
use super::open_kernel::is_sequential;
use super::view::{Later, View, broken};
use super::{Env, Translator};
use crate::LowerError;

impl Translator {
    /// A loop over `0 .. extent` with a body made from its index. One iteration needs no loop.
    pub(super) fn repeat(
        &mut self,
        kind: LoopKind,
        extent: &Nat,
        body: impl FnOnce(&mut Translator, &Nat) -> Result<(), LowerError>,
    ) -> Result<(), LowerError> {
        let extent = self.out.simplify(extent);
        if is_sequential(kind) && extent.as_int() == Some(1) {
            return body(self, &Nat::int(0));
        }
        self.looping(kind, extent, body)
    }

    /// As [`Translator::repeat`], a loop also where there is one iteration: it may be stopped.
    pub(super) fn looping(
        &mut self,
        kind: LoopKind,
        extent: Nat,
        body: impl FnOnce(&mut Translator, &Nat) -> Result<(), LowerError>,
    ) -> Result<(), LowerError> {
        // Nothing is known of an index that there is none of.
        if extent == Nat::ZERO {
            if !is_sequential(kind) {
                let var = self.out.ids.fresh("none");
                self.out.emit(Stmt::Loop(Loop::new(var, kind, extent, Vec::new())));
            }
            return Ok(());
        }
        let repeated = self.out.open.as_ref().is_some_and(|k| k.sequential > 0);
        if repeated && let LoopKind::Global(_) | LoopKind::Group(_) = kind {
            let name = if matches!(kind, LoopKind::Group(_)) { "mapWrg" } else { "mapGlb" };
            let text = format!(
                "`{name}` stands inside a loop that work-items run: all of them would have to wait for each other at each step; put the loop outside the parallel maps"
            );
            return Err(LowerError::at(None, text));
        }
        if self.out.is_open(kind) {
            return Err(made_inside(kind));
        }
        let open = self.out.open_loop(kind, extent);
        let result = body(self, &Nat::var(&open.var));
        self.out.close_loop(open);
        result
    }

    /// Statements that run only where a condition holds. What is known in them is known there only.
    pub(super) fn collect(
        &mut self,
        fill: impl FnOnce(&mut Translator) -> Result<(), LowerError>,
    ) -> Result<Vec<Stmt>, LowerError> {
        let outside = self.out.open_block();
        let result = fill(self);
        let block = self.out.close_block(outside);
        result.map(|()| block)
    }

    /// The loop a map becomes.
    pub(super) fn map_loop(
        &mut self,
        kind: MapKind,
        extent: &Nat,
        body: impl FnOnce(&mut Translator, &Nat) -> Result<(), LowerError>,
    ) -> Result<(), LowerError> {
        self.out.comment(&Prim::Map(kind));
        match kind {
            MapKind::Glb(d) => self.repeat(LoopKind::Global(d), extent, body),
            MapKind::Wrg(d) => self.repeat(LoopKind::Group(d), extent, body),
            MapKind::Lcl(d) | MapKind::Lane(d) => self.repeat(LoopKind::Local(d), extent, body),
            MapKind::Warp(_) => self.over_warps(extent, body),
            MapKind::Map | MapKind::Seq => self.repeat(LoopKind::Seq, extent, body),
            MapKind::SeqUnroll => self.repeat(LoopKind::Unroll, extent, body),
        }
    }

    /// The environment of a function's body, given its arguments. A scalar read more than once is
    /// read into a variable.
    pub(super) fn enter(&mut self, f: &Lambda, args: Vec<View>, env: &Env) -> Env {
        let mut inner = env.clone();
        for (param, view) in f.params.iter().zip(args) {
            let view =
                if count_uses(&f.body, param) > 1 { self.out.named(param, view) } else { view };
            inner = inner.bind(param, view);
        }
        inner
    }

    /// `condition ? then : otherwise` on indices, decided where it can be. Only what is chosen is read: the
    /// other may lie outside its array.
    pub(super) fn choose_later(
        &mut self,
        ty: &Type,
        condition: &Pred,
        then: Later,
        otherwise: Later,
    ) -> Result<View, LowerError> {
        if self.out.proves(condition) {
            return then(self);
        }
        if self.out.facts.refutes(condition) {
            return otherwise(self);
        }
        if ty.is_register() && self.out.in_kernel() {
            let test = Expr::Test(condition.clone());
            return self.branch(test, ty, |t| then(t), |t| otherwise(t));
        }
        match ty {
            Type::Array(element, n) => {
                let (element, condition) = (element.clone(), condition.clone());
                Ok(View::array(n, move |t, i| {
                    let (then, otherwise) = (element_later(&then, i), element_later(&otherwise, i));
                    t.choose_later(&element, &condition, then, otherwise)
                }))
            }
            Type::Tuple(items) => {
                let parts: Result<Vec<View>, LowerError> = items
                    .iter()
                    .enumerate()
                    .map(|(k, item)| {
                        let (a, b) = (component_later(&then, k), component_later(&otherwise, k));
                        self.choose_later(item, condition, a, b)
                    })
                    .collect();
                Ok(View::Tuple(parts?))
            }
            Type::Scalar(_) | Type::Vector(..) => {
                let (a, b) = (then(self)?, otherwise(self)?);
                self.choose(condition, a, b)
            }
        }
    }

    /// As [`Translator::choose_later`] of values that are there.
    pub(super) fn choose(
        &mut self,
        condition: &Pred,
        then: View,
        otherwise: View,
    ) -> Result<View, LowerError> {
        if self.out.proves(condition) {
            return Ok(then);
        }
        if self.out.facts.refutes(condition) {
            return Ok(otherwise);
        }
        match (then, otherwise) {
            (View::Value(a), View::Value(b)) => {
                let test = Box::new(Expr::Test(condition.clone()));
                Ok(View::Value(Expr::Select(test, Box::new(a), Box::new(b))))
            }
            (View::Tuple(a), View::Tuple(b)) => {
                let parts: Result<Vec<View>, LowerError> =
                    a.into_iter().zip(b).map(|(a, b)| self.choose(condition, a, b)).collect();
                Ok(View::Tuple(parts?))
            }
            (View::Array(a), View::Array(b)) => {
                let condition = condition.clone();
                let length = a.length.clone();
                Ok(View::array(&length, move |t, i| {
                    let (x, y) = (a.read(t, i)?, b.read(t, i)?);
                    t.choose(&condition, x, y)
                }))
            }
            _ => Err(broken("two values of one shape")),
        }
    }
}

impl Emitter {
    /// Whether the work-items of a kind are each in an iteration of their own already.
    fn is_open(&self, kind: LoopKind) -> bool {
        let around = self.open.iter().flat_map(|kernel| &kernel.parallel);
        matches!(kind, LoopKind::Local(_))
            && around.into_iter().any(|o| o.kind == kind && o.is_item)
    }

    /// As [`Emitter::is_open`], before `mapWarp`.
    pub(super) fn refuse_warps_inside(&self) -> Result<(), LowerError> {
        let kind = LoopKind::Local(0);
        if self.is_open(kind) { Err(made_inside(kind)) } else { Ok(()) }
    }

    /// A view whose scalars are in variables. Outside kernels there are none.
    pub(super) fn named(&mut self, param: &Param, view: View) -> View {
        match view {
            View::Value(value) if self.in_kernel() && !is_simple(&value) => {
                let var = self.fresh_variable(param.name(), value.ty());
                if value.ty() == ValueType::scalar(Scalar::Bool) {
                    self.reached.name(&var, &value);
                }
                self.bound(&var, &value);
                self.emit(Stmt::Declare { var: var.clone(), value: Some(value) });
                View::Value(Expr::Var(var))
            }
            View::Tuple(items) => {
                View::Tuple(items.into_iter().map(|item| self.named(param, item)).collect())
            }
            other => other,
        }
    }
}

fn element_later(array: &Later, index: &Nat) -> Later {
    let (array, index) = (array.clone(), index.clone());
    Rc::new(move |t| array(t)?.into_array()?.read(t, &index))
}

fn component_later(tuple: &Later, index: usize) -> Later {
    let tuple = tuple.clone();
    Rc::new(move |t| tuple(t)?.component(index))
}

/// Cheap to write again: variables, constants, indices.
pub(super) fn is_simple(value: &Expr) -> bool {
    match value {
        Expr::Var(_) | Expr::Literal(_) | Expr::Index(..) => true,
        Expr::Lane(inner, _) => is_simple(inner),
        _ => false,
    }
}

/// How often a variable is read; reading it inside a function counts twice.
pub(super) fn count_uses(expr: &Functional, param: &Param) -> u32 {
    fn count(expr: &Functional, param: &Param, weight: u32) -> u32 {
        if !expr.mentions(param) {
            return 0;
        }
        match expr.kind() {
            Kind::Var(_) => weight,
            Kind::Literal(_) | Kind::Size(..) => 0,
            Kind::Let { value, body, .. } => {
                count(value, param, weight).saturating_add(count(body, param, weight))
            }
            Kind::Call(call) => {
                let inside = call.functions.iter().map(|f| count(&f.body, param, 2));
                let beside = call.args.iter().map(|a| count(a, param, weight));
                inside.chain(beside).fold(0, u32::saturating_add)
            }
        }
    }
    count(expr, param, 1)
}

/// Nested maps over one dimension are refused where a program has them; views may lead to them, too.
fn made_inside(kind: LoopKind) -> LowerError {
    let d = if let LoopKind::Local(d) = kind { d } else { 0 };
    let text = format!(
        "what the work-items of a group make is read inside the `mapLcl({d})` around it, where each is at work on its own: make it outside (`let`)"
    );
    LowerError::at(None, text)
}
