//! Values to read.

use lift_ir::{Call, Expr as Functional, Kind, MapKind, Prim, Space};
use lift_kernel::Expr;

use super::view::{ArrayView, View, broken};
use super::{Env, Translator};
use crate::LowerError;

impl Translator {
    /// A view of the value of an expression. What must be computed is computed and stored first.
    pub(super) fn eval(&mut self, expr: &Functional, env: &Env) -> Result<View, LowerError> {
        let located = |e: LowerError| LowerError { span: e.span.or(expr.span()), ..e };
        self.view_of(expr, env).map_err(located)
    }

    fn view_of(&mut self, expr: &Functional, env: &Env) -> Result<View, LowerError> {
        let call = match expr.kind() {
            Kind::Var(param) => {
                return env.get(param).cloned().ok_or_else(|| broken("a bound variable"));
            }
            Kind::Literal(literal) => return Ok(View::Value(Expr::Literal(*literal))),
            Kind::Size(size, scalar) => {
                return Ok(View::Value(Expr::Index(self.simplify(size), *scalar)));
            }
            Kind::Let { param, value, body } => {
                let value = self.shared(param.name(), value, env)?;
                let value = self.named(param, value);
                return self.eval(body, &env.bind(param, value));
            }
            Kind::Call(call) => call,
        };
        if call.prim == Prim::At && expr.ty().is_register() && !self.in_kernel() {
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
            _ if expr.ty().is_register() && self.in_kernel() => self.register(expr, call, env),
            Prim::Iterate => match self.iterated(call, env)? {
                Some(view) => Ok(view),
                None => self.stored(expr, env),
            },
            _ => self.stored(expr, env),
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
        let view = if !self.in_kernel() && value.ty().is_register() && !value.is_atom() {
            self.stored(value, env)
        } else {
            self.eval(value, env)
        };
        self.naming = before;
        view
    }

    /// Computes a value into memory of its own.
    pub(super) fn stored(&mut self, expr: &Functional, env: &Env) -> Result<View, LowerError> {
        let space = match named_space(expr) {
            Some(space) if self.in_kernel() => space,
            _ => self.default_space(expr.ty()),
        };
        let spread = self.spread_of(expr, space);
        let name = accumulator_name(expr).unwrap_or_else(|| self.naming.clone());
        let storage = self.allocate(&name, expr.ty(), space, spread)?;
        self.assign(expr, env, &storage.writer())?;
        Ok(storage.view())
    }

    /// How many outer dimensions of a private array made by a whole group are spread over its
    /// work-items.
    pub(super) fn spread_of(&self, expr: &Functional, space: Space) -> usize {
        if space == Space::Private && self.in_kernel() && !self.in_item() {
            local_depth(expr)
        } else {
            0
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
            Prim::Map(_) | Prim::MapSeqSlide | Prim::Iterate => {
                call.functions.first().and_then(|f| named_space(&f.body))
            }
            Prim::Reduce(_) => call.args.first().and_then(named_space),
            prim if prim.is_layout() => call.args.first().and_then(named_space),
            _ => None,
        },
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => None,
    }
}

/// How many outer dimensions of an array are made by maps over the work-items of a group.
fn local_depth(expr: &Functional) -> usize {
    match expr.kind() {
        Kind::Let { body, .. } => local_depth(body),
        Kind::Call(call) => match &call.prim {
            Prim::Map(MapKind::Lcl(_)) => {
                1 + call.functions.first().map_or(0, |f| local_depth(&f.body))
            }
            Prim::To(_) => call.functions.first().map_or(0, |f| local_depth(&f.body)),
            Prim::Reduce(_) => call.args.first().map_or(0, local_depth),
            _ => 0,
        },
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => 0,
    }
}
