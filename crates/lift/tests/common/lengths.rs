//! Maps over work-items, groups and lanes, of lengths below, equal to and above how many there are.

use std::fmt::Display;
use std::path::Path;

use lift::{Compiled, Def, Device, Options, Sizes, Value};
use lift_interp::inputs::{Fill, generate};
use lift_interp::{compare, concrete_type, run as interpret};

/// A file of definitions in `filetests/lengths` and how they run.
struct File {
    name: &'static str,
    /// Work-items of a group; the lengths below go around them.
    local: &'static [u64],
    /// Two groups in every dimension.
    global: &'static [u64],
    /// Pairs of N and M.
    lengths: &'static [(i128, i128)],
    /// Kernels take the sizes as arguments.
    open: bool,
}

const FILES: &[File] = &[
    File {
        name: "open.lift",
        local: &[32],
        global: &[64],
        lengths: &[(1, 3), (31, 2), (32, 3), (33, 1), (64, 2), (100, 5)],
        open: true,
    },
    File {
        name: "fixed.lift",
        local: &[32],
        global: &[64],
        lengths: &[(31, 3), (32, 1), (100, 2)],
        open: false,
    },
    File {
        name: "nothing.lift",
        local: &[32],
        global: &[64],
        lengths: &[(1, 1), (1, 3), (2, 1), (35, 2)],
        open: true,
    },
    File {
        name: "nothing.lift",
        local: &[32],
        global: &[64],
        lengths: &[(1, 1), (1, 2), (2, 1)],
        open: false,
    },
    File {
        name: "open_planes.lift",
        local: &[8, 4],
        global: &[16, 8],
        lengths: &[(1, 1), (7, 3), (8, 4), (9, 5), (16, 8), (35, 2), (2, 19)],
        open: true,
    },
    File {
        name: "fixed_planes.lift",
        local: &[8, 4],
        global: &[16, 8],
        lengths: &[(7, 4), (8, 3), (17, 9)],
        open: false,
    },
];

/// Every definition gives at all lengths what the interpreter gives, exactly.
///
/// There are two groups in every dimension, be they fewer or more than there is work for, or as many
/// as the compiler chooses.
pub fn every_length_agrees_on(device: &mut dyn Device, two_groups: bool) {
    let (mut count, mut faults) = (0, Vec::new());
    for file in FILES {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../filetests/lengths");
        let checked = lift_syntax::check_file(&folder.join(file.name)).unwrap();
        for def in &checked.program.defs {
            let all: Vec<Sizes> = file.lengths.iter().map(|(n, m)| sizes(def, *n, *m)).collect();
            count += all.len();
            // Where sizes are open, the kernels are the same for all of them.
            for same in all.chunks(if file.open { all.len() } else { 1 }) {
                if let Err(fault) = agree(def, same, &options(file, &same[0], two_groups), device) {
                    faults.push(format!("{} {} {fault}", file.name, def.name));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{} of {count}:\n{}", faults.len(), faults.join("\n"));
    assert!(count > 150, "only {count} runs");
}

fn sizes(def: &Def, n: i128, m: i128) -> Sizes {
    let has = |name: &str| def.sizes.iter().any(|var| var.name() == name);
    [("N", n), ("M", m)].into_iter().filter(|(name, _)| has(name)).collect()
}

fn options(file: &File, sizes: &Sizes, two_groups: bool) -> Options {
    let fixed = sizes.iter().filter(|_| !file.open);
    Options {
        sizes: fixed.map(|(name, value)| (name.to_string(), value)).collect(),
        local: Some(file.local.to_vec()),
        global: two_groups.then(|| file.global.to_vec()),
        ..Options::default()
    }
}

/// Compiles once, runs with all sizes.
fn agree(
    def: &Def,
    all: &[Sizes],
    options: &Options,
    device: &mut dyn Device,
) -> Result<(), String> {
    let mut compiled = Compiled::new(def, options, device).map_err(|e| e.to_string())?;
    for sizes in all {
        let fault = |error: &dyn Display| format!("with {sizes}: {error}");
        let mut args: Vec<Value> = Vec::new();
        for param in &def.params {
            args.push(generate(Fill::Iota, &concrete_type(param.ty(), sizes).unwrap()).unwrap());
        }
        let expected = interpret(def, &args, sizes).unwrap();
        let run = compiled.run(device, &args, sizes).map_err(|e| fault(&e))?;
        compare(&run.result, &expected, false).map_err(|e| fault(&e))?;
    }
    Ok(())
}
