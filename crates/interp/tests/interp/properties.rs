//! Laws that hold for all arrays.

use std::slice::from_ref;

use lift_interp::Value;
use lift_ir::{Boundary, Expr, FoldKind, MapKind, Nat, Permutation, Type, Var};
use proptest::prelude::*;

use crate::{ints, value};

fn array(max: usize) -> impl Strategy<Value = Vec<i32>> {
    proptest::collection::vec(-100..100, 1..=max)
}

/// Elements of `rows * columns`, and the two numbers.
fn matrix() -> impl Strategy<Value = (Vec<i32>, usize, usize)> {
    (1..6usize, 1..6usize).prop_flat_map(|(rows, columns)| {
        let elements = proptest::collection::vec(-100..100, rows * columns);
        (elements, Just(rows), Just(columns))
    })
}

fn shaped(elements: &[i32], rows: usize, columns: usize) -> Value {
    Value::shaped(elements.to_vec(), &[rows, columns]).expect("as many as there are places")
}

proptest! {
    #[test]
    fn join_after_split((xs, _, columns) in matrix()) {
        let got = value(&[ints(&xs)], |_, b, x| b.join(b.split(columns, &x[0])));
        prop_assert_eq!(got, ints(&xs));
    }

    #[test]
    fn split_after_join((xs, rows, columns) in matrix()) {
        let xss = shaped(&xs, rows, columns);
        let got = value(from_ref(&xss), |_, b, x| b.split(columns, b.join(&x[0])));
        prop_assert_eq!(got, xss);
    }

    #[test]
    fn transpose_twice((xs, rows, columns) in matrix()) {
        let xss = shaped(&xs, rows, columns);
        let got = value(from_ref(&xss), |_, b, x| b.transpose(b.transpose(&x[0])));
        prop_assert_eq!(got, xss);
    }

    #[test]
    fn transpose_elementwise((xs, rows, columns) in matrix()) {
        let got = value(&[shaped(&xs, rows, columns)], |_, b, x| b.join(b.transpose(&x[0])));
        let mut expected = Vec::new();
        for column in 0..columns {
            expected.extend((0..rows).map(|row| xs[row * columns + column]));
        }
        prop_assert_eq!(got, ints(&expected));
    }

    #[test]
    fn gather_undoes_scatter((xs, _, columns) in matrix(), k in 0..10i64) {
        let i = Var::with_id("i", 77);
        let n = Nat::int(xs.len() as i128);
        let reversed = n.clone() - Nat::int(1) - Nat::var(&i);
        for p in [
            Permutation::Reverse,
            Permutation::Shift(Nat::from(k)),
            Permutation::Stride(Nat::from(columns)),
            Permutation::Index(i.clone(), reversed.clone()),
        ] {
            let there = value(&[ints(&xs)], |_, b, x| b.gather(p.clone(), b.scatter(p.clone(), &x[0])));
            prop_assert_eq!(there, ints(&xs));
            let back = value(&[ints(&xs)], |_, b, x| b.scatter(p.clone(), b.gather(p, &x[0])));
            prop_assert_eq!(back, ints(&xs));
        }
        // A closed form and the same as an index function.
        let forms = [Permutation::Reverse, Permutation::Index(i, reversed)];
        let [a, b] = forms.map(|p| value(&[ints(&xs)], |_, b, x| b.gather(p, &x[0])));
        prop_assert_eq!(a, b);
    }

    #[test]
    fn slide_is_all_windows(step in 1..4usize, count in 1..6usize, size in 1..5usize) {
        let n = (count - 1) * step + size;
        let xs: Vec<i32> = (0..n as i32).collect();
        let got = value(&[ints(&xs)], |_, b, x| b.slide(size, step, &x[0]));
        let windows = (0..count).map(|i| ints(&xs[i * step..i * step + size])).collect();
        prop_assert_eq!(got, Value::array(windows).unwrap());
    }

    #[test]
    fn pad_is_reading_by_index(xs in array(6), left in 0..13usize, right in 0..13usize) {
        let n = xs.len() as i64;
        let mirror = |i: i64| if i < 0 { -1 - i } else if i >= n { 2 * n - 1 - i } else { i };
        let wrap = |i: i64| i.rem_euclid(n);
        let padded = |boundary| value(&[ints(&xs)], |_, b, x| b.pad(left, right, boundary, &x[0]));
        let read = |index: &dyn Fn(i64) -> i64| {
            let all = -(left as i64)..n + right as i64;
            ints(&all.map(|i| xs[index(i) as usize]).collect::<Vec<_>>())
        };
        prop_assert_eq!(padded(Boundary::Clamp), read(&|i| i.clamp(0, n - 1)));
        prop_assert_eq!(padded(Boundary::Wrap), read(&wrap));
        if left.max(right) as i64 <= n {
            prop_assert_eq!(padded(Boundary::Mirror), read(&mirror));
        }
    }

    #[test]
    fn take_then_drop(xs in array(8), at in 0..8usize) {
        let at = at.min(xs.len());
        let got = value(&[ints(&xs)], |_, b, x| b.concat(b.take(at, &x[0]), b.drop(at, &x[0])));
        prop_assert_eq!(got, ints(&xs));
    }

    /// `partial_reduce(m, z, f, xs) = map(reduce(z, f), transpose(split(m, xs)))`
    #[test]
    fn partial_reduce_is_a_reduction_of_columns((xs, _, columns) in matrix()) {
        let args = [ints(&xs)];
        let left = value(&args, |_, b, x| {
            b.partial_reduce(columns, b.i32(1), |a, x| b.sub(a, x), &x[0])
        });
        let right = value(&args, |_, b, x| {
            let columns = b.transpose(b.split(columns, &x[0]));
            b.map(|c| b.reduce(b.i32(1), |a, x| b.sub(a, x), c), columns)
        });
        prop_assert_eq!(left, right);
    }

    #[test]
    fn the_last_of_a_scan_is_the_reduction(xs in array(8)) {
        let args = [ints(&xs)];
        let scan = value(&args, |_, b, x| b.scan(b.i32(3), |a, x| b.sub(a, x), &x[0]));
        let reduction = value(&args, |_, b, x| b.reduce(b.i32(3), |a, x| b.sub(a, x), &x[0]));
        prop_assert_eq!(scan.get(xs.len() - 1), Some(reduction));
    }

    #[test]
    fn iterate_is_repeated_application(xs in array(4), times in 0..6i64) {
        let args = [ints(&xs)];
        let step = |b: lift_ir::Build<'_>, xs: Expr| b.map(|x| b.add(b.mul(b.i32(3), x), b.i32(1)), xs);
        let got = value(&args, |_, b, x| b.iterate(times, |xs| step(b, xs), &x[0]));
        let mut expected = ints(&xs);
        for _ in 0..times {
            expected = value(&[expected], |_, b, x| step(b, x[0].clone()));
        }
        prop_assert_eq!(got, expected);
    }

    #[test]
    fn vectors_and_scalars(xs in array(4), width in prop::sample::select(vec![2usize, 3, 4, 8, 16])) {
        let xs: Vec<i32> = xs.iter().cycle().take(xs.len() * width).copied().collect();
        let args = [ints(&xs)];
        let scalar = value(&args, |_, b, x| b.map(|x| b.add(b.mul(&x, &x), b.i32(1)), &x[0]));
        let vector = value(&args, |_, b, x| {
            let f = || b.lambda([("x", Type::I32)], |[x]| b.add(b.mul(&x, &x), b.i32(1)));
            b.as_scalar(b.map(|v| b.vectorize(width, f()?, [v]), b.as_vector(width, &x[0])))
        });
        let elementwise = value(&args, |_, b, x| {
            let f = |v: Expr| b.add(b.mul(&v, &v), b.i32(1));
            b.as_scalar(b.map(f, b.as_vector(width, &x[0])))
        });
        prop_assert_eq!(&vector, &scalar);
        prop_assert_eq!(&elementwise, &scalar);
    }

    /// What is low level says how, not what.
    #[test]
    fn low_level_forms_are_their_high_level_forms((xs, rows, columns) in matrix()) {
        let args = [shaped(&xs, rows, columns)];
        let program = |outer: MapKind, inner: MapKind, fold: FoldKind| {
            value(&args, |_, b, x| {
                b.map_as(outer, |row| {
                    let squares = b.map_as(inner, |x| b.mul(&x, &x), row);
                    b.reduce_as(fold, b.i32(0), |a, x| b.add(a, x), squares)
                }, &x[0])
            })
        };
        let high = program(MapKind::Map, MapKind::Map, FoldKind::Any);
        prop_assert_eq!(&high, &program(MapKind::Wrg(0), MapKind::Lcl(0), FoldKind::Seq));
        prop_assert_eq!(&high, &program(MapKind::Glb(1), MapKind::SeqUnroll, FoldKind::SeqUnroll));
        let expected: Vec<i32> =
            xs.chunks(columns).map(|row| row.iter().map(|x| x * x).sum()).collect();
        prop_assert_eq!(high, ints(&expected));
    }

    /// `dot` and matrix multiplication against loops.
    #[test]
    fn matrix_multiplication((xs, rows, columns) in matrix(), seed in 0..100i32) {
        let ys: Vec<i32> = (0..columns as i32 * 2).map(|i| (i * seed) % 13).collect();
        let args = [shaped(&xs, rows, columns), shaped(&ys, columns, 2)];
        let got = value(&args, |_, b, x| {
            b.map(|row| b.map(|column| {
                let products = b.map(|p| b.mul(b.field(&p, 0), b.field(&p, 1)), b.zip([&row, &column]));
                b.reduce(b.i32(0), |a, x| b.add(a, x), products)
            }, b.transpose(&x[1])), &x[0])
        });
        let mut expected = Vec::new();
        for i in 0..rows {
            for j in 0..2 {
                expected.push((0..columns).map(|k| xs[i * columns + k] * ys[k * 2 + j]).sum());
            }
        }
        prop_assert_eq!(got, shaped(&expected, rows, 2));
    }
}
