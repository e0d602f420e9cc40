use std::cell::Cell;
use std::convert::Infallible;
use std::rc::Rc;

use lift_execute::Compiled;
use lift_lower::Options;
use lift_runtime::{
    Arg, ArgType, BufferHandle, CompileOptions, Device, DeviceInfo, KernelHandle, Launch,
    LaunchTime, RuntimeError, open,
};

use super::{BEYOND_CACHES, Bench, MOST_COPIES, Turns, arguments, copies, definition, times};
use crate::measure::{Job, Problem, Verdict};

const TWICE: &str = "def twice[N](xs: [f32; N]) -> [f32; N] = xs |> map(\\x -> x + x);";
const CANDIDATE: &str = "def twice[N](xs: [f32; N]) -> [f32; N] = xs |> mapGlb(0)(\\x -> x + x);";

/// What is on a device at the moment, and how much there was at most.
#[derive(Clone, Default)]
struct Count(Rc<[Cell<usize>; 2]>);

impl Count {
    fn change(&self, by: isize) {
        let [now, most] = &*self.0;
        now.set(now.get().checked_add_signed(by).unwrap());
        most.set(most.get().max(now.get()));
    }

    fn now(&self) -> usize {
        self.0[0].get()
    }

    fn most(&self) -> usize {
        self.0[1].get()
    }
}

struct Counting {
    device: Box<dyn Device>,
    buffers: Count,
    kernels: Count,
    /// What its clock says of every launch, in place of the truth.
    claimed: Option<LaunchTime>,
}

impl Device for Counting {
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
        self.kernels.change(1);
        self.device.compile(source, name, params, options)
    }

    fn unload(&mut self, kernel: KernelHandle) -> Result<(), RuntimeError> {
        self.kernels.change(-1);
        self.device.unload(kernel)
    }

    fn allocate(&mut self, bytes: u64) -> Result<BufferHandle, RuntimeError> {
        self.buffers.change(1);
        self.device.allocate(bytes)
    }

    fn write(&mut self, buffer: BufferHandle, bytes: &[u8]) -> Result<(), RuntimeError> {
        self.device.write(buffer, bytes)
    }

    fn read(&mut self, buffer: BufferHandle, bytes: &mut [u8]) -> Result<(), RuntimeError> {
        self.device.read(buffer, bytes)
    }

    fn fill(&mut self, buffer: BufferHandle, byte: u8) -> Result<(), RuntimeError> {
        self.device.fill(buffer, byte)
    }

    fn free(&mut self, buffer: BufferHandle) -> Result<(), RuntimeError> {
        self.buffers.change(-1);
        self.device.free(buffer)
    }

    fn launch(
        &mut self,
        kernel: KernelHandle,
        launch: &Launch,
        args: &[Arg],
    ) -> Result<LaunchTime, RuntimeError> {
        let time = self.device.launch(kernel, launch, args)?;
        Ok(self.claimed.unwrap_or(time))
    }
}

/// The processor and what is on it.
fn bench() -> (Bench, Count, Count) {
    bench_that_claims(None)
}

fn bench_that_claims(claimed: Option<LaunchTime>) -> (Bench, Count, Count) {
    let device = open("cpu").unwrap();
    let (buffers, kernels) = (Count::default(), Count::default());
    let counts = (buffers.clone(), kernels.clone());
    let counting = Counting { device, buffers: counts.0, kernels: counts.1, claimed };
    let problem = Problem {
        text: TWICE.to_string(),
        entry: "twice".to_string(),
        sizes: [("N".to_string(), 1000)].into(),
        seed: 1,
        device: "cpu".to_string(),
        fast_math: false,
        allow_extern: false,
    };
    let bench = Bench::on(Box::new(counting), &problem, &mut || Ok(()));
    (bench.unwrap(), buffers, kernels)
}

/// Nobody else is there.
struct Alone;

