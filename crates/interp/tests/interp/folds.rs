//! Patterns that apply functions.

use lift_interp::{Value, eval_closed};
use lift_ir::{Context, Facts, FoldKind, Lambda, MapKind, Nat, Prim, Scalar, Space, Type, Var};

use crate::{floats, ints, rows, tuple, value};

#[test]
fn every_map_is_a_map() {
    let kinds = [
        MapKind::Map,
        MapKind::Glb(0),
        MapKind::Wrg(1),
        MapKind::Lcl(2),
        MapKind::Warp(0),
        MapKind::Lane(0),
        MapKind::Seq,
        MapKind::SeqUnroll,
    ];
    for kind in kinds {
        let got = value(&[ints(&[1, 2, 3])], |_, b, x| b.map_as(kind, |x| b.mul(&x, &x), &x[0]));
        assert_eq!(got, ints(&[1, 4, 9]), "{kind:?}");
    }
}

#[test]
fn map_may_give_arrays_and_tuples() {
    let got = value(&[ints(&[1, 2])], |_, b, x| {
        b.map(|x| b.tuple([b.array([&x, &x]), b.cast(&x, Scalar::F32)]), &x[0])
    });
    assert_eq!(got.to_string(), "[([1, 1], 1.0), ([2, 2], 2.0)]");
    assert_eq!(got.ty().to_string(), "[([i32; 2], f32); 2]");
}

#[test]
fn a_captured_variable_is_that_of_the_element_around() {
    let got = value(&[ints(&[1, 2]), ints(&[10, 20])], |_, b, x| {
        b.map(|a| b.map(|c| b.add(&a, c), &x[1]), &x[0])
    });
    assert_eq!(got, rows(&[&[11, 21], &[12, 22]]));
}

#[test]
fn folds_go_from_left_to_right() {
    // ((10 - 1) - 2) - 3
    for kind in [FoldKind::Any, FoldKind::Seq, FoldKind::SeqUnroll] {
        let got = value(&[ints(&[1, 2, 3])], |_, b, x| {
            b.reduce_as(kind, b.i32(10), |acc, x| b.sub(acc, x), &x[0])
        });
        assert_eq!(got, Value::i32(4));
    }
    let got =
        value(&[ints(&[1, 2, 3])], |_, b, x| b.scan(b.i32(10), |acc, x| b.sub(acc, x), &x[0]));
    assert_eq!(got, ints(&[9, 7, 4]));
}

#[test]
fn floats_are_summed_in_order() {
    // 1e8 + 1 - 1e8 loses the one; another order would not.
    let got = value(&[floats(&[1e8, 1.0, -1e8])], |_, b, x| {
        b.reduce(b.f32(0.0), |acc, x| b.add(acc, x), &x[0])
    });
    assert_eq!(got, Value::f32(0.0));
}

#[test]
fn a_fold_from_the_left_may_change_the_type() {
    let got = value(&[ints(&[1, 2])], |_, b, x| {
        b.reduce_seq(b.f32(0.5), |acc, x| b.add(acc, b.cast(x, Scalar::F32)), &x[0])
    });
    assert_eq!(got, Value::f32(3.5));
    // An accumulator that is an array.
    let got = value(&[rows(&[&[1, 2], &[3, 4]])], |_, b, x| {
        let pairs = |acc, row| b.zip([acc, row]);
        let add = |p: lift_ir::Expr| b.add(b.field(&p, 0), b.field(&p, 1));
        b.reduce_seq(b.repeat(2, b.i32(0)), |acc, row| b.map(add, pairs(acc, row)), &x[0])
    });
    assert_eq!(got, ints(&[4, 6]));
    // An accumulator that is a tuple: (count, sum).
    let got = value(&[ints(&[5, 6])], |_, b, x| {
        let step = |acc: lift_ir::Expr, x| {
            b.tuple([b.add(b.field(&acc, 0), b.i32(1)), b.add(b.field(&acc, 1), x)])
        };
        b.reduce_seq(b.tuple([b.i32(0), b.i32(0)]), step, &x[0])
    });
    assert_eq!(got, tuple(&[Value::i32(2), Value::i32(11)]));
}

#[test]
fn a_fold_of_nothing_is_its_start() {
    let got = value(&[ints(&[1])], |_, b, x| {
        b.reduce(b.i32(7), |acc, x| b.add(acc, x), b.drop(1, &x[0]))
    });
    assert_eq!(got, Value::i32(7));
    let got =
        value(&[ints(&[1])], |_, b, x| b.scan(b.i32(7), |acc, x| b.add(acc, x), b.drop(1, &x[0])));
    assert_eq!(got.ty().to_string(), "[i32; 0]");
}

#[test]
fn partial_reduce_folds_every_mth_element() {
    let got = value(&[ints(&[1, 2, 3, 4, 5, 6])], |_, b, x| {
        b.partial_reduce(2, b.i32(0), |acc, x| b.add(b.mul(b.i32(10), acc), x), &x[0])
    });
    assert_eq!(got, ints(&[135, 246]));
}

#[test]
fn map_seq_slide_is_a_map_over_windows() {
    let got = value(&[ints(&[1, 2, 4, 8])], |cx, b, x| {
        let f = b.lambda([("w", Type::array(Type::I32, 2))], |[w]| {
            b.reduce_seq(b.i32(0), |acc, x| b.add(acc, x), w)
        })?;
        let sizes = vec![Nat::int(2), Nat::int(1)];
        cx.call(Prim::MapSeqSlide, sizes, vec![f], vec![x[0].clone()])
    });
    assert_eq!(got, ints(&[3, 6, 12]));
}

