//! Patterns that rearrange arrays.

use lift_interp::Value;
use lift_ir::{Boundary, Literal, Nat, Permutation, Scalar, Span, Type, Var};

use crate::{apply, error, ints, rows, tuple, value};

#[test]
fn zip_pairs_elements() {
    let got = value(&[ints(&[1, 2]), ints(&[3, 4])], |_, b, x| b.zip([&x[0], &x[1]]));
    let pair = |a, b| tuple(&[Value::i32(a), Value::i32(b)]);
    assert_eq!(got, Value::array(vec![pair(1, 3), pair(2, 4)]).unwrap());
    assert_eq!(got.ty().to_string(), "[(i32, i32); 2]");
}

#[test]
fn unzip_undoes_zip() {
    let args = [ints(&[1, 2]), ints(&[3, 4])];
    let got = value(&args, |_, b, x| b.unzip(b.zip([&x[0], &x[1]])));
    assert_eq!(got, tuple(&args));
}

#[test]
fn split_makes_chunks() {
    let got = value(&[ints(&[1, 2, 3, 4, 5, 6])], |_, b, x| b.split(2, &x[0]));
    assert_eq!(got, rows(&[&[1, 2], &[3, 4], &[5, 6]]));
}

#[test]
fn join_puts_rows_end_to_end() {
    let got = value(&[rows(&[&[1, 2, 3], &[4, 5, 6]])], |_, b, x| b.join(&x[0]));
    assert_eq!(got, ints(&[1, 2, 3, 4, 5, 6]));
}

#[test]
fn join_of_columns_copies_them() {
    let got = value(&[rows(&[&[1, 2, 3], &[4, 5, 6]])], |_, b, x| b.join(b.transpose(&x[0])));
    assert_eq!(got, ints(&[1, 4, 2, 5, 3, 6]));
}

#[test]
fn transpose_swaps_dimensions() {
    let got = value(&[rows(&[&[1, 2, 3], &[4, 5, 6]])], |_, b, x| b.transpose(&x[0]));
    assert_eq!(got, rows(&[&[1, 4], &[2, 5], &[3, 6]]));
    assert_eq!(got.ty().to_string(), "[[i32; 2]; 3]");
}

#[test]
fn layout_acts_on_every_component_of_tuples() {
    let args = [ints(&[1, 2, 3, 4]), Value::from(vec![10u8, 20, 30, 40])];
    let got = value(&args, |_, b, x| b.transpose(b.split(2, b.zip([&x[0], &x[1]]))));
    let pair = |a, b| tuple(&[Value::i32(a), Value::u8(b)]);
    let row = |a, b| Value::array(vec![a, b]).unwrap();
    let expected = row(row(pair(1, 10), pair(3, 30)), row(pair(2, 20), pair(4, 40)));
    assert_eq!(got, expected);
    assert_eq!(got.ty().to_string(), "[[(i32, u8); 2]; 2]");
}

#[test]
fn gather_reads_through_the_permutation() {
    let xs = [ints(&[10, 11, 12, 13, 14, 15])];
    let gather = |p: Permutation| value(&xs, |_, b, x| b.gather(p, &x[0]));
    assert_eq!(gather(Permutation::Reverse), ints(&[15, 14, 13, 12, 11, 10]));
    assert_eq!(gather(Permutation::Shift(Nat::int(2))), ints(&[12, 13, 14, 15, 10, 11]));
    // i ↦ i / 3 + 2 * (i % 3)
    assert_eq!(gather(Permutation::Stride(Nat::int(2))), ints(&[10, 12, 14, 11, 13, 15]));
}

#[test]
fn scatter_writes_through_the_permutation() {
    let xs = [ints(&[10, 11, 12, 13, 14, 15])];
    let scatter = |p: Permutation| value(&xs, |_, b, x| b.scatter(p, &x[0]));
    assert_eq!(scatter(Permutation::Reverse), ints(&[15, 14, 13, 12, 11, 10]));
    assert_eq!(scatter(Permutation::Shift(Nat::int(2))), ints(&[14, 15, 10, 11, 12, 13]));
    assert_eq!(scatter(Permutation::Stride(Nat::int(2))), ints(&[10, 13, 11, 14, 12, 15]));
}

