//! Integers divided by zero: an error that names the place, on every device, where the division is evaluated.

#![allow(clippy::unwrap_used)]

use lift::{Compiled, Device, Error, Options, RunError, Sizes, Value};
use lift_lower::Role;

/// What the interpreter and both devices say of a program; they agree.
fn everywhere(
    devices: &mut [Box<dyn Device>],
    text: &str,
    args: &[Value],
) -> Result<Value, RunError> {
    let program = lift::parse("division.lift", text).unwrap();
    let def = program.entry().unwrap();
    let wanted = lift_interp::run(def, args, &Sizes::new());
    for device in devices {
        let mut compiled = Compiled::new(def, &Options::default(), &mut **device).unwrap();
        let found = match compiled.run(&mut **device, args, &Sizes::new()) {
            Ok(run) => Ok(run.result),
            Err(Error::Arguments(error)) => Err(error),
            Err(other) => panic!("{text}: {other}"),
        };
        match (&wanted, &found) {
            (Ok(a), Ok(b)) => assert_eq!(a.to_string(), b.to_string(), "{text}"),
            (Err(a), Err(b)) => assert_eq!((&a.message, a.span), (&b.message, b.span), "{text}"),
            _ => panic!("{text}: {wanted:?} and {found:?} on {}", device.info().name),
        }
    }
    wanted
}

fn devices() -> Vec<Box<dyn Device>> {
    ["cpu", "opencl:pocl"].map(|name| lift::open(name).unwrap()).into()
}

fn pairs(body: &str) -> String {
    format!(
        "def f[N](a: [i32; N], b: [i32; N]) -> [i32; N] = zip(a, b) |> map(\\(a, b) -> {body});"
    )
}

fn by_vectors(body: &str) -> String {
    format!(
        "def f[N](a: [i32; N], b: [i32; N]) -> [i32; N] where N % 4 == 0 =
           zip(as_vector(4, a), as_vector(4, b)) |> map(\\(a, b) -> {body}) |> as_scalar;"
    )
}

const VALUES: [&[i32]; 2] = [&[7, -7, i32::MIN, 5], &[2, 2, -1, 3]];
const ZERO: &[i32] = &[2, 2, 0, 3];

#[test]
fn a_division_that_is_evaluated_fails() {
    let mut devices = devices();
    for (body, failing) in [
        ("a / b", "a / b"),
        ("1 + a % b", "a % b"),
        ("let q = a / b; if b == 0 then 3 else q", "a / b"),
        ("let q = a / b; 3", "a / b"),
        ("select(b == 0, 7, a / b)", "a / b"),
        ("if b == 0 then a / b else 1", "a / b"),
        ("if b != 0 || a / b > 1 then 1 else 2", "a / b"),
        ("100 / (a * b)", "100 / (a * b)"),
    ] {
        let text = pairs(body);
        let args = |b: &[i32]| [Value::from(VALUES[0].to_vec()), Value::from(b.to_vec())];
        assert!(everywhere(&mut devices, &text, &args(VALUES[1])).is_ok(), "{text}");
        let error = everywhere(&mut devices, &text, &args(ZERO)).unwrap_err();
        assert!(error.message.ends_with("division by zero"), "{}", error.message);
        let place = error.span.map(|s| &text[s.start as usize..s.end as usize]);
        assert_eq!(place, Some(failing), "{text}");
    }
}

#[test]
fn a_division_that_is_not_evaluated_does_not_fail() {
    let mut devices = devices();
    for body in [
        "if b == 0 then 3 else a / b",
        "if 0 < b then a / b else 3",
        "if b * b == 0 then 3 else a / b",
        "if b != 0 && a / b > 1 then 1 else 2",
        "if b * b != 0 && a / b > 1 then 1 else 2",
        "if b == 0 || a % b > 1 then 1 else 2",
        "if b == 0 then 3 else if a > 0 then a / b else a % b",
        "if a > 0 then (if b == 0 then 1 else a / b) else b",
    ] {
        let args = [Value::from(VALUES[0].to_vec()), Value::from(ZERO.to_vec())];
        assert!(everywhere(&mut devices, &pairs(body), &args).is_ok(), "{body}");
    }
}

#[test]
fn lanes_are_divided_one_by_one() {
    let mut devices = devices();
    let args = |b: &[i32]| [Value::from(VALUES[0].to_vec()), Value::from(b.to_vec())];
    for (body, fails) in [
        ("a / b", true),
        ("a % b", true),
        ("select(b == 0, 1, a / b)", true),
        ("vectorize(4, \\x y -> x / y)(a, b)", true),
        ("vectorize(4, \\x y -> if y == 0 then x / y else 3)(a, b)", true),
        ("vectorize(4, \\x y -> if y == 0 then 3 else x / y)(a, b)", false),
        ("vectorize(4, \\x y -> if y * y == 0 then 3 else x / y)(a, b)", false),
        ("vectorize(4, \\x y -> if y * y != 0 && x / y > 1 then 1 else 2)(a, b)", false),
        ("vectorize(4, \\x y -> if y == 0 || x % y > 1 then 1 else 2)(a, b)", false),
    ] {
        let text = by_vectors(body);
        assert!(everywhere(&mut devices, &text, &args(VALUES[1])).is_ok(), "{text}");
        assert_eq!(everywhere(&mut devices, &text, &args(ZERO)).is_err(), fails, "{text}");
    }
}

