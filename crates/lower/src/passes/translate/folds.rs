//! Folds and scans: values that are built up step by step.

use lift_ir::{Call, Expr as Functional, FoldKind, Kind, Lambda, Nat, Param, Prim, Space, Type};
use lift_kernel::LoopKind;

use super::assign::function;
use super::emitter::Emitter;
use super::eval::{named_space, placed};
use super::view::{ArrayView, Leaf, View, Writer, broken};
use super::{Env, Translator};
use crate::LowerError;
use crate::passes::default_lowering::is_grid_wide;
use crate::plan::Role;

impl Translator {
    /// `reduceSeq(z, f, xs)`: an accumulator that starts as z and is updated in place.
    pub(super) fn reduce(
        &mut self,
        kind: FoldKind,
        call: &Call,
        env: &Env,
        out: &Writer,
    ) -> Result<(), LowerError> {
        let [z, xs] = call.args.as_slice() else { return Err(broken("a start and an array")) };
        let f = function(call)?.clone();
        if kind == FoldKind::Any && self.fold_in_warps(call, env, out)? {
            return Ok(());
        }
        // Outside kernels, what is folded is computed by kernels of its own.
        let xs = self.eval(xs, env)?.into_array()?;
        if !self.out.in_kernel() && is_grid_wide(&f.body) {
            return self.fold_on_host(z, &f, &xs, env, States::Last(out));
        }
        let (z, env) = self.outside(z, env)?;
        let is_free = kind == FoldKind::Any && z.ty().is_register();
        if let Some(walked) = self.walked(call).filter(|_| is_free) {
            let fold = Fold { z: &z, f: &f, xs: &xs, env: &env };
            return self.fold_rows(&walked, &fold, out);
        }
        let out = out.clone();
        let pattern = call.prim.clone();
        self.kernel(move |t| {
            t.out.comment(&pattern);
            let in_any_order = kind == FoldKind::Any;
            let unroll = kind == FoldKind::SeqUnroll;
            let kind = if unroll { LoopKind::Unroll } else { LoopKind::Seq };
            if !z.ty().is_register() {
                return t.fold_array(kind, &z, &f, &xs, &env, &out);
            }
            let fold = Fold { z: &z, f: &f, xs: &xs, env: &env };
            t.fold_registers(kind, in_any_order, &fold, &out)
        })
    }

    pub(super) fn fold_registers(
        &mut self,
        kind: LoopKind,
        in_any_order: bool,
        fold: &Fold,
        out: &Writer,
    ) -> Result<(), LowerError> {
        let Fold { z, f, env, .. } = *fold;
        let start = self.eval(z, env)?;
        let name = f.params.first().map_or("acc", |p| p.name()).to_string();
        let (acc, writer) = match self.out.as_variables(out) {
            Some(acc) => (acc, out.clone()),
            None => self.out.registers(&name, z.ty())?,
        };
        self.store(start, &writer)?;
        self.fold_into(kind, in_any_order, fold, &acc, &writer)?;
        if self.out.as_variables(out).is_some() { Ok(()) } else { self.store(acc, out) }
    }

    /// Puts all elements into a state in registers.
    pub(super) fn fold_into(
        &mut self,
        kind: LoopKind,
        in_any_order: bool,
        fold: &Fold,
        acc: &View,
        writer: &Writer,
    ) -> Result<(), LowerError> {
        let Fold { z, xs, .. } = *fold;
        let made = self.out.made();
        self.repeat(kind, &xs.length, |t, i| {
            let x = xs.read(t, i)?;
            fold.step(t, acc, x, writer)
        })?;
        let is_open = in_any_order && self.out.made() == made;
        if let Some(lanes) = self.out.lanes_that_pay(z).filter(|_| is_open) {
            self.out.take_back();
            self.fold_lanes(fold, lanes, acc, writer)?;
        }
        Ok(())
    }

