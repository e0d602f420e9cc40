//! What a device makes of a random program.

use lift::{Compiled, Device, Error, Options, Value};
use lift_interp::compare;
use lift_random::Case;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    Agrees,
    /// The compiler says that it cannot, in words it may use.
    Refused(String),
    /// A different result, none, or an error that should not be.
    Fails(String),
}

/// What the compiler may say instead of compiling.
const REFUSALS: [&str; 9] = [
    "what the work-items of a group make is read inside the",
    "a private array made under",
    "an array private to each work-item is written under",
    "would have to wait for each other in the middle of it, where not all of them come by",
    "inside `mapWarp` everything is computed by `mapLane`",
    "read inside the parallel map around it, where they cannot wait for each other",
    "`iterate_until` stands in `mapWarp`, whose warps would stop at different times",
    "the kernels of this program become too long",
    "stands inside a loop that work-items run: all of them would have to wait for each other",
];

/// What is said of open sizes alone: those of arrays in local and private memory must be given, and products of an
/// index with a large number may leave 64 bits where its length is not known.
const SIZES_NEEDED: [&str; 2] =
    ["whose size must be known", "an index takes numbers that do not fit in 64 bits"];

/// Compiles and runs a case; sizes are given to the compiler, or left open as far as that goes.
pub fn verdict(case: &Case, open_sizes: bool, device: &mut dyn Device) -> Verdict {
    let mut outcome = if open_sizes {
        run(case, Options::default(), device)
    } else {
        run(case, with_sizes(case), device)
    };
    if open_sizes
        && let Err(Error::Lower(error)) = &outcome
        && SIZES_NEEDED.iter().any(|text| error.message.contains(text))
    {
        outcome = run(case, with_sizes(case), device);
    }
    match outcome {
        Ok(found) => match compare(&found, &case.expected, true) {
            Ok(()) => Verdict::Agrees,
            Err(mismatch) => Verdict::Fails(format!("differs: {mismatch}")),
        },
        Err(Error::Lower(error)) if REFUSALS.iter().any(|text| error.message.contains(text)) => {
            Verdict::Refused(error.message)
        }
        Err(error) => Verdict::Fails(format!("error: {error}")),
    }
}

fn with_sizes(case: &Case) -> Options {
    let sizes = case.sizes.iter().map(|(name, value)| (name.to_string(), value)).collect();
    Options { sizes, ..Options::default() }
}

fn run(case: &Case, options: Options, device: &mut dyn Device) -> Result<Value, Error> {
    let mut compiled = Compiled::new(&case.def, &options, device)?;
    Ok(compiled.run(device, &case.args, &case.given())?.result)
}
