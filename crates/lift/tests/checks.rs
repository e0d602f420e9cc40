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
        for (wrong, index) in
            [(vec![0, 3], "3"), (vec![-1, 1], "-1"), (vec![0, i32::MIN], "-2147483648")]
        {
            let Err(Error::Arguments(error)) = pick(device, wrong) else {
                panic!("the index is out of range")
            };
            assert_eq!(error.message, format!("index {index} is outside an array of length 3"));
            assert_eq!(error.span.map(|s| s.start), PICK.rfind("i]").map(|i| i as u32));
        }
    }
}

/// Rows of any length, which one work-item, a few, a group, or several fold: where bounds decrease they are told, and where an element
/// is none, its number or one behind it; a column that is none is told as well.
#[test]
fn a_row_that_is_wrong_is_told() {
    let text = "def rows[R, E, C](starts: [i32; R + 1], cols: [i32; E], x: [f32; C]) -> [f32; R] =
       [ reduce(0.0, (+), [ x[cols[k]] | k in starts[r] .. starts[r + 1] ]) | r in line[R] ];";
    let program = lift::parse("rows.lift", text).unwrap();
    for device in ["cpu", "opencl:pocl"] {
        let mut device = lift::open(device).unwrap();
        let options = Options::default();
        let mut compiled = Compiled::new(program.entry().unwrap(), &options, &mut *device).unwrap();
        let mut told = |starts: &[i32], cols: Vec<i32>| {
            let starts = Value::from(starts.to_vec());
            let x = Value::from(vec![1.0f32; 3]);
            let run = compiled.run(&mut *device, &[starts, Value::from(cols), x], &Sizes::new());
            let Err(Error::Arguments(error)) = run else { panic!("a row is wrong") };
            error.message
        };
        for length in [3, 70, 900, 6000] {
            let (entries, first) = (length as usize + 10, length + 10);
            let decreasing = told(&[0, length, 2], vec![1; entries]);
            assert_eq!(decreasing, format!("the range {length} .. 2 decreases"));
            let index = |message: String, array: usize| -> i32 {
                let end = format!(" is outside an array of length {array}");
                let number = message.strip_prefix("index ").and_then(|m| m.strip_suffix(&end));
                number.unwrap_or_else(|| panic!("{message}")).parse().unwrap()
            };
            let beyond = index(told(&[0, 2, 2 + 2 * first], vec![1; entries]), entries);
            assert!((first..2 + 2 * first).contains(&beyond), "{beyond} of {entries}");
            let below = index(told(&[-5, length, length], vec![1; entries]), entries);
            assert!((-5..0).contains(&below), "{below}");
            for wrong in [3, -1, i32::MIN, i32::MAX] {
                let mut cols = vec![1; entries];
                cols[length as usize - 1] = wrong;
                assert_eq!(index(told(&[0, length, first], cols), 3), wrong);
            }
        }
    }
}

/// Which of two it is that is told is left to the device, but it is one of them, as a whole.
#[test]
fn a_point_outside_is_told() {
    let text = "domain upper[n] = { (a, b) | a < b, b < n };
         domain corner[n] = { (i, j, k, l) | i <= j <= k <= l < n };
         def two[N, M](m: [i32 in upper[N]], is: [i32; M], js: [i32; M]) -> [i32; M] =
           [ m[is[k], js[k]] | k in line[M] ];
         def four[N, M](m: [i32 in corner[N]], is: [i32; M], js: [i32; M]) -> [i32; M] =
           [ m[is[k], is[k], js[k], js[k]] | k in line[M] ];
         def wide[N, M](m: [i32 in upper[N]], is: [i64; M], js: [i64; M]) -> [i32; M] =
           [ m[is[k], js[k]] | k in line[M] ];
         def number[M](is: [i32; M], js: [i32; M]) -> [i32; M] =
           [ let (a, b) = point(upper[4], is[k] + js[k]); a * 10 + b | k in line[M] ];";
    let program = lift::parse("points.lift", text).unwrap();
    let find = |name: &str| program.defs.iter().find(|def| def.name == name).unwrap();
    let told = |name: &str, device: &str, is: &[i32], js: &[i32]| {
        let mut device = lift::open(device).unwrap();
        let mut compiled = Compiled::new(find(name), &Options::default(), &mut *device).unwrap();
        let both = match name {
            "wide" => {
                [is, js].map(|xs| Value::from(xs.iter().map(|x| i64::from(*x)).collect::<Vec<_>>()))
            }
            _ => [is, js].map(|xs| Value::from(xs.to_vec())),
        };
        let own = match name {
            "two" | "wide" => Some(Value::from(vec![7i32; 6])),
            "four" => Some(Value::from(vec![7i32; 5])),
            _ => None,
        };
        let args: Vec<Value> = own.into_iter().chain(both).collect();
        match compiled.run(&mut *device, &args, &Sizes::new()) {
            Ok(run) => run.result.to_string(),
            Err(Error::Arguments(error)) => error.message,
            Err(other) => panic!("{other}"),
        }
    };
    for device in ["cpu", "opencl:pocl"] {
        let two = |is: &[i32], js: &[i32]| told("two", device, is, js);
        assert_eq!(two(&[0, 2], &[1, 3]), "[7, 7]");
        assert_eq!(
            two(&[0, 2], &[1, 1]),
            "the point (2, 1) is outside `{ (i, j) | i < j, j < N }`"
        );
        assert_eq!(
            two(&[-5, 0], &[1, 1]),
            "the point (-5, 1) is outside `{ (i, j) | i < j, j < N }`"
        );
        let found = two(&[3, 1], &[3, i32::MAX]);
        let points = ["(3, 3)", "(1, 2147483647)"];
        assert!(
            points.iter().any(|point| found.starts_with(&format!("the point {point} "))),
            "{found}"
        );
        // Three indices have room.
        let four = told("four", device, &[1], &[0]);
        assert!(four.starts_with("the point (1, 1, 0, …) is outside"), "{four}");
        assert!(told("wide", device, &[2], &[1]).starts_with("a point is outside"));
        assert_eq!(told("number", device, &[2, 3], &[1, 2]), "[12, 23]");
        let number = told("number", device, &[2], &[4]);
        assert_eq!(number, "number 6 is not one of the 6 points of `{ (i, j) | i < j, j <= 3 }`");
    }
}

