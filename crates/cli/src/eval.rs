//! `lift eval`: the reference interpreter.

use std::path::{Path, PathBuf};

use lift_interp::{npy, run as interpret};
use lift_ir::Def;
use lift_syntax::Checked;
use lift_syntax::diagnostic::Diagnostic;

use crate::arguments::{self, Argument, SizeArgument, parse_argument, parse_sizes};
use crate::report::{Failure, did_you_mean, load, say};
use crate::signature::signatures;

/// Evaluate a program with the reference interpreter
///
/// Arguments are `NAME=VALUE`: a `.npy` or `.npz` file, a literal such as `2.5`, `[1,2,3]` or
/// `(1,[2.0])`, or `random`, `random:SEED`, `zeros`, `ones`, `iota`, which take their sizes from
/// `--size` and from the other arguments.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  lift eval dot.lift x=[1,2,3] y=ones\n  \
                        lift eval mm.lift A=a.npy B=random --size N=64 -o c.npy")]
pub struct Options {
    /// The program
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What each parameter is given
    #[arg(value_name = "NAME=VALUE", value_parser = parse_argument)]
    arguments: Vec<Argument>,
    /// The definition to evaluate: `main` or the last one otherwise
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// Sizes and parameters, as in N=1024 or M=512,N=512; may be repeated
    #[arg(long = "size", value_name = "SIZES", value_parser = parse_sizes)]
    sizes: Vec<SizeArgument>,
    /// Write the result to a `.npy` file, or `.npz` for tuples, instead of printing it
    #[arg(short, long, value_name = "FILE", value_parser = parse_output)]
    output: Option<PathBuf>,
    /// Accept programs with `extern` functions
    #[arg(long)]
    allow_extern: bool,
}

fn parse_output(text: &str) -> Result<PathBuf, String> {
    let path = Path::new(text);
    match path.extension() {
        Some(e) if e == "npy" || e == "npz" => Ok(path.to_path_buf()),
        _ => Err("results are written to a file that ends in .npy or .npz".into()),
    }
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let checked = load(&options.file)?;
    let def = entry(&checked, options)?;
    refuse_extern(def, options.allow_extern)?;
    let (values, sizes) =
        arguments::read(def, &options.arguments, &options.sizes, &checked.sources)?;
    let result = interpret(def, &values, &sizes).map_err(|e| Failure::run(e, &checked.sources))?;
    match &options.output {
        Some(path) => npy::write(path, &result).map_err(Failure::message),
        None => say(&format!("{result}\n")),
    }
}

/// The definition that was asked for, or the one that stands for the program.
fn entry<'c>(checked: &'c Checked, options: &Options) -> Result<&'c Def, Failure> {
    let program = &checked.program;
    let Some(name) = &options.entry else {
        let file = options.file.display();
        let text = format!("{file} has no definition that can be evaluated");
        return program.entry().ok_or_else(|| Failure::message(text));
    };
    if let Some(def) = program.def(name) {
        return Ok(def);
    }
    if signatures(checked).iter().any(|s| s.is_generic() && s.name() == name) {
        let text = format!("`{name}` has type, function or size parameters");
        let note = "such a definition is expanded where it is called and cannot be evaluated";
        return Err(Failure::of(Diagnostic::error(text).note(note)));
    }
    let mut mistake = Diagnostic::error(format!("there is no definition `{name}`"));
    if let Some(help) = did_you_mean(name, program.defs.iter().map(|d| d.name.as_str())) {
        mistake = mistake.help(help);
    }
    Err(Failure::of(mistake))
}

/// Foreign code has no meaning here, with or without permission to run it.
fn refuse_extern(def: &Def, allowed: bool) -> Result<(), Failure> {
    let Some(function) = def.uses_extern() else { return Ok(()) };
    let text = format!("`{}` uses the extern function `{function}`", def.name);
    let note = if allowed {
        "the interpreter cannot evaluate extern code, even with `--allow-extern`"
    } else {
        "the interpreter cannot evaluate extern code; on a device it needs `--allow-extern`"
    };
    Err(Failure::of(Diagnostic::error(text).note(note)))
}