    /// Assigns the new value of a state in registers. What is built up step by step is built up beside it
    /// where it reads the old value.
    pub(super) fn update(
        &mut self,
        state: Option<&Param>,
        f: &Lambda,
        inner: &Env,
        place: &Writer,
    ) -> Result<(), LowerError> {
        let reads = state.is_some_and(|state| f.body.mentions(state));
        if !reads || !holds_pattern(&f.body) {
            return self.assign(&f.body, inner, place);
        }
        let value = self.eval(&f.body, inner)?;
        self.store(value, place)
    }

    fn fold_array(
        &mut self,
        kind: LoopKind,
        z: &Functional,
        f: &Lambda,
        xs: &ArrayView,
        env: &Env,
        out: &Writer,
    ) -> Result<(), LowerError> {
        let space = named_space(z).unwrap_or_else(|| self.out.default_space(z.ty()));
        let fits = self.out.space_of(out)? == Some(space);
        let spread = self.spread_of(z, space);
        let (acc, writer, own) = if self.starts_in(z, env, out)? {
            (self.out.read_back(out)?, out.clone(), false)
        } else if fits {
            self.assign(z, env, out)?;
            (self.out.read_back(out)?, out.clone(), false)
        } else {
            let storage = self.out.allocate("acc", z.ty(), space, spread.len())?;
            self.assign(z, env, &storage.writer())?;
            (storage.view(), storage.writer(), true)
        };
        let param = f.params.first().ok_or_else(|| broken("an accumulator"))?;
        let elementwise = updates_in_place(&f.body, param, None);
        let scratch = if elementwise {
            None
        } else {
            Some(self.out.allocate("next", z.ty(), space, spread.len())?)
        };
        let (state, place) = (acc.clone(), writer.clone());
        self.repeat(kind, &xs.length, |t, i| {
            let x = xs.read(t, i)?;
            let inner = t.enter(f, vec![state, x], env);
            match &scratch {
                None => t.assign(&f.body, &inner, &place),
                Some(next) => {
                    t.assign(&f.body, &inner, &next.writer())?;
                    t.store_shares(next.view(), &place, &spread)
                }
            }
        })?;
        if own { self.store_shares(acc, out, &spread) } else { Ok(()) }
    }

    /// A fold whose function runs on the whole grid: a loop of the host around its kernels.
    fn fold_on_host(
        &mut self,
        z: &Functional,
        f: &Lambda,
        xs: &ArrayView,
        env: &Env,
        wanted: States,
    ) -> Result<(), LowerError> {
        let state = self.out.global("acc", z.ty(), |_| Role::Temporary)?;
        let next = self.out.global("next", z.ty(), |_| Role::Temporary)?;
        self.assign(z, env, &state.writer())?;
        let swap = state.buffers().into_iter().zip(next.buffers()).collect();
        self.host_loop(&xs.length, swap, None, |t, i| {
            let x = t.read_on_host(xs, i, f.params.get(1))?;
            let inner = t.enter(f, vec![state.view(), x], env);
            t.assign(&f.body, &inner, &next.writer())?;
            match wanted {
                States::All(out) => t.copy_view(next.view(), &out.at(i)?),
                States::Last(_) => Ok(()),
            }
        })?;
        match wanted {
            States::All(_) => Ok(()),
            States::Last(out) => self.copy_view(state.view(), out),
        }
    }

    /// Whether a start value is a view of the very place that the result goes to.
    fn starts_in(&mut self, z: &Functional, env: &Env, out: &Writer) -> Result<bool, LowerError> {
        if !is_projection(z) {
            return Ok(false);
        }
        let view = self.eval(z, env)?;
        self.same_place(&view, out)
    }

    /// `scanSeq(z, f, xs)`: every state of the accumulator is a result.
    pub(super) fn scan(&mut self, call: &Call, env: &Env, out: &Writer) -> Result<(), LowerError> {
        let [z, xs] = call.args.as_slice() else { return Err(broken("a start and an array")) };
        let f = function(call)?.clone();
        let xs = self.eval(xs, env)?.into_array()?;
        if !self.out.in_kernel() && is_grid_wide(&f.body) {
            return self.fold_on_host(z, &f, &xs, env, States::All(out));
        }
        let (z, env) = self.outside(z, env)?;
        let (out, pattern) = (out.clone(), call.prim.clone());
        self.kernel(move |t| {
            t.out.comment(&pattern);
            if z.ty().is_register() {
                t.scan_registers(&z, &f, &xs, &env, &out)
            } else {
                t.scan_arrays(&z, &f, &xs, &env, &out)
            }
        })
    }

