//! The time of a whole program, before it runs.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;

use lift_execute::{Error, lower_for};
use lift_ir::{Def, QuickMap, Var};
use lift_kernel::{Arg, Kernel};
use lift_lower::{Options, Plan, Step};
use lift_runtime::Language;
use serde_json::{Value, json};

use crate::counts::{Begun, Counts, count_begun, count_least};
use crate::description::Description;
use crate::host::{Arrays, number};
use crate::time::{Time, time};

pub type Sizes = BTreeMap<String, i128>;

/// How long a program takes on a machine.
#[derive(Clone, PartialEq, Debug)]
pub struct Prediction {
    /// Of memory on the device, and on the host for results; and what it takes that a processor's threads are the first to touch it.
    pub allocation_ms: f64,
    pub transfer_ms: f64,
    /// What the host adds to all launches.
    pub launch_ms: f64,
    pub kernels: Vec<KernelPrediction>,
    /// The device that was described.
    pub machine: String,
}

#[derive(Clone, PartialEq, Debug)]
pub struct KernelPrediction {
    pub name: String,
    /// How often it is launched.
    pub runs: f64,
    pub time: Time,
    pub counts: Counts,
}

impl Prediction {
    /// All launches of all kernels.
    pub fn kernel_ms(&self) -> f64 {
        self.kernels.iter().map(|k| k.runs * k.time.ms()).sum()
    }

    /// Where the data is on the device already: launches and kernels.
    pub fn resident_ms(&self) -> f64 {
        self.launch_ms + self.kernel_ms()
    }

    /// Allocation, transfers, launches and kernels.
    pub fn total_ms(&self) -> f64 {
        self.allocation_ms + self.transfer_ms + self.resident_ms()
    }

    /// One program after another.
    pub fn and(mut self, next: Prediction) -> Prediction {
        self.allocation_ms += next.allocation_ms;
        self.transfer_ms += next.transfer_ms;
        self.launch_ms += next.launch_ms;
        self.kernels.extend(next.kernels);
        self
    }
}

/// The plan of a definition, as it would run.
pub fn plan(
    def: &Def,
    options: &Options,
    language: Language,
    machine: &Description,
) -> Result<Plan, Error> {
    // What a group may have decides how large its tiles are.
    let local_bytes = machine.local_bytes().unwrap_or(options.local_bytes);
    let options = Options { local_bytes, ..options.clone() };
    lower_for(def, &options, language, &mut |_, _| {})
}

/// Predicts a plan where its sizes have these values.
pub fn predict(plan: &Plan, sizes: &Sizes, machine: &Description) -> Result<Prediction, String> {
    predict_known(plan, sizes, machine, &mut Known::default())
}

/// The same, where some of its kernels may have been predicted for this machine already.
pub(crate) fn predict_known(
    plan: &Plan,
    sizes: &Sizes,
    machine: &Description,
    known: &mut Known,
) -> Result<Prediction, String> {
    let (sizes, launched) = launched(plan, sizes);
    let mut kernels = Vec::new();
    for (kernel, runs) in launched {
        let of_one = known.of(kernel, nameless(kernel), &sizes, machine)?;
        kernels.push(KernelPrediction { name: kernel.name.clone(), runs, ..of_one.clone() });
    }
    whole(kernels, &Arrays::of_plan(plan, &sizes), machine)
}

