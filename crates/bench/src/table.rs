//! The table of a benchmark, a line at a time: what was measured stays when the rest is not waited for.

use crate::row::{Measured, Row};
use crate::suite::Point;

/// Where the original's kernels were measured.
const ORIGINAL_DEVICE: &str = "H200";

/// Columns and their widths, known before anything is measured.
pub struct Table {
    program: usize,
    size: usize,
    peers: Vec<String>,
    has_original: bool,
}

const TIME: usize = 12;
const RATE: usize = 16;
const PEER: usize = 20;

impl Table {
    /// For these programs at these sizes with all these peers.
    pub fn new<'c>(
        cases: impl IntoIterator<Item = (String, &'c Point)>,
        peers: Vec<String>,
        device: &str,
    ) -> Table {
        let (mut program, mut size, mut has_original) = ("program".len(), "size".len(), false);
        for (name, point) in cases {
            program = program.max(name.chars().count());
            size = size.max(point.label().chars().count());
            has_original |= point.original_ms.is_some() && device.contains(ORIGINAL_DEVICE);
        }
        Table { program, size, peers, has_original }
    }

    pub fn heading(&self) -> String {
        let mut cells: Vec<String> = ["Lift", "rate", "error"].map(String::from).to_vec();
        cells.extend(self.peers.iter().cloned());
        cells.extend(self.has_original.then(|| "original".to_string()));
        self.line("program", "size", &cells)
    }

    pub fn row(&self, row: &Row) -> String {
        let size = row.point.label();
        let measured = match &row.measured {
            Ok(measured) => measured,
            Err(why) => return self.line(&row.program, &size, &[format!("failed: {why}")]),
        };
        let own = measured.ms().unwrap_or(0.0);
        let mut cells = vec![time(own), rate(measured), error(measured)];
        for name in &self.peers {
            let peer = measured.peers.get(name).and_then(|peer| peer.ms());
            cells.push(match peer {
                Some(ms) => against(ms, own),
                None if measured.missing.contains_key(name) => "missing".to_string(),
                None => "-".to_string(),
            });
        }
        if self.has_original {
            cells.push(row.point.original_ms.map_or("-".to_string(), |ms| against(ms, own)));
        }
        self.line(&row.program, &size, &cells)
    }

    fn line(&self, program: &str, size: &str, cells: &[String]) -> String {
        let widths = [TIME, RATE, TIME].into_iter().chain(std::iter::repeat(PEER));
        let mut text = format!("{program:<0$}  {size:<1$}", self.program, self.size);
        for (cell, width) in cells.iter().zip(widths) {
            text.push_str(&format!("  {cell:<width$}"));
        }
        format!("{}\n", text.trim_end())
    }
}

pub fn time(ms: f64) -> String {
    format!("{} ms", short(ms))
}

/// A peer's time and how many times Lift's it is.
fn against(ms: f64, own: f64) -> String {
    if own > 0.0 { format!("{} ({:.2})", time(ms), ms / own) } else { time(ms) }
}

fn rate(measured: &Measured) -> String {
    let (rate, unit) = if measured.is_compute_bound {
        (measured.gflop_per_s(), "GFLOP/s")
    } else {
        (measured.gb_per_s(), "GB/s")
    };
    rate.map_or("-".to_string(), |rate| format!("{} {unit}", short(rate)))
}

fn error(measured: &Measured) -> String {
    let error = measured.error;
    if measured.is_right() { format!("{error:.0e}") } else { format!("WRONG {error:.0e}") }
}

/// Four digits that count.
fn short(value: f64) -> String {
    if value <= 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let decimals = (3 - value.log10().floor() as i32).clamp(0, 5) as usize;
    format!("{value:.decimals$}")
}
