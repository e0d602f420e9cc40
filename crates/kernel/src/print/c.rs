//! C11 with GCC's vectors and OpenMP, to be compiled with `-fwrapv`.
//!
//! Groups run in parallel; one thread runs all work-items of a group, so that loops over them are
//! loops and barriers are nothing. Memory that lives across such loops has a slot for each
//! work-item.

use lift_ir::{AtomicOp, BinaryOp, Literal, Math, Scalar, UnaryOp};

use super::bits::{self, Counting};
use super::code::Code;
use super::defined;
use super::dialect::Dialect;
use super::expr::shift_amount;
use super::lanes;
use super::literal::{self, Spelling};
use super::parallel;
use super::pieces::Pieces;
use super::scalar;
use super::text::{Level, Text};
use super::vector_math;
use crate::atomic::applied;
use crate::validate::Valid;
use crate::{Access, Arg, Barrier, Expr, Loop, LoopKind, Mark, Stmt, Usage, ValueType};

/// The kernel as one C function: `void name(const float* restrict x, …, float alpha, int64_t N)`.
pub fn c(valid: &Valid<'_>) -> String {
    c_pieces(valid).joined()
}

/// The same in pieces.
pub fn c_pieces(valid: &Valid<'_>) -> Pieces {
    let kernel = valid.kernel();
    let mut code: Code<'_, C> = Code::new(kernel);
    let params: Vec<String> = kernel.args.iter().map(|arg| parameter(&mut code, arg)).collect();
    let params = if params.is_empty() { "void".to_owned() } else { params.join(", ") };
    code.block(&format!("void {}({params}) ", kernel.name), |code| {
        if has_shared(&kernel.body) {
            code.stmts(&kernel.body);
        } else {
            parallel::sequential(code, &kernel.body);
        }
    });
    code.pieces(head)
}

fn head(code: &Code<'_, C>) -> String {
    let mut lines = vec!["#include <stdint.h>".to_owned()];
    if code.scalars.contains(&Scalar::Bool) {
        lines.push("#include <stdbool.h>".to_owned());
    }
    lines.extend(code.headers.iter().map(|h| format!("#include <{h}>")));
    if code.wide_vectors {
        lines.push("\n#pragma GCC diagnostic ignored \"-Wpsabi\"".to_owned());
    }
    lines.join("\n")
}

fn parameter(code: &mut Code<'_, C>, arg: &Arg) -> String {
    match arg {
        Arg::Buffer(buffer, usage) => {
            let ty = code.memory(buffer.scalar);
            let constant = if *usage == Usage::Read { "const " } else { "" };
            format!("{constant}{ty}* restrict {}", code.array(buffer.id))
        }
        Arg::Scalar(var) => match var.ty.width {
            1 => format!("{} {}", code.memory(var.ty.scalar), code.name(&var.id)),
            _ => format!("{} {}", code.ty(var.ty), code.name(&var.id)),
        },
        Arg::Size(var) => format!("{} {}", code.index_type(), code.name(var)),
    }
}

pub(super) struct C;

const SPELLING: Spelling = Spelling {
    i64: "L",
    u32: "u",
    u64: "ul",
    f16: "{}f16",
    infinity: ["(_Float16)INFINITY", "INFINITY", "(double)INFINITY"],
    nan: ["(_Float16)NAN", "NAN", "(double)NAN"],
};

const COUNTING: Counting = Counting {
    popcount: ["__builtin_popcount", "__builtin_popcountll"],
    clz: ["__builtin_clz", "__builtin_clzll"],
    ctz: ["__builtin_ctz", "__builtin_ctzll"],
    lowest: 0,
};

const OPAQUE: &str = "static inline int64_t lift_opaque(int64_t x) {
  __asm__(\"\" : \"+r\"(x));
  return x;
}";

impl Dialect for C {
    const FUNCTION: &'static str = "static inline ";
    const CONSTANT: &'static str = "static const ";
    const WRAPS: bool = true;
    const EMPTY: &'static str = " = {0}";
    const LANES: Option<&'static str> = Some("#pragma omp simd");

