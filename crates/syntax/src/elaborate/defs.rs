//! Whole programs: every declaration checked, every definition that can run elaborated.

use std::collections::{HashMap, HashSet};

use lift_ir::{
    Clause, Context, Def, Facts, Launch, Nat, Param, Parameter, Pred, Program, Range, Said, Span,
    Type, Var, check_low_level,
};

use super::calls::{conjuncts, is_generic};
use super::domains;
use super::errors::{Errors, all};
use super::recursion::{self, free_names};
use super::scope::{Binding, Declaration, Declarations, Env, Home, Module, Stage};
use super::{Elaborator, Hint, Result};
use crate::ast::{self, Item};
use crate::diagnostic::Diagnostic;

/// Elaborates the files of a program, imported ones first.
pub fn check(
    files: &[&ast::File],
    prelude: &ast::File,
    stage: Stage,
) -> (Program, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let (user, own) = (Declarations::default(), Declarations::default());
    let mut module = Module { user, prelude: own, stage };
    for item in files.iter().flat_map(|f| &f.items) {
        declare(item, &mut module.user, &mut diagnostics);
    }
    for item in &prelude.items {
        declare(item, &mut module.prelude, &mut diagnostics);
    }
    duplicate_tests(files, &mut diagnostics);
    let mut circles = recursion::check(&module.user);
    circles.extend(domains::circles(&module.user));
    if !circles.is_empty() {
        // Whatever uses them would be expanded without end.
        diagnostics.extend(circles);
        return (Program::default(), diagnostics);
    }
    let mut program = Program::default();
    let mut tests = Vec::new();
    for item in files.iter().flat_map(|f| &f.items) {
        let result = match item {
            Item::Fn(f) => check_fn(f, &module),
            Item::Extern(e) => check_extern(e, &module),
            Item::Const(c) => check_const(c, &module),
            Item::Def(def) if is_generic(def) => check_names(def, &module),
            Item::Def(def) => check_def(def, &module).map(|def| program.defs.push(def)),
            Item::Domain(domain) => check_domain(domain, &module),
            Item::Import(_) => Ok(()),
            Item::Test(test) => {
                tests.push(test);
                Ok(())
            }
        };
        if let Err(errors) = result {
            diagnostics.extend(errors.0);
        }
    }
    for test in tests {
        match super::tests::check_test(test, &module, &program) {
            Ok(test) => program.tests.push(test),
            Err(errors) => diagnostics.extend(errors.0),
        }
    }
    remove_repeated(&mut diagnostics);
    (program, diagnostics)
}

fn declare<'a>(item: &'a Item, into: &mut Declarations<'a>, diagnostics: &mut Vec<Diagnostic>) {
    if let Item::Domain(domain) = item {
        match into.domains.get(domain.name.text.as_str()) {
            Some(first) => {
                let text = &domain.name.text;
                diagnostics.push(twice("the domain ", text, first.name.span, domain.name.span));
            }
            None => {
                into.domains.insert(&domain.name.text, domain);
            }
        }
    }
    let Some(declaration) = Declaration::of(item) else { return };
    let name = declaration.name();
    if let Some(first) = into.by_name.get(name.text.as_str()) {
        diagnostics.push(twice("", &name.text, first.name().span, name.span));
        return;
    }
    into.by_name.insert(&name.text, declaration);
}

fn duplicate_tests(files: &[&ast::File], diagnostics: &mut Vec<Diagnostic>) {
    // Tests belong to their file: imported ones are not run with it.
    for file in files {
        let mut seen: HashMap<&str, Span> = HashMap::new();
        for item in &file.items {
            if let Item::Test(test) = item
                && let Some(first) = seen.insert(&test.name.text, test.name.span)
            {
                diagnostics.push(twice("the test ", &test.name.text, first, test.name.span));
            }
        }
    }
}

fn twice(what: &str, name: &str, first: Span, second: Span) -> Diagnostic {
    Diagnostic::error(format!("{what}`{name}` is declared twice"))
        .at(second, "declared again here")
        .also(first, "first declared here")
}

/// The same error can be met at every expansion; it is said once.
fn remove_repeated(diagnostics: &mut Vec<Diagnostic>) {
    let mut seen = HashSet::new();
    diagnostics.retain(|d| seen.insert((d.message.clone(), d.span())));
}

fn check_fn<'a>(f: &'a ast::Fn, module: &'a Module<'a>) -> Result<()> {
    let elaborator = Elaborator::new(module, Context::new(Facts::new()));
    distinct(f.params.iter().map(|p| &p.name))?;
    let mut env = Env::new(Home::User);
    for (param, ty) in f.params.iter().zip(elaborator.param_types(&f.params, &env)?) {
        let variable = elaborator.cx.fresh(&param.name.text, ty);
        env = env.bind(&param.name.text, Binding::Value(elaborator.cx.var(&variable)));
    }
    elaborator.fn_body(f, &env).map(|_| ())
}

