//! Thread privacy: a work-item reads only private memory that it wrote itself. Nothing is changed.
//!
//! Requires: loops over work-items are loops, and an access to a private array that a whole group makes says its position
//! in them (`items`).
//! Ensures: every position is that of a work-item, in loops of the dimensions and lengths that made the array. An array
//! without positions, of which every work-item has room for the whole, is read by the work-items that wrote it.

use std::collections::BTreeMap;

use lift_ir::{Facts, Nat, Span};
use lift_kernel::{Access, Buffer, BufferId, Kernel, Loop, LoopKind};

use crate::LowerError;
use crate::effects::{self, Touch};
use crate::plan::Warps;

pub(crate) fn check(
    kernel: &Kernel,
    spans: &BTreeMap<BufferId, Span>,
    warps: &Warps,
) -> Result<(), LowerError> {
    if kernel.privates.is_empty() {
        return Ok(());
    }
    let (spread, whole) = kernel.privates.iter().partition(|b| !b.items.is_empty());
    let mut check = Check { kernel, spans, warps, spread, whole, makers: BTreeMap::new() };
    let touches = effects::touches(&kernel.body);
    touches.iter().try_for_each(|touch| check.access(touch))?;
    check.whole_arrays(&touches)
}

struct Check<'k> {
    kernel: &'k Kernel,
    spans: &'k BTreeMap<BufferId, Span>,
    warps: &'k Warps,
    /// The private arrays that a whole group makes.
    spread: Vec<&'k Buffer>,
    /// The private arrays that every work-item has room for.
    whole: Vec<&'k Buffer>,
    /// The loops over work-items that make each array.
    makers: BTreeMap<BufferId, Vec<&'k Loop>>,
}

/// The loops over work-items around an access, of a group or of the whole grid.
fn items<'k>(touch: &Touch<'k>) -> Vec<&'k Loop> {
    let over_items = |l: &&&Loop| matches!(l.kind, LoopKind::Local(_) | LoopKind::Global(_));
    touch.loops.iter().filter(over_items).copied().collect()
}

