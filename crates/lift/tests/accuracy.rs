//! Every function is as near to the exact value as the language says, on every device.
//!
//! The exact value is that of the interpreter in `f64`, whose own error is far below the bounds of `f32`, and within a
//! few units of those of `f64`.

#![allow(clippy::unwrap_used)]

use half::f16;
use lift::{Compiled, Device, Options, Sizes, Value};
use lift_interp::Buffer;
use lift_ir::Math;

/// The functions with so many operands.
fn functions(arity: usize) -> Vec<Math> {
    let all = Math::ALL.iter().copied();
    all.filter(|m| m.is_approximate() && m.arity() == arity).collect()
}

/// Applies all of them, and for two operands `/` and `%` too.
fn text(ty: &str, functions: &[Math], arity: usize) -> String {
    let args = if arity == 1 { "x" } else { "x, y" };
    let mut parts: Vec<String> =
        functions.iter().map(|m| format!("{}({args})", m.name())).collect();
    if arity == 2 {
        parts.extend(["x / y".to_string(), "x % y".to_string()]);
    }
    let results = vec![ty; parts.len()].join(", ");
    let body = parts.join(", ");
    format!(
        "def f[N](x: [{ty}; N], y: [{ty}; N]) -> [({results}); N] =
           zip(x, y) |> map(\\(x, y) -> ({body}));"
    )
}

/// Numbers of every size and sign, and those around which functions bend.
fn samples() -> Vec<f32> {
    let step = 300_007u32;
    let spread = (0..u32::MAX / step).map(|i| f32::from_bits(i * step));
    let near_one = (-2000..2000).map(|i| 1.0 + i as f32 * 3e-7);
    let small = (-3000..3000).map(|i| i as f32 * 0.0137);
    let special = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, f32::MIN];
    spread.chain(near_one).chain(small).chain(special).collect()
}

fn leaves(value: &Value) -> Vec<Vec<f64>> {
    let buffers = value.buffers().unwrap();
    buffers
        .iter()
        .map(|buffer| match buffer {
            Buffer::F16(xs) => xs.iter().map(|x| x.to_f64()).collect(),
            Buffer::F32(xs) => xs.iter().map(|x| f64::from(*x)).collect(),
            Buffer::F64(xs) => xs.to_vec(),
            _ => panic!("floats are asked for"),
        })
        .collect()
}

/// One unit in the last place of a number, given the digits and the smallest normal number of its type.
fn unit(x: f64, digits: i32, least: f64) -> f64 {
    let exponent = x.abs().max(least).log2().floor();
    // `powi` goes by way of the inverse, which is infinite for the smallest numbers.
    (exponent - f64::from(digits) + 1.0).exp2()
}

struct Precision {
    ty: &'static str,
    digits: i32,
    least: f64,
    largest: f64,
}

/// That of `f32`, rounded.
const HALF: Precision =
    Precision { ty: "f16", digits: 11, least: 6.103515625e-5, largest: 65504.0 };
const SINGLE: Precision =
    Precision { ty: "f32", digits: 24, least: f32::MIN_POSITIVE as f64, largest: f32::MAX as f64 };
const DOUBLE: Precision =
    Precision { ty: "f64", digits: 53, least: f64::MIN_POSITIVE, largest: f64::MAX };

impl Precision {
    /// How many units a function, or an operator, may be off.
    fn bound(&self, name: &str) -> f64 {
        let function = Math::ALL.iter().find(|m| m.name() == name);
        let single = match name {
            "/" => 2.5,
            "%" => 0.0,
            _ => function.and_then(|m| m.ulps()).unwrap_or(0.0),
        };
        match (self.ty, name) {
            (_, "%") => 0.0,
            ("f16", _) => 0.51,
            ("f64", "/" | "sqrt") => 0.5,
            ("f64", _) => 2.0 * single,
            _ => single,
        }
    }

    /// How many units a result is off; nothing where it is right without being near.
    fn error(&self, found: f64, exact: f64) -> f64 {
        let same = found == exact || (found.is_nan() && exact.is_nan());
        // What is too large is infinite, and what is too small may be zero.
        let over = exact.abs() > self.largest && found.abs() >= self.largest && found * exact > 0.0;
        let under = exact.abs() < self.least && found == 0.0;
        if same || over || under {
            return 0.0;
        }
        let off = (found - exact).abs() / unit(exact, self.digits, self.least);
        if off.is_nan() { f64::INFINITY } else { off }
    }
}

