#![allow(clippy::unwrap_used)]
//! Learning from made-up measurements of which the truth is known.

mod known;
mod left_out;
mod saved;

use lift_model::learn::{Dataset, Layout, Sample};

const DEVICE: &str = "opencl a device";

/// How fast a candidate with these features is, from 0 to 1.
type Truth = fn(&[f64]) -> f64;

fn layout() -> Layout {
    let names = ["lines", "occupancy", "noise", "same"];
    Layout { version: 1, names: names.map(String::from).to_vec() }
}

/// Lines make it slower, occupancy faster; nothing else matters.
fn truth(features: &[f64]) -> f64 {
    0.1 + 0.9 * features[1] / features[0]
}

/// Candidates of a program at two sizes, of which some fail. What is random follows from the seed.
fn samples(program: &str, seed: u64, truth: Truth) -> Vec<Sample> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut sample = |k: usize| {
        let (lines, occupancy) = (1.0 + f64::from(random.u8(..8)), 0.1 + 0.9 * random.f64());
        let features = vec![lines, occupancy, random.f64(), 3.0];
        let (size, scale) = if k.is_multiple_of(2) { (256, 0.01) } else { (4096, 7.0) };
        let ms = (!k.is_multiple_of(17)).then(|| scale / truth(&features));
        let (program, sizes) = (program.to_string(), format!("N={size}"));
        Sample { program, sizes, device: DEVICE.to_string(), features, ms }
    };
    (0..300).map(&mut sample).collect()
}

fn dataset(samples: impl IntoIterator<Item = Sample>) -> Dataset {
    let mut data = Dataset::new(layout());
    samples.into_iter().for_each(|sample| data.push(sample).unwrap());
    data
}

/// Three programs whose speed follows from the features in the same way.
fn three() -> Dataset {
    let programs = [("dot", 1), ("mm", 2), ("sum", 3)];
    dataset(programs.into_iter().flat_map(|(program, seed)| samples(program, seed, truth)))
}
