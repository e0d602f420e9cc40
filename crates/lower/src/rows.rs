//! Rows that points go through in vectors of a processor, each point its own.
//!
//! The elements of such a row lie side by side, those of neighbouring points do not. So elements are lanes, rather than points.

use lift_ir::{Facts, Nat, Var};
use lift_kernel::{BufferId, Loop};

use crate::effects::touches;
use crate::nest::step;

/// Whether the elements of a row that a loop goes through are lanes of vectors with so many. Of a shorter row points are lanes.
pub(crate) fn is_long(l: &Loop, lanes: i128) -> bool {
    l.extent.as_int().is_none_or(|n| n > lanes)
}

/// Whether a loop makes an array, element after element, of what lies side by side, but not for neighbouring points.
pub(crate) fn makes_row(l: &Loop, buffer: BufferId, points: &Var, facts: &Facts) -> bool {
    let touches = touches(&l.body);
    let goes_on = |index: &Nat| step(index, &l.var, facts) == Nat::ONE;
    let is_apart = |index: &Nat| {
        let along = step(index, points, facts);
        along != Nat::ZERO && along != Nat::ONE
    };
    let made = touches
        .iter()
        .any(|touch| touch.writes && touch.access.buffer == buffer && goes_on(&touch.access.index));
    made && touches.iter().any(|touch| {
        let index = &touch.access.index;
        !touch.writes && touch.access.buffer != buffer && goes_on(index) && is_apart(index)
    })
}
