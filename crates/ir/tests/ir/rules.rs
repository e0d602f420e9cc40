//! How parallel patterns nest, and which arrays need a memory.

use lift_ir::{Build, Context, Expr, MapKind, Nat, Space, Span, Type, check_low_level};

use super::{context, m, matrix, param, row};

/// `outer(\r -> inner(\x -> x * x, r), xs)`, each pattern with a place in the text.
fn nest(cx: &Context, kinds: &[MapKind]) -> Expr {
    let b = Build::new(cx);
    let ty = kinds.iter().fold(Type::F32, |ty, _| Type::array(ty, m()));
    fn under(b: &Build<'_>, kinds: &[MapKind], xs: Expr) -> Expr {
        match kinds.split_first() {
            None => b.mul(&xs, &xs).unwrap(),
            Some((kind, rest)) => {
                let place = Span::new(0, kinds.len() as u32, kinds.len() as u32 + 1);
                b.map_as(*kind, |x| Ok(under(b, rest, x)), xs).unwrap().with_span(place)
            }
        }
    }
    under(&b, kinds, param(cx, "xs", ty))
}

fn faults(kinds: &[MapKind]) -> Vec<String> {
    let cx = context();
    let found = check_low_level(&nest(&cx, kinds));
    found.into_iter().map(|v| v.message).collect()
}

#[test]
fn nests_of_two() {
    use MapKind::{Glb, Lane, Lcl, Map, Seq, Warp, Wrg};
    let kinds = [Glb(0), Wrg(0), Lcl(0), Warp(0), Lane(0), Seq, Map];
    // Whether the one of the row may stand directly inside the one of the column, in that order,
    // when what the column itself needs is around it.
    let allowed = |outer: MapKind, inner: MapKind| match inner {
        Glb(_) => matches!(outer, Seq | Map),
        Wrg(_) => matches!(outer, Seq | Map),
        Lcl(_) => matches!(outer, Wrg(_)),
        Warp(_) => matches!(outer, Wrg(_)),
        Lane(_) => matches!(outer, Warp(_)),
        Seq | Map | MapKind::SeqUnroll => true,
    };
    for outer in kinds {
        for inner in kinds {
            let around: &[MapKind] = match outer {
                Lcl(_) | Warp(_) => &[Wrg(0)],
                Lane(_) => &[Wrg(0), Warp(0)],
                _ => &[],
            };
            let nest = [around, &[outer, inner]].concat();
            assert_eq!(
                faults(&nest).is_empty(),
                allowed(outer, inner),
                "{nest:?}: {:?}",
                faults(&nest)
            );
        }
    }
}

#[test]
fn dimensions_do_not_repeat() {
    use MapKind::{Glb, Lane, Lcl, Warp, Wrg};
    assert!(faults(&[Glb(1), Glb(0)]).is_empty());
    assert!(faults(&[Wrg(1), Wrg(0), Lcl(1), Lcl(0)]).is_empty());
    assert!(faults(&[Wrg(0), Warp(0), Lane(0)]).is_empty());
    assert_eq!(faults(&[Glb(0), Glb(0)]), ["`mapGlb(0)` stands inside another `mapGlb(0)`"]);
    assert_eq!(
        faults(&[Wrg(0), Lcl(1), Lcl(1)]),
        ["`mapLcl(1)` stands inside another `mapLcl(1)`"]
    );
    assert_eq!(faults(&[Glb(0), Wrg(1)]), ["`mapWrg(1)` may not stand inside `mapGlb(0)`"]);
    assert_eq!(faults(&[Wrg(0), Glb(1)]), ["`mapGlb(1)` may not stand inside `mapWrg(0)`"]);
    assert_eq!(faults(&[Lcl(0)]), ["`mapLcl(0)` must stand inside `mapWrg`"]);
    assert_eq!(faults(&[Warp(0)]), ["`mapWarp(0)` must stand inside `mapWrg`"]);
    assert_eq!(faults(&[Wrg(0), Lane(0)]), ["`mapLane(0)` must stand inside `mapWarp`"]);
    assert_eq!(
        faults(&[Wrg(0), Warp(0), Lane(0), Lcl(0)]),
        ["`mapLcl(0)` may not stand inside `mapLane(0)`"]
    );
    assert_eq!(
        faults(&[Wrg(0), Lcl(0), Warp(0)]),
        ["`mapWarp(0)` may not stand inside `mapLcl(0)`"]
    );
}

#[test]
fn a_fault_names_both_patterns() {
    let cx = context();
    let found = check_low_level(&nest(&cx, &[MapKind::Glb(0), MapKind::Seq, MapKind::Glb(0)]));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].span, Some(Span::new(0, 1, 2)));
    assert_eq!(found[0].other, Some(("the outer `mapGlb(0)`".to_string(), Span::new(0, 3, 4))));
    // What stands beside a pattern does not stand inside it.
    let b = Build::new(&cx);
    let xs = param(&cx, "xs", row());
    let twice = |e: Expr| b.mul(&e, &e);
    let first = b.map_as(MapKind::Glb(0), twice, &xs).unwrap();
    let chained = b.map_as(MapKind::Glb(0), twice, first).unwrap();
    assert!(check_low_level(&chained).is_empty());
}

