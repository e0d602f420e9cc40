//! The structure of OpenCL C and CUDA C text.
#![allow(clippy::unwrap_used)]

mod common;

use common::*;
use lift_ir::{BinaryOp, Literal, Math, Nat, Scalar, Space, UnaryOp};
use lift_kernel::{
    Arg, Buffer, Expr, Kernel, Launch, LoopKind, Usage, ValueType, cuda, dynamic_shared_bytes,
    opencl, validate,
};

fn print(kernel: &Kernel) -> (String, String) {
    match validate(&threaded(kernel)) {
        Ok(valid) => (opencl(&valid), cuda(&valid)),
        Err(errors) => panic!("{}", errors.join("\n")),
    }
}

#[track_caller]
fn has(text: &str, part: &str) {
    assert!(text.contains(part), "no `{part}` in\n{text}");
}

#[track_caller]
fn lacks(text: &str, part: &str) {
    assert!(!text.contains(part), "`{part}` in\n{text}");
}

/// The files are left for a device compiler to be run over by hand.
#[test]
fn every_operation_prints() {
    let folder = folder("devices");
    let mut kernels = all_operations();
    kernels.extend([saxpy(), saxpy_1024(), partial_sum(), held_rows(), statements()]);
    for kernel in kernels {
        let (cl, cu) = print(&kernel);
        assert!(!cl.contains("?overflow") && !cu.contains("?overflow"));
        std::fs::write(folder.join(format!("{}.cl", kernel.name)), cl).unwrap();
        std::fs::write(folder.join(format!("{}.cu", kernel.name)), cu).unwrap();
    }
}

/// One kernel over `extent` elements, launched with these threads.
fn launched(kind: LoopKind, extent: Nat, global: Nat, local: Nat) -> (String, String) {
    let body = vec![store(at(0, nat("v")), f32_of(1.0))];
    let inner = vec![a_loop(kind, "v", extent, body)];
    let body = match kind {
        LoopKind::Local(_) => vec![a_loop(LoopKind::Group(0), "w", nat("N"), inner)],
        _ => inner,
    };
    let args = vec![global_f32(), size("N")];
    let mut kernel = kernel("launched", args, body);
    kernel.launch = Launch { global: vec![global], local: vec![local] };
    print(&kernel)
}

fn global_f32() -> Arg {
    global(0, "r", Scalar::F32, Usage::Write)
}

#[test]
fn as_many_threads_as_iterations_are_straight_code() {
    let (cl, cu) = launched(LoopKind::Local(0), int(64), nat("N"), int(64));
    has(&cl, "const int v = get_local_id(0);\n");
    has(&cu, "const int v = threadIdx.x;\n");
    lacks(&cl, "v <");
    let (cl, _) = launched(LoopKind::Group(0), nat("N"), nat("N") * int(32), int(32));
    has(&cl, "const int v = get_group_id(0);\n");
    lacks(&cl, "v <");
}

#[test]
fn more_threads_than_iterations_are_a_branch() {
    let (cl, cu) = launched(LoopKind::Local(0), int(48), nat("N"), int(64));
    has(&cl, "const int v = get_local_id(0);\n    if (v < 48) {");
    has(&cu, "const int v = threadIdx.x;\n    if (v < 48) {");
    // A launch of N threads in groups of 32 starts the last group whole.
    let (cl, cu) = launched(LoopKind::Global(0), nat("N"), nat("N"), int(32));
    has(&cl, "const int v = get_global_id(0);\n  if (v < N) {");
    has(&cu, "const int v = blockIdx.x * blockDim.x + threadIdx.x;\n  if (v < N) {");
}

#[test]
fn an_unknown_number_of_threads_is_a_loop() {
    let (cl, cu) = launched(LoopKind::Global(0), nat("N"), int(1024), int(32));
    has(&cl, "for (int v = get_global_id(0); v < N; v += (int)get_global_size(0)) {");
    has(
        &cu,
        "for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < N; v += (int)(gridDim.x * blockDim.x)) {",
    );
    let (cl, cu) = launched(LoopKind::Local(1), int(128), nat("N"), int(64));
    has(&cl, "for (int v = get_local_id(1); v < 128; v += get_local_size(1)) {");
    has(&cu, "for (int v = threadIdx.y; v < 128; v += blockDim.y) {");
}

/// Counts of threads are unsigned, and what they are added to is not unrolled, but where they become what indices are.
#[test]
fn loops_of_threads_are_unrolled_along_rows_that_are_long() {
    for (extent, step) in [(255, "blockDim.x"), (256, "(int)blockDim.x")] {
        let (_, cu) = launched(LoopKind::Local(0), int(extent), nat("N"), int(64));
        has(&cu, &format!("v < {extent}; v += {step}) {{"));
    }
}

