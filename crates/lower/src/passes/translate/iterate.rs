//! `iterate`: a function applied again and again.
//!
//! In registers, and over arrays of one work-item, a variable is updated or the applications are written out. A
//! group runs a loop over two stages of a buffer, reading one and writing the other; the host does the same
//! with two buffers around kernels.

use lift_ir::{
    Call, Expr as Functional, FoldKind, Kind, Lambda, MapKind, Nat, Param, Pred, Prim, Scalar,
    Space, Type, Var,
};
use lift_kernel::{Expr, LoopKind, Stmt};

use super::assign::{computes, function};
use super::eval::named_space;
use super::storage::Storage;
use super::update::Step;
use super::view::{View, Writer, broken};
use super::{Env, Translator};
use crate::LowerError;
use crate::passes::default_lowering::is_grid_wide;

/// Iterations with a constant count up to here are written out.
const MAX_UNROLLED: i128 = 16;

/// Kernels that are written out for an iteration of the host, at most. What a loop saves is text, which a compiler goes
/// through and a device loads; what it costs is two copies, of the start and of the result.
const MAX_KERNELS: i128 = 24;

/// Fewer applications by a group are written out.
const MIN_LOOPED: i128 = 3;

impl Translator {
    /// `iterate(k, f, xs)` into a place.
    pub(super) fn iterate(
        &mut self,
        call: &Call,
        env: &Env,
        out: &Writer,
    ) -> Result<(), LowerError> {
        let (times, f, start) = self.iteration(call)?;
        if times == Nat::ZERO {
            return self.assign(&start, env, out);
        }
        if let Some(step) = Step::of(&f) {
            return self.updated_again((&times, &f, &step), &start, env, out);
        }
        // The last application goes straight to its place.
        let before = self.out.simplify(&(&times - Nat::ONE));
        if let Some(stages) = self.stages(&before, &f, &start)? {
            let state = self.looped(&before, &f, &start, env, &stages)?;
            let last = self.application(&f, &stages.length(&before));
            let inner = self.enter_step(&last, &before, state.view(), env);
            return self.assign(&last.body, &inner, out);
        }
        match times.as_int() {
            Some(k) if self.is_written_out(k, &f) => self.unrolled(k, &f, &start, env, out),
            _ if self.is_on_host(&f, &start) => {
                let state = self.on_host(&times, &f, &start, env)?;
                self.copy_view(state.view(), out)
            }
            _ if start.ty().is_register() => self.repeated(&times, &f, &start, env, out),
            _ => self.copied(&times, &f, &start, env, out),
        }
    }

    fn is_written_out(&self, times: i128, f: &Lambda) -> bool {
        let is_short =
            self.out.in_kernel() || times.saturating_mul(kernels(&f.body)) <= MAX_KERNELS;
        f.size.is_some() || times <= MAX_UNROLLED && is_short
    }

    /// Whether what is not written out is a loop of the host.
    fn is_on_host(&self, f: &Lambda, start: &Functional) -> bool {
        !self.out.in_kernel() && (is_grid_wide(&f.body) || !start.ty().is_register())
    }

    /// `iterate(k, f, xs)` as a view of the last stage, where a group runs it as a loop, or of the state in a loop of the
    /// host.
    pub(super) fn iterated(&mut self, call: &Call, env: &Env) -> Result<Option<View>, LowerError> {
        let (times, f, start) = self.iteration(call)?;
        if let Some(stages) = self.stages(&times, &f, &start)? {
            return Ok(Some(self.looped(&times, &f, &start, env, &stages)?.view()));
        }
        let is_short =
            times == Nat::ZERO || times.as_int().is_some_and(|k| self.is_written_out(k, &f));
        if is_short || !self.is_on_host(&f, &start) || Step::of(&f).is_some() {
            return Ok(None);
        }
        Ok(Some(self.on_host(&times, &f, &start, env)?.view()))
    }

    fn iteration(&self, call: &Call) -> Result<(Nat, Lambda, Functional), LowerError> {
        match (call.sizes.first(), call.args.first()) {
            (Some(times), Some(start)) => {
                Ok((self.out.simplify(times), function(call)?.clone(), start.clone()))
            }
            _ => Err(broken("a count and an array")),
        }
    }

    /// The environment of an application, which may ask for its number.
    pub(super) fn enter_step(&mut self, f: &Lambda, number: &Nat, state: View, env: &Env) -> Env {
        let counted = View::Value(Expr::Index(self.out.simplify(number), Scalar::I32));
        let args = if f.params.len() > 1 { vec![counted, state] } else { vec![state] };
        self.enter(f, args, env)
    }