/// A domain by itself: its sizes are natural numbers of which nothing else is known.
fn check_domain<'a>(domain: &'a ast::Domain, module: &'a Module<'a>) -> Result<()> {
    let elaborator = Elaborator::new(module, Context::new(Facts::new()));
    distinct(domain.sizes.iter())?;
    let mut env = Env::new(Home::User);
    for size in &domain.sizes {
        let var = elaborator.cx.fresh_index(&size.text, Range::at_least(Nat::ZERO));
        env = env.bind(&size.text, Binding::Size(Nat::var(&var)));
    }
    elaborator.declared(domain, &env, domain.name.span).map(|_| ())
}

fn check_extern<'a>(e: &'a ast::Extern, module: &'a Module<'a>) -> Result<()> {
    let elaborator = Elaborator::new(module, Context::new(Facts::new()));
    let env = Env::new(Home::User);
    elaborator.param_types(&e.params, &env)?;
    elaborator.ty(&e.ret, &env)?;
    for target in e.targets.split(',').map(str::trim) {
        if !matches!(target, "opencl" | "cuda" | "c") {
            let text = format!("`{target}` is not a target: `opencl`, `cuda` and `c` are");
            return Err(Errors::at(e.span, text));
        }
    }
    Ok(())
}

fn check_const<'a>(constant: &'a ast::Const, module: &'a Module<'a>) -> Result<()> {
    let elaborator = Elaborator::new(module, Context::new(Facts::new()));
    let env = Env::new(Home::User);
    let value = elaborator.expr(&constant.value, &env, Hint::None)?;
    if !matches!(value.ty(), Type::Scalar(_)) {
        let text = format!("a constant is a scalar or a size, found `{}`", value.ty());
        return Err(Errors::at(constant.value.span, text));
    }
    Ok(())
}

/// A definition with type or function parameters is checked where it is called; until then, that
/// its names mean something.
fn check_names<'a>(def: &'a ast::Def, module: &'a Module<'a>) -> Result<()> {
    let elaborator = Elaborator::new(module, Context::new(Facts::new()));
    let env = Env::new(Home::User);
    let mut errors = Vec::new();
    free_names(Declaration::Def(def), &mut |name, span| {
        let rules = ["view", "put", "over", "flat", "count", "rank", "point", "tabulate"]
            .into_iter()
            .chain([
                "len", "ceil_div", "inf", "nan", "reverse", "stride", "shift", "mirror", "wrap",
            ]);
        let known = module.find(Home::User, name).is_some()
            || lift_ir::table::pattern(name).is_some()
            || rules.clone().any(|rule| rule == name);
        if !known && let Err(more) = elaborator.unknown::<()>(name, span, &env) {
            errors.extend(more.0);
        }
    });
    if errors.is_empty() { Ok(()) } else { Err(Errors(errors)) }
}

fn check_def<'a>(def: &'a ast::Def, module: &'a Module<'a>) -> Result<Def> {
    let elaborator = Elaborator::new(module, Context::new(Facts::new()));
    let names = def.generics.iter().map(|g| &g.name);
    let names = names.chain(def.parameters.iter().map(|p| &p.name));
    distinct(names.chain(def.params.iter().map(|p| &p.name)))?;
    let mut env = Env::new(Home::User);
    let mut sizes = Vec::new();
    for generic in &def.generics {
        sizes.push(elaborator.declare_size(&generic.name, &mut env));
    }
    let mut parameters = Vec::new();
    for parameter in &def.parameters {
        let default = parameter.default.as_ref().map(|d| elaborator.size(d, &env)).transpose()?;
        let var = elaborator.declare_size(&parameter.name, &mut env);
        parameters.push(Parameter { var, default });
    }
    let types = elaborator.param_types(&def.params, &env)?;
    let finished: Vec<Type> = types.iter().map(|ty| elaborator.finished_type(ty)).collect();
    found_in_arguments(def, &sizes, &finished)?;
    let wheres = elaborator.wheres(def, &env)?;
    let mut params = Vec::new();
    for (param, ty) in def.params.iter().zip(types) {
        let variable = elaborator.cx.fresh(&param.name.text, elaborator.cx.simplify_type(&ty));
        env = env.bind(&param.name.text, Binding::Value(elaborator.cx.var(&variable)));
        params.push(variable);
    }
    let launches = elaborator.launches(def, &env)?;
    let ret = def.ret.as_ref().map(|ty| elaborator.ty(ty, &env)).transpose()?;
    let body = elaborator.expr(&def.body, &env, Hint::of(ret.as_ref()))?;
    elaborator.expect_result(&def.name.text, ret.as_ref(), &body, def.body.span)?;
    let ret = ret.unwrap_or_else(|| body.ty().clone());
    let said = Said {
        params: params.iter().map(|p: &Param| p.ty().to_string()).collect(),
        ret: ret.to_string(),
        orders: elaborator.orders.take(),
    };
    let body = elaborator.finished(&body);
    let params = params.iter().map(|p| elaborator.finished_param(p)).collect();
    let violations = match module.stage {
        Stage::Finished => check_low_level(&body),
        Stage::Underway => Vec::new(),
    };
    if !violations.is_empty() {
        return Err(Errors(violations.into_iter().map(|v| low_level(v, def)).collect()));
    }
    Ok(Def {
        name: def.name.text.clone(),
        span: Some(def.span),
        sizes,
        parameters,
        params,
        ret: elaborator.finished_type(&ret),
        wheres: wheres.into_iter().map(|c| elaborator.finished_clause(c)).collect(),
        implied: elaborator.implied(),
        launches: launches.iter().map(|l| elaborator.finished_launch(l)).collect(),
        body,
        next_number: elaborator.cx.next_number(),
        said,
    })
}

