//! How much times of one candidate differ, which no model can explain.

/// The distance between the quartiles of the samples over their median; nothing of fewer than two samples.
pub fn spread(samples: &[f64]) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, middle, high) =
        (quantile(&sorted, 0.25)?, quantile(&sorted, 0.5)?, quantile(&sorted, 0.75)?);
    (samples.len() > 1 && middle > 0.0).then(|| (high - low) / middle)
}

/// The spreads of many candidates.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Noise {
    /// Those that ran more than once.
    pub candidates: usize,
    /// Half of the candidates have at most this spread.
    pub median: f64,
    /// Nine of ten have.
    pub ninth_decile: f64,
}

impl Noise {
    /// Nothing of no spreads.
    pub fn of(mut spreads: Vec<f64>) -> Option<Noise> {
        spreads.sort_by(f64::total_cmp);
        let (median, ninth_decile) = (quantile(&spreads, 0.5)?, quantile(&spreads, 0.9)?);
        Some(Noise { candidates: spreads.len(), median, ninth_decile })
    }
}

/// Between the two values that are nearest to the place.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * sorted.len().checked_sub(1)? as f64;
    let low = *sorted.get(place.floor() as usize)?;
    let high = *sorted.get(place.ceil() as usize)?;
    Some(low + (high - low) * place.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_of_the_middle_half() {
        assert_eq!(spread(&[1.0, 100.0, 2.0, 3.0, 4.0]), Some(2.0 / 3.0));
        assert_eq!(spread(&[2.0, 2.0]), Some(0.0));
        assert_eq!(spread(&[2.0]), None);
        assert_eq!(spread(&[]), None);
        assert_eq!(spread(&[0.0, 0.0, 1.0]), None);
    }

    #[test]
    fn noise_is_told_by_quantiles() {
        let spreads = (0..=10).rev().map(|k| f64::from(k) / 10.0).collect();
        assert_eq!(
            Noise::of(spreads),
            Some(Noise { candidates: 11, median: 0.5, ninth_decile: 0.9 })
        );
        assert_eq!(Noise::of(Vec::new()), None);
    }
}
