//! The time of a whole program, before it runs.

use std::collections::BTreeMap;

use lift_execute::{Error, lower_for};
use lift_ir::{Def, Nat, Var};
use lift_kernel::{Arg, Kernel, Usage};
use lift_lower::{Options, Plan, Role, Step};
use lift_runtime::Language;
use serde_json::{Value, json};

use crate::counts::{Counts, count};
use crate::description::Description;
use crate::time::{Time, time};

pub type Sizes = BTreeMap<String, i128>;

/// How long a program takes on a machine.
#[derive(Clone, PartialEq, Debug)]
pub struct Prediction {
    /// Allocation, transfers, launches and kernels.
    pub total_ms: f64,
    pub transfer_ms: f64,
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

    /// One program after another.
    pub fn and(mut self, next: Prediction) -> Prediction {
        self.total_ms += next.total_ms;
        self.transfer_ms += next.transfer_ms;
        self.kernels.extend(next.kernels);
        self
    }
}

/// The plan of a definition, as it would run.
pub fn plan(def: &Def, options: &Options, language: Language) -> Result<Plan, Error> {
    lower_for(def, options, language, &mut |_, _| {})
}

/// Predicts a plan where its sizes have these values.
pub fn predict(plan: &Plan, sizes: &Sizes, machine: &Description) -> Result<Prediction, String> {
    let mut runs = Runs { sizes: sizes.clone(), times: vec![0.0; plan.kernels.len()] };
    runs.steps(&plan.steps, 1.0);
    let Runs { sizes, times } = runs;
    let mut kernels = Vec::new();
    for (kernel, runs) in plan.kernels.iter().zip(times) {
        if runs > 0.0 {
            kernels.push(one(kernel, runs, &sizes, machine)?);
        }
    }
    let mut bytes = Bytes::default();
    for planned in &plan.buffers {
        let each = number(&planned.buffer.total(), &sizes) * planned.buffer.scalar.bytes() as f64;
        bytes.buffers += 1.0;
        match planned.role {
            Role::Input { .. } => bytes.to.push(each),
            Role::Output { .. } => bytes.from.push(each),
            Role::Temporary | Role::Status => {}
        }
    }
    whole(kernels, &bytes, machine)
}

/// Predicts one kernel, launched once.
pub fn predict_kernel(
    kernel: &Kernel,
    sizes: &Sizes,
    machine: &Description,
) -> Result<Prediction, String> {
    let mut bytes = Bytes::default();
    for arg in &kernel.args {
        if let Arg::Buffer(buffer, usage) = arg {
            let each = number(&buffer.total(), sizes) * buffer.scalar.bytes() as f64;
            bytes.buffers += 1.0;
            if *usage != Usage::Write {
                bytes.to.push(each);
            }
            if *usage != Usage::Read {
                bytes.from.push(each);
            }
        }
    }
    whole(vec![one(kernel, 1.0, sizes, machine)?], &bytes, machine)
}

fn one(
    kernel: &Kernel,
    runs: f64,
    sizes: &Sizes,
    machine: &Description,
) -> Result<KernelPrediction, String> {
    let given = |var: &Var| sizes.get(var.name()).and_then(|n| i64::try_from(*n).ok());
    let counts = count(kernel, &given);
    let time = time(&counts, machine)?;
    Ok(KernelPrediction { name: kernel.name.clone(), runs, time, counts })
}

/// What goes to the device and back.
#[derive(Default)]
struct Bytes {
    buffers: f64,
    to: Vec<f64>,
    from: Vec<f64>,
}

fn whole(
    kernels: Vec<KernelPrediction>,
    bytes: &Bytes,
    machine: &Description,
) -> Result<Prediction, String> {
    let mut transfer_ms = 0.0;
    for (direction, parts) in [("to", &bytes.to), ("from", &bytes.from)] {
        let latency = machine.get(&format!("transfer.{direction}.latency"))?;
        let rate = machine.get(&format!("transfer.{direction}.rate"))?;
        transfer_ms += parts.iter().map(|b| latency + b / (rate * 1e6)).sum::<f64>();
    }
    let allocation = bytes.buffers * machine.get("allocation")?;
    let each_launch = machine.get("launch.host")?;
    let launched: f64 = kernels.iter().map(|k| k.runs * (each_launch + k.time.ms())).sum();
    let total_ms = allocation + transfer_ms + launched;
    Ok(Prediction { total_ms, transfer_ms, kernels, machine: machine.device.clone() })
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

/// A size that is not given counts as 1024.
fn number(nat: &Nat, sizes: &Sizes) -> f64 {
    let value = |var: &Var| Some(sizes.get(var.name()).copied().unwrap_or(1024));
    nat.eval(&value).unwrap_or(1).max(0) as f64
}

/// A number with four digits, so that the last bits of a sum are nobody's business.
pub fn four_digits(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

impl Prediction {
    pub fn to_json(&self) -> Value {
        let kernels: Vec<Value> = self.kernels.iter().map(KernelPrediction::to_json).collect();
        json!({
            "total_ms": four_digits(self.total_ms),
            "transfer_ms": four_digits(self.transfer_ms),
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
                ("registers", counts.registers),
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
