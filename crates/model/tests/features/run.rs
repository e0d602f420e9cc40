//! Runs kernels that count, and adds up what they counted.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use lift_ir::{Nat, Var};
use lift_kernel::{Arg, Edit, Kernel, LoopKind, Replace, Runs, Stmt, c, validate};
use lift_lower::{Plan, Step};

use crate::instrument::{COUNTERS, UNIT, What, instrument};
use crate::plans::Sizes;

/// Whose counts are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Who {
    /// All work-items.
    All,
    /// Those of the group in the middle, or of the iteration of the parallel loop in the middle; all count as these.
    Middle,
}

/// What each counter says per work-item, over those of all launches, in the order of `COUNTERS`.
pub fn per_item(plan: &Plan, sizes: &Sizes, who: Who) -> Vec<f64> {
    let mut sums = vec![0.0; COUNTERS.len()];
    let mut items = 0.0;
    for step in &plan.steps {
        let Step::Launch(kernel) = step else { panic!("loops of the host are not counted here") };
        let kernel = &plan.kernels[*kernel];
        let grid = Grid::of(kernel, sizes);
        let counted = totals(kernel, &grid, sizes, who);
        sums.iter_mut().zip(counted).for_each(|(sum, own)| *sum += own);
        items += grid.global.iter().product::<i128>() as f64;
    }
    sums.iter().map(|sum| sum / items).collect()
}

struct Grid {
    global: [i128; 3],
    local: [i128; 3],
}

impl Grid {
    fn of(kernel: &Kernel, sizes: &Sizes) -> Grid {
        let read = |counts: &[Nat]| [0, 1, 2].map(|d| counts.get(d).map_or(1, |n| value(n, sizes)));
        Grid { global: read(&kernel.launch.global), local: read(&kernel.launch.local) }
    }

    fn groups(&self) -> [i128; 3] {
        [0, 1, 2].map(|d| self.global[d] / self.local[d])
    }

    fn threads(&self, kind: LoopKind) -> i128 {
        match kind {
            LoopKind::Global(d) => self.global[usize::from(d)],
            LoopKind::Local(d) => self.local[usize::from(d)],
            LoopKind::Group(d) => self.groups()[usize::from(d)],
            LoopKind::Seq | LoopKind::Unroll => 1,
        }
    }
}

fn value(nat: &Nat, sizes: &Sizes) -> i128 {
    nat.eval(&|v| sizes.get(v.name()).copied()).unwrap()
}

/// What one launch counts in all.
fn totals(kernel: &Kernel, grid: &Grid, sizes: &Sizes, who: Who) -> Vec<f64> {
    let (mut kernel, mut times, mut bodies) = (kernel.clone(), 1, 0);
    let [x, y, z] = grid.groups();
    let groups = match (kernel.runs, who) {
        (Runs::Threads, Who::All) => [(0, x), (0, y), (0, z)],
        (Runs::Threads, Who::Middle) => {
            times = x * y * z;
            [(x / 2, x / 2 + 1), (y / 2, y / 2 + 1), (z / 2, z / 2 + 1)]
        }
        // The text runs all groups itself.
        (Runs::Loops, Who::All) => [(0, 1), (0, 1), (0, 1)],
        (Runs::Loops, Who::Middle) => {
            (times, bodies) = keep_middle(&mut kernel, sizes);
            [(0, 1), (0, 1), (0, 1)]
        }
    };
    let local = if kernel.runs == Runs::Threads { grid.local } else { [1; 3] };
    let counting = instrument(&kernel, &|kind| grid.threads(kind));
    let text = program(&counting, sizes, groups, local);
    let counted = run(&counting.name, &text);
    let mut totals: Vec<f64> = counted.iter().map(|n| n * times as f64 / UNIT as f64).collect();
    totals[What::LoopBodies as usize] += bodies as f64;
    totals
}

