//! Memory planning: temporaries that are never live at the same time share a slot of memory.
//!
//! A temporary is live from the first launch that uses it to the last. In a loop of the host it is live for all of the loop,
//! since a later iteration may read what an earlier one wrote. Buffers that change places live as long as either does.

use std::collections::BTreeMap;

use lift_ir::Nat;
use lift_kernel::{Arg, BufferId, Kernel};

use crate::plan::{Plan, Role, Step};

/// The memory of a plan's temporaries.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// What each slot has room for, in bytes.
    pub bytes: Vec<Nat>,
    slots: BTreeMap<BufferId, usize>,
}

impl Memory {
    /// The slot of a temporary; nothing of one that no kernel uses.
    pub fn slot(&self, buffer: BufferId) -> Option<usize> {
        self.slots.get(&buffer).copied()
    }
}

impl Plan {
    /// Slots for the temporaries, as few as there are temporaries needed at one time.
    pub fn memory(&self) -> Memory {
        let temporaries = self.buffers.iter().filter(|b| b.role == Role::Temporary);
        let sized = temporaries.map(|b| {
            let scalar = Nat::int(b.buffer.scalar.bytes() as i128);
            (b.buffer.id, b.buffer.total() * scalar)
        });
        let uses: Vec<Vec<BufferId>> = self.kernels.iter().map(buffers_of).collect();
        assign(sized.collect(), &lifetimes(&self.steps, &uses))
    }
}

fn buffers_of(kernel: &Kernel) -> Vec<BufferId> {
    let buffer = |arg: &Arg| match arg {
        Arg::Buffer(buffer, _) => Some(buffer.id),
        Arg::Scalar(_) | Arg::Size(_) => None,
    };
    kernel.args.iter().filter_map(buffer).collect()
}

/// Gives every buffer a slot that is free, of its own size where there is one.
fn assign(buffers: Vec<(BufferId, Nat)>, lifetimes: &Lifetimes) -> Memory {
    let mut needed: Vec<(Lifetime, BufferId, Nat)> = buffers
        .into_iter()
        .filter_map(|(id, bytes)| Some((*lifetimes.get(&id)?, id, bytes)))
        .collect();
    needed.sort_by_key(|(lifetime, id, _)| (lifetime.first, *id));
    let mut memory = Memory::default();
    // The last launch that each slot is needed for.
    let mut busy: Vec<usize> = Vec::new();
    for (lifetime, id, bytes) in needed {
        let free = |slot: &usize| busy.get(*slot).is_some_and(|last| *last < lifetime.first);
        let slots = || (0..memory.bytes.len()).filter(free);
        let same = slots().find(|slot| memory.bytes.get(*slot) == Some(&bytes));
        match same.or_else(|| slots().next()) {
            Some(slot) => {
                busy[slot] = lifetime.last;
                memory.bytes[slot] = Nat::max(&memory.bytes[slot], &bytes);
                memory.slots.insert(id, slot);
            }
            None => {
                memory.slots.insert(id, busy.len());
                busy.push(lifetime.last);
                memory.bytes.push(bytes);
            }
        }
    }
    memory
}

/// Launches are counted in the order they are written in the plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Lifetime {
    first: usize,
    last: usize,
}

type Lifetimes = BTreeMap<BufferId, Lifetime>;

/// When each buffer is needed; `uses` has the buffers of each kernel.
fn lifetimes(steps: &[Step], uses: &[Vec<BufferId>]) -> Lifetimes {
    let mut found = Lifetimes::new();
    walk(steps, uses, &mut 0, &mut found);
    let mut pairs = Vec::new();
    swapped(steps, &mut pairs);
    // A buffer may change places with several, which then are all needed for as long.
    loop {
        let before = found.clone();
        for (a, b) in &pairs {
            for (to, from) in [(a, b), (b, a)] {
                if let Some(lifetime) = found.get(from).copied() {
                    extend(&mut found, *to, lifetime);
                }
            }
        }
        if found == before {
            return found;
        }
    }
}