#[test]
fn iterate_applies_so_many_times() {
    for (times, expected) in [(0, 1), (1, 2), (10, 1024)] {
        let got = value(&[ints(&[1])], |_, b, x| {
            b.iterate(times, |xs| b.map(|x| b.mul(b.i32(2), x), xs), &x[0])
        });
        assert_eq!(got, ints(&[expected]));
    }
}

#[test]
fn iterate_binds_the_length_at_each_application() {
    // Halving: the length is added to each sum, so that it shows.
    let got = value(&[ints(&[1, 2, 3, 4])], |cx, b, x| {
        let n = cx.fresh_size_among("n", vec![Nat::int(4), Nat::int(2)]);
        let length = Nat::var(&n);
        let half = b.lambda([("xs", Type::array(Type::I32, &n))], |[xs]| {
            let size = cx.size(&length, Scalar::I32)?;
            let first = b.take(length.div(&Nat::int(2)), &xs);
            b.map(|x| b.add(x, &size), first)
        })?;
        let half = Lambda { size: Some(n), ..half };
        cx.call(Prim::Iterate, vec![Nat::int(2)], vec![half], vec![x[0].clone()])
    });
    assert_eq!(got, ints(&[1 + 4 + 2]));
}

#[test]
fn memories_do_not_change_values() {
    for space in [Space::Global, Space::Local, Space::Private] {
        let got = value(&[ints(&[1, 2])], |_, b, x| {
            b.map_seq(|x| b.to(space, |x| b.add(b.id(&x), b.i32(1)), x), &x[0])
        });
        assert_eq!(got, ints(&[2, 3]));
    }
}

#[test]
fn let_is_evaluated_once_and_shared() {
    let got = value(&[ints(&[3, 4])], |_, b, x| {
        b.let_in("sum", b.reduce(b.i32(0), |a, x| b.add(a, x), &x[0]), |sum| {
            b.map(|x| b.sub(&sum, x), &x[0])
        })
    });
    assert_eq!(got, ints(&[4, 3]));
    let doubled = |levels: u32| {
        let cx = Context::new(Facts::new());
        let b = lift_ir::Build::new(&cx);
        let mut exprs = Vec::new();
        for _ in 0..levels {
            exprs.push(b.param("x", Type::I32));
        }
        // let x0 = 1; let x1 = x0 + x0; …: sixty doublings wrap around to zero.
        let mut body = cx.var(exprs[exprs.len() - 1].as_var().unwrap());
        for k in (0..exprs.len()).rev() {
            let value = match k {
                0 => b.i32(1),
                _ => b.add(&exprs[k - 1], &exprs[k - 1]).unwrap(),
            };
            body = cx.let_in(exprs[k].as_var().unwrap().clone(), value, body).unwrap();
        }
        eval_closed(&body)
    };
    assert_eq!(doubled(11), Ok(Value::i32(1024)));
    assert_eq!(doubled(60), Ok(Value::i32(0)));
}

#[test]
fn a_binder_inside_its_own_scope_hides_it_only_there() {
    // \x -> map(\x -> x * x, ys)[0] + x, both variables the same one.
    let got = value(&[ints(&[5, 7]), ints(&[3])], |cx, b, x| {
        let var = cx.fresh("x", Type::I32);
        let x_var = cx.var(&var);
        let inner = Lambda { size: None, params: vec![var.clone()], body: b.mul(&x_var, &x_var)? };
        let map = Prim::Map(MapKind::Map);
        let squares = cx.call(map.clone(), vec![], vec![inner], vec![x[1].clone()])?;
        let body = b.add(b.head(squares), &x_var)?;
        let outer = Lambda { size: None, params: vec![var], body };
        cx.call(map, vec![], vec![outer], vec![x[0].clone()])
    });
    assert_eq!(got, ints(&[14, 16]));
}

#[test]
fn a_size_variable_of_iterate_ends_with_it() {
    let n = Var::with_id("n", 3);
    let cx = Context::new(Facts::new());
    let size = cx.size(&Nat::var(&n), Scalar::I32).unwrap();
    let error = eval_closed(&size).unwrap_err();
    assert_eq!(error.message, "the size `n_3` has no value: `n_3` has no value");
}

#[test]
fn indices_choose_results() {
    let (is, xs) = (ints(&[2, 0, -1, 2, 3, i32::MAX]), ints(&[1, 2, 4, 8, 16, 32]));
    let got = value(&[is.clone(), xs.clone()], |_, b, x| {
        b.reduce_by_index(3, b.i32(0), |a, x| b.add(a, x), &x[0], &x[1])
    });
    assert_eq!(got, ints(&[2, 0, 9]));
    let got = value(&[is, xs], |_, b, x| {
        b.reduce_by_index(0, b.i32(0), |a, x| b.add(a, x), &x[0], &x[1])
    });
    assert_eq!(got, ints(&[]));
}

#[test]
fn results_by_index_are_folded_from_the_left() {
    let (is, xs) = (ints(&[1, 0, 1, 1]), rows(&[&[1, 2], &[3, 4], &[5, 6], &[7, 8]]));
    let got = value(&[is, xs], |_, b, x| {
        let digits = |a, x| {
            let pair = b.zip([a, x])?;
            b.map(|p| b.add(b.mul(b.i32(10), b.field(&p, 0)), b.field(&p, 1)), pair)
        };
        b.reduce_by_index(2, b.array([b.i32(0), b.i32(0)]), digits, &x[0], &x[1])
    });
    assert_eq!(got, rows(&[&[3, 4], &[157, 268]]));
}
