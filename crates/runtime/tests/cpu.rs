//! The device `cpu` through the public API. It needs a C compiler and nothing else.

#![allow(clippy::unwrap_used)]

mod common;

use common::{bytes_of, floats_of};
use lift_runtime::{Arg, ArgType, CompileOptions, Language, Launch, RuntimeError, devices, open};

const SAXPY: &str = "
void saxpy(float *restrict y, const float *restrict x, float a, int n) {
  #pragma omp parallel for
  for (int i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}";

const SAXPY_PARAMS: [ArgType; 4] = [ArgType::Pointer, ArgType::Pointer, ArgType::F32, ArgType::I32];

#[test]
fn saxpy_runs() {
    let mut device = open("cpu").unwrap();
    let options = CompileOptions::default();
    let kernel = device.compile(SAXPY, "saxpy", &SAXPY_PARAMS, &options).unwrap();
    let n = 1000;
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let x_buffer = device.allocate(4 * n).unwrap();
    let y_buffer = device.allocate(4 * n).unwrap();
    device.write(x_buffer, &bytes_of(&x)).unwrap();
    device.fill(y_buffer, 0).unwrap();
    let args =
        [Arg::Buffer(y_buffer), Arg::Buffer(x_buffer), Arg::from(2.0f32), Arg::from(n as i32)];
    for _ in 0..2 {
        let time = device.launch(kernel, &Launch::new([n, 1, 1], [1, 1, 1]), &args).unwrap();
        assert!(time.ms >= 0.0);
    }
    let mut out = vec![0; 4 * n as usize];
    device.read(y_buffer, &mut out).unwrap();
    let expected: Vec<f32> = x.iter().map(|x| 4.0 * x).collect();
    assert_eq!(floats_of(&out), expected);
    device.free(x_buffer).unwrap();
    device.unload(kernel).unwrap();
}

#[test]
fn every_scalar_type_arrives() {
    let text = "
void all(double *out, signed char a, short b, int c, long long d, unsigned char e,
         unsigned short f, unsigned int g, unsigned long long h, float i, double j) {
  double values[] = {a, b, c, d, e, f, g, h, i, j};
  for (int k = 0; k < 10; k++) out[k] = values[k];
}";
    use ArgType::*;
    let params = [Pointer, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64];
    let mut device = open("cpu").unwrap();
    let kernel = device.compile(text, "all", &params, &CompileOptions::default()).unwrap();
    let out = device.allocate(80).unwrap();
    let args = [
        Arg::from(out),
        Arg::from(-1i8),
        Arg::from(-2i16),
        Arg::from(-3i32),
        Arg::from(-(1i64 << 40)),
        Arg::from(200u8),
        Arg::from(60000u16),
        Arg::from(4_000_000_000u32),
        Arg::from(1u64 << 50),
        Arg::from(0.5f32),
        Arg::from(0.25f64),
    ];
    device.launch(kernel, &Launch::SINGLE, &args).unwrap();
    let mut bytes = [0; 80];
    device.read(out, &mut bytes).unwrap();
    let values: Vec<f64> =
        bytes.chunks_exact(8).map(|b| f64::from_ne_bytes(b.try_into().unwrap())).collect();
    let wide = [-(1i64 << 40) as f64, (1u64 << 50) as f64];
    assert_eq!(values, [-1.0, -2.0, -3.0, wide[0], 200.0, 60000.0, 4e9, wide[1], 0.5, 0.25]);
}

#[test]
fn a_kernel_that_does_not_compile_shows_the_log_and_the_lines() {
    let mut device = open("cpu").unwrap();
    let text = "void k(float *x) {\n  x[0] = y;\n}\n";
    let error = device.compile(text, "k", &[ArgType::Pointer], &CompileOptions::default());
    let Err(RuntimeError::Compile(failure)) = error else { panic!("{error:?}") };
    assert!(failure.log.contains("k.c:2:10: error: 'y' undeclared"), "{}", failure.log);
    assert!(failure.excerpt.clone().unwrap().contains("> 2 |   x[0] = y;"), "{failure}");
    let text = failure.to_string();
    assert!(text.contains("cpu: cc does not compile the kernel `k`:\n"), "{text}");
    assert!(!text.contains("/lift/c/"), "no names of temporary files: {text}");
}

#[test]
fn wrong_parameters_are_a_compile_error() {
    let mut device = open("cpu").unwrap();
    let params = [ArgType::Pointer, ArgType::Pointer];
    let text = "void k(float *x, int n) { x[0] = n; }";
    let error = device.compile(text, "k", &params, &CompileOptions::default());
    assert!(matches!(error, Err(RuntimeError::Compile(_))), "{error:?}");
}

#[test]
fn limits_are_checked_before_the_launch() {
    let mut device = open("cpu").unwrap();
    let kernel = device.compile("void k(void) {}", "k", &[], &Default::default()).unwrap();
    let allowed = device.info().max_group_size;
    let error =
        device.launch(kernel, &Launch::new([1 << 40, 1, 1], [1 << 20, 1, 1]), &[]).unwrap_err();
    let expected = format!("dimension 0 is 1048576, allowed is {allowed}");
    assert!(error.to_string().contains(&expected), "{error}");
    let error = device.launch(kernel, &Launch::new([0, 1, 1], [1, 1, 1]), &[]).unwrap_err();
    assert!(error.to_string().contains("at least one work-item"), "{error}");
    let error = device.launch(kernel, &Launch::SINGLE, &[Arg::from(1i32)]).unwrap_err();
    assert!(error.to_string().contains("takes 0 arguments, the launch gives 1"), "{error}");
}

#[test]
fn buffers_are_checked() {
    let mut device = open("cpu").unwrap();
    assert!(device.allocate(0).is_err());
    let error = device.allocate(u64::MAX).unwrap_err();
    assert!(matches!(error, RuntimeError::Limit { value: u64::MAX, .. }), "{error}");
    let error = device.allocate(device.info().memory_bytes).unwrap_err();
    assert!(matches!(error, RuntimeError::OutOfMemory { .. }), "{error}");
    let buffer = device.allocate(4).unwrap();
    assert!(device.write(buffer, &[0; 5]).unwrap_err().to_string().contains("do not fit"));
    assert!(device.read(buffer, &mut [0; 5]).is_err());
    device.free(buffer).unwrap();
    let error = device.read(buffer, &mut [0; 1]).unwrap_err();
    assert!(error.to_string().contains("the buffer was freed"), "{error}");
}

#[test]
fn an_unknown_device_lists_those_there_are() {
    for id in ["gpu", "cpu:1", "", "cuda:x"] {
        let error = open(id).map(|_| ()).unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with(&format!("there is no device `{id}`; available are:\n")),
            "{text}"
        );
        assert!(text.contains("\n  cpu ("), "{text}");
    }
}

