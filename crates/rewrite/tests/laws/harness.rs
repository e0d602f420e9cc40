//! Checks one rule on random instances of its left side.

use std::collections::BTreeSet;

use lift_interp::{Sizes, Value, compare, run};
use lift_ir::{Def, Expr, FoldKind, Kind, Pred, Prim, Scalar, Type};
use lift_rewrite::law::{Law, Op, Term};
use lift_rewrite::{Rule, RuleKind};

use crate::instance::Instance;
use crate::kinds::{free_types, is_width, regroups};

/// How many instances a rule must hold on.
pub const INSTANCES: u32 = 200;

/// How many seeds are tried; most sizes break the condition of some rules.
const ATTEMPTS: u64 = 20_000;

#[derive(Default)]
pub struct Report {
    pub fired: u32,
    /// Instances that a rule matched by a function refused.
    refused: u32,
    /// The sizes of every instance that fired.
    sizes: Vec<Sizes>,
    /// How many of them had symbolic sizes, and arrays, tuples, floats in place of a type variable.
    symbolic: u32,
    arrays: u32,
    tuples: u32,
    floats: u32,
}

pub fn check(rule: &Rule) -> Result<Report, String> {
    let law = rule.read().map_err(|e| e.to_string())?;
    let mut report = Report::default();
    let mut last = "no instance could be made".to_string();
    for seed in 0..ATTEMPTS {
        if report.fired >= INSTANCES {
            break;
        }
        let instance = match Instance::new(law, seed) {
            Ok(instance) => instance,
            Err(reason) => {
                last = reason;
                continue;
            }
        };
        check_instance(rule, instance, &mut report, &mut last)?;
    }
    if report.fired < INSTANCES {
        let (fired, refused) = (report.fired, report.refused);
        return Err(format!("fired {fired} times, refused {refused} times, last: {last}"));
    }
    extremes(law, &report)?;
    Ok(report)
}

fn check_instance(
    rule: &Rule,
    instance: Instance,
    report: &mut Report,
    last: &mut String,
) -> Result<(), String> {
    let describe =
        |what: &str| format!("{what}\n  sizes {:?}\n  {}", instance.sizes, instance.left);
    let applied = match (rule.apply(&instance.cx, &instance.left, &instance.arguments), rule.kind) {
        (Ok(applied), _) => applied,
        (Err(refusal), RuleKind::Law) => {
            return Err(describe(&format!("does not apply to its own left side: {refusal}")));
        }
        (Err(refusal), RuleKind::Function(_)) => {
            report.refused += 1;
            *last = describe(&refusal.to_string());
            return Ok(());
        }
    };
    let describe = |what: &str| format!("{}\n= {}", describe(what), applied.expr);
    let value = |expr: &Expr| -> Result<Value, String> {
        let def = instance.def(expr);
        run(&def, &instance.args, &given(&def, &instance.sizes)).map_err(|e| e.to_string())
    };
    // Where the left side has no value the right one may have any; where it has one, the right one does not fail.
    let left = match value(&instance.left) {
        Err(fault) if fault.ends_with("division by zero") => {
            *last = describe(&fault);
            return Ok(());
        }
        // A range that decreases is an error on both sides.
        Err(fault) if fault.ends_with("decreases") => {
            return match value(&applied.expr) {
                Err(fault) if fault.ends_with("decreases") => Ok(()),
                Err(fault) => Err(describe(&format!("right: {fault}"))),
                Ok(_) => Err(describe("only the left side notices that a range decreases")),
            };
        }
        other => other.map_err(|e| describe(&format!("left: {e}")))?,
    };
    let right = match value(&applied.expr) {
        Err(fault) if fault.ends_with("division by zero") && reads_less(rule.name) => {
            *last = describe(&fault);
            return Ok(());
        }
        other => other.map_err(|e| describe(&format!("right: {e}")))?,
    };
    // On `f64`, up to 1e-12 of the value or of 1, whichever is more.
    let approximate = regroups(rule.read().map_err(|e| e.to_string())?);
    compare(&right, &left, approximate).map_err(|e| describe(&format!("the sides differ: {e}")))?;
    if shares_binders(&applied.expr) {
        return Err(describe("two binders of the result are the same variable"));
    }
    report.fired += 1;
    report.sizes.push(instance.sizes.clone());
    report.symbolic += u32::from(instance.is_symbolic());
    report.arrays += u32::from(instance.has_type(|ty| matches!(ty, Type::Array(..))));
    report.floats += u32::from(instance.has_type(|ty| ty.element_scalar() == Some(Scalar::F64)));
    report.tuples += u32::from(instance.has_type(|ty| matches!(ty, Type::Tuple(_))));
    Ok(())
}

