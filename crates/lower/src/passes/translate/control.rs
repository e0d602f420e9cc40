//! Loops, bindings and stores.

use std::rc::Rc;

use lift_ir::{
    Expr as Functional, Kind, Lambda, MapKind, Nat, Param, Pred, Prim, Range, Type, Var,
};
use lift_kernel::{Access, Expr, Loop, LoopKind, Stmt};

use super::view::{Later, Leaf, Place, View, Writer, broken};
use super::{Env, Open, Translator};
use crate::LowerError;

impl Translator {
    /// A loop over `0 .. extent` with a body made from its index. One iteration needs no loop.
    pub(super) fn repeat(
        &mut self,
        kind: LoopKind,
        extent: &Nat,
        body: impl FnOnce(&mut Translator, &Nat) -> Result<(), LowerError>,
    ) -> Result<(), LowerError> {
        let extent = self.simplify(extent);
        let sequential = matches!(kind, LoopKind::Seq | LoopKind::Unroll);
        if sequential && extent.as_int() == Some(1) {
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
        let sequential = matches!(kind, LoopKind::Seq | LoopKind::Unroll);
        // Nothing is known of an index that there is none of.
        if extent == Nat::ZERO {
            if !sequential {
                let var = self.ids.fresh("none");
                self.emit(Stmt::Loop(Loop::new(var, kind, extent, Vec::new())));
            }
            return Ok(());
        }
        let repeated = self.open.as_ref().is_some_and(|k| k.sequential > 0);
        if repeated && let LoopKind::Global(_) | LoopKind::Group(_) = kind {
            let name = if matches!(kind, LoopKind::Group(_)) { "mapWrg" } else { "mapGlb" };
            let text = format!(
                "`{name}` stands inside a loop that work-items run: all of them would have to wait for each other at each step; put the loop outside the parallel maps"
            );
            return Err(LowerError::at(None, text));
        }
        if self.is_open(kind) {
            return Err(made_inside(kind));
        }
        let wanted = match kind {
            LoopKind::Global(d) => format!("g{d}"),
            LoopKind::Group(d) => format!("wg{d}"),
            LoopKind::Local(d) => format!("l{d}"),
            LoopKind::Seq | LoopKind::Unroll => "i".to_string(),
        };
        // There may be no iteration: what the body knows is not known behind it.
        let outside = self.facts.clone();
        let var = self.fresh_index(&wanted, Range::below(extent.clone()));
        if let Some(kernel) = &mut self.open {
            kernel.blocks.push(Vec::new());
            kernel.sequential += usize::from(sequential);
            if !sequential {
                let is_item = matches!(kind, LoopKind::Local(_) | LoopKind::Global(_));
                let (var, extent) = (var.clone(), extent.clone());
                kernel.parallel.push(Open { var, kind, extent, is_item });
            }
        }
        let result = body(self, &Nat::var(&var));
        self.facts = outside;
        let Some(kernel) = &mut self.open else { return result };
        kernel.sequential -= usize::from(sequential);
        if !sequential {
            kernel.parallel.pop();
        }
        let block = kernel.blocks.pop().unwrap_or_default();
        self.emit(Stmt::Loop(Loop::new(var, kind, extent, block)));
        result
    }

    /// Whether the work-items of a kind are each in an iteration of their own already.
    fn is_open(&self, kind: LoopKind) -> bool {
        let around = self.open.iter().flat_map(|kernel| &kernel.parallel);
        matches!(kind, LoopKind::Local(_))
            && around.into_iter().any(|o| o.kind == kind && o.is_item)
    }

    /// As [`Translator::is_open`], before `mapWarp`.
    pub(super) fn refuse_warps_inside(&self) -> Result<(), LowerError> {
        let kind = LoopKind::Local(0);
        if self.is_open(kind) { Err(made_inside(kind)) } else { Ok(()) }
    }

    /// Statements that run only where a condition holds. What is known in them is known there only.
    pub(super) fn collect(
        &mut self,
        fill: impl FnOnce(&mut Translator) -> Result<(), LowerError>,
    ) -> Result<Vec<Stmt>, LowerError> {
        if let Some(kernel) = &mut self.open {
            kernel.blocks.push(Vec::new());
        }
        let outside = self.facts.clone();
        let result = fill(self);
        self.facts = outside;
        let block = self.open.as_mut().and_then(|k| k.blocks.pop()).unwrap_or_default();
        result.map(|()| block)
    }

    /// The loop a map becomes.
    pub(super) fn map_loop(
        &mut self,
        kind: MapKind,
        extent: &Nat,
        body: impl FnOnce(&mut Translator, &Nat) -> Result<(), LowerError>,
    ) -> Result<(), LowerError> {
        self.comment(&Prim::Map(kind));
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
            let view = if count_uses(&f.body, param) > 1 { self.named(param, view) } else { view };
            inner = inner.bind(param, view);
        }
        inner
    }

