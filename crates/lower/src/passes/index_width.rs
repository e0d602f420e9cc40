//! The width of indices: 32 bits where they certainly suffice, 64 otherwise.
//!
//! Before: kernels whose indices have no width.
//! After: a kernel is marked wide unless nothing on the way to its indices leaves 32 bits. What may leave 64
//! bits is required not to, before a kernel is launched.
//!
//! Ensures: whenever the plan's requirements hold of the sizes, no arithmetic on indices wraps.

use std::collections::BTreeSet;

use lift_ir::{Facts, Nat, Pred, Scalar, Span, Var};
use lift_kernel::Buffer;

use crate::LowerError;
use crate::plan::{Condition, Index, Plan, Requirement, Role};
use crate::reach::{self, spread_of};

/// Arrays that exist are shorter than 2^50, so that this many times their lengths fit in 64 bits.
const ROOM: i128 = 1 << 12;

/// Requires what indices in the program's text need; their places are known before passes change them.
pub(crate) fn require(plan: &mut Plan, facts: &Facts) -> Result<(), LowerError> {
    let counters = reach::counters(plan);
    let globals = globals(plan);
    let mut known = counters.clone();
    for kernel in &plan.kernels {
        known.extend(reach::of_kernel(kernel, &globals, &counters).vars);
    }
    let of = |v: &Var| spread_of(&known, v);
    let given = plan.buffers.iter().filter(|b| !matches!(b.role, Role::Temporary | Role::Status));
    let room = room(given.map(|b| &b.buffer));
    let written = std::mem::take(&mut plan.written);
    // What mentions a variable that no kernel has was dropped, or goes by other variables now; `choose` looks at these.
    let sizes = facts.vars();
    let is_there = |n: &Nat| !n.any_var(&mut |v| !sizes.contains(v) && !known.contains_key(v));
    let there = written.indices.iter().filter(|(index, _)| is_there(index));
    let noted = there.map(|(index, span)| {
        let mut noted = BTreeSet::new();
        index.spread(&of, &mut |size| {
            noted.insert(size);
        });
        (noted, *span)
    });
    let noted: Vec<(BTreeSet<Nat>, Option<Span>)> = noted.collect();
    let near = near(noted.iter().flat_map(|(noted, _)| noted), facts, &room);
    for (noted, span) in &noted {
        for size in noted.iter().filter(|size| is_far(size, facts, &near)) {
            plan.require(at_most(size, i128::from(i64::MAX), Scalar::I64, *span)?);
        }
    }
    for Index { value, length, scalar, span } in &written.values {
        let Some((_, high)) = scalar.integer_range() else { continue };
        if !is_there(value) {
            continue;
        }
        // It is neither negative nor beyond the array.
        let above = value.spread(&of, &mut |_| {}).above;
        if !fits(&above, high, facts) && !fits(length, high, facts) {
            let greatest = Nat::min(&above, &(length - Nat::ONE));
            plan.require(at_most(&greatest, high, *scalar, *span)?);
        }
    }
    Ok(())
}

pub(crate) fn choose(plan: &mut Plan, facts: &Facts) -> Result<(), LowerError> {
    let counters = reach::counters(plan);
    let globals = globals(plan);
    let mut far = BTreeSet::new();
    for kernel in &mut plan.kernels {
        let reach = reach::of_kernel(kernel, &globals, &counters);
        kernel.wide_indices = !reach.noted.iter().all(|n| fits(n, i128::from(i32::MAX), facts));
        if kernel.wide_indices {
            let room = room(globals.iter().filter(|b| reach.touched.contains(&b.id)));
            let near = near(&reach.noted, facts, &room);
            far.extend(reach.noted.into_iter().filter(|n| is_far(n, facts, &near)));
        }
    }
    for size in far {
        plan.require(at_most(&size, i128::from(i64::MAX), Scalar::I64, None)?);
    }
    Ok(())
}

fn globals(plan: &Plan) -> Vec<Buffer> {
    plan.buffers.iter().map(|b| b.buffer.clone()).collect()
}

/// What certainly fits in 64 bits where the arrays exist.
fn room<'b>(arrays: impl Iterator<Item = &'b Buffer>) -> Nat {
    arrays.fold(Nat::ONE, |sum, b| sum + b.total()) * Nat::int(ROOM)
}

fn fits(size: &Nat, limit: i128, facts: &Facts) -> bool {
    match size.as_int() {
        Some(size) => size <= limit,
        None => facts.upper(size).is_some_and(|size| size <= limit),
    }
}

/// Which symbolic bounds there is room for.
enum Near<'r> {
    All,
    /// Those that are at most this.
    Within(&'r Nat),
}

/// One proof for all bounds, where there is one, in place of one for each.
fn near<'n, 'r>(
    bounds: impl IntoIterator<Item = &'n Nat>,
    facts: &Facts,
    room: &'r Nat,
) -> Near<'r> {
    let symbolic = bounds.into_iter().filter(|n| n.as_int().is_none());
    if facts.all_at_most(symbolic, room) { Near::All } else { Near::Within(room) }
}

/// Whether a bound may lie beyond 64 bits.
fn is_far(size: &Nat, facts: &Facts, near: &Near) -> bool {
    let near = size.as_int().is_none()
        && match near {
            Near::All => true,
            Near::Within(room) => facts.at_most(size, room),
        };
    !near && !fits(size, i128::from(i64::MAX), facts)
}

/// A bound of absolute values is at most the largest value of a type.
fn at_most(
    size: &Nat,
    limit: i128,
    scalar: Scalar,
    span: Option<Span>,
) -> Result<Requirement, LowerError> {
    let reason = match scalar {
        Scalar::I64 => "an index takes numbers that do not fit in 64 bits".to_owned(),
        scalar => format!("an index has no room in `{scalar}`, the type it is computed in"),
    };
    // It holds nowhere, or is not even written.
    let never = size.as_int().is_some_and(|size| size > limit);
    if never || size.largest_constant() > i64::MAX.unsigned_abs().into() {
        return Err(LowerError::at(span, reason));
    }
    let condition = Condition::Holds(Pred::Le(size.clone(), Nat::int(limit)));
    Ok(Requirement { condition, span, reason })
}
