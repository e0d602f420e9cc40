//! The point of a number is exact in triangles of nearly 2^31 points, at the borders of their rows.

#![allow(clippy::unwrap_used)]

use lift::{Compiled, Options, Sizes, Value};

/// The rows of the largest triangle with a diagonal whose points an `i32` numbers.
const ROWS: i64 = 65_535;

/// The numbers of points before a row of the lower half, and of the upper one without the diagonal.
fn before_lower(row: i64) -> i64 {
    row * (row + 1) / 2
}

fn before_upper(row: i64) -> i64 {
    row * (2 * ROWS - row - 1) / 2
}

/// The first and the last number of many rows, the first and last rows among them.
fn borders(before: fn(i64) -> i64, rows: i64) -> Vec<i32> {
    let some = (0..200).chain((200..rows - 200).step_by(97)).chain(rows - 200..rows);
    let numbers = some.flat_map(|row| [before(row), before(row + 1) - 1]);
    numbers.map(|number| i32::try_from(number).unwrap()).collect()
}

#[test]
fn rows_of_large_triangles_are_found() {
    let text = format!(
        "domain lower[n] = {{ (i, j) | j <= i, i < n }};
         domain upper[n] = {{ (i, j) | i < j, j < n }};
         def f[K, M](rs: [i32; K], ss: [i32; M]) -> ([(i32, i32); K], [(i32, i32); M]) =
           (rs |> map(\\r -> point(lower[{ROWS}], r)), ss |> map(\\s -> point(upper[{ROWS}], s)));"
    );
    let program = lift::parse("triangles.lift", &text).unwrap();
    let def = program.entry().unwrap();
    let (lower, upper) = (borders(before_lower, ROWS), borders(before_upper, ROWS - 1));
    let args = [Value::from(lower.clone()), Value::from(upper.clone())];
    for name in ["cpu", "opencl:pocl"] {
        let mut device = lift::open(name).unwrap();
        let mut compiled = Compiled::new(def, &Options::default(), &mut *device).unwrap();
        let found = compiled.run(&mut *device, &args, &Sizes::new()).unwrap().result;
        let point = |half: usize, at: usize| {
            let point = found.get(half).unwrap().get(at).unwrap();
            let index = |k: usize| point.get(k).unwrap().to_integer().unwrap() as i64;
            (index(0), index(1))
        };
        for (at, number) in lower.iter().enumerate() {
            let (i, j) = point(0, at);
            assert!((0..=i).contains(&j) && i < ROWS, "{name}: {number} is ({i}, {j})");
            assert_eq!(before_lower(i) + j, i64::from(*number), "{name}: ({i}, {j})");
        }
        for (at, number) in upper.iter().enumerate() {
            let (i, j) = point(1, at);
            assert!((i + 1..ROWS).contains(&j) && 0 <= i, "{name}: {number} is ({i}, {j})");
            assert_eq!(before_upper(i) + j - i - 1, i64::from(*number), "{name}: ({i}, {j})");
        }
    }
}
