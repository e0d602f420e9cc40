//! One probe at one point: run until its time is known well enough.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use lift_execute::Compiled;
use lift_interp::inputs::{Fill, generate};
use lift_interp::{Buffer, Sizes, Value, concrete_type};
use lift_ir::{Def, Type};
use lift_lower::Options;
use lift_runtime::{CompileOptions, Device, median};
use std::sync::Arc;

/// A program to be timed.
#[derive(Clone, Debug)]
pub struct Probe {
    /// The file it comes from.
    pub file: &'static str,
    pub text: String,
    pub sizes: BTreeMap<String, i128>,
    /// Arrays are ways through all their elements.
    pub way: Option<Way>,
    pub runs: Runs,
}

/// How a probe is run several times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Runs {
    /// On data that stays on the device, so that caches are as the run before leaves them.
    Warm,
    /// Every run is the first one on data that was just brought, so that no cache holds it; the result is read each time.
    Cold,
}

/// Where each element of an array says to go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Far away, in another line of every cache.
    Far,
    /// So many elements further: where as many go side by side, they come through all of it row by row.
    Rows(i128),
}

/// A time in milliseconds, and its standard error.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Mean {
    pub ms: f64,
    pub error: f64,
}

impl Mean {
    fn of(times: &[f64]) -> Mean {
        Mean { ms: middle(times), error: error(times) }
    }

    fn over(self, parts: f64) -> Mean {
        Mean { ms: self.ms / parts, error: self.error / parts }
    }
}

/// What a run takes.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Timed {
    /// By the device's clock.
    pub kernel: Mean,
    /// Of a run by the host's clock, beyond the kernel.
    pub host: Mean,
    /// Of each input to the device and of the result back.
    pub to: Mean,
    pub from: Mean,
    /// Of memory for each of them on the device, and on the host for the result.
    pub allocate: Mean,
    pub allocate_host: Mean,
    pub compile: Mean,
    /// What the kernel takes more in the first run on new memory than in others, where both were timed.
    pub first_run: Mean,
}

impl Timed {
    /// A kernel that takes so many milliseconds, and nothing else.
    pub fn kernel(ms: f64) -> Timed {
        Timed { kernel: Mean { ms, error: 0.0 }, ..Timed::default() }
    }
}

/// Whoever times probes: a device, or in tests something that makes up times.
pub trait Timer {
    fn time(&mut self, probe: &Probe) -> Result<Timed, String>;
}

/// Times on a device.
pub struct OnDevice<'d> {
    pub device: &'d mut dyn Device,
    pub options: CompileOptions,
    pub until: Instant,
}

/// A time is known when the standard error of its mean is below this part of it.
const WELL_KNOWN: f64 = 0.02;
const LEAST_RUNS: usize = 7;
const MOST_RUNS: usize = 60;
/// Of short runs so many are timed: a launch that follows others costs less than the first ones, and those that follow are
/// what programs that are timed consist of.
const SHORT_RUNS: usize = 24;
const SHORT: Duration = Duration::from_millis(20);
const COLD_RUNS: i128 = 5;
/// No point takes longer, once it has the least runs.
const PATIENCE: Duration = Duration::from_millis(400);

impl Timer for OnDevice<'_> {
    fn time(&mut self, probe: &Probe) -> Result<Timed, String> {
        if Instant::now() > self.until {
            return Err(
                "the time for measuring is over; end other work on the machine, or give it more by `--time`"
                    .to_string()
            );
        }
        let checked = lift_syntax::check_text(probe.file, &probe.text);
        let def = checked.program.defs.last().cloned();
        let def = def.ok_or_else(|| format!("{}: {}", probe.file, checked.render(false)))?;
        let options = Options { sizes: probe.sizes.clone(), ..Options::default() };
        let said = |e: lift_execute::Error| format!("{}: {e}", probe.file);
        let compiled =
            Compiled::with(&def, &options, &self.options, &mut *self.device).map_err(said)?;
        let mut sizes = Sizes::new();
        for (name, size) in &probe.sizes {
            sizes.set(name.clone(), *size);
        }
        match probe.runs {
            Runs::Warm => self.warm(probe, &def, &compiled, &sizes),
            Runs::Cold => self.cold(probe, &def, &compiled, &sizes),
        }
    }
}

