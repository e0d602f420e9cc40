//! `iterate_until`: a function applied until a condition holds, which is asked before each application.
//!
//! Around what runs on the whole grid it is a loop of the host, which reads the answer back. Elsewhere a work-item
//! or a group runs a loop that stops; a group has the answer in every work-item, from memory that all of them see.

use lift_ir::{Call, Expr as Functional, Lambda, Nat, Prim, Range, Scalar, Space, Type};
use lift_kernel::{Expr, LoopKind, Stmt};

use super::eval::named_space;
use super::view::{View, Writer, broken};
use super::{Env, Translator};
use crate::LowerError;
use crate::passes::default_lowering::is_grid_wide;
use crate::plan::Step;

/// The parts of `iterate_until(k, p, f, x)`.
struct Until {
    times: Nat,
    p: Lambda,
    f: Lambda,
    start: Functional,
}

impl Translator {
    /// `iterate_until(k, p, f, x)` into a place for the state and one for the number of applications.
    pub(super) fn iterate_until(
        &mut self,
        call: &Call,
        env: &Env,
        out: &Writer,
    ) -> Result<(), LowerError> {
        let until = self.until_of(call)?;
        let (state, number) = (out.component(0)?, out.component(1)?);
        if until.times == Nat::ZERO {
            self.assign(&until.start, env, &state)?;
            let none = View::Value(Expr::Index(Nat::ZERO, Scalar::I32));
            return self.kernel(move |t| t.store(none, &number));
        }
        if let Some(space) = self.stage_space(&until) {
            let (last, count) = self.until_in_stages(&until, space, env)?;
            self.store(last, &state)?;
            return self.store(count, &number);
        }
        let register = until.start.ty().is_register();
        if self.out.in_kernel() {
            return match register {
                true => self.until_in_registers(&until, env, &state, &number),
                false => self.until_copied(&until, env, &state, &number),
            };
        }
        if !register || is_grid_wide(&until.p.body) || is_grid_wide(&until.f.body) {
            return self.until_on_host(&until, env, &state, &number);
        }
        let (start, env) = self.outside(&until.start, env)?;
        let until = Until { start, ..until };
        self.kernel(move |t| t.until_in_registers(&until, &env, &state, &number))
    }

    /// The same as a view of the last stage, where a group runs it.
    pub(super) fn iterated_until(
        &mut self,
        call: &Call,
        env: &Env,
    ) -> Result<Option<View>, LowerError> {
        let until = self.until_of(call)?;
        let Some(space) = self.stage_space(&until) else { return Ok(None) };
        let (last, count) = self.until_in_stages(&until, space, env)?;
        Ok(Some(View::Tuple(vec![last, count])))
    }

    fn until_of(&self, call: &Call) -> Result<Until, LowerError> {
        let ([times], [p, f], [start]) =
            (call.sizes.as_slice(), call.functions.as_slice(), call.args.as_slice())
        else {
            return Err(broken("a count, two functions and a state"));
        };
        let times = self.out.simplify(times);
        Ok(Until { times, p: p.clone(), f: f.clone(), start: start.clone() })
    }

    /// The memory of a state that a group keeps in two stages.
    fn stage_space(&self, until: &Until) -> Option<Space> {
        let grouped =
            self.out.in_kernel() && !self.out.in_item() && !until.start.ty().is_register();
        named_space(&until.f.body).filter(|space| grouped && *space != Space::Private)
    }

    /// A loop that ends where the condition holds for a state. Gives the variable that counts the applications.
    fn until(
        &mut self,
        until: &Until,
        env: &Env,
        state: impl Fn(&Nat) -> View,
        step: impl FnOnce(&mut Translator, &Nat) -> Result<(), LowerError>,
    ) -> Result<View, LowerError> {
        if self.out.in_warp() && !self.out.in_item() {
            let text = "`iterate_until` stands in `mapWarp`, whose warps would stop at different times: put it into `mapLane`, or outside";
            return Err(LowerError::at(None, text));
        }
        // The work-items of a group have to agree: one of them asks.
        let shared = match self.out.in_item() {
            true => None,
            false => Some(self.out.allocate("stop", &Type::BOOL, Space::Local, 0)?),
        };
        let (count, counter) = self.out.registers("count", &Type::I32)?;
        let none = Expr::Index(Nat::ZERO, Scalar::I32);
        self.store(View::Value(none), &counter)?;
        self.out.comment(&Prim::IterateUntil);
        self.looping(LoopKind::Seq, until.times.clone(), |t, i| {
            let inner = t.enter(&until.p, vec![state(i)], env);
            let asked = match &shared {
                Some(flag) => {
                    t.assign(&until.p.body, &inner, &flag.writer())?;
                    flag.view()
                }
                None => t.eval(&until.p.body, &inner)?,
            };
            let View::Value(stop) = asked else { return Err(broken("a condition")) };
            t.out.emit(Stmt::Stop(stop));
            step(t, i)?;
            let done = Expr::Index(t.out.simplify(&(i + Nat::ONE)), Scalar::I32);
            t.store(View::Value(done), &counter)
        })?;
        Ok(count)
    }

