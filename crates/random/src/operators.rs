//! Operators with laws: what `reduce` and `scan` ask of their functions.

use lift_ir::{BinaryOp, Build, Expr, Lambda, Literal, Math, Prim, Scalar, Type};

use crate::again::again;
use crate::config::Floats;
use crate::generator::Generator;

/// The laws an operator obeys; all have an identity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Law {
    /// As `reduce` needs it.
    Commutative,
    /// Commutative or not, as `scan` needs it.
    Associative,
    /// Associative, and not commutative.
    Ordered,
}

impl Generator<'_> {
    /// An operator on values of a type, and its identity.
    pub fn operator(&mut self, ty: &Type, law: Law) -> Option<(Expr, Lambda)> {
        let ordered = match law {
            Law::Commutative => false,
            Law::Associative => self.random.chance(30),
            Law::Ordered => true,
        };
        if ordered {
            if let Some(found) = self.ordered(ty) {
                return Some(found);
            }
            if law == Law::Ordered {
                return None;
            }
        }
        self.commutative(ty)
    }

    fn commutative(&mut self, ty: &Type) -> Option<(Expr, Lambda)> {
        match ty {
            Type::Scalar(scalar) | Type::Vector(scalar, _) => {
                let (prim, identity) = self.scalar_operator(*scalar)?;
                let start = self.spread(self.cx.literal(identity), ty)?;
                let f =
                    self.binary_lambda(ty, |g, a, b| g.call(prim, vec![], vec![], vec![a, b]))?;
                Some((start, f))
            }
            Type::Tuple(parts) => {
                if self.random.chance(30)
                    && let Some(found) = self.least(ty)
                {
                    return Some(found);
                }
                let inner: Option<Vec<_>> =
                    parts.iter().map(|part| self.commutative(part)).collect();
                let (starts, functions): (Vec<Expr>, Vec<Lambda>) = inner?.into_iter().unzip();
                let start = self.call(Prim::Tuple, vec![], vec![], starts)?;
                let f = self.binary_lambda(ty, |g, a, b| {
                    let parts: Option<Vec<Expr>> = functions
                        .iter()
                        .enumerate()
                        .map(|(i, f)| {
                            let a = g.unary(Prim::Field(i as u32), vec![], a.clone())?;
                            let b = g.unary(Prim::Field(i as u32), vec![], b.clone())?;
                            g.apply(f, [a, b])
                        })
                        .collect();
                    g.call(Prim::Tuple, vec![], vec![], parts?)
                })?;
                Some((start, f))
            }
            Type::Array(element, length) => {
                let (start, inner) = self.commutative(element)?;
                let start = self.unary(Prim::Repeat, vec![length.clone()], start)?;
                let b = Build::new(self.cx);
                let f = self.binary_lambda(ty, |g, x, y| {
                    let each = |pair: Expr| {
                        let (x, y) = (b.field(&pair, 0)?, b.field(&pair, 1)?);
                        Ok(g.apply(&inner, [x, y]).unwrap_or(pair))
                    };
                    b.map(each, b.zip([x, y])).ok()
                })?;
                Some((start, f))
            }
        }
    }

    fn scalar_operator(&mut self, scalar: Scalar) -> Option<(Prim, Literal)> {
        let binary = |op, identity| (Prim::Binary(op), identity);
        let math = |math, identity| (Prim::Math(math), identity);
        if scalar == Scalar::Bool {
            let choices = [
                binary(BinaryOp::And, Literal::Bool(true)),
                binary(BinaryOp::Or, Literal::Bool(false)),
                binary(BinaryOp::Eq, Literal::Bool(true)),
                binary(BinaryOp::Ne, Literal::Bool(false)),
            ];
            return self.random.pick(&choices);
        }
        if let Some((low, high)) = scalar.integer_range() {
            let choices = [
                binary(BinaryOp::Add, Literal::Int(scalar, 0)),
                binary(BinaryOp::Add, Literal::Int(scalar, 0)),
                binary(BinaryOp::Mul, Literal::Int(scalar, 1)),
                math(Math::Min, Literal::Int(scalar, high)),
                math(Math::Max, Literal::Int(scalar, low)),
                binary(BinaryOp::BitAnd, Literal::Int(scalar, if low == 0 { high } else { -1 })),
                binary(BinaryOp::BitOr, Literal::Int(scalar, 0)),
                binary(BinaryOp::BitXor, Literal::Int(scalar, 0)),
            ];
            return self.random.pick(&choices);
        }
        let choices = [
            binary(BinaryOp::Add, Literal::float(scalar, 0.0)?),
            binary(BinaryOp::Add, Literal::float(scalar, 0.0)?),
            math(Math::Min, Literal::float(scalar, f64::INFINITY)?),
            math(Math::Max, Literal::float(scalar, f64::NEG_INFINITY)?),
        ];
        self.random.pick(&choices)
    }

    /// The lesser of two pairs, the first component first.
    fn least(&mut self, ty: &Type) -> Option<(Expr, Lambda)> {
        let Type::Tuple(parts) = ty else { return None };
        let [Type::Scalar(first), Type::Scalar(second)] = &**parts else { return None };
        let (_, high) = second.integer_range()?;
        if first.is_float() && self.config.floats == Floats::Smooth {
            return None;
        }
        let top = match first.integer_range() {
            Some((_, high)) => Literal::Int(*first, high),
            None => Literal::float(*first, f64::INFINITY)?,
        };
        let b = Build::new(self.cx);
        let start = b.tuple([self.cx.literal(top), self.number(*second, high)]).ok()?;
        let f = self.binary_lambda(ty, |_, x, y| {
            let (x0, y0, x1, y1) = (b.field(&x, 0), b.field(&y, 0), b.field(&x, 1), b.field(&y, 1));
            let tie = b.and(b.eq(&y0, &x0), b.lt(y1, x1));
            b.if_then(b.or(b.lt(y0, x0), tie), &y, &x).ok()
        })?;
        Some((start, f))
    }

    /// Associative operators that mind the order.
    fn ordered(&mut self, ty: &Type) -> Option<(Expr, Lambda)> {
        let b = Build::new(self.cx);
        match ty {
            // The last that is not zero.
            Type::Scalar(scalar) if scalar.is_integer() => {
                let zero = self.number(*scalar, 0);
                let f = self.binary_lambda(ty, |_, x, y| {
                    let none = b.eq(&y, &zero);
                    b.if_then(none, &x, &y).ok()
                })?;
                Some((zero, f))
            }
            // Composition of the functions `x -> p.0 * x + p.1`.
            Type::Tuple(parts) => match &**parts {
                [Type::Scalar(s), Type::Scalar(t)] if s == t && s.is_integer() => {
                    let start = b.tuple([self.number(*s, 1), self.number(*s, 0)]).ok()?;
                    let f = self.binary_lambda(ty, |_, x, y| {
                        let (x0, y0, x1, y1) =
                            (b.field(&x, 0), b.field(&y, 0), b.field(&x, 1), b.field(&y, 1));
                        b.tuple([b.mul(&y0, x0), b.add(b.mul(y0, x1), y1)]).ok()
                    })?;
                    Some((start, f))
                }
                _ => None,
            },
            Type::Scalar(_) | Type::Vector(..) | Type::Array(..) => None,
        }
    }

    fn binary_lambda(
        &mut self,
        ty: &Type,
        body: impl FnOnce(&mut Self, Expr, Expr) -> Option<Expr>,
    ) -> Option<Lambda> {
        self.lambda(&[ty.clone(), ty.clone()], |g, params| {
            let [a, b] = params else { return None };
            let (a, b) = (g.var(a), g.var(b));
            body(g, a, b)
        })
    }

    /// The body of a function with its parameters replaced.
    pub(crate) fn apply<const K: usize>(&self, f: &Lambda, args: [Expr; K]) -> Option<Expr> {
        let values: Vec<_> = f.params.iter().cloned().zip(args).collect();
        again(self.cx, &self.cx.substitute(&f.body, &values)).ok()
    }
}
