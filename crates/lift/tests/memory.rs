//! No program reads or writes outside its arrays: indices are proved, checked in kernels, or looked at before launch,
//! in arithmetic that does not wrap.

#![allow(clippy::unwrap_used)]

use lift::{Compiled, Error, Language, Options, Sizes, Value, compile_text};
use lift_lower::{Plan, Role};

const DEVICES: [&str; 2] = ["cpu", "opencl:pocl"];

fn numbers(n: usize) -> Value {
    Value::from((0..n).map(|i| i as f32).collect::<Vec<f32>>())
}

/// What a program gives on a device, or why it does not: with sizes as arguments of kernels, and fixed.
fn run(text: &str, device: &str, args: &[Value], fixed: bool) -> Result<String, Error> {
    let program = lift::parse("f.lift", text)?;
    let def = program.entry().unwrap();
    let mut options = Options::default();
    if fixed {
        let types: Vec<lift_ir::Type> = args.iter().map(Value::ty).collect();
        let sizes = lift_interp::solve_sizes(def, &types, &Sizes::new())?;
        options.sizes = sizes.iter().map(|(name, n)| (name.to_owned(), n)).collect();
    }
    let mut device = lift::open(device).unwrap();
    let mut compiled = Compiled::new(def, &options, &mut *device)?;
    Ok(compiled.run(&mut *device, args, &Sizes::new())?.result.to_string())
}

fn interpreted(text: &str, args: &[Value]) -> Result<String, lift::RunError> {
    let program = lift::parse("f.lift", text).unwrap();
    let value = lift_interp::run(program.entry().unwrap(), args, &Sizes::new())?;
    Ok(value.to_string())
}

/// Devices give what the interpreter gives.
fn agree(text: &str, args: &[Value]) {
    let wanted = interpreted(text, args).unwrap();
    for device in DEVICES {
        for fixed in [false, true] {
            assert_eq!(run(text, device, args, fixed).unwrap(), wanted, "{device}: {text}");
        }
    }
}

/// Devices refuse, with some of these words, at this place.
fn refused(text: &str, args: &[Value], words: &str, place: &str) {
    for device in DEVICES {
        for fixed in [false, true] {
            is_refused((text, device, args, fixed), words, place);
        }
    }
}

/// They refuse where sizes are arguments of kernels, and give what the interpreter gives where sizes are numbers.
fn refused_open(text: &str, args: &[Value], words: &str, place: &str) {
    let wanted = interpreted(text, args).unwrap();
    for device in DEVICES {
        is_refused((text, device, args, false), words, place);
        assert_eq!(run(text, device, args, true).unwrap(), wanted, "{device}: {text}");
    }
}

fn is_refused((text, device, args, fixed): (&str, &str, &[Value], bool), words: &str, place: &str) {
    let (message, span) = match run(text, device, args, fixed) {
        Err(Error::Arguments(error)) => (error.message, error.span),
        Err(Error::Lower(error)) => (error.message, error.span),
        other => panic!("{device}: {text} gives {other:?}"),
    };
    let said = words.split('|').any(|words| message.contains(words));
    assert!(said, "{device}: {message}");
    let found = span.map(|s| &text[s.start as usize..s.end as usize]);
    assert!(found.is_some_and(|f| f.contains(place)), "{device}: at {found:?}");
}

fn plan(text: &str, sizes: &[(&str, i128)], language: Language) -> Plan {
    let program = lift::parse("f.lift", text).unwrap();
    let sizes = sizes.iter().map(|(name, n)| (name.to_string(), *n)).collect();
    let options = Options { sizes, ..Options::default() };
    compile_text(program.entry().unwrap(), &options, language).unwrap().0
}

fn is_wide(text: &str, sizes: &[(&str, i128)]) -> bool {
    let widths = [Language::OpenCl, Language::Cuda]
        .map(|language| plan(text, sizes, language).kernels.iter().any(|k| k.wide_indices));
    assert_eq!(widths[0], widths[1]);
    widths[0]
}