/// The largest errors of all functions, where they are beyond the bound.
fn judge(
    device: &mut dyn Device,
    arity: usize,
    precision: &Precision,
    args: [Value; 2],
    exact: &[Vec<f64>],
) -> Vec<String> {
    let ty = precision.ty;
    let functions = functions(arity);
    let program = lift::parse("f.lift", &text(ty, &functions, arity)).unwrap();
    let mut compiled =
        Compiled::new(program.entry().unwrap(), &Options::default(), device).unwrap();
    let inputs: Vec<Vec<f64>> = args.iter().flat_map(leaves).collect();
    let found = leaves(&compiled.run(device, &args, &Sizes::new()).unwrap().result);
    let names: Vec<&str> = functions.iter().map(|m| m.name()).chain(["/", "%"]).collect();
    let mut faults = Vec::new();
    for (k, (found, exact)) in found.iter().zip(exact).enumerate() {
        let (name, bound) = (names[k], precision.bound(names[k]));
        let errors = found.iter().zip(exact).map(|(f, e)| precision.error(*f, *e));
        let (at, worst) = errors.enumerate().fold((0, 0.0), |w, e| if e.1 > w.1 { e } else { w });
        if std::env::var_os("SHOW").is_some() {
            println!("{} {ty} {name}: {worst:.2} of {bound}", device.info().name);
        }
        if worst > bound {
            let (x, y) = (inputs[0][at], inputs[1][at]);
            faults.push(format!(
                "{name} of {x:e} (and {y:e}) in {ty} on {}: {:e}, not {:e}, off by {worst:.1} of {bound}",
                device.info().name, found[at], exact[at]
            ));
        }
    }
    faults
}

#[test]
fn functions_are_near_the_exact_values() {
    let xs = samples();
    // Each number meets a few others.
    let ys: Vec<f32> = xs.iter().cycle().skip(5003).step_by(7).take(xs.len()).copied().collect();
    let wide = |xs: &[f32]| xs.iter().map(|x| f64::from(*x)).collect::<Vec<f64>>();
    let mut devices = ["cpu", "opencl:pocl"].map(|name| lift::open(name).unwrap());
    let mut faults = Vec::new();
    for arity in [1, 2] {
        let program = lift::parse("f.lift", &text("f64", &functions(arity), arity)).unwrap();
        let doubles = [Value::from(wide(&xs)), Value::from(wide(&ys))];
        let exact = lift_interp::run(program.entry().unwrap(), &doubles, &Sizes::new()).unwrap();
        let exact = leaves(&exact);
        for device in &mut devices {
            let singles = [Value::from(xs.clone()), Value::from(ys.clone())];
            faults.extend(judge(&mut **device, arity, &SINGLE, singles, &exact));
            faults.extend(judge(&mut **device, arity, &DOUBLE, doubles.clone(), &exact));
        }
        // Only processors have `f16` for certain.
        let halves = |xs: &[f32]| xs.iter().map(|x| f16::from_f32(*x)).collect::<Vec<f16>>();
        let (xs, ys) = (halves(&xs), halves(&ys));
        let wide = |xs: &[f16]| xs.iter().map(|x| x.to_f64()).collect::<Vec<f64>>();
        let doubles = [Value::from(wide(&xs)), Value::from(wide(&ys))];
        let exact = lift_interp::run(program.entry().unwrap(), &doubles, &Sizes::new()).unwrap();
        let halves = [Value::from(xs), Value::from(ys)];
        faults.extend(judge(&mut *devices[0], arity, &HALF, halves, &leaves(&exact)));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Exponentials below the smallest normal number are 0 on a processor, whose vector versions would do all lanes one by one for them;
/// those that are normal are as near as any, and no number has none.
#[test]
fn exponentials_that_are_too_small_are_nothing() {
    let text = "def f[N](x: [f32; N], y: [f64; N]) -> [(f32, f64); N] =
        zip(x, y) |> map(\\(x, y) -> (exp(x), exp(y)));";
    let program = lift::parse("exp.lift", text).unwrap();
    let mut device = lift::open("cpu").unwrap();
    let def = program.entry().unwrap();
    let mut compiled = Compiled::new(def, &Options::default(), &mut *device).unwrap();
    let of = |xs: &[f32], ys: &[f64], device: &mut dyn Device, compiled: &mut Compiled| {
        // As many as a few vectors hold, and some that are left over.
        let args = [Value::from(xs.repeat(5)), Value::from(ys.repeat(5))];
        leaves(&compiled.run(device, &args, &Sizes::new()).unwrap().result)
    };
    let (small, smaller) = (
        [-87.34f32, -100.0, -1e30, f32::NEG_INFINITY],
        [-708.4, -745.0, -1e300, f64::NEG_INFINITY],
    );
    for results in of(&small, &smaller, &mut *device, &mut compiled) {
        assert!(results.iter().all(|x| *x == 0.0), "{results:?}");
    }
    let found =
        of(&[-87.336f32, -80.0, 0.0], &[-708.396, -700.0, 0.0], &mut *device, &mut compiled);
    for (results, values) in
        found.iter().zip([[-87.336f32 as f64, -80.0, 0.0], [-708.396, -700.0, 0.0]])
    {
        for (result, x) in results.iter().zip(values.iter().cycle()) {
            assert!((result / x.exp() - 1.0).abs() < 1e-5, "exp({x}) is {result}");
        }
    }
    let found = of(&[f32::NAN], &[f64::NAN], &mut *device, &mut compiled);
    assert!(found.iter().flatten().all(|x| x.is_nan()));
}
