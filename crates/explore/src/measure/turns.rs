//! Turns: one worker uses a device at a time, and devices do not wait for each other.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A lock for every device, by its [`unit`](super::Identity::unit).
#[derive(Default)]
pub(super) struct Turns(Mutex<BTreeMap<String, Arc<Mutex<()>>>>);

impl Turns {
    /// Held by whoever uses this device. Workers that do not say which one they have share one.
    pub fn of(&self, unit: Option<&str>) -> Arc<Mutex<()>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(unit.unwrap_or_default().to_string()).or_default().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_has_one_turn_and_others_have_their_own() {
        let turns = Turns::default();
        let (one, same, other) = (turns.of(Some("a")), turns.of(Some("a")), turns.of(Some("b")));
        let held = one.lock().expect("nobody has it");
        assert!(same.try_lock().is_err());
        assert!(other.try_lock().is_ok() && turns.of(None).try_lock().is_ok());
        drop(held);
        assert!(same.try_lock().is_ok());
    }
}
