//! CUDA C, for NVRTC: no header but `cuda_fp16.h`.
//!
//! A vector is a struct of lanes with operators on it, aligned so that it is moved whole.

use lift_ir::{AtomicOp, Literal, Math, Nat, Scalar, Space};

use super::atomics;
use super::bits::{self, Counting};
use super::code::Code;
use super::dialect::Dialect;
use super::gpu::{self, Threads};
use super::lanes;
use super::literal::{self, Spelling};
use super::scalar;
use super::text::{Level, Text};
use crate::uses::is_restricted;
use crate::validate::Valid;
use crate::{Access, Arg, Barrier, Expr, Kernel, Loop, LoopKind, Scope, Usage, ValueType};

/// What a kernel may declare; more is asked for at launch.
const MAX_STATIC_SHARED: i128 = 48 * 1024;

/// The largest vector that is moved at once, in bytes.
const MAX_ALIGN: u32 = 16;

/// The kernel as one program: `extern "C" __global__ void name(const float* __restrict__ x, …)`.
pub fn cuda(valid: &Valid<'_>) -> String {
    let kernel = valid.kernel();
    let mut code: Code<'_, Cuda> = Code::new(kernel);
    let params: Vec<String> = kernel.args.iter().map(|arg| parameter(&mut code, arg)).collect();
    let bounds = match gpu::group_size(kernel) {
        Some(sizes) => format!(" __launch_bounds__({})", sizes.iter().product::<i128>()),
        None => String::new(),
    };
    let (name, params) = (&kernel.name, params.join(", "));
    let head = format!("extern \"C\" __global__ void{bounds} {name}({params}) ");
    code.block(&head, |code| {
        arrays(code);
        code.stmts(&kernel.body);
    });
    code.finish(|code| match code.scalars.contains(&Scalar::F16) {
        true => "#include <cuda_fp16.h>".to_owned(),
        false => String::new(),
    })
}

/// The bytes of shared memory that a launch has to ask for, where the kernel does not declare its
/// own: more than 48 KiB, or as much as the sizes say.
pub fn dynamic_shared_bytes(valid: &Valid<'_>) -> Option<Nat> {
    dynamic_offsets(valid.kernel()).and_then(|offsets| offsets.last().cloned())
}

/// Where each local array begins, and the end of the last.
fn dynamic_offsets(kernel: &Kernel) -> Option<Vec<Nat>> {
    let mut offsets = vec![Nat::ZERO];
    let mut end = Nat::ZERO;
    for buffer in &kernel.locals {
        let align = Nat::int(buffer.align.max(MAX_ALIGN).into());
        let start = round_up(&end, &align);
        offsets.pop();
        offsets.push(start.clone());
        end = start + buffer.total() * Nat::int(buffer.scalar.bytes() as i128);
        offsets.push(end.clone());
    }
    match end.as_int() {
        Some(bytes) if bytes <= MAX_STATIC_SHARED => None,
        _ => Some(offsets),
    }
}

fn round_up(n: &Nat, to: &Nat) -> Nat {
    (n + to - Nat::ONE).div(to) * to.clone()
}

fn parameter(code: &mut Code<'_, Cuda>, arg: &Arg) -> String {
    match arg {
        Arg::Buffer(buffer, usage) => {
            let constant = if *usage == Usage::Read { "const " } else { "" };
            let alone = if is_restricted(code.kernel, *usage) { "__restrict__ " } else { "" };
            format!("{constant}{}* {alone}{}", code.memory(buffer.scalar), code.array(buffer.id))
        }
        Arg::Scalar(var) => match var.ty.width {
            1 => format!("{} {}", code.memory(var.ty.scalar), code.name(&var.id)),
            _ => format!("{} {}", code.ty(var.ty), code.name(&var.id)),
        },
        Arg::Size(var) => format!("{} {}", code.index_type(), code.name(var)),
    }
}

fn arrays(code: &mut Code<'_, Cuda>) {
    let kernel = code.kernel;
    let dynamic = dynamic_offsets(kernel);
    if dynamic.is_some() {
        let align = kernel.locals.iter().map(|b| b.align).fold(MAX_ALIGN, u32::max);
        let text = format!("extern __shared__ __align__({align}) unsigned char lift_shared[];");
        code.line(&text);
    }
    for (i, buffer) in kernel.locals.iter().enumerate() {
        let (ty, name) = (code.memory(buffer.scalar), code.array(buffer.id).to_owned());
        if let Some(offsets) = &dynamic {
            let at = match &offsets[i] {
                at if *at == Nat::ZERO => String::new(),
                at => format!(" + {}", code.nat(at).at(Level::Sum)),
            };
            code.line(&format!("{ty}* {name} = reinterpret_cast<{ty}*>(lift_shared{at});"));
            continue;
        }
        let align = match buffer.align as usize > buffer.scalar.bytes() {
            true => format!("__align__({}) ", buffer.align),
            false => String::new(),
        };
        let length = code.nat(&buffer.total()).text;
        code.line(&format!("__shared__ {align}{ty} {name}[{length}];"));
    }
    for buffer in &kernel.privates {
        let ty = code.memory(buffer.scalar);
        let length = code.nat(&buffer.total()).text;
        code.line(&format!("{ty} {}[{length}];", code.array(buffer.id)));
    }
}

