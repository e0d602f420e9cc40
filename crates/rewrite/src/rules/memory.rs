//! Where values are stored.
//!
//! Which memory can be reached from where is checked when the program is complete.

use lift_ir::{Call, Expr, Lambda, Prim, Space};

use crate::refusal::Refusal;
use crate::rule::{Rule, Site};
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "memory",
    about: "Values are kept in a memory that is named.",
    rules: &[
        &TO_GLOBAL,
        &TO_LOCAL,
        &TO_PRIVATE,
        &RESULT_TO_GLOBAL,
        &RESULT_TO_LOCAL,
        &RESULT_TO_PRIVATE,
    ],
};

static TO_GLOBAL: Rule = Rule::function(
    "to_global",
    "Any value may be kept in global memory.",
    "x: a",
    "x",
    "toGlobal(\\y -> y, x)",
    |site| stored(site, Space::Global),
);

static TO_LOCAL: Rule = Rule::function(
    "to_local",
    "Any value may be kept in local memory.",
    "x: a",
    "x",
    "toLocal(\\y -> y, x)",
    |site| stored(site, Space::Local),
);

static TO_PRIVATE: Rule = Rule::function(
    "to_private",
    "Any value may be kept in private memory.",
    "x: a",
    "x",
    "toPrivate(\\y -> y, x)",
    |site| stored(site, Space::Private),
);

/// Holds for every pattern that takes a function; its last argument is given to `toGlobal`.
static RESULT_TO_GLOBAL: Rule = Rule::function(
    "result_to_global",
    "What a pattern makes is kept in global memory.",
    "f: a -> b, xs: [a; n]",
    "map(f, xs)",
    "toGlobal(\\ys -> map(f, ys), xs)",
    |site| made_in(site, Space::Global),
);

static RESULT_TO_LOCAL: Rule = Rule::function(
    "result_to_local",
    "What a pattern makes is kept in local memory.",
    "f: a -> b, xs: [a; n]",
    "map(f, xs)",
    "toLocal(\\ys -> map(f, ys), xs)",
    |site| made_in(site, Space::Local),
);

static RESULT_TO_PRIVATE: Rule = Rule::function(
    "result_to_private",
    "What a pattern makes is kept in private memory.",
    "f: a -> b, xs: [a; n]",
    "map(f, xs)",
    "toPrivate(\\ys -> map(f, ys), xs)",
    |site| made_in(site, Space::Private),
);

/// A function only to refuse what has a memory already; else the rules would apply forever.
fn stored(site: &Site, space: Space) -> Result<Expr, Refusal> {
    if site.expr.as_call().is_some_and(|call| matches!(call.prim, Prim::To(_))) {
        return Err(Refusal::Other("the value has a memory already".to_string()));
    }
    let y = site.cx.fresh("y", site.expr.ty().clone());
    let body = site.cx.var(&y);
    let function = Lambda { size: None, params: vec![y], body };
    Ok(site.cx.call(Prim::To(space), vec![], vec![function], vec![site.expr.clone()])?)
}

fn made_in(site: &Site, space: Space) -> Result<Expr, Refusal> {
    let call = site.expr.as_call().filter(|call| !call.functions.is_empty());
    let Some((call, (array, before))) = call.and_then(|c| Some((c, c.args.split_last()?))) else {
        return Err(Refusal::Other("expected a pattern of a function and an array".to_string()));
    };
    if matches!(call.prim, Prim::To(_)) {
        return Err(Refusal::Other("the value has a memory already".to_string()));
    }
    let ys = site.cx.fresh("ys", array.ty().clone());
    let args = before.iter().cloned().chain([site.cx.var(&ys)]).collect();
    let Call { prim, sizes, functions, .. } = call.clone();
    let body = site.cx.call(prim, sizes, functions, args)?;
    let function = Lambda { size: None, params: vec![ys], body };
    Ok(site.cx.call(Prim::To(space), vec![], vec![function], vec![array.clone()])?)
}
