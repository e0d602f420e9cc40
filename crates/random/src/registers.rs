//! Scalars, vectors and tuples.

use lift_ir::{BinaryOp, Expr, Kind, Nat, Prim, Scalar, Space, Type, UnaryOp};

use crate::config::Floats;
use crate::generator::{Generator, Goal, Production};
use crate::math;
use crate::scope::{Level, Scope};

/// For scalars and vectors.
pub(crate) const NUMBERS: &[(u32, Production)] = &[
    (10, arithmetic),
    (4, quotient),
    (4, bits),
    (10, comparison),
    (2, logic),
    (3, negation),
    (18, math::function),
    (4, cast),
    (2, lane),
    (2, math::dot),
    (8, vector),
    (6, vectorize),
];

/// For scalars, vectors and tuples of them.
pub(crate) const REGISTERS: &[(u32, Production)] =
    &[(4, conditional), (4, sharing), (2, iteration), (1, copy), (2, stored), (2, component)];

/// For tuples, of arrays too.
pub(crate) const TUPLES: &[(u32, Production)] = &[(8, tuple), (4, unzipped), (2, sharing)];

fn arithmetic(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    goal.ty.element_scalar().filter(|s| s.is_number())?;
    let op = g.random.pick(&[BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul])?;
    let [left, right] = g.operands(goal)?;
    g.call(Prim::Binary(op), vec![], vec![], vec![left, right])
}

/// Integers are not divided by zero; floats by numbers that keep the quotient tame.
fn quotient(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let scalar = goal.ty.element_scalar().filter(|s| s.is_number())?;
    let [left, right] = g.split(goal.fuel);
    let value = g.make(goal.ty, goal.scope, left)?;
    let op = g.random.pick(&[BinaryOp::Div, BinaryOp::Rem])?;
    let (op, by) = if scalar.is_integer() {
        (op, g.not_zero(goal, scalar, right)?)
    } else {
        match (g.config.floats, op) {
            (Floats::Exact, BinaryOp::Rem) => {
                let by = g.random.pick(&[2, 3, 5])?;
                (op, g.number(scalar, by))
            }
            (Floats::Exact, _) => (op, g.number(scalar, 2)),
            (Floats::Smooth, _) => (BinaryOp::Div, g.positive(goal.ty, goal.scope, right)?),
        }
    };
    g.call(Prim::Binary(op), vec![], vec![], vec![value, by])
}

/// Operations on the bits of integers; a shift amount may be any number.
fn bits(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    goal.ty.element_scalar().filter(|s| s.is_integer())?;
    let op = g.random.pick(&[
        Some(BinaryOp::BitAnd),
        Some(BinaryOp::BitOr),
        Some(BinaryOp::BitXor),
        Some(BinaryOp::Shl),
        Some(BinaryOp::Shr),
        None,
    ])?;
    let Some(op) = op else {
        let value = g.make(goal.ty, goal.scope, goal.fuel)?;
        return g.unary(Prim::Unary(UnaryOp::BitNot), vec![], value);
    };
    let [left, right] = g.operands(goal)?;
    g.call(Prim::Binary(op), vec![], vec![], vec![left, right])
}

fn comparison(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    if goal.ty.element_scalar()? != Scalar::Bool {
        return None;
    }
    let scalar = g.compared();
    let operand = shaped(scalar, goal.ty)?;
    let ops: &[BinaryOp] = if scalar == Scalar::Bool {
        &[BinaryOp::Eq, BinaryOp::Ne]
    } else {
        &[BinaryOp::Eq, BinaryOp::Ne, BinaryOp::Lt, BinaryOp::Le, BinaryOp::Gt, BinaryOp::Ge]
    };
    let op = g.random.pick(ops)?;
    let [left, right] = g.operands(&Goal { ty: &operand, ..*goal })?;
    g.call(Prim::Binary(op), vec![], vec![], vec![left, right])
}

fn logic(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    if goal.ty.element_scalar()? != Scalar::Bool {
        return None;
    }
    let op = g.random.pick(&[BinaryOp::And, BinaryOp::Or])?;
    let [left, right] = g.operands(goal)?;
    g.call(Prim::Binary(op), vec![], vec![], vec![left, right])
}

fn negation(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let op = if goal.ty.element_scalar()? == Scalar::Bool { UnaryOp::Not } else { UnaryOp::Neg };
    let value = g.make(goal.ty, goal.scope, goal.fuel)?;
    // A negated number or size is read as a number or size.
    if matches!(value.kind(), Kind::Literal(_) | Kind::Size(..)) {
        return None;
    }
    g.unary(Prim::Unary(op), vec![], value)
}

fn cast(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let to = goal.ty.element_scalar()?;
    let from = g.scalar();
    if !g.may_cast(from, to) {
        return None;
    }
    let value = g.make(&shaped(from, goal.ty)?, goal.scope, goal.fuel)?;
    g.unary(Prim::Cast(to), vec![], value)
}

