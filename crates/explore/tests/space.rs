//! Spaces of low-level programs: every program of one means what the high-level program means.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use lift_execute::Compiled;
use lift_explore::candidate::{Candidate, Goal};
use lift_explore::parameters::{Bounds, Choices, Values, assignments, local_counts};
use lift_explore::space::algorithms::Limits;
use lift_explore::space::{MAPPING, RECIPES, Space, Variant, everything, space};
use lift_interp::inputs::{Fill, generate};
use lift_interp::{Sizes, Value, compare, concrete_type};
use lift_ir::Def;
use lift_lower::{Options, Role, Target, lower};
use lift_model::features::Machine;
use lift_runtime::Language;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn def_of(file: &str, entry: &str) -> Def {
    let checked = lift_syntax::check_file(&root().join("programs").join(file)).unwrap();
    checked.program.def(entry).unwrap().clone()
}

fn contractions(def: &Def) -> Space {
    let text = include_str!("../spaces/contractions.strategy");
    space(def, &lift_rewrite::read_script(0, text).unwrap()).unwrap()
}

fn values(pairs: &[(&str, i128)]) -> Values {
    pairs.iter().map(|(name, value)| (name.to_string(), *value)).collect()
}

/// Few values, small groups.
fn small(values: &[i128]) -> Bounds {
    Bounds {
        values: values.to_vec(),
        largest_divisor: 0,
        fewest_items: 1,
        most_items: 64,
        most_copies: 64,
        ..Bounds::default()
    }
}

fn goal(sizes: &Values) -> Goal {
    Goal { sizes: sizes.clone(), language: Language::OpenCl, machine: Machine::default() }
}

fn arguments(def: &Def, sizes: &Sizes) -> Vec<Value> {
    let argument = |(i, p): (usize, &lift_ir::Param)| {
        let ty = concrete_type(p.ty(), sizes).unwrap();
        generate(Fill::Random { seed: i as u64 }, &ty).unwrap()
    };
    def.params.iter().enumerate().map(argument).collect()
}

#[test]
fn every_program_of_the_space_means_the_same() {
    let def = def_of("mm.lift", "mm");
    let sizes = values(&[("M", 16), ("K", 8), ("N", 16)]);
    let given: Sizes = sizes.iter().map(|(n, v)| (n.clone(), *v)).collect();
    let arguments = arguments(&def, &given);
    let expected = lift_interp::run(&def, &arguments, &given).unwrap();
    let space = contractions(&def);
    assert!(space.variants.len() >= 20, "{}", space.variants.len());
    assert_eq!(space.misplaced, 0);
    let bounds = small(&[1, 2, 4]);
    for variant in &space.variants {
        let chosen = assignments(&variant.def, &sizes, &bounds, 1);
        let chosen = chosen.first().unwrap_or_else(|| panic!("no values for\n{}", variant.def));
        let made = Candidate::new(&variant.def, chosen, &goal(&sizes)).unwrap();
        // The text alone is the program.
        let checked = lift_syntax::check_text("candidate", &made.text);
        assert!(!checked.has_errors(), "{}\n{}", checked.render(false), made.text);
        let found = checked.program.def("mm").unwrap();
        let found = lift_interp::run(found, &arguments, &given).unwrap();
        compare(&found, &expected, true).unwrap();
    }
}

#[test]
fn programs_for_processors_mean_the_same_and_are_for_processors_alone() {
    let def = def_of("mm.lift", "mm");
    let sizes = values(&[("M", 64), ("K", 64), ("N", 64)]);
    let given: Sizes = sizes.iter().map(|(n, v)| (n.clone(), *v)).collect();
    let arguments = arguments(&def, &given);
    let expected = lift_interp::run(&def, &arguments, &given).unwrap();
    let limits = Limits { depth: 0, ..Limits::default() };
    let packed = |target| {
        let mut all = everything(&def, &sizes, target, &limits).unwrap().variants;
        all.retain(|v| v.origin == "processors");
        all
    };
    assert!(packed(Target::Threads).is_empty());
    let found = packed(Target::Loops);
    assert_eq!(found.len(), 2);
    for variant in found {
        let chosen = assignments(&variant.def, &sizes, &Bounds::default(), 1);
        let goal = Goal { language: Language::C, ..goal(&sizes) };
        let made = Candidate::new(&variant.def, &chosen[0], &goal).unwrap();
        let found = lift_interp::run(&made.def, &arguments, &given).unwrap();
        compare(&found, &expected, true).unwrap();
    }
}