    fn until_in_registers(
        &mut self,
        until: &Until,
        env: &Env,
        out: &Writer,
        number: &Writer,
    ) -> Result<(), LowerError> {
        let value = self.eval(&until.start, env)?;
        let (state, place) = self.out.registers("state", until.start.ty())?;
        self.store(value, &place)?;
        let before = state.clone();
        let f = &until.f;
        let count = self.until(
            until,
            env,
            |_| before.clone(),
            |t, _| {
                let inner = t.enter(f, vec![before.clone()], env);
                t.update(f.params.first(), f, &inner, &place)
            },
        )?;
        self.store(state, out)?;
        self.store(count, number)
    }

    /// A state in the memory of one work-item, or of a group that names none: the next is made beside it.
    fn until_copied(
        &mut self,
        until: &Until,
        env: &Env,
        out: &Writer,
        number: &Writer,
    ) -> Result<(), LowerError> {
        let (f, ty) = (&until.f, until.start.ty());
        let space = named_space(&f.body).unwrap_or_else(|| self.out.default_space(ty));
        let state = self.out.allocate("state", ty, space, 0)?;
        let next = self.out.allocate("next", ty, space, 0)?;
        self.assign(&until.start, env, &state.writer())?;
        let count = self.until(
            until,
            env,
            |_| state.view(),
            |t, _| {
                let inner = t.enter(f, vec![state.view()], env);
                t.assign(&f.body, &inner, &next.writer())?;
                t.store(next.view(), &state.writer())
            },
        )?;
        self.store(state.view(), out)?;
        self.store(count, number)
    }

    /// A group reads one stage of the state and writes the other. Gives the last one and how often.
    fn until_in_stages(
        &mut self,
        until: &Until,
        space: Space,
        env: &Env,
    ) -> Result<(View, View), LowerError> {
        let name = self.naming.clone();
        let state = self.out.allocate_stages(&name, until.start.ty(), space, 0, 2)?;
        self.assign(&until.start, env, &state.writer())?;
        let at = |step: &Nat| state.at_stage(step.clone());
        let f = &until.f;
        let count = self.until(
            until,
            env,
            |i| at(i).view(),
            |t, i| {
                let inner = t.enter(f, vec![at(i).view()], env);
                t.assign(&f.body, &inner, &at(&(i + Nat::ONE)).writer())
            },
        )?;
        let View::Value(value) = count.clone() else { return Err(broken("a number")) };
        let taken = self.out.fresh_index("taken", Range::below(&until.times + Nat::ONE));
        self.out.emit(Stmt::Index { var: taken.clone(), value });
        Ok((at(&Nat::var(&taken)).view(), count))
    }

    /// A loop of the host that reads back whether to stop; the two buffers change places after each time.
    fn until_on_host(
        &mut self,
        until: &Until,
        env: &Env,
        out: &Writer,
        number: &Writer,
    ) -> Result<(), LowerError> {
        let (p, f, ty) = (&until.p, &until.f, until.start.ty());
        let state = self.out.allocate("state", ty, Space::Global, 0)?;
        let next = self.out.allocate("next", ty, Space::Global, 0)?;
        let stop = self.out.allocate("stop", &Type::BOOL, Space::Global, 0)?;
        self.assign(&until.start, env, &state.writer())?;
        let swap = state.buffers().into_iter().zip(next.buffers()).collect();
        let taken = self.out.fresh_size("taken", Range::below(&until.times + Nat::ONE));
        self.host_loop(&until.times, swap, Some(taken.clone()), |t, _| {
            let inner = t.enter(p, vec![state.view()], env);
            t.assign(&p.body, &inner, &stop.writer())?;
            stop.buffers().into_iter().for_each(|flag| t.out.step(Step::Stop(flag)));
            let inner = t.enter(f, vec![state.view()], env);
            t.assign(&f.body, &inner, &next.writer())
        })?;
        self.copy_view(state.view(), out)?;
        let (number, taken) = (number.clone(), Nat::var(&taken));
        self.kernel(move |t| t.store(View::Value(Expr::Index(taken, Scalar::I32)), &number))
    }
}