impl<'k> Check<'k> {
    /// What work-items write each for itself they read each for itself.
    fn whole_arrays(&self, touches: &[Touch<'k>]) -> Result<(), LowerError> {
        let is_whole = |touch: &&Touch| self.whole.iter().any(|b| b.id == touch.access.buffer);
        let own: Vec<(&Touch, Vec<&Loop>)> =
            touches.iter().filter(is_whole).map(|touch| (touch, items(touch))).collect();
        for (store, writers) in own.iter().filter(|(touch, _)| touch.writes) {
            let store = store.access;
            let loads = own.iter().filter(|(touch, _)| !touch.writes);
            for (load, readers) in loads.filter(|(load, _)| load.access.buffer == store.buffer) {
                let load = load.access;
                // Inside of a loop around both there is one work-item.
                let common =
                    writers.iter().zip(readers).take_while(|(w, r)| w.var == r.var).count();
                let (writers, readers) = (&writers[common..], &readers[common..]);
                if let Some(Loop { kind, extent: length, .. }) = writers.first()
                    && !self.is_own(store, writers, load, readers)
                {
                    let map = pattern(*kind);
                    let elsewhere = match kind {
                        LoopKind::Global(_) => "global memory (`toGlobal`)",
                        _ => "local memory (`toLocal`)",
                    };
                    let text = format!(
                        "an array private to each work-item is written under `{map}` of {length} and read in another order or place: each work-item has only what it wrote itself, so keep it in {elsewhere}"
                    );
                    return Err(LowerError::at(self.spans.get(&store.buffer).copied(), text));
                }
            }
        }
        Ok(())
    }

    /// Whether work-items with the same numbers write and read the same block of an array.
    fn is_own(&self, store: &Access, writers: &[&Loop], load: &Access, readers: &[&Loop]) -> bool {
        let facts = &self.kernel.facts;
        let same_loops = writers.len() == readers.len()
            && writers.iter().zip(readers).all(|(w, r)| same_items(w, r, facts));
        let (written, read) = (self.blocks(store, writers), self.blocks(load, readers));
        same_loops && written.is_some() && written == read
    }

    /// The lengths of the blocks that loops divide an array into: a position in the first is a block, in it a
    /// position in the second is a block, and so on.
    fn blocks(&self, access: &Access, loops: &[&Loop]) -> Option<Vec<Nat>> {
        let facts = &self.kernel.facts;
        let mut inside = access.index.clone();
        let width = Nat::int(i128::from(access.width));
        let mut lengths = Vec::new();
        for Loop { var, .. } in loops.iter().filter(|l| l.extent != Nat::ONE) {
            let here = Nat::var(var);
            let next = inside.substitute(&|v| (v == var).then(|| &here + Nat::ONE));
            let length = facts.simplify(&(next - &inside));
            inside = facts.simplify(&(inside - &length * here));
            let fits =
                facts.at_most(&Nat::ZERO, &inside) && facts.at_most(&(&inside + &width), &length);
            if !fits {
                return None;
            }
            lengths.push(length);
        }
        Some(lengths)
    }

    fn access(&mut self, touch: &Touch<'k>) -> Result<(), LowerError> {
        let access = touch.access;
        let Some(buffer) = self.spread.iter().copied().find(|b| b.id == access.buffer) else {
            return Ok(());
        };
        let (facts, around) = (&self.kernel.facts, items(touch));
        let found: Option<Vec<&Loop>> = access
            .items
            .iter()
            .zip(&buffer.items)
            .map(|(position, room)| self.item(&around, position, room))
            .collect();
        let same = |found: &[&Loop], made: &[&Loop]| {
            found.iter().zip(made).all(|(f, m)| same_items(f, m, facts))
        };
        let made = self.makers.get(&buffer.id);
        match (found, made) {
            (Some(found), None) => {
                self.makers.insert(buffer.id, found);
                Ok(())
            }
            (Some(found), Some(made)) if same(&found, made) => Ok(()),
            (Some(_) | None, made) => Err(self.broken(buffer, made)),
        }
    }

    /// The loop around whose work-item has a position, where there is room for so many.
    fn item(&self, around: &[&'k Loop], position: &Nat, room: &Nat) -> Option<&'k Loop> {
        let own = around.iter().find(|l| {
            let alone = *position == Nat::ZERO && l.extent == Nat::ONE;
            let named = position.as_var() == Some(&l.var);
            (named || alone) && self.kernel.facts.at_most(&l.extent, room)
        });
        own.copied()
    }

    fn broken(&self, buffer: &Buffer, made: Option<&Vec<&Loop>>) -> LowerError {
        let loops: Vec<String> = buffer
            .items
            .iter()
            .enumerate()
            .map(|(k, length)| match made.and_then(|loops| loops.get(k)) {
                Some(Loop { kind, extent: length, .. }) => {
                    format!("`{}` of {length}", pattern(*kind))
                }
                None => format!("`mapLcl` of {length}"),
            })
            .collect();
        let loops = match self.warps.buffers.contains_key(&buffer.id) {
            true => "`mapLane(0)`".to_string(),
            false => loops.join(" and "),
        };
        let text = format!(
            "a private array made under {loops} is read in another order or place: each work-item keeps its own share of it, so keep it in local memory (`toLocal`)"
        );
        LowerError::at(self.spans.get(&buffer.id).copied(), text)
    }
}

/// Whether two loops are over the same work-items, as many of them.
fn same_items(one: &Loop, other: &Loop, facts: &Facts) -> bool {
    one.kind == other.kind && facts.equal(&one.extent, &other.extent)
}

/// The pattern that a loop over work-items comes from.
fn pattern(kind: LoopKind) -> String {
    match kind {
        LoopKind::Global(d) => format!("mapGlb({d})"),
        LoopKind::Group(d) => format!("mapWrg({d})"),
        LoopKind::Local(d) => format!("mapLcl({d})"),
        LoopKind::Seq | LoopKind::Unroll => "mapSeq".to_string(),
    }
}
