//! The types of expressions.
//!
//! | expression | rule |
//! |---|---|
//! | `Literal` | an integer is in its type's range |
//! | `Index` | of an integer type |
//! | `Load` | the buffer's scalar, as wide as the access |
//! | `Unary`, `Binary` | operands of one scalar type, of one width or scalars; `! && ||` of `bool`, arithmetic of numbers, `~ & | ^ << >>` of integers |
//! | `Math` | the right number of arguments, else as `Binary`; of the types that [`Math::operands`] says |
//! | `Cast` | as many lanes as before |
//! | `Select` | by one `bool`, between equal types |
//! | `Vector`, `Splat`, `Lane` | 2, 3, 4, 8 or 16 lanes of one scalar type; a lane there is |
//! | `Extern` | arguments of the parameters' types |
//! | `Shuffle` | of a number of 32 or 64 bits; by one of the bits of a work-item's number in its warp |

use lift_ir::{BinaryOp, Extern, Literal, Math, Scalar, UnaryOp};

use super::{Check, is_width, show};
use crate::{Access, Expr, Usage, ValueType};

impl<'k> Check<'k> {
    pub(super) fn expr(&mut self, expr: &'k Expr) -> ValueType {
        match expr {
            Expr::Literal(literal) => self.literal(*literal),
            Expr::Var(var) => match self.registers.get(&var.id) {
                None => self.error(format!("`{}` is used where it is not declared", var.id)),
                Some((ty, _)) if *ty != var.ty => {
                    self.error(format!("`{}` is {}, not {}", var.id, show(*ty), show(var.ty)));
                }
                Some(_) => {}
            },
            Expr::Index(nat, scalar) => {
                self.nat(nat);
                if !scalar.is_integer() {
                    self.error(format!("an index is no {scalar}"));
                }
            }
            Expr::Test(pred) => self.pred(pred),
            Expr::Load(access, ty) => self.load(access, *ty),
            Expr::Unary(op, value) => self.unary(*op, value),
            Expr::Binary(op, a, b) => self.binary(*op, a, b),
            Expr::Math(math, args) => self.math(*math, args),
            Expr::Cast(to, value) => {
                let from = self.expr(value);
                if from.width != to.width {
                    self.error(format!("{} is cast to {}", show(from), show(*to)));
                }
            }
            Expr::Select(condition, then, otherwise) => {
                let c = self.expr(condition);
                let (a, b) = (self.expr(then), self.expr(otherwise));
                if c != ValueType::scalar(Scalar::Bool) {
                    self.error(format!("a choice is made by {}", show(c)));
                }
                if a != b {
                    self.error(format!("a choice is between {} and {}", show(a), show(b)));
                }
            }
            Expr::Vector(scalar, items) => {
                for item in items {
                    let ty = self.expr(item);
                    if ty != ValueType::scalar(*scalar) {
                        self.error(format!("a lane of {scalar} is {}", show(ty)));
                    }
                }
                self.lanes(items.len() as u32);
            }
            Expr::Splat(width, value) => {
                let ty = self.expr(value);
                if ty.width != 1 {
                    self.error(format!("{} is put into every lane", show(ty)));
                }
                self.lanes(*width);
            }
            Expr::Lane(vector, lane) => {
                let ty = self.expr(vector);
                if ty.width == 1 || *lane >= ty.width {
                    self.error(format!("{} has no lane {lane}", show(ty)));
                }
            }
            Expr::Extern(function, args) => self.external(function, args),
            Expr::Shuffle(_, value) => {
                self.expr(value);
                self.error("a shuffle is not the value of a declaration".to_owned());
            }
        }
        expr.ty()
    }

    fn lanes(&mut self, width: u32) {
        if width == 1 || !is_width(width) {
            self.error(format!("there are no vectors of {width}"));
        }
    }

    fn literal(&mut self, literal: Literal) {
        if let Literal::Int(scalar, value) = literal
            && Literal::int(scalar, value).is_none()
        {
            self.error(format!("{value} is no {scalar}"));
        }
    }

    fn load(&mut self, access: &'k Access, ty: ValueType) {
        let Some((buffer, usage)) = self.access(access) else { return };
        if usage == Usage::Write {
            self.error(format!("`{}` is only written, and loaded from", buffer.name));
        }
        let found = ValueType::vector(buffer.scalar, access.width);
        if found != ty {
            let (found, ty) = (show(found), show(ty));
            self.error(format!("`{}` holds {found}, and {ty} is loaded from it", buffer.name));
        }
    }

    fn unary(&mut self, op: UnaryOp, value: &'k Expr) {
        let ty = self.expr(value);
        let fits = match op {
            UnaryOp::Neg => ty.scalar.is_number(),
            UnaryOp::Not => ty.scalar == Scalar::Bool,
            UnaryOp::BitNot => ty.scalar.is_integer(),
        };
        if !fits {
            self.error(format!("`{}` of {}", op.symbol(), show(ty)));
        }
    }

    fn binary(&mut self, op: BinaryOp, a: &'k Expr, b: &'k Expr) {
        let (a, b) = (self.expr(a), self.expr(b));
        let fits = match op {
            BinaryOp::Or | BinaryOp::And => a.scalar == Scalar::Bool,
            BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => true,
            BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::BitAnd
            | BinaryOp::Shl
            | BinaryOp::Shr => a.scalar.is_integer(),
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => {
                a.scalar.is_number()
            }
        };
        if !fits || !agree(&[a, b]) {
            self.error(format!("`{}` of {} and {}", op.symbol(), show(a), show(b)));
        }
    }

    fn math(&mut self, math: Math, args: &'k [Expr]) {
        let types: Vec<ValueType> = args.iter().map(|a| self.expr(a)).collect();
        let fits = types.len() == math.arity()
            && match (math, types.as_slice()) {
                (Math::Select, [c, a, b]) => {
                    let widths = ValueType::vector(a.scalar, c.width);
                    c.scalar == Scalar::Bool && agree(&[*a, *b, widths])
                }
                (Math::Dot, [a, b]) => a == b && a.width > 1 && a.scalar.is_number(),
                _ => agree(&types) && types.iter().all(|ty| math.operands().take(ty.scalar)),
            };
        if !fits {
            let types: Vec<String> = types.into_iter().map(show).collect();
            self.error(format!("{math:?} of {}", types.join(", ")));
        }
    }

    fn external(&mut self, function: &'k Extern, args: &'k [Expr]) {
        let found: Vec<ValueType> = args.iter().map(|a| self.expr(a)).collect();
        let wanted: Option<Vec<ValueType>> =
            function.params.iter().map(|(_, ty)| ValueType::of(ty)).collect();
        if wanted.as_ref() != Some(&found) || ValueType::of(&function.ret).is_none() {
            let found: Vec<String> = found.into_iter().map(show).collect();
            self.error(format!("`{}` is called with {}", function.name, found.join(", ")));
        }
        match self.externs.get(&function.name) {
            None => drop(self.externs.insert(function.name.clone(), function)),
            Some(known) if *known == function => {}
            Some(_) => self.error(format!("two functions are called `{}`", function.name)),
        }
    }
}

/// One scalar type, and one width or 1.
fn agree(types: &[ValueType]) -> bool {
    let width = types.iter().map(|ty| ty.width).max().unwrap_or(1);
    let first = types.first().map(|ty| ty.scalar);
    types.iter().all(|ty| Some(ty.scalar) == first && (ty.width == 1 || ty.width == width))
}