    fn scalar(scalar: Scalar) -> &'static str {
        match scalar {
            Scalar::Bool => "bool",
            Scalar::I8 => "int8_t",
            Scalar::I16 => "int16_t",
            Scalar::I32 => "int32_t",
            Scalar::I64 => "int64_t",
            Scalar::U8 => "uint8_t",
            Scalar::U16 => "uint16_t",
            Scalar::U32 => "uint32_t",
            Scalar::U64 => "uint64_t",
            Scalar::F16 => "_Float16",
            Scalar::F32 => "float",
            Scalar::F64 => "double",
        }
    }

    fn vector(code: &mut Code<'_, C>, scalar: Scalar, width: u32) -> String {
        let (element, bytes) = (code.memory(scalar), vector_bytes(scalar, width));
        code.wide_vectors |= bytes > 16;
        let name = format!("{scalar}x{width}");
        code.helper(format!("typedef {element} {name} __attribute__((vector_size({bytes})));"));
        name
    }

    fn index(_: bool) -> (&'static str, Scalar) {
        ("int64_t", Scalar::I64)
    }

    fn literal(code: &mut Code<'_, C>, value: Literal) -> Text {
        if value.as_f64().is_some_and(|v| !v.is_finite()) {
            code.headers.insert("math.h");
        }
        let ty = code.scalar(value.scalar());
        literal::literal(value, &SPELLING, ty)
    }

    fn load(code: &mut Code<'_, C>, access: &Access) -> Text {
        if access.width == 1 {
            return Text::primary(code.element(access));
        }
        let pointer = code.pointer(access);
        let ty = ValueType::vector(code.buffer(access.buffer).0.scalar, access.width);
        if access.width == 3 {
            return lanes::load(code, ty, &pointer.text);
        }
        let (memory, vector) = (in_memory(code, ty), code.ty(ty));
        let pointer = pointer.at(Level::Primary);
        Text::new(Level::Unary, format!("({vector})*(const {memory}*){pointer}"))
    }

    fn store(code: &mut Code<'_, C>, access: &Access, value: &Expr) -> String {
        let value = code.expr(value);
        if access.width == 1 {
            return format!("{} = {}", code.element(access), value.text);
        }
        let pointer = code.pointer(access);
        let ty = ValueType::vector(code.buffer(access.buffer).0.scalar, access.width);
        if access.width == 3 {
            return lanes::store(code, ty, &pointer.text, &value);
        }
        let memory = in_memory(code, ty);
        format!("*({memory}*){} = {}", pointer.at(Level::Primary), value.text)
    }

    /// One thread does all that meets at an element.
    fn atomic(code: &mut Code<'_, C>, op: AtomicOp, access: &Access, value: &Expr) -> String {
        let ty = ValueType::scalar(code.buffer(access.buffer).0.scalar);
        let before = Expr::Load(access.clone(), ty);
        C::store(code, access, &applied(op, before, value.clone()))
    }

    fn math(code: &mut Code<'_, C>, math: Math, scalar: Scalar, args: &[Expr]) -> Text {
        match math {
            Math::Popcount | Math::Clz | Math::Ctz => {
                bits::count(code, &COUNTING, math, scalar, args)
            }
            Math::ToBits | Math::FromBits => bits::copied(code, math, scalar, args),
            // The product is exact in double, so that there is one rounding that counts.
            Math::Fma if scalar == Scalar::F16 => scalar::through(code, Scalar::F64, math, args),
            _ => {
                if matches!(scalar, Scalar::F32 | Scalar::F64) {
                    vector_math::declare(code, math, scalar, &scalar::library(math, scalar));
                    if math == Math::Exp {
                        return vector_math::exp(code, scalar, args);
                    }
                }
                scalar::math(code, math, scalar, args)
            }
        }
    }

    fn remainder(code: &mut Code<'_, C>, scalar: Scalar, a: &Expr, b: &Expr) -> Text {
        scalar::remainder(code, scalar, a, b)
    }

    fn dot(_: ValueType) -> Option<&'static str> {
        None
    }

    /// GCC 12 and 13 gather from element -1 where a comparison in a vector is the index 1.
    fn opaque(code: &mut Code<'_, C>, index: Text) -> Text {
        code.helper(OPAQUE.to_owned());
        Text::call("lift_opaque", &[index])
    }

    fn convert(code: &mut Code<'_, C>, from: Scalar, to: Scalar, value: &Expr) -> Text {
        // GCC 13 makes other numbers of comparisons in vectors where they are cast.
        if from == Scalar::Bool && to.is_float() {
            let number = |x| {
                Box::new(Expr::Literal(Literal::float(to, x).unwrap_or(Literal::f32(x as f32))))
            };
            return code.expr(&Expr::Select(Box::new(value.clone()), number(1.0), number(0.0)));
        }
        scalar::convert(code, from, to, value)
    }

    fn lanewise(code: &mut Code<'_, C>, expr: &Expr) -> Text {
        whole(code, expr).unwrap_or_else(|| lanes::by_lanes(code, expr))
    }

    fn pack(code: &mut Code<'_, C>, scalar: Scalar, items: &[Expr]) -> Text {
        let ty = code.ty(ValueType::vector(scalar, items.len() as u32));
        let items: Vec<String> = code.all(items).into_iter().map(|t| t.text).collect();
        Text::primary(format!("({ty}){{{}}}", items.join(", ")))
    }

    fn splat(code: &mut Code<'_, C>, ty: ValueType, value: &Expr) -> Text {
        lanes::splat(code, ty, value)
    }

    fn lane(vector: &Text, lane: u32) -> Text {
        lanes::subscript(vector, lane)
    }

    fn parallel(code: &mut Code<'_, C>, l: &Loop) {
        match l.mark {
            Mark::None | Mark::Lanes => code.counted(l, "0", "++"),
            Mark::Shared { inside, sharing } => parallel::shared(code, l, inside, sharing),
            Mark::Independent => {
                code.line("#pragma GCC ivdep");
                code.counted(l, "0", "++");
            }
        }
    }

    fn thread_id(_: LoopKind, _: bool) -> String {
        "0".to_owned()
    }

    fn unroll(extent: i128) -> Option<String> {
        (2..=65534).contains(&extent).then(|| format!("#pragma GCC unroll {extent}"))
    }

    fn barrier(_: Barrier) -> Option<&'static str> {
        None
    }

    fn shuffle(_: u32, _: &Text) -> Text {
        panic!("one thread runs a whole group: it has no warps whose work-items meet")
    }
}

