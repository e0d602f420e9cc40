//! Identity of the variables of kernels.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use lift_ir::Var;

/// Gives out variables, each another. All kernels of a program share one, and so do copies of a kernel: what is fresh
/// in one is fresh in all of them.
///
/// A variable has a name for the reader, which others may have too. How it is written is decided where a kernel is
/// printed. The sizes of a program have number 0: they are known by their names.
#[derive(Clone, Default, Debug)]
pub struct Ids(Arc<AtomicU32>);

impl Ids {
    /// Only those that no variable has whose number is at most this.
    pub fn after(last: u32) -> Ids {
        Ids(Arc::new(AtomicU32::new(last)))
    }

    /// A variable that is no other, to be called `name` where nothing else is.
    pub fn fresh(&self, name: &str) -> Var {
        Var::with_id(name, self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

#[cfg(test)]
mod tests {
    use lift_ir::Var;

    use super::Ids;

    #[test]
    fn copies_give_out_different_variables() {
        let ids = Ids::after(6);
        let copy = ids.clone();
        let made = [ids.fresh("x"), copy.fresh("x"), ids.fresh("y")];
        assert_eq!(made, [("x", 7), ("x", 8), ("y", 9)].map(|(name, id)| Var::with_id(name, id)));
    }
}