struct Cuda;

const SPELLING: Spelling = Spelling {
    i64: "LL",
    u32: "u",
    u64: "ULL",
    f16: "__float2half({}f)",
    infinity: [
        "__float2half(__int_as_float(0x7f800000))",
        "__int_as_float(0x7f800000)",
        "__longlong_as_double(0x7ff0000000000000LL)",
    ],
    nan: [
        "__float2half(__int_as_float(0x7fc00000))",
        "__int_as_float(0x7fc00000)",
        "__longlong_as_double(0x7ff8000000000000LL)",
    ],
};

const COUNTING: Counting = Counting {
    popcount: ["__popc", "__popcll"],
    clz: ["__clz", "__clzll"],
    ctz: ["__ffs", "__ffsll"],
    lowest: 1,
};

impl Dialect for Cuda {
    const FUNCTION: &'static str = "static __device__ __forceinline__ ";
    const CONSTANT: &'static str = "static __device__ const ";
    const WRAPS: bool = false;
    const EMPTY: &'static str = "";

    fn scalar(scalar: Scalar) -> &'static str {
        match scalar {
            Scalar::Bool => "bool",
            Scalar::I8 => "signed char",
            Scalar::I16 => "short",
            Scalar::I32 => "int",
            Scalar::I64 => "long long",
            Scalar::U8 => "unsigned char",
            Scalar::U16 => "unsigned short",
            Scalar::U32 => "unsigned int",
            Scalar::U64 => "unsigned long long",
            Scalar::F16 => "half",
            Scalar::F32 => "float",
            Scalar::F64 => "double",
        }
    }

    fn vector(code: &mut Code<'_, Cuda>, scalar: Scalar, width: u32) -> String {
        let element = code.memory(scalar);
        let name = format!("{scalar}x{width}");
        let align = vector_align(scalar, width);
        code.helper(format!(
            "struct __align__({align}) {name} {{
  {element} v[{width}];
  __device__ __forceinline__ {element}& operator[](int i) {{ return v[i]; }}
  __device__ __forceinline__ {element} operator[](int i) const {{ return v[i]; }}
}};"
        ));
        name
    }

    fn index(wide: bool) -> (&'static str, Scalar) {
        if wide { ("long long", Scalar::I64) } else { ("int", Scalar::I32) }
    }

    fn literal(code: &mut Code<'_, Cuda>, value: Literal) -> Text {
        let ty = code.scalar(value.scalar());
        literal::literal(value, &SPELLING, ty)
    }

    fn load(code: &mut Code<'_, Cuda>, access: &Access) -> Text {
        if access.width == 1 {
            return Text::primary(code.element(access));
        }
        let (pointer, buffer) = (code.pointer(access).text, code.buffer(access.buffer).0);
        let ty = ValueType::vector(buffer.scalar, access.width);
        if !is_aligned(code, access) {
            return lanes::load(code, ty, &pointer);
        }
        let ty = code.ty(ty);
        let constant = if code.is_constant(access) { "const " } else { "" };
        Text::new(Level::Unary, format!("*reinterpret_cast<{constant}{ty}*>({pointer})"))
    }

    fn store(code: &mut Code<'_, Cuda>, access: &Access, value: &Expr) -> String {
        let value = code.expr(value);
        if access.width == 1 {
            return format!("{} = {}", code.element(access), value.text);
        }
        let (pointer, buffer) = (code.pointer(access).text, code.buffer(access.buffer).0);
        let ty = ValueType::vector(buffer.scalar, access.width);
        if !is_aligned(code, access) {
            return lanes::store(code, ty, &pointer, &value);
        }
        format!("*reinterpret_cast<{}*>({pointer}) = {}", code.ty(ty), value.text)
    }

    fn atomic(code: &mut Code<'_, Cuda>, op: AtomicOp, access: &Access, value: &Expr) -> String {
        let scalar = code.buffer(access.buffer).0.scalar;
        let function = match op {
            AtomicOp::Add => "atomicAdd",
            AtomicOp::Min => "atomicMin",
            AtomicOp::Max => "atomicMax",
            AtomicOp::And => "atomicAnd",
            AtomicOp::Or => "atomicOr",
            AtomicOp::Xor => "atomicXor",
        };
        let (value, element) = (code.expr(value), code.element(access));
        let element = match (op, scalar) {
            (AtomicOp::Min | AtomicOp::Max, Scalar::F32 | Scalar::F64) => {
                return exchanged(code, op, scalar, &format!("&{element}"), &value);
            }
            // Bits and sums are the same with a sign and without.
            (AtomicOp::Add | AtomicOp::And | AtomicOp::Or | AtomicOp::Xor, Scalar::I64) => {
                let value = Text::cast("unsigned long long", &value).text;
                return format!("{function}((unsigned long long*)&{element}, {value})");
            }
            _ => element,
        };
        format!("{function}(&{element}, {})", value.text)
    }

    fn math(code: &mut Code<'_, Cuda>, math: Math, scalar: Scalar, args: &[Expr]) -> Text {
        let half = scalar == Scalar::F16;
        let name = match math {
            Math::Min | Math::Max | Math::Sign | Math::IsNan | Math::IsInf if half => {
                return scalar::through(code, Scalar::F32, math, args);
            }
            Math::Popcount | Math::Clz | Math::Ctz => {
                return bits::count(code, &COUNTING, math, scalar, args);
            }
            Math::Min | Math::Max if scalar == Scalar::F32 => return best(code, math, args),
            Math::ToBits | Math::FromBits => match scalar {
                Scalar::F16 => "__half_as_ushort",
                Scalar::F32 => "__float_as_uint",
                Scalar::F64 => "__double_as_longlong",
                Scalar::U16 => "__ushort_as_half",
                Scalar::U32 => "__uint_as_float",
                _ => "__longlong_as_double",
            },
            Math::Rsqrt if scalar == Scalar::F32 => "rsqrtf",
            Math::Rsqrt if scalar == Scalar::F64 => "rsqrt",
            Math::Fma if half => "__hfma",
            _ => return scalar::math(code, math, scalar, args),
        };
        let args = code.all(args);
        let text = Text::call(name, &args);
        match (math, scalar) {
            (Math::ToBits, Scalar::F64) => Text::cast(code.scalar(Scalar::U64), &text),
            _ => text,
        }
    }

    fn remainder(code: &mut Code<'_, Cuda>, scalar: Scalar, a: &Expr, b: &Expr) -> Text {
        scalar::remainder(code, scalar, a, b)
    }

    fn dot(_: ValueType) -> Option<&'static str> {
        None
    }

    fn convert(code: &mut Code<'_, Cuda>, from: Scalar, to: Scalar, value: &Expr) -> Text {
        let name = match (from, to) {
            // Both saturate, and make 0 of nan.
            (Scalar::F32, Scalar::I32) => "__float2int_rz",
            (Scalar::F32, Scalar::U32) => "__float2uint_rz",
            (Scalar::F16, Scalar::F32) => "__half2float",
            (Scalar::F16, _) => return scalar::convert_through(code, Scalar::F32, to, value),
            (_, Scalar::F16) => match from {
                Scalar::F32 => "__float2half",
                Scalar::F64 => "__double2half",
                Scalar::I32 => "__int2half_rn",
                Scalar::U32 => "__uint2half_rn",
                Scalar::I64 => "__ll2half_rn",
                Scalar::U64 => "__ull2half_rn",
                // Every smaller integer is an int.
                Scalar::Bool | Scalar::I8 | Scalar::I16 | Scalar::U8 | Scalar::U16 => {
                    "__int2half_rn"
                }
                Scalar::F16 => return code.expr(value),
            },
            _ => return scalar::convert(code, from, to, value),
        };
        let value = code.expr(value);
        Text::call(name, &[value])
    }

    fn lanewise(code: &mut Code<'_, Cuda>, expr: &Expr) -> Text {
        lanes::by_operator(code, expr)
    }

    fn pack(code: &mut Code<'_, Cuda>, scalar: Scalar, items: &[Expr]) -> Text {
        let ty = code.ty(ValueType::vector(scalar, items.len() as u32));
        let mut lanes = Vec::new();
        for item in items {
            let text = code.expr(item);
            // Braces do not convert, and a choice between two `bool`s may be an `int`.
            let text = match scalar {
                Scalar::Bool => Text::cast(code.memory(scalar), &text),
                _ => text,
            };
            lanes.push(text.text);
        }
        Text::primary(format!("{ty}{{{{{}}}}}", lanes.join(", ")))
    }

    fn splat(code: &mut Code<'_, Cuda>, ty: ValueType, value: &Expr) -> Text {
        lanes::splat(code, ty, value)
    }

    fn lane(vector: &Text, lane: u32) -> Text {
        lanes::subscript(vector, lane)
    }

    fn parallel(code: &mut Code<'_, Cuda>, l: &Loop) {
        gpu::parallel(code, l);
    }

    fn thread_id(kind: LoopKind, wide: bool) -> String {
        let wide = if wide { "(long long)" } else { "" };
        match kind {
            LoopKind::Global(d) => {
                let d = axis(d);
                format!("{wide}blockIdx.{d} * blockDim.{d} + threadIdx.{d}")
            }
            LoopKind::Group(d) => format!("blockIdx.{}", axis(d)),
            LoopKind::Local(d) => format!("threadIdx.{}", axis(d)),
            LoopKind::Seq | LoopKind::Unroll => "0".to_owned(),
        }
    }

    fn unroll(extent: i128) -> Option<String> {
        (extent > 1).then(|| "#pragma unroll".to_owned())
    }

    fn barrier(barrier: Barrier) -> Option<&'static str> {
        Some(match barrier.scope {
            Scope::Group => "__syncthreads();",
            Scope::Warp => "__syncwarp();",
        })
    }

    fn shuffle(bit: u32, value: &Text) -> Text {
        let args = [Text::primary("0xffffffffu"), value.clone(), Text::primary(bit.to_string())];
        Text::call("__shfl_xor_sync", &args)
    }
}

