//! `lift export`: a program as a library in C that needs nothing of Lift.

use std::path::PathBuf;

use lift::{DeviceInfo, Error};
use lift_export::{Library, Listed};
use lift_interp::Sizes;
use lift_ir::Def;

use crate::arguments::{self, SizeArgument, by_name, parse_sizes};
use crate::compile::Target;
use crate::lowering_flags::LoweringFlags;
use crate::report::{Failure, load, remark};
use crate::{entry, output, stored};

/// Export a program as a C library that needs nothing of Lift
///
/// Writes a header, a source, and files for CMake and pkg-config. There are kernels for each list of sizes that `--at`
/// gives, the form that `lift tune` found for the device where there is one, and kernels for all other sizes.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:\n\
\x20 lift export programs/mm.lift --target c --at M=512,K=512,N=512 --at M=64,K=64,N=64 -o mm\n\
\x20 lift export programs/thesis/gemv.lift --target opencl --entry gemv_t -o gemv\n\
\x20 lift export programs/mm.lift --target cuda --at K=512 --name matmul -o matmul")]
pub struct Options {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What the library is made of: C with OpenMP, OpenCL, or CUDA's driver API
    #[arg(long, value_enum, value_name = "TARGET")]
    target: Target,
    /// The definition to export: `main` or the last one otherwise
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// Sizes that have kernels of their own, as in M=512,K=512; may be repeated
    #[arg(long, value_name = "SIZES", value_parser = parse_sizes)]
    at: Vec<SizeArgument>,
    /// Parameters of the program, as in T=16; may be repeated
    #[arg(long = "size", value_name = "PARAMETERS", value_parser = parse_sizes)]
    sizes: Vec<SizeArgument>,
    /// No kernels for sizes that are not listed: the function refuses them
    #[arg(long, requires = "at")]
    no_others: bool,
    /// What the function and the files are called, otherwise as the definition
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    name: Option<String>,
    /// Write the files to this folder
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// The device whose tuned forms are taken: `cpu`, `opencl:0` or `cuda:0` otherwise
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// The tuning database, instead of the one in the user's data folder
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// Export the program as it is, also where a tuned form of it is stored
    #[arg(long)]
    untuned: bool,
    #[command(flatten)]
    flags: LoweringFlags,
    /// Accept programs with `extern` functions
    #[arg(long)]
    allow_extern: bool,
}

fn parse_name(text: &str) -> Result<String, String> {
    let is_name = text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !text.starts_with("lift_")
        && text.len() <= 48;
    let advice = "a name begins with a small letter, and has letters, digits and `_`";
    is_name.then(|| text.to_string()).ok_or_else(|| advice.to_string())
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let checked = load(&options.file)?;
    let def = entry::find(&checked, &options.file, options.entry.as_deref())?;
    entry::permit_extern(def, options.allow_extern)?;
    let language = options.target.language();
    let parameters = arguments::sizes(def, &options.sizes)?;
    let lowering = lift::Options { sizes: by_name(&parameters), ..options.flags.options() };
    let device = device(options)?;
    let mut listed = Vec::new();
    for at in &options.at {
        let sizes = arguments::sizes(def, std::slice::from_ref(at))?;
        let tuned = tuned(def, &sizes, device.as_ref(), options)?;
        let form = tuned.unwrap_or_else(|| def.clone());
        listed.push(Listed { def: form, sizes: by_name(&sizes) });
    }
    let name = options.name.clone().unwrap_or_else(|| Library::usual_name(def));
    let others = !options.no_others;
    let library = Library { name: &name, def, language, options: &lowering, listed, others };
    let files = library.files().map_err(|error| Failure::compile(error, &checked.sources))?;
    output::fill_folder(&options.output, &files).map_err(|e| {
        Failure::message(format!("cannot write to {}: {e}", options.output.display()))
    })?;
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    remark(&format!("wrote {} to {}", names.join(", "), options.output.display()));
    Ok(())
}

/// The device whose tuned forms are taken. One that is not there has none, unless it was asked for.
fn device(options: &Options) -> Result<Option<DeviceInfo>, Failure> {
    if options.untuned || options.at.is_empty() {
        return Ok(None);
    }
    let usual = match options.target {
        Target::C => "cpu",
        Target::OpenCl => "opencl:0",
        Target::Cuda => "cuda:0",
    };
    let id = options.device.as_deref().unwrap_or(usual);
    match lift::open(id) {
        Ok(device) if device.info().language == options.target.language() => {
            Ok(Some(device.info().clone()))
        }
        Ok(_) => {
            Err(Failure::message(format!("the kernels of `{id}` are not in the target's language")))
        }
        Err(error) if options.device.is_some() => {
            Err(Failure::message(Error::Device(error).to_string()))
        }
        Err(_) => {
            remark(&format!("there is no device {usual}, so no tuned forms are looked for"));
            Ok(None)
        }
    }
}

/// The stored form for these sizes; the user is told which form is taken.
fn tuned(
    def: &Def,
    sizes: &Sizes,
    device: Option<&DeviceInfo>,
    options: &Options,
) -> Result<Option<Def>, Failure> {
    let Some(device) = device else { return Ok(None) };
    let path = match (stored::path(options.db.as_deref()), &options.db) {
        (Ok(path), _) => path,
        (Err(_), None) => return Ok(None),
        (Err(error), Some(_)) => return Err(error),
    };
    let best = stored::tuned(&path, def, sizes, device, false, options.allow_extern)?;
    match &best {
        Some(best) => remark(&format!("{sizes}: the tuned program {}", best.id)),
        None => remark(&format!("{sizes}: the program as it is, since no tuned form is stored")),
    }
    Ok(best.map(|best| best.def))
}
