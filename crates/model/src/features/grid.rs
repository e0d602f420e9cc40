//! The launch of a kernel in numbers.

use lift_ir::Nat;
use lift_kernel::{Kernel, Launch, Loop, LoopKind, Runs, Stmt};

/// No launch has more work-items in a dimension.
const MOST_ITEMS: i128 = 1 << 40;

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Grid {
    pub global: [i128; 3],
    pub local: [i128; 3],
}

impl Grid {
    /// A missing dimension has one work-item. A launch starts whole groups.
    pub fn of(launch: &Launch, value: &dyn Fn(&Nat) -> i128) -> Grid {
        let count = |n: Option<&Nat>| n.map_or(1, value).clamp(1, MOST_ITEMS);
        let read = |counts: &[Nat]| [0, 1, 2].map(|d| count(counts.get(d)));
        let (mut global, local) = (read(&launch.global), read(&launch.local));
        for (all, one) in global.iter_mut().zip(&local) {
            *all = all.saturating_add(one - 1) / one * one;
        }
        Grid { global, local }
    }

    /// The number of threads that share a loop of a kind.
    pub fn threads(&self, kind: LoopKind) -> i128 {
        let of = |counts: &[i128; 3], d: u8| counts.get(usize::from(d)).copied().unwrap_or(1);
        match kind {
            LoopKind::Global(d) => of(&self.global, d),
            LoopKind::Local(d) => of(&self.local, d),
            LoopKind::Group(d) => of(&self.global, d) / of(&self.local, d),
            LoopKind::Seq | LoopKind::Unroll => 1,
        }
    }

    /// All work-items.
    pub fn items(&self) -> f64 {
        product(&self.global)
    }

    /// Work-items of a group.
    pub fn group_items(&self) -> f64 {
        product(&self.local)
    }

    pub fn groups(&self) -> f64 {
        self.items() / self.group_items()
    }
}

fn product(counts: &[i128; 3]) -> f64 {
    counts.iter().map(|n| *n as f64).product()
}

/// What can run at the same time: groups, or where one thread runs a group, the iterations of the outermost parallel
/// loops.
pub(super) fn parallelism(kernel: &Kernel, grid: &Grid, value: &dyn Fn(&Nat) -> i128) -> f64 {
    match kernel.runs {
        Runs::Threads => grid.groups(),
        Runs::Loops => outermost(&kernel.body, value).max(1.0),
    }
}

fn outermost(block: &[Stmt], value: &dyn Fn(&Nat) -> i128) -> f64 {
    let mut most = 0.0_f64;
    for stmt in block {
        match stmt {
            Stmt::Loop(l) if is_parallel(l) => {
                let all = l.shared_nest().into_iter().map(|l| value(&l.extent).max(0) as f64);
                most = most.max(all.product());
            }
            Stmt::Loop(l) => most = most.max(outermost(&l.body, value)),
            Stmt::If { then, otherwise, .. } => {
                most = most.max(outermost(then, value)).max(outermost(otherwise, value));
            }
            Stmt::Comment(_)
            | Stmt::Declare { .. }
            | Stmt::Assign { .. }
            | Stmt::Index { .. }
            | Stmt::ThreadId { .. }
            | Stmt::Store { .. }
            | Stmt::Atomic { .. }
            | Stmt::Stop(_)
            | Stmt::Barrier(_) => {}
        }
    }
    most
}

/// Whether groups, or the work-items of the grid, go through a loop.
pub(super) fn is_parallel(l: &Loop) -> bool {
    matches!(l.kind, LoopKind::Group(_) | LoopKind::Global(_))
}