fn low_level(violation: lift_ir::Violation, def: &ast::Def) -> Diagnostic {
    let span = violation.span.unwrap_or(def.name.span);
    let mut diagnostic = Diagnostic::error(violation.message).at(span, "");
    if let Some((text, other)) = violation.other {
        diagnostic = diagnostic.also(other, text);
    }
    match violation.help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

/// Sizes in front of the `;` are read off the arguments, so they must occur there.
fn found_in_arguments(def: &ast::Def, sizes: &[Var], types: &[Type]) -> Result<()> {
    let missing =
        sizes.iter().zip(&def.generics).filter(|(var, _)| !types.iter().any(|t| t.mentions(var)));
    let errors: Vec<Diagnostic> = missing
        .map(|(var, generic)| {
            Diagnostic::error(format!("the size `{var}` is found in no argument type"))
                .at(generic.name.span, "")
                .help(format!("declare it behind a `;`, as in `[…; {var} = 16]`"))
        })
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(Errors(errors)) }
}

fn distinct<'n>(names: impl Iterator<Item = &'n ast::Name>) -> Result<()> {
    let mut seen: Vec<&ast::Name> = Vec::new();
    for name in names {
        if let Some(first) = seen.iter().find(|n| n.text == name.text) {
            return Err(Errors::one(twice("", &name.text, first.span, name.span)));
        }
        seen.push(name);
    }
    Ok(())
}

impl<'a> Elaborator<'a> {
    /// The bounds that the body needs; what holds of numbers of points as such is left out.
    fn implied(&self) -> Vec<Pred> {
        let required = self.cx.required();
        // No number of points is negative.
        let says = |p: &Pred| !p.vars().is_empty() && !self.is_of_count(p);
        required.iter().map(|p| self.finished_pred(p)).filter(says).collect()
    }

    fn declare_size(&self, name: &'a ast::Name, env: &mut Env<'a>) -> Var {
        let var = Var::named(&name.text);
        self.cx.declare_size(&var);
        *env = env.bind(&name.text, Binding::Size(Nat::var(&var)));
        var
    }

    fn param_types(&self, params: &'a [ast::Param], env: &Env<'a>) -> Result<Vec<Type>> {
        all(params.iter().map(|p| self.ty(&p.ty, env)))
    }

    fn wheres(&self, def: &'a ast::Def, env: &Env<'a>) -> Result<Vec<Clause>> {
        let mut clauses = Vec::new();
        for clause in &def.wheres {
            for pred in conjuncts(self.predicate(clause, env)?) {
                if self.cx.refutes(&pred) {
                    return Err(Errors::at(clause.span, format!("`{pred}` never holds")));
                }
                self.cx.assume(&pred);
                clauses.push(Clause { pred, span: Some(clause.span) });
            }
        }
        Ok(clauses)
    }

    fn launches(&self, def: &'a ast::Def, env: &Env<'a>) -> Result<Vec<Launch>> {
        let sizes = |list: &'a [ast::Expr]| all(list.iter().map(|e| self.size(e, env)));
        let mut launches = Vec::new();
        for launch in &def.launches {
            let mut found = Launch::default();
            for (clause, list) in &launch.clauses {
                let (fewest, most) = clause.counts();
                if !(fewest..=most).contains(&list.len()) {
                    let wanted = match (fewest, most) {
                        (1, 1) => "one number".to_string(),
                        (fewest, most) if fewest == most => format!("{most} numbers"),
                        (fewest, most) => format!("{fewest} to {most} numbers"),
                    };
                    let text = format!("`{}` takes {wanted}, found {}", clause.name(), list.len());
                    return Err(Errors::at(launch.span, text));
                }
                found = found.with(*clause, sizes(list)?);
            }
            launches.push(found);
        }
        Ok(launches)
    }
}
