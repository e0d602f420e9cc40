//! Before and after, compared by the interpreter on random inputs.

use lift_interp::inputs::{Fill, generate};
use lift_interp::{RunError, Sizes, Value, WIDTHS, concrete_type, run};
use lift_ir::{Def, Nat, Param, Pred, Type, Var};
use lift_nat::EvalError;
use lift_syntax::diagnostic::Diagnostic;

use crate::entry::without_extern;
use crate::report::Failure;

/// How many choices of sizes are compared.
const TRIALS: usize = 3;
/// How many are tried at most, since the program need not have a value for each.
const ATTEMPTS: usize = 3 * TRIALS;
/// Random integers are below this, so they are indices of arrays that are as long.
const INDICES: i128 = 10;
/// Sizes are looked for up to this one.
const LARGEST: i128 = 1024;
/// How many values of a size are tried with the same values of those before it.
const WIDTH: usize = 6;
/// How many choices are looked at before the search ends.
const EFFORT: usize = 2000;

/// A sentence that says on what they agree, or how they differ.
pub fn compare(before: &Def, after: &Def) -> Result<String, Failure> {
    without_extern(
        before,
        "the interpreter cannot evaluate extern code, so `--verify` cannot compare",
    )?;
    let mut agreed: Vec<Sizes> = Vec::new();
    let mut failed = None;
    for trial in 0..ATTEMPTS {
        if agreed.len() == TRIALS {
            break;
        }
        let Some(sizes) = Search::new(after, trial).find() else { break };
        let (arguments, expected) = match evaluated(before, &sizes, trial as u64) {
            Ok(both) => both,
            // Inputs for which the program has no value say nothing about the rules.
            Err(error) => {
                failed = Some(error);
                continue;
            }
        };
        agree(after, &arguments, &expected, &sizes)?;
        agreed.push(sizes);
    }
    if !agreed.is_empty() {
        return Ok(sentence(&agreed));
    }
    let text = match failed {
        Some(error) => {
            format!("`{}` has no value for random inputs: {}", before.name, error.message)
        }
        None => format!("found no sizes up to {LARGEST} that `{}` accepts", after.name),
    };
    Err(Failure::of(Diagnostic::error(text).note("so `--verify` has nothing to compare")))
}

fn sentence(agreed: &[Sizes]) -> String {
    let sizes: Vec<String> =
        agreed.iter().filter(|s| !s.is_empty()).map(Sizes::to_string).collect();
    let of = if sizes.is_empty() { String::new() } else { format!(": {}", sizes.join("; ")) };
    let plural = if agreed.len() == 1 { "input" } else { "inputs" };
    format!("verified: before and after agree on {} random {plural}{of}", agreed.len())
}

/// Random arguments and the value of the definition for them.
fn evaluated(def: &Def, sizes: &Sizes, seed: u64) -> Result<(Vec<Value>, Value), RunError> {
    let argument = |(index, param): (usize, &Param)| {
        let fill = Fill::Random { seed: seed ^ ((index as u64) << 32) };
        generate(fill, &concrete_type(param.ty(), sizes)?)
    };
    let arguments = def.params.iter().enumerate().map(argument);
    let arguments = arguments.collect::<Result<Vec<Value>, RunError>>()?;
    let value = run(def, &arguments, &own(def, sizes))?;
    Ok((arguments, value))
}

fn agree(after: &Def, arguments: &[Value], expected: &Value, sizes: &Sizes) -> Result<(), Failure> {
    let differ = |how: String| {
        let text = format!("`{}` means something else after this: {how}", after.name);
        let mistake = Diagnostic::error(text);
        Failure::of(if sizes.is_empty() { mistake } else { mistake.note(format!("for {sizes}")) })
    };
    let found = run(after, arguments, &own(after, sizes)).map_err(|e| differ(e.message))?;
    lift_interp::compare(&found, expected, true).map_err(|e| differ(e.to_string()))
}

fn variables(def: &Def) -> impl Iterator<Item = &Var> {
    def.parameters.iter().map(|p| &p.var).chain(&def.sizes)
}

/// The sizes that the definition has; rules may have added others.
fn own(def: &Def, sizes: &Sizes) -> Sizes {
    variables(def).filter_map(|v| Some((v.name(), sizes.get(v.name())?))).collect()
}

/// A search for small sizes that meet all clauses, one variable after the other.
struct Search<'d> {
    variables: Vec<&'d Var>,
    clauses: Vec<&'d Pred>,
    /// The widths of vectors: only some are possible, and no clause says so.
    widths: Vec<Nat>,
    /// Every trial begins with other values.
    trial: usize,
    /// Sizes below are tried last.
    least: i128,
    effort: usize,
}

impl<'d> Search<'d> {
    fn new(def: &'d Def, trial: usize) -> Search<'d> {
        let clauses = def.wheres.iter().map(|c| &c.pred).chain(&def.implied).collect();
        let mut widths = Vec::new();
        for (_, expr) in def.body.places() {
            add_widths(expr.ty(), &mut widths);
        }
        let least = if trial < TRIALS { 2 } else { INDICES };
        let variables = variables(def).collect();
        Search { variables, clauses, widths, trial, least, effort: EFFORT }
    }

    fn find(&mut self) -> Option<Sizes> {
        self.extend(0, &Sizes::new())
    }

    /// Values for the variables from `depth` on.
    fn extend(&mut self, depth: usize, sizes: &Sizes) -> Option<Sizes> {
        let Some(var) = self.variables.get(depth).copied() else { return Some(sizes.clone()) };
        for value in self.candidates(depth, var, sizes) {
            self.effort = self.effort.checked_sub(1)?;
            let mut more = sizes.clone();
            more.set(var.name(), value);
            if let Some(found) = self.extend(depth + 1, &more) {
                return Some(found);
            }
        }
        None
    }

    /// The smallest values that nothing forbids, 1 not first since it shows least. Which of the small
    /// ones comes first depends on the variable, so that sizes differ, and on the trial.
    fn candidates(&self, depth: usize, var: &Var, sizes: &Sizes) -> Vec<i128> {
        let all = (self.least..=LARGEST).chain((1..self.least).rev());
        let mut values: Vec<i128> =
            all.filter(|value| self.allows(var, *value, sizes)).take(WIDTH).collect();
        let small = values.first().map_or(0, |least| 2 * least.max(&8));
        let choice = values.iter().take_while(|value| **value <= small).count().max(1);
        let first = ((depth + self.trial) % choice).min(values.len());
        values.rotate_left(first);
        values
    }

    /// True where no clause or width that is decided by now fails.
    fn allows(&self, var: &Var, value: i128, sizes: &Sizes) -> bool {
        let value_of = |v: &Var| if v == var { Some(value) } else { sizes.get(v.name()) };
        let holds = |clause: &&Pred| match clause.eval(&value_of) {
            Err(EvalError::Unbound(_)) => true,
            result => result == Ok(true),
        };
        let possible = |width: &Nat| match width.eval(&value_of) {
            Err(EvalError::Unbound(_)) => true,
            result => result.is_ok_and(|w| WIDTHS.iter().any(|known| *known as i128 == w)),
        };
        self.clauses.iter().all(holds) && self.widths.iter().all(possible)
    }
}

fn add_widths(ty: &Type, widths: &mut Vec<Nat>) {
    match ty {
        Type::Scalar(_) => {}
        Type::Vector(_, width) if widths.contains(width) => {}
        Type::Vector(_, width) => widths.push(width.clone()),
        Type::Tuple(parts) => parts.iter().for_each(|part| add_widths(part, widths)),
        Type::Array(element, _) => add_widths(element, widths),
    }
}
