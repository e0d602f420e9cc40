//! Devices `opencl:K`. These tests need a platform (Debian: `pocl-opencl-icd ocl-icd-libopencl1`).

#![allow(clippy::unwrap_used)]

mod common;

use common::{bytes_of, floats_of};
use lift_runtime::{
    Arg, ArgType, CompileOptions, Device, Language, Launch, RuntimeError, devices, open,
};

/// Reverses each group of 8 through local memory.
const REVERSE: &str = "
__attribute__((reqd_work_group_size(8, 1, 1)))
kernel void reverse(global float *out, global const float *in, float scale) {
  local float tile[8];
  tile[get_local_id(0)] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = scale * tile[7 - get_local_id(0)];
}";

const REVERSE_PARAMS: [ArgType; 3] = [ArgType::Pointer, ArgType::Pointer, ArgType::F32];

fn device() -> Box<dyn Device> {
    open("opencl:0").expect("an OpenCL platform: install pocl-opencl-icd and ocl-icd-libopencl1")
}

#[test]
fn a_kernel_with_local_memory_runs() {
    let mut device = device();
    let options = CompileOptions { fast_math: true };
    let kernel = device.compile(REVERSE, "reverse", &REVERSE_PARAMS, &options).unwrap();
    let x: Vec<f32> = (0..64).map(|i| i as f32).collect();
    let input = device.allocate(256).unwrap();
    let output = device.allocate(256).unwrap();
    device.write(input, &bytes_of(&x)).unwrap();
    let args = [Arg::Buffer(output), Arg::Buffer(input), Arg::from(2.0f32)];
    let time = device.launch(kernel, &Launch::new([64, 1, 1], [8, 1, 1]), &args).unwrap();
    assert!(time.ms >= 0.0 && time.ms < 60_000.0);
    let mut bytes = [0; 256];
    device.read(output, &mut bytes).unwrap();
    let expected: Vec<f32> = x.chunks(8).flat_map(|g| g.iter().rev().map(|x| 2.0 * x)).collect();
    assert_eq!(floats_of(&bytes), expected);
    device.fill(output, 0xab).unwrap();
    device.read(output, &mut bytes).unwrap();
    assert_eq!(bytes, [0xab; 256]);
    device.free(input).unwrap();
    assert!(device.launch(kernel, &Launch::new([64, 1, 1], [8, 1, 1]), &args).is_err());
    device.unload(kernel).unwrap();
}

#[test]
fn scalars_of_every_size_arrive() {
    let mut device = device();
    let text = "kernel void k(global long *out, uchar a, short b, int c, ulong d) {
      out[0] = a; out[1] = b; out[2] = c; out[3] = d;
    }";
    let params = [ArgType::Pointer, ArgType::U8, ArgType::I16, ArgType::I32, ArgType::U64];
    let kernel = device.compile(text, "k", &params, &CompileOptions::default()).unwrap();
    let out = device.allocate(32).unwrap();
    let args = [
        Arg::from(out),
        Arg::from(200u8),
        Arg::from(-2i16),
        Arg::from(-3i32),
        Arg::from(1u64 << 40),
    ];
    device.launch(kernel, &Launch::SINGLE, &args).unwrap();
    let mut bytes = [0; 32];
    device.read(out, &mut bytes).unwrap();
    let values: Vec<i64> =
        bytes.chunks_exact(8).map(|b| i64::from_ne_bytes(b.try_into().unwrap())).collect();
    assert_eq!(values, [200, -2, -3, 1 << 40]);
}

#[test]
fn a_kernel_that_does_not_compile_shows_the_log_and_the_lines() {
    let mut device = device();
    let text = "kernel void k(global float *x) {\n  x[0] = y;\n}\n";
    let error = device.compile(text, "k", &[ArgType::Pointer], &CompileOptions::default());
    let Err(RuntimeError::Compile(failure)) = error else { panic!("{error:?}") };
    assert!(failure.log.contains('y'), "{}", failure.log);
    let excerpt = failure.excerpt.clone().unwrap_or_else(|| panic!("{failure}"));
    assert!(excerpt.contains("> 2 |   x[0] = y;"), "{failure}");
}

