//! Values to read.

use std::rc::Rc;

use lift_ir::{Call, Expr as Functional, Kind, MapKind, Nat, Param, Prim, Space, Type};
use lift_kernel::{Expr, Stmt};

use super::boxes::is_made_in_box;
use super::open_kernel::OpenKernel;
use super::view::{ArrayView, Later, View, broken};
use super::{Env, Translator};
use crate::LowerError;
use crate::passes::default_lowering::is_grid_wide;

/// The parts an expression has at most.
const LONGEST: usize = 256;

impl Translator {
    /// A view of the value of an expression. What must be computed is computed and stored first.
    pub(super) fn eval(&mut self, expr: &Functional, env: &Env) -> Result<View, LowerError> {
        self.at_span(expr.span(), |t| t.view_of(expr, env))
    }

    fn view_of(&mut self, expr: &Functional, env: &Env) -> Result<View, LowerError> {
        let call = match expr.kind() {
            Kind::Var(param) => {
                return env.get(param).cloned().ok_or_else(|| broken("a bound variable"));
            }
            Kind::Literal(literal) => return Ok(View::Value(Expr::Literal(*literal))),
            Kind::Size(size, scalar) => {
                return Ok(View::Value(Expr::Index(self.out.simplify(size), *scalar)));
            }
            Kind::Let { param, value, body } => {
                let value = self.shared(param.name(), value, env)?;
                let value = self.out.named(param, value);
                return self.eval(body, &env.bind(param, value));
            }
            Kind::Call(call) => call,
        };
        if call.prim == Prim::At && expr.ty().as_array().is_none() && !self.out.in_kernel() {
            return self.stored_by_one(expr, env);
        }
        if !self.out.in_kernel() && is_made_in_box(call) {
            return self.stored(expr, env);
        }
        if let Some(view) = self.layout(call, env)? {
            return Ok(view);
        }
        match &call.prim {
            // Applied wherever an element is read.
            Prim::Map(MapKind::Map) => {
                let xs = self.argument(call, 0, env)?.into_array()?;
                let Some(f) = call.functions.first().cloned() else {
                    return Err(broken("a function"));
                };
                let (length, env) = (xs.length.clone(), env.clone());
                Ok(View::array(&length, move |t, i| {
                    let x = xs.read(t, i)?;
                    let inner = t.enter(&f, vec![x], &env);
                    t.eval(&f.body, &inner)
                }))
            }
            _ if expr.ty().is_register() && self.out.in_kernel() => {
                let value = self.register(expr, call, env)?;
                Ok(self.shortened(value))
            }
            Prim::Iterate | Prim::IterateIndex => match self.iterated(call, env)? {
                Some(view) => Ok(view),
                None => self.stored(expr, env),
            },
            Prim::IterateUntil => match self.iterated_until(call, env)? {
                Some(view) => Ok(view),
                None => self.stored(expr, env),
            },
            _ => self.stored(expr, env),
        }
    }

    /// A value in a variable where its expression has grown long: passes and printers go over an expression many
    /// times, and so do C compilers.
    fn shortened(&mut self, view: View) -> View {
        match view {
            View::Value(value) if value.is_longer_than(LONGEST) => {
                let var = self.out.fresh_variable("part", value.ty());
                self.out.emit(Stmt::Declare { var: var.clone(), value: Some(value) });
                View::Value(Expr::Var(var))
            }
            other => other,
        }
    }

    /// The value of a `let`: outside kernels, whatever is computed is stored.
    pub(super) fn shared(
        &mut self,
        name: &str,
        value: &Functional,
        env: &Env,
    ) -> Result<View, LowerError> {
        let before = std::mem::replace(&mut self.naming, name.to_string());
        let view = if !self.out.in_kernel() && value.ty().is_register() && !value.is_atom() {
            self.stored(value, env)
        } else {
            self.eval(value, env)
        };
        self.naming = before;
        view
    }

    /// Computes a value into memory of its own.
    pub(super) fn stored(&mut self, expr: &Functional, env: &Env) -> Result<View, LowerError> {
        if self.out.in_kernel() && is_grid_wide(expr) {
            let text = "what the work-items of the whole grid make is read inside the parallel map around it, where they cannot wait for each other: use it outside";
            return Err(LowerError::at(None, text));
        }
        let space = match named_space(expr) {
            Some(space) if self.out.in_kernel() => space,
            _ => self.out.default_space(expr.ty()),
        };
        if space == Space::Private && self.out.in_kernel() && made_by_warps(expr) {
            let text = "what `mapWarp` makes is not kept in private memory, where a work-item has its own: keep it in local memory (`toLocal`)";
            return Err(LowerError::at(None, text));
        }
        let spread = self.spread_of(expr, space).len();
        let name = accumulator_name(expr).unwrap_or_else(|| self.naming.clone());
        let storage = self.out.allocate(&name, expr.ty(), space, spread)?;
        self.assign(expr, env, &storage.writer())?;
        Ok(storage.view())
    }

    /// A value outside kernels that one work-item finds and stores.
    fn stored_by_one(&mut self, expr: &Functional, env: &Env) -> Result<View, LowerError> {
        let ty = expr.ty().clone();
        let (expr, env) = self.outside(expr, env)?;
        self.stored_later(&ty, Rc::new(move |t| t.eval(&expr, &env)))
    }

    /// A value that only kernels find out about, stored by one.
    pub(super) fn stored_later(&mut self, ty: &Type, value: Later) -> Result<View, LowerError> {
        let name = self.naming.clone();
        let storage = self.out.allocate(&name, ty, Space::Global, 0)?;
        let writer = storage.writer();
        self.kernel(move |t| {
            let value = value(t)?;
            t.store(value, &writer)
        })?;
        Ok(storage.view())
    }