/// `T::min / -1` is `T::min` and `T::min % -1` is 0.
#[test]
fn the_one_quotient_without_room_wraps() {
    let mut devices = devices();
    for ty in ["i8", "i16", "i32", "i64"] {
        let text = format!(
            "def f[N](b: [{ty}; N]) -> [({ty}, {ty}); N] =
               b |> map(\\b -> ({ty}::min / b, {ty}::min % b));"
        );
        let b = match ty {
            "i8" => Value::from(vec![-1i8]),
            "i16" => Value::from(vec![-1i16]),
            "i32" => Value::from(vec![-1i32]),
            _ => Value::from(vec![-1i64]),
        };
        let result = everywhere(&mut devices, &text, &[b]).unwrap().to_string();
        let least = match ty {
            "i8" => i64::from(i8::MIN),
            "i16" => i64::from(i16::MIN),
            "i32" => i64::from(i32::MIN),
            _ => i64::MIN,
        };
        let suffix = if ty == "i32" { "" } else { ty };
        assert_eq!(result, format!("[({least}{suffix}, 0{suffix})]"));
    }
}

/// A size that may be zero is divided by as a value is.
#[test]
fn sizes_divide_too() {
    let mut devices = devices();
    let text = "def f[N](x: [i32; N]) -> [i32; N] = x |> map(\\x -> 10 / (N - 3));";
    let error = everywhere(&mut devices, text, &[Value::from(vec![1, 2, 3])]).unwrap_err();
    assert_eq!(error.message, "division by zero");
    let guarded =
        "def f[N](x: [i32; N]) -> [i32; N] = x |> map(\\x -> if N == 3 then x else 10 / (N - 3));";
    let result = everywhere(&mut devices, guarded, &[Value::from(vec![1, 2, 3])]).unwrap();
    assert_eq!(result.to_string(), "[1, 2, 3]");
}

/// What a boundary function divides by is looked at where it is asked, before the array or behind it.
#[test]
fn boundary_functions_divide_too() {
    for function in [
        "max(0, min(len - 1, i / (len - 1)))",
        "(i % (len - 1) + len) % len",
        "max(0, min(len - 1, 7 / (i - len)))",
        "max(0, min(len - 1, 7 / (1 / (i - len + 2))))",
    ] {
        let padded = format!("x |> pad(2, 2, \\i len -> {function})");
        let text =
            format!("def f[N](x: [i32; N]) -> [i32; N + 4] = {padded} |> map(\\v -> v + 1);");
        let guarded = format!(
            "def f[N](x: [i32; N]) -> [i32; N] =
               x |> map(\\v -> if v < 9 then v else ({padded})[0]);"
        );
        for mut device in devices() {
            let mut run = |text: &str, options: &Options| {
                let program = lift::parse("f.lift", text).unwrap();
                let def = program.entry().unwrap();
                let wanted = lift_interp::run(def, &[Value::from(vec![5])], &Sizes::new());
                let mut compiled = Compiled::new(def, options, &mut *device).unwrap();
                (wanted, compiled.run(&mut *device, &[Value::from(vec![5])], &Sizes::new()))
            };
            let (wanted, found) = run(&text, &Options::default());
            assert!(wanted.unwrap_err().message.ends_with("division by zero"), "{text}");
            let Err(Error::Arguments(error)) = found else { panic!("{text} has a value") };
            assert_eq!(error.message, "division by zero", "{text}");
            let (wanted, found) = run(&guarded, &Options::default());
            assert_eq!(wanted.unwrap().to_string(), "[5]", "{guarded}");
            assert_eq!(found.unwrap().result.to_string(), "[5]", "{guarded}");
            // Any value, but no crash.
            let (_, found) = run(&text, &Options { unchecked: true, ..Options::default() });
            found.unwrap();
        }
    }
}

/// Under `--unchecked` the value is any, and nothing crashes.
#[test]
fn unchecked_divisions_do_not_crash() {
    for mut device in devices() {
        for text in [pairs("a / b + a % b"), by_vectors("a / b + a % b")] {
            let program = lift::parse("f.lift", &text).unwrap();
            let options = Options { unchecked: true, ..Options::default() };
            let mut compiled =
                Compiled::new(program.entry().unwrap(), &options, &mut *device).unwrap();
            let args = [Value::from(vec![i32::MIN, 1, 0, 7]), Value::from(vec![-1, 0, 0, 7])];
            let result = compiled.run(&mut *device, &args, &Sizes::new()).unwrap().result;
            assert!(result.to_string().ends_with(", 1]"), "{result}");
        }
    }
}

#[test]
fn proved_divisors_are_not_checked() {
    for body in [
        "a / 3",
        "a % -1",
        "a / max(b, 1)",
        "if b == 0 then 1 else a / b",
        "if a > 1 && b > 0 then a % b else 1",
        "a / (N + 2)",
        "a % (if b > 0 then 2 else 3)",
    ] {
        let program = lift::parse("f.lift", &pairs(body)).unwrap();
        for language in [lift::Language::C, lift::Language::OpenCl, lift::Language::Cuda] {
            let (plan, _) =
                lift::compile_text(program.entry().unwrap(), &Options::default(), language)
                    .unwrap();
            assert!(plan.buffers.iter().all(|b| b.role != Role::Status), "{body}");
        }
    }
}