    /// The stages of an iteration that a group runs as a loop; `None` where it runs otherwise.
    fn stages(
        &self,
        times: &Nat,
        f: &Lambda,
        start: &Functional,
    ) -> Result<Option<Stages>, LowerError> {
        let Type::Array(element, first) = start.ty() else { return Ok(None) };
        let space = named_space(&f.body);
        let grouped = self.out.in_kernel() && !self.out.in_item() && !self.out.in_warp();
        let many = times.as_int().is_none_or(|k| k >= MIN_LOOPED);
        let Some(space) = space.filter(|s| *s != Space::Private && grouped && many) else {
            return Ok(None);
        };
        // In global memory every group has its share of a buffer, all of one length.
        if space == Space::Global && f.size.is_some() {
            return Ok(None);
        }
        let lengths = match (&f.size, times.as_int()) {
            (None, _) => Lengths::Same(first.clone()),
            (Some(var), Some(k)) => match self.lengths(var, f, first, k) {
                Some(lengths) => lengths,
                None => return Ok(None),
            },
            (Some(_), None) => return Ok(None),
        };
        Ok(Some(Stages { element: (**element).clone(), space, lengths }))
    }

    /// The lengths that an iteration goes through, where a formula gives them.
    fn lengths(&self, var: &Var, f: &Lambda, first: &Nat, times: i128) -> Option<Lengths> {
        let (_, next) = f.body.ty().as_array()?;
        let mut all = vec![first.clone()];
        for _ in 0..times {
            let length = all.last()?.clone();
            let after = next.substitute(&|v| (v == var).then(|| length.clone()));
            all.push(self.out.simplify(&after));
        }
        let [a, b, ..] = all.as_slice() else { return None };
        let ratio = self.out.simplify(&a.div(b)).as_int().filter(|r| *r > 1)?;
        let geometric = all.windows(2).all(|pair| match pair {
            [a, b] => self.out.facts.equal(a, &(b * Nat::int(ratio))),
            _ => true,
        });
        geometric.then(|| Lengths::Divided { first: first.clone(), by: ratio, all })
    }

    /// Runs the loop and gives the storage of what comes out.
    fn looped(
        &mut self,
        times: &Nat,
        f: &Lambda,
        start: &Functional,
        env: &Env,
        stages: &Stages,
    ) -> Result<Storage, LowerError> {
        let whole = Type::array(stages.element.clone(), stages.length(&Nat::ZERO));
        let name = self.naming.clone();
        let state = self.out.allocate_stages(&name, &whole, stages.space, 0, 2)?;
        // What is computed goes to the first stage; what is only read is read once, by an
        // application of its own.
        let peeled = if computes(start) {
            self.assign(start, env, &state.writer())?;
            Nat::ZERO
        } else {
            let first = self.application(f, &stages.length(&Nat::ZERO));
            let view = self.eval(start, env)?;
            let inner = self.enter_step(&first, &Nat::ZERO, view, env);
            self.assign(&first.body, &inner, &state.at_stage(Nat::ONE).writer())?;
            Nat::ONE
        };
        let rest = self.out.simplify(&(times - &peeled));
        self.out.comment(&Prim::Iterate);
        self.repeat(LoopKind::Seq, &rest, |t, i| {
            let step = i + &peeled;
            let length = t.current_length(stages, &step);
            let own = t.application(f, &length);
            let view = state.at_stage(step.clone()).with_length(length).view();
            let inner = t.enter_step(&own, &step, view, env);
            t.assign(&own.body, &inner, &state.at_stage(&step + Nat::ONE).writer())
        })?;
        Ok(state.at_stage(times.clone()).with_length(stages.length(times)))
    }

    /// The length at a step of the loop, as a variable where it changes.
    fn current_length(&mut self, stages: &Stages, step: &Nat) -> Nat {
        let Lengths::Divided { by, all, .. } = &stages.lengths else { return stages.length(step) };
        let by = *by;
        // The last length is that of the result: no application starts from it.
        let all: Vec<Nat> = all.iter().take(all.len().saturating_sub(1)).cloned().collect();
        if step.as_int().is_some() {
            return self.out.simplify(&stages.length(step));
        }
        let var = self.out.ids.fresh("len");
        let value = Expr::Index(stages.length(step), Scalar::I32);
        self.out.emit(Stmt::Index { var: var.clone(), value });
        self.cx.declare_among(&var, all.clone());
        let kernel = self.out.open.as_mut().map(|kernel| &mut kernel.facts);
        for facts in kernel.into_iter().chain([&mut self.out.facts]) {
            facts.length_among(&var, all.clone());
            facts.assume(&Pred::divides(Nat::int(by), Nat::var(&var)));
        }
        Nat::var(&var)
    }

