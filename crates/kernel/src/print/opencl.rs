//! OpenCL C 1.2.

mod vectors;

use lift_ir::{AtomicOp, Literal, Math, Scalar, Space};

use super::atomics;
use super::code::Code;
use super::dialect::Dialect;
use super::gpu::{self, Threads};
use super::literal::{self, Spelling};
use super::text::{Level, Text};
use crate::uses::is_restricted;
use crate::validate::Valid;
use crate::{Access, Arg, Barrier, Expr, Fence, Loop, LoopKind, Usage, ValueType};

/// The kernel as one program: `kernel void name(global const float* restrict x, …, int N)`.
pub fn opencl(valid: &Valid<'_>) -> String {
    let kernel = valid.kernel();
    let mut code: Code<'_, OpenCl> = Code::new(kernel);
    let params: Vec<String> = kernel.args.iter().map(|arg| parameter(&mut code, arg)).collect();
    if let Some([x, y, z]) = gpu::group_size(kernel) {
        code.line(&format!("kernel __attribute__((reqd_work_group_size({x}, {y}, {z})))"));
        code.line(&format!("void {}({}) {{", kernel.name, params.join(", ")));
    } else {
        code.line(&format!("kernel void {}({}) {{", kernel.name, params.join(", ")));
    }
    code.indented(|code| {
        arrays(code);
        code.stmts(&kernel.body);
    });
    code.line("}");
    code.finish(head)
}

fn head(code: &Code<'_, OpenCl>) -> String {
    let mut lines = Vec::new();
    if code.scalars.contains(&Scalar::F16) {
        lines.push("#pragma OPENCL EXTENSION cl_khr_fp16 : enable");
    }
    if code.scalars.contains(&Scalar::F64) {
        lines.push("#pragma OPENCL EXTENSION cl_khr_fp64 : enable");
    }
    lines.extend(atomics::extensions(code.kernel));
    lines.join("\n")
}

fn parameter(code: &mut Code<'_, OpenCl>, arg: &Arg) -> String {
    match arg {
        Arg::Buffer(buffer, usage) => {
            let constant = if *usage == Usage::Read { "const " } else { "" };
            let alone = if is_restricted(code.kernel, *usage) { "restrict " } else { "" };
            format!(
                "global {constant}{}* {alone}{}",
                code.memory(buffer.scalar),
                code.array(buffer.id)
            )
        }
        Arg::Scalar(var) => match var.ty.width {
            1 => format!("{} {}", code.memory(var.ty.scalar), code.name(&var.id)),
            _ => format!("{} {}", code.ty(var.ty), code.name(&var.id)),
        },
        Arg::Size(var) => format!("{} {}", code.index_type(), code.name(var)),
    }
}

fn arrays(code: &mut Code<'_, OpenCl>) {
    let kernel = code.kernel;
    for buffer in &kernel.locals {
        let ty = code.memory(buffer.scalar);
        let align = match buffer.align as usize > buffer.scalar.bytes() {
            true => format!(" __attribute__((aligned({})))", buffer.align),
            false => String::new(),
        };
        let length = code.nat(&buffer.total()).text;
        code.line(&format!("local {ty} {}[{length}]{align};", code.array(buffer.id)));
    }
    for buffer in &kernel.privates {
        let ty = code.memory(buffer.scalar);
        let length = code.nat(&buffer.total()).text;
        code.line(&format!("{ty} {}[{length}];", code.array(buffer.id)));
    }
}

struct OpenCl;

const SPELLING: Spelling = Spelling {
    i64: "L",
    u32: "u",
    u64: "ul",
    f16: "{}h",
    infinity: ["(half)INFINITY", "INFINITY", "(double)INFINITY"],
    nan: ["(half)NAN", "NAN", "(double)NAN"],
};

impl Dialect for OpenCl {
    const FUNCTION: &'static str = "";
    const CONSTANT: &'static str = "constant ";
    const WRAPS: bool = false;
    const EMPTY: &'static str = "";

