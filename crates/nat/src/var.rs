//! Names of unknown sizes and indices.

use std::fmt;
use std::sync::Arc;

/// A variable. Two variables are the same when both name and id agree, so that a binder can be
/// renamed apart (`N_7`) without losing the name its author gave it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Var {
    name: Arc<str>,
    id: u32,
}

impl Var {
    /// The variable a program calls `name`.
    pub fn named(name: &str) -> Var {
        Var::with_id(name, 0)
    }

    /// A variable told apart from others of its name by `id`.
    pub fn with_id(name: &str, id: u32) -> Var {
        Var { name: name.into(), id }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn id(&self) -> u32 {
        self.id
    }
}

impl fmt::Display for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.id {
            0 => f.write_str(&self.name),
            id => write!(f, "{}_{id}", self.name),
        }
    }
}
