//! Measured candidates, and what is to be learned of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::features;
use crate::learn::error::LearnError;

/// No clock sees less, in milliseconds: a time of zero is one that was too short to see.
const SHORTEST_MS: f64 = 1e-6;

/// A candidate that was tried.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Sample {
    pub program: String,
    /// With what else makes it a problem of its own; candidates are compared within a problem.
    pub sizes: String,
    /// See [`device_label`].
    pub device: String,
    pub features: Vec<f64>,
    /// Nothing where it failed.
    pub ms: Option<f64>,
}

/// What a model is for. Drivers come and go, so theirs is not the device's name.
pub fn device_label(kind: &str, name: &str) -> String {
    format!("{kind} {name}")
}

/// Which numbers features are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    pub version: u32,
    pub names: Vec<String>,
}

impl Layout {
    /// Of the features that this crate extracts.
    pub fn current() -> Layout {
        let names = features::names().iter().map(|name| name.to_string()).collect();
        Layout { version: features::VERSION, names }
    }
}

/// Samples whose features are the same numbers.
#[derive(Clone, PartialEq, Debug)]
pub struct Dataset {
    layout: Layout,
    samples: Vec<Sample>,
}

impl Dataset {
    pub fn new(layout: Layout) -> Dataset {
        Dataset { layout, samples: Vec::new() }
    }

    /// Adds a sample, which has a finite number for each feature and a time that is one.
    pub fn push(&mut self, sample: Sample) -> Result<(), LearnError> {
        let bad = |message: String| Err(LearnError::BadSample { message });
        let (found, expected) = (sample.features.len(), self.layout.names.len());
        if found != expected {
            return bad(format!("a sample has {found} features and not {expected}"));
        }
        let values = self.layout.names.iter().zip(&sample.features);
        if let Some((name, value)) = values.into_iter().find(|(_, value)| !value.is_finite()) {
            return bad(format!("`{name}` is {value}, which is no feature"));
        }
        if let Some(ms) = sample.ms.filter(|ms| !ms.is_finite() || *ms < 0.0) {
            return bad(format!("{ms} is no time in milliseconds"));
        }
        self.samples.push(sample);
        Ok(())
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    pub fn programs(&self) -> BTreeSet<&str> {
        self.samples.iter().map(|sample| sample.program.as_str()).collect()
    }

    pub fn devices(&self) -> BTreeSet<&str> {
        self.samples.iter().map(|sample| sample.device.as_str()).collect()
    }

    /// The device that all samples are of.
    pub fn device(&self) -> Result<&str, LearnError> {
        let devices = self.devices();
        match devices.iter().collect::<Vec<_>>().as_slice() {
            [] => Err(LearnError::NothingMeasured),
            [only] => Ok(only),
            several => {
                let found = several.iter().map(|name| name.to_string()).collect();
                Err(LearnError::SeveralDevices { found })
            }
        }
    }

    /// The samples for which this holds.
    pub fn only(&self, keep: impl Fn(&Sample) -> bool) -> Dataset {
        let samples = self.samples.iter().filter(|sample| keep(sample)).cloned().collect();
        Dataset { layout: self.layout.clone(), samples }
    }

    /// The samples of each problem, by number.
    pub fn problems(&self) -> Vec<Vec<usize>> {
        let mut problems: BTreeMap<(&str, &str, &str), Vec<usize>> = BTreeMap::new();
        for (number, sample) in self.samples.iter().enumerate() {
            let key = (sample.program.as_str(), sample.sizes.as_str(), sample.device.as_str());
            problems.entry(key).or_default().push(number);
        }
        problems.into_values().collect()
    }

    /// Throughput compared with the best of the same problem, in (0, 1]; nothing for those that failed.
    pub fn relative(&self) -> Vec<Option<f64>> {
        let time = |number: &usize| self.samples.get(*number)?.ms.map(|ms| ms.max(SHORTEST_MS));
        let mut relative = vec![None; self.samples.len()];
        for problem in self.problems() {
            let best = problem.iter().filter_map(time).fold(f64::INFINITY, f64::min);
            for number in &problem {
                if let Some(place) = relative.get_mut(*number) {
                    *place = time(number).map(|ms| best / ms);
                }
            }
        }
        relative
    }

    /// The features of those that were measured, and their relative throughput.
    pub fn measured(&self) -> (Vec<&[f64]>, Vec<f64>) {
        let pairs = self.samples.iter().zip(self.relative());
        pairs.filter_map(|(sample, speed)| Some((sample.features.as_slice(), speed?))).unzip()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(program: &str, sizes: &str, ms: Option<f64>) -> Sample {
        let (program, sizes) = (program.to_string(), sizes.to_string());
        Sample { program, sizes, features: vec![1.0], ms, ..Sample::default() }
    }

    fn dataset(samples: impl IntoIterator<Item = Sample>) -> Dataset {
        let mut data = Dataset::new(Layout { version: 1, names: vec!["x".to_string()] });
        samples.into_iter().for_each(|sample| data.push(sample).expect("a good sample"));
        data
    }

    #[test]
    fn the_best_of_each_problem_is_one() {
        let data = dataset([
            sample("a", "N=1", Some(2.0)),
            sample("b", "N=1", Some(8.0)),
            sample("a", "N=1", Some(1.0)),
            sample("a", "N=2", Some(4.0)),
            sample("a", "N=1", None),
        ]);
        assert_eq!(data.relative(), [Some(0.5), Some(1.0), Some(1.0), Some(1.0), None]);
        assert_eq!(data.measured().1, [0.5, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn a_time_too_short_to_see_leaves_every_speed_above_zero() {
        let data = dataset([sample("a", "", Some(0.0)), sample("a", "", Some(1.0))]);
        let relative: Vec<f64> = data.relative().into_iter().flatten().collect();
        assert_eq!(relative.len(), 2);
        assert!(relative.iter().all(|speed| *speed > 0.0 && *speed <= 1.0), "{relative:?}");
    }

    #[test]
    fn samples_that_are_none_are_refused() {
        let mut data = dataset([]);
        let few = Sample { features: Vec::new(), ..sample("a", "", None) };
        let not_finite = Sample { features: vec![f64::NAN], ..sample("a", "", None) };
        for bad in [few, not_finite, sample("a", "", Some(-1.0)), sample("a", "", Some(f64::NAN))] {
            assert!(matches!(data.push(bad), Err(LearnError::BadSample { .. })));
        }
        assert!(data.samples().is_empty());
    }
}
