//! How long a launch takes: a time for each resource, and the longest of them.
//!
//! `ms = launch + bound + tail`. Each component is what the launch asks of one resource over what that gives in a
//! millisecond. Resources work side by side, so the launch takes as long as the busiest, and a little more where the
//! next is nearly as busy. Doubling a rate halves its component and leaves the others.

use std::collections::{BTreeMap, BTreeSet};

use crate::counts::{Counts, Traffic};
use crate::description::Description;
use crate::operations::{BRANCHING, SHUFFLE};
use crate::walk::{LANES, SECTOR};

/// Things in a millisecond, of a rate of one billion in a second.
const GB: f64 = 1e6;

/// A line that a processor writes is fetched first.
pub const FETCHED: f64 = 2.0;

/// What the nearest cache of a processor's core keeps, in bytes, as processors have it.
const NEAREST: f64 = 32_768.0;

/// Bytes that each work-item of a GPU fetches from memory in a turn where it is measured how long loads wait for those of others: a word.
const CROWD: f64 = 4.0;

/// Bytes of a GPU's last cache that one of what is written takes: of 18 to 67 MB that kernels wrote, 15 to 22 had not reached memory
/// when they ended, in a cache that keeps 35 of what is read and written.
const WRITTEN_PLACES: f64 = 2.0;

/// Sectors that take a GPU's last cache as long as one whose neighbour is not asked for: it finds two at once.
const LONELY: f64 = 1.4;

/// How many read bytes a load waits as long for as for a written one: memory has to turn for it, and back.
const WRITTEN_WAITS: f64 = 2.0;

/// Operations on floats that a processor's dividers do.
const DIVIDES: [&str; 3] = [".div", ".sqrt", ".rsqrt"];

/// The times of one launch, in milliseconds.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Time {
    pub launch_ms: f64,
    pub bound_ms: f64,
    pub tail_ms: f64,
    pub bound_by: &'static str,
    pub components: BTreeMap<&'static str, f64>,
    pub assumed: BTreeSet<String>,
}

impl Time {
    pub fn ms(&self) -> f64 {
        self.launch_ms + self.bound_ms + self.tail_ms
    }
}