/// What the compiler would choose may be said; the text says so, and the kernel is another.
#[test]
fn schedules_are_varied() {
    let mm = def_of("mm.lift", "mm");
    let sizes = values(&[("M", 64), ("K", 64), ("N", 64)]);
    let tiles = |prims: &str| prims.contains("toLocal") && prims.contains("mapLcl(1)");
    varies(&mm, &sizes, Target::Threads, "PAD", "padding(PAD)", &[0, 1, 4], &tiles);
    let sums = |prims: &str| prims.contains("toLocal") && prims.contains("reduceSeq");
    varies(&mm, &sizes, Target::Threads, "STAGES", "stages(STAGES)", &[0, 1, 3], &sums);
    let gaussian = def_of("stencil/gaussian_25.lift", "gaussian_25");
    let sizes = values(&[("N", 64), ("M", 64)]);
    let windows = |prims: &str| prims.contains("slide");
    varies(&gaussian, &sizes, Target::Loops, "ROWS", "rows(ROWS)", &[0, 1, 2, 8], &windows);
    let grid = def_of("stencil/heat3d.lift", "heat3d");
    let sizes = values(&[("D", 64), ("N", 64), ("M", 64)]);
    let cubes = |prims: &str| prims.contains("slide") && prims.contains("mapGlb(2)");
    varies(
        &grid,
        &sizes,
        Target::Loops,
        "BLOCK",
        "blocks(BLOCK, 2 * BLOCK)",
        &[0, 1, 8, 128],
        &cubes,
    );
}

/// The values of a parameter are tried for programs in which it matters and for no others, each said by a clause and
/// another kernel.
fn varies(
    def: &Def,
    sizes: &Values,
    target: Target,
    name: &str,
    clause: &str,
    tried: &[i128],
    matters: &dyn Fn(&str) -> bool,
) {
    let limits = Limits { depth: 0, ..Limits::default() };
    let all = everything(def, sizes, target, &limits).unwrap().variants;
    let offered = |v: &Variant| v.def.parameters.iter().any(|p| p.var.name() == name);
    for variant in &all {
        let text = variant.def.to_string();
        assert_eq!(offered(variant), matters(&text), "{name}: {text}");
    }
    let goal = Goal { language: language(target), ..goal(sizes) };
    let changes = |variant: &&Variant| {
        let mut seen = (BTreeSet::new(), HashSet::new());
        for values in assignments(&variant.def, sizes, &small(&[4]), 24) {
            let others =
                |n: &String| n == name || !["PAD", "STAGES", "ROWS", "BLOCK"].contains(&n.as_str());
            if values.iter().any(|(n, value)| !others(n) && *value > 0) {
                continue;
            }
            let Ok(made) = Candidate::new(&variant.def, &values, &goal) else { continue };
            assert_eq!(made.text.contains(clause), values[name] > 0, "{}", made.text);
            seen.0.insert(values[name]);
            seen.1.insert(made.kernel_hash);
        }
        seen.0.into_iter().eq(tried.iter().copied()) && seen.1.len() >= tried.len() - 1
    };
    assert!(all.iter().filter(|v| offered(v)).any(|v| changes(&v)), "{name} changes nothing");
}

fn language(target: Target) -> Language {
    match target {
        Target::Threads => Language::OpenCl,
        Target::Loops => Language::C,
    }
}

/// What the recipe for all pairs makes of a program.
fn pairs(def: &Def) -> Vec<Def> {
    let (_, text) = RECIPES.iter().find(|(name, _)| *name == "pairs").unwrap();
    let space = space(def, &lift_rewrite::read_script(0, text).unwrap()).unwrap();
    assert_eq!(space.misplaced, 0);
    space.variants.into_iter().map(|v| v.def).collect()
}

