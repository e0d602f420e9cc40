//! Rows whose lengths are data, some of them long: what few work-items, a group and several groups fold is one row's fold.
#![allow(clippy::unwrap_used)]

use lift::{Compiled, Options, Sizes, Value};

const SUMS: &str = "def sums[R, E](starts: [i32; R + 1], xs: [i32; E]) -> [i32; R] =
  [ reduce(0, (+), [ xs[k] | k in starts[r] .. starts[r + 1] ]) | r in line[R] ];";

/// Lengths of rows at which something else folds, more of them than are the longest of many, some equally long.
const LONG: [i32; 10] = [64, 65, 2048, 2049, 5000, 5000, 5000, 2049, 9000, 300];

#[test]
fn long_rows_are_folded_whole() {
    let program = lift::parse("sums.lift", SUMS).unwrap();
    let def = program.entry().unwrap();
    for device in ["cpu", "opencl:pocl"] {
        let mut device = lift::open(device).unwrap();
        let mut any = Compiled::new(def, &Options::default(), &mut *device).unwrap();
        for rows in [1, 10, 33, 4100] {
            let length = |row: usize| match row % 37 {
                place @ 0..10 if !(100..=4090).contains(&row) => LONG[(place + row / 37) % 10],
                place => place as i32 % 5,
            };
            let lengths: Vec<i32> = (0..rows).map(length).collect();
            let mut starts = vec![3];
            starts.extend(lengths.iter().scan(3, |end, length| {
                *end += length;
                Some(*end)
            }));
            let entries = starts.last().copied().unwrap() as usize + 2;
            let xs: Vec<i32> = (0..entries as i32).map(|k| k * 7919 % 1001).collect();
            let sum = |ends: &[i32]| xs[ends[0] as usize..ends[1] as usize].iter().sum::<i32>();
            let wanted: Vec<i32> = starts.windows(2).map(sum).collect();
            let args = [Value::from(starts.clone()), Value::from(xs.clone())];
            let found = any.run(&mut *device, &args, &Sizes::new()).unwrap().result;
            assert_eq!(found, Value::from(wanted.clone()), "{rows} rows");
            // Of sizes that are known the longest are looked for among fewer.
            let known = [("R".to_owned(), rows as i128), ("E".to_owned(), entries as i128)];
            let options = Options { sizes: known.into(), ..Options::default() };
            let mut fixed = Compiled::new(def, &options, &mut *device).unwrap();
            let found = fixed.run(&mut *device, &args, &Sizes::new()).unwrap().result;
            assert_eq!(found, Value::from(wanted), "{rows} rows, known");
        }
    }
}