/// The arrays are short, and products on the way to their indices are not.
#[test]
fn values_on_the_way_to_an_index_choose_its_width() {
    let twice = "def f[N](x: [f32; N]) -> [f32; N] where N % 8192 == 0 =
                   x |> reorder_stride(128) |> reorder_stride(64);";
    assert!(is_wide(twice, &[("N", 64_004_096)]));
    assert!(!is_wide(twice, &[("N", 8192)]));
    let far = "def f[N](x: [f32; N]) -> [f32; N] =
                 x |> pad_value(0, (N - 1) * 1000000000, 2.5) |> drop(N - 1)
                   |> slide(1, 1000000000) |> map(\\w -> w[0]);";
    assert!(is_wide(far, &[("N", 4)]));
    assert!(is_wide("def f[N](x: [f32; N]) -> [f32; N] = x |> map(\\a -> a + 1.0);", &[]));
    let plain =
        "def f[M, N](x: [[f32; N]; M]) -> [[f32; M]; N] = x |> transpose |> map2(\\a -> a + 1.0);";
    assert!(!is_wide(plain, &[("M", 4096), ("N", 16384)]));
    assert!(is_wide(plain, &[("M", 65536), ("N", 65536)]));
}

#[test]
fn windows_far_apart_are_read_where_they_are() {
    let text = "def f[N](x: [f32; N]) -> [f32; N] =
                  x |> pad_value(0, (N - 1) * 1000000000, 2.5) |> drop(N - 1)
                    |> slide(1, 1000000000) |> map(\\w -> w[0]);";
    for device in DEVICES {
        for fixed in [false, true] {
            assert_eq!(run(text, device, &[numbers(3)], fixed).unwrap(), "[2.0, 2.5, 2.5]");
        }
    }
}

#[test]
fn permutations_with_large_products_are_computed_exactly() {
    agree(
        "def f[N](x: [f32; N]) -> [f32; N] = x |> gather(\\i -> (i * 1234577) % len);",
        &[numbers(100_003)],
    );
    agree(
        "def f[N](x: [f32; N]) -> [f32; N] = x |> scatter(\\i -> (i * 1234577) % len);",
        &[numbers(100_003)],
    );
    let once = "gather(\\i -> (i * 4000000007 + 3) % len)";
    agree(
        &format!(
            "def f[N](x: [f32; N]) -> [f32; N] = x |> {once} |> {once} |> {once} |> {once} |> {once};"
        ),
        &[numbers(41)],
    );
}

#[test]
fn numbers_beyond_64_bits_are_refused() {
    // Of numbers that are known no more is computed than what remains of them.
    refused_open(
        "def f[N](x: [f32; N]) -> [f32; N] = x |> gather(\\i -> (i * 1000000000000007) % len);",
        &[numbers(100_003)],
        "64 bits",
        "gather",
    );
    let factors = ["N"; 16].join(" * ");
    refused(
        &format!("def f[N](x: [f32; N]) -> [f32; N] = x |> map(\\a -> a + x[{factors}]);"),
        &[numbers(16)],
        "not a value of `i32`|64 bits",
        "N * N",
    );
    refused(
        &format!("def f[N](x: [f32; N], y: [i64; N]) -> [f32; N] = y |> map(\\k -> x[{factors}]);"),
        &[numbers(16), Value::from(vec![0i64; 16])],
        "not a value of `i32`|64 bits",
        "N * N",
    );
    let once = "scatter(\\i -> (i * 4000000007 + 3) % len)";
    let chain = [once; 5].join(" |> ");
    refused_open(
        &format!("def f[N](x: [f32; N]) -> [f32; N] = x |> map(\\a -> a) |> {chain};"),
        &[numbers(41)],
        "64 bits",
        "f",
    );
}

#[test]
fn an_index_function_that_is_no_permutation_is_refused_before_launch() {
    for pattern in ["gather", "scatter"] {
        refused(
            &format!("def f[N](x: [f32; N]) -> [f32; N] = x |> {pattern}(\\i -> 7 * i);"),
            &[numbers(100_000)],
            "needs a permutation",
            pattern,
        );
    }
    let lost = "def f[N](x: [f32; N]) -> [f32; N] = x |> gather(\\i -> (4 * i) % len);";
    refused(lost, &[numbers(100_000)], "needs a permutation", "gather");
    agree(
        "def f[N](x: [f32; N]) -> [f32; N] = x |> gather(\\i -> (7 * i) % len);",
        &[numbers(100_000)],
    );
}

#[test]
fn a_boundary_function_that_leaves_the_array_is_an_error() {
    let outside = "outside an array of length 3";
    for boundary in [
        "pad(0, N + 1, \\i len -> 2 * len - 1 - i)",
        "pad(1, 1, \\i len -> i * 1000000000)",
        "pad(1, 1, \\i len -> len)",
        "pad(2, 0, \\i len -> i + 1)",
    ] {
        let text = format!("def f[N](x: [f32; N]) -> f32 = x |> {boundary} |> reduce(0.0, (+));");
        refused(&text, &[numbers(3)], outside, "pad");
        assert!(interpreted(&text, &[numbers(3)]).is_err());
    }
}

