//! Triangles and tetrahedra of every size up to 70, against sums that are counted by hand.

#![allow(dead_code)]

use lift::{Compiled, Device, Options, Program, Sizes, Value};

const TEXT: &str = "
    domain upper[n] = { (a, b) | a < b, b < n };
    domain lower[n] = { grid[n, n](a, b) | b <= a };
    domain tetra[n] = { (i, j, k) | i <= j <= k < n };
    def skew[N](a: [[i32; N]; N]) -> [i32 in upper[N]] = [ a[i, j] - 2 * a[j, i] | (i, j) in upper[N] ];
    def gram[N](v: [i32; N]) -> [i32 in lower[N]] = [ v[i] * v[j] | (i, j) in lower[N] ];
    def corners[N](v: [i32; N]) -> [i32 in tetra[N]] = [ v[i] * 10000 + v[j] * 100 + v[k] | (i, j, k) in tetra[N] ];
    def total[N](v: [i32; N]) -> i32 = reduce(0, (+), [ v[i] * v[j] * v[k] | (i, j, k) in tetra[N] ]);";

/// Sizes that kernels are made for, besides kernels for any size.
const FIXED: [usize; 9] = [1, 2, 3, 8, 17, 31, 64, 65, 70];

/// Every size up to this.
pub const MOST: usize = 70;

pub fn program() -> Program {
    lift::parse("halves.lift", TEXT).unwrap()
}

fn number(i: usize) -> i32 {
    (i * 7 % 11) as i32 - 5
}

fn line(n: usize) -> Value {
    Value::from((0..n).map(number).collect::<Vec<_>>())
}

/// The arguments of a definition for a size.
pub fn args(name: &str, n: usize) -> Vec<Value> {
    let square = (0..n * n).map(|at| number(3 * (at / n) + 5 * (at % n))).collect::<Vec<i32>>();
    match name {
        "skew" => vec![Value::shaped(square, &[n, n]).unwrap()],
        _ => vec![line(n)],
    }
}

/// What a definition gives, one number after the other.
pub fn expected(name: &str, n: usize) -> Vec<i32> {
    let square = |i: usize, j: usize| number(3 * i + 5 * j);
    let mut all = Vec::new();
    for i in 0..n {
        for j in 0..n {
            match name {
                "skew" if i < j => all.push(square(i, j) - 2 * square(j, i)),
                "gram" if j <= i => all.push(number(i) * number(j)),
                "corners" if i <= j => {
                    let corner = |k| number(i) * 10000 + number(j) * 100 + number(k);
                    all.extend((j..n).map(corner));
                }
                _ => {}
            }
        }
    }
    match name {
        "total" => vec![total(n)],
        _ => all,
    }
}

/// The sum over all i <= j <= k of products, by sums of the ends of the row.
fn total(n: usize) -> i32 {
    let (mut ends, mut pairs, mut all) = (0i32, 0i32, 0i32);
    for i in (0..n).rev() {
        ends = ends.wrapping_add(number(i));
        pairs = pairs.wrapping_add(number(i).wrapping_mul(ends));
        all = all.wrapping_add(number(i).wrapping_mul(pairs));
    }
    all
}

pub fn numbers(value: &Value) -> Vec<i32> {
    match value.to_integer() {
        Some(n) => vec![n as i32],
        None => (0..value.len()).flat_map(|k| numbers(&value.get(k).unwrap())).collect(),
    }
}

/// Runs everything on a device: kernels for any size at each of them, up to the largest of triangles, of tetrahedra and of
/// sums, and kernels for some.
pub fn every_size_agrees_on(device: &mut dyn Device, [triangles, tetrahedra, totals]: [usize; 3]) {
    for def in &program().defs {
        let mut any = Compiled::new(def, &Options::default(), device).unwrap();
        let most = match def.name.as_str() {
            "corners" => tetrahedra,
            "total" => totals,
            _ => triangles,
        };
        for n in 1..=most {
            let mut agrees = |compiled: &mut Compiled, what: &str| {
                let found = compiled.run(device, &args(&def.name, n), &Sizes::new()).unwrap();
                let found = numbers(&found.result);
                assert!(found == expected(&def.name, n), "{} at {n}, {what}", def.name);
            };
            agrees(&mut any, "any size");
            if !FIXED.contains(&n) {
                continue;
            }
            let sizes = [("N".to_string(), n as i128)].into_iter().collect();
            let options = Options { sizes, ..Options::default() };
            let mut fixed = Compiled::new(def, &options, device).unwrap();
            let found = fixed.run(device, &args(&def.name, n), &Sizes::new()).unwrap();
            assert!(numbers(&found.result) == expected(&def.name, n), "{} of {n}", def.name);
        }
    }
}

/// Primes near 1000.
pub const LARGE: [usize; 2] = [997, 1009];

/// What a device has memory and time for at them: 165 million corners of a tetrahedron are too many.
pub const LARGE_NAMES: [&str; 3] = ["skew", "gram", "total"];

/// The same at large sizes, for the definitions that are named.
pub fn large_sizes_agree_on(device: &mut dyn Device, names: &[&str], large: &[usize]) {
    for def in program().defs.iter().filter(|def| names.contains(&def.name.as_str())) {
        for &n in large {
            let sizes = [("N".to_string(), n as i128)].into_iter().collect();
            let options = Options { sizes, ..Options::default() };
            let mut fixed = Compiled::new(def, &options, device).unwrap();
            let found = fixed.run(device, &args(&def.name, n), &Sizes::new()).unwrap();
            assert!(numbers(&found.result) == expected(&def.name, n), "{} of {n}", def.name);
        }
    }
}
