//! Derivations: every step means what the program means, and what they end in runs on devices.

#![allow(clippy::unwrap_used)]

#[path = "derivations/table.rs"]
mod table;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use lift::{Compiled, Options, Value};
use lift_interp::inputs::{Fill, generate};
use lift_interp::{Sizes, compare, concrete_type};
use lift_ir::Def;
use lift_kernel::{canonical_names, opencl, same_up_to_names, validate};
use lift_lower::{Target, lower};
use lift_rewrite::{Outcome, formatted, read_script, read_strategy, replay};
use table::{DERIVATIONS, Derivation, USES};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn def_of(file: &str, entry: &str) -> Def {
    let checked = lift_syntax::check_file(&root().join("programs").join(file)).unwrap();
    checked.program.def(entry).unwrap().clone()
}

impl Derivation {
    fn start(&self) -> Def {
        def_of(&format!("{}.lift", self.program), self.entry)
    }

    fn run(&self) -> Outcome {
        let path = root().join("derivations").join(format!("{}.strategy", self.script));
        let script = read_script(0, &fs::read_to_string(path).unwrap());
        let script = script.unwrap_or_else(|mistakes| panic!("{}: {mistakes:?}", self.script));
        script.run(&self.start()).unwrap_or_else(|error| panic!("{}: {error}", self.script))
    }

    /// The definition at the end, as whoever reads its text has it.
    fn end(&self) -> Def {
        let text = formatted(&self.run().def);
        let checked = lift_syntax::check_text(self.script, &text);
        assert!(!checked.has_errors(), "{}: {:?}\n{text}", self.script, checked.diagnostics);
        checked.program.def(self.entry).unwrap().clone()
    }
}

/// `M=8,N=4`
fn sizes(text: &str) -> Sizes {
    let size = |part: &str| {
        let (name, value) = part.split_once('=').unwrap();
        (name.to_string(), value.parse::<i128>().unwrap())
    };
    text.split(',').map(size).collect()
}

/// Those that the definition has.
fn own(def: &Def, sizes: &Sizes) -> Sizes {
    let vars = def.sizes.iter().chain(def.parameters.iter().map(|p| &p.var));
    vars.filter_map(|v| Some((v.name().to_string(), sizes.get(v.name())?))).collect()
}

fn arguments(def: &Def, sizes: &Sizes) -> Vec<Value> {
    let fill = |index: usize| Fill::Random { seed: 17 + index as u64 };
    let types = def.params.iter().map(|p| concrete_type(p.ty(), sizes).unwrap());
    types.enumerate().map(|(index, ty)| generate(fill(index), &ty).unwrap()).collect()
}

/// What a device computes, for sizes that the compiler knows.
fn run_on(
    device: &mut dyn lift::Device,
    def: &Def,
    arguments: &[Value],
    sizes: &Sizes,
) -> Result<Value, lift::Error> {
    let own = own(def, sizes);
    let known = own.iter().map(|(name, value)| (name.to_string(), value)).collect();
    let options = Options { sizes: known, ..Options::default() };
    let mut compiled = Compiled::new(def, &options, device)?;
    Ok(compiled.run(device, arguments, &own)?.result)
}

#[test]
fn every_script_is_tried() {
    let files = fs::read_dir(root().join("derivations")).unwrap();
    let stems = files.map(|file| file.unwrap().path());
    let scripts: BTreeSet<String> = stems
        .filter(|path| path.extension().is_some_and(|e| e == "strategy"))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    let tried: BTreeSet<String> = DERIVATIONS.iter().map(|d| d.script.to_string()).collect();
    assert_eq!(scripts, tried);
}

#[test]
fn every_step_means_the_same() {
    for derivation in DERIVATIONS {
        let start = derivation.start();
        let sizes = sizes(derivation.small);
        let arguments = arguments(&start, &sizes);
        let expected = lift_interp::run(&start, &arguments, &own(&start, &sizes)).unwrap();
        let Outcome { derivation: steps, .. } = derivation.run();
        assert!(!steps.steps.is_empty(), "{}", derivation.script);
        for count in 1..=steps.steps.len() {
            let def = steps.after(count);
            let title = &steps.steps[count - 1];
            let found = lift_interp::run(&def, &arguments, &own(&def, &sizes))
                .unwrap_or_else(|e| panic!("{}: step {count}, {title}: {e:?}", derivation.script));
            if let Err(how) = compare(&found, &expected, true) {
                panic!("{}: step {count}, {title}: {how}", derivation.script);
            }
        }
    }
}

#[test]
fn every_derivation_replays() {
    for derivation in DERIVATIONS {
        let outcome = derivation.run();
        let text = outcome.derivation.to_string();
        let again = replay(&text).unwrap_or_else(|e| panic!("{}: {e}", derivation.script));
        assert_eq!(again.steps.len(), outcome.derivation.steps.len());
        assert!(again.end().alpha_eq(&outcome.def), "{}", derivation.script);
    }
}

