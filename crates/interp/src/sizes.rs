//! Values of size variables, read off the shapes of arguments.

use std::collections::BTreeMap;
use std::fmt;

use lift_ir::{Def, Scalar, Type};
use lift_nat::{EvalError, Nat, Pred, Var};

use crate::error::{Eval, RunError, fault};

/// Sizes that a length grows faster than are looked for up to here: more points than that no array has.
const MAX_GROWING: i128 = 1 << 17;

/// Values of size variables by name.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Sizes(BTreeMap<String, i128>);

impl Sizes {
    pub fn new() -> Sizes {
        Sizes::default()
    }

    pub fn get(&self, name: &str) -> Option<i128> {
        self.0.get(name).copied()
    }

    pub fn set(&mut self, name: impl Into<String>, value: i128) {
        self.0.insert(name.into(), value);
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, i128)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<S: Into<String>> FromIterator<(S, i128)> for Sizes {
    fn from_iter<I: IntoIterator<Item = (S, i128)>>(sizes: I) -> Sizes {
        Sizes(sizes.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }
}

/// `M = 2, N = 3`
impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, value)) in self.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            write!(f, "{comma}{name} = {value}")?;
        }
        Ok(())
    }
}

/// A type with the value of every size in it.
pub fn concrete_type(ty: &Type, sizes: &Sizes) -> Result<Type, RunError> {
    type_with(ty, &|size| {
        let value = size.eval(&|v| sizes.get(v.name()));
        value.or_else(|e| fault(format!("the size `{size}` has no value: {e}")))
    })
    .map_err(|e| *e)
}

pub(crate) fn type_with(ty: &Type, value: &dyn Fn(&Nat) -> Eval<i128>) -> Eval<Type> {
    Ok(match ty {
        Type::Scalar(scalar) => Type::Scalar(*scalar),
        Type::Vector(scalar, width) => Type::Vector(*scalar, Nat::int(value(width)?)),
        Type::Tuple(components) => {
            let components: Eval<Vec<Type>> =
                components.iter().map(|c| type_with(c, value)).collect();
            Type::tuple(components?)
        }
        Type::Array(element, length) => {
            Type::array(type_with(element, value)?, Nat::int(value(length)?))
        }
    })
}

/// The value of every size variable and parameter of a definition.
///
/// Sizes found in the types of arguments are solved for: a bare variable is the length it stands
/// for, a size that is linear in one unknown gives that unknown. What is `given` takes part and
/// must agree; parameters that are not given get their defaults. Then all lengths must come out
/// as found, every size be at least one, and every clause hold.
pub fn solve_sizes(def: &Def, arg_types: &[Type], given: &Sizes) -> Result<Sizes, RunError> {
    let mut solver = Solver::new(def);
    solver.take_given(given)?;
    if arg_types.len() != def.params.len() {
        let (wanted, found) = (def.params.len(), arg_types.len());
        return Err(RunError::new(format!(
            "`{}` takes {wanted} argument{}, found {found}",
            def.name,
            if wanted == 1 { "" } else { "s" }
        )));
    }
    for (param, found) in def.params.iter().zip(arg_types) {
        solver.argument(param.name(), param.ty(), found)?;
    }
    solver.solve();
    solver.take_defaults()?;
    solver.check()?;
    Ok(solver.known)
}

/// The only unknown of a size, and its value.
type Solved = Option<(Var, i128)>;

/// A size of a parameter's type and the length that was found in its place.
struct Equation {
    size: Nat,
    found: i128,
    argument: String,
    mismatch: RunError,
}

struct Solver<'a> {
    def: &'a Def,
    known: Sizes,
    /// Where each value came from, for messages.
    origins: BTreeMap<String, String>,
    equations: Vec<Equation>,
}