    /// An element in a loop of the host, as the variable bound to it. Statements that reading it takes are those of a
    /// kernel, in which one work-item stores it.
    pub(super) fn read_on_host(
        &mut self,
        xs: &ArrayView,
        index: &Nat,
        param: Option<&Param>,
    ) -> Result<View, LowerError> {
        // Elements of arrays are read in kernels.
        let Some(param) = param.filter(|p| p.ty().as_array().is_none()) else {
            return xs.read(self, index);
        };
        // A trial, in a kernel that is thrown away.
        self.out.open = Some(OpenKernel { blocks: vec![Vec::new()], ..OpenKernel::default() });
        let view = xs.read(self, index);
        let trial = self.out.open.take().unwrap_or_default();
        if trial.blocks.iter().all(Vec::is_empty) {
            return view;
        }
        view?;
        let storage = self.out.allocate(param.name(), param.ty(), Space::Global, 0)?;
        let (xs, index, writer) = (xs.clone(), index.clone(), storage.writer());
        self.kernel(move |t| {
            let value = xs.read(t, &index)?;
            t.store(value, &writer)
        })?;
        Ok(storage.view())
    }

    /// The dimensions of the work-items that the outer dimensions of a private array are spread over, where
    /// a whole group makes it.
    pub(super) fn spread_of(&self, expr: &Functional, space: Space) -> Vec<u8> {
        if space == Space::Private && self.out.in_kernel() && !self.out.in_item() {
            local_dimensions(expr)
        } else {
            Vec::new()
        }
    }

    pub(super) fn argument(
        &mut self,
        call: &Call,
        index: usize,
        env: &Env,
    ) -> Result<View, LowerError> {
        match call.args.get(index) {
            Some(arg) => self.eval(arg, env),
            None => Err(broken("an argument")),
        }
    }

    pub(super) fn arguments(
        &mut self,
        call: &Call,
        env: &Env,
    ) -> Result<Vec<ArrayView>, LowerError> {
        call.args.iter().map(|a| self.eval(a, env)?.into_array()).collect()
    }
}

/// What a fold calls the value it builds up.
fn accumulator_name(expr: &Functional) -> Option<String> {
    let call = expr.as_call().filter(|c| matches!(c.prim, Prim::Reduce(_)))?;
    call.functions.first()?.params.first().map(|p| p.name().to_string())
}

/// The memory that a `to…` around what makes an array names.
pub(super) fn named_space(expr: &Functional) -> Option<Space> {
    match expr.kind() {
        Kind::Let { body, .. } => named_space(body),
        Kind::Call(call) => match &call.prim {
            Prim::To(space) => Some(*space),
            Prim::Map(_) | Prim::MapSeqSlide | Prim::Iterate | Prim::IterateIndex => {
                call.functions.first().and_then(|f| named_space(&f.body))
            }
            Prim::IterateUntil => call.functions.last().and_then(|f| named_space(&f.body)),
            Prim::Reduce(_) => call.args.first().and_then(named_space),
            prim if prim.is_layout() => call.args.first().and_then(named_space),
            _ => None,
        },
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => None,
    }
}

/// `e` of `toLocal(\x -> x, e)`: what a `to…` whose function gives its argument back puts into its memory. It is
/// computed there at once, unless it names another memory to be computed in first.
pub(super) fn placed(call: &Call) -> Option<&Functional> {
    let Prim::To(space) = &call.prim else { return None };
    let ([f], [value]) = (call.functions.as_slice(), call.args.as_slice()) else { return None };
    let gives_back = f.body.as_var().is_some_and(|result| f.params.first() == Some(result));
    let elsewhere = named_space(value).is_some_and(|named| named != *space);
    (gives_back && !elsewhere).then_some(value)
}

/// What makes the value of a `to…`: what it places, or its function.
fn maker(call: &Call) -> Option<&Functional> {
    placed(call).or_else(|| call.functions.first().map(|f| &f.body))
}

/// Whether an array is made by a map over warps.
fn made_by_warps(expr: &Functional) -> bool {
    match expr.kind() {
        Kind::Let { body, .. } => made_by_warps(body),
        Kind::Call(call) => match &call.prim {
            Prim::Map(MapKind::Warp(_)) => true,
            Prim::To(_) => maker(call).is_some_and(made_by_warps),
            Prim::Reduce(_) => call.args.first().is_some_and(made_by_warps),
            prim if prim.is_layout() => call.args.first().is_some_and(made_by_warps),
            _ => false,
        },
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => false,
    }
}

/// The dimensions of the maps over the work-items of a group that make the outer dimensions of an array.
fn local_dimensions(expr: &Functional) -> Vec<u8> {
    let inside = |call: &Call| call.functions.first().map(|f| local_dimensions(&f.body));
    match expr.kind() {
        Kind::Let { body, .. } => local_dimensions(body),
        Kind::Call(call) => match &call.prim {
            Prim::Map(MapKind::Lcl(d) | MapKind::Lane(d)) => {
                std::iter::once(*d).chain(inside(call).unwrap_or_default()).collect()
            }
            Prim::To(_) => maker(call).map(local_dimensions).unwrap_or_default(),
            Prim::Reduce(_) => call.args.first().map(local_dimensions).unwrap_or_default(),
            _ => Vec::new(),
        },
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => Vec::new(),
    }
}