/// The smaller or larger of two numbers, and no number where one is none: an instruction of newer devices.
fn best(code: &mut Code<'_, Cuda>, math: Math, args: &[Expr]) -> Text {
    let (name, order) = match math {
        Math::Min => ("min", "<"),
        _ => ("max", ">"),
    };
    let (function, prefix) = (format!("lift_{name}_f32"), Cuda::FUNCTION);
    code.helper(format!(
        "{prefix}float {function}(float a, float b) {{
#if __CUDA_ARCH__ >= 800
  float better;
  asm(\"{name}.NaN.f32 %0, %1, %2;\" : \"=f\"(better) : \"f\"(a), \"f\"(b));
  return better;
#else
  float better = b {order} a ? b : a;
  return b == b ? better : b;
#endif
}}"
    ));
    let args = code.all(args);
    Text::call(&function, &args)
}

impl Threads for Cuda {
    fn count(kind: LoopKind, wide: bool, unrolled: bool) -> String {
        let count = match kind {
            LoopKind::Global(d) => {
                let d = axis(d);
                format!("gridDim.{d} * blockDim.{d}")
            }
            LoopKind::Group(d) => format!("gridDim.{}", axis(d)),
            LoopKind::Local(d) => format!("blockDim.{}", axis(d)),
            LoopKind::Seq | LoopKind::Unroll => return "1".to_owned(),
        };
        match (kind, wide) {
            (LoopKind::Global(_), true) => format!("(long long){count}"),
            (LoopKind::Global(_), false) if unrolled => format!("(int)({count})"),
            _ if unrolled => format!("(int){count}"),
            _ => count,
        }
    }
}