fn lane(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let Type::Scalar(scalar) = goal.ty else { return None };
    if goal.scope.level == Level::Scalar {
        return None;
    }
    let width = g.width();
    let vector = g.make(&Type::vector(*scalar, width), goal.scope, goal.fuel)?;
    let index = i128::from(g.random.below(width.into()));
    g.unary(Prim::Lane, vec![Nat::int(index)], vector)
}

/// Lanes one by one, or all the same.
fn vector(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let Type::Vector(scalar, width) = goal.ty else { return None };
    let scalar = Type::Scalar(*scalar);
    let lanes = width.as_int().filter(|w| *w <= 4 && g.random.chance(60));
    let Some(lanes) = lanes else {
        let lane = g.make(&scalar, goal.scope, goal.fuel)?;
        return g.unary(Prim::Splat, vec![width.clone()], lane);
    };
    let fuel = g.split::<4>(goal.fuel);
    let lanes: Option<Vec<Expr>> = fuel
        .iter()
        .take(usize::try_from(lanes).ok()?)
        .map(|fuel| g.make(&scalar, goal.scope, *fuel))
        .collect();
    g.call(Prim::Vector, vec![], vec![], lanes?)
}

/// A function of scalars applied to vectors.
fn vectorize(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let Type::Vector(scalar, width) = goal.ty else { return None };
    let width = width.clone();
    let narrow: Vec<Type> = (0..g.random.between(1, 2))
        .map(|_| if g.random.chance(70) { Type::Scalar(*scalar) } else { Type::Scalar(g.scalar()) })
        .collect();
    let [inner, outer] = g.split(goal.fuel);
    let mut wide = Vec::new();
    for ty in &narrow {
        wide.push(g.make(&lift_ir::widen(ty, &width)?, goal.scope, outer / 2)?);
    }
    let result = Type::Scalar(*scalar);
    let f = g.lambda(&narrow, |g, _| g.make(&result, &Scope::scalar(), inner.max(1)))?;
    g.call(Prim::Vectorize, vec![width], vec![f], wide)
}

fn conditional(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    if !goal.ty.is_register() {
        return None;
    }
    let [condition, then, otherwise] = g.split(goal.fuel);
    let args = vec![
        g.make(&Type::BOOL, goal.scope, condition)?,
        g.make(goal.ty, goal.scope, then)?,
        g.make(goal.ty, goal.scope, otherwise)?,
    ];
    g.call(Prim::If, vec![], vec![], args)
}

pub(crate) fn sharing(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let dimensions = match goal.scope.level {
        Level::Scalar | Level::Warp => 0,
        Level::Host | Level::Group | Level::Item => 1,
    };
    let ty = if goal.scope.level == Level::Scalar {
        Type::Scalar(g.scalar())
    } else {
        g.element_type(dimensions)
    };
    let [value, body] = g.split(goal.fuel);
    let value = g.make(&ty, &goal.scope.decided(false), value)?;
    let shared = g.lambda(&[ty], |g, _| g.make(goal.ty, goal.scope, body))?;
    g.cx.let_in(shared.params.into_iter().next()?, value, shared.body).ok()
}

/// A few applications of a function to any value.
pub(crate) fn iteration(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    if goal.scope.level == Level::Scalar {
        return None;
    }
    let [inner, outer] = g.split(goal.fuel);
    let value = g.make(goal.ty, &goal.scope.decided(false), outer)?;
    let scope = repeated(goal.scope);
    let times = vec![Nat::int(g.random.between(0, 3).into())];
    let way = g.random.below(4);
    let counted = [Type::I32, goal.ty.clone()];
    let types = if way == 0 { &counted[..] } else { &counted[1..] };
    let f = g.lambda(types, |g, _| g.make(goal.ty, &scope, inner))?;
    match way {
        0 => g.call(Prim::IterateIndex, times, vec![f], vec![value]),
        // Warps of a group would stop at different times.
        1 if goal.scope.level != Level::Warp => {
            let scope = g.inner(goal.scope);
            let p = g.lambda(&counted[1..], |g, _| g.make(&Type::BOOL, &scope, 1))?;
            let last = g.call(Prim::IterateUntil, times, vec![p, f], vec![value])?;
            g.unary(Prim::Field(0), vec![], last)
        }
        _ => g.call(Prim::Iterate, times, vec![f], vec![value]),
    }
}

/// The scope of a function that is applied again and again: what one work-item repeats, others do
/// not wait for.
pub(crate) fn repeated(scope: &Scope) -> Scope {
    match scope.level {
        Level::Item => scope.decided(false),
        Level::Host | Level::Group | Level::Warp | Level::Scalar => scope.clone(),
    }
}

pub(crate) fn copy(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let value = g.make(goal.ty, &goal.scope.decided(false), goal.fuel)?;
    g.unary(Prim::Id, vec![], value)
}

/// A value in a memory of its own.
pub(crate) fn stored(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    if goal.scope.level == Level::Scalar || !g.config.low_level {
        return None;
    }
    let space = g.memory(goal.scope)?;
    let ty = if g.random.chance(60) { goal.ty.clone() } else { g.element_type(1) };
    let [inner, outer] = g.split(goal.fuel);
    let value = g.make(&ty, &goal.scope.decided(false), outer)?;
    let scope = goal.scope.decided(true);
    let f = g.lambda(&[ty], |g, params| {
        if g.random.chance(40) && params.first().is_some_and(|p| p.ty() == goal.ty) {
            let value = params.first().map(|p| g.var(p))?;
            return g.unary(Prim::Id, vec![], value);
        }
        g.make(goal.ty, &scope, inner)
    })?;
    g.call(Prim::To(space), vec![], vec![f], vec![value])
}

