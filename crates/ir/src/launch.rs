//! How a kernel is run: the clauses of `launch`.

use std::collections::BTreeMap;

use lift_nat::Nat;

/// What a `launch` can say of its kernel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LaunchClause {
    /// The work-items of a group, by dimension.
    Local,
    /// All work-items, by dimension.
    Global,
    /// Elements added to the rows of arrays in local memory, so that a column lies in different banks: of all arrays, or
    /// of each in the order they are made.
    Padding,
    /// Tiles in local memory at a time: while one is worked on the others are filled. Where work-items are threads.
    Stages,
    /// Rows of a grid that are computed together, by unroll-and-jam. Where work-items are iterations of loops.
    Rows,
    /// Planes and rows of the blocks in which a grid of three dimensions is gone through. Likewise.
    Blocks,
    /// Rows and columns of a grid whose folds one iteration does together (register tiling). Likewise.
    Tile,
    /// Loops over windows and private arrays are written out if they have so many iterations at most.
    Unroll,
}

impl LaunchClause {
    pub const ALL: [LaunchClause; 8] = [
        LaunchClause::Local,
        LaunchClause::Global,
        LaunchClause::Padding,
        LaunchClause::Stages,
        LaunchClause::Rows,
        LaunchClause::Blocks,
        LaunchClause::Tile,
        LaunchClause::Unroll,
    ];

    pub fn name(self) -> &'static str {
        match self {
            LaunchClause::Local => "local",
            LaunchClause::Global => "global",
            LaunchClause::Padding => "padding",
            LaunchClause::Stages => "stages",
            LaunchClause::Rows => "rows",
            LaunchClause::Blocks => "blocks",
            LaunchClause::Tile => "tile",
            LaunchClause::Unroll => "unroll",
        }
    }

    pub fn named(name: &str) -> Option<LaunchClause> {
        LaunchClause::ALL.into_iter().find(|clause| clause.name() == name)
    }

    /// How many numbers it takes: at least, at most.
    pub fn counts(self) -> (usize, usize) {
        match self {
            LaunchClause::Local | LaunchClause::Global => (1, 3),
            // For all arrays, or for each.
            LaunchClause::Padding => (1, 16),
            LaunchClause::Blocks | LaunchClause::Tile => (2, 2),
            LaunchClause::Stages | LaunchClause::Rows | LaunchClause::Unroll => (1, 1),
        }
    }
}

/// How a kernel is run, as far as it is said; the compiler chooses the rest.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Launch {
    clauses: BTreeMap<LaunchClause, Vec<Nat>>,
}

impl Launch {
    /// The same with a clause that says these numbers; without it where there are none.
    #[must_use]
    pub fn with(mut self, clause: LaunchClause, sizes: Vec<Nat>) -> Launch {
        match sizes.is_empty() {
            true => self.clauses.remove(&clause),
            false => self.clauses.insert(clause, sizes),
        };
        self
    }

    /// What a clause says; nothing where it is not there.
    pub fn get(&self, clause: LaunchClause) -> &[Nat] {
        self.clauses.get(&clause).map(Vec::as_slice).unwrap_or_default()
    }

    pub fn clauses(&self) -> impl Iterator<Item = (LaunchClause, &[Nat])> {
        self.clauses.iter().map(|(clause, sizes)| (*clause, sizes.as_slice()))
    }

    pub fn sizes(&self) -> impl Iterator<Item = &Nat> {
        self.clauses.values().flatten()
    }

    /// The same with other sizes.
    pub fn map_sizes(&self, size: impl Fn(&Nat) -> Nat) -> Launch {
        let Ok(launch) = self.try_map_sizes(|n| Ok::<Nat, std::convert::Infallible>(size(n)));
        launch
    }

    /// The same where not every size has another.
    pub fn try_map_sizes<E>(&self, size: impl Fn(&Nat) -> Result<Nat, E>) -> Result<Launch, E> {
        let mut clauses = BTreeMap::new();
        for (clause, sizes) in &self.clauses {
            clauses.insert(*clause, sizes.iter().map(&size).collect::<Result<_, E>>()?);
        }
        Ok(Launch { clauses })
    }
}
