//! Operations by which a work-item changes an element that others change too, each change as a whole.

use crate::{BinaryOp, Expr, Kind, Lambda, Math, Param, Prim, Scalar, Type};

/// What becomes of an element and a value. All are associative and commutative, so the order of work-items matters to
/// rounding alone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AtomicOp {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
}

impl AtomicOp {
    pub const ALL: [AtomicOp; 6] =
        [AtomicOp::Add, AtomicOp::Min, AtomicOp::Max, AtomicOp::And, AtomicOp::Or, AtomicOp::Xor];

    pub fn name(self) -> &'static str {
        match self {
            AtomicOp::Add => "add",
            AtomicOp::Min => "min",
            AtomicOp::Max => "max",
            AtomicOp::And => "and",
            AtomicOp::Or => "or",
            AtomicOp::Xor => "xor",
        }
    }

    /// Whether elements of a type can be changed so: words of 32 and 64 bits can, and bits are those of integers.
    pub fn takes(self, scalar: Scalar) -> bool {
        let is_word = matches!(scalar.bytes(), 4 | 8);
        match self {
            AtomicOp::Add | AtomicOp::Min | AtomicOp::Max => is_word,
            AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => is_word && scalar.is_integer(),
        }
    }

    /// The operation that a pattern is.
    fn of(prim: &Prim) -> Option<AtomicOp> {
        match prim {
            Prim::Binary(BinaryOp::Add) => Some(AtomicOp::Add),
            Prim::Math(Math::Min) => Some(AtomicOp::Min),
            Prim::Math(Math::Max) => Some(AtomicOp::Max),
            Prim::Binary(BinaryOp::BitAnd) => Some(AtomicOp::And),
            Prim::Binary(BinaryOp::BitOr) => Some(AtomicOp::Or),
            Prim::Binary(BinaryOp::BitXor) => Some(AtomicOp::Xor),
            _ => None,
        }
    }
}

/// How a state changes, as steps of its numbers; what has a name in front of them is made without the state, too.
pub struct AtomicFold<'e> {
    pub named: Vec<(&'e Param, &'e Expr)>,
    pub steps: Vec<AtomicStep<'e>>,
}

/// How one number of a state changes: by which operation, and a value that is made without the state.
pub struct AtomicStep<'e> {
    pub op: AtomicOp,
    pub scalar: Scalar,
    pub value: &'e Expr,
}

impl AtomicFold<'_> {
    /// `\acc x -> acc op e(x)`: one step where the state is a number, one for each component where it is a tuple of numbers of
    /// which each is made of itself alone. Nothing where a state changes otherwise.
    pub fn of(f: &Lambda) -> Option<AtomicFold<'_>> {
        let acc = f.params.first()?;
        let (mut named, mut body) = (Vec::new(), &f.body);
        while let Kind::Let { param, value, body: inner } = body.kind() {
            if value.mentions(acc) {
                return None;
            }
            named.push((param, value));
            body = inner;
        }
        let steps = match acc.ty() {
            Type::Scalar(scalar) => {
                vec![step(acc, body, *scalar, &|e| e.as_var() == Some(acc))?]
            }
            Type::Tuple(items) => {
                let parts = body.as_call().filter(|call| call.prim == Prim::Tuple)?;
                let parts = items.iter().zip(&parts.args).zip(0u32..);
                let steps: Option<Vec<AtomicStep>> = parts
                    .map(|((ty, part), at)| match ty {
                        Type::Scalar(scalar) => {
                            step(acc, part, *scalar, &|e| is_component(e, acc, at))
                        }
                        Type::Tuple(_) | Type::Vector(..) | Type::Array(..) => None,
                    })
                    .collect();
                steps?
            }
            Type::Vector(..) | Type::Array(..) => return None,
        };
        Some(AtomicFold { named, steps })
    }
}

fn step<'e>(
    acc: &Param,
    body: &'e Expr,
    scalar: Scalar,
    is_own: &dyn Fn(&Expr) -> bool,
) -> Option<AtomicStep<'e>> {
    let call = body.as_call()?;
    let op = AtomicOp::of(&call.prim).filter(|op| op.takes(scalar))?;
    let [a, b] = call.args.as_slice() else { return None };
    let (own, value) = if is_own(a) { (a, b) } else { (b, a) };
    (is_own(own) && !value.mentions(acc)).then_some(AtomicStep { op, scalar, value })
}

/// `acc.at`
fn is_component(expr: &Expr, acc: &Param, at: u32) -> bool {
    expr.as_call().is_some_and(|call| {
        let of = call.args.first().and_then(Expr::as_var);
        call.prim == Prim::Field(at) && of == Some(acc)
    })
}
