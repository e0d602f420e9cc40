//! Counts, ranks and boxes of domains agree with their points, found by trying all.

use lift_domain::{Constraint, Domain};
use lift_nat::{Facts, Nat, Pred, Var};

const SIDE: i128 = 11;

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

/// The levels of a domain agree with its points.
fn agrees(domain: &Domain) {
    let levels = domain.levels().unwrap_or_else(|| panic!("{domain} is not counted"));
    for n in 0..=6 {
        let points = points(domain, n);
        assert_eq!(value(levels.count(), &[], n), points.len() as i128, "{domain} for n = {n}");
        for (number, point) in points.iter().enumerate() {
            let rank = levels.rank(&domain.point());
            let mut rest = number as i128;
            assert_eq!(value(&rank, point, n), number as i128, "{domain} at {point:?}, n = {n}");
            for (k, level) in levels.levels().iter().enumerate() {
                let (low, high) = (value(&level.low, point, n), value(&level.high, point, n));
                assert!((low..=high).contains(&point[k]), "{domain} at {point:?}, n = {n}");
                if let Some(each) = &level.each {
                    let there = low + level.step * (rest / value(each, point, n));
                    assert_eq!(there, point[k], "{domain} at {point:?}, n = {n}");
                }
                rest -= value(&level.before, point, n);
                if let Some(q) = &level.quadratic {
                    let x = point[k];
                    let (slope, first) = (value(&q.slope, point, n), value(&q.first, point, n));
                    let twice = q.bend * x * x + slope * x + first;
                    assert_eq!(twice, 2 * value(&level.before, point, n), "{domain} at {point:?}");
                }
            }
        }
    }
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
    [upper, lower, tetra].iter().for_each(agrees);
}

#[test]
fn bands_and_remainders_are_counted_in_pieces() {
    let square = [Constraint::less(&index(0), &n()), Constraint::less(&index(1), &n())];
    let in_square =
        |more: &[Constraint]| Domain::new(2, square.iter().chain(more).cloned().collect());
    let one = Nat::ONE;
    let band = in_square(&[
        Constraint::at_most(&index(0), &(index(1) + &one)),
        Constraint::at_most(&index(1), &(index(0) + &one)),
    ]);
    let red = in_square(&[Constraint::Multiple { of: index(0) + index(1), divisor: 2 }]);
    let thirds = in_square(&[Constraint::Multiple {
        of: index(0) + index(1) * Nat::int(2) + n() - &one,
        divisor: 3,
    }]);
    let steep = in_square(&[Constraint::at_most(&(index(0) * Nat::int(2)), &index(1))]);
    let flat = in_square(&[Constraint::at_most(&index(0), &(index(1) * Nat::int(3)))]);
    for domain in [band, red, thirds, steep, flat] {
        agrees(&domain);
    }
}

/// However long it takes until remainders come again: quotients say how many there are, and no case is told from another.
#[test]
fn remainders_of_large_numbers_are_counted() {
    let line = |c: i128, d: i128| Constraint::Multiple { of: index(0) * Nat::int(c), divisor: d };
    let ends = |k: usize| Constraint::less(&index(k), &(n() * Nat::int(600)));
    let (one, two) = (|c| vec![ends(0), c], |c| vec![ends(0), ends(1), c]);
    let both = |c: i128, d: i128, rest: i128| Constraint::Multiple {
        of: index(0) * Nat::int(c) + index(1) + Nat::int(rest),
        divisor: d,
    };
    let tile = vec![
        Constraint::at_most(&(index(0) * Nat::int(128)), &index(1)),
        Constraint::less(&index(1), &(index(0) * Nat::int(128) + Nat::int(128))),
        ends(1),
    ];
    let triangle = vec![
        Constraint::at_most(&index(0), &index(1)),
        ends(1),
        line(1, 16),
        Constraint::Multiple { of: index(1) + Nat::int(4), divisor: 12 },
    ];
    let domains = [
        Domain::new(1, one(line(1, 32))),
        Domain::new(1, one(line(3, 1000))),
        Domain::new(1, one(line(6, 32))),
        Domain::new(2, two(both(1, 64, 0))),
        Domain::new(2, two(both(1023, 1024, 5))),
        Domain::new(2, two(both(5, 37, 2))),
        Domain::new(2, tile),
        Domain::new(2, triangle),
    ];
    for domain in domains {
        let levels = domain.levels().unwrap_or_else(|| panic!("{domain} has no formula"));
        for n in 0..=1 {
            let side = (0..600 * n).flat_map(|x: i128| match domain.dimensions() {
                1 => vec![vec![x]],
                _ => (0..600 * n).map(|y| vec![x, y]).collect(),
            });
            let inside = |p: &Vec<i128>| domain.contains(p, &|_| Some(n)).expect("n is given");
            let points: Vec<Vec<i128>> = side.filter(inside).collect();
            assert_eq!(value(levels.count(), &[], n), points.len() as i128, "{domain}");
            let rank = levels.rank(&domain.point());
            for (number, point) in points.iter().enumerate().step_by(37) {
                assert_eq!(value(&rank, point, n), number as i128, "{domain} at {point:?}");
            }
        }
    }
}

