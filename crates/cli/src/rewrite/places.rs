//! Where rules apply.

use lift_ir::{Def, Expr, Place};
use lift_rewrite::{Arguments, Rule, find, places, rules};
use lift_syntax::diagnostic::Diagnostic;
use serde_json::json;

use crate::report::{Failure, remark, say, say_json};

/// Prints every place where the rule, or any, applies: from the outside in.
pub fn list(def: &Def, rule: Option<&str>, as_json: bool) -> Result<(), Failure> {
    let rules = match rule {
        Some(name) => vec![named(name)?],
        None => rules(),
    };
    let found = found(def, &rules)?;
    if as_json {
        let row = |(place, rule, expr): &Found<'_>| {
            let expression = expr.to_string();
            json!({ "place": place.to_string(), "rule": rule.name, "expression": expression })
        };
        return say_json(&found.iter().map(row).collect());
    }
    if found.is_empty() {
        let what = rule.map_or("no rule".to_string(), |name| format!("`{name}`"));
        let place = if rule.is_some() { "nowhere" } else { "anywhere" };
        remark(&format!("{what} applies {place} in `{}`", def.name));
    }
    say(&table(&found))
}

/// The rule of a name, or a mistake that says which name was meant.
pub fn named(name: &str) -> Result<&'static Rule, Failure> {
    find(name).map_err(|e| {
        Failure::of(Diagnostic::error(e.to_string()).help("`lift rules` lists the rules"))
    })
}

type Found<'d> = (Place, &'static Rule, &'d Expr);

fn found<'d>(def: &'d Def, rules: &[&'static Rule]) -> Result<Vec<Found<'d>>, Failure> {
    let cx = def.context();
    let mut by_rule = Vec::new();
    for rule in rules {
        let applies = places(&cx, rule, &def.body, &Arguments::none())
            .map_err(|e| Failure::message(format!("`{}`: {e}", rule.name)))?;
        by_rule.push((*rule, applies));
    }
    let mut found = Vec::new();
    for (place, expr) in def.body.places() {
        for (rule, applies) in &by_rule {
            if applies.contains(&place) {
                found.push((place.clone(), *rule, expr));
            }
        }
    }
    Ok(found)
}

fn table(found: &[Found<'_>]) -> String {
    let width = |text: &dyn Fn(&Found<'_>) -> String| {
        found.iter().map(|row| text(row).chars().count()).max().unwrap_or(0)
    };
    let places = width(&|(place, _, _)| place.to_string());
    let names = width(&|(_, rule, _)| rule.name.to_string());
    let row = |(place, rule, expr): &Found<'_>| {
        let place = place.to_string();
        format!("{place:<places$}  {:<names$}  {}\n", rule.name, abbreviated(expr))
    };
    found.iter().map(row).collect()
}

const WIDTH: usize = 60;

/// The expression on one line, cut where it is long.
pub fn abbreviated(expr: &Expr) -> String {
    let text = expr.to_string();
    let line = text.split_whitespace().collect::<Vec<&str>>().join(" ");
    if line.chars().count() <= WIDTH {
        return line;
    }
    let cut: String = line.chars().take(WIDTH - 1).collect();
    format!("{}…", cut.trim_end())
}