    /// A view whose scalars are in variables. Outside kernels there are none.
    pub(super) fn named(&mut self, param: &Param, view: View) -> View {
        match view {
            View::Value(value) if self.in_kernel() && !is_simple(&value) => {
                let var = self.fresh_variable(param.name(), value.ty());
                self.emit(Stmt::Declare { var: var.clone(), value: Some(value) });
                View::Value(Expr::Var(var))
            }
            View::Tuple(items) => {
                View::Tuple(items.into_iter().map(|item| self.named(param, item)).collect())
            }
            other => other,
        }
    }

    /// Writes a value.
    pub(super) fn store(&mut self, view: View, writer: &Writer) -> Result<(), LowerError> {
        match (view, writer) {
            (View::Value(value), Writer::Leaf(leaf)) => self.store_leaf(value, leaf),
            (View::Tuple(values), Writer::Tuple(writers)) if values.len() == writers.len() => {
                // All components are read before any is written.
                let mut written = Vec::new();
                writers.iter().for_each(|w| w.variables(&mut written));
                let values: Vec<View> =
                    values.into_iter().map(|v| self.settled(v, &written)).collect();
                values.into_iter().zip(writers).try_for_each(|(v, w)| self.store(v, w))
            }
            (View::Array(array), Writer::Array(length, at)) => {
                let at = at.clone();
                self.repeat(LoopKind::Seq, length, |t, i| {
                    let value = array.read(t, i)?;
                    t.store(value, &at(i)?)
                })
            }
            _ => Err(broken("a value and a place of one shape")),
        }
    }

    /// Writes an array, its outer dimensions by the work-items of a group that hold it.
    pub(super) fn store_shares(
        &mut self,
        view: View,
        writer: &Writer,
        dimensions: &[u8],
    ) -> Result<(), LowerError> {
        match (view, writer, dimensions) {
            (View::Array(array), Writer::Array(length, at), [outer, inner @ ..]) => {
                let at = at.clone();
                self.repeat(LoopKind::Local(*outer), length, |t, i| {
                    let value = array.read(t, i)?;
                    t.store_shares(value, &at(i)?, inner)
                })
            }
            (view, writer, _) => self.store(view, writer),
        }
    }

    /// A value in a variable that is none of those to be written.
    fn settled(&mut self, view: View, written: &[Var]) -> View {
        match view {
            View::Value(value) if !is_simple(&value) || mentions_one(&value, written) => {
                let var = self.fresh_variable("part", value.ty());
                self.emit(Stmt::Declare { var: var.clone(), value: Some(value) });
                View::Value(Expr::Var(var))
            }
            View::Tuple(parts) => {
                View::Tuple(parts.into_iter().map(|part| self.settled(part, written)).collect())
            }
            View::Value(_) | View::Array(_) => view,
        }
    }

    fn store_leaf(&mut self, value: Expr, leaf: &Leaf) -> Result<(), LowerError> {
        match leaf {
            Leaf::Place(place) => {
                let access = place.access(self);
                self.emit(Stmt::Store { access, value });
                Ok(())
            }
            Leaf::Variable(var) => {
                self.emit(Stmt::Assign { var: var.clone(), value });
                Ok(())
            }
            Leaf::Guarded(condition, inner) => {
                if self.proves(condition) {
                    return self.store_leaf(value, inner);
                }
                let then = self.collect(|t| t.store_leaf(value, inner))?;
                let condition = Expr::Test(condition.clone());
                self.emit(Stmt::If { condition, then, otherwise: Vec::new() });
                Ok(())
            }
            Leaf::Lanes(lanes) => match self.adjacent(lanes) {
                Some(place) => self.store_leaf(value, &Leaf::Place(place)),
                None => {
                    let View::Value(vector) = self.settled(View::Value(value), &[]) else {
                        return Err(broken("a vector"));
                    };
                    for (i, lane) in lanes.iter().enumerate() {
                        let part = Expr::Lane(Box::new(vector.clone()), i as u32);
                        self.store_leaf(part, lane)?;
                    }
                    Ok(())
                }
            },
        }
    }

