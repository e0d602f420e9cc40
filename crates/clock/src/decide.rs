//! How good decisions are that are made by predictions, against what was measured.

use std::collections::BTreeMap;

use lift_interp::{Sizes, concrete_type};
use lift_ir::{Def, Type};

/// A device within this part of the best is as good as it.
pub const AS_GOOD: f64 = 1.05;

/// What one device offers for a program at some sizes.
#[derive(Clone, PartialEq, Debug)]
pub struct Offer {
    pub device: String,
    pub predicted_ms: f64,
    /// What it takes in fact, or why that is not known.
    pub measured: Result<f64, String>,
}

/// The regret of a decision: the time of the device that is predicted to be done first over that of the one that is. Nothing
/// where either is not known.
pub fn regret(offers: &[Offer]) -> Option<f64> {
    let chosen = offers.iter().min_by(|a, b| a.predicted_ms.total_cmp(&b.predicted_ms))?;
    let known = offers.iter().filter_map(|o| o.measured.as_ref().ok().copied());
    let best = known.min_by(f64::total_cmp)?;
    let chosen = chosen.measured.as_ref().ok()?;
    (best > 0.0).then(|| chosen / best)
}

/// Of many decisions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Summary {
    pub decisions: usize,
    /// The part that is right.
    pub right: f64,
    /// Regrets: their geometric mean, and the worst.
    pub mean: f64,
    pub worst: f64,
}

pub fn summary(regrets: &[f64]) -> Option<Summary> {
    let decisions = regrets.len();
    let worst = regrets.iter().copied().max_by(f64::total_cmp)?;
    let right = regrets.iter().filter(|r| **r <= AS_GOOD).count() as f64 / decisions as f64;
    let mean = (regrets.iter().map(|r| r.ln()).sum::<f64>() / decisions as f64).exp();
    Some(Summary { decisions, right, mean, worst })
}

/// Sizes in the proportions of these, such that the largest argument has about so many elements; those that are `fixed` stay.
/// Nothing where no size changes that.
pub fn grown(
    def: &Def,
    base: &BTreeMap<String, i128>,
    fixed: &dyn Fn(&str) -> bool,
    elements: f64,
) -> Option<BTreeMap<String, i128>> {
    let at = |times: f64| -> BTreeMap<String, i128> {
        let one = |(name, size): (&String, &i128)| {
            let size = if fixed(name) { *size } else { round(*size as f64 * times) };
            (name.clone(), size)
        };
        base.iter().map(one).collect()
    };
    let (mut low, mut high) = (1e-9, 1e9);
    if largest(def, &at(low))? >= largest(def, &at(high))? {
        return None;
    }
    for _ in 0..100 {
        let middle = f64::sqrt(low * high);
        if largest(def, &at(middle))? < elements { low = middle } else { high = middle }
    }
    // The nearer of the two.
    let (below, above) = (at(low), at(high));
    let off = |sizes: &BTreeMap<String, i128>| {
        largest(def, sizes).map_or(f64::INFINITY, |n| (n / elements).max(elements / n))
    };
    Some(if off(&below) < off(&above) { below } else { above })
}

/// Sizes that are not small are multiples of 16, as those that people choose.
fn round(size: f64) -> i128 {
    let step = if size < 48.0 { 1.0 } else { 16.0 };
    ((size / step).round() * step).max(1.0) as i128
}

/// Scalars of the largest array among the arguments, or of the result where no argument is one.
fn largest(def: &Def, sizes: &BTreeMap<String, i128>) -> Option<f64> {
    let sizes: Sizes = sizes.iter().map(|(name, size)| (name.as_str(), *size)).collect();
    let of = |ty: &Type| concrete_type(ty, &sizes).ok().map(|ty| scalars(&ty));
    let arguments: Option<Vec<f64>> = def.params.iter().map(|p| of(p.ty())).collect();
    let most = arguments?.into_iter().fold(0.0, f64::max);
    if most > 1.0 { Some(most) } else { of(def.body.ty()) }
}

fn scalars(ty: &Type) -> f64 {
    match ty {
        Type::Array(element, n) => n.as_int().unwrap_or(1) as f64 * scalars(element),
        Type::Tuple(parts) => parts.iter().map(scalars).sum(),
        _ => 1.0,
    }
}

/// The numbers below `count` in an order whose every beginning is spread over all of them.
pub fn spread_out(count: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..count).collect();
    let place = |k: &usize| (*k as f64 * 0.618_033_988_75).fract();
    all.sort_by(|a, b| place(a).total_cmp(&place(b)));
    all
}

