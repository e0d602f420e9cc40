//! Applying rules: at an expression, at a place, everywhere they fit.

use lift_ir::{Clause, Context, Def, Expr, Nat, Parameter, Permutation, Place, Pred, Type, Var};

use crate::arguments::{Applied, Arguments, Choice};
use crate::bindings::Bindings;
use crate::build::build;
use crate::law::Law;
use crate::matching::match_law;
use crate::refusal::Refusal;
use crate::rule::{Rule, RuleKind, Site};

/// Ensures: the result has the type of what it replaces.
pub(crate) fn apply(rule: &Rule, site: &Site) -> Result<Applied, Refusal> {
    let law = rule.read()?;
    check_names(law, site.arguments)?;
    let applied = match rule.kind {
        RuleKind::Law => apply_law(law, site)?,
        RuleKind::Function(function) => {
            Applied { expr: function(site)?, fresh: Vec::new(), assumed: Vec::new() }
        }
    };
    if !site.cx.same_type(applied.expr.ty(), site.expr.ty()) {
        return Err(Refusal::Changes {
            from: site.expr.ty().to_string(),
            to: applied.expr.ty().to_string(),
        });
    }
    Ok(applied)
}

fn apply_law(law: &Law, site: &Site) -> Result<Applied, Refusal> {
    let mut found = match_law(site.cx, law, site.expr)?;
    let fresh = choose(law, site.arguments, &mut found)?;
    let assumed = check_conditions(site.cx, law, &found, &fresh, &site.arguments.open)?;
    Ok(Applied { expr: build(site.cx, &found, &law.right)?, fresh, assumed })
}

fn check_names(law: &Law, arguments: &Arguments) -> Result<(), Refusal> {
    let sizes = arguments.sizes.keys().filter(|n| !law.parameters.contains(n));
    let unknown =
        sizes.chain(arguments.permutations.keys().filter(|n| !law.reorderings.contains(n))).next();
    match unknown {
        None => Ok(()),
        Some(name) => Err(Refusal::NoParameter {
            parameter: name.clone(),
            known: law.parameters.iter().chain(&law.reorderings).cloned().collect(),
        }),
    }
}

/// Completes the bindings by the caller's choices; the new size variables among them.
fn choose(law: &Law, arguments: &Arguments, found: &mut Bindings) -> Result<Vec<Var>, Refusal> {
    let mut fresh = Vec::new();
    for name in &law.parameters {
        let size = match arguments.sizes.get(name) {
            None => return Err(Refusal::Missing { parameter: name.clone() }),
            Some(Choice::Size(size)) => size.clone(),
            Some(Choice::Fresh(_)) if law.is_count(name) => {
                let reason = format!("`{name}` must be a number: the length changes each time");
                return Err(Refusal::Other(reason));
            }
            Some(Choice::Fresh(var)) => {
                fresh.push(var.clone());
                var.into()
            }
        };
        found.sizes.insert(name.clone(), size);
    }
    for name in &law.reorderings {
        let Some(permutation) = arguments.permutations.get(name) else {
            return Err(Refusal::Missing { parameter: name.clone() });
        };
        found.permutations.insert(name.clone(), permutation.clone());
    }
    Ok(fresh)
}

/// Conditions on new and open variables are assumed unless they never hold, all others must be proved.
/// Nothing is assumed before everything else is proved.
fn check_conditions(
    cx: &Context,
    law: &Law,
    found: &Bindings,
    fresh: &[Var],
    open: &[Var],
) -> Result<Vec<Pred>, Refusal> {
    let conditions: Vec<Pred> = law.conditions.iter().map(|p| found.pred(p)).collect();
    let mut assumed = Vec::new();
    for pred in conditions {
        if cx.proves(&pred) {
            continue;
        }
        let is_open = fresh.iter().chain(open).any(|var| pred.mentions(var));
        // That a size to be picked divides another is hardly ever refuted, and dear to ask.
        let may_never_hold = !is_open || !matches!(pred, Pred::Divides { .. });
        if may_never_hold && cx.refutes(&pred) {
            return Err(Refusal::Condition { pred, never: true });
        }
        if !is_open {
            return Err(Refusal::Condition { pred, never: false });
        }
        assumed.push(pred);
    }
    fresh.iter().for_each(|var| cx.declare_size(var));
    assumed.iter().for_each(|pred| cx.assume(pred));
    Ok(assumed)
}