/// Collects the lifetimes in some steps, of which the first launch has the number `next`.
fn walk(steps: &[Step], uses: &[Vec<BufferId>], next: &mut usize, found: &mut Lifetimes) {
    for step in steps {
        let first = *next;
        match step {
            Step::Launch(index) => {
                *next += 1;
                for buffer in uses.get(*index).into_iter().flatten() {
                    extend(found, *buffer, Lifetime { first, last: first });
                }
            }
            // The launches around have the numbers before and behind.
            Step::Stop(flag) => {
                extend(found, *flag, Lifetime { first: first.saturating_sub(1), last: first });
            }
            Step::Loop { body, swap, .. } => {
                let mut inside = Lifetimes::new();
                walk(body, uses, next, &mut inside);
                let whole = Lifetime { first, last: next.saturating_sub(1).max(first) };
                let swapped = swap.iter().flat_map(|(a, b)| [a, b]);
                for buffer in inside.keys().chain(swapped) {
                    extend(found, *buffer, whole);
                }
            }
        }
    }
}

fn extend(found: &mut Lifetimes, buffer: BufferId, lifetime: Lifetime) {
    let known = found.entry(buffer).or_insert(lifetime);
    known.first = known.first.min(lifetime.first);
    known.last = known.last.max(lifetime.last);
}