/// Rules whose right side maps elements that it does not read. Devices do not evaluate what nothing reads; the
/// interpreter does.
fn reads_less(rule: &str) -> bool {
    matches!(rule, "let_head" | "map_take" | "map_drop")
}

/// All work-items change numbers, not arrays.
fn changes_numbers(law: &Law) -> bool {
    let mut found = false;
    law.right.each(&mut |term| {
        let Term::Call { op: Op::Exact(prim), .. } = term else { return };
        found = found || *prim == Prim::ReduceByIndex(FoldKind::Glb);
    });
    found
}

/// The state of a fold over a range fits in registers.
fn folds_range(law: &Law) -> bool {
    let mut found = false;
    law.left.each(&mut |term| {
        let is_range = |op: &Op| matches!(op, Op::Exact(Prim::ReduceRange(_)));
        found |= matches!(term, Term::Call { op, .. } if is_range(op));
    });
    found
}

/// Some variable is bound twice: copies of an expression must have binders of their own.
fn shares_binders(expr: &Expr) -> bool {
    let mut seen = BTreeSet::new();
    expr.places().into_iter().any(|(_, part)| match part.kind() {
        Kind::Let { param, .. } => !seen.insert(param.id()),
        Kind::Call(call) => {
            let mut params = call.functions.iter().flat_map(|f| &f.params);
            params.any(|param| !seen.insert(param.id()))
        }
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => false,
    })
}

/// Values of the sizes that are found in no argument.
fn given(def: &Def, sizes: &Sizes) -> Sizes {
    let names = def.parameters.iter().map(|p| p.var.name());
    names.filter_map(|name| Some((name, sizes.get(name)?))).collect()
}

/// What the law allows was among the instances: symbolic sizes, arrays and tuples as elements,
/// floats where a fold is regrouped, every size one, and where one size must divide another, both
/// ends of the range.
fn extremes(law: &Law, report: &Report) -> Result<(), String> {
    let any_type = !free_types(law).is_empty();
    let arrays = report.arrays > 0 || folds_range(law) || changes_numbers(law);
    if any_type && (!arrays || report.tuples == 0) {
        return Err("no instance with arrays or none with tuples".to_string());
    }
    if regroups(law) && any_type && report.floats == 0 {
        return Err("no instance with floats".to_string());
    }
    if !law.size_names().is_empty() && report.symbolic == 0 {
        return Err("no instance with symbolic sizes".to_string());
    }
    // The first instance is the one where every size that can be is one.
    let ones = |sizes: &Sizes| sizes.iter().all(|(name, v)| v == 1 || is_width(law, name));
    if Instance::new(law, 0).is_ok() && !report.sizes.iter().any(ones) {
        return Err("no instance where every size is one".to_string());
    }
    for condition in &law.conditions {
        let Pred::Divides { divisor, of } = condition else { continue };
        let (Some(m), Some(n)) = (divisor.as_var(), of.as_var()) else { continue };
        let seen = |holds: &dyn Fn(i128, i128) -> bool| {
            report.sizes.iter().any(|sizes| {
                sizes.get(m.name()).zip(sizes.get(n.name())).is_some_and(|(m, n)| holds(m, n))
            })
        };
        let whole = seen(&|m, n| m == n && n > 1);
        let single =
            is_width(law, m.name()) || seen(&|m, n| m == 1 && n > 1) && seen(&|_, n| n == 1);
        if !whole || !single {
            return Err(format!("no instance at an end of `{condition}`"));
        }
    }
    Ok(())
}