    /// The one place of a vector whose lanes lie next to each other in a buffer.
    fn adjacent(&self, lanes: &[Leaf]) -> Option<Place> {
        let Some(Leaf::Place(first)) = lanes.first() else { return None };
        for (i, lane) in lanes.iter().enumerate() {
            let Leaf::Place(place) = lane else { return None };
            let expected = &first.index + Nat::int(i as i128);
            let same = place.buffer == first.buffer && place.items == first.items;
            if !same || !self.facts.equal(&place.index, &expected) {
                return None;
            }
        }
        Some(Place { width: lanes.len() as u32, ..first.clone() })
    }

    /// As [`Translator::adjacent`], for values that are read.
    pub(super) fn adjacent_loads(&self, lanes: &[Expr]) -> Option<Expr> {
        let Some(Expr::Load(first, ty)) = lanes.first() else { return None };
        for (i, lane) in lanes.iter().enumerate() {
            let Expr::Load(access, _) = lane else { return None };
            let distance = access.distance_from(first)?;
            if access.width != 1 || !self.facts.equal(&distance, &Nat::int(i as i128)) {
                return None;
            }
        }
        let width = lanes.len() as u32;
        let aligned = self.divides(&Nat::int(i128::from(width)), &first.index);
        let access = Access { width, aligned, ..first.clone() };
        Some(Expr::Load(access, lift_kernel::ValueType::vector(ty.scalar, width)))
    }

    /// Whether a view reads exactly what a writer writes, so that the value is in place already.
    pub(super) fn same_place(&mut self, view: &View, writer: &Writer) -> Result<bool, LowerError> {
        match (view, writer) {
            (View::Value(Expr::Load(access, _)), Writer::Leaf(Leaf::Place(place))) => {
                Ok(*access == place.access(self))
            }
            (View::Value(Expr::Var(read)), Writer::Leaf(Leaf::Variable(written))) => {
                Ok(read == written)
            }
            (View::Tuple(values), Writer::Tuple(writers)) if values.len() == writers.len() => {
                for (value, writer) in values.iter().zip(writers) {
                    if !self.same_place(value, writer)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (View::Array(array), Writer::Array(length, at)) => {
                // Reading may take statements; those of a trial are thrown away.
                let probe = self.fresh_index("probe", Range::below(length.clone()));
                let (array, at) = (array.clone(), at.clone());
                let mut same = false;
                self.collect(|t| {
                    let index = Nat::var(&probe);
                    let element = array.read(t, &index)?;
                    same = t.same_place(&element, &at(&index)?)?;
                    Ok(())
                })?;
                Ok(same)
            }
            _ => Ok(false),
        }
    }

    /// What was written, to be read again.
    pub(super) fn written(&self, writer: &Writer) -> Result<View, LowerError> {
        match writer {
            Writer::Leaf(Leaf::Place(place)) => Ok(View::Value(place.load(self))),
            Writer::Leaf(Leaf::Variable(var)) => Ok(View::Value(Expr::Var(var.clone()))),
            Writer::Leaf(Leaf::Guarded(..) | Leaf::Lanes(_)) => Err(broken("a plain place")),
            Writer::Tuple(items) => {
                let items: Result<Vec<View>, LowerError> =
                    items.iter().map(|w| self.written(w)).collect();
                Ok(View::Tuple(items?))
            }
            Writer::Array(length, at) => {
                let at = at.clone();
                Ok(View::array(length, move |t, i| {
                    let place = at(i)?;
                    t.written(&place)
                }))
            }
        }
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
        if self.proves(condition) {
            return then(self);
        }
        if self.facts.refutes(condition) {
            return otherwise(self);
        }
        if ty.is_register() && self.in_kernel() {
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
        if self.proves(condition) {
            return Ok(then);
        }
        if self.facts.refutes(condition) {
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

fn element_later(array: &Later, index: &Nat) -> Later {
    let (array, index) = (array.clone(), index.clone());
    Rc::new(move |t| array(t)?.into_array()?.read(t, &index))
}

fn component_later(tuple: &Later, index: usize) -> Later {
    let tuple = tuple.clone();
    Rc::new(move |t| tuple(t)?.component(index))
}

/// Whether a value mentions one of some variables.
fn mentions_one(value: &Expr, variables: &[Var]) -> bool {
    let mut found = false;
    value.each(&mut |e| found |= matches!(e, Expr::Var(v) if variables.contains(&v.id)));
    found
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
