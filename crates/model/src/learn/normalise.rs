//! Features made comparable: between sizes of the input, and with each other.

use serde::{Deserialize, Serialize};

/// The feature that says how large the input is.
const INPUT: &str = "input_bytes";

/// Beginnings of the names of features that grow with the input.
const GROWING: [&str; 2] = ["global_size_", "total_"];

/// Divides what grows with the input by the size of the input.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Normalisation {
    /// The feature that is the size of the input; nothing is divided where there is none.
    input: Option<usize>,
    /// The features that are divided by it.
    growing: Vec<usize>,
}

impl Normalisation {
    /// Of features with these names.
    pub fn of(names: &[String]) -> Normalisation {
        let input = names.iter().position(|name| name == INPUT);
        let grows = |name: &String| GROWING.iter().any(|start| name.starts_with(start));
        let growing = names.iter().enumerate().filter(|(_, name)| grows(name));
        Normalisation { input, growing: growing.map(|(number, _)| number).collect() }
    }

    pub fn apply(&self, features: &[f64]) -> Vec<f64> {
        let mut normal = features.to_vec();
        let input = self.input.and_then(|number| features.get(number)).copied();
        let Some(input) = input.filter(|input| *input > 0.0) else { return normal };
        for number in &self.growing {
            if let Some(value) = normal.get_mut(*number) {
                *value /= input;
            }
        }
        normal
    }
}

/// Brings every feature to mean 0 and standard deviation 1. One that is always the same becomes 0.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Standard {
    means: Vec<f64>,
    /// Zero where the feature is always the same.
    deviations: Vec<f64>,
}

impl Standard {
    /// Of rows that are as long as each other.
    pub fn of(rows: &[Vec<f64>]) -> Standard {
        let width = rows.first().map_or(0, Vec::len);
        let count = rows.len().max(1) as f64;
        let column = |k: usize| rows.iter().filter_map(move |row| row.get(k));
        let means: Vec<f64> = (0..width).map(|k| column(k).sum::<f64>() / count).collect();
        let deviation = |(k, mean): (usize, &f64)| {
            let squares: f64 = column(k).map(|value| (value - mean).powi(2)).sum();
            let deviation = (squares / count).sqrt();
            // Rounding makes a little of nothing.
            let varies = deviation.is_finite() && deviation > 1e-12 * mean.abs();
            if varies { deviation } else { 0.0 }
        };
        let deviations = means.iter().enumerate().map(deviation).collect();
        Standard { means, deviations }
    }

    /// How many numbers a row has.
    pub fn width(&self) -> usize {
        self.means.len().min(self.deviations.len())
    }

    /// As long as the rows it was made of: what is missing is as the mean.
    pub fn apply(&self, row: &[f64]) -> Vec<f64> {
        let scale = self.means.iter().zip(&self.deviations).enumerate();
        scale
            .map(|(k, (mean, deviation))| match row.get(k) {
                Some(value) if *deviation > 0.0 => (value - mean) / deviation,
                _ => 0.0,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grows_with_the_input_is_divided_by_it() {
        let names = ["global_size_0", INPUT, "barriers"].map(str::to_string);
        let normal = Normalisation::of(&names).apply(&[4096.0, 1024.0, 3.0]);
        assert_eq!(normal, [4.0, 1024.0, 3.0]);
    }

    #[test]
    fn without_a_size_of_the_input_nothing_is_divided() {
        let names = ["global_size_0", "barriers"].map(str::to_string);
        assert_eq!(Normalisation::of(&names).apply(&[4096.0, 3.0]), [4096.0, 3.0]);
        let names = ["global_size_0", INPUT].map(str::to_string);
        assert_eq!(Normalisation::of(&names).apply(&[4096.0, 0.0]), [4096.0, 0.0]);
    }

    #[test]
    fn columns_get_mean_zero_and_deviation_one() {
        let rows = [vec![1.0, 7.0, 0.1], vec![3.0, 7.0, 0.1], vec![5.0, 7.0, 0.1]];
        let standard = Standard::of(&rows);
        let scaled: Vec<Vec<f64>> = rows.iter().map(|row| standard.apply(row)).collect();
        let of = |k: usize| scaled.iter().map(|row| row[k]).collect::<Vec<f64>>();
        assert!(of(0).iter().sum::<f64>().abs() < 1e-12);
        assert!((of(0).iter().map(|v| v * v).sum::<f64>() / 3.0 - 1.0).abs() < 1e-12);
        assert_eq!((of(1), of(2)), (vec![0.0; 3], vec![0.0; 3]));
        assert_eq!(standard.apply(&[]), [0.0; 3]);
    }
}