    fn scalar(scalar: Scalar) -> &'static str {
        match scalar {
            Scalar::Bool => "bool",
            Scalar::I8 => "char",
            Scalar::I16 => "short",
            Scalar::I32 => "int",
            Scalar::I64 => "long",
            Scalar::U8 => "uchar",
            Scalar::U16 => "ushort",
            Scalar::U32 => "uint",
            Scalar::U64 => "ulong",
            Scalar::F16 => "half",
            Scalar::F32 => "float",
            Scalar::F64 => "double",
        }
    }

    fn vector(code: &mut Code<'_, OpenCl>, scalar: Scalar, width: u32) -> String {
        format!("{}{width}", code.memory(scalar))
    }

    fn index(wide: bool) -> (&'static str, Scalar) {
        if wide { ("long", Scalar::I64) } else { ("int", Scalar::I32) }
    }

    fn literal(code: &mut Code<'_, OpenCl>, value: Literal) -> Text {
        let ty = code.scalar(value.scalar());
        literal::literal(value, &SPELLING, ty)
    }

    fn load(code: &mut Code<'_, OpenCl>, access: &Access) -> Text {
        if access.width == 1 {
            return Text::primary(code.element(access));
        }
        let pointer = code.pointer(access);
        match vector_pointer(code, access) {
            Some(ty) => Text::new(Level::Unary, format!("*({ty}){}", pointer.at(Level::Primary))),
            None => Text::primary(format!("vload{}(0, {})", access.width, pointer.text)),
        }
    }

    fn store(code: &mut Code<'_, OpenCl>, access: &Access, value: &Expr) -> String {
        let value = code.expr(value).text;
        if access.width == 1 {
            return format!("{} = {value}", code.element(access));
        }
        let pointer = code.pointer(access);
        match vector_pointer(code, access) {
            Some(ty) => format!("*({ty}){} = {value}", pointer.at(Level::Primary)),
            None => format!("vstore{}({value}, 0, {})", access.width, pointer.text),
        }
    }

    fn atomic(code: &mut Code<'_, OpenCl>, op: AtomicOp, access: &Access, value: &Expr) -> String {
        let buffer = code.buffer(access.buffer).0;
        let (scalar, space) = (buffer.scalar, buffer.space);
        let (value, element) = (code.expr(value).text, code.element(access));
        if scalar.is_float() {
            return format!("{}(&{element}, {value})", exchanged(code, op, scalar, space));
        }
        let functions = if scalar.bytes() == 4 { "atomic" } else { "atom" };
        format!("{functions}_{}(&{element}, {value})", op.name())
    }

    fn math(code: &mut Code<'_, OpenCl>, math: Math, scalar: Scalar, args: &[Expr]) -> Text {
        let ty = ValueType::scalar(scalar);
        vectors::function(code, math, ty, args)
    }

    fn remainder(code: &mut Code<'_, OpenCl>, _: Scalar, a: &Expr, b: &Expr) -> Text {
        let args = [code.expr(a), code.expr(b)];
        Text::call("fmod", &args)
    }

    fn dot(ty: ValueType) -> Option<&'static str> {
        (ty.scalar.is_float() && ty.width <= 4).then_some("dot")
    }

    fn convert(code: &mut Code<'_, OpenCl>, from: Scalar, to: Scalar, value: &Expr) -> Text {
        let text = code.expr(value);
        let name = code.scalar(to);
        if from.is_float() && to.is_integer() {
            return Text::call(&format!("convert_{name}_sat_rtz"), &[text]);
        }
        Text::cast(name, &text)
    }

    fn lanewise(code: &mut Code<'_, OpenCl>, expr: &Expr) -> Text {
        vectors::operation(code, expr)
    }

    fn pack(code: &mut Code<'_, OpenCl>, scalar: Scalar, items: &[Expr]) -> Text {
        let ty = code.ty(ValueType::vector(scalar, items.len() as u32));
        let items: Vec<String> = code.all(items).into_iter().map(|t| t.text).collect();
        Text::new(Level::Unary, format!("({ty})({})", items.join(", ")))
    }

    fn splat(code: &mut Code<'_, OpenCl>, ty: ValueType, value: &Expr) -> Text {
        let (ty, value) = (code.ty(ty), code.expr(value).text);
        Text::new(Level::Unary, format!("({ty})({value})"))
    }

    fn lane(vector: &Text, lane: u32) -> Text {
        Text::primary(format!("{}.s{lane:x}", vector.at(Level::Primary)))
    }

    fn parallel(code: &mut Code<'_, OpenCl>, l: &Loop) {
        gpu::parallel(code, l);
    }

    fn thread_id(kind: LoopKind, _: bool) -> String {
        match kind {
            LoopKind::Global(d) => format!("get_global_id({d})"),
            LoopKind::Group(d) => format!("get_group_id({d})"),
            LoopKind::Local(d) => format!("get_local_id({d})"),
            LoopKind::Seq | LoopKind::Unroll => "0".to_owned(),
        }
    }

    fn unroll(extent: i128) -> Option<String> {
        (extent > 1).then(|| "#pragma unroll".to_owned())
    }

    /// Version 1.2 has no barrier of a warp: the group waits.
    fn barrier(barrier: Barrier) -> Option<&'static str> {
        Some(match barrier.fence {
            Fence::Local => "barrier(CLK_LOCAL_MEM_FENCE);",
            Fence::Global => "barrier(CLK_GLOBAL_MEM_FENCE);",
            Fence::Both => "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
        })
    }

    fn shuffle(_: u32, _: &Text) -> Text {
        panic!("OpenCL C 1.2 has no shuffles: kernels for it are made without")
    }
}

