//! Each work-item reads its own share of a private array.
//!
//! Requires: loops over work-items are loops, and an access to a private array that a whole group makes says
//! its position in them.
//! Ensures: every position is that of a work-item, in loops of the dimensions and lengths that made the
//! array. What a work-item reads it has written itself.

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
    let spread: Vec<&Buffer> = kernel.privates.iter().filter(|b| !b.items.is_empty()).collect();
    if spread.is_empty() {
        return Ok(());
    }
    let (items, makers) = (Vec::new(), BTreeMap::new());
    let mut walk = Walk { kernel, places, warps, spread, items, makers };
    walk.block(&kernel.body)
}

struct Walk<'k> {
    kernel: &'k Kernel,
    places: &'k BTreeMap<BufferId, Span>,
    warps: &'k Warps,
    /// The private arrays that a whole group makes.
    spread: Vec<&'k Buffer>,
    /// The loops over work-items around: variable, dimension, length.
    items: Vec<(&'k Var, u8, &'k Nat)>,
    /// The dimensions of the loops that make each array.
    makers: BTreeMap<BufferId, Vec<u8>>,
}

impl<'k> Walk<'k> {
    fn block(&mut self, block: &'k [Stmt]) -> Result<(), LowerError> {
        block.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &'k Stmt) -> Result<(), LowerError> {
        for value in stmt.values() {
            self.value(value)?;
        }
        match stmt {
            Stmt::Store { access, .. } => self.access(access),
            Stmt::Loop(l) => {
                let LoopKind::Local(d) = l.kind else { return self.block(&l.body) };
                self.items.push((&l.var, d, &l.extent));
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
            | Stmt::Barrier(_) => Ok(()),
        }
    }

    fn value(&mut self, value: &'k Expr) -> Result<(), LowerError> {
        let mut done = Ok(());
        value.each(&mut |e| {
            if let (Expr::Load(access, _), Ok(())) = (e, &done) {
                done = self.access(access);
            }
        });
        done
    }

    fn access(&mut self, access: &Access) -> Result<(), LowerError> {
        let Some(buffer) = self.spread.iter().copied().find(|b| b.id == access.buffer) else {
            return Ok(());
        };
        let found: Option<Vec<u8>> = access
            .items
            .iter()
            .zip(&buffer.items)
            .map(|(position, length)| self.dimension(position, length))
            .collect();
        let made = self.makers.get(&buffer.id);
        match (found, made) {
            (Some(found), None) => {
                self.makers.insert(buffer.id, found);
                Ok(())
            }
            (Some(found), Some(made)) if found == *made => Ok(()),
            (Some(_) | None, made) => Err(self.broken(buffer, made)),
        }
    }

    /// The dimension of the loop around whose work-item has a position among so many.
    fn dimension(&self, position: &Nat, length: &Nat) -> Option<u8> {
        let own = self.items.iter().find(|(var, _, extent)| {
            let alone = *position == Nat::ZERO && **extent == Nat::ONE;
            let named = position.as_var() == Some(*var);
            (named || alone) && self.kernel.facts.equal(extent, length)
        });
        own.map(|(_, d, _)| *d)
    }

    fn broken(&self, buffer: &Buffer, made: Option<&Vec<u8>>) -> LowerError {
        let loops: Vec<String> = buffer
            .items
            .iter()
            .enumerate()
            .map(|(k, length)| match made.and_then(|dimensions| dimensions.get(k)) {
                Some(d) => format!("`mapLcl({d})` of {length}"),
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
