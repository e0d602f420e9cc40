//! Loop blocking (tiling) of three-dimensional grids, by the schedule's `blocks`.
//!
//! Before: `for (z) for (y) for (x) …` reading the planes before and after.
//! After: parallel loops over blocks of planes and rows; inside a block plane after plane, row after row, so that a plane is
//! still in the cache when it is read again as a neighbour.

use std::collections::BTreeMap;

use lift_ir::{Nat, Range, Scalar};
use lift_kernel::{BufferId, Expr, Kernel, Loop, LoopKind, Stmt, only_loop};

use crate::effects::has_loop;

/// Whether a kernel goes over such a grid and reads neighbours.
pub(crate) fn pays(kernel: &Kernel) -> bool {
    planes(&kernel.body).is_some_and(|(_, inner)| reads_neighbours(&inner.body))
}

/// How many planes and rows such a grid has, where that is known.
pub(crate) fn extents(kernel: &Kernel) -> Option<[i128; 2]> {
    let (outer, inner) = planes(&kernel.body)?;
    Some([outer.extent.as_int()?, inner.extent.as_int()?])
}

pub(crate) fn run(kernel: &mut Kernel) {
    let Some([planes_at_once, rows_at_once]) = kernel.schedule.blocks else { return };
    let Some((outer, inner)) = planes(&kernel.body).filter(|_| planes_at_once * rows_at_once > 1)
    else {
        return;
    };
    let (outer, inner) = (outer.clone(), inner.clone());
    let ids = kernel.ids.clone();
    let mut fresh = |name: &str, extent: &Nat| {
        let var = ids.fresh(name);
        kernel.facts.declare_inside(&var, Range::below(extent.clone()));
        var
    };
    let mut cut = |l: &Loop, size: u32| {
        let size = Nat::int(size.into());
        let count = l.extent.ceil_div(&size);
        let block = fresh(&format!("block_{}", l.var), &count);
        let start = Nat::var(&block) * &size;
        let length = Nat::min(&size, &(&l.extent - &start));
        let step = fresh(&format!("in_{}", l.var), &length);
        let position = Expr::Index(&start + Nat::var(&step), Scalar::I64);
        let named = Stmt::Index { var: l.var.clone(), value: position };
        (block, count, step, length, named)
    };
    let (plane_block, plane_blocks, plane, plane_count, plane_named) = cut(&outer, planes_at_once);
    let (row_block, row_blocks, row, row_count, row_named) = cut(&inner, rows_at_once);
    let mut body = inner.body;
    sequential(&mut body);
    let rows = Loop::new(row, LoopKind::Seq, row_count, with_first(row_named, body));
    let planes = vec![plane_named, Stmt::Loop(rows)];
    let planes = Loop::new(plane, LoopKind::Seq, plane_count, planes);
    let blocks = Loop::new(row_block, inner.kind, row_blocks, vec![Stmt::Loop(planes)]);
    let all = Loop::new(plane_block, outer.kind, plane_blocks, vec![Stmt::Loop(blocks)]);
    for stmt in &mut kernel.body {
        if matches!(stmt, Stmt::Loop(_)) {
            *stmt = Stmt::Loop(all.clone());
        }
    }
}

fn with_first(first: Stmt, rest: Vec<Stmt>) -> Vec<Stmt> {
    std::iter::once(first).chain(rest).collect()
}

/// The loops over planes and rows, where loops over points are inside and nothing is beside them.
fn planes(body: &[Stmt]) -> Option<(&Loop, &Loop)> {
    let outer = only_loop(body).filter(|l| l.kind == LoopKind::Global(2))?;
    let inner = only_loop(&outer.body).filter(|l| l.kind == LoopKind::Global(1))?;
    let points = has_loop(&inner.body, &|k| k == LoopKind::Global(0));
    let open = !inner.extent.mentions(&outer.var);
    (points && open).then_some((outer, inner))
}

/// Whether an array is read at more than one place, so that one point reads what another does.
fn reads_neighbours(block: &[Stmt]) -> bool {
    let mut places: BTreeMap<BufferId, Nat> = BTreeMap::new();
    let mut found = false;
    for stmt in block {
        stmt.each_access(&mut |access, is_store| {
            if !is_store {
                let first = places.entry(access.buffer).or_insert_with(|| access.index.clone());
                found |= *first != access.index;
            }
        });
    }
    found
}

/// Loops over points are run by the thread that runs their block.
pub(crate) fn sequential(block: &mut [Stmt]) {
    for stmt in block {
        if let Stmt::Loop(l) = stmt
            && l.kind == LoopKind::Global(0)
        {
            l.kind = LoopKind::Seq;
        }
        stmt.blocks_mut().into_iter().for_each(|inner| sequential(inner));
    }
}