/// Of columns each thread reads another line: several turns at once are more lines than caches hold.
#[test]
fn loops_of_threads_along_rows_that_read_columns_are_not_unrolled() {
    for (apart, step) in [(4, "(int)blockDim.x"), (4096, "blockDim.x")] {
        let read = load(Scalar::F32, at(1, nat("v") * int(apart)));
        let inner = a_loop(LoopKind::Local(0), "v", int(1024), vec![store(at(0, nat("v")), read)]);
        let body = vec![a_loop(LoopKind::Group(0), "w", nat("N"), vec![inner])];
        let read = buffer(1, "x", Scalar::F32, int(1024 * 4096), Space::Global);
        let args = vec![global_f32(), Arg::Buffer(read, Usage::Read), size("N")];
        let mut kernel = kernel("columns", args, body);
        kernel.launch = Launch { global: vec![nat("N")], local: vec![int(64)] };
        has(&print(&kernel).1, &format!("v < 1024; v += {step}) {{"));
    }
}

/// The larger of two numbers, and none where one is none, is an instruction of newer devices.
#[test]
fn a_maximum_is_an_instruction_where_there_is_one() {
    let maximum = Expr::Math(Math::Max, vec![load(Scalar::F32, at(1, nat("v"))), f32_of(1.0)]);
    let body =
        vec![a_loop(LoopKind::Global(0), "v", nat("N"), vec![store(at(0, nat("v")), maximum)])];
    let read = buffer(1, "x", Scalar::F32, nat("N"), Space::Global);
    let args = vec![global_f32(), Arg::Buffer(read, Usage::Read), size("N")];
    let (cl, cu) = print(&kernel("largest", args, body));
    has(&cu, "asm(\"max.NaN.f32 %0, %1, %2;\" : \"=f\"(better) : \"f\"(a), \"f\"(b));");
    has(&cu, "r[v] = lift_max_f32(x[v], 1.0f);");
    lacks(&cl, "asm");
}

/// From row to row what comes once is loaded for several turns together; points that read their neighbours are not.
#[test]
fn loops_from_row_to_row_are_unrolled_where_arrays_are_read_once() {
    let row = |offsets: &[i128]| {
        let read = |k: &i128| load(Scalar::F32, at(1, nat("v") * int(64) + int(*k)));
        let sum = offsets.iter().map(read).reduce(add).unwrap();
        let body = vec![store(at(0, nat("v")), sum)];
        let body = vec![a_loop(LoopKind::Global(1), "v", nat("N"), body)];
        let length = nat("N") * int(64) + int(128);
        let read = buffer(1, "x", Scalar::F32, length, Space::Global);
        let args = vec![global_f32(), Arg::Buffer(read, Usage::Read), size("N")];
        let mut kernel = kernel("rows", args, body);
        kernel.launch = Launch { global: vec![int(64), int(1024)], local: vec![int(32), int(4)] };
        print(&kernel)
    };
    for offsets in [&[0][..], &[0, 0]] {
        let (cl, cu) = row(offsets);
        has(&cl, "v += (int)get_global_size(1)) {");
        has(&cu, "v += (int)(gridDim.y * blockDim.y)) {");
    }
    let (cl, cu) = row(&[0, 64]);
    has(&cl, "v += get_global_size(1)) {");
    has(&cu, "v += gridDim.y * blockDim.y) {");
}

#[test]
fn one_iteration_is_done_by_one_thread() {
    let (cl, cu) = launched(LoopKind::Local(0), int(1), nat("N"), int(64));
    has(&cl, "const int lid = get_local_id(0);\n    if (lid == 0) {\n      r[0] = 1.0f;");
    has(&cu, "const int lid = threadIdx.x;\n    if (lid == 0) {\n      r[0] = 1.0f;");
    let (cl, _) = launched(LoopKind::Local(1), int(1), nat("N"), int(64));
    lacks(&cl, "get_local_id");
}

#[test]
fn wide_indices_are_wide() {
    let mut kernel = saxpy();
    kernel.wide_indices = true;
    let (cl, cu) = print(&kernel);
    has(&cl, "float alpha, long N)");
    has(&cl, "const long i = get_global_id(0);");
    has(&cu, "const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;");
}

#[test]
fn held_memory_is_divided_among_work_items() {
    let (cl, _) = print(&held_rows());
    // Four rows of four for two work-items.
    has(&cl, "float rows[8];");
    let mut all = held_rows();
    all.launch.local = vec![int(4)];
    let (cl, cu) = print(&all);
    has(&cl, "float rows[4];");
    has(&cl, "vstore4(row * 0.5f, 0, rows);");
    has(&cu, "float rows[4];");
}