/// The time of a launch that asks for so much.
pub fn time(counts: &Counts, machine: &Description) -> Result<Time, String> {
    let mut assumed = counts.assumed.clone();
    let mut components = BTreeMap::new();
    let footprint = counts.footprint();
    let (capacity, full) = (machine.get("last.capacity")?, machine.get("last.full")?);
    let missed = lost(footprint, capacity, full);
    // Of what is written a GPU's cache keeps half as much as of all: more than that is not left waiting for memory.
    let waiting = if counts.is_threads { WRITTEN_PLACES * counts.written.distinct } else { 0.0 };
    let missed_written = lost(footprint.max(waiting), capacity, full);
    // Memory brings two sectors at once, and more where it has to open another row.
    let scattered = machine.find("dram.scattered").unwrap_or(2.0);
    // What comes in order pushes out what is needed again, so that a cache keeps nothing of more than it holds. Of what the groups of
    // a GPU touch again here and there it keeps its part.
    let lost_again = match counts.is_threads {
        true => 1.0 - (full / footprint.max(1.0)).min(1.0),
        false => missed * missed,
    };
    let far_of = |t: &Traffic, missed: f64, scattered: f64| {
        let again = t.by_wave - t.distinct + (scattered - 1.0) * t.scattered;
        missed * t.distinct + lost_again * again
    };
    // Memory that turns from reading to writing and back loses time; one that only writes does not.
    let weight = machine.get("dram.write_weight")?;
    let from = far_of(&counts.read, missed, scattered);
    let to = far_of(&counts.written, missed_written, scattered);
    // A processor fetches every line that it writes.
    let dram = match counts.is_threads {
        true => from + to + (weight - 1.0) * from.min(to),
        false => from + weight * to,
    };
    components.insert("dram", dram / (machine.get("dram.rate")? * GB));
    let units = machine.get("units")?;
    let kept = counts.read.by_unit + counts.read.kept * units;
    // Where there are fewer groups than units, the units that have one do it all.
    let alone = if counts.is_threads { (units / counts.groups.max(1.0)).max(1.0) } else { 1.0 };
    if counts.is_threads {
        // The cache of a unit passes on what is written as it comes.
        let alone = (LONELY - 1.0) * counts.read.lonely;
        let near = counts.read.by_group.min(kept) + alone + counts.written.asked;
        components.insert("last", near / (machine.get("last.rate")? * GB));
        // A sector that is written in part is put together with what is there. Descriptions of before do not say how fast.
        if let Some(parts) = machine.find("last.parts") {
            components.insert("parts", counts.stored_parts / (parts * GB));
        }
        // What is changed as one step is a part of a sector, too, where nothing else is known.
        let changes = machine.find("last.changes").or(machine.find("last.parts"));
        if let Some(changes) = changes.filter(|_| counts.changed > 0.0) {
            components.insert("changes", counts.changed / (changes * GB));
        }
    } else {
        // What the caches of a processor's cores keep does not come from the one that they share. A line that is written comes
        // first, too.
        let left = lost(footprint, machine.get("first.capacity")?, machine.get("first.full")?);
        let of = |t: &Traffic| {
            let fetched = t.by_group.min(t.by_unit + t.kept * units);
            left * t.distinct + left * left * (fetched - t.distinct).max(0.0)
        };
        let shared = of(&counts.read) + FETCHED * of(&counts.written);
        components.insert("last", shared / (machine.get("last.rate")? * GB));
        // The nearest cache gives what a core computes with.
        let threads = if counts.forks > 0.0 { counts.groups.min(units) } else { 1.0 };
        let nearest = lost(footprint / threads, NEAREST, 2.0 * NEAREST);
        let near = counts.read.by_group + FETCHED * counts.written.by_group;
        components.insert("first", nearest * near / (machine.get("first.rate")? * GB));
        // Lines that crowd in few places of a cache come from the next, one by one. Descriptions of before do not say how fast.
        let (read, written) = (&counts.read, &counts.written);
        for (component, rate, lines) in [
            ("crowded", "first.crowded", read.crowded + written.crowded),
            ("crowded out", "last.crowded", read.crowded_out + written.crowded_out),
        ] {
            if let Some(rate) = machine.find(rate) {
                components.insert(component, lines / (rate * GB));
            }
        }
    }
    if counts.is_threads {
        let asked = counts.read.asked + counts.written.asked;
        components.insert("first", alone * asked / (machine.get("first.rate")? * GB));
        // Where the lanes of a warp are apart, their lines are found one after the other, and words of one bank come so.
        // Descriptions of before have the rate of words of one bank alone, under the name of lines.
        let lines = machine.get("first.lines")?;
        let (lines, rounds) = match machine.find("first.rounds") {
            Some(rounds) => (lines, rounds),
            None => (2.0 * lines, lines),
        };
        components.insert("lines", alone * counts.lines / (lines * GB));
        components.insert("banks", alone * counts.rounds / (rounds * GB));
    }
    if counts.local_rounds > 0.0 && counts.is_threads {
        let ms = alone * counts.local_rounds / (machine.get("local.rate")? * GB);
        components.insert("local", ms);
    }
    let mut slots = Slots { machine, assumed: &mut assumed };
    // The pipes of a processor for integers and for floats work side by side; on a GPU all instructions share the slots in
    // which they are issued.
    let integers = if counts.is_threads { None } else { Some(machine.get("integer.rate")?) };
    let is_integer = |name: &str| integers.is_some() && name.starts_with('i');
    // Divisions and roots keep a unit of their own busy, beside sums and products. Descriptions of before do not say so.
    let divisions = if counts.is_threads { None } else { machine.find("division.rate") };
    let divides = |name: &str| {
        let is_float = name.starts_with('f');
        divisions.is_some() && is_float && DIVIDES.iter().any(|kind| name.ends_with(kind))
    };
    let (mut arithmetic, mut integer, mut division) = (0.0, 0.0, 0.0);
    for (operations, mode) in [(&counts.operations, ""), (&counts.scalar_operations, ".scalar")] {
        for (name, n) in operations {
            let into = match (is_integer(name), divides(name)) {
                (true, _) => &mut integer,
                (_, true) => &mut division,
                _ => &mut arithmetic,
            };
            *into += n * slots.each(name, mode)?;
        }
    }
    if let Some(rate) = integers {
        // A core loads and stores about as often as it adds integers, one by one or in vectors; vectors go their own way, beside
        // what else is done.
        integer += counts.scalar_accesses * slots.each("i32.add", ".scalar")?;
        integer = integer.max(counts.vector_accesses * slots.each("i32.add", "")?);
        components.insert("integer", integer / (rate * GB));
    }
    if let Some(rate) = divisions {
        components.insert("division", division / (rate * GB));
    }
    let overhead = match counts.is_threads {
        true => 32.0 * (counts.requests + machine.get("iteration")? * counts.iterations),
        false => 0.0,
    };
    let ms = alone * (arithmetic + overhead) / (machine.get("pipe.rate")? * GB);
    components.insert("arithmetic", ms);
    let (waves, filled) = waves(counts, machine)?;
    let (turns, part_of_new) = turns(counts, machine);
    // How often a turn of a group needs something from further away: at most as often as it asks for anything new.
    let each_turn =
        |bytes: f64| (bytes / (counts.groups * turns * SECTOR as f64).max(1.0)).min(part_of_new);
    // What comes from memory for one group, others wait for that ask for it at the same time.
    let together = (counts.read.by_group.min(kept) / counts.read.by_wave.max(1.0)).max(1.0);
    let items = counts.groups * counts.group_items;
    let waiting = Waiting {
        turns,
        crowd: (from / (items * turns * CROWD).max(1.0)).min(1.0),
        from_dram: each_turn(from.max(together * far_of(&counts.read, missed, 1.0))),
        written: if from > 0.0 { (to / from).min(1.0) } else { 0.0 },
        from_last: each_turn(counts.read.by_group),
        filled,
        slots: (arithmetic + overhead) / (counts.groups * counts.warps * LANES as f64).max(1.0),
    };
    let (wave_ns, fetch_ns) = waiting.ns(counts, machine, &mut assumed)?;
    components.insert("latency", (waves * wave_ns + fetch_ns) * 1e-6);
    if counts.is_threads {
        let ns = machine.get("group.start")?;
        components.insert("groups", counts.groups * ns * 1e-6 / units);
    }
    let (bound_by, bound_ms) = bound(&components);
    let forks = if counts.is_threads { 0.0 } else { counts.forks * machine.get("fork")? };
    let launch_ms = machine.get("launch")? + forks;
    // Units that have nothing to do while the last ones finish.
    let rounds = (counts.groups / units).max(if counts.is_threads { 1.0 } else { 1e-9 });
    let idle = rounds.ceil() / rounds - 1.0;
    let by_unit = matches!(
        bound_by,
        "arithmetic"
            | "division"
            | "integer"
            | "local"
            | "first"
            | "lines"
            | "banks"
            | "crowded"
            | "crowded out"
    );
    // The last wave takes its time, however few groups it has: what is lacking of it is what the binding resource does not take
    // for these. And before all others one turn waits for its loads with nothing beside it; where everything waits, the last group
    // that a unit holds begins after the others.
    let last_wave = if counts.is_threads {
        let wave_ms = wave_ns * 1e-6;
        let lacking = wave_ms - bound_ms * (waves - waves.ceil() + 1.0) / waves;
        let beside = (counts.groups / waves / units - 1.0).max(0.0);
        let first_turn = match bound_by {
            "latency" => beside * machine.get("group.start")? * 1e-6,
            _ => wave_ms / turns,
        };
        lacking.max(first_turn)
    } else {
        0.0
    };
    let tail_ms = if by_unit { (bound_ms * idle).max(last_wave) } else { last_wave };
    Ok(Time { launch_ms, bound_ms, tail_ms, bound_by, components, assumed })
}

