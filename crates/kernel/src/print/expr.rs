//! Values: scalars as every C has them, vectors as the dialect has them.

use lift_ir::{BinaryOp, Literal, Scalar, Type, UnaryOp};

use super::code::Code;
use super::dialect::Dialect;
use super::text::{Level, Text};
use crate::{Expr, ValueType, Variable};

impl<D: Dialect> Code<'_, D> {
    /// The text of a value, whose type in the target language is that of the value. A `bool` may
    /// be any integer type, but is 0 or 1.
    pub fn expr(&mut self, expr: &Expr) -> Text {
        match expr {
            Expr::Literal(literal) => {
                self.scalars.insert(literal.scalar());
                D::literal(self, *literal)
            }
            Expr::Var(var) => Text::primary(self.name(&var.id)),
            Expr::Index(nat, scalar) => {
                let text = self.nat(nat);
                let own = D::index(self.kernel.wide_indices).1 == *scalar;
                if own { text } else { Text::cast(self.scalar(*scalar), &text) }
            }
            Expr::Test(pred) => self.pred(pred),
            Expr::Load(access, _) => D::load(self, access),
            Expr::Unary(op, value) => match value.ty().width {
                1 => self.unary(*op, value),
                _ => D::lanewise(self, expr),
            },
            Expr::Binary(op, a, b) => match expr.ty().width {
                1 => self.binary(*op, a, b),
                _ => D::lanewise(self, expr),
            },
            Expr::Math(math, args) => self.math(expr, *math, args),
            Expr::Cast(ty, value) => match ty.width {
                1 => self.cast(ty.scalar, value),
                _ if value.ty() == *ty => self.expr(value),
                _ => D::lanewise(self, expr),
            },
            Expr::Select(condition, then, otherwise) => self.select(condition, then, otherwise),
            Expr::Vector(scalar, items) => D::pack(self, *scalar, items),
            Expr::Splat(width, value) => {
                let ty = ValueType::vector(value.ty().scalar, *width);
                D::splat(self, ty, value)
            }
            Expr::Lane(vector, lane) => {
                let vector = self.expr(vector);
                D::lane(&vector, *lane)
            }
            Expr::Extern(function, args) => {
                let name = self.external(function);
                let args = self.all(args);
                Text::call(&name, &args)
            }
            Expr::Shuffle(bit, value) => {
                let value = self.expr(value);
                D::shuffle(*bit, &value)
            }
        }
    }

    pub fn all(&mut self, exprs: &[Expr]) -> Vec<Text> {
        exprs.iter().map(|e| self.expr(e)).collect()
    }

    /// A vector of this width; a scalar is put into all lanes.
    pub fn widened(&mut self, expr: &Expr, width: u32) -> Text {
        let ty = expr.ty();
        if ty.width == width {
            return self.expr(expr);
        }
        D::splat(self, ValueType::vector(ty.scalar, width), expr)
    }

    /// Text of a type smaller than `int` is of type `int` after an operation, and has its range.
    pub fn narrowed(&mut self, scalar: Scalar, text: Text) -> Text {
        match scalar {
            Scalar::I8 | Scalar::I16 | Scalar::U8 | Scalar::U16 => {
                Text::cast(self.scalar(scalar), &text)
            }
            Scalar::Bool
            | Scalar::I32
            | Scalar::I64
            | Scalar::U32
            | Scalar::U64
            | Scalar::F16
            | Scalar::F32
            | Scalar::F64 => text,
        }
    }

    fn unary(&mut self, op: UnaryOp, value: &Expr) -> Text {
        let scalar = value.ty().scalar;
        match op {
            UnaryOp::Not => Text::prefix("!", &self.expr(value)),
            UnaryOp::BitNot => {
                let text = Text::prefix("~", &self.expr(value));
                self.narrowed(scalar, text)
            }
            UnaryOp::Neg if !D::WRAPS && is_wide_signed(scalar) => {
                let zero = Expr::Literal(Literal::Int(scalar, 0));
                self.wrapping(BinaryOp::Sub, &zero, value)
            }
            UnaryOp::Neg => {
                let text = Text::prefix("-", &self.expr(value));
                self.narrowed(scalar, text)
            }
        }
    }

    fn binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Text {
        let scalar = a.ty().scalar;
        match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => {
                // Two u16 are multiplied as int, which has no room for the product.
                let overflows = is_wide_signed(scalar) || scalar == Scalar::U16;
                if overflows && !D::WRAPS {
                    return self.wrapping(op, a, b);
                }
                let text = self.infix(op, a, b);
                self.rounded(scalar, text)
            }
            BinaryOp::Div if scalar.is_float() => {
                let text = self.infix(op, a, b);
                self.rounded(scalar, text)
            }
            BinaryOp::Rem if scalar.is_float() => D::remainder(self, scalar, a, b),
            BinaryOp::Div | BinaryOp::Rem => self.quotient(op, a, b),
            BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::BitAnd => {
                let text = self.infix(op, a, b);
                self.narrowed(scalar, text)
            }
            BinaryOp::Shl | BinaryOp::Shr => self.shift(op, a, b),
            BinaryOp::Or
            | BinaryOp::And
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => self.infix(op, a, b),
        }
    }

    pub fn infix(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Text {
        let (a, b) = (self.expr(a), self.expr(b));
        Text::infix(level(op), &a, op.symbol(), &b)
    }

    /// Of the amount the low bits count. To the left, what is shifted out is lost: signed integers that do not
    /// wrap are shifted as unsigned ones.
    fn shift(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Text {
        let scalar = a.ty().scalar;
        let amount = self.expr(&shift_amount(b));
        if op == BinaryOp::Shr || D::WRAPS || matches!(scalar, Scalar::U32 | Scalar::U64) {
            let text = Text::infix(level(op), &self.expr(a), op.symbol(), &amount);
            return self.narrowed(scalar, text);
        }
        let shifted = Text::infix(level(op), &self.modular(scalar, a), op.symbol(), &amount);
        Text::cast(self.scalar(scalar), &shifted)
    }

    /// The result of an operation as a value of its type.
    pub fn rounded(&mut self, scalar: Scalar, text: Text) -> Text {
        if scalar == Scalar::F16 && D::WRAPS {
            // C may compute with more digits than `_Float16` has.
            return Text::cast(self.scalar(scalar), &text);
        }
        self.narrowed(scalar, text)
    }

    /// `(int)((uint)a + (uint)b)`, where signed integers do not wrap.
    fn wrapping(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Text {
        let scalar = a.ty().scalar;
        let (a, b) = (self.modular(scalar, a), self.modular(scalar, b));
        let sum = Text::infix(level(op), &a, op.symbol(), &b);
        Text::cast(self.scalar(scalar), &sum)
    }

    /// The value as an unsigned integer of the same bits.
    fn modular(&mut self, scalar: Scalar, value: &Expr) -> Text {
        let unsigned = if scalar == Scalar::I64 { Scalar::U64 } else { Scalar::U32 };
        if let Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), a, b) = value
            && scalar != Scalar::U16
        {
            let (a, b) = (self.modular(scalar, a), self.modular(scalar, b));
            return Text::infix(level(*op), &a, op.symbol(), &b);
        }
        if let Expr::Literal(Literal::Int(_, v)) = value
            && *v >= 0
        {
            return D::literal(self, Literal::Int(unsigned, *v));
        }
        let text = self.expr(value);
        Text::cast(self.scalar(unsigned), &text)
    }

    /// Of integers. The one signed quotient that has no room would stop some processors.
    fn quotient(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Text {
        let scalar = a.ty().scalar;
        let harmless = matches!(b, Expr::Literal(Literal::Int(_, v)) if *v != -1);
        if !is_wide_signed(scalar) || harmless {
            let text = self.infix(op, a, b);
            return self.narrowed(scalar, text);
        }
        let ty = self.scalar(scalar);
        let minus_one = self.expr(&Expr::Literal(Literal::Int(scalar, -1))).text;
        let (name, at_minus_one) = if op == BinaryOp::Div {
            ("div", self.unary(UnaryOp::Neg, &variable("a", scalar)).text)
        } else {
            ("rem", "0".to_owned())
        };
        let function = format!("lift_{name}_{scalar}");
        self.helper(format!(
            "{}{ty} {function}({ty} a, {ty} b) {{\n  return b == {minus_one} ? {at_minus_one} : a {} b;\n}}",
            D::FUNCTION,
            op.symbol()
        ));
        let args = [self.expr(a), self.expr(b)];
        Text::call(&function, &args)
    }

    fn select(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr) -> Text {
        let ty = then.ty();
        let condition = self.expr(condition);
        let (then, otherwise) = (self.expr(then), self.expr(otherwise));
        let text = Text::choice(&condition, &then, &otherwise);
        if ty.width == 1 { self.narrowed(ty.scalar, text) } else { text }
    }

    fn math(&mut self, whole: &Expr, math: lift_ir::Math, args: &[Expr]) -> Text {
        use lift_ir::Math;
        let width = args.iter().map(|a| a.ty().width).max().unwrap_or(1);
        match (math, args) {
            (Math::Dot, [a, b]) => self.dot(a, b),
            (Math::Select, [c, a, b]) if c.ty().width == 1 => {
                let ty = ValueType::vector(a.ty().scalar, width);
                let wide = |e: &Expr| match e.ty() == ty {
                    true => e.clone(),
                    false => Expr::Splat(width, Box::new(e.clone())),
                };
                self.select(c, &wide(a), &wide(b))
            }
            // x.max(low).min(high)
            (Math::Clamp, [x, low, high]) => {
                let raised = Expr::Math(Math::Max, vec![x.clone(), low.clone()]);
                self.expr(&Expr::Math(Math::Min, vec![raised, high.clone()]))
            }
            _ if width > 1 => D::lanewise(self, whole),
            _ => D::math(self, math, args.last().map_or(Scalar::F32, |a| a.ty().scalar), args),
        }
    }

    /// Products of lanes, summed from the first to the last.
    fn dot(&mut self, a: &Expr, b: &Expr) -> Text {
        let ty = a.ty();
        let args = [self.expr(a), self.expr(b)];
        if let Some(function) = D::dot(ty) {
            return Text::call(function, &args);
        }
        let term = |lane: u32| {
            let of = |name| {
                let vector = variable_of(name, ty);
                Box::new(Expr::Lane(Box::new(vector), lane))
            };
            Expr::Binary(BinaryOp::Mul, of("a"), of("b"))
        };
        let sum = (1..ty.width).fold(term(0), |sum, lane| {
            Expr::Binary(BinaryOp::Add, Box::new(sum), Box::new(term(lane)))
        });
        let body = self.expr(&sum).text;
        let (vector, scalar) = (self.ty(ty), self.scalar(ty.scalar));
        let function = format!("lift_dot_{}x{}", ty.scalar, ty.width);
        self.helper(format!(
            "{}{scalar} {function}({vector} a, {vector} b) {{\n  return {body};\n}}",
            D::FUNCTION
        ));
        Text::call(&function, &args)
    }

    fn cast(&mut self, to: Scalar, value: &Expr) -> Text {
        let from = value.ty().scalar;
        if from == to {
            return self.expr(value);
        }
        if to == Scalar::Bool {
            let zero = match from {
                Scalar::F16 | Scalar::F32 | Scalar::F64 => {
                    Literal::float(from, 0.0).unwrap_or(Literal::f32(0.0))
                }
                Scalar::I32 | Scalar::I64 | Scalar::U32 | Scalar::U64 => Literal::Int(from, 0),
                Scalar::Bool | Scalar::I8 | Scalar::I16 | Scalar::U8 | Scalar::U16 => {
                    Literal::Int(Scalar::I32, 0)
                }
            };
            return self.infix(BinaryOp::Ne, value, &Expr::Literal(zero));
        }
        D::convert(self, from, to, value)
    }

    /// Declares a function whose body is target code.
    fn external(&mut self, function: &lift_ir::Extern) -> String {
        let ret = self.external_type(&function.ret);
        let params: Vec<String> = function
            .params
            .iter()
            .map(|(name, ty)| format!("{} {name}", self.external_type(ty)))
            .collect();
        let body: Vec<String> =
            function.code.trim().lines().map(|l| format!("  {}", l.trim_end())).collect();
        self.helper(format!(
            "{}{ret} {}({}) {{\n{}\n}}",
            D::FUNCTION,
            self.function(&function.name),
            params.join(", "),
            body.join("\n")
        ));
        self.function(&function.name)
    }

    fn external_type(&mut self, ty: &Type) -> String {
        match ValueType::of(ty) {
            Some(ty) => self.ty(ty),
            None => panic!("a valid kernel calls target code on scalars and vectors"),
        }
    }
}

/// A shift amount, of which the low bits count.
pub(super) fn shift_amount(amount: &Expr) -> Expr {
    let scalar = amount.ty().scalar;
    let last = i128::from(scalar.width()) - 1;
    match amount {
        Expr::Literal(Literal::Int(_, v)) => Expr::Literal(Literal::Int(scalar, v & last)),
        _ => {
            let last = Expr::Literal(Literal::Int(scalar, last));
            Expr::Binary(BinaryOp::BitAnd, Box::new(amount.clone()), Box::new(last))
        }
    }
}

pub(super) fn variable(name: &str, scalar: Scalar) -> Expr {
    variable_of(name, ValueType::scalar(scalar))
}

pub(super) fn variable_of(name: &str, ty: ValueType) -> Expr {
    Expr::Var(Variable { id: lift_ir::Var::named(name), ty })
}

/// Signed integers that are not computed with as something wider.
fn is_wide_signed(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::I32 | Scalar::I64)
}

pub(super) fn level(op: BinaryOp) -> Level {
    match op {
        BinaryOp::Or => Level::Or,
        BinaryOp::And => Level::And,
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
            Level::Comparison
        }
        BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::BitAnd => Level::Bits,
        BinaryOp::Shl | BinaryOp::Shr => Level::Shift,
        BinaryOp::Add | BinaryOp::Sub => Level::Sum,
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => Level::Product,
    }
}
