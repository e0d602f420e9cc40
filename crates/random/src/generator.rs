//! The generator: a type is wanted, a pattern that gives it is chosen, its parts are wanted next.

use lift_ir::{Context, Expr, Lambda, Nat, Param, Prim, Type, Var};

use crate::config::Config;
use crate::random::Random;
use crate::scope::{Level, Scope};
use crate::{arrays, folds, layout, maps, registers};

/// Makes random expressions in one context.
///
/// Sizes have values, chosen beforehand: an expression may use that a size is as large as its value
/// where that ends up in an implied `where` clause.
pub struct Generator<'a> {
    pub(crate) cx: &'a Context,
    pub(crate) random: Random,
    pub(crate) config: Config,
    pub(crate) sizes: Vec<Size>,
    /// Variables bound around, innermost last.
    pub(crate) scope: Vec<Param>,
    /// Variables that were added.
    pub(crate) inputs: Vec<Param>,
}

/// A size variable and what it is taken to be.
#[derive(Clone, Debug)]
pub(crate) struct Size {
    pub var: Var,
    pub value: i128,
    /// Bound by an `iterate` around: no input mentions it.
    pub bound: bool,
}

/// One way to make a value of a type; nothing where it does not fit.
pub(crate) type Production = for<'g, 'a> fn(&'g mut Generator<'a>, &Goal<'_>) -> Option<Expr>;

/// What is wanted.
pub(crate) struct Goal<'t> {
    pub ty: &'t Type,
    pub scope: &'t Scope,
    pub fuel: u32,
}

/// How often a production that does not fit is replaced by another.
const ATTEMPTS: usize = 6;

