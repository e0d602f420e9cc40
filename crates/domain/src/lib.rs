//! Parameterised index sets: finite sets of points of one to four natural numbers.
//!
//! A [`Domain`] is a list of constraints on the indices of a point, affine in them, with sizes of the program as
//! further unknowns. The upper triangle of an `n` by `n` matrix:
//!
//! ```
//! use lift_domain::{Constraint, Domain};
//! use lift_nat::{Nat, Var};
//!
//! let n = Nat::var(&Var::named("n"));
//! let (i, j) = (Domain::index(0), Domain::index(1));
//! let upper = Domain::new(2, vec![Constraint::less(&i, &j), Constraint::less(&j, &n)]);
//! assert_eq!(upper.extents(), None, "not a box");
//! assert_eq!(upper.to_string(), "{ (i, j) | i < j, j < n }");
//! let levels = upper.levels().unwrap();
//! assert_eq!(levels.count().to_string(), "(n*n - n) / 2");
//! ```
//!
//! The indices of all domains are the same variables, [`Domain::index`], so that two domains that differ only in what
//! their author called the indices are equal.
//!
//! | where | what |
//! |---|---|
//! | `affine` | constraints as coefficients of the indices, and elimination of an index |
//! | `shape` | boxes, bounds, inclusion |
//! | `known` | linear bounds, and what follows from them |
//! | `levels` | a domain as nested ranges: count, rank and point |
//! | `nest` | a domain as nested loops: what bounds each index |
//! | `piecewise` | the same where one polynomial does not do |
//! | `pieces` | functions that are a polynomial on each of several pieces, and their sums over an index |
//! | `poly` | polynomials with fractions, and their sums over a range |
//! | `quasi` | multiples of indices and of quotients rounded down |
//! | `print` | the text of a domain |

mod affine;
mod known;
mod levels;
mod nest;
mod pieces;
mod piecewise;
mod poly;
mod print;
mod quasi;
mod shape;

use std::collections::BTreeSet;

use lift_nat::{EvalError, Facts, Nat, Pred, Var};

pub use affine::{NotAffine, affine};
pub use levels::{Level, Levels, Quadratic};
pub use nest::{Bound, Bounds};

/// No domain has more dimensions.
pub const MAX_DIMENSIONS: usize = 4;

/// What holds of the indices of every point.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Constraint {
    /// `0 <= value`
    AtLeast(Nat),
    /// `value % divisor == 0`, where the value is not negative.
    Multiple { of: Nat, divisor: i128 },
}

impl Constraint {
    /// `a < b`
    pub fn less(a: &Nat, b: &Nat) -> Constraint {
        Constraint::AtLeast(b - a - Nat::ONE)
    }

    /// `a <= b`
    pub fn at_most(a: &Nat, b: &Nat) -> Constraint {
        Constraint::AtLeast(b - a)
    }

    /// The condition on sizes that this is.
    pub fn pred(&self) -> Pred {
        match self {
            Constraint::AtLeast(n) => Pred::Le(Nat::ZERO, n.clone()),
            Constraint::Multiple { of, divisor } => Pred::divides(Nat::int(*divisor), of.clone()),
        }
    }

    fn value(&self) -> &Nat {
        match self {
            Constraint::AtLeast(value) | Constraint::Multiple { of: value, .. } => value,
        }
    }

    fn map(&self, f: &dyn Fn(&Nat) -> Nat) -> Constraint {
        match self {
            Constraint::AtLeast(n) => Constraint::AtLeast(f(n)),
            Constraint::Multiple { of, divisor } => {
                Constraint::Multiple { of: f(of), divisor: *divisor }
            }
        }
    }
}

/// A finite set of points. Indices are natural numbers; that is no constraint of its own.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Domain {
    dimensions: usize,
    constraints: Vec<Constraint>,
    /// Found when asked for, which may take long.
    levels: levels::Found,
}

impl Domain {
    /// Requires: at most [`MAX_DIMENSIONS`]; constraints are in terms of [`Domain::index`] and sizes.
    pub fn new(dimensions: usize, constraints: Vec<Constraint>) -> Domain {
        let mut kept: Vec<Constraint> = Vec::new();
        for constraint in constraints {
            if !kept.contains(&constraint) {
                kept.push(constraint);
            }
        }
        Domain { dimensions, constraints: kept, levels: levels::Found::default() }
    }

    /// The variable that stands for an index in every domain.
    pub fn index(at: usize) -> Nat {
        Nat::var(&Domain::index_var(at))
    }

    pub fn index_var(at: usize) -> Var {
        // Numbers of variables that programs hand out count up from 0.
        Var::with_id("index", u32::MAX - at as u32)
    }

    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    /// The variables of sizes that the constraints mention.
    pub fn sizes(&self) -> BTreeSet<Var> {
        let mut found = BTreeSet::new();
        self.constraints.iter().for_each(|c| found.extend(c.value().vars()));
        (0..self.dimensions).for_each(|k| {
            found.remove(&Domain::index_var(k));
        });
        found
    }

    /// The same points, with size variables replaced.
    pub fn substitute(&self, with: &dyn Fn(&Var) -> Option<Nat>) -> Domain {
        let constraints = self.constraints.iter().map(|c| c.map(&|n| n.substitute(with)));
        Domain::new(self.dimensions, constraints.collect())
    }

    /// What has to hold for a point to be in the domain.
    pub fn conditions(&self, point: &[Nat]) -> Vec<Pred> {
        let natural = point.iter().map(|x| Pred::Le(Nat::ZERO, x.clone()));
        let others = self.constraints.iter().map(|c| c.map(&|n| at(n, point)).pred());
        natural.chain(others).collect()
    }

    /// Whether a point is in the domain, for given sizes.
    pub fn contains(
        &self,
        point: &[i128],
        size: &dyn Fn(&Var) -> Option<i128>,
    ) -> Result<bool, EvalError> {
        let value = |v: &Var| match (0..self.dimensions).find(|k| Domain::index_var(*k) == *v) {
            Some(k) => point.get(k).copied(),
            None => size(v),
        };
        if point.iter().any(|x| *x < 0) {
            return Ok(false);
        }
        for constraint in &self.constraints {
            if !constraint.pred().eval(&value)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What is known of the indices of a point in the domain, and of sizes as such.
    pub fn facts(&self) -> Facts {
        let mut facts = natural(self.sizes());
        for k in 0..self.dimensions {
            facts.assume(&Pred::Le(Nat::ZERO, Domain::index(k)));
        }
        self.constraints.iter().for_each(|c| facts.assume(&c.pred()));
        facts
    }
}

/// Facts that say of some variables that they are natural numbers.
fn natural(vars: BTreeSet<Var>) -> Facts {
    let mut facts = Facts::new();
    for var in vars {
        facts.assume(&Pred::Le(Nat::ZERO, Nat::var(&var)));
    }
    facts
}

/// A value in terms of the indices, at a point.
pub(crate) fn at(value: &Nat, point: &[Nat]) -> Nat {
    value.substitute(&|v| {
        let k = (0..point.len()).find(|k| Domain::index_var(*k) == *v)?;
        point.get(k).cloned()
    })
}
