//! Values computed straight into the place where they are wanted.

use lift_ir::{Call, Expr as Functional, FoldKind, Kind, Lambda, MapKind, Nat, Prim};
use lift_kernel::LoopKind;

use super::boxes::is_made_in_box;
use super::eval::placed;
use super::layout::inverse_layout;
use super::view::{ArrayView, View, Writer, broken};
use super::{Env, Translator};
use crate::LowerError;
use crate::passes::default_lowering::{MOST_DIMENSIONS, is_grid_wide, is_layout_only};

impl Translator {
    /// Computes an expression into a place.
    pub(super) fn assign(
        &mut self,
        expr: &Functional,
        env: &Env,
        out: &Writer,
    ) -> Result<(), LowerError> {
        self.at_span(expr.span(), |t| t.assigned(expr, env, out))
    }

    fn assigned(&mut self, expr: &Functional, env: &Env, out: &Writer) -> Result<(), LowerError> {
        let call = match expr.kind() {
            Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => return self.copy(expr, env, out),
            Kind::Let { param, value, body } => {
                let value = self.shared(param.name(), value, env)?;
                let value = self.out.named(param, value);
                return self.assign(body, &env.bind(param, value), out);
            }
            Kind::Call(call) => call,
        };
        match &call.prim {
            Prim::Map(kind) if *kind != MapKind::Map || !is_layout_only(call) => {
                let xs = self.argument(call, 0, env)?.into_array()?;
                match self.walked(call).filter(|_| *kind == MapKind::Glb(0)) {
                    Some(walked) => self.map_rows(&walked, function(call)?, xs, env, out),
                    None => self.map(*kind, function(call)?, xs, env, out),
                }
            }
            Prim::MapSeqSlide => {
                let xs = self.argument(call, 0, env)?.into_array()?;
                self.slide_window(call, xs, env, out)
            }
            Prim::Reduce(kind) => self.reduce(*kind, call, env, out),
            Prim::Scan(_) => self.scan(call, env, out),
            Prim::ReduceByIndex(FoldKind::Glb) => self.reduce_by_index_together(call, env, out),
            Prim::ReduceByIndex(_) => self.reduce_by_index(call, env, out),
            Prim::ReduceRange(_) => self.reduce_range(call, env, out),
            Prim::Update => self.update_copy(call, env, out),
            Prim::Iterate | Prim::IterateIndex => self.iterate(call, env, out),
            Prim::IterateUntil => self.iterate_until(call, env, out),
            Prim::To(_) => {
                if let Some(value) = placed(call) {
                    return self.assign(value, env, out);
                }
                let f = function(call)?;
                let args: Result<Vec<View>, LowerError> = call
                    .args
                    .iter()
                    .zip(&f.params)
                    .map(|(arg, param)| self.shared(param.name(), arg, env))
                    .collect();
                let inner = self.enter(f, args?, env);
                self.assign(&f.body, &inner, out)
            }
            Prim::Generate => match self.made_in_box(call, env, out)? {
                true => Ok(()),
                false => self.copy(expr, env, out),
            },
            Prim::Id => {
                let value = self.argument(call, 0, env)?;
                self.copy_view(value, out)
            }
            Prim::Zip => {
                for (index, arg) in call.args.iter().enumerate() {
                    let out = out.clone();
                    let length = argument_length(arg);
                    let part = Writer::array(&length, move |i| out.at(i)?.component(index));
                    self.assign(arg, env, &part)?;
                }
                Ok(())
            }
            Prim::Tuple => {
                if expr.ty().is_register() {
                    return self.copy(expr, env, out);
                }
                for (index, arg) in call.args.iter().enumerate() {
                    self.assign(arg, env, &out.component(index)?)?;
                }
                Ok(())
            }
            Prim::Concat => {
                let [first, second] = call.args.as_slice() else {
                    return Err(broken("two arrays"));
                };
                let (out, start) = (out.clone(), argument_length(first));
                let all = out.clone();
                self.assign(first, env, &Writer::array(&start, move |i| all.at(i)))?;
                let rest = Writer::array(&argument_length(second), move |i| out.at(&(&start + i)));
                self.assign(second, env, &rest)
            }
            // Written as it says, whatever it writes.
            Prim::Scatter(_) => match (inverse_layout(call, out)?, call.args.first()) {
                (Some(inner), Some(arg)) => self.assign(arg, env, &inner),
                _ => Err(broken("a permutation")),
            },
            _ if call.args.first().is_some_and(computes) => match inverse_layout(call, out)? {
                Some(inner) => match call.args.first() {
                    Some(arg) => self.assign(arg, env, &inner),
                    None => Err(broken("an argument")),
                },
                None => self.copy(expr, env, out),
            },
            _ => self.copy(expr, env, out),
        }
    }

