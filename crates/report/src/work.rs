//! What the program of a problem asks for, and how much of it is done in a second.

use lift_interp::{Sizes, bytes, work as work_of};

use crate::collected::Problem;
use crate::numbers::short;
use crate::winner::{definition, named_sizes};

/// Of one run.
pub struct Work {
    bytes: f64,
    float: f64,
    integer: f64,
}

/// Counted from the program itself, whose text is stored with the problem, or by what was tried of it as it is. Nothing
/// where this `lift` reads neither.
pub fn work(problem: &Problem) -> Option<Work> {
    let tried = problem.default().map(|tried| tried.candidate.text.as_str());
    let texts = [Some(problem.key.program.as_str()), tried];
    let def = texts.into_iter().flatten().find_map(|text| definition(text).ok())?;
    let mut sizes = Sizes::new();
    for (name, value) in named_sizes(&problem.key, &def) {
        sizes.set(name, i128::from(value));
    }
    let operations = work_of(&def, &sizes);
    let of = |part: fn(&lift_interp::Work) -> f64| operations.as_ref().map_or(0.0, part);
    Some(Work {
        bytes: bytes(&def, &sizes)?,
        float: of(|work| work.float),
        integer: of(|work| work.integer),
    })
}

impl Work {
    /// `12.3 GB/s`, and `4.5 GFLOP/s` or, where no floats are computed, `4.5 Gop/s`.
    pub fn rates(&self, ms: Option<f64>) -> Vec<String> {
        let Some(ms) = ms.filter(|ms| *ms > 0.0) else { return Vec::new() };
        let operations =
            if self.float > 0.0 { (self.float, "GFLOP/s") } else { (self.integer, "Gop/s") };
        let told = [(self.bytes, "GB/s"), operations].into_iter().filter(|(count, _)| *count > 0.0);
        told.map(|(count, unit)| format!("{} {unit}", short(count / (ms * 1e6)))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_of_what_there_is() {
        let work = |float, integer| Work { bytes: 2e6, float, integer };
        assert_eq!(work(4e6, 1e6).rates(Some(2.0)), ["1.000 GB/s", "2.000 GFLOP/s"]);
        assert_eq!(work(0.0, 1e6).rates(Some(2.0)), ["1.000 GB/s", "0.5000 Gop/s"]);
        assert_eq!(work(0.0, 0.0).rates(Some(2.0)), ["1.000 GB/s"]);
        assert!(
            work(1.0, 1.0).rates(Some(0.0)).is_empty() && work(1.0, 1.0).rates(None).is_empty()
        );
    }
}