/// An index of 2^31 or more is no value, but it may be compared, and where nobody asks for it nothing is wrong.
#[test]
fn indices_beyond_an_i32_are_told() {
    let text = "domain far[b] = { (i) | b <= i, i < b + 10 };
         domain part[b] : line[3](j) = { far[b](i) | i == b + 2 * j };
         def ones(xs: [i64; 2]) -> f32 = reduce(0.0, (+), [ 1.0 | i in far[3000000000] ]);
         def ranks(xs: [i64; 2]) -> [i32; 2] = xs |> map(\\x -> rank(far[3000000000], x));
         def inside(xs: [i64; 2]) -> [bool; 2] = xs |> map(\\x -> x in far[3000000000]);
         def values(xs: [i64; 2]) -> [i32; 10] = flat([ i | i in far[3000000000] ]);
         def edge(xs: [i64; 2]) -> [i32; 10] = flat([ i | i in far[2147483638] ]);
         def shifted(xs: [i64; 2]) -> [i64; 2]
           = flat([ xs[i - 3000000000] | i in { (i) | 3000000000 <= i, i < 3000000002 } ]);
         def twice(xs: [i64; 2]) -> [i64; 2]
           = let ys = flat([ xs[2 * i - 6000000001] | i in { (i) | 3000000000 < i, i < 3000000002 } ]);
             concat(ys, ys);
         def rest(xs: [i64; 2]) -> [i64; 10] = flat([ xs[i % 2] | i in far[3000000001] ]);
         def seen(xs: [i64; 2]) -> [i32; 3]
           = let ys = over(far[3000000000], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]); view(part[3000000000], ys);
         def read(xs: [i64; 2]) -> [i32; 10]
           = let ys = over(far[3000000000], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
             flat([ 2 * ys[i] | i in far[3000000000] ]);
         def stair(xs: [i64; 2]) -> [i64; 6]
           = flat([ xs[(i + j) % 2] | (i, j) in { (i, j) | 5000000000 <= i, i < 5000000002, j < 3 } ]);
         def beyond(xs: [i64; 2]) -> [i64; 10] = flat([ xs[i - 3000000000] | i in far[3000000000] ]);";
    let program = lift::parse("far.lift", text).unwrap();
    let args = [Value::from(vec![3000000001i64, 3000000009])];
    let edge: Vec<String> = (2147483638i64..2147483648).map(|i| i.to_string()).collect();
    let edge = format!("[{}]", edge.join(", "));
    let wanted =
        [("ones", "10.0"), ("ranks", "[1, 9]"), ("inside", "[true, true]"), ("edge", &edge)];
    let (one, two) = ("3000000001i64", "3000000009i64");
    let shifted = format!("[{one}, {two}]");
    let twice = format!("[{two}, {two}]");
    let rest = format!("[{}]", [two, one].repeat(5).join(", "));
    let stair = format!("[{one}, {two}, {one}, {two}, {one}, {two}]");
    let read = [
        ("shifted", shifted.as_str()),
        ("twice", &twice),
        ("rest", &rest),
        ("seen", "[0, 2, 4]"),
        ("read", "[0, 2, 4, 6, 8, 10, 12, 14, 16, 18]"),
        ("stair", &stair),
    ];
    let refused = [("values", ""), ("beyond", "")];
    for (name, wanted) in wanted.into_iter().chain(read).chain(refused) {
        let def = program.defs.iter().find(|def| def.name == name).unwrap();
        let interpreted = lift_interp::run(def, &args, &Sizes::new());
        let mut found = vec![interpreted.map(|value| value.to_string()).map_err(|e| e.message)];
        for device in ["cpu", "opencl:pocl"] {
            let mut device = lift::open(device).unwrap();
            let run = Compiled::new(def, &Options::default(), &mut *device)
                .and_then(|mut compiled| compiled.run(&mut *device, &args, &Sizes::new()));
            found.push(run.map(|run| run.result.to_string()).map_err(|e| e.to_string()));
        }
        for found in found {
            match name {
                "values" => assert!(found.unwrap_err().contains("has no room in `i32`")),
                "beyond" => {
                    let found = found.unwrap_err();
                    assert!(found.contains("outside an array of length 2"), "{found}");
                }
                _ => assert_eq!(found.unwrap(), wanted, "{name}"),
            }
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
            assert_eq!(error.message, "index -1 is outside an array of length 1");
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