impl<'a> Solver<'a> {
    fn new(def: &'a Def) -> Solver<'a> {
        Solver { def, known: Sizes::default(), origins: BTreeMap::new(), equations: Vec::new() }
    }

    fn variables(&self) -> impl Iterator<Item = &'a Var> + use<'a> {
        self.def.sizes.iter().chain(self.def.parameters.iter().map(|p| &p.var))
    }

    fn value(&self, var: &Var) -> Option<i128> {
        self.variables().find(|v| *v == var).and_then(|v| self.known.get(v.name()))
    }

    fn take_given(&mut self, given: &Sizes) -> Result<(), RunError> {
        for (name, value) in given.iter() {
            if !self.variables().any(|v| v.name() == name) {
                let names: Vec<String> =
                    self.variables().map(|v| format!("`{}`", v.name())).collect();
                let error = RunError::new(format!("`{}` has no size `{name}`", self.def.name));
                return Err(match names.as_slice() {
                    [] => error.note("it has no sizes"),
                    _ => error.note(format!("its sizes are {}", names.join(", "))),
                });
            }
            self.known.set(name, value);
            self.origins.insert(name.to_string(), "as given".to_string());
        }
        Ok(())
    }

    /// Collects an equation for every size; scalars and ranks must agree now.
    fn argument(&mut self, name: &str, wanted: &Type, found: &Type) -> Result<(), RunError> {
        let mut mismatch =
            RunError::new(format!("argument `{name}` is `{wanted}`, found `{found}`"));
        if let Some(dtype) = other_dtype(wanted, found) {
            let text = format!("help: convert it, in numpy by `{name}.astype(\"{dtype}\")`");
            mismatch = mismatch.note(text);
        }
        let mut sizes = Vec::new();
        if !match_types(wanted, found, &mut sizes) {
            return Err(mismatch);
        }
        for (size, found) in sizes {
            self.equations.push(Equation {
                size,
                found,
                argument: name.to_string(),
                mismatch: mismatch.clone(),
            });
        }
        Ok(())
    }

    /// Solves equations with one unknown each until none is left.
    fn solve(&mut self) {
        loop {
            let solved = self.solved_by(&solve_linear).or_else(|| self.solved_by(&solve_growing));
            let Some((var, value, origin)) = solved else { return };
            self.known.set(var.name(), value);
            self.origins.insert(var.name().to_string(), origin);
        }
    }

    /// A size that one of the equations gives, with where it came from.
    fn solved_by(&self, solve: &dyn Fn(&Nat, i128) -> Solved) -> Option<(Var, i128, String)> {
        self.equations.iter().find_map(|equation| {
            let open = equation.size.substitute(&|v| self.value(v).map(Nat::int));
            let (var, value) = solve(&open, equation.found)?;
            self.variables()
                .any(|v| *v == var)
                .then(|| (var, value, format!("from `{}`", equation.argument)))
        })
    }

    /// Defaults may mention sizes and one another.
    fn take_defaults(&mut self) -> Result<(), RunError> {
        loop {
            let open: Vec<_> =
                self.def.parameters.iter().filter(|p| self.value(&p.var).is_none()).collect();
            let next = open.iter().find_map(|p| {
                let value = p.default.as_ref()?.eval(&|v| self.value(v));
                match value {
                    Err(EvalError::Unbound(_)) => None,
                    other => Some((p, other)),
                }
            });
            let Some((parameter, value)) = next else { break };
            let name = parameter.var.name();
            let value = value.map_err(|e| {
                RunError::new(format!("the default of the parameter `{name}` has no value: {e}"))
                    .note(format!("choose it with `--size {name}=…`"))
            })?;
            self.known.set(name, value);
            self.origins.insert(name.to_string(), "by default".to_string());
            self.solve();
        }
        if let Some(p) = self.def.parameters.iter().find(|p| self.value(&p.var).is_none()) {
            let name = p.var.name();
            return Err(RunError::new(format!(
                "the parameter `{name}` of `{}` has no value",
                self.def.name
            ))
            .at(self.def.span)
            .note(format!("choose it with `--size {name}=…`")));
        }
        if let Some(var) = self.def.sizes.iter().find(|v| self.value(v).is_none()) {
            let name = var.name();
            if let Some(equation) = self.equations.iter().find(|e| e.size.mentions(var)) {
                let (size, found) = (&equation.size, equation.found);
                let solvable = |e: &Equation| {
                    !e.size.mentions(var) || self.has_line(&e.size) || self.grows_past(e)
                };
                if self.equations.iter().all(solvable) {
                    let nearest = self.nearest(equation);
                    return Err(self
                        .explained(equation)
                        .note(format!("no `{name}` makes `{size}` {found}{nearest}")));
                }
            }
            return Err(RunError::new(format!(
                "the size `{name}` of `{}` cannot be read off its arguments",
                self.def.name
            ))
            .at(self.def.span)
            .note(format!("give it with `--size {name}=…`")));
        }
        Ok(())
    }

    /// Whether a size grows with its only unknown, past what was found.
    fn grows_past(&self, equation: &Equation) -> bool {
        let open = equation.size.substitute(&|v| self.value(v).map(Nat::int));
        grown(&open, equation.found)
            .is_some_and(|(_, value, here)| value > 0 && here > equation.found)
    }

    /// What the sizes around a length make of its only unknown, where it grows.
    fn nearest(&self, equation: &Equation) -> String {
        let open = equation.size.substitute(&|v| self.value(v).map(Nat::int));
        let Some((var, above, here)) = grown(&open, equation.found) else { return String::new() };
        let before = above - 1;
        match open.eval(&|v| (*v == var).then_some(before)) {
            Ok(less) if before > 0 => {
                format!(": {before} makes it {less}, {above} makes it {here}")
            }
            _ => format!(": {above} makes it {here}"),
        }
    }

    /// Whether a size is linear in its only unknown.
    fn has_line(&self, size: &Nat) -> bool {
        line(&size.substitute(&|v| self.value(v).map(Nat::int))).is_some()
    }

    fn check(&self) -> Result<(), RunError> {
        for equation in &self.equations {
            if equation.size.eval(&|v| self.value(v)) != Ok(equation.found) {
                return Err(self.explained(equation));
            }
        }
        for var in self.variables() {
            let value = self.value(var).unwrap_or(0);
            if value < 1 {
                let name = var.name();
                return Err(RunError::new(format!(
                    "the size `{name}` is {value}, but every size is at least 1"
                ))
                .at(self.def.span));
            }
        }
        for clause in &self.def.wheres {
            self.clause(&clause.pred, "").map_err(|e| e.at(clause.span))?;
        }
        for pred in &self.def.implied {
            self.clause(pred, ", which the body needs,").map_err(|e| e.at(self.def.span))?;
        }
        Ok(())
    }

    fn clause(&self, pred: &Pred, why: &str) -> Result<(), RunError> {
        let verdict = match pred.eval(&|v| self.value(v)) {
            Ok(true) => return Ok(()),
            Ok(false) => "does not hold".to_string(),
            Err(e) => format!("has no value ({e})"),
        };
        let values: Sizes =
            pred.vars().iter().filter_map(|v| Some((v.name(), self.value(v)?))).collect();
        let values = if values.is_empty() { String::new() } else { format!(": {values}") };
        Err(RunError::new(format!("`where {pred}`{why} {verdict}{values}")))
    }

    /// The mismatch of an equation, with what the sizes in it are and where that is from.
    fn explained(&self, equation: &Equation) -> RunError {
        let mut error = equation.mismatch.clone();
        for var in equation.size.vars() {
            if let Some(value) = self.value(&var) {
                let origin = self.origins.get(var.name()).map_or("", String::as_str);
                error = error.note(format!("`{var}` is {value}, {origin}"));
            }
        }
        match equation.size.eval(&|v| self.value(v)) {
            Ok(length) if equation.size.as_var().is_none() && equation.size.as_int().is_none() => {
                error.note(format!("`{}` is {length} then", equation.size))
            }
            _ => error,
        }
    }
}

/// Whether two types differ in nothing but sizes; collects the sizes of the first, each with the
/// constant in its place.
fn match_types(wanted: &Type, found: &Type, sizes: &mut Vec<(Nat, i128)>) -> bool {
    let mut size = |wanted: &Nat, found: &Nat| {
        found.as_int().map(|found| sizes.push((wanted.clone(), found))).is_some()
    };
    match (wanted, found) {
        (Type::Scalar(s), Type::Scalar(t)) => s == t,
        (Type::Vector(s, m), Type::Vector(t, n)) => s == t && size(m, n),
        (Type::Tuple(s), Type::Tuple(t)) => {
            s.len() == t.len() && s.iter().zip(t.iter()).all(|(s, t)| match_types(s, t, sizes))
        }
        (Type::Array(s, m), Type::Array(t, n)) => size(m, n) && match_types(s, t, sizes),
        (Type::Scalar(_) | Type::Vector(..) | Type::Tuple(_) | Type::Array(..), _) => false,
    }
}

/// What numpy calls the elements that are wanted, where those found differ from them in nothing else.
fn other_dtype(wanted: &Type, found: &Type) -> Option<&'static str> {
    match (wanted, found) {
        (Type::Array(s, _), Type::Array(t, _)) => other_dtype(s, t),
        (Type::Scalar(s), Type::Scalar(t)) => (s != t).then_some(match s {
            Scalar::Bool => "bool",
            Scalar::I8 => "int8",
            Scalar::I16 => "int16",
            Scalar::I32 => "int32",
            Scalar::I64 => "int64",
            Scalar::U8 => "uint8",
            Scalar::U16 => "uint16",
            Scalar::U32 => "uint32",
            Scalar::U64 => "uint64",
            Scalar::F16 => "float16",
            Scalar::F32 => "float32",
            Scalar::F64 => "float64",
        }),
        _ => None,
    }
}

