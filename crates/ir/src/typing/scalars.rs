//! Scalars, vectors and tuples.

use lift_nat::{Nat, Pred};

use super::Rule;
use crate::{BinaryOp, Extern, Math, Operands, Part, Scalar, Type, TypeError, UnaryOp};

/// The widths vectors come in.
const WIDTHS: [i128; 5] = [2, 3, 4, 8, 16];

/// Scalars become vectors of width `m`; `None` where the type holds vectors or arrays.
pub fn widen(ty: &Type, width: &Nat) -> Option<Type> {
    match ty {
        Type::Scalar(s) => Some(Type::Vector(*s, width.clone())),
        Type::Tuple(components) => {
            let wide: Option<Vec<Type>> = components.iter().map(|c| widen(c, width)).collect();
            wide.map(Type::tuple)
        }
        Type::Vector(..) | Type::Array(..) => None,
    }
}

/// The scalars and vectors that tuples within tuples come to at most: each is a variable, or a buffer in memory.
const MOST_PARTS: usize = 1024;

/// A tuple of these types. One that doubles with every line of a program would outgrow any memory.
pub(super) fn tuple_of(components: impl IntoIterator<Item = Type>) -> Result<Type, TypeError> {
    let ty = Type::tuple(components);
    if count_parts(&ty, MOST_PARTS).is_some() {
        return Ok(ty);
    }
    let text =
        format!("a tuple of more than {MOST_PARTS} scalars, counting those of the tuples in it");
    Err(TypeError::new(Part::Whole, text))
}

/// What is left of a number of parts after those of a type; `None` where it has more.
fn count_parts(ty: &Type, left: usize) -> Option<usize> {
    match ty {
        Type::Scalar(_) | Type::Vector(..) => left.checked_sub(1),
        Type::Tuple(items) => items.iter().try_fold(left, |left, item| count_parts(item, left)),
        Type::Array(element, _) => count_parts(element, left),
    }
}

/// Refuses a number that is no vector width.
pub(super) fn lanes(width: &Nat) -> Result<(), String> {
    match width.as_int() {
        Some(w) if !WIDTHS.contains(&w) => {
            Err(format!("a vector has 2, 3, 4, 8 or 16 lanes, not {w}"))
        }
        _ => Ok(()),
    }
}