impl Threads for OpenCl {
    fn count(kind: LoopKind, wide: bool, unrolled: bool) -> String {
        let count = match kind {
            LoopKind::Global(d) => format!("get_global_size({d})"),
            LoopKind::Group(d) => format!("get_num_groups({d})"),
            LoopKind::Local(d) => format!("get_local_size({d})"),
            LoopKind::Seq | LoopKind::Unroll => return "1".to_owned(),
        };
        let (ty, _) = OpenCl::index(wide);
        if unrolled { format!("({ty}){count}") } else { count }
    }
}

/// `global const float4*`, where the access is aligned as such a vector is.
fn vector_pointer(code: &mut Code<'_, OpenCl>, access: &Access) -> Option<String> {
    let (buffer, _) = code.buffer(access.buffer);
    let bytes = buffer.scalar.bytes() as u32 * access.width;
    if !access.aligned || access.width == 3 || buffer.align < bytes {
        return None;
    }
    let space = match buffer.space {
        Space::Global => "global",
        Space::Local => "local",
        // The address of an array in registers cannot be taken; `vload` is seen through.
        Space::Private => return None,
    };
    let constant = if code.is_constant(access) { " const" } else { "" };
    let ty = code.ty(ValueType::vector(buffer.scalar, access.width));
    Some(format!("{space}{constant} {ty}*"))
}

/// A function that changes a float, which no instruction does: it computes until nobody has come between. It reads by
/// an exchange that changes nothing: a load beside what others change would be a race.
fn exchanged(code: &mut Code<'_, OpenCl>, op: AtomicOp, scalar: Scalar, space: Space) -> String {
    let space = if space == Space::Local { "local" } else { "global" };
    let function = format!("lift_atomic_{}_{scalar}_{space}", op.name());
    let (bits, exchange, zero) = match scalar.bytes() {
        4 => ("uint", "atomic_cmpxchg", "0u"),
        _ => ("ulong", "atom_cmpxchg", "0ul"),
    };
    let ty = code.scalar(scalar);
    let result = atomics::result(code, op, scalar);
    code.helper(format!(
        "void {function}(volatile {space} {ty}* element, {ty} value) {{
  volatile {space} {bits}* place = (volatile {space} {bits}*)element;
  {bits} seen = {exchange}(place, {zero}, {zero});
  {bits} known;
  do {{
    known = seen;
    const {ty} before = as_{ty}(known);
    seen = {exchange}(place, known, as_{bits}({result}));
  }} while (seen != known);
}}"
    ));
    function
}
