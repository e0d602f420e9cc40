//! What a C expression computes on the way never reaches further than the spread says.

use crate::common::c::{C, read};
use crate::common::*;
use lift_nat::{Nat, Spread, Var};
use proptest::prelude::*;

/// The value of a C expression, and the largest number that a signed type must have for it and all on the way to it. Nothing where
/// something is undefined.
fn walked(tree: &C, at: &Values, largest: &mut i128) -> Option<i128> {
    let name = |n: &str| NAMES.iter().position(|known| *known == n).map(|k| at[k]);
    let value = match tree {
        C::Choice(condition, yes, no) => match walked(condition, at, largest)? {
            0 => walked(no, at, largest),
            _ => walked(yes, at, largest),
        },
        C::Binary("&&", a, b) => match walked(a, at, largest)? {
            0 => Some(0),
            _ => walked(b, at, largest),
        },
        C::Int(_) | C::Name(_) => tree.value(&name),
        C::Negative(a) => walked(a, at, largest).and_then(i128::checked_neg),
        C::Binary(operator, a, b) => {
            let divided = walked(a, at, largest)?;
            let by = walked(b, at, largest)?;
            // The least number has no quotient by -1, and C defines no rest then.
            if matches!(*operator, "/" | "%") && by == -1 {
                *largest = (*largest).max(divided.checked_neg()?);
            }
            tree.value(&name)
        }
        C::Call(_, arguments) => {
            for argument in arguments {
                walked(argument, at, largest)?;
            }
            tree.value(&name)
        }
    }?;
    // There is one more number below zero than above.
    *largest = (*largest).max(if value < 0 { -(value + 1) } else { value });
    Some(value)
}

/// Sizes are bounded by themselves, indices by numbers.
fn spread_of(world: World, var: &Var) -> Spread {
    let numbers = |below, above| Spread { below: Nat::int(below), above: Nat::int(above) };
    match (world, var.name()) {
        (World::Naturals, "N" | "M") => Spread::up_to(Nat::var(var)),
        (World::Naturals, "i") => numbers(0, 8),
        (World::Naturals, _) => numbers(0, 6),
        (World::Integers, "N" | "i") => numbers(4, 5),
        (World::Integers, _) => numbers(3, 4),
    }
}

proptest! {
    #![proptest_config(config(80))]

    #[test]
    fn nothing_reaches_further(raw in prop_oneof![index(), position(), anything()], world in world()) {
        let n = raw.build();
        prop_assume!(!n.is_overflow());
        let mut noted = Vec::new();
        let spread = n.spread(&|v| spread_of(world, v), &mut |size| noted.push(size));
        let text = n.to_c(&|v| v.to_string());
        let tree = read(&text);
        for at in assignments(world, &[]) {
            let bounds: Result<Vec<i128>, _> = noted.iter().map(|m| m.eval(&lookup(&at))).collect();
            let Ok(bounds) = bounds else { continue };
            let mut largest = 0;
            let Some(value) = walked(&tree, &at, &mut largest) else { continue };
            // C divides where an exact division is not defined.
            let Ok(expected) = n.eval(&lookup(&at)) else { continue };
            prop_assert_eq!(expected, value, "{} at {:?}", &text, at);
            let furthest = bounds.into_iter().max().unwrap_or(0);
            prop_assert!(largest <= furthest, "{} at {:?}: {} > {}", &text, at, largest, furthest);
            let [below, above] = [&spread.below, &spread.above].map(|b| b.eval(&lookup(&at)));
            prop_assert!(below.is_ok_and(|b| -b <= value), "{} at {:?}", &text, at);
            prop_assert!(above.is_ok_and(|a| value <= a), "{} at {:?}", &text, at);
        }
    }
}

/// `a % d` reaches as far as `a` and `d`; what is chosen by a condition reaches as far as that lets it.
#[test]
fn spreads_are_tight_where_text_is() {
    let furthest = |text: &str, bounds: &[(&str, i128)]| {
        let of = |v: &Var| match bounds.iter().find(|(name, _)| *name == v.name()) {
            Some((_, above)) => Spread { below: Nat::int(*above), above: Nat::int(*above) },
            None => Spread::up_to(Nat::int(10)),
        };
        let mut largest = 0;
        let value = lift_nat::parse(text).expect(text);
        value.spread(&of, &mut |size| largest = largest.max(size.as_int().expect("numbers")));
        largest
    };
    assert_eq!(furthest("(1234577 * i) % n", &[]), 12_345_770);
    assert_eq!(furthest("i % 7 * 3", &[]), 18);
    assert_eq!(furthest("i / 2 * 100", &[]), 500);
    assert_eq!(furthest("n - 1 - i", &[]), 10);
    assert_eq!(furthest("if 0 <= k && k < n then 4 * k else 0", &[("k", 1000)]), 1000);
    assert_eq!(furthest("if 0 <= k && k < n then 400 * k else 0", &[("k", 1000)]), 4000);
    assert_eq!(furthest("min(k, 7) * 2 + max(k, 0)", &[("k", 1000)]), 1999);
    assert_eq!(furthest("0 - k", &[("k", 1000)]), 1000);
    assert_eq!(furthest("k % n", &[("k", 1000)]), 1000);
    assert_eq!(furthest("i % k", &[("k", 1000)]), 1000);
}

/// All sums on the way to one, and what is added, fit into what is noted.
#[test]
fn sums_reach_no_further() {
    let sum = lift_nat::parse("sum(t < N + 1, t * i - 3)").expect("the text is one");
    let mut noted = Vec::new();
    let spread = sum.spread(&|v| spread_of(World::Naturals, v), &mut |n| noted.push(n));
    for n in 0..9 {
        let at = |v: &Var| (v.name() == "N").then_some(n);
        let largest = noted.iter().map(|n| n.eval(&at).expect("N is all there is")).max();
        for i in 0..=8 {
            let mut partial = 0;
            for t in 0..=n {
                partial += t * i - 3;
                assert!(largest >= Some(partial.abs()), "{partial} for N = {n}, i = {i}");
            }
            let (above, below) = (spread.above.eval(&at).unwrap(), spread.below.eval(&at).unwrap());
            assert!(-below <= partial && partial <= above, "{partial} for N = {n}, i = {i}");
        }
    }
}