/// The formula of a band is one for any width.
#[test]
fn a_band_has_any_width() {
    let k = Nat::var(&Var::named("k"));
    let band = Domain::new(
        2,
        vec![
            Constraint::less(&index(0), &n()),
            Constraint::less(&index(1), &n()),
            Constraint::at_most(&index(0), &(index(1) + &k)),
            Constraint::at_most(&index(1), &(index(0) + &k)),
        ],
    );
    let levels = band.levels().expect("a formula");
    for n in 0..=7 {
        for k in 0..=8 {
            let points = (0..n).flat_map(|i: i128| (0..n).map(move |j| (i - j).abs()));
            let of = |v: &Var| Some(if v.name() == "n" { n } else { k });
            let counted = levels.count().eval(&of).expect("all sizes are given");
            assert_eq!(counted, points.filter(|apart| *apart <= k).count() as i128, "{n}, {k}");
        }
    }
}

/// Numbers that are added up for each first index are added up for those of points: here from 2 on, as `3 <= 2 * i` says.
#[test]
fn what_is_added_up_begins_with_points() {
    let remainder = index(2) * Nat::int(5) + index(0) * Nat::int(5) + index(1) - Nat::ONE;
    let triangle = Domain::new(
        3,
        vec![
            Constraint::at_most(&Nat::int(3), &(index(0) + index(2))),
            Constraint::at_most(&index(2), &index(0)),
            Constraint::less(&index(0), &Nat::min(&n(), &Nat::int(5))),
            Constraint::less(&index(1), &Nat::int(4)),
            Constraint::Multiple { of: remainder, divisor: 3 },
        ],
    );
    agrees(&triangle);
    assert!(is_summed(&triangle), "this is another case otherwise");
}

/// A triangle that starts behind the size itself is empty for small sizes, where the polynomial is not.
#[test]
fn what_is_empty_has_no_points() {
    let shorter = n() - Nat::int(3);
    let triangle = Domain::new(
        2,
        vec![Constraint::at_most(&index(0), &index(1)), Constraint::less(&index(1), &shorter)],
    );
    agrees(&triangle);
}

/// Loops between the bounds of each index go through the points, but for what is said of remainders.
fn loops_agree(domain: &Domain) {
    let mut known = Facts::new();
    known.assume(&Pred::Le(Nat::ZERO, n()));
    let nest = domain.nest(&known).expect("all numbers are small");
    let multiple = |c: &&Constraint| matches!(c, Constraint::Multiple { .. });
    let by_remainders: Vec<Constraint> =
        domain.constraints().iter().filter(multiple).cloned().collect();
    let by_remainders = Domain::new(domain.dimensions(), by_remainders);
    for n in 0..=6 {
        let size = |v: &Var| (v.name() == "n").then_some(n);
        let mut reached: Vec<Vec<i128>> = vec![Vec::new()];
        for bounds in &nest {
            let mut longer = Vec::new();
            for point in &reached {
                let lows = bounds
                    .lower
                    .iter()
                    .map(|b| (value(&b.rest, point, n) + b.factor - 1).div_euclid(b.factor));
                let highs =
                    bounds.upper.iter().map(|b| value(&b.rest, point, n).div_euclid(b.factor));
                let low = lows.max().expect("an index is natural");
                let high = highs.min().expect("an index is bounded");
                assert!(bounds.may_cross || low <= high + 1, "{domain} at {point:?}, n = {n}");
                for x in low..=high {
                    longer.push(point.iter().copied().chain([x]).collect());
                }
            }
            reached = longer;
        }
        reached.retain(|p| by_remainders.contains(p, &size).expect("all sizes are given"));
        let of_sizes = |c: &Constraint| {
            (0..domain.dimensions()).all(|k| !c.pred().mentions(&Domain::index_var(k)))
        };
        if !domain.constraints().iter().any(of_sizes) {
            assert_eq!(reached, points(domain, n), "{domain} for n = {n}");
        }
    }
}

/// Whether some number of points is a sum for which there is no formula.
fn is_summed(domain: &Domain) -> bool {
    let mut found = false;
    if let Some(levels) = domain.levels() {
        let all = levels.levels().iter().map(|level| &level.before).chain([levels.count()]);
        all.for_each(|n| n.each_sum(&mut |_| found = true));
    }
    found
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
    let (mut tried, mut summed) = (0, 0);
    for _ in 0..1500 {
        let dimensions = 1 + random(3) as usize;
        let mut constraints: Vec<Constraint> = Vec::new();
        // Some domains have factors, some remainders.
        let farthest = if random(3) == 0 { 1 + random(4) } else { 1 };
        for _ in 0..=dimensions {
            let mut value = Nat::int(random(5) - 2);
            for k in 0..dimensions {
                let c = random(2 * farthest as u64 + 1) - farthest;
                value = value + index(k) * Nat::int(c);
            }
            value = value + n() * Nat::int(random(2));
            constraints.push(Constraint::AtLeast(value));
        }
        if random(4) == 0 {
            let of = (0..dimensions)
                .fold(n() * Nat::int(random(2)), |sum, k| sum + index(k) * Nat::int(random(3)));
            constraints.push(Constraint::Multiple { of, divisor: 2 + random(4) });
        }
        let domain = Domain::new(dimensions, constraints);
        if domain.unbounded().is_some() {
            continue;
        }
        // Indices that get larger than what is tried would be missed.
        let far = points(&domain, 6).iter().flatten().any(|x| *x >= SIDE - 3);
        if far {
            continue;
        }
        tried += 1;
        agrees(&domain);
        summed += i32::from(is_summed(&domain));
        loops_agree(&domain);
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
    assert!(tried > 600 && summed > 5, "{summed} of {tried} have sums");
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
