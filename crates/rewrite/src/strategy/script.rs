//! Strategy files and strategies on the command line.

use std::fmt;

use lift_ir::{Clause, Def, Launch, Nat, Parameter, Pred, Span, Var};
use lift_syntax::ast;
use lift_syntax::diagnostic::Diagnostic;
use lift_syntax::parser::{parse_strategies, parse_strategy_expr};

use super::text::{COMBINATORS, Read, Reader, Scope};
use super::{Failure, Outcome, Strategy, library, run};
use crate::choices::size_named;
use crate::find;

/// A strategy with what the program gets besides: parameters, clauses about them and launch sizes.
#[derive(Clone, Debug)]
pub struct Script {
    pub strategy: Strategy,
    pub parameters: Vec<NewParameter>,
    pub clauses: Vec<Written<Pred>>,
    pub launches: Vec<Written<Launch>>,
}

/// A parameter that the program gets.
#[derive(Clone, Debug)]
pub struct NewParameter {
    pub name: String,
    pub default: Option<Nat>,
    pub span: Span,
}

/// Something in terms of names of the program, and where it is written.
#[derive(Clone, Debug)]
pub struct Written<T> {
    pub value: T,
    pub span: Span,
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
    let reader = Reader { definitions: library::definitions().map_err(|mistake| vec![mistake])? };
    reader.strategy(&expr, &Scope::default()).map_err(|mistake| vec![mistake])
}

fn script<'a>(definitions: &'a [ast::Strategy], main: &'a ast::Strategy) -> Read<Script> {
    let mut known = library::definitions()?;
    for definition in definitions {
        let name = definition.name.text.as_str();
        check_name(definitions, definition)?;
        if !std::ptr::eq(definition, main) {
            check_is_part(definition, main)?;
        }
        known.insert(name, definition);
    }
    let reader = Reader { definitions: known };
    let clauses = |expr: &'a ast::Expr| {
        let all = conjuncts(reader.predicate(expr, &Scope::default())?);
        Ok(all.into_iter().map(|value| Written { value, span: expr.span }).collect::<Vec<_>>())
    };
    let clauses = main.wheres.iter().map(clauses).collect::<Read<Vec<_>>>()?;
    // What is not called is checked too, as far as that is possible without arguments.
    for definition in definitions.iter().filter(|d| d.names.is_empty()) {
        reader.definition(definition)?;
    }
    Ok(Script {
        strategy: reader.definition(main)?,
        parameters: main.parameters.iter().map(|p| parameter(&reader, p)).collect::<Read<_>>()?,
        clauses: clauses.into_iter().flatten().collect(),
        launches: main.launches.iter().map(|l| launch(&reader, l)).collect::<Read<_>>()?,
    })
}

/// That a name is given once, and not to a combinator or a rule.
fn check_name(definitions: &[ast::Strategy], definition: &ast::Strategy) -> Read<()> {
    let name = definition.name.text.as_str();
    let mistake =
        |text: String, label: &str| Err(Diagnostic::error(text).at(definition.name.span, label));
    if COMBINATORS.contains(&name) {
        return mistake(format!("`{name}` is a combinator already"), "needs another name");
    }
    if find(name).is_ok() {
        return mistake(format!("`{name}` is a rule already"), "needs another name");
    }
    match definitions.iter().filter(|d| d.name.text == name).count() {
        1 => Ok(()),
        _ => mistake(format!("there are two strategies `{name}`"), "one of them"),
    }
}

/// That a strategy that is not run by itself gives the program nothing: that would be lost.
fn check_is_part(definition: &ast::Strategy, main: &ast::Strategy) -> Read<()> {
    let parameter = definition.parameters.first().map(|p| p.name.span);
    let clause = definition.wheres.first().map(|c| c.span);
    let counts = definition.launches.first().map(|l| l.span);
    match parameter.or(clause).or(counts) {
        None => Ok(()),
        Some(span) => {
            let text = format!(
                "only `{}`, which is run, has parameters, `where` clauses and `launch`",
                main.name.text
            );
            Err(Diagnostic::error(text).at(span, format!("in `{}`", definition.name.text)))
        }
    }
}