impl Turns for Alone {
    type Error = Infallible;

    fn wait(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn give_back(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

fn measure(bench: &mut Bench, text: &str) -> Verdict {
    let Ok(verdict) = bench.measure(&Job::new(text, "twice", 3), &mut Alone);
    verdict
}

#[test]
fn nothing_is_left_on_the_device() {
    let (mut bench, buffers, kernels) = bench();
    assert_eq!((buffers.now(), kernels.now()), (0, 0));
    assert!(buffers.most() > 0 && kernels.most() > 0);
    let wrong = CANDIDATE.replace("x + x", "x");
    for text in [CANDIDATE, &wrong, CANDIDATE] {
        let verdict = measure(&mut bench, text);
        assert_eq!(matches!(verdict, Verdict::Ok { .. }), text == CANDIDATE, "{verdict:?}");
        assert_eq!((buffers.now(), kernels.now()), (0, 0));
    }
    assert_eq!(kernels.most(), 1);
}

#[test]
fn runs_take_turns_at_copies() {
    let (mut bench, buffers, _) = bench();
    let verdict = measure(&mut bench, CANDIDATE);
    assert!(matches!(&verdict, Verdict::Ok { samples_ms } if samples_ms.len() == 3));
    // An argument and a result of four thousand bytes: as many copies as there may be.
    assert_eq!(buffers.most(), 2 * MOST_COPIES as usize);
    assert_eq!(buffers.now(), 0);
}

#[test]
fn copies_fill_more_than_a_cache() {
    assert_eq!(copies(0), MOST_COPIES);
    assert_eq!(copies(BEYOND_CACHES / 4), 4);
    assert_eq!(copies(BEYOND_CACHES / 4 + 1), 4);
    assert_eq!(copies(BEYOND_CACHES / 4 - 1), 5);
    assert_eq!(copies(BEYOND_CACHES), 1);
    assert_eq!(copies(u64::MAX), 1);
}

#[test]
fn a_slow_first_run_is_the_last() {
    let (bench, _, _) = bench();
    let mut device = bench.device;
    let def = definition("a.lift", CANDIDATE, "twice").unwrap();
    let compiled = Compiled::new(&def, &Options::default(), &mut *device).unwrap();
    let session = compiled.session(&mut *device, &bench.arguments, &bench.sizes).unwrap();
    let mut sessions = [session];
    let verdict = times(&mut sessions, 3, -1.0, 0.0);
    assert!(matches!(verdict, Ok(Verdict::TooSlow { ms }) if ms >= 0.0), "{verdict:?}");
    let verdict = times(&mut sessions, 3, f64::INFINITY, 0.0);
    assert!(matches!(&verdict, Ok(Verdict::Ok { samples_ms }) if samples_ms.len() == 3));
}

#[test]
fn long_runs_are_not_repeated_as_often() {
    for (ms, runs) in [(600.0, 2), (2000.0, 1), (10.0, 3)] {
        let (mut bench, _, _) = bench_that_claims(Some(LaunchTime { ms }));
        assert_eq!(measure(&mut bench, CANDIDATE), Verdict::Ok { samples_ms: vec![ms; runs] });
    }
}

#[test]
fn the_expected_result_is_what_the_program_means() {
    let (bench, _, _) = bench();
    let def = definition("a.lift", TWICE, "twice").unwrap();
    let meant = lift_interp::run(&def, &bench.arguments, &bench.sizes).unwrap();
    assert_eq!(bench.expected, meant);
}

#[test]
fn a_seed_decides_the_arguments() {
    let text = "def f[N](xs: [f32; N], ys: [f32; N]) -> [f32; N] = ys;";
    let def = definition("a.lift", text, "f").unwrap();
    let sizes = [("N", 100)].into_iter().collect();
    let of = |seed| arguments(&def, &sizes, seed).unwrap();
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
    assert_ne!(of(1)[0], of(1)[1]);
}
