//! Crews for other devices, where these are welcome: each has workers and a search of its own.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, Weak};

use super::super::identity::Identity;
use super::{Crew, locked};

/// Crews by the devices that they are for, one of which is the first.
#[derive(Default)]
pub(super) struct Siblings {
    known: Mutex<BTreeMap<String, Weak<Crew>>>,
    /// Of which nobody knows yet.
    new: Mutex<VecDeque<Arc<Crew>>>,
}

impl Siblings {
    /// Somebody is to know of this crew.
    pub(super) fn announce(&self, crew: Arc<Crew>) {
        locked(&self.new).push_back(crew);
    }
}

impl Crew {
    /// Those who are for this device, and whether nobody knows of them yet; nothing where they are done. The first device
    /// is that of the first crew.
    pub(super) fn crew_for(self: &Arc<Crew>, who: &Identity) -> Option<(Arc<Crew>, bool)> {
        let mut known = locked(&self.siblings.known);
        if known.is_empty() {
            known.insert(who.fingerprint.clone(), Arc::downgrade(self));
        }
        match known.get(&who.fingerprint) {
            Some(crew) => Some((crew.upgrade().filter(|crew| !crew.is_closed())?, false)),
            None => {
                let (turns, siblings) = (self.turns.clone(), self.siblings.clone());
                let crew = Crew::beside(&self.options, &self.problem, turns, siblings);
                let crew = Arc::new(crew);
                known.insert(who.fingerprint.clone(), Arc::downgrade(&crew));
                Some((crew, true))
            }
        }
    }

    /// A crew for another device, of which nobody knew yet.
    pub fn other(&self) -> Option<Arc<Crew>> {
        locked(&self.siblings.new).pop_front()
    }
}