    fn scan_registers(
        &mut self,
        z: &Functional,
        f: &Lambda,
        xs: &ArrayView,
        env: &Env,
        out: &Writer,
    ) -> Result<(), LowerError> {
        let start = self.eval(z, env)?;
        let (acc, writer) = self.out.registers("acc", z.ty())?;
        self.store(start, &writer)?;
        self.repeat(LoopKind::Seq, &xs.length, |t, i| {
            let x = xs.read(t, i)?;
            let inner = t.enter(f, vec![acc.clone(), x], env);
            t.update(f.params.first(), f, &inner, &writer)?;
            t.store(acc, &out.at(i)?)
        })
    }

    /// States that are arrays are computed beside the one before, which is read meanwhile.
    fn scan_arrays(
        &mut self,
        z: &Functional,
        f: &Lambda,
        xs: &ArrayView,
        env: &Env,
        out: &Writer,
    ) -> Result<(), LowerError> {
        let space = named_space(z).unwrap_or_else(|| self.out.default_space(z.ty()));
        let spread = self.spread_of(z, space);
        let state = self.out.allocate("state", z.ty(), space, spread.len())?;
        let next = self.out.allocate("next", z.ty(), space, spread.len())?;
        self.assign(z, env, &state.writer())?;
        self.repeat(LoopKind::Seq, &xs.length, |t, i| {
            let x = xs.read(t, i)?;
            let inner = t.enter(f, vec![state.view(), x], env);
            t.assign(&f.body, &inner, &next.writer())?;
            t.store_shares(next.view(), &out.at(i)?, &spread)?;
            t.store_shares(next.view(), &state.writer(), &spread)
        })
    }

    /// An expression whose parts that need kernels are computed, outside kernels, into memory.
    pub(super) fn outside(
        &mut self,
        expr: &Functional,
        env: &Env,
    ) -> Result<(Functional, Env), LowerError> {
        if self.out.in_kernel() || !needs_kernels(expr) {
            return Ok((expr.clone(), env.clone()));
        }
        match expr.kind() {
            Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => Ok((expr.clone(), env.clone())),
            Kind::Let { param, value, body } => {
                let value = self.shared(param.name(), value, env)?;
                self.outside(body, &env.bind(param, value))
            }
            Kind::Call(call) if is_pattern(&call.prim) => {
                let view = self.stored(expr, env)?;
                let param = self.cx.fresh("part", expr.ty().clone());
                Ok((self.cx.var(&param), env.bind(&param, view)))
            }
            Kind::Call(call) => {
                let (mut args, mut env) = (Vec::new(), env.clone());
                for arg in &call.args {
                    let (arg, inner) = self.outside(arg, &env)?;
                    args.push(arg);
                    env = inner;
                }
                let (sizes, functions) = (call.sizes.clone(), call.functions.clone());
                Ok((self.cx.call(call.prim.clone(), sizes, functions, args)?, env))
            }
        }
    }
}

impl Emitter {
    /// The variables a writer writes, if it writes nothing else.
    fn as_variables(&self, writer: &Writer) -> Option<View> {
        match writer {
            Writer::Leaf(Leaf::Variable(_)) => self.read_back(writer).ok(),
            Writer::Tuple(items) => {
                let items: Option<Vec<View>> = items.iter().map(|w| self.as_variables(w)).collect();
                items.map(View::Tuple)
            }
            Writer::Leaf(_) | Writer::Array(..) => None,
        }
    }

