//! Specialisation: parameters are numbers, and so are sizes that are given.
//!
//! Before: `def f[N; T = 16](…)`, with `T` chosen by the user or left to its default.
//! After: parameters are numbers; sizes given a value are numbers too, the others stay symbolic.

use std::collections::BTreeMap;

use lift_ir::{Clause, Context, Def, Expr, Facts, Nat, Pred, Span, Var, refuse_numbers};

use crate::{LowerError, Options};

pub(crate) fn specialise(def: &Def, options: &Options) -> Result<Def, LowerError> {
    let mut values: BTreeMap<Var, Nat> = BTreeMap::new();
    for var in &def.sizes {
        if let Some(value) = options.sizes.get(var.name()) {
            values.insert(var.clone(), Nat::int(*value));
        }
    }
    for parameter in &def.parameters {
        let value = match (options.sizes.get(parameter.var.name()), &parameter.default) {
            (Some(value), _) => Nat::int(*value),
            (None, Some(default)) => default.substitute(&|v| values.get(v).cloned()),
            (None, None) => {
                let name = parameter.var.name();
                let text = format!("the parameter `{name}` has no value: give `--size {name}=…`");
                return Err(LowerError::at(def.span, text));
            }
        };
        values.insert(parameter.var.clone(), value);
    }
    let replace = |v: &Var| values.get(v).cloned();
    let pred = |p: &Pred| p.substitute(&replace);
    let mut facts = Facts::new();
    let open: Vec<Var> = def.sizes.iter().filter(|v| !values.contains_key(v)).cloned().collect();
    open.iter().for_each(|v| facts.size(v));
    let wheres: Vec<Clause> =
        def.wheres.iter().map(|c| Clause { pred: pred(&c.pred), span: c.span }).collect();
    let implied: Vec<Pred> = def.implied.iter().map(pred).collect();
    let stated = wheres.iter().map(|c| (&c.pred, c.span));
    for (known, span) in stated.chain(implied.iter().map(|p| (p, def.span))) {
        if facts.refutes(known) {
            let text = format!("`{known}` does not hold for the given sizes");
            return Err(LowerError::at(span, text));
        }
        facts.assume(known);
    }
    let cx = Context::starting_at(facts, def.next_number);
    let size = |n: &Nat| cx.simplify(&n.substitute(&replace));
    let body = cx.substitute_sizes(&def.body, &replace);
    refuse(&body, def.span)?;
    Ok(Def {
        name: def.name.clone(),
        span: def.span,
        sizes: open,
        parameters: Vec::new(),
        params: def.params.iter().map(|p| cx.substitute_param(p, &replace)).collect(),
        ret: def.ret.map_sizes(&size),
        launches: def.launches.iter().map(|launch| launch.map_sizes(size)).collect(),
        body,
        next_number: cx.next_number(),
        wheres,
        implied,
        said: def.said.clone(),
    })
}

/// Refuses numbers that no size of a pattern may be; `around` is the place of what has none of its own.
fn refuse(expr: &Expr, around: Option<Span>) -> Result<(), LowerError> {
    let place = expr.span().or(around);
    if let Some(call) = expr.as_call() {
        refuse_numbers(call).map_err(|text| LowerError::at(place, text))?;
    }
    expr.children().into_iter().try_for_each(|child| refuse(child, place))
}
