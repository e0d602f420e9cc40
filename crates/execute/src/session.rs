//! A compiled program with its arguments on a device: run as often as one likes, then read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lift_interp::{RunError, Sizes, Value, concrete_type};
use lift_ir::{Nat, Type};
use lift_kernel::BufferId;
use lift_lower::{PlanBuffer, Role, Step};
use lift_runtime::{Arg, BufferHandle, Device};

use crate::calls::{Passed, size_arg};
use crate::costs::{Costs, timed};
use crate::memory::number;
use crate::{Compiled, Error, KernelTime, Placed, Prepared, bytes};

/// The arguments stay on the device between runs, and every run computes the same again. What is
/// on the device is freed with the session.
pub struct Session<'a> {
    compiled: &'a Compiled,
    device: &'a mut dyn Device,
    /// What the run has reached of loops is among them.
    sizes: Sizes,
    prepared: Arc<Prepared>,
    /// Those of the program's parameters that are scalars.
    scalars: Vec<Option<Arg>>,
    /// All that is on the device.
    owned: Vec<BufferHandle>,
    /// Where each buffer of the plan is before the first step.
    handles: BTreeMap<BufferId, BufferHandle>,
    costs: Costs,
}

impl<'a> Session<'a> {
    /// Requires: prepared for the arguments' sizes.
    pub(crate) fn new(
        compiled: &'a Compiled,
        device: &'a mut dyn Device,
        args: &[Value],
        prepared: Prepared,
    ) -> Result<Session<'a>, Error> {
        let mut session = Session::empty(compiled, device, Arc::new(prepared));
        session.load(args)?;
        Ok(session)
    }

    /// On memory of another library, arguments and results.
    ///
    /// # Safety
    ///
    /// As [`Compiled::run_placed`].
    #[allow(unsafe_code)]
    pub(crate) unsafe fn placed(
        compiled: &'a Compiled,
        device: &'a mut dyn Device,
        prepared: Arc<Prepared>,
        args: &[Placed],
        results: &[u64],
    ) -> Result<Session<'a>, Error> {
        let mut session = Session::empty(compiled, device, prepared);
        // SAFETY: The caller promises it.
        unsafe { session.adopt(args, results)? };
        Ok(session)
    }

    fn empty(
        compiled: &'a Compiled,
        device: &'a mut dyn Device,
        prepared: Arc<Prepared>,
    ) -> Session<'a> {
        Session {
            compiled,
            device,
            sizes: prepared.sizes.clone(),
            prepared,
            scalars: Vec::new(),
            owned: Vec::new(),
            handles: BTreeMap::new(),
            costs: Costs::default(),
        }
    }

    /// Runs all kernels as planned; one time a kernel, summed over its launches.
    pub fn run(&mut self) -> Result<Vec<KernelTime>, Error> {
        let compiled = self.compiled;
        if let Some(status) = self.status() {
            self.device.fill(status, 0)?;
        }
        let mut handles = self.handles.clone();
        let mut times = vec![0.0; compiled.plan.kernels.len()];
        let mut ms = 0.0;
        timed(&mut ms, || self.steps(&compiled.plan.steps, &mut handles, &mut times))?;
        self.costs.run_ms = ms;
        self.check_status()?;
        let kernels = compiled.plan.kernels.iter().zip(times);
        Ok(kernels.map(|(kernel, ms)| KernelTime { name: kernel.name.clone(), ms }).collect())
    }

    /// What was spent so far beside kernels.
    pub fn costs(&self) -> Costs {
        self.costs
    }

    /// The result of the last run.
    pub fn result(&mut self) -> Result<Value, Error> {
        let compiled = self.compiled;
        let mut parts = Vec::new();
        for planned in &compiled.plan.buffers {
            let Role::Output { .. } = planned.role else { continue };
            let count = number(&planned.buffer.total(), &self.sizes)? as usize;
            let handle = self.handle(planned.buffer.id)?;
            let Costs { allocate_ms, transfer_ms, .. } = &mut self.costs;
            let device = &mut *self.device;
            let mut read =
                |bytes: &mut [u8]| Ok(timed(transfer_ms, || device.read(handle, bytes))?);
            let scalar = planned.buffer.scalar;
            parts.push(bytes::to_buffer(scalar, count, allocate_ms, &mut read)?);
        }
        let ty = concrete_type(&compiled.def.ret, &self.sizes)?;
        Ok(Value::from_buffers(&ty, parts)?)
    }

    /// Allocates everything, and writes the arguments.
    fn load(&mut self, args: &[Value]) -> Result<(), Error> {
        let compiled = self.compiled;
        let mut leaves = Vec::new();
        for (arg, param) in args.iter().zip(&compiled.def.params) {
            let parts = arg.buffers()?;
            let is_scalar = matches!(param.ty(), Type::Scalar(_));
            let bytes = parts.first().filter(|_| is_scalar).map(bytes::of_buffer);
            self.scalars.push(bytes.map(|bytes| Arg::Bytes(bytes.to_vec())));
            leaves.push(parts);
        }
        self.place_all(|session, role, bytes| {
            let handle = session.allocate(bytes)?;
            match role {
                Role::Input { param, leaf } => {
                    let source = leaves.get(param).and_then(|l| l.get(leaf));
                    let source =
                        source.ok_or_else(|| Error::arguments("an argument lacks a part"))?;
                    let (device, ms) = (&mut *session.device, &mut session.costs.transfer_ms);
                    timed(ms, || device.write(handle, bytes::of_buffer(source)))?;
                }
                // Whatever is not written shows.
                Role::Output { .. } | Role::Temporary => session.device.fill(handle, 0xff)?,
                Role::Status => {}
            }
            Ok(handle)
        })
    }

    /// Takes the arguments and results where they are, and allocates the rest.
    ///
    /// # Safety
    ///
    /// As [`Compiled::run_placed`].
    #[allow(unsafe_code)]
    unsafe fn adopt(&mut self, args: &[Placed], results: &[u64]) -> Result<(), Error> {
        self.scalars = args.iter().map(Placed::scalar).collect();
        self.place_all(|session, role, bytes| {
            let address = match role {
                Role::Input { param, leaf } => args.get(param).and_then(|arg| arg.array(leaf)),
                Role::Output { leaf } => results.get(leaf).copied(),
                Role::Temporary | Role::Status => return session.allocate(bytes),
            };
            let address = address.ok_or_else(|| Error::arguments("an argument lacks a part"))?;
            // SAFETY: The caller promises that an array of the type is there, which has so many bytes.
            let handle = unsafe { session.device.adopt(address, bytes)? };
            session.owned.push(handle);
            Ok(handle)
        })
    }

    /// Has `place` give each buffer of the plan a place; temporaries that share one are asked for once.
    fn place_all(
        &mut self,
        mut place: impl FnMut(&mut Self, Role, u64) -> Result<BufferHandle, Error>,
    ) -> Result<(), Error> {
        let (compiled, prepared) = (self.compiled, Arc::clone(&self.prepared));
        let mut slots = Vec::new();
        for bytes in &prepared.slots {
            slots.push(place(self, Role::Temporary, *bytes)?);
        }
        for (planned, bytes) in compiled.plan.buffers.iter().zip(&prepared.buffers) {
            let id = planned.buffer.id;
            let handle = match planned.role {
                Role::Temporary => match compiled.memory.slot(id).and_then(|s| slots.get(s)) {
                    Some(slot) => *slot,
                    None => continue,
                },
                role => place(self, role, *bytes)?,
            };
            self.handles.insert(id, handle);
        }
        Ok(())
    }

    fn allocate(&mut self, bytes: u64) -> Result<BufferHandle, Error> {
        // A buffer of nothing is still passed to kernels.
        let (device, ms) = (&mut *self.device, &mut self.costs.allocate_ms);
        let handle = timed(ms, || device.allocate(bytes.max(1)))?;
        self.owned.push(handle);
        Ok(handle)
    }

    fn handle(&self, buffer: BufferId) -> Result<BufferHandle, Error> {
        self.handles
            .get(&buffer)
            .copied()
            .ok_or_else(|| Error::arguments("a buffer is not planned"))
    }

    /// Does steps in order; false where one of them stops the loop around.
    fn steps(
        &mut self,
        steps: &[Step],
        handles: &mut BTreeMap<BufferId, BufferHandle>,
        times: &mut [f64],
    ) -> Result<bool, Error> {
        for step in steps {
            match step {
                Step::Launch(kernel) => self.launch(*kernel, handles, times)?,
                Step::Stop(flag) => {
                    if self.holds(*flag, handles)? {
                        return Ok(false);
                    }
                }
                Step::Loop { count, counter, body, swap, taken } => {
                    let mut done = 0;
                    for step in 0..number(count, &self.sizes)? {
                        self.sizes.set(counter.to_string(), step.into());
                        if !self.steps(body, handles, times)? {
                            break;
                        }
                        done = step + 1;
                        for (a, b) in swap {
                            let (Some(x), Some(y)) = (handles.get(a).copied(), handles.get(b))
                            else {
                                return Err(Error::arguments(
                                    "a loop swaps a buffer that is not there",
                                ));
                            };
                            handles.insert(*a, *y);
                            handles.insert(*b, x);
                        }
                    }
                    if let Some(taken) = taken {
                        self.sizes.set(taken.to_string(), done.into());
                    }
                }
            }
        }
        Ok(true)
    }

    /// Reads back whether a loop ends.
    fn holds(
        &mut self,
        flag: BufferId,
        handles: &BTreeMap<BufferId, BufferHandle>,
    ) -> Result<bool, Error> {
        let Some(handle) = handles.get(&flag).copied() else {
            return Err(Error::arguments("a loop asks a buffer that is not there"));
        };
        let mut answer = [0; 1];
        self.device.read(handle, &mut answer)?;
        Ok(answer != [0])
    }

    fn launch(
        &mut self,
        index: usize,
        handles: &BTreeMap<BufferId, BufferHandle>,
        times: &mut [f64],
    ) -> Result<(), Error> {
        let (Some(call), Some(handle)) =
            (self.prepared.calls.get(index), self.compiled.handles.get(index))
        else {
            return Err(Error::arguments("the plan launches a kernel that is not there"));
        };
        let Some(launch) = &call.launch else { return Ok(()) };
        let mut args = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            args.push(match arg {
                Passed::Value(value) => value.clone(),
                Passed::Scalar(param) => match self.scalars.get(*param) {
                    Some(Some(value)) => value.clone(),
                    _ => return Err(Error::arguments("a scalar is missing")),
                },
                Passed::Counter(var) => {
                    let value = number(&Nat::var(var), &self.sizes)?;
                    let kernel = self.compiled.plan.kernels.get(index);
                    let kernel = kernel.ok_or_else(|| Error::arguments("a kernel is missing"))?;
                    size_arg(kernel, self.device.info().language, var.name(), value)?
                }
                Passed::Buffer(id) => match handles.get(id) {
                    Some(handle) => Arg::Buffer(*handle),
                    None => {
                        return Err(Error::arguments(
                            "a kernel takes a buffer that is not planned",
                        ));
                    }
                },
            });
        }
        if has_twice(&args) {
            return Err(Error::Kernel("it is given one buffer for two arguments".to_string()));
        }
        let time = self.device.launch(*handle, launch, &args)?;
        if let Some(total) = times.get_mut(index) {
            *total += time.ms;
        }
        Ok(())
    }

    fn status(&self) -> Option<BufferHandle> {
        self.handles.get(&self.planned_status()?.buffer.id).copied()
    }

    fn planned_status(&self) -> Option<&PlanBuffer> {
        self.compiled.plan.buffers.iter().find(|b| b.role == Role::Status)
    }

    /// Fails where a check of a kernel did.
    fn check_status(&mut self) -> Result<(), Error> {
        let Some(handle) = self.status() else { return Ok(()) };
        let length = |status: &PlanBuffer| number(&status.buffer.length, &self.sizes);
        let bytes = self.planned_status().map(length).transpose()?.unwrap_or(0) as usize * 4;
        let mut status = vec![0; bytes];
        self.device.read(handle, &mut status)?;
        let word = |bytes: &[u8; 4]| i32::from_ne_bytes(*bytes);
        let words: Vec<i32> = status.as_chunks().0.iter().map(word).collect();
        let Some((failed, told)) = words.split_first() else { return Ok(()) };
        let failed = usize::try_from(*failed).unwrap_or(0);
        let checks = &self.compiled.plan.checks;
        let Some(check) = failed.checked_sub(1).and_then(|i| checks.get(i)) else { return Ok(()) };
        let length = |length: &Nat| match number(length, &self.sizes) {
            Ok(length) => length.to_string(),
            Err(_) => length.to_string(),
        };
        let message = check.fault.message(length, told.get(..check.told).unwrap_or(&[]));
        Err(Error::Arguments(RunError { message, span: check.span, notes: Vec::new() }))
    }
}

/// Whether a buffer is among the arguments twice. Kernels call their arguments `restrict`: what one of them writes, no other
/// one reads.
fn has_twice(args: &[Arg]) -> bool {
    let mut seen = BTreeSet::new();
    args.iter().any(|arg| matches!(arg, Arg::Buffer(handle) if !seen.insert(*handle)))
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        // A device that refuses even this is closed soon anyway.
        for handle in self.owned.drain(..) {
            let _ = self.device.free(handle);
        }
    }
}

#[cfg(test)]
mod tests;
