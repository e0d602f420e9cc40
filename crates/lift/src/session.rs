//! A compiled program with its arguments on a device: run as often as one likes, then read.

use std::collections::BTreeMap;

use lift_interp::{MAX_ARRAY_BYTES, RunError, Sizes, Value, concrete_type};
use lift_ir::{Nat, Var};
use lift_kernel::{Arg as KernelArg, Buffer, BufferId, Kernel, Variable};
use lift_lower::{Role, Step};
use lift_nat::EvalError;
use lift_runtime::{
    Arg, ArgType, BufferHandle, Device, DeviceInfo, Language, Launch, check_buffers,
};

use crate::compile::size_type;
use crate::{Compiled, Error, KernelTime, bytes};

/// The arguments stay on the device between runs, and every run computes the same again. What is
/// on the device is freed with the session.
pub struct Session<'a> {
    compiled: &'a Compiled,
    device: &'a mut dyn Device,
    sizes: Sizes,
    /// One a kernel.
    calls: Vec<Call>,
    /// All that is on the device.
    owned: Vec<BufferHandle>,
    /// Where each buffer of the plan is before the first step.
    places: BTreeMap<BufferId, BufferHandle>,
}

/// What is passed to a kernel, as far as it does not change between launches.
struct Call {
    launch: Launch,
    args: Vec<Passed>,
}

enum Passed {
    Buffer(BufferId),
    Value(Arg),
    /// The iteration of a loop around the launch.
    Counter(Var),
}

