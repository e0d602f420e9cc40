//! Running a compiled program: buffers filled, kernels launched as planned, the result read back.

use std::collections::BTreeMap;

use lift_interp::{RunError, Sizes, Value, concrete_type, solve_sizes};
use lift_ir::{Nat, Type};
use lift_kernel::{Arg as KernelArg, BufferId};
use lift_lower::{Role, Step};
use lift_runtime::{Arg, ArgType, BufferHandle, Device, Language};

use crate::compile::size_type;
use crate::{Compiled, Error, bytes};

/// A result and what it took.
#[derive(Debug)]
pub struct Run {
    pub result: Value,
    /// One entry a kernel of the plan, summed over its launches.
    pub kernels: Vec<KernelTime>,
}

#[derive(Clone, Debug)]
pub struct KernelTime {
    pub name: String,
    pub ms: f64,
}

impl Compiled {
    /// Runs the program once. Sizes are read off the arguments; `given` chooses the others.
    pub fn run(
        &mut self,
        device: &mut dyn Device,
        args: &[Value],
        given: &Sizes,
    ) -> Result<Run, Error> {
        let types: Vec<Type> = args.iter().map(Value::ty).collect();
        let mut given = given.clone();
        for (name, value) in &self.options.sizes {
            given.set(name.clone(), *value);
        }
        let sizes = solve_sizes(&self.def, &types, &given)?;
        let mut session = Session {
            compiled: self,
            device,
            sizes,
            buffers: BTreeMap::new(),
            times: vec![0.0; self.plan.kernels.len()],
        };
        let outcome = session.run(args);
        session.release();
        outcome
    }
}

struct Session<'a> {
    compiled: &'a Compiled,
    device: &'a mut dyn Device,
    sizes: Sizes,
    buffers: BTreeMap<BufferId, BufferHandle>,
    times: Vec<f64>,
}