/// Three lanes take the room of four.
fn vector_bytes(scalar: Scalar, width: u32) -> u32 {
    scalar.bytes() as u32 * width.next_power_of_two()
}

/// The vector type as it lies in memory, where it is aligned as a scalar is.
fn in_memory(code: &mut Code<'_, C>, ty: ValueType) -> String {
    let vector = code.ty(ty);
    let (element, bytes) = (code.memory(ty.scalar), vector_bytes(ty.scalar, ty.width));
    let align = ty.scalar.bytes();
    code.helper(format!(
        "typedef {element} {vector}_memory __attribute__((vector_size({bytes}), aligned({align}), may_alias));"
    ));
    format!("{vector}_memory")
}

/// An operation that GCC has on whole vectors.
fn whole(code: &mut Code<'_, C>, expr: &Expr) -> Option<Text> {
    let ty = expr.ty();
    match expr {
        Expr::Unary(UnaryOp::Neg, a) if ty.scalar != Scalar::F16 => {
            Some(Text::prefix("-", &code.expr(a)))
        }
        Expr::Unary(UnaryOp::BitNot, a) => Some(Text::prefix("~", &code.expr(a))),
        Expr::Unary(UnaryOp::Not, a) => {
            let ones = vec![Expr::Literal(Literal::Int(Scalar::U8, 1)); ty.width as usize];
            let (a, ones) = (code.expr(a), C::pack(code, Scalar::Bool, &ones));
            Some(Text::infix(Level::Bits, &a, "^", &ones))
        }
        Expr::Binary(op, a, b) => {
            let scalar = a.ty().scalar;
            let amount = op.is_shift().then(|| shift_amount(b));
            let b = amount.as_ref().unwrap_or(b);
            let (level, symbol) = match op {
                BinaryOp::And => (Level::Bits, "&"),
                BinaryOp::Or => (Level::Bits, "|"),
                // A lane that does not count would be divided by zero, and signed quotients may
                // have no room.
                BinaryOp::Div if !scalar.is_float() => return None,
                BinaryOp::Rem => return None,
                BinaryOp::Eq
                | BinaryOp::Ne
                | BinaryOp::Lt
                | BinaryOp::Le
                | BinaryOp::Gt
                | BinaryOp::Ge
                | BinaryOp::BitOr
                | BinaryOp::BitXor
                | BinaryOp::BitAnd
                | BinaryOp::Shl
                | BinaryOp::Shr
                | BinaryOp::Add
                | BinaryOp::Sub
                | BinaryOp::Mul
                | BinaryOp::Div => (super::expr::level(*op), op.symbol()),
            };
            if scalar == Scalar::F16 {
                return op.is_comparison().then(|| compared_as_f32(code, *op, a, b, ty.width));
            }
            let (a, b) = (operand(code, a, ty.width), operand(code, b, ty.width));
            let text = Text::infix(level, &a, symbol, &b);
            if !op.is_comparison() {
                return Some(text);
            }
            // A comparison gives -1 for true, in lanes as large as those compared.
            let result = code.ty(ty);
            Some(Text::primary(format!("__builtin_convertvector(-({}), {result})", text.text)))
        }
        Expr::Cast(to, a) => {
            let from = a.ty().scalar;
            let saturates = from.is_float() && to.scalar.is_integer();
            let half = from == Scalar::F16 || to.scalar == Scalar::F16;
            if to.scalar == Scalar::Bool {
                let zero = Literal::float(from, 0.0).unwrap_or(Literal::Int(from, 0));
                let zero = Box::new(Expr::Literal(zero));
                return Some(code.expr(&Expr::Binary(BinaryOp::Ne, a.clone(), zero)));
            }
            if saturates || half {
                return None;
            }
            let (value, to) = (code.expr(a).text, code.ty(*to));
            Some(Text::primary(format!("__builtin_convertvector({value}, {to})")))
        }
        Expr::Math(math @ (Math::IsNan | Math::IsInf), args) => {
            let ty = ValueType::vector(args[0].ty().scalar, ty.width);
            defined::call(code, *math, ty, args)
        }
        Expr::Math(Math::ToBits | Math::FromBits, args) => {
            let (ty, value) = (code.ty(ty), code.expr(&args[0]));
            Some(Text::cast(&ty, &value))
        }
        Expr::Unary(..)
        | Expr::Literal(_)
        | Expr::Var(_)
        | Expr::Index(..)
        | Expr::Test(_)
        | Expr::Load(..)
        | Expr::Math(..)
        | Expr::Select(..)
        | Expr::Vector(..)
        | Expr::Splat(..)
        | Expr::Lane(..)
        | Expr::Extern(..)
        | Expr::Shuffle(..) => None,
    }
}

