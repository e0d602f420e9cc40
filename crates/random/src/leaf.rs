//! Values that need no pattern, or few: variables, literals, inputs.

use lift_ir::{Expr, Literal, Nat, Param, Prim, Scalar, Type};

use crate::config::Floats;
use crate::generator::{Generator, Goal, Size};
use crate::scope::Level;

impl Generator<'_> {
    /// A value of the type without computing much.
    pub(crate) fn leaf(&mut self, goal: &Goal) -> Option<Expr> {
        let known = self.known(goal.ty);
        if !known.is_empty() && self.random.chance(55) {
            return self.recent(&known);
        }
        if !goal.ty.is_register() && self.fits_an_input(goal) && self.random.chance(40) {
            return Some(self.input(goal.ty));
        }
        if goal.scope.level != Level::Scalar && self.random.chance(70) {
            let scope: Vec<Expr> = self.scope.iter().map(|p| self.var(p)).collect();
            let value = self.recent(&scope);
            if let Some(made) = value.and_then(|value| self.convert(value, goal.ty)) {
                return Some(made);
            }
        }
        let likely = if goal.ty.is_register() { 30 } else { 85 };
        if self.fits_an_input(goal) && self.random.chance(likely) {
            return Some(self.input(goal.ty));
        }
        if !known.is_empty() {
            return self.recent(&known);
        }
        self.constant(goal)
    }

    /// The variables in scope of a type, and components of variables, innermost last.
    fn known(&self, ty: &Type) -> Vec<Expr> {
        let mut found = Vec::new();
        for param in self.inputs.iter().chain(&self.scope) {
            self.parts_of(self.var(param), ty, &mut found);
        }
        found
    }

    fn parts_of(&self, value: Expr, ty: &Type, found: &mut Vec<Expr>) {
        if self.cx.same_type(value.ty(), ty) {
            found.push(value);
            return;
        }
        let Type::Tuple(parts) = value.ty().clone() else { return };
        for index in 0..parts.len() as u32 {
            if let Some(part) = self.unary(Prim::Field(index), vec![], value.clone()) {
                self.parts_of(part, ty, found);
            }
        }
    }

    /// One of several, the last ones more often.
    fn recent(&mut self, known: &[Expr]) -> Option<Expr> {
        let count = known.len() as u64;
        let back = self.random.below(count).min(self.random.below(count));
        known.iter().rev().nth(back as usize).cloned()
    }

    fn fits_an_input(&self, goal: &Goal) -> bool {
        goal.scope.level != Level::Scalar
            && self.inputs.len() < self.config.inputs
            && !self.is_bound(goal.ty)
            && self.fits(goal.ty)
    }

    /// A new input of the type.
    pub(crate) fn input(&mut self, ty: &Type) -> Expr {
        let name = char::from(b'a' + (self.inputs.len() % 26) as u8).to_string();
        let param: Param = self.cx.fresh(&name, self.cx.simplify_type(ty));
        self.inputs.push(param.clone());
        self.var(&param)
    }

    fn constant(&mut self, goal: &Goal) -> Option<Expr> {
        let at = |ty| Goal { ty, scope: goal.scope, fuel: 0 };
        match goal.ty {
            Type::Scalar(scalar) => {
                let sized = matches!(scalar, Scalar::I32 | Scalar::I64);
                if sized && self.random.chance(15) {
                    let size = self.length();
                    return self.cx.size(&size, *scalar).ok();
                }
                Some(self.literal(*scalar))
            }
            Type::Vector(scalar, width) => {
                let lane = self.leaf(&at(&Type::Scalar(*scalar)))?;
                self.unary(Prim::Splat, vec![width.clone()], lane)
            }
            Type::Tuple(parts) => {
                let parts: Option<Vec<Expr>> = parts.iter().map(|ty| self.leaf(&at(ty))).collect();
                self.call(Prim::Tuple, vec![], vec![], parts?)
            }
            Type::Array(element, length) => {
                if self.random.chance(50) {
                    let value = self.leaf(&at(element))?;
                    return self.unary(Prim::Repeat, vec![length.clone()], value);
                }
                let f = self.lambda(&[Type::I32], |g, _| g.leaf(&at(element)))?;
                self.call(Prim::Generate, vec![length.clone()], vec![f], vec![])
            }
        }
    }

    pub(crate) fn literal(&mut self, scalar: Scalar) -> Expr {
        let small = self.random.between(-4, 9);
        let literal = if scalar == Scalar::Bool {
            Literal::Bool(small > 2)
        } else if let Some((low, high)) = scalar.integer_range() {
            let value = match self.random.below(40) {
                0 => low,
                1 => high,
                _ => i128::from(small).max(low),
            };
            Literal::Int(scalar, value)
        } else {
            let value = match self.config.floats {
                Floats::Exact => small as f64 / 2.0,
                Floats::Smooth => self.random.between(-200, 200) as f64 / 100.0,
            };
            Literal::float(scalar, value).unwrap_or(Literal::f32(0.0))
        };
        self.cx.literal(literal)
    }

    /// An integer, as a literal of the type that is nearest to it.
    pub(crate) fn number(&self, scalar: Scalar, value: i128) -> Expr {
        let literal = match scalar.integer_range() {
            Some((low, high)) => Literal::Int(scalar, value.clamp(low, high)),
            None => Literal::float(scalar, value as f64).unwrap_or(Literal::Bool(value != 0)),
        };
        self.cx.literal(literal)
    }

    /// A literal as a scalar or as a vector of it.
    pub(crate) fn spread(&self, literal: Expr, ty: &Type) -> Option<Expr> {
        match ty {
            Type::Vector(_, width) => self.unary(Prim::Splat, vec![width.clone()], literal),
            Type::Scalar(_) => Some(literal),
            Type::Tuple(_) | Type::Array(..) => None,
        }
    }

    /// A size as an `i32`. A part of a length that only an `iterate` knows is an exact quotient here and a rounded one
    /// in the program's text, so there is none.
    pub(crate) fn size_value(&self, size: &Nat) -> Option<Expr> {
        let is_part = |s: &Size| s.bound && size.mentions(&s.var) && size.as_var().is_none();
        match self.sizes.iter().any(is_part) {
            true => None,
            false => self.cx.size(size, Scalar::I32).ok(),
        }
    }
}