/// A component of a tuple that is computed.
fn component(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    if goal.scope.level == Level::Scalar {
        return None;
    }
    let other = g.register_type();
    let (index, parts) = if g.random.chance(50) {
        (0, [goal.ty.clone(), other])
    } else {
        (1, [other, goal.ty.clone()])
    };
    let tuple = g.make(&Type::tuple(parts), &goal.scope.decided(false), goal.fuel)?;
    g.unary(Prim::Field(index), vec![], tuple)
}

fn tuple(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let Type::Tuple(parts) = goal.ty else { return None };
    let fuel = g.split::<3>(goal.fuel);
    let parts: Option<Vec<Expr>> = parts
        .iter()
        .enumerate()
        .map(|(i, ty)| g.make(ty, goal.scope, fuel.get(i).copied().unwrap_or(0)))
        .collect();
    g.call(Prim::Tuple, vec![], vec![], parts?)
}

/// A tuple of arrays of one length.
fn unzipped(g: &mut Generator, goal: &Goal) -> Option<Expr> {
    let Type::Tuple(parts) = goal.ty else { return None };
    let arrays: Option<Vec<_>> = parts.iter().map(Type::as_array).collect();
    let arrays = arrays?;
    let (_, length) = arrays.first().copied()?;
    if arrays.iter().any(|(_, n)| !g.cx.same_size(n, length)) {
        return None;
    }
    let element = Type::tuple(arrays.iter().map(|(element, _)| (*element).clone()));
    let array = Type::array(element, length.clone());
    let zipped = g.make(&array, goal.scope, goal.fuel)?;
    g.unary(Prim::Unzip, vec![], zipped)
}

impl Generator<'_> {
    /// Two operands of one type; beside a vector a scalar is broadcast.
    pub(crate) fn operands(&mut self, goal: &Goal) -> Option<[Expr; 2]> {
        let [left, right] = self.split(goal.fuel);
        let scalar = Type::Scalar(goal.ty.element_scalar()?);
        let is_vector = *goal.ty != scalar;
        let mut narrow = || is_vector && self.random.chance(15);
        let (first, second) = match (narrow(), narrow()) {
            (true, false) => (&scalar, goal.ty),
            (_, false) => (goal.ty, goal.ty),
            (_, true) => (goal.ty, &scalar),
        };
        Some([self.make(first, goal.scope, left)?, self.make(second, goal.scope, right)?])
    }

    /// A scalar type whose values may decide something.
    fn compared(&mut self) -> Scalar {
        loop {
            let scalar = self.scalar();
            if !scalar.is_float() || self.config.floats == Floats::Exact {
                return scalar;
            }
        }
    }

    /// An integer (or vector of them) that is not zero.
    fn not_zero(&mut self, goal: &Goal, scalar: Scalar, fuel: u32) -> Option<Expr> {
        if self.random.chance(60) {
            let values: &[i128] =
                if scalar.is_signed_integer() { &[-1, 2, 3, 7] } else { &[1, 2, 3, 7] };
            let value = self.random.pick(values)?;
            return Some(self.number(scalar, value));
        }
        let value = self.make(goal.ty, goal.scope, fuel)?;
        let one = self.number(scalar, 1);
        self.call(Prim::Math(lift_ir::Math::Max), vec![], vec![], vec![value, one])
    }

    /// A float of at least one half.
    pub(crate) fn positive(&mut self, ty: &Type, scope: &Scope, fuel: u32) -> Option<Expr> {
        let scalar = ty.element_scalar()?;
        let value = self.make(ty, scope, fuel)?;
        let size = self.call(Prim::Math(lift_ir::Math::Abs), vec![], vec![], vec![value])?;
        let half = self.cx.literal(lift_ir::Literal::float(scalar, 0.5)?);
        self.call(Prim::Binary(BinaryOp::Add), vec![], vec![], vec![size, half])
    }

    /// A memory that may be named here.
    pub(crate) fn memory(&mut self, scope: &Scope) -> Option<Space> {
        let local = if scope.is_grouped() { 6 } else { 0 };
        // What a whole group keeps in private memory is bound to the maps that made it.
        let private = match scope.level {
            Level::Host | Level::Item => 4,
            Level::Group | Level::Warp | Level::Scalar => 0,
        };
        self.random.weighted(&[
            (local, Space::Local),
            (private, Space::Private),
            (3, Space::Global),
        ])
    }
}

/// The type with another scalar.
pub(crate) fn shaped(scalar: Scalar, like: &Type) -> Option<Type> {
    match like {
        Type::Scalar(_) => Some(Type::Scalar(scalar)),
        Type::Vector(_, width) => Some(Type::Vector(scalar, width.clone())),
        Type::Tuple(_) | Type::Array(..) => None,
    }
}
