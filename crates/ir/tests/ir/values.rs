//! Scalars, literals, types, permutations: their tables and their text.

use lift_ir::{
    BinaryOp, Boundary, Literal, MapKind, Nat, Permutation, Prim, Scalar, Span, Type, UnaryOp, Var,
    size_fits, widen,
};

use super::{m, n};

#[test]
fn scalars_have_names_sizes_and_ranges() {
    for (name, bytes, kind, range) in [
        ("bool", 1, 'b', None),
        ("i8", 1, 'i', Some((-128, 127))),
        ("i16", 2, 'i', Some((-32_768, 32_767))),
        ("i32", 4, 'i', Some((i128::from(i32::MIN), i128::from(i32::MAX)))),
        ("i64", 8, 'i', Some((i128::from(i64::MIN), i128::from(i64::MAX)))),
        ("u8", 1, 'u', Some((0, 255))),
        ("u16", 2, 'u', Some((0, 65_535))),
        ("u32", 4, 'u', Some((0, i128::from(u32::MAX)))),
        ("u64", 8, 'u', Some((0, i128::from(u64::MAX)))),
        ("f16", 2, 'f', None),
        ("f32", 4, 'f', None),
        ("f64", 8, 'f', None),
    ] {
        let scalar = Scalar::from_name(name).unwrap();
        assert_eq!((scalar.name(), scalar.to_string().as_str()), (name, name));
        assert_eq!((scalar.bytes(), scalar.integer_range()), (bytes, range), "{name}");
        assert_eq!(scalar.is_float(), kind == 'f', "{name}");
        assert_eq!(scalar.is_signed_integer(), kind == 'i', "{name}");
        assert_eq!(scalar.is_integer(), kind == 'i' || kind == 'u', "{name}");
        assert_eq!(scalar.is_number(), kind != 'b', "{name}");
    }
    assert_eq!((Scalar::ALL.len(), Scalar::from_name("f8")), (12, None));
}

#[test]
fn integer_literals_are_values_of_their_type() {
    for scalar in Scalar::ALL {
        let Some((low, high)) = scalar.integer_range() else {
            assert_eq!(Literal::int(scalar, 0), None, "{scalar}");
            continue;
        };
        for (value, fits) in [(low - 1, false), (low, true), (high, true), (high + 1, false)] {
            let literal = Literal::int(scalar, value);
            assert_eq!(literal, fits.then_some(Literal::Int(scalar, value)), "{value}{scalar}");
            assert_eq!(size_fits(&Nat::int(value), scalar), fits, "{value}{scalar}");
        }
        let widest = Nat::int(low.max(-high)) * n();
        assert!(size_fits(&widest, scalar) || low == 0, "{scalar}");
    }
    let large = Nat::int(1 << 31);
    assert!(size_fits(&(&large * n()), Scalar::I32));
    assert!(!size_fits(&(&large * n() + n()), Scalar::I32));
    assert!(size_fits(&(&large * n() + n()), Scalar::I64));
}

#[test]
fn literals_are_written_with_their_type() {
    let float = |scalar, value| Literal::float(scalar, value).unwrap();
    for (literal, text, scalar) in [
        (Literal::Bool(true), "true", Scalar::Bool),
        (Literal::Bool(false), "false", Scalar::Bool),
        (Literal::Int(Scalar::I32, -3), "-3", Scalar::I32),
        (Literal::Int(Scalar::U8, 3), "3u8", Scalar::U8),
        (Literal::f32(1.0), "1.0", Scalar::F32),
        (Literal::f32(0.1), "0.1", Scalar::F32),
        (Literal::f32(1e30), "1e30", Scalar::F32),
        (Literal::f32(f32::INFINITY), "inf", Scalar::F32),
        (Literal::f32(f32::NEG_INFINITY), "-inf", Scalar::F32),
        (Literal::f32(f32::NAN), "nan", Scalar::F32),
        (Literal::f32(-0.0), "-0.0", Scalar::F32),
        (Literal::f64(1.5), "1.5f64", Scalar::F64),
        (Literal::f64(f64::INFINITY), "(inf as f64)", Scalar::F64),
        (float(Scalar::F16, 2.0), "2.0f16", Scalar::F16),
        (float(Scalar::F16, f64::NAN), "(nan as f16)", Scalar::F16),
        (float(Scalar::F32, 0.5), "0.5", Scalar::F32),
        (float(Scalar::F64, 0.25), "0.25f64", Scalar::F64),
    ] {
        assert_eq!(literal.to_string(), text);
        assert_eq!(literal.scalar(), scalar, "{text}");
    }
    assert_eq!(Literal::float(Scalar::I32, 1.0), None);
    assert_eq!(Literal::f32(1.5).as_f64(), Some(1.5));
    assert_eq!(Literal::f64(2.5).as_f64(), Some(2.5));
    assert_eq!(float(Scalar::F16, 3.5).as_f64(), Some(3.5));
    assert_eq!(Literal::Bool(true).as_f64(), None);
    assert_eq!(Literal::Int(Scalar::I32, 1).as_f64(), None);
}