/// `\i -> (i * k) % 5`, its length unknown to the checker: `k` is an `iterate`'s length.
fn times(k: &Nat) -> Permutation {
    let i = Var::with_id("i", 77);
    Permutation::Index(i.clone(), (Nat::var(&i) * k).rem(&Nat::int(5)))
}

#[test]
fn gather_through_an_index_function() {
    let xs = [ints(&[10, 11, 12, 13, 14])];
    let got = value(&xs, |_, b, x| b.gather(times(&Nat::int(2)), &x[0]));
    assert_eq!(got, ints(&[10, 12, 14, 11, 13]));
}

#[test]
fn an_index_function_is_checked_before_it_is_used() {
    let message = error(&[ints(&[1, 2, 3, 4, 5])], |cx, b, x| {
        let length = Var::with_id("l", 9);
        let f = b.lambda([("xs", Type::array(Type::I32, &length))], |[xs]| {
            // Three elements of five, then as many again: 0 * 5, 1 * 5, … are all 0.
            b.gather(times(&Nat::var(&length)), xs)
        })?;
        let f = lift_ir::Lambda { size: Some(length), ..f };
        cx.call(lift_ir::Prim::Iterate, vec![Nat::int(1)], vec![f], vec![x[0].clone()])
    });
    assert_eq!(message, "`gather` needs a permutation of 5 elements, but 0 and 1 both go to 0");
}

#[test]
fn slide_makes_overlapping_windows() {
    let xs = [ints(&[1, 2, 3, 4, 5])];
    let slide = |size, step| value(&xs, |_, b, x| b.slide(size, step, &x[0]));
    assert_eq!(slide(3, 1), rows(&[&[1, 2, 3], &[2, 3, 4], &[3, 4, 5]]));
    assert_eq!(slide(3, 2), rows(&[&[1, 2, 3], &[3, 4, 5]]));
}

#[test]
fn pad_reads_where_the_boundary_says() {
    let xs = [ints(&[1, 2, 3])];
    let pad = |l, r, boundary: Boundary| value(&xs, |_, b, x| b.pad(l, r, boundary, &x[0]));
    assert_eq!(pad(2, 1, Boundary::Clamp), ints(&[1, 1, 1, 2, 3, 3]));
    assert_eq!(pad(2, 3, Boundary::Mirror), ints(&[2, 1, 1, 2, 3, 3, 2, 1]));
    assert_eq!(pad(2, 1, Boundary::Wrap), ints(&[2, 3, 1, 2, 3, 1]));
    // More than once around.
    assert_eq!(pad(4, 5, Boundary::Wrap), ints(&[3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2]));
}

#[test]
fn pad_through_an_index_function() {
    let i = Var::with_id("i", 77);
    let boundary = |body: Nat| Boundary::Index(i.clone(), body);
    // Inside is read as it is, although the function would say otherwise.
    let last = boundary(Nat::int(2) + Nat::var(&i) * Nat::int(0));
    let xs = [ints(&[1, 2, 3])];
    assert_eq!(value(&xs, |_, b, x| b.pad(2, 0, last, &x[0])), ints(&[3, 3, 1, 2, 3]));
    let message = error(&xs, |_, b, x| b.pad(0, 1, boundary(Nat::var(&i)), &x[0]));
    assert_eq!(message, "the boundary function of `pad` sends 3 to 3, outside 0 .. 3");
}

#[test]
fn pad_value_is_constant_outside() {
    let got = value(&[ints(&[1, 2])], |_, b, x| b.pad_value(1, 2, b.i32(9), &x[0]));
    assert_eq!(got, ints(&[9, 1, 2, 9, 9]));
}

#[test]
fn take_and_drop() {
    let xs = [ints(&[1, 2, 3, 4])];
    assert_eq!(value(&xs, |_, b, x| b.take(1, &x[0])), ints(&[1]));
    assert_eq!(value(&xs, |_, b, x| b.drop(1, &x[0])), ints(&[2, 3, 4]));
    let nothing = value(&xs, |_, b, x| b.drop(4, &x[0]));
    assert_eq!((nothing.len(), nothing.ty().to_string()), (0, "[i32; 0]".to_string()));
}

