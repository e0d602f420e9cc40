//! Inputs made up.

use lift_interp::inputs::{Fill, generate};
use lift_interp::{Sizes, Value, concrete_type};
use lift_ir::{Nat, Scalar, Type, Var};

use crate::ints;

fn random(seed: u64, ty: &Type) -> Value {
    generate(Fill::Random { seed }, ty).expect("an input")
}

#[test]
fn random_inputs_depend_on_nothing_but_the_seed() {
    let ty = Type::array(Type::F32, 4);
    assert_eq!(random(1, &ty), random(1, &ty));
    assert_ne!(random(1, &ty), random(2, &ty));
    assert_eq!(random(1, &ty).to_string(), "[0.5665615, 0.7457817, 0.9710027, 0.44435918]");
    assert_eq!(random(1, &Type::array(Type::I32, 6)), ints(&[5, 9, 0, 5, 1, 8]));
}

#[test]
fn random_scalars_are_in_range() {
    for scalar in Scalar::ALL {
        let xs = random(3, &Type::array(Type::Scalar(scalar), 1000));
        for i in 0..1000 {
            let x = xs.get(i).unwrap().to_f64().unwrap();
            let bound = if scalar.is_float() { 1.0 } else { 10.0 };
            assert!((0.0..bound).contains(&x), "{scalar}: {x}");
        }
    }
}

#[test]
fn constant_and_counting_inputs() {
    let ty = Type::array(Type::tuple([Type::I32, Type::array(Type::F32, 2)]), 2);
    let filled = |fill| generate(fill, &ty).unwrap().to_string();
    assert_eq!(filled(Fill::Zeros), "[(0, [0.0, 0.0]), (0, [0.0, 0.0])]");
    assert_eq!(filled(Fill::Ones), "[(1, [1.0, 1.0]), (1, [1.0, 1.0])]");
    assert_eq!(filled(Fill::Iota), "[(0, [0.0, 1.0]), (1, [2.0, 3.0])]");
    let bytes = generate(Fill::Iota, &Type::array(Type::Scalar(Scalar::U8), 300)).unwrap();
    assert_eq!(bytes.get(299), Some(Value::u8(43)));
    let flags = generate(Fill::Iota, &Type::array(Type::BOOL, 3)).unwrap();
    assert_eq!(flags.to_string(), "[false, true, false]");
    let vector = generate(Fill::Iota, &Type::vector(Scalar::F32, 4)).unwrap();
    assert_eq!(vector.to_string(), "f32x4(0.0, 1.0, 2.0, 3.0)");
}

#[test]
fn types_need_their_sizes() {
    let n = Var::named("N");
    let ty = Type::array(Type::F32, Nat::var(&n) + Nat::int(1));
    assert!(generate(Fill::Zeros, &ty).is_err());
    assert!(Value::zeros(&ty, &Sizes::new()).is_err());
    let sizes = Sizes::from_iter([("N", 2)]);
    assert_eq!(concrete_type(&ty, &sizes).unwrap().to_string(), "[f32; 3]");
    assert_eq!(Value::zeros(&ty, &sizes).unwrap().to_string(), "[0.0, 0.0, 0.0]");
    assert!(generate(Fill::Zeros, &Type::vector(Scalar::F32, 5)).is_err());
    assert!(generate(Fill::Zeros, &Type::array(Type::F32, -1)).is_err());
}
