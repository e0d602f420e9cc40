//! Names of unknown sizes and indices.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A variable. Two variables are the same when both name and id agree, so that a binder can be
/// renamed apart (`N_7`) without losing the name its author gave it.
#[derive(Clone, Debug)]
pub struct Var {
    name: Arc<str>,
    /// The first bytes of the name as a number, which compares as they do: most names differ here.
    start: u64,
    id: u32,
}

impl PartialEq for Var {
    fn eq(&self, other: &Var) -> bool {
        self.start == other.start
            && self.id == other.id
            && (Arc::ptr_eq(&self.name, &other.name) || self.name == other.name)
    }
}

impl Eq for Var {}

/// By name, then by id.
impl Ord for Var {
    fn cmp(&self, other: &Var) -> Ordering {
        self.start
            .cmp(&other.start)
            .then_with(|| match Arc::ptr_eq(&self.name, &other.name) {
                true => Ordering::Equal,
                false => self.name.cmp(&other.name),
            })
            .then(self.id.cmp(&other.id))
    }
}

impl Hash for Var {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.start, self.id).hash(state);
    }
}

impl PartialOrd for Var {
    fn partial_cmp(&self, other: &Var) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Var {
    /// The variable a program calls `name`.
    pub fn named(name: &str) -> Var {
        Var::with_id(name, 0)
    }

    /// A variable told apart from others of its name by `id`.
    pub fn with_id(name: &str, id: u32) -> Var {
        let mut start = [0; 8];
        for (to, from) in start.iter_mut().zip(name.bytes()) {
            *to = from;
        }
        Var { name: name.into(), start: u64::from_be_bytes(start), id }
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
