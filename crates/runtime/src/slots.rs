//! Things a device hands out by number. A number is never used twice.

use std::collections::BTreeMap;

pub struct Slots<T> {
    next: u64,
    things: BTreeMap<u64, T>,
}

impl<T> Slots<T> {
    pub fn new() -> Slots<T> {
        Slots { next: 0, things: BTreeMap::new() }
    }

    pub fn add(&mut self, thing: T) -> u64 {
        let number = self.next;
        self.next += 1;
        self.things.insert(number, thing);
        number
    }

    pub fn get(&self, number: u64) -> Option<&T> {
        self.things.get(&number)
    }

    pub fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        self.things.get_mut(&number)
    }

    pub fn remove(&mut self, number: u64) -> Option<T> {
        self.things.remove(&number)
    }

    pub fn clear(&mut self) {
        self.things.clear();
    }
}