/// The kernels that a plan launches, with how often, and the sizes that they are given.
pub(crate) fn launched<'p>(plan: &'p Plan, sizes: &Sizes) -> (Sizes, Vec<(&'p Kernel, f64)>) {
    let mut runs = Runs { sizes: sizes.clone(), times: vec![0.0; plan.kernels.len()] };
    runs.steps(&plan.steps, 1.0);
    let all = plan.kernels.iter().zip(runs.times).filter(|(_, times)| *times > 0.0);
    (runs.sizes, all.collect())
}

/// Predicts one kernel, launched once.
pub fn predict_kernel(
    kernel: &Kernel,
    sizes: &Sizes,
    machine: &Description,
) -> Result<Prediction, String> {
    let mut known = Known::default();
    let kernels = vec![known.of(kernel, String::new(), sizes, machine)?.clone()];
    whole(kernels, &Arrays::of_kernel(kernel, sizes), machine)
}

/// Kernels that were predicted, each for one launch. Those that differ in names only are predicted once: what an iteration
/// makes of two arrays in turns, say.
#[derive(Default)]
pub(crate) struct Known {
    known: QuickMap<String, KernelPrediction>,
    /// What others take at least, about, in milliseconds, and what was found on the way.
    least: QuickMap<String, (f64, Option<Begun>)>,
    /// Statements and accesses that were followed in all of them.
    pub(crate) followed: u64,
}

/// Bytes, and points of a launch: no device has addresses for more, and numbers of 64 bits count them with room to add some.
const MOST: f64 = (1u64 << 56) as f64;

fn refuse_uncountable(kernel: &Kernel, sizes: &Sizes) -> Result<(), String> {
    for arg in &kernel.args {
        let Arg::Buffer(buffer, _) = arg else { continue };
        let bytes = number(&buffer.total(), sizes) * buffer.scalar.bytes() as f64;
        if bytes > MOST {
            let name = &buffer.name;
            return Err(format!(
                "the array `{name}` takes {bytes:.0} bytes, and no device has addresses for more than {MOST:.0}: use smaller sizes"
            ));
        }
    }
    let points: f64 = kernel.launch.global.iter().map(|n| number(n, sizes)).product();
    if points > MOST {
        let name = &kernel.name;
        return Err(format!(
            "`{name}` has {points:.0} work-items, more than {MOST:.0}: use smaller sizes"
        ));
    }
    Ok(())
}

/// What takes at least so many times what is allowed is taken to be too slow: other groups may do less than those that were followed.
const CERTAINLY: f64 = 1.25;

impl Known {
    /// A kernel whose text is this.
    fn of(
        &mut self,
        kernel: &Kernel,
        text: String,
        sizes: &Sizes,
        machine: &Description,
    ) -> Result<&KernelPrediction, String> {
        let begun = self.least.get(&text).and_then(|(_, begun)| begun.clone());
        match self.known.entry(text) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(new) => {
                refuse_uncountable(kernel, sizes)?;
                let counts = count_begun(kernel, &value_in(sizes), begun);
                self.followed += counts.followed;
                let time = time(&counts, machine)?;
                let name = kernel.name.clone();
                Ok(new.insert(KernelPrediction { name, runs: 1.0, time, counts }))
            }
        }
    }

    /// What a kernel takes at least, about.
    fn least(
        &mut self,
        kernel: &Kernel,
        text: &str,
        sizes: &Sizes,
        machine: &Description,
    ) -> Result<f64, String> {
        if let Some((known, _)) = self.least.get(text) {
            return Ok(*known);
        }
        refuse_uncountable(kernel, sizes)?;
        let (counts, begun) = count_least(kernel, &value_in(sizes));
        self.followed += counts.followed;
        let ms = time(&counts, machine)?.ms();
        self.least.insert(text.to_string(), (ms, begun));
        Ok(ms)
    }

    /// What all launches of a plan's kernels take, and the letters of their texts; no time where it is not known, or not below a
    /// limit. Kernels are followed only as far as it takes to know that.
    pub(crate) fn below(
        &mut self,
        limit: f64,
        plan: &Plan,
        sizes: &Sizes,
        machine: &Description,
    ) -> (Option<f64>, usize) {
        let (sizes, launched) = launched(plan, sizes);
        let (mut ms, mut letters, mut open) = (0.0, 0, Vec::new());
        for (kernel, runs) in launched {
            let text = nameless(kernel);
            letters += text.len();
            match self.known.get(&text) {
                Some(known) => ms += runs * known.time.ms(),
                None => open.push((kernel, runs, text)),
            }
        }
        (self.open_below(limit, ms, open, &sizes, machine), letters)
    }

    /// The same where kernels take so much already, and these are left.
    fn open_below(
        &mut self,
        limit: f64,
        known_ms: f64,
        open: Vec<(&Kernel, f64, String)>,
        sizes: &Sizes,
        machine: &Description,
    ) -> Option<f64> {
        let mut bounded = Vec::new();
        for (kernel, runs, text) in open {
            let least = match limit.is_finite() {
                true => runs * self.least(kernel, &text, sizes, machine).ok()? / CERTAINLY,
                false => 0.0,
            };
            bounded.push((least, kernel, runs, text));
        }
        bounded.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut left: f64 = bounded.iter().map(|(least, ..)| least).sum();
        let mut ms = known_ms;
        for (least, kernel, runs, text) in bounded {
            if ms + left >= limit {
                return None;
            }
            left -= least;
            ms += runs * self.of(kernel, text, sizes, machine).ok()?.time.ms();
        }
        Some(ms).filter(|ms| *ms < limit)
    }
}

