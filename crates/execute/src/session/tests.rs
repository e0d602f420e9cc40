//! Sessions on devices that keep count of their buffers.

use lift_lower::Options;
use std::thread;
use std::time::Duration;

use lift_runtime::{
    ArgType, CompileOptions, DeviceInfo, KernelHandle, Launch, LaunchTime, RuntimeError, open,
};

use super::*;

/// A device that keeps count of its buffers.
struct Watched {
    /// Every call takes so long at least.
    pause: Duration,
    device: Box<dyn Device>,
    allocated: Vec<u64>,
    live: BTreeSet<BufferHandle>,
    written: usize,
    launched: usize,
}

impl Watched {
    fn open(id: &str) -> Watched {
        let device = open(id).expect("a device");
        Watched {
            device,
            pause: Duration::ZERO,
            allocated: Vec::new(),
            live: BTreeSet::new(),
            written: 0,
            launched: 0,
        }
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
        thread::sleep(self.pause);
        self.device.compile(source, name, params, options)
    }

    fn unload(&mut self, kernel: KernelHandle) -> Result<(), RuntimeError> {
        self.device.unload(kernel)
    }

    fn allocate(&mut self, bytes: u64) -> Result<BufferHandle, RuntimeError> {
        thread::sleep(self.pause);
        let handle = self.device.allocate(bytes)?;
        self.allocated.push(bytes);
        self.live.insert(handle);
        Ok(handle)
    }

    fn write(&mut self, buffer: BufferHandle, bytes: &[u8]) -> Result<(), RuntimeError> {
        self.written += 1;
        thread::sleep(self.pause);
        self.device.write(buffer, bytes)
    }

    fn read(&mut self, buffer: BufferHandle, bytes: &mut [u8]) -> Result<(), RuntimeError> {
        thread::sleep(self.pause);
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
        self.launched += 1;
        thread::sleep(self.pause);
        self.device.launch(kernel, launch, args)
    }
}

const DEVICES: [&str; 2] = ["cpu", "opencl:pocl"];

fn compiled(text: &str, device: &mut dyn Device) -> Compiled {
    let program = lift_syntax::check_text("test.lift", text).program;
    let def = program.entry().expect("a definition");
    Compiled::new(def, &Options::default(), device).expect("kernels")
}

fn numbers(count: i32) -> Value {
    Value::from((0..count).collect::<Vec<i32>>())
}

const CHAIN: &str = "def chain[N](x: [i32; N]) -> [i32; N] =
    let a = x |> map(\\e -> e - e + e + 1);
    let b = zip(a, a |> gather(reverse)) |> map(\\(p, q) -> p - p + q * 2);
    let c = zip(b, b |> gather(reverse)) |> map(\\(p, q) -> p - p + q + 3);
    zip(c, c |> gather(reverse)) |> map(\\(p, q) -> p - p + q * 5);";

/// What takes long is seen where it belongs.
#[test]
fn costs_beside_kernels_are_told_apart() {
    let mut device = Watched::open("cpu");
    device.pause = Duration::from_millis(5);
    let pause = device.pause.as_secs_f64() * 1e3;
    let chain = compiled(CHAIN, &mut device);
    assert!(chain.compile_ms >= 4.0 * pause, "four kernels: {}", chain.compile_ms);
    let args = [numbers(100)];
    let mut session = chain.session(&mut device, &args, &Sizes::new()).expect("a session");
    let loaded = session.costs();
    assert!(loaded.allocate_ms >= 4.0 * pause && loaded.transfer_ms >= pause, "{loaded:?}");
    assert_eq!(loaded.run_ms, 0.0);
    session.run().expect("a run");
    let ran = session.costs();
    assert!(ran.run_ms >= 4.0 * pause, "{ran:?}");
    assert_eq!(Costs { run_ms: 0.0, ..ran }, loaded);
    session.result().expect("a result");
    let read = session.costs();
    assert!(read.transfer_ms >= loaded.transfer_ms + pause, "{read:?}");
    assert!(read.allocate_ms > loaded.allocate_ms, "the host has memory for the result: {read:?}");
    assert_eq!(read.total_ms(), read.allocate_ms + read.transfer_ms + read.run_ms);
}

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
fn where_there_is_nothing_to_do_nothing_is_launched() {
    let text = "def rest[N](x: [i32; N]) -> [i32; N - 1] = x |> drop(1) |> map(\\e -> e + 1);";
    for id in DEVICES {
        let mut device = Watched::open(id);
        let mut rest = compiled(text, &mut device);
        for (count, launches) in [(1, 0), (2, 1)] {
            let run = rest.run(&mut device, &[numbers(count)], &Sizes::new()).expect("a run");
            let expected: Vec<i32> = (1..count).map(|e| e + 1).collect();
            assert_eq!(run.result, Value::from(expected), "{id}");
            assert_eq!(device.launched, launches, "{id}");
        }
    }
}

#[test]
fn a_loop_asks_before_each_time_and_stops() {
    let text = "def grown[N; K = 9](x: [i32; N]) -> ([i32; N], i32) =
        x |> iterate_until(K, \\y -> y[0] >= 100, \\y -> y |> gather(reverse) |> map(\\e -> 2 * e));";
    for id in DEVICES {
        let mut device = Watched::open(id);
        let grown = compiled(text, &mut device);
        for (first, last, times) in [(7, 112, 4), (100, 100, 0), (0, 0, 9)] {
            let args = [Value::from(vec![first; 3])];
            let mut session = grown.session(&mut device, &args, &Sizes::new()).expect("a session");
            for _ in 0..2 {
                session.run().expect("a run");
                let shown = session.result().map(|result| result.to_string());
                assert_eq!(
                    shown.ok(),
                    Some(format!("([{last}, {last}, {last}], {times})")),
                    "{id}"
                );
            }
        }
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
    let text = "def both[N](x: [bool; N], h: [f16; N], k: u8) -> ([bool; N], [f16; N], [u8; N]) =
        (map(\\e -> !e, x), map(\\e -> e + 1.0, h), map(\\e -> if e then k else 1, x));";
    let mut device = Watched::open("cpu");
    let mut both = compiled(text, &mut device);
    let halves = [1.5, -2.0].map(half::f16::from_f32).to_vec();
    let args = [Value::from(vec![true, false]), Value::from(halves), Value::u8(7)];
    let run = both.run(&mut device, &args, &Sizes::new()).expect("a run");
    let shown = run.result.to_string();
    assert_eq!(shown, "([false, true], [2.5f16, -1.0f16], [7u8, 1u8])");
}

/// What a kernel says of its arguments holds: they are different memory.
#[test]
fn no_kernel_is_given_one_buffer_twice() {
    let mut device = Watched::open("cpu");
    let chain = compiled(CHAIN, &mut device);
    let args = [numbers(100)];
    let mut session = chain.session(&mut device, &args, &Sizes::new()).expect("a session");
    let one = *session.handles.values().next().expect("a buffer");
    session.handles.values_mut().for_each(|handle| *handle = one);
    let error = session.run().expect_err("all arguments are one buffer");
    assert!(error.to_string().contains("one buffer for two arguments"), "{error}");
}