fn axis(d: u8) -> char {
    match d {
        0 => 'x',
        1 => 'y',
        _ => 'z',
    }
}

/// Vectors of three are packed.
fn vector_align(scalar: Scalar, width: u32) -> u32 {
    let bytes = scalar.bytes() as u32;
    if width == 3 { bytes } else { (bytes * width).min(MAX_ALIGN) }
}

/// Whether an access can be one to a vector struct; registers have no address to cast.
fn is_aligned(code: &Code<'_, Cuda>, access: &Access) -> bool {
    let (buffer, _) = code.buffer(access.buffer);
    let fits = buffer.align >= vector_align(buffer.scalar, access.width);
    buffer.space != Space::Private && fits && (access.aligned || access.width == 3)
}

/// A change that no instruction makes: computed until nobody has come between.
fn exchanged(
    code: &mut Code<'_, Cuda>,
    op: AtomicOp,
    scalar: Scalar,
    element: &str,
    value: &Text,
) -> String {
    let function = format!("lift_atomic_{}_{scalar}", op.name());
    let (bits, of, from) = match scalar.bytes() {
        4 => ("unsigned int", "__uint_as_float", "__float_as_uint"),
        _ => ("unsigned long long", "__longlong_as_double", "__double_as_longlong"),
    };
    let ty = code.scalar(scalar);
    let result = atomics::result(code, op, scalar);
    code.helper(format!(
        "{}void {function}({ty}* element, {ty} value) {{
  {bits}* place = ({bits}*)element;
  {bits} seen = *(volatile {bits}*)place;
  {bits} known;
  do {{
    known = seen;
    const {ty} before = {of}(known);
    seen = atomicCAS(place, known, ({bits}){from}({result}));
  }} while (seen != known);
}}",
        Cuda::FUNCTION
    ));
    format!("{function}({element}, {})", value.text)
}
