//! Programs on memory that is not the device's own. On `cpu` that is the host's.

#![allow(unsafe_code)]

use lift_interp::Sizes;
use lift_ir::{Nat, Scalar, Type};
use lift_lower::Options;
use lift_runtime::open;

use super::*;

fn compiled(text: &str, device: &mut dyn Device) -> Compiled {
    let program = lift_syntax::check_text("test.lift", text).program;
    let def = program.entry().expect("a definition");
    Compiled::new(def, &Options::default(), device).expect("kernels")
}

fn numbers(length: usize) -> Type {
    Type::array(Type::Scalar(Scalar::I32), Nat::int(length as i128))
}

/// Aligned as devices want it.
#[repr(align(16))]
struct Memory([i32; 8]);

impl Memory {
    fn address(&mut self) -> u64 {
        self.0.as_mut_ptr() as u64
    }
}

/// Runs on eight numbers and one more.
fn run(text: &str, scalar: i32, xs: &mut Memory, out: &mut Memory) -> Result<(), Error> {
    let mut device = open("cpu").expect("a device");
    let program = compiled(text, &mut *device);
    let types = [Type::Scalar(Scalar::I32), numbers(8)];
    let prepared = Arc::new(program.prepare(device.info(), &types, &Sizes::new())?);
    let args = [Placed::Scalar(scalar.to_ne_bytes().to_vec()), Placed::Arrays(vec![xs.address()])];
    // Twice, for what is prepared is used again and again.
    for _ in 0..2 {
        // SAFETY: Eight numbers are at each address.
        unsafe {
            program.run_placed(&mut *device, &prepared, &args, &[out.address()], None, true)?
        };
    }
    Ok(())
}

#[test]
fn results_are_written_where_they_should_be_and_arguments_stay() {
    let text = "def f[N](k: i32, xs: [i32; N]) -> [i32; N] =
        let ys = xs |> map(\\x -> x - x + x + k);
        zip(ys, ys |> gather(reverse)) |> map(\\(p, q) -> p - p + q * 10);";
    let (mut xs, mut out) = (Memory([0, 1, 2, 3, 4, 5, 6, 7]), Memory([-1; 8]));
    run(text, 2, &mut xs, &mut out).expect("a run");
    assert_eq!(out.0, [90, 80, 70, 60, 50, 40, 30, 20]);
    assert_eq!(xs.0, [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn loops_end_in_the_memory_of_the_result() {
    let text = "def f[N](k: i32, xs: [i32; N]) -> [i32; N] =
        xs |> iterate(3, \\ys -> ys |> gather(reverse) |> map(\\y -> y + k));";
    let (mut xs, mut out) = (Memory([0, 1, 2, 3, 4, 5, 6, 7]), Memory([-1; 8]));
    run(text, 5, &mut xs, &mut out).expect("a run");
    assert_eq!(out.0, [22, 21, 20, 19, 18, 17, 16, 15]);
    assert_eq!(xs.0, [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn checks_of_kernels_are_errors() {
    let text = "def f[N](k: i32, xs: [i32; N]) -> [i32; N] = xs |> map(\\x -> xs[x + k]);";
    let (mut xs, mut out) = (Memory([0, 1, 2, 3, 4, 5, 6, 7]), Memory([-1; 8]));
    run(text, 0, &mut xs, &mut out).expect("a run");
    assert_eq!(out.0, xs.0);
    let error = run(text, 1, &mut xs, &mut out).expect_err("an index beyond the end");
    assert!(error.to_string().contains("outside an array of length 8"), "{error}");
}

#[test]
fn what_is_missing_is_an_error() {
    let mut device = open("cpu").expect("a device");
    let program =
        compiled("def f[N](xs: [i32; N]) -> [i32; N] = xs |> map(\\x -> x);", &mut *device);
    let prepared = program.prepare(device.info(), &[numbers(8)], &Sizes::new());
    let prepared = Arc::new(prepared.expect("sizes that fit"));
    let mut xs = Memory([0; 8]);
    let given = [Placed::Arrays(vec![xs.address()])];
    for (args, results) in [(&given[..], &[][..]), (&[][..], &[xs.address()][..])] {
        // SAFETY: Eight numbers are at the address.
        let ran =
            unsafe { program.run_placed(&mut *device, &prepared, args, results, None, false) };
        assert!(ran.expect_err("too little").to_string().contains("lacks a part"));
    }
    // SAFETY: As above; nothing is at 0, which is refused.
    let ran = unsafe { program.run_placed(&mut *device, &prepared, &given, &[0], None, false) };
    assert!(ran.is_err());
}

#[test]
fn only_cuda_has_streams() {
    let mut device = open("cpu").expect("a device");
    // SAFETY: It is refused.
    let refused = unsafe { device.follow(Some(Stream(1))) };
    assert!(refused.expect_err("no stream").to_string().contains("has no streams"));
}