impl OnDevice<'_> {
    fn warm(
        &mut self,
        probe: &Probe,
        def: &Def,
        compiled: &Compiled,
        sizes: &Sizes,
    ) -> Result<Timed, String> {
        let said = |e: lift_execute::Error| format!("{}: {e}", probe.file);
        let args = arguments(def, sizes, probe.way, 0)?;
        let mut session = compiled.session(&mut *self.device, &args, sizes).map_err(said)?;
        let (mut kernel, mut host) = (Vec::new(), Vec::new());
        session.run().map_err(said)?;
        session.run().map_err(said)?;
        let start = Instant::now();
        loop {
            let ms: f64 = session.run().map_err(said)?.iter().map(|k| k.ms).sum();
            kernel.push(ms);
            host.push((session.costs().run_ms - ms).max(0.0));
            let spent = start.elapsed();
            let least = if spent < SHORT { SHORT_RUNS } else { LEAST_RUNS };
            let enough = kernel.len() >= least
                && (error(&kernel) < WELL_KNOWN * middle(&kernel) || spent > PATIENCE);
            if enough || kernel.len() >= MOST_RUNS {
                break;
            }
        }
        Ok(Timed { kernel: Mean::of(&kernel), host: Mean::of(&host), ..Timed::default() })
    }

    fn cold(
        &mut self,
        probe: &Probe,
        def: &Def,
        compiled: &Compiled,
        sizes: &Sizes,
    ) -> Result<Timed, String> {
        let said = |e: lift_execute::Error| format!("{}: {e}", probe.file);
        let (mut kernel, mut to, mut from) = (Vec::new(), Vec::new(), Vec::new());
        let (mut allocate, mut allocate_host) = (Vec::new(), Vec::new());
        let mut args = arguments(def, sizes, probe.way, 0)?;
        for run in 0..COLD_RUNS {
            if run > 0 && probe.way.is_some() {
                args = arguments(def, sizes, probe.way, run)?;
            }
            let mut session = compiled.session(&mut *self.device, &args, sizes).map_err(said)?;
            let loaded = session.costs();
            kernel.push(session.run().map_err(said)?.iter().map(|k| k.ms).sum());
            session.result().map_err(said)?;
            let done = session.costs();
            to.push(loaded.transfer_ms);
            from.push(done.transfer_ms - loaded.transfer_ms);
            allocate.push(loaded.allocate_ms);
            allocate_host.push(done.allocate_ms - loaded.allocate_ms);
        }
        let inputs = args.len().max(1) as f64;
        Ok(Timed {
            kernel: Mean::of(&kernel),
            host: Mean::default(),
            to: Mean::of(&to).over(inputs),
            from: Mean::of(&from),
            allocate: Mean::of(&allocate).over(inputs + 1.0),
            allocate_host: Mean::of(&allocate_host),
            compile: Mean { ms: compiled.compile_ms, error: 0.0 },
            first_run: Mean::default(),
        })
    }
}

/// What a probe is given: ones, or a way through the first array, another one for each number.
fn arguments(
    def: &Def,
    sizes: &Sizes,
    way: Option<Way>,
    number: i128,
) -> Result<Vec<Value>, String> {
    let mut args = Vec::new();
    for param in &def.params {
        let ty = concrete_type(param.ty(), sizes).map_err(|e| e.message)?;
        let value = match (&ty, way) {
            (Type::Array(_, n), Some(way)) => way_through(way, n.as_int().unwrap_or(1), number),
            _ => generate(Fill::Ones, &ty),
        };
        args.push(value.map_err(|e| e.message)?);
    }
    Ok(args)
}

fn middle(times: &[f64]) -> f64 {
    median(times).unwrap_or(0.0)
}

/// The standard error of the mean of the middle half: what disturbs a run now and then is no error of it.
pub fn error(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let quarter = sorted.len() / 4;
    let inner = sorted.get(quarter..sorted.len() - quarter).unwrap_or(&sorted);
    let n = inner.len() as f64;
    let mean = inner.iter().sum::<f64>() / n;
    let variance = inner.iter().map(|t| (t - mean) * (t - mean)).sum::<f64>() / (n - 1.0).max(1.0);
    (variance / n).sqrt()
}

/// A way through all of an array, by steps so long that no two elements of a cache line follow each other, or by rows: element
/// k says where to go after k. Each number is another way.
fn way_through(way: Way, length: i128, number: i128) -> Result<Value, lift_interp::RunError> {
    let length = length.max(1);
    let step = match way {
        Way::Rows(items) => items,
        Way::Far => {
            // A step that shares no factor with the length comes to every element.
            let mut step = (length * 618 / 1000 + number * (length / 37 + 1)) % length;
            while gcd(step, length) != 1 {
                step += 1;
            }
            step
        }
    };
    let next: Vec<i32> = (0..length).map(|k| ((k + step) % length) as i32).collect();
    let ty = Type::array(Type::I32, lift_ir::Nat::int(length));
    Value::from_buffers(&ty, vec![Buffer::I32(Arc::new(next))])
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_goes_through_every_element_once() {
        for number in 0..5 {
            let value = way_through(Way::Far, 100, number).expect("an array");
            let buffers = value.buffers().expect("buffers");
            let Buffer::I32(next) = &buffers[0] else { panic!("integers") };
            let mut at = 0;
            let mut seen = std::collections::BTreeSet::new();
            for _ in 0..100 {
                assert!(seen.insert(at), "element {at} twice");
                at = next[at as usize];
            }
            assert_eq!(at, 0);
        }
    }

    #[test]
    fn rows_are_walked_side_by_side() {
        let value = way_through(Way::Rows(4), 12, 0).expect("an array");
        let buffers = value.buffers().expect("buffers");
        let Buffer::I32(next) = &buffers[0] else { panic!("integers") };
        assert_eq!(next[..], [4, 5, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3]);
    }

    #[test]
    fn a_run_that_was_disturbed_is_no_error() {
        assert!(error(&[1.0, 1.0, 1.0, 1.0, 9.0, 1.0, 1.0, 1.0]) < 1e-9);
        assert!(error(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]) > 0.1);
    }
}
