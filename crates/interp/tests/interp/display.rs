//! Values as the language writes them.

use half::f16;
use lift_interp::{ScalarValue, Value};
use lift_ir::{Scalar, Type};

use crate::{floats, ints, rows, tuple, value};

#[test]
fn as_written_in_programs() {
    let pair = tuple(&[Value::f32(1.5), Value::u8(2)]);
    assert_eq!(pair.to_string(), "(1.5, 2u8)");
    assert_eq!(Value::array(vec![pair]).unwrap().to_string(), "[(1.5, 2u8)]");
    assert_eq!(rows(&[&[1], &[-2]]).to_string(), "[[1], [-2]]");
    assert_eq!(Value::f16(f16::from_f32(0.5)).to_string(), "0.5f16");
    let v = Value::vector([1.0f32, 2.0].map(ScalarValue::F32)).unwrap();
    assert_eq!(v.to_string(), "f32x2(1.0, 2.0)");
    assert_eq!(floats(&[f32::NAN, f32::NEG_INFINITY]).to_string(), "[nan, -inf]");
}

#[test]
fn long_dimensions_are_abbreviated() {
    let long = ints(&(0..100).collect::<Vec<_>>());
    let text = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …, 97, 98, 99]";
    assert_eq!(long.to_string(), text);
    assert_eq!(long.display_full().to_string().matches(", ").count(), 99);
    assert!(!ints(&(0..16).collect::<Vec<_>>()).to_string().contains('…'));
    assert!(ints(&(0..17).collect::<Vec<_>>()).to_string().contains('…'));
}

#[test]
fn large_tables_have_three_rows() {
    let row = |n: i32| (0..20).map(|k| 100 * n + k).collect::<Vec<i32>>();
    let table: Vec<Vec<i32>> = (0..20).map(row).collect();
    let table: Vec<&[i32]> = table.iter().map(Vec::as_slice).collect();
    let lines = "[[0, 1, 2, 3, …, 17, 18, 19],
 [100, 101, 102, 103, …, 117, 118, 119],
 …,
 [1900, 1901, 1902, 1903, …, 1917, 1918, 1919]]";
    assert_eq!(format!("{:#}", rows(&table)), lines);
    assert_eq!(rows(&table).to_string(), lines.replace("\n", ""));
    assert!(!rows(&table).display_full().to_string().contains('…'));
    // A small one is on one line; of a tuple each component counts by itself.
    let eight = rows(&[[1, 2, 3, 4, 5, 6, 7, 8].as_slice(); 8]);
    assert!(!format!("{eight:#}").contains(['…', '\n']));
    let both = tuple(&[eight.clone(), rows(&table)]);
    assert_eq!(format!("{both:#}"), format!("({eight}, {lines})"));
    let deep = Value::array(vec![rows(&table); 4]).unwrap();
    assert_eq!(format!("{deep:#}").lines().count(), 3 * 4 + 1);
}

#[test]
fn nothing_has_a_type_too() {
    let element = Type::tuple([Type::F32, Type::array(Type::vector(Scalar::I8, 2), 3)]);
    let nothing = Value::empty(&element).unwrap();
    assert_eq!(nothing.ty().to_string(), "[(f32, [i8x2; 3]); 0]");
    assert_eq!(nothing.to_string(), "repeat(0, (0.0, repeat(3, i8x2(0i8))))");
}

#[test]
fn values_of_different_types_are_no_array() {
    let error = Value::array(vec![Value::i32(1), Value::f32(1.0)]).unwrap_err();
    assert_eq!(error.to_string(), "the elements of an array have one type, found `i32` and `f32`");
    assert!(Value::array(vec![ints(&[1]), ints(&[1, 2])]).is_err());
    assert!(Value::array(Vec::new()).is_err());
    assert!(Value::vector([ScalarValue::I8(1)]).is_none());
    assert!(Value::vector([ScalarValue::I8(1), ScalarValue::U8(1)]).is_none());
    assert!(Value::shaped(vec![1u8, 2], &[3]).is_none());
}

#[test]
fn buffers_are_what_is_stored() {
    let pair = |i: i32| tuple(&[Value::i32(i), floats(&[i as f32, 0.5])]);
    let stored = tuple(&[Value::array(vec![pair(1), pair(2)]).unwrap(), Value::u8(7)]);
    let buffers = stored.buffers().unwrap();
    assert_eq!(buffers[0].as_slice::<i32>(), Some([1, 2].as_slice()));
    assert_eq!(buffers[1].as_slice::<f32>(), Some([1.0, 0.5, 2.0, 0.5].as_slice()));
    assert_eq!(buffers[2].as_slice::<u8>(), Some([7].as_slice()));
    assert_eq!(Value::from_buffers(&stored.ty(), buffers), Ok(stored));
    assert!(Value::from_buffers(&Type::F32, Vec::new()).is_err());
    // Of a view, only what it shows.
    let views = value(&[ints(&[1, 2, 3])], |_, b, x| {
        b.tuple([b.take(2, &x[0]), b.drop(1, &x[0]), b.take(0, &x[0])])
    });
    let shown = views.buffers().unwrap();
    assert_eq!(shown[0].as_slice::<i32>(), Some([1, 2].as_slice()));
    assert_eq!(shown[1].as_slice::<i32>(), Some([2, 3].as_slice()));
    assert!(shown[2].is_empty() && !shown[1].is_empty());
    assert!(Value::from_buffers(&Type::F32, ints(&[1]).buffers().unwrap()).is_err());
}