/// A program computes, by the interpreter and on the CPU, what another one means.
fn agree_on_cpu(found: &Def, meant: &Def, sizes: &Values) {
    let given: Sizes = sizes.iter().map(|(n, v)| (n.clone(), *v)).collect();
    let arguments = arguments(meant, &given);
    let expected = lift_interp::run(meant, &arguments, &given).unwrap();
    let interpreted = lift_interp::run(found, &arguments, &given).unwrap();
    compare(&interpreted, &expected, true).unwrap_or_else(|e| panic!("{e}\n{found}"));
    let mut cpu = lift_runtime::open("cpu").unwrap();
    let options = Options { sizes: sizes.clone(), ..Options::default() };
    let mut compiled = Compiled::new(found, &options, &mut *cpu).unwrap();
    let computed = compiled.run(&mut *cpu, &arguments, &given).unwrap().result;
    compare(&computed, &expected, true).unwrap_or_else(|e| panic!("{e}\n{found}"));
}

/// With values by which a group has several work-items, blocks, parts and tiles.
fn small_pairs(variant: &Def, sizes: &Values) -> Candidate {
    let named = [("T", 4), ("R", 2), ("P", 2), ("P_1", 2), ("S", 4)];
    let named = named.map(|(name, value)| (name.to_string(), vec![value])).into();
    let chosen = assignments(variant, sizes, &Bounds { named, ..small(&[1]) }, 1);
    let chosen = chosen.first().unwrap_or_else(|| panic!("no values for\n{variant}"));
    Candidate::new(variant, chosen, &goal(sizes)).unwrap()
}

/// One kernel each, of folds in parts (P) or whole, for blocks (R) or single elements, with tiles (S) or without.
#[test]
fn programs_for_all_pairs_mean_the_same() {
    for (file, entry, sizes) in [
        ("thesis/nbody.lift", "nbody", values(&[("N", 16)])),
        ("thesis/mriq.lift", "q", values(&[("X", 24), ("K", 16)])),
    ] {
        let def = def_of(file, entry);
        let mut forms = Vec::new();
        for variant in pairs(&def) {
            let made = small_pairs(&variant, &sizes);
            agree_on_cpu(&made.def, &def, &sizes);
            let options =
                Options { target: Target::Threads, sizes: sizes.clone(), ..Options::default() };
            let kernels = lower(&made.def, &options).unwrap().kernels;
            let [kernel] = kernels.as_slice() else { panic!("{} kernels", kernels.len()) };
            assert!(!kernel.locals.is_empty(), "{}", made.text);
            let names: Vec<&str> = made.parameters.keys().map(String::as_str).collect();
            let known = sizes.iter().chain(&made.parameters);
            let known: Values = known.map(|(n, v)| (n.clone(), *v)).collect();
            let items: i128 = local_counts(&variant, &known).unwrap().iter().product();
            assert_eq!(items, if names.contains(&"P") { 8 } else { 4 }, "{}", made.text);
            forms.push(names.concat());
        }
        forms.sort_unstable();
        assert_eq!(forms, ["PRST", "PRT", "PRT", "PST", "PT", "RST", "ST"], "{file}");
    }
}

#[test]
fn pairs_of_rows_of_any_length_are_folded_in_parts() {
    let def = def_of("thesis/kmeans.lift", "kmeans");
    let sizes = values(&[("P", 16), ("F", 3), ("C", 8)]);
    let limits = Limits { depth: 0, ..Limits::default() };
    let all = everything(&def, &sizes, Target::Threads, &limits).unwrap().variants;
    let has = |def: &Def, name: &str| def.parameters.iter().any(|p| p.var.name() == name);
    // The program has a `P` already. Blocks and tiles have rows in them.
    let is_plain = |def: &Def| has(def, "P_1") && !has(def, "R") && !has(def, "S");
    let mut pairs = all.into_iter().filter(|v| v.origin == "pairs").map(|v| v.def);
    let variant = pairs.find(is_plain).unwrap();
    agree_on_cpu(&small_pairs(&variant, &sizes).def, &def, &sizes);
}