impl Session<'_> {
    fn run(&mut self, args: &[Value]) -> Result<Run, Error> {
        self.allocate(args)?;
        let compiled = self.compiled;
        self.steps(&compiled.plan.steps, args)?;
        self.check_status()?;
        let result = self.result()?;
        let kernels = compiled
            .plan
            .kernels
            .iter()
            .zip(&self.times)
            .map(|(k, ms)| KernelTime { name: k.name.clone(), ms: *ms })
            .collect();
        Ok(Run { result, kernels })
    }

    fn allocate(&mut self, args: &[Value]) -> Result<(), Error> {
        let mut leaves = Vec::new();
        for arg in args {
            leaves.push(arg.buffers()?);
        }
        for planned in &self.compiled.plan.buffers {
            let length = self.eval(&planned.buffer.length)?;
            let bytes = length * planned.buffer.scalar.bytes() as u64;
            // A buffer of nothing is still passed to kernels.
            let handle = self.device.allocate(bytes.max(1))?;
            self.buffers.insert(planned.buffer.id, handle);
            match planned.role {
                Role::Input { param, leaf } => {
                    let source = leaves.get(param).and_then(|l| l.get(leaf));
                    let source = source.ok_or_else(|| wrong("an argument lacks a part"))?;
                    self.device.write(handle, &bytes::of_buffer(source))?;
                }
                // Whatever is not written shows.
                Role::Output { .. } | Role::Temporary => self.device.fill(handle, 0xff)?,
                Role::Status => self.device.fill(handle, 0)?,
            }
        }
        Ok(())
    }

    fn steps(&mut self, steps: &[Step], args: &[Value]) -> Result<(), Error> {
        for step in steps {
            match step {
                Step::Launch(kernel) => self.launch(*kernel, args)?,
                Step::Loop { count, body, swap } => {
                    for _ in 0..self.eval(count)? {
                        self.steps(body, args)?;
                        for (a, b) in swap {
                            let (Some(x), Some(y)) =
                                (self.buffers.get(a).copied(), self.buffers.get(b).copied())
                            else {
                                return Err(wrong("a loop swaps a buffer that is not there"));
                            };
                            self.buffers.insert(*a, y);
                            self.buffers.insert(*b, x);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn launch(&mut self, index: usize, args: &[Value]) -> Result<(), Error> {
        let compiled = self.compiled;
        let (Some(kernel), Some(handle)) =
            (compiled.plan.kernels.get(index), compiled.handles.get(index))
        else {
            return Err(wrong("the plan launches a kernel that is not there"));
        };
        let language = self.device.info().language;
        let mut passed = Vec::new();
        for arg in &kernel.args {
            passed.push(match arg {
                KernelArg::Buffer(buffer, _) => match self.buffers.get(&buffer.id) {
                    Some(handle) => Arg::Buffer(*handle),
                    None => return Err(wrong("a kernel takes a buffer that is not planned")),
                },
                KernelArg::Scalar(var) => {
                    let param = compiled.plan.scalars.iter().find(|(_, v)| v == var);
                    let value = param.and_then(|(index, _)| args.get(*index));
                    let buffers = value.ok_or_else(|| wrong("a scalar is missing"))?.buffers()?;
                    let buffer = buffers.first().ok_or_else(|| wrong("a scalar is empty"))?;
                    Arg::Bytes(bytes::of_buffer(buffer))
                }
                KernelArg::Size(var) => {
                    let value = self.eval(&Nat::var(var))?;
                    match size_type(kernel, language) {
                        ArgType::I64 => Arg::from(i64::try_from(value).unwrap_or(i64::MAX)),
                        _ => Arg::from(i32::try_from(value).map_err(|_| {
                            wrong(&format!("the size {var} = {value} does not fit in 32 bits"))
                        })?),
                    }
                }
            });
        }
        // The text of a C kernel runs all of its groups itself.
        let (global, local) = match language {
            Language::C => ([1; 3], [1; 3]),
            Language::OpenCl | Language::Cuda => {
                let local = self.three(&kernel.launch.local)?;
                let global = self.three(&kernel.launch.global)?;
                // Whole groups are launched; kernels guard against work-items beyond the end.
                let whole = |d: usize| global[d].next_multiple_of(local[d].max(1));
                ([whole(0), whole(1), whole(2)], local)
            }
        };
        let time = self.device.launch(*handle, global, local, &passed)?;
        if let Some(total) = self.times.get_mut(index) {
            *total += time.ms;
        }
        Ok(())
    }

    fn three(&self, sizes: &[Nat]) -> Result<[u64; 3], Error> {
        let mut all = [1; 3];
        for (slot, size) in all.iter_mut().zip(sizes) {
            *slot = self.eval(size)?;
        }
        Ok(all)
    }

    fn eval(&self, size: &Nat) -> Result<u64, Error> {
        let value = size.eval(&|var| self.sizes.get(var.name()));
        let value = value.map_err(|e| wrong(&format!("the size `{size}` is undefined: {e}")))?;
        u64::try_from(value).map_err(|_| wrong(&format!("the size `{size}` is {value}")))
    }

    /// Fails where a kernel met an index out of range.
    fn check_status(&mut self) -> Result<(), Error> {
        let plan = &self.compiled.plan;
        let Some(planned) = plan.buffers.iter().find(|b| b.role == Role::Status) else {
            return Ok(());
        };
        let mut status = [0; 4];
        if let Some(handle) = self.buffers.get(&planned.buffer.id) {
            self.device.read(*handle, &mut status)?;
        }
        let failed = usize::try_from(i32::from_ne_bytes(status)).unwrap_or(0);
        let Some(check) = failed.checked_sub(1).and_then(|i| plan.checks.get(i)) else {
            return Ok(());
        };
        let length = match self.eval(&check.length) {
            Ok(length) => length.to_string(),
            Err(_) => check.length.to_string(),
        };
        Err(Error::Arguments(RunError {
            message: format!("an index is outside an array of length {length}"),
            span: check.span,
            notes: Vec::new(),
        }))
    }

    fn result(&mut self) -> Result<Value, Error> {
        let mut parts = Vec::new();
        for planned in &self.compiled.plan.buffers {
            if let Role::Output { .. } = planned.role {
                let length = self.eval(&planned.buffer.length)?;
                let mut data = vec![0; length as usize * planned.buffer.scalar.bytes()];
                if let Some(handle) = self.buffers.get(&planned.buffer.id) {
                    self.device.read(*handle, &mut data)?;
                }
                parts.push(bytes::to_buffer(planned.buffer.scalar, &data));
            }
        }
        let ty = concrete_type(&self.compiled.def.ret, &self.sizes)?;
        Ok(Value::from_buffers(&ty, parts)?)
    }

    /// Gives the memory back; a device that refuses even that is closed soon anyway.
    fn release(&mut self) {
        for handle in std::mem::take(&mut self.buffers).into_values() {
            let _ = self.device.free(handle);
        }
    }
}

fn wrong(message: &str) -> Error {
    Error::Arguments(RunError { message: message.to_string(), span: None, notes: Vec::new() })
}