#[test]
fn a_name_that_is_not_in_the_text_is_an_error() {
    let mut device = device();
    let text = "kernel void k(global float *x) { x[0] = 1; }";
    let error = device.compile(text, "other", &[ArgType::Pointer], &CompileOptions::default());
    assert!(error.unwrap_err().to_string().contains("`other`"));
    let error = device.compile(text, "k", &[], &CompileOptions::default());
    assert!(error.unwrap_err().to_string().contains("takes 1 arguments, not 0"));
}

#[test]
fn limits_are_checked_before_the_launch() {
    let mut device = device();
    let options = CompileOptions::default();
    let kernel = device.compile(REVERSE, "reverse", &REVERSE_PARAMS, &options).unwrap();
    let buffer = device.allocate(256).unwrap();
    let args = [Arg::Buffer(buffer), Arg::Buffer(buffer), Arg::from(2.0f32)];
    let mut refused = |global, local| {
        device
            .launch(kernel, &Launch::new([global, 1, 1], [local, 1, 1]), &args)
            .unwrap_err()
            .to_string()
    };
    assert!(refused(1 << 30, 1 << 30).contains("the work-group size in dimension 0 is 1073741824"));
    assert!(refused(64, 16).contains("demands the local size [8, 1, 1], not [16, 1, 1]"));
    assert!(refused(60, 8).contains("the local size 8 does not divide the global size 60"));
    assert!(refused(0, 8).contains("at least one work-item"));
    let allowed = device.info().max_buffer_bytes;
    let error = device.allocate(allowed + 1).unwrap_err();
    let RuntimeError::Limit { value, .. } = error else { panic!("{error}") };
    assert_eq!(value, allowed + 1);
}

#[test]
fn local_memory_is_checked_before_the_launch() {
    let mut device = device();
    let allowed = device.info().local_memory_bytes;
    let text = format!(
        "kernel void k(global uchar *out, int n) {{
           local uchar tile[{}];
           tile[n] = n;
           barrier(CLK_LOCAL_MEM_FENCE);
           out[0] = tile[out[0]];
         }}",
        allowed + 16
    );
    let params = [ArgType::Pointer, ArgType::I32];
    let kernel = device.compile(&text, "k", &params, &CompileOptions::default()).unwrap();
    let buffer = device.allocate(4).unwrap();
    let args = [Arg::Buffer(buffer), Arg::from(1i32)];
    let error = device.launch(kernel, &Launch::SINGLE, &args).unwrap_err();
    let RuntimeError::Limit { value, allowed: limit, .. } = &error else { panic!("{error}") };
    assert!(*value >= allowed + 16 && *limit == allowed, "{error}");
    assert!(error.to_string().contains("the kernel's local memory in bytes is "), "{error}");
    let launch = Launch { dynamic_local_bytes: 16, ..Launch::SINGLE };
    let error = device.launch(kernel, &launch, &args).unwrap_err().to_string();
    assert_eq!(error, "opencl:0: a kernel of this device declares all of its local memory");
}

#[test]
fn a_device_opens_by_number_by_name_and_as_the_first() {
    let info = device().info().clone();
    assert_eq!((info.id.as_str(), info.language), ("opencl:0", Language::OpenCl));
    assert!(devices().iter().flatten().any(|other| other.name == info.name));
    assert_eq!(open("opencl").unwrap().info().name, info.name);
    let part = info.name.split_whitespace().next().unwrap().to_uppercase();
    assert!(open(&format!("opencl:{part}")).is_ok());
    let error = open("opencl:no such device").map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("opencl:0 ("), "{error}");
    assert!(open("opencl:999").is_err());
    // Nothing is named, although all names hold it.
    assert!(open("opencl:").is_err());
}