/// Text is rounded once: what is between two floats goes to the nearer.
#[test]
fn floats_are_read_at_their_type() {
    let read = |scalar, text| Literal::parse_float(scalar, text);
    assert_eq!(read(Scalar::F32, "0.1"), Some(Literal::f32(0.1)));
    assert_eq!(read(Scalar::F64, "0.1"), Some(Literal::f64(0.1)));
    assert_eq!(read(Scalar::F16, "65504.0").unwrap().as_f64(), Some(65504.0));
    assert_eq!(read(Scalar::F16, "2048.0").unwrap().as_f64(), Some(2048.0));
    assert_eq!(read(Scalar::F32, "x"), None);
    assert_eq!(read(Scalar::I32, "1.0"), None);
}

#[test]
fn operators_bind_as_in_c() {
    let loosest_first: [&[BinaryOp]; 5] = [
        &[BinaryOp::Or],
        &[BinaryOp::And],
        &[BinaryOp::Eq, BinaryOp::Ne, BinaryOp::Lt, BinaryOp::Le, BinaryOp::Gt, BinaryOp::Ge],
        &[BinaryOp::Add, BinaryOp::Sub],
        &[BinaryOp::Mul, BinaryOp::Div, BinaryOp::Rem],
    ];
    for (level, ops) in loosest_first.iter().enumerate() {
        for op in *ops {
            assert_eq!(op.strength(), ops[0].strength(), "{op:?}");
            assert_eq!(op.is_comparison(), level == 2, "{op:?}");
            assert_eq!(op.is_logical(), level < 2, "{op:?}");
            if let Some(tighter) = loosest_first.get(level + 1) {
                assert!(op.strength() < tighter[0].strength(), "{op:?}");
            }
        }
    }
    let symbols: std::collections::BTreeSet<&str> =
        BinaryOp::ALL.iter().map(|op| op.symbol()).collect();
    assert_eq!(symbols.len(), BinaryOp::ALL.len());
    assert_eq!([UnaryOp::Neg.symbol(), UnaryOp::Not.symbol()], ["-", "!"]);
    let spelled = [BinaryOp::Or, BinaryOp::Ne, BinaryOp::Ge, BinaryOp::Rem].map(|op| op.symbol());
    assert_eq!(spelled, ["||", "!=", ">=", "%"]);
}

#[test]
fn types_know_what_they_hold() {
    let vector = Type::vector(Scalar::I8, 4);
    let pair = Type::tuple([Type::F32, vector.clone()]);
    let nested = Type::array(Type::tuple([Type::array(Type::BOOL, m()), pair.clone()]), n());
    assert_eq!(nested.to_string(), "[([bool; M], (f32, i8x4)); N]");
    assert_eq!(Type::vector(Scalar::F32, n()).to_string(), "f32x{N}");
    let mut scalars = Vec::new();
    nested.scalars(&mut |s| scalars.push(s));
    assert_eq!(scalars, [Scalar::Bool, Scalar::F32, Scalar::I8]);
    assert!(pair.is_register() && vector.is_register() && Type::I32.is_register());
    assert!(!nested.is_register() && !Type::tuple([Type::F32, nested.clone()]).is_register());
    let (size_n, size_m, other) = (Var::named("N"), Var::named("M"), Var::named("K"));
    assert!(nested.mentions(&size_n) && nested.mentions(&size_m) && !nested.mentions(&other));
    assert!(Type::vector(Scalar::F32, n()).mentions(&size_n) && !Type::F32.mentions(&size_n));
    assert!(!pair.mentions(&size_n));
    let doubled = nested.map_sizes(&|size| size * Nat::int(2));
    assert_eq!(doubled.to_string(), "[([bool; 2*M], (f32, i8x8)); 2*N]");
    assert_eq!(nested.as_array().map(|(_, length)| length.clone()), Some(n()));
    assert!(pair.as_array().is_none() && vector.as_array().is_none());
    assert_eq!((vector.element_scalar(), pair.element_scalar()), (Some(Scalar::I8), None));
    assert_eq!(widen(&Type::F32, &n()), Some(Type::vector(Scalar::F32, n())));
    assert_eq!(widen(&vector, &n()), None);
    let two = Type::tuple([Type::F32, Type::I32]);
    assert_eq!(widen(&two, &Nat::int(4)).unwrap().to_string(), "(f32x4, i32x4)");
    assert_eq!(widen(&pair, &n()), None);
}