/// The clauses of `a && b`.
fn conjuncts(pred: Pred) -> Vec<Pred> {
    match pred {
        Pred::And(parts) => parts.into_iter().flat_map(conjuncts).collect(),
        other => vec![other],
    }
}

fn parameter<'a>(reader: &Reader<'a>, parameter: &'a ast::Parameter) -> Read<NewParameter> {
    let default = parameter.default.as_ref().map(|d| reader.size(d, &Scope::default()));
    let (name, span) = (parameter.name.text.clone(), parameter.name.span);
    Ok(NewParameter { name, default: default.transpose()?, span })
}

fn launch<'a>(reader: &Reader<'a>, launch: &'a ast::Launch) -> Read<Written<Launch>> {
    let mut value = Launch::default();
    for (clause, counts) in &launch.clauses {
        let sizes = counts.iter().map(|e| reader.size(e, &Scope::default()));
        value = value.with(*clause, sizes.collect::<Read<Vec<Nat>>>()?);
    }
    Ok(Written { value, span: launch.span })
}

impl Script {
    /// The definition with the parameters, clauses and launch sizes of the script, then its strategy.
    pub fn run(&self, def: &Def) -> Result<Outcome, ScriptError> {
        Ok(run(&self.prepared(def)?, &self.strategy)?)
    }

    /// The definition with the parameters, clauses and launch sizes of the script.
    pub fn prepared(&self, def: &Def) -> Result<Def, ScriptError> {
        let mut new = def.clone();
        for NewParameter { name, default, span } in &self.parameters {
            let known = new.sizes.iter().chain(new.parameters.iter().map(|p| &p.var));
            if known.into_iter().any(|v| v.name() == name)
                || new.params.iter().any(|p| p.name() == name)
            {
                return Err(ScriptError::Taken { name: name.clone(), span: *span });
            }
            let default = default.as_ref().map(|d| resolved(&new, d, *span)).transpose()?;
            new.parameters.push(Parameter { var: Var::named(name), default });
        }
        for Written { value, span } in &self.clauses {
            known(&new, value.vars(), *span)?;
            let pred = value.substitute(&|v| size_named(&new, v.name()).map(Nat::var));
            new.wheres.push(Clause { pred, span: None });
        }
        if !self.launches.is_empty() {
            let launch = |Written { value, span }: &Written<Launch>| {
                value.try_map_sizes(|n| resolved(&new, n, *span))
            };
            new.launches = self.launches.iter().map(launch).collect::<Result<_, ScriptError>>()?;
        }
        Ok(new)
    }
}

/// Why a script does nothing.
#[derive(Clone, Debug)]
pub enum ScriptError {
    /// The program has this name already.
    Taken {
        name: String,
        span: Span,
    },
    /// The program has no such size.
    Unknown {
        name: String,
        span: Span,
    },
    Failed(Box<Failure>),
}

impl ScriptError {
    /// Where in the script the mistake is, if it is there.
    pub fn span(&self) -> Option<Span> {
        match self {
            ScriptError::Taken { span, .. } | ScriptError::Unknown { span, .. } => Some(*span),
            ScriptError::Failed(_) => None,
        }
    }
}

impl From<Failure> for ScriptError {
    fn from(failure: Failure) -> ScriptError {
        ScriptError::Failed(Box::new(failure))
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScriptError::Taken { name, .. } => write!(f, "the program has a `{name}` already"),
            ScriptError::Unknown { name, .. } => write!(f, "the program has no size `{name}`"),
            ScriptError::Failed(failure) => write!(f, "{failure}"),
        }
    }
}

impl std::error::Error for ScriptError {}

fn resolved(def: &Def, size: &Nat, span: Span) -> Result<Nat, ScriptError> {
    known(def, size.vars(), span)?;
    Ok(size.substitute(&|v| size_named(def, v.name()).map(Nat::var)))
}

fn known(def: &Def, vars: impl IntoIterator<Item = Var>, span: Span) -> Result<(), ScriptError> {
    match vars.into_iter().find(|v| size_named(def, v.name()).is_none()) {
        Some(unknown) => Err(ScriptError::Unknown { name: unknown.name().to_string(), span }),
        None => Ok(()),
    }
}