/// The longest component, and how long they take together: at most a quarter more than it, nothing more where the
/// next is below half of it. Each that is nearly as long adds, as all have to wait for each other now and then.
fn bound(components: &BTreeMap<&'static str, f64>) -> (&'static str, f64) {
    let mut sorted: Vec<(&'static str, f64)> = components.iter().map(|(n, t)| (*n, *t)).collect();
    sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
    let Some((name, most)) = sorted.first().copied() else { return ("nothing", 0.0) };
    let part = |t: f64| if most > 0.0 { t / most } else { 0.0 };
    let near = |t: f64| (2.0 * part(t) - 1.0).max(0.0);
    let others = sorted.iter().skip(1).map(|(_, t)| near(*t) * near(*t) * near(*t));
    (name, most * (1.0 + 0.25 * others.sum::<f64>().min(1.0)))
}

/// Which part of what is touched is not found in a cache, where caches begin to lose and keep nothing.
pub fn lost(bytes: f64, capacity: f64, full: f64) -> f64 {
    if full <= capacity {
        return if bytes > capacity { 1.0 } else { 0.0 };
    }
    ((bytes - capacity) / (full - capacity)).clamp(0.0, 1.0)
}

/// How often all units are filled with groups, and which part of the work-items that they hold are there then.
fn waves(counts: &Counts, machine: &Description) -> Result<(f64, f64), String> {
    let units = machine.get("units")?;
    if !counts.is_threads {
        return Ok(((counts.groups / units).ceil(), 1.0));
    }
    let within =
        |limit: f64, each: f64| if each > 0.0 { (limit / each).floor() } else { f64::INFINITY };
    // Compilers take some registers that no kernel shows, and units hand them out by eight.
    let registers = ((counts.registers + 16.0) / 8.0).ceil() * 8.0;
    let registers = registers.min(255.0);
    let at_once = machine
        .get("unit.groups")?
        .min(within(machine.get("unit.items")?, counts.group_items))
        .min(within(machine.get("unit.local_bytes")?, counts.local_bytes))
        .min(within(machine.get("unit.registers")?, registers * counts.group_items))
        .max(1.0);
    let waves = (counts.groups / (units * at_once)).max(1.0);
    let items = counts.groups * counts.group_items / waves;
    Ok((waves, (items / (units * machine.get("unit.items")?)).min(1.0)))
}

/// Operations of one warp that a GPU works at at once, where none waits for another: it begins one in each step of the four that an
/// addition takes.
const PIPELINED: f64 = 4.0;

/// An operation that takes more slots has a way for rare values, to which it branches.
const EXACT: f64 = 16.0;

/// What the lanes of a warp give each other comes after 23 cycles or so on a GPU, a sum after four.
const SHUFFLE_WAITS: f64 = 6.0;

/// How often a work-item waits for loads. Where an operation branches, loads of one turn do not begin before those of the turn
/// before are there. And in which part of these turns there are loads of something new.
fn turns(counts: &Counts, machine: &Description) -> (f64, f64) {
    let branches = BRANCHING.iter().any(|name| {
        counts.operations.contains_key(*name)
            && machine.find(name).is_some_and(|slots| slots > EXACT)
    });
    let (mut turns, mut of_new) = (counts.warp_turns, counts.warp_turns_of_new);
    if branches {
        turns += counts.warp_turns_apart;
        of_new += counts.warp_turns_apart_of_new;
    }
    if turns < 1.0 { (1.0, 1.0) } else { (turns, of_new / turns) }
}

/// What one work-item after the other waits for.
struct Waiting {
    turns: f64,
    /// Of the turns that a work-item waits, the parts that wait for memory and for the last cache.
    from_dram: f64,
    from_last: f64,
    /// How much others ask of memory at the same time, of what they do where loads wait for those of others the longest.
    crowd: f64,
    /// Bytes that are written to memory for each that is read: loads wait for them, too.
    written: f64,
    /// The part of the work-items that the machine holds at once.
    filled: f64,
    /// Of one work-item of a warp that does something.
    slots: f64,
}

impl Waiting {
    /// Of one wave, and of fetching the code the first time, in nanoseconds.
    fn ns(
        &self,
        counts: &Counts,
        machine: &Description,
        assumed: &mut BTreeSet<String>,
    ) -> Result<(f64, f64), String> {
        let mut chain = 0.0;
        for (name, n) in &counts.chain {
            let step = match machine.find(&format!("{name}.latency")) {
                Some(ns) => ns,
                None if name == SHUFFLE => SHUFFLE_WAITS * machine.get("f32.add.latency")?,
                None => {
                    assumed.insert(format!("`{name}` waits as long as `f32.add`"));
                    machine.get("f32.add.latency")?
                }
            };
            chain += n * step;
        }
        if !counts.is_threads {
            // Groups run one after the other on a core, which looks ahead far enough to hide loads.
            return Ok((chain, 0.0));
        }
        // Where all units load, each load waits for those of others.
        let latency = |level: &str, others: f64| {
            let alone = machine.get(&format!("{level}.latency"))?;
            let loaded = machine.find(&format!("{level}.loaded")).unwrap_or(alone);
            Ok::<f64, String>(alone + self.filled * others * (loaded - alone).max(0.0))
        };
        let (first, last) = (machine.get("first.latency")?, latency("last", 1.0)?);
        let far = latency("dram", self.crowd * (1.0 + WRITTEN_WAITS * self.written))?;
        let load = first + self.from_last * (last - first) + self.from_dram * (far - last).max(0.0);
        let loads = if counts.warp_requests > 0.0 { self.turns * load } else { 0.0 };
        let barriers = match machine.find("barrier") {
            Some(ns) => counts.warp_barriers * ns,
            None => {
                if counts.warp_barriers > 0.0 {
                    assumed.insert("nobody waits at a barrier".to_string());
                }
                0.0
            }
        };
        let step = machine.get("f32.add.latency")?;
        // The first time, code is fetched too.
        let fetched = self.slots / self.turns * (machine.get("code")? - step).max(0.0);
        // Turns that compilers put together go on side by side where none of them carries a number to the next.
        let side_by_side = match counts.chain.is_empty() {
            true => counts.warp_turns_in_all / self.turns,
            false => counts.chains,
        };
        let issued = self.slots * step / side_by_side.clamp(1.0, PIPELINED);
        Ok((loads + barriers + chain.max(issued), fetched))
    }
}

struct Slots<'a> {
    machine: &'a Description,
    assumed: &'a mut BTreeSet<String>,
}

