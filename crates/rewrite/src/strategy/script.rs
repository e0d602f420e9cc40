//! Strategy files and strategies on the command line.

use std::fmt;

use lift_ir::{Clause, Def, Launch, Nat, Parameter, Pred, Var};
use lift_syntax::ast;
use lift_syntax::diagnostic::Diagnostic;
use lift_syntax::parser::{parse_strategies, parse_strategy_expr};

use super::text::{Read, Reader, Scope};
use super::{Failure, Outcome, Strategy, library, run};

/// A strategy with what the program gets besides: parameters, clauses about them and launch sizes.
#[derive(Clone, Debug)]
pub struct Script {
    pub strategy: Strategy,
    /// Names and default values.
    pub parameters: Vec<(String, Option<Nat>)>,
    pub clauses: Vec<Pred>,
    pub launches: Vec<Launch>,
}

/// The last strategy of a file, or `main`. `file` is the number that spans carry.
pub fn read_script(file: u32, text: &str) -> Result<Script, Vec<Diagnostic>> {
    let (definitions, mistakes) = parse_strategies(file, text);
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let main = definitions.iter().rev().find(|d| d.name.text == "main").or(definitions.last());
    let Some(main) = main else {
        let none = Diagnostic::error("there is no strategy in this file");
        return Err(vec![none.help("write `strategy main = …;`")]);
    };
    script(&definitions, main).map_err(|mistake| vec![mistake])
}

/// A strategy written as an expression, such as `tile(16, 16)`.
pub fn read_strategy(file: u32, text: &str) -> Result<Strategy, Vec<Diagnostic>> {
    let (expr, mistakes) = parse_strategy_expr(file, text);
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let reader = Reader { definitions: library::definitions() };
    reader.strategy(&expr, &Scope::default()).map_err(|mistake| vec![mistake])
}

fn script(definitions: &[ast::Strategy], main: &ast::Strategy) -> Read<Script> {
    let mut known = library::definitions();
    for definition in definitions {
        let name = definition.name.text.as_str();
        let twice = definitions.iter().filter(|d| d.name.text == name).count() > 1;
        if twice {
            let text = format!("there are two strategies `{name}`");
            return Err(Diagnostic::error(text).at(definition.name.span, "one of them"));
        }
        known.insert(name, definition);
    }
    let reader = Reader { definitions: known };
    let clause = |expr| reader.predicate(expr, &Scope::default());
    Ok(Script {
        strategy: reader.definition(main)?,
        parameters: main.parameters.iter().map(|p| parameter(&reader, p)).collect::<Read<_>>()?,
        clauses: main.wheres.iter().map(clause).collect::<Read<_>>()?,
        launches: main.launches.iter().map(|l| launch(&reader, l)).collect::<Read<_>>()?,
    })
}

fn parameter<'a>(
    reader: &Reader<'a>,
    parameter: &'a ast::Parameter,
) -> Read<(String, Option<Nat>)> {
    let default = parameter.default.as_ref().map(|d| reader.size(d, &Scope::default()));
    Ok((parameter.name.text.clone(), default.transpose()?))
}

fn launch<'a>(reader: &Reader<'a>, launch: &'a ast::Launch) -> Read<Launch> {
    let sizes = |counts: &'a [ast::Expr]| {
        counts.iter().map(|e| reader.size(e, &Scope::default())).collect::<Read<Vec<Nat>>>()
    };
    Ok(Launch { local: sizes(&launch.local)?, global: sizes(&launch.global)? })
}

impl Script {
    /// The definition with the parameters, clauses and launch sizes of the script, then its strategy.
    pub fn run(&self, def: &Def) -> Result<Outcome, ScriptError> {
        Ok(run(&self.prepared(def)?, &self.strategy)?)
    }

    fn prepared(&self, def: &Def) -> Result<Def, ScriptError> {
        let mut new = def.clone();
        for (name, default) in &self.parameters {
            let known = new.sizes.iter().chain(new.parameters.iter().map(|p| &p.var));
            if known.into_iter().any(|v| v.name() == name)
                || new.params.iter().any(|p| p.name() == name)
            {
                return Err(ScriptError::Taken(name.clone()));
            }
            let parameter = Parameter { var: Var::named(name), default: default.clone() };
            new.parameters.push(parameter);
        }
        for pred in &self.clauses {
            new.wheres.push(Clause { pred: resolved_pred(&new, pred)?, span: None });
        }
        if !self.launches.is_empty() {
            let resolve = |sizes: &[Nat]| {
                sizes.iter().map(|n| resolved(&new, n)).collect::<Result<Vec<Nat>, ScriptError>>()
            };
            let launch =
                |l: &Launch| Ok(Launch { local: resolve(&l.local)?, global: resolve(&l.global)? });
            new.launches = self.launches.iter().map(launch).collect::<Result<_, ScriptError>>()?;
        }
        Ok(new)
    }
}

/// Why a script does nothing.
#[derive(Clone, Debug)]
pub enum ScriptError {
    /// The program has this name already.
    Taken(String),
    /// The program has no such size.
    Unknown(String),
    Failed(Failure),
}

impl From<Failure> for ScriptError {
    fn from(failure: Failure) -> ScriptError {
        ScriptError::Failed(failure)
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScriptError::Taken(name) => write!(f, "the program has a `{name}` already"),
            ScriptError::Unknown(name) => write!(f, "the program has no size `{name}`"),
            ScriptError::Failed(failure) => write!(f, "{failure}"),
        }
    }
}

impl std::error::Error for ScriptError {}

fn resolved(def: &Def, size: &Nat) -> Result<Nat, ScriptError> {
    known(def, size.vars())?;
    Ok(size.substitute(&|v| own(def, v).map(Nat::var)))
}

fn resolved_pred(def: &Def, pred: &Pred) -> Result<Pred, ScriptError> {
    known(def, pred.vars())?;
    Ok(pred.substitute(&|v| own(def, v).map(Nat::var)))
}

fn known(def: &Def, vars: impl IntoIterator<Item = Var>) -> Result<(), ScriptError> {
    match vars.into_iter().find(|v| own(def, v).is_none()) {
        Some(unknown) => Err(ScriptError::Unknown(unknown.name().to_string())),
        None => Ok(()),
    }
}

/// The size of a definition that has this name.
fn own<'d>(def: &'d Def, var: &Var) -> Option<&'d Var> {
    let parameters = def.parameters.iter().map(|p| &p.var);
    def.sizes.iter().chain(parameters).find(|v| v.name() == var.name())
}