#[test]
fn derived_programs_agree_on_the_cpu() {
    agree_on("cpu");
}

#[test]
fn derived_programs_agree_through_opencl() {
    agree_on("opencl:pocl");
}

/// The high-level program by default lowering on the CPU is what they are compared with.
fn agree_on(id: &str) {
    let mut reference = lift::open("cpu").unwrap();
    let mut device = lift::open(id).unwrap();
    for derivation in DERIVATIONS {
        let (start, end) = (derivation.start(), derivation.end());
        for text in derivation.large {
            let sizes = sizes(text);
            let arguments = arguments(&start, &sizes);
            let run = |def: &Def, device: &mut dyn lift::Device| {
                run_on(device, def, &arguments, &sizes)
                    .unwrap_or_else(|e| panic!("{} for {text}: {e}", derivation.script))
            };
            let expected = run(&start, &mut *reference);
            let found = run(&end, &mut *device);
            if let Err(how) = compare(&found, &expected, true) {
                panic!("{} for {text} on {id}: {how}", derivation.script);
            }
        }
    }
}

/// Not written for one program: what they make of others means the same, and runs by default lowering.
#[test]
fn strategies_apply_to_other_programs() {
    let mut devices = ["cpu", "opencl:pocl"].map(|id| lift::open(id).unwrap());
    for used in USES {
        let start = def_of(&format!("{}.lift", used.program), used.entry);
        let sizes = sizes(used.sizes);
        let arguments = arguments(&start, &sizes);
        let expected = lift_interp::run(&start, &arguments, &own(&start, &sizes)).unwrap();
        for name in used.strategies.iter().copied().flatten() {
            let text = used.place.replace('?', name);
            let strategy = read_strategy(0, &text).unwrap();
            let outcome = lift_rewrite::run(&start, &strategy);
            let def = outcome.unwrap_or_else(|e| panic!("{name} on {}: {e}", used.entry)).def;
            assert!(!def.body.alpha_eq(&start.body), "{name} does nothing to {}", used.entry);
            let found = lift_interp::run(&def, &arguments, &own(&def, &sizes)).unwrap();
            compare(&found, &expected, true).unwrap();
            for device in &mut devices {
                let found = run_on(&mut **device, &def, &arguments, &sizes);
                let found = found.unwrap_or_else(|e| panic!("{name} on {}: {e}", used.entry));
                compare(&found, &expected, true).unwrap();
            }
        }
    }
}

/// The kernels of both definitions are the same but for names.
fn same_kernels(script: &str, hand_written: &str, entry: &str) {
    let derivation = DERIVATIONS.iter().find(|d| d.script == script).unwrap();
    let (mut derived, written) = (derivation.end(), def_of(hand_written, entry));
    derived.name = written.name.clone();
    for target in [Target::Threads, Target::Loops] {
        let has = |name: &str| written.sizes.iter().any(|v| v.name() == name);
        let known = [("M", 256), ("K", 64), ("N", 3072)].into_iter().filter(|(n, _)| has(n));
        let known = known.map(|(name, value)| (name.to_string(), value)).collect();
        for sizes in [known, Default::default()] {
            let options = Options { target, sizes, ..Options::default() };
            let plans = [&derived, &written].map(|def| lower(def, &options).unwrap());
            let [derived, written] = plans.each_ref().map(|plan| &plan.kernels);
            assert_eq!(derived.len(), written.len());
            for (a, b) in derived.iter().zip(written) {
                let text = |k| opencl(&validate(&canonical_names(k)).unwrap());
                assert!(same_up_to_names(a, b), "{script}:\n{}\n{}", text(a), text(b));
            }
        }
    }
}

#[test]
fn the_derived_desktop_kernel_is_the_hand_written_one() {
    same_kernels("mm_desktop", "thesis/mm_local.lift", "mm_local");
}

#[test]
fn the_derived_kernel_for_processors_is_the_hand_written_one() {
    same_kernels("mm_cpu", "extra/mm_cpu.lift", "mm_cpu");
}

#[test]
fn derived_reductions_are_the_hand_written_ones() {
    same_kernels("llp1", "reduce/llp1.lift", "llp1");
    same_kernels("llp2", "reduce/llp2.lift", "llp2");
    same_kernels("llp3", "reduce/llp3.lift", "llp3");
}

#[test]
fn the_derived_gemv_is_the_hand_written_one() {
    same_kernels("gemv_coalesced", "thesis/gemv_coalesced.lift", "gemv_coalesced");
}

#[test]
fn the_derived_stencil_is_the_hand_written_one() {
    same_kernels("stencil_local", "stencil/jacobi2d_5_tiled.lift", "jacobi2d_5_tiled");
}

#[test]
fn the_derived_mali_kernel_is_the_one_of_the_listing() {
    same_kernels("mm_mali", "thesis/mm_mali.lift", "mm_mali");
}
