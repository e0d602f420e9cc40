//! Views of elements become views of the whole, and pairs of views that undo each other appear.

use lift_ir::{Call, Expr, Kind, Lambda, MapKind, Param, Prim};

use crate::refusal::Refusal;
use crate::rule::{Rule, Site};
use crate::rules::Family;

pub(super) static FAMILY: Family = Family {
    name: "views",
    about: "Views of elements become views of the whole array.",
    rules: &[&MAP_FISSION_VIEW, &MAP_JOIN_SPLIT_INTRO, &MAP_SPLIT_JOIN_INTRO, &MAP_TRANSPOSE_INTRO],
};

/// The view is the longest chain of layout patterns around the element, the same wherever it is used.
static MAP_FISSION_VIEW: Rule = Rule::function(
    "map_fission_view",
    "Elements that are only used through a view are viewed first.",
    "f: [[a; k]; m] -> b, xs: [[[a; m]; k]; n]",
    "map(\\x -> f(transpose(x)), xs)",
    "map(f, map(transpose, xs))",
    map_fission_view,
);

static MAP_JOIN_SPLIT_INTRO: Rule = Rule::law(
    "map_join_split_intro",
    "Rows are their chunks, joined.",
    "xss: [[a; k]; n]",
    "xss",
    "map(join, map(split(m), xss))",
)
.needs("k % m == 0");

static MAP_SPLIT_JOIN_INTRO: Rule = Rule::law(
    "map_split_join_intro",
    "Matrices are their joined rows, split again.",
    "x: [[[a; m]; k]; n]",
    "x",
    "map(split(m), map(join, x))",
);

static MAP_TRANSPOSE_INTRO: Rule = Rule::law(
    "map_transpose_intro",
    "Matrices are their transpositions, transposed.",
    "x: [[[a; k]; m]; n]",
    "x",
    "map(transpose, map(transpose, x))",
);

fn map_fission_view(site: &Site) -> Result<Expr, Refusal> {
    let no = |reason: &str| Err(Refusal::Other(reason.to_string()));
    let Some(Call { prim: Prim::Map(MapKind::Map), functions, args, .. }) = site.expr.as_call()
    else {
        return no("expected `map`");
    };
    let ([Lambda { params, body, .. }], [xs]) = (functions.as_slice(), args.as_slice()) else {
        return no("expected `map` of a function and an array");
    };
    let [x] = params.as_slice() else {
        return no("expected a function of one parameter");
    };
    let mut views = Vec::new();
    views_of(body, x, &mut views);
    let Some(view) = views.first().cloned() else {
        return no("the function does not use its element");
    };
    if view.as_var().is_some() || views.iter().any(|other| !other.alpha_eq(&view)) {
        return no("the element is not always used through the same view");
    }
    if body.alpha_eq(&view) {
        return no("the function is only a view");
    }
    let y = site.cx.fresh("y", view.ty().clone());
    let outer = replaced(site, body, x, &site.cx.var(&y))?;
    let map = |param: Param, body: Expr, xs: Expr| {
        let f = Lambda { size: None, params: vec![param], body };
        site.cx.call(Prim::Map(MapKind::Map), vec![], vec![f], vec![xs])
    };
    Ok(map(y, outer, map(x.clone(), view, xs.clone())?)?)
}

/// The longest views of `x` in an expression.
fn views_of(expr: &Expr, x: &Param, found: &mut Vec<Expr>) {
    if !expr.mentions(x) {
        return;
    }
    if is_view(expr, x) {
        found.push(expr.clone());
        return;
    }
    expr.children().into_iter().for_each(|child| views_of(child, x, found));
}

/// A chain of layout patterns, also under maps, that ends in `x` and has nothing else but settings.
pub(crate) fn is_view(expr: &Expr, x: &Param) -> bool {
    match expr.kind() {
        Kind::Var(param) => param == x,
        Kind::Literal(_) | Kind::Size(..) | Kind::Let { .. } => false,
        Kind::Call(Call { prim, functions, args, .. }) => {
            match (functions.as_slice(), args.as_slice()) {
                ([], [arg]) => prim.is_layout() && is_view(arg, x),
                ([], [value, arg]) => *prim == Prim::PadValue && value.is_atom() && is_view(arg, x),
                ([Lambda { params, body, .. }], [arg]) => {
                    let own = params.first().is_some_and(|param| is_view(body, param));
                    matches!(prim, Prim::Map(MapKind::Map)) && own && is_view(arg, x)
                }
                _ => false,
            }
        }
    }
}

/// The expression with `y` for the longest views of `x`.
fn replaced(site: &Site, expr: &Expr, x: &Param, y: &Expr) -> Result<Expr, Refusal> {
    if !expr.mentions(x) {
        return Ok(expr.clone());
    }
    if is_view(expr, x) {
        return Ok(y.clone());
    }
    let made = match expr.kind() {
        Kind::Var(_) | Kind::Literal(_) | Kind::Size(..) => return Ok(expr.clone()),
        Kind::Let { param, value, body } => {
            let (value, body) = (replaced(site, value, x, y)?, replaced(site, body, x, y)?);
            site.cx.let_in(param.clone(), value, body)?
        }
        Kind::Call(Call { prim, sizes, functions, args }) => {
            let function =
                |f: &Lambda| Ok(Lambda { body: replaced(site, &f.body, x, y)?, ..f.clone() });
            let functions = functions.iter().map(function).collect::<Result<Vec<_>, Refusal>>()?;
            let args = args.iter().map(|arg| replaced(site, arg, x, y));
            let args = args.collect::<Result<Vec<_>, Refusal>>()?;
            site.cx.call(prim.clone(), sizes.clone(), functions, args)?
        }
    };
    Ok(match expr.span() {
        Some(span) => made.with_span(span),
        None => made,
    })
}
