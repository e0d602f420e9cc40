//! `lift eval`: the reference interpreter.

use std::path::{Path, PathBuf};

use lift_interp::{RunError, Value, npy, run as interpret};
use lift_ir::Def;
use serde_json::json;

use crate::arguments::{self, Argument, Inputs, SizeArgument, parse_argument, parse_sizes};
use crate::report::{Failure, load, say};
use crate::{entry, json_value};

/// Evaluate a program with the reference interpreter
///
/// Arguments are `NAME=VALUE`: a `.npy` or `.npz` file, a literal such as `2.5`, `[1,2,3]` or
/// `(1,[2.0])`, or `random`, `random:SEED`, `zeros`, `ones`, `iota`, which take their sizes from
/// `--size` and from the other arguments.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:\n\
\x20 lift eval programs/reduce/dot.lift 'x=[1,2,3]' y=ones\n\
\x20 6.0\n\
\n\
\x20 lift eval programs/mm.lift A=random B=random --size M=8,K=8,N=8 -o c.npy\n\
\x20 lift eval programs/mm.lift A=c.npy B=ones --size N=2 --json")]
pub struct Options {
    /// The program; `-` is standard input
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
    /// Print {"type", "value"}: all of the result, arrays and tuples as lists, "nan", "inf" and "-inf" as strings
    #[arg(long, conflicts_with = "output")]
    json: bool,
}

/// For clap: where a result can be written.
pub fn parse_output(text: &str) -> Result<PathBuf, String> {
    let path = Path::new(text);
    match path.extension() {
        Some(e) if e == "npy" || e == "npz" => Ok(path.to_path_buf()),
        _ => Err("results are written to a file that ends in .npy or .npz".into()),
    }
}

/// The value of a definition by the interpreter.
pub fn interpreted(def: &Def, inputs: Inputs<'_>) -> Result<Value, RunError> {
    let given = inputs.given.clone();
    interpret(def, &inputs.values()?, &given)
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let checked = load(&options.file)?;
    let def = entry::find(&checked, &options.file, options.entry.as_deref())?;
    entry::refuse_extern(def, options.allow_extern)?;
    let sources = &checked.sources;
    let inputs = arguments::read(def, &options.arguments, &options.sizes, sources)?;
    let result = interpreted(def, inputs).map_err(|e| Failure::run(e, sources))?;
    if options.json {
        let ty = result.ty().to_string();
        return say(&format!("{}\n", json!({ "type": ty, "value": json_value::of(&result) })));
    }
    match &options.output {
        Some(path) => npy::write(path, &result).map_err(Failure::message),
        None => say(&format!("{result:#}\n")),
    }
}