#[test]
fn accesses_are_vectors_where_they_are_aligned() {
    let (cl, cu) = print(&held_rows());
    has(&cl, "*(global const float4*)(x + 16*g + 8*turn_p + 4*p)");
    has(&cu, "*reinterpret_cast<const f32x4*>(x + 16*g + 8*turn_p + 4*p)");
    has(&cl, ", 0, y + 16*g + 8*turn_q + 4*q);");
    // The index is aligned, the buffer is not.
    let mut loose = held_rows();
    if let Arg::Buffer(x, _) = &mut loose.args[0] {
        x.align = 4;
    }
    let (cl, cu) = print(&loose);
    has(&cl, "vload4(0, x + 16*g + 8*turn_p + 4*p)");
    has(&cu, "lift_load_f32x4(x + 16*g + 8*turn_p + 4*p)");
}

#[test]
fn much_local_memory_is_asked_for_at_launch() {
    let valid_bytes = |kernel: &Kernel| dynamic_shared_bytes(&validate(kernel).unwrap());
    let mut kernel = partial_sum();
    assert_eq!(valid_bytes(&kernel), None);
    kernel.locals[0].length = int(16 * 1024);
    kernel.locals.push(Buffer { align: 4, ..buffer(3, "more", Scalar::U8, int(5), Space::Local) });
    assert_eq!(valid_bytes(&kernel), Some(int(64 * 1024 + 5)));
    let (_, cu) = print(&kernel);
    has(&cu, "extern __shared__ __align__(64) unsigned char lift_shared[];");
    has(&cu, "float* tile = reinterpret_cast<float*>(lift_shared);");
    has(&cu, "unsigned char* more = reinterpret_cast<unsigned char*>(lift_shared + 65536);");
}

/// The text of one value of type `ty`, stored.
fn stored(value: Expr) -> (String, String) {
    let ty = value.ty();
    let args = vec![
        global(0, "x", Scalar::I32, Usage::Read),
        global(1, "f", Scalar::F32, Usage::Read),
        global(2, "r", ty.scalar, Usage::Write),
        size("N"),
    ];
    let body = vec![store(vector_at(2, int(0), ty.width, true), value)];
    print(&kernel("stored", args, body))
}

fn x(i: i128) -> Expr {
    load(Scalar::I32, at(0, int(i)))
}

fn f(i: i128) -> Expr {
    load(Scalar::F32, at(1, int(i)))
}

#[test]
fn signed_integers_wrap() {
    let (cl, cu) = stored(add(mul(x(0), x(1)), literal(Scalar::I32, 7)));
    has(&cl, "r[0] = (int)((uint)x[0] * (uint)x[1] + 7u);");
    has(&cu, "r[0] = (int)((unsigned int)x[0] * (unsigned int)x[1] + 7u);");
    let (cl, _) = stored(unary(UnaryOp::Neg, x(0)));
    has(&cl, "r[0] = (int)(0u - (uint)x[0]);");
    let wide = |i| load(Scalar::I32, vector_at(0, int(i), 4, true));
    let (cl, _) = stored(add(wide(0), wide(4)));
    has(
        &cl,
        "= as_int4(as_uint4(*(global const int4*)x) + as_uint4(*(global const int4*)(x + 4)));",
    );
}

#[test]
fn parentheses_are_where_they_are_needed() {
    let sum = || add(f(0), f(1));
    let (cl, _) = stored(mul(sum(), sum()));
    has(&cl, "r[0] = (f[0] + f[1]) * (f[0] + f[1]);");
    let (cl, _) = stored(add(sum(), mul(f(2), f(3))));
    has(&cl, "r[0] = f[0] + f[1] + f[2] * f[3];");
    let (cl, _) = stored(binary(BinaryOp::Sub, f(2), sum()));
    has(&cl, "r[0] = f[2] - (f[0] + f[1]);");
    let (cl, _) = stored(unary(UnaryOp::Neg, unary(UnaryOp::Neg, f_literal(-1.5))));
    has(&cl, "r[0] = -(-(-1.5f));");
}

fn f_literal(v: f32) -> Expr {
    Expr::Literal(Literal::f32(v))
}

#[test]
fn special_values_have_a_form_in_each_language() {
    let (cl, cu) = stored(f_literal(f32::NEG_INFINITY));
    has(&cl, "r[0] = -INFINITY;");
    has(&cu, "r[0] = -__int_as_float(0x7f800000);");
    let (cl, _) = stored(f_literal(1e30));
    has(&cl, "r[0] = 1e30f;");
    let (cl, cu) = stored(literal(Scalar::I64, i128::from(i64::MIN)));
    has(&cl, "r[0] = (-9223372036854775807L - 1);");
    has(&cu, "r[0] = (-9223372036854775807LL - 1);");
}

