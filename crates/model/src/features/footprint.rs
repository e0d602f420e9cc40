//! How much of global memory a group touches.
//!
//! An access goes through a box: so many steps of a length for each variable that varies within the group. Accesses
//! that go through the same box from different starts, as the neighbours of a stencil do, share what overlaps.

use std::collections::BTreeMap;

use lift_kernel::BufferId;

use super::access::Reach;
use super::scope::{Role, Scope};

/// Starts of one box that are compared with each other; of more, those left are taken to be like them.
const MOST_STARTS: usize = 48;

/// Steps and their lengths in bytes, longest first.
type Box = Vec<(i128, i128)>;

/// The boxes that the accesses of one kernel go through.
#[derive(Default)]
pub(super) struct Footprint {
    boxes: BTreeMap<(BufferId, Box, i128), Vec<i128>>,
    /// Bytes that are reached by indices from data.
    scattered: f64,
}

impl Footprint {
    /// Adds an access that a group makes so many times. `items` are the work-items of a group by dimension, where
    /// they are threads.
    pub fn add(
        &mut self,
        buffer: BufferId,
        reach: &Reach,
        scope: &Scope<'_>,
        items: Option<&[i128; 3]>,
        times: f64,
    ) {
        let Some(base) = reach.base else {
            self.scattered += times * reach.bytes as f64;
            return;
        };
        let mut steps: Box = Vec::with_capacity(reach.strides.len());
        for (number, stride) in &reach.strides {
            let Some((values, role)) = scope.entry(*number) else { continue };
            let count = match (role, items) {
                (Role::Group, _) => 1,
                (Role::Global(d), Some(items)) => items.get(d).copied().unwrap_or(1),
                (Role::Global(_) | Role::Local(_) | Role::Iteration, _) => values.count(),
            };
            if count > 1 && *stride != 0 {
                steps.push((stride.saturating_abs(), count));
            }
        }
        steps.sort_unstable_by(|a, b| b.cmp(a));
        let starts = self.boxes.entry((buffer, steps, reach.bytes)).or_default();
        if starts.last() != Some(&base) {
            starts.push(base);
        }
    }

    /// Different bytes, each buffer at most as long as it is.
    pub fn bytes(mut self, length: &dyn Fn(BufferId) -> f64) -> f64 {
        let mut by_buffer: BTreeMap<BufferId, f64> = BTreeMap::new();
        for ((buffer, steps, bytes), starts) in &mut self.boxes {
            starts.sort_unstable();
            starts.dedup();
            // From the middle outwards, so that each is compared with those nearest to it.
            let middle = starts.get(starts.len() / 2).copied().unwrap_or(0);
            starts.sort_by_key(|s| (s - middle).abs());
            *by_buffer.entry(*buffer).or_default() += union(steps, *bytes, starts);
        }
        self.scattered + by_buffer.into_iter().map(|(b, n)| n.min(length(b))).sum::<f64>()
    }
}

/// The bytes of boxes with these starts together.
fn union(steps: &Box, bytes: i128, starts: &[i128]) -> f64 {
    let one = size(steps, bytes);
    let mut sum = 0.0;
    let compared = starts.len().min(MOST_STARTS);
    for (k, start) in starts.iter().take(compared).enumerate() {
        let shared = starts.iter().take(k).map(|other| overlap(steps, bytes, start - other));
        sum += one * (1.0 - shared.fold(0.0, f64::max));
    }
    sum * starts.len() as f64 / compared.max(1) as f64
}

/// The bytes of one box: no more than it spans.
fn size(steps: &Box, bytes: i128) -> f64 {
    let all = steps.iter().fold(bytes as f64, |n, (_, count)| n * *count as f64);
    let span = steps
        .iter()
        .fold(bytes as f64, |n, (stride, count)| n + *stride as f64 * (count - 1) as f64);
    all.min(span)
}

/// Which part of a box is also in the same box that starts so many bytes further.
fn overlap(steps: &Box, bytes: i128, mut distance: i128) -> f64 {
    let mut part = 1.0;
    for (stride, count) in steps {
        // The nearest number of steps: -1 is one step back, not a step forth and many back.
        let steps = (2 * distance + stride).div_euclid(2 * stride);
        distance -= steps * stride;
        part *= (1.0 - steps.abs() as f64 / *count as f64).max(0.0);
    }
    part * (1.0 - distance.abs() as f64 / bytes.max(1) as f64).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tile of 4 rows of 64 in rows of 1024, four bytes each.
    fn tile() -> Box {
        vec![(4096, 4), (4, 64)]
    }

    #[test]
    fn neighbours_of_a_stencil_share_all_but_the_border() {
        let starts = [0, -4, 4, -4096, 4096];
        // 256 elements, a column on each side, a row above and below.
        let bytes = union(&tile(), 4, &starts);
        assert_eq!(bytes, 4.0 * (256.0 + 2.0 * 4.0 + 2.0 * 64.0));
    }

    #[test]
    fn parts_between_the_steps_are_apart() {
        // Every fourth element, from four starts.
        assert_eq!(union(&vec![(16, 64)], 4, &[0, 4, 8, 12]), 1024.0);
    }

    #[test]
    fn a_box_is_no_larger_than_it_spans() {
        assert_eq!(size(&vec![(4, 64), (4, 64)], 4), 4.0 * 127.0);
    }
}