impl<'a> Generator<'a> {
    pub fn new(cx: &'a Context, seed: u64, config: Config) -> Generator<'a> {
        Generator {
            cx,
            random: Random::new(seed),
            config,
            sizes: Vec::new(),
            scope: Vec::new(),
            inputs: Vec::new(),
        }
    }

    /// Lets expressions use a size variable that is declared in the context.
    pub fn add_size(&mut self, var: &Var, value: i128) {
        self.sizes.push(Size { var: var.clone(), value, bound: false });
    }

    /// Lets expressions use a variable.
    pub fn add_variable(&mut self, param: &Param) {
        self.scope.push(param.clone());
    }

    /// The variables that expressions needed and that were not there.
    pub fn inputs(&self) -> &[Param] {
        &self.inputs
    }

    /// An expression of the type outside all parallel maps.
    pub fn expression(&mut self, ty: &Type) -> Option<Expr> {
        let fuel = self.config.fuel;
        self.make(ty, &Scope::host(), fuel)
    }

    /// A function of one work-item.
    pub fn function(&mut self, params: &[Type], result: &Type) -> Option<Lambda> {
        let fuel = self.config.fuel;
        let scope = Scope::host().at(Level::Item);
        self.lambda(params, |g, _| g.make(result, &scope, fuel))
    }

    /// A value of the type, of about as many patterns as there is fuel.
    pub(crate) fn make(&mut self, ty: &Type, scope: &Scope, fuel: u32) -> Option<Expr> {
        let goal = Goal { ty, scope, fuel: fuel.saturating_sub(1) };
        if scope.level == Level::Warp {
            return maps::by_lanes(self, &goal).or_else(|| self.leaf(&goal));
        }
        if fuel > 0 {
            for _ in 0..ATTEMPTS {
                let production = self.choose(&goal)?;
                let (scope, sizes) = (self.scope.len(), self.sizes.len());
                let made = production(self, &goal);
                self.scope.truncate(scope);
                self.sizes.truncate(sizes);
                if made.is_some() {
                    return made;
                }
            }
        }
        self.leaf(&goal)
    }

    fn choose(&mut self, goal: &Goal) -> Option<Production> {
        let level = goal.scope.level;
        match goal.ty {
            Type::Scalar(_) | Type::Vector(..) => {
                let folds = if level == Level::Scalar { 0 } else { 1 };
                let list = self.random.weighted(&[
                    (8, registers::NUMBERS),
                    (2, registers::REGISTERS),
                    (3 * folds, folds::FOLDS),
                    (folds, arrays::ELEMENTS),
                ])?;
                self.random.weighted(list)
            }
            Type::Tuple(_) => {
                let list = self.random.weighted(&[
                    (4, registers::TUPLES),
                    (2, registers::REGISTERS),
                    (3, folds::FOLDS),
                    (2, arrays::ELEMENTS),
                ])?;
                self.random.weighted(list)
            }
            Type::Array(..) => {
                let mapped = match level {
                    Level::Host => 16,
                    Level::Group => 20,
                    Level::Warp | Level::Item | Level::Scalar => 8,
                };
                let list = self.random.weighted(&[
                    (mapped, maps::MAPS),
                    (8, layout::LAYOUTS),
                    (4, folds::ARRAYS),
                    (2, arrays::ELEMENTS),
                ])?;
                self.random.weighted(list)
            }
        }
    }

    /// Fuel for so many parts, each at random.
    pub(crate) fn split<const K: usize>(&mut self, fuel: u32) -> [u32; K] {
        let mut parts = [0; K];
        for _ in 0..fuel {
            if let Some(part) = parts.get_mut(self.random.below(K as u64) as usize) {
                *part += 1;
            }
        }
        parts
    }

    /// A function of parameters of these types, which are in scope in its body.
    pub(crate) fn lambda(
        &mut self,
        types: &[Type],
        body: impl FnOnce(&mut Generator<'a>, &[Param]) -> Option<Expr>,
    ) -> Option<Lambda> {
        let params: Vec<Param> = types.iter().map(|ty| self.fresh(ty)).collect();
        let mark = self.scope.len();
        self.scope.extend(params.iter().cloned());
        let body = body(self, &params);
        self.scope.truncate(mark);
        Some(Lambda { size: None, params, body: body? })
    }

    fn fresh(&self, ty: &Type) -> Param {
        let name = match ty {
            Type::Scalar(_) => "x",
            Type::Vector(..) => "v",
            Type::Tuple(_) => "p",
            Type::Array(..) => "xs",
        };
        self.cx.fresh(name, self.cx.simplify_type(ty))
    }

    /// A call, where it is well typed.
    pub(crate) fn call(
        &self,
        prim: Prim,
        sizes: Vec<Nat>,
        functions: Vec<Lambda>,
        args: Vec<Expr>,
    ) -> Option<Expr> {
        self.cx.call(prim, sizes, functions, args).ok()
    }

    /// A call of a pattern that takes an array (or another value) only.
    pub(crate) fn unary(&self, prim: Prim, sizes: Vec<Nat>, arg: Expr) -> Option<Expr> {
        self.call(prim, sizes, vec![], vec![arg])
    }

    pub(crate) fn var(&self, param: &Param) -> Expr {
        self.cx.var(param)
    }

    /// What a size is taken to be.
    pub(crate) fn value(&self, size: &Nat) -> Option<i128> {
        let of = |var: &Var| self.sizes.iter().find(|s| s.var == *var).map(|s| s.value);
        size.eval(&of).ok()
    }

    /// Whether an array of a length has an element.
    pub(crate) fn has_some(&self, length: &Nat) -> bool {
        self.value(length).is_some_and(|n| n >= 1)
    }

    /// Whether values of a type are small enough to be made.
    pub(crate) fn fits(&self, ty: &Type) -> bool {
        self.scalars_in(ty).is_some_and(|count| count <= self.config.elements)
    }

    fn scalars_in(&self, ty: &Type) -> Option<i128> {
        match ty {
            Type::Scalar(_) => Some(1),
            Type::Vector(_, width) => self.value(width),
            Type::Tuple(parts) => {
                parts.iter().try_fold(0i128, |sum, part| sum.checked_add(self.scalars_in(part)?))
            }
            Type::Array(element, length) => {
                let length = self.value(length).filter(|n| *n >= 0)?;
                self.scalars_in(element)?.checked_mul(length)
            }
        }
    }

    /// Whether a type mentions a size that only an `iterate` knows.
    pub(crate) fn is_bound(&self, ty: &Type) -> bool {
        self.sizes.iter().any(|size| size.bound && ty.mentions(&size.var))
    }
}

/// The parts of an array type.
pub(crate) fn array(ty: &Type) -> Option<(Type, Nat)> {
    ty.as_array().map(|(element, length)| (element.clone(), length.clone()))
}
