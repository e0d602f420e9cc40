//! Devices `cuda:K`: a clean error where there is no CUDA, a whole run where there is.

#![allow(clippy::unwrap_used)]

mod common;

use common::{bytes_of, floats_of};
use lift_runtime::{
    Arg, ArgType, CompileOptions, Device, Language, Launch, RuntimeError, Stream, devices, open,
};

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
        Ok(mut device) => {
            much_shared_memory(&mut *device);
            memory_of_others(&mut *device);
            run(device);
        }
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
    let time = device.launch(kernel, &Launch::new([64, 1, 1], [8, 1, 1]), &args).unwrap();
    assert!(time.ms >= 0.0);
    let mut bytes = [0; 256];
    device.read(output, &mut bytes).unwrap();
    let expected: Vec<f32> = x.chunks(8).flat_map(|g| g.iter().rev().map(|x| 2.0 * x)).collect();
    assert_eq!(floats_of(&bytes), expected);
    device.fill(output, 0xab).unwrap();
    device.read(output, &mut bytes).unwrap();
    assert_eq!(bytes, [0xab; 256]);

    let error =
        device.launch(kernel, &Launch::new([1 << 20, 1, 1], [1 << 20, 1, 1]), &args).unwrap_err();
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

/// On memory that another owns, in the order of a stream. A second device stands for the other library.
#[allow(unsafe_code)]
fn memory_of_others(device: &mut dyn Device) {
    let mut other = open("cuda:0").unwrap();
    let params = [ArgType::Pointer, ArgType::Pointer, ArgType::F32];
    let kernel = device.compile(REVERSE, "reverse", &params, &CompileOptions::default()).unwrap();
    let x: Vec<f32> = (0..64).map(|i| i as f32).collect();
    let (theirs, result) = (other.allocate(256).unwrap(), other.allocate(256).unwrap());
    other.write(theirs, &bytes_of(&x)).unwrap();
    let launch = Launch::new([64, 1, 1], [8, 1, 1]);
    // SAFETY: The buffers live until all is done, and the stream that all share does for ever.
    unsafe {
        device.follow(Some(Stream(1))).unwrap();
        let input = device.adopt(other.address(theirs).unwrap(), 256).unwrap();
        let output = device.adopt(other.address(result).unwrap(), 256).unwrap();
        // What comes of the pool on the way is there for what is queued behind it.
        let middle = device.allocate(256).unwrap();
        device.fill(middle, 0xff).unwrap();
        let first = [Arg::Buffer(middle), Arg::Buffer(input), Arg::from(2.0f32)];
        assert_eq!(device.launch(kernel, &launch, &first).unwrap().ms, 0.0);
        let second = [Arg::Buffer(output), Arg::Buffer(middle), Arg::from(0.5f32)];
        device.launch(kernel, &launch, &second).unwrap();
        device.finish().unwrap();
        for handle in [input, output, middle] {
            device.free(handle).unwrap();
        }
        device.follow(None).unwrap();
    }
    let mut bytes = [0; 256];
    other.read(result, &mut bytes).unwrap();
    assert_eq!(floats_of(&bytes), x);
    device.unload(kernel).unwrap();
}

/// Each group reverses its part of the input through shared memory that the launch provides.
const REVERSE_DYNAMIC: &str = "
extern \"C\" __global__ void reverse(int *out, const int *in, int n) {
  extern __shared__ __align__(16) unsigned char memory[];
  int *tile = reinterpret_cast<int *>(memory);
  for (int i = threadIdx.x; i < n; i += blockDim.x) tile[i] = in[blockIdx.x * n + i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[blockIdx.x * n + i] = tile[n - 1 - i];
}";

/// More shared memory than a kernel may declare, up to what the device has and no further.
fn much_shared_memory(device: &mut dyn Device) {
    let params = [ArgType::Pointer, ArgType::Pointer, ArgType::I32];
    let kernel =
        device.compile(REVERSE_DYNAMIC, "reverse", &params, &CompileOptions::default()).unwrap();
    let most = device.info().local_memory_bytes;
    assert!(most > 48 * 1024, "{most}");
    for bytes in [1024, 48 * 1024, 48 * 1024 + 4, 64 * 1024, most, 2048] {
        let n = bytes as usize / 4;
        let input: Vec<i32> = (0..2 * n as i32).collect();
        let source = device.allocate(2 * bytes).unwrap();
        let target = device.allocate(2 * bytes).unwrap();
        let as_bytes: Vec<u8> = input.iter().flat_map(|x| x.to_ne_bytes()).collect();
        device.write(source, &as_bytes).unwrap();
        let args = [Arg::Buffer(target), Arg::Buffer(source), Arg::from(n as i32)];
        let launch = Launch { dynamic_local_bytes: bytes, ..Launch::new([128, 1, 1], [64, 1, 1]) };
        device.launch(kernel, &launch, &args).unwrap();
        let mut found = vec![0; 2 * bytes as usize];
        device.read(target, &mut found).unwrap();
        let expected: Vec<u8> = input
            .chunks(n)
            .flat_map(|part| part.iter().rev())
            .flat_map(|x| x.to_ne_bytes())
            .collect();
        assert_eq!(found, expected, "{bytes} bytes");
        device.free(source).unwrap();
        device.free(target).unwrap();
    }
    let buffer = device.allocate(4).unwrap();
    let args = [Arg::Buffer(buffer), Arg::Buffer(buffer), Arg::from(0i32)];
    let launch = Launch { dynamic_local_bytes: most + 1, ..Launch::SINGLE };
    let error = device.launch(kernel, &launch, &args).unwrap_err().to_string();
    let expected = format!(
        "cuda:0: the kernel's local memory in bytes is {}, allowed is {most}; choose smaller tiles",
        most + 1
    );
    assert_eq!(error, expected);
    device.free(buffer).unwrap();
    device.unload(kernel).unwrap();
}
