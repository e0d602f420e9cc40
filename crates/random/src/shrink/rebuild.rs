//! Changed programs checked again from the ground up.

use lift_interp::{Sizes, Value};
use lift_ir::{Context, Def, Expr, Facts, Nat, Param, Place, Var, check_low_level};

use super::shares;
use crate::again::again;
use crate::case::Case;

/// A program that may be well typed.
pub(super) struct Draft {
    def: Def,
    /// Variables of the body that are to become inputs.
    pub inputs: Vec<Param>,
    /// Values for inputs, by index.
    pub args: Vec<(usize, Value)>,
    fixed: bool,
}

/// A program that is well typed, and what is known of its inputs.
pub(super) struct Finished {
    pub def: Def,
    pub sizes: Sizes,
    /// Values for inputs, by their index in the program before.
    pub args: Vec<(usize, Value)>,
}

impl Draft {
    pub fn of(def: Def) -> Draft {
        Draft { def, inputs: Vec::new(), args: Vec::new(), fixed: false }
    }

    /// A part replaced; types are checked at the end.
    pub fn replacing(def: &Def, place: &Place, expr: Expr) -> Draft {
        let replaced = def.context().replace_at(&def.body, place, &expr);
        let body = match replaced {
            Some(Ok(body)) => body,
            // The same again is no smaller, and is left out.
            Some(Err(_)) | None => def.body.clone(),
        };
        Draft::of(Def { body, ..def.clone() })
    }

    /// All sizes are numbers.
    pub fn fixed(def: &Def, sizes: &Sizes) -> Draft {
        let value = |v: &Var| {
            let declared = def.sizes.iter().chain(def.parameters.iter().map(|p| &p.var));
            declared.into_iter().find(|d| *d == v).and_then(|d| sizes.get(d.name())).map(Nat::int)
        };
        let cx = Context::starting_at(Facts::new(), def.next_number);
        let fixed = Def {
            sizes: Vec::new(),
            parameters: Vec::new(),
            wheres: Vec::new(),
            implied: Vec::new(),
            launches: Vec::new(),
            params: def.params.iter().map(|p| cx.substitute_param(p, &value)).collect(),
            body: cx.substitute_sizes(&def.body, &value),
            ..def.clone()
        };
        Draft { fixed: true, ..Draft::of(fixed) }
    }

    /// The definition, if it checks.
    pub fn finish(self, old: &Case) -> Option<Finished> {
        let Draft { def, inputs, args, fixed } = self;
        let facts = Def { implied: Vec::new(), ..def.clone() }.facts();
        let largest = inputs.iter().map(|p| p.id() + 1).max().unwrap_or(0);
        let cx = Context::starting_at(facts, def.next_number.max(largest));
        cx.adopt(&def.body);
        let body = again(&cx, &def.body).ok()?;
        if !check_low_level(&body).is_empty() || !shares::are_read_alike(&body) {
            return None;
        }
        let needed = |p: &Param| body.mentions(p) || def.sizes.iter().any(|v| is_length(p, v));
        let params = def.params.iter().chain(&inputs).filter(|p| needed(p)).cloned().collect();
        let sizes = if fixed { Sizes::new() } else { old.sizes.clone() };
        let def = Def {
            params,
            ret: body.ty().clone(),
            implied: cx.required(),
            body,
            next_number: cx.next_number(),
            ..def
        };
        Some(Finished { def, sizes, args })
    }
}

/// Whether an input tells a size.
fn is_length(param: &Param, var: &Var) -> bool {
    param.ty().as_array().is_some_and(|(_, n)| n.as_var() == Some(var))
}