fn value_in(sizes: &Sizes) -> impl Fn(&Var) -> Option<i64> {
    |var| sizes.get(var.name()).and_then(|n| i64::try_from(*n).ok())
}

/// The text of a kernel that, with its buffers, is called as any other.
fn nameless(kernel: &Kernel) -> String {
    let mut kernel = Kernel { name: "kernel".to_string(), ..kernel.clone() };
    let args = kernel.args.iter_mut().filter_map(|arg| match arg {
        Arg::Buffer(buffer, _) => Some(buffer),
        Arg::Scalar(_) | Arg::Size(_) => None,
    });
    let buffers = args.chain(&mut kernel.locals).chain(&mut kernel.privates);
    for (number, buffer) in buffers.enumerate() {
        buffer.name = format!("buffer{number}");
    }
    lift_kernel::text(&kernel)
}

fn whole(
    kernels: Vec<KernelPrediction>,
    arrays: &Arrays,
    machine: &Description,
) -> Result<Prediction, String> {
    let launches: f64 = kernels.iter().map(|k| k.runs).sum();
    let is_shared = kernels.iter().any(|k| !k.counts.is_threads && k.counts.forks > 0.0);
    let first_run_ms = if is_shared { arrays.first_run_ms(machine)? } else { 0.0 };
    let prediction = Prediction {
        allocation_ms: arrays.allocation_ms(machine)? + first_run_ms,
        transfer_ms: arrays.transfer_ms(machine)?,
        launch_ms: launches * machine.get("launch.host")?,
        kernels,
        machine: machine.device.clone(),
    };
    // Sizes cannot do this: quantities that no machine has can.
    match prediction.total_ms().is_finite() {
        true => Ok(prediction),
        false => Err(format!(
            "by the machine's description of {} a program takes no finite time; make it anew by `lift calibrate`",
            machine.device
        )),
    }
}

/// How often each kernel is launched. A loop's counter counts as being in the middle.
struct Runs {
    sizes: Sizes,
    times: Vec<f64>,
}

impl Runs {
    fn steps(&mut self, steps: &[Step], times: f64) {
        for step in steps {
            match step {
                Step::Launch(kernel) => {
                    if let Some(runs) = self.times.get_mut(*kernel) {
                        *runs += times;
                    }
                }
                Step::Stop(_) => {}
                Step::Loop { count, counter, body, taken, .. } => {
                    let count = number(count, &self.sizes);
                    self.sizes.insert(counter.name().to_string(), (count / 2.0) as i128);
                    if let Some(taken) = taken {
                        self.sizes.insert(taken.name().to_string(), count as i128);
                    }
                    self.steps(body, times * count);
                }
            }
        }
    }
}

