//! How well two lists of numbers go together.

/// The coefficient of linear correlation, from -1 to 1. Nothing where the second list does not vary, so that there
/// is nothing to predict; 0 where only the first does not, as one that always says the same predicts nothing.
pub fn pearson(predicted: &[f64], measured: &[f64]) -> Option<f64> {
    let count = predicted.len().min(measured.len());
    let (predicted, measured) = (predicted.get(..count)?, measured.get(..count)?);
    let (predicted, measured) = (centred(predicted), centred(measured));
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (own, other) = (product(&predicted, &predicted), product(&measured, &measured));
    if count < 2 || other <= 0.0 {
        return None;
    }
    if own <= 0.0 {
        return Some(0.0);
    }
    Some((product(&predicted, &measured) / (own.sqrt() * other.sqrt())).clamp(-1.0, 1.0))
}

/// The correlation of ranks, equals having the mean of theirs: 1 where the order is the same.
pub fn spearman(predicted: &[f64], measured: &[f64]) -> Option<f64> {
    pearson(&ranks(predicted), &ranks(measured))
}

fn centred(values: &[f64]) -> Vec<f64> {
    let all_equal = values.windows(2).all(|pair| pair[0] == pair[1]);
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    // The mean of equal numbers is not always the number.
    values.iter().map(|value| if all_equal { 0.0 } else { value - mean }).collect()
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut passed = 0;
    for equals in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let mean = passed as f64 + (equals.len() as f64 - 1.0) / 2.0;
        equals.iter().for_each(|number| ranks[*number] = mean);
        passed += equals.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_correlations() {
        let near = |found: Option<f64>, expected: f64| {
            assert!(found.is_some_and(|r| (r - expected).abs() < 1e-12), "{found:?}, {expected}");
        };
        near(pearson(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]), 1.0);
        near(pearson(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), -1.0);
        // By hand: covariance 3, variances 5 and 2.5.
        near(pearson(&[1.0, 2.0, 3.0, 4.0], &[1.0, 3.0, 2.0, 2.0]), 1.0 / 10.0_f64.sqrt());
        near(spearman(&[1.0, 10.0, 100.0], &[0.1, 0.2, 0.3]), 1.0);
        near(spearman(&[1.0, 2.0, 2.0, 3.0], &[1.0, 2.0, 3.0, 4.0]), 0.9_f64.sqrt());
    }

    #[test]
    fn what_does_not_vary_has_none() {
        assert_eq!(pearson(&[1.0, 2.0], &[0.1, 0.1]), None);
        assert_eq!(pearson(&[0.1; 7], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]), Some(0.0));
        assert_eq!(pearson(&[1.0], &[1.0]), None);
        assert_eq!(spearman(&[], &[]), None);
    }
}