/// The value of the only unknown of a size, such as the number of points of a triangle, that grows strictly with it.
fn solve_growing(size: &Nat, found: i128) -> Solved {
    let (var, value, here) = grown(size, found)?;
    // It has to grow from there as well: lengths that come again say nothing.
    let next = size.eval(&|v| (*v == var).then_some(value + 1)).ok()?;
    (here == found && next > here).then_some((var, value))
}

/// The only unknown of a size, its first value at which the size is at least `found`, and the size there; `None` where
/// the size does not grow strictly up to there.
fn grown(size: &Nat, found: i128) -> Option<(Var, i128, i128)> {
    let mut vars = size.vars().into_iter();
    let (Some(var), None) = (vars.next(), vars.next()) else { return None };
    let mut last: Option<i128> = None;
    for value in 1..=MAX_GROWING {
        let here = size.eval(&|v| (*v == var).then_some(value)).ok()?;
        if last.is_some_and(|last| here <= last) {
            return None;
        }
        if here >= found {
            return Some((var, value, here));
        }
        last = Some(here);
    }
    None
}

/// The variable and its value where the size is linear and the equation has a whole solution.
fn solve_linear(size: &Nat, found: i128) -> Solved {
    let (var, start, slope) = line(size)?;
    let rest = found.checked_sub(start)?;
    (rest.checked_rem(slope)? == 0).then(|| (var, rest / slope))
}

/// `(v, a, b)` where `size = a + b * v` for constants a and b, b not zero.
fn line(size: &Nat) -> Option<(Var, i128, i128)> {
    let vars = size.vars();
    let mut vars = vars.iter();
    let (Some(var), None) = (vars.next(), vars.next()) else { return None };
    let at = |x: i128| size.eval(&|_| Some(x)).ok();
    let start = at(0)?;
    let slope = at(1)?.checked_sub(start)?;
    let line = Nat::int(start) + Nat::int(slope) * Nat::var(var);
    (slope != 0 && line == *size).then(|| (var.clone(), start, slope))
}
