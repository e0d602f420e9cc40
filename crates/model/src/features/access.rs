//! What the lanes of a warp access together.
//!
//! Addresses are nearly always linear in the variables that tell lanes apart: then a difference for each of these is
//! enough. Where a division or a boundary is in the index, some lanes are looked at to see whether it matters, and all
//! of them if it does.

use lift_kernel::{Access, Buffer};

use super::lanes::{LaneValues, Lanes};
use super::machine::Machine;
use super::scope::Scope;

/// The bytes that an access reaches in memory.
pub(super) struct Reach {
    /// Of the work-item that stands for all; nothing where data decides.
    pub base: Option<i128>,
    /// By how many bytes the address grows with each variable that it depends on, by number.
    pub strides: Vec<(usize, i128)>,
    /// Bytes of one lane.
    pub bytes: i128,
    /// The address is a sum of multiples of the variables, as its form shows.
    linear: bool,
}

impl Reach {
    pub fn of(scope: &Scope<'_>, access: &Access, buffer: &Buffer) -> Reach {
        let scalar = buffer.scalar.bytes() as i128;
        let bytes = scalar * i128::from(access.width.max(1));
        let Some(base) = scope.eval(&access.index, &[]) else {
            return Reach { base: None, strides: Vec::new(), bytes, linear: false };
        };
        let (mentioned, mut linear) = scope.mentioned(&access.index);
        let mut strides = Vec::with_capacity(mentioned.len());
        for number in mentioned {
            let Some((values, _)) = scope.entry(number) else { continue };
            let middle = values.middle();
            // Of a variable with two values the middle one is the last.
            let step = if values.contains(middle + 1) { 1 } else { -1 };
            let next = scope.eval(&access.index, &[(number, middle + step)]);
            let stride = next.map_or(0, |n| n.saturating_sub(base).saturating_mul(step * scalar));
            strides.push((number, within(stride)));
            linear &= scope
                .var(number)
                .is_some_and(|v| access.index.mentions(v) && access.index.is_polynomial_in(v));
        }
        Reach { base: Some(within(base.saturating_mul(scalar))), strides, bytes, linear }
    }

    /// By how much the address grows with a variable.
    pub fn stride(&self, number: usize) -> i128 {
        self.strides.iter().find(|(n, _)| *n == number).map_or(0, |(_, stride)| *stride)
    }
}

/// An address that can be added to others without leaving the range.
fn within(address: i128) -> i128 {
    const FAR: i128 = 1 << 100;
    address.clamp(-FAR, FAR)
}

/// Where the second lane reaches, seen from the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pattern {
    Same,
    Next,
    Elsewhere,
}

/// What one access costs a warp.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Touched {
    /// Lanes that take part.
    pub lanes: f64,
    /// Different cache lines, counted from the lowest address.
    pub lines: f64,
    /// Bytes that are fetched, in whole sectors.
    pub moved: f64,
    /// Different bytes that are asked for.
    pub useful: f64,
    pub pattern: Pattern,
    /// How often local memory is asked until every lane has its words, for each time it would be if banks were
    /// evenly used.
    pub conflicts: f64,
}