#[test]
fn conversions_saturate() {
    let (cl, cu) = stored(cast(ValueType::scalar(Scalar::I32), f(0)));
    has(&cl, "r[0] = convert_int_sat_rtz(f[0]);");
    has(&cu, "r[0] = __float2int_rz(f[0]);");
    let (cl, cu) = stored(cast(ValueType::scalar(Scalar::U8), f(0)));
    has(&cl, "convert_uchar_sat_rtz(f[0])");
    has(&cu, "r[0] = lift_f32_to_u8(f[0]);");
}

#[test]
fn extensions_and_headers_are_named_where_needed() {
    let (cl, cu) = stored(cast(ValueType::scalar(Scalar::F16), f(0)));
    has(&cl, "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n");
    has(&cu, "#include <cuda_fp16.h>\n");
    let (cl, cu) = stored(cast(ValueType::scalar(Scalar::F64), f(0)));
    has(&cl, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
    lacks(&cl, "fp16");
    lacks(&cu, "#include");
}

#[test]
fn vectors_choose_lane_by_lane() {
    let lanes = |i| load(Scalar::F32, vector_at(1, int(i), 2, true));
    let less = binary(BinaryOp::Lt, lanes(0), lanes(2));
    let (cl, cu) = stored(math(Math::Select, &[less.clone(), lanes(0), f_literal(0.0)]));
    has(
        &cl,
        "select((float2)(0.0f), *(global const float2*)f, *(global const float2*)f < *(global const float2*)(f + 2))",
    );
    has(&cu, "lift_select_f32x2(");
    has(&cu, "r[i] = a[i] ? b[i] : c[i];");
    let (cl, _) = stored(less);
    has(&cl, "convert_uchar2(-(");
}

#[test]
fn changes_as_one_step_are_instructions_where_there_are() {
    let (cl, cu) = print(&changes());
    for ty in ["i32", "u32"] {
        for (at, op) in ["add", "min", "max", "and", "or", "xor"].into_iter().enumerate() {
            let at = if at == 0 { String::new() } else { format!(" + {at}") };
            let unsigned = if ty == "u32" { "u" } else { "" };
            has(&cl, &format!("atomic_{op}(&{ty}s_[g{at}], 3{unsigned});"));
        }
    }
    has(&cl, "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable");
    has(&cl, "#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable");
    has(&cl, "atom_add(&i64s_[g], 3L);");
    has(&cl, "atom_max(&u64s_[g + 2], 3ul);");
    has(&cu, "atomicAdd(&i32s_[g], 3);");
    has(&cu, "atomicAdd((unsigned long long*)&i64s_[g], (unsigned long long)3LL);");
    has(&cu, "atomicMin(&i64s_[g + 1], 3LL);");
    has(&cu, "atomicXor(&u64s_[g + 5], 3ULL);");
    has(&cu, "atomicAdd(&f32s_[g], 3.0f);");
}

/// What no instruction does is computed until nobody has come between.
#[test]
fn other_changes_compare_and_exchange() {
    let (cl, cu) = print(&changes());
    has(&cl, "lift_atomic_add_f32_global(&f32s_[g], 3.0f);");
    has(&cl, "uint seen = atomic_cmpxchg(place, 0u, 0u);");
    has(&cl, "seen = atomic_cmpxchg(place, known, as_uint(before + value));");
    has(&cl, "seen = atom_cmpxchg(place, known, as_ulong(lift_min_f64(before, value)));");
    has(&cu, "lift_atomic_max_f32(&f32s_[g + 2], 3.0f);");
    has(
        &cu,
        "seen = atomicCAS(place, known, (unsigned int)__float_as_uint(lift_max_f32(before, value)));",
    );
    lacks(&cu, "lift_atomic_add");
    let text = "kernel k(read global x: f32[N] align 16, N: size)
      launch local(64) global(N) loops
      local sum: f32[4] align 16
    {
      for wg0 < N group(0) {
        for l0 < 64 local(0) {
          atomic add sum[0] = x[l0]
        }
      }
    }";
    let (cl, _) = print(&lift_kernel::read(text).unwrap()[0]);
    has(&cl, "void lift_atomic_add_f32_local(volatile local float* element, float value) {");
}

/// Others change what a pointer points to, so nothing is said of it that denies that.
#[test]
fn what_others_change_is_not_restricted() {
    let (cl, cu) = print(&changes());
    has(&cl, "global int* i32s_,");
    has(&cu, "(int* i32s_,");
}