#[test]
fn there_are_no_programs_for_all_pairs_of_other_programs() {
    for (file, entry) in [
        ("mm.lift", "mm"),
        ("thesis/gemv.lift", "gemv"),
        ("thesis/md.lift", "md"),
        ("reduce/sum.lift", "sum"),
        ("extra/axpy.lift", "axpy"),
        ("stencil/jacobi2d_5.lift", "jacobi2d_5"),
    ] {
        assert!(pairs(&def_of(file, entry)).is_empty(), "{file}");
    }
}

#[test]
fn a_space_is_empty_where_nothing_fits() {
    assert!(contractions(&def_of("reduce/sum.lift", "sum")).variants.is_empty());
}

#[test]
fn values_meet_clauses_and_groups_have_a_sensible_size() {
    let def = def_of("mm.lift", "mm");
    let sizes = values(&[("M", 64), ("K", 48), ("N", 96)]);
    let space = contractions(&def);
    let bounds = Bounds { fewest_items: 16, most_copies: 16, ..small(&[1, 2, 3, 4, 8, 16, 32]) };
    let has = |def: &Def, name: &str| def.parameters.iter().any(|p| p.var.name() == name);
    let mut blocked = space.variants.iter().map(|v| &v.def);
    let last = blocked.find(|def| has(def, "RM") && has(def, "TN")).unwrap();
    let all = assignments(last, &sizes, &bounds, 200);
    assert!(!all.is_empty());
    for chosen in &all {
        let known: Values = sizes.iter().chain(chosen).map(|(n, v)| (n.clone(), *v)).collect();
        let value = |v: &lift_ir::Var| known.get(v.name()).copied();
        assert!(last.wheres.iter().all(|c| c.pred.eval(&value) == Ok(true)), "{chosen:?}");
        let items: i128 = local_counts(last, &known).unwrap().iter().product();
        assert!((16..=64).contains(&items), "{chosen:?}");
        // A block of results is written out.
        assert!(known["RM"] * known["TN"] <= 16, "{chosen:?}");
    }
    let choices = Choices::new(last, &sizes, &bounds);
    let some = choices.some(&mut |values| values.iter().rev().copied().collect()).unwrap();
    let everything = assignments(last, &sizes, &bounds, usize::MAX);
    assert!(everything.contains(&some));
    assert_eq!(choices.count(usize::MAX), everything.len());
    assert!(everything.iter().all(|values| choices.allows(values)));
    let beyond: Values = some.iter().map(|(name, value)| (name.clone(), value * 1024)).collect();
    assert!(!choices.allows(&beyond));
}

#[test]
fn divisors_of_sizes_are_values_too() {
    let def = def_of("extra/axpy.lift", "axpy");
    let space = everything(
        &def,
        &values(&[("N", 1000)]),
        Target::Threads,
        &Limits { depth: 1, ..Limits::default() },
    )
    .unwrap();
    let split = space.variants.iter().find(|v| !v.def.parameters.is_empty()).unwrap();
    let all = assignments(&split.def, &values(&[("N", 1000)]), &Bounds::default(), usize::MAX);
    assert!(all.iter().any(|v| v.values().any(|n| *n == 125)), "{all:?}");
}

#[test]
fn every_script_can_be_read() {
    for (name, text) in RECIPES.iter().chain(&[("mapping", MAPPING)]) {
        let read = lift_rewrite::read_script(0, text);
        assert!(read.is_ok(), "{name}: {read:?}");
    }
}

/// Fewer algorithms than usual, so that the test is fast.
fn all_of(file: &str, entry: &str) -> Space {
    let limits = Limits { depth: 2, breadth: 4, ..Limits::default() };
    everything(&def_of(file, entry), &Values::new(), Target::Threads, &limits).unwrap()
}