/// How alike two orders are: the rank correlation of Spearman, from −1 to 1; nothing for fewer than three, or where all are
/// equal.
pub fn rank_correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.len() != b.len() || a.len() < 3 {
        return None;
    }
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 - 1.0) / 2.0;
    let product = |x: &[f64], y: &[f64]| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum()
    };
    let scale = (product(&a, &a) * product(&b, &b)).sqrt();
    (scale > 0.0).then(|| product(&a, &b) / scale)
}

/// Where each stands in order; equal ones stand in the middle of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |v: &f64| {
        let below = values.iter().filter(|w| *w < v).count() as f64;
        let equal = values.iter().filter(|w| *w == v).count() as f64;
        below + (equal - 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(device: &str, predicted_ms: f64, measured: Option<f64>) -> Offer {
        let measured = measured.ok_or_else(|| "crashed".to_string());
        Offer { device: device.to_string(), predicted_ms, measured }
    }

    #[test]
    fn regret_is_the_time_of_the_chosen_over_that_of_the_best() {
        let right = [offer("a", 1.0, Some(3.0)), offer("b", 2.0, Some(4.0))];
        let wrong = [offer("a", 1.0, Some(4.0)), offer("b", 2.0, Some(2.0))];
        assert_eq!(regret(&right), Some(1.0));
        assert_eq!(regret(&wrong), Some(2.0));
        // Another that crashes is no better one; of a chosen one that does, nothing is known.
        assert_eq!(regret(&[offer("a", 1.0, Some(4.0)), offer("b", 2.0, None)]), Some(1.0));
        assert_eq!(regret(&[offer("a", 1.0, None), offer("b", 2.0, Some(4.0))]), None);
        assert_eq!(regret(&[]), None);
    }

    #[test]
    fn decisions_are_summed_up() {
        let all = summary(&[1.0, 1.04, 4.0, 1.0]).expect("some");
        assert_eq!((all.decisions, all.right, all.worst), (4, 0.75, 4.0));
        assert!((all.mean - (1.04_f64 * 4.0).powf(0.25)).abs() < 1e-12);
        assert_eq!(summary(&[]), None);
    }

    fn def(text: &str) -> Def {
        let checked = lift_syntax::check_text("f.lift", text);
        checked.program.defs.last().unwrap_or_else(|| panic!("{}", checked.render(false))).clone()
    }

    #[test]
    fn sizes_grow_in_proportion() {
        let f = def("def f[M, N, K](a: [[f32; N]; M], b: [f32; K]) -> [[f32; N]; M] = a;");
        let base: BTreeMap<String, i128> =
            [("M", 64), ("N", 128), ("K", 5)].map(|(n, s)| (n.to_string(), s)).into();
        let grown = grown(&f, &base, &|name| name == "K", f64::from(1 << 20)).expect("sizes");
        let of = |name: &str| grown[name];
        assert_eq!(of("K"), 5);
        let elements = (of("M") * of("N")) as f64 / f64::from(1 << 20);
        assert!((0.95..1.05).contains(&elements), "{grown:?}");
        assert!((of("N") as f64 / of("M") as f64 - 2.0).abs() < 0.1, "{grown:?}");
    }

    #[test]
    fn what_has_no_array_goes_by_its_result() {
        let f = def(
            "def f[; W = 8, H = 8](a: f32) -> [[f32; W]; H] = generate(H, \\y -> generate(W, \\x -> a));",
        );
        let base: BTreeMap<String, i128> =
            [("W", 8), ("H", 8)].map(|(n, s)| (n.to_string(), s)).into();
        let found = grown(&f, &base, &|_| false, 4096.0).expect("sizes");
        assert_eq!(found.values().copied().collect::<Vec<_>>(), [64, 64]);
        assert_eq!(grown(&f, &base, &|_| true, 4096.0), None, "nothing may grow");
    }

    #[test]
    fn every_beginning_is_spread() {
        let order = spread_out(100);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..100).collect::<Vec<_>>());
        let tens: std::collections::BTreeSet<usize> = order[..20].iter().map(|k| k / 20).collect();
        assert_eq!(tens.len(), 5, "{order:?}");
    }

    #[test]
    fn ranks_are_compared() {
        assert_eq!(rank_correlation(&[1.0, 2.0, 3.0], &[10.0, 20.0, 90.0]), Some(1.0));
        assert_eq!(rank_correlation(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), Some(-1.0));
        // By hand: ranks 0 1.5 1.5 3 and 0 1 2 3, so 4.5 over the root of 4.5 times 5.
        let found = rank_correlation(&[1.0, 2.0, 2.0, 3.0], &[1.0, 2.0, 3.0, 4.0]).expect("four");
        assert!((found - 4.5 / (4.5_f64 * 5.0).sqrt()).abs() < 1e-12, "{found}");
        assert_eq!(rank_correlation(&[1.0, 2.0], &[1.0, 2.0]), None);
        assert_eq!(rank_correlation(&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0]), None);
    }
}
