//! Operations: how often they are done in a second, how long one waits for another, what loops and barriers add.

use super::probes::{CHAINED, EXCHANGE, LOOP, STEPS, Step, chain, lines_of, operation, probe};
use super::{Bench, Timed};

/// How often a chain and a longer one are timed, before it counts that the longer one took less.
const TRIES: usize = 3;

impl Bench<'_> {
    /// Nanoseconds of one line for one number, over the whole device.
    fn line(
        &mut self,
        step: &Step,
        before: &str,
        n: i128,
    ) -> Result<(f64, Vec<(f64, Timed)>), String> {
        // What takes long by itself needs no long chain.
        let (few, lots) = if step.is_quick() { (32, 160) } else { (8, 24) };
        let mut tries = TRIES;
        let (a, b) = loop {
            let a = self.timed(&operation(step, before, few, n))?;
            let b = self.timed(&operation(step, before, lots, n))?;
            tries -= 1;
            if b.kernel.ms > a.kernel.ms {
                break (a, b);
            }
            if tries == 0 {
                self.disturbed = Some(step.name.to_string());
                break (a, b);
            }
        };
        let each = (b.kernel.ms - a.kernel.ms) * 1e6 / (n as f64 * (lots - few) as f64);
        Ok((each.max(1e-9), vec![(few as f64, a), (lots as f64, b)]))
    }

    /// The slots of an operation: how many multiply-adds would take as long.
    pub(super) fn operation(&mut self, step: &Step, mode: &str) -> Result<(), String> {
        let before = match (mode, step.ty) {
            ("", _) => "",
            // What no vector code is made of.
            (_, "f32") => "let v = ((v as i32) % ((b as i32) + 6)) as f32;",
            (_, "f64") => "let v = ((v as i32) % ((b as i32) + 6)) as f64;",
            _ => "let v = v % (b + 6);",
        };
        let (ns, samples) = self.line(step, before, self.many())?;
        if step.name == Step::FMA.name && mode.is_empty() {
            self.keep("pipe.rate", 1.0 / ns, "G/s", "operation.lift", &samples);
        }
        if step.name == "i32.add" && mode.is_empty() && !self.is_gpu() {
            // Slots are those of the other pipe, so both have as many.
            self.keep("integer.rate", self.value("pipe.rate"), "G/s", "operation.lift", &samples);
        }
        if step.name == "f32.div" && mode.is_empty() && !self.is_gpu() {
            self.keep("division.rate", self.value("pipe.rate"), "G/s", "operation.lift", &samples);
        }
        let rate = self.value("pipe.rate");
        let others: f64 = step.others.iter().map(|o| self.value(&format!("{o}{mode}"))).sum();
        let slots = ((ns * rate - others) / step.times).max(0.01);
        self.keep(&format!("{}{mode}", step.name), slots, "slots", "operation.lift", &samples);
        Ok(())
    }

    pub(super) fn arithmetic(&mut self) -> Result<(), String> {
        for step in STEPS.iter().filter(|s| self.info.fp64 || s.ty != "f64").collect::<Vec<_>>() {
            self.operation(step, "")?;
            if !self.is_gpu() {
                self.operation(step, ".scalar")?;
            }
        }
        Ok(())
    }

    pub(super) fn loops(&mut self) -> Result<(), String> {
        let n = self.many();
        let at = |k: i128| probe("loop.lift", LOOP, &[("N", n), ("K", k)]);
        let a = self.timed(&at(200))?;
        let b = self.timed(&at(600))?;
        let ns = (b.kernel.ms - a.kernel.ms) * 1e6 / (n as f64 * 400.0);
        let slots = (ns * self.value("pipe.rate") - 1.0).max(0.0);
        self.keep("iteration", slots, "slots", "loop.lift", &[(200.0, a), (600.0, b)]);
        Ok(())
    }

    /// How long an operation waits for the one before.
    pub(super) fn chains(&mut self) -> Result<(), String> {
        for step in STEPS.iter().filter(|s| CHAINED.contains(&s.name)) {
            if step.ty == "f64" && !self.info.fp64 {
                continue;
            }
            // Few enough numbers that each waits for itself: a thread of a processor would do several one after the other, or all
            // at once where it has vectors for them.
            let n = if self.is_gpu() { 32 } else { 1 };
            let at = |k: i128| probe("chain.lift", &chain(step), &[("N", n), ("K", k)]);
            let a = self.timed(&at(4000))?;
            let b = self.timed(&at(20_000))?;
            let ns = (b.kernel.ms - a.kernel.ms).max(0.0) * 1e6 / 16_000.0 / step.times;
            let samples = [(4000.0, a), (20_000.0, b)];
            self.keep(&format!("{}.latency", step.name), ns, "ns", "chain.lift", &samples);
        }
        if self.is_gpu() {
            // Code that runs once is fetched as it runs.
            let a = self.timed(&lines_of(&Step::FMA, "", 64, 32, 1))?;
            let b = self.timed(&lines_of(&Step::FMA, "", 576, 32, 1))?;
            let ns = (b.kernel.ms - a.kernel.ms).max(0.0) * 1e6 / 512.0;
            self.keep("code", ns, "ns", "operation.lift", &[(64.0, a), (576.0, b)]);
        }
        Ok(())
    }

    /// What an exchange between work-items takes: a store to local memory, a barrier, and the load after it.
    pub(super) fn barriers(&mut self) -> Result<(), String> {
        if !self.is_gpu() {
            return Ok(());
        }
        let at = |k: i128| probe("exchange.lift", EXCHANGE, &[("N", 256), ("K", k)]);
        let (a, b) = (self.timed(&at(200))?, self.timed(&at(1000))?);
        let ns = (b.kernel.ms - a.kernel.ms) * 1e6 / 800.0;
        self.keep("barrier", ns, "ns", "exchange.lift", &[(200.0, a), (1000.0, b)]);
        Ok(())
    }
}