/// Leaves the parallel loops that stand outermost their middle iteration alone: how many iterations that stands for,
/// and how many loop bodies are no longer counted.
fn keep_middle(kernel: &mut Kernel, sizes: &Sizes) -> (i128, i128) {
    let (mut times, mut bodies) = (1, 0);
    let mut block = &mut kernel.body;
    loop {
        let only: Vec<usize> =
            (0..block.len()).filter(|k| !matches!(block[*k], Stmt::Comment(_))).collect();
        let [only] = only[..] else { break };
        let Stmt::Loop(l) = &mut block[only] else { break };
        match l.kind {
            LoopKind::Group(_) => {}
            LoopKind::Global(_) if times == 1 => {}
            LoopKind::Global(_) | LoopKind::Local(_) | LoopKind::Seq | LoopKind::Unroll => break,
        }
        let extent = value(&l.extent, sizes);
        times *= extent;
        bodies += times;
        let middle = |v: &Var| (*v == l.var).then(|| Nat::int(extent / 2));
        l.body = Replace { value: &middle, simplify: &Nat::clone }.block(&l.body);
        l.extent = Nat::ONE;
        block = &mut l.body;
    }
    assert!(times > 1, "no parallel loop of several iterations");
    (times, bodies)
}

/// The kernel and a `main` that runs it for work-items of some groups and prints the counters.
fn program(kernel: &Kernel, sizes: &Sizes, groups: [(i128, i128); 3], local: [i128; 3]) -> String {
    let text = c(&validate(kernel).unwrap_or_else(|e| panic!("{}", e.join("\n"))));
    let mut out = String::from(
        "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
         static int64_t lift_place[3][3];\nstatic long long lift_count[16];\n",
    );
    out.push_str(&text);
    out.push_str("int main(void) {\n");
    let mut args = Vec::new();
    for (k, arg) in kernel.args.iter().enumerate() {
        args.push(match arg {
            Arg::Buffer(buffer, _) => {
                let bytes = (value(&buffer.total(), sizes) + 64) * buffer.scalar.bytes() as i128;
                writeln!(out, "  void* b{k} = aligned_alloc(64, {});", (bytes + 63) / 64 * 64)
                    .unwrap();
                writeln!(out, "  for (long i = 0; i < {bytes}; ++i) ((char*)b{k})[i] = 0;")
                    .unwrap();
                format!("b{k}")
            }
            Arg::Scalar(_) => "1".to_owned(),
            Arg::Size(var) => value(&Nat::var(var), sizes).to_string(),
        });
    }
    for (d, v) in [(2, "z"), (1, "y"), (0, "x")] {
        let (from, to) = groups[d];
        writeln!(out, "  for (long g{v} = {from}; g{v} < {to}; ++g{v})").unwrap();
        writeln!(out, "  for (long l{v} = 0; l{v} < {}; ++l{v})", local[d]).unwrap();
    }
    out.push_str("  {\n");
    for (d, v) in ["x", "y", "z"].iter().enumerate() {
        writeln!(out, "    lift_place[0][{d}] = g{v} * {} + l{v};", local[d]).unwrap();
        writeln!(out, "    lift_place[1][{d}] = g{v};\n    lift_place[2][{d}] = l{v};").unwrap();
    }
    writeln!(out, "    {}({});\n  }}", kernel.name, args.join(", ")).unwrap();
    writeln!(
        out,
        "  for (int i = 0; i < {}; ++i) printf(\"%lld\\n\", lift_count[i]);\n  return 0;\n}}",
        COUNTERS.len()
    )
    .unwrap();
    out
}

/// Compiles and runs a C program that prints the counters.
fn run(name: &str, text: &str) -> Vec<f64> {
    let folder = folder(name, text);
    std::fs::create_dir_all(&folder).unwrap();
    let (source, binary) = (folder.join("kernel.c"), folder.join("kernel"));
    std::fs::write(&source, text).unwrap();
    let compiled = Command::new("cc")
        .args(["-std=gnu11", "-O1", "-w", "-fwrapv", "-fno-math-errno", "-o"])
        .args([&binary, &source])
        .arg("-lm")
        .output()
        .unwrap();
    assert!(
        compiled.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&compiled.stderr),
        source.display()
    );
    let ran = Command::new(&binary).output().unwrap();
    assert!(ran.status.success(), "{}: {:?}", source.display(), ran.status);
    std::fs::remove_dir_all(&folder).unwrap();
    let printed = String::from_utf8(ran.stdout).unwrap();
    printed.lines().map(|line| line.parse().unwrap()).collect()
}

/// A folder that only this program is in.
fn folder(name: &str, text: &str) -> PathBuf {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let unique = format!("lift-features-{name}-{}-{:x}", std::process::id(), hasher.finish());
    std::env::temp_dir().join(unique)
}