/// `root` with the rule applied at `place`.
pub fn apply_at(
    cx: &Context,
    rule: &Rule,
    root: &Expr,
    place: &Place,
    arguments: &Arguments,
) -> Result<Applied, Refusal> {
    let expr = root.at(place).ok_or_else(|| Refusal::NoPlace(place.clone()))?;
    let applied = rule.apply(cx, expr, arguments)?;
    let replaced = cx.replace_at(root, place, &applied.expr);
    let expr = replaced.ok_or_else(|| Refusal::NoPlace(place.clone()))??;
    Ok(Applied { expr, ..applied })
}

/// The definition with the rule applied at a place of its body. New size variables become
/// parameters, what is assumed of them becomes `where` clauses.
pub fn apply_in(
    rule: &Rule,
    def: &Def,
    place: &Place,
    arguments: &Arguments,
) -> Result<Def, Refusal> {
    let cx = def.context();
    let taken = def.sizes.iter().chain(def.parameters.iter().map(|p| &p.var));
    for var in taken {
        if arguments.sizes.values().any(|c| matches!(c, Choice::Fresh(v) if v == var)) {
            return Err(Refusal::Other(format!("there is a size `{}` already", var.name())));
        }
    }
    let applied = apply_at(&cx, rule, &def.body, place, arguments)?;
    let mut new = def.clone();
    new.body = applied.expr;
    new.parameters.extend(applied.fresh.into_iter().map(|var| Parameter { var, default: None }));
    new.wheres.extend(applied.assumed.into_iter().map(|pred| Clause { pred, span: None }));
    new.implied.extend(cx.required());
    new.next_number = cx.next_number();
    Ok(new)
}

/// Every place of `root` where the rule applies, parents before children.
///
/// Parameters that are not given stand for any value that meets the condition: a rule that splits
/// applies wherever there is something to split.
pub fn places(
    cx: &Context,
    rule: &Rule,
    root: &Expr,
    arguments: &Arguments,
) -> Result<Vec<Place>, Refusal> {
    let law = rule.read()?;
    check_names(law, arguments)?;
    // Asking must not make anything known, so it is done in a context of its own.
    let scratch = Context::starting_at(cx.facts(), cx.next_number());
    scratch.adopt(root);
    let applies = |expr: &Expr| {
        let arguments = completed(&scratch, law, arguments);
        rule.apply(&scratch, expr, &arguments).is_ok()
    };
    let found = root.places().into_iter().filter(|(_, expr)| applies(expr));
    Ok(found.map(|(place, _)| place).collect())
}

/// The arguments with a witness for every parameter that is not given. Sizes get a new variable
/// each time, since what is assumed of it at one place need not hold at another.
fn completed(cx: &Context, law: &Law, arguments: &Arguments) -> Arguments {
    let mut completed = arguments.clone();
    for name in law.parameters.iter() {
        let witness = match completed.sizes.get(name) {
            Some(Choice::Size(_)) => continue,
            Some(Choice::Fresh(_)) | None if law.is_dimension(name) => Choice::Size(Nat::ZERO),
            Some(Choice::Fresh(_)) | None if law.is_count(name) => Choice::Size(Nat::ONE),
            Some(Choice::Fresh(_)) | None => {
                let number = cx.fresh(name, Type::I32).id();
                Choice::Fresh(Var::with_id(name, number + 1))
            }
        };
        completed.sizes.insert(name.clone(), witness);
    }
    for name in &law.reorderings {
        completed.permutations.entry(name.clone()).or_insert(Permutation::Reverse);
    }
    completed
}