#[test]
fn concat_of_rows_and_of_nothing() {
    let xss = [rows(&[&[1, 2], &[3, 4]])];
    let got = value(&xss, |_, b, x| b.concat(&x[0], b.take(1, &x[0])));
    assert_eq!(got, rows(&[&[1, 2], &[3, 4], &[1, 2]]));
    let got = value(&xss, |_, b, x| b.concat(b.take(0, &x[0]), &x[0]));
    assert_eq!(got, xss[0]);
    let got = value(&xss, |_, b, x| b.concat(b.take(0, &x[0]), b.take(0, &x[0])));
    assert_eq!(got.ty().to_string(), "[[i32; 2]; 0]");
}

#[test]
fn head_is_the_first() {
    assert_eq!(value(&[rows(&[&[1, 2], &[3, 4]])], |_, b, x| b.head(&x[0])), ints(&[1, 2]));
}

#[test]
fn at_takes_indices_of_every_integer_type() {
    let xs = ints(&[10, 20, 30]);
    for index in [Value::i8(2), Value::u8(2), Value::i64(2), Value::u64(2)] {
        let got = value(&[index, xs.clone()], |_, b, x| b.at(&x[0], &x[1]));
        assert_eq!(got, Value::i32(30));
    }
}

#[test]
fn an_index_outside_names_itself_the_length_and_the_place() {
    let span = Span::new(0, 4, 9);
    let at = |i: i32| {
        apply(&[ints(&[1, 2, 3]), Value::i32(i)], |_, b, x| {
            b.add(b.i32(1), b.at(&x[1], &x[0])?.with_span(span))
        })
    };
    assert_eq!(at(2), Ok(Value::i32(4)));
    for i in [-1, 3] {
        let error = at(i).unwrap_err();
        assert_eq!(error.message, format!("index {i} is outside an array of length 3"));
        assert_eq!(error.span, Some(span));
    }
}

#[test]
fn an_error_without_a_place_gets_that_of_the_expression_around_it() {
    let span = Span::new(0, 1, 2);
    let error =
        apply(&[ints(&[1])], |_, b, x| Ok(b.map(|i| b.at(i, &x[0]), &x[0])?.with_span(span)))
            .unwrap_err();
    assert_eq!(error.span, Some(span));
}

#[test]
fn generate_and_repeat() {
    let got = value(&[], |_, b, _| b.generate(4, |i| b.mul(&i, &i)));
    assert_eq!(got, ints(&[0, 1, 4, 9]));
    assert_eq!(value(&[], |_, b, _| b.repeat(3, b.i32(7))), ints(&[7, 7, 7]));
    let got = value(&[ints(&[1, 2])], |_, b, x| b.repeat(2, &x[0]));
    assert_eq!(got, rows(&[&[1, 2], &[1, 2]]));
    let got = value(&[ints(&[1, 2])], |_, b, x| b.join(b.repeat(2, &x[0])));
    assert_eq!(got, ints(&[1, 2, 1, 2]));
    let got = value(&[], |_, b, _| b.repeat(2, b.tuple([b.i32(1), b.f32(2.0)])));
    assert_eq!(got.to_string(), "[(1, 2.0), (1, 2.0)]");
}

#[test]
fn arrays_without_elements_keep_their_type() {
    let got = value(&[], |_, b, _| b.generate(0, |i| b.repeat(3, b.cast(i, Scalar::F64))));
    assert_eq!(got.ty().to_string(), "[[f64; 3]; 0]");
    let got = value(&[ints(&[1])], |_, b, x| b.map(|x| b.tuple([&x, &x]), b.drop(1, &x[0])));
    assert_eq!(got.ty().to_string(), "[(i32, i32); 0]");
}

#[test]
fn an_array_literal_may_hold_anything() {
    let got = value(&[ints(&[1, 2]), ints(&[3, 4])], |_, b, x| b.array([&x[0], &x[1]]));
    assert_eq!(got, rows(&[&[1, 2], &[3, 4]]));
    let got = value(&[], |cx, b, _| {
        b.array([cx.literal(Literal::Bool(true)), cx.literal(Literal::Bool(false))])
    });
    assert_eq!(got, Value::from(vec![true, false]));
}
