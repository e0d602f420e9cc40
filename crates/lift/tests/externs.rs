//! Target code in programs, under the names and in the places a program has for it.

#![allow(clippy::unwrap_used)]

use lift::{Compiled, Options, Sizes, Value};

fn run(text: &str, args: &[Value]) -> [String; 2] {
    let program = lift::parse("extern.lift", text).unwrap();
    ["cpu", "opencl:pocl"].map(|id| {
        let mut device = lift::open(id).unwrap();
        let mut compiled =
            Compiled::new(program.entry().unwrap(), &Options::default(), &mut *device)
                .unwrap_or_else(|e| panic!("{id}: {e}"));
        compiled.run(&mut *device, args, &Sizes::new()).unwrap().result.to_string()
    })
}

/// Code for scalars is called for each lane of a vector; an argument that is no vector is the same for all.
#[test]
fn vectors_are_passed_lane_by_lane() {
    let text = "extern \"c,opencl,cuda\" fn twice(x: f32, y: f32) -> f32 = \"return 2.0f * x + y;\";
        def f(a: f32, x: [f32; 8]) -> [f32; 8] =
          x |> as_vector(4) |> mapGlb(0)(\\v -> vectorize(4, \\e -> twice(e * e + 1.0, a), v)) |> as_scalar;";
    let x = Value::from((0..8).map(|k| k as f32).collect::<Vec<f32>>());
    let expected = "[2.5, 4.5, 10.5, 20.5, 34.5, 52.5, 74.5, 100.5]";
    assert_eq!(run(text, &[Value::f32(0.5), x]), [expected; 2]);
}

/// A function may be called as what the compiler makes is, and as a function of a target.
#[test]
fn functions_have_names_of_their_own() {
    for name in ["x", "sin", "kernel", "INT_MIN", "result", "g0", "__f"] {
        let text = format!(
            "extern \"c,opencl,cuda\" fn {name}(t: f32) -> f32 = \"return 2.0f * t;\";
             def f[N](xs: [f32; N]) -> [f32; N] = xs |> map(\\a -> let y = a + 1.0; {name}(a) * y);"
        );
        let found = run(&text, &[Value::from(vec![1.0f32, 2.0])]);
        assert_eq!(found, ["[4.0, 12.0]"; 2], "{name}");
    }
}
