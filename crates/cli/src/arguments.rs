//! Arguments of programs: `NAME=VALUE` and `--size N=1024`.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::num::IntErrorKind;
use std::path::Path;
use std::time::Duration;

use lift_interp::inputs::{Fill, generate};
use lift_interp::{RunError, Sizes, Value, concrete_type, npy, solve_sizes};
use lift_ir::Def;
use lift_syntax::diagnostic::Diagnostic;
use lift_syntax::source::Sources;

use crate::literal;
use crate::report::{Failure, did_you_mean, run_diagnostic};

/// `NAME=VALUE` as it stands on the command line.
#[derive(Clone, Debug)]
pub struct Argument {
    name: String,
    value: String,
}

/// `N=1024` or `M=512,N=512`.
#[derive(Clone, Debug)]
pub struct SizeArgument(pub Vec<(String, i128)>);

/// For clap: what does not even look like an argument is a usage error.
pub fn parse_argument(text: &str) -> Result<Argument, String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            Ok(Argument { name: name.trim().into(), value: value.trim().into() })
        }
        _ => Err("an argument is written NAME=VALUE, as in `x=[1,2,3]` or `x=data.npy`".into()),
    }
}

pub fn parse_sizes(text: &str) -> Result<SizeArgument, String> {
    text.split(',').map(one_size).collect::<Result<_, _>>().map(SizeArgument)
}

fn one_size(text: &str) -> Result<(String, i128), String> {
    let written = || "sizes are written N=1024 or M=512,N=512".to_string();
    let (name, value) = text.split_once('=').ok_or_else(written)?;
    let value = value.trim();
    match value.parse::<i128>() {
        Ok(size) => Ok((name.trim().to_string(), size)),
        Err(error) => Err(match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => too_large(value),
            _ => written(),
        }),
    }
}

fn too_large(size: impl Display) -> String {
    format!("{size} does not fit in 64 bits, as sizes do")
}

/// `16` or `16,16`: thread counts, one a dimension.
#[derive(Clone, Debug)]
pub struct Threads(pub Vec<u64>);

pub fn parse_threads(text: &str) -> Result<Threads, String> {
    let one = |part: &str| part.trim().parse::<u64>().ok().filter(|count| *count > 0);
    match text.split(',').map(one).collect::<Option<Vec<u64>>>() {
        Some(counts) if counts.len() <= 3 => Ok(Threads(counts)),
        _ => Err("thread counts are one to three positive numbers, as in 128 or 16,16".into()),
    }
}

/// `60` or `2.5`: a time in seconds.
pub fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.trim().parse::<f64>().ok().filter(|seconds| *seconds > 0.0);
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or("a time is a positive number of seconds, as in 60 or 2.5".into())
}

/// The sizes of `--size`, which must be the definition's own.
pub fn sizes(def: &Def, sizes: &[SizeArgument]) -> Result<Sizes, Failure> {
    let mut mistakes = Vec::new();
    let given = given_sizes(def, sizes, &mut mistakes);
    for (name, value) in given.iter().filter(|(_, value)| *value < 1) {
        let text = format!("the size `{name}` is {value}, but every size is at least 1");
        mistakes.push(Diagnostic::error(text));
    }
    if mistakes.is_empty() {
        Ok(given)
    } else {
        Err(Failure::Diagnostics(mistakes, Sources::new()))
    }
}

/// Sizes as the compiler takes them.
pub fn by_name(sizes: &Sizes) -> BTreeMap<String, i128> {
    sizes.iter().map(|(name, value)| (name.to_string(), value)).collect()
}

/// What one parameter is given.
enum Source {
    Value(Value),
    /// To be made up once its sizes are known.
    Fill(Fill),
}

/// What the parameters of a definition are given, in order. Nothing is made up yet.
pub struct Inputs<'d> {
    def: &'d Def,
    inputs: Vec<Source>,
    /// The sizes that were given.
    pub given: Sizes,
    /// All sizes: given, read off the arguments, or by default.
    pub sizes: Sizes,
}

/// Reads the files and literals among the arguments, and solves the sizes.
pub fn read<'d>(
    def: &'d Def,
    arguments: &[Argument],
    sizes: &[SizeArgument],
    sources: &Sources,
) -> Result<Inputs<'d>, Failure> {
    let mut mistakes = misnamed(def, arguments);
    let given = given_sizes(def, sizes, &mut mistakes);
    if !mistakes.is_empty() {
        return Err(Failure::Diagnostics(mistakes, Sources::new()));
    }
    let mut inputs = Vec::new();
    let mut failed = false;
    for (index, param) in def.params.iter().enumerate() {
        let Some(argument) = arguments.iter().find(|a| a.name == param.name()) else { continue };
        // All unreadable arguments are reported, not just the first.
        match source(argument, index, param.ty()) {
            Ok(source) => inputs.push(source),
            Err(failure) => {
                failure.print();
                failed = true;
            }
        }
    }
    if failed {
        return Err(Failure::Reported);
    }
    let sizes = solve(def, &inputs, &given)
        .map_err(|error| Failure::Diagnostics(vec![run_diagnostic(error)], sources.clone()))?;
    Ok(Inputs { def, inputs, given, sizes })
}