    /// The function at a length.
    fn application(&self, f: &Lambda, length: &Nat) -> Lambda {
        let Some(var) = &f.size else { return f.clone() };
        let at_length = |v: &Var| (v == var).then(|| length.clone());
        let body = self.cx.substitute_sizes(&f.body, &at_length);
        Lambda { size: None, params: f.params.clone(), body }
    }

    fn unrolled(
        &mut self,
        times: i128,
        f: &Lambda,
        start: &Functional,
        env: &Env,
        out: &Writer,
    ) -> Result<(), LowerError> {
        let mut state = self.eval(start, env)?;
        let mut ty = start.ty().clone();
        let param = f.params.last().ok_or_else(|| broken("a parameter"))?;
        for step in 1..=times {
            let body = match (&f.size, ty.as_array()) {
                (Some(var), Some((_, length))) => {
                    let length = length.clone();
                    let at_length = |v: &Var| (v == var).then(|| length.clone());
                    self.cx.substitute_sizes(&f.body, &at_length)
                }
                _ => f.body.clone(),
            };
            let inner = self.enter_step(f, &Nat::int(step - 1), state.clone(), env);
            if step == times {
                return self.assign(&body, &inner, out);
            }
            ty = body.ty().clone();
            state = if ty.is_register() && self.out.in_kernel() {
                let value = self.eval(&body, &inner)?;
                self.out.named(param, value)
            } else if self.out.in_kernel() || !names_components(&body) {
                self.stored(&body, &inner)?
            } else {
                let name = self.naming.clone();
                let next = self.out.allocate(&name, &ty, Space::Global, 0)?;
                self.in_place(&body, &inner, &next)?;
                next.view()
            };
        }
        self.store(state, out)
    }

    fn repeated(
        &mut self,
        times: &Nat,
        f: &Lambda,
        start: &Functional,
        env: &Env,
        out: &Writer,
    ) -> Result<(), LowerError> {
        let (start, env) = self.outside(start, env)?;
        let (times, f, out) = (times.clone(), f.clone(), out.clone());
        self.kernel(move |t| {
            let value = t.eval(&start, &env)?;
            let (state, writer) = t.out.registers("state", start.ty())?;
            t.store(value, &writer)?;
            let (before, place) = (state.clone(), writer.clone());
            t.repeat(LoopKind::Seq, &times, |t, i| {
                let inner = t.enter_step(&f, i, before, &env);
                t.update(f.params.last(), &f, &inner, &place)
            })?;
            t.store(state, &out)
        })
    }

    fn copied(
        &mut self,
        times: &Nat,
        f: &Lambda,
        start: &Functional,
        env: &Env,
        out: &Writer,
    ) -> Result<(), LowerError> {
        let space = named_space(&f.body).unwrap_or_else(|| self.out.default_space(start.ty()));
        let state = self.out.allocate("state", start.ty(), space, 0)?;
        let next = self.out.allocate("next", start.ty(), space, 0)?;
        self.assign(start, env, &state.writer())?;
        self.repeat(LoopKind::Seq, times, |t, i| {
            let inner = t.enter_step(f, i, state.view(), env);
            t.assign(&f.body, &inner, &next.writer())?;
            t.store(next.view(), &state.writer())
        })?;
        self.store(state.view(), out)
    }

    /// A loop of the host around kernels, and where it leaves its result; the two buffers change places after each time.
    fn on_host(
        &mut self,
        times: &Nat,
        f: &Lambda,
        start: &Functional,
        env: &Env,
    ) -> Result<Storage, LowerError> {
        let state = self.out.allocate("state", start.ty(), Space::Global, 0)?;
        let next = self.out.allocate("next", start.ty(), Space::Global, 0)?;
        self.assign(start, env, &state.writer())?;
        let swap = state.buffers().into_iter().zip(next.buffers()).collect();
        self.host_loop(times, swap, None, |t, i| {
            let inner = t.enter_step(f, i, state.view(), env);
            t.in_place(&f.body, &inner, &next)
        })?;
        Ok(state)
    }

