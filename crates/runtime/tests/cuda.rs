//! Devices `cuda:K`: a clean error where there is no CUDA, a whole run where there is.

#![allow(clippy::unwrap_used)]

mod common;

use common::{bytes_of, floats_of};
use lift_runtime::{Arg, ArgType, CompileOptions, Device, Language, RuntimeError, devices, open};

const REVERSE: &str = "
extern \"C\" __global__ void reverse(float *out, const float *in, float scale) {
  __shared__ float tile[8];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = scale * tile[7 - threadIdx.x];
}";

#[test]
fn cuda_runs_or_says_what_is_missing() {
    match open("cuda:0") {
        Ok(device) => run(device),
        Err(error) => {
            assert!(matches!(error, RuntimeError::Missing { .. }), "{error}");
            let reason = format!("cuda: {error}");
            assert!(devices().contains(&Err(reason)), "{error}");
        }
    }
}

fn run(mut device: Box<dyn Device>) {
    let info = device.info().clone();
    assert_eq!((info.id.as_str(), info.language, info.kind), ("cuda:0", Language::Cuda, "gpu"));
    assert!(open("cuda:999").is_err());
    let params = [ArgType::Pointer, ArgType::Pointer, ArgType::F32];
    let options = CompileOptions::default();
    let kernel = device.compile(REVERSE, "reverse", &params, &options).unwrap();
    let x: Vec<f32> = (0..64).map(|i| i as f32).collect();
    let input = device.allocate(256).unwrap();
    let output = device.allocate(256).unwrap();
    device.write(input, &bytes_of(&x)).unwrap();
    let args = [Arg::Buffer(output), Arg::Buffer(input), Arg::from(2.0f32)];
    let time = device.launch(kernel, [64, 1, 1], [8, 1, 1], &args).unwrap();
    assert!(time.ms >= 0.0);
    let mut bytes = [0; 256];
    device.read(output, &mut bytes).unwrap();
    let expected: Vec<f32> = x.chunks(8).flat_map(|g| g.iter().rev().map(|x| 2.0 * x)).collect();
    assert_eq!(floats_of(&bytes), expected);
    device.fill(output, 0xab).unwrap();
    device.read(output, &mut bytes).unwrap();
    assert_eq!(bytes, [0xab; 256]);

    let error = device.launch(kernel, [1 << 20, 1, 1], [1 << 20, 1, 1], &args).unwrap_err();
    assert!(matches!(error, RuntimeError::Limit { .. }), "{error}");
    let error =
        device.compile("extern \"C\" __global__ void k() {\n  x = 1;\n}", "k", &[], &options);
    let Err(RuntimeError::Compile(failure)) = error else { panic!("{error:?}") };
    assert!(failure.excerpt.clone().unwrap().contains("> 2 |   x = 1;"), "{failure}");
    let error = device.compile(REVERSE, "other", &params, &options).unwrap_err();
    assert!(error.to_string().contains("no kernel `other`"), "{error}");
    let error = device.allocate(info.max_buffer_bytes).unwrap_err();
    assert!(matches!(error, RuntimeError::OutOfMemory { .. }), "{error}");
    device.unload(kernel).unwrap();
    device.free(input).unwrap();
}