#[test]
fn a_boundary_function_that_stays_inside_is_not_checked() {
    for (boundary, length) in [
        ("pad(1, 1, \\i len -> 0)", "N + 2"),
        ("pad(0, N, \\i len -> 2 * len - 1 - i)", "2 * N"),
        ("pad(N, 0, \\i len -> i + len)", "2 * N"),
        ("pad(N, N, \\i len -> (i + len) % len)", "3 * N"),
    ] {
        let text = format!(
            "def f[N](x: [f32; N]) -> [f32; {length}] = x |> {boundary} |> map(\\a -> a + 1.0);"
        );
        let plan = plan(&text, &[], Language::C);
        assert!(plan.buffers.iter().all(|b| b.role != Role::Status), "{boundary}");
        agree(&text, &[numbers(5)]);
    }
}

#[test]
fn an_index_is_compared_in_its_own_type() {
    let text = |ty: &str| {
        format!("def f[N, M](x: [f32; N], at: [{ty}; M]) -> [f32; M] = at |> map(\\i -> x[i]);")
    };
    let outside = "outside an array of length 10";
    let (i64s, u64s, u32s) = (text("i64"), text("u64"), text("u32"));
    agree(&i64s, &[numbers(10), Value::from(vec![9i64, 0, 5])]);
    agree(&u64s, &[numbers(10), Value::from(vec![9u64, 0, 5])]);
    agree(&u32s, &[numbers(10), Value::from(vec![9u32, 0, 5])]);
    for wrong in [-1, 10, (1 << 32) + 5, i64::MIN, i64::MIN + 5, i64::MAX] {
        refused(&i64s, &[numbers(10), Value::from(vec![wrong])], outside, "i");
    }
    for wrong in [10, (1 << 63) + 5, 1 << 32, u64::MAX] {
        refused(&u64s, &[numbers(10), Value::from(vec![wrong])], outside, "i");
    }
    for wrong in [10, 1 << 31, u32::MAX] {
        refused(&u32s, &[numbers(10), Value::from(vec![wrong])], outside, "i");
    }
}

/// In the interpreter `i * 1073741824` is an `i32` and wraps to 0 or 1073741824 * 1, 2, 3.
#[test]
fn index_arithmetic_wraps_as_its_type_does() {
    agree(
        "def f[N](x: [f32; N]) -> [f32; N] = generate(N, \\i -> x[i * 4 * 1073741824]);",
        &[numbers(9)],
    );
    agree(
        "def f[N](x: [f32; N]) -> [f32; N] = generate(N, \\i -> x[(i * 1103515245 + 12345) % 3 + 2]);",
        &[numbers(9)],
    );
}

#[test]
fn an_array_without_elements_is_not_read() {
    let text = "def f[N, M](x: [f32; N], at: [i64; M]) -> [f32; M] =
                  let none = x |> drop(N); at |> map(\\i -> none[i]);";
    refused(text, &[numbers(3), Value::from(vec![0i64])], "length 0", "i");
    let text = "def f[N, M](x: [f32; N], at: [i32; M]) -> [f32; M] =
                  at |> map(\\i -> (x |> drop(N))[i]);";
    refused(text, &[numbers(3), Value::from(vec![0i32])], "length 0", "i");
}

#[test]
fn generated_indices_are_i32() {
    let text = "def f[N; K = 1](x: [f32; N]) -> [f32; N] =
                  x |> map(\\a -> a + ((generate(K * 1000000000, \\i -> i) |> take(1) |> reduce(0, (+))) as f32));";
    let program = lift::parse("f.lift", text).unwrap();
    let def = program.entry().unwrap();
    for device in DEVICES {
        let mut device = lift::open(device).unwrap();
        let sizes = [("K".to_owned(), 3)].into();
        let options = Options { sizes, ..Options::default() };
        let mut run = |options: &Options| {
            let mut compiled = Compiled::new(def, options, &mut *device)?;
            compiled.run(&mut *device, &[numbers(2)], &Sizes::new())
        };
        assert!(run(&Options::default()).is_ok());
        assert!(run(&options).is_err());
    }
}