    pub(super) fn map(
        &mut self,
        kind: MapKind,
        f: &Lambda,
        xs: ArrayView,
        env: &Env,
        out: &Writer,
    ) -> Result<(), LowerError> {
        let sequential = matches!(kind, MapKind::Map | MapKind::Seq | MapKind::SeqUnroll);
        if sequential && !self.out.in_kernel() && is_grid_wide(&f.body) {
            return self.host_loop(&xs.length.clone(), Vec::new(), None, |t, i| {
                let x = t.read_on_host(&xs, i, f.params.first())?;
                let inner = t.enter(f, vec![x], env);
                t.assign(&f.body, &inner, &out.at(i)?)
            });
        }
        let (f, env, out) = (f.clone(), env.clone(), out.clone());
        self.kernel(move |t| {
            t.map_loop(kind, &xs.length.clone(), |t, i| {
                let x = xs.read(t, i)?;
                let inner = t.enter(&f, vec![x], &env);
                t.assign(&f.body, &inner, &out.at(i)?)
            })
        })
    }

    /// Reads a view and writes it element by element; on the host by a kernel over its elements.
    pub(super) fn copy(
        &mut self,
        expr: &Functional,
        env: &Env,
        out: &Writer,
    ) -> Result<(), LowerError> {
        if self.out.in_kernel() {
            let value = self.eval(expr, env)?;
            return self.store(value, out);
        }
        if expr.ty().is_register() {
            let (expr, env) = self.outside(expr, env)?;
            let out = out.clone();
            return self.kernel(move |t| {
                let value = t.eval(&expr, &env)?;
                t.store(value, &out)
            });
        }
        let value = self.eval(expr, env)?;
        self.copy_view(value, out)
    }

    /// Writes what a view reads, on the host by a kernel over its elements.
    pub(super) fn copy_view(&mut self, value: View, out: &Writer) -> Result<(), LowerError> {
        if self.out.in_kernel() {
            return self.store(value, out);
        }
        match (value, out) {
            // Components have lengths of their own.
            (View::Tuple(values), Writer::Tuple(writers)) if values.len() == writers.len() => {
                values.into_iter().zip(writers).try_for_each(|(v, w)| self.copy_view(v, w))
            }
            (value, out) => {
                let (out, rank) = (out.clone(), rank(out, MOST_DIMENSIONS)?);
                self.kernel(move |t| t.copy_grid(value, &out, rank))
            }
        }
    }

    /// Copies an array with the work-items of a grid over its first dimensions, outermost highest.
    fn copy_grid(&mut self, value: View, out: &Writer, rank: u8) -> Result<(), LowerError> {
        match (value, out, rank.checked_sub(1)) {
            (View::Array(array), Writer::Array(length, at), Some(dimension)) => {
                let at = at.clone();
                self.repeat(LoopKind::Global(dimension), length, |t, i| {
                    let element = array.read(t, i)?;
                    t.copy_grid(element, &at(i)?, dimension)
                })
            }
            (value, out, _) => self.store(value, out),
        }
    }
}

/// How many dimensions of a grid go through what is written.
fn rank(writer: &Writer, most: u8) -> Result<u8, LowerError> {
    match writer {
        Writer::Array(_, at) => Ok((1 + rank(&at(&Nat::ZERO)?, most)?).min(most)),
        Writer::Leaf(_) | Writer::Tuple(_) => Ok(0),
    }
}

pub(super) fn function(call: &Call) -> Result<&Lambda, LowerError> {
    call.functions.first().ok_or_else(|| broken("a function"))
}

fn argument_length(expr: &Functional) -> Nat {
    expr.ty().as_array().map_or_else(|| Nat::int(1), |(_, n)| n.clone())
}

/// Whether an array is computed, so that it can be written in place, rather than only read.
pub(super) fn computes(expr: &Functional) -> bool {
    match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => false,
        Kind::Let { body, .. } => computes(body),
        Kind::Call(call) => match &call.prim {
            Prim::Generate => is_made_in_box(call),
            Prim::Repeat | Prim::At | Prim::Head => false,
            Prim::Map(MapKind::Map) if is_layout_only(call) => {
                call.args.first().is_some_and(computes)
            }
            prim if prim.is_layout() => call.args.first().is_some_and(computes),
            _ => true,
        },
    }
}