/// GCC compares vectors of `_Float16` one by one, and every f16 is an f32. That `bool`s are never made
/// lane by lane is on purpose: GCC 12 makes 255 of some that should be 1.
fn compared_as_f32(code: &mut Code<'_, C>, op: BinaryOp, a: &Expr, b: &Expr, width: u32) -> Text {
    let wide = |e: &Expr| {
        let ty = ValueType::vector(Scalar::F32, e.ty().width.min(width));
        Box::new(Expr::Cast(ty, Box::new(e.clone())))
    };
    code.expr(&Expr::Binary(op, wide(a), wide(b)))
}

/// GCC puts a scalar beside a vector into all lanes itself, where it has the lanes' type.
fn operand(code: &mut Code<'_, C>, expr: &Expr, width: u32) -> Text {
    match expr.ty().scalar {
        Scalar::Bool | Scalar::I8 | Scalar::I16 | Scalar::U8 | Scalar::U16 | Scalar::F16 => {
            code.widened(expr, width)
        }
        Scalar::I32 | Scalar::I64 | Scalar::U32 | Scalar::U64 | Scalar::F32 | Scalar::F64 => {
            code.expr(expr)
        }
    }
}

fn has_shared(stmts: &[Stmt]) -> bool {
    let mut found = false;
    let is_shared = |s: &Stmt| matches!(s, Stmt::Loop(l) if matches!(l.mark, Mark::Shared { .. }));
    stmts.iter().for_each(|stmt| stmt.each(&mut |s| found |= is_shared(s)));
    found
}
