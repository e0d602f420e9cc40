//! Indices out of range end a run with an error, on every device; proved ones cost nothing.

#![allow(clippy::unwrap_used)]

use lift::{Compiled, Error, Options, Run, Sizes, Value};
use lift_lower::Role;

const PICK: &str =
    "def pick[N, M](xs: [f32; N], at: [i32; M]) -> [f32; M] = at |> map(\\i -> xs[i]);";

fn pick(device: &str, at: Vec<i32>) -> Result<Run, Error> {
    let program = lift::parse("pick.lift", PICK).unwrap();
    let mut device = lift::open(device).unwrap();
    let mut compiled =
        Compiled::new(program.entry().unwrap(), &Options::default(), &mut *device).unwrap();
    let xs = Value::from(vec![10.0f32, 20.0, 30.0]);
    compiled.run(&mut *device, &[xs, Value::from(at)], &Sizes::new())
}

#[test]
fn an_index_out_of_range_is_an_error() {
    for device in ["cpu", "opencl:pocl"] {
        assert_eq!(pick(device, vec![2, 0]).unwrap().result.to_string(), "[30.0, 10.0]");
        for wrong in [vec![0, 3], vec![-1, 1], vec![i32::MIN, i32::MAX]] {
            let Err(Error::Arguments(error)) = pick(device, wrong) else {
                panic!("the index is out of range")
            };
            assert_eq!(error.message, "an index is outside an array of length 3");
            assert_eq!(error.span.map(|s| s.start), PICK.rfind("i]").map(|i| i as u32));
        }
    }
}

/// A loop over N - 1 elements says that N is at least 2 in its body, not behind it.
#[test]
fn what_a_loop_knows_is_not_known_behind_it() {
    for text in [
        "def f[N](xs: [i32; N]) -> i32 = reduceSeq(0, (+), drop(1, xs)) + xs[N - 2];",
        "def f[N](xs: [i32; N]) -> i32 =
           [xs] |> mapWrg(0)(\\x -> (x |> drop(1) |> mapLcl(0)(toLocal(id)), x[N - 2]))
             |> map(\\(a, b) -> b) |> head;",
    ] {
        let program = lift::parse("f.lift", text).unwrap();
        for device in ["cpu", "opencl:pocl"] {
            let mut device = lift::open(device).unwrap();
            let mut compiled =
                Compiled::new(program.entry().unwrap(), &Options::default(), &mut *device).unwrap();
            let mut run = |xs| compiled.run(&mut *device, &[Value::from(xs)], &Sizes::new());
            assert!(run(vec![3, 4]).is_ok(), "{text}");
            let Err(Error::Arguments(error)) = run(vec![3]) else {
                panic!("{text}: the index is out of range")
            };
            assert_eq!(error.message, "an index is outside an array of length 1");
        }
    }
}

/// Windows and loops prove their indices, so nothing is checked at run time.
#[test]
fn proved_indices_are_not_checked() {
    for text in [
        "def f[N](xs: [f32; N]) -> [f32; N] =
           xs |> pad(1, 1, clamp) |> slide(3, 1) |> map(\\w -> w[0] + w[2]);",
        "def f[N](xs: [f32; N]) -> [f32; N] = generate(N, \\i -> xs[N - 1 - i]);",
        "def f[N](xs: [f32; 128], ys: [f32; N]) -> [f32; N] = generate(N, \\i -> xs[i & 127]);",
        "def f(xs: [f32; 8]) -> [f32; 100] = generate(100, \\i -> xs[7 & (3 * i + 2)]);",
    ] {
        let program = lift::parse("f.lift", text).unwrap();
        let (plan, _) =
            lift::compile_text(program.entry().unwrap(), &Options::default(), lift::Language::C)
                .unwrap();
        assert!(plan.buffers.iter().all(|b| b.role != Role::Status), "{text}");
    }
}