#[test]
fn the_cpu_is_listed_first() {
    let first = devices().remove(0).unwrap();
    assert_eq!((first.id.as_str(), first.kind, first.language), ("cpu", "cpu", Language::C));
    assert!(first.compute_units > 0 && first.memory_bytes > 0);
}

/// Nothing is copied, and what is another's is not freed.
#[test]
#[allow(unsafe_code)]
fn memory_of_others_is_read_and_written_where_it_is() {
    let mut device = open("cpu").unwrap();
    let text =
        "void twice(int *out, const int *in) { for (int i = 0; i < 4; i++) out[i] = 2 * in[i]; }";
    let params = [ArgType::Pointer, ArgType::Pointer];
    let kernel = device.compile(text, "twice", &params, &CompileOptions::default()).unwrap();
    let (mut out, xs) = ([0i32; 4], [1i32, 2, 3, 4]);
    // SAFETY: Sixteen bytes are at each address.
    let (to, from) = unsafe {
        let to = device.adopt(out.as_mut_ptr() as u64, 16).unwrap();
        (to, device.adopt(xs.as_ptr() as u64, 16).unwrap())
    };
    assert_eq!(device.address(from), Ok(xs.as_ptr() as u64));
    device.launch(kernel, &Launch::SINGLE, &[Arg::Buffer(to), Arg::Buffer(from)]).unwrap();
    for handle in [to, from] {
        device.free(handle).unwrap();
        assert!(device.free(handle).is_err());
        assert!(device.address(handle).is_err());
    }
    assert_eq!((out, xs), ([2, 4, 6, 8], [1, 2, 3, 4]));
    let own = device.allocate(8).unwrap();
    assert!(device.address(own).unwrap().is_multiple_of(64));
    // SAFETY: It is refused.
    assert!(unsafe { device.adopt(0, 16) }.is_err());
}
