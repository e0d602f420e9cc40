//! What the host spends beside kernels: on memory, on transfers.

use lift_ir::{Nat, Var};
use lift_kernel::{Arg, Kernel, Usage};
use lift_lower::{Plan, Role};

use crate::description::Description;
use crate::predict::Sizes;
use crate::time::lost;

/// The bytes of each array that the host has to do with.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Arrays {
    /// On the device.
    allocated: Vec<f64>,
    to: Vec<f64>,
    from: Vec<f64>,
    /// Kernels are the first to touch them.
    made: Vec<f64>,
}

impl Arrays {
    pub fn of_plan(plan: &Plan, sizes: &Sizes) -> Arrays {
        let mut arrays = Arrays::default();
        for planned in &plan.buffers {
            let bytes =
                number(&planned.buffer.total(), sizes) * planned.buffer.scalar.bytes() as f64;
            match planned.role {
                Role::Input { .. } => arrays.to.push(bytes),
                Role::Output { .. } => arrays.from.push(bytes),
                Role::Temporary => continue,
                Role::Status => {}
            }
            arrays.allocated.push(bytes);
        }
        // Temporaries share memory.
        let temporary: Vec<f64> = plan.memory().bytes.iter().map(|n| number(n, sizes)).collect();
        arrays.allocated.extend(&temporary);
        arrays.made = arrays.from.iter().copied().chain(temporary).collect();
        arrays
    }

    pub fn of_kernel(kernel: &Kernel, sizes: &Sizes) -> Arrays {
        let mut arrays = Arrays::default();
        for arg in &kernel.args {
            let Arg::Buffer(buffer, usage) = arg else { continue };
            let bytes = number(&buffer.total(), sizes) * buffer.scalar.bytes() as f64;
            arrays.allocated.push(bytes);
            if *usage != Usage::Write {
                arrays.to.push(bytes);
            }
            if *usage != Usage::Read {
                arrays.from.push(bytes);
            }
        }
        arrays.made.clone_from(&arrays.from);
        arrays
    }

    /// Of memory on the device, and on the host for results. Descriptions of before do not say what the first array takes beyond
    /// others.
    pub fn allocation_ms(&self, machine: &Description) -> Result<f64, String> {
        let is_any = !self.allocated.is_empty();
        let first = machine.find("allocation.first").filter(|_| is_any).unwrap_or(0.0);
        Ok(first
            + sum(&self.allocated, "allocation", machine)?
            + sum(&self.from, "allocation.host", machine)?)
    }

    /// What the first run of kernels takes more than others, where threads share them: threads are woken, and the system gives
    /// memory to a process when it is touched first. Descriptions of before do not say.
    pub fn first_run_ms(&self, machine: &Description) -> Result<f64, String> {
        let Some(woken) = machine.find("first_run.latency") else { return Ok(0.0) };
        let each = |bytes: &f64| Ok(ms(machine, "first_run", *bytes)? - woken);
        Ok(woken + self.made.iter().map(each).sum::<Result<f64, String>>()?)
    }

    pub fn transfer_ms(&self, machine: &Description) -> Result<f64, String> {
        Ok(sum(&self.to, "transfer.to", machine)? + sum(&self.from, "transfer.from", machine)?)
    }
}

fn sum(arrays: &[f64], kind: &str, machine: &Description) -> Result<f64, String> {
    arrays.iter().map(|bytes| ms(machine, kind, *bytes)).sum()
}

/// What the host does with one array of so many bytes: `KIND.latency`, and every byte at `KIND.rate`. Where memory is new to the
/// process beyond a size, or a buffer on the way is too small, bytes take longer: those of arrays of `KIND.full` bytes and
/// more go at `KIND.far`, and there is a line between that and `KIND.capacity`.
fn ms(machine: &Description, kind: &str, bytes: f64) -> Result<f64, String> {
    let of = |name: &str| machine.find(&format!("{kind}.{name}"));
    if kind.starts_with("allocation") && of("latency").is_none() {
        // Descriptions of before have one number for each array, whatever its size.
        return machine.get("allocation").map(|ms| if kind == "allocation" { ms } else { 0.0 });
    }
    let (latency, rate) =
        (machine.get(&format!("{kind}.latency"))?, machine.get(&format!("{kind}.rate"))?);
    let far = match (of("far"), of("capacity"), of("full")) {
        (Some(far), Some(capacity), Some(full)) => {
            1.0 / rate + lost(bytes, capacity, full) * (1.0 / far - 1.0 / rate)
        }
        _ => 1.0 / rate,
    };
    Ok(latency + bytes * far * 1e-6)
}

/// A size that is not given counts as 1024.
pub fn number(nat: &Nat, sizes: &Sizes) -> f64 {
    let value = |var: &Var| Some(sizes.get(var.name()).copied().unwrap_or(1024));
    nat.eval(&value).unwrap_or(1).max(0) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::{FORMAT, Quantity};

    fn machine(quantities: &[(&str, f64)]) -> Description {
        let quantity = |(name, value): &(&str, f64)| Quantity {
            name: name.to_string(),
            value: *value,
            unit: String::new(),
            standard_error: 0.0,
            probe: String::new(),
            samples: Vec::new(),
        };
        Description {
            format: FORMAT,
            device: "made up".to_string(),
            way: "cuda".to_string(),
            flags: String::new(),
            date: String::new(),
            quantities: quantities.iter().map(quantity).collect(),
        }
    }

    #[test]
    fn bytes_take_longer_beyond_a_size() {
        let machine = machine(&[
            ("transfer.to.latency", 0.5),
            ("transfer.to.rate", 10.0),
            ("transfer.to.capacity", 2e7),
            ("transfer.to.full", 4e7),
            ("transfer.to.far", 2.0),
        ]);
        let of = |bytes: f64| ms(&machine, "transfer.to", bytes).unwrap_or(0.0);
        assert_eq!(of(0.0), 0.5);
        assert!((of(1e7) - 1.5).abs() < 1e-9, "{}", of(1e7));
        assert!((of(8e7) - 40.5).abs() < 1e-9, "{}", of(8e7));
        // Half of the way from 0.1 to 0.5 of a nanosecond a byte.
        assert!((of(3e7) - 9.5).abs() < 1e-9, "{}", of(3e7));
    }

    #[test]
    fn descriptions_of_before_have_one_rate() {
        let machine = machine(&[
            ("allocation", 0.05),
            ("transfer.to.latency", 0.5),
            ("transfer.to.rate", 10.0),
        ]);
        assert_eq!(ms(&machine, "allocation", 1e9), Ok(0.05));
        assert_eq!(ms(&machine, "allocation.host", 1e9), Ok(0.0));
        assert_eq!(ms(&machine, "transfer.to", 1e7), Ok(1.5));
        let said = ms(&machine, "transfer.from", 1.0).expect_err("it is missing");
        assert!(said.contains("`transfer.from.latency`"), "{said}");
    }
}