fn swapped(steps: &[Step], pairs: &mut Vec<(BufferId, BufferId)>) {
    for step in steps {
        if let Step::Loop { body, swap, .. } = step {
            pairs.extend(swap);
            swapped(body, pairs);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use lift_ir::Var;

    use super::*;

    /// The memory of buffers of these sizes, where kernel `k` uses the buffers `uses[k]`.
    fn memory(bytes: &[i128], uses: &[&[u32]], steps: &[Step]) -> Memory {
        let buffers = (0u32..).map(BufferId).zip(bytes.iter().map(|n| Nat::int(*n)));
        let uses: Vec<Vec<BufferId>> =
            uses.iter().map(|ids| ids.iter().map(|id| BufferId(*id)).collect()).collect();
        assign(buffers.collect(), &lifetimes(steps, &uses))
    }

    fn slots(memory: &Memory, count: u32) -> Vec<Option<usize>> {
        (0..count).map(|id| memory.slot(BufferId(id))).collect()
    }

    fn launches(kernels: std::ops::Range<usize>) -> Vec<Step> {
        kernels.map(Step::Launch).collect()
    }

    fn thrice(body: Vec<Step>, swap: &[(u32, u32)]) -> Step {
        let swap = swap.iter().map(|(a, b)| (BufferId(*a), BufferId(*b))).collect();
        Step::Loop { count: Nat::int(3), counter: Var::named("step"), body, swap, taken: None }
    }

    #[test]
    fn a_chain_needs_two_slots() {
        let chain: [&[u32]; 4] = [&[0], &[0, 1], &[1, 2], &[2]];
        let memory = memory(&[8; 3], &chain, &launches(0..4));
        assert_eq!(slots(&memory, 3), [Some(0), Some(1), Some(0)]);
        assert_eq!(memory.bytes, [Nat::int(8), Nat::int(8)]);
    }

    #[test]
    fn a_slot_has_room_for_its_largest_buffer_and_equal_ones_go_together() {
        let memory = memory(&[8, 16, 16, 24], &[&[0, 1], &[2, 3]], &launches(0..2));
        assert_eq!(slots(&memory, 4), [Some(0), Some(1), Some(1), Some(0)]);
        assert_eq!(memory.bytes, [Nat::int(24), Nat::int(16)]);
    }

    #[test]
    fn what_no_kernel_uses_has_no_slot() {
        let memory = memory(&[8, 8], &[&[1]], &launches(0..1));
        assert_eq!(slots(&memory, 2), [None, Some(0)]);
    }

    #[test]
    fn what_is_used_in_a_loop_is_needed_for_all_of_it() {
        let steps = [thrice(launches(0..2), &[]), Step::Launch(2)];
        let memory = memory(&[8; 3], &[&[0], &[1], &[2]], &steps);
        assert_eq!(slots(&memory, 3), [Some(0), Some(1), Some(0)]);
    }

    #[test]
    fn buffers_that_change_places_are_needed_together() {
        // After the loop the value of `0` may be where `1` was, which nothing names any more.
        let steps =
            [Step::Launch(0), thrice(launches(1..2), &[(0, 1)]), Step::Launch(2), Step::Launch(3)];
        let memory = memory(&[8; 3], &[&[0], &[0, 1], &[2], &[0]], &steps);
        assert_eq!(slots(&memory, 3), [Some(0), Some(1), Some(2)]);
    }

    /// Numbers that look random and are always the same.
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, bound: usize) -> usize {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 33) as usize % bound
        }

        fn buffer(&mut self) -> BufferId {
            BufferId(self.below(BUFFERS) as u32)
        }
    }

    const BUFFERS: usize = 6;
    const KERNELS: usize = 6;

    fn random_steps(dice: &mut Dice, depth: usize) -> Vec<Step> {
        let one = |dice: &mut Dice| match dice.below(3) {
            0 if depth > 0 => {
                let body = random_steps(dice, depth - 1);
                let swap = (0..dice.below(2)).map(|_| (dice.buffer(), dice.buffer())).collect();
                Step::Loop {
                    count: Nat::int(3),
                    counter: Var::named("step"),
                    body,
                    swap,
                    taken: None,
                }
            }
            _ => Step::Launch(dice.below(KERNELS)),
        };
        (0..1 + dice.below(4)).map(|_| one(dice)).collect()
    }

    /// Runs steps on memory in which every slot remembers the last buffer that was written there.
    struct Machine<'t> {
        uses: &'t [Vec<BufferId>],
        /// The slot each buffer is in now.
        place: BTreeMap<BufferId, usize>,
        /// The buffer whose value is in each slot.
        owner: BTreeMap<usize, BufferId>,
        written: BTreeSet<BufferId>,
    }

    impl Machine<'_> {
        fn run(&mut self, steps: &[Step]) {
            for step in steps {
                match step {
                    Step::Launch(kernel) => self.launch(*kernel),
                    Step::Stop(flag) => self.finds(*flag),
                    Step::Loop { body, swap, .. } => {
                        for _ in 0..3 {
                            self.run(body);
                            swap.iter().for_each(|(a, b)| self.swap(*a, *b));
                        }
                    }
                }
            }
        }

        /// Reads every buffer that has a value, which must still be there, and writes all of them.
        fn launch(&mut self, kernel: usize) {
            for id in &self.uses[kernel] {
                self.finds(*id);
            }
            for id in &self.uses[kernel] {
                self.owner.insert(self.place[id], *id);
                self.written.insert(*id);
            }
        }

        fn finds(&self, id: BufferId) {
            if self.written.contains(&id) {
                assert_eq!(self.owner.get(&self.place[&id]), Some(&id), "the value of {id:?}");
            }
        }

        /// Each buffer gets the other's slot and the value in it.
        fn swap(&mut self, a: BufferId, b: BufferId) {
            if a == b {
                return;
            }
            self.finds(a);
            self.finds(b);
            let (had_a, had_b) = (self.written.remove(&a), self.written.remove(&b));
            let (of_a, of_b) = (self.place[&a], self.place[&b]);
            for (id, slot, value) in [(a, of_b, had_b), (b, of_a, had_a)] {
                self.place.insert(id, slot);
                if value {
                    self.owner.insert(slot, id);
                    self.written.insert(id);
                }
            }
        }
    }

    #[test]
    fn no_value_is_overwritten_while_it_is_needed() {
        let mut dice = Dice(1);
        let mut sharing = 0;
        for _ in 0..2000 {
            let uses: Vec<Vec<BufferId>> = (0..KERNELS)
                .map(|_| (0..1 + dice.below(3)).map(|_| dice.buffer()).collect())
                .collect();
            let steps = random_steps(&mut dice, 2);
            let buffers = (0..BUFFERS).map(|id| (BufferId(id as u32), Nat::int(8)));
            let memory = assign(buffers.collect(), &lifetimes(&steps, &uses));
            sharing += memory.slots.len() - memory.bytes.len();
            let (owner, written) = (BTreeMap::new(), BTreeSet::new());
            Machine { uses: &uses, place: memory.slots, owner, written }.run(&steps);
        }
        assert!(sharing > 500, "only {sharing} buffers share memory");
    }
}
