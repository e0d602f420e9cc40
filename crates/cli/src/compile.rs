//! `lift compile`: kernels as text, and the plan to run them.

pub mod kernels;
mod passes;

use std::path::PathBuf;

use lift::{Language, compile_files, compile_text};

use crate::arguments::{self, SizeArgument, Threads, by_name, parse_sizes, parse_threads};
use crate::lowering_flags::LoweringFlags;
use crate::report::{Failure, load, say};
use crate::{entry, output};

/// Compile a program to kernels in OpenCL C, CUDA C or C
///
/// Sizes that `--size` does not fix are arguments of the kernels. With `-o` the kernels and
/// `plan.json`, by which a host runs them, are written to a folder.
///
/// `--passes` lists what becomes of a program on the way; `--after` shows it. A file of kernels as
/// `--after` shows them, called `NAME.kernel`, is checked and printed for the target.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:\n\
\x20 lift compile programs/reduce/dot.lift --target opencl\n\
\x20 lift compile programs/mm.lift --target cuda --size K=512 --local 16,16 -o kernels\n\
\x20 lift compile programs/thesis/gemv.lift --target c --entry gemv_t\n\
\x20 lift compile --passes\n\
\x20 lift compile programs/thesis/mm_local.lift --target opencl --after barriers\n\
\x20 lift compile programs/kernels/saxpy.kernel --target cuda")]
pub struct Options {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present = "passes")]
    file: Option<PathBuf>,
    /// The language of the kernels
    #[arg(long, value_enum, value_name = "TARGET", required_unless_present = "passes")]
    target: Option<Target>,
    /// The definition to compile: `main` or the last one otherwise
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// Sizes and parameters, as in N=1024 or M=512,N=512; may be repeated
    #[arg(long = "size", value_name = "SIZES", value_parser = parse_sizes)]
    sizes: Vec<SizeArgument>,
    /// Work-items of a group in each dimension, as in 16,16, instead of the program's
    #[arg(long, value_name = "COUNTS", value_parser = parse_threads)]
    local: Option<Threads>,
    /// Work-items of a launch in each dimension, as in 1024,1024, instead of the program's
    #[arg(long, value_name = "COUNTS", value_parser = parse_threads)]
    global: Option<Threads>,
    /// Write `NAME.cl`, `.cu` or `.c` for each kernel, and `plan.json`, to this folder
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// List the passes of the compiler: name, what it is for, what it does
    #[arg(long, exclusive = true)]
    passes: bool,
    /// Print what there is after a pass, instead of kernels for the target
    #[arg(long, value_name = "PASS", conflicts_with_all = ["output", "timing"])]
    after: Option<String>,
    /// Print what each pass took, instead of kernels
    #[arg(long, conflicts_with = "output")]
    timing: bool,
    #[command(flatten)]
    flags: LoweringFlags,
    /// Accept programs with `extern` functions
    #[arg(long)]
    allow_extern: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
pub enum Target {
    #[value(name = "opencl")]
    OpenCl,
    Cuda,
    C,
}

impl Target {
    pub fn language(self) -> Language {
        match self {
            Target::OpenCl => Language::OpenCl,
            Target::Cuda => Language::Cuda,
            Target::C => Language::C,
        }
    }
}

impl Options {
    /// An option that means nothing where a kernel is given.
    fn of_programs(&self) -> Option<&'static str> {
        [
            ("--entry", self.entry.is_some()),
            ("--size", !self.sizes.is_empty()),
            ("--local", self.local.is_some()),
            ("--global", self.global.is_some()),
            ("--output", self.output.is_some()),
            ("--after", self.after.is_some()),
            ("--timing", self.timing),
        ]
        .into_iter()
        .find_map(|(flag, is_given)| is_given.then_some(flag))
    }
}

pub fn run(options: &Options) -> Result<(), Failure> {
    if options.passes {
        return passes::list();
    }
    let (Some(file), Some(target)) = (&options.file, options.target) else {
        return Err(Failure::message("a program and a target are needed".to_owned()));
    };
    if kernels::is_kernels(file) {
        if let Some(flag) = options.of_programs() {
            let text = format!("`{flag}` is for programs: a kernel is compiled as it is");
            return Err(Failure::message(text));
        }
        return say(&kernels::compile(file, target.language(), options.allow_extern)?);
    }
    let after = options.after.as_deref().map(passes::find).transpose()?;
    let checked = load(file)?;
    let def = entry::find(&checked, file, options.entry.as_deref())?;
    entry::permit_extern(def, options.allow_extern)?;
    let sizes = arguments::sizes(def, &options.sizes)?;
    let lowering = lift::Options {
        sizes: by_name(&sizes),
        local: options.local.as_ref().map(|t| t.0.clone()),
        global: options.global.as_ref().map(|t| t.0.clone()),
        ..options.flags.options()
    };
    let language = target.language();
    let failed = |error| Failure::compile(error, &checked.sources);
    if let Some(pass) = after {
        return say(&passes::after(def, &lowering, language, pass)?.map_err(failed)?);
    }
    if options.timing {
        return say(&passes::timing(def, &lowering, language).map_err(failed)?);
    }
    let Some(folder) = &options.output else {
        let (_, texts) = compile_text(def, &lowering, language).map_err(failed)?;
        let texts: Vec<&str> = texts.iter().map(|k| k.text.as_str()).collect();
        return say(&texts.join("\n"));
    };
    let files = compile_files(def, &lowering, language).map_err(failed)?;
    output::fill_folder(folder, &files)
        .map_err(|e| Failure::message(format!("cannot write to {}: {e}", folder.display())))
}
