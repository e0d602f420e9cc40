//! Index functions, tried when sizes are known.

use lift_ir::{
    Build, Context, Expr, Nat, Permutation, Prim, Range, Span, Type, Var, check_permutations,
};

use super::{context, m, n, param, row};

/// The fault found where N and M have these values.
fn fault(e: &Expr, n: i128, m: i128, limit: i128) -> Option<String> {
    let sizes = |v: &Var| match v.name() {
        "N" => Some(n),
        "M" => Some(m),
        _ => None,
    };
    check_permutations(e, &sizes, limit).err().map(|v| v.message)
}

fn gathered(cx: &Context, image: impl FnOnce(Nat) -> Nat) -> Expr {
    let i = cx.fresh_index("i", Range::any());
    let image = image(Nat::var(&i));
    Build::new(cx).gather(Permutation::Index(i, image), param(cx, "xs", row())).unwrap()
}

#[test]
fn what_is_no_permutation_is_named() {
    let cx = context();
    let shifted = gathered(&cx, |i| (i + m()).rem(&n()));
    assert_eq!(fault(&shifted, 8, 3, 100), None);
    let scaled = gathered(&cx, |i| (i * m()).rem(&n()));
    assert_eq!(fault(&scaled, 8, 3, 100), None);
    let message = "`gather` needs a permutation of 8 elements, but 0 and 4 both go to 0";
    assert_eq!(fault(&scaled, 8, 2, 100).as_deref(), Some(message));
    assert_eq!(fault(&scaled, 8, 2, 8).as_deref(), Some(message));
    assert_eq!(fault(&scaled, 8, 2, 7), None, "longer than what is tried");
    assert_eq!(fault(&gathered(&cx, |i| i), 8, 1, 100), None);
    assert_eq!(fault(&gathered(&cx, |i| n() - Nat::ONE - i), 8, 1, 100), None);
    let behind = gathered(&cx, |i| n() + Nat::ONE - i);
    let message = "`gather` needs a permutation of 8 elements, but 0 goes to 9, outside 0 .. 8";
    assert_eq!(fault(&behind, 8, 1, 100).as_deref(), Some(message));
    let unknown = gathered(&cx, |i| i + Nat::var(&Var::named("K")));
    assert_eq!(fault(&unknown, 8, 1, 100), None, "a size is missing");
    // Also inside, and behind other patterns; the place is that of the pattern.
    let b = Build::new(&cx);
    let span = Span::new(0, 4, 9);
    let inner = b.map(|x| b.neg(x), scaled.with_span(span)).unwrap();
    let sizes = |v: &Var| Some(if v.name() == "N" { 8 } else { 2 });
    assert_eq!(check_permutations(&inner, &sizes, 100).unwrap_err().span, Some(span));
    let i = cx.fresh_index("i", Range::any());
    let doubled = Permutation::Index(i.clone(), Nat::var(&i) * m());
    let scattered = b.scatter(doubled, param(&cx, "xs", row())).unwrap();
    let message = "`scatter` needs a permutation of 4 elements, but 2 goes to 4, outside 0 .. 4";
    assert_eq!(fault(&scattered, 4, 2, 100).as_deref(), Some(message));
}

/// A function that changes the length is tried at each of the lengths it is given.
#[test]
fn every_length_of_an_iteration_is_tried() {
    let cx = context();
    let b = Build::new(&cx);
    let size = cx.fresh_size_among("n", vec![Nat::int(9), Nat::int(8)]);
    let length = Nat::var(&size);
    let iterated = |times: i128| {
        let given = Type::array(Type::F32, length.clone());
        let i = cx.fresh_index("i", Range::any());
        // Twice the index is a permutation of an odd number of indices only.
        let image = (Nat::var(&i) * Nat::int(2)).rem(&length);
        let body = |ys: Expr| b.drop(1, b.gather(Permutation::Index(i, image), ys));
        let mut f = b.lambda([("ys", given)], |[ys]| body(ys)).unwrap();
        f.size = Some(size.clone());
        let nine = param(&cx, "xs", Type::array(Type::F32, 9));
        cx.call(Prim::Iterate, vec![Nat::int(times)], vec![f], vec![nine]).unwrap()
    };
    assert_eq!(fault(&iterated(0), 1, 1, 100), None);
    assert_eq!(fault(&iterated(1), 1, 1, 100), None);
    let message = "`gather` needs a permutation of 8 elements, but 0 and 4 both go to 0";
    assert_eq!(fault(&iterated(2), 1, 1, 100).as_deref(), Some(message));
}