    /// Computes what a step makes into memory that nothing reads yet. A component that has a name is computed there, where
    /// the rest of the step reads it, rather than into memory of its own and copied.
    ///
    /// `(let y = e; (f(y), y)) into (a, b)` is `e into b; f(b) into a`
    fn in_place(
        &mut self,
        body: &Functional,
        env: &Env,
        place: &Storage,
    ) -> Result<(), LowerError> {
        let (mut rest, mut env) = (body, env.clone());
        let mut done = Vec::new();
        while let Kind::Let { param, value, body } = rest.kind() {
            rest = body;
            let own = component_of(result_of(body), param).filter(|_| {
                computes(value) && !value.ty().is_register() && named_space(value).is_none()
            });
            let view = match own {
                Some(index) => {
                    let part = place.view().component(index)?;
                    self.assign(value, &env, &place.writer().component(index)?)?;
                    done.push(index);
                    part
                }
                None => self.shared(param.name(), value, &env)?,
            };
            let view = self.out.named(param, view);
            env = env.bind(param, view);
        }
        match rest.as_call() {
            Some(Call { prim: Prim::Tuple, args, .. }) if !done.is_empty() => {
                for (index, arg) in args.iter().enumerate().filter(|(k, _)| !done.contains(k)) {
                    self.assign(arg, &env, &place.writer().component(index)?)?;
                }
                Ok(())
            }
            _ => self.assign(rest, &env, &place.writer()),
        }
    }
}

/// `let x = e; (x, y)`
fn names_components(expr: &Functional) -> bool {
    match expr.kind() {
        Kind::Let { param, body, .. } => {
            component_of(result_of(body), param).is_some() || names_components(body)
        }
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) | Kind::Call(_) => false,
    }
}

fn result_of(expr: &Functional) -> &Functional {
    match expr.kind() {
        Kind::Let { body, .. } => result_of(body),
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) | Kind::Call(_) => expr,
    }
}

/// The first component of a tuple that is a variable.
fn component_of(tuple: &Functional, param: &Param) -> Option<usize> {
    let call = tuple.as_call().filter(|call| call.prim == Prim::Tuple)?;
    call.args.iter().position(|arg| arg.as_var() == Some(param))
}

/// About how many kernels the host runs for a value: one for each parallel map or fold outside of others, and for each
/// number that has a name.
fn kernels(expr: &Functional) -> i128 {
    let all = |parts: &mut dyn Iterator<Item = &Functional>| {
        parts.fold(0i128, |sum, part| sum.saturating_add(kernels(part)))
    };
    match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => 0,
        Kind::Let { value, body, .. } => {
            let is_fold = value.as_call().is_some_and(|c| matches!(c.prim, Prim::Reduce(_)));
            let computes = value.ty().is_register() && !value.is_atom() && !is_fold;
            [kernels(value), i128::from(computes), kernels(body)]
                .into_iter()
                .fold(0i128, i128::saturating_add)
        }
        Kind::Call(call) => {
            let before = all(&mut call.args.iter());
            let inside = all(&mut call.functions.iter().map(|f| &f.body));
            let own = match &call.prim {
                Prim::Map(MapKind::Glb(_) | MapKind::Wrg(_)) => 1,
                Prim::Map(MapKind::Map) => inside,
                Prim::ReduceByIndex(FoldKind::Glb) => 2,
                Prim::Reduce(_) | Prim::Scan(_) | Prim::ReduceByIndex(_) => inside.max(1),
                Prim::Iterate | Prim::IterateIndex => {
                    let times = call.sizes.first().and_then(Nat::as_int);
                    inside.saturating_mul(times.filter(|k| *k <= MAX_UNROLLED).unwrap_or(1))
                }
                _ => inside,
            };
            before.saturating_add(own)
        }
    }
}

/// What a loop over two stages of a buffer works on.
struct Stages {
    element: Type,
    space: Space,
    lengths: Lengths,
}

enum Lengths {
    Same(Nat),
    /// Divided by a number at each step; `all` of them in order.
    Divided {
        first: Nat,
        by: i128,
        all: Vec<Nat>,
    },
}

impl Stages {
    /// The length after so many applications.
    fn length(&self, step: &Nat) -> Nat {
        match &self.lengths {
            Lengths::Same(length) => length.clone(),
            Lengths::Divided { first, by, all } => {
                let known = step.as_int().and_then(|k| usize::try_from(k).ok());
                match known.and_then(|k| all.get(k)) {
                    Some(length) => length.clone(),
                    None => first.div(&Nat::int(*by).pow(step)),
                }
            }
        }
    }
}