/// Programs over the rows of a matrix, each row's work in a group.
#[test]
fn what_work_items_share_has_a_memory() {
    let cx = context();
    let b = Build::new(&cx);
    let xs = || param(&cx, "xs", matrix());
    let square = |e: Expr| b.mul(&e, &e);
    let local = |r: Expr| b.map_as(MapKind::Lcl(0), square, r);
    let group = |f: &dyn Fn(Expr) -> lift_ir::Built| b.map_as(MapKind::Wrg(0), f, xs()).unwrap();
    let faulty = |e: &Expr| check_low_level(e).len();
    let sum = |e: Expr| b.reduce_seq(b.f32(0.0), |a, x| b.add(a, x), e);

    // The result of the program is stored where results are.
    assert_eq!(faulty(&group(&|r| local(r))), 0);
    // So is what a `let` outside of all functions names.
    let rows = cx.fresh("rows", matrix());
    let named = cx.let_in(rows.clone(), group(&|r| local(r)), cx.var(&rows)).unwrap();
    assert_eq!(faulty(&named), 0);
    // What is read again in the group needs a memory; a view on the way changes nothing.
    let again = group(&|r| b.map_as(MapKind::Lcl(0), square, local(r)));
    assert_eq!(faulty(&again), 1);
    assert_eq!(check_low_level(&again)[0].message, "the array made by `mapLcl` has no memory");
    assert_eq!(faulty(&group(&|r| b.map_as(MapKind::Lcl(0), square, b.take(1, local(r)?)))), 1);
    assert_eq!(faulty(&group(&|r| sum(local(r)?))), 1);
    // Named by `to…` around the map or around its elements.
    assert_eq!(faulty(&group(&|r| sum(b.to(Space::Local, local, r)?))), 0);
    let named = |r: Expr| b.map_as(MapKind::Lcl(0), |x| b.to(Space::Local, square, x), r);
    assert_eq!(faulty(&group(&|r| sum(named(r)?))), 0);
    // A `to…` of what exists says where that goes.
    assert_eq!(faulty(&group(&|r| sum(b.to(Space::Local, Ok, local(r)?)?))), 0);
    assert_eq!(
        faulty(&group(&|r| sum(b.to(Space::Local, |y| b.map_seq(square, y), local(r)?)?))),
        1
    );
    // A value that is shared by a name has no place of its own; the body has that of the whole.
    assert_eq!(faulty(&group(&|r| b.let_in("t", local(r)?, sum))), 1);
    assert_eq!(faulty(&group(&|r| b.let_in("t", b.f32(1.0), |_| local(r)))), 0);
    // A map of views hands on; an element taken out does not.
    let chunks = |r: Expr| b.split(1, local(r)?);
    assert_eq!(faulty(&group(&|r| b.map(|c| b.transpose(b.split(1, c)?), chunks(r)?))), 0);
    assert_eq!(faulty(&group(&|r| b.map(|c| b.head(c), chunks(r)?))), 1);
    assert_eq!(faulty(&group(&|r| b.at(b.i32(0), local(r)?))), 1);
    // Nothing is stored by a map of views.
    let views = |r: Expr| b.map_as(MapKind::Lcl(0), Ok, r);
    assert_eq!(faulty(&group(&|r| sum(views(r)?))), 0);
    // One element each: the inner pattern is the one to name, once.
    let lanes = |r: Expr| b.map_as(MapKind::Lcl(1), |c| b.map_as(MapKind::Lcl(0), square, c), r);
    let inner = group(&|r| {
        b.map_as(MapKind::Lcl(2), |c| sum(b.join(c)?), b.split(1, lanes(b.split(1, r)?)?)?)
    });
    assert_eq!(faulty(&inner), 1, "{inner}");
    // What is copied is made before the copy, and stored nowhere that is named.
    assert_eq!(faulty(&group(&|r| b.id(local(r)?))), 1);
    // A name in front of a view is a view; one for something computed is not.
    let renamed = |c: Expr| b.let_in("t", c, |t| b.transpose(b.split(1, t)?));
    assert_eq!(faulty(&group(&|r| b.map(renamed, chunks(r)?))), 0);
    let computed = |c: Expr| b.let_in("t", b.map_seq(square, &c), |_| Ok(c));
    assert_eq!(faulty(&group(&|r| b.map(computed, chunks(r)?))), 1);
    // Each work-item makes several elements: they are as named as the inner pattern makes them.
    let several = |f: &dyn Fn(Expr) -> lift_ir::Built| {
        group(&|r| sum(b.join(b.map_as(MapKind::Lcl(0), f, b.split(1, r)?)?)?))
    };
    let to_local = |x: Expr| b.to(Space::Local, square, x);
    assert_eq!(faulty(&several(&|c| b.map_seq(to_local, c))), 0);
    assert_eq!(faulty(&several(&|c| b.map_seq(square, c))), 1);
    assert_eq!(faulty(&several(&|c| b.map(square, c))), 1);
    assert_eq!(faulty(&several(&|c| b.map(Ok, c))), 0);
    assert_eq!(faulty(&several(&|c| b.map(Ok, b.map_seq(square, c)))), 1);
    assert_eq!(faulty(&several(&|c| b.map(Ok, b.map_seq(to_local, c)))), 0);
    assert_eq!(faulty(&several(&|c| b.join(b.split(1, b.map_seq(to_local, c)?)?))), 0);
    // The new value of an accumulator lives where the accumulator does.
    let start = || {
        b.map_as(
            MapKind::Lcl(0),
            |x| b.to(Space::Local, |x| b.id(x), x),
            b.repeat(Nat::int(4), b.f32(0.0)),
        )
    };
    let step = |a: Expr, x: Expr| b.map_as(MapKind::Lcl(0), |p| b.add(p, &x), a);
    let fold = group(&|r| sum(b.reduce_seq(start()?, step, r)?));
    assert_eq!(faulty(&fold), 0, "{fold}");
    let wrong = check_low_level(&nest(&cx, &[MapKind::Lcl(0), MapKind::Lcl(0)]));
    assert_eq!(wrong.len(), 2, "only the nesting is reported");
}