/// A number with four digits, so that the last bits of a sum are nobody's business.
pub fn four_digits(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

impl Prediction {
    pub fn to_json(&self) -> Value {
        let kernels: Vec<Value> = self.kernels.iter().map(KernelPrediction::to_json).collect();
        json!({
            "total_ms": four_digits(self.total_ms()),
            "allocation_ms": four_digits(self.allocation_ms),
            "transfer_ms": four_digits(self.transfer_ms),
            "launch_ms": four_digits(self.launch_ms),
            "kernel_ms": four_digits(self.kernel_ms()),
            "kernels": kernels,
            "machine": self.machine,
        })
    }
}

impl KernelPrediction {
    fn to_json(&self) -> Value {
        let (time, counts) = (&self.time, &self.counts);
        let components: BTreeMap<&str, f64> =
            time.components.iter().map(|(name, ms)| (*name, four_digits(*ms))).collect();
        let mut counted: BTreeMap<String, f64> = BTreeMap::from(
            [
                ("groups", counts.groups),
                ("group_items", counts.group_items),
                ("asked_bytes", counts.read.asked + counts.written.asked),
                ("group_bytes", counts.read.by_group + counts.written.by_group),
                ("read_bytes", counts.read.distinct),
                ("written_bytes", counts.written.distinct),
                ("requests", counts.requests),
                ("lines", counts.lines),
                ("rounds", counts.rounds),
                ("registers", counts.registers),
                ("stored_parts", counts.stored_parts),
                ("changed", counts.changed),
                ("local_rounds", counts.local_rounds),
                ("barriers", counts.barriers),
                ("iterations", counts.iterations),
            ]
            .map(|(name, n)| (name.to_string(), four_digits(n))),
        );
        for (mode, operations) in [("", &counts.operations), (".scalar", &counts.scalar_operations)]
        {
            for (name, n) in operations {
                counted.insert(format!("{name}{mode}"), four_digits(*n));
            }
        }
        json!({
            "name": self.name,
            "runs": self.runs,
            "ms": four_digits(time.ms()),
            "launch_ms": four_digits(time.launch_ms),
            "bound_ms": four_digits(time.bound_ms),
            "tail_ms": four_digits(time.tail_ms),
            "bound_by": time.bound_by,
            "components": components,
            "counts": counted,
            "assumed": time.assumed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shipped::like;

    /// What is predicted does not depend on the limit, and what is far above it is not followed to the end.
    #[test]
    fn a_limit_leaves_out_work_and_changes_no_answer() {
        let machine = like(Language::Cuda, 100_000).expect("one is shipped");
        let texts = [
            "def f[N](x: [[f32; N]; N], y: [[f32; N]; N]) -> [[f32; N]; N] = \
             x |> map(\\r -> transpose(y) |> map(\\c -> zip(r, c) |> map(\\(a, b) -> a * b) |> reduce(0.0, (+))));",
            "def f[N](x: [[f32; N]; N]) -> [[f32; N]; N] = \
             x |> map(\\r -> let m = r |> reduce(-inf, max); r |> map(\\v -> exp(v - m)));",
        ];
        for text in texts {
            let checked = lift_syntax::check_text("f.lift", text);
            let sizes: Sizes = [("N".to_string(), 1024)].into();
            let options = Options { sizes: sizes.clone(), ..Options::default() };
            let plan = plan(&checked.program.defs[0], &options, Language::Cuda, &machine);
            let plan = plan.expect("it can be lowered");
            let below = |limit: f64| {
                let mut known = Known::default();
                let (ms, _) = known.below(limit, &plan, &sizes, &machine);
                (ms, known.followed)
            };
            let (whole, followed) = below(f64::INFINITY);
            let whole = whole.expect("it is predicted");
            assert_eq!(below(whole * 1.01).0, Some(whole));
            assert_eq!(below(whole * 0.99).0, None);
            let (far, little) = below(whole * 0.01);
            assert_eq!(far, None);
            assert!(4 * little < followed, "{little} of {followed}");
        }
    }
}
