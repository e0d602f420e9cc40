//! How passes are to transform a kernel, where there is a choice.

use lift_ir::LaunchClause;

/// What the program says in the clauses of its `launch`, or a pass has chosen; nothing where it is open. 1 is for
/// leaving it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Schedule {
    /// Tiles in local memory at a time.
    pub stages: Option<u32>,
    /// Rows of a grid that are computed together.
    pub rows: Option<u32>,
    /// Planes and rows of the blocks of a grid.
    pub blocks: Option<[u32; 2]>,
    /// Rows and columns of a grid whose folds are done together.
    pub tile: Option<[u32; 2]>,
    /// Iterations of loops that are written out, at most.
    pub unroll: Option<u32>,
}

impl Schedule {
    /// What is chosen, as clauses of a `launch`.
    pub fn clauses(&self) -> impl Iterator<Item = (LaunchClause, Vec<u32>)> {
        let one = |number: Option<u32>| number.map(|n| vec![n]);
        let all = [
            (LaunchClause::Stages, one(self.stages)),
            (LaunchClause::Rows, one(self.rows)),
            (LaunchClause::Blocks, self.blocks.map(|blocks| blocks.to_vec())),
            (LaunchClause::Tile, self.tile.map(|tile| tile.to_vec())),
            (LaunchClause::Unroll, one(self.unroll)),
        ];
        all.into_iter().filter_map(|(clause, numbers)| Some((clause, numbers?)))
    }

    /// Sets what a clause says; false where it is none of a schedule, or takes other numbers.
    pub fn set(&mut self, clause: LaunchClause, numbers: &[u32]) -> bool {
        match (clause, numbers) {
            (LaunchClause::Stages, [n]) => self.stages = Some(*n),
            (LaunchClause::Rows, [n]) => self.rows = Some(*n),
            (LaunchClause::Blocks, [planes, rows]) => self.blocks = Some([*planes, *rows]),
            (LaunchClause::Tile, [rows, columns]) => self.tile = Some([*rows, *columns]),
            (LaunchClause::Unroll, [n]) => self.unroll = Some(*n),
            _ => return false,
        }
        true
    }
}
