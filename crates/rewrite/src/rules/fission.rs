//! Maps cut in two.

use lift_ir::{Call, Expr, Kind, Lambda, MapKind, Param, Prim};

use crate::failing::{is_lazy, may_fail};
use crate::inline::is_free;
use crate::refusal::Refusal;
use crate::rule::{Rule, Site};
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "fission",
    about: "A map is cut in two.",
    rules: &[&MAP_FISSION, &MAP_FISSION_ZIP],
};

/// The inner step is the value of a leading `let`, or the one argument of the outermost pattern
/// that depends on the element.
static MAP_FISSION: Rule = Rule::function(
    "map_fission",
    "A map whose function has an outer and an inner step is two maps.",
    "f: b -> c, g: a -> b, xs: [a; n]",
    "map(\\x -> f(g(x)), xs)",
    "map(f, map(g, xs))",
    map_fission,
);

static MAP_FISSION_ZIP: Rule = Rule::law(
    "map_fission_zip",
    "A map that names a first result and goes on with it and the element makes the first results first.",
    "f: (a, b) -> c, g: a -> b, xs: [a; n]",
    "map(\\x -> let y = g(x); f(x, y), xs)",
    "map(\\p -> f(p.0, p.1), zip(xs, map(g, xs)))",
);

fn map_fission(site: &Site) -> Result<Expr, Refusal> {
    let Some(Call { prim: Prim::Map(MapKind::Map), functions, args, .. }) = site.expr.as_call()
    else {
        return Err(Refusal::Other("expected `map`".to_string()));
    };
    let ([lambda], [xs]) = (functions.as_slice(), args.as_slice()) else {
        return Err(Refusal::Other("expected `map` of a function and an array".to_string()));
    };
    let [x] = lambda.params.as_slice() else {
        return Err(Refusal::Other("expected a function of one parameter".to_string()));
    };
    let (inner, middle, outer) = cut(site, &lambda.body, x)?;
    let map = |param: Param, body: Expr, xs: Expr| {
        let f = Lambda { size: None, params: vec![param], body };
        site.cx.call(Prim::Map(MapKind::Map), vec![], vec![f], vec![xs])
    };
    Ok(map(middle, outer, map(x.clone(), inner, xs.clone())?)?)
}

/// `g(x)`, a variable for its value, and `f` of that variable.
fn cut(site: &Site, body: &Expr, x: &Param) -> Result<(Expr, Param, Expr), Refusal> {
    let no = |reason: &str| Err(Refusal::Other(reason.to_string()));
    match body.kind() {
        Kind::Let { param, value, body } if !body.mentions(x) => {
            Ok((value.clone(), param.clone(), body.clone()))
        }
        Kind::Let { .. } => no("the body of the `let` also uses the element"),
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => no("the function has one step only"),
        Kind::Call(Call { prim, sizes, functions, args }) => {
            if functions.iter().any(|f| f.body.mentions(x)) {
                return no("a function of the outer step uses the element");
            }
            let mut using = args.iter().enumerate().filter(|(_, arg)| arg.mentions(x));
            let (Some((index, inner)), None) = (using.next(), using.next()) else {
                return no("not just one argument of the outer step uses the element");
            };
            if index > 0 && is_lazy(prim) && may_fail(site.cx, inner) {
                return no("the inner step may fail, and is not always evaluated");
            }
            if is_free(inner) {
                return no("the inner step computes nothing");
            }
            let middle = site.cx.fresh("y", inner.ty().clone());
            let mut args = args.clone();
            if let Some(arg) = args.get_mut(index) {
                *arg = site.cx.var(&middle);
            }
            let outer = site.cx.call(prim.clone(), sizes.clone(), functions.clone(), args)?;
            Ok((inner.clone(), middle, outer))
        }
    }
}
