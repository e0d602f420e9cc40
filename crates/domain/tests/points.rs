//! Counts, ranks and boxes of domains agree with their points, found by trying all.

use lift_domain::{Constraint, Domain};
use lift_nat::{Nat, Var};

const SIDE: i128 = 9;

fn index(k: usize) -> Nat {
    Domain::index(k)
}

fn n() -> Nat {
    Nat::var(&Var::named("n"))
}

/// The points in lexicographic order, with `n` given.
fn points(domain: &Domain, n: i128) -> Vec<Vec<i128>> {
    let mut all = vec![Vec::new()];
    for _ in 0..domain.dimensions() {
        let longer = all.iter().flat_map(|p: &Vec<i128>| {
            (0..SIDE).map(move |x| p.iter().copied().chain([x]).collect::<Vec<i128>>())
        });
        all = longer.collect();
    }
    let inside = |p: &Vec<i128>| {
        domain.contains(p, &|v| (v.name() == "n").then_some(n)).expect("all sizes are given")
    };
    all.retain(inside);
    all
}

fn value(nat: &Nat, point: &[i128], n: i128) -> i128 {
    let index = |v: &Var| (0..point.len()).find(|k| Domain::index_var(*k) == *v);
    let of = |v: &Var| match index(v) {
        Some(k) => point.get(k).copied(),
        None => Some(n),
    };
    nat.eval(&of).expect("all variables are given")
}

/// Whether the domain has levels, which agree with its points.
fn agrees(domain: &Domain) -> bool {
    let Some(levels) = domain.levels() else { return false };
    for n in 0..=6 {
        let points = points(domain, n);
        assert_eq!(value(levels.count(), &[], n), points.len() as i128, "{domain} for n = {n}");
        for (number, point) in points.iter().enumerate() {
            let rank = levels.rank(&domain.point());
            assert_eq!(value(&rank, point, n), number as i128, "{domain} at {point:?}, n = {n}");
            for (k, level) in levels.levels().iter().enumerate() {
                let (low, high) = (value(&level.low, point, n), value(&level.high, point, n));
                assert!((low..=high).contains(&point[k]), "{domain} at {point:?}, n = {n}");
            }
        }
    }
    true
}

#[test]
fn triangles_and_tetrahedra_are_counted() {
    let upper = Domain::new(
        2,
        vec![Constraint::less(&index(0), &index(1)), Constraint::less(&index(1), &n())],
    );
    let lower = Domain::new(
        2,
        vec![Constraint::at_most(&index(1), &index(0)), Constraint::less(&index(0), &n())],
    );
    let tetra = Domain::new(
        3,
        vec![
            Constraint::at_most(&index(0), &index(1)),
            Constraint::at_most(&index(1), &index(2)),
            Constraint::less(&index(2), &n()),
        ],
    );
    assert!([upper, lower, tetra].iter().all(agrees));
}

#[test]
fn what_has_two_borders_has_no_polynomial() {
    let band = Domain::new(
        2,
        vec![
            Constraint::less(&index(0), &n()),
            Constraint::less(&index(1), &n()),
            Constraint::at_most(&index(0), &(index(1) + Nat::ONE)),
            Constraint::at_most(&index(1), &(index(0) + Nat::ONE)),
        ],
    );
    assert!(!agrees(&band));
    assert_eq!(band.unbounded(), None);
}

/// A triangle that starts behind the size itself is empty for small sizes, where the polynomial is not.
#[test]
fn what_is_empty_has_no_points() {
    let shorter = n() - Nat::int(3);
    let triangle = Domain::new(
        2,
        vec![Constraint::at_most(&index(0), &index(1)), Constraint::less(&index(1), &shorter)],
    );
    assert!(agrees(&triangle));
}

#[test]
fn random_domains_agree_with_their_points() {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        i128::from(state % below)
    };
    let mut counted = 0;
    for _ in 0..3000 {
        let dimensions = 1 + random(3) as usize;
        let mut constraints: Vec<Constraint> = Vec::new();
        for _ in 0..=dimensions {
            let mut value = Nat::int(random(5) - 2);
            for k in 0..dimensions {
                value = value + index(k) * Nat::int(random(3) - 1);
            }
            value = value + n() * Nat::int(random(2));
            constraints.push(Constraint::AtLeast(value));
        }
        let domain = Domain::new(dimensions, constraints);
        if domain.unbounded().is_some() {
            continue;
        }
        // Indices that get larger than what is tried would be missed.
        let far = points(&domain, 6).iter().flatten().any(|x| *x == SIDE - 1);
        if far {
            continue;
        }
        counted += i32::from(agrees(&domain));
        // What is said of sizes alone is for whoever gives them.
        let of_sizes = |c: &Constraint| match c {
            Constraint::AtLeast(value) => {
                (0..dimensions).all(|k| !value.mentions(&Domain::index_var(k)))
            }
            Constraint::Multiple { .. } => false,
        };
        let given = !domain.constraints().iter().any(of_sizes);
        if let Some(extents) = domain.extents().filter(|_| given) {
            for n in 0..=6 {
                let sides = extents.iter().map(|e| value(e, &[], n).max(0));
                assert_eq!(points(&domain, n).len() as i128, sides.product::<i128>(), "{domain}");
            }
        }
    }
    assert!(counted > 100, "only {counted} domains had levels");
}

#[test]
fn boxes_are_told_from_others() {
    let square = [Constraint::less(&index(0), &n()), Constraint::less(&index(1), &n())];
    let with =
        |more: Constraint| Domain::new(2, square.iter().cloned().chain([more]).collect()).extents();
    let side = Some(vec![n(), n()]);
    // What follows from the others changes nothing.
    assert_eq!(with(Constraint::at_most(&(index(0) + index(1)), &(n() * Nat::int(2)))), side);
    assert_eq!(with(Constraint::at_most(&Nat::ZERO, &index(0))), side);
    assert_eq!(with(Constraint::less(&index(0), &index(1))), None);
    assert_eq!(with(Constraint::at_most(&Nat::ONE, &index(0))), None);
    assert_eq!(with(Constraint::Multiple { of: index(0), divisor: 2 }), None);
    let open = Domain::new(2, vec![Constraint::less(&index(0), &index(1))]);
    assert_eq!((open.unbounded(), open.extents()), (Some(0), None));
}