impl Inputs<'_> {
    /// Makes up what is to be made up.
    pub fn values(self) -> Result<Vec<Value>, RunError> {
        let inputs = self.def.params.iter().zip(self.inputs);
        let values = inputs.map(|(param, input)| match input {
            Source::Value(value) => Ok(value),
            Source::Fill(fill) => generate(fill, &concrete_type(param.ty(), &self.sizes)?),
        });
        values.collect()
    }
}

/// Unknown, repeated and missing arguments.
fn misnamed(def: &Def, arguments: &[Argument]) -> Vec<Diagnostic> {
    let names = || def.params.iter().map(|p| p.name());
    let mut mistakes = Vec::new();
    for (index, argument) in arguments.iter().enumerate() {
        let name = &argument.name;
        if !names().any(|n| n == name) {
            let mut mistake = Diagnostic::error(format!("`{}` has no argument `{name}`", def.name));
            let listed: Vec<String> = names().map(|n| format!("`{n}`")).collect();
            if !listed.is_empty() {
                mistake = mistake.note(format!("its arguments are {}", listed.join(", ")));
            }
            if let Some(help) = did_you_mean(name, names()) {
                mistake = mistake.help(help);
            }
            mistakes.push(mistake);
        } else if arguments[..index].iter().any(|a| a.name == *name) {
            mistakes.push(Diagnostic::error(format!("the argument `{name}` is given twice")));
        }
    }
    let missing: Vec<_> =
        def.params.iter().filter(|p| !arguments.iter().any(|a| a.name == p.name())).collect();
    if let Some(first) = missing.first() {
        let plural = if missing.len() == 1 { "" } else { "s" };
        let text = format!("`{}` needs {} more argument{plural}", def.name, missing.len());
        let listed = missing.iter().fold(Diagnostic::error(text), |d, param| {
            d.note(format!("{}: {}", param.name(), param.ty()))
        });
        let example = format!("give each as NAME=VALUE, as in `{}=random`", first.name());
        mistakes.push(listed.help(example));
    }
    mistakes
}

fn given_sizes(def: &Def, sizes: &[SizeArgument], mistakes: &mut Vec<Diagnostic>) -> Sizes {
    let known = || def.sizes.iter().chain(def.parameters.iter().map(|p| &p.var));
    let mut given = Sizes::new();
    for (name, value) in sizes.iter().flat_map(|s| &s.0) {
        if !known().any(|v| v.name() == name) {
            let mut mistake = Diagnostic::error(format!("`{}` has no size `{name}`", def.name));
            let listed: Vec<String> = known().map(|v| format!("`{v}`")).collect();
            if !listed.is_empty() {
                mistake = mistake.note(format!("its sizes are {}", listed.join(", ")));
            }
            if let Some(help) = did_you_mean(name, known().map(|v| v.name())) {
                mistake = mistake.help(help);
            }
            mistakes.push(mistake);
        } else if given.get(name).is_some_and(|before| before != *value) {
            mistakes.push(Diagnostic::error(format!("the size `{name}` is given twice")));
        } else if i64::try_from(*value).is_err() {
            mistakes.push(Diagnostic::error(format!("the size `{name}`: {}", too_large(value))));
        }
        given.set(name, *value);
    }
    given
}

/// Reads a file or literal; what is made up waits for the sizes.
fn source(argument: &Argument, index: usize, ty: &lift_ir::Type) -> Result<Source, Failure> {
    let Argument { name, value } = argument;
    let path = Path::new(value);
    if path.extension().is_some_and(|e| e == "npy" || e == "npz") {
        let read = npy::read(path)
            .map_err(|e| Failure::of(Diagnostic::error(e).note(format!("`{name}` is `{ty}`"))))?;
        return Ok(Source::Value(npy::coerce(read, ty)));
    }
    let seed = match value.strip_prefix("random") {
        Some("") => Some(0),
        Some(rest) => rest.strip_prefix(':').and_then(|seed| seed.parse::<u64>().ok()),
        None => None,
    };
    let fill = match (value.as_str(), seed) {
        // Arguments made from one seed still differ from one another.
        (_, Some(seed)) => Fill::Random { seed: seed ^ ((index as u64) << 32) },
        ("zeros", _) => Fill::Zeros,
        ("ones", _) => Fill::Ones,
        ("iota", _) => Fill::Iota,
        _ => return literal::read(name, value, ty).map(Source::Value),
    };
    Ok(Source::Fill(fill))
}

/// The sizes that `--size` and the arguments which are not made up say.
fn solve(def: &Def, inputs: &[Source], given: &Sizes) -> Result<Sizes, RunError> {
    let mut known = def.clone();
    known.params.clear();
    let mut types = Vec::new();
    for (param, input) in def.params.iter().zip(inputs) {
        if let Source::Value(value) = input {
            known.params.push(param.clone());
            types.push(value.ty());
        }
    }
    solve_sizes(&known, &types, given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_that_fits_nowhere_is_told_apart_from_one_that_is_none() {
        let message = |text: &str| parse_sizes(text).map(|_| ()).unwrap_err();
        assert!(parse_sizes("M=9223372036854775807, N=-1").is_ok());
        assert!(message(&format!("N={}0", i128::MAX)).contains("does not fit in 64 bits"));
        assert!(message("M=1,N").starts_with("sizes are written"));
        assert!(message("N=1.5").starts_with("sizes are written"));
    }
}