impl Slots<'_> {
    /// A pipe takes an instruction for one number as it does for a vector. So what floats take one by one is at least as many times
    /// what they take in vectors as for integers; half as many for numbers of 64 bits. Less is said by a probe that a compiler made
    /// vector code of.
    fn least_one_by_one(&self, name: &str, mode: &str) -> f64 {
        let lanes = match name.split_once('.') {
            Some(("f32", "add" | "mul" | "fma")) => 1.0,
            Some(("f64", "add" | "mul" | "fma")) => 0.5,
            _ => 0.0,
        };
        let get = |name: &str| self.machine.find(name);
        match (mode, get("i32.add.scalar"), get("i32.add"), get(name)) {
            (".scalar", Some(one), Some(vector), Some(own)) if vector > 0.0 => {
                lanes * own * one / vector
            }
            _ => 0.0,
        }
    }

    /// Slots of a pipe that an operation takes.
    fn each(&mut self, name: &str, mode: &str) -> Result<f64, String> {
        let kin = || {
            let (class, kind) = name.split_once('.').unwrap_or(("f32", name));
            let like = match kind {
                // Of floats it is a function, which goes through the digits of the quotient.
                "rem" if class.starts_with('f') => "exp",
                "add" | "mul" | "fma" | "div" | "rem" | "divc" => kind,
                _ => "exp",
            };
            let wide = if matches!(class, "f64" | "i64") { 2.0 } else { 1.0 };
            let class = if class.starts_with('i') { "i32" } else { "f32" };
            (format!("{class}.{like}"), wide)
        };
        let get = |name: &str| {
            self.machine.find(&format!("{name}{mode}")).or_else(|| self.machine.find(name))
        };
        // Descriptions of before have one quantity for both ways.
        let both = || name.starts_with("convert.").then(|| get("convert")).flatten();
        if let Some(slots) = get(name).or_else(both) {
            return Ok(slots.max(self.least_one_by_one(name, mode)));
        }
        let (like, times) = kin();
        self.assumed.insert(format!("`{name}` costs {times} times `{like}`"));
        match get(&like) {
            Some(slots) => Ok(slots * times),
            None => self.machine.get(&like),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_decides_and_the_next_adds_little() {
        let of = |a: f64, b: f64| bound(&BTreeMap::from([("dram", a), ("arithmetic", b)]));
        assert_eq!(of(4.0, 1.0), ("dram", 4.0));
        assert_eq!(of(4.0, 2.0), ("dram", 4.0));
        assert_eq!(of(4.0, 4.0).1, 5.0);
        assert_eq!(of(1.0, 4.0).0, "arithmetic");
        assert_eq!(bound(&BTreeMap::new()), ("nothing", 0.0));
    }

    #[test]
    fn caches_lose_between_the_two_ends() {
        assert_eq!(lost(10.0, 20.0, 40.0), 0.0);
        assert_eq!(lost(30.0, 20.0, 40.0), 0.5);
        assert_eq!(lost(90.0, 20.0, 40.0), 1.0);
        assert_eq!(lost(21.0, 20.0, 20.0), 1.0);
    }
}