impl Rule<'_> {
    /// A size that is a vector width: 2, 3, 4, 8 or 16 where it is known.
    pub(super) fn width(&self, index: usize) -> Result<&Nat, TypeError> {
        let width = self.size(index)?;
        lanes(width).map_err(|text| TypeError::new(Part::Size(index), text))?;
        Ok(width)
    }

    /// `m, (S, … -> R), Sxm, … -> Rxm`
    pub(super) fn vectorize(&self) -> Result<Type, TypeError> {
        let width = self.width(0)?;
        let lambda = self.lambda(0)?;
        if lambda.params.len() != self.call.args.len() {
            return Err(TypeError::new(
                Part::Function(0),
                format!(
                    "the function takes {} parameters, but {} are given",
                    lambda.params.len(),
                    self.call.args.len()
                ),
            ));
        }
        for (index, (param, arg)) in lambda.params.iter().zip(&self.call.args).enumerate() {
            let wide = widen(param.ty(), width).ok_or_else(|| {
                let text =
                    format!("`vectorize` takes a function on scalars, found `{}`", param.ty());
                TypeError::new(Part::Function(0), text)
            })?;
            self.expect(Part::Argument(index), &wide, arg.ty())?;
        }
        let result = lambda.body.ty();
        widen(result, width).ok_or_else(|| {
            let text = format!("`vectorize` takes a function to scalars, found `{result}`");
            TypeError::new(Part::Function(0), text)
        })
    }

    /// `T, U, … -> (T, U, …)`
    pub(super) fn tuple(&self) -> Result<Type, TypeError> {
        if self.call.args.len() < 2 {
            return Err(TypeError::new(Part::Whole, "a tuple has at least two components"));
        }
        tuple_of(self.call.args.iter().map(|a| a.ty().clone()))
    }

    /// `(T, U, …) -> T`
    pub(super) fn field(&self, index: u32) -> Result<Type, TypeError> {
        let ty = self.value(0)?;
        let Type::Tuple(components) = ty else {
            let text = format!("`.{index}` takes a component of a tuple, found `{ty}`");
            return Err(TypeError::new(Part::Argument(0), text));
        };
        components.get(index as usize).cloned().ok_or_else(|| {
            let text = format!(
                "`.{index}` is beyond the last component of `{ty}`, which is `.{}`",
                components.len() - 1
            );
            TypeError::new(Part::Whole, text)
        })
    }

    /// `S, S, … -> Sxm`
    pub(super) fn vector_literal(&self) -> Result<Type, TypeError> {
        let width = self.call.args.len();
        if !WIDTHS.contains(&(width as i128)) {
            let text = format!("a vector has 2, 3, 4, 8 or 16 lanes, not {width}");
            return Err(TypeError::new(Part::Whole, text));
        }
        let scalar = self.scalar(0)?;
        for index in 1..width {
            self.expect(Part::Argument(index), &Type::Scalar(scalar), self.value(index)?)?;
        }
        Ok(Type::vector(scalar, width))
    }

    /// `m, S -> Sxm`
    pub(super) fn splat(&self) -> Result<Type, TypeError> {
        Ok(Type::vector(self.scalar(0)?, self.width(0)?.clone()))
    }

    fn scalar(&self, index: usize) -> Result<Scalar, TypeError> {
        match self.value(index)? {
            Type::Scalar(s) => Ok(*s),
            ty => Err(TypeError::new(
                Part::Argument(index),
                format!("{} is made of scalars, found `{ty}`", self.name()),
            )),
        }
    }

    /// `i, Sxm -> S where i < m`
    pub(super) fn lane(&self) -> Result<Type, TypeError> {
        let index = self.natural(0)?;
        match self.value(0)? {
            Type::Vector(scalar, width) => {
                if self.cx.refutes(&Pred::Lt(index.clone(), width.clone())) {
                    let text = format!("lane {index} is beyond the last of {width} lanes");
                    return Err(TypeError::new(Part::Size(0), text));
                }
                self.require(Part::Size(0), Pred::Lt(index.clone(), width.clone()))?;
                Ok(Type::Scalar(*scalar))
            }
            ty => Err(TypeError::new(
                Part::Argument(0),
                format!("only vectors have lanes and arrays elements, found `{ty}`"),
            )),
        }
    }

    /// `bool, T, T -> T`, T a scalar, vector or tuple of them
    pub(super) fn conditional(&self) -> Result<Type, TypeError> {
        self.expect(Part::Argument(0), &Type::BOOL, self.value(0)?)?;
        let (then, otherwise) = (self.value(1)?, self.value(2)?);
        if !self.cx.same_type(then, otherwise) {
            let text =
                format!("both branches of an `if` have one type, found `{then}` and `{otherwise}`");
            return Err(TypeError::new(Part::Argument(2), text));
        }
        if !then.is_register() {
            let text =
                format!("an `if` chooses between scalars, vectors or tuples, found `{then}`");
            return Err(TypeError::new(Part::Argument(1), text));
        }
        Ok(then.clone())
    }

    /// `S -> R`, `Sxm -> Rxm`
    pub(super) fn cast(&self, scalar: Scalar) -> Result<Type, TypeError> {
        match self.value(0)? {
            Type::Scalar(_) => Ok(Type::Scalar(scalar)),
            Type::Vector(_, width) => Ok(Type::Vector(scalar, width.clone())),
            ty => Err(TypeError::new(
                Part::Argument(0),
                format!("`as` converts scalars and vectors, found `{ty}`"),
            )),
        }
    }

    /// `S -> S`
    pub(super) fn unary(&self, op: UnaryOp) -> Result<Type, TypeError> {
        let ty = self.value(0)?;
        let fits = match (op, ty.element_scalar()) {
            (UnaryOp::Neg, Some(s)) => s.is_number(),
            (UnaryOp::Not, Some(s)) => s == Scalar::Bool,
            (UnaryOp::BitNot, Some(s)) => s.is_integer(),
            (_, None) => false,
        };
        if fits {
            return Ok(ty.clone());
        }
        let wanted = match op {
            UnaryOp::Neg => "a number",
            UnaryOp::Not => "a `bool`",
            UnaryOp::BitNot => "an integer",
        };
        let text = format!("`{}` takes {wanted}, found `{ty}`", op.symbol());
        let error = TypeError::new(Part::Argument(0), text);
        Err(match (op, ty.element_scalar()) {
            (UnaryOp::BitNot, Some(Scalar::Bool)) => error.help("the opposite of a `bool` is `!x`"),
            (UnaryOp::Not, Some(s)) if s.is_integer() => {
                error.help("the bits of an integer the other way are `~x`")
            }
            _ => error,
        })
    }

    /// `S, S -> S` or to `bool`; elementwise on vectors, a scalar operand broadcast
    pub(super) fn binary(&self, op: BinaryOp) -> Result<Type, TypeError> {
        let fits = |scalar: Scalar| match op {
            _ if op.is_logical() => scalar == Scalar::Bool,
            _ if op.is_bitwise() => scalar.is_integer(),
            BinaryOp::Eq | BinaryOp::Ne => true,
            _ => scalar.is_number(),
        };
        let (left, right) = (self.value(0)?, self.value(1)?);
        if let (Some(a), Some(b)) = (left.element_scalar(), right.element_scalar())
            && !(fits(a) && fits(b))
        {
            let wanted = match op {
                _ if op.is_logical() => "`bool`s",
                _ if op.is_bitwise() => "integers",
                _ => "numbers",
            };
            let text = format!("`{}` takes {wanted}, found `{left}` and `{right}`", op.symbol());
            return Err(TypeError::new(Part::Whole, text).help_if(remedy(op, a, b)));
        }
        let (scalar, width) = self.elementwise(0)?;
        let result = if op.is_comparison() { Scalar::Bool } else { scalar };
        Ok(shaped(result, width))
    }

    /// See the table for the scheme of each; elementwise on vectors, scalars broadcast.
    pub(super) fn math(&self, math: Math) -> Result<Type, TypeError> {
        if math == Math::Select {
            return self.select();
        }
        let (scalar, width) = self.elementwise(0)?;
        if !math.operands().take(scalar) {
            let wanted = match math.operands() {
                Operands::Floats => "floats",
                Operands::Integers => "integers",
                Operands::Bits => "`u16`, `u32` or `u64`",
                Operands::Numbers | Operands::Vectors | Operands::Choice => "numbers",
            };
            let text = format!("`{}` takes {wanted}, found `{}`", self.name(), self.value(0)?);
            let help = match math.operands() {
                Operands::Floats if scalar.is_integer() => Some("convert it: `x as f32`"),
                Operands::Integers if scalar.is_float() => {
                    Some("the bits of a float are `to_bits(x)`")
                }
                Operands::Bits if scalar.is_integer() => Some("convert it: `x as u32`"),
                _ => None,
            };
            let error = TypeError::new(Part::Argument(0), text);
            return Err(error.help_if(help.map(str::to_string)));
        }
        if math == Math::Dot {
            return match (self.value(0)?, self.value(1)?) {
                (Type::Vector(..), Type::Vector(..)) => Ok(Type::Scalar(scalar)),
                (a, b) => Err(TypeError::new(
                    Part::Whole,
                    format!("`dot` takes two vectors, found `{a}` and `{b}`"),
                )),
            };
        }
        Ok(shaped(math.result(scalar), width))
    }

    /// `bool, S, S -> S`; a vector of `bool`s chooses lane by lane
    fn select(&self) -> Result<Type, TypeError> {
        let (scalar, width) = self.elementwise(1)?;
        match (self.value(0)?, width) {
            (Type::Scalar(Scalar::Bool), width) => Ok(shaped(scalar, width)),
            (Type::Vector(Scalar::Bool, m), None) => Ok(shaped(scalar, Some(m))),
            (Type::Vector(Scalar::Bool, m), Some(n)) if self.cx.same_size(m, n) => {
                Ok(shaped(scalar, Some(n)))
            }
            (ty, _) => Err(TypeError::new(
                Part::Argument(0),
                format!(
                    "`select` chooses by a `bool` (or as many as there are lanes), found `{ty}`"
                ),
            )),
        }
    }

    /// The common scalar of the arguments from `first` on, and the width if one is a vector.
    fn elementwise(&self, first: usize) -> Result<(Scalar, Option<&Nat>), TypeError> {
        let mut common: Option<(Scalar, Option<&Nat>)> = None;
        for index in first..self.call.args.len().max(first + 1) {
            let ty = self.value(index)?;
            let (scalar, width) = match ty {
                Type::Scalar(s) => (*s, None),
                Type::Vector(s, m) => (*s, Some(m)),
                Type::Tuple(_) | Type::Array(..) => {
                    let text = format!("`{}` takes scalars or vectors, found `{ty}`", self.name());
                    let error = TypeError::new(Part::Argument(index), text);
                    return Err(match ty {
                        Type::Array(..) => error.help("`map` applies a function to every element"),
                        _ => error,
                    });
                }
            };
            common = Some(match common {
                None => (scalar, width),
                Some((s, m)) => {
                    let widths_agree = match (m, width) {
                        (Some(m), Some(n)) => self.cx.same_size(m, n),
                        (None, _) | (_, None) => true,
                    };
                    if s != scalar || !widths_agree {
                        let text = format!(
                            "`{}` takes equal types, found `{}` and `{ty}`",
                            self.name(),
                            self.value(first)?
                        );
                        let error = TypeError::new(Part::Whole, text);
                        return Err(if s != scalar {
                            // A fraction is not meant to be lost.
                            let to = if scalar.is_float() && !s.is_float() { scalar } else { s };
                            error.help(format!("convert one of them, as in `x as {to}`"))
                        } else {
                            error
                        });
                    }
                    (s, m.or(width))
                }
            });
        }
        common.ok_or_else(|| self.missing("an argument"))
    }

    /// As declared.
    pub(super) fn external(&self, function: &Extern) -> Result<Type, TypeError> {
        if function.params.len() != self.call.args.len() {
            let text = format!(
                "`{}` takes {} arguments, found {}",
                function.name,
                function.params.len(),
                self.call.args.len()
            );
            return Err(TypeError::new(Part::Whole, text));
        }
        for (index, (_, ty)) in function.params.iter().enumerate() {
            self.expect(Part::Argument(index), ty, self.value(index)?)?;
        }
        Ok(function.ret.clone())
    }
}

fn shaped(scalar: Scalar, width: Option<&Nat>) -> Type {
    match width {
        None => Type::Scalar(scalar),
        Some(m) => Type::Vector(scalar, m.clone()),
    }
}

/// What to write where an operator does not take such operands.
fn remedy(op: BinaryOp, a: Scalar, b: Scalar) -> Option<String> {
    let symbol = op.symbol();
    if op.is_comparison() && a == Scalar::Bool {
        return Some(format!("two comparisons are joined by `&&`: `a {symbol} b && b {symbol} c`"));
    }
    let bools = a == Scalar::Bool && b == Scalar::Bool;
    let floats = a.is_float() || b.is_float();
    Some(match op {
        BinaryOp::BitAnd if bools => "both hold: `a && b`".to_string(),
        BinaryOp::BitOr if bools => "one of them holds: `a || b`".to_string(),
        BinaryOp::BitXor if bools => "just one of them holds: `a != b`".to_string(),
        BinaryOp::BitXor if floats => "a power is `pow(x, y)`".to_string(),
        _ if op.is_bitwise() && floats => "the bits of a float are `to_bits(x)`".to_string(),
        _ => return None,
    })
}