impl<'a> Session<'a> {
    /// Requires: the sizes are those that the arguments have.
    pub(crate) fn new(
        compiled: &'a Compiled,
        device: &'a mut dyn Device,
        args: &[Value],
        sizes: Sizes,
    ) -> Result<Session<'a>, Error> {
        compiled.check_memory(device.info(), &sizes)?;
        let calls = compiled.calls(device.info(), args, &sizes)?;
        let (owned, places) = (Vec::new(), BTreeMap::new());
        let mut session = Session { compiled, device, sizes, calls, owned, places };
        session.load(args)?;
        Ok(session)
    }

    /// Runs all kernels as planned; one time a kernel, summed over its launches.
    pub fn run(&mut self) -> Result<Vec<KernelTime>, Error> {
        let compiled = self.compiled;
        if let Some(status) = self.status() {
            self.device.fill(status, 0)?;
        }
        let mut places = self.places.clone();
        let mut times = vec![0.0; compiled.plan.kernels.len()];
        self.steps(&compiled.plan.steps, &mut places, &mut times)?;
        self.check_status()?;
        let kernels = compiled.plan.kernels.iter().zip(times);
        Ok(kernels.map(|(kernel, ms)| KernelTime { name: kernel.name.clone(), ms }).collect())
    }

    /// The result of the last run.
    pub fn result(&mut self) -> Result<Value, Error> {
        let compiled = self.compiled;
        let mut parts = Vec::new();
        for planned in &compiled.plan.buffers {
            let Role::Output { .. } = planned.role else { continue };
            let count = number(&planned.buffer.total(), &self.sizes)? as usize;
            let handle = self.place(planned.buffer.id)?;
            let mut read = |bytes: &mut [u8]| Ok(self.device.read(handle, bytes)?);
            parts.push(bytes::to_buffer(planned.buffer.scalar, count, &mut read)?);
        }
        let ty = concrete_type(&compiled.def.ret, &self.sizes)?;
        Ok(Value::from_buffers(&ty, parts)?)
    }

    /// Allocates everything, and writes the arguments.
    fn load(&mut self, args: &[Value]) -> Result<(), Error> {
        let compiled = self.compiled;
        let mut slots = Vec::new();
        for bytes in &compiled.memory.bytes {
            slots.push(self.allocate(number(bytes, &self.sizes)?)?);
        }
        let mut leaves = Vec::new();
        for arg in args {
            leaves.push(arg.buffers()?);
        }
        for planned in &compiled.plan.buffers {
            let id = planned.buffer.id;
            let handle = match planned.role {
                Role::Temporary => match compiled.memory.slot(id).and_then(|s| slots.get(s)) {
                    Some(slot) => *slot,
                    None => continue,
                },
                Role::Input { .. } | Role::Output { .. } | Role::Status => {
                    self.allocate(bytes_of(&planned.buffer, &self.sizes)?)?
                }
            };
            self.places.insert(id, handle);
            match planned.role {
                Role::Input { param, leaf } => {
                    let source = leaves.get(param).and_then(|l| l.get(leaf));
                    let source = source.ok_or_else(|| wrong("an argument lacks a part"))?;
                    self.device.write(handle, bytes::of_buffer(source))?;
                }
                // Whatever is not written shows.
                Role::Output { .. } | Role::Temporary => self.device.fill(handle, 0xff)?,
                Role::Status => {}
            }
        }
        Ok(())
    }

    fn allocate(&mut self, bytes: u64) -> Result<BufferHandle, Error> {
        // A buffer of nothing is still passed to kernels.
        let handle = self.device.allocate(bytes.max(1))?;
        self.owned.push(handle);
        Ok(handle)
    }

    fn place(&self, buffer: BufferId) -> Result<BufferHandle, Error> {
        self.places.get(&buffer).copied().ok_or_else(|| wrong("a buffer is not planned"))
    }

    fn steps(
        &mut self,
        steps: &[Step],
        places: &mut BTreeMap<BufferId, BufferHandle>,
        times: &mut [f64],
    ) -> Result<(), Error> {
        for step in steps {
            match step {
                Step::Launch(kernel) => self.launch(*kernel, places, times)?,
                Step::Loop { count, counter, body, swap } => {
                    for step in 0..number(count, &self.sizes)? {
                        self.sizes.set(counter.to_string(), step.into());
                        self.steps(body, places, times)?;
                        for (a, b) in swap {
                            let (Some(x), Some(y)) = (places.get(a).copied(), places.get(b)) else {
                                return Err(wrong("a loop swaps a buffer that is not there"));
                            };
                            places.insert(*a, *y);
                            places.insert(*b, x);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn launch(
        &mut self,
        index: usize,
        places: &BTreeMap<BufferId, BufferHandle>,
        times: &mut [f64],
    ) -> Result<(), Error> {
        let (Some(call), Some(handle)) = (self.calls.get(index), self.compiled.handles.get(index))
        else {
            return Err(wrong("the plan launches a kernel that is not there"));
        };
        let mut args = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            args.push(match arg {
                Passed::Value(value) => value.clone(),
                Passed::Counter(var) => {
                    let value = number(&Nat::var(var), &self.sizes)?;
                    let kernel = self.compiled.plan.kernels.get(index);
                    let kernel = kernel.ok_or_else(|| wrong("a kernel is missing"))?;
                    size_arg(kernel, self.device.info().language, var.name(), value)?
                }
                Passed::Buffer(id) => match places.get(id) {
                    Some(handle) => Arg::Buffer(*handle),
                    None => return Err(wrong("a kernel takes a buffer that is not planned")),
                },
            });
        }
        let time = self.device.launch(*handle, &call.launch, &args)?;
        if let Some(total) = times.get_mut(index) {
            *total += time.ms;
        }
        Ok(())
    }

    fn status(&self) -> Option<BufferHandle> {
        let planned = self.compiled.plan.buffers.iter().find(|b| b.role == Role::Status)?;
        self.places.get(&planned.buffer.id).copied()
    }

    /// Fails where a kernel met an index out of range.
    fn check_status(&mut self) -> Result<(), Error> {
        let Some(handle) = self.status() else { return Ok(()) };
        let mut status = [0; 4];
        self.device.read(handle, &mut status)?;
        let failed = usize::try_from(i32::from_ne_bytes(status)).unwrap_or(0);
        let checks = &self.compiled.plan.checks;
        let Some(check) = failed.checked_sub(1).and_then(|i| checks.get(i)) else { return Ok(()) };
        let length = match number(&check.length, &self.sizes) {
            Ok(length) => length.to_string(),
            Err(_) => check.length.to_string(),
        };
        Err(Error::Arguments(RunError {
            message: format!("an index is outside an array of length {length}"),
            span: check.span,
            notes: Vec::new(),
        }))
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        // A device that refuses even this is closed soon anyway.
        for handle in self.owned.drain(..) {
            let _ = self.device.free(handle);
        }
    }
}

impl Compiled {
    /// Whether the program's arrays fit the device, and its result the host, before any is made.
    pub fn check_memory(&self, info: &DeviceInfo, sizes: &Sizes) -> Result<(), Error> {
        let planned = self.plan.buffers.iter();
        let mut needed = Vec::new();
        for buffer in planned.clone().filter(|b| b.role != Role::Temporary).map(|b| &b.buffer) {
            needed.push((buffer.name.clone(), bytes_of(buffer, sizes)?));
        }
        for (slot, bytes) in self.memory.bytes.iter().enumerate() {
            needed.push((self.slot_name(slot), number(bytes, sizes)?));
        }
        check_buffers(info, &needed)?;
        for output in planned.filter(|b| matches!(b.role, Role::Output { .. })) {
            let bytes = bytes_of(&output.buffer, sizes)?;
            if bytes > MAX_ARRAY_BYTES {
                return Err(wrong(&format!(
                    "the result takes {bytes} bytes, more than the {MAX_ARRAY_BYTES} that one \
                     array may take on the host"
                )));
            }
        }
        Ok(())
    }

    /// The name of the first buffer in a slot.
    fn slot_name(&self, slot: usize) -> String {
        let mut planned = self.plan.buffers.iter();
        let first = planned.find(|b| self.memory.slot(b.buffer.id) == Some(slot));
        first.map_or_else(String::new, |b| b.buffer.name.clone())
    }

    fn calls(&self, info: &DeviceInfo, args: &[Value], sizes: &Sizes) -> Result<Vec<Call>, Error> {
        let mut calls = Vec::new();
        for (index, kernel) in self.plan.kernels.iter().enumerate() {
            let mut passed = Vec::new();
            for arg in &kernel.args {
                passed.push(match arg {
                    KernelArg::Buffer(buffer, _) => Passed::Buffer(buffer.id),
                    KernelArg::Scalar(var) => Passed::Value(self.scalar(var, args)?),
                    KernelArg::Size(var) if self.plan.is_counter(var) => {
                        Passed::Counter(var.clone())
                    }
                    KernelArg::Size(var) => {
                        let value = number(&Nat::var(var), sizes)?;
                        Passed::Value(size_arg(kernel, info.language, var.name(), value)?)
                    }
                });
            }
            calls.push(Call { launch: self.launch(index, kernel, info, sizes)?, args: passed });
        }
        Ok(calls)
    }

    /// The value of a scalar parameter of the program.
    fn scalar(&self, var: &Variable, args: &[Value]) -> Result<Arg, Error> {
        let param = self.plan.scalars.iter().find(|(_, v)| v == var);
        let value = param.and_then(|(index, _)| args.get(*index));
        let buffers = value.ok_or_else(|| wrong("a scalar is missing"))?.buffers()?;
        let buffer = buffers.first().ok_or_else(|| wrong("a scalar is empty"))?;
        Ok(Arg::Bytes(bytes::of_buffer(buffer).to_vec()))
    }

    fn launch(
        &self,
        index: usize,
        kernel: &Kernel,
        info: &DeviceInfo,
        sizes: &Sizes,
    ) -> Result<Launch, Error> {
        let local = three(&kernel.launch.local, sizes)?;
        if info.language == Language::C {
            // The text of a C kernel runs all of its groups itself; a group has limits all the same.
            let group = local.map(|count| count.max(1));
            return Ok(Launch::new(group, group));
        }
        let global = three(&kernel.launch.global, sizes)?;
        // Whole groups are launched; kernels guard against work-items beyond the end.
        let mut whole = [1; 3];
        for ((whole, global), local) in whole.iter_mut().zip(global).zip(local) {
            let groups = global.div_ceil(local.max(1));
            let items = groups.checked_mul(local);
            *whole = items.ok_or_else(|| wrong("the global size does not fit in 64 bits"))?;
        }
        let dynamic = self.texts.get(index).and_then(|text| text.dynamic_local_bytes.as_ref());
        let dynamic_local_bytes = dynamic.map_or(Ok(0), |bytes| number(bytes, sizes))?;
        Ok(Launch { global: whole, local, dynamic_local_bytes })
    }
}

fn size_arg(kernel: &Kernel, language: Language, name: &str, value: u64) -> Result<Arg, Error> {
    let narrow = || wrong(&format!("the size {name} = {value} does not fit in 32 bits"));
    Ok(match size_type(kernel, language) {
        ArgType::I64 => Arg::from(i64::try_from(value).unwrap_or(i64::MAX)),
        _ => Arg::from(i32::try_from(value).map_err(|_| narrow())?),
    })
}

fn three(counts: &[Nat], sizes: &Sizes) -> Result<[u64; 3], Error> {
    let mut all = [1; 3];
    for (slot, count) in all.iter_mut().zip(counts) {
        *slot = number(count, sizes)?;
    }
    Ok(all)
}

fn bytes_of(buffer: &Buffer, sizes: &Sizes) -> Result<u64, Error> {
    number(&(buffer.total() * Nat::int(buffer.scalar.bytes() as i128)), sizes)
}

/// The value of a size; what is beyond 64 bits is beyond every limit.
fn number(size: &Nat, sizes: &Sizes) -> Result<u64, Error> {
    match size.eval(&|var| sizes.get(var.name())) {
        Ok(value) if value < 0 => Err(wrong(&format!("the size `{size}` is {value}"))),
        Ok(value) => Ok(u64::try_from(value).unwrap_or(u64::MAX)),
        Err(EvalError::Overflow) => Ok(u64::MAX),
        Err(error) => Err(wrong(&format!("the size `{size}` is undefined: {error}"))),
    }
}

fn wrong(message: &str) -> Error {
    Error::arguments(message)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use lift_runtime::{CompileOptions, KernelHandle, LaunchTime, RuntimeError, open};

    use super::*;
    use crate::Options;

    /// A device that keeps count of its buffers.
    struct Watched {
        device: Box<dyn Device>,
        allocated: Vec<u64>,
        live: BTreeSet<BufferHandle>,
        written: usize,
    }

    impl Watched {
        fn open(id: &str) -> Watched {
            let device = open(id).expect("a device");
            Watched { device, allocated: Vec::new(), live: BTreeSet::new(), written: 0 }
        }
    }

    impl Device for Watched {
        fn info(&self) -> &DeviceInfo {
            self.device.info()
        }

        fn compile(
            &mut self,
            source: &str,
            name: &str,
            params: &[ArgType],
            options: &CompileOptions,
        ) -> Result<KernelHandle, RuntimeError> {
            self.device.compile(source, name, params, options)
        }

        fn unload(&mut self, kernel: KernelHandle) -> Result<(), RuntimeError> {
            self.device.unload(kernel)
        }

        fn allocate(&mut self, bytes: u64) -> Result<BufferHandle, RuntimeError> {
            let handle = self.device.allocate(bytes)?;
            self.allocated.push(bytes);
            self.live.insert(handle);
            Ok(handle)
        }

        fn write(&mut self, buffer: BufferHandle, bytes: &[u8]) -> Result<(), RuntimeError> {
            self.written += 1;
            self.device.write(buffer, bytes)
        }

        fn read(&mut self, buffer: BufferHandle, bytes: &mut [u8]) -> Result<(), RuntimeError> {
            self.device.read(buffer, bytes)
        }

        fn fill(&mut self, buffer: BufferHandle, byte: u8) -> Result<(), RuntimeError> {
            self.device.fill(buffer, byte)
        }

        fn free(&mut self, buffer: BufferHandle) -> Result<(), RuntimeError> {
            self.live.remove(&buffer);
            self.device.free(buffer)
        }

        fn launch(
            &mut self,
            kernel: KernelHandle,
            launch: &Launch,
            args: &[Arg],
        ) -> Result<LaunchTime, RuntimeError> {
            self.device.launch(kernel, launch, args)
        }
    }

    const DEVICES: [&str; 2] = ["cpu", "opencl:pocl"];

    fn compiled(text: &str, device: &mut dyn Device) -> Compiled {
        let program = crate::parse("test.lift", text).expect("a program");
        let def = program.entry().expect("a definition");
        Compiled::new(def, &Options::default(), device).expect("kernels")
    }

    fn numbers(count: i32) -> Value {
        Value::from((0..count).collect::<Vec<i32>>())
    }

    const CHAIN: &str = "def chain[N](x: [i32; N]) -> [i32; N] =
        let a = x |> map(\\e -> e + 1);
        let b = a |> gather(reverse) |> map(\\e -> e * 2);
        let c = b |> gather(reverse) |> map(\\e -> e + 3);
        c |> gather(reverse) |> map(\\e -> e * 5);";

    #[test]
    fn a_chain_of_four_kernels_takes_the_memory_of_two_temporaries() {
        for id in DEVICES {
            let mut device = Watched::open(id);
            let mut chain = compiled(CHAIN, &mut device);
            assert_eq!(chain.plan.kernels.len(), 4);
            let run = chain.run(&mut device, &[numbers(100)], &Sizes::new()).expect("a run");
            let expected: Vec<i32> = (0..100).rev().map(|e| ((e + 1) * 2 + 3) * 5).collect();
            assert_eq!(run.result, Value::from(expected), "{id}");
            assert_eq!(device.allocated, [400; 4], "input, result and two temporaries on {id}");
            assert!(device.live.is_empty(), "all is freed on {id}");
        }
    }

    #[test]
    fn a_session_writes_its_arguments_once_and_runs_again_and_again() {
        // An odd number of times: the buffers of the loop have changed places when it ends.
        let text = "def steps[N](x: [i32; N]) -> [i32; N] =
            x |> iterate(41, \\y -> y |> gather(reverse) |> map(\\e -> e + 1));";
        for id in DEVICES {
            let mut device = Watched::open(id);
            let steps = compiled(text, &mut device);
            let args = [numbers(10)];
            let mut session = steps.session(&mut device, &args, &Sizes::new()).expect("a session");
            let expected: Vec<i32> = (0..10).rev().map(|e| e + 41).collect();
            for _ in 0..3 {
                let times = session.run().expect("a run");
                assert_eq!(times.len(), steps.plan.kernels.len());
                assert_eq!(session.result().ok(), Some(Value::from(expected.clone())), "{id}");
            }
            drop(session);
            assert_eq!(device.written, 1, "{id}");
            assert!(device.live.is_empty(), "all is freed on {id}");
        }
    }

    #[test]
    fn what_fails_frees_what_it_had() {
        let mut device = Watched::open("cpu");
        let text = "def pick[N, M](x: [i32; N], at: [i32; M]) -> [i32; M] = map(\\i -> x[i], at);";
        let mut pick = compiled(text, &mut device);
        let args = [numbers(3), Value::from(vec![3])];
        assert!(pick.run(&mut device, &args, &Sizes::new()).is_err());
        assert!(!device.allocated.is_empty() && device.live.is_empty());
        // A mistake leaves no trace in the next run.
        let args = [numbers(3), Value::from(vec![2])];
        let run = pick.run(&mut device, &args, &Sizes::new()).expect("a run");
        assert_eq!(run.result, Value::from(vec![2]));
    }

    #[test]
    fn memory_is_checked_before_it_is_taken() {
        let mut device = Watched::open("cpu");
        let chain = compiled(CHAIN, &mut device);
        let fits = |n: i128| chain.check_memory(device.info(), &[("N", n)].into_iter().collect());
        assert!(fits(1000).is_ok());
        let (info, largest) = (device.info(), device.info().max_buffer_bytes);
        let message = |n| fits(n).expect_err("too much").to_string();
        let wanted = i128::from(largest) / 4 + 1;
        assert_eq!(
            message(wanted),
            format!(
                "cpu: the size of the buffer `x` in bytes is {}, allowed is {largest}; \
                 use smaller sizes or a device with more memory",
                4 * wanted
            )
        );
        // Four buffers that fit one by one.
        let wanted = i128::from(info.memory_bytes) / 16 + 1;
        assert_eq!(
            message(wanted),
            format!(
                "cpu: the size of all buffers in bytes is {}, allowed is {}; \
                 use smaller sizes or a device with more memory",
                16 * wanted,
                info.memory_bytes
            )
        );
        assert!(message(i128::MAX).contains("18446744073709551615 or more"));
    }

    #[test]
    fn every_kind_of_scalar_comes_back() {
        let text =
            "def both[N](x: [bool; N], h: [f16; N], k: u8) -> ([bool; N], [f16; N], [u8; N]) =
            (map(\\e -> !e, x), map(\\e -> e + 1.0, h), map(\\e -> if e then k else 1, x));";
        let mut device = Watched::open("cpu");
        let mut both = compiled(text, &mut device);
        let halves = [1.5, -2.0].map(half::f16::from_f32).to_vec();
        let args = [Value::from(vec![true, false]), Value::from(halves), Value::u8(7)];
        let run = both.run(&mut device, &args, &Sizes::new()).expect("a run");
        let shown = run.result.to_string();
        assert_eq!(shown, "([false, true], [2.5f16, -1.0f16], [7u8, 1u8])");
    }
}
