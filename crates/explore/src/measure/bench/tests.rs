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
use crate::measure::{Expected, Job, Problem, Verdict};

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
        ..Problem::default()
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
    let session =
        compiled.session(&mut *device, &bench.compared.arguments, &bench.compared.sizes).unwrap();
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
    let meant = lift_interp::run(&def, &bench.compared.arguments, &bench.compared.sizes).unwrap();
    assert_eq!(bench.expected, meant);
}

/// A bench whose problem is changed.
fn bench_of(change: impl FnOnce(&mut Problem)) -> Bench {
    let sizes = [("N".to_string(), 1000)].into();
    let (text, entry) = (TWICE.to_string(), "twice".to_string());
    let mut problem = Problem { text, entry, sizes, seed: 1, ..Problem::default() };
    change(&mut problem);
    Bench::on(open("cpu").unwrap(), &problem, &mut || Ok(())).unwrap()
}

#[test]
fn what_one_has_computed_another_reads() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("expected");
    std::fs::write(&file, "").unwrap();
    let first = bench_of(|problem| problem.expected = Expected::Kept(file.clone()));
    assert!(first.is_kept() && first.reference_ms().is_some());
    let mut second = bench_of(|problem| problem.expected = Expected::Read(file.clone()));
    assert_eq!(second.expected, first.expected);
    assert_eq!(second.reference_ms(), None);
    assert!(matches!(measure(&mut second, CANDIDATE), Verdict::Ok { .. }));
    let wrong = measure(&mut second, &CANDIDATE.replace("x + x", "x"));
    assert!(matches!(wrong, Verdict::Wrong(_)), "{wrong:?}");
    let nowhere = folder.path().join("none/expected");
    assert!(!bench_of(|problem| problem.expected = Expected::Kept(nowhere)).is_kept());
}

#[test]
fn results_may_be_compared_at_sizes_other_than_those_timed() {
    let small = |problem: &mut Problem| {
        problem.compare_at = Some([("N".to_string(), 10)].into());
    };
    let mut bench = bench_of(small);
    assert_eq!(bench.expected.len(), 10);
    assert_eq!(bench.timed.as_ref().map(|inputs| inputs.arguments[0].len()), Some(1000));
    assert!(matches!(measure(&mut bench, CANDIDATE), Verdict::Ok { .. }));
    let wrong = measure(&mut bench, &CANDIDATE.replace("x + x", "x"));
    assert!(matches!(&wrong, Verdict::Wrong(how) if how.contains("10 of 10")), "{wrong:?}");
    // What does not fit one of the sizes is refused.
    let tiled = "def twice[N](xs: [f32; N]) -> [f32; N] where N % 100 == 0 =
      xs |> split(100) |> mapGlb(0)(mapSeq(\\x -> x + x)) |> join;";
    let refused = measure(&mut bench, tiled);
    assert!(matches!(refused, Verdict::Refused(_)), "{refused:?}");
}

#[test]
fn extern_functions_need_permission() {
    let text = "extern \"c\" fn g(x: f32) -> f32 = \"return x + x;\";
      def twice[N](xs: [f32; N]) -> [f32; N] = xs |> mapGlb(0)(\\x -> g(x));";
    let refused = measure(&mut bench_of(|_| {}), text);
    assert!(matches!(&refused, Verdict::Refused(why) if why.contains("`g`")), "{refused:?}");
    let mut bench = bench_of(|problem| problem.allow_extern = true);
    assert!(matches!(measure(&mut bench, text), Verdict::Ok { .. }));
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
