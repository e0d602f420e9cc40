//! Named values: named, moved outward, written out.

use lift_ir::{Call, Expr, Kind, Lambda, Param, table};

use crate::failing::{evaluates, is_lazy, may_fail};
use crate::inline::renamed;
use crate::refusal::Refusal;
use crate::rule::{Rule, Site};
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "lets",
    about: "Values get names, which are moved outward or written out.",
    rules: &[
        &LET_INTRO,
        &LET_INLINE,
        &LET_FLOAT_FUNCTION,
        &LET_FLOAT_ARGUMENT,
        &LET_PAIR,
        &LET_NEST,
    ],
};

static LET_INTRO: Rule = Rule::law(
    "let_intro",
    "A value gets a name, which other rules move outward: it is computed once there.",
    "x: a",
    "x",
    "let y = x; y",
);

static LET_INLINE: Rule = Rule::function(
    "let_inline",
    "A named value is written out wherever it is used, and computed there again.",
    "f: a -> b, v: a",
    "let x = v; f(x)",
    "f(v)",
    let_inline,
);

/// Holds for every pattern that runs its function at least once.
static LET_FLOAT_FUNCTION: Rule = Rule::function(
    "let_float_function",
    "A value that does not depend on the element is named outside the pattern.",
    "f: (a, b) -> c, v: a, ys: [b; n]",
    "map(\\y -> let x = v; f(x, y), ys)",
    "let x = v; map(\\y -> f(x, y), ys)",
    let_float_function,
);

/// Holds for every pattern that evaluates all of its arguments.
static LET_FLOAT_ARGUMENT: Rule = Rule::function(
    "let_float_argument",
    "A value named inside an argument is named outside the pattern.",
    "f: b -> c, g: a -> [b; n], v: a",
    "map(f, let x = v; g(x))",
    "let x = v; map(f, g(x))",
    let_float_argument,
);

static LET_PAIR: Rule = Rule::law(
    "let_pair",
    "Two values that do not depend on each other are named together.",
    "f: (a, b) -> c, v: a, w: b",
    "let x = v; let y = w; f(x, y)",
    "let p = (v, w); f(p.0, p.1)",
);

static LET_NEST: Rule = Rule::law(
    "let_nest",
    "A value that only another one needs is named inside of that.",
    "f: b -> c, g: a -> b, v: a",
    "let x = v; let y = g(x); f(y)",
    "let y = (let x = v; g(x)); f(y)",
);

fn let_inline(site: &Site) -> Result<Expr, Refusal> {
    let Kind::Let { param, value, body } = site.expr.kind() else {
        return no("expected a `let`");
    };
    if may_fail(site.cx, value) && !evaluates(body, param) {
        return no("the value may fail, and would not be evaluated everywhere");
    }
    let body = site.cx.substitute(body, &[(param.clone(), value.clone())]);
    // Copies of the value must not share binders.
    Ok(renamed(site.cx, &body)?)
}

fn let_float_function(site: &Site) -> Result<Expr, Refusal> {
    let call = call_of(site)?;
    if call.prim.is_iteration() {
        let name = table::name_of(&call.prim).unwrap_or_default();
        return no(&format!("`{name}` may run its function not at all"));
    }
    for (index, lambda) in call.functions.iter().enumerate() {
        let Kind::Let { param, value, body } = lambda.body.kind() else { continue };
        if lambda.params.iter().any(|p| value.mentions(p)) {
            return no("the value depends on the element");
        }
        // Of an empty array there is no element to evaluate it for.
        if may_fail(site.cx, value) {
            return no("the value may fail, and may not be evaluated at all");
        }
        return outside(site, param, value, body, |body| {
            let mut functions = call.functions.clone();
            if let Some(Lambda { body: own, .. }) = functions.get_mut(index) {
                *own = body;
            }
            Call { functions, ..call.clone() }
        });
    }
    no("no function of the pattern starts with a `let`")
}

fn let_float_argument(site: &Site) -> Result<Expr, Refusal> {
    let call = call_of(site)?;
    if is_lazy(&call.prim) {
        return no("not all arguments are evaluated");
    }
    for (index, arg) in call.args.iter().enumerate() {
        let Kind::Let { param, value, body } = arg.kind() else { continue };
        return outside(site, param, value, body, |body| {
            let mut args = call.args.clone();
            if let Some(own) = args.get_mut(index) {
                *own = body;
            }
            Call { args, ..call.clone() }
        });
    }
    no("no argument of the pattern is a `let`")
}

fn call_of<'a>(site: &Site<'a>) -> Result<&'a Call, Refusal> {
    site.expr.as_call().ok_or_else(|| Refusal::Other("expected a pattern".to_string()))
}

/// `let param = value;` around the call with `body` in its place. The variable is a new one, since
/// its scope grows.
fn outside(
    site: &Site,
    param: &Param,
    value: &Expr,
    body: &Expr,
    place: impl FnOnce(Expr) -> Call,
) -> Result<Expr, Refusal> {
    let fresh = site.cx.fresh(param.name(), param.ty().clone());
    let body = site.cx.substitute(body, &[(param.clone(), site.cx.var(&fresh))]);
    let Call { prim, sizes, functions, args } = place(body);
    let call = site.cx.call(prim, sizes, functions, args)?;
    Ok(site.cx.let_in(fresh, value.clone(), call)?)
}

fn no<T>(reason: &str) -> Result<T, Refusal> {
    Err(Refusal::Other(reason.to_string()))
}