/// What the lanes of a warp touch with one access.
pub(super) fn touched(
    scope: &Scope<'_>,
    access: &Access,
    buffer: &Buffer,
    reach: &Reach,
    lanes: &Lanes,
    machine: &Machine,
) -> Touched {
    let warp = i128::from(machine.warp.max(1));
    let values_of_lanes = LaneValues::of(scope, lanes, warp);
    let sector = i128::from(machine.sector_bytes.max(1));
    let Some(base) = reach.base else {
        return apart(values_of_lanes.count().max(1) as f64, reach.bytes as f64, sector as f64);
    };
    let scalar = buffer.scalar.bytes() as i128;
    let predicted = |at: &[(usize, i128)]| {
        at.iter().fold(base, |sum, (number, value)| {
            let middle = scope.entry(*number).map_or(0, |(v, _)| v.middle());
            let further = reach.stride(*number).saturating_mul(value.saturating_sub(middle));
            within(sum.saturating_add(further))
        })
    };
    let exact = |at: &[(usize, i128)]| {
        scope.eval(&access.index, at).map_or(base, |i| within(i.saturating_mul(scalar)))
    };
    let linear = reach.linear || values_of_lanes.probes(|at| predicted(at) == exact(at));
    let mut addresses = Vec::with_capacity(values_of_lanes.count());
    values_of_lanes.each(|at| addresses.push(if linear { predicted(at) } else { exact(at) }));
    let count = addresses.len().max(1) as f64;
    let pattern = match addresses.as_slice() {
        [first, second, ..] if first == second => Pattern::Same,
        [first, second, ..] if second - first == reach.bytes => Pattern::Next,
        [_, _, ..] => Pattern::Elsewhere,
        [] | [_] => Pattern::Same,
    };
    addresses.sort_unstable();
    addresses.dedup();
    let lowest = addresses.first().copied().unwrap_or(0);
    let line = i128::from(machine.cache_line_bytes.max(1));
    let relative: Vec<i128> = addresses.iter().map(|a| a - lowest).collect();
    let sectors = pieces(&addresses, reach.bytes, sector).max(1);
    let useful = covered(&addresses, reach.bytes).max(1) as f64;
    // One thread that goes on to the neighbours finds them in the lines it has.
    let goes_on = matches!(lanes, Lanes::Iterations(_)) && pattern != Pattern::Elsewhere;
    Touched {
        lanes: count,
        lines: pieces(&relative, reach.bytes, line).max(1) as f64,
        moved: if goes_on { useful } else { sectors as f64 * sector as f64 },
        useful,
        pattern,
        conflicts: conflicts(&addresses, reach.bytes, i128::from(machine.local_banks.max(1))),
    }
}

/// Every lane somewhere else.
fn apart(lanes: f64, bytes: f64, sector: f64) -> Touched {
    let moved = (bytes / sector).ceil() * sector * lanes;
    let useful = bytes * lanes;
    let pattern = Pattern::Elsewhere;
    Touched { lanes, lines: lanes, moved, useful, pattern, conflicts: 1.0 }
}

/// How many different pieces of memory of some size the ranges from these addresses, which rise, lie in.
fn pieces(addresses: &[i128], bytes: i128, size: i128) -> i128 {
    let mut seen = None;
    let mut count = 0;
    for address in addresses {
        let (first, last) = (address.div_euclid(size), (address + bytes - 1).div_euclid(size));
        let from = seen.map_or(first, |s: i128| first.max(s + 1));
        count += (last - from + 1).max(0);
        seen = Some(seen.map_or(last, |s| s.max(last)));
    }
    count
}

/// How many different bytes they are.
fn covered(addresses: &[i128], bytes: i128) -> i128 {
    pieces(addresses, bytes, 1)
}

/// The most words that one bank has to give, over what each would give if all gave as many.
fn conflicts(addresses: &[i128], bytes: i128, banks: i128) -> f64 {
    const WORD: i128 = 4;
    let mut load = vec![0i128; usize::try_from(banks).unwrap_or(1).max(1)];
    let mut last = None;
    for address in addresses {
        let words = address.div_euclid(WORD)..=(address + bytes - 1).div_euclid(WORD);
        for word in words {
            if last.is_some_and(|l| word <= l) {
                continue;
            }
            last = Some(word);
            let bank = usize::try_from(word.rem_euclid(banks)).unwrap_or(0);
            if let Some(slot) = load.get_mut(bank) {
                *slot += 1;
            }
        }
    }
    let all: i128 = load.iter().sum();
    let even = (all + banks - 1) / banks;
    load.iter().copied().max().unwrap_or(1) as f64 / even.max(1) as f64
}