#[test]
fn stencils_reductions_and_products_have_twenty_programs_or_more() {
    let programs = [
        ("mm.lift", "mm"),
        ("thesis/gemv.lift", "gemv"),
        ("thesis/gemv.lift", "gemv_t"),
        ("reduce/sum.lift", "sum"),
        ("reduce/dot.lift", "dot"),
        ("reduce/asum.lift", "asum"),
        ("reduce/min.lift", "minimum"),
        ("reduce/argmin.lift", "argmin"),
        ("stencil/acoustic3d.lift", "acoustic3d"),
        ("stencil/gaussian_25.lift", "gaussian_25"),
        ("stencil/gradient.lift", "gradient"),
        ("stencil/heat3d.lift", "heat3d"),
        ("stencil/hotspot2d.lift", "hotspot2d"),
        ("stencil/jacobi2d_5.lift", "jacobi2d_5"),
        ("stencil/jacobi2d_9.lift", "jacobi2d_9"),
        ("stencil/jacobi3d_7.lift", "jacobi3d_7"),
        ("stencil/srad1.lift", "srad1"),
        ("stencil/srad2.lift", "srad2"),
        ("stencil/stencil2d.lift", "stencil2d"),
    ];
    for (file, entry) in programs {
        let count = all_of(file, entry).variants.len();
        assert!(count >= 20, "{file}: {count}");
    }
}

#[test]
fn a_name_of_the_program_is_no_obstacle() {
    // `C`, `E`, `L` and `U` are parameters of the script for reductions.
    let text = "def f[C](E: [f32; C]) -> f32 = E |> reduce(0.0, (+));";
    let checked = lift_syntax::check_text("f.lift", text);
    let def = checked.program.entry().unwrap();
    let space =
        everything(def, &Values::new(), Target::Threads, &Limits { depth: 0, ..Limits::default() })
            .unwrap();
    assert!(space.variants.len() >= 20, "{}", space.variants.len());
}

/// Whatever moves and mappings make means what the program means.
#[test]
fn what_moves_lead_to_means_the_same() {
    let limits = Limits { depth: 3, breadth: 4, ..Limits::default() };
    for (file, entry, sizes) in [
        ("thesis/gemv.lift", "gemv", values(&[("M", 8), ("N", 16)])),
        ("stencil/jacobi2d_5.lift", "jacobi2d_5", values(&[("M", 16), ("N", 8)])),
        ("stencil/jacobi2d_5.lift", "jacobi2d_5", values(&[("M", 13), ("N", 7)])),
    ] {
        let def = def_of(file, entry);
        let given: Sizes = sizes.iter().map(|(n, v)| (n.clone(), *v)).collect();
        let arguments = arguments(&def, &given);
        let expected = lift_interp::run(&def, &arguments, &given).unwrap();
        let space = everything(&def, &sizes, Target::Threads, &limits).unwrap();
        let mut compared = 0;
        for variant in &space.variants {
            // A list of an odd length may have no values that fit.
            let fitting = assignments(&variant.def, &sizes, &small(&[1, 2, 4]), 1);
            let Some(chosen) = fitting.first() else { continue };
            let Ok(made) = Candidate::new(&variant.def, chosen, &goal(&sizes)) else { continue };
            let found = lift_interp::run(&made.def, &arguments, &given).unwrap();
            compare(&found, &expected, true).unwrap_or_else(|e| panic!("{e}\n{}", made.text));
            compared += 1;
        }
        assert!(compared >= 15, "{file}: {compared} of {}", space.variants.len());
    }
}

#[test]
fn parameters_with_values_stay_unless_they_are_named() {
    let text = "def f[N; K = 3](xs: [f32; N]) -> [f32; N] = map(\\x -> x * (K as f32), xs);";
    let checked = lift_syntax::check_text("f.lift", text);
    assert!(!checked.has_errors(), "{}", checked.render(false));
    let def = checked.program.entry().unwrap();
    let sizes = values(&[("N", 8)]);
    let usual = assignments(def, &sizes, &Bounds::default(), 10);
    assert_eq!(usual, [Values::new()]);
    let named = [("K".to_string(), vec![1, 2])].into();
    let asked = assignments(def, &sizes, &Bounds { named, ..Bounds::default() }, 10);
    assert_eq!(asked, [values(&[("K", 1)]), values(&[("K", 2)])]);
}