    fn space_of(&self, writer: &Writer) -> Result<Option<Space>, LowerError> {
        match writer {
            Writer::Leaf(Leaf::Place(place)) => Ok(self.buffer(place.buffer).map(|b| b.space)),
            Writer::Leaf(Leaf::Variable(_)) => Ok(Some(Space::Private)),
            Writer::Leaf(Leaf::Guarded(..) | Leaf::Lanes(_)) => Ok(None),
            Writer::Tuple(items) => items.first().map_or(Ok(None), |w| self.space_of(w)),
            Writer::Array(_, at) => self.space_of(&at(&Nat::int(0))?),
        }
    }
}

/// A fold whose state is in registers.
pub(super) struct Fold<'f> {
    pub z: &'f Functional,
    pub f: &'f Lambda,
    pub xs: &'f ArrayView,
    pub env: &'f Env,
}

impl Fold<'_> {
    /// Puts one more value into a state.
    pub(super) fn step(
        &self,
        t: &mut Translator,
        state: &View,
        x: View,
        place: &Writer,
    ) -> Result<(), LowerError> {
        let inner = t.enter(self.f, vec![state.clone(), x], self.env);
        t.update(self.f.params.first(), self.f, &inner, place)
    }
}

/// Which states of a fold are wanted, and where.
#[derive(Clone, Copy)]
enum States<'w> {
    /// Of a scan.
    All(&'w Writer),
    /// Of a reduction.
    Last(&'w Writer),
}

/// Patterns that compute by loops.
fn is_pattern(prim: &Prim) -> bool {
    matches!(
        prim,
        Prim::Map(_)
            | Prim::Reduce(_)
            | Prim::Scan(_)
            | Prim::MapSeqSlide
            | Prim::PartialReduce
            | Prim::ReduceByIndex(_)
            | Prim::Iterate
            | Prim::IterateIndex
            | Prim::IterateUntil
            | Prim::ReduceRange(_)
            | Prim::Update
    )
}

/// Whether an expression is, or ends in, something that is built up step by step.
fn holds_pattern(expr: &Functional) -> bool {
    match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => false,
        Kind::Let { body, .. } => holds_pattern(body),
        Kind::Call(call) => {
            is_pattern(&call.prim)
                || call.args.iter().any(holds_pattern)
                || call.functions.iter().any(|f| holds_pattern(&f.body))
        }
    }
}

fn needs_kernels(expr: &Functional) -> bool {
    match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => false,
        Kind::Let { value, body, .. } => needs_kernels(value) || needs_kernels(body),
        Kind::Call(call) => is_pattern(&call.prim) || call.args.iter().any(needs_kernels),
    }
}

/// A variable or a component of one.
fn is_projection(expr: &Functional) -> bool {
    match expr.kind() {
        Kind::Var(_) => true,
        Kind::Call(call) => {
            matches!(call.prim, Prim::Field(_)) && call.args.iter().all(is_projection)
        }
        Kind::Literal(_) | Kind::Size(..) | Kind::Let { .. } => false,
    }
}

/// Whether `body`, the new value of an accumulator, reads each element of the old one (the variable,
/// or a component of it) only to compute the same element.
pub(super) fn updates_in_place(body: &Functional, acc: &Param, component: Option<u32>) -> bool {
    if is_acc(body, acc, component) || !touches(body, acc, component) {
        return true;
    }
    match body.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => true,
        Kind::Let { param, value, body } => match other_name(value, acc, component) {
            Some(inner) => !touches(body, acc, component) && updates_in_place(body, param, inner),
            None => !touches(value, acc, component) && updates_in_place(body, acc, component),
        },
        Kind::Call(call) => match (&call.prim, call.functions.as_slice()) {
            (Prim::Map(_), [f]) => {
                let [arg] = call.args.as_slice() else { return false };
                element_in_place(f, arg, &|e| is_acc(e, acc, component), acc, component)
            }
            (Prim::AsScalar, []) => {
                let [vectors] = call.args.as_slice() else { return false };
                vectors_in_place(vectors, acc, component)
            }
            (Prim::To(_), [f]) => {
                if let Some(value) = placed(call) {
                    return updates_in_place(value, acc, component);
                }
                let own: Vec<usize> = (0..call.args.len())
                    .filter(|i| touches(&call.args[*i], acc, component))
                    .collect();
                let [index] = own.as_slice() else { return false };
                let (Some(arg), Some(param)) = (call.args.get(*index), f.params.get(*index)) else {
                    return false;
                };
                let Some(inner) = other_name(arg, acc, component) else { return false };
                !touches(&f.body, acc, component) && updates_in_place(&f.body, param, inner)
            }
            (Prim::Reduce(_), [f]) => {
                let [z, xs] = call.args.as_slice() else { return false };
                let Some(param) = f.params.first() else { return false };
                is_acc(z, acc, component)
                    && !touches(xs, acc, component)
                    && !touches(&f.body, acc, component)
                    && updates_in_place(&f.body, param, None)
            }
            _ => {
                body.ty().is_register()
                    && matches!(acc_type(acc, component), Some(t) if t.is_register())
            }
        },
    }
}

