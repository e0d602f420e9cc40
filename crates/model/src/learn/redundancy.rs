//! How much each feature says about speed: I(X, Y) / (H(X) + H(Y)), the mutual information over the sum of the
//! entropies. It is 0 for what says nothing and 1/2 for what says everything.

use std::collections::BTreeMap;

use crate::learn::dataset::Dataset;
use crate::learn::normalise::Normalisation;

/// Values are sorted into so many bins at most, with as many in each as equal values allow.
const MOST_BINS: usize = 10;

/// Every feature with its redundancy, the largest first.
pub fn redundancies(data: &Dataset) -> Vec<(String, f64)> {
    let (rows, speeds) = data.measured();
    let names = &data.layout().names;
    let normalisation = Normalisation::of(names);
    let rows: Vec<Vec<f64>> = rows.iter().map(|row| normalisation.apply(row)).collect();
    let speeds = binned(&speeds);
    let of = |(k, name): (usize, &String)| {
        let column: Vec<f64> = rows.iter().filter_map(|row| row.get(k)).copied().collect();
        (name.clone(), redundancy(&binned(&column), &speeds))
    };
    let mut found: Vec<(String, f64)> = names.iter().enumerate().map(of).collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    found
}

fn redundancy(xs: &[usize], ys: &[usize]) -> f64 {
    let pairs: Vec<(usize, usize)> = xs.iter().copied().zip(ys.iter().copied()).collect();
    let sum = entropy(xs) + entropy(ys);
    // I(X, Y) = H(X) + H(Y) - H(X, Y); rounding may leave less than nothing.
    if sum > 0.0 { ((sum - entropy(&pairs)) / sum).max(0.0) } else { 0.0 }
}

fn entropy<T: Ord>(values: &[T]) -> f64 {
    let mut counts: BTreeMap<&T, f64> = BTreeMap::new();
    values.iter().for_each(|value| *counts.entry(value).or_default() += 1.0);
    let share = |count: f64| count / values.len() as f64;
    -counts.into_values().map(|count| share(count) * share(count).ln()).sum::<f64>()
}

/// The number of each value's bin. Equal values are in one bin.
fn binned(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let different = order.chunk_by(|a, b| values[*a] == values[*b]).count();
    let mut bins = vec![0; values.len()];
    let mut passed = 0;
    for (rank, equals) in order.chunk_by(|a, b| values[*a] == values[*b]).enumerate() {
        let bin = if different <= MOST_BINS { rank } else { passed * MOST_BINS / values.len() };
        equals.iter().for_each(|number| bins[*number] = bin);
        passed += equals.len();
    }
    bins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_everything_has_a_half() {
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        let squares: Vec<f64> = values.iter().map(|v| v * v).collect();
        assert!((redundancy(&binned(&values), &binned(&squares)) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn what_says_nothing_has_none() {
        let (xs, ys): (Vec<f64>, Vec<f64>) =
            (0..64).map(|k| (f64::from(k % 8), f64::from(k / 8))).unzip();
        assert!(redundancy(&binned(&xs), &binned(&ys)) < 1e-12);
        assert_eq!(redundancy(&binned(&[3.0; 64]), &binned(&ys)), 0.0);
        assert_eq!(redundancy(&[], &[]), 0.0);
    }

    #[test]
    fn equal_values_share_a_bin_and_others_do_not_where_bins_suffice() {
        assert_eq!(binned(&[5.0, 1.0, 5.0, 2.0]), [2, 0, 2, 1]);
        let many: Vec<f64> = (0..1000).map(f64::from).collect();
        let bins = binned(&many);
        assert_eq!((bins[0], bins[999]), (0, MOST_BINS - 1));
        assert_eq!(bins.iter().filter(|bin| **bin == 3).count(), 100);
    }
}