/// Tiles of rows whose length is known with the sizes alone.
#[test]
fn programs_that_need_sizes_to_be_compiled_are_candidates() {
    let def = def_of("thesis/kmeans.lift", "kmeans");
    let sizes = values(&[("P", 64), ("C", 8), ("F", 4)]);
    let limits = Limits { depth: 0, ..Limits::default() };
    let all = everything(&def, &sizes, Target::Threads, &limits).unwrap();
    let tiled = all.variants.iter().filter(|v| v.origin == "pairs");
    let bounds = small(&[1, 2, 4, 8]);
    let made = tiled.filter_map(|v| {
        let chosen = assignments(&v.def, &sizes, &bounds, 1);
        Candidate::new(&v.def, chosen.first()?, &goal(&sizes)).ok()
    });
    let local = made.filter(|candidate| candidate.text.contains("toLocal")).count();
    assert!(local >= 2, "{local}");
}

#[test]
fn a_matrix_is_turned_around_in_local_memory() {
    let def = def_of("extra/transpose.lift", "transposed");
    let sizes = values(&[("M", 16), ("N", 32)]);
    let given: Sizes = sizes.iter().map(|(n, v)| (n.clone(), *v)).collect();
    let arguments = arguments(&def, &given);
    let expected = lift_interp::run(&def, &arguments, &given).unwrap();
    let limits = Limits { depth: 0, ..Limits::default() };
    let all = everything(&def, &sizes, Target::Threads, &limits).unwrap();
    let chosen: Vec<Candidate> = all
        .variants
        .iter()
        .flat_map(|v| {
            let values = assignments(&v.def, &sizes, &small(&[4, 8]), 3);
            values.into_iter().map(|values| Candidate::new(&v.def, &values, &goal(&sizes)).unwrap())
        })
        .filter(|candidate| candidate.text.contains("toLocal"))
        .collect();
    assert!(chosen.iter().any(|candidate| candidate.text.contains("padding")));
    for made in chosen {
        let found = lift_interp::run(&made.def, &arguments, &given).unwrap();
        compare(&found, &expected, false).unwrap();
    }
}

/// Arrays that a group shares are in local memory, those that a work-item goes through again in registers.
#[test]
fn what_is_used_again_is_copied() {
    let def = def_of("thesis/kmeans.lift", "kmeans");
    let sizes = values(&[("P", 32), ("C", 4), ("F", 3)]);
    let given: Sizes = sizes.iter().map(|(n, v)| (n.clone(), *v)).collect();
    let arguments = arguments(&def, &given);
    let expected = lift_interp::run(&def, &arguments, &given).unwrap();
    let limits = Limits { depth: 1, ..Limits::default() };
    let all = everything(&def, &sizes, Target::Threads, &limits).unwrap();
    let mapped: Vec<&Variant> = all.variants.iter().filter(|v| v.origin == "mapping").collect();
    for memory in ["toLocal", "toPrivate"] {
        let copied = mapped.iter().filter(|v| v.def.to_string().contains(memory));
        let chosen: Vec<&Variant> = copied.copied().collect();
        assert!(!chosen.is_empty(), "{memory}");
        for variant in chosen {
            let values = assignments(&variant.def, &sizes, &small(&[2, 4]), 1);
            let Some(values) = values.first() else { continue };
            let made = Candidate::new(&variant.def, values, &goal(&sizes)).unwrap();
            let found = lift_interp::run(&made.def, &arguments, &given).unwrap();
            compare(&found, &expected, false).unwrap();
        }
    }
}

/// Triangles are mapped in four ways, each of which stores elements at the numbers of their points.
#[test]
fn triangles_are_mapped_in_four_ways_without_memory_between() {
    let def = def_of("domain/triangles.lift", "skew");
    let sizes = values(&[("N", 64)]);
    let limits = Limits { depth: 1, ..Limits::default() };
    let all = everything(&def, &sizes, Target::Threads, &limits).unwrap();
    let options = Options { sizes: sizes.clone(), ..Options::default() };
    let is_direct = |variant: &&Variant| {
        lower(&variant.def, &options).is_ok_and(|plan| {
            let stored = plan.buffers.iter().filter(|b| b.role == Role::Temporary).count();
            (plan.kernels.len(), stored) == (1, 0)
        })
    };
    for rule in ["domain_by_rank", "domain_in_box", "domain_by_rows", "domain_folded"] {
        let uses = |v: &&Variant| v.derivation.steps.iter().any(|step| step.rule.name == rule);
        let found = all.variants.iter().filter(uses).filter(is_direct).count();
        assert!(found > 0, "{rule}");
    }
}