/// Each is a permutation of the indices, the one its definition says.
#[test]
fn permutations_move_indices() {
    let i = Var::named("i");
    let images =
        |p: &Permutation, n: i128| p.check(n, &|v| (v.name() == "N").then_some(3)).unwrap();
    let stride = Permutation::Stride(Nat::int(2));
    let index =
        Permutation::Index(i.clone(), (Nat::var(&i) * Nat::int(5) + Nat::ONE).rem(&Nat::int(6)));
    assert_eq!(images(&Permutation::Reverse, 6), [5, 4, 3, 2, 1, 0]);
    assert_eq!(images(&stride, 6), [0, 2, 4, 1, 3, 5]);
    assert_eq!(images(&Permutation::Shift(Nat::int(2)), 6), [2, 3, 4, 5, 0, 1]);
    assert_eq!(images(&Permutation::Shift(n()), 6), [3, 4, 5, 0, 1, 2]);
    assert_eq!(images(&index, 6), [1, 0, 5, 4, 3, 2]);
    assert_eq!(images(&Permutation::Reverse, 0), [0_usize; 0]);
    let fault = |body: Nat| Permutation::Index(i.clone(), body).check(4, &|_| None).unwrap_err();
    assert_eq!(fault(Nat::var(&i) + Nat::ONE), "3 goes to 4, outside 0 .. 4");
    assert_eq!(fault(Nat::var(&i) - Nat::ONE), "0 goes to -1, outside 0 .. 4");
    assert_eq!(fault(Nat::var(&i).div(&Nat::int(2))), "0 and 1 both go to 0");
    assert_eq!(fault(n()), "its value at 0 is undefined: `N` has no value");
    assert_eq!(Permutation::Reverse.check(-1, &|_| None).unwrap_err(), "-1 is not a length");
    assert_eq!(Permutation::Reverse.to_string(), "reverse");
    assert_eq!(stride.to_string(), "stride(2)");
    assert_eq!(Permutation::Shift(n()).to_string(), "shift(N)");
    assert_eq!(Permutation::Index(i.clone(), Nat::var(&i)).to_string(), "\\i -> i");
}

#[test]
fn patterns_know_their_kind() {
    let dimensions = [MapKind::Glb(1), MapKind::Wrg(2), MapKind::Lcl(0), MapKind::Warp(0)];
    assert_eq!(dimensions.map(MapKind::dimension), [Some(1), Some(2), Some(0), Some(0)]);
    assert_eq!(MapKind::Lane(0).dimension(), Some(0));
    assert_eq!([MapKind::Map, MapKind::Seq, MapKind::SeqUnroll].map(MapKind::dimension), [None; 3]);
    let layout = [
        Prim::Zip,
        Prim::Split,
        Prim::Join,
        Prim::Gather(Permutation::Reverse),
        Prim::Pad(Boundary::Clamp),
        Prim::At,
        Prim::Tuple,
        Prim::Field(0),
    ];
    let computing = [
        Prim::Map(MapKind::Map),
        Prim::Id,
        Prim::If,
        Prim::Iterate,
        Prim::Binary(BinaryOp::Add),
        Prim::Cast(Scalar::F32),
    ];
    assert!(layout.iter().all(Prim::is_layout));
    assert!(!computing.iter().any(Prim::is_layout));
}

#[test]
fn spans_join() {
    let (a, b) = (Span::new(1, 5, 9), Span::new(1, 2, 6));
    assert_eq!((a.to(b), b.to(a)), (Span::new(1, 2, 9), Span::new(1, 2, 9)));
}
