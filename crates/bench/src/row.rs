//! What was measured of one program at one size.

use std::collections::BTreeMap;

use lift_runtime::median;
use serde_json::{Value, json};

use crate::suite::Point;

/// A program at a size: measured, or why not.
pub struct Row {
    pub suite: String,
    pub problem: String,
    /// The definition.
    pub program: String,
    pub file: String,
    pub point: Point,
    pub measured: Result<Measured, String>,
}

#[derive(Default)]
pub struct Measured {
    pub samples: Vec<f64>,
    /// Those that answered.
    pub peers: BTreeMap<String, Peer>,
    /// Those that did not, and why.
    pub missing: BTreeMap<String, String>,
    /// The stored program that ran.
    pub variant: Option<String>,
    /// Every array that goes in or comes out, once.
    pub bytes: Option<f64>,
    pub flops: Option<f64>,
    /// Whether operations are what counts, rather than bytes.
    pub is_compute_bound: bool,
    /// The distance from the result in double precision; infinite where there is no saying.
    pub error: f64,
    pub tolerance: f64,
}

#[derive(Default)]
pub struct Peer {
    pub samples: Vec<f64>,
    pub about: String,
}

impl Peer {
    pub fn ms(&self) -> Option<f64> {
        median(&self.samples)
    }
}

impl Measured {
    pub fn ms(&self) -> Option<f64> {
        median(&self.samples)
    }

    pub fn is_right(&self) -> bool {
        self.error <= self.tolerance
    }

    pub fn gb_per_s(&self) -> Option<f64> {
        self.rate(self.bytes)
    }

    pub fn gflop_per_s(&self) -> Option<f64> {
        self.rate(self.flops)
    }

    /// A clock may be too coarse to have seen anything.
    fn rate(&self, count: Option<f64>) -> Option<f64> {
        Some(count? / (self.ms().filter(|ms| *ms > 0.0)? * 1e6))
    }
}

impl Row {
    /// Whether it ran and its result is right.
    pub fn is_right(&self) -> bool {
        self.measured.as_ref().is_ok_and(Measured::is_right)
    }

    pub fn json(&self, device: &str) -> Value {
        let mut row = json!({
            "suite": self.suite,
            "problem": self.problem,
            "program": self.program,
            "file": self.file,
            "size": self.point.text(),
            "sizes": self.point.sizes,
            "device": device,
            "original_ms": self.point.original_ms,
            "right": self.is_right(),
            "ms": Value::Null,
            "peers": {},
        });
        match &self.measured {
            Ok(measured) => {
                for (key, value) in figures(measured) {
                    row[key] = value;
                }
            }
            Err(why) => row["failed"] = why.as_str().into(),
        }
        row
    }
}

fn figures(measured: &Measured) -> [(&'static str, Value); 12] {
    let of_peers = |value: &dyn Fn(&Peer) -> Value| -> Value {
        measured.peers.iter().map(|(name, peer)| (name.clone(), value(peer))).collect()
    };
    [
        ("ms", json!(measured.ms())),
        ("samples", json!(measured.samples)),
        ("peers", of_peers(&|peer| json!(peer.ms()))),
        ("peer_samples", of_peers(&|peer| json!(peer.samples))),
        ("peer_about", of_peers(&|peer| json!(peer.about))),
        ("missing", json!(measured.missing)),
        ("variant", json!(measured.variant.as_deref().unwrap_or("default"))),
        ("bytes", json!(measured.bytes)),
        ("gb_per_s", json!(measured.gb_per_s())),
        ("gflop_per_s", json!(measured.gflop_per_s())),
        // An infinite one is written as null.
        ("error", json!(measured.error)),
        ("tolerance", json!(measured.tolerance)),
    ]
}
