//! Each work-item reads its own share of a private array.
//!
//! Requires: loops over work-items are loops, and an access to a private array that a whole group makes says
//! its position in them.
//! Ensures: every position is that of a work-item, in loops of the dimensions and lengths that made the
//! array. An array without positions, of which every work-item has room for the whole, is read by work-items where
//! they have written it. What a work-item reads it has written itself.

use std::collections::BTreeMap;

use lift_ir::{Nat, Span, Var};
use lift_kernel::{Access, Buffer, BufferId, Expr, Kernel, LoopKind, Stmt};

use crate::LowerError;
use crate::plan::Warps;

pub(crate) fn check(
    kernel: &Kernel,
    places: &BTreeMap<BufferId, Span>,
    warps: &Warps,
) -> Result<(), LowerError> {
    if kernel.privates.is_empty() {
        return Ok(());
    }
    let (spread, whole) = kernel.privates.iter().partition(|b| !b.items.is_empty());
    let (items, makers, stores, loads) = (Vec::new(), BTreeMap::new(), Vec::new(), Vec::new());
    let mut walk = Walk { kernel, places, warps, spread, whole, items, makers, stores, loads };
    walk.block(&kernel.body)?;
    walk.whole_arrays()
}

struct Walk<'k> {
    kernel: &'k Kernel,
    places: &'k BTreeMap<BufferId, Span>,
    warps: &'k Warps,
    /// The private arrays that a whole group makes.
    spread: Vec<&'k Buffer>,
    /// The private arrays that every work-item has room for.
    whole: Vec<&'k Buffer>,
    /// The loops over work-items around.
    items: Vec<Item<'k>>,
    /// The loops that make each array.
    makers: BTreeMap<BufferId, Vec<Item<'k>>>,
    /// The accesses to whole arrays, with the loops over work-items around each.
    stores: Vec<(&'k Access, Vec<Item<'k>>)>,
    loads: Vec<(&'k Access, Vec<Item<'k>>)>,
}

/// A loop over work-items, of a group or of the whole grid: variable, kind, length.
type Item<'k> = (&'k Var, LoopKind, &'k Nat);

impl<'k> Walk<'k> {
    fn block(&mut self, block: &'k [Stmt]) -> Result<(), LowerError> {
        block.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &'k Stmt) -> Result<(), LowerError> {
        for value in stmt.values() {
            self.value(value)?;
        }
        match stmt {
            Stmt::Store { access, .. } => {
                if self.is_whole(access) {
                    self.stores.push((access, self.items.clone()));
                }
                self.access(access)
            }
            Stmt::Loop(l) => {
                if !matches!(l.kind, LoopKind::Local(_) | LoopKind::Global(_)) {
                    return self.block(&l.body);
                }
                self.items.push((&l.var, l.kind, &l.extent));
                let done = self.block(&l.body);
                self.items.pop();
                done
            }
            Stmt::If { then, otherwise, .. } => {
                self.block(then)?;
                self.block(otherwise)
            }
            Stmt::Comment(_)
            | Stmt::Declare { .. }
            | Stmt::Assign { .. }
            | Stmt::Index { .. }
            | Stmt::Place { .. }
            | Stmt::Stop(_)
            | Stmt::Barrier(_) => Ok(()),
        }
    }

    fn value(&mut self, value: &'k Expr) -> Result<(), LowerError> {
        let mut done = Ok(());
        value.each(&mut |e| {
            if let (Expr::Load(access, _), Ok(())) = (e, &done) {
                if self.is_whole(access) {
                    self.loads.push((access, self.items.clone()));
                }
                done = self.access(access);
            }
        });
        done
    }

    fn is_whole(&self, access: &Access) -> bool {
        self.whole.iter().any(|b| b.id == access.buffer)
    }

    /// What work-items write each for itself they read each for itself.
    fn whole_arrays(&self) -> Result<(), LowerError> {
        for (store, writers) in &self.stores {
            for (load, readers) in self.loads.iter().filter(|(l, _)| l.buffer == store.buffer) {
                // Inside of a loop around both there is one work-item.
                let common = writers.iter().zip(readers).take_while(|(w, r)| w.0 == r.0).count();
                let (writers, readers) = (&writers[common..], &readers[common..]);
                if let Some((_, kind, length)) = writers.first()
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
                    return Err(LowerError::at(self.places.get(&store.buffer).copied(), text));
                }
            }
        }
        Ok(())
    }

    /// Whether work-items with the same numbers write and read the same block of an array.
    fn is_own(&self, store: &Access, writers: &[Item], load: &Access, readers: &[Item]) -> bool {
        let facts = &self.kernel.facts;
        let same_loops = writers.len() == readers.len()
            && writers.iter().zip(readers).all(|(w, r)| w.1 == r.1 && facts.equal(w.2, r.2));
        let (written, read) = (self.blocks(store, writers), self.blocks(load, readers));
        same_loops && written.is_some() && written == read
    }

    /// The lengths of the blocks that loops divide an array into: a position in the first is a block, in it a
    /// position in the second is a block, and so on.
    fn blocks(&self, access: &Access, loops: &[Item]) -> Option<Vec<Nat>> {
        let facts = &self.kernel.facts;
        let mut inside = access.index.clone();
        let width = Nat::int(i128::from(access.width));
        let mut lengths = Vec::new();
        for (var, ..) in loops.iter().filter(|(_, _, extent)| **extent != Nat::ONE) {
            let here = Nat::var(var);
            let next = inside.substitute(&|v| (v == *var).then(|| &here + Nat::ONE));
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

    fn access(&mut self, access: &'k Access) -> Result<(), LowerError> {
        let Some(buffer) = self.spread.iter().copied().find(|b| b.id == access.buffer) else {
            return Ok(());
        };
        let facts = &self.kernel.facts;
        let found: Option<Vec<Item>> = access
            .items
            .iter()
            .zip(&buffer.items)
            .map(|(position, room)| self.item(position, room))
            .collect();
        let same = |found: &[Item], made: &[Item]| {
            found.iter().zip(made).all(|(f, m)| f.1 == m.1 && facts.equal(f.2, m.2))
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
    fn item(&self, position: &Nat, room: &Nat) -> Option<Item<'k>> {
        let own = self.items.iter().find(|(var, _, extent)| {
            let alone = *position == Nat::ZERO && **extent == Nat::ONE;
            let named = position.as_var() == Some(*var);
            (named || alone) && self.kernel.facts.at_most(extent, room)
        });
        own.copied()
    }

    fn broken(&self, buffer: &Buffer, made: Option<&Vec<Item>>) -> LowerError {
        let loops: Vec<String> = buffer
            .items
            .iter()
            .enumerate()
            .map(|(k, length)| match made.and_then(|loops| loops.get(k)) {
                Some((_, kind, length)) => format!("`{}` of {length}", pattern(*kind)),
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
        LowerError::at(self.places.get(&buffer.id).copied(), text)
    }
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