/// Which component of `value` the accumulator is, where a variable bound to `value` is another name for it: it is
/// the whole, or one of the tuple that holds it.
fn other_name(value: &Functional, acc: &Param, component: Option<u32>) -> Option<Option<u32>> {
    if is_acc(value, acc, component) {
        Some(None)
    } else {
        (value.as_var() == Some(acc)).then_some(component)
    }
}

/// A map over the accumulator seen as vectors, of as many scalars as the vectors that it makes.
fn vectors_in_place(vectors: &Functional, acc: &Param, component: Option<u32>) -> bool {
    let Some(Call { prim: Prim::Map(_), functions, args, .. }) = vectors.as_call() else {
        return false;
    };
    let ([f], [arg]) = (functions.as_slice(), args.as_slice()) else { return false };
    let is_own = |e: &Functional| match e.as_call() {
        Some(Call { prim: Prim::AsVector, args, .. }) => {
            e.ty() == vectors.ty() && args.iter().all(|a| is_acc(a, acc, component))
        }
        _ => false,
    };
    element_in_place(f, arg, &is_own, acc, component)
}

/// A map over the accumulator, or over a zip of it with other arrays; `is_own` says what the accumulator is there.
fn element_in_place(
    f: &Lambda,
    arg: &Functional,
    is_own: &dyn Fn(&Functional) -> bool,
    acc: &Param,
    component: Option<u32>,
) -> bool {
    let Some(param) = f.params.first() else { return false };
    if touches(&f.body, acc, component) {
        return false;
    }
    if is_own(arg) {
        return updates_in_place(&f.body, param, None);
    }
    let Some(Call { prim: Prim::Zip, args, .. }) = arg.as_call() else { return false };
    let own: Vec<usize> = (0..args.len()).filter(|i| touches(&args[*i], acc, component)).collect();
    match own.as_slice() {
        [index] => is_own(&args[*index]) && updates_in_place(&f.body, param, Some(*index as u32)),
        _ => false,
    }
}

fn acc_type(acc: &Param, component: Option<u32>) -> Option<&Type> {
    match (component, acc.ty()) {
        (None, ty) => Some(ty),
        (Some(index), Type::Tuple(items)) => items.get(index as usize),
        (Some(_), _) => None,
    }
}

fn is_acc(expr: &Functional, acc: &Param, component: Option<u32>) -> bool {
    match (component, expr.kind()) {
        (None, Kind::Var(param)) => param == acc,
        (Some(index), Kind::Call(call)) => {
            call.prim == Prim::Field(index)
                && call.args.first().and_then(|a| a.as_var()) == Some(acc)
        }
        _ => false,
    }
}

/// Whether an expression reads the accumulator at all.
fn touches(expr: &Functional, acc: &Param, component: Option<u32>) -> bool {
    if !expr.mentions(acc) {
        return false;
    }
    if component.is_none() || expr.as_var().is_some() {
        return true;
    }
    if let Some(Call { prim: Prim::Field(index), args, .. }) = expr.as_call()
        && args.first().and_then(|a| a.as_var()) == Some(acc)
    {
        return component == Some(*index);
    }
    expr.children().into_iter().any(|c| touches(c, acc, component))
}
