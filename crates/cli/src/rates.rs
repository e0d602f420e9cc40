//! What a program does in a second: of what it asks for, not of what kernels compute again.

use lift_interp::{Sizes, bytes, work};
use lift_ir::Def;
use serde_json::{Value, json};

use crate::run::short;

/// Nothing where it is not known, or where the program does nothing of the kind.
#[derive(Clone, Copy, Default)]
pub struct Rates {
    gb_per_s: Option<f64>,
    gflop_per_s: Option<f64>,
    /// Of integers.
    gop_per_s: Option<f64>,
}

impl Rates {
    pub fn of(def: &Def, sizes: &Sizes, ms: Option<f64>) -> Rates {
        // A clock may be too coarse to have seen anything.
        let ms = ms.filter(|ms| *ms > 0.0);
        let rate = |count: Option<f64>| Some(count.filter(|n| *n > 0.0)? / (ms? * 1e6));
        let work = work(def, sizes);
        Rates {
            gb_per_s: rate(bytes(def, sizes)),
            gflop_per_s: rate(work.map(|work| work.float)),
            gop_per_s: rate(work.map(|work| work.integer)),
        }
    }

    /// `12.3 GB/s`, then `4.5 GFLOP/s` or, where no floats are computed, `4.5 Gop/s`.
    pub fn told(&self) -> Vec<String> {
        let operations = match self.gflop_per_s {
            Some(rate) => (Some(rate), "GFLOP/s"),
            None => (self.gop_per_s, "Gop/s"),
        };
        let all = [(self.gb_per_s, "GB/s"), operations];
        let told =
            all.iter().filter_map(|(rate, unit)| Some(format!("{} {unit}", short((*rate)?))));
        told.collect()
    }

    /// Adds `gb_per_s`, `gflop_per_s` and `gop_per_s` to an object.
    pub fn add_to(&self, object: &mut Value) {
        object["gb_per_s"] = json!(self.gb_per_s);
        object["gflop_per_s"] = json!(self.gflop_per_s);
        object["gop_per_s"] = json!(self.gop_per_s);
    }
}
