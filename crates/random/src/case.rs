//! Programs with inputs and the result that the interpreter gives.

use std::fmt;

use lift_interp::{RunError, Sizes, Value, compare, concrete_type, eval_closed, run, solve_sizes};
use lift_ir::{Def, Subject, Type};
use lift_syntax::check_text;

use crate::config::{Config, Floats};
use crate::inputs::{Filler, nudged};
use crate::program::{Discard, Program, program};
use crate::random::Random;

#[derive(Clone, Debug)]
pub struct Case {
    pub seed: u64,
    pub def: Def,
    pub sizes: Sizes,
    pub args: Vec<Value>,
    pub expected: Value,
    pub floats: Floats,
}

/// How many neighbours of an input are tried.
const NUDGES: u64 = 3;

/// Floats that stay below this are exact multiples of one half, sums and products on the way
/// included, in all but freak cases.
const EXACT_BELOW: f64 = 65536.0;

impl Case {
    /// The case of a seed, if its program has a result.
    pub fn new(seed: u64, config: &Config) -> Result<Case, Discard> {
        let Program { def, sizes, floats } = program(seed, config)?;
        let sizes: Sizes = sizes.iter().map(|(var, value)| (var.name(), *value)).collect();
        Case::of(seed, def, sizes, floats)
    }

    /// The first attempt with this seed that gives a case, and what became of those before.
    pub fn find(seed: u64, config: &Config) -> (Option<Case>, Vec<Discard>) {
        let mut random = Random::new(seed);
        let mut discards = Vec::new();
        for _ in 0..ATTEMPTS {
            match Case::new(random.bits(), config) {
                Ok(case) => return (Some(case), discards),
                Err(discard) => discards.push(discard),
            }
        }
        (None, discards)
    }

    /// A program with inputs made from the seed.
    pub(crate) fn of(seed: u64, def: Def, sizes: Sizes, floats: Floats) -> Result<Case, Discard> {
        let args = filled(&def, &sizes, seed, floats)?;
        Case::with(seed, def, sizes, floats, args)
    }

    /// A program with these inputs.
    pub(crate) fn with(
        seed: u64,
        def: Def,
        sizes: Sizes,
        floats: Floats,
        args: Vec<Value>,
    ) -> Result<Case, Discard> {
        let given = parameters_of(&def, &sizes);
        let result = |args: &[Value]| {
            run(&def, args, &given).map_err(|error| Discard::NoResult(error.to_string()))
        };
        let expected = result(&args)?;
        match floats {
            Floats::Exact if !all_floats(&expected, &is_exact) => return Err(Discard::Rounding),
            Floats::Exact => {}
            Floats::Smooth => {
                for nudge in 0..NUDGES {
                    let mut random = Random::new(nudge);
                    let near: Result<Vec<Value>, RunError> =
                        args.iter().map(|arg| nudged(arg, &mut random)).collect();
                    let near = near.map_err(|error| Discard::NoResult(error.to_string()))?;
                    if compare(&result(&near)?, &expected, true).is_err() {
                        return Err(Discard::Rounding);
                    }
                }
            }
        }
        Ok(Case { seed, def, sizes, args, expected, floats })
    }

    /// Reads what [`Case`] prints.
    pub fn parse(text: &str) -> Result<Case, String> {
        let checked = check_text("random.lift", text);
        if checked.has_errors() {
            return Err(checked.render(false));
        }
        let test = checked.program.tests.first().ok_or("there is no test")?;
        let Subject::Call { def, args } = &test.subject else {
            return Err("the test calls no definition".to_string());
        };
        let def = checked.program.defs.get(*def).ok_or("the test calls another program")?;
        let value = |expr| eval_closed(expr).map_err(|error| error.to_string());
        let args: Vec<Value> = args.iter().map(value).collect::<Result<_, _>>()?;
        let types: Vec<Type> = args.iter().map(Value::ty).collect();
        let sizes = solve_sizes(def, &types, &Sizes::new()).map_err(|error| error.to_string())?;
        let (expected, floats) = (value(&test.expected)?, Floats::Exact);
        Ok(Case { seed: 0, def: def.clone(), sizes, args, expected, floats })
    }

    /// Values of the sizes that are found in no input.
    pub fn given(&self) -> Sizes {
        parameters_of(&self.def, &self.sizes)
    }
}

/// How often a seed is tried.
const ATTEMPTS: usize = 50;

fn parameters_of(def: &Def, sizes: &Sizes) -> Sizes {
    let names = def.parameters.iter().map(|p| p.var.name());
    names.filter_map(|name| Some((name, sizes.get(name)?))).collect()
}

fn filled(def: &Def, sizes: &Sizes, seed: u64, floats: Floats) -> Result<Vec<Value>, Discard> {
    let mut filler = Filler { random: Random::new(seed.rotate_left(32)), floats };
    let value = |ty: &Type| filler.value(&concrete_type(ty, sizes)?);
    def.params
        .iter()
        .map(|param| param.ty())
        .map(value)
        .collect::<Result<_, _>>()
        .map_err(|error| Discard::NoResult(error.to_string()))
}

fn is_exact(value: f64) -> bool {
    !value.is_finite() || value.abs() < EXACT_BELOW
}

fn all_floats(value: &Value, holds: &dyn Fn(f64) -> bool) -> bool {
    match value {
        Value::Scalar(x) => !x.scalar().is_float() || holds(x.to_f64()),
        Value::Vector(_) | Value::Tuple(_) | Value::Array(_) => {
            (0..value.len()).filter_map(|i| value.get(i)).all(|part| all_floats(&part, holds))
        }
    }
}

/// The program with a test that calls it: `lift test FILE --device …` runs it again.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let args: Vec<String> = self.args.iter().map(|a| a.display_full().to_string()).collect();
        writeln!(f, "// seed {}", self.seed)?;
        writeln!(f, "{}", self.def)?;
        writeln!(
            f,
            "test replay: {}({}) ~= {};",
            self.def.name,
            args.join(", "),
            self.expected.display_full()
        )
    }
}
